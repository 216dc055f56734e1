/* SPDX-License-Identifier: MIT
 *
 * judge.c: the launches that check a matmul's results, phase by phase. The mathematics stands in judge_equal.cl,
 * judge_locate.cl and judge_bound.cl, the words about what was found in tell.c; which programs these are is
 * judge_program.c's.
 */
#include "ops/matmul/internal.h"

#include <float.h>
#include <math.h>

#define LANES_GPU   64 /* work-items in a group where the device is no CPU; as in the options of judge_program.c */
#define SAMPLES_CPU 16 /* lines of C that BOUND computes; on a CPU LINES_CPU in a work-item */
#define SAMPLES_GPU 32
#define LINES_CPU   4
#define ITEMS_MAX   (UINT64_C(1) << 31) /* samples times blocks of columns */
#define SLOT_WORDS  6
#define SPREAD      40 /* log2 of SCALE's factor; for f16, whose numbers end at 2^16: */
#define SPREAD_HALF 8

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static bool is_cpu(const qst_device *device)
{
    return device->type == QST_DEVICE_CPU;
}

static bool has_f64(const qst_device *device)
{
    return (device->flags & QST_DEVICE_F64) != 0;
}

/* Arguments one by one: their number is bounded by the kernels. */
typedef struct arguments {
    size_t  count;
    qst_arg arg[QST_ARGS_MAX];
} arguments;

static void add(arguments *x, qst_arg arg)
{
    x->arg[x->count++] = arg;
}

static void add_u32(arguments *x, uint32_t value)
{
    add(x, qstk_value(&value, sizeof value));
}

static void add_u64(arguments *x, uint64_t value)
{
    add(x, qstk_value(&value, sizeof value));
}

static void add_buffer(arguments *x, uint32_t operand)
{
    add(x, qstk_operand(operand));
    add(x, qstk_offset(operand));
}

/* Four 64-bit numbers as two pairs: a value has at most 16 bytes. */
static void add_four(arguments *x, const int64_t *four)
{
    add(x, qstk_value(four, 16));
    add(x, qstk_value(four + 2, 16));
}

/* Operand with its strides, as locate and bound take it. */
static void add_matrix(arguments *x, uint32_t operand, const qst_matrix *matrix)
{
    add_buffer(x, operand);
    add(x, qstk_i64(matrix->row));
    add(x, qstk_i64(matrix->col));
    add_four(x, matrix->batch);
}

static void add_real(arguments *x, const qst_device *device, double value)
{
    add(x, has_f64(device) ? qstk_f64(value) : qstk_f32(value));
}

/* Up to `items` groups, as many as keep the device busy and share the work evenly. */
static int32_t launch(qst_steps *out, const qst_device *device, uint32_t program_index, const char *entry,
                      uint64_t items, const arguments *x)
{
    qst_launch l = qstk_launch(program_index, entry, 1, x->arg, x->count);
    uint64_t   groups = (uint64_t)(device->units ? device->units : 1) * (is_cpu(device) ? 8 : 32);
    l.local[0] = is_cpu(device) ? 1 : LANES_GPU;
    l.global[0] = (items == 0 ? 1 : items < groups ? items : groups) * l.local[0];
    return out->launch(out, &l);
}

/* Work-items a group does at a time, for flat index spaces. */
static uint64_t in_groups(const qst_device *device, uint64_t items)
{
    return is_cpu(device) ? qstk_ceil_div(items, 64) : qstk_ceil_div(items, LANES_GPU);
}

static uint64_t batches_of(const qst_matmul *p)
{
    return (uint64_t)qst__matmul_batches(p);
}

static uint64_t lines_of(const qst_matmul *p)
{
    return batches_of(p) * (uint64_t)p->m;
}

/* ---- EQUAL and LOCATE -------------------------------------------------------------------------------------------- */

static bool is_small_integer(double x)
{
    return fabs(x) <= 1024.0 && x == floor(x);
}

static uint32_t as_word(double x)
{
    return (uint32_t)(int32_t)x;
}

/* out := matrix · w over `batches` batches of `rows` lines. */
static int32_t sums(qst_steps *out, const qst_device *device, const qst_matmul *p, uint32_t operand, uint64_t batches,
                    int64_t w_step)
{
    const qst_matrix *matrix = qst__matmul_matrix(p, operand);
    int64_t           rows = operand == QST__A ? p->m : p->k;
    arguments         x = {0};
    uint64_t          lines = batches * (uint64_t)rows;

    add_buffer(&x, operand);
    add_u64(&x, batches);
    add(&x, qstk_i64(rows));
    add(&x, qstk_i64(operand == QST__A ? p->k : p->n));
    add(&x, qstk_i64(matrix->row));
    add(&x, qstk_i64(matrix->col));
    add_four(&x, p->batch);
    add_four(&x, matrix->batch);
    add(&x, qstk_workspace(operand == QST__A ? 1 : 0));
    add(&x, qstk_i64(w_step));
    add(&x, qstk_workspace(operand == QST__A ? 2 : 1));
    add(&x, qstk_local(4 * (is_cpu(device) ? 1 : LANES_GPU)));
    return launch(out, device, operand == QST__A ? 0 : QST__JUDGE_SWAPPED, "sums", lines, &x);
}

