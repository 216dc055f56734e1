/* SPDX-License-Identifier: MIT
 *
 * test_tuner.c: exact sequences of a tuning, by a scripted rig and clock: who is prepared (p:), checked (c:), sampled,
 * in which order, and what the findings then say. Unlike the reference there is no warm-up of its own: first contact,
 * which the check clocks, is one. A first round of n candidates thus costs n checks and n samples. */
#include "support/tuner_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- A round ---------------------------------------------------------------------------------------------------- */

/* The reference's trace A. c and d go after the third sample (over 1.5 times b's best of 96); a and b have converged
 * after the fifth, but 4 % between them are not believed before nine pairs. The reference: 16 samples, 5 warm-ups. */
static void five_candidates(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}, {.variant = "d"}, {.variant = "e"}};
    rig_script scripts[] = {{.samples = {130, 101, 100, 99, 100}},
                            {.samples = {115, 104, 96, 97, 96}},
                            {.samples = {260, 240, 238}},
                            {.samples = {170, 160, 158}},
                            {.check = QST_E_CL, .check_text = "clEnqueueNDRangeKernel: -5"}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 5);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a a p:b c:b b p:c c:c c p:d c:d d p:e c:e! "
                                   "a b c d d c b a a b b a a b b a a b b a a b close");
    assert_string_equal(winner(&b), "b");
    assert_string_equal(outcome(&b, 0), "TIMED");
    assert_string_equal(outcome(&b, 1), "TIMED");
    assert_string_equal(outcome(&b, 2), "ELIMINATED");
    assert_string_equal(why(&b, 2), "best of 3 samples 0.000238 ms, over 1.5 times 9.6e-05 ms");
    assert_string_equal(outcome(&b, 3), "ELIMINATED");
    assert_string_equal(outcome(&b, 4), "LAUNCH");
    assert_string_equal(why(&b, 4), "clEnqueueNDRangeKernel: -5");
    assert_int_equal(samples(&b, 2), 3);
    assert_int_equal(b.verdict.n_order, 4);
    assert_int_equal(b.verdict.order[1], 0);
    assert_int_equal(b.verdict.order[2], 3);
    assert_int_equal(b.verdict.order[3], 2);
    assert_string_equal(b.rig.commits, "a b c d e c d *");
    assert_int_equal(b.verdict.flags, 0);
    assert_int_equal(b.verdict.ruler, QST__RULER_MARKERS);
    finish(&b);
}

/* The longer it goes on, the nearer to the leader one has to be: c goes after the fifth sample, 20 % behind; d, as far
 * behind by its pairs, was as fast as the leader once and stays. */
static void narrows(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}, {.variant = "d"}};
    rig_script scripts[] = {{.samples = {1000, 1000, 999, 970, 940, 920}},
                            {.samples = {1000, 1000, 999, 980, 960, 925}},
                            {.samples = {1200, 1200, 1200, 1200, 1200}},
                            {.samples = {950, 1200, 1200, 1200, 1200}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 4);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(outcome(&b, 2), "ELIMINATED");
    assert_string_equal(why(&b, 2), "best of 5 samples 0.0012 ms, over 1.167 times 0.00094 ms");
    assert_int_equal(samples(&b, 2), 5);
    assert_string_equal(outcome(&b, 3), "TIMED");
    finish(&b);
}

/* The host becomes faster between c and b in the third round, which goes backwards: c has been slow three times, b and a
 * only twice. That alone does not eliminate it. */
static void host_speeds_up(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}};
    rig_script scripts[] = {{.samples = {460, 400, 230, 231, 230}},
                            {.samples = {450, 410, 240, 240, 241}},
                            {.samples = {400, 390, 395, 200, 201, 200}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 3);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(outcome(&b, 2), "TIMED");
    assert_string_equal(winner(&b), "c");
    finish(&b);
}

