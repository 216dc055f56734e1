/* SPDX-License-Identifier: MIT
 *
 * plan.c: one problem prepared once. A plan points at the route that keyed calls of the same problem use, so that
 * what these learn it follows by one atomic.
 */
#include "model/field.h"
#include "run/run.h"

#include <string.h>

struct qst_plan {
    qst_set    *set;
    qst__route *route;
    uint32_t    flags;
    qst__plain  plain[QST_OPERANDS_MAX];
};

qst_status qst_plan_create(qst_plan **out, qst_set *set, cl_command_queue queue, const void *problem, uint32_t flags,
                           qst_error *err)
{
    qst__queue  q;
    qst__site  *site;
    qst__shelf *shelf;
    qst_plan   *plan = NULL;
    char        copy[QST__PROBLEM_BYTES];
    qst_status  status;

    if (!out || !set || !problem)
        return qst__fail(err, QST_E_INVALID, "plan", "%s is NULL", !out ? "plan" : !set ? "set" : "problem");
    *out = NULL;
    if (flags & ~(uint32_t)QST_PLAN_UNCHECKED)
        return qst__fail(err, QST_E_INVALID, "plan", "unknown flags 0x%x", flags);
    status = qst__queue_ask(queue, NULL, &q, err);
    if (status == QST_OK)
        status = qst__problem_copy(&set->model.op, problem, copy, err);
    if (status == QST_OK)
        status = qst__site_of(set->ctx, q.context, q.device, &site, err);
    if (status == QST_OK)
        status = qst__shelf_of(site, set, &shelf, err);
    if (status != QST_OK)
        return status;
    plan = qst__zalloc(&set->ctx->alloc, sizeof *plan);
    if (!plan)
        return qst__fail(err, QST_E_NOMEM, "plan", "no memory for a plan");
    plan->set = set;
    plan->flags = flags;
    status = qst__route_of(shelf, copy, &plan->route, err);
    if (status == QST_OK)
        status = qst__route_settle(plan->route, 0, err); /* the miss policy applies here */
    if (status == QST_OK) {
        *out = plan;
        plan = NULL;
    }
    qst_plan_destroy(plan);
    return status;
}

qst_status qst_plan_enqueue(qst_plan *plan, cl_command_queue queue, const qst_mem *operands, cl_uint n_wait,
                            const cl_event *wait_list, cl_event *event, qst_error *err)
{
    qst__buffer buffers[QST_OPERANDS_MAX];
    qst__site  *site;
    qst__queue  q;
    qst_status  status;

    if (!plan || !operands)
        return qst__fail(err, QST_E_INVALID, "plan", "%s is NULL", plan ? "operands" : "plan");
    if (!n_wait != !wait_list)
        return qst__fail(err, QST_E_INVALID, "plan", "wait list of %u events is %s", n_wait,
                         wait_list ? "not NULL" : "NULL");
    site = plan->route->shelf->site;
    status = qst__queue_ask(queue, site, &q, err);
    if (status != QST_OK)
        return status;
    if (!(plan->flags & QST_PLAN_UNCHECKED)) {
        if (q.context != site->context || q.device != site->device)
            return qst__fail(err, QST_E_INVALID, "plan", "the queue is of another %s than the plan",
                             q.context != site->context ? "context" : "device");
        qst__operands_ask(site, plan->route->n_operands, operands, plan->route->span, plan->plain, buffers);
        status = qst__operands_check(plan->route, operands, buffers, q.context, err);
        if (status != QST_OK)
            return status;
    }
    return qst__route_run(plan->route, queue, q.in_order, operands, n_wait, wait_list, event, err);
}

void qst_plan_destroy(qst_plan *plan)
{
    if (!plan)
        return;
    if (plan->route && plan->route->loose)
        qst__route_destroy(plan->route);
    qst__free(&plan->set->ctx->alloc, plan);
}

const char *qst_plan_winner(const qst_plan *plan)
{
    qst__site      *site;
    const qst__way *way;

    if (!plan)
        return "none";
    if (plan->route->kind == QST__ROUTE_NOTHING)
        return "none";
    way = atomic_load(&plan->route->way);
    if (!way) {
        site = plan->route->shelf->site;
        qst__lock_take(&site->lock);
        way = plan->route->ways; /* what a call in between would run */
        qst__lock_give(&site->lock);
    }
    return way ? way->name : "none";
}
