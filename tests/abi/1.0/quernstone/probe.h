/* SPDX-License-Identifier: MIT
 *
 * probe.h: operations that measure what a device can do at most: probe.compute, probe.memory, probe.launch. The
 * library runs them when it first needs a roof (a time so good that tuning may end); their fastest candidate says the
 * peak. A plugin that knows a faster route, matrix units say, adds a candidate to them.
 *
 * One problem struct serves all three roles; which one an operation has stands in its flags (QST_OP_PROBE_…). A
 * candidate is checked like any other: every result below is exact.
 *
 *   compute   out[i] := 1 for each element of `bytes` bytes of `out`, each with `repeats` multiply-adds of the problem's
 *             type and numerics class behind it: 2 · elements · repeats operations
 *   memory    out[0] := bitwise AND of the words of `from`, which are all equal: `bytes` bytes of it, read `repeats`
 *             times. Reads, because most operations read more than they write, and a peak must not be low
 *   launch    out[0] := 1: the least that can be launched
 */
#ifndef QUERNSTONE_PROBE_H
#define QUERNSTONE_PROBE_H

#include <quernstone/plugin.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of chains of multiply-adds: enough for an exact result, and loops unrolled sixteen times come out even. */
#define QST_PROBE_REPEATS_MIN  64u
#define QST_PROBE_REPEATS_STEP 16u

/* Size-first: grows.
 *   type      the arithmetic: QST_F32, …; f16 and bf16 stand for products of such elements, summed in f32
 *   storage   element type of the buffers: QST_F64 where type is, else QST_F32
 *   repeats   compute: length of a chain, from QST_PROBE_REPEATS_MIN on, a multiple of QST_PROBE_REPEATS_STEP; memory:
 *             passes over the footprint; launch: 1
 *   bytes     compute: of the results; memory: the footprint, a multiple of 64; launch: one element */
typedef struct qst_probe {
    uint32_t size;
    uint32_t numerics;
    uint32_t type;
    uint32_t storage;
    uint32_t from_align; /* log2 bytes, 0: the element's own */
    uint32_t out_align;
    uint32_t repeats;
    uint32_t reserved;
    int64_t  bytes;
} qst_probe;

static inline void qst_probe_init(qst_probe *probe, uint32_t type, uint32_t numerics, int64_t bytes, uint32_t repeats)
{
    memset(probe, 0, sizeof *probe);
    probe->size = (uint32_t)sizeof *probe;
    probe->numerics = numerics;
    probe->type = type;
    probe->storage = type == QST_F64 ? QST_F64 : QST_F32;
    probe->repeats = repeats;
    probe->bytes = bytes;
}

QST_API extern const qst_op qst_probe_compute_op;
QST_API extern const qst_op qst_probe_memory_op;
QST_API extern const qst_op qst_probe_launch_op;

/* Operands of probe.memory; the others have `out` alone. */
enum { QST_PROBE_FROM = 0, QST_PROBE_OUT = 1 };

#ifdef __cplusplus
}
#endif
#endif
