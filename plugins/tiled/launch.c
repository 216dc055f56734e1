/* SPDX-License-Identifier: MIT
 *
 * launch.c: what a row makes of a problem: options, limits, cost and launch of tiled.cl.
 */
#include "tiled.cl.h"
#include "tiled.h"
#include <stdbool.h>
#include <stdio.h>

#define LOCAL_SLACK  4096u  /* bytes of local memory that drivers take for themselves, with room to spare */
#define GROUPS_MAX   65535  /* groups along a dimension other than the first, on NVIDIA */
#define PRODUCTS_MAX 16384  /* groups along the batch; each loops over its share */
#define GPU_LANES    64.0   /* fma a clock on a compute unit, about */
#define CPU_SHARE    0.01   /* of a CPU device's peak that barrier kernels reach there */
#define LAUNCH_NS    5000.0 /* of a launch */

static uint32_t threads(const struct tiled_row *row)
{
    return (row->bm / row->tm) * (row->bn / row->tn);
}

static uint64_t local_bytes(const struct tiled_row *row)
{
    return sizeof(float) * (uint64_t)row->bk * (row->bm + 4u + row->bn + 4u);
}

void tiled_options(const struct tiled_row *row, uint32_t index, char *text, size_t size)
{
    snprintf(text, size, "-cl-std=CL1.2 -DBM=%u -DBN=%u -DBK=%u -DTM=%u -DTN=%u -DTA=%u -DTB=%u", row->bm, row->bn,
             row->bk, row->tm, row->tn, index >> 1, index & 1u);
}

void tiled_source(qst_program *out)
{
    out->data = tiled_cl;
    out->length = sizeof tiled_cl - 1;
}

int32_t tiled_supports(const struct tiled_row *row, const qst_device *device, const char **why)
{
    if (threads(row) > device->max_group || threads(row) > device->max_group_dim[0])
        return qstk_no(why, "the work-group is larger than the device's largest");
    if (local_bytes(row) + LOCAL_SLACK > device->local_bytes)
        return qstk_no(why, "the tiles need more local memory than the device has, less 4 KB");
    if (device->type == QST_DEVICE_CPU)
        return qstk_poor(why, "barriers are slow on a CPU device");
    return QST_OK;
}

int32_t tiled_fits(const struct tiled_row *row, const struct matmul_view *v, const char **why)
{
    return v->m > (int64_t)row->bm * GROUPS_MAX ? qstk_no(why, "more than 65535 rows of tiles") : QST_OK;
}

/* Groups run in waves over the units; a unit is busy with 256 work-items; larger register tiles load less for each
 * fma. */
double tiled_estimate(const struct tiled_row *row, const qst_device *device, const struct matmul_view *v)
{
    bool     gpu = device->type != QST_DEVICE_CPU;
    double   lanes = gpu ? GPU_LANES : 2.0 * device->vector_f32 * CPU_SHARE;
    double   tile = (double)(row->tm * row->tn) / (double)(row->tm + row->tn);
    double   per_ns = lanes * (double)device->clock_mhz * 1e-3 * (gpu ? tile / (tile + 1.5) : 1.0);
    uint64_t tiles = qstk_ceil_div((uint64_t)v->m, row->bm) * qstk_ceil_div((uint64_t)v->n, row->bn) *
                     (uint64_t)(v->outer * v->inner);
    uint64_t at_once = threads(row) < 256 && gpu ? 256 / threads(row) : 1;
    uint64_t depth = qstk_round_up((uint64_t)(v->slice ? v->slice : v->k) + 1, row->bk);
    if (per_ns <= 0.0 || device->units == 0)
        return 0.0;
    return LAUNCH_NS + (double)qstk_ceil_div(tiles, device->units * at_once) * (double)at_once * row->bm * row->bn *
                           (double)depth / per_ns;
}

int32_t tiled_launch(const struct tiled_row *row, const struct matmul_view *v, qst_steps *out)
{
    qst_arg    args[MATMUL_ARGS + 2];
    qst_launch launch;
    int64_t    products = v->outer * v->inner;
    matmul_args(v, args);
    args[MATMUL_ARGS] = qstk_i32(v->aligned);
    args[MATMUL_ARGS + 1] = qstk_local(local_bytes(row));
    launch = qstk_launch(v->index, "tiled_matmul", 3, args, QSTK_COUNT(args));
    launch.local[0] = threads(row);
    launch.local[1] = launch.local[2] = 1;
    launch.global[0] = qstk_ceil_div((uint64_t)v->n, row->bn) * launch.local[0];
    launch.global[1] = qstk_ceil_div((uint64_t)v->m, row->bm);
    launch.global[2] = (uint64_t)(products < PRODUCTS_MAX ? products : PRODUCTS_MAX);
    return out->launch(out, &launch);
}
