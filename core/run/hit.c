/* SPDX-License-Identifier: MIT
 *
 * hit.c: the keyed call. A thread's last problem is remembered in a slot of plain data, stamped with the context's
 * serial and epoch; else a table without locks answers; else the problem is new here.
 */
#include "model/field.h"
#include "run/run.h"

#include <string.h>

#define SLOT_BYTES 512u /* problems up to this size are remembered by the slot */

typedef struct slot {
    uint64_t     serial;
    uint64_t     epoch;
    uint64_t     aligns;
    qst_set     *set;
    cl_context   context;
    cl_device_id device;
    qst__route  *route;
    uint32_t     size;
    char         problem[SLOT_BYTES];
    qst__plain   plain[QST_OPERANDS_MAX]; /* of all its calls */
} slot;

static _Thread_local slot last;

static void set_aligns(const qst_op *op, void *problem, uint64_t aligns)
{
    uint32_t i, value;

    for (i = 0; i < op->n_operands; i++)
        if (op->operands[i].align_offset) {
            value = (uint32_t)(aligns >> (8 * i)) & 255;
            memcpy((char *)problem + op->operands[i].align_offset, &value, sizeof value);
        }
}

/* The spans are the operation's to tell, and it tells them of problems in contract. */
static qst_status look_up(qst_set *set, const qst__queue *q, const void *problem, const qst_mem *operands,
                          qst__buffer *buffers, uint64_t *aligns, qst__route **route, qst_error *err)
{
    const qst_op *op = &set->model.op;
    qst__site    *site;
    qst__shelf   *shelf;
    char          copy[QST__PROBLEM_BYTES];
    uint64_t      span[QST_OPERANDS_MAX];
    uint32_t      i;
    qst_status    status = qst__problem_copy(op, problem, copy, err);

    if (status == QST_OK)
        status = op->check(op->user, copy, err);
    if (status == QST_OK)
        status = qst__site_of(set->ctx, q->context, q->device, &site, err);
    if (status == QST_OK)
        status = qst__shelf_of(site, set, &shelf, err);
    if (status != QST_OK)
        return status;
    for (i = 0; i < op->n_operands; i++)
        span[i] = op->span(op->user, copy, i);
    qst__operands_ask(site, op->n_operands, operands, span, last.plain, buffers);
    *aligns = qst__operands_aligns(op->n_operands, operands, span, buffers);
    set_aligns(op, copy, *aligns);
    return qst__route_of(shelf, copy, route, err);
}

static void remember(qst_set *set, const qst__queue *q, const void *problem, uint32_t size, uint64_t aligns,
                     qst__route *route)
{
    if (size > SLOT_BYTES || route->loose)
        return;
    last.serial = set->ctx->serial;
    last.epoch = atomic_load_explicit(&set->ctx->epoch, memory_order_acquire);
    last.aligns = aligns;
    last.set = set;
    last.context = q->context;
    last.device = q->device;
    last.route = route;
    last.size = size;
    memcpy(last.problem, problem, size);
}

/* The site of this thread's last call in the context, if it is still there: the queue is likely one of its. */
static qst__site *last_site(const qst_set *set)
{
    return last.serial == set->ctx->serial && last.epoch == atomic_load_explicit(&set->ctx->epoch, memory_order_acquire)
               ? last.route->shelf->site
               : NULL;
}

/* Is it this thread's last problem? Then asks about the operands, which must lie as they did, too. */
static bool remembered(const qst_set *set, const qst__queue *q, const void *problem, uint32_t size,
                       const qst_mem *operands, qst__buffer *buffers)
{
    const qst__route *route = last.route;

    if (last.serial != set->ctx->serial || last.epoch != atomic_load_explicit(&set->ctx->epoch, memory_order_acquire) ||
        last.set != set || last.context != q->context || last.device != q->device || last.size != size ||
        memcmp(last.problem, problem, size) != 0)
        return false;
    qst__operands_ask(route->shelf->site, route->n_operands, operands, route->span, last.plain, buffers);
    return last.aligns == qst__operands_aligns(route->n_operands, operands, route->span, buffers);
}

static qst_status check_arguments(const qst_set *set, const void *problem, const qst_mem *operands, cl_uint n_wait,
                                  const cl_event *wait_list, qst_error *err)
{
    const char *missing = !set ? "set" : !problem ? "problem" : !operands ? "operands" : NULL;

    if (missing)
        return qst__fail(err, QST_E_INVALID, "run", "%s is NULL", missing);
    if (!n_wait != !wait_list)
        return qst__fail(err, QST_E_INVALID, set->model.op.name, "wait list of %u events is %s", n_wait,
                         wait_list ? "not NULL" : "NULL");
    return QST_OK;
}

qst_status qst_enqueue(qst_set *set, cl_command_queue queue, const void *problem, const qst_mem *operands,
                       cl_uint n_wait, const cl_event *wait_list, cl_event *event, qst_error *err)
{
    qst__queue  q;
    qst__buffer buffers[QST_OPERANDS_MAX];
    qst__route *route;
    uint64_t    aligns = 0;
    uint32_t    size;
    bool        in_slot;
    qst_status  status;

    status = check_arguments(set, problem, operands, n_wait, wait_list, err);
    if (status == QST_OK)
        status = qst__queue_ask(queue, last_site(set), &q, err);
    if (status != QST_OK)
        return status;
    memcpy(&size, problem, sizeof size);
    in_slot = remembered(set, &q, problem, size, operands, buffers);
    if (in_slot) {
        route = last.route;
    } else {
        status = look_up(set, &q, problem, operands, buffers, &aligns, &route, err);
        if (status != QST_OK)
            return status;
    }
    status = qst__operands_check(route, operands, buffers, q.context, err);
    if (status == QST_OK)
        status = qst__route_run(route, queue, q.in_order, operands, n_wait, wait_list, event, err);
    if (!in_slot && status == QST_OK)
        remember(set, &q, problem, size, aligns, route);
    if (!in_slot && route->loose)
        qst__route_destroy(route);
    return status;
}
