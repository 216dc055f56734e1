/* SPDX-License-Identifier: MIT
 *
 * prebuild.c: see prebuild.h. Jobs wait in a list of the site; threads are started as jobs come and end when none is
 * left, so that none is there between tunings.
 */
#include "run/prebuild.h"

#include "model/rounds.h"
#include "run/background.h"
#include "run/finisher.h"
#include "run/peaks.h"
#include "run/quarantine.h"
#include "run/rig.h"

#include <string.h>
#include <unistd.h>

#define AHEAD 4u /* candidates built before their turn */

/* A program to build: of a candidate, of a judge's phase, of the core for an element type, of what measures a peak; or the
 * builder's own check. */
struct qst__prebuild_job {
    qst__shelf *shelf;
    uint32_t    candidate; /* ~0: none */
    uint32_t    phase;     /* QST_JUDGE_…; 0: none */
    uint32_t    type;      /* of the core's program; 0: none */
    bool        held;      /* waits for qst__prebuild_next */
    bool        check;
    void       *problem; /* owned */
    qst_set    *probe;   /* of the peak; NULL: none */
    qst__peak   peak;
};

static void drop(qst__site *site, qst__prebuild_job *job)
{
    qst__free(&site->ctx->alloc, job->problem);
    memset(job, 0, sizeof *job);
}

static void build(qst__site *site, const qst__prebuild_job *job)
{
    qst__key key;

    if (job->check) {
        qst__prebuild_fronted(site); /* another thread may have the check in hand */
        (void)qst__finisher_trusts(site);
    } else if (job->probe) {
        qst__peak_expect(site, job->probe, &job->peak);
    } else if (job->type) {
        qst__core_expect(job->shelf, job->type);
    } else if (job->phase) {
        qst__way_expect_judge(job->shelf, job->problem, job->phase);
    } else {
        if (job->shelf->site->ctx->settings->isolate == QST__ISOLATE_ALL || /* to be tried elsewhere first */
            qst__quarantine_enter(job->shelf, job->candidate, job->problem, NULL) != QST_OK)
            return;
        qst__key_of(job->shelf, job->problem, &key);
        qst__way_expect(job->shelf, job->candidate, &key, job->problem);
        qst__quarantine_leave(job->shelf, job->candidate, job->problem);
    }
}

/* ---- Threads ------------------------------------------------------------------------------------------------------ */

/* With the lock, which is given while another thread is in the front end. */
static bool take(qst__prebuild *p, qst__prebuild_job *job)
{
    size_t i;

    while (p->fronting)
        qst__cond_wait(&p->free, &p->lock);
    for (i = 0; i < p->jobs.count && p->jobs.data[i].held; i++)
        ;
    if (i == p->jobs.count)
        return false;
    *job = p->jobs.data[i];
    memmove(p->jobs.data + i, p->jobs.data + i + 1, (--p->jobs.count - i) * sizeof *p->jobs.data);
    p->fronting = true;
    p->front = pthread_self();
    return true;
}

void qst__prebuild_fronted(void *user)
{
    qst__prebuild *p = &((qst__site *)user)->prebuild;

    qst__lock_take(&p->lock);
    if (p->fronting && pthread_equal(p->front, pthread_self())) {
        p->fronting = false;
        qst__cond_wake(&p->free);
    }
    qst__lock_give(&p->lock);
}

static void *work(void *user)
{
    qst__site        *site = user;
    qst__prebuild    *p = &site->prebuild;
    qst__wait        *entered = qst__waits_enter(&site->ctx->cl_counters.waits, true);
    qst__prebuild_job job;

    qst__lock_take(&p->lock);
    while (take(p, &job)) {
        qst__lock_give(&p->lock);
        build(site, &job);
        qst__prebuild_fronted(site); /* where there was nothing to build */
        drop(site, &job);
        qst__lock_take(&p->lock);
    }
    p->running--;
    qst__waits_leave(entered);
    qst__cond_wake(&p->idle);
    qst__lock_give(&p->lock);
    return NULL;
}

/* With the lock: a thread for each job that may run, within the limit. */
static void start_threads(qst__site *site)
{
    qst__prebuild *p = &site->prebuild;
    size_t         i, ready = 0;
    pthread_attr_t detached;
    pthread_t      thread;

    if (pthread_attr_init(&detached) != 0)
        return;
    (void)pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (i = 0; i < p->jobs.count; i++)
        ready += !p->jobs.data[i].held;
    while (p->running < p->threads && ready > 0 && pthread_create(&thread, &detached, work, site) == 0) {
        p->running++;
        ready--;
    }
    (void)pthread_attr_destroy(&detached);
}

