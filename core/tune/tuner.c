/* SPDX-License-Identifier: MIT
 *
 * Tuning a key from round to round: what may run at all, where an earlier verdict is taken up, when it is over, and
 * what the whole then amounts to. */
#include "tune/tuner.h"

#include "tune/schedule.h"

#include <math.h>
#include <string.h>

static const uint32_t outcome_of_support[] = {
    [QST__SUPPORT_OK] = QST__OUTCOME_UNTRIED,      [QST__SUPPORT_POOR] = QST__OUTCOME_UNTRIED,
    [QST__SUPPORT_NO] = QST__OUTCOME_UNSUPPORTED,  [QST__SUPPORT_CLASS] = QST__OUTCOME_CLASS,
    [QST__SUPPORT_REFUSED] = QST__OUTCOME_REFUSED, [QST__SUPPORT_LAST] = QST__OUTCOME_UNTRIED,
};

/* What the earlier verdict says of it may change with the plugins and the configuration of today. */
static bool is_provisional(uint32_t outcome)
{
    return outcome == QST__OUTCOME_UNTRIED || outcome == QST__OUTCOME_BUDGET || outcome == QST__OUTCOME_UNSUPPORTED ||
           outcome == QST__OUTCOME_CLASS || outcome == QST__OUTCOME_REFUSED || outcome == QST__OUTCOME_SKIPPED ||
           outcome == QST__OUTCOME_LIBRARY;
}

/* Outcome and reason of what will not run; the others become UNTRIED unless an earlier verdict knows them. */
static void label(const qst__task *task, qst__verdict *verdict, const qst__support *support, const qst__rounds *rounds,
                  uint32_t candidate)
{
    const qst_candidate *desc = &task->set->candidates[candidate].desc;
    qst__finding        *f = &verdict->findings[candidate];
    uint32_t             answer = support[candidate].answer;
    const char          *why = support[candidate].why;
    double               estimate;

    f->round = rounds->round_of[candidate];
    f->poor = answer == QST__SUPPORT_POOR;
    if (f->round) {
        estimate = desc->estimate ? desc->estimate(desc->user, task->device, task->problem) : 0;
        f->estimate_ns = isfinite(estimate) && estimate > 0 ? estimate : 0;
    }
    /* what is impossible here overrides an earlier finding; what is only forbidden today does not */
    if (!is_provisional(f->outcome) && answer != QST__SUPPORT_NO && answer != QST__SUPPORT_CLASS)
        return;
    f->outcome = outcome_of_support[answer];
    if (f->round == 0 && f->outcome == QST__OUTCOME_UNTRIED) {
        f->outcome = QST__OUTCOME_SKIPPED;
        why = qst__rounds_skip_reason(task->set, rounds, support, candidate);
    }
    qst__free(verdict->alloc, f->why);
    f->why = NULL;
    if (why && *why)
        qst__finding_why(f, verdict->alloc, "%s", why);
}

static bool can_run(const qst__task *task, uint32_t candidate, const char **why)
{
    const qst_candidate *desc = &task->set->candidates[candidate].desc;

    return !desc->can_run || desc->can_run(desc->user, task->device, task->problem, why) == QST_OK;
}

bool qst__tune_possible(const qst__task *task, const qst__rounds *rounds)
{
    for (uint32_t p = 0; p < rounds->start[rounds->n_rounds]; p++)
        if (can_run(task, rounds->order[p], NULL))
            return true;
    return false;
}

/* The key's candidates, none of which can run the problem. */
static void rule_out(const qst__task *task, qst__verdict *verdict, const qst__rounds *rounds)
{
    for (uint32_t p = 0; p < rounds->start[rounds->n_rounds]; p++) {
        qst__finding *f = &verdict->findings[rounds->order[p]];
        const char   *why = NULL;
        if (f->outcome != QST__OUTCOME_UNTRIED)
            continue;
        (void)can_run(task, rounds->order[p], &why);
        f->outcome = QST__OUTCOME_CANNOT;
        qst__finding_why(f, verdict->alloc, "%s", why ? why : "the candidate gives no reason");
    }
}

