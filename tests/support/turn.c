/* SPDX-License-Identifier: MIT
 *
 * turn.c: an operation of which every function is there, and few do anything.
 */
#include "support/turn.h"

#include <stddef.h>

static int32_t turn_check(void *user, const void *problem, qst_error *err)
{
    (void)user, (void)problem, (void)err;
    return QST_OK;
}

static void turn_key(void *user, const void *problem, const qst_anchor *anchor, int64_t *values)
{
    (void)user;
    values[0] = anchor->anchor(anchor->level, ((const turn *)problem)->n);
}

static uint64_t turn_span(void *user, const void *problem, uint32_t operand)
{
    (void)user, (void)operand;
    return (uint64_t)((const turn *)problem)->n * 4;
}

static void turn_work(void *user, const void *problem, qst_work *out)
{
    (void)user;
    out->ops = out->bytes = (double)((const turn *)problem)->n;
}

int32_t turn_program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    (void)user, (void)device, (void)key, (void)index, (void)out;
    return QST_OK;
}

int32_t turn_steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    (void)user, (void)device, (void)problem, (void)out;
    return QST_OK;
}

int32_t turn_judge_program(void *user, const qst_device *device, const void *problem, uint32_t index, qst_program *out)
{
    (void)user, (void)device, (void)problem, (void)index, (void)out;
    return QST_OK;
}

int32_t turn_judge_steps(void *user, const qst_device *device, const void *problem, uint32_t phase, uint64_t seed,
                         qst_steps *out)
{
    (void)user, (void)device, (void)problem, (void)phase, (void)seed, (void)out;
    return QST_OK;
}

void turn_tell(void *user, const void *problem, uint32_t phase, const uint32_t *finding, char *text, uint32_t text_size)
{
    (void)user, (void)problem, (void)phase, (void)finding, (void)text, (void)text_size;
}

int32_t turn_open(void *user, const qst_device *device, void **instance, const char **why)
{
    (void)user, (void)device, (void)instance, (void)why;
    return QST_OK;
}

int32_t turn_enqueue(void *instance, const void *problem, const qst_call *call, const char **why)
{
    (void)instance, (void)problem, (void)call, (void)why;
    return QST_OK;
}

void turn_close(void *instance)
{
    (void)instance;
}

static const qst_field turn_fields[] = {
    {.name = "n", .kind = QST_FIELD_I64, .offset = offsetof(turn, n), .count = 1},
    {.name = "x.type", .kind = QST_FIELD_U32, .offset = offsetof(turn, type), .count = 1},
    {.name = "x.align", .kind = QST_FIELD_U32, .offset = offsetof(turn, align), .count = 1},
};
static const qst_key_field turn_key_fields[] = {{.name = "n", .kind = QST_KEY_SIZE, .flags = QST_KEY_ANCHORED}};
static const qst_operand   turn_operands[] = {
      {"x", QST_ACCESS_READ_WRITE, offsetof(turn, type), offsetof(turn, align), 0}};
const qst_group turn_groups[2] = {
    {.size = sizeof(qst_group), .name = "high", .constant = 2},
    {.size = sizeof(qst_group), .name = "low", .constant = 1},
};

qst_op turn_op(void)
{
    return (qst_op){
        .size = sizeof(qst_op),
        .name = "toy.turn",
        .problem_size = sizeof(turn),
        .numerics_offset = offsetof(turn, numerics),
        .n_fields = 3,
        .n_key_fields = 1,
        .n_operands = 1,
        .n_groups = 2,
        .fields = turn_fields,
        .key_fields = turn_key_fields,
        .operands = turn_operands,
        .groups = turn_groups,
        .check = turn_check,
        .key = turn_key,
        .span = turn_span,
        .work = turn_work,
    };
}

qst_candidate turn_candidate(const char *variant)
{
    return (qst_candidate){
        .size = sizeof(qst_candidate),
        .op = "toy.turn",
        .variant = variant,
        .revision = 1,
        .problem_size = sizeof(turn),
        .program = turn_program,
        .steps = turn_steps,
    };
}
