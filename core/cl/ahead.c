/* SPDX-License-Identifier: MIT
 *
 * ahead.c: our end of the forerunner: writes jobs, waits for answers, notices its death. See ahead.h. */
#include "cl/ahead.h"

#include "base/child.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"
#include "cl/ahead-wire.h"
#include "cl/place.h"
#include "cl/program.h"

#include <stdio.h>
#include <string.h>

#define END_NS     UINT64_C(2000000000) /* for what has hung up to be gone */
#define LOOK_NS    UINT64_C(100000000)  /* between two looks whether it has become urgent */
#define GRACE_NS   UINT64_C(1000000000) /* that one which has become urgent may go on as it is */
#define FAILURES   3u                   /* after so many the forerunner is left alone */
#define GRID_LARGE 65535u               /* drivers may build a wider grid in another way: launched as it is */

/* How far the process stands back for the processors, and how long a job may take it then. Where processors are never
 * idle it may get nowhere by IDLE: then it is started anew with BEHIND. */
enum { IDLE, BEHIND, BESIDE };
static const struct {
    const char *word; /* its argument: see ahead-wire.h */
    uint64_t    job_ns;
} manners[] = {
    [IDLE] = {QST__AHEAD_IDLE, UINT64_C(30000000000)},
    [BEHIND] = {QST__AHEAD_BEHIND, UINT64_C(45000000000)},
    [BESIDE] = {NULL, UINT64_C(45000000000)},
};

/* A job in bytes: those first say which device. */
typedef struct message {
    qst__str body;
    size_t   device_bytes;
} message;

typedef struct done {
    uint8_t digest[32];
} done;

struct qst__ahead {
    const qst__alloc *alloc;
    const qst__log   *log;
    qst__clock        clock;
    char             *path;
    qst__child        child;
    int               manner;  /* of the child */
    bool              starved; /* IDLE got nowhere */
    bool              answers; /* the child has, once: what kills it from then on is the job */
    bool              works;   /* one has answered: those after it are greeted */
    uint32_t          failures;
    QST__VEC(done) done;
};

qst__ahead *qst__ahead_create(const qst__alloc *alloc, const qst__log *log, const qst__clock *clock, const char *path)
{
    qst__ahead *b = qst__zalloc(alloc, sizeof *b);

    if (!b)
        return NULL;
    b->alloc = alloc;
    b->log = log;
    b->clock = *clock;
    b->child = QST__CHILD_NONE;
    b->path = qst__strdup(alloc, path);
    if (b->path)
        return b;
    qst__free(alloc, b);
    return NULL;
}

/* ---- The process ---------------------------------------------------------------------------------------------- */

static int manner_of(const qst__ahead *b, const qst__ahead_job *job)
{
    return atomic_load(job->urgent) ? BESIDE : b->starved ? BEHIND : IDLE;
}

/* One that runs in another manner is ended: a process may stand back, not come forward again. */
static bool start(qst__ahead *b, int manner)
{
    char word[16], *argv[3] = {b->path, NULL, NULL};
    int  code;

    if (b->child.socket >= 0 && b->manner == manner)
        return true;
    (void)qst__child_end(&b->child, NULL);
    if (b->failures >= FAILURES)
        return false;
    if (manners[manner].word) {
        snprintf(word, sizeof word, "%s", manners[manner].word);
        argv[1] = word;
    }
    b->manner = manner;
    b->answers = false;
    code = qst__child_start(&b->child, argv);
    if (!code)
        return true;
    b->failures = FAILURES;
    QST__LOG(b->log, CL, INFO, "%s: %s: programs are built in this process", b->path, strerror(code));
    return false;
}

void qst__ahead_destroy(qst__ahead *b)
{
    if (!b)
        return;
    (void)qst__child_end(&b->child, NULL);
    qst__vec_finish(b->alloc, &b->done);
    qst__free(b->alloc, b->path);
    qst__free(b->alloc, b);
}

/* ---- A job in bytes -------------------------------------------------------------------------------------------- */

static void put(qst__str *out, uint64_t number)
{
    qst__str_append_n(out, (const char *)&number, sizeof number);
}

static void put_text(qst__str *out, const char *text, size_t length)
{
    put(out, length);
    qst__str_append_n(out, text, length);
}

static bool put_device(qst__str *out, cl_device_id device)
{
    qst__place place;

    if (qst__place_of(&place, device) != CL_SUCCESS)
        return false;
    put_text(out, place.platform, strlen(place.platform));
    put_text(out, place.device, strlen(place.device));
    put(out, place.nth);
    return true;
}

