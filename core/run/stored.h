/* SPDX-License-Identifier: MIT
 *
 * stored.h: one record of the store, looked into: what it is, whether it is sound, and how it is told.
 */
#ifndef QST_RUN_STORED_H
#define QST_RUN_STORED_H

#include "model/peak.h"
#include "run/binaries.h"
#include "run/journal.h"

enum { QST__STORED_CURRENT, QST__STORED_STALE, QST__STORED_DAMAGED, QST__STORED_KEPT, QST__STORED_STATES };

typedef struct qst__stored {
    uint32_t       db;
    const uint8_t *key; /* borrowed, as the value was */
    uint64_t       key_bytes;
    uint64_t       value_bytes;
    uint32_t       state;   /* QST__STORED_… */
    qst__verdict   verdict; /* of a current one of QST_DB_VERDICTS */
    char          *text;    /* its key's; owned */
    qst__binary    binary;  /* of a current one of QST_DB_PROGRAMS */
    qst__peak      peak;    /* of a current one of QST_DB_THROUGHPUT */
    qst__journal   journal; /* of a current one of QST_DB_QUARANTINE; borrowed; `text` is the candidate's name */
    uint64_t       at_s;    /* when stored, or last used; 0: unknown */
} qst__stored;

/* E_NOMEM; everything else is a state. */
qst_status qst__stored_open(qst__stored *stored, const qst__alloc *alloc, uint32_t db, const void *key,
                            uint64_t key_bytes, const void *value, uint64_t value_bytes);
void       qst__stored_finish(qst__stored *stored, const qst__alloc *alloc);

const char *qst__stored_table(uint32_t db);
const char *qst__stored_state(uint32_t state);
const char *qst__stored_winner(const qst__verdict *verdict); /* NULL: none */

/* What a list says of it. The id has 2 * QST_STORE_KEY_MAX digits at most. */
struct qst__json *qst__stored_tell(const qst__stored *stored);
void              qst__stored_id(char id[2 * QST_STORE_KEY_MAX + 1], const void *key, uint64_t key_bytes);

/* Removes programs, least recently used first, until no more than `bytes` of values are left. Adds to *removed. */
qst_status qst__stored_trim(qst_context *ctx, uint64_t bytes, uint64_t *removed, qst_error *err);

#endif
