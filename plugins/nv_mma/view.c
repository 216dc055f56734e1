/* SPDX-License-Identifier: MIT
 *
 * view.c: which matmul problems the kernels of this plugin can express, and in what words.
 */
#include "rows.h"

#define SIZE_LIMIT   ((int64_t)1 << 30) /* an index plus a tile still fits an int */
#define STRIDE_LIMIT (((int64_t)1 << 31) - 1)

/* 0 where columns are adjacent, 1 where rows are, -1 where neither. An extent of 1 has no neighbours. */
static int adjacent(const qst_matrix *x, int64_t rows, int64_t cols)
{
    if (x->col == 1 || cols == 1)
        return 0;
    return x->row == 1 || rows == 1 ? 1 : -1;
}

static int types_fit(const qst_matmul *p)
{
    if (p->a.type != p->b.type)
        return 0;
    if (p->a.type == QST_F32)
        return p->c.type == QST_F32;
    return (p->a.type == QST_F16 || p->a.type == QST_BF16) && (p->c.type == p->a.type || p->c.type == QST_F32);
}

/* Reads as a list: one condition a line. */
static const char *refusal(const qst_matmul *p, int a, int b, int c)
{
    int64_t products = 1;
    int     dims = 0;
    for (int d = 0; d < QST_MATMUL_BATCHES; d++) {
        if (p->batch[d] > SIZE_LIMIT / products)
            return "2^30 products or more in the batch";
        products *= p->batch[d];
        dims += p->batch[d] > 1;
    }
    return !types_fit(p)       ? "A and B both f32, or both f16 or bf16 with C like them or f32"
           : p->m > SIZE_LIMIT ? "m over 2^30"
           : p->n > SIZE_LIMIT ? "n over 2^30"
           : p->k > SIZE_LIMIT ? "k over 2^30"
           : a < 0             ? "neither rows nor columns of A are adjacent"
           : b < 0             ? "neither rows nor columns of B are adjacent"
           : c != 0            ? "columns of C are not adjacent"
           : dims > 2          ? "more than two batch dimensions that do not merge"
                               : NULL;
}

/* `across` is the extent along which elements are adjacent: copies of 16 bytes take all of it or none. */
static void look_at(nv_view *view, uint32_t which, const qst_matrix *x, int64_t across, int64_t ld,
                    const int64_t *batch)
{
    const int64_t elements = x->type == QST_F32 ? 4 : 8;
    if (x->align < 4 || ld % elements != 0 || batch[0] % elements != 0 || batch[1] % elements != 0)
        return;
    view->strided |= which;
    if (across % elements == 0)
        view->aligned |= which;
}

int32_t nv_look(nv_view *view, const qst_matmul *p, const char **why)
{
    const int   a = adjacent(&p->a, p->m, p->k), b = adjacent(&p->b, p->k, p->n), c = adjacent(&p->c, p->m, p->n);
    const char *no = refusal(p, a, b, c);
    int         at = 1;
    if (no)
        return qstk_no(why, no);
    memset(view, 0, sizeof *view);
    view->m = p->m;
    view->n = p->n;
    view->k = p->alpha == 0.0 ? 0 : p->k;
    view->a_ld = a ? p->a.col : p->a.row;
    view->b_ld = b ? p->b.col : p->b.row;
    view->c_ld = p->c.row;
    if (view->a_ld > STRIDE_LIMIT || view->b_ld > STRIDE_LIMIT || view->c_ld > STRIDE_LIMIT)
        return qstk_no(why, "a stride of 2^31 or more");
    view->alpha = p->alpha;
    view->beta = p->beta;
    view->half = p->a.type != QST_F32;
    view->index = (a ? NV_TA : 0u) | (b ? NV_TB : 0u);
    view->outer = view->inner = 1;
    for (int d = QST_MATMUL_BATCHES - 1; d >= 0; d--) {
        if (p->batch[d] == 1)
            continue;
        *(at ? &view->inner : &view->outer) = p->batch[d];
        view->a[at] = p->a.batch[d];
        view->b[at] = p->b.batch[d];
        view->c[at] = p->c.batch[d];
        at--;
    }
    look_at(view, NV_ALIGN_A, &p->a, a ? p->m : p->k, view->a_ld, view->a);
    look_at(view, NV_ALIGN_B, &p->b, b ? p->k : p->n, view->b_ld, view->b);
    look_at(view, NV_ALIGN_C, &p->c, p->n, view->c_ld, view->c);
    return QST_OK;
}
