/* SPDX-License-Identifier: MIT
 *
 * peaks-measure.c: measures one peak: every candidate of the probe's set is run, checked and timed on the bench queue,
 * the fastest counts. Cheap on purpose: a few runs of about a millisecond, or some hundred of an empty kernel.
 */
#include "cl/timing.h"
#include "model/stats.h"
#include "run/peaks.h"

#include <quernstone/probe.h>
#include <string.h>

#define TARGET_NS     400000u /* a run: long enough to hide its launch, short enough to miss what else the host does */
#define CALIBRATIONS  3u      /* attempts to come near it */
#define NEAR          0.7     /* part of the target that will do */
#define REPEATS_MAX   262144u
#define SAMPLES       24u
#define SAMPLES_MIN   3u
#define PEAK_NS       12000000u /* after the least samples, no more than this for a candidate, builds left out */
#define LAUNCHES      10u       /* back to back in a bracket */
#define BRACKETS      20u
#define LATE_BUILD_NS 200000u /* a first launch whose host time is this much over its device time has compiled */
#define HOST_DOUBT    1.05    /* device times over this times the host's are no measurement */
#define CHECK_BYTES   4096u   /* of a result's begin and end are looked at */
#define CPU_ELEMENTS  12288   /* results of chains on a compute unit: 96 or 64 work-items of 8 or 12 vectors */
#define GPU_ELEMENTS  16384   /* 2048 work-items of 8 scalars */

typedef struct probing {
    qst__site    *site;
    qst__shelf   *shelf;
    const qst_op *op;
    qst__peak    *peak; /* the best so far */
    char          problem[QST__PROBLEM_BYTES];
    qst__key      key;
    cl_mem        mem[QST_OPERANDS_MAX];
    qst_mem       operand[QST_OPERANDS_MAX];
    uint64_t      span[QST_OPERANDS_MAX];
    uint64_t      spent_ns; /* runs, not builds */
    uint64_t      runs, kernels;
    qst_error     unable; /* nothing builds now */
} probing;

/* ---- The problem and its operands --------------------------------------------------------------------------------- */

/* The problem struct of all probes; the operation's may be longer by members that are neutral when zero. */
static qst_status make_problem(probing *p, uint32_t repeats, qst_error *err)
{
    const qst_device *device = &p->site->facts.device;
    int64_t           units = device->units ? device->units : 1, bytes = 4;
    uint32_t          size = p->op->problem_size, type = p->peak->type ? p->peak->type : QST_F32;
    qst_probe         probe;

    if (size < sizeof probe)
        return qst__fail(err, QST_E_ABI, p->op->name, "its problem has %u bytes, a probe's has %u", size,
                         (unsigned)sizeof probe);
    if (p->peak->role == QST_OP_PROBE_MEMORY)
        bytes = p->peak->bytes;
    if (p->peak->role == QST_OP_PROBE_COMPUTE)
        bytes = units * (device->type == QST_DEVICE_CPU ? CPU_ELEMENTS : GPU_ELEMENTS) * (type == QST_F64 ? 8 : 4);
    qst_probe_init(&probe, type, p->peak->numerics, bytes, repeats);
    memset(p->problem, 0, size);
    memcpy(p->problem, &probe, sizeof probe);
    memcpy(p->problem, &size, sizeof size);
    if (p->op->check(p->op->user, p->problem, err) != QST_OK)
        return qst__fail(err, QST_E_INVALID, p->op->name, "refuses the problem of a probe");
    qst__key_of(p->shelf, p->problem, &p->key);
    return QST_OK;
}

/* Inputs become ones, results NaN, so that nothing of an earlier candidate's is taken for a result. */
static cl_int set_operands(const probing *p)
{
    static const float    one = 1.0f;
    static const uint32_t nan = 0xffffffffu;
    uint32_t              i;
    cl_int                code = CL_SUCCESS;

    for (i = 0; i < p->op->n_operands && code == CL_SUCCESS; i++)
        if (p->mem[i])
            code = clEnqueueFillBuffer(p->site->bench, p->mem[i],
                                       p->op->operands[i].access & QST_ACCESS_WRITE ? (const void *)&nan
                                                                                    : (const void *)&one,
                                       sizeof nan, 0, (size_t)p->span[i], 0, NULL, NULL);
    return code == CL_SUCCESS ? clFinish(p->site->bench) : code;
}