/* a is lucky for two rounds. c, slower by far in both and faster before, stays and wins; d, never faster, goes. */
static void lucky_leader(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}, {.variant = "d"}};
    rig_script scripts[] = {{.samples = {420, 180, 176, 400, 410, 400, 420}},
                            {.samples = {430, 440, 430, 450}},
                            {.samples = {340, 400, 365, 350}},
                            {.samples = {640, 650, 640}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 4);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(outcome(&b, 2), "TIMED");
    assert_string_equal(outcome(&b, 3), "ELIMINATED");
    assert_string_equal(winner(&b), "c");
    finish(&b);
}

/* Runs of milliseconds: the first one counts. c, 60 % slower, goes after its contact; d, 30 % slower, with a sample more;
 * the rest end as soon as it is clear. */
static void long_runs(void **state)
{
    enum { MS = 1000000 };
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}, {.variant = "d"}};
    rig_script scripts[] = {
        {.samples = {10 * MS}}, {.samples = {10 * MS + MS / 2}}, {.samples = {16 * MS}}, {.samples = {13 * MS}}};
    bench b;
    (void)state;

    start(&b, specs, scripts, 4);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(outcome(&b, 2), "ELIMINATED");
    assert_string_equal(why(&b, 2), "best of 1 samples 16 ms, over 1.5 times 10 ms");
    assert_string_equal(outcome(&b, 3), "ELIMINATED");
    assert_string_equal(why(&b, 3), "best of 2 samples 13 ms, over 1.167 times 10 ms");
    assert_string_equal(winner(&b), "a");
    assert_in_range(samples(&b, 0), 3, 6);
    finish(&b);

    /* a first run that was quick says that it may be quick */
    scripts[3].first_ns = 11 * MS;
    start(&b, specs, scripts, 4);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(outcome(&b, 3), "TIMED");
    assert_int_equal(samples(&b, 3), 2);
    finish(&b);
}

/* As if it had waited for half of the time since it began. */
static uint64_t half(void *user)
{
    return ((const scripted_rig *)user)->now / 2;
}

/* Times and totals: what the clock says, exactly. */
static void accounts(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}};
    rig_script scripts[] = {
        {.build_ns = 7000, .late_build_ns = 500, .first_ns = 120, .verify_ns = 40, .samples = {100}, .workspace = 64},
        {.check = QST_E_BUILD, .check_text = "error: expected ';'", .late_build_ns = 900, .samples = {1}},
    };
    bench b;
    (void)state;

    start(&b, specs, scripts, 2);
    b.rig.overhead_ns = 5;
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a a p:b c:b! a a close");
    assert_int_equal(b.verdict.findings[0].build_ns, 7500);
    assert_int_equal(b.verdict.findings[0].verify_ns, 40);
    assert_int_equal(b.verdict.findings[0].sample_ns, 120 + 3 * 105);
    assert_int_equal(b.verdict.findings[0].workspace, 64);
    assert_int_equal(b.verdict.findings[0].launches, 1);
    assert_int_equal(b.verdict.findings[1].build_ns, 900);
    assert_string_equal(outcome(&b, 1), "BUILD");
    assert_int_equal(b.verdict.total_ns, b.rig.now - 1000);
    assert_false(b.verdict.wait_known);
    finish(&b);

    start(&b, specs, scripts, 2);
    b.task.task.waited = half;
    assert_int_equal(tune(&b), QST_OK);
    assert_true(b.verdict.wait_known);
    assert_int_equal(b.verdict.wait_ns, b.rig.now / 2 - 500);
    finish(&b);
}

