/* SPDX-License-Identifier: MIT
 *
 * scripted_rig.h: a rig and a clock that do what tables say. Each call advances the clock by exact amounts and is
 * logged, so that a test asserts the exact sequence:
 *
 *     open  p:a c:a a  p:b c:b b  a b  close
 *
 * p: prepare, c: check, a bare name: a sample. `!` follows a call that did not succeed. The script of a candidate is
 * found by its index in the set, its name in the log is the variant's.
 */
#ifndef QST_TESTS_SCRIPTED_RIG_H
#define QST_TESTS_SCRIPTED_RIG_H

#include "support/toy.h"
#include "tune/tuner.h"

#define RIG_TIMEOUT 0u               /* among samples: no valid time */
#define RIG_WRONG   (UINT64_MAX)     /* among samples: the digest differs */
#define RIG_BROKEN  (UINT64_MAX - 1) /* among samples: the launch fails */

/* One candidate's script; all zero is a candidate that runs in 0 ns, so at least `samples` is given. */
typedef struct rig_script {
    qst_status  prepare; /* status and, where it failed, text of prepare */
    const char *prepare_text;
    uint64_t    build_ns;
    uint32_t    launches; /* 0 counts as 1 */
    uint64_t    workspace;
    qst_status  check; /* of check, after the first run was clocked; E_CL: before */
    const char *check_text;
    uint64_t    late_build_ns, first_ns, verify_ns; /* first_ns 0: as the first sample */
    uint64_t    samples[24];                        /* ended by a 0 that nothing follows; the last one repeats */
    uint32_t    n_samples;                          /* 0: up to the first 0 */
    bool        ready;  /* nothing is to be built for it; where none is, nothing is known of that */
    bool        unable; /* what fails of prepare and check does because nothing builds */
} rig_script;

typedef struct scripted_rig {
    qst__rig          rig;   /* give this to the task */
    qst__clock        clock; /* and this */
    const qst__set   *set;
    const rig_script *scripts;
    uint64_t          now;
    uint64_t          overhead_ns; /* of each sample beyond the time it reports */
    qst_status        open;        /* status of open */
    /* Where not NULL: instead of `samples`. k counts a candidate's samples from 0. */
    uint64_t (*draw)(struct scripted_rig *self, uint32_t candidate, uint32_t k);
    void    *user; /* of draw */
    uint32_t n_prepares, n_checks, n_samples;
    uint32_t taken[64]; /* samples of each candidate */
    bool     opened;
    int      leased;       /* takes without gives */
    bool     misused;      /* a call outside open and close, or without the lease, or prepare with it */
    char     log[4096];    /* the sequence */
    char     commits[512]; /* variants in the order of commit, `*` for the last */
    uint32_t n_commits;
} scripted_rig;

void scripted_rig_init(scripted_rig *self, const qst__set *set, const rig_script *scripts);

/* Settings as they are by default, without budgets. */
qst__settings scripted_settings(void);

/* A task over the rig with its commit and lease; problem of 1000 elements. Everything borrowed must outlive it. */
typedef struct scripted_task {
    qst__alloc    alloc;
    qst__settings settings;
    qst_device    device;
    toy_problem   problem;
    qst__key      key;
    qst__task     task;
} scripted_task;

void scripted_task_init(scripted_task *self, scripted_rig *rig);

/* splitmix64; a number of [0, 1). */
double scripted_draw(uint64_t *state);

#endif
