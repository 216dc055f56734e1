/* SPDX-License-Identifier: MIT
 *
 * claims.h: who holds what, among threads and processes that share a store's folder.
 *
 * The folder has a file `claims`. Its bytes are never needed; its locks are: each is an open-file-description lock of
 * one byte, so the kernel gives it back when its holder dies, however it dies.
 *
 *     byte 0            the gate: one process at a time opens or sets aside the data
 *     byte 1            users: shared by every process that has the data open; who gets it alone is alone
 *     bytes 2, 3        before LMDB's own mutexes of its writer and of its table of readers, whose waits nobody can end
 *     2^61 + process    a mark of each process, exclusive: LMDB forbids opening a file twice in a process, and a
 *                       second copy of this library in one process has no other means to find out
 *     2^62 + hash       a claim of a key (SHA-256, so that releases of the library agree)
 *
 * Such locks do not exclude threads that share the description: a list in memory does that. A child after fork
 * shares the descriptions, and would keep the locks of a dead parent: qst__claims_forget in the child closes them.
 * Without a file (read-only folder, no folder) claims hold in this process only.
 */
#ifndef QST_CACHE_CLAIMS_H
#define QST_CACHE_CLAIMS_H

#include "base/base.h"

typedef struct qst__claims qst__claims;

/* Opens (and makes) <folder>/claims and leaves this process's mark. folder NULL: in this process only. E_IO: the file
 * cannot be had or locked; E_REFUSED: another's; E_STATE: another copy of the library in this process has it. */
qst_status qst__claims_open(qst__claims **claims, const qst__alloc *alloc, const char *folder, qst_error *err);
void       qst__claims_close(qst__claims *claims); /* NULL is fine; what is held is given back */

/* Waits for the gate, at most wait_ms; E_TIMEOUT. Leave it soon. */
qst_status qst__claims_enter(qst__claims *claims, uint32_t wait_ms, qst_error *err);
void       qst__claims_leave(qst__claims *claims);

/* Within the gate: is no other process among the users? Joins them either way. E_IO. */
qst_status qst__claims_join(qst__claims *claims, bool *alone, qst_error *err);

/* A note of a few bytes that users leave each other in the file; reading gives false where there is none such. */
bool qst__claims_write(qst__claims *claims, const void *note, size_t bytes);
bool qst__claims_read(qst__claims *claims, void *note, size_t bytes);

/* As one of the users: no longer one. What is broken here is for others to mend. */
void qst__claims_quit(qst__claims *claims);

/* And leaves no mark of this process any more: the next to open the folder in it is not another copy of the library. */
void qst__claims_part(qst__claims *claims);

/* A process that is stopped while it holds one of LMDB's mutexes would stop all others for ever. So who is about to take
 * one holds its byte, which is waited for wait_ms at most: E_TIMEOUT. Let go in the same thread. Where the file has no
 * locks this is between threads only. */
enum { QST__CLAIMS_WRITER, QST__CLAIMS_READERS, QST__CLAIMS_HOLDS };
qst_status qst__claims_hold(qst__claims *claims, uint32_t what, uint32_t wait_ms);
void       qst__claims_let(qst__claims *claims, uint32_t what);

/* Takes a key, or E_BUSY. E_NOMEM, E_IO, E_STATE (in a child after fork). */
qst_status qst__claims_take(qst__claims *claims, const void *key, size_t bytes, void **token);
void       qst__claims_give(qst__claims *claims, void *token); /* NULL and unknown tokens are fine */

/* In a child after fork: closes the file without a look at any lock in memory. */
void qst__claims_forget(qst__claims *claims);

#endif
