/* SPDX-License-Identifier: MIT
 *
 * test_decide.c: the decision on findings made by hand, and its steadiness over whole tunings on hosts that are noisy,
 * that speed up meanwhile, or that have two speeds. All noise comes from a fixed generator. */
#include "support/scripted_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- By hand --------------------------------------------------------------------------------------------------- */

typedef struct row {
    const char *name;
    uint32_t    outcome;
    uint32_t    launches;
    uint64_t    workspace;
    double      estimate;
    uint64_t    ns[6]; /* one a sampling round, ended by 0 */
} row;

/* Decides on the rows, rotated by `shift`, and prints the names in order. */
static void decide(const row *rows, uint32_t n, uint32_t shift, uint32_t flags, uint64_t limit, char *out, size_t room)
{
    qst__finding findings[8];
    uint32_t     order[8];
    qst__alloc   alloc = qst__alloc_default();
    qst__verdict verdict = {.alloc = &alloc, .findings = findings, .n = n, .order = order, .flags = flags};
    size_t       used = 0;

    verdict.limit_ns = limit;
    memset(findings, 0, sizeof findings);
    for (uint32_t i = 0; i < n; i++) {
        const row    *from = &rows[(i + shift) % n];
        qst__finding *f = &findings[i];
        f->name = (char *)(uintptr_t)from->name;
        f->outcome = from->outcome;
        f->launches = from->launches;
        f->workspace = from->workspace;
        f->estimate_ns = from->estimate;
        for (uint32_t k = 0; k < 6 && from->ns[k]; k++)
            qst__samples_push(&f->samples, from->ns[k], k + 1);
    }
    qst__decide(&verdict);
    out[0] = '\0';
    for (uint32_t i = 0; i < verdict.n_order; i++)
        used += (size_t)snprintf(out + used, room - used, "%s ", findings[order[i]].name);
}

static void assert_order(const row *rows, uint32_t n, uint32_t flags, uint64_t limit, const char *expected)
{
    char out[64];

    for (uint32_t shift = 0; shift < n; shift++) {
        decide(rows, n, shift, flags, limit, out, sizeof out);
        assert_string_equal(out, expected);
    }
}

static void order_of_all_kinds(void **state)
{
    const row rows[] = {
        {.name = "v2", .outcome = QST__OUTCOME_VERIFIED},
        {.name = "slow", .outcome = QST__OUTCOME_SLOW, .ns = {1}},
        {.name = "t2", .outcome = QST__OUTCOME_TIMED, .ns = {120, 120, 120}},
        {.name = "e2", .outcome = QST__OUTCOME_ELIMINATED, .ns = {190, 190, 190}},
        {.name = "t1", .outcome = QST__OUTCOME_TIMED, .ns = {100, 100, 100}},
        {.name = "v1", .outcome = QST__OUTCOME_VERIFIED, .estimate = 5000},
        {.name = "e1", .outcome = QST__OUTCOME_ELIMINATED, .ns = {180, 180, 180}},
        {.name = "wrong", .outcome = QST__OUTCOME_WRONG},
    };
    (void)state;

    assert_order(rows, 8, 0, 0, "t1 t2 e1 e2 v1 v2 ");
}

static void ties(void **state)
{
    const row launches[] = {
        {.name = "a", .outcome = QST__OUTCOME_TIMED, .launches = 2, .ns = {1000, 1000, 1000, 1000}},
        {.name = "b", .outcome = QST__OUTCOME_TIMED, .launches = 1, .ns = {1009, 1009, 1009, 1009}}};
    const row workspace[] = {
        {.name = "a", .outcome = QST__OUTCOME_TIMED, .workspace = 9, .ns = {1000, 1000, 1000, 1000}},
        {.name = "b", .outcome = QST__OUTCOME_TIMED, .workspace = 8, .ns = {1009, 1009, 1009, 1009}}};
    const row names[] = {{.name = "b", .outcome = QST__OUTCOME_TIMED, .ns = {1000, 1000, 1000, 1000}},
                         {.name = "a", .outcome = QST__OUTCOME_TIMED, .ns = {1009, 1009, 1009, 1009}}};
    const row quiet[] = {{.name = "b", .outcome = QST__OUTCOME_TIMED, .ns = {1000, 1000, 1000, 1000}},
                         {.name = "a", .outcome = QST__OUTCOME_TIMED, .ns = {1017, 1017, 1017, 1017}}};
    (void)state;

    assert_order(launches, 2, 0, 0, "b a ");
    assert_order(workspace, 2, 0, 0, "b a ");
    assert_order(names, 2, 0, 0, "a b ");
    assert_order(quiet, 2, 0, 0, "b a "); /* 1.7 % without any noise is no tie */
}