static void order_and_prune(void **state)
{
    toy_spec   specs[] = {{.variant = "f", .estimate = 9000e3, .fallback = true},
                          {.variant = "a", .estimate = 900e3, .group = "high"},
                          {.variant = "b", .estimate = 100e3},
                          {.variant = "u"},
                          {.variant = "c", .estimate = 801e3, .group = "high"},
                          {.variant = "v", .estimate = -1}};
    rig_script scripts[] = {{.samples = {450000}}, {.samples = {1000}},   {.samples = {100000}},
                            {.samples = {200000}}, {.samples = {100000}}, {.samples = {250000}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 6);
    assert_int_equal(tune(&b), QST_OK);
    /* unknown ones u and v, then by estimate; over 800 µs: a and c are never built, the fallback is */
    assert_memory_equal(b.rig.log, "open p:u c:u u p:v c:v v p:b c:b b p:f c:f f ", 45);
    assert_string_equal(outcome(&b, 1), "PRUNED");
    assert_string_equal(why(&b, 1), "not built: estimated 0.9 ms is over 8 times the best measured time, 0.1 ms");
    assert_string_equal(outcome(&b, 4), "PRUNED");
    assert_string_equal(winner(&b), "b");
    finish(&b);
}

static void outcomes_of_first_contact(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}, {.variant = "d"},
                          {.variant = "e"}, {.variant = "f"}, {.variant = "g"}};
    rig_script scripts[] = {
        {.samples = {100}},
        {.prepare = QST_E_UNSUPPORTED, .prepare_text = "n is 1000, not a multiple of 64"},
        {.prepare = QST_E_BUILD, .prepare_text = "k.cl:3: error", .build_ns = 10},
        {.prepare = QST_E_NOMEM},
        {.first_ns = 501, .samples = {501}},
        {.first_ns = 500, .check = QST_E_VERIFY, .check_text = "y[3] is 7, not 6", .samples = {1}},
        {.first_ns = 90, .samples = {RIG_TIMEOUT}, .n_samples = 1},
    };
    bench b;
    (void)state;

    start(&b, specs, scripts, 7);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a a p:b! p:c! p:d! p:e c:e! p:f c:f! p:g c:g g! g! a a close");
    assert_string_equal(outcome(&b, 0), "TIMED");
    assert_string_equal(outcome(&b, 1), "CANNOT");
    assert_string_equal(why(&b, 1), "n is 1000, not a multiple of 64");
    assert_string_equal(outcome(&b, 2), "BUILD");
    assert_string_equal(outcome(&b, 3), "LAUNCH");
    assert_string_equal(outcome(&b, 4), "SLOW");
    assert_string_equal(outcome(&b, 5), "WRONG");
    assert_string_equal(why(&b, 5), "y[3] is 7, not 6");
    assert_string_equal(outcome(&b, 6), "UNMEASURED");
    assert_int_equal(b.verdict.n_order, 1);
    finish(&b);
}

