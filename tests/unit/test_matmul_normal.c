/* SPDX-License-Identifier: MIT
 *
 * test_matmul_normal.c: matmul's normal form: which problems are one and the same, and which need no kernel at all.
 */
#include "support/matmul_op_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_normal_form_keeps_dense(void **state)
{
    qst_matmul p, q;
    uint32_t   perm[3];
    (void)state;
    dense(&p);
    q = p;
    assert_int_equal(normal(&p, perm), QST_OK);
    assert_memory_equal(&p, &q, sizeof p);
    p.a.batch[1] = 77; /* strides of extents that are 1 */
    p.c.batch[0] = 5;
    p.c.align = 2; /* no more than the element's own */
    assert_int_equal(normal(&p, perm), QST_OK);
    assert_memory_equal(&p, &q, sizeof p);
}

static void test_leaves(void **state)
{
    qst_matmul p;
    uint32_t   perm[3];
    (void)state;
    for (int which = 0; which < 4; which++) {
        dense(&p);
        *(which == 0 ? &p.m : which == 1 ? &p.n : which == 2 ? &p.batch[0] : &p.batch[3]) = 0;
        assert_int_equal(normal(&p, perm), QST_NOTHING);
    }
    dense(&p);
    p.alpha = -0.0;
    p.beta = -0.0;
    assert_int_equal(normal(&p, perm), QST_TRIVIAL);
    assert_false(signbit(p.beta));
    dense(&p);
    p.k = 0;
    p.beta = 3.0;
    p.c.row = 1;
    p.c.col = 6;
    assert_int_equal(normal(&p, perm), QST_TRIVIAL);
    assert_int_equal(p.c.col, 1); /* turned */
    assert_int_equal(p.m, 5);
    p.beta = 1.0;
    assert_int_equal(normal(&p, perm), QST_NOTHING);
    dense(&p);
    p.alpha = NAN;
    assert_int_equal(normal(&p, perm), QST_OK);
    dense(&p);
    p.alpha = 0.1; /* as the sums see it */
    assert_int_equal(normal(&p, perm), QST_OK);
    assert_true(p.alpha == (double)0.1f);
}

static void test_column_major_c_turns(void **state)
{
    qst_matmul p;
    uint32_t   perm[3];
    (void)state;
    dense(&p);
    p.a.type = QST_F16;
    p.a.align = 5;
    p.c.row = 1;
    p.c.col = 8;
    assert_int_equal(normal(&p, perm), QST_OK);
    assert_int_equal(perm[0], 1);
    assert_int_equal(perm[1], 0);
    assert_int_equal(perm[2], 2);
    assert_int_equal(p.m, 5);
    assert_int_equal(p.n, 6);
    assert_int_equal(p.c.row, 8);
    assert_int_equal(p.c.col, 1);
    assert_int_equal(p.b.type, QST_F16); /* the caller's A, its strides exchanged */
    assert_int_equal(p.b.align, 5);
    assert_int_equal(p.b.row, 1);
    assert_int_equal(p.b.col, 4);
    assert_int_equal(p.a.row, 1);
    assert_int_equal(p.a.col, 5);
}

static void test_vectors_get_a_unit_stride(void **state)
{
    qst_matmul p, q;
    uint32_t   perm[3];
    (void)state;
    qst_matmul_init(&p, 1, 5, 4, QST_F32);
    q = p;
    p.a.row = 99;
    p.c.row = 0;
    assert_int_equal(normal(&p, perm), QST_OK);
    assert_memory_equal(&p, &q, sizeof p);

    qst_matmul_init(&p, 6, 1, 4, QST_F32); /* B a column of a matrix 7 wide, C likewise */
    p.b.row = 7;
    p.b.col = 3;
    p.c.row = 7;
    assert_int_equal(normal(&p, perm), QST_OK);
    assert_int_equal(p.b.row, 7);
    assert_int_equal(p.b.col, 1);
    assert_int_equal(p.c.row, 7);
    assert_int_equal(perm[0], 0);

    qst_matmul_init(&p, 1, 5, 4, QST_F32); /* A and C rows of column-major matrices */
    p.a.col = 9;
    p.c.col = 9;
    assert_int_equal(normal(&p, perm), QST_OK);
    assert_int_equal(perm[0], 1);
    assert_int_equal(p.m, 5);
    assert_int_equal(p.n, 1);
    assert_int_equal(p.c.row, 9);
    assert_int_equal(p.c.col, 1);
    assert_int_equal(p.b.row, 9);
    assert_int_equal(p.b.col, 1);
}

static void test_batches_merge(void **state)
{
    qst_matmul p;
    uint32_t   perm[3];
    (void)state;
    dense(&p); /* 2 x 1 x 3 x 1, one run in all three */
    p.batch[0] = 2;
    p.batch[2] = 3;
    p.a.batch[2] = 24;
    p.a.batch[0] = 72;
    p.b.batch[2] = 20;
    p.b.batch[0] = 60;
    p.c.batch[2] = 30;
    p.c.batch[0] = 90;
    assert_int_equal(normal(&p, perm), QST_OK);
    assert_int_equal(p.batch[3], 6);
    assert_int_equal(p.batch[0] * p.batch[1] * p.batch[2], 1);
    assert_int_equal(p.a.batch[3], 24);
    assert_int_equal(p.b.batch[3], 20);
    assert_int_equal(p.c.batch[3], 30);
    assert_int_equal(p.c.batch[0], 0);

    dense(&p); /* B repeats in the outer dimension: two dimensions stay */
    p.batch[0] = 2;
    p.batch[1] = 3;
    p.a.batch[1] = 24;
    p.a.batch[0] = 72;
    p.b.batch[1] = 20;
    p.c.batch[1] = 30;
    p.c.batch[0] = 90;
    assert_int_equal(normal(&p, perm), QST_OK);
    assert_int_equal(p.batch[2], 2);
    assert_int_equal(p.batch[3], 3);
    assert_int_equal(p.a.batch[2], 72);
    assert_int_equal(p.b.batch[2], 0);
    assert_int_equal(p.b.batch[3], 20);
}

static void test_shared_b_becomes_taller(void **state)
{
    qst_matmul p;
    uint32_t   perm[3];
    (void)state;
    dense(&p);
    qst_matmul_batch(&p, 7);
    p.b.batch[3] = 0;
    assert_int_equal(normal(&p, perm), QST_OK);
    assert_int_equal(p.m, 42);
    assert_int_equal(p.batch[3], 1);
    assert_int_equal(p.a.row, 4);

    dense(&p); /* a gap between products: they stay apart */
    qst_matmul_batch(&p, 7);
    p.b.batch[3] = 0;
    p.c.batch[3] = 31;
    assert_int_equal(normal(&p, perm), QST_OK);
    assert_int_equal(p.m, 6);
    assert_int_equal(p.batch[3], 7);

    qst_matmul_init(&p, 1, 5, 4, QST_F32); /* single rows need no neighbours */
    p.batch[3] = 7;
    p.a.batch[3] = 11;
    p.c.batch[3] = 13;
    assert_int_equal(normal(&p, perm), QST_OK);
    assert_int_equal(p.m, 7);
    assert_int_equal(p.a.row, 11);
    assert_int_equal(p.c.row, 13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal_form_keeps_dense), cmocka_unit_test(test_leaves),
        cmocka_unit_test(test_column_major_c_turns),    cmocka_unit_test(test_vectors_get_a_unit_stride),
        cmocka_unit_test(test_batches_merge),           cmocka_unit_test(test_shared_b_becomes_taller),
    };
    return cmocka_run_group_tests_name("matmul normal form", tests, NULL, NULL);
}
