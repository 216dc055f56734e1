/* SPDX-License-Identifier: MIT
 *
 * table.h: a table from bytes to pointers whose look-ups take no lock. Entries are added once and live, with the
 * memory of their keys, until the table is finished; what they point at may change by its own atomics.
 *
 * Look-up: an acquire load of the slot array, then linear probing over acquire loads. Insert: under the table's lock;
 * growth publishes a new slot array and keeps the old one until finish (their sizes double, so all old ones together
 * are no larger than the newest).
 */
#ifndef QST_TUNE_TABLE_H
#define QST_TUNE_TABLE_H

#include "base/alloc.h"
#include "base/lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct qst__table_slots qst__table_slots;

typedef struct qst__table {
    const qst__alloc           *alloc;
    qst__lock                   lock;
    _Atomic(qst__table_slots *) slots;
    uint32_t                    count;
    uint32_t                    limit; /* most entries; 0: none */
} qst__table;

void qst__table_init(qst__table *table, const qst__alloc *alloc, uint32_t limit);
void qst__table_finish(qst__table *table); /* frees slots and keys, not what entries point at */

/* [any thread, no lock] NULL: not there. */
void *qst__table_get(const qst__table *table, const void *key, size_t bytes, uint64_t hash);

/* [any thread] Adds unless the key is there; returns what is there afterwards (`value`, or the other's), NULL where
 * there is no memory or the limit is reached. */
void *qst__table_add(qst__table *table, const void *key, size_t bytes, uint64_t hash, void *value);

/* [any thread] Calls visit for each entry, in no order, without holding the lock. */
void qst__table_each(const qst__table *table, void (*visit)(void *user, void *value), void *user);

#endif
