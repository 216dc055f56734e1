/* SPDX-License-Identifier: MIT
 *
 * normal.c: the normal form of a problem. Equal problems become equal structs, and candidates see fewer cases.
 */
#include "ops/matmul/internal.h"

/* Strides that any value would do for get the one that leaves a stride of 1 in the matrix: a single row with its
 * elements apart is a column-major matrix, a single column is a row-major one. */
static void settle_matrix(qst_matrix *x, int64_t rows, int64_t cols, const int64_t *batch)
{
    if (cols == 1)
        x->col = 1;
    if (rows == 1)
        x->row = x->col == 1 ? cols : 1;
    for (int d = 0; d < QST_MATMUL_BATCHES; d++)
        if (batch[d] == 1)
            x->batch[d] = 0;
    if (x->align <= qst__matmul_log2_bytes(x->type))
        x->align = 0;
}

static void drop_strides(qst_matrix *x)
{
    x->row = x->col = 0;
    memset(x->batch, 0, sizeof x->batch);
    x->align = 0;
}

/* A and B of a problem that does not touch them have no strides at all. */
static void settle(qst_matmul *p)
{
    if (p->k == 0) {
        drop_strides(&p->a);
        drop_strides(&p->b);
    } else {
        settle_matrix(&p->a, p->m, p->k, p->batch);
        settle_matrix(&p->b, p->k, p->n, p->batch);
    }
    settle_matrix(&p->c, p->m, p->n, p->batch);
}

/* Does the outer dimension of `x` go on where `extent` steps of the inner one end? */
static bool continues(const qst_matrix *x, int outer, int inner, int64_t extent)
{
    int64_t end;
    return !__builtin_mul_overflow(x->batch[inner], extent, &end) && x->batch[outer] == end;
}

static void move_batch(qst_matrix *x, int from, int to)
{
    int64_t stride = x->batch[from];
    x->batch[from] = 0;
    x->batch[to] = stride;
}

/* Batches larger than 1 move to the high indices in their order; neighbours that are one run become one. */
static void merge_batches(qst_matmul *p)
{
    int top = QST_MATMUL_BATCHES; /* lowest index in use */
    for (int d = QST_MATMUL_BATCHES - 1; d >= 0; d--) {
        int64_t size = p->batch[d];
        if (size == 1)
            continue;
        if (top < QST_MATMUL_BATCHES && continues(&p->a, d, top, p->batch[top]) &&
            continues(&p->b, d, top, p->batch[top]) && continues(&p->c, d, top, p->batch[top])) {
            p->batch[d] = 1;
            p->batch[top] *= size;
            p->a.batch[d] = p->b.batch[d] = p->c.batch[d] = 0;
            continue;
        }
        top--;
        p->batch[d] = 1;
        p->batch[top] = size;
        move_batch(&p->a, d, top);
        move_batch(&p->b, d, top);
        move_batch(&p->c, d, top);
    }
}

/* A batch that shares B and whose rows of A and C go on from product to product is one taller product. */
static bool fold_batch(qst_matmul *p)
{
    for (int d = QST_MATMUL_BATCHES - 1; d >= 0; d--) {
        int64_t a_end, c_end, m;
        if (p->batch[d] == 1 || p->b.batch[d] != 0 || __builtin_mul_overflow(p->m, p->batch[d], &m))
            continue;
        if (p->m == 1) {
            p->a.row = p->a.batch[d];
            p->c.row = p->c.batch[d];
        } else if (__builtin_mul_overflow(p->m, p->a.row, &a_end) || __builtin_mul_overflow(p->m, p->c.row, &c_end) ||
                   p->a.batch[d] != a_end || p->c.batch[d] != c_end) {
            continue;
        }
        p->m = m;
        p->batch[d] = 1;
        p->a.batch[d] = p->b.batch[d] = p->c.batch[d] = 0;
        return true;
    }
    return false;
}

static void swap_strides(qst_matrix *x)
{
    int64_t row = x->row;
    x->row = x->col;
    x->col = row;
}

/* C' = B' · A'. */
static void transpose(qst_matmul *p, uint32_t *perm)
{
    qst_matrix a = p->a;
    int64_t    m = p->m;
    uint32_t   first = perm[QST__A];
    p->a = p->b;
    p->b = a;
    p->m = p->n;
    p->n = m;
    perm[QST__A] = perm[QST__B];
    perm[QST__B] = first;
    swap_strides(&p->a);
    swap_strides(&p->b);
    swap_strides(&p->c);
}

/* Scalars as the sums see them; both zeros are +0. */
static double settle_scalar(const qst_matmul *p, double value)
{
    if (qst__matmul_sum_type(p) == QST_F32)
        value = (double)(float)value;
    return value == 0.0 ? 0.0 : value;
}

int32_t qst__matmul_normalise(void *user, void *problem, uint32_t *perm)
{
    qst_matmul *p = problem;
    bool        again;
    (void)user;

    p->size = (uint32_t)sizeof *p;
    if (p->m == 0 || p->n == 0)
        return QST_NOTHING;
    for (int d = 0; d < QST_MATMUL_BATCHES; d++)
        if (p->batch[d] == 0)
            return QST_NOTHING;

    p->alpha = settle_scalar(p, p->alpha);
    p->beta = settle_scalar(p, p->beta);
    if (p->k == 0 || p->alpha == 0.0) {
        p->k = 0;
        p->alpha = 0.0;
        if (p->beta == 1.0)
            return QST_NOTHING;
    }
    do { /* ends: each turn takes a batch dimension away or turns C once */
        settle(p);
        merge_batches(p);
        again = fold_batch(p);
        if (!again && p->c.row < p->c.col) {
            transpose(p, perm);
            again = true;
        }
    } while (again);
    return p->k == 0 ? QST_TRIVIAL : QST_OK;
}
