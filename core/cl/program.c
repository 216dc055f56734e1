/* SPDX-License-Identifier: MIT
 *
 * program.c: each program is built once. An entry is listed before its build starts; who comes second waits for the
 * entry, not for the list, so different programs are built at the same time. */
#include "cl/program.h"

#include "cl/builder.h"
#include "cl/retarget.h"

#include <string.h>

#define LOG_IN_ERROR 400 /* characters of a build log that an error's text can carry */

enum {
    STATE_EMPTY, /* nobody builds it: new, or the build failed by a lack of memory and may be tried again */
    STATE_BUILDING,
    STATE_BUILT,
    STATE_FAILED /* for good */
};

struct qst__program {
    qst__program *next;
    uint8_t       digest[32];
    int           state;
    qst__cond     changed;
    cl_program    cl;
    atomic_bool   kept; /* its binary is in the store, or came from there */
    char         *log;  /* NULL: none */
    cl_int        code; /* of the failed build */
};

void qst__programs_init(qst__programs *programs, const qst__alloc *alloc, const qst__log *log, cl_context context,
                        cl_device_id device, qst__cl_counters *counters)
{
    memset(programs, 0, sizeof *programs);
    programs->alloc = alloc;
    programs->log = log;
    programs->context = context;
    programs->device = device;
    programs->clock = qst__clock_host();
    programs->counters = counters;
    qst__lock_init(&programs->lock);
}

void qst__programs_finish(qst__programs *programs)
{
    qst__program *next;
    for (qst__program *program = programs->first; program; program = next) {
        next = program->next;
        if (program->cl)
            (void)clReleaseProgram(program->cl);
        qst__cond_finish(&program->changed);
        qst__free(programs->alloc, program->log);
        qst__free(programs->alloc, program);
    }
    programs->first = NULL;
    qst__lock_finish(&programs->lock);
}

/* ---- Building ------------------------------------------------------------------------------------------------- */

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

/* What another attempt may well survive. */
static bool is_transient(cl_int code)
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

    if (programs->binaries.save && program->code == CL_BUILD_PROGRAM_FAILURE)
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

/* Without the lock: the entry is this thread's as long as it is BUILDING. Gives the next state. */
static int build(qst__programs *programs, const qst_program *desc, const char *options, qst__program *program,
                 uint64_t *ns)
{
    cl_int     code = CL_SUCCESS;
    uint64_t   start;
    cl_program cl;
    bool       by_plugin;

    if (load(programs, desc, options, program, ns)) {
        tell_built(programs, program, options, QST__BUILT_STORE, *ns);
        return program->code == CL_SUCCESS ? STATE_BUILT : STATE_FAILED;
    }
    start = qst__now(&programs->clock);
    by_plugin = qst__builder_try(programs, desc, options, &cl);
    if (!by_plugin)
        code = build_by_driver(programs, desc, options, program, &cl);
    *ns = qst__now(&programs->clock) - start;
    count_build(programs, desc->form);
    program->code = code;
    tell_built(programs, program, options, desc->form == QST_PROGRAM_BINARY ? QST__BUILT_BINARY : QST__BUILT_SOURCE,
               *ns);
    if (code == CL_SUCCESS) {
        program->cl = cl;
        QST__LOG(programs->log, CL, DEBUG, "program of %llu bytes built in %.1f ms%s, options %s",
                 (unsigned long long)desc->length, (double)*ns * 1e-6, by_plugin ? " by a builder" : "", options);
        return STATE_BUILT;
    }
    if (cl)
        (void)clReleaseProgram(cl);
    QST__LOG(programs->log, CL, INFO, "program of %llu bytes, options %s: %s (%d)\n%s",
             (unsigned long long)desc->length, options, qst__cl_name(code), (int)code, qst__program_log(program));
    if (is_transient(code))
        return STATE_EMPTY;
    save_failure(programs, program);
    return STATE_FAILED;
}

/* ---- Looking up ----------------------------------------------------------------------------------------------- */

static void digest_of(const qst_program *desc, const char *options, uint8_t digest[32])
{
    qst__sha256 sha;
    uint64_t    head[2] = {desc->form, desc->length};
    qst__sha256_init(&sha);
    qst__sha256_update(&sha, head, sizeof head);
    qst__sha256_update(&sha, desc->data, (size_t)desc->length);
    qst__sha256_update(&sha, options, strlen(options));
    if (desc->form == QST_PROGRAM_RETARGETED) {
        const char *marker = desc->marker ? desc->marker : QST__RETARGET_MARKER;
        qst__sha256_update(&sha, "", 1);
        qst__sha256_update(&sha, desc->target, strlen(desc->target) + 1);
        qst__sha256_update(&sha, marker, strlen(marker) + 1);
    }
    qst__sha256_finish(&sha, digest);
}

/* With the lock held. NULL: no memory. */
static qst__program *find_or_add(qst__programs *programs, const uint8_t digest[32])
{
    for (qst__program *program = programs->first; program; program = program->next)
        if (memcmp(program->digest, digest, sizeof program->digest) == 0)
            return program;
    qst__program *program = qst__zalloc(programs->alloc, sizeof *program);
    if (!program)
        return NULL;
    memcpy(program->digest, digest, sizeof program->digest);
    qst__cond_init(&program->changed);
    program->next = programs->first;
    programs->first = program;
    return program;
}

