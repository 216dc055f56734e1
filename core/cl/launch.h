/* SPDX-License-Identifier: MIT
 *
 * launch.h: a recipe bound to kernels, ready to be enqueued many times from many threads.
 *
 * Each step has a small lock-free pool of kernel objects whose constant arguments (values, local memory) are set
 * once; an enqueue borrows one, sets operands, offsets and workspaces, enqueues, and gives it back. One cl_kernel is
 * never used by two threads at a time. Steps of a call run in order: by the queue where it is in order, else chained
 * by events. On an in-order queue no event is made unless the caller wants one or a workspace must remember it.
 */
#ifndef QST_CL_LAUNCH_H
#define QST_CL_LAUNCH_H

#include "cl/arena.h"
#include "cl/program.h"
#include "cl/recipe.h"

typedef struct qst__runner qst__runner;

/* What an enqueue needs besides the runner. `operands` are the normal form's; what only a judge sees comes in
 * `before` and `finding`. */
typedef struct qst__go {
    cl_command_queue queue;
    bool             in_order;
    const qst_mem   *operands;
    const cl_mem    *before;  /* judge: by operand index, laid out as the operand; NULL entries allowed */
    cl_mem           finding; /* judge */
    cl_uint          n_wait;
    const cl_event  *wait_list;
    cl_event        *event; /* of the last step; NULL: none wanted */
    cl_event        *first; /* of the first step, for timing; NULL: none wanted; may come out equal to *event's, or NULL
                               where the driver does not let it be kept */
    uint32_t *touched;      /* NULL: not wanted; after a failure, bits of the operands that may be used all the same, by
                                 what was enqueued before it */
    uint32_t  depth;        /* of the calls from steps that lead here */
} qst__go;

/* programs[i]: the built program that the recipe's steps name by index i. Kernels are created (and their work-group
 * limits checked against each step's local size) here. type_bytes[i]: element size of operand i, a power of two, for
 * offsets. Takes over the contents of the recipe, which has been checked, whatever is returned. `arena` serves the
 * workspaces and, as the programs do, must outlive the runner. counters: NULL is fine. */
qst_status qst__runner_create(qst__runner **runner, const qst__alloc *alloc, qst__recipe *recipe,
                              qst__program *const *programs, uint32_t n_programs, const uint32_t *type_bytes,
                              cl_device_id device, qst__arena *arena, qst__cl_counters *counters, const char *who,
                              qst_error *err);
void       qst__runner_destroy(qst__runner *runner);

/* [any thread] E_CL and E_NOMEM name the step, the kernel and the call. Steps before the failed one are then in the
 * queue already and will run; their events are released, and only the queue's order tells when they have ended;
 * *touched has the bits of the operands that they use.
 * *event and *first are written on success alone. */
qst_status qst__runner_enqueue(qst__runner *runner, const qst__go *go, qst_error *err);

uint32_t qst__runner_launches(const qst__runner *runner);  /* kernels of one execution */
uint64_t qst__runner_workspace(const qst__runner *runner); /* bytes */
uint64_t qst__runner_runs(const qst__runner *runner);      /* executions so far; counted without a locked instruction */
uint64_t qst__runner_kernels(const qst__runner *runner);   /* kernels so far; counters->kernels gets them at destroy */

#endif
