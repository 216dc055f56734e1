/* SPDX-License-Identifier: MIT
 *
 * test_compare.c: what samples of several candidates say of each: levels beside rounds of any slowness, how sure they are,
 * what is a tie, and who is compared on. */
#include "support/scripted_rig.h"
#include "tune/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 6 };

static const uint32_t in_order[MOST] = {0, 1, 2, 3, 4, 5};

static qst__fit fit_of(const qst__samples *samples, const uint32_t *who, uint32_t n)
{
    qst__fit fit;

    qst__compare(&fit, (qst__series){.first = samples, .stride = sizeof *samples}, who, n);
    return fit;
}

static void assert_near(double value, double expected, double within)
{
    if (!(value > expected - within && value < expected + within))
        fail_msg("%.9g, not %.9g within %g", value, expected, within);
}

/* a and c have no round in common, and the host is three times as slow when c is sampled: b tells how they compare. */
static void compares_over_a_third(void **state)
{
    qst__samples s[3];
    qst__fit     fit;
    (void)state;

    memset(s, 0, sizeof s);
    for (uint32_t round = 1; round <= 16; round++) {
        uint64_t slowness = round <= 8 ? 1000 : 3000;
        if (round <= 8)
            qst__samples_push(&s[0], 100 * slowness, round);
        qst__samples_push(&s[1], 110 * slowness, round);
        if (round > 8)
            qst__samples_push(&s[2], 104 * slowness, round);
    }
    fit = fit_of(s, in_order, 3);
    assert_near(qst__fit_ratio(&fit, 2, 0), 1.04, 1e-4);
    assert_near(qst__fit_ratio(&fit, 0, 1), 100.0 / 110.0, 1e-4);
    assert_true(fit.samples[0] == 7 && fit.samples[1] == 14 && fit.samples[2] == 7);
}

static void one_disturbed_sample_counts_as_one(void **state)
{
    qst__samples s[3];
    qst__fit     fit;
    (void)state;

    memset(s, 0, sizeof s);
    for (uint32_t round = 1; round <= 9; round++)
        for (uint32_t i = 0; i < 3; i++)
            qst__samples_push(&s[i], (round == 5 && i == 1 ? 9000000 : 1000000) + 10000 * i, round);
    fit = fit_of(s, in_order, 3);
    assert_near(qst__fit_ratio(&fit, 1, 0), 1.01, 1e-4);
    assert_near(qst__fit_ratio(&fit, 2, 0), 1.02, 1e-4);
}

static void no_round_in_common(void **state)
{
    qst__samples s[2];
    qst__fit     fit;
    (void)state;

    memset(s, 0, sizeof s);
    qst__samples_push(&s[0], 110, 1);
    qst__samples_push(&s[1], 55, 2);
    fit = fit_of(s, in_order, 2);
    assert_near(qst__fit_ratio(&fit, 0, 1), 2, 1e-9); /* the medians are all there is */
    assert_true(qst__fit_doubt(&fit, 0, 1) > 1e9);
}

/* Noise of 10 % made up from a seed: the doubt of 200 fits holds the true ratio in 95 of 100, more or less, and halves with
 * four times the samples. */
static void doubt_is_what_it_says(void **state)
{
    uint64_t seed = 5;
    double   width[2] = {0, 0};
    (void)state;

    for (uint32_t k = 0; k < 2; k++) {
        uint32_t held = 0;
        for (uint32_t t = 0; t < 200; t++) {
            qst__samples s[MOST];
            qst__fit     fit;
            memset(s, 0, sizeof s);
            for (uint32_t round = 0; round < (k ? 33u : 9u); round++) {
                double slowness = 1 + scripted_draw(&seed);
                for (uint32_t i = 0; i < MOST; i++) {
                    double noise = 0; /* near enough to a normal one */
                    for (uint32_t j = 0; j < 12; j++)
                        noise += scripted_draw(&seed) - 0.5;
                    qst__samples_push(&s[i], (uint64_t)(1e7 * slowness * (1 + 0.1 * noise)), round);
                }
            }
            fit = fit_of(s, in_order, MOST);
            held += qst__fit_ratio(&fit, 0, 1) > 1 - qst__fit_doubt(&fit, 0, 1) &&
                    qst__fit_ratio(&fit, 0, 1) < 1 + qst__fit_doubt(&fit, 0, 1);
            width[k] += qst__fit_doubt(&fit, 0, 1);
        }
        assert_in_range(held, 176, 200);
    }
    assert_near(width[0] / width[1], 2, 0.25);
}

/* Which candidate stands where changes nothing, to the last bit. */
static void order_does_not_matter(void **state)
{
    uint64_t     seed = 9;
    qst__samples s[MOST];
    qst__fit     straight;
    (void)state;

    memset(s, 0, sizeof s);
    for (uint32_t round = 0; round < 20; round++)
        for (uint32_t i = 0; i < MOST; i++)
            if (scripted_draw(&seed) < 0.8)
                qst__samples_push(&s[i], (uint64_t)(1e6 * (1 + scripted_draw(&seed))), round);
    straight = fit_of(s, in_order, MOST);
    for (uint32_t shift = 1; shift < MOST; shift++) {
        uint32_t who[MOST];
        qst__fit turned;
        for (uint32_t i = 0; i < MOST; i++)
            who[i] = (i + shift) % MOST;
        turned = fit_of(s, who, MOST);
        for (uint32_t i = 0; i < MOST; i++)
            assert_memory_equal(&turned.level[i], &straight.level[who[i]], sizeof turned.level[i]);
    }
}

/* A tie is within 1.5 %, and where the doubt of the ratio, 1.84 times the noise here, is no more than 2.5 %. */
static void ties_by_doubt(void **state)
{
    qst__fit fit = {.n = 2, .level = {0, 0.014}, .samples = {8, 8}};
    (void)state;

    fit.sigma = 0.001;
    assert_true(qst__fit_tied(&fit, 1, 0));
    fit.sigma = 0.013;
    assert_true(qst__fit_tied(&fit, 1, 0));
    fit.sigma = 0.014;
    assert_false(qst__fit_tied(&fit, 1, 0));
    fit.level[1] = 0.017;
    fit.sigma = 0.001;
    assert_false(qst__fit_tied(&fit, 1, 0));
}

/* Compared on: what may be faster by more than the lead may cost, and what is near while there are few samples. */
static void who_is_compared_on(void **state)
{
    qst__fit fit = {.n = 2, .level = {0, 0.05}, .samples = {4, 4}, .sigma = 0.001};
    (void)state;

    assert_true(qst__fit_open(&fit, 1, 0, 9, 1.05)); /* near, and few */
    fit.samples[0] = fit.samples[1] = 9;
    assert_false(qst__fit_open(&fit, 1, 0, 9, 1.05));
    fit.sigma = 0.1;
    assert_true(qst__fit_open(&fit, 1, 0, 9, 1.05)); /* it may well be faster */
    fit.level[1] = 0.5;
    assert_false(qst__fit_open(&fit, 1, 0, 9, 1.1)); /* surely slower */
    fit.samples[0] = fit.samples[1] = 4;
    assert_false(qst__fit_open(&fit, 1, 0, 9, 1.6));
    assert_true(qst__fit_open(&fit, 1, 0, 9, 1.1)); /* at its best it was near: few samples may mislead */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares_over_a_third), cmocka_unit_test(one_disturbed_sample_counts_as_one),
        cmocka_unit_test(no_round_in_common),    cmocka_unit_test(doubt_is_what_it_says),
        cmocka_unit_test(order_does_not_matter), cmocka_unit_test(ties_by_doubt),
        cmocka_unit_test(who_is_compared_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
