/* SPDX-License-Identifier: MIT
 *
 * test_set_candidates.c: candidates taken over into a set or refused, their names, and which problems they take. */
#include "support/turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_add(void **state)
{
    (void)state;
    qst__alloc     alloc = qst__alloc_default();
    qst_op         op = turn_op();
    qst__set       set;
    qst_membership in[] = {{.group = "low", .constant = 3}, {.group = "high", .constant = -1}};
    assert_int_equal(qst__set_init(&set, &alloc, &op, NULL), QST_OK);
    assert_int_equal(set.fallback, UINT32_MAX);
    qst_candidate c = turn_candidate("t.64x-32");
    c.n_memberships = 2;
    c.memberships = in;
    c.classes = QST_CLASS_STRICT;
    c.flags = QST_CANDIDATE_FALLBACK | 1u << 15; /* an unknown bit that may be ignored */
    assert_int_equal(qst__set_add(&set, &c, "mine", 7, NULL), QST_OK);
    assert_string_equal(set.candidates[0].name, "toy.turn.mine.t.64x-32/1");
    assert_int_equal(set.candidates[0].desc.classes, QST_CLASS_STRICT | QST_CLASS_PLAIN | QST_CLASS_FAST);
    assert_int_equal(set.candidates[0].origin, 7);
    assert_int_equal(set.candidates[0].groups[0], 1);
    assert_int_equal(set.candidates[0].groups[1], 0);
    assert_int_equal(set.fallback, 0);

    c = turn_candidate("plain");
    c.classes = QST_CLASS_PLAIN;
    c.op = NULL;
    assert_int_equal(qst__set_add(&set, &c, "mine", 7, NULL), QST_OK);
    assert_int_equal(set.candidates[1].desc.classes, QST_CLASS_PLAIN | QST_CLASS_FAST);
    c = turn_candidate("vendor");
    c.program = NULL;
    c.steps = NULL;
    c.open = turn_open;
    c.enqueue = turn_enqueue;
    c.close = turn_close;
    assert_int_equal(qst__set_add(&set, &c, "mine", 7, NULL), QST_OK);
    assert_int_equal(set.candidates[2].desc.classes, QST_CLASS_FAST);
    c = turn_candidate("plain");
    c.revision = 2; /* another revision is another candidate */
    assert_int_equal(qst__set_add(&set, &c, "mine", 7, NULL), QST_OK);
    assert_int_equal(qst__set_find(&set, "toy.turn.mine.plain/2"), 3);
    assert_int_equal(qst__set_find(&set, "toy.turn.mine.plain/3"), UINT32_MAX);
    qst__set_finish(&set);
}

static void assert_add_refused(const qst_candidate *candidate, const char *plugin, qst_status expected,
                               const char *word)
{
    qst__alloc    alloc = qst__alloc_default();
    qst_op        op = turn_op();
    qst__set      set;
    qst_error     err = {0};
    qst_candidate first = turn_candidate("first");
    first.flags = QST_CANDIDATE_FALLBACK;
    assert_int_equal(qst__set_init(&set, &alloc, &op, NULL), QST_OK);
    assert_int_equal(qst__set_add(&set, &first, "mine", 0, NULL), QST_OK);
    assert_int_equal(qst__set_add(&set, candidate, plugin, 0, &err), expected);
    if (!strstr(err.text, word))
        fail_msg("'%s' does not name '%s'", err.text, word);
    assert_int_equal(set.n_candidates, 1);
    assert_int_equal(set.fallback, 0);
    qst__set_finish(&set);
}

#define ASSERT_ADD_REFUSED(word, ...)                                                                                  \
    do {                                                                                                               \
        qst_candidate c = turn_candidate("second");                                                                    \
        __VA_ARGS__;                                                                                                   \
        assert_add_refused(&c, "mine", QST_E_INVALID, word);                                                           \
    } while (0)

static void test_add_refused(void **state)
{
    (void)state;
    static const qst_membership nowhere[] = {{.group = "low"}, {.group = "middle"}};
    ASSERT_ADD_REFUSED("16 bytes", c.size = 16);
    ASSERT_ADD_REFUSED("a/b", c.variant = "a/b");
    ASSERT_ADD_REFUSED("(null)", c.variant = NULL);
    ASSERT_ADD_REFUSED("revision 0", c.revision = 0);
    ASSERT_ADD_REFUSED("both", c.open = turn_open);
    ASSERT_ADD_REFUSED("neither", c.program = NULL; c.steps = NULL);
    ASSERT_ADD_REFUSED("only one", c.steps = NULL);
    ASSERT_ADD_REFUSED("not all", c.program = NULL; c.steps = NULL; c.open = turn_open);
    ASSERT_ADD_REFUSED("no group 'middle'", c.n_memberships = 2; c.memberships = nowhere);
    ASSERT_ADD_REFUSED("NULL", c.n_memberships = 2);
    ASSERT_ADD_REFUSED("flags", c.flags = 1u << 16);
    ASSERT_ADD_REFUSED("problem_size 0", c.problem_size = 0);
    ASSERT_ADD_REFUSED("problem_size 36", c.problem_size = sizeof(turn) + 4);
    ASSERT_ADD_REFUSED("second fallback", c.flags = QST_CANDIDATE_FALLBACK);
    ASSERT_ADD_REFUSED("other", c.op = "other");
    qst_candidate second = turn_candidate("second"), first = turn_candidate("first");
    assert_add_refused(&second, "my.own", QST_E_INVALID, "my.own");
    assert_add_refused(&first, "mine", QST_E_STATE, "toy.turn.mine.first/1");
}

static void test_takes(void **state)
{
    (void)state;
    turn           problem = {.size = sizeof problem, .n = 5};
    qst__candidate now = {.desc = {.problem_size = sizeof problem}};
    qst__candidate old = {.desc = {.problem_size = offsetof(turn, late)}};
    assert_true(qst__candidate_takes(&now, &problem, sizeof problem));
    assert_true(qst__candidate_takes(&old, &problem, sizeof problem));
    problem.late = 1u << 24;
    assert_true(qst__candidate_takes(&now, &problem, sizeof problem));
    assert_false(qst__candidate_takes(&old, &problem, sizeof problem));
    problem.late = 0;
    problem.later = 1u << 24; /* the very last byte */
    assert_false(qst__candidate_takes(&old, &problem, sizeof problem));
}

static void test_class_of(void **state)
{
    (void)state;
    qst__set set = {.op = turn_op()};
    turn     problem = {.size = sizeof problem};
    assert_int_equal(qst__set_class_of(&set, &problem), QST_CLASS_PLAIN);
    problem.numerics = QST_NUMERICS_STRICT;
    assert_int_equal(qst__set_class_of(&set, &problem), QST_CLASS_STRICT);
    problem.numerics = 77;
    assert_int_equal(qst__set_class_of(&set, &problem) & 7u, 0);
    set.op.numerics_offset = 0;
    assert_int_equal(qst__set_class_of(&set, &problem), QST_CLASS_FAST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_add_refused),
        cmocka_unit_test(test_takes),
        cmocka_unit_test(test_class_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