/* The best of an earlier verdict that may still run, and win: not a fallback that waits for the others to fail. */
static uint32_t find_reigning(const qst__verdict *verdict, const qst__rounds *rounds, const qst__support *support)
{
    for (uint32_t i = 0; i < verdict->n_order; i++) {
        uint32_t candidate = verdict->order[i];
        if (rounds->round_of[candidate] && support[candidate].answer != QST__SUPPORT_LAST &&
            qst__outcome_right(verdict->findings[candidate].outcome))
            return candidate;
    }
    return QST__NOBODY;
}

static uint32_t last_clock_round(const qst__verdict *verdict)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < verdict->n; i++)
        for (uint32_t k = 0; k < verdict->findings[i].samples.count; k++)
            if (verdict->findings[i].samples.round[k] > last)
                last = verdict->findings[i].samples.round[k];
    return last;
}

static uint32_t clamp(int64_t value, uint32_t low, uint32_t high)
{
    return value < low ? low : value > high ? high : (uint32_t)value;
}

static uint64_t budget_ns(int64_t ms)
{
    return ms > 0 ? (uint64_t)ms * 1000000u : 0;
}

static void configure(qst__schedule *s, const qst__task *task)
{
    const qst__settings *settings = task->settings;

    s->min = clamp(settings->min_samples, 1, QST__SAMPLES_MAX);
    s->max = clamp(settings->max_samples, s->min, QST__SAMPLES_MAX);
    s->final = s->max > QST__FINAL_SAMPLES ? s->max : QST__FINAL_SAMPLES;
    s->confirm = clamp(settings->short_circuit_samples, 1, QST__SAMPLES_MAX);
    s->limit_ns = settings->short_circuit ? task->limit_ns : 0;
    s->budget_ns = budget_ns(settings->budget_ms);
    s->build_budget_ns = budget_ns(settings->build_budget_ms);
}

static void schedule_finish(qst__schedule *s)
{
    const qst__alloc *alloc = s->task->alloc;

    qst__free(alloc, s->place);
    qst__free(alloc, s->queue);
    qst__free(alloc, s->allowed);
    qst__free(alloc, s->turns);
    qst__free(alloc, s->contacted);
    qst__free(alloc, s->leaving);
    qst__free(alloc, s->live);
    qst__free(alloc, s->first_ns);
    qst__free(alloc, s->views);
    qst__free(alloc, s->samples);
}

static qst_status schedule_init(qst__schedule *s, const qst__task *task, qst__verdict *verdict,
                                const qst__rounds *rounds, const qst__support *support)
{
    uint32_t n = task->set->n_candidates;
    uint32_t room = n ? n : 1;

    *s = (qst__schedule){.task = task, .verdict = verdict, .rounds = rounds, .n = n};
    s->samples = qst__zalloc_array(task->alloc, room, sizeof *s->samples);
    s->views = qst__zalloc_array(task->alloc, room, sizeof *s->views);
    s->first_ns = qst__zalloc_array(task->alloc, room, sizeof *s->first_ns);
    s->live = qst__zalloc_array(task->alloc, room, sizeof *s->live);
    s->leaving = qst__zalloc_array(task->alloc, room, sizeof *s->leaving);
    s->contacted = qst__zalloc_array(task->alloc, room, sizeof *s->contacted);
    s->turns = qst__zalloc_array(task->alloc, room, sizeof *s->turns);
    s->allowed = qst__zalloc_array(task->alloc, room, sizeof *s->allowed);
    s->queue = qst__zalloc_array(task->alloc, room, sizeof *s->queue);
    s->place = qst__zalloc_array(task->alloc, room, sizeof *s->place);
    if (!s->samples || !s->views || !s->first_ns || !s->live || !s->leaving || !s->contacted || !s->turns ||
        !s->allowed || !s->queue || !s->place)
        return QST_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        s->views[i] = &s->samples[i];
    configure(s, task);
    s->reigning = find_reigning(verdict, rounds, support);
    s->sole = rounds->start[rounds->n_rounds] == 1;
    s->clock_round = last_clock_round(verdict);
    s->unroofed = (verdict->flags & QST__VERDICT_ROOF) && !s->limit_ns;
    if (s->unroofed)
        verdict->flags &= ~(uint32_t)(QST__VERDICT_ROOF | QST__VERDICT_COMPARED);
    return QST_OK;
}