/* Medians lie where the host slowed down after b's last sample; pairs do not: in each round a is faster. */
static void pairs_not_medians(void **state)
{
    const row rows[] = {
        {.name = "a", .outcome = QST__OUTCOME_TIMED, .ns = {100, 100, 100, 200, 200, 200}},
        {.name = "b", .outcome = QST__OUTCOME_TIMED, .ns = {110, 110, 110}},
    };
    (void)state;

    assert_order(rows, 2, 0, 0, "a b ");
}

static void none_survived(void **state)
{
    const row rows[] = {{.name = "b", .outcome = QST__OUTCOME_ELIMINATED, .ns = {300, 300, 300}},
                        {.name = "a", .outcome = QST__OUTCOME_ELIMINATED, .ns = {200, 200, 200}},
                        {.name = "w", .outcome = QST__OUTCOME_WRONG}};
    const row nobody[] = {{.name = "w", .outcome = QST__OUTCOME_WRONG}};
    (void)state;

    assert_order(rows, 3, 0, 0, "a b ");
    assert_order(nobody, 1, 0, 0, "");
}

static void evidence_under_the_roof(void **state)
{
    const row rows[] = {{.name = "a", .outcome = QST__OUTCOME_TIMED, .ns = {130, 90, 110, 110}},
                        {.name = "b", .outcome = QST__OUTCOME_TIMED, .ns = {99, 125, 125, 97}},
                        {.name = "c", .outcome = QST__OUTCOME_TIMED, .ns = {98, 80, 101, 110}}};
    (void)state;

    assert_order(rows, 2, QST__VERDICT_ROOF, 100, "b a ");
    assert_order(rows, 2, 0, 100, "a b ");
    assert_order(rows, 3, QST__VERDICT_ROOF, 100, "c a b "); /* as much evidence as b, and faster */
    assert_order(rows, 2, QST__VERDICT_ROOF, 50, "a b ");    /* nobody has any */
}

/* ---- Whole tunings --------------------------------------------------------------------------------------------- */

#define MOST 6

typedef struct host {
    uint64_t state;        /* of the generator */
    double   truth[MOST];  /* ns of candidate i of the table */
    uint32_t at[MOST];     /* candidate in the set → in the table */
    double   amplitude;    /* of the noise: uniform in 1 ± amplitude */
    double   ramp;         /* ns of clock over which the host goes from half to full speed; 0: no ramp */
    double   second_speed; /* a sample in five takes this times longer; 0: none */
} host;

static uint64_t sample_of(scripted_rig *rig, uint32_t candidate, uint32_t k)
{
    host  *h = rig->user;
    double ns = h->truth[h->at[candidate]] * (1 + h->amplitude * (2 * scripted_draw(&h->state) - 1));
    double speed = 1;

    (void)k;
    if (h->second_speed > 0 && scripted_draw(&h->state) < 0.2)
        ns *= h->second_speed;
    if (h->ramp > 0)
        speed = (double)rig->now < h->ramp ? 0.5 + 0.5 * (double)rig->now / h->ramp : 1;
    return (uint64_t)(ns / speed);
}

/* Tunes n candidates a, b, c, … registered in rotated order; the index in the table of the winner. */
static uint32_t tune_once(host *h, uint32_t n, uint32_t shift, uint32_t *samples)
{
    static const char *const names[MOST] = {"a", "b", "c", "d", "e", "f"};
    toy_spec                 specs[MOST];
    rig_script               scripts[MOST];
    qst__alloc               alloc = qst__alloc_default();
    qst__set                 set;
    scripted_rig             rig;
    scripted_task            task;
    qst__verdict             verdict;
    uint32_t                 winner;

    memset(specs, 0, sizeof specs);
    memset(scripts, 0, sizeof scripts);
    for (uint32_t i = 0; i < n; i++) {
        h->at[i] = (i + shift) % n;
        specs[i].variant = names[h->at[i]];
        scripts[i].first_ns = (uint64_t)h->truth[h->at[i]];
    }
    assert_true(toy_set(&set, &alloc, specs, n));
    scripted_rig_init(&rig, &set, scripts);
    rig.draw = sample_of;
    rig.user = h;
    scripted_task_init(&task, &rig);
    assert_int_equal(qst__verdict_init(&verdict, &alloc, &set), QST_OK);
    assert_int_equal(qst__tune(&task.task, &verdict, NULL), QST_OK);
    winner = h->at[verdict.order[0]];
    if (samples)
        *samples = rig.n_samples;
    qst__verdict_finish(&verdict);
    qst__set_finish(&set);
    return winner;
}

