/* SPDX-License-Identifier: MIT
 *
 * thread.c: rows in which a work-item is a thread of a CPU device (cpu.cl): options, limits, cost and launch.
 */
#include "cpu.cl.h"
#include "tiled.h"
#include <stdio.h>

#define LOCAL_SLACK    16384u /* bytes of local memory to keep clear of: PoCL aborts the process beyond its limit */
#define ALPHA_LEAST    0x1p-32
#define ALPHA_MOST     0x1p32
#define VECTOR         16        /* columns of a vector in cpu.cl */
#define PARTS_A_UNIT   4         /* work-groups for each compute unit: lets the driver even out a late start */
#define PART_FLOPS     2000000.0 /* least work of a part: under it waking another thread costs more than it gives */
#define PRODUCTS_MAX   1024      /* groups along the batch; each loops over its share */
#define LAUNCH_NS      20000.0   /* of a launch: the wake-up of the workers */
#define SHARE_IN_PLACE 0.85      /* of the peak of two fma units that the tiles reach */
#define SHARE_PACKED   0.75

static int packs(const struct tiled_row *row, uint32_t index)
{
    return row->pack || (index & 1u);
}

static uint64_t local_bytes(const struct tiled_row *row, int pack)
{
    return sizeof(float) * (uint64_t)row->bk * (pack ? row->bn : VECTOR);
}

void tiled_thread_options(const struct tiled_row *row, uint32_t index, char *text, size_t size)
{
    snprintf(text, size, "-cl-std=CL1.2 -DMR=%u -DNV=%u -DTA=%u -DTB=%u -DPACK=%d", row->bm, row->bn / VECTOR,
             index >> 1, index & 1u, packs(row, index));
}

void tiled_thread_source(qst_program *out)
{
    out->data = cpu_cl;
    out->length = sizeof cpu_cl - 1;
}

int32_t tiled_thread_supports(const struct tiled_row *row, const qst_device *device, const char **why)
{
    if (device->type != QST_DEVICE_CPU)
        return qstk_no(why, "a work-group of one work-item: for CPU devices only");
    if (local_bytes(row, 1) + LOCAL_SLACK > device->local_bytes)
        return qstk_no(why, "the panel needs more local memory than the device has, less 16 KB");
    return QST_OK;
}

/* Each block of k is scaled by alpha before it is added: where alpha is extreme, parts of a sum may overflow that the
 * whole does not. */
int32_t tiled_thread_fits(const struct tiled_row *row, const struct tiled_view *v, const char **why)
{
    const double size = v->alpha < 0.0 ? -v->alpha : v->alpha;
    if (v->k > (int64_t)row->bk && !(size >= ALPHA_LEAST && size <= ALPHA_MOST))
        return qstk_no(why, "k in several blocks, and alpha not within 2^-32 and 2^32");
    return QST_OK;
}

/* How a product is cut into parts. */
struct cut {
    int64_t bm, bn;     /* rows and columns of a part */
    int64_t down, over; /* parts along rows and along columns */
};

/* Rows are cut first: each part then reads B in place and shares A with nobody. Few rows: columns are cut. */
static struct cut cut_product(const struct tiled_row *row, const qst_device *device, const struct tiled_view *v)
{
    const int64_t products = v->outer * v->inner;
    const int64_t depth = v->slice ? v->slice : v->k;
    const double  flops = 2.0 * (double)v->m * (double)v->n * (double)depth;
    int64_t       parts = (int64_t)qstk_ceil_div((uint64_t)device->units * PARTS_A_UNIT, (uint64_t)products);
    int64_t       mr = row->bm, nr = row->bn;
    struct cut    cut;
    if (flops < (double)parts * PART_FLOPS)
        parts = flops < PART_FLOPS ? 1 : (int64_t)(flops / PART_FLOPS);
    cut.down = v->m / (4 * mr) < parts ? v->m / (4 * mr) : parts;
    cut.down = cut.down < 1 ? 1 : cut.down;
    cut.over = parts / cut.down < v->n / nr ? parts / cut.down : v->n / nr;
    cut.over = cut.over < 1 ? 1 : cut.over;
    cut.bm = (int64_t)qstk_round_up(qstk_ceil_div((uint64_t)v->m, (uint64_t)cut.down), (uint64_t)mr);
    cut.bn = (int64_t)qstk_round_up(qstk_ceil_div((uint64_t)v->n, (uint64_t)cut.over), (uint64_t)nr);
    cut.down = (int64_t)qstk_ceil_div((uint64_t)v->m, (uint64_t)cut.bm);
    cut.over = (int64_t)qstk_ceil_div((uint64_t)v->n, (uint64_t)cut.bn);
    return cut;
}

double tiled_thread_estimate(const struct tiled_row *row, const qst_device *device, const struct tiled_view *v)
{
    const struct cut cut = cut_product(row, device, v);
    const double     rows = (double)qstk_round_up((uint64_t)v->m, (row->bm + 1) / 2);
    const double     cols = (double)qstk_round_up((uint64_t)v->n, VECTOR);
    const double     depth = (double)(v->slice ? v->slice : v->k) + 8.0; /* a tile's sums to C cost some steps */
    const double     groups = (double)(cut.down * cut.over * v->outer * v->inner);
    const double     units = groups < device->units ? groups : device->units;
    const double     per_ns = units * (double)device->clock_mhz * 1e-3 * device->vector_f32 * 2.0 *
                          (packs(row, v->index) ? SHARE_PACKED : SHARE_IN_PLACE);
    return per_ns > 0.0 ? LAUNCH_NS + rows * cols * depth * (double)(v->outer * v->inner) / per_ns : 0.0;
}

int32_t tiled_thread_launch(const struct tiled_row *row, const qst_device *device, const struct tiled_view *v,
                            qst_steps *out)
{
    const struct cut cut = cut_product(row, device, v);
    const int64_t    products = v->outer * v->inner;
    qst_arg          args[TILED_ARGS + 4];
    qst_launch       launch = qstk_launch(v->index, "cpu_matmul", 3, args, QSTK_COUNT(args));
    tiled_args(v, args);
    args[TILED_ARGS] = qstk_i32(cut.bm);
    args[TILED_ARGS + 1] = qstk_i32(cut.bn);
    args[TILED_ARGS + 2] = qstk_i32(row->bk);
    args[TILED_ARGS + 3] = qstk_local(local_bytes(row, packs(row, v->index)));
    launch.global[0] = (uint64_t)cut.over;
    launch.global[1] = (uint64_t)cut.down;
    launch.global[2] = (uint64_t)(products < PRODUCTS_MAX ? products : PRODUCTS_MAX);
    launch.local[0] = launch.local[1] = launch.local[2] = 1;
    return out->launch(out, &launch);
}
