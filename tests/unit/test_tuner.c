/* SPDX-License-Identifier: MIT
 *
 * test_tuner.c: exact sequences of a tuning, by a scripted rig and clock: who is prepared (p:), checked (c:), sampled,
 * in which order, and what the findings then say. Unlike the reference there is no warm-up of its own: first contact,
 * which the check clocks, is one. A first round of n candidates thus costs n checks and n samples. */
#include "support/scripted_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000u

typedef struct bench {
    qst__alloc    alloc;
    qst__set      set;
    scripted_rig  rig;
    scripted_task task;
    qst__verdict  verdict;
    qst_error     err;
} bench;

static void start(bench *b, toy_spec *specs, const rig_script *scripts, uint32_t n)
{
    memset(b, 0, sizeof *b);
    b->alloc = qst__alloc_default();
    assert_true(toy_set(&b->set, &b->alloc, specs, n));
    scripted_rig_init(&b->rig, &b->set, scripts);
    scripted_task_init(&b->task, &b->rig);
    assert_int_equal(qst__verdict_init(&b->verdict, &b->alloc, &b->set), QST_OK);
}

static void finish(bench *b)
{
    assert_false(b->rig.opened);
    assert_false(b->rig.misused);
    assert_int_equal(b->rig.leased, 0);
    qst__verdict_finish(&b->verdict);
    qst__set_finish(&b->set);
}

static qst_status tune(bench *b)
{
    b->rig.log[0] = b->rig.commits[0] = '\0';
    memset(&b->err, 0, sizeof b->err);
    return qst__tune(&b->task.task, &b->verdict, &b->err);
}

static const char *outcome(const bench *b, uint32_t candidate)
{
    return qst__outcome_name(b->verdict.findings[candidate].outcome);
}

static const char *why(const bench *b, uint32_t candidate)
{
    return b->verdict.findings[candidate].why ? b->verdict.findings[candidate].why : "";
}

static const char *winner(const bench *b)
{
    return b->verdict.n_order ? b->set.candidates[b->verdict.order[0]].desc.variant : "";
}

static uint32_t samples(const bench *b, uint32_t candidate)
{
    return b->verdict.findings[candidate].samples.count;
}

/* ---- A round --------------------------------------------------------------------------------------------------- */

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
    assert_string_equal(why(&b, 2), "best of 3 samples 238 ns, over 1.5 times 96 ns");
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
    finish(&b);
}

static void order_and_prune(void **state)
{
    toy_spec   specs[] = {{.variant = "f", .estimate = 9000, .fallback = true},
                          {.variant = "a", .estimate = 900},
                          {.variant = "b", .estimate = 100},
                          {.variant = "u"},
                          {.variant = "c", .estimate = 801},
                          {.variant = "v", .estimate = -1}};
    rig_script scripts[] = {{.samples = {450}}, {.samples = {1}},   {.samples = {100}},
                            {.samples = {200}}, {.samples = {100}}, {.samples = {250}}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 6);
    assert_int_equal(tune(&b), QST_OK);
    /* unknown ones u and v, then by estimate; over 800: a and c are never built, the fallback is */
    assert_memory_equal(b.rig.log, "open p:u c:u u p:v c:v v p:b c:b b p:f c:f f ", 45);
    assert_string_equal(outcome(&b, 1), "PRUNED");
    assert_string_equal(why(&b, 1), "estimate 900 ns is over 8 times the best measured time, 100 ns");
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

/* ---- Rounds ---------------------------------------------------------------------------------------------------- */

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

/* ---- Samples --------------------------------------------------------------------------------------------------- */

static void wrong_later(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}, {.variant = "p", .estimate = 900}};
    rig_script scripts[] = {{.samples = {100, RIG_WRONG}}, {.first_ns = 501, .samples = {900}}, {.samples = {800}}};
    bench      b;
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

static uint64_t alternate(scripted_rig *self, uint32_t candidate, uint32_t k)
{
    (void)self;
    return candidate == 0 ? 100000 + 3000 * (k % 3) : 100000 + 3000 * ((k + k / 3) % 3);
}

/* Two that noise does not tell apart take 21 samples each, and the tie is settled by launches. */
static void last_two(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}};
    rig_script scripts[] = {{.samples = {100000}, .launches = 2}, {.samples = {100000}, .launches = 1}};
    bench      b;
    (void)state;

    start(&b, specs, scripts, 2);
    b.rig.draw = alternate;
    assert_int_equal(tune(&b), QST_OK);
    assert_int_equal(samples(&b, 0), QST__FINAL_SAMPLES);
    assert_int_equal(samples(&b, 1), QST__FINAL_SAMPLES);
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

/* ---- The roof -------------------------------------------------------------------------------------------------- */

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

/* ---- Budgets --------------------------------------------------------------------------------------------------- */

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
    assert_string_equal(b.rig.log, "open p:a c:a a p:b c:b b p:c c:c c p:d c:d d a b c d d c b a a c c a close");
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

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

typedef struct meter {
    uint32_t left;
    int      held;
} meter;

static void *metered(void *user, void *memory, size_t bytes)
{
    meter *m = user;

    if (bytes == 0) {
        m->held -= memory != NULL;
        free(memory);
        return NULL;
    }
    if (m->left == 0)
        return NULL;
    m->left--;
    m->held += memory == NULL;
    return realloc(memory, bytes);
}

/* Each allocation fails once: E_NOMEM or a verdict without some reason, never a leak. */
static void memory_fails(void **state)
{
    toy_spec   specs[] = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}};
    rig_script scripts[] = {{.samples = {100}}, {.samples = {200}}, {.prepare = QST_E_BUILD}};
    uint32_t   failed = 0;
    (void)state;

    for (uint32_t at = 0; at < 200; at++) {
        meter      m = {.left = at};
        qst__alloc alloc = {.resize = metered, .user = &m};
        bench      b;
        qst_status status;
        start(&b, specs, scripts, 3);
        b.task.task.alloc = &alloc;
        status = tune(&b);
        assert_int_equal(m.held, 0);
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
        cmocka_unit_test(five_candidates),
        cmocka_unit_test(accounts),
        cmocka_unit_test(order_and_prune),
        cmocka_unit_test(outcomes_of_first_contact),
        cmocka_unit_test(excluded_beforehand),
        cmocka_unit_test(sole_candidate),
        cmocka_unit_test(saboteur),
        cmocka_unit_test(nobody_is_right),
        cmocka_unit_test(no_clock),
        cmocka_unit_test(open_fails),
        cmocka_unit_test(wrong_later),
        cmocka_unit_test(launch_fails_later),
        cmocka_unit_test(timeouts_between),
        cmocka_unit_test(last_two),
        cmocka_unit_test(no_convergence),
        cmocka_unit_test(roof_confirmed),
        cmocka_unit_test(roof_needs_evidence),
        cmocka_unit_test(roof_switched_off),
        cmocka_unit_test(budget_ends_and_goes_on),
        cmocka_unit_test(resumed_contacts_the_rest),
        cmocka_unit_test(budget_before_anything),
        cmocka_unit_test(budget_and_no_fallback),
        cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
