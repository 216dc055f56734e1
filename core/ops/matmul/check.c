/* SPDX-License-Identifier: MIT
 *
 * check.c: which problems are in contract, and what memory and work a problem stands for.
 */
#include "ops/matmul/internal.h"

#include <inttypes.h>
#include <math.h>

static const char *const matrix_names[QST__OPERANDS] = {"a", "b", "c"};
static const char *const dim_names[QST__DIMS] = {"batch[0]", "batch[1]", "batch[2]", "batch[3]", "row", "col"};

static int32_t check_sizes(const qst_matmul *p, qst_error *err)
{
    const struct {
        const char *name;
        int64_t     value;
    } sizes[] = {{"m", p->m},
                 {"n", p->n},
                 {"k", p->k},
                 {"batch[0]", p->batch[0]},
                 {"batch[1]", p->batch[1]},
                 {"batch[2]", p->batch[2]},
                 {"batch[3]", p->batch[3]}};
    for (size_t i = 0; i < QSTK_COUNT(sizes); i++)
        if (sizes[i].value < 0)
            return qst__matmul_fail(err, QST_E_INVALID, "%s is %" PRId64 ", must not be negative", sizes[i].name,
                                    sizes[i].value);
    return QST_OK;
}

static bool is_empty(const qst__view *v)
{
    for (int d = 0; d < QST__DIMS; d++)
        if (v->extent[d] == 0)
            return true;
    return false;
}

/* Elements from the first to the last; of a view that passed check_reach and is not empty. */
static int64_t last_element(const qst__view *v)
{
    int64_t last = 0;
    for (int d = 0; d < QST__DIMS; d++)
        last += (v->extent[d] - 1) * v->stride[d];
    return last;
}

/* The byte behind the last element must be an int64. */
static int32_t check_reach(const qst__view *v, const char *name, uint32_t log2_bytes, qst_error *err)
{
    int64_t last = 0, part, end;
    for (int d = 0; d < QST__DIMS; d++)
        if (__builtin_mul_overflow(v->extent[d] - 1, v->stride[d], &part) ||
            __builtin_add_overflow(last, part, &last) || __builtin_mul_overflow(last, INT64_C(1) << log2_bytes, &end) ||
            end > INT64_MAX - 8)
            return qst__matmul_fail(err, QST_E_INVALID,
                                    "%s.%s %" PRId64 " times extent %" PRId64 " reaches beyond 2^63 bytes", name,
                                    dim_names[d], v->stride[d], v->extent[d]);
    return QST_OK;
}

/* C's elements are distinct when, by ascending strides, each stride is above the span of all smaller ones. */
static int32_t check_distinct(const qst__view *v, qst_error *err)
{
    int     order[QST__DIMS], count = 0;
    int64_t span = 0;
    for (int d = 0; d < QST__DIMS; d++) {
        if (v->extent[d] <= 1)
            continue;
        int at = count++;
        for (; at > 0 && v->stride[order[at - 1]] > v->stride[d]; at--)
            order[at] = order[at - 1];
        order[at] = d;
    }
    for (int i = 0; i < count; i++) {
        int d = order[i];
        if (v->stride[d] <= span)
            return qst__matmul_fail(err, QST_E_INVALID,
                                    "elements of C overlap: c.%s is %" PRId64 ", must be above %" PRId64
                                    ", the span of its closer dimensions",
                                    dim_names[d], v->stride[d], span);
        span += (v->extent[d] - 1) * v->stride[d];
    }
    return QST_OK;
}

static int32_t check_matrix(const qst_matmul *p, uint32_t operand, qst_error *err)
{
    const qst_matrix *x = qst__matmul_matrix(p, operand);
    const char       *name = matrix_names[operand];
    qst__view         view;
    int32_t           status;

    if (x->type < QST_F32 || x->type >= QST_TYPE_END)
        return qst__matmul_fail(err, QST_E_INVALID, "%s.type is %u, no element type: must be 1 to %d", name,
                                (unsigned)x->type, QST_TYPE_END - 1);
    if (x->align > 62)
        return qst__matmul_fail(err, QST_E_INVALID, "%s.align is %u, log2 of bytes: must be at most 62", name,
                                (unsigned)x->align);
    qst__matmul_view(p, operand, &view);
    for (int d = 0; d < QST__DIMS; d++)
        if (view.stride[d] < 0)
            return qst__matmul_fail(err, QST_E_INVALID, "%s.%s is %" PRId64 ", must not be negative", name,
                                    dim_names[d], view.stride[d]);
    if (is_empty(&view))
        return QST_OK;
    status = check_reach(&view, name, qst__matmul_log2_bytes(x->type), err);
    if (status == QST_OK && operand == QST__C)
        status = check_distinct(&view, err);
    return status;
}

