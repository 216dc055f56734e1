/* SPDX-License-Identifier: MIT
 *
 * tuning.c: tunes the key of a route: takes its claim in the process and on the machine, looks whether another process
 * was quicker, measures with the rig, and keeps every finding as it is known.
 */
#include "cl/canary.h"
#include "model/drivers.h"
#include "run/background.h"
#include "run/binaries.h"
#include "run/decisions.h"
#include "run/history.h"
#include "run/peaks.h"
#include "run/prebuild.h"
#include "run/quarantine.h"
#include "run/rig.h"
#include "tune/tuner.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define POLL_NS        5000000     /* between two looks at a key that another process tunes */
#define LEASE_PAUSE_NS 1000000u    /* between two looks at the lease */
#define LEASE_NS       5000000000u /* that a lease is waited for */

/* Who is told how far it is. The rounds begun up to now take part, of the last one also those that wait. */
static void tell(const qst__entry *entry, const qst__verdict *verdict, const char *candidate)
{
    const qst_context *ctx = entry->shelf->site->ctx;
    uint32_t           i, last = 0, done = 0, total = 0;

    if (!ctx->progress)
        return;
    for (i = 0; i < verdict->n; i++)
        if (verdict->findings[i].outcome != QST__OUTCOME_UNTRIED && verdict->findings[i].round > last)
            last = verdict->findings[i].round;
    for (i = 0; i < verdict->n; i++)
        if (verdict->findings[i].round && verdict->findings[i].round <= last) {
            total++;
            done += verdict->findings[i].outcome != QST__OUTCOME_UNTRIED;
        }
    ctx->progress(ctx->progress_user, entry->text, done, total, candidate);
}

static void commit(void *user, const qst__verdict *verdict, uint32_t candidate)
{
    qst__entry *entry = user;
    uint32_t    i;

    for (i = 0; i < verdict->n; i++)
        if (qst__outcome_right(verdict->findings[i].outcome))
            atomic_store(&entry->shelf->verified[i], 1);
    /* What the rig refuses because the site is given up is not known of the candidates: the partial answer stays. */
    if (!atomic_load(&entry->shelf->site->closing))
        qst__remember(entry, verdict);
    if (candidate < verdict->n) /* what is told is kept */
        tell(entry, verdict, verdict->findings[candidate].name);
}

/* One timing at a time on a device, in this process and on this machine. Who holds the machine's part may be stopped for
 * good: after LEASE_NS, once, its times are the worse for it, and nobody else's calls hang. */
static void lease(void *user, bool take)
{
    qst__entry           *entry = user;
    qst__site            *site = entry->shelf->site;
    qst_store            *store = &site->ctx->store;
    const struct timespec pause = {0, LEASE_PAUSE_NS};
    uint64_t              waited;
    char                  key[QST_STORE_KEY_MAX];
    int                   length;

    if (!take) {
        uint64_t run_ns = site->run_ns;
        if (site->lease_token)
            store->release(store->self, site->lease_token);
        site->lease_token = NULL;
        qst__lock_give(&site->lease);
        qst__background_rest(site, run_ns);
        return;
    }
    qst__lock_take(&site->lease);
    site->run_ns = 0;
    length = snprintf(key, sizeof key, "lease %s", site->facts.device.target);
    length = length < (int)sizeof key ? length : (int)sizeof key - 1;
    for (waited = 0; !atomic_load(&site->closing); waited += LEASE_PAUSE_NS) {
        if (store->claim(store->self, key, (uint64_t)length, &site->lease_token) != QST_E_BUSY) {
            site->lease_alone = false;
            return;
        }
        if (site->lease_alone || waited >= LEASE_NS)
            break;
        nanosleep(&pause, NULL);
    }
    site->lease_token = NULL;
    if (atomic_load(&site->closing) || site->lease_alone)
        return; /* nothing more is timed here, or all is said */
    site->lease_alone = true;
    QST__LOG(&site->ctx->log, TUNE, WARN, "the device's lease is held for over %d s by a process that may be stopped",
             (int)(LEASE_NS / 1000000000u));
}

static uint64_t waited(void *user)
{
    qst__entry *entry = user;

    return qst__waits_mine(&entry->shelf->site->ctx->cl_counters.waits);
}

static qst_status note_problem(qst__verdict *verdict, const qst__route *route)
{
    qst_context *ctx = route->shelf->site->ctx;
    qst__str     text;

    qst__str_init(&text, &ctx->alloc);
    qst__problem_print(&route->shelf->set->model.op, route->given, &text);
    qst__free(&ctx->alloc, verdict->problem);
    verdict->problem = qst__str_take(&text);
    qst__str_finish(&text);
    verdict->ruler_revision = QST__RULER_RULES;
    verdict->level = (uint32_t)ctx->settings->level;
    return verdict->problem ? QST_OK : QST_E_NOMEM;
}

