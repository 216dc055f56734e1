/* SPDX-License-Identifier: MIT
 *
 * recheck.c: a verdict from elsewhere is a prior: its best is judged and sampled twice here, and nothing else. */
#include "tune/schedule.h"

#include <stdbool.h>
#include <string.h>

#define SAMPLES 2u

static void lease(const qst__task *task, bool take)
{
    if (task->lease)
        task->lease(task->user, take);
}

/* The least of two samples, 0 where one fails; then `stage` and `status` say how, and `unable` that others would fail too. */
static uint64_t measure(const qst__task *task, uint32_t candidate, int *stage, qst_status *status, bool *unable,
                        qst_error *err)
{
    const qst__rig *rig = task->rig;
    qst__prepared   prepared = {0};
    qst__checked    checked = {0};
    uint64_t        ns, best = 0;

    *stage = QST__STAGE_PREPARE;
    *status = rig->prepare(rig->self, candidate, &prepared, err);
    *unable = prepared.unable;
    if (*status < 0)
        return 0;
    lease(task, true);
    *stage = QST__STAGE_CHECK;
    *status = rig->check(rig->self, candidate, 0, QST__SLOW_FACTOR, &checked, err);
    *unable = checked.unable;
    for (uint32_t i = 0; i < SAMPLES && *status >= 0; i++) {
        *stage = QST__STAGE_SAMPLE;
        *status = rig->sample(rig->self, candidate, &ns, err);
        if (*status >= 0 && (!best || ns < best))
            best = ns;
    }
    lease(task, false);
    return *status < 0 ? 0 : best;
}

/* How long it takes now tells that the answer does not hold. With the caches as they were it may be quicker here; where
 * they are not, quicker means that another may be quicker still. */
static bool is_stale(const qst__task *task, const qst__verdict *verdict, uint64_t before, uint64_t now)
{
    bool cold = task->settings->cache == QST__CACHE_COLD, was_cold = (verdict->flags & QST__VERDICT_COLD) != 0;

    if (!before)
        return false;
    return (double)now > QST__PRIOR_FACTOR * (double)before ||
           (cold != was_cold && (double)before > QST__PRIOR_FACTOR * (double)now);
}

/* The first of the order that is right here; the others fall out of it. */
static qst_status check_in_order(const qst__task *task, qst__verdict *verdict, qst_error *err)
{
    uint32_t gone = 0;

    for (; gone < verdict->n_order; gone++) {
        qst__finding *f = &verdict->findings[verdict->order[gone]];
        qst_error     why = {0};
        int           stage;
        bool          unable;
        qst_status    status;
        uint64_t      before = f->samples.count ? qst__samples_median(&f->samples) : 0;
        uint64_t      now = measure(task, verdict->order[gone], &stage, &status, &unable, &why);
        if (status >= 0) {
            if (is_stale(task, verdict, before, now))
                return qst__fail(err, QST_E_STALE, "tune", "%s takes %llu ns here, not %llu", f->name,
                                 (unsigned long long)now, (unsigned long long)before);
            memmove(verdict->order, verdict->order + gone, (verdict->n_order - gone) * sizeof *verdict->order);
            verdict->n_order -= gone;
            return QST_OK;
        }
        if (unable)
            return qst__pass(err, &why);
        f->outcome = qst__schedule_outcome(stage, status);
        qst__finding_why(f, verdict->alloc, "%s", qst__error_text(&why, status));
    }
    return qst__fail(err, QST_E_STALE, "tune", "%s: nothing of an earlier answer holds here", task->set->op.name);
}

qst_status qst__tune_recheck(const qst__task *task, qst__verdict *verdict, qst_error *err)
{
    const qst__rig *rig = task->rig;
    uint32_t        ruler;
    qst_status      status;

    if (!verdict->n_order)
        return qst__fail(err, QST_E_STALE, "tune", "%s: an earlier answer without a winner", task->set->op.name);
    status = rig->open(rig->self, &ruler, err);
    if (status < 0)
        return status;
    status = check_in_order(task, verdict, err);
    rig->close(rig->self);
    if (status != QST_OK)
        return status;
    verdict->flags &= ~(QST__VERDICT_PRIOR | QST__VERDICT_COLD);
    verdict->flags |= task->settings->cache == QST__CACHE_COLD ? QST__VERDICT_COLD : 0;
    verdict->judge_revision = task->set->op.judge ? task->set->op.judge->revision : 0;
    if (task->commit)
        task->commit(task->user, verdict, QST__NOBODY);
    return QST_OK;
}
