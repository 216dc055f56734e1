/* SPDX-License-Identifier: MIT
 *
 * test_set.c: descriptors taken over and refused, names, undo, freezing, the checksum. */
#include "model/checksum.h"
#include "model/set.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- A toy operation: an index is turned into another ------------------------------------------------------------ */

typedef struct toy {
    uint32_t size;
    uint32_t numerics;
    int64_t  n;
    uint32_t type, align;
    uint32_t late; /* came with a later release */
    uint32_t later;
} toy;

static int32_t toy_check(void *user, const void *problem, qst_error *err)
{
    (void)user, (void)problem, (void)err;
    return QST_OK;
}

static void toy_key(void *user, const void *problem, const qst_anchor *anchor, int64_t *values)
{
    (void)user;
    values[0] = anchor->anchor(anchor->level, ((const toy *)problem)->n);
}

static uint64_t toy_span(void *user, const void *problem, uint32_t operand)
{
    (void)user, (void)operand;
    return (uint64_t)((const toy *)problem)->n * 4;
}

static void toy_work(void *user, const void *problem, qst_work *out)
{
    (void)user;
    out->ops = out->bytes = (double)((const toy *)problem)->n;
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

static int32_t toy_judge_program(void *user, const qst_device *device, const void *problem, uint32_t index,
                                 qst_program *out)
{
    (void)user, (void)device, (void)problem, (void)index, (void)out;
    return QST_OK;
}

static int32_t toy_judge_steps(void *user, const qst_device *device, const void *problem, uint32_t phase, uint64_t seed,
                               qst_steps *out)
{
    (void)user, (void)device, (void)problem, (void)phase, (void)seed, (void)out;
    return QST_OK;
}

static void toy_tell(void *user, const void *problem, uint32_t phase, const uint32_t *finding, char *text,
                     uint32_t text_size)
{
    (void)user, (void)problem, (void)phase, (void)finding, (void)text, (void)text_size;
}

static int32_t toy_open(void *user, const qst_device *device, void **instance, const char **why)
{
    (void)user, (void)device, (void)instance, (void)why;
    return QST_OK;
}

static int32_t toy_enqueue(void *instance, const void *problem, const qst_call *call, const char **why)
{
    (void)instance, (void)problem, (void)call, (void)why;
    return QST_OK;
}

static void toy_close(void *instance)
{
    (void)instance;
}

static const qst_field toy_fields[] = {
    {.name = "n", .kind = QST_FIELD_I64, .offset = offsetof(toy, n), .count = 1},
    {.name = "x.type", .kind = QST_FIELD_U32, .offset = offsetof(toy, type), .count = 1},
    {.name = "x.align", .kind = QST_FIELD_U32, .offset = offsetof(toy, align), .count = 1},
};
static const qst_key_field toy_key_fields[] = {{.name = "n", .kind = QST_KEY_SIZE, .flags = QST_KEY_ANCHORED}};
static const qst_operand toy_operands[] = {{"x", QST_ACCESS_READ_WRITE, offsetof(toy, type), offsetof(toy, align), 0}};
static const qst_group   toy_groups[] = {
      {.size = sizeof(qst_group), .name = "high", .constant = 2},
      {.size = sizeof(qst_group), .name = "low", .constant = 1},
};

static qst_op toy_op(void)
{
    return (qst_op){
        .size = sizeof(qst_op),
        .name = "toy.turn",
        .problem_size = sizeof(toy),
        .numerics_offset = offsetof(toy, numerics),
        .n_fields = 3,
        .n_key_fields = 1,
        .n_operands = 1,
        .n_groups = 2,
        .fields = toy_fields,
        .key_fields = toy_key_fields,
        .operands = toy_operands,
        .groups = toy_groups,
        .check = toy_check,
        .key = toy_key,
        .span = toy_span,
        .work = toy_work,
    };
}

static qst_candidate toy_candidate(const char *variant)
{
    return (qst_candidate){
        .size = sizeof(qst_candidate),
        .op = "toy.turn",
        .variant = variant,
        .revision = 1,
        .problem_size = sizeof(toy),
        .program = toy_program,
        .steps = toy_steps,
    };
}

/* ---- An allocator that fails from the n-th request on, and counts what is live ----------------------------------- */

typedef struct meter {
    int left; /* requests that succeed; negative: all */
    int live;
} meter;

static void *meter_resize(void *user, void *memory, size_t bytes)
{
    meter *m = user;
    if (bytes == 0) {
        m->live -= memory != NULL;
        free(memory);
        return NULL;
    }
    if (m->left == 0)
        return NULL;
    m->left -= m->left > 0;
    m->live += memory == NULL;
    return realloc(memory, bytes);
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

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
        qst_op op = toy_op();                                                                                          \
        __VA_ARGS__;                                                                                                   \
        assert_op_refused(&op, word);                                                                                  \
    } while (0)

static void test_op_refused(void **state)
{
    (void)state;
    static const qst_group     same[] = {{.size = sizeof(qst_group), .name = "one"},
                                         {.size = sizeof(qst_group), .name = "x y"}};
    static const qst_candidate half = {.size = sizeof(qst_candidate), .program = toy_program};
    static const qst_judge   mute = {.size = sizeof(qst_judge), .program = toy_judge_program, .steps = toy_judge_steps};
    static const qst_operand far[] = {{"x", QST_ACCESS_READ, sizeof(toy), 4, 0}};
    static const qst_operand odd[] = {{"x", 4, 4, 4, 0}};
    ASSERT_OP_REFUSED("8 bytes", op.size = 8);
    ASSERT_OP_REFUSED("Turn", op.name = "Turn");
    ASSERT_OP_REFUSED("0x10000", op.flags = 1u << 16);
    ASSERT_OP_REFUSED("check", op.check = NULL);
    ASSERT_OP_REFUSED("key", op.key = NULL);
    ASSERT_OP_REFUSED("span", op.span = NULL);
    ASSERT_OP_REFUSED("work", op.work = NULL);
    ASSERT_OP_REFUSED("problem_size 3", op.problem_size = 3);
    ASSERT_OP_REFUSED("numerics_offset", op.numerics_offset = sizeof(toy) - 3);
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
    ASSERT_OP_REFUSED("x.align", op.problem_size = offsetof(toy, align)); /* does not fit any more */
}

static void assert_fields_refused(const qst_field *fields, uint32_t n, const char *word)
{
    qst_op op = toy_op();
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
    } later = {.op = toy_op(), .more = {1, 2, 3, 4}};
    struct {
        qst_group group;
        uint64_t  more;
    } groups[2] = {{.group = toy_groups[0]}, {.group = toy_groups[1]}};
    const qst_judge     judge = {sizeof judge, 1, NULL, toy_judge_program, toy_judge_steps, toy_tell};
    const qst_candidate trivial = toy_candidate("trivial");
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
    assert_ptr_equal(set.op.judge->tell, toy_tell);
    assert_ptr_equal(set.op.trivial->steps, toy_steps);
    qst__set_finish(&set);
    qst__set_finish(&set);

    later.op.size = offsetof(qst_op, vary);
    assert_int_equal(qst__set_init(&set, &alloc, &later.op, NULL), QST_OK);
    assert_null(set.op.judge); /* beyond what that release had */
    assert_null(set.op.trivial);
    qst__set_finish(&set);
}

