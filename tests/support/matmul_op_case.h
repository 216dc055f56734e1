/* SPDX-License-Identifier: MIT
 *
 * matmul_op_case.h: a small dense matmul, and what its operation's check and normalise say of a problem. */
#ifndef QST_TESTS_MATMUL_OP_CASE_H
#define QST_TESTS_MATMUL_OP_CASE_H

#include <quernstone/matmul.h>

/* 6 x 5 x 4 of f32. */
void dense(qst_matmul *p);

qst_status check(const qst_matmul *p, qst_error *err);
void       assert_valid(const qst_matmul *p);

/* Normalises a valid problem and asserts that the result is valid and stays as it is; the operands' order goes to
 * perm[3]. */
int32_t normal(qst_matmul *p, uint32_t *perm);

#endif
