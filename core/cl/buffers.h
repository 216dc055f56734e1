/* SPDX-License-Identifier: MIT
 *
 * buffers.h: what a buffer is.
 *
 * The size is asked of the driver each time: a handle says nothing, the next buffer may get it, and no driver need tell in
 * time that a buffer is gone (docs/decisions/0031-buffers-asked-queues-retained.md). Where kernels may work on the host's
 * memory in place context and flags are, too: a successor may be a page that must not be written, or start anywhere. The
 * other questions are not repeated for a buffer that whoever asks has found to be plain and of the context: the same handle
 * and size. A successor in both that is another's or not plain is then not noticed here; the driver may.
 */
#ifndef QST_CL_BUFFERS_H
#define QST_CL_BUFFERS_H

#include "cl/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What kernels must not do with it, or all that is no buffer. */
enum { QST__BUFFER_READ_ONLY = 1u << 0, QST__BUFFER_WRITE_ONLY = 1u << 1, QST__BUFFER_IS_NONE = 1u << 2 };

typedef struct qst__buffer {
    cl_context context;
    size_t     bytes;
    uint64_t   start; /* address of the host's memory that it lies in; 0: the driver's own, or not asked */
    uint32_t   flags; /* QST__BUFFER_… */
    cl_int     code;  /* of the question that failed; then all else is zero */
} qst__buffer;

/* Which buffers were plain: a digest each of handle, size and the context that they were asked about for. Zero at first;
 * plain data without pointers. Threads may share one. */
#define QST__PLAIN 4u
typedef struct qst__plain {
    _Atomic uint64_t mark[QST__PLAIN];
} qst__plain;

/* [any thread] context: where it should be from. in_place: kernels may work on the host's memory. */
void qst__buffer_ask(cl_mem handle, cl_context context, bool in_place, qst__plain *plain, qst__buffer *out);

#endif
