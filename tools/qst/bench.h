/* SPDX-License-Identifier: MIT
 *
 * bench.h: what the measurements of `qst bench` share: options, spreads, processes of their own.
 */
#ifndef QST_TOOL_BENCH_H
#define QST_TOOL_BENCH_H

#include "args.h"

#include <jansson.h>

/* `child` and what follows are how the command calls itself. */
typedef struct bench_options {
    int64_t     size, batches, pairs, keys;
    uint32_t    type;
    const char *child, *file;
    const char *at_platform, *at_device; /* a device by its names, and its place among those of both */
    int64_t     at;
} bench_options;

/* low, high: the median of all that could be measured lies between them, 19 times of 20. */
typedef struct bench_spread {
    double median, p25, p75, low, high;
} bench_spread;

/* Sorts. Quartiles by nearest rank; low and high by the ranks n / 2 -+ 0.98 sqrt(n), of the binomial distribution. */
bench_spread bench_spread_of(double *values, int64_t n);

/* Runs this command again as `qst bench …`, words ended by NULL, with no standard input, in a process group of its own, which
 * a terminal's signals do not reach: what it wrote to standard output (the caller frees), and its whole time from start to
 * end. Its exit code, or −1 after one line. */
int bench_child(const char *const *words, char **output, double *ms);

/* For a teller (stop.h): ends the one that runs, if one does, and what it has started. */
void bench_child_end(void);

/* The settings of `common` with a store of their own in `folder` and one candidate pinned (NULL: none), for --config of a
 * child; the caller frees. NULL after one line. */
char *bench_settings(const args_common *common, const char *folder, const char *pin);

/* first.c, filled.c: 0, or the exit code after one line. */
int first_bench(const args_common *common, const bench_options *options);
int first_child(const args_common *common, const bench_options *options); /* first_child.c: one of its own processes */
int filled_bench(const args_common *common, const bench_options *options);
/* bench_verify.c */
int verify_bench(const args_common *common, const bench_options *options);

#endif
