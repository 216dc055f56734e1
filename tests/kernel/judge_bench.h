/* SPDX-License-Identifier: MIT
 *
 * judge_bench.h: runs the steps of matmul's judge or of its trivial candidate on the first device there is, over the
 * buffers of a problem. For tests with cmocka: what goes wrong fails the test.
 */
#ifndef TEST_KERNEL_JUDGE_BENCH_H
#define TEST_KERNEL_JUDGE_BENCH_H

#include "judge_data.h"

#include <CL/cl.h>
#include <quernstone/kit.h>

typedef struct judge_runner {
    qst_steps         steps; /* first: the callbacks get its address */
    cl_context        context;
    cl_command_queue  queue;
    cl_device_id      id;
    qst_device        device;
    const qst_matmul *problem;
    cl_mem            buffer[BUFFERS];
    cl_program        programs[128];
    const char       *options[128];
    const void       *texts[128];
    int               n_programs;
    int               judging; /* else the trivial candidate */
} runner;

/* cmocka group functions: *state is a runner. */
int setup(void **state);
int teardown(void **state);

/* The test as on a CPU, then as on a GPU. */
void both_forms(void **state, void (*test)(runner *));

/* The problem and its buffers to the device. */
void upload(runner *r, const data *d);
/* One phase of the judge over them; fresh: with an empty finding. */
void phase(runner *r, uint32_t which, uint32_t *finding, int fresh);
void read_back(runner *r, int slot, uint8_t *to, size_t bytes);

#endif
