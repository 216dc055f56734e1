/* SPDX-License-Identifier: MIT
 *
 * background.c: with tune.mode background one worker thread of the context tunes the keys that calls have missed, while
 * they run the safe candidate. Until a key is done its calls look again each time, so the first one after it takes the
 * winner over.
 *
 * The worker is started by its first job and ended by the context's end. Forgetting a cl_context, or ending the
 * context, makes a tuning in progress stop at its next step (the rig refuses) and drops what waits.
 */
#define _GNU_SOURCE
#include "run/background.h"

#include "cl/ahead.h"
#include "cl/canary.h"
#include "plug/registry.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define QUEUE_MAX  4096u       /* keys waiting; a miss beyond it is looked at again by its next call */
#define SLICE_NS   1000000u    /* that a call may well wait for a run of the tuner's */
#define REST       50u         /* times as long as a longer one the device is then left to the calls */
#define REST_NS    1000000000u /* and no longer than this */
#define LOOK_NS    10000000u   /* between two looks meanwhile whether all is given up */
#define NICE       10          /* of the worker's thread: what calls need goes first */
#define FORERUNNER "qst-ahead" /* beside the plugins' folder */

struct qst__worker {
    qst_context *ctx;
    pthread_t    thread;
    _Atomic bool runs; /* then `self` is set */
    pthread_t    self;
    qst__lock    lock;
    qst__cond    cond; /* something waits, something is done, or the end */
    QST__VEC(qst__route *) queue;
    qst__site   *busy; /* where a key is being tuned */
    bool         end;
    uint32_t     waiting; /* in qst__background_settle */
    _Atomic bool urgent;  /* somebody is */
    uint64_t     calls;   /* that had been made when the worker last looked; its own, as those below are */
    bool         looked;  /* for a forerunner */
    qst__ahead  *ahead;   /* NULL: there is none */
};

static void tune(qst__route *route)
{
    qst__entry *entry = route->entry;
    qst_error   err;
    qst_status  status;

    memset(&err, 0, sizeof err);
    status = qst__tune_route(route, false, 0, &err);
    if (status != QST_OK && err.status != QST_OK)
        qst__tune_excuse(entry, &err);
    /* Another process is at it, or it failed and is tried again: the next miss looks. */
    if (status == QST_E_BUSY || qst__retry_waits(&entry->retry))
        atomic_store(&entry->queued, false);
    /* A partial answer waits for the next round of the queue. */
    else if (qst__claim_state(&entry->claim) == QST__KEY_PARTIAL && !atomic_load(&entry->shelf->site->closing)) {
        atomic_store(&entry->queued, false);
        qst__background_tune(route);
    }
}

/* ---- Building ahead --------------------------------------------------------------------------------------------- */

bool qst__background_here(const qst_context *ctx)
{
    qst__worker *w = atomic_load(&ctx->worker);

    return w && atomic_load(&w->runs) && pthread_equal(w->self, pthread_self());
}

/* The forerunner that came with this library. */
static void look_for_ahead(qst__worker *w)
{
    const qst__alloc *alloc = &w->ctx->alloc;
    char             *path = NULL, why[256];

    w->looked = true;
    if (!w->ctx->settings->ahead)
        return;
    if (qst__plugins_helper(alloc, FORERUNNER, &path, why, sizeof why) == QST_OK)
        w->ahead = qst__ahead_create(alloc, &w->ctx->log, &w->ctx->clock, path);
    else
        QST__LOG(&w->ctx->log, CL, INFO, "programs are built in this process: %s", why);
    qst__free(alloc, path);
}

qst_status qst__background_build(qst__site *site, const qst_program *desc, const qst__recipe *recipe, uint32_t program,
                                 const uint64_t *operand_bytes, const char *who, uint64_t *ns, qst_error *err)
{
    qst__worker   *w = atomic_load(&site->ctx->worker);
    qst__ahead_job job = {site->device, desc, recipe, program, operand_bytes, who, &site->closing, NULL};
    uint64_t       took;
    qst_error      died = {0};
    qst_status     status;

    if (!qst__background_here(site->ctx))
        return QST_OK;
    if (!w->looked)
        look_for_ahead(w);
    if (!w->ahead)
        return QST_OK;
    job.urgent = &w->urgent;
    status = qst__ahead_build(w->ahead, &job, &took, &died);
    qst__waits_add(&site->ctx->cl_counters.waits, took, took);
    *ns += took;
    if (status == QST_E_REFUSED && qst__canary_blames(&site->programs, died.text, err) != QST_OK)
        return QST_E_BUILD;
    return status == QST_OK ? QST_OK : qst__pass(err, &died);
}

/* ---- Leaving the device to the calls ----------------------------------------------------------------------------- */

static void add_runs(void *user, void *value)
{
    const qst__route *route = value;
    const qst__way   *way;
    uint64_t         *sum = user;

    for (way = route->ways; way; way = way->next)
        *sum += qst__way_runs(way);
}

/* How many calls the site has served so far; a hit counts them anyway. */
static uint64_t calls_of(qst__site *site)
{
    uint64_t sum = 0;
    uint32_t i;

    qst__lock_take(&site->lock);
    for (i = 0; i < QST__SETS_MAX; i++) {
        qst__shelf *shelf = atomic_load(&site->shelves[i]);
        if (shelf)
            qst__table_each(&shelf->routes, add_runs, &sum);
    }
    qst__lock_give(&site->lock);
    return sum;
}

