/* SPDX-License-Identifier: MIT
 *
 * test_tuner_budget.c: what ends a tuning before all is known: a time at the roof, once it is confirmed, and a spent
 * budget; and how a tuning that was ended by a budget goes on. */
#include "support/tuner_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS 1000000u

/* ---- The roof --------------------------------------------------------------------------------------------------- */

/* The reference's trace B: b's second sample does not confirm, c's does; d is never built. */
static void roof_confirmed(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}, {.variant = "d"}};
    rig_script scripts[] = {{.samples = {130}}, {.samples = {99, 108}}, {.samples = {98}}, {.samples = {1}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 4);
    b.task.task.limit_ns = 100;
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a a p:b c:b b b p:c c:c c c close");
    assert_string_equal(outcome(&b, 3), "UNTRIED");
    assert_string_equal(why(&b, 3), "ended by the roof: 2 samples under 100 ns");
    assert_string_equal(winner(&b), "c");
    assert_int_equal(b.verdict.flags, QST__VERDICT_ROOF);
    assert_int_equal(b.verdict.limit_ns, 100);
    finish(&b);
}

/* The reference's trace C: b is confirmed in a sampling round. There a wins on a single lucky sample, here b does. */
static void roof_needs_evidence(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}};
    rig_script scripts[] = {{.samples = {130, 90, 120}}, {.samples = {99, 140, 120, 97}}, {.samples = {104, 103, 102}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 3);
    b.task.task.limit_ns = 100;
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a a p:b c:b b b p:c c:c c a b c c b a close");
    assert_string_equal(winner(&b), "b");
    finish(&b);
}

static void roof_switched_off(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}};
    rig_script scripts[] = {{.samples = {90}}, {.samples = {50}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 2);
    b.task.task.limit_ns = 100;
    b.task.settings.short_circuit = false;
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(winner(&b), "b");
    assert_int_equal(b.verdict.flags, 0);
    finish(&b);
}

/* ---- Budgets ---------------------------------------------------------------------------------------------------- */

static void budget_ends_and_goes_on(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}, {.variant = "d"}};
    rig_script scripts[] = {{.samples = {2 * MS}}, {.samples = {3 * MS}}, {.samples = {1 * MS}}, {.samples = {4 * MS}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 4);
    b.task.settings.budget_ms = 9;
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a a p:b c:b b close");
    assert_string_equal(outcome(&b, 2), "BUDGET");
    assert_string_equal(why(&b, 2), "10.0 ms of checks and samples, 0.0 ms of builds were spent");
    assert_string_equal(outcome(&b, 3), "BUDGET");
    assert_int_equal(b.verdict.flags, QST__VERDICT_PARTIAL);
    assert_string_equal(winner(&b), "a");

    /* the reigning a goes first, b still lacks samples; then the budget is spent before c */
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a a p:b c:b b close");
    assert_int_equal(b.verdict.flags, QST__VERDICT_PARTIAL);

    b.task.settings.budget_ms = 0;
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a a p:b c:b b p:c c:c c p:d c:d d a b c c b a a c c a close");
    assert_int_equal(b.verdict.flags, 0);
    assert_string_equal(winner(&b), "c");
    assert_string_equal(outcome(&b, 3), "ELIMINATED");
    finish(&b);
}

/* Only what was left out is contacted besides the winner; its old samples do not decide, new pairs do. */
static void resumed_contacts_the_rest(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}};
    rig_script scripts[] = {{.build_ns = 5 * MS, .samples = {200}},
                            {.build_ns = 5 * MS, .samples = {300}},
                            {.build_ns = 5 * MS, .samples = {180}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 3);
    b.task.settings.build_budget_ms = 10;
    assert_int_equal(tune(&b), QST_OK);
    /* builds are over, samples are not */
    assert_string_equal(b.rig.log, "open p:a c:a a p:b c:b b a b b a a b b a close");
    assert_string_equal(outcome(&b, 2), "BUDGET");
    assert_int_equal(b.verdict.flags, QST__VERDICT_PARTIAL);

    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a a p:c c:c c a c c a a c c a close");
    assert_int_equal(b.verdict.flags, 0);
    assert_string_equal(winner(&b), "c");
    assert_int_equal(samples(&b, 0), 10);
    assert_int_equal(samples(&b, 1), 5);
    assert_int_equal(b.verdict.findings[2].samples.round[0], b.verdict.findings[0].samples.round[5]);
    finish(&b);
}

/* Nothing is right when the budget is spent: the fallback is next, out of its turn. */
static void budget_before_anything(void **state)
{
    toy_spec   specs[] = {{.variant = "n", .group = "low", .fallback = true},
                          {.variant = "a", .group = "high"},
                          {.variant = "b", .group = "high"}};
    rig_script scripts[] = {
        {.samples = {2 * MS}}, {.check = QST_E_VERIFY, .first_ns = 5 * MS, .samples = {1}}, {.samples = {1 * MS}}};
    bench b;
    (void)state;

    start(&b, specs, scripts, 3);
    b.task.settings.budget_ms = 5;
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a! p:n c:n n close");
    assert_string_equal(winner(&b), "n");
    assert_string_equal(outcome(&b, 2), "BUDGET");
    assert_int_equal(b.verdict.flags, QST__VERDICT_PARTIAL);

    b.task.settings.budget_ms = 0;
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:n c:n n p:b c:b b n b b n n b b n close");
    assert_string_equal(winner(&b), "b");
    assert_int_equal(b.verdict.flags, 0);
    finish(&b);
}

/* ... and where it fails, the others follow in spite of the budget until one is right. */
static void budget_and_no_fallback(void **state)
{
    toy_spec   specs[] = {{.variant = "n", .group = "low", .fallback = true},
                          {.variant = "a", .group = "high"},
                          {.variant = "b", .group = "high"},
                          {.variant = "c", .group = "high"}};
    rig_script scripts[] = {{.prepare = QST_E_BUILD},
                            {.check = QST_E_VERIFY, .first_ns = 5 * MS, .samples = {1}},
                            {.samples = {1 * MS}},
                            {.samples = {1 * MS}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 4);
    b.task.settings.budget_ms = 5;
    assert_int_equal(tune(&b), QST_OK);
    assert_string_equal(b.rig.log, "open p:a c:a! p:n! p:b c:b b close");
    assert_string_equal(winner(&b), "b");
    assert_string_equal(outcome(&b, 3), "BUDGET");
    finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roof_confirmed),
        cmocka_unit_test(roof_needs_evidence),
        cmocka_unit_test(roof_switched_off),
        cmocka_unit_test(budget_ends_and_goes_on),
        cmocka_unit_test(resumed_contacts_the_rest),
        cmocka_unit_test(budget_before_anything),
        cmocka_unit_test(budget_and_no_fallback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
