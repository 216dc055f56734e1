/* SPDX-License-Identifier: MIT
 *
 * envelope.h: the header that every stored value carries, for values that are not verdicts (those have it from
 * model/verdict.h, byte for byte the same).
 *
 *     "QST" and a letter for the kind, schema u32, length of the rest u32, CRC-32 of the rest u32;
 *     length of the key's text u32, key's text; the value's own bytes.             All little-endian.
 */
#ifndef QST_CACHE_ENVELOPE_H
#define QST_CACHE_ENVELOPE_H

#include "base/base.h"

typedef struct qst__envelope {
    char           kind; /* 'V' verdict, 'H' history, …: the caller's letters */
    uint32_t       schema;
    const char    *key; /* not terminated, inside the bytes */
    size_t         key_length;
    const uint8_t *value; /* inside the bytes */
    size_t         value_bytes;
} qst__envelope;

/* Memory of the caller (qst__free); NULL where there is none, or more than 4 GiB are to be put in. */
uint8_t *qst__envelope_seal(const qst__alloc *alloc, const qst__envelope *content, size_t *length);

/* Opens a value of any kind and schema. E_CORRUPT: damaged, or no value of ours. */
qst_status qst__envelope_open(qst__envelope *content, const void *bytes, size_t length);

#endif
