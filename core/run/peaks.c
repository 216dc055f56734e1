/* SPDX-License-Identifier: MIT
 *
 * peaks.c: which peaks bound a problem, what roof follows, and what happens when a candidate is faster than the roof
 * says is possible: then the peak was wrong, and nothing may have been left out because of it.
 */
#include "run/peaks.h"

#include "model/rounds.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t roles[QST__PROBES] = {
    [QST__PROBE_COMPUTE] = QST_OP_PROBE_COMPUTE,
    [QST__PROBE_MEMORY] = QST_OP_PROBE_MEMORY,
    [QST__PROBE_LAUNCH] = QST_OP_PROBE_LAUNCH,
};

static bool is_probe(const qst_op *op)
{
    return (op->flags & (QST_OP_PROBE_COMPUTE | QST_OP_PROBE_MEMORY | QST_OP_PROBE_LAUNCH)) != 0;
}

qst_set *qst__peaks_set(const qst_context *ctx, uint32_t role)
{
    uint32_t i, n = atomic_load(&ctx->n_sets);

    for (i = 0; i < n; i++)
        if (ctx->sets[i]->model.op.flags & roles[role])
            return ctx->sets[i];
    return NULL;
}

/* ---- Known peaks -------------------------------------------------------------------------------------------------- */

static bool find(qst__site *site, qst__peak *peak)
{
    size_t i;
    bool   found = false;

    qst__lock_take(&site->lock);
    for (i = 0; i < site->peaks.count && !found; i++)
        if (qst__peak_same(&site->peaks.data[i], peak)) {
            *peak = site->peaks.data[i];
            found = true;
        }
    qst__lock_give(&site->lock);
    return found;
}

/* Adds, or replaces what was known. Without memory the next tuning asks again. */
static void note(qst__site *site, const qst__peak *peak)
{
    size_t i;

    qst__lock_take(&site->lock);
    for (i = 0; i < site->peaks.count && !qst__peak_same(&site->peaks.data[i], peak); i++)
        ;
    if (i < site->peaks.count)
        site->peaks.data[i] = *peak;
    else
        (void)qst__vec_push(&site->ctx->alloc, &site->peaks, *peak);
    qst__lock_give(&site->lock);
}

/* That it cannot be measured is noted, too: once is enough. Where nothing could be built the tuning says so, and the next
 * one asks again. */
static void measure(qst__site *site, qst_set *set, qst__peak *peak)
{
    qst_error err;

    memset(&err, 0, sizeof err);
    if (qst__peak_measure(site, set, peak, &err) == QST_OK) {
        qst__peak_remember(site, set, peak);
        QST__LOG(&site->ctx->log, TUNE, INFO, "%s: %g by %s", set->model.op.name, peak->value, peak->candidate);
    } else {
        peak->value = 0;
        if (qst__programs_unable(&err))
            return;
        QST__LOG(&site->ctx->log, TUNE, WARN, "%s is not known: %s", set->model.op.name, err.text);
    }
    if (!atomic_load(&site->closing))
        note(site, peak);
}

/* Fills in the value of the peak that `peak` describes; 0 where it is not known. */
static void ask(qst__site *site, const qst__task *task, qst__peak *peak)
{
    qst_set *set = qst__peaks_set(site->ctx, (uint32_t)__builtin_ctz(peak->role));

    if (!set || find(site, peak))
        return;
    qst__set_use(set);
    if (qst__peak_recall(site, set, peak) == QST_OK) {
        note(site, peak);
        return;
    }
    if (!task)
        return;
    if (task->lease)
        task->lease(task->user, true);
    if (!find(site, peak)) /* another thread may have been quicker */
        measure(site, set, peak);
    if (task->lease)
        task->lease(task->user, false);
}

static int64_t footprint_of(const qst_device *device, double bytes)
{
    int64_t most = device->type == QST_DEVICE_CPU ? QST__FOOTPRINT_CPU : QST__FOOTPRINT_MAX;
    int64_t size = QST__FOOTPRINT_MIN;

    while (size < most && (double)size < bytes && (uint64_t)size <= device->max_alloc / 4)
        size *= 2;
    return size;
}

void qst__ceiling_of(const qst__shelf *shelf, const void *normal, const qst__task *task, qst__ceiling *out)
{
    const qst_op *op = &shelf->set->model.op;
    qst__site    *site = shelf->site;

    memset(out, 0, sizeof *out);
    op->work(op->user, normal, &out->work);
    out->compute.role = QST_OP_PROBE_COMPUTE;
    out->memory.role = QST_OP_PROBE_MEMORY;
    out->launch.role = QST_OP_PROBE_LAUNCH;
    if (is_probe(op))
        return;
    if (out->work.ops > 0 && out->work.type && out->work.type < QST_TYPE_END && out->work.numerics < QST_NUMERICS_END) {
        out->compute.type = out->work.type;
        out->compute.numerics = out->work.numerics;
        ask(site, task, &out->compute);
    }
    if (out->work.bytes > 0) {
        out->memory.bytes = footprint_of(&site->facts.device, out->work.bytes);
        ask(site, task, &out->memory);
    }
    if (out->compute.value > 0 || out->memory.value > 0)
        ask(site, task, &out->launch);
}

