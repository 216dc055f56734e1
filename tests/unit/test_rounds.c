/* SPDX-License-Identifier: MIT
 *
 * test_rounds.c: the reference's worked examples (behaviour 2.4), the filters between buckets, the last resort, the
 * fallback, and what is left out beforehand. */
#include "model/rounds.h"
#include "support/meter.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- A toy operation whose candidates are described by a table --------------------------------------------------- */

static int32_t toy_check(void *user, const void *problem, qst_error *err)
{
    (void)user, (void)problem, (void)err;
    return QST_OK;
}

static void toy_key(void *user, const void *problem, const qst_anchor *anchor, int64_t *values)
{
    (void)user, (void)problem, (void)anchor, (void)values;
}

static uint64_t toy_span(void *user, const void *problem, uint32_t operand)
{
    (void)user, (void)problem, (void)operand;
    return 0;
}

static void toy_work(void *user, const void *problem, qst_work *out)
{
    (void)user, (void)problem, (void)out;
}

static int32_t toy_program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    (void)user, (void)device, (void)key, (void)index, (void)out;
    return QST_OK;
}

static int32_t toy_steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    (void)user, (void)device, (void)problem, (void)out;
    return QST_OK;
}

static const qst_op TOY = {
    .size = sizeof(qst_op),
    .name = "toy",
    .problem_size = 8,
    .check = toy_check,
    .key = toy_key,
    .span = toy_span,
    .work = toy_work,
};

#define MOST 8

/* A group and its priority. */
typedef struct group {
    const char *name;
    int32_t     priority;
} group;

/* A candidate is a text of words: memberships "a:1", and what else it is: poor, no and odd (what supports() answers),
 * last (the fallback), plain and fast (its class; strict without). */
static int32_t answer_of(const char *text)
{
    if (strstr(text, "poor"))
        return QST_POOR;
    if (strstr(text, "odd"))
        return QST_E_NOMEM;
    return strstr(text, "no") ? QST_E_UNSUPPORTED : QST_OK;
}

static uint32_t classes_of(const char *text)
{
    if (strstr(text, "plain"))
        return QST_CLASS_PLAIN;
    return strstr(text, "fast") ? QST_CLASS_FAST : QST_CLASS_STRICT;
}

static int32_t answer(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    int32_t status = answer_of(user);
    (void)device, (void)key;
    if (status == QST_E_UNSUPPORTED && why)
        *why = "the tile of 64 needs 128 KiB";
    return status;
}

typedef struct world {
    qst__alloc     alloc;
    qst__set       set;
    char           names[MOST][4][8];
    qst_membership in[MOST][4];
    char           variant[MOST][8];
    qst__support   support[MOST];
    qst__rounds    rounds;
} world;

static uint32_t memberships_of(world *w, uint32_t i, const char *text)
{
    uint32_t n = 0;
    int      used = 0;
    for (; sscanf(text, " %7[a-z]:%d%n", w->names[i][n], &w->in[i][n].constant, &used) == 2; text += used, n++)
        w->in[i][n].group = w->names[i][n];
    return n;
}

/* specs end with NULL */
static void make(world *w, const group *groups, const char *const *specs)
{
    memset(w, 0, sizeof *w);
    w->alloc = qst__alloc_default();
    assert_int_equal(qst__set_init(&w->set, &w->alloc, &TOY, NULL), QST_OK);
    for (; groups && groups->name; groups++) {
        qst_group g = {.size = sizeof g, .name = groups->name, .constant = groups->priority};
        assert_int_equal(qst__set_group(&w->set, &g, NULL), QST_OK);
    }
    for (uint32_t i = 0; specs[i]; i++) {
        (void)snprintf(w->variant[i], sizeof w->variant[i], "t%u", i);
        qst_candidate c = {
            .size = sizeof c,
            .flags = strstr(specs[i], "last") ? QST_CANDIDATE_FALLBACK : 0,
            .variant = w->variant[i],
            .revision = 1,
            .classes = classes_of(specs[i]),
            .problem_size = 8,
            .n_memberships = memberships_of(w, i, specs[i]),
            .memberships = w->in[i],
            .user = (void *)specs[i],
            .supports = answer,
            .program = toy_program,
            .steps = toy_steps,
        };
        assert_int_equal(qst__set_add(&w->set, &c, "p", 0, NULL), QST_OK);
    }
    qst__set_freeze(&w->set, NULL);
}