static int32_t check(qst_steps *out, const qst_device *device, const qst_matmul *p)
{
    arguments x = {0};
    add_buffer(&x, QST__C);
    add_buffer(&x, p->beta != 0.0 ? QST_JUDGE_BEFORE + QST__C : QST__C);
    add_u64(&x, batches_of(p));
    add(&x, qstk_i64(p->m));
    add(&x, qstk_i64(p->n));
    add(&x, qstk_i64(p->c.row));
    add(&x, qstk_i64(p->c.col));
    add_four(&x, p->batch);
    add_four(&x, p->c.batch);
    add(&x, qstk_workspace(0));
    add(&x, qstk_workspace(2));
    add_u32(&x, as_word(p->alpha));
    add_u32(&x, as_word(p->beta));
    add(&x, qstk_operand(QST_JUDGE_FINDING));
    add(&x, qstk_local(4 * (is_cpu(device) ? 1 : LANES_GPU)));
    return launch(out, device, 0, "check", lines_of(p), &x);
}

/* Workspaces: 0 r, 1 y = B · r (once where all batches share B), 2 t = A · y. */
static int32_t equal(qst_steps *out, const qst_device *device, const qst_matmul *p, uint64_t seed)
{
    static const int64_t shared[QST_MATMUL_BATCHES] = {0};
    bool                 one_b = memcmp(p->b.batch, shared, sizeof shared) == 0;
    uint64_t             b_batches = one_b ? 1 : batches_of(p), k = (uint64_t)p->k;
    arguments            x = {0};
    int32_t              status = k * b_batches >= UINT32_MAX ? QST_E_UNSUPPORTED : QST_OK; /* as for C's lines */

    if (status == QST_OK)
        status = out->workspace(out, 0, 4 * (uint64_t)p->n);
    if (status == QST_OK)
        status = out->workspace(out, 1, 4 * (k ? k : 1) * b_batches);
    if (status == QST_OK)
        status = out->workspace(out, 2, 4 * lines_of(p));
    if (status != QST_OK)
        return status;
    add(&x, qstk_workspace(0));
    add_u64(&x, seed);
    add(&x, qstk_i64(p->n));
    status = launch(out, device, 0, "weights", in_groups(device, (uint64_t)p->n), &x);
    if (status == QST_OK)
        status = sums(out, device, p, QST__B, b_batches, 0);
    if (status == QST_OK)
        status = sums(out, device, p, QST__A, batches_of(p), one_b ? 0 : p->k);
    return status == QST_OK ? check(out, device, p) : status;
}

static void add_matrices(arguments *x, const qst_matmul *p)
{
    add_matrix(x, QST__A, &p->a);
    add_matrix(x, QST__B, &p->b);
    add_matrix(x, QST__C, &p->c);
    add_buffer(x, p->beta != 0.0 ? QST_JUDGE_BEFORE + QST__C : QST__C);
    add_four(x, p->batch);
}

static int32_t locate(qst_steps *out, const qst_device *device, const qst_matmul *p)
{
    int32_t status = QST_OK;
    for (uint32_t pass = 0; pass < 2 && status == QST_OK; pass++) {
        arguments x = {0};
        add_matrices(&x, p);
        add(&x, qstk_i64(p->m));
        add(&x, qstk_i64(p->n));
        add(&x, qstk_i64(p->k));
        add_u32(&x, as_word(p->alpha));
        add_u32(&x, as_word(p->beta));
        add_u32(&x, pass);
        add(&x, qstk_operand(QST_JUDGE_FINDING));
        status = launch(out, device, QST__JUDGE_PLACE, "locate", in_groups(device, (uint64_t)p->n), &x);
    }
    return status;
}

static int32_t erase(qst_steps *out, const qst_device *device, const qst_matmul *p)
{
    arguments x = {0};
    add_buffer(&x, QST__C);
    add_u64(&x, batches_of(p));
    add(&x, qstk_i64(p->m));
    add(&x, qstk_i64(p->n));
    add(&x, qstk_i64(p->c.row));
    add(&x, qstk_i64(p->c.col));
    add_four(&x, p->batch);
    add_four(&x, p->c.batch);
    return launch(out, device, 0, "erase", lines_of(p), &x);
}

/* ---- SCALE and BOUND --------------------------------------------------------------------------------------------- */

/* `count` elements `stride` apart in each batch; what is broadcast is one element and is scaled once. */
static int32_t spread(qst_steps *out, const qst_device *device, const qst_matmul *p, uint32_t operand, int64_t count,
                      int64_t stride, double factor)
{
    const qst_matrix *matrix = qst__matmul_matrix(p, operand);
    int64_t           size[QST_MATMUL_BATCHES];
    uint64_t          batches = 1, items;
    arguments         x = {0};

    for (int d = 0; d < QST_MATMUL_BATCHES; d++) {
        size[d] = matrix->batch[d] == 0 ? 1 : p->batch[d];
        batches *= (uint64_t)size[d];
    }
    if (stride == 0)
        count = 1;
    items = batches * (uint64_t)count;
    add_buffer(&x, operand);
    add_u64(&x, batches);
    add(&x, qstk_i64(count));
    add(&x, qstk_i64(stride));
    add_four(&x, size);
    add_four(&x, matrix->batch);
    add(&x, qstk_f32(factor));
    return launch(out, device, (operand == QST__A ? 0 : QST__JUDGE_SWAPPED) | QST__JUDGE_REALS, "spread",
                  in_groups(device, items), &x);
}

