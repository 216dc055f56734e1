/* SPDX-License-Identifier: MIT
 *
 * First contact in a round: who is tried, in which order and how far, and what becomes of who fails. */
#include "tune/schedule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TRIES = 2 }; /* first samples asked for before a candidate counts as one without a valid time */

/* What a failure at a stage makes of a candidate; anything not listed is LAUNCH. */
#define PREPARE QST__STAGE_PREPARE
#define CHECK   QST__STAGE_CHECK
#define SAMPLE  QST__STAGE_SAMPLE
static const struct {
    int        stage;
    qst_status status;
    uint32_t   outcome;
} failures[] = {
    {PREPARE, QST_E_UNSUPPORTED, QST__OUTCOME_CANNOT}, {PREPARE, QST_E_BUILD, QST__OUTCOME_BUILD},
    {PREPARE, QST_E_REFUSED, QST__OUTCOME_REFUSED},    {PREPARE, QST_E_NOTFOUND, QST__OUTCOME_LIBRARY},
    {CHECK, QST_E_UNSUPPORTED, QST__OUTCOME_CANNOT},   {CHECK, QST_E_BUILD, QST__OUTCOME_BUILD},
    {CHECK, QST_E_REFUSED, QST__OUTCOME_SLOW},         {CHECK, QST_E_VERIFY, QST__OUTCOME_WRONG},
    {CHECK, QST_E_STALE, QST__OUTCOME_WRONG},          {CHECK, QST_E_TIMEOUT, QST__OUTCOME_UNMEASURED},
    {SAMPLE, QST_E_VERIFY, QST__OUTCOME_WRONG},        {SAMPLE, QST_E_TIMEOUT, QST__OUTCOME_UNMEASURED},
};

uint32_t qst__schedule_outcome(int stage, qst_status status)
{
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i].stage == stage && failures[i].status == status)
            return failures[i].outcome;
    return QST__OUTCOME_LAUNCH;
}

void qst__schedule_commit(const qst__schedule *s, uint32_t candidate)
{
    const qst__finding *f = qst__schedule_finding(s, candidate);

    QST__LOG(s->task->log, TUNE, DEBUG, "%s: %s%s%s", f->name, qst__outcome_text(f->outcome), f->why ? ": " : "",
             f->why ? f->why : "");
    if (!s->task->commit)
        return;
    qst__decide_place(s->verdict, candidate);
    s->task->commit(s->task->user, s->verdict, candidate);
}

/* ---- What is known so far -------------------------------------------------------------------------------------- */

uint32_t qst__schedule_live(const qst__schedule *s, uint32_t last[2])
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < s->n; i++)
        if (s->live[i])
            last[count++ & 1] = i;
    return count;
}

/* The least time that a live candidate has shown in this tuning; 0: none. */
uint64_t qst__schedule_best(const qst__schedule *s)
{
    uint64_t best = 0;

    for (uint32_t i = 0; i < s->n; i++)
        if (s->live[i] && s->samples[i].count && (!best || s->samples[i].best < best))
            best = s->samples[i].best;
    return best;
}

bool qst__schedule_spent(const qst__schedule *s)
{
    return s->budget_ns && s->spent_ns >= s->budget_ns;
}

/* May first contact end here? Not before a resumed tuning has got anywhere. */
static bool contact_spent(const qst__schedule *s)
{
    return s->n_contacted > 0 && (qst__schedule_spent(s) || (s->build_budget_ns && s->built_ns >= s->build_budget_ns));
}

bool qst__schedule_confirmed(const qst__schedule *s, uint32_t candidate)
{
    return s->limit_ns && s->live[candidate] && qst__samples_under(&s->samples[candidate], s->limit_ns, s->confirm);
}

/* One that is confirmed may fail in a later sample, while it is compared: then the search was not at its end. */
static bool any_confirmed(const qst__schedule *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (qst__schedule_confirmed(s, i))
            return true;
    return false;
}

/* Runs that a look at one more takes, about: the first, the judge's, samples. */
#define LOOK_RUNS 5

void qst__schedule_roof(qst__schedule *s, uint32_t candidate)
{
    if (s->roofed || !qst__schedule_confirmed(s, candidate))
        return;
    s->roofed = true;
    s->roofed_ns = s->spent_ns;
}

/* What another may gain is a part of each later call; what looking at it costs is known where nothing is to be built. */
static bool may_look(const qst__schedule *s, uint64_t spent_ns)
{
    return s->task->rig->ready && spent_ns + LOOK_RUNS * qst__schedule_best(s) <= QST__ROOFED_LOOK_NS;
}