static qst_status make_operands(probing *p, qst_error *err)
{
    uint32_t i;
    cl_int   code = CL_SUCCESS;

    for (i = 0; i < p->op->n_operands && code == CL_SUCCESS; i++) {
        p->span[i] = p->op->span(p->op->user, p->problem, i) & ~UINT64_C(3);
        if (!p->span[i])
            continue;
        p->mem[i] = clCreateBuffer(p->site->context, CL_MEM_READ_WRITE, (size_t)p->span[i], NULL, &code);
        p->operand[i] = qst_mem_of(p->mem[i]);
    }
    return code == CL_SUCCESS ? QST_OK : qst__fail_cl(err, code, "probe", "%s: operands", p->op->name);
}

static void drop_operands(probing *p)
{
    uint32_t i;

    for (i = 0; i < QST_OPERANDS_MAX; i++)
        if (p->mem[i])
            clReleaseMemObject(p->mem[i]);
}

/* Is every element at the begin and the end of each result 1? */
static qst_status check(const probing *p, const char *who, qst_error *err)
{
    union {
        float         f32[CHECK_BYTES / 4];
        double        f64[CHECK_BYTES / 8];
        unsigned char bytes[CHECK_BYTES];
    } got;
    uint32_t i, type, part, k;

    for (i = 0; i < p->op->n_operands; i++) {
        size_t bytes = p->span[i] < CHECK_BYTES ? (size_t)p->span[i] : CHECK_BYTES;
        if (!p->mem[i] || !(p->op->operands[i].access & QST_ACCESS_WRITE))
            continue;
        memcpy(&type, p->problem + p->op->operands[i].type_offset, sizeof type);
        for (part = 0; part < 2; part++) {
            size_t from = part ? (size_t)p->span[i] - bytes : 0;
            cl_int code =
                clEnqueueReadBuffer(p->site->bench, p->mem[i], CL_TRUE, from, bytes, got.bytes, 0, NULL, NULL);
            if (code != CL_SUCCESS)
                return qst__fail_cl(err, code, "probe", "%s: reading a result", who);
            for (k = 0; k < bytes / qst_type_bytes(type); k++) {
                double value = type == QST_F64 ? got.f64[k] : (double)got.f32[k];
                if (!(value >= 1.0 && value <= 1.0))
                    return qst__fail(err, QST_E_VERIFY, who, "%s: element %llu is %g, not 1", p->op->operands[i].name,
                                     (unsigned long long)(from / qst_type_bytes(type) + k), value);
            }
        }
    }
    return QST_OK;
}

/* ---- Runs --------------------------------------------------------------------------------------------------------- */

/* Runs `times` back to back; ns of one by the device's clock where kernels carry times, else by the host's. */
static qst_status run(probing *p, qst__way *way, uint32_t times, double *ns, uint64_t *host, qst_error *err)
{
    qst_context *ctx = p->site->ctx;
    bool         events = way->runner && p->site->bench_profiling;
    cl_event     first = NULL, last = NULL;
    uint64_t     start = qst__now(&ctx->clock), span = 0;
    uint32_t     i;
    cl_int       code;
    qst_status   status = QST_OK;

    for (i = 0; i < times && status == QST_OK; i++)
        status = qst__way_enqueue(way, p->site,
                                  &(qst__go){.queue = p->site->bench,
                                             .in_order = true,
                                             .operands = p->operand,
                                             .event = events && i + 1 == times ? &last : NULL,
                                             .first = events && i == 0 ? &first : NULL},
                                  err);
    code = clFinish(p->site->bench);
    *host = qst__now(&ctx->clock) - start;
    if (status == QST_OK && code != CL_SUCCESS)
        status = qst__fail_cl(err, code, "probe", "%s: clFinish", way->name);
    if (status == QST_OK && events)
        status = qst__timing_span(first, last, &span, err);
    else
        span = *host;
    if (status == QST_OK && (!span || (double)span > HOST_DOUBT * (double)*host))
        status = qst__fail(err, QST_E_TIMEOUT, way->name, "the device says %llu ns where the host saw %llu",
                           (unsigned long long)span, (unsigned long long)*host);
    *ns = (double)span / times;
    if (first)
        clReleaseEvent(first);
    if (last)
        clReleaseEvent(last);
    return status;
}

