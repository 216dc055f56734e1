/* SPDX-License-Identifier: MIT
 *
 * test_tuner_budget.c: what ends a tuning before all is known: a time at the roof, once it is confirmed, and a spent
 * budget; and how a tuning that was ended by a budget goes on. Each story is a row of tunings, one after the other. */
#include "support/tuner_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS      1000000u
#define PARTIAL QST__VERDICT_PARTIAL

/* A tuning, and what has come of it; NULL, 0: not looked at. */
typedef struct act {
    int64_t     budget_ms, build_budget_ms;
    const char *log, *winner;
    uint32_t    flags;
    const char *outcomes[4];
    uint32_t    why_of; /* the candidate that has the next text as its reason */
    const char *why;
} act;

typedef struct story {
    uint32_t   n; /* candidates */
    uint64_t   limit_ns;
    bool       no_short_circuit;
    bool       suspect[4]; /* has killed a process before */
    toy_spec   specs[4];
    rig_script scripts[4];
    act        acts[3]; /* as many as have a winner */
} story;

/* The bench is left as the last tuning leaves it. */
static void play(bench *b, story *s)
{
    start(b, s->specs, s->scripts, s->n);
    b->task.task.limit_ns = s->limit_ns;
    b->task.task.suspect = s->suspect;
    b->task.settings.short_circuit = !s->no_short_circuit;
    for (const act *a = s->acts; a < s->acts + 3 && a->winner; a++) {
        b->task.settings.budget_ms = a->budget_ms;
        b->task.settings.build_budget_ms = a->build_budget_ms;
        assert_int_equal(tune(b), QST_OK);
        if (a->log)
            assert_string_equal(b->rig.log, a->log);
        assert_string_equal(winner(b), a->winner);
        assert_int_equal(b->verdict.flags, a->flags);
        for (uint32_t i = 0; i < s->n; i++)
            if (a->outcomes[i])
                assert_string_equal(outcome(b, i), a->outcomes[i]);
        if (a->why)
            assert_string_equal(why(b, a->why_of), a->why);
    }
}

static void tell(story *s)
{
    bench b;

    play(&b, s);
    finish(&b);
}

/* ---- The roof --------------------------------------------------------------------------------------------------- */

/* The reference's trace B: b's second sample does not confirm, c's does; d is never built. */
static void roof_confirmed(void **state)
{
    story s = {.n = 4,
               .limit_ns = 100,
               .specs = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}, {.variant = "d"}},
               .scripts = {{.samples = {130}}, {.samples = {99, 108}}, {.samples = {98}}, {.samples = {1}}},
               .acts = {{.log = "open p:a c:a a p:b c:b b b p:c c:c c c close",
                         .winner = "c",
                         .flags = QST__VERDICT_ROOF,
                         .outcomes = {[3] = "UNTRIED"},
                         .why_of = 3,
                         .why = "ended by the roof: 2 samples under 100 ns"}}};
    bench b;
    (void)state;

    play(&b, &s);
    assert_int_equal(b.verdict.limit_ns, 100);
    finish(&b);
}

/* The reference's trace C: b is confirmed in a sampling round. There a wins on a single lucky sample, here b does. */
static void roof_needs_evidence(void **state)
{
    story s = {.n = 3,
               .limit_ns = 100,
               .specs = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}},
               .scripts = {{.samples = {130, 90, 120}}, {.samples = {99, 140, 120, 97}}, {.samples = {104, 103, 102}}},
               .acts = {{.log = "open p:a c:a a p:b c:b b b p:c c:c c a b c c b a close",
                         .winner = "b",
                         .flags = QST__VERDICT_ROOF}}};
    (void)state;
    tell(&s);
}

static void roof_switched_off(void **state)
{
    story s = {.n = 2,
               .limit_ns = 100,
               .no_short_circuit = true,
               .specs = {{.variant = "a"}, {.variant = "b"}},
               .scripts = {{.samples = {90}}, {.samples = {50}}},
               .acts = {{.winner = "b"}}};
    (void)state;
    tell(&s);
}

/* The roof under which b won turns out to have been too low: those that it left timed are timed on, and c, which is
 * faster, wins. */
