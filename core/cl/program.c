/* SPDX-License-Identifier: MIT
 *
 * program.c: each program is built once. An entry is listed before its build starts; who comes second waits for the
 * entry, not for the list, so different programs are built at the same time. */
#include "cl/canary.h"
#include "cl/program-state.h"
#include "cl/retarget.h"

#include <string.h>

#define LOG_IN_ERROR 400 /* characters of a build log that an error's text can carry */

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

/* With the lock held, for the log's sake. */
static qst_status build_failed(const qst__program *program, qst_error *err)
{
    cl_int code = program->code;
    bool   first = err && err->status == QST_OK;
    if (program->unable)
        (void)qst__fail(err, QST_E_BUILD, "program", QST__CANARY_TEXT "; %s (%d): %.*s", qst__cl_name(code), (int)code,
                        LOG_IN_ERROR, qst__program_log(program));
    else if (qst__program_transient(code))
        return qst__fail_cl(err, code, "program", "the build gives %s (%d)", qst__cl_name(code), (int)code);
    else
        (void)qst__fail(err, QST_E_BUILD, "program", "%s (%d): %.*s", qst__cl_name(code), (int)code, LOG_IN_ERROR,
                        qst__program_log(program));
    if (first)
        err->cl_code = program->unable ? CL_COMPILER_NOT_AVAILABLE : code;
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

/* With the lock held. One that was not built because nothing was may wait until something is. */
static bool is_due(const qst__programs *programs, const qst__program *program)
{
    return program->state == QST__PROGRAM_EMPTY &&
           !(program->unable && !program->vital && qst__canary_silent(programs));
}

/* With the lock held, which is given meanwhile. */
static void build_entry(qst__programs *programs, const qst_program *desc, const char *options, qst__program *program,
                        uint64_t *ns)
{
    int state;

    program->state = QST__PROGRAM_BUILDING;
    qst__lock_give(&programs->lock);
    state = qst__program_build(programs, desc, options, program, ns);
    qst__lock_take(&programs->lock);
    program->state = state;
    qst__cond_wake(&program->changed);
}

qst_status qst__programs_get(qst__programs *programs, const qst_program *desc, qst__program **out, uint64_t *build_ns,
                             qst_error *err)
{
    uint8_t    digest[32];
    uint64_t   ns = 0, waited = 0;
    char      *options;
    qst_status status = identify(programs, desc, &options, digest, err);
    *out = NULL;
    if (build_ns)
        *build_ns = 0;
    if (status != QST_OK)
        return status;

    qst__lock_take(&programs->lock);
    qst__program *program = find_or_add(programs, digest);
    while (program && program->state == QST__PROGRAM_BUILDING) {
        uint64_t start = qst__now(&programs->clock);
        qst__cond_wait(&program->changed, &programs->lock);
        waited += qst__now(&programs->clock) - start;
    }
    if (program && is_due(programs, program))
        build_entry(programs, desc, options, program, &ns);
    if (!program)
        status = qst__fail(err, QST_E_NOMEM, "program", "no memory for another program");
    else if (program->code != CL_SUCCESS)
        status = build_failed(program, err);
    if (status == QST_OK || (status == QST_E_BUILD && !program->unable))
        *out = program;
    qst__lock_give(&programs->lock);
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
    if (program && is_due(programs, program))
        build_entry(programs, desc, options, program, &ns);
    qst__lock_give(&programs->lock);
    if (programs->counters)
        qst__waits_add(&programs->counters->waits, ns, 0);
    qst__free(programs->alloc, options);
}

static bool has_binary(const qst__programs *programs, const uint8_t digest[32])
{
    const qst__binaries *from = &programs->binaries;
    uint8_t             *bytes = NULL;
    size_t               length = 0;
    bool                 there = from->load && from->load(from->user, digest, &bytes, &length) == QST_OK;
    qst__free(programs->alloc, bytes);
    return there;
}

bool qst__programs_ready(qst__programs *programs, const qst_program *desc)
{
    uint8_t digest[32];
    int     state = QST__PROGRAM_FAILED;

    if (qst__programs_digest(programs, desc, digest, NULL) != QST_OK)
        return false;
    qst__lock_take(&programs->lock);
    qst__program *program = find_or_add(programs, digest);
    if (program)
        state = program->state;
    qst__lock_give(&programs->lock);
    return state == QST__PROGRAM_BUILT || (state == QST__PROGRAM_EMPTY && has_binary(programs, digest));
}

void qst__programs_vital(qst__programs *programs, const qst_program *desc)
{
    qst__program *program;
    uint8_t       digest[32];

    if (qst__programs_digest(programs, desc, digest, NULL) != QST_OK)
        return;
    qst__lock_take(&programs->lock);
    program = find_or_add(programs, digest);
    if (program && program->state == QST__PROGRAM_EMPTY)
        program->vital = true;
    qst__lock_give(&programs->lock);
}

cl_program qst__program_cl(const qst__program *program)
{
    return program->cl;
}

const char *qst__program_log(const qst__program *program)
{
    return program->log ? program->log : "";
}
