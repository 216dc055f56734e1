/* SPDX-License-Identifier: MIT
 *
 * jury.c: is a candidate right? By each trial in turn, and where results are compared with the fallback's, by vote on
 * whether that is right itself.
 */
#include "run/bench.h"

#include <string.h>

/* A further run of the candidate under judgement: not waited for where its events tell afterwards how long it took. */
static qst_status run_other(qst__bench *r, qst__trial *trial, qst__way *way, qst_error *err)
{
    uint64_t   host = 0, device;
    qst_status status = qst__trial_reset(trial, err);

    if (status == QST_OK && way->runner && r->site->bench_profiling && r->n_others < QST__OTHERS_MAX)
        return qst__trial_enqueue(trial, way, &r->others[r->n_others++], err);
    if (status == QST_OK)
        status = qst__trial_run(trial, way, &host, &device, err);
    r->other_ns += host;
    return status;
}

/* What stands in the results, in the second trial after a run there, is what others are compared with from now on. */
static qst_status adopt(qst__bench *r, qst__tried *t, qst_error *err)
{
    qst_status status = qst__trial_adopt(&r->main, err);

    r->outvoted = true;
    if (status == QST_OK && t->second)
        status = run_other(r, &r->second, t->second, err);
    return status == QST_OK && t->second ? qst__trial_adopt(&r->second, err) : status;
}

/* Two candidates of different plugins that agree with each other, and none of another plugin that agrees with the
 * fallback: then it is the fallback that is wrong. Only for operations without a judge, which are compared with it. */
static qst_status vote(qst__bench *r, uint32_t candidate, qst_status judged, qst_error *why)
{
    const qst__set *set = &r->shelf->set->model;
    uint32_t        i, mine = set->candidates[candidate].origin;
    qst__tried     *t = &r->tried[candidate];
    qst_error       ignored;
    qst_status      status;

    if (set->op.judge || r->outvoted || set->fallback == UINT32_MAX || mine == set->candidates[set->fallback].origin)
        return judged;
    if (judged == QST_OK)
        r->confirmed = true;
    memset(&ignored, 0, sizeof ignored);
    if (judged != QST_E_VERIFY || r->confirmed || qst__trial_sum(&r->main, &t->digest, &ignored) != QST_OK)
        return judged;
    t->differs = true;
    for (i = 0; i < set->n_candidates; i++) {
        if (!r->tried[i].differs || set->candidates[i].origin == mine || r->tried[i].digest != t->digest)
            continue;
        memset(why, 0, sizeof *why);
        status = adopt(r, t, why);
        return status != QST_OK
                   ? status
                   : qst__fail(why, QST_E_STALE, "judge", "outvoted: %s and %s agree with each other and not with it",
                               set->candidates[i].name, set->candidates[candidate].name);
    }
    return judged;
}

/* Of two runs on the second shape the second is judged: what is right once may depend on what its first run found in a
 * workspace, and the judge's own use of workspaces must not come between. */
static qst_status judge_second(qst__bench *r, const qst__tried *t, qst_error *err)
{
    qst_error  why;
    qst_status status;

    memset(&why, 0, sizeof why);
    status = run_other(r, &r->second, t->second, &why);
    if (status == QST_OK)
        status = run_other(r, &r->second, t->second, &why);
    if (status == QST_OK)
        status = qst__trial_judge(&r->second, r->fallback_second, &why);
    return status == QST_OK ? QST_OK : qst__fail(err, status, "judge", "on a second shape: %s", why.text);
}

static qst_status judge(qst__bench *r, uint32_t candidate, qst_error *err)
{
    qst__tried *t = &r->tried[candidate];
    qst_error   why;
    qst_status  status;

    memset(&why, 0, sizeof why);
    status = qst__trial_judge(&r->main, r->fallback, &why);
    status = vote(r, candidate, status, &why);
    if (status != QST_OK)
        return qst__fail(err, status, "judge", "%s", why.text);
    if (t->second)
        status = judge_second(r, t, err);
    if (status != QST_OK || !t->real)
        return status;
    status = run_other(r, &r->real, t->real, &why);
    if (status == QST_OK)
        status = qst__trial_bound(&r->real, &why);
    return status == QST_OK ? QST_OK : qst__fail(err, status, "judge", "on badly scaled reals: %s", why.text);
}

qst_status qst__bench_judge(qst__bench *r, uint32_t candidate, qst_error *err)
{
    uint64_t   start = qst__now(&r->site->ctx->clock), took;
    qst_status status;

    r->other_ns = r->n_others = 0;
    status = judge(r, candidate, err);
    took = qst__now(&r->site->ctx->clock) - start;
    while (r->n_others)
        r->other_ns += qst__trial_took(&r->others[--r->n_others]);
    atomic_fetch_add(&r->site->ctx->judge_ns, took > r->other_ns ? took - r->other_ns : 0);
    return status;
}
