/* SPDX-License-Identifier: MIT
 *
 * blend.h: an operation of the tests' own, made through the public calls alone: over n floats
 *     b = 0: y := a·x     b = 1: y := a·x + y     b = 2: y := max(a·x, y)
 *
 * n = 0, or a = 0 with b = 1: nothing to compute. a = b = 0: trivial, y is zeroed. With b = 1 repeated runs add, else
 * they give the same again. It has no judge, so candidates are compared with the fallback. Its key is n to the next
 * power of two, and b.
 */
#ifndef QST_TESTS_BLEND_H
#define QST_TESTS_BLEND_H

#include "support/cl_fixture.h"

#include <quernstone/quernstone.h>

typedef struct blend_problem {
    uint32_t size;
    uint32_t type;
    uint32_t x_align, y_align;
    int64_t  n;
    double   a;
    int64_t  b;
} blend_problem;

extern const qst_op blend_op;

/* Candidates, launches as data.
 *   loop     the fallback
 *   wide     four elements an item
 *   twice    two launches with a workspace of n floats
 *   off      wrong in the last element alone
 *   deaf     right for b = 0 alone: what y held is ignored
 *   even     right for even n alone
 *   past     right, but writes an element after the last as well */
extern const qst_candidate blend_loop, blend_wide, blend_twice, blend_off, blend_deaf, blend_even, blend_past;

blend_problem blend_of(int64_t n, double a, int64_t b);

/* A context without files, environment, plugins and store; `config`: JSON, NULL: none. */
qst_context *blend_context(const char *config);
/* The operation with these candidates, as many as there are before a NULL. */
qst_set *blend_set(qst_context *ctx, const qst_candidate *const *candidates);

/* x[i] = i mod 7, y[i] = i mod 5, on buffers of n elements and one more. */
typedef struct blend_case {
    blend_problem problem;
    cl_mem        x, y;
    qst_mem       operand[2];
} blend_case;

void blend_open(blend_case *c, cl_context context, cl_command_queue queue, const blend_problem *problem);
void blend_close(blend_case *c);
/* Finishes the queue; fails the test with the first element that is not what `calls` calls give. */
void blend_check(const blend_case *c, cl_command_queue queue, int calls);

/* qst_describe's JSON as text; the caller frees it. */
char *blend_describe(qst_context *ctx, const char *what);

#endif
