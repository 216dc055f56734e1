/* SPDX-License-Identifier: MIT
 *
 * pad.c: rows whose ragged operands are first copied into scratch where they are aligned (nv_pad.cl), in one launch, so that
 * a kernel which copies 16 bytes at a time can take them. Which of A and B that are is the problem's: the others are read
 * where they lie.
 */
#include "rows.h"

#include <stdio.h>

#define PIECE      8  /* elements of 16 bytes */
#define LINE       64 /* elements of 128 bytes: to these rows are padded that have many, so that copies share no line */
#define LONG_ROW   512  /* elements: many */
#define BLOCK      1024 /* pieces of a group of nv_pad */
#define GROUP      256  /* its work-items */
#define PIECES_MAX ((int64_t)1 << 30)
#define COPY_BYTES 4000.0 /* a ns, read and written */
#define COPY_NS    4000.0 /* of its launch */

/* An operand's way into scratch.
 *   shape    across, down, distance of rows, pieces of a row of the scratch
 *   blocks   of each of its matrices, a group each
 *   inner, outer   its matrices by the batch dimensions: 1 where it is the same in all of them */
typedef struct side {
    uint32_t copied;
    int64_t  shape[4];
    int64_t  blocks, inner, outer;
} side;

static void lay(side *s, const nv_view *v, uint32_t which)
{
    const int     a = which == NV_ALIGN_A, turned = (v->index & (a ? NV_TA : NV_TB)) != 0;
    const int64_t rows = a ? v->m : v->k, cols = a ? v->k : v->n, *batch = a ? v->a : v->b;
    s->shape[0] = turned ? rows : cols;
    s->shape[1] = turned ? cols : rows;
    s->shape[2] = a ? v->a_ld : v->b_ld;
    s->shape[3] =
        (int64_t)qstk_round_up((uint64_t)s->shape[0], s->shape[0] < LONG_ROW ? PIECE : (uint64_t)LINE) / PIECE;
    s->blocks = (int64_t)qstk_ceil_div((uint64_t)(s->shape[1] * s->shape[3]), BLOCK);
    s->outer = batch[0] ? v->outer : 1;
    s->inner = batch[1] ? v->inner : 1;
}

static int64_t matrices(const side *s)
{
    return s->outer * s->inner;
}

static double bytes_of(const side *s)
{
    return 16.0 * (double)(s->shape[1] * s->shape[3]) * (double)matrices(s);
}

/* Both operands of a row's problem: which it copies, and how. */
static void lay_both(side sides[2], const nv_kernel *kernel, const nv_view *v)
{
    const uint32_t missed = v->k ? nv_missed(kernel, v) : 0;
    for (uint32_t i = 0; i < 2; i++) {
        lay(&sides[i], v, i ? NV_ALIGN_B : NV_ALIGN_A);
        sides[i].copied = (missed & (i ? NV_ALIGN_B : NV_ALIGN_A)) != 0;
    }
}

/* The reason that carries numbers stands in memory of the thread, until its next question. */
static int32_t too_much(const char **why, double bytes, uint64_t most)
{
    static _Thread_local char reason[NV_WHY];
    (void)snprintf(reason, sizeof reason, "an aligned copy of %.0f bytes, and the device's largest buffer has %llu",
                   bytes, (unsigned long long)most);
    return qstk_no(why, reason);
}

int32_t nv_pad_fits(const nv_kernel *kernel, const qst_device *device, const nv_view *v, const char **why)
{
    side sides[2];
    if (!(nv_missed(kernel, v) & (NV_ALIGN_A | NV_ALIGN_B)))
        return qstk_no(why, "A and B are aligned: there is nothing to copy");
    lay_both(sides, kernel, v);
    for (uint32_t i = 0; i < 2; i++) {
        if (!sides[i].copied)
            continue;
        if (bytes_of(&sides[i]) > (double)device->max_alloc)
            return too_much(why, bytes_of(&sides[i]), device->max_alloc);
        if (sides[i].shape[1] * sides[i].shape[3] > PIECES_MAX || sides[i].blocks * matrices(&sides[i]) > PIECES_MAX)
            return qstk_no(why, "an operand of over 2^30 pieces of 16 bytes to copy");
    }
    return QST_OK;
}

