/* SPDX-License-Identifier: MIT
 *
 * planes.c: rows for large f32 products from scaled f16 planes (nv_split.cl, nv_planes.cl), behind a guard: the planes'
 * pass also says which vectors' ranges forbid them, and a last launch computes the tiles of those by 3xtf32. Every tile
 * is computed by one of the two, and both decide by the same words.
 */
#include "rows.h"

#include <stdio.h>

#define PLAIN      (QST_CLASS_PLAIN | QST_CLASS_FAST)
#define LEAST      512  /* rows and columns: under this the pass over the operands costs more than it gives */
#define LEAST_K    1024 /* the bound that the guard rests on holds from here */
#define BAND       128  /* vectors that are judged together: rows and columns of a tile */
#define STEP_K     64   /* planes are as deep as a multiple of this */
#define GROUP      256  /* work-items of a group of the pass */
#define GROUPS     1056 /* groups of its second kind, about: 8 for each unit */
#define BLOCKS_MAX 64
#define PASS_BYTES 2800.0  /* a ns, of the pass over the operands, of which 8 an element are moved */
#define LAUNCHES   20000.0 /* ns of the five small launches */

/* clang-format off */
static const nv_row rows[] = {
    /* variant, kernel, classes, bm, bn, bk, stages, threads, ways, local, macros, tflops, groups, slice_ns, tile_ns, loose */
    {"planes_128x128x32", NV_PLANES, PLAIN, 128, 128, 32, 3, 128, 1, 98304, "-DWGS=1 -DGW=16", 190, 2, 250, 5790, 1.11f},
    {"planes_128x64x32_48k", NV_PLANES, PLAIN, 128, 64, 32, 2, 128, 1, 49152, "-DWGS=1 -DGW=16", 213, 4, 370, 8240, 1.16f},
};
/* The row whose kernel computes what planes cannot; its tile is a band by a band. */
static const nv_row rest = {"", NV_WGMMA_F32, PLAIN, 128, 128, 16, 2, 128, 1, 49152, "-DWGS=1 -DMI=2 -DSPLIT=1 -DGUARD=1",
                            114, 4, 630, 700, 1.44f};
/* clang-format on */
const nv_table nv_planes_rows = {rows, QSTK_COUNT(rows)};

/* Programs: the pass, aligned or not; the product, by how the planes lie and whether C is aligned; the rest, by the low
 * four bits of its index. */
enum { SPLIT = 0, PRODUCT = 2, REST = 10, PROGRAMS = 26 };

/* An operand's way into planes. `apart`: its vectors are adjacent and k is apart, else k is adjacent. */
typedef struct side {
    int     apart;
    int64_t vectors, padded, ld;
    int64_t across, blocks;   /* apart: bands of vectors, blocks of k */
    int64_t exponents, flags; /* where they begin in the words */
} side;

/* All of it for a problem. */
typedef struct layout {
    side    a, b;
    int64_t depth;
    int64_t part, count, words; /* where the apart side's words begin, and how many there are in all */
} layout;

static void lay_side(side *s, int apart, int64_t vectors, int64_t k, int64_t ld, int64_t *at)
{
    s->apart = apart;
    s->vectors = vectors;
    s->ld = ld;
    s->padded = (int64_t)qstk_round_up((uint64_t)vectors, BAND);
    s->across = s->padded / BAND;
    s->blocks = GROUPS / s->across < 1 ? 1 : GROUPS / s->across > BLOCKS_MAX ? BLOCKS_MAX : GROUPS / s->across;
    s->blocks = s->blocks < k / 8 ? s->blocks : k / 8;
    s->exponents = *at;
    s->flags = *at + s->padded;
    *at += 2 * s->padded;
}

