/* SPDX-License-Identifier: MIT
 *
 * Who tunes a key: the state changes only under the claim's lock and is published by a release store, so that
 * whoever reads READY or PARTIAL also sees the verdict that was there before. */
#include "tune/claim.h"

void qst__claim_init(qst__claim *claim)
{
    atomic_init(&claim->state, QST__KEY_ABSENT);
    qst__lock_init(&claim->lock);
    qst__cond_init(&claim->cond);
}

void qst__claim_finish(qst__claim *claim)
{
    qst__cond_finish(&claim->cond);
    qst__lock_finish(&claim->lock);
}

int qst__claim_state(const qst__claim *claim)
{
    return atomic_load_explicit(&claim->state, memory_order_acquire);
}

static void publish(qst__claim *claim, int state)
{
    atomic_store_explicit(&claim->state, state, memory_order_release);
}

qst_status qst__claim_take(qst__claim *claim, bool wait, bool retake)
{
    qst_status status = QST_OK;
    int        state;

    qst__lock_take(&claim->lock);
    while ((state = qst__claim_state(claim)) == QST__KEY_TUNING && wait)
        qst__cond_wait(&claim->cond, &claim->lock);
    if (state == QST__KEY_READY)
        status = QST_NOTHING;
    else if (state == QST__KEY_TUNING || (state == QST__KEY_PARTIAL && !retake))
        status = QST_E_BUSY;
    else
        publish(claim, QST__KEY_TUNING);
    qst__lock_give(&claim->lock);
    return status;
}

void qst__claim_give(qst__claim *claim, int state)
{
    qst__lock_take(&claim->lock);
    publish(claim, state);
    qst__cond_wake(&claim->cond);
    qst__lock_give(&claim->lock);
}
