/* SPDX-License-Identifier: MIT
 *
 * decision-json.c: what a decision says. The first five members have the names and forms of CubeCL's decision lines
 * (cubecl-runtime, tune/log.rs, serialised by serde), so that what reads those reads these; the rest is what they lack.
 */
#include "run/decisions.h"
#include "run/describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <quernstone/version.h>

static qst__json *duration(uint64_t ns)
{
    qst__json *one = qst__json_object();

    qst__json_set_int(one, "secs", (int64_t)(ns / 1000000000u));
    qst__json_set_int(one, "nanos", (int64_t)(ns % 1000000000u));
    return one;
}

/* ---- Results ------------------------------------------------------------------------------------------------------ */

/* Over the reliable samples (stats.h). The variance, in s², is written as if it were seconds, as the reference does. */
static qst__json *tell_computation(const qst__samples *s)
{
    qst__json *one = qst__json_object();
    uint32_t   first = s->count >= 3, n = s->count - first, i;
    double     mean = 0, variance = 0;
    uint64_t   most = 0;

    for (i = first; i < s->count; i++) {
        mean += (double)s->ns[i] / n;
        most = s->ns[i] > most ? s->ns[i] : most;
    }
    for (i = first; i < s->count; i++)
        variance += 1e-18 * ((double)s->ns[i] - mean) * ((double)s->ns[i] - mean) / n;
    qst__json_set(one, "mean", duration((uint64_t)llround(mean)));
    qst__json_set(one, "median", duration(qst__samples_median(s)));
    qst__json_set(one, "variance", duration(variance < 1e9 ? (uint64_t)(1e9 * variance) : 1000000000000000000u));
    qst__json_set(one, "min", duration(qst__samples_min(s)));
    qst__json_set(one, "max", duration(most));
    return one;
}

/* How the reference calls what became of those without a time. */
static const char *error_of(uint32_t outcome)
{
    switch (outcome) {
    case QST__OUTCOME_SLOW:
    case QST__OUTCOME_WRONG:
    case QST__OUTCOME_BUILD:
    case QST__OUTCOME_LAUNCH:
        return "Unknown";
    case QST__OUTCOME_TIMED:
    case QST__OUTCOME_ELIMINATED:
    case QST__OUTCOME_VERIFIED:
    case QST__OUTCOME_UNMEASURED:
        return "NotMeasured";
    default:
        return "Skip";
    }
}

static qst__json *tell_result(const qst__verdict *v, uint32_t index)
{
    const qst__finding *f = &v->findings[index];
    qst__json          *one = qst__json_object(), *outcome = qst__json_object(), *what = qst__json_object();
    qst__json          *kind = qst__json_object();
    char                text[600];

    qst__json_set(one, "outcome", outcome);
    qst__json_set_text(what, "name", f->name);
    if (qst__outcome_right(f->outcome) && f->samples.count) {
        qst__json_set(outcome, "Ok", what);
        qst__json_set_int(what, "index", index);
        qst__json_set(what, "computation", tell_computation(&f->samples));
        qst__json_destroy(kind);
        return one;
    }
    qst__json_set(outcome, "Err", kind);
    qst__json_set(kind, error_of(f->outcome), what);
    if (!strcmp(error_of(f->outcome), "Unknown")) {
        (void)snprintf(text, sizeof text, "%s%s%s", qst__outcome_text(f->outcome), f->why ? ": " : "",
                       f->why ? f->why : "");
        qst__json_set_text(what, "err", text);
    }
    return one;
}

/* The right ones in the order in which they were ranked, then the others in that of the set. */
static qst__json *tell_results(const qst__verdict *v)
{
    qst__json *list = qst__json_array();
    uint32_t   i;

    for (i = 0; i < v->n_order; i++)
        qst__json_add(list, tell_result(v, v->order[i]));
    for (i = 0; i < v->n; i++)
        if (!qst__outcome_right(v->findings[i].outcome))
            qst__json_add(list, tell_result(v, i));
    return list;
}

/* ---- How it came to it -------------------------------------------------------------------------------------------- */

static uint64_t cost_of(const qst__finding *f)
{
    return f->build_ns + f->verify_ns + f->sample_ns;
}

/* Was a contacted before b? Round by round; in a round by estimate, unknown ones first, then as in the set. */
static bool is_earlier(const qst__verdict *v, uint32_t a, uint32_t b)
{
    const qst__finding *x = &v->findings[a], *y = &v->findings[b];

    if (x->round != y->round)
        return x->round < y->round;
    if (x->estimate_ns < y->estimate_ns || x->estimate_ns > y->estimate_ns)
        return x->estimate_ns < y->estimate_ns;
    return a < b;
}

uint32_t qst__decision_next(const qst__verdict *v, uint32_t last)
{
    uint32_t i, next = v->n;

    for (i = 0; i < v->n; i++)
        if (cost_of(&v->findings[i]) && (last == v->n || is_earlier(v, last, i)) &&
            (next == v->n || is_earlier(v, i, next)))
            next = i;
    return next;
}

