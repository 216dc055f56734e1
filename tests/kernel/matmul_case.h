/* SPDX-License-Identifier: MIT
 *
 * matmul_case.h: one matmul problem with its data, its exact result and the bound of matmul.h for each element. For
 * tests with cmocka: what goes wrong fails the test.
 */
#ifndef TEST_KERNEL_MATMUL_CASE_H
#define TEST_KERNEL_MATMUL_CASE_H

#include "runner.h"
#include <quernstone/matmul.h>

enum { MATMUL_CASE_LEAD = 8 }; /* elements before a matrix that keep its start aligned to 16 bytes */

/* The whole buffer, elements before and after the matrix included; NaN where no element of the matrix is. */
struct matmul_case_matrix {
    double *value;
    size_t  count;
    size_t  start;
};

struct matmul_case {
    qst_matmul                problem;
    uint32_t                  item[3]; /* bytes of an element */
    struct matmul_case_matrix x[3];
    double                   *exact, *bound; /* by C's index in its buffer */
    char                     *inside;        /* is this element of the buffer one of C's? */
};

/* `lead` elements stand before each matrix. nan_in_a: A's first element is NaN. A case is freed by finish. */
void matmul_case_init(struct matmul_case *t, const qst_matmul *problem, size_t lead, int nan_in_a);
void matmul_case_finish(struct matmul_case *t);

/* Operand `which` as a new buffer, and its bytes on the host, which the caller frees. */
void matmul_case_upload(cl_context context, const struct matmul_case *t, int which, cl_mem *buffer, void **raw);

/* Is every element of C within its bound (NaN where it must be), and every other one of its buffer as it was, bit for
 * bit? Where not, a line about the first that is not; compare fails the test with it. */
int  matmul_case_right(const struct matmul_case *t, const char *name, const void *got, const void *before, char *text,
                       size_t size);
void matmul_case_compare(const struct matmul_case *t, const char *name, const void *got, const void *before);

/* The candidate of that name; fails the test where there is none. */
struct runner_candidate *matmul_case_candidate(struct runner *r, const char *name);

/* It refuses this problem, for just this reason. */
void matmul_case_refused(struct runner *r, const char *name, const qst_matmul *p, const char *reason);

/* Runs a candidate where it can and its classes allow: 1, and the bytes of C's buffer in `got`. Buffers and `raw` are those
 * of matmul_case_upload. */
int matmul_case_run(struct runner *r, struct runner_candidate *c, const struct matmul_case *t, cl_mem *buffers,
                    void *const *raw, void *got);

#endif
