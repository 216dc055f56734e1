/* SPDX-License-Identifier: MIT
 *
 * run.h: one matmul on random data, from options to a checked result.
 */
#ifndef QST_TOOL_RUN_H
#define QST_TOOL_RUN_H

#include "check.h"

#include <jansson.h>

#define RUN_RUNS_MAX 100000

/* As the options say; sizes and offsets in elements. */
typedef struct run_options {
    int64_t  m, n, k, lda, ldb, ldc, offset_a, offset_b, offset_c, batch, runs, seed;
    double   alpha, beta;
    uint32_t type, type_c, numerics, broadcast; /* type_c 0: as type; broadcast: bit 0 A, bit 1 B */
    bool     transa, transb, colmajor_c, scaled, same;
} run_options;

/*   problem    text
 *   called     false: the call failed, only `problem` and `pinned` tell something
 *   outside_c  nothing around C's elements changed; inputs: nor did A and B
 *   digest     of C's buffer after the first call; `differs`: number of the first later run that gave another, 0: none
 *   pinned     [{"name", "outcome", "account"}], one for each candidate that --pin names
 *   pin_missed one of them is wrong, does not build or does not launch, or a pin names nobody */
typedef struct run_result {
    char        *problem;
    char        *winner, *barred; /* barred: verdict_barred of the winner */
    json_t      *pinned;
    bool         called, outside_c, inputs, pin_missed;
    check_result check;
    double       first_ms, min_ms, median_ms, gflops;
    uint64_t     digest;
    int          n_times, differs;
} run_result;

/* 0, or EXIT_FAILED where the call failed (after one line on stderr), the result is wrong, or a pin was missed. */
int  run_matmul(run_result *result, const device_handle *device, const qst_matmul *problem, const run_options *options,
                const args_list *pin);
void run_finish(run_result *result);

bool run_right(const run_result *result);

#endif
