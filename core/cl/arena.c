/* SPDX-License-Identifier: MIT
 *
 * arena.c: which block a taker gets. Blocks are few (a handful a device), so a list and a scan are enough. */
#include "cl/arena.h"

#define GRANULE 4096u /* bytes; blocks are rounded up so that problems of nearly the same size share one */

static void forget_event(qst__block *block)
{
    if (block->last)
        (void)clReleaseEvent(block->last);
    block->last = NULL;
}

/* A last user that failed is over as well: its status is negative. */
static bool is_idle(qst__block *block)
{
    cl_int state = CL_QUEUED;
    if (!block->last)
        return true;
    if (clGetEventInfo(block->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) != CL_SUCCESS)
        return false;
    if (state > CL_COMPLETE)
        return false;
    forget_event(block);
    return true;
}

/* Is there nothing to wait for that the queue does not wait for anyway? */
static bool is_ready(qst__block *block, cl_command_queue queue)
{
    return (queue && block->queue == queue) || is_idle(block);
}

/* The smallest free block that fits; ready ones only, or any. */
static qst__block *smallest(const qst__arena *arena, uint64_t bytes, cl_command_queue queue, bool ready)
{
    qst__block *best = NULL;
    for (qst__block *block = arena->first; block; block = block->next)
        if (!block->taken && block->bytes >= bytes && (!best || block->bytes < best->bytes) &&
            (!ready || is_ready(block, queue)))
            best = block;
    return best;
}

static void unlink_block(qst__arena *arena, qst__block *block)
{
    qst__block **at = &arena->first;
    while (*at != block)
        at = &(*at)->next;
    *at = block->next;
    arena->used -= block->bytes;
    forget_event(block);
    (void)clReleaseMemObject(block->mem);
    qst__free(arena->alloc, block);
}

/* Frees free blocks until `bytes` more are within the cap; idle ones, or any: OpenCL keeps the memory of those until their
 * users have ended. Nothing is freed for nothing. */
static void make_room(qst__arena *arena, uint64_t bytes, bool idle)
{
    uint64_t    room = arena->cap - arena->used;
    qst__block *block, *next;
    for (block = arena->first; block; block = block->next)
        room += !block->taken && (!idle || is_idle(block)) ? block->bytes : 0;
    if (room < bytes)
        return;
    for (block = arena->first; block && arena->cap - arena->used < bytes; block = next) {
        next = block->next;
        if (!block->taken && (!idle || is_idle(block)))
            unlink_block(arena, block);
    }
}

/* NULL where the cap or the memory does not allow it; *code says which: CL_SUCCESS is the cap. */
static qst__block *grow(qst__arena *arena, uint64_t bytes, cl_int *code)
{
    *code = CL_SUCCESS;
    if (arena->cap - arena->used < bytes)
        return NULL;
    qst__block *block = qst__zalloc(arena->alloc, sizeof *block);
    if (!block) {
        *code = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    block->mem = clCreateBuffer(arena->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, code);
    if (*code != CL_SUCCESS) {
        qst__free(arena->alloc, block);
        return NULL;
    }
    block->bytes = bytes;
    block->next = arena->first;
    arena->first = block;
    arena->used += bytes;
    return block;
}

static qst__block *grow_after(qst__arena *arena, uint64_t bytes, bool idle, cl_int *code)
{
    if (bytes > arena->cap || *code != CL_SUCCESS)
        return NULL;
    make_room(arena, bytes, idle);
    return grow(arena, bytes, code);
}

void qst__arena_init(qst__arena *arena, const qst__alloc *alloc, cl_context context, uint64_t cap)
{
    *arena = (qst__arena){.alloc = alloc, .context = context, .cap = cap};
    qst__lock_init(&arena->lock);
}

void qst__arena_finish(qst__arena *arena)
{
    while (arena->first)
        unlink_block(arena, arena->first);
    qst__lock_finish(&arena->lock);
}

qst_status qst__arena_take(qst__arena *arena, uint64_t bytes, cl_command_queue queue, qst__block **block,
                           qst_error *err)
{
    cl_int     code = CL_SUCCESS;
    uint64_t   wanted = bytes <= UINT64_MAX - GRANULE ? (bytes + GRANULE - 1) / GRANULE * GRANULE : bytes;
    qst_status status = QST_OK;
    if (wanted > arena->cap && bytes <= arena->cap)
        wanted = bytes;
    *block = NULL;
    if (bytes == 0 || bytes > SIZE_MAX)
        return qst__fail(err, QST_E_INVALID, "workspace", "a block of %llu bytes cannot be", (unsigned long long)bytes);
    qst__lock_take(&arena->lock);
    *block = smallest(arena, bytes, queue, true);
    if (!*block)
        *block = grow(arena, wanted, &code);
    if (!*block)
        *block = grow_after(arena, wanted, true, &code);
    if (!*block)
        *block = smallest(arena, bytes, queue, false);
    if (!*block)
        *block = grow_after(arena, wanted, false, &code);
    if (*block)
        (*block)->taken = true;
    else if (code != CL_SUCCESS)
        status = qst__fail_cl(err, code, "workspace", "a block of %llu bytes: clCreateBuffer gives %s (%d)",
                              (unsigned long long)wanted, qst__cl_name(code), (int)code);
    else
        status = qst__fail(err, QST_E_NOMEM, "workspace",
                           "no block of %llu bytes: %llu of at most %llu bytes are there and taken",
                           (unsigned long long)bytes, (unsigned long long)arena->used, (unsigned long long)arena->cap);
    qst__lock_give(&arena->lock);
    return status;
}

void qst__arena_give(qst__arena *arena, qst__block *block, cl_command_queue queue, cl_event event)
{
    if (event && clRetainEvent(event) != CL_SUCCESS) { /* nobody could wait for its use */
        qst__arena_drop(arena, block);
        return;
    }
    qst__lock_take(&arena->lock);
    if (event) {
        forget_event(block);
        block->last = event;
        block->queue = queue;
    }
    block->taken = false;
    qst__lock_give(&arena->lock);
}

void qst__arena_drop(qst__arena *arena, qst__block *block)
{
    qst__lock_take(&arena->lock);
    unlink_block(arena, block);
    qst__lock_give(&arena->lock);
}
