/* SPDX-License-Identifier: MIT
 *
 * builder.c: see builder.h. */
#include "cl/builder.h"

#include "cl/retarget.h"

#include <string.h>

static const char who[] = "builder";

/* What a step left, terminated behind its length. */
typedef struct result {
    const qst__alloc *alloc;
    char             *bytes;
    size_t            length;
} result;

static void take(void *user, const void *bytes, uint64_t length)
{
    result *r = user;

    qst__free(r->alloc, r->bytes);
    r->bytes = length < SIZE_MAX ? qst__zalloc(r->alloc, (size_t)length + 1) : NULL;
    r->length = r->bytes ? (size_t)length : 0;
    if (r->bytes)
        memcpy(r->bytes, bytes, r->length);
}

char *qst__builder_object(const qst__programs *programs, const char *source, size_t length, const char *options,
                          size_t *out_length, cl_int *code)
{
    char      *object = NULL;
    cl_program cl = clCreateProgramWithSource(programs->context, 1, &source, &length, code);

    *out_length = 0;
    if (*code != CL_SUCCESS)
        return NULL;
    *code = clCompileProgram(cl, 1, &programs->device, options, 0, NULL, NULL, NULL, NULL);
    if (*code == CL_SUCCESS)
        object = qst__binary_of(programs->alloc, cl, out_length, code);
    (void)clReleaseProgram(cl);
    if (programs->fronted)
        programs->fronted(programs->builder_user);
    return object;
}

static cl_program load(const qst__programs *programs, const result *machine, const char *options, qst_error *err)
{
    const unsigned char *bytes = (const unsigned char *)machine->bytes;
    size_t               length = machine->length;
    cl_int               code;
    cl_program cl = clCreateProgramWithBinary(programs->context, 1, &programs->device, &length, &bytes, NULL, &code);

    if (code == CL_SUCCESS) {
        code = clBuildProgram(cl, 1, &programs->device, options, NULL, NULL);
        if (code == CL_SUCCESS)
            return cl;
        (void)clReleaseProgram(cl);
    }
    (void)qst__fail_cl(err, code, who, "loading machine code of %zu bytes gives %s (%d)", length, qst__cl_name(code),
                       (int)code);
    return NULL;
}

/* The two steps between the driver's two; ns: what they took. */
static qst_status finish(const qst__builder *by, const qst_program *desc, const qst_object *object, const char *options,
                         const qst__clock *clock, uint64_t ns[2], result *out, qst_error *err)
{
    const qst_builder *b = by->builder;
    bool               retargeted = desc->form == QST_PROGRAM_RETARGETED;
    result             text = {out->alloc, NULL, 0};
    char              *changed = NULL;
    size_t             length = 0;
    uint64_t           start = qst__now(clock);
    int32_t            status;

    status = b->compile(by->instance, by->device, object, &by->library, options, &text, take, err);
    ns[0] = qst__now(clock) - start;
    if (status == QST_OK && !text.bytes)
        status = qst__fail(err, QST_E_BUILD, who, "no assembly");
    if (status == QST_OK && retargeted) {
        status = qst__retarget_text(out->alloc, text.bytes, text.length, desc->target,
                                    desc->marker ? desc->marker : QST__RETARGET_MARKER, &changed, &length, err);
        qst__free(out->alloc, text.bytes);
        text.bytes = changed;
        text.length = length;
    }
    if (status == QST_OK)
        status = b->assemble(by->instance, by->device, text.bytes, text.length, retargeted ? desc->target : NULL, out,
                             take, err);
    ns[1] = qst__now(clock) - start - ns[0];
    if (status == QST_OK && !out->bytes)
        status = qst__fail(err, QST_E_BUILD, who, "no machine code");
    if (status != QST_OK)
        (void)qst__fail(err, status < 0 ? status : QST_E_BUILD, who, "%s", qst_status_text(status));
    qst__free(out->alloc, text.bytes);
    return status;
}

cl_program qst__builder_build(const qst__programs *programs, const qst__builder *by, const qst_program *desc,
                              const char *options, qst_error *err)
{
    result     machine = {programs->alloc, NULL, 0};
    qst_object object = {NULL, 0};
    size_t     length = 0;
    cl_int     code;
    cl_program cl = NULL;
    uint64_t   start = qst__now(&programs->clock), began, step[2] = {0, 0};
    char      *bytes = qst__builder_object(programs, desc->data, (size_t)desc->length, options, &length, &code);

    if (!bytes) {
        (void)qst__fail_cl(err, code, who, "the front end gives %s (%d)", qst__cl_name(code), (int)code);
        return NULL;
    }
    object.data = bytes;
    object.length = length;
    began = qst__now(&programs->clock);
    if (finish(by, desc, &object, options, &programs->clock, step, &machine, err) == QST_OK) {
        if (!by->trusted || by->trusted(by->trusted_user))
            cl = load(programs, &machine, options, err);
        else
            (void)qst__fail(err, QST_E_BUILD, who, "its check is not right");
    }
    QST__LOG(programs->log, CL, DEBUG, "front end %.1f ms, compiler %.1f, assembler %.1f, to the driver %.1f",
             (double)(began - start) * 1e-6, (double)step[0] * 1e-6, (double)step[1] * 1e-6,
             (double)(qst__now(&programs->clock) - began - step[0] - step[1]) * 1e-6);
    qst__free(programs->alloc, machine.bytes);
    qst__free(programs->alloc, bytes);
    return cl;
}

bool qst__builder_try(const qst__programs *programs, const qst_program *desc, const char *options, cl_program *cl)
{
    const qst__builder *by =
        desc->form != QST_PROGRAM_BINARY && programs->builder ? programs->builder(programs->builder_user) : NULL;
    qst_error why = {0};

    *cl = by ? qst__builder_build(programs, by, desc, options, &why) : NULL;
    if (by && !*cl)
        QST__LOG(programs->log, CL, INFO, "program of %llu bytes, options %s, is left to the driver: %s",
                 (unsigned long long)desc->length, options, why.text);
    return *cl != NULL;
}
