/* SPDX-License-Identifier: MIT
 *
 * blend.c: see blend.h.
 */
#include "support/blend.h"

#include <math.h>
#include <quernstone/kit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OFFSET(member) (uint32_t) offsetof(blend_problem, member)
#define ITEMS          256u

static const char source[] =
    "#define PUT(ax, y) (b == 0 ? (ax) : b == 1 ? (ax) + (y) : fmax((ax), (y)))\n"
    "#define ALL(i) for (ulong i = get_global_id(0); i < n; i += get_global_size(0))\n"
    "kernel void loop(global const float *x, ulong x0, global float *y, ulong y0, ulong n, float a, float b)\n"
    "{ x += x0; y += y0; ALL(i) y[i] = PUT(a * x[i], y[i]); }\n"
    "kernel void wide(global const float *x, ulong x0, global float *y, ulong y0, ulong n, float a, float b)\n"
    "{ x += x0; y += y0;\n"
    "  for (ulong j = 4 * get_global_id(0); j < n; j += 4 * get_global_size(0))\n"
    "    for (ulong i = j; i < min(j + 4, n); i++) y[i] = PUT(a * x[i], y[i]); }\n"
    "kernel void scaled(global const float *x, ulong x0, global float *w, ulong n, float a)\n"
    "{ x += x0; ALL(i) w[i] = a * x[i]; }\n"
    "kernel void added(global const float *w, global float *y, ulong y0, ulong n, float b)\n"
    "{ y += y0; ALL(i) y[i] = PUT(w[i], y[i]); }\n"
    "kernel void off(global const float *x, ulong x0, global float *y, ulong y0, ulong n, float a, float b)\n"
    "{ x += x0; y += y0; ALL(i) y[i] = (PUT(a * x[i], y[i])) + (i + 1 == n ? 1.0f : 0.0f); }\n"
    "kernel void past(global const float *x, ulong x0, global float *y, ulong y0, ulong n, float a, float b)\n"
    "{ x += x0; y += y0; ALL(i) y[i] = PUT(a * x[i], y[i]); if (get_global_id(0) == 0) y[n] = 0; }\n"
    "kernel void deaf(global const float *x, ulong x0, global float *y, ulong y0, ulong n, float a, float b)\n"
    "{ x += x0; y += y0; ALL(i) y[i] = a * x[i]; }\n"
    "kernel void even(global const float *x, ulong x0, global float *y, ulong y0, ulong n, float a, float b)\n"
    "{ x += x0; y += y0; n &= ~1ul; ALL(i) y[i] = PUT(a * x[i], y[i]); }\n"
    "kernel void zero(global float *y, ulong y0, ulong n)\n"
    "{ y += y0; ALL(i) y[i] = 0; }\n";

/* ---- The operation ---------------------------------------------------------------------------------------------- */

static const char *const types[] = {NULL, "f32"};
static const qst_field   fields[] = {
      {.name = "n", .kind = QST_FIELD_I64, .offset = OFFSET(n), .count = 1},
      {.name = "a", .kind = QST_FIELD_F64, .offset = OFFSET(a), .count = 1},
      {.name = "b", .kind = QST_FIELD_I64, .offset = OFFSET(b), .count = 1},
      {.name = "type", .kind = QST_FIELD_ENUM, .offset = OFFSET(type), .count = 1, .n_tokens = 2, .tokens = types},
};
static const qst_key_field key_fields[] = {{.name = "n", .kind = QST_KEY_SIZE}, {.name = "b", .kind = QST_KEY_FLAG}};
static const qst_operand   operands[] = {
      {.name = "x", .access = QST_ACCESS_READ, .type_offset = OFFSET(type), .align_offset = OFFSET(x_align)},
      {.name = "y", .access = QST_ACCESS_READ_WRITE, .type_offset = OFFSET(type), .align_offset = OFFSET(y_align)},
};
static const qst_group groups[] = {{.size = sizeof(qst_group), .name = "all", .constant = 1}};

static int32_t check(void *user, const void *problem, qst_error *err)
{
    const blend_problem *p = problem;
    (void)user;
    if (p->type != QST_F32)
        return qst__fail(err, QST_E_INVALID, "blend", "type is %u, not f32", p->type);
    if (p->n < 0 || p->n > INT64_MAX / 8)
        return qst__fail(err, QST_E_INVALID, "blend", "n is %lld", (long long)p->n);
    return p->b >= 0 && p->b <= 2 ? QST_OK
                                  : qst__fail(err, QST_E_INVALID, "blend", "b is %lld, not 0 to 2", (long long)p->b);
}

static void complete(void *user, void *problem, uint64_t given)
{
    (void)user;
    if (!(given & 8))
        ((blend_problem *)problem)->type = QST_F32;
}