static void roof_withdrawn(void **state)
{
    story s = {.n = 3,
               .limit_ns = 100,
               .specs = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}},
               .scripts = {{.samples = {130, 120}}, {.samples = {101, 99, 98}}, {.samples = {140, 130, 80}}},
               .acts = {{.log = "open p:a c:a a p:b c:b b p:c c:c c a b c c b a close",
                         .winner = "b",
                         .flags = QST__VERDICT_ROOF}}};
    bench b;
    (void)state;

    play(&b, &s);
    b.task.task.limit_ns = 0;
    assert_int_equal(tune(&b), QST_OK);
    assert_memory_equal(b.rig.log, "open p:b c:b b p:a c:a a p:c c:c c ", 35);
    assert_string_equal(winner(&b), "c");
    assert_int_equal(b.verdict.flags, 0);
    assert_string_equal(outcome(&b, 2), "TIMED");
    finish(&b);
}

/* The roof spares builds: c is built already, and is compared with a to the end; d is not. */
static void roof_spares_builds(void **state)
{
    story s = {.n = 4,
               .limit_ns = 100,
               .specs = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}, {.variant = "d"}},
               .scripts = {{.samples = {90}}, {.samples = {98}}, {.samples = {60}, .ready = true}, {.samples = {1}}},
               .acts = {{.log = "open p:a c:a a a p:c c:c c a c c a a c c a close",
                         .winner = "c",
                         .flags = QST__VERDICT_ROOF | QST__VERDICT_COMPARED,
                         .outcomes = {[1] = "UNTRIED", [3] = "UNTRIED"},
                         .why_of = 1,
                         .why = "ended by the roof: 2 samples under 100 ns"}}};
    (void)state;
    tell(&s);
}

/* What was compared to the end stays so where a later tuning finds nothing to try: by samples under the roof, of which a has
 * more, another would win. */
static void roof_compared_stays(void **state)
{
    story s = {.n = 2,
               .limit_ns = 100,
               .specs = {{.variant = "a"}, {.variant = "b"}},
               .scripts = {{.samples = {90}}, {.samples = {60}, .ready = true}},
               .acts = {{.log = "open p:a c:a a a p:b c:b b a b b a a b b a close",
                         .winner = "b",
                         .flags = QST__VERDICT_ROOF | QST__VERDICT_COMPARED},
                        {.log = "", .winner = "b", .flags = QST__VERDICT_ROOF | QST__VERDICT_COMPARED}}};
    (void)state;
    tell(&s);
}

/* Alone under the roof, a is not sampled on; and one that has killed a process is not looked at, though it is built. */
static void roof_spares_suspects(void **state)
{
    story s = {.n = 2,
               .limit_ns = 100,
               .suspect = {[1] = true},
               .specs = {{.variant = "a"}, {.variant = "b"}},
               .scripts = {{.samples = {90}}, {.samples = {60}, .ready = true}},
               .acts = {{.log = "open p:a c:a a a close",
                         .winner = "a",
                         .flags = QST__VERDICT_ROOF | QST__VERDICT_COMPARED,
                         .outcomes = {[1] = "UNTRIED"}}}};
    (void)state;
    tell(&s);
}

/* Who ended the search turns out to be wrong while it is compared: the search goes on. */
static void roof_of_a_wrong_one(void **state)
{
    story s = {.n = 3,
               .limit_ns = 100,
               .specs = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}},
               .scripts = {{.samples = {90, 90, RIG_WRONG}}, {.samples = {110}}, {.samples = {120}, .ready = true}},
               .acts = {{.winner = "b", .outcomes = {"WRONG", "TIMED"}}}};
    (void)state;
    tell(&s);
}

