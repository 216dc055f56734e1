/* SPDX-License-Identifier: MIT
 *
 * test_matmul_inputs.c: what matmul is checked and timed with: derived problems, repeated runs, and inputs whose results
 * are exact.
 */
#include "support/matmul_op_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- vary and repeat -------------------------------------------------------------------------------------------- */

static void test_exact_and_timed_scalars(void **state)
{
    static const struct {
        double   alpha, beta;
        uint32_t type;
        double   exact_alpha, exact_beta, timed_beta;
        uint32_t repeat;
    } rows[] = {
        {1, 0, QST_F32, 1, 0, 0, QST_REPEAT_SAME},
        {-2, 1, QST_F32, -2, 1, 1, QST_REPEAT_ADDS},
        {0.3, 0.5, QST_F32, 1, -1, -1, QST_REPEAT_ALTERNATES},
        {-7, -1, QST_F32, -1, -1, -1, QST_REPEAT_ALTERNATES},
        {1.5, 1, QST_F16, 1, 1, -1, QST_REPEAT_ALTERNATES},
        {(double)NAN, (double)NAN, QST_F32, 1, -1, -1, QST_REPEAT_ALTERNATES},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        qst_matmul p, q;
        qst_matmul_init(&p, 6, 5, 4, rows[i].type);
        p.alpha = rows[i].alpha;
        p.beta = rows[i].beta;
        assert_int_equal(qst_matmul_op.vary(NULL, &p, QST_VARY_EXACT, &q), QST_OK);
        assert_true(q.alpha == rows[i].exact_alpha && q.beta == rows[i].exact_beta);
        assert_int_equal(qst_matmul_op.vary(NULL, &p, QST_VARY_TIMED, &q), QST_OK);
        assert_true(q.alpha == rows[i].exact_alpha && q.beta == rows[i].timed_beta);
        assert_int_equal(qst_matmul_op.repeat(NULL, &q), rows[i].repeat);
        assert_int_equal(q.m * q.n * q.k, 120);
    }
}

static double size_of(const qst_matmul *p)
{
    double size = (double)p->m * (double)p->n * (double)p->k;
    for (int d = 0; d < 4; d++)
        size *= (double)p->batch[d];
    return size;
}

static void test_second_sizes(void **state)
{
    static const int64_t shapes[][4] = {
        {512, 512, 512, 1}, {4096, 4096, 4096, 1}, {1, 4096, 4096, 1}, {4096, 1, 4096, 1}, {7, 7, 7, 1},
        {16, 16, 16, 100},  {32, 32, 65536, 1},    {2, 2, 2, 1000},    {1, 1, 300, 1},     {1000, 2, 1000, 1}};
    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        qst_matmul p, q;
        uint32_t   perm[3];
        qst_matmul_init(&p, shapes[i][0], shapes[i][1], shapes[i][2], QST_F32);
        qst_matmul_batch(&p, shapes[i][3]);
        p.alpha = 0.5;
        (void)normal(&p, perm);
        assert_int_equal(qst_matmul_op.vary(NULL, &p, QST_VARY_SECOND, &q), QST_OK);
        assert_true(size_of(&q) <= size_of(&p) / 8);
        assert_true(q.alpha == 1.0);
        assert_true(p.m == 1 || (p.m ^ q.m) & 1); /* the other parity */
        assert_true(p.n == 1 || (p.n ^ q.n) & 1);
        assert_true(p.k == 1 || (p.k ^ q.k) & 1);
        assert_int_equal(q.m == 1, p.m == 1);
        assert_int_equal(q.n == 1, p.n == 1);
        assert_int_equal(q.k == 1, p.k == 1);
        assert_int_equal(q.batch[3] > 1, p.batch[3] > 1);
        assert_int_equal(normal(&q, perm), QST_OK);
        assert_int_equal(perm[0], 0);
        assert_int_equal(q.c.row, q.n); /* dense stays dense */
        assert_int_equal(q.a.row, q.k);
    }
    for (int64_t n = 1; n <= 3; n++) { /* too small to have a smaller one */
        qst_matmul p, q;
        qst_matmul_init(&p, n, n, n, QST_F32);
        assert_int_equal(qst_matmul_op.vary(NULL, &p, QST_VARY_SECOND, &q), QST_E_UNSUPPORTED);
    }
}

