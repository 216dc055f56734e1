/* SPDX-License-Identifier: MIT
 *
 * rig.c: tries the candidates of a route on its device, on operands of our own, on a queue of our own: makes the operands,
 * prepares a candidate and has it checked. First contact is contact.c's, judging jury.c's, timing bench.c's.
 *
 * Three trials: the problem itself with integers; a second shape with integers; and such a shape with badly scaled reals
 * and the caller's own scalars, for the class's bound (on the problem itself where there is no second shape).
 */
#include "run/rig.h"

#include "cl/canary.h"
#include "cl/timing.h"
#include "run/background.h"
#include "run/bench.h"
#include "run/isolate.h"
#include "run/prebuild.h"
#include "run/quarantine.h"

#include <string.h>

static qst_status make_queue(qst__bench *r, qst_error *err)
{
    if (r->site->bench)
        return QST_OK;
    return qst__timing_queue(r->site->context, r->site->device, &r->site->bench, &r->site->bench_profiling, err);
}

qst_status qst__rig_derive(const qst__route *route, uint32_t which, void *out)
{
    const qst_op *op = &route->shelf->set->model.op;
    uint32_t      i, perm[QST_OPERANDS_MAX];
    qst_status    status;

    memcpy(out, route->normal, op->problem_size);
    if (!op->vary)
        return which == QST_VARY_SECOND || which == QST_VARY_SECOND_REAL ? QST_E_UNSUPPORTED : QST_OK;
    status = op->vary(op->user, route->normal, which, out);
    for (i = 0; i < QST_OPERANDS_MAX; i++)
        perm[i] = i;
    if (status == QST_OK && op->normalise && op->normalise(op->user, out, perm) != QST_OK)
        status = QST_E_UNSUPPORTED;
    return status;
}

/* The second shape with the caller's scalars: its own fields but sizes and strides are kept by the operation. */
static qst_status open_trials(qst__bench *r, qst_error *err)
{
    const qst_op *op = &r->shelf->set->model.op;
    char          problem[QST__PROBLEM_BYTES];
    qst_status    status = qst__rig_derive(r->route, QST_VARY_TIMED, problem);

    if (status != QST_OK)
        return qst__fail(err, status < 0 ? status : QST_E_INTERNAL, op->name, "there is no problem to time: %s",
                         qst_status_text(status));
    status = qst__trial_init(&r->main, r->shelf, problem, false, r->site->bench, err);
    if (status != QST_OK || !r->site->ctx->settings->verify)
        return status;
    r->has_second = qst__rig_derive(r->route, QST_VARY_SECOND, problem) == QST_OK;
    if (r->has_second)
        status = qst__trial_init(&r->second, r->shelf, problem, false, r->site->bench, err);
    if (status == QST_OK && r->shelf->set->model.op.judge) {
        if ((!r->has_second || qst__rig_derive(r->route, QST_VARY_SECOND_REAL, problem) != QST_OK) &&
            qst__rig_derive(r->route, QST_VARY_EXACT, problem) !=
                QST_OK) /* too small for a second shape: its own, tame scalars */
            memcpy(problem, r->route->normal, op->problem_size);
        status = qst__trial_init(&r->real, r->shelf, problem, true, r->site->bench, err);
    }
    return status;
}

/* Runs the judge once on whatever stands in the results, so that what it compiles is counted as a build and not as
 * verification of the first candidate. What a first pass takes over a second one, besides the builds that are known of,
 * is such a build too. */
static qst_status warm_judge(qst__bench *r, qst_error *err)
{
    qst__waits *waits = &r->site->ctx->cl_counters.waits;
    qst__trial *trials[3] = {&r->main, &r->second, &r->real};
    uint64_t    start, pass[2], waited;
    uint32_t    i, j;
    qst_status  status = QST_OK;

    for (j = 0; j < 2 && status == QST_OK; j++) {
        start = qst__now(&r->site->ctx->clock);
        waited = qst__waits_mine(waits);
        for (i = 0; i < 3 && status == QST_OK; i++)
            if (trials[i]->ready)
                status = qst__trial_rehearse(trials[i], err);
        pass[j] = qst__now(&r->site->ctx->clock) - start - (qst__waits_mine(waits) - waited);
        if (pass[0] < QST__LATE_BUILD_NS)
            return status; /* all was there */
    }
    if (status == QST_OK && pass[0] > pass[1] + QST__LATE_BUILD_NS)
        qst__waits_add(waits, pass[0] - pass[1], pass[0] - pass[1]);
    return status;
}

/* Binds the candidate to another trial's problem too, before any lease: a step that calls another operation may have
 * that one tuned. What it cannot run stays NULL and is not judged by it. */
