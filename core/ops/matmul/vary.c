/* SPDX-License-Identifier: MIT
 *
 * vary.c: the problems that stand for a problem while it is judged and timed. How they are filled is fill.c's.
 */
#include "ops/matmul/internal.h"

#include <math.h>

/* ---- Scalars ------------------------------------------------------------------------------------------------- */

/* −2, −1, 1, 2 stay; all else becomes the 1 of its sign. */
static double exact_alpha(double alpha)
{
    if (fabs(alpha) == 1.0 || fabs(alpha) == 2.0)
        return alpha;
    return alpha < 0.0 ? -1.0 : 1.0;
}

/* The caller's scalar where reals of (-1, 1) keep a meaning with it, for what is judged is the candidate and not the
 * scalar: a verdict serves all scalars of the key. An extreme one, or none at all, becomes one of common size. f16 has
 * numbers of 2^-14 to 2^16 alone. */
static double tame(const qst_matmul *p, double scalar)
{
    const bool   half = p->c.type == QST_F16;
    const double size = fabs(scalar), least = half ? 0x1p-6 : 0x1p-20, most = half ? 0x1p4 : 0x1p20;

    return size == 0.0 || (size >= least && size <= most) ? scalar : copysign(1.5, scalar);
}

static double exact_beta(double beta)
{
    return beta == 0.0 || beta == 1.0 ? beta : -1.0;
}

static bool is_narrow(uint32_t type)
{
    return type == QST_F16 || type == QST_BF16;
}

/* ---- Further shapes ---------------------------------------------------------------------------------------------- */

enum { M, N, K, BATCH, SIZES = BATCH + QST_MATMUL_BATCHES };

/* What a size may be to a kernel with tiles: no whole number even of pairs; whole tiles of every common size; pairs, but
 * no tiles. A kernel that is wrong for one of the three alone must not be right for want of such a size: the problem
 * itself is of one kind in each dimension, and the two further shapes are of the other two. */
enum { ODD, WHOLE, EVEN, KINDS };

/* At most, by kind: several tiles of 128 and more than one block along k. */
static const int64_t second_cap[KINDS][SIZES] = {
    [ODD] = {261, 205, 517, 3, 3, 3, 3}, [WHOLE] = {256, 256, 512}, [EVEN] = {258, 202, 514}};

static void sizes_of(const qst_matmul *p, int64_t *size)
{
    size[M] = p->m;
    size[N] = p->n;
    size[K] = p->k;
    memcpy(size + BATCH, p->batch, sizeof p->batch);
}

static double product(const int64_t *size)
{
    double work = 1.0;
    for (int i = 0; i < SIZES; i++)
        work *= (double)size[i];
    return work;
}

static int64_t odd_below(int64_t x)
{
    x -= (x & 1) == 0;
    return x < 3 ? 3 : x;
}

/* Multiples of 128, else powers of two. */
static int64_t whole_below(int64_t x)
{
    int64_t power = 2;
    if (x >= 128)
        return x / 128 * 128;
    while (2 * power <= x)
        power *= 2;
    return power;
}

/* 2 · odd. */
static int64_t even_below(int64_t x)
{
    return x < 6 ? 2 : 2 * odd_below(x / 2);
}

static int64_t below(int kind, int64_t x)
{
    return kind == ODD ? odd_below(x) : kind == WHOLE ? whole_below(x) : even_below(x);
}

/* The kind of a size of the problem itself, and the kinds that are left for the second shape and the third: a size of the
 * other parity is the second's, where every element is looked at. */
static int kind_of(int64_t x)
{
    return x & 1 ? ODD : x == whole_below(x) ? WHOLE : EVEN;
}
static int kind_left(int64_t size, int shape)
{
    static const int left[KINDS][2] = {[ODD] = {WHOLE, EVEN}, [WHOLE] = {ODD, EVEN}, [EVEN] = {ODD, WHOLE}};
    return left[kind_of(size)][shape];
}

/* About half of each size, the odd ones made different; then the longest shrinks until the work is small enough. */
static bool further_sizes(const int64_t *from, int shape, int64_t *to)
{
    double limit = product(from) / 8.0;
    int    kind[SIZES];
    for (int i = 0; i < SIZES; i++) {
        int64_t half;
        kind[i] = i < BATCH ? kind_left(from[i], shape) : ODD;
        half = i < BATCH ? below(kind[i], from[i] / 2 - (kind[i] == WHOLE ? 0 : 2 * i)) : from[i];
        to[i] = from[i] == 1 ? 1 : half < second_cap[kind[i]][i] ? half : second_cap[kind[i]][i];
    }
    while (product(to) > limit) {
        int longest = M;
        for (int i = N; i < SIZES; i++)
            if (to[i] > to[longest])
                longest = i;
        if (to[longest] <= 3) {
            int last = SIZES - 1; /* batches of 3 may still become 2 */
            while (last >= BATCH && to[last] < 3)
                last--;
            if (last < BATCH)
                return false;
            to[last] = 2;
        } else {
            to[longest] = below(kind[longest], to[longest] * 3 / 4);
        }
    }
    return true;
}

