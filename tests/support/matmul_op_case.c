/* SPDX-License-Identifier: MIT
 *
 * matmul_op_case.c: the smallest steps that tests of matmul's contract share. */
#include "support/matmul_op_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

qst_status check(const qst_matmul *p, qst_error *err)
{
    memset(err, 0, sizeof *err);
    return qst_matmul_op.check(NULL, p, err);
}

void assert_valid(const qst_matmul *p)
{
    qst_error err;
    if (check(p, &err) != QST_OK)
        fail_msg("refused: %s", err.text);
}

void dense(qst_matmul *p)
{
    qst_matmul_init(p, 6, 5, 4, QST_F32);
}

int32_t normal(qst_matmul *p, uint32_t *perm)
{
    qst_matmul again;
    uint32_t   same[3] = {0, 1, 2};
    int32_t    status;
    perm[0] = 0;
    perm[1] = 1;
    perm[2] = 2;
    assert_valid(p);
    status = qst_matmul_op.normalise(NULL, p, perm);
    assert_valid(p);
    again = *p; /* what is normal stays as it is */
    assert_int_equal(qst_matmul_op.normalise(NULL, &again, same), status);
    assert_memory_equal(&again, p, sizeof again);
    assert_int_equal(same[0], 0);
    return status;
}
