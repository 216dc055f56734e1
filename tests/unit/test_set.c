/* SPDX-License-Identifier: MIT
 *
 * test_set.c: the life of a set: undo, freezing, priorities, memory that fails, and the checksum of who is in it. */
#include "model/checksum.h"
#include "support/meter.h"
#include "support/turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* ---- Life ------------------------------------------------------------------------------------------------------- */

static void test_undo(void **state)
{
    (void)state;
    meter         m = {.left = -1};
    qst__alloc    alloc = {meter_resize, &m};
    qst_op        op = turn_op();
    qst__set      set;
    qst_group     group = {.size = sizeof group, .name = "third"};
    qst_candidate first = turn_candidate("first"), second = turn_candidate("second");
    second.flags = QST_CANDIDATE_FALLBACK;
    assert_int_equal(qst__set_init(&set, &alloc, &op, NULL), QST_OK);
    assert_int_equal(qst__set_add(&set, &first, "mine", 0, NULL), QST_OK);
    assert_int_equal(qst__set_group(&set, &group, NULL), QST_OK);
    assert_int_equal(qst__set_group(&set, &group, NULL), QST_E_STATE);
    assert_int_equal(qst__set_add(&set, &second, "mine", 1, NULL), QST_OK);
    qst__set_truncate(&set, 2, 1);
    assert_int_equal(set.n_groups, 2);
    assert_int_equal(set.n_candidates, 1);
    assert_int_equal(set.fallback, UINT32_MAX);
    assert_int_equal(qst__set_find(&set, "toy.turn.mine.second/1"), UINT32_MAX);
    assert_int_equal(qst__set_add(&set, &second, "mine", 1, NULL), QST_OK);
    assert_int_equal(set.fallback, 1);
    qst__set_freeze(&set, NULL);
    assert_int_equal(qst__set_group(&set, &group, NULL), QST_E_STATE);
    second.revision = 2;
    assert_int_equal(qst__set_add(&set, &second, "mine", 1, NULL), QST_E_STATE);
    qst__set_truncate(&set, 0, 0);
    assert_int_equal(set.n_candidates, 2);
    qst__set_finish(&set);
    assert_int_equal(m.live, 0);
}

static int32_t counted(void *user, const qst_device *device, const qst_key *key)
{
    (void)device;
    return (int32_t)key->value[0] + *(int32_t *)user;
}

static void test_priorities(void **state)
{
    (void)state;
    qst__alloc     alloc = qst__alloc_default();
    qst_op         op = turn_op();
    qst__set       set;
    qst__pair      pairs[] = {{"groups.toy.turn.low.priority", "-4"}, {"groups.toy.turn.high.priority", "9z"}};
    qst__settings  settings = {.pairs = pairs, .n_pairs = 2};
    int32_t        ten = 10, twenty = 20;
    int64_t        value[] = {5};
    const qst_key  key = {.count = 1, .value = value};
    qst_group      asked = {.size = sizeof asked, .name = "asked", .user = &ten, .priority = counted, .constant = 99};
    qst_membership in[] = {{.group = "low", .constant = 3}, {.group = "asked", .priority = counted, .constant = 99}};
    qst_candidate  c = turn_candidate("one");
    c.memberships = in;
    c.n_memberships = 2;
    c.user = &twenty;
    assert_int_equal(qst__set_init(&set, &alloc, &op, NULL), QST_OK);
    assert_int_equal(qst__set_group(&set, &asked, NULL), QST_OK);
    assert_int_equal(qst__set_add(&set, &c, "mine", 0, NULL), QST_OK);
    qst__set_freeze(&set, &settings);
    assert_int_equal(qst__group_priority(&set.groups[0], NULL, &key), 2); /* "9z" is no number */
    assert_int_equal(qst__group_priority(&set.groups[1], NULL, &key), -4);
    assert_int_equal(qst__group_priority(&set.groups[2], NULL, &key), 15);
    assert_int_equal(qst__member_priority(&set.candidates[0], 0, NULL, &key), 3);
    assert_int_equal(qst__member_priority(&set.candidates[0], 1, NULL, &key), 25);
    qst__set_finish(&set);
}

