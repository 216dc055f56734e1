/* SPDX-License-Identifier: MIT
 *
 * cut.c: how C is cut into the parts of work-groups.
 *
 * A launch finds one of the driver's threads at work, the one that ended the launch before; the others wake meanwhile. PoCL
 * hands groups out in their order, to each thread that asks as many as its share of those left is. So the first thread
 * gets as many rows more as it computes until the others are there, and of two threads' groups the last is a small one, for
 * whoever comes to an end first (docs/decisions/0057-early-and-late-threads.md). The rows of a group change no bit of C.
 */
#include "cpu_gemm.h"

#include <math.h>
#include <string.h>

#define PART_FLOPS 700000.0 /* least work of a part: several, to share once another thread has woken */
#define WAKE_NS    16000.0  /* from the first thread's start to the others' */
#define SHORT      6.0  /* of it no more than one part in so many of a share: after short launches they hardly sleep */
#define LAST       4    /* the last group has one part in so many of an even one's rows */
#define SHARE      0.85 /* of the peak of two fma units that the tiles reach */

/* Rows by which a part's last tile may be less than whole. */
static int64_t grain(const struct cpu_gemm_row *row)
{
    return cpu_gemm_is_tall(row) ? CPU_GEMM_TALL_STEP : row->mr;
}

double cpu_gemm_rate(const qst_device *device)
{
    return (double)device->clock_mhz * 1e-3 * 2.0 * SHARE * device->vector_f32 / 16.0;
}

static int64_t at_most(int64_t x, int64_t most)
{
    return x > most ? most : x < 1 ? 1 : x;
}

static int64_t ceil_div(int64_t x, int64_t y)
{
    return (x + y - 1) / y;
}

/* Tiles that a thread with `share` of them computes while the others wake, by their part in it. */
static double lead(const struct cpu_gemm_row *row, const qst_device *device, const struct matmul_view *v, double share,
                   int64_t threads)
{
    const double depth = (double)(v->slice ? v->slice : v->k), cols = ceil((double)v->n / cpu_gemm_vector(v->type));
    const double steps = (double)grain(row) * cols * depth, others = (double)(threads - 1) / (double)threads;
    return steps > 0.0 ? fmin(WAKE_NS * cpu_gemm_rate(device) / steps * others, share / SHORT) : 0.0;
}

/* The rows of `down` groups. Several products, or columns that are cut as well, are enough to share. */
static void cut_rows(struct cpu_gemm_cut *cut, const struct cpu_gemm_row *row, const qst_device *device,
                     const struct matmul_view *v)
{
    const int64_t tiles = ceil_div(v->m, grain(row)), threads = at_most(device->units, cut->down);
    const double  share = (double)tiles / (double)threads;
    int64_t       late;
    cut->early = cut->among > 1 || cut->run > 1 || cut->over > 1 ? cut->down : ceil_div(cut->down, threads);
    cut->first = tiles;
    cut->last = 0;
    late = cut->down - cut->early;
    if (late == 0)
        return;
    cut->first = (int64_t)fmin(share + lead(row, device, v, share, threads) + 0.5, (double)(tiles - late));
    cut->last = (tiles - cut->first) / late;
    /* Else one has most of these at once, or, of more threads, the small one in the place of another, whose rows the others get. */
    if (threads == 2 && late > 3)
        cut->last = at_most(tiles / (LAST * cut->down), cut->last);
}

/* Products first; within a product rows, since each part then reads B in place and shares A with nobody. Few rows:
 * columns are cut. */
struct cpu_gemm_cut cpu_gemm_cut(const struct cpu_gemm_row *row, const qst_device *device, const struct matmul_view *v)
{
    const int64_t products = v->outer * v->inner, nr = row->nv * cpu_gemm_vector(v->type);
    const double  flops = 2.0 * (double)v->m * (double)v->n * (double)(v->slice ? v->slice : v->k);
    const double  most = flops * (double)products / PART_FLOPS;
    int64_t       parts = (int64_t)device->units * row->parts;

    struct cpu_gemm_cut cut;
    parts = at_most(most < (double)parts ? (int64_t)most : parts, parts);
    cut.run = ceil_div(products, parts);
    cut.among = ceil_div(products, cut.run);
    parts = ceil_div(parts, cut.among);
    cut.down = row->cut == CPU_GEMM_COLUMNS ? 1 : row->cut == CPU_GEMM_GRID ? parts / 2 : parts;
    cut.down = at_most(cut.down, ceil_div(v->m, 4 * (int64_t)row->mr));
    cut.over = at_most(parts / cut.down, ceil_div(v->n, nr));
    cut.bn = ceil_div(ceil_div(v->n, cut.over), nr) * nr;
    cut.over = ceil_div(v->n, cut.bn);
    cut_rows(&cut, row, device, v);
    return cut;
}

/* A smaller problem of the key has less work, and so is cut the same way by both where the largest is. */
int cpu_gemm_same(const struct cpu_gemm_row *row, const struct cpu_gemm_row *other, const qst_device *device,
                  const qst_key *key)
{
    const int64_t      *v = key->value;
    struct matmul_view  view;
    struct cpu_gemm_cut mine, its;
    if (key->count <= QST_MATMUL_KEY_ELEM_OUT || row->mr != other->mr || row->nv != other->nv ||
        row->pack != other->pack || row->ahead != other->ahead || row->slices != other->slices ||
        v[QST_MATMUL_KEY_K] > (int64_t)row->kc || v[QST_MATMUL_KEY_K] > (int64_t)other->kc)
        return 0;
    if (v[QST_MATMUL_KEY_M] < 1 || v[QST_MATMUL_KEY_N] < 1) /* nothing to cut */
        return 0;
    memset(&view, 0, sizeof view);
    view.m = v[QST_MATMUL_KEY_M];
    view.n = v[QST_MATMUL_KEY_N];
    view.k = v[QST_MATMUL_KEY_K];
    view.outer = 1;
    view.inner = v[QST_MATMUL_KEY_BATCH] > 1 ? v[QST_MATMUL_KEY_BATCH] : 1;
    view.type = v[QST_MATMUL_KEY_ELEM_LHS] == QST_F64 ? QST_F64 : QST_F32;
    mine = cpu_gemm_cut(row, device, &view);
    its = cpu_gemm_cut(other, device, &view);
    return mine.down == its.down && mine.first == its.first && mine.bn == its.bn && mine.run == its.run;
}
