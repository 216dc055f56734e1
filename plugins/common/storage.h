/* SPDX-License-Identifier: MIT
 *
 * storage.h: which element types of A, B and C our kernels take, in one place: A and B of one type, C of the same or
 * f32; sums are f64 where A is f64, else f32. The kernels know them by two macros: ELEMENT of A and B, OUT of C.
 */
#ifndef PLUGINS_COMMON_STORAGE_H
#define PLUGINS_COMMON_STORAGE_H

#include <quernstone/kit.h>
#include <quernstone/matmul.h>

/* Pairs of types: storage_index is under it. */
enum { STORAGE_PAIRS = 2 * (QST_TYPE_END - 1) };

static inline const char *storage_refusal(const qst_device *device, const qst_matmul *p)
{
    return p->a.type != p->b.type                                      ? "A and B of different types"
           : p->c.type != p->a.type && p->c.type != QST_F32            ? "C neither of A's type nor f32"
           : p->a.type == QST_F64 && !(device->flags & QST_DEVICE_F64) ? "the device has no f64 arithmetic"
                                                                       : NULL;
}

/* Of a problem that is not refused: 0 … 3 where C is of A's type, 5 … 7 where only C is f32. */
static inline uint32_t storage_index(const qst_matmul *p)
{
    return p->a.type - QST_F32 + (p->c.type == p->a.type ? 0u : QST_TYPE_END - 1u);
}
static inline uint32_t storage_element(uint32_t index)
{
    return QST_F32 + index % (QST_TYPE_END - 1u);
}
static inline uint32_t storage_out(uint32_t index)
{
    return index < QST_TYPE_END - 1u ? QST_F32 + index : QST_F32;
}

/* A scalar in the type of the sums. */
static inline qst_arg storage_scalar(const qst_matmul *p, double value)
{
    return p->a.type == QST_F64 ? qstk_f64(value) : qstk_f32(value);
}

#endif
