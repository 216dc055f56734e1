/* SPDX-License-Identifier: MIT
 *
 * rig.h: what measures. The tuner is policy over this interface; run/rig implements it on a device, the tests script
 * it. One rig serves one tuning of one key: open, then any of prepare, check and sample per candidate, then close.
 */
#ifndef QST_TUNE_RIG_H
#define QST_TUNE_RIG_H

#include "base/base.h"

/* How times are taken: the same way for all candidates of a key. */
enum { QST__RULER_EVENTS, QST__RULER_MARKERS, QST__RULER_HOST };

/* What preparing a candidate gave. `unable`: it failed, and so would any other now: nothing builds on this machine (a full
 * disk). Nothing is held against it, and the tuning ends with that error. */
typedef struct qst__prepared {
    uint64_t build_ns;  /* programs built, libraries opened; 0 where all was there */
    uint32_t launches;  /* of one execution; 1 for a vendor call */
    uint64_t workspace; /* bytes */
    bool     unable;
} qst__prepared;

/* What first contact and verification gave. `unable` as above. */
typedef struct qst__checked {
    uint64_t build_ns;  /* what the first launch cost over the second: some drivers compile late */
    uint64_t first_ns;  /* the execution that was clocked */
    uint64_t verify_ns; /* inputs, judge, second shape */
    bool     unable;
} qst__checked;

typedef struct qst__rig {
    void *self;
    /* Makes inputs for the problem. `ruler` tells how times will be taken. */
    qst_status (*open)(void *self, uint32_t *ruler, qst_error *err);
    /* can_run (E_UNSUPPORTED with the reason), then programs, kernels, workspaces. E_BUILD with the log, E_CL, … */
    qst_status (*prepare)(void *self, uint32_t candidate, qst__prepared *out, qst_error *err);
    /* First contact, clocked, then the judge. best_ns: the best so far or 0. E_REFUSED: slower than slow_factor ×
     * best_ns, not verified. E_VERIFY: wrong, the text names the first wrong element. E_STALE: what results are compared
     * with was wrong itself, the text says how that is known; all that were judged by it are judged anew. E_CL: does not
     * launch. */
    qst_status (*check)(void *self, uint32_t candidate, uint64_t best_ns, double slow_factor, qst__checked *out,
                        qst_error *err);
    /* One sample: ns of one execution (the bracket's time over its repeats), after which the result's digest was
     * found as expected (E_VERIFY where not). E_TIMEOUT: no valid time. */
    qst_status (*sample)(void *self, uint32_t candidate, uint64_t *ns, qst_error *err);
    void (*close)(void *self);
    /* Would `prepare` find all built, so that to look at the candidate costs its runs alone? NULL: not known of any. Who asks
     * spares builds: until the rig is opened again none is begun ahead of need any more. */
    bool (*ready)(void *self, uint32_t candidate);
} qst__rig;

#endif