/* A finite scalar must stay finite in the accumulation type. */
static int32_t check_scalar(const qst_matmul *p, const char *name, double value, qst_error *err)
{
    if (qst__matmul_sum_type(p) == QST_F32 && isfinite(value) && !isfinite((float)value))
        return qst__matmul_fail(err, QST_E_INVALID, "%s is %g, beyond the range of f32 sums", name, value);
    return QST_OK;
}

int32_t qst__matmul_check(void *user, const void *problem, qst_error *err)
{
    const qst_matmul *p = problem;
    int32_t           status = check_sizes(p, err);
    (void)user;

    if (status == QST_OK && p->numerics >= QST_NUMERICS_END)
        status = qst__matmul_fail(err, QST_E_INVALID, "numerics is %u, no numerics class: must be 0 to %d",
                                  (unsigned)p->numerics, QST_NUMERICS_END - 1);
    for (uint32_t i = 0; i < QST__OPERANDS && status == QST_OK; i++)
        status = check_matrix(p, i, err);
    if (status == QST_OK)
        status = check_scalar(p, "alpha", p->alpha, err);
    if (status == QST_OK)
        status = check_scalar(p, "beta", p->beta, err);
    return status;
}

uint64_t qst__matmul_span(void *user, const void *problem, uint32_t operand)
{
    const qst_matmul *p = problem;
    qst__view         view;
    (void)user;

    qst__matmul_view(p, QST__C, &view);
    if (operand >= QST__OPERANDS || is_empty(&view))
        return 0;
    if (operand != QST__C && (p->k == 0 || p->alpha == 0.0))
        return 0;
    qst__matmul_view(p, operand, &view);
    return (uint64_t)(last_element(&view) + 1) << qst__matmul_log2_bytes(qst__matmul_matrix(p, operand)->type);
}

/* Bytes of the distinct elements of an operand: a stride of 0 adds none, overlapping strides no more than the span. */
static double distinct_bytes(const qst_matmul *p, uint32_t operand)
{
    double    bytes = (double)(1u << qst__matmul_log2_bytes(qst__matmul_matrix(p, operand)->type));
    double    span = (double)qst__matmul_span(NULL, p, operand);
    qst__view view;
    qst__matmul_view(p, operand, &view);
    for (int d = 0; d < QST__DIMS; d++)
        if (view.stride[d] != 0)
            bytes *= (double)view.extent[d];
    return bytes < span ? bytes : span;
}

/* Products of which elements? f16 and bf16 where A and B both are, else the type of the sums. */
static uint32_t product_type(const qst_matmul *p)
{
    uint32_t sum = qst__matmul_sum_type(p);
    return sum != QST_F64 && p->a.type == p->b.type ? p->a.type : sum;
}

/* A product of length k is k multiplications and k − 1 additions. */
void qst__matmul_work(void *user, const void *problem, qst_work *out)
{
    const qst_matmul *p = problem;
    double            elements = (double)p->m * (double)p->n;
    (void)user;

    for (int d = 0; d < QST_MATMUL_BATCHES; d++)
        elements *= (double)p->batch[d];
    out->ops = p->k > 0 && p->alpha != 0.0 ? elements * (2.0 * (double)p->k - 1.0) : 0.0;
    out->bytes = distinct_bytes(p, QST__A) + distinct_bytes(p, QST__B) +
                 distinct_bytes(p, QST__C) * (p->beta != 0.0 ? 2.0 : 1.0);
    out->type = product_type(p);
    out->numerics = p->numerics;
}
