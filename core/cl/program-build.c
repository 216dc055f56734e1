/* SPDX-License-Identifier: MIT
 *
 * program-build.c: from what a candidate gives to a program that can run: a kept binary where there is one, else a
 * builder, else the driver; and back, from a program to the binary that is kept. */
#include "cl/builder.h"
#include "cl/canary.h"
#include "cl/program-state.h"
#include "cl/retarget.h"

#include <string.h>

static void read_log(const qst__programs *programs, qst__program *program, cl_program cl)
{
    size_t bytes = 0;
    qst__free(programs->alloc, program->log);
    program->log = NULL;
    if (clGetProgramBuildInfo(cl, programs->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) != CL_SUCCESS || bytes < 2)
        return;
    program->log = qst__zalloc(programs->alloc, bytes + 1);
    if (program->log &&
        clGetProgramBuildInfo(cl, programs->device, CL_PROGRAM_BUILD_LOG, bytes, program->log, NULL) != CL_SUCCESS)
        program->log[0] = '\0';
}

static cl_program create(const qst__programs *programs, const qst_program *desc, cl_int *code)
{
    size_t length = (size_t)desc->length;
    if (desc->form != QST_PROGRAM_BINARY) {
        const char *source = desc->data;
        return clCreateProgramWithSource(programs->context, 1, &source, &length, code);
    }
    const unsigned char *binary = desc->data;
    return clCreateProgramWithBinary(programs->context, 1, &programs->device, &length, &binary, NULL, code);
}

static void count_build(const qst__programs *programs, uint32_t form)
{
    qst__cl_counters *counters = programs->counters;
    if (counters)
        atomic_fetch_add_explicit(form == QST_PROGRAM_BINARY ? &counters->binary_loads : &counters->compiles, 1,
                                  memory_order_relaxed);
}