/* ---- Candidates -------------------------------------------------------------------------------------------------- */

static void test_add(void **state)
{
    (void)state;
    qst__alloc     alloc = qst__alloc_default();
    qst_op         op = toy_op();
    qst__set       set;
    qst_membership in[] = {{.group = "low", .constant = 3}, {.group = "high", .constant = -1}};
    assert_int_equal(qst__set_init(&set, &alloc, &op, NULL), QST_OK);
    assert_int_equal(set.fallback, UINT32_MAX);
    qst_candidate c = toy_candidate("t.64x-32");
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

    c = toy_candidate("plain");
    c.classes = QST_CLASS_PLAIN;
    c.op = NULL;
    assert_int_equal(qst__set_add(&set, &c, "mine", 7, NULL), QST_OK);
    assert_int_equal(set.candidates[1].desc.classes, QST_CLASS_PLAIN | QST_CLASS_FAST);
    c = toy_candidate("vendor");
    c.program = NULL;
    c.steps = NULL;
    c.open = toy_open;
    c.enqueue = toy_enqueue;
    c.close = toy_close;
    assert_int_equal(qst__set_add(&set, &c, "mine", 7, NULL), QST_OK);
    assert_int_equal(set.candidates[2].desc.classes, QST_CLASS_FAST);
    c = toy_candidate("plain");
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
    qst_op        op = toy_op();
    qst__set      set;
    qst_error     err = {0};
    qst_candidate first = toy_candidate("first");
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
        qst_candidate c = toy_candidate("second");                                                                     \
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
    ASSERT_ADD_REFUSED("both", c.open = toy_open);
    ASSERT_ADD_REFUSED("neither", c.program = NULL; c.steps = NULL);
    ASSERT_ADD_REFUSED("only one", c.steps = NULL);
    ASSERT_ADD_REFUSED("not all", c.program = NULL; c.steps = NULL; c.open = toy_open);
    ASSERT_ADD_REFUSED("no group 'middle'", c.n_memberships = 2; c.memberships = nowhere);
    ASSERT_ADD_REFUSED("NULL", c.n_memberships = 2);
    ASSERT_ADD_REFUSED("flags", c.flags = 1u << 16);
    ASSERT_ADD_REFUSED("problem_size 0", c.problem_size = 0);
    ASSERT_ADD_REFUSED("problem_size 36", c.problem_size = sizeof(toy) + 4);
    ASSERT_ADD_REFUSED("second fallback", c.flags = QST_CANDIDATE_FALLBACK);
    ASSERT_ADD_REFUSED("other", c.op = "other");
    qst_candidate second = toy_candidate("second"), first = toy_candidate("first");
    assert_add_refused(&second, "my.own", QST_E_INVALID, "my.own");
    assert_add_refused(&first, "mine", QST_E_STATE, "toy.turn.mine.first/1");
}