bool qst__schedule_goes_on(const qst__schedule *s)
{
    return !s->roofed || may_look(s, 0);
}

/* ---- Candidates that drop out ---------------------------------------------------------------------------------- */

/* The one that set the pace was wrong: whoever was dropped for being slower than it gets another chance. */
static void reopen(qst__schedule *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        qst__finding *f = qst__schedule_finding(s, i);
        if (!s->contacted[i] || (f->outcome != QST__OUTCOME_SLOW && f->outcome != QST__OUTCOME_PRUNED))
            continue;
        f->outcome = QST__OUTCOME_UNTRIED;
        qst__finding_why(f, s->verdict->alloc, "%s", "was dropped against one that failed later");
        s->contacted[i] = false;
    }
}

static void drop(qst__schedule *s, uint32_t candidate, uint32_t outcome, const char *why)
{
    qst__finding *f = qst__schedule_finding(s, candidate);
    bool          leader = s->live[candidate] && s->samples[candidate].best <= qst__schedule_best(s);

    f->outcome = outcome;
    qst__finding_why(f, s->verdict->alloc, "%s", why);
    memset(&f->samples, 0, sizeof f->samples);
    memset(&s->samples[candidate], 0, sizeof s->samples[candidate]);
    s->live[candidate] = false;
    if (leader)
        reopen(s);
    s->roofed = s->roofed && any_confirmed(s);
    qst__schedule_commit(s, candidate);
}

/* ---- One sample ------------------------------------------------------------------------------------------------ */

/* Pushes; where there is no room, the oldest sample goes. */
static void keep(qst__samples *samples, uint64_t ns, uint32_t round)
{
    if (samples->count == QST__SAMPLES_MAX) {
        qst__samples old = *samples;
        memset(samples, 0, sizeof *samples);
        for (uint32_t i = 1; i < old.count; i++)
            qst__samples_push(samples, old.ns[i], old.round[i]);
    }
    qst__samples_push(samples, ns, round);
}

static void lease(const qst__schedule *s, bool take)
{
    if (s->task->lease)
        s->task->lease(s->task->user, take);
}

/* E_TIMEOUT: no valid time, the candidate stays as it is. Other failures drop it. */
qst_status qst__schedule_sample(qst__schedule *s, uint32_t candidate, uint32_t round)
{
    const qst__rig *rig = s->task->rig;
    qst_error       err = {0};
    uint64_t        ns = 0, from, took;
    qst_status      status;

    lease(s, true);
    from = qst__now(s->task->clock);
    status = rig->sample(rig->self, candidate, &ns, &err);
    took = qst__now(s->task->clock) - from;
    lease(s, false);
    s->spent_ns += took;
    s->sampled_ns += took;
    s->n_sampled++;
    qst__schedule_finding(s, candidate)->sample_ns += took;
    s->turns[candidate]++;
    if (status == QST_OK && ns == 0)
        status = qst__fail(&err, QST_E_TIMEOUT, "tune", "the clock gave 0 ns");
    if (status == QST_OK) {
        keep(&s->samples[candidate], ns, round);
        keep(&qst__schedule_finding(s, candidate)->samples, ns, round);
    } else if (status != QST_E_TIMEOUT || !s->samples[candidate].count) {
        if (status != QST_E_TIMEOUT || s->turns[candidate] >= TRIES)
            drop(s, candidate, qst__schedule_outcome(SAMPLE, status), qst__error_text(&err, status));
    }
    return status;
}

/* ---- First contact --------------------------------------------------------------------------------------------- */

static bool is_open(const qst__schedule *s, uint32_t candidate)
{
    const qst__finding *f = qst__schedule_finding(s, candidate);

    if (s->contacted[candidate] || s->rounds->round_of[candidate] == 0)
        return false;
    return f->outcome == QST__OUTCOME_UNTRIED ||
           (f->outcome == QST__OUTCOME_TIMED && candidate != s->reigning && (f->samples.count < s->min || s->unroofed));
}

static bool is_suspect(const qst__schedule *s, uint32_t candidate)
{
    return s->task->suspect && s->task->suspect[candidate];
}

/* The place of a candidate in the order of contact: by estimate, those last that have killed a process before. */
static double rank_of(const qst__schedule *s, uint32_t candidate)
{
    return is_suspect(s, candidate) ? INFINITY : qst__schedule_finding(s, candidate)->estimate_ns;
}

