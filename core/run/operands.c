/* SPDX-License-Identifier: MIT
 *
 * operands.c: what a call brings: asks the driver once about each operand that the problem touches, tells how they are
 * aligned, and what of them does not fit the problem. On the path of every call.
 */
#include "run/run.h"

void qst__operands_ask(const qst__site *site, uint32_t n, const qst_mem *operands, const uint64_t *span,
                       qst__plain *plain, qst__buffer *out)
{
    uint32_t i;

    for (i = 0; i < n; i++)
        if (span[i] && operands[i].kind == QST_MEM_BUFFER && operands[i].handle)
            qst__buffer_ask(operands[i].handle, site->context, site->in_place, &plain[i], &out[i]);
        else
            out[i] = (qst__buffer){NULL, 0, 0, 0, CL_SUCCESS};
}

/* A number that is as aligned as the place where the operand starts. Buffers and sub-buffers of the driver's own memory
 * start at multiples of 2^QST__ALIGN_MAX bytes at least (CL_DEVICE_MEM_BASE_ADDR_ALIGN is no less than the size of a
 * long16); memory of the caller's starts anywhere, which counts where a device may compute on it in place. */
static uint64_t start_of(const qst_mem *mem, const qst__buffer *buffer)
{
    return buffer->start + mem->offset;
}

uint64_t qst__operands_aligns(uint32_t n, const qst_mem *operands, const uint64_t *span, const qst__buffer *buffers)
{
    uint64_t packed = 0, start;
    uint32_t i;

    for (i = 0; i < n; i++) {
        start = span[i] ? start_of(&operands[i], &buffers[i]) : 0;
        packed |= (uint64_t)(uint32_t)__builtin_ctzll(start | (UINT64_C(1) << QST__ALIGN_MAX)) << (8 * i);
    }
    return packed;
}

/* Less aligned than the route promises? Only where that is more than its element. */
static bool starts_badly(const qst__route *route, uint32_t i, const qst_mem *mem, const qst__buffer *buffer)
{
    return route->align[i] > route->shift[i] && (start_of(mem, buffer) & ((UINT64_C(1) << route->align[i]) - 1)) != 0;
}

static qst_status bad(const qst__route *route, uint32_t i, const qst_mem *mem, const qst__buffer *buffer,
                      cl_context context, qst_error *err)
{
    const qst_op *op = &route->shelf->set->model.op;
    const char   *name = op->operands[i].name;

    if (mem->kind != QST_MEM_BUFFER && mem->kind != QST_MEM_NONE)
        return qst__fail(err, QST_E_INVALID, op->name, "%s: unknown kind of memory %u", name, mem->kind);
    if (!mem->handle || mem->kind == QST_MEM_NONE)
        return qst__fail(err, QST_E_INVALID, op->name, "%s is NULL", name);
    if (mem->offset & ((UINT64_C(1) << route->shift[i]) - 1))
        return qst__fail(err, QST_E_INVALID, op->name, "%s: offset %llu is no multiple of %llu bytes", name,
                         (unsigned long long)mem->offset, 1ull << route->shift[i]);
    if (buffer->code == CL_INVALID_MEM_OBJECT)
        return qst__fail(err, QST_E_INVALID, op->name, "%s: %s", name, qst__cl_name(buffer->code));
    if (buffer->code != CL_SUCCESS)
        return qst__fail_cl(err, buffer->code, op->name, "%s: clGetMemObjectInfo gives %s (%d)", name,
                            qst__cl_name(buffer->code), (int)buffer->code);
    if (buffer->context != context)
        return qst__fail(err, QST_E_INVALID, op->name, "%s: the buffer and the queue are of different contexts", name);
    if (buffer->flags & route->unfit[i] & QST__BUFFER_IS_NONE)
        return qst__fail(err, QST_E_INVALID, op->name, "%s: an image, or what else is no buffer", name);
    if (buffer->flags & route->unfit[i])
        return qst__fail(err, QST_E_INVALID, op->name, "%s is %s, and its buffer is CL_MEM_%s", name,
                         buffer->flags & QST__BUFFER_READ_ONLY ? "written" : "read",
                         buffer->flags & QST__BUFFER_READ_ONLY ? "READ_ONLY" : "WRITE_ONLY");
    if (starts_badly(route, i, mem, buffer))
        return qst__fail(err, QST_E_INVALID, op->name, "%s: offset %llu: it starts at no multiple of %llu bytes", name,
                         (unsigned long long)mem->offset, 1ull << route->align[i]);
    return qst__fail(err, QST_E_INVALID, op->name, "%s: the buffer has %llu bytes, the problem needs %llu from %llu on",
                     name, (unsigned long long)buffer->bytes, (unsigned long long)route->span[i],
                     (unsigned long long)mem->offset);
}

qst_status qst__operands_check(const qst__route *route, const qst_mem *operands, const qst__buffer *buffers,
                               cl_context context, qst_error *err)
{
    uint32_t i;

    for (i = 0; i < route->n_operands; i++) {
        const qst_mem     *mem = &operands[i];
        const qst__buffer *b = &buffers[i];

        /* What is no buffer has no context. */
        if (route->span[i] &&
            (b->context != context || (b->flags & route->unfit[i]) ||
             (mem->offset & ((UINT64_C(1) << route->shift[i]) - 1)) || starts_badly(route, i, mem, b) ||
             mem->offset > b->bytes || b->bytes - mem->offset < route->span[i]))
            return bad(route, i, mem, b, context, err);
    }
    return QST_OK;
}
