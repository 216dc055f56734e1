/* SPDX-License-Identifier: MIT
 *
 * toy.h: an operation to test with, `scale`: y := a·x over n elements. One key field, n, anchored; two groups, high
 * above low. Its candidates compute nothing: tests that use them script what measures.
 */
#ifndef QST_TESTS_TOY_H
#define QST_TESTS_TOY_H

#include "model/key.h"
#include "model/set.h"

typedef struct toy_problem {
    uint32_t size;
    uint32_t x_type, y_type;
    uint32_t x_align, y_align;
    uint32_t numerics;
    int64_t  n;
    double   a;
} toy_problem;

/* What a candidate is to be like. It is its own `user` and must outlive the set. */
typedef struct toy_spec {
    const char    *variant;
    const char    *group;    /* "high", "low"; NULL: none */
    int32_t        priority; /* inside the group */
    double         estimate; /* ns; 0: unknown */
    const char    *refuses;  /* supports() says no, for this reason */
    const char    *cannot;   /* can_run() does */
    bool           poor;     /* supports() says POOR */
    bool           fallback;
    bool           fast_only;  /* numerics class */
    qst_membership membership; /* filled by toy_add */
} toy_spec;

extern const qst_op toy_op;

/* A set with the n candidates, `scale.toy.<variant>/1`, frozen. False where a descriptor was refused. */
bool toy_set(qst__set *set, const qst__alloc *alloc, toy_spec *specs, uint32_t n);

toy_problem toy_problem_of(int64_t n);
qst__key    toy_key(const toy_problem *problem);

#endif
