/* SPDX-License-Identifier: MIT
 *
 * memory.h: the store that lives in memory and dies with the process. Used where no file may be kept, and by tests.
 *
 * Entries are counted blobs in one sorted array a table, under one lock that is never held across a callback: a
 * `take` may call the store again. Iteration goes from key to next greater key, so it sees what changes meanwhile.
 */
#ifndef QST_CACHE_MEMORY_H
#define QST_CACHE_MEMORY_H

#include "base/base.h"

#include <quernstone/store.h>

/* Fills `store`; close frees all. `alloc` must outlive it. E_NOMEM. */
qst_status qst__store_memory(qst_store *store, const qst__alloc *alloc, qst_error *err);

/* A position in a table: the last key seen; bytes 0: before the first. */
typedef struct qst__memory_at {
    uint32_t      bytes;
    unsigned char key[QST_STORE_KEY_MAX];
} qst__memory_at;

/* Moves to the next greater key of a store made above; false: there is none, and `at` stays. */
bool qst__memory_next(const qst_store *store, uint32_t db, qst__memory_at *at);

#endif