/* A look at one more fails because nothing builds: what was found stands. */
static void roof_and_nothing_builds(void **state)
{
    story s = {.n = 3,
               .limit_ns = 100,
               .specs = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}},
               .scripts = {{.samples = {90}},
                           {.prepare = QST_E_BUILD, .unable = true, .samples = {1}, .ready = true},
                           {.check = QST_E_BUILD, .unable = true, .samples = {1}, .ready = true}},
               .acts = {{.log = "open p:a c:a a a p:b! p:c c:c! close",
                         .winner = "a",
                         .flags = QST__VERDICT_ROOF | QST__VERDICT_COMPARED,
                         .outcomes = {[1] = "UNTRIED", [2] = "UNTRIED"},
                         .why_of = 1,
                         .why = "ended by the roof: 2 samples under 100 ns"}}};
    (void)state;
    tell(&s);
}

/* A budget that is spent after the roof leaves nothing undone: as many samples as there are, by the roof's rule. */
static void roof_and_budget(void **state)
{
    story s = {
        .n = 2,
        .limit_ns = 30 * MS,
        .specs = {{.variant = "a"}, {.variant = "b"}},
        .scripts = {{.samples = {20 * MS}}, {.samples = {15 * MS}, .ready = true}},
        .acts = {
            {.budget_ms = 80, .log = "open p:a c:a a a p:b c:b b close", .winner = "a", .flags = QST__VERDICT_ROOF}}};
    (void)state;
    tell(&s);
}

/* Nor was anything compared to the end where a budget ended the last rounds. x is wrong after the others of its rounds, z,
 * were; y, which was too slow against it, gets another chance, and its first run spends the budget. */
static void roof_and_budget_again(void **state)
{
    story s = {
        .n = 3,
        .limit_ns = MS,
        .specs = {{.variant = "x"}, {.variant = "z"}, {.variant = "y"}},
        .scripts = {{.samples = {MS + 100000, MS + 100000, RIG_WRONG}},
                    {.samples = {2 * MS}},
                    {.first_ns = 8 * MS, .samples = {MS - 100000}, .ready = true}},
        .acts = {
            {.budget_ms = 25, .winner = "y", .flags = QST__VERDICT_ROOF, .outcomes = {"WRONG", "TIMED", "TIMED"}}}};
    (void)state;
    tell(&s);
}

/* Unless its runs are long. */
static void roof_spares_long_runs(void **state)
{
    story s = {.n = 2,
               .limit_ns = 300000000,
               .specs = {{.variant = "a"}, {.variant = "b"}},
               .scripts = {{.samples = {250000000}}, {.samples = {1}, .ready = true}},
               .acts = {{.log = "open p:a c:a a a close", .winner = "a", .flags = QST__VERDICT_ROOF}}};
    (void)state;
    tell(&s);
}

/* Nor more of them than a second's worth: after b's first two runs five of the next would be over it. */
static void roof_spares_much(void **state)
{
    story s = {.n = 4,
               .limit_ns = 200000000,
               .specs = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}, {.variant = "d"}},
               .scripts = {{.samples = {190000000}},
                           {.samples = {180000000}, .ready = true},
                           {.samples = {170000000}, .ready = true},
                           {.samples = {1}, .ready = true}},
               .acts = {{.winner = "b",
                         .flags = QST__VERDICT_ROOF | QST__VERDICT_COMPARED,
                         .outcomes = {[2] = "UNTRIED", [3] = "UNTRIED"}}}};
    (void)state;
    tell(&s);
}

/* ---- Budgets ---------------------------------------------------------------------------------------------------- */

static void budget_ends_and_goes_on(void **state)
{
    story s = {.n = 4,
               .specs = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}, {.variant = "d"}},
               .scripts = {{.samples = {2 * MS}}, {.samples = {3 * MS}}, {.samples = {1 * MS}}, {.samples = {4 * MS}}},
               .acts = {{.budget_ms = 9,
                         .log = "open p:a c:a a p:b c:b b close",
                         .winner = "a",
                         .flags = PARTIAL,
                         .outcomes = {[2] = "BUDGET", [3] = "BUDGET"},
                         .why_of = 2,
                         .why = "10.0 ms of checks and samples, 0.0 ms of builds were spent"},
                        /* the reigning a goes first, b still lacks samples; then the budget is spent before c */
                        {.budget_ms = 9, .log = "open p:a c:a a p:b c:b b close", .winner = "a", .flags = PARTIAL},
                        {.log = "open p:a c:a a p:b c:b b p:c c:c c p:d c:d d a b c c b a a c c a close",
                         .winner = "c",
                         .outcomes = {[3] = "ELIMINATED"}}}};
    (void)state;
    tell(&s);
}