/* Each allocation fails once: NOMEM, nothing leaks, and the set stays as it was. */
static void test_no_memory(void **state)
{
    (void)state;
    const qst_judge     judge = {sizeof judge, 1, NULL, turn_judge_program, turn_judge_steps, turn_tell};
    const qst_candidate trivial = turn_candidate("trivial");
    qst_membership      in[] = {{.group = "low"}};
    qst_candidate       c = turn_candidate("one");
    qst_op              op = turn_op();
    qst_status          status = QST_E_NOMEM;
    c.memberships = in;
    c.n_memberships = 1;
    op.judge = &judge;
    op.trivial = &trivial;
    for (int n = 0; status != QST_OK; n++) {
        meter      m = {.left = n};
        qst__alloc alloc = {meter_resize, &m};
        qst__set   set;
        assert_in_range(n, 0, 50);
        status = qst__set_init(&set, &alloc, &op, NULL);
        if (status == QST_OK) {
            status = qst__set_add(&set, &c, "mine", 0, NULL);
            assert_int_equal(set.n_candidates, status == QST_OK);
        }
        assert_true(status == QST_OK || status == QST_E_NOMEM);
        qst__set_finish(&set);
        assert_int_equal(m.live, 0);
    }
}

/* ---- Checksum --------------------------------------------------------------------------------------------------- */

static void digest_of(const char *a, const char *b, const char *c, uint8_t digest[32])
{
    const char *names[] = {a, b, c};
    qst__checksum(names, c ? 3 : b ? 2 : a ? 1 : 0, digest);
}

static void test_checksum(void **state)
{
    (void)state;
    uint8_t one[32], two[32];
    digest_of("x.a/1", "x.b/1", "x.c/1", one);
    digest_of("x.c/1", "x.a/1", "x.b/1", two);
    assert_memory_equal(one, two, 32); /* the order of loading does not matter */
    digest_of("x.a/1", "x.b/1", NULL, two);
    assert_memory_not_equal(one, two, 32); /* one removed */
    digest_of("x.a/1", "x.b/1", "x.c/2", two);
    assert_memory_not_equal(one, two, 32); /* one revised */
    digest_of("ab", "c", NULL, one);
    digest_of("a", "bc", NULL, two);
    assert_memory_not_equal(one, two, 32); /* nor can names run together */
    digest_of("a", NULL, NULL, one);
    digest_of("a", "", NULL, two);
    assert_memory_not_equal(one, two, 32);
    /* SHA-256 of 01 00 00 00 61, known from outside. */
    static const uint8_t known[] = {0xf9, 0xf2, 0xef, 0xf0};
    assert_memory_equal(one, known, sizeof known);
}

static void test_set_checksum(void **state)
{
    (void)state;
    qst__alloc    alloc = qst__alloc_default();
    qst_op        op = turn_op();
    qst__set      one, two;
    qst_candidate a = turn_candidate("a"), b = turn_candidate("b");
    uint8_t       expected[32];
    assert_int_equal(qst__set_init(&one, &alloc, &op, NULL), QST_OK);
    assert_int_equal(qst__set_init(&two, &alloc, &op, NULL), QST_OK);
    assert_int_equal(qst__set_add(&one, &a, "mine", 0, NULL) | qst__set_add(&one, &b, "mine", 0, NULL), QST_OK);
    assert_int_equal(qst__set_add(&two, &b, "mine", 1, NULL) | qst__set_add(&two, &a, "mine", 1, NULL), QST_OK);
    qst__set_freeze(&one, NULL);
    qst__set_freeze(&two, NULL);
    digest_of("toy.turn.mine.a/1", "toy.turn.mine.b/1", NULL, expected);
    assert_memory_equal(one.checksum, expected, 32);
    assert_memory_equal(two.checksum, expected, 32);
    assert_string_equal(two.candidates[0].name, "toy.turn.mine.b/1"); /* freezing does not sort the set */
    qst__set_finish(&one);
    qst__set_finish(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undo),     cmocka_unit_test(test_priorities),   cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_checksum), cmocka_unit_test(test_set_checksum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
