/* SPDX-License-Identifier: MIT
 *
 * lmdb-file.h: the files of a store's folder before LMDB opens them, and after.
 *
 *     data.mdb              LMDB's data            lock.mdb   LMDB's mutexes and readers
 *     data.mdb.damaged-<n>  data set aside         clean      the clean mark
 *     claims                claims.h
 *
 * The clean mark makes the full check (lmdb-check.h) rare. It names boot, device, inode, size, time of change and last
 * transaction. While it fits, nothing but LMDB has written since the data was last found or left in order: any other
 * writing changes the time of change, and after a power cut the boot is another. So the check runs once a boot, after
 * a death between a put and the next sync or close, and after foreign writing (copying and restoring included). The
 * mark is never removed: what makes it wrong shows by itself.
 *
 * Nothing here opens lock.mdb while LMDB has it open in this process: closing it would drop LMDB's own lock of it.
 */
#ifndef QST_CACHE_LMDB_FILE_H
#define QST_CACHE_LMDB_FILE_H

#include "cache/place.h"

enum { QST__PATH_MAX = QST__PLACE_MAX + 32, QST__LOCK_BYTES = 64 * 1024 };

typedef struct qst__files {
    char folder[QST__PLACE_MAX + 1];
    int  fd;       /* of data.mdb, for reading; −1: none yet */
    bool readonly; /* the data cannot be written to */
    bool checked;  /* the mark did not fit, and the full check found the data in order */
} qst__files;

void qst__files_path(const qst__files *files, char path[QST__PATH_MAX], const char *name);

/* Opens data.mdb where it is there. alone: nobody else has it, so it is checked unless the mark fits. E_CORRUPT,
 * E_STALE (another version of LMDB's format), E_REFUSED (another's file), E_IO, E_NOMEM. Finish it in any case. */
qst_status qst__files_open(qst__files *files, bool alone, const qst__alloc *alloc, qst_error *err);
void       qst__files_finish(qst__files *files);

/* An empty file is a new one for LMDB, unless the clean mark knows it as one that was not: E_CORRUPT. Open does so for
 * who is alone. */
qst_status qst__files_check_emptied(const qst__files *files, qst_error *err);

/* Renames data.mdb to the first free data.mdb.damaged-<n>, which `name` receives, and removes the files that went with
 * it. E_IO. Only for who is alone. */
qst_status qst__files_set_aside(qst__files *files, char name[32], qst_error *err);

/* The path of the next data set aside in a folder, *n from 0 upwards being the last one's number. False: no more. */
bool qst__files_aside(const char *folder, int *n, char path[QST__PATH_MAX]);

/* Gives lock.mdb all its blocks, QST__LOCK_BYTES: LMDB writes to it through a map, where a full disk would be a fault
 * of memory. */
qst_status qst__files_reserve_lock(const qst__files *files, qst_error *err);

/* Leaves the clean mark. Nothing may write to the data meanwhile. What fails costs a check later. */
void qst__files_mark(qst__files *files);

/* What users tell each other: which files are the ones in use. A folder in which one was replaced is not joined. */
typedef struct qst__files_note {
    uint64_t magic, data, lock; /* inodes */
} qst__files_note;
bool qst__files_note_of(const qst__files *files, qst__files_note *note);

/* How large a file of this process may be (RLIMIT_FSIZE). Who writes beyond it is ended by the kernel. */
uint64_t qst__files_limit(void);

/* The data as it stands, in a memory file that nobody else can write to. −1 with err filled. Up to 1 GiB. */
int qst__files_copy(const qst__files *files, qst_error *err);

#endif
