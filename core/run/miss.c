/* SPDX-License-Identifier: MIT
 *
 * miss.c: no way is at hand: the verdict's best, a tuning, or the safe candidate, as tune.mode says.
 */
#include "model/rounds.h"
#include "run/background.h"
#include "run/rig.h"
#include "tune/tuner.h"

#include <string.h>

/* The route's way for a candidate: made once. */
static qst_status way_for(qst__route *route, uint32_t candidate, qst__way **out, qst_error *err)
{
    qst__site *site = route->shelf->site;
    qst__way  *way = NULL, *there;
    qst_status status;

    qst__lock_take(&site->lock);
    for (there = route->ways; there && there->candidate != candidate; there = there->next)
        ;
    qst__lock_give(&site->lock);
    if (there) {
        *out = there;
        return QST_OK;
    }
    status = qst__way_create(&way, route->shelf, candidate, &route->entry->key, route->normal, err);
    if (status != QST_OK)
        return status;
    qst__lock_take(&site->lock);
    for (there = route->ways; there && there->candidate != candidate; there = there->next)
        ;
    if (!there) {
        way->next = route->ways;
        route->ways = way;
        there = way;
        way = NULL;
    }
    qst__lock_give(&site->lock);
    qst__way_destroy(way, &site->ctx->alloc);
    *out = there;
    return QST_OK;
}

/* The best right candidate of the verdict that can run just this problem. */
static bool way_of_verdict(qst__route *route, const qst__verdict *verdict, qst__way **way)
{
    const qst__set *set = &route->shelf->set->model;
    qst_context    *ctx = route->shelf->site->ctx;
    qst_error       err;
    const char     *why;
    uint32_t        i;

    for (i = 0; verdict && i < verdict->n_order; i++) {
        uint32_t c = qst__set_find(set, verdict->findings[verdict->order[i]].name);
        if (c == UINT32_MAX || atomic_load(&route->entry->failed[c]) ||
            !qst__settings_allow(ctx->settings, set->candidates[c].name, &why))
            continue;
        memset(&err, 0, sizeof err);
        if (way_for(route, c, way, &err) == QST_OK)
            return true;
        QST__LOG(&ctx->log, RUN, INFO, "%s is passed over: %s", set->candidates[c].name, err.text);
        if (err.status != QST_E_UNSUPPORTED && err.status != QST_E_NOMEM)
            atomic_store(&route->entry->failed[c], 1);
    }
    return false;
}

/* The cheapest by estimate among the candidates that gave right results on this device, ~0 where there is none. */
static uint32_t cheapest_verified(const qst__route *route)
{
    const qst__shelf *shelf = route->shelf;
    const qst__set   *set = &shelf->set->model;
    const qst_device *device = &shelf->site->facts.device;
    qst_key           key = qst__key_view(&route->entry->key);
    uint32_t          c, best = UINT32_MAX, bit = qst__set_class_of(set, route->normal);
    double            least = 0;
    const char       *why;

    for (c = 0; c < set->n_candidates; c++) {
        const qst_candidate *d = &set->candidates[c].desc;
        double               ns;
        if (!atomic_load(&shelf->verified[c]) || atomic_load(&route->entry->failed[c]) || !(d->classes & bit) ||
            !d->estimate || !qst__settings_allow(shelf->site->ctx->settings, set->candidates[c].name, &why) ||
            (d->supports && d->supports(d->user, device, &key, &why) < 0) ||
            (d->can_run && d->can_run(d->user, device, route->normal, &why) != QST_OK))
            continue;
        ns = d->estimate(d->user, device, route->normal);
        if (ns > 0 && (best == UINT32_MAX || ns < least)) {
            best = c;
            least = ns;
        }
    }
    return best;
}

static qst_status safe_way(qst__route *route, qst__way **way, qst_error *err)
{
    const qst__set     *set = &route->shelf->set->model;
    const qst__verdict *verdict = atomic_load_explicit(&route->entry->verdict, memory_order_acquire);
    uint32_t            c = cheapest_verified(route), i;
    qst_error           ignored;

    memset(&ignored, 0, sizeof ignored);
    if (c != UINT32_MAX && way_for(route, c, way, &ignored) == QST_OK)
        return QST_OK;
    c = set->fallback;
    if (c == UINT32_MAX)
        return qst__fail(err, QST_E_UNSUPPORTED, set->op.name, "no candidate computes this problem here");
    i = verdict ? qst__verdict_find(verdict, set->candidates[c].name) : UINT32_MAX;
    /* Without a judge the fallback itself says what is right. */
    if (i != UINT32_MAX && verdict->findings[i].outcome == QST__OUTCOME_WRONG && set->op.judge)
        return qst__fail(err, QST_E_VERIFY, set->op.name, "no candidate gives a right result here; %s: %s",
                         set->candidates[c].name, verdict->findings[i].why ? verdict->findings[i].why : "wrong");
    return way_for(route, c, way, err);
}

static void commit(void *user, const qst__verdict *verdict, uint32_t candidate)
{
    qst__entry *entry = user;
    uint32_t    i;

    for (i = 0; i < verdict->n; i++)
        if (qst__outcome_right(verdict->findings[i].outcome))
            atomic_store(&entry->shelf->verified[i], 1);
    (void)candidate;
    qst__remember(entry, verdict);
}

static void lease(void *user, bool take)
{
    qst__entry *entry = user;

    if (take)
        qst__lock_take(&entry->shelf->site->lease);
    else
        qst__lock_give(&entry->shelf->site->lease);
}