static void put_argument(qst__str *out, const qst__ahead_job *job, const qst_arg *arg)
{
    bool          before = arg->index >= QST_JUDGE_BEFORE && arg->index < QST_JUDGE_FINDING;
    uint32_t      operand = before ? arg->index - QST_JUDGE_BEFORE : arg->index;
    qst__wire_arg wire = {QST__WIRE_BUFFER, 0, {0, 0}};

    if (arg->kind == QST_ARG_OPERAND)
        wire.bytes = operand < QST_OPERANDS_MAX ? job->operand_bytes[operand] : QST_FINDING_WORDS * sizeof(uint32_t);
    else if (arg->kind == QST_ARG_WORKSPACE)
        wire.bytes = job->recipe->workspace[arg->index];
    else if (arg->kind == QST_ARG_LOCAL)
        wire = (qst__wire_arg){QST__WIRE_LOCAL, arg->bytes, {0, 0}};
    else if (arg->kind == QST_ARG_OFFSET)
        wire = (qst__wire_arg){QST__WIRE_VALUE, sizeof(cl_ulong), {0, 0}};
    else
        wire = (qst__wire_arg){QST__WIRE_VALUE, arg->bytes, {arg->bits[0], arg->bits[1]}};
    qst__str_append_n(out, (const char *)&wire, sizeof wire);
}

/* One work-group will do, unless the grid is so wide that the driver may have another kernel for it. */
static void put_launch(qst__str *out, const qst__ahead_job *job, const qst__step *step)
{
    bool whole = step->driver_local;

    put_text(out, step->entry, strlen(step->entry));
    put(out, step->dims);
    for (uint32_t i = 0; i < 3; i++)
        whole = whole || step->global[i] > GRID_LARGE;
    for (uint32_t i = 0; i < 3; i++)
        put(out, whole ? step->global[i] : step->local[i]);
    for (uint32_t i = 0; i < 3; i++)
        put(out, step->driver_local ? 0 : step->local[i]);
    put(out, step->n_args);
    for (uint32_t i = 0; i < step->n_args; i++)
        put_argument(out, job, &step->args[i]);
}

static bool is_ours(const qst__ahead_job *job, const qst__step *step)
{
    return !step->op && step->program == job->program;
}

/* False: it cannot be said. *device_bytes: how much of it says which device. */
static bool put_job(qst__str *out, const qst__ahead_job *job, const char *options, size_t *device_bytes)
{
    const qst__recipe *recipe = job->recipe;
    uint64_t           n = 0;

    if (!put_device(out, job->device))
        return false;
    *device_bytes = out->length;
    put_text(out, options, strlen(options));
    put_text(out, job->desc->data, (size_t)job->desc->length);
    for (uint32_t i = 0; i < recipe->n_steps; i++)
        n += is_ours(job, &recipe->steps[i]);
    put(out, n);
    for (uint32_t i = 0; i < recipe->n_steps; i++)
        if (is_ours(job, &recipe->steps[i]))
            put_launch(out, job, &recipe->steps[i]);
    return !out->failed && out->length <= QST__WIRE_MAX;
}

/* What makes a job the same as another: device, program, kernels, local sizes; not the numbers that a kernel is given. */
static void digest_of(const qst__ahead_job *job, const char *options, uint8_t digest[32])
{
    qst__sha256 sha;

    qst__sha256_init(&sha);
    qst__sha256_update(&sha, &job->device, sizeof job->device);
    qst__sha256_update(&sha, options, strlen(options) + 1);
    qst__sha256_update(&sha, job->desc->data, (size_t)job->desc->length);
    for (uint32_t i = 0; i < job->recipe->n_steps; i++) {
        const qst__step *step = &job->recipe->steps[i];
        bool             wide = false;
        if (!is_ours(job, step))
            continue;
        for (uint32_t d = 0; d < 3; d++)
            wide = wide || step->global[d] > GRID_LARGE;
        qst__sha256_update(&sha, step->entry, strlen(step->entry) + 1);
        qst__sha256_update(&sha, step->driver_local ? step->global : step->local, sizeof step->local);
        qst__sha256_update(&sha, &wide, sizeof wide);
    }
    qst__sha256_finish(&sha, digest);
}

/* ---- Talking ---------------------------------------------------------------------------------------------------- */

/* What programs bring on themselves: a signal, or that a driver exits in the middle; "": nothing, or it is not known. */
static void name_fault(int end, char *text, size_t bytes)
{
    const char *number = qst__child_fault(end);

    *text = '\0';
    if (number)
        (void)snprintf(text, bytes, "died of %s", number);
    else if (end > 0 && end != QST__CHILD_UNKNOWN)
        (void)snprintf(text, bytes, "ended with status %d", end);
}

/* It gave no answer: it died, or takes too long, or nobody wants to know any more. */
static qst_status give_up(qst__ahead *b, const qst__ahead_job *job, bool late, qst_error *err)
{
    const qst__patience patience = {&b->clock, qst__now(&b->clock) + END_NS, NULL};
    char                fault[32];

    name_fault(qst__child_end(&b->child, late ? NULL : &patience), fault, sizeof fault);
    if (*fault && b->answers) {
        b->failures++;
        return qst__fail(err, QST_E_REFUSED, job->who, "the process that built it ahead %s", fault);
    }
    if (atomic_load(job->stop))
        return QST_OK;
    b->failures = late ? FAILURES : b->failures + 1; /* what has hung once is not waited for again */
    if (late)
        QST__LOG(b->log, CL, WARN, "%s: building ahead takes over %d s: programs are built in this process", job->who,
                 (int)(manners[b->manner].job_ns / 1000000000u));
    else
        QST__LOG(b->log, CL, WARN, "%s: building ahead ended early%s%s", job->who, *fault ? ": it " : "", fault);
    return QST_OK;
}

