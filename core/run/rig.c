/* SPDX-License-Identifier: MIT
 *
 * rig.c: measures the candidates of a route on its device, on operands of our own, on a queue of our own. One ruler
 * for all candidates of a key: kernel events; brackets of markers where a candidate hides its events; the host clock
 * where markers carry no times.
 *
 * Three trials: the problem itself with integers; a second, odd shape with integers; and that shape with badly scaled
 * reals and the caller's own scalars, for the class's bound (on the problem itself where there is no second shape).
 */
#include "run/rig.h"

#include "cl/timing.h"
#include "run/trial.h"

#include <string.h>

#define BRACKET_NS     100000u /* samples shorter than this are repeated inside one bracket */
#define BRACKET_COSTS  50u     /* the bracket's own cost is under 1/50 of what it brackets */
#define REPEATS_MAX    64u
#define REPEATS_ADDING 16u         /* results grow: qst_op.fill keeps so many exact */
#define LATE_BUILD_NS  200000u     /* a first launch this much over its second one has compiled */
#define EVICTOR_LEAST  (64u << 20) /* bytes, where the device's cache is not known */
#define HOST_DOUBT     1.05        /* device times over this times the host's are no measurement */

typedef struct tried {
    qst__way *main, *second, *real;
    bool      no_second; /* cannot run the second shape */
    uint32_t  repeats;
} tried;

typedef struct rig_self {
    qst__route *route;
    qst__shelf *shelf;
    qst__site  *site;
    uint32_t    ruler;
    uint64_t    empty_ns; /* an empty bracket of markers */
    bool        has_second;
    qst__trial  main, second, real;
    qst__way   *fallback, *fallback_second; /* for operations without a judge; the second made at first use */
    cl_mem      evictor;                    /* tune.cache cold: written before each sample, larger than the caches */
    size_t      evictor_bytes;
    tried      *tried; /* per candidate */
} rig_self;

static qst_status make_queue(rig_self *r, qst_error *err)
{
    if (r->site->bench)
        return QST_OK;
    return qst__timing_queue(r->site->context, r->site->device, &r->site->bench, &r->site->bench_profiling, err);
}

static bool any_hides_events(const rig_self *r)
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

static qst_status pick_ruler(rig_self *r, qst_error *err)
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

static qst_status derive(const rig_self *r, uint32_t which, void *out)
{
    const qst_op *op = &r->shelf->set->model.op;
    uint32_t      i, perm[QST_OPERANDS_MAX];
    qst_status    status;

    memcpy(out, r->route->normal, op->problem_size);
    if (!op->vary)
        return which == QST_VARY_SECOND ? QST_E_UNSUPPORTED : QST_OK;
    status = op->vary(op->user, r->route->normal, which, out);
    for (i = 0; i < QST_OPERANDS_MAX; i++)
        perm[i] = i;
    if (status == QST_OK && op->normalise && op->normalise(op->user, out, perm) != QST_OK)
        status = QST_E_UNSUPPORTED;
    return status;
}

/* The second shape with the caller's scalars: its own fields but sizes and strides are kept by the operation. */
static qst_status open_trials(rig_self *r, qst_error *err)
{
    const qst_op *op = &r->shelf->set->model.op;
    char          problem[QST__PROBLEM_BYTES];
    qst_status    status = derive(r, QST_VARY_TIMED, problem);

    if (status != QST_OK)
        return qst__fail(err, status < 0 ? status : QST_E_INTERNAL, op->name, "there is no problem to time: %s",
                         qst_status_text(status));
    status = qst__trial_init(&r->main, r->shelf, problem, false, r->site->bench, err);
    if (status != QST_OK || !r->site->ctx->settings->verify)
        return status;
    r->has_second = derive(r, QST_VARY_SECOND, problem) == QST_OK;
    if (r->has_second)
        status = qst__trial_init(&r->second, r->shelf, problem, false, r->site->bench, err);
    if (status == QST_OK && r->shelf->set->model.op.judge) {
        if (!r->has_second || derive(r, QST_VARY_SECOND_REAL, problem) != QST_OK)
            memcpy(problem, r->route->normal, op->problem_size);
        status = qst__trial_init(&r->real, r->shelf, problem, true, r->site->bench, err);
    }
    return status;
}

/* Runs the judge once on whatever stands in the results, so that what it compiles is counted as a build and not as
 * verification of the first candidate. The time over a second pass is that build. */
