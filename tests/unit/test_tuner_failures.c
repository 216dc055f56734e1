/* SPDX-License-Identifier: MIT
 *
 * test_tuner_failures.c: a tuning in which something fails: all of a round, the rig, the clock, a candidate that began
 * well, and each allocation. */
#include "support/meter.h"
#include "support/tuner_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- Rounds ----------------------------------------------------------------------------------------------------- */

/* The only one of the higher group fails at every launch: its round is empty, the second names the winner. */
static void saboteur(void **state)
{
    toy_spec   specs[] = {{.variant = "n", .group = "low", .priority = 1, .fallback = true},
                          {.variant = "s", .group = "high", .priority = 1},
                          {.variant = "m", .group = "low", .priority = 1}};
    rig_script scripts[] = {{.samples = {200}}, {.check = QST_E_CL}, {.samples = {100}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 3);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:s c:s! p:n c:n n p:m c:m m n m m n n m m n close");
    assert_int_equal(b.verdict.findings[1].round, 1);
    assert_int_equal(b.verdict.findings[0].round, 2);
    assert_string_equal(outcome(&b, 1), "LAUNCH");
    assert_string_equal(winner(&b), "m");
    finish(&b);
}

static void nobody_is_right(void **state)
{
    toy_spec   specs[] = {{.variant = "n", .group = "low", .fallback = true}, {.variant = "a", .group = "high"}};
    rig_script scripts[] = {{.prepare = QST_E_BUILD, .prepare_text = "no compiler"},
                            {.check = QST_E_VERIFY, .samples = {1}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 2);
    assert_int_equal(tune(&b), QST_E_NOTFOUND);
    assert_string_equal(b.rig.log, "open p:a c:a! p:n! close");
    assert_string_equal(b.err.text, "scale: none of 2 candidates gives a right result; scale.toy.n/1: does not build: "
                                    "no compiler");
    assert_string_equal(b.rig.commits, "a n *");
    finish(&b);
}

/* Where nobody can run the problem, nothing is opened: what that costs is told for nothing. */
static void nobody_can(void **state)
{
    toy_spec   specs[] = {{.variant = "n", .group = "low", .fallback = true, .cannot = "too long"},
                          {.variant = "a", .group = "high", .cannot = "too wide"}};
    rig_script scripts[2] = {{.samples = {1}}, {.samples = {1}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 2);
    assert_int_equal(tune(&b), QST_E_NOTFOUND);
    assert_string_equal(b.rig.log, "");
    assert_string_equal(b.err.text, "scale: none of 2 candidates can run this problem; scale.toy.n/1: cannot run this "
                                    "problem: too long");
    assert_string_equal(outcome(&b, 0), "CANNOT");
    assert_string_equal(outcome(&b, 1), "CANNOT");
    assert_string_equal(b.verdict.findings[1].why, "too wide");
    finish(&b);

    specs[0].cannot = NULL; /* one who can is enough; of others the rig asks in their turn */
    start(&b, specs, scripts, 2);
    assert_int_equal(tune(&b), QST_OK);
    assert_memory_equal(b.rig.log, "open", 4);
    finish(&b);
}

/* Where nothing can be timed, the fallback that was found right serves. */
static void no_clock(void **state)
{
    toy_spec   specs[] = {{.variant = "n", .group = "low", .fallback = true}, {.variant = "a", .group = "high"}};
    rig_script scripts[] = {{.first_ns = 9, .samples = {RIG_TIMEOUT}, .n_samples = 1},
                            {.first_ns = 9, .samples = {RIG_TIMEOUT}, .n_samples = 1}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 2);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a a! a! p:n c:n n! n! close");
    assert_string_equal(outcome(&b, 0), "VERIFIED");
    assert_string_equal(outcome(&b, 1), "UNMEASURED");
    assert_string_equal(winner(&b), "n");
    finish(&b);
}

/* What others were compared with is outvoted: it goes, and who differed from it comes again; once. */
static void fallback_is_wrong(void **state)
{
    toy_spec   specs[] = {{.variant = "n", .group = "low", .fallback = true},
                          {.variant = "a", .group = "low"},
                          {.variant = "b", .group = "low"}};
    rig_script scripts[] = {{.samples = {200}},
                            {.check = QST_E_VERIFY, .samples = {1}},
                            {.check = QST_E_STALE, .check_text = "outvoted", .samples = {1}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 3);
    assert_int_equal(tune(&b), QST_E_NOTFOUND);
    assert_string_equal(b.rig.log, "open p:n c:n n p:a c:a! p:b c:b! p:a c:a! p:b c:b! close");
    assert_string_equal(outcome(&b, 0), "WRONG");
    assert_string_equal(b.verdict.findings[0].why, "outvoted");
    assert_int_equal(b.verdict.findings[0].samples.count, 0);
    finish(&b);
}

static void open_fails(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}};
    rig_script scripts[] = {{.samples = {1}}, {.samples = {1}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 2);
    b.rig.open = QST_E_CL;
    assert_int_equal(tune(&b), QST_E_CL);
    assert_string_equal(b.rig.log, "open");
    assert_string_equal(b.rig.commits, "");
    assert_int_equal(b.verdict.flags, 0);
    finish(&b);
}

/* ---- Samples ---------------------------------------------------------------------------------------------------- */

/* A vendor's candidate is in no group. Its programs may cost more than all others': one without a chance is not built,
 * and the verdict says why. tune.prune_factor 0 has each one race. */
static void hopeless_baseline(void **state)
{
    toy_spec   specs[] = {{.variant = "a", .group = "high"}, {.variant = "v", .estimate = 801e3}};
    rig_script scripts[] = {{.samples = {100000}}, {.samples = {120000}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 2);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(outcome(&b, 1), "PRUNED");
    assert_string_equal(why(&b, 1), "not built: estimated 0.801 ms is over 8 times the best measured time, 0.1 ms");
    assert_int_equal(b.verdict.findings[1].round, 1);
    finish(&b);

    /* so little is not worth leaving out, whatever it is beside the best */
    specs[1].estimate = 99e3;
    scripts[0].samples[0] = 100;
    scripts[1].samples[0] = 120;
    start(&b, specs, scripts, 2);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(outcome(&b, 1), "TIMED");
    finish(&b);

    specs[1].estimate = 801e3;
    start(&b, specs, scripts, 2);
    b.task.settings.prune_factor = 0;
    assert_int_equal(tune(&b), QST_OK);
    assert_memory_equal(b.rig.log, "open p:a c:a a p:v c:v v ", 25);
    assert_string_equal(outcome(&b, 1), "TIMED");
    finish(&b);
}

static void wrong_later(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}, {.variant = "p", .group = "high", .estimate = 900e3}};
    rig_script scripts[] = {
        {.samples = {100000, RIG_WRONG}}, {.first_ns = 501000, .samples = {900000}}, {.samples = {800000}}};
    bench b;
    (void)state;

    start(&b, specs, scripts, 3);
    assert_int_equal(tune(&b), QST_OK);
    /* b is too slow beside a, p is pruned; then a turns out wrong and both get another chance */
    assert_string_equal(b.rig.log, "open p:a c:a a p:b c:b! a! p:b c:b b p:p c:p p b p p b b p p b close");
    assert_string_equal(outcome(&b, 0), "WRONG");
    assert_int_equal(samples(&b, 0), 0);
    assert_string_equal(winner(&b), "p");
    assert_string_equal(why(&b, 1), "");
    finish(&b);
}

static void launch_fails_later(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}};
    rig_script scripts[] = {{.samples = {100}}, {.samples = {50, 50, RIG_BROKEN}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 2);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a a p:b c:b b a b b! a close");
    assert_string_equal(outcome(&b, 1), "LAUNCH");
    assert_string_equal(winner(&b), "a");
    finish(&b);
}

/* One without a valid time now and then keeps what it has. */
static void timeouts_between(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}};
    rig_script scripts[] = {{.samples = {RIG_TIMEOUT, 100, RIG_TIMEOUT, 100, 100, 100, 100, 100}, .n_samples = 8},
                            {.samples = {300}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 2);
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a a! a p:b c:b b a! b b a a b b a a b close");
    assert_int_equal(samples(&b, 0), 5);
    assert_int_equal(samples(&b, 1), 6);
    assert_string_equal(winner(&b), "a");
    finish(&b);
}

