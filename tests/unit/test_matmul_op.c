/* SPDX-License-Identifier: MIT
 *
 * test_matmul_op.c: matmul's contract, normal form, spans, work, derived problems and inputs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <quernstone/matmul.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static qst_status check(const qst_matmul *p, qst_error *err)
{
    memset(err, 0, sizeof *err);
    return qst_matmul_op.check(NULL, p, err);
}

static void assert_valid(const qst_matmul *p)
{
    qst_error err;
    if (check(p, &err) != QST_OK)
        fail_msg("refused: %s", err.text);
}

static void assert_refused(const qst_matmul *p, const char *text)
{
    qst_error err;
    assert_int_equal(check(p, &err), QST_E_INVALID);
    assert_int_equal(err.status, QST_E_INVALID);
    assert_string_equal(err.source, "matmul");
    assert_string_equal(err.text, text);
}

static void dense(qst_matmul *p)
{
    qst_matmul_init(p, 6, 5, 4, QST_F32);
}

/* ---- check ------------------------------------------------------------------------------------------------------- */

static void test_check_names_member_and_number(void **state)
{
    qst_matmul p;
    qst_error  err;
    (void)state;
    dense(&p);
    assert_valid(&p);
    p.m = -3;
    assert_refused(&p, "m is -3, must not be negative");
    dense(&p);
    p.batch[2] = -1;
    assert_refused(&p, "batch[2] is -1, must not be negative");
    dense(&p);
    p.b.col = -5;
    assert_refused(&p, "b.col is -5, must not be negative");
    dense(&p);
    p.a.type = 9;
    assert_refused(&p, "a.type is 9, no element type: must be 1 to 4");
    dense(&p);
    p.c.type = 0;
    assert_refused(&p, "c.type is 0, no element type: must be 1 to 4");
    dense(&p);
    p.numerics = 3;
    assert_refused(&p, "numerics is 3, no numerics class: must be 0 to 2");
    dense(&p);
    p.c.align = 63;
    assert_refused(&p, "c.align is 63, log2 of bytes: must be at most 62");
    dense(&p);
    p.alpha = 1e300;
    assert_refused(&p, "alpha is 1e+300, beyond the range of f32 sums");
    p.c.type = QST_F64;
    assert_valid(&p);
    dense(&p);
    p.alpha = NAN;
    p.beta = (double)INFINITY;
    assert_valid(&p);

    /* The first cause wins. */
    memset(&err, 0, sizeof err);
    strcpy(err.text, "earlier");
    p.m = -1;
    assert_int_equal(qst_matmul_op.check(NULL, &p, &err), QST_E_INVALID);
    assert_string_equal(err.text, "earlier");
    assert_int_equal(qst_matmul_op.check(NULL, &p, NULL), QST_E_INVALID);
}

static void test_check_reach(void **state)
{
    qst_matmul p;
    qst_error  err;
    (void)state;
    dense(&p);
    p.a.row = INT64_MAX / 4;
    assert_int_equal(check(&p, &err), QST_E_INVALID);
    assert_non_null(strstr(err.text, "a.row 2305843009213693951 times extent 6"));
    p.m = 1;
    assert_valid(&p); /* a stride that is not used reaches nowhere */
    dense(&p);
    p.c.batch[0] = INT64_MAX;
    p.batch[0] = 3;
    assert_int_equal(check(&p, &err), QST_E_INVALID);
    p.n = 0;
    assert_valid(&p); /* nothing is there */
}

static void test_check_distinct(void **state)
{
    qst_matmul p;
    (void)state;
    dense(&p);
    p.c.row = 4;
    assert_refused(&p, "elements of C overlap: c.row is 4, must be above 4, the span of its closer dimensions");
    dense(&p);
    p.c.col = 0;
    assert_refused(&p, "elements of C overlap: c.col is 0, must be above 0, the span of its closer dimensions");
    p.n = 1;
    assert_valid(&p); /* one column may have any stride */
    dense(&p);
    p.c.row = 1;
    p.c.col = 6;
    assert_valid(&p);
    p.c.col = 5;
    assert_refused(&p, "elements of C overlap: c.col is 5, must be above 5, the span of its closer dimensions");
    dense(&p);
    p.batch[1] = 2;
    p.c.batch[1] = 29;
    assert_refused(&p, "elements of C overlap: c.batch[1] is 29, must be above 29, the span of its closer dimensions");
    p.c.batch[1] = 30;
    assert_valid(&p);
    p.a.row = p.a.col = p.b.row = p.b.batch[1] = 0; /* inputs may be broadcast and may overlap */
    assert_valid(&p);
    dense(&p); /* batches woven into the rows */
    p.batch[3] = 3;
    p.c.batch[3] = 5;
    p.c.row = 15;
    assert_valid(&p);
}