static qst_status warm_judge(rig_self *r, qst_error *err)
{
    qst__trial *trials[3] = {&r->main, &r->second, &r->real};
    uint64_t    start, pass[2];
    uint32_t    i, j;
    qst_status  status = QST_OK;

    for (j = 0; j < 2 && status == QST_OK; j++) {
        start = qst__now(&r->site->ctx->clock);
        for (i = 0; i < 3 && status == QST_OK; i++)
            if (trials[i]->ready)
                status = qst__trial_rehearse(trials[i], err);
        pass[j] = qst__now(&r->site->ctx->clock) - start;
        if (pass[0] < LATE_BUILD_NS)
            return status; /* all was there */
    }
    if (status == QST_OK && pass[0] > pass[1] + LATE_BUILD_NS)
        atomic_fetch_add(&r->site->ctx->late_build_ns, pass[0] - pass[1]);
    return status;
}

static uint64_t builds_of(const qst_context *ctx)
{
    return atomic_load(&ctx->cl_counters.build_ns) + atomic_load(&ctx->late_build_ns);
}

static qst_status rig_open(void *self, uint32_t *ruler, qst_error *err)
{
    rig_self       *r = self;
    const qst__set *set = &r->shelf->set->model;
    uint64_t        start = qst__now(&r->site->ctx->clock), built = builds_of(r->site->ctx), took;
    cl_int          code;
    qst_status      status;

    qst__lock_take(&r->site->lease);
    status = make_queue(r, err);
    if (status == QST_OK)
        status = pick_ruler(r, err);
    if (status == QST_OK)
        status = open_trials(r, err);
    if (status == QST_OK && !r->shelf->set->model.op.judge && set->fallback != UINT32_MAX)
        status = qst__way_create(&r->fallback, r->shelf, set->fallback, &r->main.key, r->main.problem, err);
    if (status == QST_OK) {
        code = clFinish(r->site->bench);
        if (code != CL_SUCCESS)
            status = qst__fail_cl(err, code, "rig", "clFinish after making inputs");
    }
    if (status == QST_OK && r->site->ctx->settings->verify)
        status = warm_judge(r, err);
    qst__lock_give(&r->site->lease);
    took = qst__now(&r->site->ctx->clock) - start;
    built = builds_of(r->site->ctx) - built;
    atomic_fetch_add(&r->site->ctx->verify_ns, took > built ? took - built : 0);
    atomic_fetch_add(&r->site->ctx->n_tuned, status == QST_OK ? 1 : 0);
    *ruler = r->ruler;
    return status;
}

static qst_status rig_prepare(void *self, uint32_t candidate, qst__prepared *out, qst_error *err)
{
    rig_self             *r = self;
    const qst__candidate *c = &r->shelf->set->model.candidates[candidate];
    tried                *t = &r->tried[candidate];
    const char           *why = NULL;
    qst_status            status;

    memset(out, 0, sizeof *out);
    if (atomic_load(&r->site->closing))
        return qst__fail(err, QST_E_REFUSED, "rig", "the device is given up");
    if (c->desc.can_run && c->desc.can_run(c->desc.user, &r->site->facts.device, r->route->normal, &why) != QST_OK)
        return qst__fail(err, QST_E_UNSUPPORTED, c->name, "%s", why ? why : "the candidate gives no reason");
    if (!t->main) {
        status = qst__way_create(&t->main, r->shelf, candidate, &r->main.key, r->main.problem, err);
        if (status != QST_OK)
            return status;
    }
    out->build_ns = t->main->build_ns;
    out->launches = qst__way_launches(t->main);
    out->workspace = qst__way_workspace(t->main);
    return QST_OK;
}

/* Is one run not enough to tell how fast it is? The device's own times leave out a late compile of the first kernel,
 * but not of a second one, and say nothing where they are hidden. */
static bool doubtful(const tried *t, uint64_t host, uint64_t device, uint64_t best_ns, double slow_factor)
{
    if (!device)
        return host > LATE_BUILD_NS;
    return qst__way_launches(t->main) > 1 && best_ns && (double)device > slow_factor * (double)best_ns;
}

