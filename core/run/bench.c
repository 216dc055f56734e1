/* SPDX-License-Identifier: MIT
 *
 * bench.c: takes times: `repeats` runs back to back between two stamps of the key's ruler, after the result was reset
 * and, on request, the caches were emptied; then the result's digest must be what it must be.
 */
#include "run/bench.h"

#include "cl/timing.h"
#include "run/rig.h"

#include <string.h>

#define BRACKET_NS    100000u /* samples shorter than this are repeated inside one bracket */
#define BRACKET_COSTS 50u     /* the bracket's own cost is under 1/50 of what it brackets */
#define REPEATS_MAX   64u
/* A CPU device shares its processors with the host's other work: a bracket there is long enough that one wake-up does not
 * decide it, and shorter than a turn of the scheduler's. */
#define STEADY_NS      1000000u
#define STEADY_REPEATS 1024u
#define AGAIN          3u          /* brackets that turn out too short are taken again so often */
#define REPEATS_ADDING 16u         /* results grow: qst_op.fill keeps so many exact */
#define EVICTOR_LEAST  (64u << 20) /* bytes, where the device's cache is not known */
#define HOST_DOUBT     1.05        /* device times over this times the host's are no measurement */

static bool any_hides_events(const qst__bench *r)
{
    const qst__set *set = &r->shelf->set->model;
    const char     *why;
    uint32_t        i;

    for (i = 0; i < set->n_candidates; i++)
        if ((set->candidates[i].desc.flags & QST_CANDIDATE_HIDES_EVENTS) &&
            qst__settings_allow(r->site->ctx->settings, set->candidates[i].name, &why))
            return true;
    return false;
}

qst_status qst__bench_ruler(qst__bench *r, qst_error *err)
{
    bool       usable = false;
    qst_status status;

    if (!r->site->bench_profiling) {
        r->ruler = QST__RULER_HOST;
        return QST_OK;
    }
    r->ruler = QST__RULER_EVENTS;
    if (!any_hides_events(r))
        return QST_OK;
    status = qst__timing_markers(r->site->bench, &usable, &r->empty_ns, err);
    /* Markers that cost more than a host call's latency are no better than the host's clock (NVIDIA: 10 us). */
    r->ruler = usable && r->empty_ns < BRACKET_NS / 20 ? QST__RULER_MARKERS : QST__RULER_HOST;
    return status;
}

/* Operands out of the caches: something larger is written after them. */
static qst_status evict(qst__bench *r, qst_error *err)
{
    const uint32_t zero = 0;
    uint64_t       bytes = 2 * r->site->facts.device.cache_bytes;
    cl_int         code = CL_SUCCESS;

    if (r->site->ctx->settings->cache != QST__CACHE_COLD)
        return QST_OK;
    if (!r->evictor) {
        bytes = bytes < EVICTOR_LEAST ? EVICTOR_LEAST : bytes;
        bytes = bytes > r->site->facts.device.max_alloc ? r->site->facts.device.max_alloc : bytes;
        r->evictor_bytes = (size_t)bytes & ~(size_t)3;
        r->evictor = clCreateBuffer(r->site->context, CL_MEM_READ_WRITE, r->evictor_bytes, NULL, &code);
    }
    if (code == CL_SUCCESS)
        code = clEnqueueFillBuffer(r->site->bench, r->evictor, &zero, sizeof zero, 0, r->evictor_bytes, 0, NULL, NULL);
    return code == CL_SUCCESS ? QST_OK
                              : qst__fail_cl(err, code, "rig", "writing %llu bytes to empty the caches",
                                             (unsigned long long)r->evictor_bytes);
}

uint32_t qst__bench_repeats(const qst__bench *r, uint64_t first_ns)
{
    uint64_t least = BRACKET_NS, n;
    bool     steady = r->site->facts.device.type == QST_DEVICE_CPU;
    uint32_t most = steady ? STEADY_REPEATS : REPEATS_MAX;

    if (r->main.repeat == QST_REPEAT_ADDS)
        most = REPEATS_ADDING;
    if (r->ruler == QST__RULER_MARKERS && BRACKET_COSTS * r->empty_ns > least)
        least = BRACKET_COSTS * r->empty_ns;
    if (steady)
        least = STEADY_NS;
    else if (r->ruler == QST__RULER_HOST)
        least *= 10; /* a host bracket includes the wake-up of a finish */
    n = first_ns ? (least + first_ns - 1) / first_ns : most;
    n = n < 1 ? 1 : n > most ? most : n;
    if (r->site->ctx->settings->cache == QST__CACHE_COLD)
        n = 1;
    if (r->main.repeat == QST_REPEAT_ALTERNATES)
        n = (n + 1) / 2 * 2;
    return (uint32_t)n;
}