/* ---- normalise ------------------------------------------------------------------------------------------------------ */

static int32_t normal(qst_matmul *p, uint32_t *perm)
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

/* ---- span and work -------------------------------------------------------------------------------------------------- */

static uint64_t span(const qst_matmul *p, uint32_t operand)
{
    return qst_matmul_op.span(NULL, p, operand);
}

static void test_span(void **state)
{
    qst_matmul p;
    (void)state;
    dense(&p);
    assert_int_equal(span(&p, 0), 6 * 4 * 4);
    assert_int_equal(span(&p, 1), 4 * 5 * 4);
    assert_int_equal(span(&p, 2), 6 * 5 * 4);
    assert_int_equal(span(&p, 3), 0);
    p.a.row = 10; /* the last row has no padding */
    p.b.type = QST_F16;
    p.b.row = 0;
    p.batch[0] = 3;
    p.c.batch[0] = 100;
    assert_int_equal(span(&p, 0), (5 * 10 + 4) * 4);
    assert_int_equal(span(&p, 1), 5 * 2);
    assert_int_equal(span(&p, 2), (200 + 30) * 4);
    p.alpha = 0.0;
    assert_int_equal(span(&p, 0) + span(&p, 1), 0);
    assert_int_equal(span(&p, 2), (200 + 30) * 4);
    p.alpha = 1.0;
    p.k = 0;
    assert_int_equal(span(&p, 0) + span(&p, 1), 0);
    p.k = 4;
    p.n = 0;
    assert_int_equal(span(&p, 0) + span(&p, 1) + span(&p, 2), 0);
}

static void test_work(void **state)
{
    qst_matmul p;
    qst_work   work;
    (void)state;
    qst_matmul_init(&p, 1024, 1024, 1024, QST_F32);
    qst_matmul_op.work(NULL, &p, &work);
    assert_true(work.ops == 2146435072.0);
    assert_true(work.bytes == 12582912.0);
    p.beta = 1.0;
    p.a.row = 0; /* broadcast: one row is read */
    qst_matmul_op.work(NULL, &p, &work);
    assert_true(work.bytes == 4096.0 + 3 * 4194304.0);
    p.a.row = p.a.col = 1; /* overlapping: no more than the span */
    qst_matmul_op.work(NULL, &p, &work);
    assert_true(work.bytes == 2047 * 4.0 + 3 * 4194304.0);
}

static void test_bound(void **state)
{
    qst_matmul p;
    (void)state;
    qst_matmul_init(&p, 8, 8, 1024, QST_F32);
    assert_true(qst_matmul_bound(&p) == 72.0 * 0x1p-24);
    p.a.type = p.b.type = p.c.type = QST_BF16;
    assert_true(qst_matmul_bound(&p) == 72.0 * 0x1p-24);
    p.c.type = QST_F64;
    assert_true(qst_matmul_bound(&p) == 72.0 * 0x1p-53);
}

/* ---- complete ------------------------------------------------------------------------------------------------------- */

static uint64_t given(const char *name)
{
    for (uint32_t i = 0; i < qst_matmul_op.n_fields; i++)
        if (strcmp(qst_matmul_op.fields[i].name, name) == 0)
            return UINT64_C(1) << i;
    fail_msg("no field %s", name);
    return 0;
}

