/* SPDX-License-Identifier: MIT
 *
 * split_k.h: a product split along k: the first launch computes the slices side by side, as if they were a batch, into
 * a workspace; the second (splitk.cl) adds them in their order. For products with few tiles and much k; f32. A plugin
 * includes it in one file, after its copy of the kernel.
 */
#ifndef PLUGINS_COMMON_SPLIT_K_H
#define PLUGINS_COMMON_SPLIT_K_H

#include "plugins/common/matmul_view.h"

#define SPLIT_K_LEAST       128            /* under this there is nothing to split */
#define SPLIT_STEP          16             /* slices begin at multiples of this, so that they keep 16-byte alignment */
#define SPLIT_WORKSPACE_MAX (256ull << 20) /* bytes */
#define SPLIT_GROUP         64u            /* work-items of a group of the adding launch */
#define SPLIT_GRID_MAX      4096u          /* its work-items; each loops */
#define SPLIT_ADD_NS        5000.0         /* of the second launch */
#define SPLIT_BYTES_A_NS    20.0           /* rate at which the workspace is written and read, about */

static inline uint64_t split_k_bytes(const struct matmul_view *v)
{
    return sizeof(float) * (uint64_t)v->m * (uint64_t)v->n * (uint64_t)v->outer * (uint64_t)v->inner;
}

/* Turns a view into that of the partial products, or says why not. */
static inline int32_t split_k(uint32_t slices, const qst_device *device, struct matmul_view *v, const char **why)
{
    if (v->type != QST_F32)
        return qstk_no(why, "partial products in f32 only");
    if (v->k < SPLIT_K_LEAST)
        return qstk_no(why, "k under 128 is not split");
    if (v->outer > 1)
        return qstk_no(why, "more than one batch dimension that does not merge");
    v->slice = (int64_t)qstk_round_up(qstk_ceil_div((uint64_t)v->k, slices), SPLIT_STEP);
    v->outer = v->inner;
    v->inner = (int64_t)qstk_ceil_div((uint64_t)v->k, (uint64_t)v->slice);
    if ((double)v->m * (double)v->n * (double)v->outer * (double)v->inner * sizeof(float) > (double)SPLIT_WORKSPACE_MAX)
        return qstk_no(why, "the workspace would be over 256 MiB");
    if (split_k_bytes(v) > device->max_alloc)
        return qstk_no(why, "the workspace would be larger than the device's largest buffer");
    v->a[0] = v->a[1];
    v->b[0] = v->b[1];
    v->a[1] = v->slice * (v->index & 2u ? v->a_ld : 1);
    v->b[1] = v->slice * (v->index & 1u ? 1 : v->b_ld);
    v->c[1] = v->m * v->n;
    v->c[0] = v->c[1] * v->inner;
    v->c_ld = v->n;
    v->aligned = (v->aligned & 3u) | (v->n % 4 == 0 ? 4u : 0u);
    v->alpha = 1.0;
    v->beta = 0.0;
    return QST_OK;
}

/* Expected ns of the second launch. */
static inline double split_k_estimate(const qst_device *device, const struct matmul_view *v)
{
    double passes = device->type == QST_DEVICE_CPU ? 2.0 : 1.0;
    return SPLIT_ADD_NS + passes * (double)split_k_bytes(v) / SPLIT_BYTES_A_NS;
}

/* The second launch, of program `index`. */
static inline int32_t split_k_add(const struct matmul_view *v, const qst_matmul *p, uint32_t index, qst_steps *out)
{
    int64_t batch = 0;
    int     d;
    for (d = 0; d < QST_MATMUL_BATCHES; d++)
        batch = p->batch[d] > 1 ? p->c.batch[d] : batch;
    {
        const qst_arg args[] = {
            qstk_workspace(0),  qstk_i32(v->inner), qstk_operand(2),    qstk_offset(2),
            qstk_i32(v->m),     qstk_i32(v->n),     qstk_i64(p->c.row), qstk_i64(batch),
            qstk_i32(v->outer), qstk_f32(p->alpha), qstk_f32(p->beta),
        };
        qst_launch launch = qstk_launch(index, "splitk_add", 1, args, QSTK_COUNT(args));
        uint64_t   parts = (uint64_t)(v->outer * v->m) * qstk_ceil_div((uint64_t)v->n, 16);
        uint64_t   items = qstk_round_up(parts, SPLIT_GROUP);
        launch.global[0] = items < SPLIT_GRID_MAX ? items : SPLIT_GRID_MAX;
        launch.local[0] = SPLIT_GROUP;
        return out->launch(out, &launch);
    }
}

#endif