/* Strides for a view of new extents that have the old one's kind: the same order of dimensions, the same smallest
 * stride (up to 4), dense where it was dense, padded to an odd stride where it was padded, 0 where it was 0. Inputs
 * may overlap where they did. */
static void second_strides(const qst__view *old, qst__view *out, bool distinct)
{
    int     order[QST__DIMS], count = 0;
    int64_t dense_old = 1, dense = 1;
    for (int d = QST__DIMS - 1; d >= 0; d--) {
        int at;
        out->stride[d] = 0;
        if (old->stride[d] == 0 || old->extent[d] == 1)
            continue;
        for (at = count++; at > 0 && old->stride[order[at - 1]] > old->stride[d]; at--)
            order[at] = order[at - 1];
        order[at] = d;
    }
    for (int i = 0; i < count; i++) {
        int     d = order[i];
        int64_t stride = old->stride[d];
        if (i == 0)
            out->stride[d] = stride <= 4 ? stride : 3;
        else if (stride > dense_old)
            out->stride[d] = dense + (dense & 1 ? 2 : 3);
        else if (stride == dense_old || distinct)
            out->stride[d] = dense;
        else
            out->stride[d] = stride < dense ? stride : dense - 1;
        if (__builtin_mul_overflow(stride, old->extent[d], &dense_old))
            dense_old = INT64_MAX;
        dense = out->stride[d] * out->extent[d];
    }
}

static void second_matrix(const qst_matmul *from, qst_matmul *to, uint32_t operand, qst_matrix *x)
{
    qst__view old, view;
    qst__matmul_view(from, operand, &old);
    qst__matmul_view(to, operand, &view);
    second_strides(&old, &view, operand == QST__C);
    memcpy(x->batch, view.stride, sizeof x->batch);
    x->row = view.stride[QST__DIM_ROW];
    x->col = view.stride[QST__DIM_COL];
}

/* Stays in normal form: where the smaller problem would be turned round there is none. */
static int32_t further(const qst_matmul *p, int shape, qst_matmul *out)
{
    int64_t  from[SIZES], to[SIZES];
    uint32_t perm[QST__OPERANDS] = {QST__A, QST__B, QST__C};

    sizes_of(p, from);
    if (!further_sizes(from, shape, to))
        return QST_E_UNSUPPORTED;
    out->m = to[M];
    out->n = to[N];
    out->k = to[K];
    memcpy(out->batch, to + BATCH, sizeof out->batch);
    second_matrix(p, out, QST__A, &out->a);
    second_matrix(p, out, QST__B, &out->b);
    second_matrix(p, out, QST__C, &out->c);
    if (qst__matmul_check(NULL, out, NULL) != QST_OK || qst__matmul_normalise(NULL, out, perm) != QST_OK ||
        perm[QST__A] != QST__A)
        return QST_E_UNSUPPORTED;
    return QST_OK;
}

int32_t qst__matmul_vary(void *user, const void *problem, uint32_t which, void *result)
{
    const qst_matmul *p = problem;
    qst_matmul       *out = result;
    (void)user;

    *out = *p;
    out->alpha = exact_alpha(p->alpha);
    out->beta = exact_beta(p->beta);
    switch (which) {
    case QST_VARY_EXACT:
        return QST_OK;
    case QST_VARY_TIMED: /* a sum that grows leaves the few integers of a narrow type at once: let it alternate */
        if (is_narrow(p->c.type) && out->beta == 1.0)
            out->beta = -1.0;
        return QST_OK;
    case QST_VARY_SECOND:
        return further(p, 0, out);
    case QST_VARY_SECOND_REAL:
        out->alpha = tame(p, p->alpha);
        out->beta = tame(p, p->beta);
        return further(p, 1, out) == QST_OK ? QST_OK : further(p, 0, out);
    default:
        return QST_E_UNSUPPORTED;
    }
}

uint32_t qst__matmul_repeat(void *user, const void *problem)
{
    const qst_matmul *p = problem;
    (void)user;
    return p->beta == 0.0 ? QST_REPEAT_SAME : p->beta == 1.0 ? QST_REPEAT_ADDS : QST_REPEAT_ALTERNATES;
}
