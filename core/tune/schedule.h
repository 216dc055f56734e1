/* SPDX-License-Identifier: MIT
 *
 * schedule.h: the state of one tuning, and one round of it. Internal to tune/: tuner.c makes it and goes from round
 * to round; schedule.c contacts, sampling.c samples, final.c says who is sampled on.
 *
 * A round: the candidates that are open (not tried yet, or left with too few samples by a budget) are contacted in
 * order of their estimate; then the live ones are sampled round robin, forwards and backwards in turn, so that a
 * clock that drifts one way does not favour a place in the order.
 *
 * Budgets. The time of checks and samples counts against one, builds against the other. They are looked at between
 * candidates and between sampling rounds; what is left of the round is then BUDGET. A budget ends nothing before
 * something right is there: it makes the fallback the next to be contacted, and where that fails too, the others
 * follow in spite of it. A resumed tuning contacts at least one candidate besides the reigning one.
 */
#ifndef QST_TUNE_SCHEDULE_H
#define QST_TUNE_SCHEDULE_H

#include "tune/compare.h"
#include "tune/tuner.h"

#define QST__NOBODY (~0u)

typedef struct qst__schedule {
    const qst__task   *task;
    qst__verdict      *verdict;
    const qst__rounds *rounds;
    uint32_t           n; /* candidates; each array below has so many */

    qst__samples        *samples;  /* of this tuning alone: what earlier ones took is not compared with them */
    const qst__samples **views;    /* views[i] = &samples[i] */
    uint64_t            *first_ns; /* its clocked first run in this tuning */
    bool                *live;
    bool                *leaving;   /* scratch of the elimination */
    bool                *contacted; /* in this tuning */
    uint32_t            *turns;     /* samples asked for, valid or not, since the last contact of anyone */
    uint32_t            *allowed;   /* so many turns at most, as things stand */
    uint32_t            *queue;     /* the round's open ones while contacting; then scratch */
    uint32_t            *place;     /* in the fit; QST__NOBODY: not in it */

    qst__fit fit;    /* of those that were live after the last sampling round */
    uint32_t leader; /* the fastest of these */

    uint32_t reigning;       /* winner of an earlier verdict, contacted before all others; QST__NOBODY */
    uint32_t n_contacted;    /* without the reigning one */
    bool     sole;           /* one candidate in all rounds: verified, not timed */
    bool     roofed;         /* by the roof: nothing more is built */
    bool     compared;       /* after that, those that were tried to the end */
    bool     spent;          /* ended by a budget */
    bool     unroofed;       /* an earlier tuning was ended by a roof that is withdrawn: who was timed is so again */
    bool     shortened;      /* runs are long: the rounds of all are */
    bool     fallback_right; /* it was found right in this tuning, whether it could be timed or not */

    qst_status halted; /* QST_OK, or why nothing more can be tried now: see `unable` in rig.h */
    qst_error  why;

    uint32_t min, max, final, confirm; /* samples */
    uint64_t limit_ns;                 /* roof, 0 where it does not end rounds */
    uint64_t budget_ns, build_budget_ns;
    uint64_t spent_ns, built_ns;
    uint64_t roofed_ns;  /* spent_ns when it was roofed */
    uint64_t sampled_ns; /* of spent_ns: n_sampled samples */
    uint32_t n_sampled;
    uint32_t clock_round; /* number of the last sampling round; goes on from an earlier verdict's */
} qst__schedule;

/* Fills schedule->queue with the round's open candidates in order of contact; returns how many there are. */
uint32_t qst__schedule_open(qst__schedule *schedule, uint32_t round);

/* Contacts the first n of the queue, samples, eliminates; all results are in the verdict's findings. */
void qst__schedule_run(qst__schedule *schedule, uint32_t n);

/* Shared by its parts, schedule.c (contact), sampling.c and final.c.
 *   live       how many are live; the last two of them in `last`
 *   best       least time that a live candidate has shown in this tuning; 0: none
 *   spent      is the budget of checks and samples used up?
 *   confirmed  has it enough samples under the roof?
 *   roof       ends the search where the candidate is confirmed
 *   goes_on    no roof, or runs so short that those that were built are compared all the same?
 *   sample     one sample; E_TIMEOUT: no valid time, the candidate stays; other failures drop it
 *   sampling   the rounds after first contact */
uint32_t   qst__schedule_live(const qst__schedule *schedule, uint32_t last[2]);
uint64_t   qst__schedule_best(const qst__schedule *schedule);
bool       qst__schedule_spent(const qst__schedule *schedule);
bool       qst__schedule_confirmed(const qst__schedule *schedule, uint32_t candidate);
void       qst__schedule_roof(qst__schedule *schedule, uint32_t candidate);
bool       qst__schedule_goes_on(const qst__schedule *schedule);
void       qst__schedule_commit(const qst__schedule *schedule, uint32_t candidate);
qst_status qst__schedule_sample(qst__schedule *schedule, uint32_t candidate, uint32_t round);
void       qst__schedule_sampling(qst__schedule *schedule);

/* The outcome of a candidate whose rig call of that stage failed. */
enum { QST__STAGE_PREPARE, QST__STAGE_CHECK, QST__STAGE_SAMPLE };
uint32_t qst__schedule_outcome(int stage, qst_status status);

static inline qst__finding *qst__schedule_finding(const qst__schedule *schedule, uint32_t candidate)
{
    return &schedule->verdict->findings[candidate];
}

/* final.c: fills allowed[], all zero, with how many turns contenders and leader may take; false: nobody goes on. */
bool qst__final_allow(const qst__schedule *schedule);

/* Says of the first n of the queue why they were not contacted: roof or budget. */
void qst__schedule_leave(qst__schedule *schedule, uint32_t n);

#endif
