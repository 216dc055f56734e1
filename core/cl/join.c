/* SPDX-License-Identifier: MIT
 *
 * join.c: order between queues by markers and barriers; the commands between them know of none of it. */
#include "cl/join.h"

static qst_status failed(qst_error *err, cl_int code, const char *call)
{
    return qst__fail_cl(err, code, "cl", "%s gives %s (%d)", call, qst__cl_name(code), (int)code);
}

qst_status qst__join_wait(cl_command_queue queue, cl_uint n, const cl_event *events, qst_error *err)
{
    if (n == 0)
        return QST_OK;
    cl_int code = clEnqueueBarrierWithWaitList(queue, n, events, NULL);
    return code == CL_SUCCESS ? QST_OK : failed(err, code, "clEnqueueBarrierWithWaitList");
}

qst_status qst__join_mark(cl_command_queue queue, cl_event *event, qst_error *err)
{
    cl_int code = clEnqueueMarkerWithWaitList(queue, 0, NULL, event);
    return code == CL_SUCCESS ? QST_OK : failed(err, code, "clEnqueueMarkerWithWaitList");
}

/* Without a wait list the marker also waits for all that an out-of-order queue holds: later than it had to be, never
 * too early. */
qst_status qst__join_nothing(cl_command_queue queue, cl_uint n_wait, const cl_event *wait_list, cl_event *event,
                             qst_error *err)
{
    if (n_wait == 0 && !event)
        return QST_OK;
    cl_int code = clEnqueueMarkerWithWaitList(queue, n_wait, n_wait ? wait_list : NULL, event);
    return code == CL_SUCCESS ? QST_OK : failed(err, code, "clEnqueueMarkerWithWaitList");
}
