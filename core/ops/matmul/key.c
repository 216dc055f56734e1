/* SPDX-License-Identifier: MIT
 *
 * key.c: the bucketed key of a problem in normal form. The first sixteen numbers follow the reference's rules
 * (CubeK's MatmulAutotuneKey), so that its printed table comes out the same; the rest are ours.
 */
#include "ops/matmul/internal.h"

#define POW2_CAP   4  /* 2^4 elements is the longest vector load */
#define STRIDE_CAP 10 /* 2^10 bytes is the repeat length of a 128-byte swizzle */
#define ALIGN_CAP  4  /* 2^4 bytes is the longest plain load */
#define SMALL_END  512
#define MEDIUM_END 2048

/* Strides of a matrix, outermost first: the batch dimensions larger than 1, the row, the column. */
typedef struct strides {
    int     rank;
    int64_t s[QST__DIMS];
} strides;

static void strides_of(const qst_matmul *p, const qst_matrix *x, strides *out)
{
    out->rank = 0;
    for (int d = 0; d < QST_MATMUL_BATCHES; d++)
        if (p->batch[d] > 1)
            out->s[out->rank++] = x->batch[d];
    out->s[out->rank++] = x->row;
    out->s[out->rank++] = x->col;
}

static int64_t layout_of(const strides *x)
{
    int64_t row = x->s[x->rank - 2], col = x->s[x->rank - 1], before = row;
    bool    transposed = row < col, swapped = false;

    if (row == 0 || col == 0)
        return QST_LAYOUT_HIGHLY_PERMUTED;
    for (int d = x->rank - 3; d >= 0; d--) {
        int64_t s = x->s[d];
        if ((s < row || s < col) && s != 0)
            return QST_LAYOUT_HIGHLY_PERMUTED;
        if (s < before)
            swapped = true;
        before = s;
    }
    return swapped      ? transposed ? QST_LAYOUT_TRANSPOSED_SWAPPED : QST_LAYOUT_SWAPPED
           : transposed ? QST_LAYOUT_TRANSPOSED
                        : QST_LAYOUT_CONTIGUOUS;
}

static int64_t trailing_zeros(int64_t x, int64_t cap)
{
    int64_t zeros = 0;
    while (zeros < cap && (x >> zeros & 1) == 0)
        zeros++;
    return zeros;
}

/* Power of two that all strides but the contiguous one's are multiples of, in bytes. A stride of 0 lowers nothing. */
static int64_t stride_factor(const strides *x, int64_t layout, uint32_t type)
{
    int     exclude;
    int64_t least = STRIDE_CAP;
    if (layout == QST_LAYOUT_CONTIGUOUS)
        exclude = x->rank - 1;
    else if (layout == QST_LAYOUT_TRANSPOSED)
        exclude = x->rank - 2;
    else
        return 0;
    for (int d = 0; d < x->rank; d++) {
        int64_t zeros;
        if (d == exclude)
            continue;
        zeros = trailing_zeros(x->s[d], STRIDE_CAP) + qst__matmul_log2_bytes(type);
        if (zeros < least)
            least = zeros;
    }
    return least;
}

/* Power of two that the contiguous extent, after bucketing, is a multiple of. */
static int64_t pow2_factor(int64_t layout, int64_t plain_axis, int64_t transposed_axis)
{
    if (layout == QST_LAYOUT_HIGHLY_PERMUTED)
        return 0;
    if (layout == QST_LAYOUT_TRANSPOSED || layout == QST_LAYOUT_TRANSPOSED_SWAPPED)
        return trailing_zeros(transposed_axis, POW2_CAP);
    return trailing_zeros(plain_axis, POW2_CAP);
}

static int64_t scale_of(int64_t m, int64_t n, int64_t k)
{
    int64_t largest = m > n ? m : n;
    largest = largest > k ? largest : k;
    return largest < SMALL_END ? QST_SCALE_SMALL : largest < MEDIUM_END ? QST_SCALE_MEDIUM : QST_SCALE_LARGE;
}