/* ---- Nothing builds ------------------------------------------------------------------------------------------------ */

/* The tuning ends there, by a program of launches or by a vendor's library. What was found stays, nothing is held against
 * anyone, and the next tuning goes on. */
static void halted(void **state)
{
    toy_spec specs[] = {{.variant = "n", .fallback = true}, {.variant = "a"}, {.variant = "b"}, {.variant = "c"}};
    (void)state;

    for (int late = 0; late < 2; late++) {
        rig_script scripts[] = {{.samples = {200}}, {.samples = {190}}, {.samples = {100}}, {.samples = {195}}};
        bench      b;
        scripts[2].unable = true;
        scripts[2].prepare = late ? QST_OK : QST_E_BUILD;
        scripts[2].check = late ? QST_E_CL : QST_OK;
        scripts[2].prepare_text = scripts[2].check_text = "the disk is full";
        start(&b, specs, scripts, 4);
        assert_int_equal(tune(&b), late ? QST_E_CL : QST_E_BUILD);
        assert_string_equal(b.err.text, "the disk is full");
        assert_string_equal(b.rig.log,
                            late ? "open p:n c:n n p:a c:a a p:b c:b! close" : "open p:n c:n n p:a c:a a p:b! close");
        assert_string_equal(b.rig.commits, "n a");
        assert_string_equal(outcome(&b, 1), "TIMED");
        assert_string_equal(outcome(&b, 2), "UNTRIED");
        assert_string_equal(outcome(&b, 3), "UNTRIED");
        assert_true(b.verdict.flags & QST__VERDICT_PARTIAL);

        scripts[2].unable = false;
        scripts[2].prepare = scripts[2].check = QST_OK;
        assert_int_equal(tune(&b), QST_OK);
        assert_string_equal(winner(&b), "b");
        assert_false(b.verdict.flags & QST__VERDICT_PARTIAL);
        finish(&b);
    }
}

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