/* Has a candidate of this round a right result? Then the rounds after it are not needed. */
static bool succeeded(const qst__schedule *s, uint32_t round)
{
    for (uint32_t p = s->rounds->start[round - 1]; p < s->rounds->start[round]; p++)
        if (qst__outcome_right(s->verdict->findings[s->rounds->order[p]].outcome))
            return true;
    return false;
}

/* Round after round. The rig is opened when the first candidate is about to be contacted. What was found before the tuning
 * is halted was committed, as a part. */
static qst_status run(qst__schedule *s, qst_error *err)
{
    const qst__rig *rig = s->task->rig;
    qst_status      status = QST_OK;
    uint32_t        ruler = s->verdict->ruler;
    bool            opened = false;

    for (uint32_t round = 1; round <= s->rounds->n_rounds; round++) {
        uint32_t n;
        while ((n = qst__schedule_open(s, round)) > 0 && !s->roofed && !s->spent && !s->halted) {
            if (!opened && (status = rig->open(rig->self, &ruler, err)) < 0)
                return status;
            if (!opened)
                s->verdict->flags =
                    (s->verdict->flags & ~(QST__VERDICT_ROOF | QST__VERDICT_COMPARED)) | QST__VERDICT_PARTIAL;
            opened = true;
            s->verdict->ruler = ruler;
            qst__schedule_run(s, n);
        }
        if (s->halted)
            break;
        qst__schedule_leave(s, n);
        if (s->roofed || s->spent || succeeded(s, round))
            break;
    }
    if (opened)
        rig->close(rig->self);
    return s->halted ? qst__pass(err, &s->why) : QST_OK;
}

/* Did the budget leave something undone: candidates of the round, or a comparison with too few samples? Not after the
 * roof: what it ends is at its end. */
static bool is_partial(const qst__schedule *s)
{
    uint32_t n_live = 0, short_of = 0;

    if (!s->spent || s->roofed)
        return false;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->verdict->findings[i].outcome == QST__OUTCOME_BUDGET)
            return true;
        n_live += s->live[i];
        short_of += s->live[i] && s->verdict->findings[i].samples.count < s->min;
    }
    return n_live > 1 && short_of > 0;
}

/* Where no time was valid at all, a fallback that was found right still serves. */
static void keep_fallback(qst__schedule *s)
{
    uint32_t fallback = s->task->set->fallback;

    for (uint32_t i = 0; i < s->n; i++)
        if (qst__outcome_right(s->verdict->findings[i].outcome))
            return;
    if (s->fallback_right && s->verdict->findings[fallback].outcome == QST__OUTCOME_UNMEASURED)
        s->verdict->findings[fallback].outcome = QST__OUTCOME_VERIFIED;
}

/* Was there one that got as far as to be built? */
static bool any_ran(const qst__verdict *verdict)
{
    for (uint32_t i = 0; i < verdict->n; i++)
        if (verdict->findings[i].outcome != QST__OUTCOME_CANNOT &&
            verdict->findings[i].outcome != QST__OUTCOME_UNTRIED && verdict->findings[i].round)
            return true;
    return false;
}

static uint64_t waited(const qst__task *task)
{
    return task->waited ? task->waited(task->user) : 0;
}

