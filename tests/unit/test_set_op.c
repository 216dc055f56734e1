/* SPDX-License-Identifier: MIT
 *
 * test_set_op.c: descriptors of operations and of their fields, taken over into a set or refused by name. */
#include "support/meter.h"
#include "support/turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_op_refused(const qst_op *op, const char *word)
{
    meter      m = {.left = -1};
    qst__alloc alloc = {meter_resize, &m};
    qst__set   set;
    qst_error  err = {0};
    assert_int_equal(qst__set_init(&set, &alloc, op, &err), QST_E_INVALID);
    if (!strstr(err.text, word))
        fail_msg("'%s' does not name '%s'", err.text, word);
    assert_int_equal(m.live, 0);
}

#define ASSERT_OP_REFUSED(word, ...)                                                                                   \
    do {                                                                                                               \
        qst_op op = turn_op();                                                                                         \
        __VA_ARGS__;                                                                                                   \
        assert_op_refused(&op, word);                                                                                  \
    } while (0)

static void test_op_refused(void **state)
{
    (void)state;
    static const qst_group     same[] = {{.size = sizeof(qst_group), .name = "one"},
                                         {.size = sizeof(qst_group), .name = "x y"}};
    static const qst_candidate half = {.size = sizeof(qst_candidate), .program = turn_program};
    static const qst_judge mute = {.size = sizeof(qst_judge), .program = turn_judge_program, .steps = turn_judge_steps};
    static const qst_operand far[] = {{"x", QST_ACCESS_READ, sizeof(turn), 4, 0}};
    static const qst_operand odd[] = {{"x", 4, 4, 4, 0}};
    ASSERT_OP_REFUSED("8 bytes", op.size = 8);
    ASSERT_OP_REFUSED("Turn", op.name = "Turn");
    ASSERT_OP_REFUSED("0x10000", op.flags = 1u << 16);
    ASSERT_OP_REFUSED("check", op.check = NULL);
    ASSERT_OP_REFUSED("key", op.key = NULL);
    ASSERT_OP_REFUSED("span", op.span = NULL);
    ASSERT_OP_REFUSED("work", op.work = NULL);
    ASSERT_OP_REFUSED("problem_size 3", op.problem_size = 3);
    ASSERT_OP_REFUSED("numerics_offset", op.numerics_offset = sizeof(turn) - 3);
    ASSERT_OP_REFUSED("numerics_offset", op.numerics_offset = 2);
    ASSERT_OP_REFUSED("65 fields", op.n_fields = 65);
    ASSERT_OP_REFUSED("33 key fields", op.n_key_fields = 33);
    ASSERT_OP_REFUSED("9 operands", op.n_operands = 9);
    ASSERT_OP_REFUSED("NULL", op.fields = NULL);
    ASSERT_OP_REFUSED("operand x", op.operands = far);
    ASSERT_OP_REFUSED("access 4", op.operands = odd);
    ASSERT_OP_REFUSED("x y", op.groups = same);
    ASSERT_OP_REFUSED("trivial", op.trivial = &half);
    ASSERT_OP_REFUSED("judge", op.judge = &mute);
    ASSERT_OP_REFUSED("x.align", op.problem_size = offsetof(turn, align)); /* does not fit any more */
}

static void assert_fields_refused(const qst_field *fields, uint32_t n, const char *word)
{
    qst_op op = turn_op();
    op.fields = fields;
    op.n_fields = n;
    assert_op_refused(&op, word);
}