static void ask(world *w, uint32_t class_bit, const qst__settings *settings)
{
    int64_t       value = 1;
    const qst_key key = {.count = 1, .value = &value};
    qst__rounds_finish(&w->rounds);
    qst__support_of(&w->set, NULL, &key, class_bit, settings, w->support);
    assert_int_equal(qst__rounds_init(&w->rounds, &w->alloc, &w->set, NULL, &key, w->support), QST_OK);
}

/* The rounds as text: "[0,2] [1] [3]". */
static void assert_rounds(const world *w, const char *expected)
{
    char   text[200] = "";
    size_t at = 0;
    for (uint32_t r = 0; r < w->rounds.n_rounds; r++) {
        for (uint32_t i = w->rounds.start[r]; i < w->rounds.start[r + 1]; i++) {
            const char *before = i > w->rounds.start[r] ? "," : r ? " [" : "[";
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%u", before, w->rounds.order[i]);
            assert_int_equal(w->rounds.round_of[w->rounds.order[i]], r + 1);
        }
        at += (size_t)snprintf(text + at, sizeof text - at, "]");
    }
    assert_string_equal(text, expected);
}

static void done(world *w)
{
    qst__rounds_finish(&w->rounds);
    qst__set_finish(&w->set);
}

#define GROUPS(...) ((const group[]){__VA_ARGS__, {NULL, 0}})
#define SPECS(...)  ((const char *const[]){__VA_ARGS__, NULL})

static void assert_order(const group *groups, const char *const *specs, const char *expected)
{
    world w;
    make(&w, groups, specs);
    ask(&w, QST_CLASS_PLAIN, NULL);
    assert_rounds(&w, expected);
    done(&w);
}

/* ---- The reference's worked examples ----------------------------------------------------------------------------- */

static void test_worked_examples(void **state)
{
    (void)state;
    assert_order(GROUPS({"a", 2}, {"b", 1}), SPECS("", "a:1", "a:2", "b:2"), "[0,2] [1] [3]");
    assert_order(GROUPS({"a", 2}, {"b", 1}, {"c", 1}), SPECS("", "a:1", "a:2", "b:2", "c:2"), "[0,2] [1] [3,4]");
    assert_order(GROUPS({"a", 1}, {"b", 2}), SPECS("", "a:1 b:2", "a:2", "b:3"), "[0,3] [1] [2]");
    assert_order(GROUPS({"a", 2}, {"b", 1}), SPECS("", "a:-1", "a:2", "b:2"), "[0,2] [3]");
    assert_order(GROUPS({"a", 2}, {"b", 1}), SPECS("a:-1", "a:-2", "b:1"), "[2]");
    assert_order(GROUPS({"hi", 2}, {"lo", 1}), SPECS("hi:1 lo:2", "lo:1"), "[0] [1]");
    assert_order(GROUPS({"a", 3}, {"b", 1}), SPECS("a:-1 b:2", "a:1"), "[1] [0]");
    assert_order(GROUPS({"a", -1}), SPECS("", "a:3"), "[0]");
    assert_order(GROUPS({"a", 2}, {"b", -1}), SPECS("a:-1", "b:3"), "");
    assert_order(NULL, SPECS("", ""), "[0,1]");
}

/* ---- Levels and buckets ------------------------------------------------------------------------------------------ */

static void test_levels(void **state)
{
    (void)state;
    /* Groups of one priority merge, whatever their order: buckets compare across them. */
    assert_order(GROUPS({"a", 1}, {"b", 5}, {"c", 1}), SPECS("a:1", "c:2", "b:0", "a:2", "c:1"), "[2] [1,3] [0,4]");
    /* Order of registration inside a bucket, not of groups. */
    assert_order(GROUPS({"a", 1}, {"b", 1}), SPECS("b:1", "a:1", "b:1", "a:1"), "[0,1,2,3]");
    /* In two groups of one level and one bucket: once. */
    assert_order(GROUPS({"a", 1}, {"b", 1}), SPECS("a:1 b:1", "b:1"), "[0,1]");
    /* Priority 0 is no skip. */
    assert_order(GROUPS({"a", 0}), SPECS("a:0", "a:1"), "[1] [0]");
    /* Extremes do not overflow a comparison. */
    assert_order(GROUPS({"a", INT32_MAX}, {"b", INT32_MIN}), SPECS("b:2147483647", "a:0", "a:2147483647"), "[2] [1]");
}

