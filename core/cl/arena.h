/* SPDX-License-Identifier: MIT
 *
 * arena.h: scratch buffers of one device in one cl_context. Each block remembers its last user: the event, and the
 * queue where that is an in-order one. Taking prefers, the smallest first, a block that costs no waiting: an idle one
 * (its event is complete), or one last used on the very queue that will use it, which comes to it in order anyway. Then
 * a new one within the cap; then a new one in the place of idle ones that are too small; then a busy one that fits: the
 * taker has to wait for its event on the device. Blocks are never given to two users between take and give.
 */
#ifndef QST_CL_ARENA_H
#define QST_CL_ARENA_H

#include "base/lock.h"
#include "cl/status.h"

typedef struct qst__block {
    struct qst__block *next;
    cl_mem             mem;
    uint64_t           bytes;
    cl_event           last;  /* owned by the block; NULL: idle */
    cl_command_queue   queue; /* of the last user, if in order; a name, which may be of a queue that is gone */
    bool               taken;
} qst__block;

typedef struct qst__arena {
    const qst__alloc *alloc;
    cl_context        context;
    uint64_t          cap; /* bytes in all */
    uint64_t          used;
    qst__lock         lock;
    qst__block       *first;
} qst__arena;

void qst__arena_init(qst__arena *arena, const qst__alloc *alloc, cl_context context, uint64_t cap);
void qst__arena_finish(qst__arena *arena); /* waits for nothing: OpenCL keeps memory of enqueued kernels */

/* queue: where the block will be used; NULL: out of order. (*block)->last, where not NULL, must be in the wait list of the
 * first use. E_NOMEM with the numbers. */
qst_status qst__arena_take(qst__arena *arena, uint64_t bytes, cl_command_queue queue, qst__block **block,
                           qst_error *err);
/* event: of the last use, retained by the arena; NULL: nothing was enqueued, the old user stays. queue: as taken for. */
void qst__arena_give(qst__arena *arena, qst__block *block, cl_command_queue queue, cl_event event);
/* Gives up a taken block whose last user has no event: commands on it were enqueued, then the call failed. OpenCL
 * keeps its memory until they have ended; nobody else gets it. */
void qst__arena_drop(qst__arena *arena, qst__block *block);

#endif