static void excluded_beforehand(void **state)
{
    char    *denied[] = {(char[]){"*.d/1"}};
    toy_spec specs[] = {
        {.variant = "a"}, {.variant = "b", .refuses = "no local memory"},    {.variant = "c", .fast_only = true},
        {.variant = "d"}, {.variant = "e", .group = "high", .priority = -1}, {.variant = "f", .poor = true},
        {.variant = "g"}};
    rig_script scripts[] = {{.samples = {100}}, {.samples = {1}}, {.samples = {1}},  {.samples = {1}},
                            {.samples = {1}},   {.samples = {1}}, {.samples = {300}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 7);
    b.task.settings.deny = (qst__strings){.data = denied, .count = 1};
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a a p:g c:g g a g g a a g g a close");
    assert_string_equal(outcome(&b, 1), "UNSUPPORTED");
    assert_string_equal(why(&b, 1), "no local memory");
    assert_string_equal(outcome(&b, 2), "CLASS");
    assert_string_equal(outcome(&b, 3), "REFUSED");
    assert_string_equal(outcome(&b, 4), "SKIPPED");
    assert_true(why(&b, 4)[0] != '\0');
    assert_string_equal(outcome(&b, 5), "UNTRIED");
    assert_int_equal(b.verdict.findings[5].poor, 1);
    assert_int_equal(b.verdict.findings[5].round, 2);
    assert_int_equal(b.verdict.findings[1].round, 0);
    finish(&b);
}

static void sole_candidate(void **state)
{
    toy_spec   specs[] = {{.variant = "a", .fallback = true}, {.variant = "b", .refuses = "never"}};
    rig_script scripts[] = {{.samples = {100}}, {.samples = {1}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 2);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a close");
    assert_string_equal(outcome(&b, 0), "VERIFIED");
    assert_int_equal(samples(&b, 0), 0);
    assert_string_equal(winner(&b), "a");
    assert_string_equal(b.rig.commits, "a *");
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, ""); /* nothing is left to find out */
    finish(&b);
}

/* A fallback that a pin leaves out is not what the pinned one is measured by, be it the answer so far. */
static void pinned_beside_an_answer(void **state)
{
    char      *pinned[] = {(char[]){"*.b/1"}};
    toy_spec   specs[] = {{.variant = "a", .fallback = true}, {.variant = "b", .poor = true, .estimate = 9e9}};
    rig_script scripts[] = {{.samples = {100}}, {.samples = {9000000}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 2);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(winner(&b), "a");
    assert_string_equal(outcome(&b, 1), "UNTRIED");
    b.task.settings.pin = (qst__strings){.data = pinned, .count = 1};
    assert_int_equal(tune(&b), QST_OK);
    assert_null(strstr(b.rig.log, "c:a"));
    assert_non_null(strstr(b.rig.log, "c:b"));
    assert_true(!strcmp(outcome(&b, 1), "VERIFIED") || !strcmp(outcome(&b, 1), "TIMED"));
    finish(&b);
}

/* ---- Samples ---------------------------------------------------------------------------------------------------- */

static uint64_t alternate(scripted_rig *self, uint32_t candidate, uint32_t k)
{
    (void)self;
    return candidate == 0 ? 100000 + 3000 * (k % 3) : 100000 + 3000 * ((k + k / 3) % 3);
}

/* Two that noise does not tell apart take samples until either is sure to cost no more than the other, more than a
 * quiet host would have, and the tie is settled by launches. */
static void last_two(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}};
    rig_script scripts[] = {{.samples = {100000}, .launches = 2}, {.samples = {100000}, .launches = 1}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 2);
    b.rig.draw = alternate;
    assert_int_equal(tune(&b), QST_OK);
    assert_in_range(samples(&b, 0), QST__FINAL_SAMPLES + 1, QST__SAMPLES_MAX - 1);
    assert_int_equal(samples(&b, 1), samples(&b, 0));
    assert_int_equal(b.rig.n_checks, 2);
    assert_string_equal(winner(&b), "b");
    finish(&b);
}

/* Improving by 2 % and more all the time never converges: max_samples ends it. */
static void no_convergence(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}};
    rig_script scripts[] = {{.samples = {1000, 950, 900, 850, 800, 750, 700, 650, 600, 550, 500, 450}},
                            {.samples = {1300, 1235, 1170, 1105, 1040, 975, 910, 845, 780, 715, 650, 585}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 2);
    b.task.settings.max_samples = 6;
    assert_int_equal(tune(&b), QST_OK);
    assert_int_equal(samples(&b, 0), 6);
    assert_int_equal(samples(&b, 1), 6);
    finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_candidates),
        cmocka_unit_test(narrows),
        cmocka_unit_test(host_speeds_up),
        cmocka_unit_test(lucky_leader),
        cmocka_unit_test(long_runs),
        cmocka_unit_test(accounts),
        cmocka_unit_test(order_and_prune),
        cmocka_unit_test(outcomes_of_first_contact),
        cmocka_unit_test(excluded_beforehand),
        cmocka_unit_test(sole_candidate),
        cmocka_unit_test(pinned_beside_an_answer),
        cmocka_unit_test(last_two),
        cmocka_unit_test(no_convergence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
