/* SPDX-License-Identifier: MIT
 *
 * tuner.h: tunes one key: rounds, first contact, samples, decision. Policy only; no OpenCL, no clock of its own.
 *
 * Order of things for a round: each candidate in order of its estimate (unknown ones first, in the order of
 * registration) is pruned by estimate, prepared, checked, and sampled once; then round robin over the live ones,
 * forwards and backwards in turn, with elimination and convergence as model/stats.h says, and the end by roof. When all
 * live ones have converged, or have had max_samples, comes the final (final.c): those that may be faster than the leader
 * are sampled on with it until none may, up to QST__FINAL_SAMPLES, on a noisy host up to QST__SAMPLES_MAX, and within
 * the purse. A round that gave a valid time ends the tuning. A sole candidate (one in all rounds that may run) is
 * verified, not timed.
 *
 * An earlier, partial verdict is gone on with: its findings stay, its winner is contacted first and sampled alongside
 * those it left out; what it left with fewer than min_samples is sampled again, too. Budgets: schedule.h.
 */
#ifndef QST_TUNE_TUNER_H
#define QST_TUNE_TUNER_H

#include "base/clock.h"
#include "base/settings.h"
#include "model/key.h"
#include "model/rounds.h"
#include "model/verdict.h"
#include "tune/rig.h"

/* Numbers that decide and are not configuration. */
#define QST__ROOFED_LOOK_NS 1000000000u /* of checks and samples after the roof: of who is built already */
#define QST__SLOW_FACTOR    5.0         /* first contact over this times the best: dropped before it is verified */
/* An estimate under this is never too bad: most of it is what a launch may cost, of which estimates know little. */
#define QST__PRUNE_LEAST_NS 100000.0
#define QST__LONG_NS        4000000u /* a first run that lasts so long tells as much as a sample */
#define QST__FINAL_SAMPLES  21u      /* those that may still win take so many; more only on a noisy host */
/* All checks and samples of a tuning cost no more than so many runs of the best, or, where these are short, so long; what
 * has no time yet, and the rounds of all, are not held up by it. */
#define QST__PURSE_RUNS 80u
#define QST__PURSE_NS   800000000u
#define QST__TIE_FLOOR  0.01 /* a ratio nearer to 1 than this, whose doubt is no more, is settled */

typedef struct qst__task {
    const qst__alloc    *alloc;
    const qst__log      *log;
    const qst__clock    *clock;
    const qst__set      *set;
    const qst_device    *device;
    const qst__key      *key;
    const void          *problem;   /* normal form, as it is timed: for estimates and who can run at all */
    uint32_t             class_bit; /* QST_CLASS_… that the problem asks for */
    const qst__settings *settings;
    const qst__rig      *rig;
    const bool          *suspect;  /* per candidate: contacted after all others of its round; NULL: none is */
    uint64_t             limit_ns; /* roof; 0: none */
    /* Called when a candidate's contact has ended, when it drops out later, and once at the end (candidate ~0). The
     * verdict is in order by medians, and PARTIAL until the end: stored, it survives our death. NULL: no */
    void (*commit)(void *user, const qst__verdict *verdict, uint32_t candidate);
    /* Held around check and sample, not around prepare: one timing per device. NULL: none needed */
    void (*lease)(void *user, bool take);
    /* How long this thread has waited for builds, from any beginning. NULL: it is not known */
    uint64_t (*waited)(void *user);
    void *user;
} qst__task;

/* `verdict`: initialised for the set, or an earlier partial one of the same set. OK: it has a winner (maybe
 * PARTIAL). E_NOTFOUND: no candidate gave a right result; the findings say why. Others: E_NOMEM, what open failed
 * with. */
qst_status qst__tune(const qst__task *task, qst__verdict *verdict, qst_error *err);

/* Can any candidate of the rounds run the problem? Where none can there is nothing to open, build or measure. */
bool qst__tune_possible(const qst__task *task, const qst__rounds *rounds);

/* recheck.c: does a PRIOR verdict still hold here? The first of its order that passes the judge is sampled twice; within
 * QST__PRIOR_FACTOR of its stored median the verdict stands as it is, PRIOR cleared. Candidates that fail on the way
 * get their outcome and fall out of the order. E_STALE: nothing of it holds, tune from scratch. */
#define QST__PRIOR_FACTOR 1.3
qst_status qst__tune_recheck(const qst__task *task, qst__verdict *verdict, qst_error *err);

/* decide.c: fills verdict->order: the best first. Winner: the least level that fits all samples, its doubt
 * allowed for; within the noise (compare.h) it is a tie, settled by fewer launches, less workspace, name. Where the roof ended the
 * comparison, only those with most samples under it may win. Then the other right ones by median time, then VERIFIED ones by
 * estimate. Deterministic in the findings; used by --replay too. Of more finalists than 64 the fastest by median are
 * compared. n log n for n findings. */
void qst__decide(qst__verdict *verdict);
/* While a tuning goes on: brings one candidate, whose finding has changed, to its place by median, estimate and name. */
void qst__decide_place(qst__verdict *verdict, uint32_t candidate);

/* roof.c: ns under which a time is good enough (behaviour 6.1); 0: no limit, or one that is a launch for a
 * quarter or more. Peaks ≤ 0 or not finite are not used. */
uint64_t qst__roof(const qst_work *work, double ops_per_s, double bytes_per_s, double overhead_ns, uint32_t level);
/* The part of the peaks that is good enough at a level; 0: no part is. */
double qst__roof_part(uint32_t level);
/* The same for a stated part of the peaks; 1: what can be attained at all. */
uint64_t qst__roof_at(const qst_work *work, double ops_per_s, double bytes_per_s, double overhead_ns, double part);

#endif
