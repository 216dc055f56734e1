/* SPDX-License-Identifier: MIT
 *
 * join.h: order between queues. A vendor call that takes no wait list runs on a private in-order queue; markers join
 * it to the caller's.
 */
#ifndef QST_CL_JOIN_H
#define QST_CL_JOIN_H

#include "cl/status.h"

/* What comes later on the in-order `queue` waits for the events. n 0: nothing is enqueued. */
qst_status qst__join_wait(cl_command_queue queue, cl_uint n, const cl_event *events, qst_error *err);

/* An event that is complete when all that stands on the in-order `queue` so far is. */
qst_status qst__join_mark(cl_command_queue queue, cl_event *event, qst_error *err);

/* The caller's empty call: waits honoured, event given. Nothing is enqueued where neither is asked for on an in-order
 * queue. */
qst_status qst__join_nothing(cl_command_queue queue, cl_uint n_wait, const cl_event *wait_list, cl_event *event,
                             qst_error *err);

#endif
