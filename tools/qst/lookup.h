/* SPDX-License-Identifier: MIT
 *
 * lookup.h: measures the host's cost of a call whose answer is known.
 */
#ifndef QST_TOOL_LOOKUP_H
#define QST_TOOL_LOOKUP_H

#include "bench.h"

#define LOOKUP_CALLS       100 /* calls in a batch */
#define LOOKUP_BATCHES_MAX 100000
#define LOOKUP_NAME        "matmul.app.lookup/1"

/* hand: absolute; key, plan: paired differences to it. */
typedef struct lookup_result {
    bench_spread hand, key, plan;
    int64_t      batches;
} lookup_result;

typedef void lookup_teller(const lookup_result *result, bool json);

/* Tells the result, or, told to end, that of the rounds until then. 0, or the exit code after one line. */
int lookup_measure(const args_common *common, const bench_options *options, lookup_teller *tell);

#endif