/* This driver is the one of the verdict; others: those that it held under before stay behind it. */
static qst_status note_driver(qst__verdict *verdict, const qst__site *site, bool others)
{
    char *drivers = qst__drivers_with(&site->ctx->alloc, others ? verdict->driver : NULL, site->facts.stack);

    qst__free(&site->ctx->alloc, verdict->driver);
    verdict->driver = drivers;
    return drivers ? QST_OK : QST_E_NOMEM;
}

static void fill_task(qst__task *task, const qst__route *route, const void *timed, const qst__rig *rig)
{
    qst_context *ctx = route->shelf->site->ctx;

    memset(task, 0, sizeof *task);
    task->alloc = &ctx->alloc;
    task->log = &ctx->log;
    task->clock = &ctx->clock;
    task->set = &route->shelf->set->model;
    task->device = &route->shelf->site->facts.device;
    task->key = &route->entry->key;
    task->problem = timed;
    task->class_bit = qst__set_class_of(task->set, route->normal);
    task->settings = ctx->settings;
    task->rig = rig;
    task->commit = commit;
    task->lease = lease;
    task->waited = waited;
    task->user = route->entry;
}

/* What is known of the key so far, or nothing, as a verdict of our own to work on. */
static qst_status begin(qst__route *route, qst__verdict *verdict, qst_error *err)
{
    const qst__alloc   *alloc = &route->shelf->site->ctx->alloc;
    const qst__verdict *earlier = atomic_load(&route->entry->verdict);
    qst_status          status = earlier ? qst__verdict_copy(verdict, alloc, earlier)
                                         : qst__verdict_init(verdict, alloc, &route->shelf->set->model);

    return status == QST_OK ? QST_OK : qst__fail(err, status, "tune", "no memory for a verdict");
}

/* A verdict from elsewhere is checked; where it does not hold nothing of it counts. */
static qst_status tune_or_recheck(const qst__task *task, const qst__route *route, qst__verdict *verdict, qst_error *err)
{
    const qst__alloc *alloc = task->alloc;
    const qst__site  *site = route->shelf->site;
    const qst_judge  *judge = task->set->op.judge;
    qst_error         why;
    qst_status        status;

    memset(&why, 0, sizeof why);
    if (verdict->flags & QST__VERDICT_PRIOR) {
        bool same_rules =
            verdict->ruler_revision == QST__RULER_RULES && verdict->judge_revision == (judge ? judge->revision : 0);
        if (note_driver(verdict, site, same_rules) != QST_OK)
            return qst__fail(err, QST_E_NOMEM, "tune", "no memory for a verdict");
        status = qst__tune_recheck(task, verdict, &why);
        if (status == QST_OK && !(verdict->flags & QST__VERDICT_PARTIAL))
            return note_problem(verdict, route);
        if (status != QST_OK && status != QST_E_STALE)
            return qst__pass(err, &why);
        if (status == QST_E_STALE) {
            QST__LOG(task->log, TUNE, INFO, "%s", why.text);
            qst__verdict_finish(verdict);
            status = qst__verdict_init(verdict, alloc, task->set);
            if (status != QST_OK)
                return qst__fail(err, status, "tune", "no memory for a verdict");
        }
    }
    status = note_problem(verdict, route);
    if (status == QST_OK)
        status = note_driver(verdict, site, false);
    return status == QST_OK ? qst__peaks_tune(task, route, verdict, err)
                            : qst__fail(err, status, "tune", "no memory for a verdict");
}

/* Which candidates have killed a process here; NULL: none. */
static bool *find_suspects(qst__shelf *shelf)
{
    uint32_t i, n = shelf->set->model.n_candidates;
    bool    *suspect = qst__zalloc_array(&shelf->site->ctx->alloc, n + 1, sizeof *suspect);

    for (i = 0; suspect && i < n; i++)
        suspect[i] = qst__quarantine_suspects(shelf, i);
    return suspect;
}

