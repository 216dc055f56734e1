/* SPDX-License-Identifier: MIT
 *
 * calls.c: the typed calls of matmul.h, on top of op.h.
 */
#include "ops/matmul/internal.h"

#include <math.h>

static qst_set *find(qst_context *context, const qst_matmul *problem, qst_error *err)
{
    qst_set *set = context ? qst_set_of(context, &qst_matmul_op) : NULL;
    if (!context)
        (void)qst__matmul_fail(err, QST_E_INVALID, "context is NULL");
    else if (!set)
        (void)qst__matmul_fail(err, QST_E_NOTFOUND, "the context has no operation matmul");
    else if (!problem)
        (void)qst__matmul_fail(err, QST_E_INVALID, "problem is NULL");
    return problem ? set : NULL;
}

static qst_status not_found(const qst_context *context, const qst_matmul *problem)
{
    return context && problem ? QST_E_NOTFOUND : QST_E_INVALID;
}

qst_status qst_matmul_enqueue_at(qst_context *context, cl_command_queue queue, const qst_matmul *problem, qst_mem a,
                                 qst_mem b, qst_mem c, cl_uint n_wait, const cl_event *wait_list, cl_event *event,
                                 qst_error *err)
{
    const qst_mem operands[QST__OPERANDS] = {a, b, c};
    qst_set      *set = find(context, problem, err);
    return set ? qst_enqueue(set, queue, problem, operands, n_wait, wait_list, event, err)
               : not_found(context, problem);
}

static qst_mem whole(cl_mem buffer)
{
    qst_mem none = {QST_MEM_NONE, 0, NULL, 0};
    return buffer ? qst_mem_of(buffer) : none;
}

qst_status qst_matmul_enqueue(qst_context *context, cl_command_queue queue, const qst_matmul *problem, cl_mem a,
                              cl_mem b, cl_mem c, cl_uint n_wait, const cl_event *wait_list, cl_event *event,
                              qst_error *err)
{
    return qst_matmul_enqueue_at(context, queue, problem, whole(a), whole(b), whole(c), n_wait, wait_list, event, err);
}

qst_status qst_matmul_plan(qst_plan **plan, qst_context *context, cl_command_queue queue, const qst_matmul *problem,
                           qst_error *err)
{
    qst_set *set = find(context, problem, err);
    return set ? qst_plan_create(plan, set, queue, problem, 0, err) : not_found(context, problem);
}

double qst_matmul_bound(const qst_matmul *problem)
{
    double k, u, factor;

    if (!problem)
        return 0.0;
    k = (double)(problem->k > 0 ? problem->k : 0);
    u = qst__matmul_sum_type(problem) == QST_F64 ? 0x1p-53 : 0x1p-24;
    factor = 2.0 * u * (sqrt(k) + 4.0);
    if (problem->numerics == QST_NUMERICS_FAST && qst__matmul_sum_type(problem) == QST_F32) {
        factor += 2.0 * u * k; /* sums cut instead of rounded, term by term */
        if (problem->a.type == QST_F32)
            factor += 0x1p-10 + 0x1p-21;
        if (problem->b.type == QST_F32)
            factor += 0x1p-10 + 0x1p-21; /* and half of the product of both cuts */
    }
    return factor;
}