/* Binds the candidate to the problem with so many repeats and runs it once. The way before goes. */
static qst_status rebind(probing *p, uint32_t candidate, uint32_t repeats, qst__way **way, double *ns, qst_error *err)
{
    qst_context *ctx = p->site->ctx;
    uint64_t     host;
    qst_status   status;

    if (*way) {
        p->runs += qst__way_runs(*way);
        p->kernels += (*way)->runner ? 0 : qst__way_runs(*way);
    }
    qst__way_destroy(*way, &ctx->alloc);
    *way = NULL;
    status = make_problem(p, repeats, err);
    if (status == QST_OK)
        status = qst__way_create(way, p->shelf, candidate, &p->key, p->problem, 0, err);
    if (status == QST_OK)
        status = run(p, *way, 1, ns, &host, err);
    if (status == QST_OK && (double)host > *ns + LATE_BUILD_NS) {
        qst__waits_add(&ctx->cl_counters.waits, host - (uint64_t)*ns, host - (uint64_t)*ns);
        atomic_fetch_add(&ctx->cl_counters.compiles, 1);
    }
    return status;
}

static uint32_t first_repeats(const probing *p)
{
    return p->peak->role == QST_OP_PROBE_COMPUTE ? QST_PROBE_REPEATS_MIN : 1;
}

/* So many repeats that a run lasts about as long as it should. */
static qst_status calibrate(probing *p, uint32_t candidate, qst__way **way, double ns, qst_error *err)
{
    uint32_t   repeats = first_repeats(p), least = repeats, i;
    qst_status status = QST_OK;

    for (i = 0; i < CALIBRATIONS && status == QST_OK && ns < NEAR * TARGET_NS && repeats < REPEATS_MAX; i++) {
        double wanted = (double)repeats * TARGET_NS / (ns > 1 ? ns : 1);
        repeats = wanted < REPEATS_MAX ? (uint32_t)wanted : REPEATS_MAX;
        repeats -= repeats % least; /* a multiple of the step too */
        status = rebind(p, candidate, repeats > least ? repeats : least, way, &ns, err);
    }
    return status;
}

/* ---- What the samples say ----------------------------------------------------------------------------------------- */

/* The value that a time stands for: a rate, or the time itself. */
static double value_of(const probing *p, double ns)
{
    qst_work work;

    memset(&work, 0, sizeof work);
    p->op->work(p->op->user, p->problem, &work);
    if (p->peak->role == QST_OP_PROBE_LAUNCH)
        return ns;
    return (p->peak->role == QST_OP_PROBE_COMPUTE ? work.ops : work.bytes) / ns * 1e9;
}

static bool is_better(const probing *p, double value)
{
    if (!(p->peak->value > 0))
        return true;
    return p->peak->role == QST_OP_PROBE_LAUNCH ? value < p->peak->value : value > p->peak->value;
}

/* A peak is what was reached once: the least time. A launch is what it costs as a rule: the median. */
static qst_status sample(probing *p, qst__way *way, double *ns, qst_error *err)
{
    bool       launch = p->peak->role == QST_OP_PROBE_LAUNCH;
    uint32_t   times = launch ? LAUNCHES : 1, most = launch ? BRACKETS : SAMPLES, n = 0, i;
    double     all[SAMPLES > BRACKETS ? SAMPLES : BRACKETS];
    qst_error  ignored = {0};
    qst_status status = QST_OK;

    for (i = 0; i < most && (n < SAMPLES_MIN || p->spent_ns < PEAK_NS); i++) {
        uint64_t host;
        memset(&ignored, 0, sizeof ignored);
        status = run(p, way, times, &all[n], &host, &ignored);
        p->spent_ns += host;
        if (status == QST_OK)
            n++;
        else if (status != QST_E_TIMEOUT)
            return qst__pass(err, &ignored);
    }
    if (!n)
        return qst__pass(err, &ignored);
    *ns = launch ? qst__median(all, n) : qst__quantile(all, n, 0.0);
    return QST_OK;
}

static void try_candidate(probing *p, uint32_t candidate)
{
    const qst__candidate *c = &p->shelf->set->model.candidates[candidate];
    qst__way             *way = NULL;
    double                ns = 0;
    cl_int                code = set_operands(p);
    qst_error             err;
    qst_status            status;

    memset(&err, 0, sizeof err);
    p->spent_ns = 0;
    status = code == CL_SUCCESS ? QST_OK : qst__fail_cl(&err, code, "probe", "%s: operands", p->op->name);
    if (status == QST_OK)
        status = rebind(p, candidate, first_repeats(p), &way, &ns, &err);
    if (status == QST_OK)
        status = check(p, c->name, &err);
    if (status == QST_OK && p->peak->role != QST_OP_PROBE_LAUNCH)
        status = calibrate(p, candidate, &way, ns, &err);
    if (status == QST_OK)
        status = sample(p, way, &ns, &err);
    if (status == QST_OK && is_better(p, value_of(p, ns))) {
        p->peak->value = value_of(p, ns);
        strncpy(p->peak->candidate, c->name, sizeof p->peak->candidate - 1);
    }
    if (qst__programs_unable(&err))
        p->unable = err;
    if (status != QST_OK)
        QST__LOG(&p->site->ctx->log, TUNE, INFO, "%s is passed over: %s", c->name, qst__error_text(&err, status));
    if (way) {
        p->runs += qst__way_runs(way);
        p->kernels += way->runner ? 0 : qst__way_runs(way);
    }
    qst__way_destroy(way, &p->site->ctx->alloc);
}