static int32_t normalise(void *user, void *problem, uint32_t *perm)
{
    const blend_problem *p = problem;
    (void)user, (void)perm;
    if (p->n == 0 || (p->a == 0 && p->b == 1))
        return QST_NOTHING;
    return p->a == 0 && p->b == 0 ? QST_TRIVIAL : QST_OK;
}

static void key(void *user, const void *problem, const qst_anchor *anchor, int64_t *values)
{
    const blend_problem *p = problem;
    (void)user, (void)anchor;
    for (values[0] = 1; values[0] < p->n; values[0] *= 2)
        ;
    values[1] = p->b;
}

static uint64_t span(void *user, const void *problem, uint32_t operand)
{
    const blend_problem *p = problem;
    (void)user;
    return operand == 0 && p->a == 0 && p->b < 2 ? 0 : (uint64_t)p->n * 4;
}

static void work(void *user, const void *problem, qst_work *out)
{
    (void)user;
    out->ops = 2.0 * (double)((const blend_problem *)problem)->n;
    out->bytes = 8.0 * (double)((const blend_problem *)problem)->n;
}

static int32_t vary(void *user, const void *problem, uint32_t which, void *out)
{
    blend_problem *p = out;
    (void)user;
    *p = *(const blend_problem *)problem;
    if (which != QST_VARY_SECOND_REAL)
        p->a = 2;
    if (which == QST_VARY_SECOND || which == QST_VARY_SECOND_REAL) {
        if (p->n < 64)
            return QST_E_UNSUPPORTED;
        p->n = (p->n / 8 - 1) | 1;
    }
    return QST_OK;
}

static uint32_t repeat(void *user, const void *problem)
{
    (void)user;
    return ((const blend_problem *)problem)->b == 1 ? QST_REPEAT_ADDS : QST_REPEAT_SAME;
}

/* ---- Candidates ------------------------------------------------------------------------------------------------- */

static int32_t program(void *user, const qst_device *device, const qst_key *for_key, uint32_t index, qst_program *out)
{
    (void)user, (void)device, (void)for_key, (void)index;
    out->data = source;
    out->length = sizeof source - 1;
    return QST_OK;
}

static int32_t launch(qst_steps *out, const char *entry, const qst_arg *args, size_t n_args)
{
    qst_launch one = qstk_launch(0, entry, 1, args, n_args);
    one.global[0] = ITEMS;
    one.local[0] = 16;
    return out->launch(out, &one);
}

/* user: the kernel's name. */
static int32_t one_step(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const blend_problem *p = problem;
    const qst_arg        args[] = {qstk_operand(0), qstk_offset(0), qstk_operand(1),       qstk_offset(1),
                                   qstk_i64(p->n),  qstk_f32(p->a), qstk_f32((double)p->b)};
    (void)device;
    return launch(out, user, args, QSTK_COUNT(args));
}

static int32_t two_steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const blend_problem *p = problem;
    const qst_arg        first[] = {qstk_operand(0), qstk_offset(0), qstk_workspace(0), qstk_i64(p->n), qstk_f32(p->a)};
    const qst_arg        second[] = {qstk_workspace(0), qstk_operand(1), qstk_offset(1), qstk_i64(p->n),
                                     qstk_f32((double)p->b)};
    int32_t              status = out->workspace(out, 0, (uint64_t)p->n * 4);
    (void)user, (void)device;
    if (status == QST_OK)
        status = launch(out, "scaled", first, QSTK_COUNT(first));
    return status == QST_OK ? launch(out, "added", second, QSTK_COUNT(second)) : status;
}

static int32_t zero_step(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_arg args[] = {qstk_operand(1), qstk_offset(1), qstk_i64(((const blend_problem *)problem)->n)};
    (void)user, (void)device;
    return launch(out, "zero", args, QSTK_COUNT(args));
}

static const qst_membership memberships[] = {{.group = "all", .constant = 1}};

#define CANDIDATE(name, how, kernel, bits)                                                                             \
    {                                                                                                                  \
        .size = sizeof(qst_candidate), .flags = bits, .op = "blend", .variant = name, .revision = 1,                   \
        .classes = QST_CLASS_PLAIN, .problem_size = sizeof(blend_problem), .n_memberships = 1,                         \
        .memberships = memberships, .user = (void *)(uintptr_t)(kernel), .program = program, .steps = how              \
    }
const qst_candidate blend_loop = CANDIDATE("loop", one_step, "loop", QST_CANDIDATE_FALLBACK);
const qst_candidate blend_wide = CANDIDATE("wide", one_step, "wide", 0);
const qst_candidate blend_twice = CANDIDATE("twice", two_steps, NULL, 0);
const qst_candidate blend_off = CANDIDATE("off", one_step, "off", 0);
const qst_candidate blend_deaf = CANDIDATE("deaf", one_step, "deaf", 0);
const qst_candidate blend_even = CANDIDATE("even", one_step, "even", 0);
const qst_candidate blend_past = CANDIDATE("past", one_step, "past", 0);