/* By which of m, n, k are 1, in this order of bits: m 4, n 2, k 1. */
static int64_t kind_of(const qst_matmul *p)
{
    static const uint8_t kinds[8] = {QST_KIND_GENERAL, QST_KIND_OUTER,     QST_KIND_MATVEC, QST_KIND_VECSCALAR,
                                     QST_KIND_VECMAT,  QST_KIND_SCALARVEC, QST_KIND_INNER,  QST_KIND_SCALARPRODUCT};
    return kinds[(p->m == 1 ? 4 : 0) + (p->n == 1 ? 2 : 0) + (p->k == 1 ? 1 : 0)];
}

static int64_t least_align(const qst_matmul *p)
{
    int64_t least = ALIGN_CAP;
    for (uint32_t i = 0; i < QST__OPERANDS; i++) {
        const qst_matrix *x = qst__matmul_matrix(p, i);
        int64_t           own = qst__matmul_log2_bytes(x->type);
        int64_t           align = x->align > own ? (int64_t)x->align : own;
        if (align < least)
            least = align;
    }
    return least;
}

static int64_t beta_class(double beta)
{
    return beta == 0.0 ? QST_BETA_ZERO : beta == 1.0 ? QST_BETA_ONE : QST_BETA_OTHER;
}

void qst__matmul_key(void *user, const void *problem, const qst_anchor *anchor, int64_t *v)
{
    const qst_matmul *p = problem;
    int64_t           m = anchor->anchor(anchor->level, p->m);
    int64_t           n = anchor->anchor(anchor->level, p->n);
    int64_t           k = anchor->anchor(anchor->level, p->k);
    strides           a, b, c;
    int64_t           layout_a, layout_b, layout_c;
    (void)user;

    strides_of(p, &p->a, &a);
    strides_of(p, &p->b, &b);
    strides_of(p, &p->c, &c);
    layout_a = layout_of(&a);
    layout_b = layout_of(&b);
    layout_c = layout_of(&c);

    v[QST_MATMUL_KEY_M] = m;
    v[QST_MATMUL_KEY_N] = n;
    v[QST_MATMUL_KEY_K] = k;
    v[QST_MATMUL_KEY_LHS_POW2] = pow2_factor(layout_a, k, m);
    v[QST_MATMUL_KEY_LHS_STRIDE] = stride_factor(&a, layout_a, p->a.type);
    v[QST_MATMUL_KEY_RHS_POW2] = pow2_factor(layout_b, n, k);
    v[QST_MATMUL_KEY_RHS_STRIDE] = stride_factor(&b, layout_b, p->b.type);
    v[QST_MATMUL_KEY_ELEM_LHS] = p->a.type;
    v[QST_MATMUL_KEY_ELEM_RHS] = p->b.type;
    v[QST_MATMUL_KEY_ELEM_OUT] = p->c.type;
    v[QST_MATMUL_KEY_LAYOUT_LHS] = layout_a;
    v[QST_MATMUL_KEY_LAYOUT_RHS] = layout_b;
    v[QST_MATMUL_KEY_STORAGE_LHS] = 0;
    v[QST_MATMUL_KEY_STORAGE_RHS] = 0;
    v[QST_MATMUL_KEY_SCALE] = scale_of(m, n, k);
    v[QST_MATMUL_KEY_KIND] = kind_of(p);
    v[QST_MATMUL_KEY_LAYOUT_OUT] = layout_c;
    v[QST_MATMUL_KEY_OUT_STRIDE] = stride_factor(&c, layout_c, p->c.type);
    v[QST_MATMUL_KEY_ALIGN] = least_align(p);
    v[QST_MATMUL_KEY_BATCH] = anchor->anchor(anchor->level, qst__matmul_batches(p));
    v[QST_MATMUL_KEY_BETA] = beta_class(p->beta);
    v[QST_MATMUL_KEY_NUMERICS] = p->numerics;
}