static void lay(layout *l, const nv_view *v)
{
    int64_t at = 0, most;
    l->depth = (int64_t)qstk_round_up((uint64_t)v->k, STEP_K);
    lay_side(&l->a, (v->index & NV_TA) != 0, v->m, v->k, v->a_ld, &at);
    lay_side(&l->b, (v->index & NV_TB) == 0, v->n, v->k, v->b_ld, &at);
    most =
        l->a.padded * l->a.blocks > l->b.padded * l->b.blocks ? l->a.padded * l->a.blocks : l->b.padded * l->b.blocks;
    l->part = at;
    l->count = at + most;
    l->words = at + 2 * most;
}

static uint64_t plane_bytes(const side *s, const layout *l)
{
    return 4u * (uint64_t)s->padded * (uint64_t)l->depth;
}

int32_t nv_planes_fits(const nv_view *v, const qst_device *device, const char **why)
{
    layout l;
    if (v->outer * v->inner > 1)
        return qstk_no(why, "a batch: planes are for single products");
    if (v->m < LEAST || v->n < LEAST)
        return qstk_no(why, "m or n under 512: planes cost more than they give");
    if (v->k < LEAST_K)
        return qstk_no(why, "k under 1024: too short for the bound of numerics PLAIN from planes");
    lay(&l, v);
    if (plane_bytes(&l.a, &l) > device->max_alloc || plane_bytes(&l.b, &l) > device->max_alloc)
        return qstk_no(why, "planes larger than the device's largest buffer");
    return l.words >= (int64_t)1 << 31 ? qstk_no(why, "too many words of ranges") : QST_OK;
}

double nv_planes_estimate(const nv_row *row, const nv_kernel_set *set, const qst_device *device, const nv_view *v)
{
    const double product = nv_estimate(row, &set->kernels[NV_PLANES], device, v);
    return product + LAUNCHES + 8.0 * ((double)v->m + (double)v->n) * (double)v->k / PASS_BYTES;
}

int32_t nv_planes_program(const nv_row *row, const nv_kernel_set *set, uint32_t index, qst_program *out)
{
    static _Thread_local char options[NV_OPTIONS];
    const nv_kernel *kernel = &set->kernels[index < PRODUCT ? NV_SPLIT : index < REST ? NV_PLANES : NV_WGMMA_F32];
    if (index >= PROGRAMS)
        return QST_E_INVALID;
    if (index < PRODUCT)
        (void)snprintf(options, sizeof options, "-cl-std=CL1.2 -DBM=1 -DBN=1 -DAHEAD=1 -DLOOSE=%u", index);
    else if (index < REST)
        nv_options(options, sizeof options, row, index - PRODUCT, 0, QST_F32);
    else
        nv_options(options, sizeof options, &rest, (index - REST) | NV_LONG, 0, QST_F32);
    nv_mma_program(out, kernel->text, kernel->length, options, kernel->sm90a);
    return QST_OK;
}

static int32_t run(qst_steps *out, uint32_t program, const char *entry, const qst_arg *args, size_t n_args,
                   uint64_t groups, uint64_t group)
{
    qst_launch launch = qstk_launch(program, entry, 1, args, n_args);
    launch.local[0] = group;
    launch.global[0] = groups * group;
    return out->launch(out, &launch);
}

