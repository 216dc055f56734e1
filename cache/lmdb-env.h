/* SPDX-License-Identifier: MIT
 *
 * lmdb-env.h: open LMDB environments, one a folder and process.
 *
 * LMDB forbids opening a file twice in a process, so the process has a table of what is open, by device and inode of
 * the folder, shared by all contexts: the one piece of state that hangs on no context. A second copy of this library
 * in the process (two static ones, say) has a table of its own; it finds out by the process's mark in `claims`
 * (claims.h) and stays out. After fork the table of the child is empty: what was open before answers E_STATE there,
 * and a new context opens anew.
 *
 * Flags: MDB_NOTLS, because a read belongs to a call and not to a thread; MDB_NOSYNC, because a put must not wait for
 * the disk. The death of a process loses nothing that was committed: the pages are the kernel's. A power cut may lose
 * what came after the last sync, and in the worst case leaves a file that the check sets aside, whole: that costs
 * tuning, never a wrong answer.
 *
 * Where nothing may be written, the environment is a read-only one; where not even locks may be had, it is one over a
 * private copy of the data in memory, since a reader without locks could be overtaken by a writer.
 *
 * A file that is cut short under a map is a fault of memory to whoever reads there, so the sizes of both files are looked
 * at before each transaction. LMDB never makes them smaller: where one is, the environment is dead, and its process
 * leaves the users, so that the next one to open may be alone and mend it. What cannot be seen is the moment between
 * the look and the read.
 *
 * A file that was removed, or that another has taken the place of, can still be written to, for nobody. So before it is
 * written to, that of its name is looked at: where it is another, writing is E_IO from then on, and reading goes on. The
 * next to open the folder, in this process too, has what is there, or new data with new locks.
 *
 * A process that writes beyond what its files may have (RLIMIT_FSIZE) is ended by the kernel, and LMDB may write anywhere in
 * its map. So the limit is looked at before each such transaction: the map is made no larger, and where what is used is
 * larger already, writing is E_IO. Where not even QST__MAP_ALIGN may be written, the environment is a read-only one from the
 * start: LMDB's locks are taken through a map, which the limit leaves alone, in a lock.mdb that must be there in full.
 *
 * The map is doubled when it is full, up to the limit, and adopted when another process has grown it. That needs
 * a moment without any transaction in this process, so transactions are short: nothing is called back within one.
 */
#ifndef QST_CACHE_LMDB_ENV_H
#define QST_CACHE_LMDB_ENV_H

#include "cache/claims.h"
#include "cache/lmdb-file.h"

#include <lmdb.h>
#include <quernstone/store.h>

typedef struct qst__env qst__env;

/* limit_bytes: of the map, hence of the file. readonly: do not write. All failures are the caller's to live with:
 * E_NOTFOUND E_REFUSED E_IO E_CORRUPT E_STALE E_STATE E_TIMEOUT E_NOMEM E_CONFIG. What was repaired is logged. */
qst_status qst__env_open(qst__env **env, const char *folder, uint64_t limit_bytes, bool readonly, const qst__log *log,
                         qst_error *err);
void       qst__env_close(qst__env *env); /* NULL is fine */

bool         qst__env_readonly(const qst__env *env);
const char  *qst__env_folder(const qst__env *env);
qst__claims *qst__env_claims(const qst__env *env);
/* Is this still the process that opened it? */
bool qst__env_ours(const qst__env *env);
/* False: the table is not there (read-only and never written). */
bool qst__env_table(const qst__env *env, uint32_t db, MDB_dbi *table);

/* A transaction, to be ended in this call of the store and this thread. E_STATE, E_REFUSED (to write), E_BUSY (no
 * reader's slot), E_TIMEOUT (5 s behind another process, that may be stopped), E_IO, E_CORRUPT. */
qst_status qst__env_begin(qst__env *env, bool write, MDB_txn **txn);
/* Ends it, `write` as it was begun. LMDB's code: that of the commit, or `rc` where it is not 0 and it is given up. */
int qst__env_end(qst__env *env, bool write, MDB_txn *txn, int rc);
/* After MDB_MAP_FULL: makes the map larger, `over` bytes beyond the limit at most. false: it is as large as it may be. */
bool qst__env_grow(qst__env *env, uint64_t over);

/* LMDB's code as a status. A code that says that the data is damaged ends all use of the environment. */
qst_status qst__env_status(qst__env *env, int rc);

/* The code of what last was E_IO: the system's, MDB_MAP_FULL, QST__ENV_GONE or QST__ENV_LIMIT; 0: nothing was. */
enum { QST__ENV_GONE = -1, QST__ENV_LIMIT = -2 }; /* no codes of LMDB's or the system's */
int qst__env_failure(const qst__env *env);

qst_status qst__env_sync(qst__env *env);
uint64_t   qst__env_map_bytes(qst__env *env);
uint64_t   qst__env_file_bytes(const qst__env *env);
/* Is it what a file of the process may have that keeps the map from growing, and not the limit? */
bool qst__env_is_limited(qst__env *env);

#endif