void nv_pad_view(const nv_kernel *kernel, nv_view *v)
{
    side sides[2];
    lay_both(sides, kernel, v);
    for (uint32_t i = 0; i < 2; i++) {
        const int64_t ld = sides[i].shape[3] * PIECE, matrix = sides[i].shape[1] * ld;
        int64_t      *batch = i ? v->b : v->a;
        if (!sides[i].copied)
            continue;
        *(i ? &v->b_ld : &v->a_ld) = ld;
        batch[0] = batch[0] ? sides[i].inner * matrix : 0;
        batch[1] = batch[1] ? matrix : 0;
    }
    v->aligned |= NV_ALIGN_A | NV_ALIGN_B;
    v->strided |= NV_ALIGN_A | NV_ALIGN_B;
}

double nv_pad_estimate(const nv_kernel *kernel, const nv_view *v)
{
    side   sides[2];
    double bytes = 0.0;
    lay_both(sides, kernel, v);
    for (uint32_t i = 0; i < 2; i++)
        if (sides[i].copied)
            bytes += bytes_of(&sides[i]) +
                     2.0 * (double)(sides[i].shape[0] * sides[i].shape[1]) * (double)matrices(&sides[i]);
    return COPY_NS + bytes / COPY_BYTES;
}

void nv_pad_program(const nv_kernel_set *set, qst_program *out)
{
    const nv_kernel *kernel = &set->kernels[NV_PAD];
    nv_mma_program(out, kernel->text, kernel->length, "-cl-std=CL1.2", 0);
}

/* The arguments of one operand; its scratch is workspace `index`, or where it is not copied the other's. */
static void operand_args(qst_arg *args, const side *s, const nv_view *v, uint32_t index)
{
    const int32_t shape[4] = {(int32_t)s->shape[0], (int32_t)s->shape[1], (int32_t)s->shape[2], (int32_t)s->shape[3]};
    const int32_t spread[4] = {(int32_t)s->blocks, (int32_t)s->inner,
                               s->copied ? (int32_t)(s->blocks * matrices(s)) : 0, 0};
    const qst_arg all[6] = {qstk_operand(index),
                            qstk_offset(index),
                            qstk_workspace(s->copied ? index : 1 - index),
                            qstk_value(shape, sizeof shape),
                            qstk_value(spread, sizeof spread),
                            qstk_value(index ? v->b : v->a, 2 * sizeof *v->a)};
    memcpy(args, all, sizeof all);
}

int32_t nv_pad_steps(const nv_kernel *kernel, const nv_view *v, qst_steps *out, qst_arg *product)
{
    side     sides[2];
    qst_arg  args[12];
    uint64_t groups = 0;
    int32_t  status = QST_OK;
    lay_both(sides, kernel, v);
    for (uint32_t i = 0; i < 2; i++) {
        operand_args(args + 6 * i, &sides[i], v, i);
        if (!sides[i].copied)
            continue;
        groups += (uint64_t)(sides[i].blocks * matrices(&sides[i]));
        if (status == QST_OK)
            status = out->workspace(out, i, (uint64_t)bytes_of(&sides[i]));
        product[2 * i] = qstk_workspace(i);
        product[2 * i + 1] = qstk_i64(0);
    }
    if (status == QST_OK && groups) {
        qst_launch launch = qstk_launch(NV_PAD_PROGRAM, "nv_pad", 1, args, QSTK_COUNT(args));
        launch.local[0] = GROUP;
        launch.global[0] = groups * GROUP;
        status = out->launch(out, &launch);
    }
    return status;
}
