/* SPDX-License-Identifier: MIT
 *
 * launch_bench.h: a recipe over two buffers of 64 numbers, 5 and 6, the steps that tests put into it, and its runner.
 */
#ifndef QST_TESTS_LAUNCH_BENCH_H
#define QST_TESTS_LAUNCH_BENCH_H

#include "cl/launch.h"
#include "support/cl_fixture.h"

/* Kernels put, spread, gather, judge and fixed; each step has ITEMS work-items. */
extern const char     source[];
extern const uint32_t type_bytes[2];

enum { ITEMS = 8 };

typedef struct bench {
    cl_fixture  *fixture;
    qst__arena   arena;
    qst__recipe  recipe;
    qst_steps    steps;
    qst__runner *runner;
    cl_mem       buffers[2];
    qst_mem      operands[2];
} bench;

bench open_bench(cl_fixture *fixture, bool judge);
void  close_bench(bench *b);

/* A step of its own; operand 0 := value + index; operand 0 := 3 · operand 1 + 1 through a workspace. */
void add(bench *b, const char *entry, uint32_t n_args, const qst_arg *args, uint64_t local);
void add_put(bench *b, uint32_t value);
void add_chain(bench *b);

/* Builds the source and makes the runner, which takes the recipe over. */
qst_status ready(bench *b, qst_error *err);

/* A call on the queue, for a test to change, and one that must succeed. */
qst__go go_on(const bench *b, cl_command_queue queue);
void    run_ok(bench *b, const qst__go *go);

#endif