/* First contact: a run, clocked, and a second one where the first may have compiled something. */
static qst_status contact(rig_self *r, tried *t, uint64_t best_ns, double slow_factor, qst__checked *out,
                          qst_error *err)
{
    uint64_t   host, device, again = 0;
    qst_status status = qst__trial_reset(&r->main, err);

    if (status == QST_OK)
        status = qst__trial_run(&r->main, t->main, &host, &device, err);
    if (status != QST_OK)
        return status;
    out->first_ns = device ? device : host;
    if (doubtful(t, host, device, best_ns, slow_factor)) {
        status = qst__trial_reset(&r->main, err);
        if (status == QST_OK)
            status = qst__trial_run(&r->main, t->main, &again, &device, err);
        if (status != QST_OK)
            return status;
        again = device ? device : again;
        out->first_ns = again < out->first_ns ? again : out->first_ns;
    }
    out->build_ns = host > out->first_ns + LATE_BUILD_NS ? host - out->first_ns : 0;
    atomic_fetch_add(&r->site->ctx->late_build_ns, out->build_ns);
    atomic_fetch_add(&r->site->ctx->cl_counters.compiles, out->build_ns ? 1 : 0);
    if (best_ns && (double)out->first_ns > slow_factor * (double)best_ns)
        return qst__fail(err, QST_E_REFUSED, "rig", "%.3f ms at first contact, over %.0f times the best %.3f ms",
                         1e-6 * (double)out->first_ns, slow_factor, 1e-6 * (double)best_ns);
    return QST_OK;
}

/* Runs the candidate on another trial's problem; *ran false where it cannot. */
static qst_status run_other(rig_self *r, qst__trial *trial, uint32_t candidate, qst__way **way, bool *ran,
                            qst_error *err)
{
    uint64_t   host, device;
    qst_error  refused;
    qst_status status = QST_OK;

    *ran = false;
    memset(&refused, 0, sizeof refused);
    if (!*way) {
        status = qst__way_create(way, r->shelf, candidate, &trial->key, trial->problem, &refused);
        if (status == QST_E_UNSUPPORTED)
            return QST_OK;
        if (status != QST_OK)
            return qst__fail(err, status, refused.source, "second shape: %s", refused.text);
    }
    status = qst__trial_reset(trial, err);
    if (status == QST_OK)
        status = qst__trial_run(trial, *way, &host, &device, err);
    *ran = status == QST_OK;
    return status;
}

static qst_status judge(rig_self *r, uint32_t candidate, qst_error *err)
{
    tried     *t = &r->tried[candidate];
    bool       ran;
    qst_error  why;
    qst_status status = qst__trial_judge(&r->main, r->fallback, err);

    memset(&why, 0, sizeof why);
    if (status == QST_OK && r->has_second) {
        status = run_other(r, &r->second, candidate, &t->second, &ran, &why);
        if (status == QST_OK && ran && r->fallback && !r->fallback_second)
            status = qst__way_create(&r->fallback_second, r->shelf, r->shelf->set->model.fallback, &r->second.key,
                                     r->second.problem, &why);
        if (status == QST_OK && ran)
            status = qst__trial_judge(&r->second, r->fallback_second, &why);
        if (status != QST_OK)
            return qst__fail(err, status, "judge", "on a second shape: %s", why.text);
    }
    if (status == QST_OK && r->real.ready) {
        status = run_other(r, &r->real, candidate, &t->real, &ran, &why);
        if (status == QST_OK && ran)
            status = qst__trial_bound(&r->real, &why);
        if (status != QST_OK)
            return qst__fail(err, status, "judge", "on badly scaled reals: %s", why.text);
    }
    return status;
}

/* Operands out of the caches: something larger is written after them. */
static qst_status evict(rig_self *r, qst_error *err)
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

static uint32_t repeats_for(const rig_self *r, uint64_t first_ns)
{
    uint64_t least = BRACKET_NS, n;
    uint32_t most = r->main.repeat == QST_REPEAT_ADDS ? REPEATS_ADDING : REPEATS_MAX;

    if (r->ruler == QST__RULER_MARKERS && BRACKET_COSTS * r->empty_ns > least)
        least = BRACKET_COSTS * r->empty_ns;
    if (r->ruler == QST__RULER_HOST)
        least *= 10; /* a host bracket includes the wake-up of a finish */
    n = first_ns ? (least + first_ns - 1) / first_ns : most;
    n = n < 1 ? 1 : n > most ? most : n;
    if (r->site->ctx->settings->cache == QST__CACHE_COLD)
        n = 1;
    if (r->main.repeat == QST_REPEAT_ALTERNATES)
        n = (n + 1) / 2 * 2;
    return (uint32_t)n;
}

