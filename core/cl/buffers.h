/* SPDX-License-Identifier: MIT
 *
 * buffers.h: what a buffer is, asked of the driver once.
 *
 * Size, context, host pointer and kind of a buffer never change while it lives, and each costs a driver 8 ns to tell, as much as
 * all else of a call's checks. So a thread remembers them for a few buffers. A handle alone would be a bad key, for the
 * next buffer may get it; so the driver is asked, once in a buffer's life, to tell when the buffer goes
 * (clSetMemObjectDestructorCallback, which is called before its handle can be another's), and what was remembered counts
 * only as long as it has not. Nothing is retained.
 *
 * Where a driver cannot tell, or more buffers are known than there is room for, the driver is asked each time.
 */
#ifndef QST_CL_BUFFERS_H
#define QST_CL_BUFFERS_H

#include "cl/status.h"

/* What kernels must not do with it, or all that is no buffer. */
enum { QST__BUFFER_READ_ONLY = 1u << 0, QST__BUFFER_WRITE_ONLY = 1u << 1, QST__BUFFER_IS_NONE = 1u << 2 };

typedef struct qst__buffer {
    cl_context context;
    size_t     bytes;
    void      *host;  /* CL_MEM_HOST_PTR */
    uint32_t   flags; /* QST__BUFFER_… */
} qst__buffer;

/* [any thread] On failure the driver's code, and *out is zero. */
cl_int qst__buffer_ask(cl_mem handle, qst__buffer *out);

#endif