static bool known(const qst__ahead *b, const uint8_t digest[32])
{
    for (size_t i = 0; i < b->done.count; i++)
        if (!memcmp(b->done.data[i].digest, digest, 32))
            return true;
    return false;
}

/* Waits for the answer, in slices: LATE also where another manner is due. */
static qst__talk read_answer(qst__ahead *b, const qst__ahead_job *job, uint64_t until, qst__wire_answer *answer)
{
    size_t    got = 0, more;
    bool      hurried = false;
    qst__talk how = QST__TALK_LATE;

    while (how == QST__TALK_LATE && !atomic_load(job->stop)) {
        uint64_t      now = qst__now(&b->clock);
        qst__patience slice = {&b->clock, now + LOOK_NS, job->stop};
        if (!hurried && b->manner != manner_of(b, job)) {
            hurried = true;
            until = now + GRACE_NS < until ? now + GRACE_NS : until;
        }
        if (now >= until)
            break;
        how = qst__child_read(&b->child, (char *)answer + got, sizeof *answer - got, &more, &slice);
        got += more;
    }
    return how;
}

/* Sends so much of the body, and has it answered. */
static qst__talk ask(qst__ahead *b, const qst__ahead_job *job, const char *body, size_t bytes,
                     const qst__patience *patience, qst__wire_answer *answer)
{
    qst__wire_head head = {QST__WIRE_MAGIC, (uint32_t)bytes};
    qst__talk      how = qst__child_write(&b->child, &head, sizeof head, patience);

    if (how == QST__TALK_DONE)
        how = qst__child_write(&b->child, body, bytes, patience);
    if (how == QST__TALK_DONE)
        how = read_answer(b, job, patience->until, answer);
    if (how == QST__TALK_DONE && answer->magic != QST__WIRE_MAGIC)
        how = QST__TALK_ENDED;
    if (how == QST__TALK_DONE)
        b->answers = b->works = true;
    return how;
}

/* Once, by the process as it is. *again: it is to be tried in another manner. One that comes after others is greeted, by the
 * device alone, in which nothing is to be built: where it dies of that, its file was replaced, say, and no job is to blame. */
static qst_status send_job(qst__ahead *b, const qst__ahead_job *job, const message *m, bool *again, qst_error *err)
{
    const qst__patience patience = {&b->clock, qst__now(&b->clock) + manners[b->manner].job_ns, job->stop};
    qst__wire_answer    answer = {0, 0};
    qst__talk           how = QST__TALK_DONE;

    if (b->works && !b->answers)
        how = ask(b, job, m->body.text, m->device_bytes, &patience, &answer);
    if (how == QST__TALK_DONE)
        how = ask(b, job, m->body.text, m->body.length, &patience, &answer);
    if (how == QST__TALK_LATE && !atomic_load(job->stop)) {
        b->starved = b->starved || (b->manner == IDLE && qst__now(&b->clock) >= patience.until);
        *again = b->manner != manner_of(b, job);
        if (*again)
            return QST_OK; /* start() ends it */
    }
    if (how != QST__TALK_DONE)
        return give_up(b, job, how == QST__TALK_LATE, err);
    if (answer.code)
        QST__LOG(b->log, CL, INFO, "%s: building ahead gives %s", job->who, qst__cl_name(answer.code));
    return QST_OK;
}

/* Ends: the manner changes with `starved`, once, and with `urgent`, which is what somebody waits for. */
static qst_status do_job(qst__ahead *b, const qst__ahead_job *job, const message *m, qst_error *err)
{
    qst_status status = QST_OK;
    bool       again = true;

    while (again && status == QST_OK) {
        again = false;
        if (start(b, manner_of(b, job)))
            status = send_job(b, job, m, &again, err);
    }
    return status;
}

qst_status qst__ahead_build(qst__ahead *b, const qst__ahead_job *job, uint64_t *ns, qst_error *err)
{
    uint64_t   began = qst__now(&b->clock);
    char      *options;
    message    m = {.device_bytes = 0};
    done       mine;
    qst_status status = QST_OK;

    *ns = 0;
    if (job->desc->form != QST_PROGRAM_SOURCE || atomic_load(job->stop))
        return QST_OK;
    options = qst__program_options(b->alloc, job->desc->options);
    if (!options)
        return QST_OK; /* whoever builds it says so */
    digest_of(job, options, mine.digest);
    qst__str_init(&m.body, b->alloc);
    if (!known(b, mine.digest) && put_job(&m.body, job, options, &m.device_bytes) && start(b, manner_of(b, job))) {
        status = do_job(b, job, &m, err);
        if (status == QST_OK) /* what has killed it would kill the next one, and this process */
            (void)qst__vec_push(b->alloc, &b->done, mine);
        *ns = qst__now(&b->clock) - began;
        QST__LOG(b->log, CL, DEBUG, "%s: built ahead in %.1f ms", job->who, (double)*ns * 1e-6);
    }
    qst__str_finish(&m.body);
    qst__free(b->alloc, options);
    return status;
}
