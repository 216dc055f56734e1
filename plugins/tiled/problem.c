/* SPDX-License-Identifier: MIT
 *
 * problem.c: which matmul problems the kernels of this plugin can express, and in what words.
 */
#include "tiled.h"

#define SIZE_MAX_31 ((int64_t)1 << 30) /* an index plus a tile still fits an int */

/* Direction of a matrix: 0 where its columns are adjacent, 1 where its rows are, -1 where neither. An extent of 1 has
 * no neighbours and asks for nothing. */
static int adjacent(const qst_matrix *x, int64_t rows, int64_t cols)
{
    if (x->col == 1 || cols == 1)
        return 0;
    return x->row == 1 || rows == 1 ? 1 : -1;
}

static int f32_only(const qst_matmul *p)
{
    return p->a.type == QST_F32 && p->b.type == QST_F32 && p->c.type == QST_F32;
}

/* Reads as a list: one condition a line. */
static const char *refusal(const qst_matmul *p, int a, int b, int c)
{
    int64_t products = 1;
    int     dims = 0, d;
    for (d = 0; d < QST_MATMUL_BATCHES; d++) {
        if (p->batch[d] > SIZE_MAX_31 / products)
            return "2^30 products or more in the batch";
        products *= p->batch[d];
        dims += p->batch[d] > 1;
    }
    return !f32_only(p)         ? "f32 only"
           : p->m > SIZE_MAX_31 ? "m over 2^30"
           : p->n > SIZE_MAX_31 ? "n over 2^30"
           : p->k > SIZE_MAX_31 ? "k over 2^30"
           : a < 0              ? "neither rows nor columns of A are adjacent"
           : b < 0              ? "neither rows nor columns of B are adjacent"
           : c != 0             ? "columns of C are not adjacent"
           : dims > 2           ? "more than two batch dimensions that do not merge"
                                : NULL;
}

static int aligned16(const qst_matrix *x, int64_t ld, const int64_t *batch)
{
    return x->align >= 4 && ld % 4 == 0 && batch[0] % 4 == 0 && batch[1] % 4 == 0;
}

int32_t tiled_look(struct tiled_view *view, const qst_matmul *p, const char **why)
{
    const int   a = adjacent(&p->a, p->m, p->k), b = adjacent(&p->b, p->k, p->n), c = adjacent(&p->c, p->m, p->n);
    const char *no = refusal(p, a, b, c);
    int         d, at = 1;
    if (no)
        return qstk_no(why, no);
    memset(view, 0, sizeof *view);
    view->index = (uint32_t)(2 * a + b);
    view->m = p->m;
    view->n = p->n;
    view->k = p->alpha == 0.0 ? 0 : p->k;
    view->a_ld = a ? p->a.col : p->a.row;
    view->b_ld = b ? p->b.col : p->b.row;
    view->c_ld = p->c.row;
    view->alpha = p->alpha;
    view->beta = p->beta;
    view->outer = view->inner = 1;
    for (d = QST_MATMUL_BATCHES - 1; d >= 0; d--) {
        if (p->batch[d] == 1)
            continue;
        *(at ? &view->inner : &view->outer) = p->batch[d];
        view->a[at] = p->a.batch[d];
        view->b[at] = p->b.batch[d];
        view->c[at] = p->c.batch[d];
        at--;
    }
    view->aligned = (uint32_t)aligned16(&p->a, view->a_ld, view->a) |
                    (uint32_t)aligned16(&p->b, view->b_ld, view->b) << 1 |
                    (uint32_t)aligned16(&p->c, view->c_ld, view->c) << 2;
    return QST_OK;
}

static qst_arg pair(const int64_t *both)
{
    return qstk_value(both, 2 * sizeof *both);
}

void tiled_args(const struct tiled_view *v, qst_arg *args)
{
    const qst_arg all[TILED_ARGS] = {
        qstk_operand(0),
        qstk_offset(0),
        qstk_operand(1),
        qstk_offset(1),
        v->slice ? qstk_workspace(0) : qstk_operand(2),
        v->slice ? qstk_i64(0) : qstk_offset(2),
        qstk_i32(v->m),
        qstk_i32(v->n),
        qstk_i32(v->k),
        qstk_i64(v->a_ld),
        qstk_i64(v->b_ld),
        qstk_i64(v->c_ld),
        pair(v->a),
        pair(v->b),
        pair(v->c),
        qstk_i32(v->outer * v->inner),
        qstk_i32(v->inner),
        qstk_i32(v->slice),
        qstk_f32(v->alpha),
        qstk_f32(v->beta),
    };
    memcpy(args, all, sizeof all);
}