bool qst__program_transient(cl_int code)
{
    return code == CL_OUT_OF_HOST_MEMORY || code == CL_OUT_OF_RESOURCES || code == CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

/* From a kept binary. False: there is none, or it does not build any more; the source does. */
static bool load(qst__programs *programs, const qst_program *desc, const char *options, qst__program *program,
                 uint64_t *ns)
{
    uint8_t    *bytes = NULL;
    size_t      length = 0;
    qst_status  status;
    qst_program binary = {.size = sizeof binary, .form = QST_PROGRAM_BINARY};
    uint64_t    start = qst__now(&programs->clock);
    cl_int      code = CL_INVALID_BINARY;
    cl_program  cl = NULL;

    if (!programs->binaries.load || desc->form == QST_PROGRAM_BINARY)
        return false;
    status = programs->binaries.load(programs->binaries.user, program->digest, &bytes, &length);
    if (status == QST_E_BUILD && program->vital) {
        qst__free(programs->alloc, bytes);
        return false;
    }
    if (status == QST_E_BUILD) { /* it failed on this driver before: the log is all there is */
        program->code = CL_BUILD_PROGRAM_FAILURE;
        program->log = (char *)bytes;
        return true;
    }
    if (status != QST_OK)
        return false;
    binary.data = bytes;
    binary.length = length;
    cl = create(programs, &binary, &code);
    if (code == CL_SUCCESS)
        code = clBuildProgram(cl, 1, &programs->device, options, NULL, NULL);
    *ns = qst__now(&programs->clock) - start;
    qst__free(programs->alloc, bytes);
    if (code != CL_SUCCESS) {
        QST__LOG(programs->log, CL, WARN, "a kept binary of %llu bytes gives %s: built from source again",
                 (unsigned long long)length, qst__cl_name(code));
        if (cl)
            (void)clReleaseProgram(cl);
        return false;
    }
    count_build(programs, QST_PROGRAM_BINARY);
    program->cl = cl;
    program->code = CL_SUCCESS;
    atomic_store(&program->kept, true);
    return true;
}

static void save_failure(const qst__programs *programs, const qst__program *program)
{
    const char *log = qst__program_log(program);

    if (programs->binaries.save && program->code == CL_BUILD_PROGRAM_FAILURE && !program->vital)
        programs->binaries.save(programs->binaries.user, program->digest, true, log, strlen(log));
}

uint64_t qst__programs_keep(qst__programs *programs, qst__program *program)
{
    uint64_t start = qst__now(&programs->clock);
    size_t   length = 0;
    cl_int   code;
    char    *bytes;

    if (!programs->binaries.save || !program->cl || atomic_exchange(&program->kept, true))
        return 0;
    bytes = qst__binary_of(programs->alloc, program->cl, &length, &code);
    if (bytes && length)
        programs->binaries.save(programs->binaries.user, program->digest, false, bytes, length);
    qst__free(programs->alloc, bytes);
    QST__LOG(programs->log, CL, DEBUG, "binary of %llu bytes kept in %.1f ms", (unsigned long long)length,
             (double)(qst__now(&programs->clock) - start) * 1e-6);
    return qst__now(&programs->clock) - start;
}

static void tell_built(qst__programs *programs, const qst__program *program, const char *options, uint32_t from,
                       uint64_t ns)
{
    qst__built built = {program->digest, options, from, program->code != CL_SUCCESS, ns};
    if (programs->built)
        programs->built(programs->built_user, &built);
}

/* The step from the built source to the retargeted program. A failure's reason goes in front of the log. */
static cl_int retarget(const qst__programs *programs, const qst_program *desc, const char *options,
                       qst__program *program, cl_program *cl)
{
    qst_error why = {0};
    qst__str  text;
    cl_int    code = qst__retarget_build(programs->alloc, programs->context, programs->device, desc, options, cl, &why);

    read_log(programs, program, *cl);
    if (code == CL_SUCCESS)
        return code;
    qst__str_init(&text, programs->alloc);
    qst__str_printf(&text, "%s\n%s", why.text, qst__program_log(program));
    qst__free(programs->alloc, program->log);
    program->log = qst__str_take(&text);
    qst__str_finish(&text);
    return code;
}

/* Did it fail because nothing builds? A candidate's binary says nothing of that, and other codes are of what it asks for. */
static bool is_unable(qst__programs *programs, const qst_program *desc, cl_int code)
{
    return desc->form != QST_PROGRAM_BINARY && (code == CL_BUILD_PROGRAM_FAILURE || qst__program_transient(code)) &&
           !qst__canary_builds(programs, (size_t)desc->length);
}

/* By the driver alone. *cl is what there is to read a log from. */
static cl_int build_by_driver(const qst__programs *programs, const qst_program *desc, const char *options,
                              qst__program *program, cl_program *cl)
{
    cl_int code;

    *cl = create(programs, desc, &code);
    if (code != CL_SUCCESS) {
        *cl = NULL;
        return code;
    }
    code = clBuildProgram(*cl, 1, &programs->device, options, NULL, NULL);
    read_log(programs, program, *cl);
    if (code == CL_SUCCESS && desc->form == QST_PROGRAM_RETARGETED)
        code = retarget(programs, desc, options, program, cl);
    return code;
}

int qst__program_build(qst__programs *programs, const qst_program *desc, const char *options, qst__program *program,
                       uint64_t *ns)
{
    cl_int     code = CL_SUCCESS;
    uint64_t   start;
    cl_program cl;
    bool       by_plugin;

    if (load(programs, desc, options, program, ns)) {
        tell_built(programs, program, options, QST__BUILT_STORE, *ns);
        return program->code == CL_SUCCESS ? QST__PROGRAM_BUILT : QST__PROGRAM_FAILED;
    }
    program->unable = desc->form != QST_PROGRAM_BINARY && !program->vital && qst__canary_silent(programs);
    if (program->unable) {
        program->code = CL_COMPILER_NOT_AVAILABLE;
        return QST__PROGRAM_EMPTY;
    }
    start = qst__now(&programs->clock);
    by_plugin = qst__builder_try(programs, desc, options, &cl);
    if (!by_plugin)
        code = build_by_driver(programs, desc, options, program, &cl);
    program->unable = is_unable(programs, desc, code);
    *ns = qst__now(&programs->clock) - start;
    count_build(programs, desc->form);
    program->code = code;
    tell_built(programs, program, options, desc->form == QST_PROGRAM_BINARY ? QST__BUILT_BINARY : QST__BUILT_SOURCE,
               *ns);
    if (code == CL_SUCCESS) {
        program->cl = cl;
        if (desc->form != QST_PROGRAM_BINARY)
            qst__canary_heard(programs);
        QST__LOG(programs->log, CL, DEBUG, "program of %llu bytes built in %.1f ms%s, options %s",
                 (unsigned long long)desc->length, (double)*ns * 1e-6, by_plugin ? " by a builder" : "", options);
        return QST__PROGRAM_BUILT;
    }
    if (cl)
        (void)clReleaseProgram(cl);
    QST__LOG(programs->log, CL, INFO, "program of %llu bytes, options %s: %s (%d)\n%s",
             (unsigned long long)desc->length, options, qst__cl_name(code), (int)code, qst__program_log(program));
    if (program->unable || qst__program_transient(code))
        return QST__PROGRAM_EMPTY;
    save_failure(programs, program);
    return QST__PROGRAM_FAILED;
}