static void test_fields_refused(void **state)
{
    (void)state;
    static const char *const blank[] = {"a b"}, *const x[] = {"ax"};
#define FIELD(given, ...)                                                                                              \
    {                                                                                                                  \
        .name = (given), .kind = QST_FIELD_U32, .offset = 4, .count = 1, __VA_ARGS__                                   \
    }
    static const qst_field bad_name[] = {FIELD("a..b", .flags = 0)}, end_dot[] = {FIELD("a.", .flags = 0)};
    static const qst_field kind[] = {{.name = "n", .kind = 5, .offset = 4, .count = 1}};
    static const qst_field zero[] = {{.name = "n", .kind = QST_FIELD_U32, .offset = 4}};
    static const qst_field on_size[] = {{.name = "n", .kind = QST_FIELD_U32, .offset = 0, .count = 1}};
    static const qst_field wide[] = {{.name = "n", .kind = QST_FIELD_I64, .offset = 4, .count = UINT32_MAX}};
    static const qst_field must[] = {FIELD("n", .flags = 1u << 31)};
    static const qst_field no_tokens[] = {{.name = "n", .kind = QST_FIELD_ENUM, .offset = 4, .count = 1}};
    static const qst_field token[] = {
        {.name = "n", .kind = QST_FIELD_ENUM, .offset = 4, .count = 1, .n_tokens = 1, .tokens = blank}};
    static const qst_field token_x[] = {
        {.name = "n", .kind = QST_FIELD_ENUM, .offset = 4, .count = 2, .n_tokens = 1, .tokens = x}};
    static const qst_field twice[] = {FIELD("n", .flags = 0), FIELD("n", .flags = 0)};
    static const qst_field stem[] = {FIELD("a", .flags = 0), FIELD("a.b", .flags = 0)};
    static const qst_field apart[] = {FIELD("a.b", .flags = 0), FIELD("n", .flags = 0), FIELD("a.c", .flags = 0)};
    assert_fields_refused(bad_name, 1, "a..b");
    assert_fields_refused(end_dot, 1, "a.");
    assert_fields_refused(kind, 1, "kind 5");
    assert_fields_refused(zero, 1, "count 0");
    assert_fields_refused(on_size, 1, "offset 0");
    assert_fields_refused(wide, 1, "count 4294967295");
    assert_fields_refused(must, 1, "flags");
    assert_fields_refused(no_tokens, 1, "tokens");
    assert_fields_refused(token, 1, "a b");
    assert_fields_refused(token_x, 1, "ax");
    assert_fields_refused(twice, 2, "n and n");
    assert_fields_refused(stem, 2, "a and a.b");
    assert_fields_refused(apart, 3, "a.b and a.c");
}

/* Descriptors of an older release are shorter, those of a later one longer. */
static void test_op_sizes(void **state)
{
    (void)state;
    struct {
        qst_op   op;
        uint64_t more[4];
    } later = {.op = turn_op(), .more = {1, 2, 3, 4}};
    struct {
        qst_group group;
        uint64_t  more;
    } groups[2] = {{.group = turn_groups[0]}, {.group = turn_groups[1]}};
    const qst_judge     judge = {sizeof judge, 1, NULL, turn_judge_program, turn_judge_steps, turn_tell};
    const qst_candidate trivial = turn_candidate("trivial");
    qst__alloc          alloc = qst__alloc_default();
    qst__set            set;
    groups[0].group.size = groups[1].group.size = sizeof groups[0];
    later.op.size = sizeof later;
    later.op.groups = &groups[0].group;
    later.op.judge = &judge;
    later.op.trivial = &trivial;
    assert_int_equal(qst__set_init(&set, &alloc, &later.op, NULL), QST_OK);
    assert_int_equal(set.op.size, sizeof(qst_op));
    assert_int_equal(set.n_groups, 2);
    assert_string_equal(set.groups[1].name, "low");
    assert_ptr_not_equal(set.op.judge, &judge);
    assert_ptr_equal(set.op.judge->tell, turn_tell);
    assert_ptr_equal(set.op.trivial->steps, turn_steps);
    qst__set_finish(&set);
    qst__set_finish(&set);

    later.op.size = offsetof(qst_op, vary);
    assert_int_equal(qst__set_init(&set, &alloc, &later.op, NULL), QST_OK);
    assert_null(set.op.judge); /* beyond what that release had */
    assert_null(set.op.trivial);
    qst__set_finish(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_op_refused),
        cmocka_unit_test(test_fields_refused),
        cmocka_unit_test(test_op_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
