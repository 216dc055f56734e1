/* SPDX-License-Identifier: MIT
 *
 * claim.h: who tunes a key. One thread holds it; the others wait or go on without.
 *
 *     ABSENT ──take──▶ TUNING ──give──▶ READY      a verdict is there
 *        ▲                │  └──give──▶ PARTIAL    a verdict is there, the next miss may take it again
 *        └────give────────┘                        nothing came of it; the next miss may take it again
 *
 * The owner gives it back on every way out, so that no key stays TUNING for ever.
 */
#ifndef QST_TUNE_CLAIM_H
#define QST_TUNE_CLAIM_H

#include "base/lock.h"

#include <quernstone/types.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { QST__KEY_ABSENT, QST__KEY_TUNING, QST__KEY_READY, QST__KEY_PARTIAL };

typedef struct qst__claim {
    _Atomic int state;
    qst__lock   lock;
    qst__cond   cond;
} qst__claim;

void qst__claim_init(qst__claim *claim);
void qst__claim_finish(qst__claim *claim);

/* [any thread, no lock] */
int qst__claim_state(const qst__claim *claim);

/* QST_OK: the caller owns it and must give it back. QST_NOTHING: it is READY, nothing to do (after waiting, too).
 * QST_E_BUSY: another thread has it and wait is false, or PARTIAL was reached while waiting and retake is false.
 * retake: also take a PARTIAL one. */
qst_status qst__claim_take(qst__claim *claim, bool wait, bool retake);
void       qst__claim_give(qst__claim *claim, int state);

#endif
