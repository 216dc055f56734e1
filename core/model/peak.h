/* SPDX-License-Identifier: MIT
 *
 * peak.h: what a device can do at most, of one kind, and its bytes in a store.
 */
#ifndef QST_MODEL_PEAK_H
#define QST_MODEL_PEAK_H

#include "base/base.h"
#include "base/str.h"

#include <quernstone/plugin.h>

#define QST__PEAK_NAME 160u

enum {
    QST__PEAK_RAISED = 1u << 0,   /* corrected by what a candidate was seen to do */
    QST__PEAK_CONFIRMED = 1u << 1 /* measured again in this process before it ended a tuning; not stored */
};

/* Value struct. What it is a peak of: role, and by role type and numerics, or bytes. */
typedef struct qst__peak {
    uint32_t role;                      /* QST_OP_PROBE_… */
    uint32_t type;                      /* compute: QST_F32, …; else 0 */
    uint32_t numerics;                  /* compute: QST_NUMERICS_…; else 0 */
    uint32_t flags;                     /* QST__PEAK_… */
    int64_t  bytes;                     /* memory: the footprint; else 0 */
    double   value;                     /* operations or bytes a second, ns of a launch; 0: not known */
    uint8_t  checksum[32];              /* of the set that it was measured with */
    char     candidate[QST__PEAK_NAME]; /* the fastest, by its full name */
} qst__peak;

bool qst__peak_same(const qst__peak *a, const qst__peak *b);

/* `type=f32 numerics=0 bytes=0`: of what it is a peak, as part of a store's key. */
void qst__peak_print(const qst__peak *peak, qst__str *out);

/* Bytes and back. Little-endian; header: magic "QSTR", schema u32, length u32, CRC-32 of what follows; then the key's text,
 * role type numerics flags u32, bytes u64, value as the bits of a double, checksum, candidate. Decoding trusts nothing:
 * E_CORRUPT, E_STALE (another schema), E_NOTFOUND (another key text; key_text NULL: any will do). Encoded memory belongs
 * to the caller (qst__free). */
#define QST__PEAK_SCHEMA 1u
qst_status qst__peak_encode(const qst__peak *peak, const char *key_text, const qst__alloc *alloc, uint8_t **bytes,
                            size_t *length);
qst_status qst__peak_decode(qst__peak *peak, const char *key_text, const uint8_t *bytes, size_t length);

#endif