static qst_status build_failed(const qst__program *program, cl_int code, qst_error *err)
{
    bool first = err && err->status == QST_OK;
    if (is_transient(code))
        return qst__fail_cl(err, code, "program", "the build gives %s (%d)", qst__cl_name(code), (int)code);
    (void)qst__fail(err, QST_E_BUILD, "program", "%s (%d): %.*s", qst__cl_name(code), (int)code, LOG_IN_ERROR,
                    qst__program_log(program));
    if (first)
        err->cl_code = code;
    return QST_E_BUILD;
}

static qst_status check(const qst_program *desc, qst_error *err)
{
    if (desc->form < QST_PROGRAM_SOURCE || desc->form > QST_PROGRAM_RETARGETED)
        return qst__fail(err, QST_E_INVALID, "program",
                         "form %u is neither source (%d) nor binary (%d) nor retargeted (%d)", (unsigned)desc->form,
                         QST_PROGRAM_SOURCE, QST_PROGRAM_BINARY, QST_PROGRAM_RETARGETED);
    if (desc->form == QST_PROGRAM_RETARGETED &&
        (!desc->target || !qst__is_name(desc->target, "") || (desc->marker && !desc->marker[0])))
        return qst__fail(err, QST_E_INVALID, "program", "retargeted to '%s': not a name of [a-z0-9_]%s",
                         desc->target ? desc->target : "nothing",
                         desc->marker && !desc->marker[0] ? ", or an empty marker" : "");
    if (!desc->data || desc->length == 0 || desc->length > SIZE_MAX)
        return qst__fail(err, QST_E_INVALID, "program", "%llu bytes%s are no program", (unsigned long long)desc->length,
                         desc->data ? "" : " at NULL");
    return QST_OK;
}

/* The canonical options and the key of a legal program; the options are the caller's. */
static qst_status identify(const qst__programs *programs, const qst_program *desc, char **options, uint8_t digest[32],
                           qst_error *err)
{
    qst_status status = check(desc, err);
    *options = status == QST_OK ? qst__program_options(programs->alloc, desc->options) : NULL;
    if (status != QST_OK)
        return status;
    if (!*options)
        return qst__fail(err, QST_E_NOMEM, "program", "no memory for build options");
    digest_of(desc, *options, digest);
    return QST_OK;
}

qst_status qst__programs_digest(const qst__programs *programs, const qst_program *desc, uint8_t digest[32],
                                qst_error *err)
{
    char      *options;
    qst_status status = identify(programs, desc, &options, digest, err);
    qst__free(programs->alloc, options);
    return status;
}

/* With the lock held, which is given meanwhile. */
static void build_entry(qst__programs *programs, const qst_program *desc, const char *options, qst__program *program,
                        uint64_t *ns)
{
    int state;

    program->state = STATE_BUILDING;
    qst__lock_give(&programs->lock);
    state = build(programs, desc, options, program, ns);
    qst__lock_take(&programs->lock);
    program->state = state;
    qst__cond_wake(&program->changed);
}

qst_status qst__programs_get(qst__programs *programs, const qst_program *desc, qst__program **out, uint64_t *build_ns,
                             qst_error *err)
{
    uint8_t    digest[32];
    uint64_t   ns = 0, waited = 0;
    cl_int     code;
    char      *options;
    qst_status status = identify(programs, desc, &options, digest, err);
    *out = NULL;
    if (build_ns)
        *build_ns = 0;
    if (status != QST_OK)
        return status;

    qst__lock_take(&programs->lock);
    qst__program *program = find_or_add(programs, digest);
    while (program && program->state == STATE_BUILDING) {
        uint64_t start = qst__now(&programs->clock);
        qst__cond_wait(&program->changed, &programs->lock);
        waited += qst__now(&programs->clock) - start;
    }
    if (program && program->state == STATE_EMPTY)
        build_entry(programs, desc, options, program, &ns);
    code = program ? program->code : CL_SUCCESS;
    qst__lock_give(&programs->lock);

    if (!program)
        status = qst__fail(err, QST_E_NOMEM, "program", "no memory for another program");
    else if (code != CL_SUCCESS)
        status = build_failed(program, code, err);
    if (status == QST_OK || status == QST_E_BUILD)
        *out = program;
    if (build_ns) {
        *build_ns = ns + waited;
        if (programs->counters)
            qst__waits_add(&programs->counters->waits, ns, *build_ns);
    }
    qst__free(programs->alloc, options);
    return status;
}

void qst__programs_expect(qst__programs *programs, const qst_program *desc)
{
    uint8_t  digest[32];
    uint64_t ns = 0;
    char    *options;

    if (identify(programs, desc, &options, digest, NULL) != QST_OK)
        return;
    qst__lock_take(&programs->lock);
    qst__program *program = find_or_add(programs, digest);
    if (program && program->state == STATE_EMPTY)
        build_entry(programs, desc, options, program, &ns);
    qst__lock_give(&programs->lock);
    if (programs->counters)
        qst__waits_add(&programs->counters->waits, ns, 0);
    qst__free(programs->alloc, options);
}

cl_program qst__program_cl(const qst__program *program)
{
    return program->cl;
}

const char *qst__program_log(const qst__program *program)
{
    return program->log ? program->log : "";
}