static void test_already_out(void **state)
{
    (void)state;
    /* Twice in one group: the higher membership counts, and the lower bucket holds nobody else. */
    assert_order(GROUPS({"a", 1}), SPECS("a:2 a:1", "a:0"), "[0] [1]");
    /* Struck from the same group, yet another group would let it in: it is out already. */
    assert_order(GROUPS({"a", 2}, {"b", 1}, {"c", 0}), SPECS("a:1 b:1 c:1", "c:1", "b:1"), "[0] [2] [1]");
    /* A level that holds nobody new makes no round. */
    assert_order(GROUPS({"a", 3}, {"b", 2}, {"c", 1}), SPECS("a:1 b:1", "a:1 b:2", "c:1"), "[0,1] [2]");
    /* A negative membership takes nothing away from the other groups, whatever comes first. */
    assert_order(GROUPS({"a", 1}, {"b", 2}), SPECS("a:1 b:-5", "b:1"), "[1] [0]");
    assert_order(GROUPS({"a", -2}, {"b", 0}), SPECS("a:9 b:0", "a:9"), "[0]");
}

static void test_ungrouped(void **state)
{
    (void)state;
    /* First in the first round, though registered last; and that is the first round that has somebody. */
    assert_order(GROUPS({"a", 1}), SPECS("a:1", "a:2", ""), "[2,1] [0]");
    assert_order(GROUPS({"a", 2}, {"b", 1}), SPECS("a:-1", "", "b:1"), "[1,2]");
    assert_order(GROUPS({"a", 2}, {"b", 1}), SPECS("a:1 no", "", "b:1"), "[1,2]");
}

/* ---- Last resort and fallback ------------------------------------------------------------------------------------ */

static void test_poor(void **state)
{
    (void)state;
    /* Under all levels, in the order of registration, grouped or not; no round is wasted on it before. */
    assert_order(GROUPS({"a", 9}, {"b", 1}), SPECS("a:9 poor", "b:1", "poor", "b:0"), "[1] [3] [0,2]");
    /* Nothing else: the last resort is the first round. */
    assert_order(GROUPS({"a", 9}), SPECS("a:1 poor", "a:2 poor"), "[0,1]");
    /* Negative everywhere: skipped, POOR or not. */
    assert_order(GROUPS({"a", 9}, {"b", -1}), SPECS("a:-1 b:1 poor", "a:0"), "[1]");
    assert_order(GROUPS({"a", 9}, {"b", 0}), SPECS("a:-1 b:0 poor", "a:0"), "[1] [0]");
}

static void test_fallback(void **state)
{
    (void)state;
    /* It has come out already, in a level or among the ungrouped: no round of its own. */
    assert_order(GROUPS({"a", 2}, {"b", 1}), SPECS("b:1 last", "a:1"), "[1] [0]");
    assert_order(GROUPS({"a", 2}), SPECS("last", "a:1"), "[0,1]");
    /* Skipped by priority: alone, at the end, after the last resort. */
    assert_order(GROUPS({"a", 2}), SPECS("a:-1 last", "a:1", "poor"), "[1] [2] [0]");
    /* All negative. */
    assert_order(GROUPS({"a", -1}), SPECS("a:1", "a:1 last"), "[1]");
    /* POOR: with the last resort. */
    assert_order(GROUPS({"a", 1}), SPECS("poor last", "a:1", "a:1 poor"), "[1] [0,2]");
    /* Impossible is impossible. */
    assert_order(GROUPS({"a", 1}), SPECS("a:-1 no last", "a:1"), "[1]");
}

/* ---- What is left out beforehand --------------------------------------------------------------------------------- */

