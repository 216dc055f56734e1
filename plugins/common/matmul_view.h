/* SPDX-License-Identifier: MIT
 *
 * matmul_view.h: a matmul problem in the words that kernels want, for families that need adjacent rows or columns. A
 * problem is looked at once and then spoken of as a `view`.
 *
 * The transposition of a problem picks the program, not the key: index 0 … 3 is NN, NT, TN, TT (bit 1: A, bit 0: B).
 * Two problems of one bucket so never run each other's kernel.
 */
#ifndef PLUGINS_COMMON_MATMUL_VIEW_H
#define PLUGINS_COMMON_MATMUL_VIEW_H

#include <quernstone/kit.h>
#include <quernstone/matmul.h>

#define MATMUL_SIZE_MAX ((int64_t)1 << 30) /* an index plus a tile still fits an int */

/*   index               transposition, the program's index
 *   type                of all three matrices
 *   aligned             bits 0, 1, 2: A, B, C with all their strides are multiples of 16 bytes
 *   a_ld, b_ld, c_ld    stride of the direction that is not adjacent
 *   outer, inner        the two batch dimensions; products are outer * inner, inner fastest
 *   a, b, c             batch strides, outer then inner
 *   slice               0, or the length of a slice of k; inner then counts slices
 *   alpha, beta         what the launch applies */
struct matmul_view {
    uint32_t index, type;
    uint32_t aligned;
    int64_t  m, n, k;
    int64_t  a_ld, b_ld, c_ld;
    int64_t  outer, inner;
    int64_t  a[2], b[2], c[2];
    int64_t  slice;
    double   alpha, beta;
};

/* Direction of a matrix: 0 where its columns are adjacent, 1 where its rows are, -1 where neither. An extent of 1 has
 * no neighbours and asks for nothing. */
static inline int matmul_adjacent(const qst_matrix *x, int64_t rows, int64_t cols)
{
    if (x->col == 1 || cols == 1)
        return 0;
    return x->row == 1 || rows == 1 ? 1 : -1;
}

/* Reads as a list: one condition a line. NULL: nothing is in the way. */
static inline const char *matmul_refusal(const qst_matmul *p, int a, int b, int c)
{
    int64_t products = 1;
    int     dims = 0, d;
    for (d = 0; d < QST_MATMUL_BATCHES; d++) {
        if (p->batch[d] > MATMUL_SIZE_MAX / products)
            return "2^30 products or more in the batch";
        products *= p->batch[d];
        dims += p->batch[d] > 1;
    }
    return p->m > MATMUL_SIZE_MAX   ? "m over 2^30"
           : p->n > MATMUL_SIZE_MAX ? "n over 2^30"
           : p->k > MATMUL_SIZE_MAX ? "k over 2^30"
           : a < 0                  ? "neither rows nor columns of A are adjacent"
           : b < 0                  ? "neither rows nor columns of B are adjacent"
           : c != 0                 ? "columns of C are not adjacent"
           : dims > 2               ? "more than two batch dimensions that do not merge"
                                    : NULL;
}

static inline uint32_t matmul_aligned16(const qst_matrix *x, int64_t ld, const int64_t *batch)
{
    const int64_t per = x->type == QST_F64 ? 2 : 4;
    return x->align >= 4 && ld % per == 0 && batch[0] % per == 0 && batch[1] % per == 0;
}

/* Fills the view, or says with a reason why such kernels cannot express the problem. Types are the caller's matter. */
static inline int32_t matmul_look(struct matmul_view *view, const qst_matmul *p, const char **why)
{
    const int   a = matmul_adjacent(&p->a, p->m, p->k), b = matmul_adjacent(&p->b, p->k, p->n);
    const char *no = matmul_refusal(p, a, b, matmul_adjacent(&p->c, p->m, p->n));
    int         d, at = 1;
    if (no)
        return qstk_no(why, no);
    memset(view, 0, sizeof *view);
    view->index = (uint32_t)(2 * a + b);
    view->type = p->c.type;
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
    view->aligned = matmul_aligned16(&p->a, view->a_ld, view->a) | matmul_aligned16(&p->b, view->b_ld, view->b) << 1 |
                    matmul_aligned16(&p->c, view->c_ld, view->c) << 2;
    return QST_OK;
}

static inline qst_arg matmul_pair(const int64_t *both)
{
    return qstk_value(both, 2 * sizeof *both);
}

/* A scalar of the type of the sums. */
static inline qst_arg matmul_scalar(uint32_t type, double value)
{
    return type == QST_F64 ? qstk_f64(value) : qstk_f32(value);
}

/* The arguments that kernels over a view begin with, A to beta; C is operand 2, or workspace 0 where k is split. */
enum { MATMUL_ARGS = 20 };

static inline void matmul_args(const struct matmul_view *v, qst_arg *args)
{
    const qst_arg all[MATMUL_ARGS] = {
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
        matmul_pair(v->a),
        matmul_pair(v->b),
        matmul_pair(v->c),
        qstk_i32(v->outer * v->inner),
        qstk_i32(v->inner),
        qstk_i32(v->slice),
        matmul_scalar(v->type, v->alpha),
        matmul_scalar(v->type, v->beta),
    };
    memcpy(args, all, sizeof all);
}

#endif