/* Where k is broadcast, column 0 of A (or row 0 of B) is all of it: nothing to scale badly. */
static int32_t scale(qst_steps *out, const qst_device *device, const qst_matmul *p)
{
    double  factor = p->a.type == QST_F16 || p->b.type == QST_F16 ? exp2(SPREAD_HALF) : exp2(SPREAD);
    int32_t status;
    if (p->k > 1 && (p->a.col == 0 || p->b.row == 0))
        return QST_E_UNSUPPORTED;
    status = spread(out, device, p, QST__A, p->m, p->a.row, factor);
    return status == QST_OK ? spread(out, device, p, QST__B, p->n, p->b.col, 1.0 / factor) : status;
}

/* What BOUND looks at: lines, or on a CPU LINES_CPU of them at a time. */
static uint64_t samples_of(const qst_device *device, const qst_matmul *p, uint64_t most)
{
    uint64_t all = batches_of(p) * qstk_ceil_div((uint64_t)p->m, is_cpu(device) ? LINES_CPU : 1);
    uint64_t samples = is_cpu(device) ? SAMPLES_CPU / LINES_CPU : SAMPLES_GPU;
    samples = samples < all ? samples : all;
    return samples < most ? samples : most;
}

static int32_t bound(qst_steps *out, const qst_device *device, const qst_matmul *p, uint64_t seed)
{
    static const double half_unit[QST_TYPE_END] = {0.0, 0x1p-24, 0x1p-53, 0x1p-11, 0x1p-8};
    static const double least[QST_TYPE_END] = {0.0, 0x1p-126, 0.0, 0x1p-25, 0x1p-126};
    static const double largest[QST_TYPE_END] = {0.0, 0x1.fffffep127, DBL_MAX, 65504.0, 0x1.fep127};
    uint64_t            blocks = qstk_ceil_div((uint64_t)p->n, is_cpu(device) ? 16 : 4);
    uint64_t            samples = samples_of(device, p, ITEMS_MAX / blocks), items = samples * blocks;
    arguments           x = {0};
    int32_t             status = out->workspace(out, 0, items * SLOT_WORDS * 4);

    if (status != QST_OK)
        return status;
    add_matrices(&x, p);
    add_u64(&x, batches_of(p));
    add(&x, qstk_i64(p->m));
    add(&x, qstk_i64(p->n));
    add(&x, qstk_i64(p->k));
    add_u64(&x, seed);
    add_u64(&x, samples);
    add_real(&x, device, p->alpha);
    add_real(&x, device, p->beta);
    add_real(&x, device, qst_matmul_bound(p));
    add_real(&x, device, half_unit[p->c.type]);
    add_real(&x, device, least[p->c.type]);
    add_real(&x, device, largest[p->c.type]);
    add(&x, qstk_workspace(0));
    add(&x, qstk_operand(QST_JUDGE_FINDING));
    status = launch(out, device, QST__JUDGE_REALS, "bound", is_cpu(device) ? items : in_groups(device, items), &x);
    if (status == QST_OK) {
        arguments w = {0};
        add(&w, qstk_workspace(0));
        add_u64(&w, items);
        add(&w, qstk_operand(QST_JUDGE_FINDING));
        qst_launch l = qstk_launch(QST__JUDGE_REALS, "worst", 1, w.arg, w.count);
        l.local[0] = l.global[0] = 1;
        status = out->launch(out, &l);
    }
    return status;
}

static int32_t steps(void *user, const qst_device *device, const void *problem, uint32_t phase, uint64_t seed,
                     qst_steps *out)
{
    const qst_matmul *p = problem;
    (void)user;

    /* Lines and columns are named by one word of the finding. */
    if (lines_of(p) >= UINT32_MAX || (uint64_t)p->n >= UINT32_MAX)
        return QST_E_UNSUPPORTED;
    switch (phase) {
    case QST_JUDGE_EQUAL:
    case QST_JUDGE_LOCATE:
        if (!is_small_integer(p->alpha) || !is_small_integer(p->beta))
            return QST_E_UNSUPPORTED;
        return phase == QST_JUDGE_EQUAL ? equal(out, device, p, seed) : locate(out, device, p);
    case QST_JUDGE_ERASE:
        return erase(out, device, p);
    case QST_JUDGE_SCALE:
        return scale(out, device, p);
    case QST_JUDGE_BOUND:
        return bound(out, device, p, seed);
    default:
        return QST_E_UNSUPPORTED;
    }
}

const qst_judge qst__matmul_judge = {
    .size = sizeof(qst_judge),
    .revision = 2,
    .program = qst__matmul_judge_program,
    .steps = steps,
    .tell = qst__matmul_tell,
};