static const qst_candidate zero = CANDIDATE("zero", zero_step, NULL, 0);

const qst_op blend_op = {
    .size = sizeof blend_op,
    .name = "blend",
    .problem_size = sizeof(blend_problem),
    .n_fields = sizeof fields / sizeof *fields,
    .n_key_fields = sizeof key_fields / sizeof *key_fields,
    .n_operands = 2,
    .n_groups = 1,
    .fields = fields,
    .key_fields = key_fields,
    .operands = operands,
    .groups = groups,
    .check = check,
    .complete = complete,
    .normalise = normalise,
    .key = key,
    .span = span,
    .work = work,
    .vary = vary,
    .repeat = repeat,
    .trivial = &zero,
};

/* ---- For tests -------------------------------------------------------------------------------------------------- */

blend_problem blend_of(int64_t n, double a, int64_t b)
{
    return (blend_problem){.size = sizeof(blend_problem), .type = QST_F32, .n = n, .a = a, .b = b};
}

qst_context *blend_context(const char *config)
{
    qst_options  options;
    qst_context *ctx = NULL;
    qst_error    err = {0};

    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_PLUGINS | QST_NO_STORE;
    options.config = config;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("context: %s", err.text);
    return ctx;
}

qst_set *blend_set(qst_context *ctx, const qst_candidate *const *candidates)
{
    qst_set  *set = NULL;
    qst_error err = {0};

    if (qst_op_create(&set, ctx, &blend_op, &err) != QST_OK)
        fail_msg("operation: %s", err.text);
    for (; *candidates; candidates++)
        if (qst_set_add_candidate(set, *candidates, &err) != QST_OK)
            fail_msg("candidate: %s", err.text);
    return set;
}

void blend_open(blend_case *c, cl_context context, cl_command_queue queue, const blend_problem *problem)
{
    size_t count = (size_t)problem->n + 1, i;
    float *host = malloc(2 * count * sizeof *host);
    cl_int code;

    assert_non_null(host);
    for (i = 0; i < count; i++) {
        host[i] = (float)(i % 7);
        host[count + i] = (float)(i % 5);
    }
    c->problem = *problem;
    c->x = clCreateBuffer(context, CL_MEM_READ_WRITE, count * sizeof *host, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    c->y = clCreateBuffer(context, CL_MEM_READ_WRITE, count * sizeof *host, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    code = clEnqueueWriteBuffer(queue, c->x, CL_TRUE, 0, count * sizeof *host, host, 0, NULL, NULL);
    assert_int_equal(code, CL_SUCCESS);
    code = clEnqueueWriteBuffer(queue, c->y, CL_TRUE, 0, count * sizeof *host, host + count, 0, NULL, NULL);
    assert_int_equal(code, CL_SUCCESS);
    c->operand[0] = qst_mem_of(c->x);
    c->operand[1] = qst_mem_of(c->y);
    free(host);
}

void blend_close(blend_case *c)
{
    (void)clReleaseMemObject(c->x);
    (void)clReleaseMemObject(c->y);
}

void blend_check(const blend_case *c, cl_command_queue queue, int calls)
{
    size_t count = (size_t)c->problem.n + 1, i;
    float *got = malloc(count * sizeof *got);

    assert_non_null(got);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, c->y, CL_TRUE, 0, count * sizeof *got, got, 0, NULL, NULL), CL_SUCCESS);
    for (i = 0; i < count; i++) {
        float x = (float)(i % 7), y = (float)(i % 5), a = (float)c->problem.a;
        float want = y;
        if (i + 1 < count && calls)
            want = c->problem.b == 0 ? a * x : c->problem.b == 1 ? y + (float)calls * a * x : fmaxf(y, a * x);
        if (got[i] != want)
            fail_msg("n %lld: y[%zu] is %g, not %g", (long long)c->problem.n, i, (double)got[i], (double)want);
    }
    free(got);
}

typedef struct text {
    char  *data;
    size_t length;
} text;

static void append(void *user, const char *piece, size_t length)
{
    text *t = user;
    char *grown = realloc(t->data, t->length + length + 1);

    assert_non_null(grown);
    memcpy(grown + t->length, piece, length);
    t->data = grown;
    t->length += length;
    grown[t->length] = '\0';
}

char *blend_describe(qst_context *ctx, const char *what)
{
    text      t = {NULL, 0};
    qst_error err = {0};

    if (qst_describe(ctx, what, append, &t, &err) != QST_OK)
        fail_msg("describe %s: %s", what, err.text);
    assert_non_null(t.data);
    return t.data;
}
