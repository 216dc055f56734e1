/* SPDX-License-Identifier: MIT
 *
 * vendor.c: calls of vendor libraries in the caller's order.
 *
 * On an in-order queue the call goes to that queue, after a barrier for the wait list where the library takes none.
 * On an out-of-order queue it goes to a private in-order queue that is idle (so that calls that have nothing to do
 * with each other never wait for each other), between markers that join it to the caller's: the first of them stands
 * behind the caller's wait list and his barriers. Without a wait list it stands behind all that his queue holds: later
 * than it had to be, never too early.
 */
#include "cl/join.h"
#include "run/run.h"

#include <string.h>

struct qst__lane {
    qst__lane       *next;
    cl_command_queue queue;
    cl_event         last;
    bool             taken;
};

static bool idle(const qst__lane *lane)
{
    cl_int state = CL_COMPLETE;

    if (lane->taken)
        return false;
    return !lane->last ||
           clGetEventInfo(lane->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) != CL_SUCCESS ||
           state <= CL_COMPLETE;
}

static qst_status take_lane(qst__site *site, qst__lane **out, qst_error *err)
{
    const qst__alloc *alloc = &site->ctx->alloc;
    qst__lane        *lane;
    cl_int            code = CL_SUCCESS;
    qst_status        status = QST_OK;

    qst__lock_take(&site->lock);
    for (lane = site->lanes; lane && !idle(lane); lane = lane->next)
        ;
    if (!lane) {
        lane = qst__zalloc(alloc, sizeof *lane);
        if (lane)
            lane->queue = clCreateCommandQueue(site->context, site->device, 0, &code);
        if (!lane || code != CL_SUCCESS) {
            status = lane ? qst__fail_cl(err, code, "run", "a queue for a vendor call")
                          : qst__fail(err, QST_E_NOMEM, "run", "no memory for a vendor call");
            qst__free(alloc, lane);
            lane = NULL;
        } else {
            lane->next = site->lanes;
            site->lanes = lane;
        }
    }
    if (lane)
        lane->taken = true;
    qst__lock_give(&site->lock);
    *out = lane;
    return status;
}

/* `last` passes to the lane. */
static void give_lane(qst__site *site, qst__lane *lane, cl_event last)
{
    qst__lock_take(&site->lock);
    if (last) {
        if (lane->last)
            clReleaseEvent(lane->last);
        lane->last = last;
    }
    lane->taken = false;
    qst__lock_give(&site->lock);
}

void qst__lanes_destroy(qst__site *site)
{
    qst__lane *lane, *next;

    for (lane = site->lanes; lane; lane = next) {
        next = lane->next;
        if (lane->last)
            clReleaseEvent(lane->last);
        clReleaseCommandQueue(lane->queue);
        qst__free(&site->ctx->alloc, lane);
    }
    site->lanes = NULL;
}

/* The call itself, on an in-order queue. The event, where wanted, covers all that stands on the queue so far. */
static qst_status call(qst__way *way, cl_command_queue queue, const qst_mem *operands, cl_uint n_wait,
                       const cl_event *wait_list, cl_event *event, uint32_t *touched, qst_error *err)
{
    bool     no_waits = (way->desc->flags & QST_CANDIDATE_NO_WAITS) != 0;
    bool     hides = (way->desc->flags & QST_CANDIDATE_HIDES_EVENTS) != 0; /* then a marker covers what it left out */
    cl_event done = NULL;
    qst_call c;
    const char *why = NULL;
    int32_t     answer;
    qst_status  status = no_waits ? qst__join_wait(queue, n_wait, wait_list, err) : QST_OK;

    if (status != QST_OK)
        return status;
    memset(&c, 0, sizeof c);
    c.size = (uint32_t)sizeof c;
    c.queue = queue;
    c.operands = operands;
    c.n_waits = no_waits ? 0 : n_wait;
    c.waits = no_waits ? NULL : wait_list;
    c.done = event && !hides ? &done : NULL;
    answer = way->desc->enqueue(way->instance, way->problem, &c, &why);
    if (answer != QST_OK) {
        if (done)
            clReleaseEvent(done);
        return qst__fail(err, answer < 0 ? answer : QST_E_PLUGIN, way->name, "%s", why ? why : qst_status_text(answer));
    }
    atomic_fetch_add_explicit(&way->calls, 1, memory_order_relaxed);
    if (event && done)
        *event = done;
    else if (event)
        status = qst__join_mark(queue, event, err);
    *touched = status == QST_OK ? 0 : UINT32_MAX;
    return status;
}