static qst_status note_problem(qst__verdict *verdict, const qst__route *route)
{
    qst_context *ctx = route->shelf->site->ctx;
    qst__str     text;

    qst__str_init(&text, &ctx->alloc);
    qst__problem_print(&route->shelf->set->model.op, route->given, &text);
    qst__free(&ctx->alloc, verdict->problem);
    qst__free(&ctx->alloc, verdict->driver);
    verdict->problem = qst__str_take(&text);
    verdict->driver = qst__strdup(&ctx->alloc, route->shelf->site->facts.device.driver);
    qst__str_finish(&text);
    verdict->ruler_revision = QST__RULER_RULES;
    verdict->level = (uint32_t)ctx->settings->level;
    return verdict->problem && verdict->driver ? QST_OK : QST_E_NOMEM;
}

static void fill_task(qst__task *task, const qst__route *route, const qst__rig *rig)
{
    qst_context *ctx = route->shelf->site->ctx;

    memset(task, 0, sizeof *task);
    task->alloc = &ctx->alloc;
    task->log = &ctx->log;
    task->clock = &ctx->clock;
    task->set = &route->shelf->set->model;
    task->device = &route->shelf->site->facts.device;
    task->key = &route->entry->key;
    task->problem = route->normal;
    task->class_bit = qst__set_class_of(task->set, route->normal);
    task->settings = ctx->settings;
    task->rig = rig;
    task->commit = commit;
    task->lease = lease;
    task->user = route->entry;
}

/* The claim is ours. Gives it back in the state that came of it. */
static qst_status tune_now(qst__route *route, qst_error *err)
{
    qst_context        *ctx = route->shelf->site->ctx;
    qst__entry         *entry = route->entry;
    const qst__verdict *earlier = atomic_load(&entry->verdict);
    qst__verdict       *verdict = qst__zalloc(&ctx->alloc, sizeof *verdict);
    qst__rig            rig;
    qst__task           task;
    qst_status          status;
    int                 state = QST__KEY_ABSENT;

    memset(&rig, 0, sizeof rig);
    status = !verdict  ? QST_E_NOMEM
             : earlier ? qst__verdict_copy(verdict, &ctx->alloc, earlier)
                       : qst__verdict_init(verdict, &ctx->alloc, &route->shelf->set->model);
    if (status == QST_OK)
        status = note_problem(verdict, route);
    if (status != QST_OK)
        status = qst__fail(err, status, "tune", "no memory for a verdict");
    if (status == QST_OK)
        status = qst__rig_create(&rig, route, err);
    if (status == QST_OK) {
        fill_task(&task, route, &rig);
        status = qst__tune(&task, verdict, err);
        atomic_fetch_add(&ctx->n_tuned, status == QST_OK ? 1 : 0);
        if (status == QST_OK || status == QST_E_NOTFOUND) {
            if (qst__publish(entry, verdict, "tuned here")) {
                state = verdict->flags & QST__VERDICT_PARTIAL ? QST__KEY_PARTIAL : QST__KEY_READY;
                verdict = NULL;
            }
        }
    }
    qst__rig_destroy(&rig);
    if (verdict)
        qst__verdict_finish(verdict);
    qst__free(&ctx->alloc, verdict);
    qst__claim_give(&entry->claim, state);
    return status;
}

qst_status qst__tune_route(qst__route *route, qst_error *err)
{
    qst__entry *entry = route->entry;
    qst_status  claim = qst__claim_take(&entry->claim, route->shelf->site->ctx->settings->wait, true);

    return claim == QST_OK ? tune_now(route, err) : claim;
}

/* Tunes or has it tuned, as the policy says. True: what the route gets now may stay. */
static bool learn(qst__route *route)
{
    qst_context *ctx = route->shelf->site->ctx;
    qst__entry  *entry = route->entry;
    qst_status   status;
    qst_error    why;

    switch (ctx->settings->mode) {
    case QST__MODE_TUNE:
        memset(&why, 0, sizeof why);
        status = qst__tune_route(route, &why);
        if (why.status != QST_OK)
            QST__LOG(&ctx->log, TUNE, WARN, "%s is not tuned: %s", entry->text, why.text);
        /* Another thread is at it, or the budget ended it: the next call looks again. */
        return status != QST_E_BUSY && qst__claim_state(&entry->claim) != QST__KEY_PARTIAL;
    case QST__MODE_BACKGROUND:
        if (qst__claim_state(&entry->claim) == QST__KEY_READY)
            return true;
        qst__background(route);
        return false;
    default:
        return true;
    }
}

qst_status qst__resolve(qst__route *route, qst__way **way, bool *keep, qst_error *err)
{
    *keep = learn(route);
    if (way_of_verdict(route, atomic_load_explicit(&route->entry->verdict, memory_order_acquire), way))
        return QST_OK;
    return safe_way(route, way, err);
}

void qst__demote(qst__route *route, const qst__way *way, const qst_error *err)
{
    qst_context *ctx = route->shelf->site->ctx;
    qst__way    *mine = (qst__way *)way;

    if (route->entry && way->candidate != UINT32_MAX)
        atomic_store(&route->entry->failed[way->candidate], 1);
    atomic_compare_exchange_strong(&route->way, &mine, NULL);
    QST__LOG(&ctx->log, RUN, WARN, "%s failed on a hit and steps down: %s", way->name, err->text);
}