static qst_status conclude(qst__schedule *s, uint64_t began, uint64_t waited_before, qst_error *err)
{
    qst__verdict *verdict = s->verdict;
    uint32_t      fallback = s->task->set->fallback;
    const char   *what;

    keep_fallback(s);
    verdict->flags &= ~QST__VERDICT_PARTIAL;
    if (is_partial(s))
        verdict->flags |= QST__VERDICT_PARTIAL;
    if (s->roofed)
        verdict->flags |= QST__VERDICT_ROOF | (s->compared ? QST__VERDICT_COMPARED : 0);
    qst__decide(verdict);
    verdict->wait_known = s->task->waited && (verdict->wait_known || verdict->total_ns == 0);
    verdict->total_ns += qst__now(s->task->clock) - began;
    verdict->wait_ns += waited(s->task) - waited_before;
    if (s->task->commit)
        s->task->commit(s->task->user, verdict, QST__NOBODY);
    if (verdict->n_order > 0)
        return QST_OK;
    what = any_ran(verdict) ? "gives a right result" : "can run this problem";
    if (fallback == QST__NOBODY)
        return qst__fail(err, QST_E_NOTFOUND, "tune", "%s: none of %u candidates %s", s->task->set->op.name, s->n,
                         what);
    return qst__fail(err, QST_E_NOTFOUND, "tune", "%s: none of %u candidates %s; %s: %s%s%s", s->task->set->op.name,
                     s->n, what, verdict->findings[fallback].name,
                     qst__outcome_text(verdict->findings[fallback].outcome),
                     verdict->findings[fallback].why ? ": " : "",
                     verdict->findings[fallback].why ? verdict->findings[fallback].why : "");
}

qst_status qst__tune(const qst__task *task, qst__verdict *verdict, qst_error *err)
{
    uint64_t      began = qst__now(task->clock), waited_before = waited(task);
    uint32_t      n = task->set->n_candidates;
    qst_key       key = qst__key_view(task->key);
    qst__schedule schedule = {.task = task};
    qst__rounds   rounds = {.alloc = task->alloc};
    qst__support *support = qst__zalloc_array(task->alloc, n ? n : 1, sizeof *support);
    qst_status    status = support ? QST_OK : QST_E_NOMEM;

    if (status < 0)
        goto out;
    qst__support_of(task->set, task->device, &key, task->class_bit, task->settings, support);
    status = qst__rounds_init(&rounds, task->alloc, task->set, task->device, &key, support);
    if (status < 0)
        goto out;
    for (uint32_t i = 0; i < n; i++)
        label(task, verdict, support, &rounds, i);
    status = schedule_init(&schedule, task, verdict, &rounds, support);
    if (status < 0)
        goto out;
    verdict->limit_ns = task->limit_ns;
    verdict->flags &= ~(QST__VERDICT_MEDIANS | QST__VERDICT_COLD);
    verdict->flags |= task->settings->statistic == QST__STATISTIC_MEDIAN ? QST__VERDICT_MEDIANS : 0;
    verdict->flags |= task->settings->cache == QST__CACHE_COLD ? QST__VERDICT_COLD : 0;
    verdict->level = (uint32_t)task->settings->level;
    verdict->judge_revision = task->set->op.judge ? task->set->op.judge->revision : 0;
    memcpy(verdict->checksum, task->set->checksum, sizeof verdict->checksum);
    if (qst__tune_possible(task, &rounds))
        status = run(&schedule, err);
    else
        rule_out(task, verdict, &rounds);
    if (status == QST_OK)
        status = conclude(&schedule, began, waited_before, err);

out:
    if (status == QST_E_NOMEM)
        qst__fail(err, status, "tune", "%s: no memory to tune %u candidates", task->set->op.name, n);
    schedule_finish(&schedule);
    qst__rounds_finish(&rounds);
    qst__free(task->alloc, support);
    return status;
}