/* Of `times` tunings, how many named each. */
static void tune_many(host *h, uint32_t n, uint32_t times, uint32_t *picks)
{
    memset(picks, 0, MOST * sizeof *picks);
    for (uint32_t i = 0; i < times; i++)
        picks[tune_once(h, n, i, NULL)]++;
}

/* 0.3 % apart: the more noise the sooner samples end with a lead that may be luck and costs nothing that counts. Then a
 * pick may differ from the one by name. */
static void near_ties(void **state)
{
    static const double   amplitudes[] = {0.01, 0.02, 0.04};
    static const uint32_t alike[] = {990, 870, 500};
    (void)state;

    for (uint32_t i = 0; i < 3; i++) {
        /* the name speaks for the faster one, then for the slower one */
        host     first = {.state = 1 + i, .truth = {1000000, 1003000}, .amplitude = amplitudes[i]};
        host     second = {.state = 11 + i, .truth = {1003000, 1000000}, .amplitude = amplitudes[i]};
        uint32_t picks[MOST];
        tune_many(&first, 2, 1000, picks);
        assert_in_range(picks[0], alike[i], 1000);
        tune_many(&second, 2, 1000, picks);
        assert_in_range(picks[0], alike[i], 1000);
    }
}

/* What is 6 % faster than the next is found however noisy. */
static void clear_winner(void **state)
{
    host     h = {.state = 5, .truth = {1300000, 1060000, 1120000, 1000000, 1700000, 2500000}, .amplitude = 0.02};
    uint32_t picks[MOST];
    (void)state;

    tune_many(&h, 6, 100, picks);
    assert_int_equal(picks[3], 100);
}

/* Where single samples are off by a third, nobody goes for being unlucky: what is 8 % faster than the next and 20 % than
 * the others is found three times in four, and seldom anything but those two. */
static void noisy_host(void **state)
{
    host     h = {.state = 6, .truth = {1200000, 1080000, 1250000, 1000000, 1200000, 1300000}, .amplitude = 0.35};
    uint32_t picks[MOST], samples;
    (void)state;

    tune_many(&h, 6, 1000, picks);
    assert_in_range(picks[3], 740, 1000);
    assert_in_range(picks[1] + picks[3], 960, 1000);
    tune_once(&h, 6, 0, &samples);
    assert_in_range(samples, 6 * 21, 6 * QST__SAMPLES_MAX);
}

/* A host that goes from half to full speed while tuning: who is sampled later looks faster, in lone medians. */
static void clock_ramp(void **state)
{
    uint32_t picks[MOST];
    (void)state;

    for (double length = 5e6; length < 1e8; length *= 2) {
        host h = {.state = 7, .truth = {1040000, 1000000, 1100000}, .ramp = length};
        tune_many(&h, 3, 6, picks);
        assert_int_equal(picks[1], 6);
        host near = {.state = 7, .truth = {1000000, 1003000, 1006000}, .ramp = length};
        tune_many(&near, 3, 6, picks);
        assert_int_equal(picks[0], 6);
    }
}

/* A neighbour takes a part of the machine now and then: a sample in five takes half as long again. */
static void two_speeds(void **state)
{
    host     h = {.state = 3, .truth = {1100000, 1000000, 1250000}, .amplitude = 0.01, .second_speed = 1.5};
    uint32_t picks[MOST];
    (void)state;

    tune_many(&h, 3, 1000, picks);
    assert_in_range(picks[1], 970, 1000);
}

/* The price of it where noise is small: never more than the rules allow. */
static void samples_are_bounded(void **state)
{
    host     h = {.state = 9, .truth = {1e6, 1e6, 1e6, 1e6, 1e6, 1e6}, .amplitude = 0.04};
    uint32_t samples;
    (void)state;

    for (uint32_t i = 0; i < 20; i++) {
        tune_once(&h, 6, i, &samples);
        assert_in_range(samples, 6 * 9, 6 * 32);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_all_kinds),
        cmocka_unit_test(ties),
        cmocka_unit_test(pairs_not_medians),
        cmocka_unit_test(none_survived),
        cmocka_unit_test(evidence_under_the_roof),
        cmocka_unit_test(near_ties),
        cmocka_unit_test(clear_winner),
        cmocka_unit_test(noisy_host),
        cmocka_unit_test(clock_ramp),
        cmocka_unit_test(two_speeds),
        cmocka_unit_test(samples_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