static qst__json *tell_events(const qst__verdict *v)
{
    qst__json *list = qst__json_array();
    uint32_t   i;

    for (i = qst__decision_next(v, v->n); i < v->n; i = qst__decision_next(v, i)) {
        qst__json *event = qst__json_object(), *step = qst__json_array();
        qst__json_add_text(step, v->findings[i].name);
        qst__json_add(step, duration(cost_of(&v->findings[i])));
        qst__json_set(event, "TuningStep", step);
        qst__json_add(list, event);
    }
    if ((v->flags & QST__VERDICT_ROOF) && v->n_order) {
        qst__json *event = qst__json_object();
        qst__json_set_text(event, "ShortCircuit", v->findings[v->order[0]].name);
        qst__json_add(list, event);
    }
    return list;
}

static qst__json *tell_checks(const qst__verdict *v)
{
    qst__json *list = qst__json_array();
    uint32_t   i;

    for (i = 0; i < v->n; i++) {
        const qst__finding *f = &v->findings[i];
        qst__json          *one;
        if (!qst__outcome_right(f->outcome) && f->outcome != QST__OUTCOME_WRONG)
            continue;
        one = qst__json_object();
        qst__json_set_text(one, "name", f->name);
        qst__json_set_bool(one, "passed", f->outcome != QST__OUTCOME_WRONG);
        qst__json_add(list, one);
    }
    return list;
}

static void add_bound(qst__json *list, double amount, const qst__peak *peak, double part)
{
    qst__json *one, *resource;

    if (!(peak->value > 0))
        return;
    one = qst__json_object();
    resource = qst__json_object();
    qst__json_set_real(resource, "amount", amount);
    qst__json_set_real(resource, "peak_per_s", peak->value);
    qst__json_set(one, "resource", resource);
    qst__json_set_real(one, "threshold", part);
    qst__json_add(list, one);
}

/* What the limit was made of. NULL: there was none. */
static qst__json *tell_bounds(const qst__entry *entry, const qst__verdict *v)
{
    qst__ceiling c;
    qst__json   *one, *list;

    memset(&c, 0, sizeof c);
    if (!v->limit_ns || !qst__verdict_ceiling(entry, v, &c))
        return NULL;
    one = qst__json_object();
    list = qst__json_array();
    add_bound(list, c.work.ops, &c.compute, qst__roof_part(v->level));
    add_bound(list, c.work.bytes, &c.memory, qst__roof_part(v->level));
    qst__json_set(one, "bounds", list);
    qst__json_set(one, "launch_overhead", duration(c.launch.value > 0 ? (uint64_t)c.launch.value : 0));
    return one;
}

static qst__json *tell_context(const qst__entry *entry, const qst__verdict *v)
{
    qst__json *one = qst__json_object(), *bounds = tell_bounds(entry, v);

    if (bounds)
        qst__json_set(one, "bounds", bounds);
    else
        qst__json_set_text(one, "bounds", NULL);
    if (v->limit_ns)
        qst__json_set(one, "limit", duration(v->limit_ns));
    else
        qst__json_set_text(one, "limit", NULL);
    qst__json_set(one, "events", tell_events(v));
    if (entry->shelf->site->ctx->settings->verify)
        qst__json_set(one, "checks", tell_checks(v));
    else
        qst__json_set_text(one, "checks", NULL);
    return one;
}

/* ---- What the reference's lines lack ------------------------------------------------------------------------------ */

/* The last round in which a candidate was right: the tuning ended with it. 0: none was. */
static uint32_t last_round(const qst__verdict *v)
{
    uint32_t i, last = 0;

    for (i = 0; i < v->n; i++)
        if (qst__outcome_right(v->findings[i].outcome) && v->findings[i].round > last)
            last = v->findings[i].round;
    return last;
}

static void set_not_tried(qst__json *one, const qst__verdict *v, const qst__finding *f)
{
    char text[600];

    if (strcmp(error_of(f->outcome), "Skip") != 0)
        qst__json_set_text(one, "not_tried", NULL);
    else if (f->outcome == QST__OUTCOME_UNTRIED && f->round > last_round(v) && last_round(v)) {
        (void)snprintf(text, sizeof text, "it is in round %u, and round %u gave a right result", f->round,
                       last_round(v));
        qst__json_set_text(one, "not_tried", text);
    } else {
        (void)snprintf(text, sizeof text, "%s%s%s", qst__outcome_text(f->outcome), f->why ? ": " : "",
                       f->why ? f->why : "");
        qst__json_set_text(one, "not_tried", text);
    }
}

