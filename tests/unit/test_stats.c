/* SPDX-License-Identifier: MIT
 *
 * test_stats.c: convergence, elimination, the roof's confirmation; exact samples, no tolerance on times. */
#include "model/stats.h"

#include <stddef.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static qst__samples samples_of(const uint64_t *ns, uint32_t n)
{
    qst__samples samples;
    memset(&samples, 0, sizeof samples);
    for (uint32_t i = 0; i < n; i++)
        qst__samples_push(&samples, ns[i], i);
    return samples;
}

#define SAMPLES(...) samples_of((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

/* ---- One candidate ----------------------------------------------------------------------------------------------- */

static void test_convergence(void **state)
{
    (void)state;
    qst__samples s;
    memset(&s, 0, sizeof s);
    static const uint64_t ns[] = {100, 20, 20, 20, 20};
    for (uint32_t i = 0; i < 5; i++) {
        assert_false(qst__samples_converged(&s));
        qst__samples_push(&s, ns[i], i);
    }
    assert_true(qst__samples_converged(&s)); /* at the fifth, the earliest there can be */

    s = SAMPLES(130, 101, 100, 99); /* a gain under 2 % is a stall */
    assert_int_equal(s.stalled, 1);
    assert_int_equal(s.best, 99);
    qst__samples_push(&s, 100, 4);
    assert_true(qst__samples_converged(&s));
    qst__samples_push(&s, 90, 5); /* a real gain begins anew */
    assert_false(qst__samples_converged(&s));
    assert_int_equal(s.stalled, 0);
}

static void test_reliable(void **state)
{
    (void)state;
    qst__samples s = SAMPLES(10, 50);
    assert_int_equal(qst__samples_min(&s), 10); /* fewer than three: all count */
    assert_int_equal(qst__samples_median(&s), 30);
    qst__samples_push(&s, 40, 2);
    assert_int_equal(qst__samples_min(&s), 40); /* the lucky first one does not count any more */
    assert_int_equal(qst__samples_median(&s), 45);
    assert_true(qst__samples_spread(&s) == 0.0);
    s = SAMPLES(900, 100, 110, 120, 130);
    assert_int_equal(qst__samples_median(&s), 115);
    assert_true(qst__samples_spread(&s) == (120.0 - 100.0) / 115.0);
    s = SAMPLES(0);
    assert_int_equal(s.count, 0); /* no measurement */
    assert_int_equal(qst__samples_min(&s), 0);
    assert_int_equal(qst__samples_median(&s), 0);
}

static void test_full(void **state)
{
    (void)state;
    qst__samples s;
    memset(&s, 0, sizeof s);
    for (uint32_t i = 0; i < QST__SAMPLES_MAX + 5; i++)
        qst__samples_push(&s, 100 + i, i);
    assert_int_equal(s.count, QST__SAMPLES_MAX);
    assert_int_equal(s.ns[QST__SAMPLES_MAX - 1], 100 + QST__SAMPLES_MAX - 1);
    assert_int_equal(qst__samples_min(&s), 101);
}

static void test_under(void **state)
{
    (void)state;
    qst__samples s = SAMPLES(99);
    assert_true(qst__samples_under(&s, 100, 1));
    assert_false(qst__samples_under(&s, 100, 2));
    qst__samples_push(&s, 108, 1); /* the confirmation fails */
    assert_false(qst__samples_under(&s, 100, 2));
    qst__samples_push(&s, 100, 2); /* the limit itself is under it, and the first sample counts here */
    assert_true(qst__samples_under(&s, 100, 2));
    assert_false(qst__samples_under(&s, 98, 1));
}

/* ---- Elimination ------------------------------------------------------------------------------------------------- */

#define CROWD 5

/* Three equal samples each, then the elimination at factor 1.5. */
static uint32_t eliminate(const uint64_t *best, uint32_t n, const bool *live, bool out[CROWD])
{
    qst__samples        samples[CROWD];
    const qst__samples *of[CROWD];
    bool                all[CROWD] = {true, true, true, true, true};
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t ns[3] = {best[i], best[i], best[i]};
        samples[i] = samples_of(ns, 3);
        of[i] = &samples[i];
    }
    return qst__samples_eliminate(of, live ? live : all, n, 3, 1.5, out);
}