/* Only what was left out is contacted besides the winner; its old samples do not decide, new pairs do. */
static void resumed_contacts_the_rest(void **state)
{
    story s = {
        .n = 3,
        .specs = {{.variant = "a"}, {.variant = "b"}, {.variant = "c"}},
        .scripts = {{.build_ns = 5 * MS, .samples = {200}},
                    {.build_ns = 5 * MS, .samples = {300}},
                    {.build_ns = 5 * MS, .samples = {180}}},
        .acts = {/* builds are over, samples are not */
                 {.build_budget_ms = 10,
                  .log = "open p:a c:a a p:b c:b b a b b a a b b a close",
                  .winner = "a",
                  .flags = PARTIAL,
                  .outcomes = {[2] = "BUDGET"}},
                 {.build_budget_ms = 10, .log = "open p:a c:a a p:c c:c c a c c a a c c a close", .winner = "c"}}};
    bench b;
    (void)state;

    play(&b, &s);
    assert_int_equal(samples(&b, 0), 10);
    assert_int_equal(samples(&b, 1), 5);
    assert_int_equal(b.verdict.findings[2].samples.round[0], b.verdict.findings[0].samples.round[5]);
    finish(&b);
}

/* Nothing is right when the budget is spent: the fallback is next, out of its turn. */
static void budget_before_anything(void **state)
{
    story s = {.n = 3,
               .specs = {{.variant = "n", .group = "low", .fallback = true},
                         {.variant = "a", .group = "high"},
                         {.variant = "b", .group = "high"}},
               .scripts = {{.samples = {2 * MS}},
                           {.check = QST_E_VERIFY, .first_ns = 5 * MS, .samples = {1}},
                           {.samples = {1 * MS}}},
               .acts = {{.budget_ms = 5,
                         .log = "open p:a c:a! p:n c:n n close",
                         .winner = "n",
                         .flags = PARTIAL,
                         .outcomes = {[2] = "BUDGET"}},
                        {.log = "open p:n c:n n p:b c:b b n b b n n b b n close", .winner = "b"}}};
    (void)state;
    tell(&s);
}

/* ... and where it fails, the others follow in spite of the budget until one is right. */
static void budget_and_no_fallback(void **state)
{
    story s = {.n = 4,
               .specs = {{.variant = "n", .group = "low", .fallback = true},
                         {.variant = "a", .group = "high"},
                         {.variant = "b", .group = "high"},
                         {.variant = "c", .group = "high"}},
               .scripts = {{.prepare = QST_E_BUILD},
                           {.check = QST_E_VERIFY, .first_ns = 5 * MS, .samples = {1}},
                           {.samples = {1 * MS}},
                           {.samples = {1 * MS}}},
               .acts = {{.budget_ms = 5,
                         .log = "open p:a c:a! p:n! p:b c:b b close",
                         .winner = "b",
                         .flags = PARTIAL,
                         .outcomes = {[3] = "BUDGET"}}}};
    (void)state;
    tell(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roof_confirmed),
        cmocka_unit_test(roof_needs_evidence),
        cmocka_unit_test(roof_switched_off),
        cmocka_unit_test(roof_withdrawn),
        cmocka_unit_test(roof_spares_builds),
        cmocka_unit_test(roof_compared_stays),
        cmocka_unit_test(roof_spares_suspects),
        cmocka_unit_test(roof_of_a_wrong_one),
        cmocka_unit_test(roof_and_nothing_builds),
        cmocka_unit_test(roof_and_budget),
        cmocka_unit_test(roof_and_budget_again),
        cmocka_unit_test(roof_spares_long_runs),
        cmocka_unit_test(roof_spares_much),
        cmocka_unit_test(budget_ends_and_goes_on),
        cmocka_unit_test(resumed_contacts_the_rest),
        cmocka_unit_test(budget_before_anything),
        cmocka_unit_test(budget_and_no_fallback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