uint64_t qst__ceiling_ns(const qst__ceiling *c, double part)
{
    return qst__roof_at(&c->work, c->compute.value, c->memory.value, c->launch.value, part);
}

/* ---- A tuning with a roof ----------------------------------------------------------------------------------------- */

/* Is there a choice? Where there is none nothing is timed, and a roof would end nothing. */
static bool has_choice(const qst__task *task)
{
    uint32_t      n = task->set->n_candidates;
    qst_key       key = qst__key_view(task->key);
    qst__rounds   rounds = {.alloc = task->alloc};
    qst__support *support = qst__zalloc_array(task->alloc, n ? n : 1, sizeof *support);
    bool          choice = false;

    if (!support)
        return false;
    qst__support_of(task->set, task->device, &key, task->class_bit, task->settings, support);
    if (qst__rounds_init(&rounds, task->alloc, task->set, task->device, &key, support) == QST_OK)
        choice = rounds.start[rounds.n_rounds] > 1 && qst__tune_possible(task, &rounds);
    qst__rounds_finish(&rounds);
    qst__free(task->alloc, support);
    return choice;
}

/* Can the device hold the operands? Where it cannot, the rig refuses, and a roof would serve nobody. */
static bool fits(const qst__route *route)
{
    const qst_device *device = &route->shelf->site->facts.device;
    uint32_t          i;

    for (i = 0; i < route->n_operands; i++)
        if (route->span[i] > device->max_alloc)
            return false;
    return true;
}

/* A key that has once lost its roof never gets one again: an earlier tuning that ended without one says so. */
static bool wants_roof(const qst__task *task, const qst__route *route, const qst__verdict *verdict)
{
    return task->settings->short_circuit && task->settings->level < QST__LEVEL_FULL && !is_probe(&task->set->op) &&
           (verdict->total_ns == 0 || verdict->limit_ns != 0) && fits(route) && has_choice(task);
}