static void test_eliminate(void **state)
{
    (void)state;
    bool out[CROWD];
    assert_int_equal(eliminate((uint64_t[]){100, 105, 900}, 3, NULL, out), 1);
    assert_true(!out[0] && !out[1] && out[2]);
    assert_int_equal(eliminate((uint64_t[]){100, 105, 140}, 3, NULL, out), 0);
    assert_true(!out[0] && !out[1] && !out[2]);
    assert_int_equal(eliminate((uint64_t[]){100, 105, 150}, 3, NULL, out), 0); /* at the threshold, not over it */
    assert_int_equal(eliminate((uint64_t[]){100, 900, 950}, 3, NULL, out), 1); /* never under two survivors */
    assert_true(!out[0] && !out[1] && out[2]);
    assert_int_equal(eliminate((uint64_t[]){100, 900}, 2, NULL, out), 0);
    assert_int_equal(eliminate((uint64_t[]){100, 96, 238, 158}, 4, NULL, out), 2); /* trace A of the reference */
    assert_true(!out[0] && !out[1] && out[2] && out[3]);
    assert_int_equal(eliminate((uint64_t[]){900, 100, 950, 925, 99}, 5, NULL, out), 3);
    assert_true(out[0] && !out[1] && out[2] && out[3] && !out[4]);
}

static void test_eliminate_live(void **state)
{
    (void)state;
    bool out[CROWD];
    /* The dead one is neither the measure nor counted among the survivors. */
    const bool live[CROWD] = {false, true, true, true};
    assert_int_equal(eliminate((uint64_t[]){10, 100, 900, 950}, 4, live, out), 1);
    assert_true(!out[0] && !out[1] && !out[2] && out[3]);

    /* Two samples are too few to go by. */
    qst__samples        a = SAMPLES(100, 100, 100), b = a, c = SAMPLES(900, 900);
    const qst__samples *of[] = {&a, &b, &c};
    const bool          all[] = {true, true, true};
    assert_int_equal(qst__samples_eliminate(of, all, 3, 3, 1.5, out), 0);
    assert_int_equal(qst__samples_eliminate(of, all, 3, 2, 1.5, out), 1);
}

static void test_one_outlier(void **state)
{
    (void)state;
    bool                out[3];
    qst__samples        a = SAMPLES(100, 100, 100), b = a, c = SAMPLES(100, 101, 9000);
    const qst__samples *of[] = {&a, &b, &c};
    const bool          all[] = {true, true, true};
    assert_int_equal(qst__samples_eliminate(of, all, 3, 3, 1.5, out), 0);
}

/* Slow twice and fast at first, on a host with two speeds: it may still be the best. */
static void test_promise(void **state)
{
    (void)state;
    bool                out[3];
    qst__samples        a = SAMPLES(100, 100, 100), b = a, c = SAMPLES(90, 190, 195), d = SAMPLES(160, 190, 195);
    const qst__samples *of[] = {&a, &b, &c};
    const bool          all[] = {true, true, true};
    assert_int_equal(qst__samples_promise(&c), 90);
    assert_int_equal(qst__samples_min(&c), 190);
    assert_int_equal(qst__samples_eliminate(of, all, 3, 3, 1.5, out), 0);
    of[2] = &d;
    assert_int_equal(qst__samples_eliminate(of, all, 3, 3, 1.5, out), 1);
    assert_true(out[2]);
}

static void test_numbers(void **state)
{
    (void)state;
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, one[] = {7};
    assert_true(qst__median(odd, 3) == 2.0);
    assert_true(qst__median(even, 4) == 2.5);
    assert_true(qst__median(one, 1) == 7.0 && qst__median(one, 0) == 0.0);
    assert_true(qst__quantile(even, 4, 0.0) == 1.0 && qst__quantile(even, 4, 0.25) == 1.0);
    assert_true(qst__quantile(even, 4, 0.26) == 2.0 && qst__quantile(even, 4, 0.75) == 3.0);
    assert_true(qst__quantile(even, 4, 1.0) == 4.0 && qst__quantile(one, 0, 0.5) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convergence), cmocka_unit_test(test_reliable),  cmocka_unit_test(test_full),
        cmocka_unit_test(test_under),       cmocka_unit_test(test_eliminate), cmocka_unit_test(test_eliminate_live),
        cmocka_unit_test(test_one_outlier), cmocka_unit_test(test_promise),   cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