static void test_takes(void **state)
{
    (void)state;
    toy            problem = {.size = sizeof problem, .n = 5};
    qst__candidate now = {.desc = {.problem_size = sizeof problem}};
    qst__candidate old = {.desc = {.problem_size = offsetof(toy, late)}};
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
    qst__set set = {.op = toy_op()};
    toy      problem = {.size = sizeof problem};
    assert_int_equal(qst__set_class_of(&set, &problem), QST_CLASS_PLAIN);
    problem.numerics = QST_NUMERICS_STRICT;
    assert_int_equal(qst__set_class_of(&set, &problem), QST_CLASS_STRICT);
    problem.numerics = 77;
    assert_int_equal(qst__set_class_of(&set, &problem) & 7u, 0);
    set.op.numerics_offset = 0;
    assert_int_equal(qst__set_class_of(&set, &problem), QST_CLASS_FAST);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static void test_undo(void **state)
{
    (void)state;
    meter         m = {.left = -1};
    qst__alloc    alloc = {meter_resize, &m};
    qst_op        op = toy_op();
    qst__set      set;
    qst_group     group = {.size = sizeof group, .name = "third"};
    qst_candidate first = toy_candidate("first"), second = toy_candidate("second");
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
    qst_op         op = toy_op();
    qst__set       set;
    qst__pair      pairs[] = {{"groups.toy.turn.low.priority", "-4"}, {"groups.toy.turn.high.priority", "9z"}};
    qst__settings  settings = {.pairs = pairs, .n_pairs = 2};
    int32_t        ten = 10, twenty = 20;
    int64_t        value[] = {5};
    const qst_key  key = {.count = 1, .value = value};
    qst_group      asked = {.size = sizeof asked, .name = "asked", .user = &ten, .priority = counted, .constant = 99};
    qst_membership in[] = {{.group = "low", .constant = 3}, {.group = "asked", .priority = counted, .constant = 99}};
    qst_candidate  c = toy_candidate("one");
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
    const qst_judge     judge = {sizeof judge, 1, NULL, toy_judge_program, toy_judge_steps, toy_tell};
    const qst_candidate trivial = toy_candidate("trivial");
    qst_membership      in[] = {{.group = "low"}};
    qst_candidate       c = toy_candidate("one");
    qst_op              op = toy_op();
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

/* ---- Checksum ---------------------------------------------------------------------------------------------------- */

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
    qst_op        op = toy_op();
    qst__set      one, two;
    qst_candidate a = toy_candidate("a"), b = toy_candidate("b");
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
        cmocka_unit_test(test_op_refused), cmocka_unit_test(test_fields_refused), cmocka_unit_test(test_op_sizes),
        cmocka_unit_test(test_add),        cmocka_unit_test(test_add_refused),    cmocka_unit_test(test_takes),
        cmocka_unit_test(test_class_of),   cmocka_unit_test(test_undo),           cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_no_memory),  cmocka_unit_test(test_checksum),       cmocka_unit_test(test_set_checksum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
