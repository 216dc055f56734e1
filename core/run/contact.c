/* SPDX-License-Identifier: MIT
 *
 * contact.c: first contact: the first runs of a candidate, clocked. Who is far slower than the best is dropped here, before
 * anybody judges him; what a first run took over a second one was a build.
 */
#include "run/background.h"
#include "run/bench.h"

#define SECOND_LOOK_NS 100000000u /* a first run longer than this was no disturbance */
#define LATE_KERNEL_NS 500000000u /* that its second kernel, and each further one, may have taken to compile */

/* Is one run not enough to tell how fast it is? The device's own times leave out a late compile of the first kernel,
 * but not of a second one, say nothing where they are hidden, and one of them may have been disturbed: nobody is dropped
 * for a single short run. */
static bool doubtful(uint64_t host, uint64_t device, uint32_t launches, uint64_t best_ns, double slow_factor)
{
    if (!device)
        return host > QST__LATE_BUILD_NS;
    return best_ns && device < SECOND_LOOK_NS + (uint64_t)(launches - 1) * LATE_KERNEL_NS &&
           (double)device > slow_factor * (double)best_ns;
}

static uint64_t least_small(const qst__bench *r)
{
    uint64_t least = 0;
    uint32_t i;

    for (i = 0; i < r->shelf->set->model.n_candidates; i++)
        if (r->tried[i].small_ns && (!least || r->tried[i].small_ns < least))
            least = r->tried[i].small_ns;
    return least;
}

/* While calls go on, a slow candidate is told by the second shape, which is an eighth of the work at most: on the problem
 * itself it would hold them up eight times as long. The first of two runs may have compiled something. */
static qst_status contact_small(qst__bench *r, qst__tried *t, double slow_factor, uint64_t *ns, uint64_t *late_ns,
                                qst_error *err)
{
    uint64_t   host[2] = {0, 0}, device, least = least_small(r);
    uint32_t   i;
    qst_status status = QST_OK;

    if (!t->second || !qst__background_here(r->site->ctx))
        return QST_OK;
    for (i = 0; i < 2 && status == QST_OK; i++) {
        status = qst__trial_reset(&r->second, err);
        if (status == QST_OK)
            status = qst__trial_run(&r->second, t->second, &host[i], &device, err);
        if (status == QST_OK && (!*ns || (device ? device : host[i]) < *ns))
            *ns = device ? device : host[i];
    }
    *late_ns = host[0] > host[1] + QST__LATE_BUILD_NS ? host[0] - host[1] : 0;
    if (status == QST_OK && least && (double)*ns > slow_factor * (double)least)
        return qst__fail(err, QST_E_REFUSED, "rig",
                         "%.3f ms at first contact on a second shape, over %.0f times %.3f ms", 1e-6 * (double)*ns,
                         slow_factor, 1e-6 * (double)least);
    return status;
}

/* First contact: a run, clocked, and a second one where the first may have compiled something. */
static qst_status contact(qst__bench *r, qst__tried *t, uint64_t best_ns, double slow_factor, qst__checked *out,
                          qst_error *err)
{
    uint64_t   host, device, again = 0;
    qst_status status = qst__trial_reset(&r->main, err);

    if (status == QST_OK)
        status = qst__trial_run(&r->main, t->main, &host, &device, err);
    if (status != QST_OK)
        return status;
    out->first_ns = device ? device : host;
    if (doubtful(host, device, qst__way_launches(t->main), best_ns, slow_factor)) {
        status = qst__trial_reset(&r->main, err);
        if (status == QST_OK)
            status = qst__trial_run(&r->main, t->main, &again, &device, err);
        if (status != QST_OK)
            return status;
        again = device ? device : again;
        out->first_ns = again < out->first_ns ? again : out->first_ns;
    }
    out->build_ns += host > out->first_ns + QST__LATE_BUILD_NS ? host - out->first_ns : 0;
    qst__waits_add(&r->site->ctx->cl_counters.waits, out->build_ns, out->build_ns);
    atomic_fetch_add(&r->site->ctx->cl_counters.compiles, out->build_ns ? 1 : 0);
    if (best_ns && (double)out->first_ns > slow_factor * (double)best_ns)
        return qst__fail(err, QST_E_REFUSED, "rig", "%.3f ms at first contact, over %.0f times the best %.3f ms",
                         1e-6 * (double)out->first_ns, slow_factor, 1e-6 * (double)best_ns);
    return QST_OK;
}

qst_status qst__bench_contact(qst__bench *r, uint32_t candidate, uint64_t best_ns, double slow_factor,
                              uint64_t *small_ns, qst__checked *out, qst_error *err)
{
    qst__tried *t = &r->tried[candidate];
    qst_status  status;

    *small_ns = t->small_ns = 0;
    status = contact_small(r, t, slow_factor, small_ns, &out->build_ns, err);
    return status == QST_OK ? contact(r, t, best_ns, slow_factor, out, err) : status;
}
