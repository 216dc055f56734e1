/* SPDX-License-Identifier: MIT
 *
 * matmul_case.h: one matmul on random data through the public calls, checked against a reference in double: every
 * element within the stated bound, everything outside C's elements untouched.
 */
#ifndef QST_TESTS_MATMUL_CASE_H
#define QST_TESTS_MATMUL_CASE_H

#include "support/cl_fixture.h"

#include <quernstone/quernstone.h>

typedef struct matmul_case {
    qst_matmul problem;
    int64_t    offset[3]; /* elements before A, B, C */
    float     *host[3];   /* whole buffers as they were uploaded */
    size_t     count[3];  /* elements of the buffers */
    cl_mem     mem[3];
} matmul_case;

/* Buffers for the problem: C has guard elements around it; where beta is 0 all of C is NaN. */
void matmul_case_open(matmul_case *c, cl_fixture *cl, const qst_matmul *problem, const int64_t offset[3]);
void matmul_case_close(matmul_case *c);

/* Uploads C's first content again. */
void matmul_case_reset(matmul_case *c, cl_fixture *cl);

/* The operands as a call takes them. */
qst_mem matmul_case_operand(const matmul_case *c, int operand);

/* Reads C (after finishing `queue`) and fails the test with the first element that is wrong. */
void matmul_case_check(const matmul_case *c, cl_command_queue queue);

/* A context for tests: no files, no environment, plugins of the build tree, vendors' libraries denied (CLBlast's first call
 * compiles for seconds, and not every machine has a BLAS); `more`: further JSON members, with a leading comma, or "". */
qst_context *matmul_context(const char *more);

#endif