uint32_t qst__schedule_open(qst__schedule *s, uint32_t round)
{
    uint32_t count = 0;

    for (uint32_t p = s->rounds->start[round - 1]; p < s->rounds->start[round]; p++) {
        uint32_t candidate = s->rounds->order[p];
        uint32_t at = count;
        if (!is_open(s, candidate))
            continue;
        /* an unknown estimate is 0 and so comes first; equal ones stay in the order of registration */
        while (at > 0 && rank_of(s, s->queue[at - 1]) > rank_of(s, candidate)) {
            s->queue[at] = s->queue[at - 1];
            at--;
        }
        s->queue[at] = candidate;
        count++;
    }
    return count;
}

/* Is the estimate so bad against what was measured that building it is not worth it? The ungrouped ones, the baseline,
 * are asked too: their programs are the largest of all. */
static bool prune(qst__schedule *s, uint32_t candidate, uint64_t best)
{
    double estimate = qst__schedule_finding(s, candidate)->estimate_ns;
    double factor = s->task->settings->prune_factor;
    char   why[120];

    if (!best || candidate == s->task->set->fallback || !(factor > 0) || !(estimate > factor * (double)best) ||
        estimate <= QST__PRUNE_LEAST_NS)
        return false;
    snprintf(why, sizeof why, "not built: estimated %.4g ms is over %g times the best measured time, %.4g ms",
             estimate * 1e-6, factor, (double)best * 1e-6);
    drop(s, candidate, QST__OUTCOME_PRUNED, why);
    return true;
}

/* Not its fault: it stays as it is. Where the roof has ended the search already it is left out like those that are to be
 * built, and the tuning does not fail by a look too many. */
static qst_status halt(qst__schedule *s, uint32_t candidate, qst_status status, const qst_error *err)
{
    if (s->roofed) {
        s->contacted[candidate] = false;
        return status;
    }
    s->halted = status;
    s->why = *err;
    return status;
}

static qst_status prepare(qst__schedule *s, uint32_t candidate)
{
    const qst__rig *rig = s->task->rig;
    qst__finding   *f = qst__schedule_finding(s, candidate);
    qst__prepared   prepared = {0};
    qst_error       err = {0};
    qst_status      status = rig->prepare(rig->self, candidate, &prepared, &err);

    f->build_ns += prepared.build_ns;
    s->built_ns += prepared.build_ns;
    if (status < 0 && prepared.unable)
        return halt(s, candidate, status, &err);
    if (status < 0) {
        drop(s, candidate, qst__schedule_outcome(PREPARE, status), qst__error_text(&err, status));
        return status;
    }
    f->launches = prepared.launches;
    f->workspace = prepared.workspace;
    return QST_OK;
}

/* Once, and where there is a fallback: who says so again is wrong. */
static bool can_overturn(const qst__schedule *s)
{
    uint32_t fallback = s->task->set->fallback;

    return fallback != QST__NOBODY && qst__schedule_finding(s, fallback)->outcome != QST__OUTCOME_WRONG;
}

/* The fallback, which others were compared with, is wrong: it drops out, and who differed from it gets another chance. */
static void overturn(qst__schedule *s, uint32_t candidate, const char *why)
{
    uint32_t fallback = s->task->set->fallback;

    s->contacted[candidate] = s->fallback_right = false;
    for (uint32_t i = 0; i < s->n; i++) {
        qst__finding *f = qst__schedule_finding(s, i);
        if (!s->contacted[i] || f->outcome != QST__OUTCOME_WRONG || i == fallback)
            continue;
        f->outcome = QST__OUTCOME_UNTRIED;
        qst__finding_why(f, s->verdict->alloc, "%s", "was compared with a fallback that is wrong");
        s->contacted[i] = false;
    }
    s->contacted[fallback] = true;
    drop(s, fallback, QST__OUTCOME_WRONG, why);
}

static qst_status check(qst__schedule *s, uint32_t candidate, uint64_t best)
{
    const qst__rig *rig = s->task->rig;
    qst__finding   *f = qst__schedule_finding(s, candidate);
    qst__checked    checked = {0};
    qst_error       err = {0};
    qst_status      status;
    uint64_t        from, took;

    lease(s, true);
    from = qst__now(s->task->clock);
    status = rig->check(rig->self, candidate, best, QST__SLOW_FACTOR, &checked, &err);
    took = qst__now(s->task->clock) - from;
    lease(s, false);
    s->first_ns[candidate] = checked.first_ns;
    took -= checked.build_ns < took ? checked.build_ns : took;
    f->build_ns += checked.build_ns;
    s->built_ns += checked.build_ns;
    s->spent_ns += took;
    f->verify_ns += checked.verify_ns < took ? checked.verify_ns : took;
    f->sample_ns += took - (checked.verify_ns < took ? checked.verify_ns : took); /* its first run */
    if (status < 0 && checked.unable)
        return halt(s, candidate, status, &err);
    if (status == QST_E_STALE && can_overturn(s))
        overturn(s, candidate, qst__error_text(&err, status));
    else if (status < 0)
        drop(s, candidate, qst__schedule_outcome(CHECK, status), qst__error_text(&err, status));
    else if (candidate == s->task->set->fallback)
        s->fallback_right = true;
    return status < 0 ? status : QST_OK;
}

