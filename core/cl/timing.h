/* SPDX-License-Identifier: MIT
 *
 * timing.h: device times from events, and what a bracket costs.
 */
#ifndef QST_CL_TIMING_H
#define QST_CL_TIMING_H

#include "cl/status.h"

/* Can these two stamps of an event be a measurement? Both there (not 0) and the end after the start. Pure. */
bool qst__timing_valid(uint64_t start, uint64_t end);

/* START of first to END of last, in ns; both complete. E_TIMEOUT for zero, negative or missing times. */
qst_status qst__timing_span(cl_event first, cl_event last, uint64_t *ns, qst_error *err);
/* END of first to END of last: for a bracket of two markers. */
qst_status qst__timing_ends(cl_event first, cl_event last, uint64_t *ns, qst_error *err);

/* Do markers on this in-order profiling queue carry ordered, non-zero times, and what does an empty bracket of two of
 * them last (median of a few)? *usable false where they do not. Finishes the queue. */
qst_status qst__timing_markers(cl_command_queue queue, bool *usable, uint64_t *empty_ns, qst_error *err);

/* An in-order queue with profiling; without where the device refuses one (*profiling tells). */
qst_status qst__timing_queue(cl_context context, cl_device_id device, cl_command_queue *queue, bool *profiling,
                             qst_error *err);

#endif