/* One operand into planes, workspace `index`. */
static int32_t split(qst_steps *out, const layout *l, const side *s, uint32_t index, const nv_view *v)
{
    const uint32_t program = SPLIT + (v->aligned & (index ? NV_ALIGN_B : NV_ALIGN_A) ? 0u : 1u);
    const int64_t  plane = s->padded * l->depth;
    const qst_arg  head[] = {qstk_operand(index), qstk_offset(index), qstk_i32(s->vectors), qstk_i32(v->k),
                             qstk_i32(s->ld)};
    qst_arg        args[14];
    int32_t        status;
    memcpy(args, head, sizeof head);
    if (!s->apart) {
        const qst_arg tail[] = {qstk_i32(l->depth), qstk_workspace(index),  qstk_i64(plane),
                                qstk_workspace(2),  qstk_i32(s->exponents), qstk_i32(s->flags)};
        memcpy(args + 5, tail, sizeof tail);
        return run(out, program, "nv_split_rows", args, 11, (uint64_t)s->padded, GROUP);
    }
    args[5] = qstk_i32(s->across);
    args[6] = qstk_i32(s->blocks);
    args[7] = qstk_workspace(2);
    args[8] = qstk_i32(l->part);
    status = run(out, program, "nv_split_maxima", args, 9, (uint64_t)(s->across * s->blocks), GROUP);
    if (status == QST_OK) {
        const qst_arg tail[] = {qstk_i32(l->depth), qstk_workspace(index), qstk_i64(plane),       qstk_workspace(2),
                                qstk_i32(l->part),  qstk_i32(l->count),    qstk_i32(s->exponents)};
        memcpy(args + 7, tail, sizeof tail);
        status = run(out, program, "nv_split_columns", args, 14, (uint64_t)(s->across * s->blocks), GROUP);
    }
    if (status == QST_OK) {
        const qst_arg flags[] = {qstk_i32(v->k),    qstk_i32(s->across), qstk_i32(s->blocks), qstk_workspace(2),
                                 qstk_i32(l->part), qstk_i32(l->count),  qstk_i32(s->flags)};
        status = run(out, program, "nv_split_flags", flags, QSTK_COUNT(flags),
                     qstk_ceil_div((uint64_t)s->padded, GROUP), GROUP);
    }
    return status;
}

static int32_t multiply(qst_steps *out, const nv_row *row, const layout *l, const nv_view *v)
{
    const qst_arg args[] = {
        qstk_workspace(0),
        qstk_i64(l->a.padded * l->depth),
        qstk_i32(l->a.apart ? l->a.padded : l->depth),
        qstk_workspace(1),
        qstk_i64(l->b.padded * l->depth),
        qstk_i32(l->b.apart ? l->b.padded : l->depth),
        qstk_operand(2),
        qstk_offset(2),
        qstk_i32(v->m),
        qstk_i32(v->n),
        qstk_i32(l->depth),
        qstk_i32(v->c_ld),
        qstk_workspace(2),
        qstk_i32(l->a.exponents),
        qstk_i32(l->b.exponents),
        qstk_i32(l->a.flags),
        qstk_i32(l->b.flags),
        qstk_f32(v->alpha),
        qstk_f32(v->beta),
    };
    const uint32_t index = v->index | (v->aligned & NV_ALIGN_C ? 0u : NV_LOOSE);
    return run(out, PRODUCT + index, "nv_planes", args, QSTK_COUNT(args),
               qstk_ceil_div((uint64_t)v->m, row->bm) * qstk_ceil_div((uint64_t)v->n, row->bn), row->threads);
}

int32_t nv_planes_steps(const nv_row *row, const nv_kernel_set *set, const nv_view *v, qst_steps *out)
{
    const nv_kernel *kernel = &set->kernels[NV_WGMMA_F32];
    layout           l;
    int32_t          status;
    lay(&l, v);
    status = out->workspace(out, 0, plane_bytes(&l.a, &l));
    if (status == QST_OK)
        status = out->workspace(out, 1, plane_bytes(&l.b, &l));
    if (status == QST_OK)
        status = out->workspace(out, 2, 4u * (uint64_t)l.words);
    if (status == QST_OK)
        status = split(out, &l, &l.a, 0, v);
    if (status == QST_OK)
        status = split(out, &l, &l.b, 1, v);
    if (status == QST_OK)
        status = multiply(out, row, &l, v);
    if (status == QST_OK) {
        qst_arg args[NV_ARGS + 3];
        nv_args(args, v);
        args[NV_ARGS] = qstk_workspace(2);
        args[NV_ARGS + 1] = qstk_i32(l.a.flags);
        args[NV_ARGS + 2] = qstk_i32(l.b.flags);
        status = run(out, REST + (nv_index(&rest, kernel, v) & 15u), kernel->entry, args, QSTK_COUNT(args),
                     qstk_ceil_div((uint64_t)v->m, rest.bm) * qstk_ceil_div((uint64_t)v->n, rest.bn), rest.threads);
    }
    return status;
}
