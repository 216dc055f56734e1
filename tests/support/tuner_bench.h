/* SPDX-License-Identifier: MIT
 *
 * tuner_bench.h: a set of toys, a scripted rig and the verdict of a tuning over them, and short ways to look at it. */
#ifndef QST_TESTS_TUNER_BENCH_H
#define QST_TESTS_TUNER_BENCH_H

#include "support/scripted_rig.h"

typedef struct bench {
    qst__alloc    alloc;
    qst__set      set;
    scripted_rig  rig;
    scripted_task task;
    qst__verdict  verdict;
    qst_error     err;
} bench;

/* Sets up n candidates with their scripts; `specs` and `scripts` must outlive the bench. */
void start(bench *b, toy_spec *specs, const rig_script *scripts, uint32_t n);
/* Asserts that the rig was closed, given back and never misused. */
void finish(bench *b);

/* Empties the log and tunes, from what the verdict already holds. */
qst_status tune(bench *b);

/* What the verdict says of a candidate, by its index in the set. */
const char *outcome(const bench *b, uint32_t candidate);
const char *why(const bench *b, uint32_t candidate); /* "": nothing */
uint32_t    samples(const bench *b, uint32_t candidate);
const char *winner(const bench *b); /* its variant; "": nobody */

#endif
