/* SPDX-License-Identifier: MIT
 *
 * miss.c: no way is at hand: the verdict's best, a tuning, or the safe candidate, as tune.mode says.
 */
#include "model/field.h"
#include "model/rounds.h"
#include "run/background.h"
#include "run/binaries.h"

#include <string.h>

/* The route's way for a candidate: made once. */
static qst_status way_for(qst__route *route, uint32_t candidate, uint32_t depth, qst__way **out, qst_error *err)
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
    status = qst__way_create(&way, route->shelf, candidate, &route->entry->key, route->normal, depth, err);
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

/* The best right candidate of the verdict that can run just this problem. *passed: a better one is to be built, and nothing
 * builds now, which is not held against it. */
static bool best_way(qst__route *route, const qst__verdict *verdict, uint32_t depth, qst__way **way, bool *passed)
{
    const qst__set *set = &route->shelf->set->model;
    qst_context    *ctx = route->shelf->site->ctx;
    qst_error       err;
    const char     *why;
    uint32_t        i;

    if (!verdict || (verdict->flags & QST__VERDICT_PRIOR)) /* a prior is used after its re-check only */
        return false;
    for (i = 0; i < verdict->n_order; i++) {
        uint32_t c = qst__set_find(set, verdict->findings[verdict->order[i]].name);
        if (c == UINT32_MAX || atomic_load(&route->entry->failed[c]) ||
            !qst__settings_allow(ctx->settings, set->candidates[c].name, &why))
            continue;
        memset(&err, 0, sizeof err);
        if (way_for(route, c, depth, way, &err) == QST_OK)
            return true;
        QST__LOG(&ctx->log, RUN, INFO, "%s is passed over: %s", set->candidates[c].name, err.text);
        if (qst__programs_unable(&err))
            *passed = true;
        else if (err.status != QST_E_UNSUPPORTED && err.status != QST_E_NOTFOUND && err.status != QST_E_NOMEM)
            atomic_store(&route->entry->failed[c], 1);
    }
    return false;
}