static qst__json *tell_candidate(const qst__verdict *v, uint32_t index)
{
    const qst__finding *f = &v->findings[index];
    qst__json          *one = qst__json_object(), *samples = qst__json_array();
    uint32_t            i;

    qst__json_set_text(one, "name", f->name);
    qst__json_set_int(one, "index", index);
    qst__json_set_text(one, "outcome", qst__outcome_name(f->outcome));
    qst__json_set_text(one, "why", f->why);
    set_not_tried(one, v, f);
    qst__json_set_int(one, "round", f->round);
    qst__json_set_bool(one, "poor", f->poor != 0);
    qst__json_set_int(one, "launches", f->launches);
    qst__json_set_int(one, "workspace", (int64_t)f->workspace);
    qst__json_set_real(one, "estimate_ns", f->estimate_ns);
    qst__json_set_int(one, "build_ns", (int64_t)f->build_ns);
    qst__json_set_int(one, "verify_ns", (int64_t)f->verify_ns);
    qst__json_set_int(one, "sample_ns", (int64_t)f->sample_ns);
    for (i = 0; i < f->samples.count; i++) {
        qst__json *sample = qst__json_object();
        qst__json_set_int(sample, "round", f->samples.round[i]);
        qst__json_set_int(sample, "ns", (int64_t)f->samples.ns[i]);
        qst__json_add(samples, sample);
    }
    qst__json_set(one, "samples", samples);
    return one;
}

static void set_time(qst__json *one, int64_t at_ms)
{
    time_t    s = (time_t)(at_ms / 1000);
    struct tm utc;
    char      text[64];
    size_t    length;

    if (!gmtime_r(&s, &utc))
        memset(&utc, 0, sizeof utc);
    length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(text + length, sizeof text - length, ".%03dZ", (int)(at_ms % 1000));
    qst__json_set_text(one, "time", text);
}

static void set_sums(qst__json *one, const qst__verdict *v)
{
    uint64_t build = 0, verify = 0, sample = 0;
    uint32_t i;

    for (i = 0; i < v->n; i++) {
        build += v->findings[i].build_ns;
        verify += v->findings[i].verify_ns;
        sample += v->findings[i].sample_ns;
    }
    qst__json_set_int(one, "build_ns", (int64_t)build);
    qst__json_set_int(one, "verify_ns", (int64_t)verify);
    qst__json_set_int(one, "sample_ns", (int64_t)sample);
    qst__json_set_int(one, "total_ns", (int64_t)v->total_ns);
    if (v->wait_known)
        qst__json_set_int(one, "wait_ns", (int64_t)v->wait_ns);
    else
        qst__json_set_text(one, "wait_ns", NULL);
}

static void set_circumstances(qst__json *one, const qst__entry *entry, const qst__verdict *v)
{
    static const char *const rulers[] = {"events", "markers", "host"};
    static const char *const levels[] = {"minimal", "balanced", "extensive", "full"};
    const qst_device        *device = &entry->shelf->site->facts.device;
    char                     text[65];

    qst__json_set_text(one, "op", entry->shelf->set->model.op.name);
    qst__json_set_text(one, "problem", v->problem);
    qst__json_set_text(one, "key_text", entry->text);
    qst__json_set_text(one, "device", device->name);
    qst__json_set_text(one, "target", device->target);
    qst__json_set_text(one, "driver", v->driver);
    qst__hex(text, v->checksum, sizeof v->checksum);
    qst__json_set_text(one, "checksum", text);
    qst__json_set_text(one, "level", v->level < 4 ? levels[v->level] : NULL);
    qst__json_set_text(one, "ruler", v->ruler < 3 ? rulers[v->ruler] : NULL);
    qst__json_set_text(one, "statistic", v->flags & QST__VERDICT_MEDIANS ? "median" : "pairs");
    qst__json_set_text(one, "cache", v->flags & QST__VERDICT_COLD ? "cold" : "warm");
    qst__json_set_int(one, "judge_revision", v->judge_revision);
    qst__json_set_int(one, "ruler_revision", v->ruler_revision);
    (void)snprintf(text, sizeof text, "%d.%d.%d", QST_VERSION_MAJOR, QST_VERSION_MINOR, QST_VERSION_PATCH);
    qst__json_set_text(one, "library", text);
    (void)snprintf(text, sizeof text, "%u.%u", QST_ABI_MAJOR, QST_ABI_MINOR);
    qst__json_set_text(one, "abi", text);
}

qst__json *qst__decision_json(const qst__entry *entry, const qst__verdict *v, int64_t at_ms)
{
    qst__json          *one = qst__json_object(), *candidates = qst__json_array();
    const qst__finding *winner = v->n_order ? &v->findings[v->order[0]] : NULL;
    uint32_t            i;

    qst__json_set(one, "key", qst__decision_key(entry));
    if (winner)
        qst__json_set_int(one, "fastest_index", v->order[0]);
    else
        qst__json_set_text(one, "fastest_index", NULL);
    if (winner && winner->samples.count)
        qst__json_set(one, "fastest_time", duration(qst__samples_median(&winner->samples)));
    else
        qst__json_set_text(one, "fastest_time", NULL);
    qst__json_set(one, "results", tell_results(v));
    qst__json_set(one, "log_context", tell_context(entry, v));
    qst__json_set_text(one, "winner", winner ? winner->name : NULL);
    set_time(one, at_ms);
    qst__json_set_bool(one, "partial", (v->flags & QST__VERDICT_PARTIAL) != 0);
    set_circumstances(one, entry, v);
    set_sums(one, v);
    for (i = 0; i < v->n; i++)
        qst__json_add(candidates, tell_candidate(v, i));
    qst__json_set(one, "candidates", candidates);
    return one;
}