/* Each allocation fails once: E_NOMEM or a verdict without some reason, never a leak. */
static void memory_fails(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}};
    rig_script scripts[] = {{.samples = {100}}, {.samples = {200}}, {.prepare = QST_E_BUILD}};
    uint32_t   failed = 0;
    (void)state;

    for (uint32_t at = 0; at < 200; at++) {
        meter      m = {.left = (int)at};
        qst__alloc alloc = meter_alloc(&m);
        bench      b;
        qst_status status;
        start(&b, specs, scripts, 3);
        b.task.task.alloc = &alloc;
        status = tune(&b);
        assert_int_equal(m.live, 0);
        assert_int_equal(status, status == QST_OK ? QST_OK : QST_E_NOMEM);
        failed += status != QST_OK;
        finish(&b);
        if (status == QST_OK)
            break;
    }
    assert_in_range(failed, 5, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saboteur),          cmocka_unit_test(nobody_is_right),   cmocka_unit_test(nobody_can),
        cmocka_unit_test(fallback_is_wrong), cmocka_unit_test(no_clock),          cmocka_unit_test(open_fails),
        cmocka_unit_test(wrong_later),       cmocka_unit_test(hopeless_baseline), cmocka_unit_test(launch_fails_later),
        cmocka_unit_test(timeouts_between),  cmocka_unit_test(memory_fails),      cmocka_unit_test(halted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
