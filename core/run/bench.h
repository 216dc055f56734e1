/* SPDX-License-Identifier: MIT
 *
 * bench.h: the rig's own state, and its ruler: one way of taking times for all candidates of a key.
 */
#ifndef QST_RUN_BENCH_H
#define QST_RUN_BENCH_H

#include "run/trial.h"
#include "tune/rig.h"

/* A candidate bound to each trial; NULL: not yet, or it cannot run that trial's problem. */
typedef struct qst__tried {
    qst__way *main, *second, *real;
    uint32_t  repeats;
    uint64_t  small_ns; /* of a run of the second shape, of one that was found right; 0: not taken */
    bool      watched;  /* entered quarantine.h's watch, and has not left it */
    bool      differs;  /* from the fallback's result, where there is no judge; then of what it gave: */
    uint32_t  digest;
} qst__tried;

#define QST__OTHERS_MAX 4u /* two on the second shape, one on reals, one more where a vote makes it */

typedef struct qst__bench {
    qst__route  *route;
    qst__shelf  *shelf;
    qst__site   *site;
    uint32_t     depth; /* of the calls from steps that made it tune */
    uint32_t     ruler;
    uint64_t     empty_ns; /* an empty bracket of markers */
    bool         has_second;
    bool         opened;  /* at least once */
    bool         sparing; /* since it was opened it was asked who is built: no build is begun ahead of need */
    qst__trial   main, second, real;
    qst__stretch others[QST__OTHERS_MAX]; /* of the check under way: runs that the judge asked for */
    uint32_t     n_others;
    uint64_t     other_ns;                   /* those whose time is known */
    qst__way    *fallback, *fallback_second; /* for operations without a judge */
    bool         confirmed;                  /* another plugin's candidate agrees with the fallback */
    bool         outvoted;                   /* it was: others are compared with who did */
    cl_mem       evictor;                    /* tune.cache cold: written before each sample, larger than the caches */
    size_t       evictor_bytes;
    qst__tried  *tried; /* per candidate */
} qst__bench;

/* Kernel events; brackets of markers where a candidate hides its events; the host's clock where markers carry no times
 * or cost too much. */
qst_status qst__bench_ruler(qst__bench *bench, qst_error *err);

#define QST__LATE_BUILD_NS 200000u /* a first launch this much over its second one has compiled */

/* Runs the candidate for the first time, as rig.h's check says up to the judge; *small_ns: a run of the second shape, 0
 * where it had none. What was compiled late goes into out->build_ns. */
qst_status qst__bench_contact(qst__bench *bench, uint32_t candidate, uint64_t best_ns, double slow_factor,
                              uint64_t *small_ns, qst__checked *out, qst_error *err);

/* How many runs one bracket holds, for a candidate that takes first_ns. */
uint32_t qst__bench_repeats(const qst__bench *bench, uint64_t first_ns);

/* After the candidate's first run on the main trial: is it right there, and on the other trials? E_VERIFY, or E_STALE as
 * rig.h's check says. */
qst_status qst__bench_judge(qst__bench *bench, uint32_t candidate, qst_error *err);

/* rig.h's sample; self is a qst__bench. */
qst_status qst__bench_sample(void *self, uint32_t candidate, uint64_t *ns, qst_error *err);

#endif
