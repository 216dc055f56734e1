/* SPDX-License-Identifier: MIT
 *
 * json.h: a store as a JSON file, and back.
 *
 *     {"format": "quernstone-store", "version": 1, "about": "<for people>", "records": [
 *     {"table": "verdicts", "key": "<hex>", "value": "<base64>", "about": "<the key's text, for people>"},
 *     …
 *     ]}
 *
 * Values are kept byte for byte, with the header that says for what they are valid. "about" is never read back; other
 * members are ignored. What an imported record is worth is the caller's to say: it is shown each one before it is put
 * anywhere, so that it can mark it. A file that is damaged anywhere imports nothing.
 */
#ifndef QST_CACHE_JSON_H
#define QST_CACHE_JSON_H

#include "base/base.h"

#include <quernstone/store.h>

#define QST__JSON_BYTES_MAX   ((uint64_t)256 << 20) /* of a file to import */
#define QST__JSON_VALUE_BYTES ((uint64_t)64 << 20)  /* of one value */

/* Takes text; non-zero ends with E_IO. */
typedef int32_t (*qst__json_write)(void *user, const char *text, size_t bytes);

/* Writes the tables of the mask (bits 1 << QST_DB_…), one record a line, keys ascending. *count: records. E_IO, E_NOMEM,
 * or what the store's iteration fails with. */
qst_status qst__store_export(const qst_store *store, uint32_t tables, const char *about, qst__json_write write,
                             void *user, uint64_t *count, qst_error *err);

/* Sees a record; bytes are borrowed. QST_OK: taken; NOTHING: passed over; a failure ends the import with it. */
typedef qst_status (*qst__json_take)(void *user, uint32_t db, const void *key, uint64_t key_bytes, const void *value,
                                     uint64_t value_bytes);

typedef struct qst__imported {
    uint64_t records, taken, passed_over;
} qst__imported;

/* Reads text that anybody may have written. Every record is checked before `take` sees the first. E_CORRUPT names what
 * is wrong and where; E_NOMEM. */
qst_status qst__store_import(const qst__alloc *alloc, const char *text, size_t bytes, qst__json_take take, void *user,
                             qst__imported *done, qst_error *err);

/* A `take` that puts records as they are into the store that is `user`, and passes over keys that are there. */
qst_status qst__import_put(void *user, uint32_t db, const void *key, uint64_t key_bytes, const void *value,
                           uint64_t value_bytes);

#endif
