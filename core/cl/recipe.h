/* SPDX-License-Identifier: MIT
 *
 * recipe.h: launches as data, recorded from a candidate's steps() and checked against the device before anything is
 * built or launched.
 */
#ifndef QST_CL_RECIPE_H
#define QST_CL_RECIPE_H

#include "base/base.h"

#include <quernstone/plugin.h>

/* A step is a kernel launch, or a call of another operation: then `op` is set, `problem` is its problem, args are its
 * operands, and whoever binds the recipe sets `target`, which the recipe's `call` understands. */
typedef struct qst__step {
    char    *op; /* NULL: a launch */
    void    *problem;
    void    *target;
    uint32_t program; /* the candidate's program index */
    uint32_t dims;
    uint32_t n_args;
    bool     driver_local; /* local size left to the driver */
    size_t   global[3];
    size_t   local[3];
    char    *entry;
    qst_arg *args;
} qst__step;

/* Runs a call's target as `go` (launch.h) says. */
struct qst__go;
typedef qst_status (*qst__call)(void *target, const struct qst__go *go, qst_error *err);

typedef struct qst__recipe {
    const qst__alloc *alloc;
    qst__step         steps[QST_LAUNCHES_MAX];
    uint32_t          n_steps;
    uint64_t          workspace[QST_WORKSPACES_MAX]; /* bytes, 0: none */
    uint32_t          n_workspaces;
    uint32_t          n_operands; /* how many operand indices are legal besides the judge's */
    bool              judge;      /* QST_JUDGE_BEFORE and QST_JUDGE_FINDING operands are legal */
    qst__call         call;       /* for steps that call */
    qst_status        failure;    /* the first refusal inside a callback */
    qst_error         why;
} qst__recipe;

/* Local memory kept free under the device's limit: PoCL aborts the process over it, drivers keep some for themselves. */
#define QST__LOCAL_SLACK 4096u

void qst__recipe_init(qst__recipe *recipe, const qst__alloc *alloc, uint32_t n_operands, bool judge);
void qst__recipe_finish(qst__recipe *recipe);

/* The callbacks to hand to steps(); they record into the recipe. */
void qst__recipe_steps(qst__recipe *recipe, qst_steps *steps);

/* Limits: at least one launch, dims 1 to 3, sizes not 0 and within the device's size_t, local sizes dividing global
 * ones and within max_group and max_group_dim, local arguments' sum within local_bytes − slack, value bytes ≤ 16,
 * operand and workspace indices in range, workspaces within max_alloc. The offset of QST_JUDGE_BEFORE + i is operand
 * i's, the finding has none. E_INVALID or E_UNSUPPORTED with the numbers. */
qst_status qst__recipe_check(const qst__recipe *recipe, const qst_device *device, const char *who, qst_error *err);

uint64_t qst__recipe_workspace(const qst__recipe *recipe); /* sum in bytes */

#endif