static qst_status bind_other(qst__bench *r, qst__trial *trial, uint32_t candidate, qst__way **way, qst_error *err)
{
    bool       first = err && err->status == QST_OK;
    qst_error  refused;
    qst_status status;

    if (!trial->ready)
        return QST_OK;
    memset(&refused, 0, sizeof refused);
    status = qst__way_create(way, r->shelf, candidate, &trial->key, trial->problem, r->depth, &refused);
    if (status == QST_OK || status == QST_E_UNSUPPORTED)
        return QST_OK;
    (void)qst__fail(err, status, refused.source, "on a second shape: %s", refused.text);
    if (first)
        err->cl_code = refused.cl_code;
    return status;
}

/* An operation without a judge is compared with its fallback. Bound without the lease: see bind_other. */
static qst_status bind_fallback(qst__bench *r, qst_error *err)
{
    uint32_t   fallback = r->shelf->set->model.fallback;
    qst_status status = qst__way_create(&r->fallback, r->shelf, fallback, &r->main.key, r->main.problem, r->depth, err);

    return status == QST_OK ? bind_other(r, &r->second, fallback, &r->fallback_second, err) : status;
}

static qst_status rig_open(void *self, uint32_t *ruler, qst_error *err)
{
    qst__bench     *r = self;
    const qst__set *set = &r->shelf->set->model;
    qst__waits     *waits = &r->site->ctx->cl_counters.waits;
    uint64_t        start = qst__now(&r->site->ctx->clock), waited = qst__waits_mine(waits), took;
    cl_int          code;
    qst_status      status;

    r->sparing = false;
    qst__lock_take(&r->site->lease);
    status = make_queue(r, err);
    if (status == QST_OK)
        status = qst__bench_ruler(r, err);
    if (status == QST_OK)
        status = open_trials(r, err);
    if (status == QST_OK) {
        code = clFinish(r->site->bench);
        if (code != CL_SUCCESS)
            status = qst__fail_cl(err, code, "rig", "clFinish after making inputs");
    }
    if (status == QST_OK && r->site->ctx->settings->verify)
        status = warm_judge(r, err);
    qst__lock_give(&r->site->lease);
    if (status == QST_OK && !r->shelf->set->model.op.judge && set->fallback != UINT32_MAX)
        status = bind_fallback(r, err);
    took = qst__now(&r->site->ctx->clock) - start;
    waited = qst__waits_mine(waits) - waited;
    atomic_fetch_add(&r->site->ctx->verify_ns, took > waited ? took - waited : 0);
    r->opened = r->opened || status == QST_OK;
    *ruler = r->ruler;
    return status;
}

static void came_back(qst__bench *r, uint32_t candidate)
{
    if (r->tried[candidate].watched)
        qst__quarantine_leave(r->shelf, candidate, r->route->given);
    r->tried[candidate].watched = false;
}

/* Did it fail because nothing builds now? Programs of launches were looked at when they were built; what a vendor's library
 * builds is not seen. A candidate that has spoiled the context would spoil all that is built in it, too. */
static bool is_unable(qst__bench *r, uint32_t candidate, qst_status status, const qst_error *err)
{
    if (r->shelf->set->model.candidates[candidate].desc.steps)
        return qst__programs_unable(err);
    return (status == QST_E_PLUGIN || status == QST_E_CL || status == QST_E_BUILD) &&
           clFinish(r->site->bench) == CL_SUCCESS && !qst__canary_builds(&r->site->programs, 0);
}

static qst_status rig_prepare(void *self, uint32_t candidate, qst__prepared *out, qst_error *err)
{
    qst__bench           *r = self;
    const qst__candidate *c = &r->shelf->set->model.candidates[candidate];
    qst__tried           *t = &r->tried[candidate];
    const char           *why = NULL;
    qst_status            status;

    memset(out, 0, sizeof *out);
    if (atomic_load(&r->site->closing))
        return qst__fail(err, QST_E_REFUSED, "rig", "the device is given up");
    if (!r->sparing)
        qst__prebuild_next(r->site);
    /* Of the problem that is timed: what only the caller's own scalars are in the way of takes part, for the key's others. */
    if (c->desc.can_run && c->desc.can_run(c->desc.user, &r->site->facts.device, r->main.problem, &why) != QST_OK)
        return qst__fail(err, QST_E_UNSUPPORTED, c->name, "%s", why ? why : "the candidate gives no reason");
    status = qst__isolate(r->shelf, candidate, r->route->given, err);
    out->unable = status != QST_OK && qst__programs_unable(err);
    if (status == QST_OK)
        status = qst__quarantine_enter(r->shelf, candidate, r->route->given, err);
    if (status != QST_OK)
        return status;
    t->watched = true;
    if (!t->main) {
        status = qst__way_create(&t->main, r->shelf, candidate, &r->main.key, r->main.problem, r->depth, err);
        if (status == QST_OK)
            status = bind_other(r, &r->second, candidate, &t->second, err);
        if (status == QST_OK)
            status = bind_other(r, &r->real, candidate, &t->real, err);
        if (status != QST_OK) {
            came_back(r, candidate);
            out->unable = is_unable(r, candidate, status, err);
            return status;
        }
    }
    out->build_ns = t->main->build_ns + (t->second ? t->second->build_ns : 0) + (t->real ? t->real->build_ns : 0);
    out->launches = qst__way_launches(t->main);
    out->workspace = qst__way_workspace(t->main);
    return QST_OK;
}