/* ---- What a tuning will need -------------------------------------------------------------------------------------- */

typedef QST__VEC(qst__prebuild_job) job_list;

/* Without memory nothing is built ahead. */
static void add(qst__site *site, job_list *jobs, qst__prebuild_job job, const void *problem, uint32_t bytes)
{
    job.problem = problem ? qst__memdup(&site->ctx->alloc, problem, bytes) : NULL;
    if ((problem && !job.problem) || !qst__vec_push(&site->ctx->alloc, jobs, job))
        qst__free(&site->ctx->alloc, job.problem);
}

static void add_judge(qst__site *site, job_list *jobs, const qst__route *route)
{
    static const struct {
        uint32_t which, phase;
    } trials[] = {{QST_VARY_TIMED, QST_JUDGE_EQUAL},
                  {QST_VARY_SECOND_REAL, QST_JUDGE_BOUND},
                  {QST_VARY_SECOND, QST_JUDGE_EQUAL},
                  {QST_VARY_SECOND_REAL, QST_JUDGE_SCALE}};
    const qst_op     *op = &route->shelf->set->model.op;
    char              problem[QST__PROBLEM_BYTES];
    uint32_t          i;
    qst__prebuild_job job = {.shelf = route->shelf, .candidate = UINT32_MAX};

    for (i = 0; op->judge && i < sizeof trials / sizeof *trials; i++) {
        job.phase = trials[i].phase;
        if (qst__rig_derive(route, trials[i].which, problem) == QST_OK)
            add(site, jobs, job, problem, op->problem_size);
    }
}

/* The builder's check, what measures the peaks, the core's kernels. */
static void add_small(qst__site *site, job_list *jobs, const qst__task *task, const qst__route *route)
{
    const qst_op     *op = &route->shelf->set->model.op;
    qst__prebuild_job job = {.shelf = route->shelf, .candidate = UINT32_MAX, .check = true};
    qst__peak         peaks[QST__PROBES];
    qst_set          *sets[QST__PROBES];
    uint32_t          type, i, n = qst__peaks_missing(task, route, peaks, sets);

    add(site, jobs, job, NULL, 0);
    job.check = false;
    for (i = 0; i < n; i++) {
        job.probe = sets[i];
        job.peak = peaks[i];
        add(site, jobs, job, NULL, 0);
    }
    job.probe = NULL;
    for (i = 0; i < op->n_operands; i++) {
        memcpy(&type, (const char *)route->normal + op->operands[i].type_offset, sizeof type);
        job.type = type;
        add(site, jobs, job, NULL, 0);
    }
}

/* A candidate may have other programs for the problems that it is judged with, longer ones if anything: there they meet
 * edges. */
static void add_trials(qst__site *site, job_list *jobs, const qst__route *route, qst__prebuild_job job)
{
    static const uint32_t trials[] = {QST_VARY_SECOND, QST_VARY_TIMED, QST_VARY_SECOND_REAL};
    char                  problem[QST__PROBLEM_BYTES];
    size_t                i;

    for (i = 0; i < sizeof trials / sizeof *trials; i++)
        if (qst__rig_derive(route, trials[i], problem) == QST_OK)
            add(site, jobs, job, problem, route->shelf->set->model.op.problem_size);
}

/* The candidates of the first round by estimate, as the tuner will contact them. */
static void add_candidates(qst__site *site, job_list *jobs, const qst__task *task, const qst__route *route,
                           const qst__rounds *rounds)
{
    uint32_t          n = rounds->n_rounds ? rounds->start[1] : 0, i, at, count = 0;
    double           *estimates = qst__zalloc_array(task->alloc, n + 1, sizeof *estimates);
    uint32_t         *order = qst__zalloc_array(task->alloc, n + 1, sizeof *order);
    qst__prebuild_job job = {.shelf = route->shelf};

    for (i = 0; estimates && order && i < n; i++) {
        const qst_candidate *d = &task->set->candidates[rounds->order[i]].desc;
        double               ns = d->estimate ? d->estimate(d->user, task->device, task->problem) : 0;
        if (!d->steps || (task->suspect && task->suspect[rounds->order[i]]))
            continue;
        for (at = count++; at > 0 && estimates[at - 1] > ns; at--) {
            estimates[at] = estimates[at - 1];
            order[at] = order[at - 1];
        }
        estimates[at] = ns;
        order[at] = rounds->order[i];
    }
    for (i = 0; i < count; i++) {
        job.candidate = order[i];
        job.held = i >= AHEAD;
        add_trials(site, jobs, route, job);
    }
    qst__free(task->alloc, order);
    qst__free(task->alloc, estimates);
}