/* After a first sample under the roof: is it confirmed? Its samples get round numbers of their own, for no other
 * candidate is sampled meanwhile. */
static void confirm(qst__schedule *s, uint32_t candidate)
{
    if (s->roofed || !s->limit_ns || !qst__samples_under(&s->samples[candidate], s->limit_ns, 1))
        return;
    while (s->live[candidate] && s->turns[candidate] < s->confirm)
        qst__schedule_sample(s, candidate, ++s->clock_round);
    qst__schedule_roof(s, candidate);
}

static void contact(qst__schedule *s, uint32_t candidate, uint32_t round)
{
    qst__finding *f = qst__schedule_finding(s, candidate);
    uint64_t      best = qst__schedule_best(s);
    qst_status    status = QST_E_TIMEOUT;

    s->contacted[candidate] = true;
    s->n_contacted += candidate != s->reigning;
    s->turns[candidate] = 0;
    qst__free(s->verdict->alloc, f->why);
    f->why = NULL;
    if (prune(s, candidate, best) || prepare(s, candidate) < 0 || check(s, candidate, best) < 0)
        return;
    if (s->sole) {
        f->outcome = QST__OUTCOME_VERIFIED;
        s->live[candidate] = true;
        qst__schedule_commit(s, candidate);
        return;
    }
    while (status == QST_E_TIMEOUT && s->turns[candidate] < TRIES)
        status = qst__schedule_sample(s, candidate, round);
    if (status != QST_OK)
        return;
    f->outcome = QST__OUTCOME_TIMED;
    s->live[candidate] = true;
    confirm(s, candidate);
    if (s->live[candidate])
        qst__schedule_commit(s, candidate);
}

/* Is it left out by the roof? One that may kill the process is not worth a look. */
static bool is_spared(const qst__schedule *s, uint32_t candidate)
{
    const qst__rig *rig = s->task->rig;

    return s->roofed &&
           (is_suspect(s, candidate) || !may_look(s, s->spent_ns - s->roofed_ns) || !rig->ready(rig->self, candidate));
}

static void contact_all(qst__schedule *s, uint32_t n)
{
    uint32_t fallback = s->task->set->fallback, last[2];
    uint32_t round = ++s->clock_round;

    if (s->reigning != QST__NOBODY && !s->contacted[s->reigning])
        contact(s, s->reigning, round);
    for (uint32_t i = 0; i < n && !s->halted; i++) {
        if (is_spared(s, s->queue[i]))
            continue;
        if (contact_spent(s) && !qst__schedule_live(s, last) && fallback != QST__NOBODY && is_open(s, fallback))
            contact(s, fallback, round);
        if (contact_spent(s) && qst__schedule_live(s, last)) {
            s->spent = true;
            return;
        }
        if (!s->contacted[s->queue[i]] && !s->halted)
            contact(s, s->queue[i], round);
    }
}

/* ---- The round -------------------------------------------------------------------------------------------------- */

void qst__schedule_run(qst__schedule *s, uint32_t n)
{
    for (uint32_t i = 0; i < s->n; i++)
        s->turns[i] = 0;
    contact_all(s, n);
    if (!s->sole && !s->halted)
        qst__schedule_sampling(s);
}

void qst__schedule_leave(qst__schedule *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        qst__finding *f = qst__schedule_finding(s, s->queue[i]);
        if (f->outcome != QST__OUTCOME_UNTRIED)
            continue;
        if (s->roofed) {
            qst__finding_why(f, s->verdict->alloc, "ended by the roof: %u samples under %llu ns", s->confirm,
                             (unsigned long long)s->limit_ns);
        } else {
            f->outcome = QST__OUTCOME_BUDGET;
            qst__finding_why(f, s->verdict->alloc, "%.1f ms of checks and samples, %.1f ms of builds were spent",
                             (double)s->spent_ns / 1e6, (double)s->built_ns / 1e6);
        }
    }
}
