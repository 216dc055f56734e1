/* SPDX-License-Identifier: MIT
 *
 * gemv.h: what the files of this plugin share: matrix x vector, vector x matrix, and products of two vectors. A candidate
 * is one row of the table in gemv.c; a problem is looked at once and then spoken of as a `view`.
 */
#ifndef GEMV_GEMV_H
#define GEMV_GEMV_H

#include <quernstone/kit.h>
#include <quernstone/matmul.h>

/* Programs of a row: its kernel in f32 and f64, then gemv_add.cl in both. */
enum { GEMV_F32, GEMV_F64, GEMV_ADD_F32, GEMV_ADD_F64, GEMV_PROGRAMS, GEMV_OPTIONS = 96 };

/* Kernels: gemv_cpu.cl's three, gemv_gpu.cl's two, and gemv_add.cl's product of two vectors, for any device. */
enum { GEMV_DOT = 1, GEMV_STRIP, GEMV_SWEEP, GEMV_GROUP_DOT, GEMV_GROUP_COLS, GEMV_OUTER };

/* One row of the table.
 *   a, b     DOT: outputs and vectors at a time; STRIP: vectors; SWEEP: lines at a time; GROUP_DOT: work-items and the
 *            adjacent elements that one takes; GROUP_COLS: columns and depth of the group
 *   parts    for each compute unit: work-groups of DOT and STRIP, slices of SWEEP; else 0
 *   slices   of the sum, added by a second launch; 1: one launch. SWEEP has as many as parts */
struct gemv_row {
    const char *variant;
    uint32_t    kernel;
    uint32_t    a, b;
    uint32_t    parts;
    uint32_t    slices;
};

/* What a candidate's functions get as user: its row and the options of its kernel's programs. */
struct gemv_candidate {
    const struct gemv_row *row;
    char                   options[2][GEMV_OPTIONS];
};

/* A problem as the kernels want it: `count` outputs, each a sum of k terms. For OUTER: count rows of `width` columns, x
 * the column and mat the row.
 *   mat, x          which operands the matrix and the vector are
 *   type            of all three
 *   aligned         lines of the matrix and the vector begin at multiples of four elements
 *   ld              stride of the matrix in the direction that is not adjacent; OUTER: of C
 *   x_step, y_step  strides of the vector and of the result
 *   of_mat, of_x, of_y   batch strides, outer then inner
 *   slice, slices   length and number of slices of k
 *   y_slice         0, or elements from slice to slice in the workspace */
struct gemv_view {
    uint32_t mat, x, type, aligned;
    int64_t  count, width, k, ld, x_step, y_step;
    int64_t  outer, inner;
    int64_t  of_mat[2], of_x[2], of_y[2];
    int64_t  slice, slices, y_slice;
    double   alpha, beta;
};

/* Can the problem be computed by the row's kernel? Fills the view as the first launch wants it. */
int32_t gemv_look(const struct gemv_row *row, const qst_device *device, const qst_matmul *problem,
                  struct gemv_view *view, const char **why);

/* Does the first launch write partial results? Bytes of the workspace for them. */
static inline int gemv_is_split(const struct gemv_row *row)
{
    return row->slices > 1 || row->kernel == GEMV_SWEEP;
}
static inline uint64_t gemv_workspace(const struct gemv_view *v)
{
    return (uint64_t)(v->outer * v->inner * v->slices * v->count) * (v->type == QST_F64 ? 8u : 4u);
}

/* The text of a program; the options of the row's kernel. */
int32_t gemv_program(const struct gemv_row *row, const qst_device *device, uint32_t index, qst_program *out);
void    gemv_options(const struct gemv_row *row, uint32_t type, char *text, size_t size);

/* Expected ns of all launches; 0 where the device says nothing. */
double gemv_estimate(const struct gemv_row *row, const qst_device *device, const struct gemv_view *view);

/* The launches. */
int32_t gemv_launch(const struct gemv_row *row, const qst_device *device, const struct gemv_view *view, qst_steps *out);
int32_t gemv_add(const qst_matmul *problem, const qst_device *device, const struct gemv_view *view, qst_steps *out);

#endif
