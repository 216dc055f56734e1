/* SPDX-License-Identifier: MIT
 *
 * bench.h: the library's own way from a problem to a candidate's launch, without any tuning: every candidate of whatever
 * plugins the configuration loads, on the device that it names.
 */
#ifndef TEST_MATRIX_BENCH_H
#define TEST_MATRIX_BENCH_H

#include "levels.h"
#include "run/run.h"

#define REASONS 12

/* Why a candidate did not compute a point, and how often. */
typedef struct tally {
    char     text[sizeof((qst_error *)NULL)->text];
    uint32_t count;
} tally;

typedef struct account {
    uint32_t right, refused, wrong;
    tally    reasons[REASONS]; /* the last one stands for all that have no room */
} account;

typedef struct matrix_bench {
    qst_context     *ctx;
    qst_set         *set;
    cl_context       cl;
    cl_command_queue queue;
    cl_device_id     device;
    qst__site       *site;
    qst__shelf      *shelf;
    uint32_t         n;        /* candidates */
    account         *accounts; /* n, and one more of the trivial candidate */
    bool             others;   /* trivial points are another process's */
} matrix_bench;

/* False after a line on stderr. `config`: JSON; NULL: none. */
bool bench_open(matrix_bench *b, const char *config);
void bench_close(matrix_bench *b);

const char *bench_name(const matrix_bench *b, uint32_t candidate);

/* Could it compute the point, by its class, supports() and can_run()? What for a reason not, in `why`. */
bool bench_applies(const matrix_bench *b, uint32_t candidate, const point *x, const char **why);

/* Lets each of the candidates compute the point and compares: with a reference in double, and where the class is strict
 * with the fallback, bit for bit. Trivial points are the trivial candidate's, whoever is given. All is counted; what is
 * wrong is told on stderr. */
void bench_run(matrix_bench *b, const point *x, const uint32_t *candidates, uint32_t n);

/* Lets a candidate compute a problem of the caller's, and finishes. E_UNSUPPORTED with its reason. */
qst_status bench_launch(matrix_bench *b, uint32_t candidate, const qst_matmul *p, const qst_mem *operands,
                        qst_error *err);

/* Problems whose elements lie 2^31 elements or 2^32 bytes apart, by every candidate, in a buffer of 4 GiB of which next to
 * nothing is touched: in A, B and C, of f32 and of f16. Where the device or the machine has no such memory that is
 * told: false. */
bool bench_huge(matrix_bench *b, const char *only);

/* Counts a point that a candidate is not asked to compute. */
void bench_refused(matrix_bench *b, uint32_t candidate, const char *why);

#endif
