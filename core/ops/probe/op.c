/* SPDX-License-Identifier: MIT
 *
 * op.c: the descriptors of the three probes: one problem struct, three kinds of work.
 */
#include "ops/probe/internal.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#define ELEMENTS_MAX (INT64_C(1) << 40) /* bytes: beyond any device's memory, and no product overflows */

static const char *const types[] = {NULL, "f32", "f64", "f16", "bf16"};
static const char *const classes[] = {"plain", "strict", "fast"};

#define AT(member) (uint32_t) offsetof(qst_probe, member)
#define TOKEN(text, member, list)                                                                                      \
    {                                                                                                                  \
        .name = (text), .kind = QST_FIELD_ENUM, .offset = AT(member), .count = 1, .n_tokens = QSTK_COUNT(list),        \
        .tokens = (list)                                                                                               \
    }

static const qst_field fields[] = {
    TOKEN("type", type, types),
    TOKEN("numerics", numerics, classes),
    TOKEN("storage", storage, types),
    {.name = "bytes", .kind = QST_FIELD_I64, .offset = AT(bytes), .count = 1},
    {.name = "repeats", .kind = QST_FIELD_U32, .offset = AT(repeats), .count = 1},
    {.name = "from_align", .kind = QST_FIELD_U32, .offset = AT(from_align), .count = 1},
    {.name = "out_align", .kind = QST_FIELD_U32, .offset = AT(out_align), .count = 1},
};
enum { F_TYPE, F_NUMERICS, F_STORAGE, F_BYTES, F_REPEATS };

static const qst_key_field key_fields[] = {
    {.name = "type", .kind = QST_KEY_ENUM, .n_tokens = QSTK_COUNT(types), .tokens = types},
    {.name = "numerics", .kind = QST_KEY_ENUM, .n_tokens = QSTK_COUNT(classes), .tokens = classes},
    {.name = "bytes", .kind = QST_KEY_SIZE},
    {.name = "repeats", .kind = QST_KEY_SIZE},
};

static const qst_operand out_operand = {
    .name = "out", .access = QST_ACCESS_WRITE, .type_offset = AT(storage), .align_offset = AT(out_align)};
static const qst_operand both_operands[] = {
    {.name = "from", .access = QST_ACCESS_READ, .type_offset = AT(storage), .align_offset = AT(from_align)},
    {.name = "out", .access = QST_ACCESS_WRITE, .type_offset = AT(storage), .align_offset = AT(out_align)},
};

static int32_t refuse(qst_error *err, const char *text)
{
    if (err && !err->text[0]) {
        (void)snprintf(err->text, sizeof err->text, "%s", text);
        (void)snprintf(err->source, sizeof err->source, "probe");
        err->status = QST_E_INVALID;
    }
    return QST_E_INVALID;
}

/* What holds for all three; `multiple` is of bytes, `step` of repeats. */
static int32_t check(const qst_probe *p, int64_t multiple, uint32_t least, uint32_t step, qst_error *err)
{
    char text[160];
    if (p->type < QST_F32 || p->type >= QST_TYPE_END || p->numerics >= QST_NUMERICS_END)
        (void)snprintf(text, sizeof text, "type %u or numerics %u is unknown", p->type, p->numerics);
    else if (p->storage != (p->type == QST_F64 ? QST_F64 : QST_F32))
        (void)snprintf(text, sizeof text, "storage is %u, must be f64 where type is and f32 elsewhere", p->storage);
    else if (p->bytes <= 0 || p->bytes > ELEMENTS_MAX || p->bytes % multiple)
        (void)snprintf(text, sizeof text, "bytes is %" PRId64 ", must be a positive multiple of %" PRId64, p->bytes,
                       multiple);
    else if (p->repeats < least || p->repeats % step)
        (void)snprintf(text, sizeof text, "repeats is %u, must be a multiple of %u from %u on", p->repeats, step,
                       least);
    else
        return QST_OK;
    return refuse(err, text);
}

static int32_t check_compute(void *user, const void *problem, qst_error *err)
{
    const qst_probe *p = problem;
    (void)user;
    return check(p, p->storage == QST_F64 ? 8 : 4, QST_PROBE_REPEATS_MIN, QST_PROBE_REPEATS_STEP, err);
}

