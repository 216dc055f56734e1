/* SPDX-License-Identifier: MIT
 *
 * test_matmul_judge.c: the judge of matmul on a real OpenCL device: right results pass, each kind of wrong one is caught
 * and named. Each case runs in the form for a CPU and in the form for a GPU.
 */
#include "judge_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- EQUAL and LOCATE ------------------------------------------------------------------------------------------- */

static void expect_pass(runner *r, const data *d)
{
    uint32_t finding[QST_FINDING_WORDS];
    upload(r, d);
    phase(r, QST_JUDGE_EQUAL, finding, 1);
    assert_int_equal(finding[0], 0);
}

/* One wrong element: caught as one wrong line, and named as what is to be read. */
static void expect_named(runner *r, data *d, int64_t b, int64_t i, int64_t j, double wrong)
{
    uint32_t finding[QST_FINDING_WORDS];
    char     text[200], want[200], where[60];
    int64_t  at = c_at(&d->p, b, i, j);
    double   right = get(d->p.c.type, d->memory[C], at);

    put(d->p.c.type, d->memory[C], at, wrong);
    upload(r, d);
    phase(r, QST_JUDGE_EQUAL, finding, 1);
    assert_int_equal(finding[0], 1);
    phase(r, QST_JUDGE_LOCATE, finding, 0);
    qst_matmul_op.judge->tell(NULL, &d->p, QST_JUDGE_LOCATE, finding, text, sizeof text);
    where[0] = '\0';
    if (batches_of(&d->p) > 1)
        (void)snprintf(where, sizeof where, " of batch %d", (int)b);
    if (isnan(wrong))
        (void)snprintf(want, sizeof want, "C[%d,%d]%s is not a number, should be %g", (int)i, (int)j, where, right);
    else
        (void)snprintf(want, sizeof want, "C[%d,%d]%s is %.9g, should be %g", (int)i, (int)j, where, wrong, right);
    assert_string_equal(text, want);
    put(d->p.c.type, d->memory[C], at, right);
}

static void equal_f32(runner *r)
{
    static const double scalars[][2] = {{1, 0}, {-2, 1}, {2, -1}};
    for (int which = 0; which < LAYOUTS; which++)
        for (size_t s = 0; s < COUNT(scalars); s++) {
            data    d;
            int64_t m, n, last;
            shape(&d.p, which, QST_F32);
            d.p.alpha = scalars[s][0];
            d.p.beta = scalars[s][1];
            make(&d, 0);
            multiply(&d, 0, 0);
            m = d.p.m;
            n = d.p.n;
            last = batches_of(&d.p) - 1;
            expect_pass(r, &d);
            expect_named(r, &d, 0, 0, 0, NAN);
            expect_named(r, &d, last, m - 1, n - 1, get(QST_F32, d.memory[C], c_at(&d.p, last, m - 1, n - 1)) + 1);
            expect_named(r, &d, last, m / 2, n / 3, 0.5);
            expect_named(r, &d, 0, m / 3, n / 2, (double)INFINITY);
            expect_named(r, &d, 0, m - 1, 0, 4294967296.0);
            drop(&d);
        }
}

static void test_equal_f32(void **state)
{
    both_forms(state, equal_f32);
}

static void equal_types(runner *r)
{
    static const uint32_t types[][3] = {{QST_F64, QST_F64, QST_F64},
                                        {QST_F16, QST_F16, QST_F16},
                                        {QST_BF16, QST_BF16, QST_F32},
                                        {QST_F16, QST_F32, QST_BF16}};
    for (size_t t = 0; t < 2 * COUNT(types); t++) { /* each as a usual problem, too */
        const uint32_t *type = types[t / 2];
        data            d;
        if (type[0] == QST_F64 && !(r->device.flags & QST_DEVICE_F64))
            continue;
        shape(&d.p, t % 2 || t / 2 % 2 ? PADDED : BOTH_TURNED, QST_F32);
        d.p.k = 9; /* sums up to 84 are exact in all of them */
        d.p.a.type = type[0];
        d.p.b.type = type[1];
        d.p.c.type = type[2];
        d.p.beta = t % 2 ? 0.0 : 1.0;
        make(&d, 0);
        multiply(&d, 1, 0);
        expect_pass(r, &d);
        expect_named(r, &d, 0, 7, 11, get(type[2], d.memory[C], c_at(&d.p, 0, 7, 11)) - 1);
        expect_named(r, &d, 0, 12, 2, NAN);
        drop(&d);
    }
}

static void test_equal_types(void **state)
{
    both_forms(state, equal_types);
}

