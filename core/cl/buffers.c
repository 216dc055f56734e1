/* SPDX-License-Identifier: MIT
 *
 * buffers.c: see buffers.h. */
#include "cl/buffers.h"

#define SPREAD UINT64_C(0x9e3779b97f4a7c15) /* 2^64 over the golden ratio */

/* The memory of a part of a buffer is the whole one's, which not every driver's flags say. */
static cl_int ask_flags(cl_mem handle, bool in_place, bool known, qst__buffer *out)
{
    cl_mem_flags flags = 0;
    void        *start = NULL;
    cl_int       code = clGetMemObjectInfo(handle, CL_MEM_FLAGS, sizeof flags, &flags, NULL);

    out->flags |= (flags & CL_MEM_READ_ONLY ? QST__BUFFER_READ_ONLY : 0u) |
                  (flags & CL_MEM_WRITE_ONLY ? QST__BUFFER_WRITE_ONLY : 0u);
    if (in_place && (!known || (flags & CL_MEM_USE_HOST_PTR)) && code == CL_SUCCESS)
        code = clGetMemObjectInfo(handle, CL_MEM_HOST_PTR, sizeof start, &start, NULL);
    out->start = (uint64_t)(uintptr_t)start;
    return code;
}

static cl_int ask_type(cl_mem handle, qst__buffer *out)
{
    cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
    cl_int             code = clGetMemObjectInfo(handle, CL_MEM_TYPE, sizeof type, &type, NULL);

    out->flags |= type != CL_MEM_OBJECT_BUFFER ? QST__BUFFER_IS_NONE : 0u;
    return code;
}

void qst__buffer_ask(cl_mem handle, cl_context context, bool in_place, qst__plain *plain, qst__buffer *out)
{
    uint64_t hash = (uint64_t)(uintptr_t)handle * SPREAD, mark;
    uint32_t at = (uint32_t)(hash >> 40) % QST__PLAIN;
    bool     known;
    cl_int   code;

    *out = (qst__buffer){context, 0, 0, 0, CL_SUCCESS};
    code = clGetMemObjectInfo(handle, CL_MEM_SIZE, sizeof out->bytes, &out->bytes, NULL);
    mark = ((hash ^ out->bytes) * SPREAD ^ (uint64_t)(uintptr_t)context) | 1;
    known = atomic_load_explicit(&plain->mark[at], memory_order_relaxed) == mark;
    if (known && !in_place && code == CL_SUCCESS)
        return;
    if (code == CL_SUCCESS)
        code = clGetMemObjectInfo(handle, CL_MEM_CONTEXT, sizeof(cl_context), &out->context, NULL);
    if (code == CL_SUCCESS)
        code = ask_flags(handle, in_place, known, out);
    if (code == CL_SUCCESS && !known)
        code = ask_type(handle, out);
    if (code != CL_SUCCESS)
        *out = (qst__buffer){NULL, 0, 0, 0, code};
    else if (!out->flags && !out->start && !known && out->context == context)
        atomic_store_explicit(&plain->mark[at], mark, memory_order_relaxed);
}