/* Tries those that answer so; a pin names candidates of the operation that is tuned, and does not count here. */
static void try_all(probing *p, int32_t wanted)
{
    const qst__set *set = &p->shelf->set->model;
    qst__settings   settings = *p->site->ctx->settings;
    uint32_t        i, bit = qst__set_class_of(set, p->problem);
    const char     *why;

    memset(&settings.pin, 0, sizeof settings.pin);
    for (i = 0; i < set->n_candidates && !atomic_load(&p->site->closing); i++) {
        const qst_candidate *d = &set->candidates[i].desc;
        qst_key              key = qst__key_view(&p->key);
        int32_t              answer = d->supports ? d->supports(d->user, &p->site->facts.device, &key, &why) : QST_OK;
        if (answer == wanted && (d->classes & bit) && qst__settings_allow(&settings, set->candidates[i].name, &why))
            try_candidate(p, i);
    }
}

void qst__peak_expect(qst__site *site, qst_set *set, const qst__peak *peak)
{
    qst__peak   copy = *peak;
    probing     p;
    uint32_t    i, bit;
    const char *why;

    memset(&p, 0, sizeof p);
    p.site = site;
    p.op = &set->model.op;
    p.peak = &copy;
    if (qst__shelf_of(site, set, &p.shelf, NULL) != QST_OK || make_problem(&p, first_repeats(&p), NULL) != QST_OK)
        return;
    bit = qst__set_class_of(&set->model, p.problem);
    for (i = 0; i < set->model.n_candidates; i++) {
        const qst_candidate *d = &set->model.candidates[i].desc;
        qst_key              key = qst__key_view(&p.key);
        if ((d->classes & bit) && (!d->supports || d->supports(d->user, &site->presumed, &key, &why) == QST_OK))
            qst__way_expect(p.shelf, i, &p.key, p.problem);
    }
}

qst_status qst__peak_measure(qst__site *site, qst_set *set, qst__peak *peak, qst_error *err)
{
    qst_context *ctx = site->ctx;
    qst__waits  *waits = &ctx->cl_counters.waits;
    uint64_t     start = qst__now(&ctx->clock), waited = qst__waits_mine(waits), took;
    probing      p;
    qst_status   status;

    memset(&p, 0, sizeof p);
    p.site = site;
    p.op = &set->model.op;
    p.peak = peak;
    peak->value = 0;
    memset(peak->candidate, 0, sizeof peak->candidate);
    status = qst__shelf_of(site, set, &p.shelf, err);
    if (status == QST_OK && !site->bench)
        status = qst__timing_queue(site->context, site->device, &site->bench, &site->bench_profiling, err);
    if (status == QST_OK)
        status = make_problem(&p, first_repeats(&p), err);
    if (status == QST_OK)
        status = make_operands(&p, err);
    if (status == QST_OK) {
        try_all(&p, QST_OK);
        if (!(peak->value > 0))
            try_all(&p, QST_POOR);
        memcpy(peak->checksum, set->model.checksum, sizeof peak->checksum);
        if (!(peak->value > 0) && p.unable.status != QST_OK)
            status = qst__pass(err, &p.unable);
        else if (!(peak->value > 0))
            status = qst__fail(err, QST_E_NOTFOUND, set->model.op.name, "no candidate measures it here");
    }
    drop_operands(&p);
    atomic_fetch_add(&ctx->n_probe[__builtin_ctz(peak->role)], p.runs);
    atomic_fetch_add(&ctx->cl_counters.kernels, p.kernels); /* a runner counts its own */
    took = qst__now(&ctx->clock) - start;
    waited = qst__waits_mine(waits) - waited;
    atomic_fetch_add(&ctx->probe_ns, took > waited ? took - waited : 0);
    return status;
}