static void two_errors(runner *r)
{
    uint32_t finding[QST_FINDING_WORDS];
    char     text[200], want[200];
    data     d;
    float   *c;
    shape(&d.p, DENSE, QST_F32);
    make(&d, 0);
    multiply(&d, 0, 0);
    c = (float *)(void *)d.memory[C];
    c[c_at(&d.p, 0, 17, 20)] -= 1.0f;
    c[c_at(&d.p, 0, 17, 3)] += 1.0f; /* the plain sum of the row stays */
    c[c_at(&d.p, 0, 30, 0)] += 1.0f;
    upload(r, &d);
    phase(r, QST_JUDGE_EQUAL, finding, 1);
    assert_int_equal(finding[0], 2);
    qst_matmul_op.judge->tell(NULL, &d.p, QST_JUDGE_EQUAL, finding, text, sizeof text);
    assert_string_equal(text, "2 of 37 rows are wrong, the first is row 17 of C");
    phase(r, QST_JUDGE_LOCATE, finding, 0);
    qst_matmul_op.judge->tell(NULL, &d.p, QST_JUDGE_LOCATE, finding, text, sizeof text);
    (void)snprintf(want, sizeof want, "C[17,3] is %g, should be %g", (double)c[c_at(&d.p, 0, 17, 3)],
                   (double)c[c_at(&d.p, 0, 17, 3)] - 1.0);
    assert_string_equal(text, want);
    drop(&d);
}

static void test_two_errors_in_a_row(void **state)
{
    both_forms(state, two_errors);
}

/* ---- BOUND ------------------------------------------------------------------------------------------------------ */

static uint32_t bound_of(runner *r, data *d, char *text, size_t size)
{
    uint32_t finding[QST_FINDING_WORDS];
    upload(r, d);
    phase(r, QST_JUDGE_BOUND, finding, 1);
    qst_matmul_op.judge->tell(NULL, &d->p, QST_JUDGE_BOUND, finding, text, (uint32_t)size);
    return finding[0];
}

static void bound_f32(runner *r)
{
    static const int layouts[] = {DENSE,   PADDED,      A_TURNED, B_TURNED, BOTH_TURNED, STRIDED,
                                  BATCHED, A_BROADCAST, ROW,      COLUMN,   OUTER};
    for (size_t which = 0; which < 2 * COUNT(layouts); which++) {
        char text[300];
        data d;
        shape(&d.p, layouts[which / 2], QST_F32);
        d.p.alpha = 0.75;
        d.p.beta = which % 2 ? -1.25 : 0.0;
        make(&d, 1);
        multiply(&d, 0, 0);
        assert_int_equal(bound_of(r, &d, text, sizeof text), 0);
        multiply(&d, 0, 11); /* as tensor cores would read them */
        assert_true(bound_of(r, &d, text, sizeof text) > 0);
        assert_non_null(strstr(text, "differs from"));
        d.p.numerics = QST_NUMERICS_FAST;
        assert_int_equal(bound_of(r, &d, text, sizeof text), 0);
        d.p.numerics = QST_NUMERICS_PLAIN;
        multiply(&d, 0, 0);
        put(QST_F32, d.memory[C], c_at(&d.p, 0, 0, d.p.n - 1), NAN); /* the first line is always sampled */
        assert_true(bound_of(r, &d, text, sizeof text) > 0);
        assert_non_null(strstr(text, "is not a number"));
        drop(&d);
    }
}

/* In double, and in compensated float where the device is said to have no double. */
static void test_bound_f32(void **state)
{
    runner  *r = *state;
    uint32_t flags = r->device.flags;
    both_forms(state, bound_f32);
    r->device.flags &= ~(uint32_t)QST_DEVICE_F64;
    both_forms(state, bound_f32);
    r->device.flags = flags;
}

static void bound_f64(runner *r)
{
    char text[300];
    data d;
    if (!(r->device.flags & QST_DEVICE_F64))
        return;
    for (int beta = 0; beta < 2; beta++) {
        shape(&d.p, PADDED, QST_F64);
        d.p.beta = beta;
        make(&d, 1);
        multiply(&d, 1, 0);
        assert_int_equal(bound_of(r, &d, text, sizeof text), 0);
        multiply(&d, 0, 0);
        assert_true(bound_of(r, &d, text, sizeof text) > 0);
        drop(&d);
    }
}

static void test_bound_f64(void **state)
{
    both_forms(state, bound_f64);
}

/* More lines than are sampled, each wrong in the last column: one for each sample, the worst of them named. */
static void bound_samples(runner *r)
{
    char     text[300];
    data     d;
    uint32_t found;
    qst_matmul_init(&d.p, 300, 20, 64, QST_F32);
    make(&d, 1);
    multiply(&d, 0, 0);
    for (int64_t i = 0; i < d.p.m; i++)
        put(QST_F32, d.memory[C], c_at(&d.p, 0, i, 19), i == d.p.m - 1 ? 5000.0 : 70.0);
    found = bound_of(r, &d, text, sizeof text);
    assert_int_equal(found, r->device.type == QST_DEVICE_CPU ? 16 : 32);
    assert_int_equal(strncmp(text, "C[299,19] is 5000, differs from", 31), 0);
    drop(&d);
}

static void test_bound_samples(void **state)
{
    both_forms(state, bound_samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_f32),           cmocka_unit_test(test_equal_types),
        cmocka_unit_test(test_two_errors_in_a_row), cmocka_unit_test(test_bound_f32),
        cmocka_unit_test(test_bound_f64),           cmocka_unit_test(test_bound_samples),
    };
    return cmocka_run_group_tests_name("matmul judge", tests, setup, teardown);
}
