/* SPDX-License-Identifier: MIT
 *
 * rounds.h: the set ordered for a key: which candidates are tried together, and which only if these all fail.
 *
 * Groups of equal priority merge into one level. One (level, bucket of equal priority inside it) is released per
 * round, highest first; the next only when no candidate of the round gave a valid time. Negative priorities skip:
 * a negative membership for that group only, a negative group for its memberships only. A candidate in several
 * groups comes out once, through the highest. Ungrouped candidates join the first round, whichever it is, and stand
 * first in it: the first that a group has somebody for, or one of their own where no group has. After all levels
 * comes one last-resort round of the candidates that are only POOR here (ungrouped ones too; one whose every
 * membership is negative is skipped like any other), then, where it has not come out yet, a round of the fallback
 * alone. Inside a round the order is that of registration.
 *
 * What is impossible (supports says UNSUPPORTED, or the class does not suffice) or forbidden (pin, deny) is left out
 * before the rounds are made; `why` keeps the reason.
 */
#ifndef QST_MODEL_ROUNDS_H
#define QST_MODEL_ROUNDS_H

#include "model/set.h"

enum {
    QST__SUPPORT_OK,
    QST__SUPPORT_POOR,
    QST__SUPPORT_NO,
    QST__SUPPORT_CLASS,
    QST__SUPPORT_REFUSED,
    QST__SUPPORT_LAST /* the fallback where others are pinned: the round of its own after all others, no level */
};

typedef struct qst__support {
    uint32_t answer; /* QST__SUPPORT_… */
    char     why[120];
} qst__support;

/* Asks every candidate: class, pin and deny (settings NULL: none), supports(). `out`: one per candidate. The
 * fallback is never refused by pin, but may be denied. */
void qst__support_of(const qst__set *set, const qst_device *device, const qst_key *key, uint32_t class_bit,
                     const qst__settings *settings, qst__support *out);

typedef struct qst__rounds {
    const qst__alloc *alloc;
    uint32_t         *order; /* candidate indices, round after round */
    uint32_t         *start; /* n_rounds + 1 positions in order */
    uint32_t          n_rounds;
    uint32_t         *round_of; /* per candidate: its round from 1, 0: in none */
} qst__rounds;

qst_status qst__rounds_init(qst__rounds *rounds, const qst__alloc *alloc, const qst__set *set, const qst_device *device,
                            const qst_key *key, const qst__support *support);
void       qst__rounds_finish(qst__rounds *rounds);

/* Why a candidate is in no round though it is supported: every membership negative. Static text, NULL: it is in one, or
 * not supported. */
const char *qst__rounds_skip_reason(const qst__set *set, const qst__rounds *rounds, const qst__support *support,
                                    uint32_t candidate);

#endif