static qst_status rig_check(void *self, uint32_t candidate, uint64_t best_ns, double slow_factor, qst__checked *out,
                            qst_error *err)
{
    rig_self  *r = self;
    tried     *t = &r->tried[candidate];
    uint64_t   start = qst__now(&r->site->ctx->clock);
    qst_status status;

    memset(out, 0, sizeof *out);
    status = contact(r, t, best_ns, slow_factor, out, err);
    if (status != QST_OK)
        return status;
    t->repeats = repeats_for(r, out->first_ns);
    if (r->site->ctx->settings->verify)
        status = judge(r, candidate, err);
    out->verify_ns = qst__now(&r->site->ctx->clock) - start;
    out->verify_ns -= out->build_ns < out->verify_ns ? out->build_ns : out->verify_ns;
    atomic_fetch_add(&r->site->ctx->verify_ns, out->verify_ns);
    return status;
}

/* The bracket: `repeats` runs back to back between two stamps of the key's ruler. */
static qst_status bracket(rig_self *r, tried *t, uint64_t *span, uint64_t *host, qst_error *err)
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
        bool events = r->ruler == QST__RULER_EVENTS;
        status = qst__way_enqueue(t->main, r->site, queue, true, r->main.operand, 0, NULL,
                                  events && i + 1 == t->repeats ? &to : NULL, events && i == 0 ? &from : NULL, err);
    }
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

static qst_status rig_sample(void *self, uint32_t candidate, uint64_t *ns, qst_error *err)
{
    rig_self  *r = self;
    tried     *t = &r->tried[candidate];
    uint64_t   span = 0, host = 0, start = qst__now(&r->site->ctx->clock);
    cl_int     code;
    qst_status status = qst__trial_reset(&r->main, err);

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
    if (status == QST_OK && !*ns)
        status = qst__fail(err, QST_E_TIMEOUT, "rig", "a bracket of %u runs has no length", t->repeats);
    atomic_fetch_add(&r->site->ctx->sample_ns, qst__now(&r->site->ctx->clock) - start);
    return status;
}

static void drop_way(rig_self *r, qst__way *way)
{
    if (way)
        qst__way_account(way, r->site->ctx);
    qst__way_destroy(way, &r->site->ctx->alloc);
}

static void rig_close(void *self)
{
    rig_self *r = self;
    uint32_t  i;

    if (r->main.queue) /* it was opened */
        clFinish(r->main.queue);
    for (i = 0; r->tried && i < r->shelf->set->model.n_candidates; i++) {
        drop_way(r, r->tried[i].main);
        drop_way(r, r->tried[i].second);
        drop_way(r, r->tried[i].real);
        memset(&r->tried[i], 0, sizeof r->tried[i]);
    }
    drop_way(r, r->fallback);
    drop_way(r, r->fallback_second);
    r->fallback = r->fallback_second = NULL;
    if (r->evictor)
        clReleaseMemObject(r->evictor);
    r->evictor = NULL;
    qst__trial_finish(&r->main);
    qst__trial_finish(&r->second);
    qst__trial_finish(&r->real);
}

qst_status qst__rig_create(qst__rig *rig, qst__route *route, qst_error *err)
{
    const qst__alloc *alloc = &route->shelf->site->ctx->alloc;
    rig_self         *r = qst__zalloc(alloc, sizeof *r);

    if (r) {
        r->route = route;
        r->shelf = route->shelf;
        r->site = route->shelf->site;
        r->tried = qst__zalloc_array(alloc, route->shelf->set->model.n_candidates + 1, sizeof *r->tried);
    }
    if (!r || !r->tried) {
        qst__free(alloc, r);
        return qst__fail(err, QST_E_NOMEM, "rig", "no memory to tune");
    }
    rig->self = r;
    rig->open = rig_open;
    rig->prepare = rig_prepare;
    rig->check = rig_check;
    rig->sample = rig_sample;
    rig->close = rig_close;
    return QST_OK;
}

void qst__rig_destroy(qst__rig *rig)
{
    rig_self         *r = rig->self;
    const qst__alloc *alloc;

    if (!r)
        return;
    alloc = &r->site->ctx->alloc;
    rig_close(r);
    qst__free(alloc, r->tried);
    qst__free(alloc, r);
    memset(rig, 0, sizeof *rig);
}
