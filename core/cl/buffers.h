/* SPDX-License-Identifier: MIT
 *
 * buffers.h: what a buffer is.
 *
 * Size and context are asked of the driver each time: a handle says nothing, the next buffer may get it, and no driver need
 * tell in time that a buffer is gone (docs/decisions/0031-buffers-asked-queues-retained.md). Each question costs 3 to 9 ns,
 * so with `trust` the others, whether it is a buffer and kernels may read and write it, are not asked again of one that the
 * thread has just found to be plain: the same handle, size and context. A successor in all three that is not plain is then
 * not noticed here; the driver may.
 */
#ifndef QST_CL_BUFFERS_H
#define QST_CL_BUFFERS_H

#include "cl/status.h"

#include <stdbool.h>

/* What kernels must not do with it, or all that is no buffer. */
enum { QST__BUFFER_READ_ONLY = 1u << 0, QST__BUFFER_WRITE_ONLY = 1u << 1, QST__BUFFER_IS_NONE = 1u << 2 };

typedef struct qst__buffer {
    cl_context context;
    size_t     bytes;
    uint32_t   flags; /* QST__BUFFER_… */
} qst__buffer;

/* [any thread] trust: a buffer of the same handle, size and context that was plain is taken to be so still; else its flags
 * are asked each time, and only its type is taken. On failure the driver's code, and *out is zero. */
cl_int qst__buffer_ask(cl_mem handle, bool trust, qst__buffer *out);

#endif