qst_status qst__vendor_enqueue(qst__way *way, qst__site *site, const qst__go *go, qst_error *err)
{
    uint32_t   ignored_bits, *touched = go->touched ? go->touched : &ignored_bits;
    qst__lane *lane;
    cl_event   begin = NULL, end = NULL, joined = NULL;
    qst_error  ignored;
    cl_int     code;
    qst_status status;

    *touched = 0;
    if (go->in_order)
        return call(way, go->queue, go->operands, go->n_wait, go->wait_list, go->event, touched, err);
    status = take_lane(site, &lane, err);
    if (status != QST_OK)
        return status;
    code = clEnqueueMarkerWithWaitList(go->queue, go->n_wait, go->n_wait ? go->wait_list : NULL, &begin);
    if (code != CL_SUCCESS) {
        give_lane(site, lane, NULL);
        return qst__fail_cl(err, code, way->name, "a marker on the caller's queue: %s", qst__cl_name(code));
    }
    status = call(way, lane->queue, go->operands, 1, &begin, &end, touched, err);
    clReleaseEvent(begin);
    memset(&ignored, 0, sizeof ignored);
    if (status != QST_OK && qst__join_mark(lane->queue, &end, &ignored) != QST_OK)
        end = NULL; /* else the lane remembers what it still waits for */
    if (status == QST_OK) {
        clFlush(lane->queue); /* the caller's queue waits for it: it must not sit in a buffer of ours */
        code = clEnqueueMarkerWithWaitList(go->queue, 1, &end, &joined);
        if (code != CL_SUCCESS) {
            *touched = UINT32_MAX;
            status =
                qst__fail_cl(err, code, way->name, "a marker that joins the caller's queue: %s", qst__cl_name(code));
        } else if (go->event) {
            *go->event = joined;
        } else {
            clReleaseEvent(joined);
        }
    }
    give_lane(site, lane, end);
    return status;
}

bool qst__vendor_open(qst__shelf *shelf, uint32_t candidate, uint64_t *ns)
{
    qst__site            *site = shelf->site;
    const qst__candidate *c = &shelf->set->model.candidates[candidate];
    qst__vendor          *vendor = &shelf->vendors[candidate];
    const char           *why = NULL;
    uint64_t              start;
    int32_t               answer;
    bool                  is_open;

    qst__lock_take(&site->lock);
    if (vendor->state == 0) {
        start = qst__now(&site->ctx->clock);
        answer = c->desc.open(c->desc.user, &site->facts.device, &vendor->instance, &why);
        *ns += qst__now(&site->ctx->clock) - start;
        vendor->state = answer == QST_OK ? 1 : -1;
        if (answer != QST_OK) {
            strncpy(vendor->why, why ? why : qst_status_text(answer), sizeof vendor->why - 1);
            QST__LOG(&site->ctx->log, PLUG, WARN, "%s: %s", c->name, vendor->why);
        }
    }
    is_open = vendor->state > 0;
    qst__lock_give(&site->lock);
    return is_open;
}

bool qst__vendor_opens(qst__shelf *shelf, uint32_t candidate)
{
    uint64_t ns = 0;

    return shelf->set->model.candidates[candidate].desc.open && qst__vendor_open(shelf, candidate, &ns);
}
