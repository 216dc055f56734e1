/* SPDX-License-Identifier: MIT
 *
 * tiled.c: the plugin: the table of its candidates and the functions that all rows share. A variant is a line here.
 */
#include "tiled.h"
#include "splitk.cl.h"

#include "plugins/common/plugin.h"
#include "plugins/common/split_k.h"

static const struct tiled_row rows[] = {
    /* variant, bm, bn, bk, tm, tn, slices */
    {"32x32x16_4x4", 32, 32, 16, 4, 4, 1},         {"64x32x16_4x4", 64, 32, 16, 4, 4, 1},
    {"16x128x16_4x4", 16, 128, 16, 4, 4, 1},       {"128x16x16_4x4", 128, 16, 16, 4, 4, 1},
    {"64x64x16_4x4", 64, 64, 16, 4, 4, 1},         {"64x64x16_8x8", 64, 64, 16, 8, 8, 1},
    {"128x64x16_8x8", 128, 64, 16, 8, 8, 1},       {"128x128x16_8x8", 128, 128, 16, 8, 8, 1},
    {"splitk4_64x64x16_4x4", 64, 64, 16, 4, 4, 4},
};

static const qst_membership memberships[] = {{"unit", NULL, 3, 0}};

static int32_t supports(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    (void)key;
    return tiled_supports(((const struct tiled_candidate *)user)->row, device, why);
}

/* The view that the row computes first, split where the row splits. */
static int32_t look(const struct tiled_row *row, const qst_device *device, const void *problem,
                    struct matmul_view *view, const char **why)
{
    const qst_matmul *p = (const qst_matmul *)problem;
    int32_t           status;
    if (p->a.type != QST_F32 || p->b.type != QST_F32 || p->c.type != QST_F32)
        return qstk_no(why, "f32 only");
    status = matmul_look(view, p, why);
    if (status == QST_OK && row->slices > 1)
        status = split_k(row->slices, device, view, why);
    return status == QST_OK ? tiled_fits(row, view, why) : status;
}

static int32_t can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    struct matmul_view view;
    return look(((const struct tiled_candidate *)user)->row, device, problem, &view, why);
}

static double estimate(void *user, const qst_device *device, const void *problem)
{
    const struct tiled_row *row = ((const struct tiled_candidate *)user)->row;
    struct matmul_view      view;
    double                  ns;
    if (look(row, device, problem, &view, NULL) != QST_OK)
        return 0.0;
    ns = tiled_estimate(row, device, &view);
    return ns > 0.0 && row->slices > 1 ? ns + split_k_estimate(device, &view) : ns;
}

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    const struct tiled_candidate *self = (const struct tiled_candidate *)user;
    (void)device;
    (void)key;
    if (index == TILED_ADD && self->row->slices > 1) {
        out->data = splitk_cl;
        out->length = sizeof splitk_cl - 1;
        out->options = "-cl-std=CL1.2";
        return QST_OK;
    }
    if (index >= TILED_CASES)
        return QST_E_INVALID;
    tiled_source(out);
    out->options = self->options[index];
    return QST_OK;
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const struct tiled_row *row = ((const struct tiled_candidate *)user)->row;
    struct matmul_view      view;
    int32_t                 status = look(row, device, problem, &view, NULL);
    if (status == QST_OK && row->slices > 1)
        status = out->workspace(out, 0, split_k_bytes(&view));
    if (status == QST_OK)
        status = tiled_launch(row, &view, out);
    if (status == QST_OK && row->slices > 1)
        status = split_k_add(&view, (const qst_matmul *)problem, TILED_ADD, out);
    return status;
}

/* A row's candidate but for what the row says. */
static const qst_candidate like = {
    .size = sizeof like,
    .op = "matmul",
    .revision = 2,
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
    struct tiled_candidate *self = (struct tiled_candidate *)own;
    uint32_t                i;
    self->row = (const struct tiled_row *)row;
    for (i = 0; i < TILED_CASES; i++)
        tiled_options(self->row, i, self->options[i], sizeof self->options[i]);
    candidate->variant = self->row->variant;
}

static const struct plugin_table table = {rows, QSTK_COUNT(rows), sizeof rows[0], sizeof(struct tiled_candidate), &like,
                                          fill};

static int32_t start(const qst_host *host, void **instance)
{
    return plugin_start(host, &table, instance);
}

PLUGIN(tiled, .start = start, .stop = plugin_close);
