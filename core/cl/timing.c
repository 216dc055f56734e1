/* SPDX-License-Identifier: MIT
 *
 * timing.c: device times from events. What a driver cannot have measured (zero, negative, missing) is no measurement,
 * never a fast one. */
#include "cl/timing.h"

#include <stdlib.h>

#define BRACKETS 5u /* empty brackets that are looked at; odd, so that the median is one of them */

bool qst__timing_valid(uint64_t start, uint64_t end)
{
    return start != 0 && end > start;
}

/* 0 where the event carries no such time. */
static uint64_t stamp(cl_event event, cl_profiling_info what, cl_int *code)
{
    cl_ulong ns = 0;
    *code = clGetEventProfilingInfo(event, what, sizeof ns, &ns, NULL);
    return *code == CL_SUCCESS ? ns : 0;
}

static qst_status between(cl_event first, cl_profiling_info from, cl_event last, uint64_t *ns, qst_error *err)
{
    cl_int   code_first, code_last;
    uint64_t start = stamp(first, from, &code_first);
    uint64_t end = stamp(last, CL_PROFILING_COMMAND_END, &code_last);
    cl_int   code = code_first != CL_SUCCESS ? code_first : code_last;
    *ns = 0;
    if (code != CL_SUCCESS)
        return qst__fail(err, QST_E_TIMEOUT, "cl", "event has no times: clGetEventProfilingInfo gives %s (%d)",
                         qst__cl_name(code), (int)code);
    if (!qst__timing_valid(start, end))
        return qst__fail(err, QST_E_TIMEOUT, "cl", "event times from %llu to %llu ns are no measurement",
                         (unsigned long long)start, (unsigned long long)end);
    *ns = end - start;
    return QST_OK;
}

qst_status qst__timing_span(cl_event first, cl_event last, uint64_t *ns, qst_error *err)
{
    return between(first, CL_PROFILING_COMMAND_START, last, ns, err);
}

qst_status qst__timing_ends(cl_event first, cl_event last, uint64_t *ns, qst_error *err)
{
    return between(first, CL_PROFILING_COMMAND_END, last, ns, err);
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* One empty bracket; *ordered: both stamps are there and in order. A length of 0 is legal: clocks are coarse. */
static qst_status bracket(cl_command_queue queue, bool *ordered, uint64_t *ns, qst_error *err)
{
    cl_event   events[2] = {NULL, NULL};
    uint64_t   ends[2];
    cl_int     code, code_stamp;
    qst_status status = QST_OK;
    *ordered = false;
    *ns = 0;
    for (int i = 0; i < 2; i++) {
        code = clEnqueueMarkerWithWaitList(queue, 0, NULL, &events[i]);
        if (code != CL_SUCCESS) {
            events[i] = NULL;
            status = qst__fail_cl(err, code, "cl", "clEnqueueMarkerWithWaitList gives %s (%d)", qst__cl_name(code),
                                  (int)code);
            goto out;
        }
    }
    code = clFinish(queue);
    if (code != CL_SUCCESS) {
        status = qst__fail_cl(err, code, "cl", "clFinish gives %s (%d)", qst__cl_name(code), (int)code);
        goto out;
    }
    for (int i = 0; i < 2; i++)
        ends[i] = stamp(events[i], CL_PROFILING_COMMAND_END, &code_stamp);
    *ordered = ends[0] != 0 && ends[1] >= ends[0];
    *ns = *ordered ? ends[1] - ends[0] : 0;
out:
    for (int i = 0; i < 2; i++)
        if (events[i])
            (void)clReleaseEvent(events[i]);
    return status;
}

qst_status qst__timing_markers(cl_command_queue queue, bool *usable, uint64_t *empty_ns, qst_error *err)
{
    uint64_t lengths[BRACKETS];
    bool     all = true;
    *usable = false;
    *empty_ns = 0;
    for (uint32_t i = 0; i < BRACKETS; i++) {
        bool       ordered;
        qst_status status = bracket(queue, &ordered, &lengths[i], err);
        if (status != QST_OK)
            return status;
        all = all && ordered;
    }
    qsort(lengths, BRACKETS, sizeof *lengths, by_value);
    /* Markers that all end at one moment were not stamped by anything that runs between them. */
    *usable = all && lengths[BRACKETS - 1] > 0;
    *empty_ns = *usable ? lengths[BRACKETS / 2] : 0;
    return QST_OK;
}

qst_status qst__timing_queue(cl_context context, cl_device_id device, cl_command_queue *queue, bool *profiling,
                             qst_error *err)
{
    cl_int code;
    *profiling = true;
    *queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    if (code == CL_INVALID_QUEUE_PROPERTIES || code == CL_INVALID_VALUE) {
        *profiling = false;
        *queue = clCreateCommandQueue(context, device, 0, &code);
    }
    if (code == CL_SUCCESS)
        return QST_OK;
    *queue = NULL;
    *profiling = false;
    return qst__fail_cl(err, code, "cl", "clCreateCommandQueue gives %s (%d)", qst__cl_name(code), (int)code);
}