/* Odd sizes, whole tiles, and pairs without tiles: among the problem, the second shape and the third there is each. */
static int kind(int64_t x)
{
    return x % 2 ? 0 : (x & (x - 1)) == 0 || x % 128 == 0 ? 1 : 2;
}

static void test_every_kind_of_size(void **state)
{
    static const int64_t sizes[] = {1000, 1024, 999, 64, 66, 63, 4096, 250, 511};
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        qst_matmul p, q, r;
        qst_matmul_init(&p, sizes[i], sizes[(i + 1) % COUNT(sizes)], sizes[(i + 2) % COUNT(sizes)], QST_F32);
        p.beta = 0.5;
        assert_int_equal(qst_matmul_op.vary(NULL, &p, QST_VARY_SECOND, &q), QST_OK);
        assert_int_equal(qst_matmul_op.vary(NULL, &p, QST_VARY_SECOND_REAL, &r), QST_OK);
        assert_true(size_of(&r) <= size_of(&p) / 8);
        assert_true(r.beta == 0.5);
        assert_int_equal(1 << kind(p.m) | 1 << kind(q.m) | 1 << kind(r.m), 7);
        assert_int_equal(1 << kind(p.n) | 1 << kind(q.n) | 1 << kind(r.n), 7);
        assert_int_equal(1 << kind(p.k) | 1 << kind(q.k) | 1 << kind(r.k), 7);
    }
}

static void test_second_layouts(void **state)
{
    qst_matmul p, q;
    uint32_t   perm[3];
    (void)state;
    qst_matmul_init(&p, 300, 200, 100, QST_BF16);
    p.batch[3] = 5;
    p.a.row = 1; /* transposed and padded */
    p.a.col = 304;
    p.a.batch[3] = 304 * 100;
    p.b.row = 1; /* transposed, dense, shared */
    p.b.col = 100;
    p.c.row = 208; /* padded, with gaps between products */
    p.c.batch[3] = 208 * 300 + 64;
    p.c.type = QST_F32;
    assert_int_equal(normal(&p, perm), QST_OK);
    assert_int_equal(qst_matmul_op.vary(NULL, &p, QST_VARY_SECOND, &q), QST_OK);
    assert_int_equal(q.a.row, 1);
    assert_int_equal(q.a.type, QST_BF16);
    assert_true(q.a.col > q.m && q.a.col % 2 == 1); /* padded to an odd stride */
    assert_int_equal(q.a.batch[3], q.a.col * q.k);
    assert_int_equal(q.b.row, 1);
    assert_int_equal(q.b.col, q.k);
    assert_int_equal(q.b.batch[3], 0);
    assert_true(q.c.row > q.n);
    assert_true(q.c.batch[3] > q.c.row * q.m);

    qst_matmul_init(&p, 100, 100, 100, QST_F32); /* broadcast and overlapping inputs stay so */
    p.a.row = p.a.col = 1;
    p.b.col = 0;
    p.b.row = 3;
    assert_int_equal(qst_matmul_op.vary(NULL, &p, QST_VARY_SECOND, &q), QST_OK);
    assert_int_equal(q.a.row, 1);
    assert_int_equal(q.a.col, 1);
    assert_int_equal(q.b.col, 0);
    assert_int_equal(q.b.row, 3);
}

/* ---- fill ------------------------------------------------------------------------------------------------------- */

