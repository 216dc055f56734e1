/* SPDX-License-Identifier: MIT
 *
 * buffers.c: see buffers.h. The table of buffers that the driver watches is the process's, not a context's: a buffer may
 * outlive the context that saw it, and the callback must find its place (docs/decisions/0031-buffers-watched.md). It is
 * plain data: nothing hangs on it. */
#include "cl/buffers.h"

#include <stdint.h>
#include <string.h>

#define WATCHED 1024u /* places; a power of two */
#define PROBES  8u    /* places that a handle may have */
#define KNOWN   16u   /* buffers that a thread remembers; a power of two */

/* A place of a watched buffer. `gone` counts those that had the place before. */
static struct {
    _Atomic(cl_mem)  handle; /* NULL: free */
    _Atomic uint64_t gone;
} watched[WATCHED];

/* What a thread remembers; a handle of NULL is none. */
static _Thread_local struct {
    cl_mem      handle;
    uint32_t    place;
    uint64_t    gone;
    qst__buffer facts;
} known[KNOWN];

static uint32_t hash(cl_mem handle)
{
    return (uint32_t)(((uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

static void CL_CALLBACK forget(cl_mem handle, void *user)
{
    uint32_t place = (uint32_t)(uintptr_t)user;

    (void)handle;
    atomic_fetch_add_explicit(&watched[place].gone, 1, memory_order_release);
    atomic_store_explicit(&watched[place].handle, NULL, memory_order_release);
}

/* The place where the handle is watched, from now on if not before. False: it cannot be. */
static bool watch(cl_mem handle, uint32_t *place)
{
    uint32_t first = hash(handle), i;

    for (i = 0; i < PROBES; i++) {
        *place = (first + i) & (WATCHED - 1);
        if (atomic_load_explicit(&watched[*place].handle, memory_order_acquire) == handle)
            return true;
    }
    for (i = 0; i < PROBES; i++) {
        cl_mem none = NULL;
        *place = (first + i) & (WATCHED - 1);
        if (!atomic_compare_exchange_strong(&watched[*place].handle, &none, handle))
            continue;
        if (clSetMemObjectDestructorCallback(handle, forget, (void *)(uintptr_t)*place) == CL_SUCCESS)
            return true;
        forget(handle, (void *)(uintptr_t)*place);
        return false;
    }
    return false;
}

static cl_int ask_driver(cl_mem handle, qst__buffer *out)
{
    cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
    cl_mem_flags       flags = 0;
    cl_int             code = clGetMemObjectInfo(handle, CL_MEM_SIZE, sizeof out->bytes, &out->bytes, NULL);

    if (code == CL_SUCCESS)
        code = clGetMemObjectInfo(handle, CL_MEM_CONTEXT, sizeof(cl_context), &out->context, NULL);
    if (code == CL_SUCCESS)
        code = clGetMemObjectInfo(handle, CL_MEM_HOST_PTR, sizeof out->host, &out->host, NULL);
    if (code == CL_SUCCESS)
        code = clGetMemObjectInfo(handle, CL_MEM_TYPE, sizeof type, &type, NULL);
    if (code == CL_SUCCESS)
        code = clGetMemObjectInfo(handle, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
    out->flags = (flags & CL_MEM_READ_ONLY ? QST__BUFFER_READ_ONLY : 0u) |
                 (flags & CL_MEM_WRITE_ONLY ? QST__BUFFER_WRITE_ONLY : 0u) |
                 (type != CL_MEM_OBJECT_BUFFER ? QST__BUFFER_IS_NONE : 0u);
    if (code != CL_SUCCESS)
        memset(out, 0, sizeof *out);
    return code;
}

static cl_int learn(cl_mem handle, uint32_t at, qst__buffer *out)
{
    uint32_t place;
    uint64_t gone;
    cl_int   code;

    memset(out, 0, sizeof *out);
    code = ask_driver(handle, out);
    if (code != CL_SUCCESS || !watch(handle, &place))
        return code;
    gone = atomic_load_explicit(&watched[place].gone, memory_order_acquire);
    known[at].handle = handle;
    known[at].place = place;
    known[at].gone = gone;
    known[at].facts = *out;
    return CL_SUCCESS;
}

cl_int qst__buffer_ask(cl_mem handle, qst__buffer *out)
{
    uint32_t at = hash(handle) & (KNOWN - 1);

    if (known[at].handle != handle ||
        atomic_load_explicit(&watched[known[at].place].gone, memory_order_acquire) != known[at].gone)
        return learn(handle, at, out);
    *out = known[at].facts;
    return CL_SUCCESS;
}