uint32_t qst__peaks_missing(const qst__task *task, const qst__route *route, qst__peak peaks[QST__PROBES],
                            qst_set *sets[QST__PROBES])
{
    const qst__peak *all[QST__PROBES];
    qst__ceiling     c;
    uint32_t         i, n = 0;

    if (!task->settings->short_circuit || task->settings->level >= QST__LEVEL_FULL || !fits(route))
        return 0;
    qst__ceiling_of(route->shelf, route->normal, NULL, &c);
    all[0] = &c.compute;
    all[1] = &c.memory;
    all[2] = &c.launch;
    for (i = 0; i < QST__PROBES; i++) {
        bool bounds = i == 0 ? c.compute.type != 0 : i == 1 ? c.memory.bytes > 0 : true;
        sets[n] = qst__peaks_set(route->shelf->site->ctx, (uint32_t)__builtin_ctz(all[i]->role));
        peaks[n] = *all[i];
        n += bounds && sets[n] && !(all[i]->value > 0) && !is_probe(&task->set->op);
    }
    return n;
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The time that the winner has reached as often as the roof's own rule asks for; 0: it has not. */
static uint64_t reached(const qst__verdict *verdict, const qst__settings *settings)
{
    const qst__samples *samples;
    uint64_t            ns[QST__SAMPLES_MAX];
    uint32_t            times = settings->short_circuit_samples > 1 ? (uint32_t)settings->short_circuit_samples : 1;

    if (!verdict->n_order)
        return 0;
    samples = &verdict->findings[verdict->order[0]].samples;
    if (samples->count < times)
        return 0;
    memcpy(ns, samples->ns, samples->count * sizeof *ns);
    qsort(ns, samples->count, sizeof *ns, by_value);
    return ns[times - 1];
}

static void correct(qst__site *site, qst__peak *peak, double value, const char *who)
{
    qst_set *set = qst__peaks_set(site->ctx, (uint32_t)__builtin_ctz(peak->role));

    QST__LOG(&site->ctx->log, TUNE, INFO, "%s: %g is contradicted by %s and becomes %g",
             set ? set->model.op.name : "peak", peak->value, who, value);
    peak->value = value;
    peak->flags |= QST__PEAK_RAISED;
    strncpy(peak->candidate, who, sizeof peak->candidate - 1);
    peak->candidate[sizeof peak->candidate - 1] = '\0';
    note(site, peak);
    if (set)
        qst__peak_remember(site, set, peak);
}

/* Corrects the peaks that say a time of t ns is impossible, by no more than it proves: rates at which the work was
 * done in t, launch included; and where these do not explain it, a launch costs less than was thought. */
static void learn(qst__site *site, qst__ceiling *c, uint64_t t, const char *who)
{
    double ns = (double)t, least;

    if (c->compute.value > 0 && c->work.ops / ns * 1e9 > c->compute.value)
        correct(site, &c->compute, c->work.ops / ns * 1e9, who);
    if (c->memory.value > 0 && c->work.bytes / ns * 1e9 > c->memory.value)
        correct(site, &c->memory, c->work.bytes / ns * 1e9, who);
    least = (double)qst__roof_at(&c->work, c->compute.value, c->memory.value, 0, 1.0);
    if (c->launch.value > 0 && least + c->launch.value > ns)
        correct(site, &c->launch, ns - least > 1.0 ? ns - least : 1.0, who);
}

static uint64_t measured_ns(const qst__verdict *verdict)
{
    uint64_t sum = 0;
    uint32_t i;

    for (i = 0; i < verdict->n; i++)
        sum += verdict->findings[i].verify_ns + verdict->findings[i].sample_ns;
    return sum;
}

/* Tunes on without a roof, with what is left of the budget. */
static qst_status go_on(const qst__task *given, uint64_t before_ns, qst__verdict *verdict, qst_error *err)
{
    qst__task     task = *given;
    qst__settings settings = *given->settings;
    int64_t       spent_ms = (int64_t)((measured_ns(verdict) - before_ns) / 1000000u);

    if (settings.budget_ms > 0)
        settings.budget_ms = settings.budget_ms > spent_ms + 1 ? settings.budget_ms - spent_ms : 1;
    task.settings = &settings;
    task.limit_ns = 0;
    return qst__tune(&task, verdict, err);
}

/* Was someone of a round left out? */
static bool left_out(const qst__verdict *verdict)
{
    uint32_t i;

    for (i = 0; i < verdict->n; i++)
        if (verdict->findings[i].round && verdict->findings[i].outcome == QST__OUTCOME_UNTRIED)
            return true;
    return false;
}

/* Measures the peak that made the roof once more, before anyone is left out because of it: a host that was busy the
 * first time, or a stored value that is not this device's, shows now. True: it is higher. */
static bool confirm(qst__site *site, const qst__task *task, qst__ceiling *c)
{
    double     compute = c->compute.value > 0 ? c->work.ops / c->compute.value : 0;
    double     memory = c->memory.value > 0 ? c->work.bytes / c->memory.value : 0;
    qst__peak *peak = compute > memory ? &c->compute : &c->memory, again = *peak;
    qst_set   *set = qst__peaks_set(site->ctx, (uint32_t)__builtin_ctz(peak->role));
    qst_error  ignored = {0};
    bool       raised;

    if (!set || (peak->flags & QST__PEAK_CONFIRMED))
        return false;
    if (task->lease)
        task->lease(task->user, true);
    raised = qst__peak_measure(site, set, &again, &ignored) == QST_OK && again.value > peak->value;
    if (task->lease)
        task->lease(task->user, false);
    if (raised) {
        *peak = again;
        qst__peak_remember(site, set, peak);
    }
    peak->flags |= QST__PEAK_CONFIRMED;
    note(site, peak);
    return raised;
}

static uint64_t limit_of(const qst__ceiling *c, const qst__task *task)
{
    return qst__roof(&c->work, c->compute.value, c->memory.value, c->launch.value, (uint32_t)task->settings->level);
}

/* Does a time of t ns still end the tuning, once the peaks have been looked at again? */
static bool stands(qst__site *site, const qst__task *task, qst__ceiling *c, uint64_t t)
{
    while (t <= limit_of(c, task))
        if (!confirm(site, task, c))
            return true;
    return false;
}

qst_status qst__peaks_tune(const qst__task *given, const qst__route *route, qst__verdict *verdict, qst_error *err)
{
    qst__task    task = *given;
    qst__ceiling ceiling;
    qst__site   *site = route->shelf->site;
    uint64_t     before = measured_ns(verdict), t;
    bool         beaten;
    qst_status   status;

    if (!wants_roof(given, route, verdict))
        return qst__tune(given, verdict, err);
    qst__ceiling_of(route->shelf, route->normal, given, &ceiling);
    task.limit_ns = limit_of(&ceiling, &task);
    status = qst__tune(&task, verdict, err);
    t = status == QST_OK ? reached(verdict, task.settings) : 0;
    beaten = t && t < qst__ceiling_ns(&ceiling, 1.0);
    if (beaten)
        learn(site, &ceiling, t, verdict->findings[verdict->order[0]].name);
    if (!t || !task.limit_ns) /* peaks that make no limit are told all the same, and so are corrected */
        return status;
    if (!(verdict->flags & QST__VERDICT_ROOF) || (!beaten && (!left_out(verdict) || stands(site, &task, &ceiling, t))))
        return QST_OK;
    status = go_on(&task, before, verdict, err);
    t = status == QST_OK ? reached(verdict, task.settings) : 0;
    if (t && t < qst__ceiling_ns(&ceiling, 1.0)) /* of whoever wins now */
        learn(site, &ceiling, t, verdict->findings[verdict->order[0]].name);
    return status;
}