static void test_support(void **state)
{
    (void)state;
    world w;
    make(&w, GROUPS({"a", 1}), SPECS("a:1 no", "a:1 odd", "a:1 poor", "a:-1", "a:1"));
    ask(&w, QST_CLASS_PLAIN, NULL);
    assert_rounds(&w, "[4] [2]");
    assert_int_equal(w.support[0].answer, QST__SUPPORT_NO);
    assert_string_equal(w.support[0].why, "the tile of 64 needs 128 KiB");
    assert_int_equal(w.support[1].answer, QST__SUPPORT_NO);
    assert_non_null(strstr(w.support[1].why, "-22"));
    assert_int_equal(w.support[2].answer, QST__SUPPORT_POOR);
    assert_string_equal(w.support[2].why, "no reason given");
    assert_int_equal(w.support[3].answer, QST__SUPPORT_OK);
    assert_int_equal(w.rounds.round_of[0], 0);
    assert_null(qst__rounds_skip_reason(&w.set, &w.rounds, w.support, 0));
    assert_non_null(strstr(qst__rounds_skip_reason(&w.set, &w.rounds, w.support, 3), "negative"));
    assert_null(qst__rounds_skip_reason(&w.set, &w.rounds, w.support, 4));
    done(&w);
}

static void test_class(void **state)
{
    (void)state;
    world w;
    make(&w, NULL, SPECS("fast", "plain", ""));
    ask(&w, QST_CLASS_FAST, NULL);
    assert_rounds(&w, "[0,1,2]");
    ask(&w, QST_CLASS_PLAIN, NULL);
    assert_rounds(&w, "[1,2]");
    assert_int_equal(w.support[0].answer, QST__SUPPORT_CLASS);
    assert_string_equal(w.support[0].why, "plain is asked for, it gives fast");
    ask(&w, QST_CLASS_STRICT, NULL);
    assert_rounds(&w, "[2]");
    assert_string_equal(w.support[1].why, "strict is asked for, it gives plain");
    done(&w);
}

static void test_pin_and_deny(void **state)
{
    (void)state;
    char         *pin[] = {"toy.p.t1/*"}, *deny[] = {"*.t2/1", "*.t0/*"};
    qst__settings pinned = {.pin = {pin, 1}}, denied = {.deny = {deny, 2}}, both = {.pin = {pin, 1}, .deny = {deny, 1}};
    world         w;
    make(&w, GROUPS({"a", 1}), SPECS("a:-1 last", "a:1", "a:1", "a:1"));
    ask(&w, QST_CLASS_PLAIN, &pinned);
    assert_rounds(&w, "[1] [0]"); /* the fallback is never refused by a pin */
    assert_int_equal(w.support[2].answer, QST__SUPPORT_REFUSED);
    assert_non_null(strstr(w.support[2].why, "pin"));
    ask(&w, QST_CLASS_PLAIN, &denied);
    assert_rounds(&w, "[1,3]"); /* but may be denied */
    assert_non_null(strstr(w.support[0].why, "deny"));
    ask(&w, QST_CLASS_PLAIN, &both);
    assert_rounds(&w, "[1] [0]");
    ask(&w, QST_CLASS_PLAIN, NULL);
    assert_rounds(&w, "[1,2,3] [0]");
    done(&w);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void test_no_memory(void **state)
{
    (void)state;
    int64_t       value = 1;
    const qst_key key = {.count = 1, .value = &value};
    world         w;
    qst_status    status = QST_E_NOMEM;
    make(&w, GROUPS({"a", 1}), SPECS("a:1", "a:2"));
    ask(&w, QST_CLASS_PLAIN, NULL);
    for (int n = 0; status != QST_OK; n++) {
        meter       m = {.left = n};
        qst__alloc  alloc = meter_alloc(&m);
        qst__rounds rounds;
        assert_in_range(n, 0, 20);
        status = qst__rounds_init(&rounds, &alloc, &w.set, NULL, &key, w.support);
        assert_true(status == QST_OK || status == QST_E_NOMEM);
        qst__rounds_finish(&rounds);
        assert_int_equal(m.live, 0);
    }
    done(&w);
}

static void test_empty(void **state)
{
    (void)state;
    assert_order(NULL, ((const char *const[]){NULL}), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_examples), cmocka_unit_test(test_levels), cmocka_unit_test(test_already_out),
        cmocka_unit_test(test_ungrouped),       cmocka_unit_test(test_poor),   cmocka_unit_test(test_fallback),
        cmocka_unit_test(test_support),         cmocka_unit_test(test_class),  cmocka_unit_test(test_pin_and_deny),
        cmocka_unit_test(test_no_memory),       cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
