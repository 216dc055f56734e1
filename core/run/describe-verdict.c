/* SPDX-License-Identifier: MIT
 *
 * describe-verdict.c: what tuning found, told as JSON: one object a key.
 */
#include "run/describe.h"

#include "model/field.h"
#include "run/peaks.h"
#include "tune/rig.h"

#include <string.h>

static double ms(uint64_t ns)
{
    return 1e-6 * (double)ns;
}

static int64_t rank_of(const qst__verdict *v, uint32_t finding)
{
    uint32_t i;

    for (i = 0; i < v->n_order; i++)
        if (v->order[i] == finding)
            return i + 1;
    return 0;
}

bool qst__verdict_ceiling(const qst__entry *entry, const qst__verdict *v, qst__ceiling *out)
{
    const qst_op *op = &entry->shelf->set->model.op;
    char          problem[QST__PROBLEM_BYTES];
    uint32_t      perm[QST_OPERANDS_MAX], i;
    qst_error     ignored = {0};

    for (i = 0; i < QST_OPERANDS_MAX; i++)
        perm[i] = i;
    if (!v->problem || qst__problem_parse(op, v->problem, problem, &ignored) != QST_OK ||
        op->check(op->user, problem, &ignored) != QST_OK ||
        (op->normalise && op->normalise(op->user, problem, perm) != QST_OK))
        return false;
    qst__ceiling_of(entry->shelf, problem, NULL, out);
    return qst__ceiling_ns(out, 1.0) > 0;
}

/* null where it is not known */
static void set_known(qst__json *one, const char *name, double value)
{
    if (value > 0)
        qst__json_set_real(one, name, value);
    else
        qst__json_set_text(one, name, NULL);
}

/* roof_ms: what the problem takes at least by the peaks; of_attainable: that over the winner's median. */
static void tell_ceiling(qst__json *one, const qst__entry *entry, const qst__verdict *v)
{
    qst__ceiling c;
    double       roof, median = v->n_order ? (double)qst__samples_median(&v->findings[v->order[0]].samples) : 0;
    qst__json   *peaks = qst__json_object();

    memset(&c, 0, sizeof c);
    roof = qst__verdict_ceiling(entry, v, &c) ? (double)qst__ceiling_ns(&c, 1.0) : 0;
    set_known(one, "roof_ms", 1e-6 * roof);
    set_known(one, "of_attainable", median > 0 ? roof / median : 0);
    set_known(peaks, "ops_per_s", c.compute.value);
    set_known(peaks, "bytes_per_s", c.memory.value);
    set_known(peaks, "launch_ns", c.launch.value);
    qst__json_set(one, "peaks", peaks);
}

static qst__json *tell_finding(const qst__verdict *v, uint32_t index)
{
    const qst__finding *f = &v->findings[index];
    qst__json          *one = qst__json_object(), *samples = qst__json_array();
    int64_t             rank = rank_of(v, index);
    uint32_t            i;

    qst__json_set_text(one, "name", f->name);
    qst__json_set_text(one, "outcome", qst__outcome_name(f->outcome));
    qst__json_set_text(one, "text", qst__outcome_text(f->outcome));
    qst__json_set_int(one, "round", f->round);
    qst__json_set_bool(one, "poor", f->poor != 0);
    qst__json_set_text(one, "why", f->why);
    qst__json_set_int(one, "launches", f->launches);
    qst__json_set_int(one, "workspace", (int64_t)f->workspace);
    qst__json_set_real(one, "build_ms", ms(f->build_ns));
    qst__json_set_real(one, "verify_ms", ms(f->verify_ns));
    qst__json_set_real(one, "sample_ms", ms(f->sample_ns));
    qst__json_set_real(one, "estimate_ms", 1e-6 * f->estimate_ns);
    qst__json_set_real(one, "min_ms", ms(qst__samples_min(&f->samples)));
    qst__json_set_real(one, "median_ms", ms(qst__samples_median(&f->samples)));
    qst__json_set_real(one, "spread", qst__samples_spread(&f->samples));
    for (i = 0; i < f->samples.count; i++) {
        qst__json *sample = qst__json_object();
        qst__json_set_int(sample, "round", f->samples.round[i]);
        qst__json_set_real(sample, "ms", ms(f->samples.ns[i]));
        qst__json_add(samples, sample);
    }
    qst__json_set(one, "samples", samples);
    if (rank)
        qst__json_set_int(one, "rank", rank);
    else
        qst__json_set_text(one, "rank", NULL);
    return one;
}

static const char *state_name(int state)
{
    static const char *const names[] = {"absent", "tuning", "ready", "partial"};
    return names[state];
}

void qst__tell_verdict(qst__json *one, const qst__verdict *v)
{
    static const char *const rulers[] = {"events", "markers", "host"};
    static const char *const levels[] = {"minimal", "balanced", "extensive", "full"};
    qst__json               *findings = qst__json_array();
    char                     hex[65];
    uint32_t                 i;

    qst__json_set_text(one, "driver", v->driver);
    qst__json_set_text(one, "problem", v->problem);
    qst__json_set_text(one, "winner", v->n_order ? v->findings[v->order[0]].name : NULL);
    qst__json_set_bool(one, "partial", (v->flags & QST__VERDICT_PARTIAL) != 0);
    qst__json_set_text(one, "level", v->level < 4 ? levels[v->level] : NULL);
    qst__json_set_text(one, "ruler", v->ruler < 3 ? rulers[v->ruler] : NULL);
    qst__json_set_real(one, "limit_ms", ms(v->limit_ns));
    qst__json_set_real(one, "total_ms", ms(v->total_ns));
    if (v->wait_known)
        qst__json_set_real(one, "wait_ms", ms(v->wait_ns));
    else
        qst__json_set_text(one, "wait_ms", NULL);
    qst__hex(hex, v->checksum, sizeof v->checksum);
    qst__json_set_text(one, "checksum", hex);
    for (i = 0; i < v->n; i++)
        qst__json_add(findings, tell_finding(v, i));
    qst__json_set(one, "findings", findings);
}

static qst__json *tell_entry(const qst__entry *entry, const qst__verdict *v)
{
    qst__json *one = qst__json_object();

    qst__json_set_text(one, "op", entry->shelf->set->model.op.name);
    qst__json_set_text(one, "key", entry->text);
    qst__json_set_text(one, "device", entry->shelf->site->facts.device.name);
    qst__json_set_text(one, "target", entry->shelf->site->facts.device.target);
    qst__json_set_text(one, "state", state_name(qst__claim_state(&entry->claim)));
    qst__json_set_text(one, "source", entry->source);
    qst__tell_verdict(one, v);
    tell_ceiling(one, entry, v);
    return one;
}

static void add_entry(void *user, void *value)
{
    const qst__entry   *entry = value;
    const qst__verdict *v = atomic_load_explicit(&entry->verdict, memory_order_acquire);

    if (v)
        qst__json_add(user, tell_entry(entry, v));
}

qst_status qst__tell_verdicts(qst_context *ctx, qst__json **out, qst_error *err)
{
    qst__site *site;
    uint32_t   i;

    (void)err;
    *out = qst__json_array();
    qst__lock_take(&ctx->lock);
    for (site = atomic_load(&ctx->sites); site; site = atomic_load(&site->next))
        for (i = 0; i < QST__SETS_MAX; i++) {
            qst__shelf *shelf = atomic_load(&site->shelves[i]);
            if (shelf)
                qst__table_each(&shelf->entries, add_entry, *out);
        }
    qst__lock_give(&ctx->lock);
    return QST_OK;
}
