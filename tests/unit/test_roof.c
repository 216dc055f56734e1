/* SPDX-License-Identifier: MIT
 *
 * test_roof.c: the time limit from work and peaks, against numbers worked out by hand. */
#include "tune/tuner.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* 1024 cubed in f32: 2 146 435 072 operations, 12 582 912 bytes. 9.0443e12 a second, 0.8 of it, 3.626 us more. */
static void worked_example(void **state)
{
    const qst_work work = {.ops = 2146435072.0, .bytes = 12582912.0};
    (void)state;

    assert_in_range(qst__roof(&work, 9.0443e12, 3.1988e11, 3626, QST__LEVEL_BALANCED), 300280, 300283);
}

static void levels(void **state)
{
    const qst_work work = {.ops = 6000, .bytes = 1};
    (void)state;

    assert_int_equal(qst__roof(&work, 1e9, 1e9, 0, QST__LEVEL_MINIMAL), 10000);
    assert_int_equal(qst__roof(&work, 1e9, 1e9, 0, QST__LEVEL_BALANCED), 7500);
    assert_in_range(qst__roof(&work, 1e9, 1e9, 0, QST__LEVEL_EXTENSIVE), 6315, 6316);
    assert_int_equal(qst__roof(&work, 1e9, 1e9, 0, QST__LEVEL_FULL), 0);
    assert_int_equal(qst__roof(&work, 1e9, 1e9, 0, 77), 0);
}

static void the_tighter_bound(void **state)
{
    const qst_work work = {.ops = 100, .bytes = 12000};
    (void)state;

    assert_int_equal(qst__roof(&work, 1e9, 1e9, 0, QST__LEVEL_MINIMAL), 20000); /* memory binds */
    assert_int_equal(qst__roof(&work, 1e9, 1e9, 50, QST__LEVEL_MINIMAL), 20050);
}

/* Where a launch is a large part of it, a time under the limit tells of launches and not of kernels. */
static void mostly_launch(void **state)
{
    const qst_work work = {.ops = 6000, .bytes = 1};
    (void)state;

    assert_int_equal(qst__roof(&work, 1e9, 1e9, 2500, QST__LEVEL_BALANCED), 10000);
    assert_int_equal(qst__roof(&work, 1e9, 1e9, 2501, QST__LEVEL_BALANCED), 0);
    assert_int_equal(qst__roof_at(&work, 1e9, 1e9, 2501, 0.8), 10001);
}

static void useless_peaks(void **state)
{
    const qst_work work = {.ops = 6000, .bytes = 12000};
    const qst_work none = {.ops = 0, .bytes = 0};
    const double   bad[] = {0, -1, NAN, INFINITY, -INFINITY, 1e-310};
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(qst__roof(&work, 1e9, bad[i], 0, QST__LEVEL_MINIMAL), 10000);
        assert_int_equal(qst__roof(&work, bad[i], 1e9, 0, QST__LEVEL_MINIMAL), 20000);
        assert_int_equal(qst__roof(&work, bad[i], bad[i], 3626, QST__LEVEL_MINIMAL), 0); /* overhead is no limit */
    }
    assert_int_equal(qst__roof(&none, 1e9, 1e9, 3626, QST__LEVEL_MINIMAL), 0);
    assert_int_equal(qst__roof(&work, 1e9, 0, NAN, QST__LEVEL_MINIMAL), 10000);
    assert_int_equal(qst__roof(&work, 1e9, 0, -5, QST__LEVEL_MINIMAL), 10000);
    assert_int_equal(qst__roof(&work, 1e-200, 0, 0, QST__LEVEL_MINIMAL), 0); /* more than fits */
}

/* All of the peaks is what can be attained at all; a launch is never scaled. */
static void stated_part(void **state)
{
    const qst_work work = {.ops = 6000, .bytes = 12000}, none = {.ops = 0, .bytes = 0};
    (void)state;

    assert_int_equal(qst__roof_at(&work, 1e9, 4e9, 500, 1.0), 6500);
    assert_int_equal(qst__roof_at(&work, 1e9, 4e9, 500, 0.5), 12500);
    assert_int_equal(qst__roof_at(&work, 1e9, 1e9, 0, 1.0), 12000);
    assert_int_equal(qst__roof_at(&none, 1e9, 1e9, 500, 1.0), 0);
    assert_int_equal(qst__roof_at(&work, 1e9, 1e9, 0, 0.6), qst__roof(&work, 1e9, 1e9, 0, QST__LEVEL_MINIMAL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example), cmocka_unit_test(levels),        cmocka_unit_test(the_tighter_bound),
        cmocka_unit_test(mostly_launch),  cmocka_unit_test(useless_peaks), cmocka_unit_test(stated_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