static void test_complete(void **state)
{
    qst_matmul p, q;
    uint64_t   sizes = given("m") | given("n") | given("k");
    (void)state;
    memset(&p, 0, sizeof p);
    p.m = 6;
    p.n = 5;
    p.k = 4;
    qst_matmul_op.complete(NULL, &p, sizes);
    dense(&q);
    assert_memory_equal(&p, &q, sizeof p);

    p.a.type = QST_F16; /* b and c take a's type; alpha 0 was written */
    p.alpha = 0.0;
    p.b.row = 9;
    p.batch[3] = 7;
    qst_matmul_op.complete(NULL, &p, sizes | given("a.type") | given("alpha") | given("batch") | given("b.row"));
    qst_matmul_init(&q, 6, 5, 4, QST_F16);
    qst_matmul_batch(&q, 7);
    q.alpha = 0.0;
    q.b.row = 9;
    q.b.batch[3] = 36;
    assert_memory_equal(&p, &q, sizeof p);

    p.m = p.n = p.k = INT64_MAX; /* text may say anything: no overflow, and check refuses */
    qst_matmul_op.complete(NULL, &p, sizes | given("batch"));
    assert_int_equal(qst_matmul_op.check(NULL, &p, NULL), QST_E_INVALID);
}

static void test_fields(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < qst_matmul_op.n_fields; i++) {
        const qst_field *f = &qst_matmul_op.fields[i];
        uint32_t         width = f->kind == QST_FIELD_I64 || f->kind == QST_FIELD_F64 ? 8 : 4;
        assert_true(f->offset + width * f->count <= sizeof(qst_matmul));
        assert_int_equal(f->offset % width, 0);
        for (uint32_t j = 0; j < i; j++)
            assert_int_not_equal(f->offset, qst_matmul_op.fields[j].offset);
    }
    assert_string_equal(qst_matmul_op.fields[7].name, "a.type");
    assert_string_equal(qst_matmul_op.fields[7].tokens[QST_BF16], "bf16");
}

/* ---- vary, repeat, fill --------------------------------------------------------------------------------------------- */

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
        assert_int_equal(q.m & q.n & q.k & 1, 1);
        assert_int_equal(q.m == 1, p.m == 1);
        assert_int_equal(q.n == 1, p.n == 1);
        assert_int_equal(q.k == 1, p.k == 1);
        assert_int_equal(q.batch[3] > 1, p.batch[3] > 1);
        assert_int_equal(normal(&q, perm), QST_OK);
        assert_int_equal(perm[0], 0);
        assert_int_equal(q.c.row, q.n); /* dense stays dense */
        assert_int_equal(q.a.row, q.k);
    }
    for (int64_t n = 1; n <= 5; n++) { /* too small to have a smaller one */
        qst_matmul p, q;
        qst_matmul_init(&p, n, n, n, QST_F32);
        assert_int_equal(qst_matmul_op.vary(NULL, &p, QST_VARY_SECOND, &q), QST_E_UNSUPPORTED);
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

/* For dense fillings the bound is certain; for sparse ones it is the mean with 8 deviations. */
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
                double     terms;
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
                terms = ldexp((double)lengths[i], -(int)(a.sparse + b.sparse));
                if (a.sparse + b.sparse > 0) {
                    assert_int_equal(a.range, 1); /* sparse as the last resort only */
                    terms += 8.0 * sqrt(terms);
                }
                assert_true(2.0 * terms * a.range * b.range + (betas[s] != 0.0 ? c.range : 0.0) < limits[t]);
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_names_member_and_number),
        cmocka_unit_test(test_check_reach),
        cmocka_unit_test(test_check_distinct),
        cmocka_unit_test(test_normal_form_keeps_dense),
        cmocka_unit_test(test_leaves),
        cmocka_unit_test(test_column_major_c_turns),
        cmocka_unit_test(test_vectors_get_a_unit_stride),
        cmocka_unit_test(test_batches_merge),
        cmocka_unit_test(test_shared_b_becomes_taller),
        cmocka_unit_test(test_span),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_exact_and_timed_scalars),
        cmocka_unit_test(test_second_sizes),
        cmocka_unit_test(test_second_layouts),
        cmocka_unit_test(test_fill_is_exact),
        cmocka_unit_test(test_fill_uses_the_room),
    };
    return cmocka_run_group_tests_name("matmul operation", tests, NULL, NULL);
}
