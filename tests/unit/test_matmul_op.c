/* SPDX-License-Identifier: MIT
 *
 * test_matmul_op.c: matmul's contract: what check refuses, spans, work, the stated bound, and a problem's fields.
 */
#include "support/matmul_op_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* ---- check ------------------------------------------------------------------------------------------------------ */

static void assert_refused(const qst_matmul *p, const char *text)
{
    qst_error err;
    assert_int_equal(check(p, &err), QST_E_INVALID);
    assert_int_equal(err.status, QST_E_INVALID);
    assert_string_equal(err.source, "matmul");
    assert_string_equal(err.text, text);
}

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

/* ---- span and work ---------------------------------------------------------------------------------------------- */

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
    p.numerics = QST_NUMERICS_FAST; /* 2 u k, and a cut to 11 bits of each f32 operand */
    assert_true(qst_matmul_bound(&p) == 72.0 * 0x1p-24 + 0x1p-13 + 2 * (0x1p-10 + 0x1p-21));
    p.b.type = QST_F16;
    assert_true(qst_matmul_bound(&p) == 72.0 * 0x1p-24 + 0x1p-13 + 0x1p-10 + 0x1p-21);
    p.numerics = QST_NUMERICS_PLAIN;
    p.a.type = p.b.type = p.c.type = QST_BF16;
    assert_true(qst_matmul_bound(&p) == 72.0 * 0x1p-24);
    p.c.type = QST_F64;
    assert_true(qst_matmul_bound(&p) == 72.0 * 0x1p-53);
    assert_true(qst_matmul_bound(NULL) == 0.0);
}

/* ---- complete --------------------------------------------------------------------------------------------------- */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_names_member_and_number),
        cmocka_unit_test(test_check_reach),
        cmocka_unit_test(test_check_distinct),
        cmocka_unit_test(test_span),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_fields),
    };
    return cmocka_run_group_tests_name("matmul operation", tests, NULL, NULL);
}