/* Certain, or but for a chance of e^-45: see fill.c. */
static void test_fill_is_exact(void **state)
{
    static const int64_t  lengths[] = {1, 3, 64, 333, 1024, 4096, 65536, 1048576, 1 << 28};
    static const double   betas[] = {0.0, 1.0, -0.5};
    static const uint32_t types[] = {QST_F32, QST_F64, QST_F16, QST_BF16};
    static const double   limits[] = {16777216.0, 9007199254740992.0, 2048.0, 256.0};
    (void)state;
    for (size_t t = 0; t < COUNT(types); t++)
        for (size_t i = 0; i < COUNT(lengths); i++)
            for (size_t s = 0; s < COUNT(betas); s++) {
                qst_matmul p;
                qst_fill   a, b, c;
                double     v, most;
                qst_matmul_init(&p, 8, 8, lengths[i], types[t]);
                p.alpha = -2.0;
                p.beta = betas[s];
                qst_matmul_op.fill(NULL, &p, 0, 0, &a);
                qst_matmul_op.fill(NULL, &p, 1, 0, &b);
                qst_matmul_op.fill(NULL, &p, 2, 0, &c);
                assert_in_range(a.range, 1, 4);
                assert_in_range(b.range, 1, 4);
                assert_in_range(c.range, 1, 4);
                assert_int_equal(a.real + b.real + c.real + c.sparse, 0);
                if (a.sparse + b.sparse > 0)
                    assert_int_equal(a.range, 1); /* sparse as the last resort only */
                most = (limits[t] - (betas[s] != 0.0 ? c.range : 0.0)) / 2.0;
                v = ldexp(a.range * (a.range + 1) / 3.0 * b.range * (b.range + 1) / 3.0, -(int)(a.sparse + b.sparse));
                if ((double)lengths[i] * a.range * b.range > most)
                    assert_true(most * most / (2.0 * ((double)lengths[i] * v + a.range * b.range * most / 3.0)) >=
                                45.0);
                qst_matmul_op.fill(NULL, &p, 0, 1, &a);
                assert_int_equal(a.real, 1);
            }
}

static void test_fill_uses_the_room(void **state)
{
    qst_matmul p;
    qst_fill   fill;
    (void)state;
    qst_matmul_init(&p, 8, 8, 4096, QST_F32);
    p.beta = 1.0; /* 64 runs may add up */
    qst_matmul_op.fill(NULL, &p, 0, 0, &fill);
    assert_int_equal(fill.range, 4);
    assert_int_equal(fill.sparse, 0);
    assert_true(64.0 * (16.0 * 4096.0 + 4.0) < 16777216.0);
    qst_matmul_init(&p, 8, 8, 1024, QST_BF16); /* dense: certainty would want one term in four */
    qst_matmul_op.fill(NULL, &p, 0, 0, &fill);
    assert_int_equal(fill.range, 1);
    assert_int_equal(fill.sparse, 0);
}

/* What is one and the same all along k adds up without chance. */
static void test_fill_of_broadcasts(void **state)
{
    qst_matmul p;
    qst_fill   a, b;
    (void)state;
    qst_matmul_init(&p, 8, 8, 1024, QST_BF16);
    p.a.col = 0;
    qst_matmul_op.fill(NULL, &p, 0, 0, &a);
    qst_matmul_op.fill(NULL, &p, 1, 0, &b);
    assert_true(256.0 * 256.0 >= 90.0 * (1024.0 * 2.0 / 3.0 / (1 << b.sparse) + 256.0 / 3.0));
    p.b.row = 0;
    qst_matmul_op.fill(NULL, &p, 0, 0, &a);
    assert_int_equal(a.sparse, 20); /* next to nothing but zeros */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_and_timed_scalars), cmocka_unit_test(test_second_sizes),
        cmocka_unit_test(test_every_kind_of_size),      cmocka_unit_test(test_second_layouts),
        cmocka_unit_test(test_fill_is_exact),           cmocka_unit_test(test_fill_uses_the_room),
        cmocka_unit_test(test_fill_of_broadcasts),
    };
    return cmocka_run_group_tests_name("matmul inputs", tests, NULL, NULL);
}
