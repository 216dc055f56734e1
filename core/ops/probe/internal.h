/* SPDX-License-Identifier: MIT
 *
 * ops/probe/internal.h: what the files of the probes share. They see public headers only.
 */
#ifndef QST_OPS_PROBE_INTERNAL_H
#define QST_OPS_PROBE_INTERNAL_H

#include <quernstone/kit.h>
#include <quernstone/probe.h>

#define QST__PROBE_WORD UINT32_C(0x3f800000) /* 1.0f: what the words of a footprint are when a peak is measured */

/* Elements of `out`. */
static inline int64_t qst__probe_elements(const qst_probe *p)
{
    return p->bytes / (p->storage == QST_F64 ? 8 : 4);
}

#endif
