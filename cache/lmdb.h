/* SPDX-License-Identifier: MIT
 *
 * lmdb.h: the store in an LMDB file, shared by all processes of a user. How it is opened, shared, grown and checked:
 * lmdb-env.h, lmdb-file.h, lmdb-check.h; who holds what: claims.h.
 *
 * A value is copied out before its `take` is called, so that a `take` may call the store again. Iteration reads some
 * entries at a time: what changes meanwhile may or may not be seen. A put that finds the map full grows it; E_IO
 * where the map is at its limit or the disk is full. Calls in a child after fork are E_STATE; puts to a read-only
 * store E_REFUSED; a damaged store E_CORRUPT. None of these is repaired here: open.h keeps going in memory.
 */
#ifndef QST_CACHE_LMDB_H
#define QST_CACHE_LMDB_H

#include "base/base.h"

#include <quernstone/store.h>

/* Opens the store in a folder that is there. limit_bytes: of the file. Statuses as qst__env_open's. `alloc` must
 * outlive the store. */
qst_status qst__store_lmdb(qst_store *store, const qst__alloc *alloc, const char *folder, uint64_t limit_bytes,
                           bool readonly, const qst__log *log, qst_error *err);

/* What its place said when something last was E_IO: "'/a/folder': No space left on device"; "" where nothing was. */
void qst__store_lmdb_failure(const qst_store *store, char *text, size_t room);

/* Is a store made by qst__store_lmdb one to which nothing is written? */
bool qst__store_lmdb_readonly(const qst_store *store);

#endif
