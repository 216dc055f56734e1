/* SPDX-License-Identifier: MIT
 *
 * launch-state.h: a runner from within, for launch.c, which makes it and enqueues one step, and chain.c, which enqueues
 * several. */
#ifndef QST_CL_LAUNCH_STATE_H
#define QST_CL_LAUNCH_STATE_H

#include "cl/kernel-pool.h"
#include "cl/launch.h"

/* An argument that every enqueue sets. */
typedef struct varying {
    uint16_t arg;
    uint16_t index; /* operand, workspace */
    uint16_t kind;
    uint16_t shift; /* offset: log2 of the element's bytes */
} varying;

/* A step ready to go. varying[] holds operands, then offsets, then the rest. */
typedef struct bound {
    uint32_t         n_operands, n_offsets, n_rest;
    uint32_t         dims;
    const size_t    *global;
    const size_t    *local; /* NULL: the driver's choice */
    varying          varying[QST_ARGS_MAX];
    qst__pool        pool;
    _Atomic uint64_t calls; /* a call of another operation: how often it was made */
} bound;

struct qst__runner {
    const qst__alloc *alloc;
    bool              plain; /* one step, no workspace */
    uint32_t          n_steps;
    qst__arena       *arena;
    qst__cl_counters *counters;
    char             *who;
    qst__recipe       recipe;
    bound             steps[]; /* n_steps */
};

/* Enqueues a step of kernels. blocks: the workspaces. */
qst_status qst__runner_step(qst__runner *runner, uint32_t step, const qst__go *go, qst__block *const *blocks,
                            cl_uint n_wait, const cl_event *wait_list, cl_event *event, qst_error *err);

/* chain.c: the same as qst__runner_enqueue, where there is more than one step, a workspace, or a call. */
qst_status qst__runner_chain(qst__runner *runner, const qst__go *go, qst_error *err);

#endif