void qst__background_rest(qst__site *site, uint64_t run_ns)
{
    const struct timespec look = {0, LOOK_NS};
    qst__worker          *w = atomic_load(&site->ctx->worker);
    uint64_t              rest, before;

    if (run_ns <= SLICE_NS || !qst__background_here(site->ctx))
        return;
    before = w->calls;
    w->calls = calls_of(site);
    rest = w->calls == before ? 0 : run_ns < REST_NS / REST ? run_ns * REST : REST_NS;
    for (; rest > LOOK_NS && !atomic_load(&site->closing); rest -= LOOK_NS)
        nanosleep(&look, NULL);
}

/* ---- The worker ------------------------------------------------------------------------------------------------- */

/* What it does itself is worth less than any call: where the processors are all wanted it waits. Only this thread is
 * meant, as Linux has it; where that is refused nothing is lost but manners. */
static void stand_back(void)
{
    struct sched_param none = {0};

    (void)pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
}

static void *run(void *user)
{
    qst__worker *w = user;

    stand_back();
    w->self = pthread_self();
    atomic_store(&w->runs, true);
    qst__lock_take(&w->lock);
    while (!w->end) {
        qst__route *route;
        if (!w->queue.count) {
            qst__cond_wait(&w->cond, &w->lock);
            continue;
        }
        route = w->queue.data[0];
        memmove(w->queue.data, w->queue.data + 1, --w->queue.count * sizeof *w->queue.data);
        w->busy = route->shelf->site;
        qst__lock_give(&w->lock);
        tune(route);
        qst__lock_take(&w->lock);
        w->busy = NULL;
        qst__cond_wake(&w->cond);
    }
    qst__lock_give(&w->lock);
    return NULL;
}

static qst__worker *start(qst_context *ctx)
{
    qst__worker *w = atomic_load(&ctx->worker);

    if (w)
        return w;
    qst__lock_take(&ctx->lock);
    w = atomic_load(&ctx->worker);
    if (!w) {
        w = qst__zalloc(&ctx->alloc, sizeof *w);
        if (w) {
            w->ctx = ctx;
            qst__lock_init(&w->lock);
            qst__cond_init(&w->cond);
            if (pthread_create(&w->thread, NULL, run, w)) {
                QST__LOG(&ctx->log, TUNE, WARN, "no thread for work in the background");
                qst__cond_finish(&w->cond);
                qst__lock_finish(&w->lock);
                qst__free(&ctx->alloc, w);
                w = NULL;
            }
        }
        atomic_store(&ctx->worker, w);
    }
    qst__lock_give(&ctx->lock);
    return w;
}

void qst__background_tune(qst__route *route)
{
    qst_context *ctx = route->shelf->site->ctx;
    qst__worker *w;
    bool         posted = false;

    if (route->loose || atomic_exchange(&route->entry->queued, true))
        return;
    w = start(ctx);
    if (w) {
        qst__lock_take(&w->lock);
        posted = !w->end && w->queue.count < QUEUE_MAX && qst__vec_push(&ctx->alloc, &w->queue, route);
        qst__cond_wake(&w->cond);
        qst__lock_give(&w->lock);
    }
    if (!posted)
        atomic_store(&route->entry->queued, false);
}

void qst__background_leave(qst__site *site)
{
    qst__worker *w = atomic_load(&site->ctx->worker);
    size_t       i, n;

    atomic_store(&site->closing, true);
    if (!w)
        return;
    qst__lock_take(&w->lock);
    for (;;) { /* once more after the wait: the worker may have put back what it was at */
        for (i = n = 0; i < w->queue.count; i++)
            if (w->queue.data[i]->shelf->site != site)
                w->queue.data[n++] = w->queue.data[i];
        w->queue.count = n;
        if (w->busy != site)
            break;
        qst__cond_wait(&w->cond, &w->lock);
    }
    qst__lock_give(&w->lock);
}

void qst__background_settle(qst_context *ctx)
{
    qst__worker *w = atomic_load(&ctx->worker);

    if (!w)
        return;
    qst__lock_take(&w->lock);
    w->waiting++;
    atomic_store(&w->urgent, true);
    while (w->busy || w->queue.count)
        qst__cond_wait(&w->cond, &w->lock);
    atomic_store(&w->urgent, --w->waiting > 0);
    qst__lock_give(&w->lock);
}

void qst__background_end(qst_context *ctx)
{
    qst__worker *w = atomic_load(&ctx->worker);
    qst__site   *site;

    if (!w)
        return;
    for (site = atomic_load(&ctx->sites); site; site = atomic_load(&site->next))
        atomic_store(&site->closing, true);
    qst__lock_take(&w->lock);
    w->end = true;
    qst__cond_wake(&w->cond);
    qst__lock_give(&w->lock);
    pthread_join(w->thread, NULL);
    qst__ahead_destroy(w->ahead);
    qst__vec_finish(&ctx->alloc, &w->queue);
    qst__cond_finish(&w->cond);
    qst__lock_finish(&w->lock);
    qst__free(&ctx->alloc, w);
    atomic_store(&ctx->worker, NULL);
}