static bool is_built_for(const qst__bench *r, uint32_t candidate, const qst__trial *trial)
{
    return !trial->ready || qst__way_ready(r->shelf, candidate, &trial->key, trial->problem);
}

/* A trial elsewhere takes longer than a build does. */
static bool rig_ready(void *self, uint32_t candidate)
{
    qst__bench *r = self;

    r->sparing = true;
    if (r->site->ctx->settings->isolate == QST__ISOLATE_ALL)
        return false;
    return r->tried[candidate].main || (is_built_for(r, candidate, &r->main) &&
                                        is_built_for(r, candidate, &r->second) && is_built_for(r, candidate, &r->real));
}

static qst_status rig_check(void *self, uint32_t candidate, uint64_t best_ns, double slow_factor, qst__checked *out,
                            qst_error *err)
{
    qst__bench *r = self;
    qst__tried *t = &r->tried[candidate];
    qst__waits *waits = &r->site->ctx->cl_counters.waits;
    uint64_t    start = qst__now(&r->site->ctx->clock), waited = qst__waits_mine(waits), small_ns;
    qst_status  status;

    memset(out, 0, sizeof *out);
    status = qst__bench_contact(r, candidate, best_ns, slow_factor, &small_ns, out, err);
    if (status != QST_OK) {
        came_back(r, candidate);
        out->unable = is_unable(r, candidate, status, err);
        return status;
    }
    t->repeats = qst__bench_repeats(r, out->first_ns);
    if (r->site->ctx->settings->verify)
        status = qst__bench_judge(r, candidate, err);
    t->small_ns = status == QST_OK ? small_ns : 0;
    came_back(r, candidate);
    out->verify_ns = qst__now(&r->site->ctx->clock) - start;
    waited = qst__waits_mine(waits) - waited;
    if (waited > out->build_ns) /* the judge had something built, too */
        out->build_ns = waited;
    out->verify_ns -= out->build_ns < out->verify_ns ? out->build_ns : out->verify_ns;
    atomic_fetch_add(&r->site->ctx->verify_ns, out->verify_ns);
    return status;
}

static void drop_way(qst__bench *r, qst__way *way)
{
    if (way)
        qst__way_account(way, r->site->ctx);
    qst__way_destroy(way, &r->site->ctx->alloc);
}

static void rig_close(void *self)
{
    qst__bench *r = self;
    uint32_t    i;

    if (r->main.queue) /* it was opened */
        clFinish(r->main.queue);
    for (i = 0; r->tried && i < r->shelf->set->model.n_candidates; i++) {
        came_back(r, i);
        drop_way(r, r->tried[i].main);
        drop_way(r, r->tried[i].second);
        drop_way(r, r->tried[i].real);
        memset(&r->tried[i], 0, sizeof r->tried[i]);
    }
    drop_way(r, r->fallback);
    drop_way(r, r->fallback_second);
    r->fallback = r->fallback_second = NULL;
    if (r->evictor)
        clReleaseMemObject(r->evictor);
    r->evictor = NULL;
    qst__trial_finish(&r->main);
    qst__trial_finish(&r->second);
    qst__trial_finish(&r->real);
}

qst_status qst__rig_create(qst__rig *rig, qst__route *route, uint32_t depth, qst_error *err)
{
    const qst__alloc *alloc = &route->shelf->site->ctx->alloc;
    qst__bench       *r = qst__zalloc(alloc, sizeof *r);

    if (r) {
        r->route = route;
        r->depth = depth;
        r->shelf = route->shelf;
        r->site = route->shelf->site;
        r->tried = qst__zalloc_array(alloc, route->shelf->set->model.n_candidates + 1, sizeof *r->tried);
    }
    if (!r || !r->tried) {
        qst__free(alloc, r);
        return qst__fail(err, QST_E_NOMEM, "rig", "no memory to tune");
    }
    rig->self = r;
    rig->open = rig_open;
    rig->prepare = rig_prepare;
    rig->check = rig_check;
    rig->sample = qst__bench_sample;
    rig->close = rig_close;
    rig->ready = rig_ready;
    return QST_OK;
}

bool qst__rig_opened(const qst__rig *rig)
{
    const qst__bench *r = rig->self;

    return r && r->opened;
}

void qst__rig_destroy(qst__rig *rig)
{
    qst__bench       *r = rig->self;
    const qst__alloc *alloc;

    if (!r)
        return;
    alloc = &r->site->ctx->alloc;
    rig_close(r);
    qst__free(alloc, r->tried);
    qst__free(alloc, r);
    memset(rig, 0, sizeof *rig);
}