/* The front end takes one program at a time, so the longest builds come first: candidates, the judge, then the rest. What
 * candidates would have to try on the device is presumed: the device has nothing to do with building. */
static void list_all(qst__site *site, job_list *jobs, const qst__task *task, const qst__route *route)
{
    qst_key       key = qst__key_view(task->key);
    uint32_t      n = task->set->n_candidates;
    qst__rounds   rounds = {.alloc = task->alloc};
    qst__support *support = qst__zalloc_array(task->alloc, n ? n : 1, sizeof *support);
    bool          possible = true; /* without memory to look nothing is known */

    if (support) {
        qst__support_of(task->set, &site->presumed, &key, task->class_bit, task->settings, support);
        if (qst__rounds_init(&rounds, task->alloc, task->set, &site->presumed, &key, support) == QST_OK) {
            possible = qst__tune_possible(task, &rounds);
            add_candidates(site, jobs, task, route, &rounds);
        }
    }
    if (possible) {
        add_judge(site, jobs, route);
        add_small(site, jobs, task, route);
    }
    qst__rounds_finish(&rounds);
    qst__free(task->alloc, support);
}

void qst__prebuild_begin(const qst__task *task, qst__route *route)
{
    qst__site     *site = route->shelf->site;
    qst__prebuild *p = &site->prebuild;
    uint32_t       threads = qst__finisher_threads(site);
    long           cores = sysconf(_SC_NPROCESSORS_ONLN);
    job_list       jobs = {NULL, 0, 0};
    size_t         i;

    if (threads < 2 || cores < 3 || qst__background_here(site->ctx)) /* the driver's compiler may hold up calls */
        return;
    list_all(site, &jobs, task, route); /* without the lock: a plugin may have something built to answer */
    qst__lock_take(&p->lock);
    p->threads = threads < (uint32_t)cores - 1 ? threads : (uint32_t)cores - 1;
    for (i = 0; i < jobs.count; i++)
        if (!qst__vec_push(&site->ctx->alloc, &p->jobs, jobs.data[i]))
            drop(site, &jobs.data[i]);
    start_threads(site);
    qst__lock_give(&p->lock);
    qst__vec_finish(&site->ctx->alloc, &jobs);
}

void qst__prebuild_next(qst__site *site)
{
    qst__prebuild *p = &site->prebuild;
    size_t         i;

    qst__lock_take(&p->lock);
    for (i = 0; i < p->jobs.count && !p->jobs.data[i].held; i++)
        ;
    if (i < p->jobs.count) {
        uint32_t candidate = p->jobs.data[i].candidate;
        for (; i < p->jobs.count && p->jobs.data[i].candidate == candidate; i++)
            p->jobs.data[i].held = false;
        start_threads(site);
    }
    qst__lock_give(&p->lock);
}

void qst__prebuild_leave(qst__site *site)
{
    qst__prebuild *p = &site->prebuild;

    qst__lock_take(&p->lock);
    while (p->jobs.count)
        drop(site, &p->jobs.data[--p->jobs.count]);
    qst__lock_give(&p->lock);
}

void qst__prebuild_init(qst__site *site)
{
    qst__lock_init(&site->prebuild.lock);
    qst__cond_init(&site->prebuild.idle);
    qst__cond_init(&site->prebuild.free);
}

void qst__prebuild_finish(qst__site *site)
{
    qst__prebuild *p = &site->prebuild;

    qst__prebuild_leave(site);
    qst__lock_take(&p->lock);
    while (p->running)
        qst__cond_wait(&p->idle, &p->lock);
    qst__lock_give(&p->lock);
    qst__vec_finish(&site->ctx->alloc, &p->jobs);
    qst__cond_finish(&p->free);
    qst__cond_finish(&p->idle);
    qst__lock_finish(&p->lock);
}
