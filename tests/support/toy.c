/* SPDX-License-Identifier: MIT
 *
 * The toy operation and its candidates. */
#include "support/toy.h"

#include "model/anchor.h"

#include <stddef.h>
#include <string.h>

#define OFFSET(member) (uint32_t) offsetof(toy_problem, member)

static const char *const types[] = {NULL, "f32", "f64", "f16", "bf16"};
static const qst_field   fields[] = {
      {.name = "n", .kind = QST_FIELD_I64, .offset = OFFSET(n), .count = 1},
      {.name = "a", .kind = QST_FIELD_F64, .offset = OFFSET(a), .count = 1},
      {.name = "x.type", .kind = QST_FIELD_ENUM, .offset = OFFSET(x_type), .count = 1, .n_tokens = 5, .tokens = types},
      {.name = "y.type", .kind = QST_FIELD_ENUM, .offset = OFFSET(y_type), .count = 1, .n_tokens = 5, .tokens = types},
      {.name = "numerics", .kind = QST_FIELD_U32, .offset = OFFSET(numerics), .count = 1},
};
static const qst_key_field key_fields[] = {{.name = "n", .kind = QST_KEY_SIZE, .flags = QST_KEY_ANCHORED}};
static const qst_operand   operands[] = {
      {.name = "x", .access = QST_ACCESS_READ, .type_offset = OFFSET(x_type), .align_offset = OFFSET(x_align)},
      {.name = "y", .access = QST_ACCESS_WRITE, .type_offset = OFFSET(y_type), .align_offset = OFFSET(y_align)},
};
static const qst_group groups[] = {
    {.size = sizeof(qst_group), .name = "high", .constant = 2},
    {.size = sizeof(qst_group), .name = "low", .constant = 1},
};

static int32_t check(void *user, const void *problem, qst_error *err)
{
    const toy_problem *p = problem;
    (void)user;
    return p->n >= 0 ? QST_OK : qst__fail(err, QST_E_INVALID, "scale", "n is %lld, not 0 or more", (long long)p->n);
}

static void key(void *user, const void *problem, const qst_anchor *anchor, int64_t *values)
{
    (void)user;
    values[0] = anchor->anchor(anchor->level, ((const toy_problem *)problem)->n);
}

static uint64_t span(void *user, const void *problem, uint32_t operand)
{
    const toy_problem *p = problem;
    (void)user;
    return (uint64_t)p->n * qst_type_bytes(operand == 0 ? p->x_type : p->y_type);
}

static void work(void *user, const void *problem, qst_work *out)
{
    out->ops = (double)((const toy_problem *)problem)->n;
    out->bytes = (double)(span(user, problem, 0) + span(user, problem, 1));
}

static void complete(void *user, void *problem, uint64_t given)
{
    toy_problem *p = problem;
    (void)user;
    p->a = given & 2 ? p->a : 1;
    p->x_type = given & 4 ? p->x_type : QST_F32;
    p->y_type = given & 8 ? p->y_type : p->x_type;
}

const qst_op toy_op = {
    .size = sizeof toy_op,
    .name = "scale",
    .problem_size = sizeof(toy_problem),
    .numerics_offset = OFFSET(numerics),
    .n_fields = sizeof fields / sizeof *fields,
    .n_key_fields = 1,
    .n_operands = 2,
    .n_groups = 2,
    .fields = fields,
    .key_fields = key_fields,
    .operands = operands,
    .groups = groups,
    .check = check,
    .complete = complete,
    .key = key,
    .span = span,
    .work = work,
};

/* ---- Candidates ------------------------------------------------------------------------------------------------- */

static int32_t supports(void *user, const qst_device *device, const qst_key *for_key, const char **why)
{
    const toy_spec *spec = user;
    (void)device, (void)for_key;
    if (spec->refuses && why)
        *why = spec->refuses;
    return spec->refuses ? QST_E_UNSUPPORTED : spec->poor ? QST_POOR : QST_OK;
}

static int32_t can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    const toy_spec *spec = user;
    (void)device, (void)problem;
    if (spec->cannot && why)
        *why = spec->cannot;
    return spec->cannot ? QST_E_UNSUPPORTED : QST_OK;
}

static double estimate(void *user, const qst_device *device, const void *problem)
{
    (void)device, (void)problem;
    return ((const toy_spec *)user)->estimate;
}

static int32_t program(void *user, const qst_device *device, const qst_key *for_key, uint32_t index, qst_program *out)
{
    (void)user, (void)device, (void)for_key, (void)index, (void)out;
    return QST_E_UNSUPPORTED; /* there is no device in these tests */
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    (void)user, (void)device, (void)problem, (void)out;
    return QST_E_UNSUPPORTED;
}

static qst_status toy_add(qst__set *set, toy_spec *spec)
{
    spec->membership = (qst_membership){.group = spec->group, .constant = spec->priority};
    return qst__set_add(set,
                        &(qst_candidate){
                            .size = sizeof(qst_candidate),
                            .flags = spec->fallback ? QST_CANDIDATE_FALLBACK : 0,
                            .op = "scale",
                            .variant = spec->variant,
                            .revision = 1,
                            .classes = spec->fast_only ? QST_CLASS_FAST : QST_CLASS_PLAIN,
                            .problem_size = sizeof(toy_problem),
                            .n_memberships = spec->group ? 1 : 0,
                            .memberships = &spec->membership,
                            .user = spec,
                            .supports = supports,
                            .can_run = can_run,
                            .estimate = estimate,
                            .program = program,
                            .steps = steps,
                        },
                        "toy", 0, NULL);
}

bool toy_set(qst__set *set, const qst__alloc *alloc, toy_spec *specs, uint32_t n)
{
    if (qst__set_init(set, alloc, &toy_op, NULL) < 0)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (toy_add(set, &specs[i]) < 0) {
            qst__set_finish(set);
            return false;
        }
    }
    qst__set_freeze(set, NULL);
    return true;
}

toy_problem toy_problem_of(int64_t n)
{
    return (toy_problem){.size = sizeof(toy_problem), .x_type = QST_F32, .y_type = QST_F32, .n = n, .a = 1};
}

qst__key toy_key(const toy_problem *problem)
{
    qst_anchor anchor = qst__anchor_at(QST__LEVEL_BALANCED);
    qst__key   made = {.count = 1};

    toy_op.key(NULL, problem, &anchor, made.value);
    return made;
}
