/* SPDX-License-Identifier: MIT
 *
 * skewed.c: a saboteur with an operation of its own, y := 2 x over n floats, without a judge: results are compared with
 * its fallback, and that is wrong in the last element. With VOTER, the name of a plugin, it is a right candidate of that
 * plugin instead.
 */
#include "descriptor.h"

typedef struct skewed_problem {
    uint32_t size, type, x_align, y_align;
    int64_t  n;
} skewed_problem;

static const char source[] = "kernel void twice(global const float *x, ulong x0, global float *y, ulong y0, long n)\n"
                             "{ for (long i = get_global_id(0); i < n; i += get_global_size(0))\n"
                             "    y[y0 + i] = 2 * x[x0 + i] + SKEW * (i + 1 == n); }\n";

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    (void)device, (void)key, (void)index;
    out->data = source;
    out->length = sizeof source - 1;
    out->options = (const char *)user;
    return QST_OK;
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_arg args[] = {qstk_operand(0), qstk_offset(0), qstk_operand(1), qstk_offset(1),
                            qstk_i64(((const skewed_problem *)problem)->n)};
    qst_launch    launch = qstk_launch(0, "twice", 1, args, QSTK_COUNT(args));
    (void)user, (void)device;
    launch.global[0] = 256;
    launch.local[0] = 16;
    return out->launch(out, &launch);
}

#ifdef VOTER
#define NAME  VOTER
#define SKEW  "-DSKEW=0"
#define FLAGS 0
#else
#define NAME  "skewed"
#define SKEW  "-DSKEW=1"
#define FLAGS QST_CANDIDATE_FALLBACK
#endif

static const qst_candidate candidate = {
    .size = sizeof candidate,
    .flags = FLAGS,
    .op = "skewed",
    .variant = "twice",
    .revision = 1,
    .classes = QST_CLASS_PLAIN,
    .problem_size = sizeof(skewed_problem),
    .user = (void *)(uintptr_t)SKEW,
    .program = program,
    .steps = steps,
};

#ifndef VOTER
#define AT(member) (uint32_t) offsetof(skewed_problem, member)
static const char *const   types[] = {NULL, "f32"};
static const qst_field     fields[] = {{.name = "n", .kind = QST_FIELD_I64, .offset = AT(n), .count = 1},
                                       {.name = "type",
                                        .kind = QST_FIELD_ENUM,
                                        .offset = AT(type),
                                        .count = 1,
                                        .n_tokens = QSTK_COUNT(types),
                                        .tokens = types}};
static const qst_key_field key_fields[] = {{.name = "n", .kind = QST_KEY_SIZE}};
static const qst_operand   operands[] = {
      {.name = "x", .access = QST_ACCESS_READ, .type_offset = AT(type), .align_offset = AT(x_align)},
      {.name = "y", .access = QST_ACCESS_WRITE, .type_offset = AT(type), .align_offset = AT(y_align)}};

static int32_t check(void *user, const void *problem, qst_error *err)
{
    (void)user, (void)err;
    return ((const skewed_problem *)problem)->n >= 0 ? QST_OK : QST_E_INVALID;
}

static int32_t normalise(void *user, void *problem, uint32_t *perm)
{
    (void)user, (void)perm;
    return ((const skewed_problem *)problem)->n ? QST_OK : QST_NOTHING;
}

static void complete(void *user, void *problem, uint64_t given)
{
    (void)user, (void)given;
    ((skewed_problem *)problem)->type = QST_F32;
}

static void key(void *user, const void *problem, const qst_anchor *anchor, int64_t *values)
{
    (void)user, (void)anchor;
    values[0] = ((const skewed_problem *)problem)->n;
}

static uint64_t span(void *user, const void *problem, uint32_t operand)
{
    (void)user, (void)operand;
    return 4 * (uint64_t)((const skewed_problem *)problem)->n;
}

static void work(void *user, const void *problem, qst_work *out)
{
    (void)user;
    out->bytes = 8.0 * (double)((const skewed_problem *)problem)->n;
}

static const qst_op operation = {
    .size = sizeof operation,
    .name = "skewed",
    .problem_size = sizeof(skewed_problem),
    .n_fields = QSTK_COUNT(fields),
    .n_key_fields = QSTK_COUNT(key_fields),
    .n_operands = QSTK_COUNT(operands),
    .fields = fields,
    .key_fields = key_fields,
    .operands = operands,
    .check = check,
    .complete = complete,
    .normalise = normalise,
    .key = key,
    .span = span,
    .work = work,
};
#endif

static int32_t start(const qst_host *host, void **instance)
{
    int32_t status = QST_OK;
    *instance = NULL;
#ifndef VOTER
    status = host->add_operation(host->self, &operation);
#endif
    return status == QST_OK ? host->add_candidate(host->self, &candidate) : status;
}

DESCRIPTOR_OF(NAME, start);