/* The bracket: `repeats` runs back to back between two stamps of the key's ruler. */
static qst_status bracket(qst__bench *r, qst__tried *t, uint64_t *span, uint64_t *host, qst_error *err)
{
    cl_command_queue queue = r->site->bench;
    cl_event         from = NULL, to = NULL;
    uint64_t         start = qst__now(&r->site->ctx->clock);
    uint32_t         i;
    cl_int           code = CL_SUCCESS;
    qst_status       status = QST_OK;

    if (r->ruler == QST__RULER_MARKERS)
        code = clEnqueueMarkerWithWaitList(queue, 0, NULL, &from);
    for (i = 0; i < t->repeats && code == CL_SUCCESS && status == QST_OK; i++) {
        bool events = r->ruler == QST__RULER_EVENTS, begins = events && i == 0;
        bool vendor = !t->main->runner; /* its event covers its call: there is no other for the beginning */
        status = qst__way_enqueue(t->main, r->site,
                                  &(qst__go){.queue = queue,
                                             .in_order = true,
                                             .operands = r->main.operand,
                                             .event = vendor && begins                ? &from
                                                      : events && i + 1 == t->repeats ? &to
                                                                                      : NULL,
                                             .first = !vendor && begins ? &from : NULL},
                                  err);
    }
    if (from && !to && r->ruler == QST__RULER_EVENTS && clRetainEvent(from) == CL_SUCCESS)
        to = from; /* the only call of a vendor's */
    if (r->ruler == QST__RULER_MARKERS && code == CL_SUCCESS && status == QST_OK)
        code = clEnqueueMarkerWithWaitList(queue, 0, NULL, &to);
    if (code == CL_SUCCESS)
        code = clFinish(queue);
    *host = qst__now(&r->site->ctx->clock) - start;
    if (status == QST_OK && code != CL_SUCCESS)
        status = qst__fail_cl(err, code, "rig", "%s: a timed run", t->main->name);
    if (status == QST_OK && r->ruler == QST__RULER_EVENTS)
        status = qst__timing_span(from, to, span, err);
    else if (status == QST_OK && r->ruler == QST__RULER_MARKERS)
        status = qst__timing_ends(from, to, span, err);
    else
        *span = *host;
    if (from)
        clReleaseEvent(from);
    if (to)
        clReleaseEvent(to);
    return status;
}

/* One bracket, on a result that was reset, and what its digest says. */
static qst_status take(qst__bench *r, uint32_t candidate, uint64_t *ns, qst_error *err)
{
    qst__tried *t = &r->tried[candidate];
    uint64_t    span = 0, host = 0;
    cl_int      code;
    qst_status  status = qst__trial_reset(&r->main, err);

    if (status == QST_OK)
        status = evict(r, err);
    if (status == QST_OK) {
        code = clFinish(r->site->bench);
        if (code != CL_SUCCESS)
            status = qst__fail_cl(err, code, "rig", "clFinish before a sample");
    }
    if (status == QST_OK)
        status = bracket(r, t, &span, &host, err);
    if (status == QST_OK && (double)span > HOST_DOUBT * (double)host)
        status = qst__fail(err, QST_E_TIMEOUT, "rig", "the device says %.3f ms where the host saw %.3f ms",
                           1e-6 * (double)span, 1e-6 * (double)host);
    if (status == QST_OK && r->site->ctx->settings->verify &&
        !(r->shelf->set->model.candidates[candidate].desc.flags & QST_CANDIDATE_NONDETERMINISTIC))
        status = qst__trial_digest(&r->main, t->repeats, err);
    *ns = t->repeats ? span / t->repeats : 0;
    r->site->run_ns = *ns > r->site->run_ns ? *ns : r->site->run_ns;
    return status;
}

/* On a CPU device: should the bracket have held twice as many runs? A first run that was slow, in a vendor's library above
 * all, made it so short that it was mostly the wake-up of threads. */
static bool lengthen(const qst__bench *r, qst__tried *t, uint64_t ns)
{
    uint32_t meant = r->site->facts.device.type == QST_DEVICE_CPU ? qst__bench_repeats(r, ns) : 0;

    if (meant < 2 * t->repeats)
        return false;
    t->repeats = meant;
    return true;
}

qst_status qst__bench_sample(void *self, uint32_t candidate, uint64_t *ns, qst_error *err)
{
    qst__bench *r = self;
    qst__tried *t = &r->tried[candidate];
    uint64_t    start = qst__now(&r->site->ctx->clock);
    uint32_t    again = AGAIN;
    qst_status  status = take(r, candidate, ns, err);

    while (status == QST_OK && *ns && again-- && lengthen(r, t, *ns))
        status = take(r, candidate, ns, err);
    if (status == QST_E_VERIFY)
        t->small_ns = 0; /* nobody is measured against it any more */
    if (status == QST_OK && !*ns)
        status = qst__fail(err, QST_E_TIMEOUT, "rig", "a bracket of %u runs has no length", t->repeats);
    atomic_fetch_add(&r->site->ctx->sample_ns, qst__now(&r->site->ctx->clock) - start);
    return status;
}
