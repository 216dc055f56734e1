/* SPDX-License-Identifier: MIT
 *
 * view.c: which problems are products with a vector, which of the kernels can compute them, and in what words.
 */
#include "gemv.h"

#define SIZE_MAX_30   ((int64_t)1 << 30)
#define SLICE_STEP    16            /* slices begin at multiples of this: they keep their alignment */
#define SLICE_LEAST   64            /* terms of a slice */
#define WORKSPACE_MAX (64ull << 20) /* bytes */

static const char *size_refusal(const qst_matmul *p)
{
    int64_t products = 1;
    int     dims = 0, d;
    for (d = 0; d < QST_MATMUL_BATCHES; d++) {
        if (p->batch[d] > SIZE_MAX_30 / products)
            return "2^30 products or more in the batch";
        products *= p->batch[d];
        dims += p->batch[d] > 1;
    }
    return p->m > SIZE_MAX_30 || p->n > SIZE_MAX_30 || p->k > SIZE_MAX_30 ? "m, n or k over 2^30"
           : dims > 2 ? "more than two batch dimensions that do not merge"
                      : NULL;
}

static void take_batches(struct gemv_view *v, const qst_matmul *p)
{
    const qst_matrix *mat = v->mat ? &p->b : &p->a, *x = v->x ? &p->b : &p->a;
    int               d, at = 1;
    v->outer = v->inner = 1;
    for (d = QST_MATMUL_BATCHES - 1; d >= 0; d--) {
        if (p->batch[d] == 1)
            continue;
        *(at ? &v->inner : &v->outer) = p->batch[d];
        v->of_mat[at] = mat->batch[d];
        v->of_x[at] = x->batch[d];
        v->of_y[at] = p->c.batch[d];
        at--;
    }
}

static uint32_t aligned4(const qst_matrix *x, int64_t line, const int64_t *batch)
{
    const uint32_t log2_bytes = x->type == QST_F64 ? 5 : 4;
    return x->align >= log2_bytes && line % 4 == 0 && batch[0] % 4 == 0 && batch[1] % 4 == 0;
}

/* k = 1: a column times a row. */
static int32_t look_outer(const qst_matmul *p, struct gemv_view *v, const char **why)
{
    if (p->k != 1)
        return qstk_no(why, "k is not 1");
    if ((p->b.col != 1 || p->c.col != 1) && p->n != 1)
        return qstk_no(why, "columns of B or of C are not adjacent");
    v->mat = 1;
    v->x = 0;
    v->count = p->m;
    v->width = p->n;
    v->x_step = p->a.row;
    v->ld = p->c.row;
    return QST_OK;
}

/* Strides of the matrix along the sum and along the outputs decide; a single term or output has neighbours of any kind. */
static int32_t look_vector(const struct gemv_row *row, const qst_matmul *p, struct gemv_view *v, const char **why)
{
    const int         by_rows = p->n == 1; /* matrix x vector; else vector x matrix */
    const qst_matrix *mat = by_rows ? &p->a : &p->b, *x = by_rows ? &p->b : &p->a;
    const int64_t     along_sum = by_rows ? mat->col : mat->row, along_out = by_rows ? mat->row : mat->col;
    const int         dot = row->kernel == GEMV_DOT || row->kernel == GEMV_GROUP_DOT;
    if (!by_rows && p->m != 1)
        return qstk_no(why, "neither m nor n is 1");
    v->mat = by_rows ? 0 : 1;
    v->x = by_rows ? 1 : 0;
    v->count = by_rows ? p->m : p->n;
    v->width = 1;
    v->x_step = p->k == 1 ? 1 : by_rows ? x->row : x->col;
    v->y_step = v->count == 1 ? 1 : by_rows ? p->c.row : p->c.col;
    if (dot ? along_sum != 1 && p->k != 1 : along_out != 1 && v->count != 1)
        return qstk_no(why, dot ? "elements of the matrix are not adjacent along the sum"
                                : "elements of the matrix are not adjacent along the result");
    if (dot && v->x_step != 1)
        return qstk_no(why, "elements of the vector are not adjacent");
    if (row->kernel == GEMV_STRIP && row->slices == 1 && v->y_step != 1)
        return qstk_no(why, "elements of the result are not adjacent");
    v->ld = dot ? along_out : along_sum;
    return QST_OK;
}

/* Where the sum is split the first launch writes a workspace, dense, alpha 1 and beta 0. */
static int32_t split(const struct gemv_row *row, const qst_device *device, struct gemv_view *v, const char **why)
{
    const int64_t slices = row->kernel == GEMV_SWEEP ? (int64_t)row->parts * device->units : (int64_t)row->slices;
    if (row->kernel != GEMV_SWEEP && v->k < 2 * SLICE_LEAST)
        return qstk_no(why, "k under 128 is not split");
    v->slice = (int64_t)qstk_round_up(qstk_ceil_div((uint64_t)v->k, (uint64_t)slices), SLICE_STEP);
    v->slice = v->slice < SLICE_LEAST ? SLICE_LEAST : v->slice;
    v->slices = (int64_t)qstk_ceil_div((uint64_t)v->k, (uint64_t)v->slice);
    if ((double)v->outer * (double)v->inner * (double)v->slices * (double)v->count * 8.0 > (double)WORKSPACE_MAX)
        return qstk_no(why, "the workspace would be over 64 MiB");
    v->y_step = 1;
    v->y_slice = v->count;
    v->of_y[1] = v->slices * v->count;
    v->of_y[0] = v->of_y[1] * v->inner;
    v->alpha = 1.0;
    v->beta = 0.0;
    return QST_OK;
}

int32_t gemv_look(const struct gemv_row *row, const qst_device *device, const qst_matmul *p, struct gemv_view *v,
                  const char **why)
{
    const char *no = size_refusal(p);
    int32_t     status;
    if ((p->c.type != QST_F32 && p->c.type != QST_F64) || p->a.type != p->c.type || p->b.type != p->c.type)
        return qstk_no(why, "A, B and C all f32 or all f64 only");
    if (p->c.type == QST_F64 && !(device->flags & QST_DEVICE_F64))
        return qstk_no(why, "the device has no f64 arithmetic");
    if (no)
        return qstk_no(why, no);
    memset(v, 0, sizeof *v);
    v->type = p->c.type;
    v->k = v->slice = p->k;
    v->slices = 1;
    v->alpha = p->alpha;
    v->beta = p->beta;
    status = row->kernel == GEMV_OUTER ? look_outer(p, v, why) : look_vector(row, p, v, why);
    if (status != QST_OK)
        return status;
    take_batches(v, p);
    v->aligned = aligned4(v->mat ? &p->b : &p->a, v->count == 1 ? 0 : v->ld, v->of_mat) &&
                 aligned4(v->x ? &p->b : &p->a, 0, v->of_x);
    if (row->kernel == GEMV_GROUP_DOT && row->b > 1 && !v->aligned)
        return qstk_no(why, "lines of the matrix or the vector are not aligned to four elements");
    return gemv_is_split(row) ? split(row, device, v, why) : QST_OK;
}