/* The claims are ours. *state and *decision: what came of it; NULL: nothing. */
static qst_status tune_now(qst__route *route, uint32_t depth, int *state, const qst__verdict **decision, qst_error *err)
{
    qst_context  *ctx = route->shelf->site->ctx;
    qst__entry   *entry = route->entry;
    qst__verdict *verdict = qst__zalloc(&ctx->alloc, sizeof *verdict);
    qst__rig      rig;
    qst__task     task;
    bool         *suspect = NULL;
    char       timed[QST__PROBLEM_BYTES]; /* what takes part is asked of it: the answer is for all scalars of the key */
    qst_status status;

    if (!verdict)
        return qst__fail(err, QST_E_NOMEM, "tune", "no memory for a verdict");
    memset(&rig, 0, sizeof rig);
    qst__site_clock(route->shelf->site);
    status = begin(route, verdict, err);
    if (status == QST_OK)
        status = qst__rig_create(&rig, route, depth, err);
    if (status == QST_OK) {
        if (qst__rig_derive(route, QST_VARY_TIMED, timed) != QST_OK) /* the rig will say so */
            memcpy(timed, route->normal, route->shelf->set->model.op.problem_size);
        fill_task(&task, route, timed, &rig);
        task.suspect = suspect = find_suspects(route->shelf);
        if (!(verdict->flags & QST__VERDICT_PRIOR))
            qst__prebuild_begin(&task, route);
        tell(entry, verdict, NULL);
        status = tune_or_recheck(&task, route, verdict, err);
        qst__prebuild_leave(route->shelf->site);
        tell(entry, verdict, NULL);
        atomic_fetch_add(&ctx->n_tuned, qst__rig_opened(&rig) ? 1 : 0);
        if ((status == QST_OK || status == QST_E_NOTFOUND) && qst__publish(entry, verdict, "tuned here")) {
            *state = verdict->flags & QST__VERDICT_PARTIAL ? QST__KEY_PARTIAL : QST__KEY_READY;
            *decision = verdict;
            verdict = NULL;
        }
    }
    qst__rig_destroy(&rig);
    qst__free(&ctx->alloc, suspect);
    if (verdict)
        qst__verdict_finish(verdict);
    qst__free(&ctx->alloc, verdict);
    return status;
}

/* The winner has run on this device with the sizes it will have: its programs are complete now. */
static void note_programs(qst__route *route, uint32_t depth)
{
    qst__way *way;

    if (qst__way_of_verdict(route, atomic_load(&route->entry->verdict), depth, &way))
        qst__binaries_note(route->shelf->site, way);
}

/* The key's claim on the machine. E_BUSY: another process has it, and the policy is not to wait. */
static qst_status claim_machine(qst__entry *entry, bool wait, void **token)
{
    qst_context          *ctx = entry->shelf->site->ctx;
    const struct timespec pause = {0, POLL_NS};
    uint8_t               digest[32];
    qst_status            status;

    *token = NULL;
    qst__answer_key(entry, digest);
    for (;;) {
        status = ctx->store.claim(ctx->store.self, digest, sizeof digest, token);
        if (status != QST_E_BUSY || !wait || atomic_load(&entry->shelf->site->closing))
            break;
        nanosleep(&pause, NULL);
    }
    return status == QST_E_BUSY ? status : QST_OK; /* a store that cannot claim does not keep us from tuning */
}

qst_status qst__tune_route(qst__route *route, bool wait, uint32_t depth, qst_error *err)
{
    qst__entry         *entry = route->entry;
    qst_context        *ctx = entry->shelf->site->ctx;
    const qst__verdict *decision = NULL;
    uint64_t            began, wall_ns;
    int                 before = qst__claim_state(&entry->claim), state;
    void               *token;
    qst__wait          *entered;
    qst_status          status = qst__claim_take(&entry->claim, wait, true);

    if (status != QST_OK)
        return status;
    entered = qst__waits_enter(&ctx->cl_counters.waits, false);
    began = qst__now(&ctx->clock);
    state = before == QST__KEY_PARTIAL ? QST__KEY_PARTIAL : QST__KEY_ABSENT;
    status = claim_machine(entry, wait, &token);
    if (status == QST_OK) {
        /* Another process may have answered since we looked. */
        state = qst__recall(entry, state);
        if (state != QST__KEY_READY) {
            status = tune_now(route, depth, &state, &decision, err);
            note_programs(route, depth);
        }
        if (token)
            ctx->store.release(ctx->store.self, token);
    }
    if (decision || state == QST__KEY_READY)
        qst__retry_done(&entry->retry);
    else if (status != QST_E_BUSY)
        qst__retry_failed(&entry->retry, qst__programs_unable(err) || qst__canary_silent(&entry->shelf->site->programs),
                          &ctx->clock);
    qst__claim_give(&entry->claim, state);
    wall_ns = qst__now(&ctx->clock) - began;
    qst__waits_leave(entered);
    if (decision) {
        qst__history_tuned(entry, decision, wall_ns);
        qst__decision_note(entry, decision);
    }
    return status;
}

void qst__tune_excuse(const qst__entry *entry, const qst_error *why)
{
    const qst__site *site = entry->shelf->site;

    if (qst__programs_unable(why) || qst__canary_silent(&site->programs))
        QST__LOG(&site->ctx->log, TUNE, INFO, "%s is not tuned: %s", entry->text, why->text);
    else
        QST__LOG(&site->ctx->log, TUNE, WARN, "%s is not tuned: %s", entry->text, why->text);
}