static int32_t check_memory(void *user, const void *problem, qst_error *err)
{
    (void)user;
    return check(problem, 64, 1, 1, err);
}

static int32_t check_launch(void *user, const void *problem, qst_error *err)
{
    const qst_probe *p = problem;
    (void)user;
    if (p->repeats != 1)
        return refuse(err, "repeats must be 1");
    return check(p, 4, 1, 1, err);
}

/* For text: one element, or one line of 64 bytes, and the least repeats. */
static void complete(void *user, void *problem, uint64_t given)
{
    qst_probe *p = problem;
    bool       chains = user != NULL;

    p->size = (uint32_t)sizeof *p;
    if (!(given >> F_TYPE & 1))
        p->type = QST_F32;
    if (!(given >> F_STORAGE & 1))
        p->storage = p->type == QST_F64 ? QST_F64 : QST_F32;
    if (!(given >> F_BYTES & 1))
        p->bytes = 64;
    if (!(given >> F_REPEATS & 1))
        p->repeats = chains ? QST_PROBE_REPEATS_MIN : 1;
}

static void key(void *user, const void *problem, const qst_anchor *anchor, int64_t *values)
{
    const qst_probe *p = problem;
    (void)user;
    (void)anchor;
    values[0] = p->type;
    values[1] = p->numerics;
    values[2] = p->bytes;
    values[3] = p->repeats;
}

static uint64_t span_out(void *user, const void *problem, uint32_t operand)
{
    (void)user;
    (void)operand;
    return (uint64_t)((const qst_probe *)problem)->bytes;
}

static uint64_t span_memory(void *user, const void *problem, uint32_t operand)
{
    const qst_probe *p = problem;
    (void)user;
    return operand == QST_PROBE_FROM ? (uint64_t)p->bytes : qst_type_bytes(p->storage);
}

static void work_compute(void *user, const void *problem, qst_work *out)
{
    const qst_probe *p = problem;
    (void)user;
    out->ops = 2.0 * (double)qst__probe_elements(p) * (double)p->repeats;
    out->bytes = (double)p->bytes;
    out->type = p->type;
    out->numerics = p->numerics;
}

static void work_memory(void *user, const void *problem, qst_work *out)
{
    const qst_probe *p = problem;
    (void)user;
    out->bytes = (double)p->bytes * (double)p->repeats;
}

static void work_launch(void *user, const void *problem, qst_work *out)
{
    (void)user;
    out->bytes = (double)((const qst_probe *)problem)->bytes;
}

/* Equal words, so that every order of reading gives the same. */
static void fill(void *user, const void *problem, uint32_t operand, uint32_t real, qst_fill *out)
{
    (void)user;
    (void)problem;
    (void)operand;
    (void)real;
    memset(out, 0, sizeof *out);
}

static const char of_chains = 1; /* complete()'s user of the one that has a least length */

#define COMMON                                                                                                         \
    .size = sizeof(qst_op), .problem_size = sizeof(qst_probe), .numerics_offset = AT(numerics),                        \
    .n_fields = QSTK_COUNT(fields), .n_key_fields = QSTK_COUNT(key_fields), .fields = fields,                          \
    .key_fields = key_fields, .complete = complete, .key = key, .fill = fill

const qst_op qst_probe_compute_op = {
    COMMON,
    .flags = QST_OP_PROBE_COMPUTE,
    .name = "probe.compute",
    .n_operands = 1,
    .operands = &out_operand,
    .user = (void *)&of_chains,
    .check = check_compute,
    .span = span_out,
    .work = work_compute,
};

const qst_op qst_probe_memory_op = {
    COMMON,
    .flags = QST_OP_PROBE_MEMORY,
    .name = "probe.memory",
    .n_operands = QSTK_COUNT(both_operands),
    .operands = both_operands,
    .check = check_memory,
    .span = span_memory,
    .work = work_memory,
};

const qst_op qst_probe_launch_op = {
    COMMON,           .flags = QST_OP_PROBE_LAUNCH, .name = "probe.launch",
    .n_operands = 1,  .operands = &out_operand,     .check = check_launch,
    .span = span_out, .work = work_launch,
};
