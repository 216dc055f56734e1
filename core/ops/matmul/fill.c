/* SPDX-License-Identifier: MIT
 *
 * fill.c: how inputs are filled so that every result, and every part of its sum in any order, is an exact integer of
 * the type that holds it.
 *
 * An element of C is s = sum of k products a(p) b(p), times alpha, plus beta times an old integer. All integers up to
 * 2^bits are exact in a type of `bits` bits, and products and parts of sums are integers, so nothing rounds where |s|
 * stays under a limit t. Two ways to know that it does:
 *   certain    k range^2 <= t.
 *   by chance  inputs are independent and as often negative as positive, so S. Bernstein's inequality holds:
 *              P(|s| >= t) <= 2 exp(-t^2 / (2 (k v + range^2 t / 3))), v the variance of a product. At an exponent of
 *              45 that is under 6e-20 an element, 3e-10 for all of 2^32 elements.
 * Certainty wants products in one of 16 terms where a bf16 result (t = 256) sums 4096 of them; chance lets four times as
 * many be. Where both inputs are the same along k the products of a sum are one and the same: certainty alone counts.
 */
#include "ops/matmul/internal.h"

#include <math.h>

#define OLD_RANGE  4    /* integers in the old C */
#define HEADROOM   64   /* runs that may add to a wide C before it leaves the exact integers */
#define EXPONENT   45.0 /* of the chance that an element is inexact */
#define SPARSE_MAX 40   /* one element in 2^20 of each input */

/* The densest and widest filling is tried first. */
typedef struct filling {
    uint32_t range;  /* integers from -range to range */
    uint32_t sparse; /* log2 of how many products there are for each that may be other than 0 */
} filling;

/* All integers up to this are exact in C's type; for f64 the judge's own 32-bit sums set it. */
static double exact_limit(uint32_t type)
{
    static const double limits[QST_TYPE_END] = {0, 16777216.0, 1073741824.0, 2048.0, 256.0};
    return limits[type];
}

/* log2 of how many elements of an input there are for each that may be other than 0. */
static uint32_t operand_sparse(const filling *f, uint32_t operand)
{
    return operand == QST__A ? (f->sparse + 1) / 2 : operand == QST__B ? f->sparse / 2 : 0;
}

/* Mean square of an element, given that it is one of `range` and sparse; its largest where it is the same all along k. */
static double square(const filling *f, uint32_t operand, bool same)
{
    double range = (double)f->range;
    return same ? range * range : range * (range + 1.0) / 3.0 / (double)(UINT64_C(1) << operand_sparse(f, operand));
}

static bool stays_under(const filling *f, const qst_matmul *p, double limit)
{
    double k = (double)p->k, most = (double)f->range * f->range;
    bool   a_same = p->k > 1 && p->a.col == 0, b_same = p->k > 1 && p->b.row == 0;

    if (limit <= 0.0)
        return false;
    if (k * most <= limit)
        return true;
    return !(a_same && b_same) &&
           limit * limit >=
               2.0 * EXPONENT * (k * square(f, QST__A, a_same) * square(f, QST__B, b_same) + most * limit / 3.0);
}

/* What a sum of products may reach: C's integers after all runs, and those of the sums themselves. */
static double sum_limit(const qst_matmul *p, double alpha, double beta)
{
    bool   narrow = p->c.type == QST_F16 || p->c.type == QST_BF16;
    double in_c = exact_limit(p->c.type), in_sum = exact_limit(qst__matmul_sum_type(p));

    if (!narrow && beta == 1.0)
        in_c /= HEADROOM;
    in_c = in_c < in_sum ? in_c : in_sum;
    return (in_c - beta * OLD_RANGE) / alpha;
}

void qst__matmul_fill(void *user, const void *problem, uint32_t operand, uint32_t real, qst_fill *out)
{
    const qst_matmul *p = problem;
    qst_matmul        exact;
    filling           f = {OLD_RANGE, 0};
    double            limit;

    memset(out, 0, sizeof *out);
    if (real) {
        out->real = 1;
        return;
    }
    (void)qst__matmul_vary(user, problem, QST_VARY_EXACT, &exact); /* with the scalars of that problem */
    limit = sum_limit(p, fabs(exact.alpha), fabs(exact.beta));
    while (f.range > 1 && !stays_under(&f, p, limit))
        f.range--;
    while (f.range == 1 && f.sparse < SPARSE_MAX && !stays_under(&f, p, limit))
        f.sparse++;
    out->range = operand == QST__C ? OLD_RANGE : f.range;
    out->sparse = operand_sparse(&f, operand);
}