bool qst__way_of_verdict(qst__route *route, const qst__verdict *verdict, uint32_t depth, qst__way **way)
{
    bool passed = false;

    return best_way(route, verdict, depth, way, &passed);
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

    qst__site_clock(shelf->site);
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

/* Nobody: with the problem, whose types and strides are why. */
static qst_status no_candidate(const qst__route *route, const char *who, const char *why, qst_error *err)
{
    const qst__set *set = &route->shelf->set->model;
    qst_status      status;
    qst__str        text;

    qst__str_init(&text, &route->shelf->site->ctx->alloc);
    qst__problem_print(&set->op, route->given, &text);
    status = qst__fail(err, QST_E_UNSUPPORTED, set->op.name, "no candidate computes %s here%s%s%s%s",
                       text.failed ? "this problem" : text.text, who ? "; " : "", who ? who : "", who ? ": " : "",
                       who ? why : "");
    qst__str_finish(&text);
    return status;
}

static qst_status safe_way(qst__route *route, uint32_t depth, qst__way **way, qst_error *err)
{
    const qst__set     *set = &route->shelf->set->model;
    const qst__verdict *verdict = atomic_load_explicit(&route->entry->verdict, memory_order_acquire);
    uint32_t            c = cheapest_verified(route), i;
    qst_error           ignored;

    memset(&ignored, 0, sizeof ignored);
    if (c != UINT32_MAX && way_for(route, c, depth, way, &ignored) == QST_OK)
        return QST_OK;
    c = set->fallback;
    if (c == UINT32_MAX)
        return no_candidate(route, NULL, NULL, err);
    i = verdict ? qst__verdict_find(verdict, set->candidates[c].name) : UINT32_MAX;
    /* Without a judge the fallback itself says what is right. */
    if (i != UINT32_MAX && verdict->findings[i].outcome == QST__OUTCOME_WRONG && set->op.judge)
        return qst__fail(err, QST_E_VERIFY, set->op.name, "no candidate gives a right result here; %s: %s",
                         set->candidates[c].name, verdict->findings[i].why ? verdict->findings[i].why : "wrong");
    memset(&ignored, 0, sizeof ignored);
    if (way_for(route, c, depth, way, &ignored) == QST_OK)
        return QST_OK;
    if (ignored.status == QST_E_UNSUPPORTED)
        return no_candidate(route, set->candidates[c].name, ignored.text, err);
    return qst__pass(err, &ignored);
}

/* Is all that is known of the key that nobody can run the problem? Then each call says so itself. */
static bool nobody_can(const qst__entry *entry)
{
    const qst__verdict *verdict = atomic_load_explicit(&entry->verdict, memory_order_acquire);
    uint32_t            i, n = 0;

    for (i = 0; verdict && i < verdict->n; i++) {
        if (verdict->findings[i].round && verdict->findings[i].outcome != QST__OUTCOME_CANNOT)
            return false;
        n += verdict->findings[i].round != 0;
    }
    return n > 0;
}

/* Tunes or has it tuned, as the policy says. True: what the route gets now may stay. */
static bool learn(qst__route *route, uint32_t depth)
{
    qst_context *ctx = route->shelf->site->ctx;
    qst__entry  *entry = route->entry;
    qst_status   status;
    qst_error    why;

    if (!qst__retry_due(&entry->retry, &ctx->clock)) /* else it would only fail again, at each call */
        return !qst__retry_waits(&entry->retry);
    switch (ctx->settings->mode) {
    case QST__MODE_TUNE:
        memset(&why, 0, sizeof why);
        status = qst__tune_route(route, ctx->settings->wait && !depth, depth, &why);
        if (why.status != QST_OK && !nobody_can(entry))
            qst__tune_excuse(entry, &why);
        /* Another thread is at it, the budget ended it, or it failed and is tried again: the next call looks. */
        return status != QST_E_BUSY && qst__claim_state(&entry->claim) != QST__KEY_PARTIAL &&
               !qst__retry_waits(&entry->retry);
    case QST__MODE_BACKGROUND:
        if (qst__claim_state(&entry->claim) == QST__KEY_READY)
            return true;
        qst__background_tune(route);
        return false;
    default:
        return true;
    }
}

/* *keep becomes false where the next call may find a better one. */
static qst_status resolve(qst__route *route, uint32_t depth, qst__way **way, bool *keep, qst_error *err)
{
    const qst__verdict *verdict = atomic_load_explicit(&route->entry->verdict, memory_order_acquire);
    bool                passed = false, known = best_way(route, verdict, depth, way, &passed);

    *keep = *keep && !passed;
    if (!known)
        return safe_way(route, depth, way, err);
    /* Who tuned the key may have died before he kept them, or had another driver or pointer width. */
    if (!(verdict->flags & QST__VERDICT_PARTIAL))
        qst__binaries_note(route->shelf->site, *way);
    return QST_OK;
}

qst_status qst__resolve(qst__route *route, uint32_t depth, qst__way **way, bool *keep, qst_error *err)
{
    *keep = learn(route, depth);
    return resolve(route, depth, way, keep, err);
}

qst_status qst__resolve_known(qst__route *route, uint32_t depth, qst__way **way, qst_error *err)
{
    bool ignored = false;

    return resolve(route, depth, way, &ignored, err);
}

void qst__demote(qst__route *route, const qst__way *way, const qst_error *err)
{
    qst_context *ctx = route->shelf->site->ctx;
    qst__way    *mine = (qst__way *)way;
    bool         known =
        route->entry && way->candidate != UINT32_MAX && atomic_exchange(&route->entry->failed[way->candidate], 1);

    atomic_compare_exchange_strong(&route->way, &mine, NULL);
    if (!known) /* one line a key: each of its routes may find out for itself */
        QST__LOG(&ctx->log, RUN, WARN, "%s failed on a hit and steps down: %s", way->name, err->text);
}
