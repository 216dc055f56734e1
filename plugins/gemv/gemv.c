/* SPDX-License-Identifier: MIT
 *
 * gemv.c: the plugin: the table of its candidates and the functions that all rows share. A variant is a line here.
 */
#include "gemv.h"

#include "plugins/common/plugin.h"

/* clang-format off */
static const struct gemv_row rows[] = {
    /* variant,            kernel,          a,   b, parts, slices */
    {"dot_4x2",            GEMV_DOT,        4,   2, 256,   1},
    {"dot_8x1",            GEMV_DOT,        8,   1, 256,   1},
    {"dot_4x2_split8",     GEMV_DOT,        4,   2, 4,     8},
    {"strip_4",            GEMV_STRIP,      4,   0, 4,     1},
    {"strip_8",            GEMV_STRIP,      8,   0, 4,     1},
    {"strip_16",           GEMV_STRIP,      16,  0, 8,     1},
    {"strip_8_split8",     GEMV_STRIP,      8,   0, 4,     8},
    {"sweep_4",            GEMV_SWEEP,      4,   0, 4,     1},
    {"sweep_8",            GEMV_SWEEP,      8,   0, 4,     1},
    {"sweep_16",           GEMV_SWEEP,      16,  0, 4,     1},
    {"group64_dot",        GEMV_GROUP_DOT,  64,  1, 0,     1},
    {"group256_dot",       GEMV_GROUP_DOT,  256, 1, 0,     1},
    {"group128_dot_x4",    GEMV_GROUP_DOT,  128, 4, 0,     1},
    {"group256_dot_split8", GEMV_GROUP_DOT, 256, 1, 0,     8},
    {"group32x8_cols",     GEMV_GROUP_COLS, 32,  8, 0,     1},
    {"group64x4_cols",     GEMV_GROUP_COLS, 64,  4, 0,     1},
    {"group32x8_cols_split8", GEMV_GROUP_COLS, 32, 8, 0,   8},
    {"outer",              GEMV_OUTER,      0,   0, 0,     1},
};
/* clang-format on */

static const qst_membership memberships[] = {{"gemv", NULL, 0, 0}};

/* Elements of a line from which on a sweep, which reads it all before the next one, is faster than strips of it. */
#define LONG_LINE 1024

static int is_grouped(const struct gemv_row *row)
{
    return row->kernel == GEMV_GROUP_DOT || row->kernel == GEMV_GROUP_COLS;
}

/* Are the key's outputs so many that strips of slices, which differ from sweeps by little and come before them by name,
 * are not worth while? */
static int is_swept(const struct gemv_row *row, const qst_key *key)
{
    return row->kernel == GEMV_STRIP && row->slices > 1 && key->count > QST_MATMUL_KEY_KIND &&
           key->value[QST_MATMUL_KEY_M] * key->value[QST_MATMUL_KEY_N] >= LONG_LINE;
}

/* Kernels of the other kind of device: impossible on a GPU, a last resort on a CPU. */
static int32_t supports(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    const struct gemv_row *row = ((const struct gemv_candidate *)user)->row;
    const uint32_t         lanes = row->kernel == GEMV_GROUP_COLS ? row->a * row->b : row->a;
    if (key->count > QST_MATMUL_KEY_KIND && key->value[QST_MATMUL_KEY_KIND] == QST_KIND_GENERAL)
        return qstk_no(why, "products with a vector only");
    if (is_grouped(row) && (lanes > device->max_group || lanes > device->max_group_dim[0]))
        return qstk_no(why, "the work-group is larger than the device's largest");
    if (is_grouped(row) && device->type == QST_DEVICE_CPU)
        return qstk_poor(why, "barriers are slow on a CPU device");
    if (row->kernel < GEMV_GROUP_DOT && device->type != QST_DEVICE_CPU)
        return qstk_no(why, "a work-group of one work-item: for CPU devices only");
    if (is_swept(row, key))
        return qstk_poor(why, "lines as long as these are swept");
    return QST_OK;
}

static int32_t look(const struct gemv_row *row, const qst_device *device, const void *problem, struct gemv_view *view,
                    const char **why)
{
    return gemv_look(row, device, (const qst_matmul *)problem, view, why);
}

static int32_t can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    struct gemv_view view;
    return look(((const struct gemv_candidate *)user)->row, device, problem, &view, why);
}

static double estimate(void *user, const qst_device *device, const void *problem)
{
    const struct gemv_row *row = ((const struct gemv_candidate *)user)->row;
    struct gemv_view       view;
    return look(row, device, problem, &view, NULL) == QST_OK ? gemv_estimate(row, device, &view) : 0.0;
}

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    const struct gemv_candidate *self = (const struct gemv_candidate *)user;
    (void)key;
    if (index <= GEMV_F64)
        out->options = self->options[index];
    return gemv_program(self->row, device, index, out);
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const struct gemv_row *row = ((const struct gemv_candidate *)user)->row;
    struct gemv_view       view;
    int32_t                status = look(row, device, problem, &view, NULL);
    if (status == QST_OK && gemv_is_split(row))
        status = out->workspace(out, 0, gemv_workspace(&view));
    if (status == QST_OK)
        status = gemv_launch(row, device, &view, out);
    if (status == QST_OK && gemv_is_split(row))
        status = gemv_add((const qst_matmul *)problem, device, &view, out);
    return status;
}

/* Is each sum one fma chain in the fallback's order? */
static int is_strict(const struct gemv_row *row)
{
    return row->kernel == GEMV_OUTER || (row->kernel == GEMV_STRIP && row->slices == 1);
}

/* A row's candidate but for what the row says. */
static const qst_candidate like = {
    .size = sizeof like,
    .op = "matmul",
    .revision = 5,
    .classes = QST_CLASS_PLAIN | QST_CLASS_FAST,
    .problem_size = sizeof(qst_matmul),
    .n_memberships = QSTK_COUNT(memberships),
    .memberships = memberships,
    .supports = supports,
    .can_run = can_run,
    .estimate = estimate,
    .program = program,
    .steps = steps,
};

static void fill(const void *row, void *own, qst_candidate *candidate)
{
    struct gemv_candidate *self = (struct gemv_candidate *)own;
    self->row = (const struct gemv_row *)row;
    gemv_options(self->row, QST_F32, self->options[GEMV_F32], sizeof self->options[0]);
    gemv_options(self->row, QST_F64, self->options[GEMV_F64], sizeof self->options[0]);
    candidate->variant = self->row->variant;
    candidate->classes |= is_strict(self->row) ? QST_CLASS_STRICT : 0;
}

static const struct plugin_table table = {rows, QSTK_COUNT(rows), sizeof rows[0], sizeof(struct gemv_candidate), &like,
                                          fill};

static int32_t start(const qst_host *host, void **instance)
{
    return plugin_start(host, &table, instance);
}

PLUGIN(gemv, .start = start, .stop = plugin_close);
