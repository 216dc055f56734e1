/* SPDX-License-Identifier: MIT
 *
 * lmdb-state.h: an open environment from within: for lmdb-open.c, which makes it, lmdb-table.c, which shares it, and
 * lmdb-env.c, which uses it. */
#ifndef QST_CACHE_LMDB_STATE_H
#define QST_CACHE_LMDB_STATE_H

#include "cache/lmdb-env.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct qst__env {
    qst__env         *next;    /* in the process's table */
    uint32_t          holders; /* stores over it; under the table's lock */
    dev_t             device;  /* of the folder */
    ino_t             inode;
    pid_t             pid;
    qst__alloc        alloc; /* malloc's: it outlives any one context */
    qst__files        files;
    qst__claims      *claims;
    bool              gated;    /* within the gate of claims */
    bool              readonly; /* MDB_RDONLY */
    bool              confined; /* no file of this process may be as large as a store: it is read only for that */
    MDB_env          *mdb;
    MDB_dbi           table[QST_DB_COUNT];
    bool              has[QST_DB_COUNT];
    pthread_rwlock_t  map_lock; /* shared: a transaction is open; exclusive: the map changes */
    _Atomic(uint64_t) map_bytes;
    _Atomic(uint64_t) limit;
    _Atomic(uint64_t) data_bytes;               /* as large as the data were once seen to be */
    uint64_t          lock_inode;               /* of lock.mdb; 0: none is used */
    atomic_int        failure;                  /* LMDB's code of what last was E_IO; 0: nothing */
    atomic_bool       gone;                     /* its data are no longer those of its folder */
    atomic_bool       dead;                     /* LMDB must not be asked any more */
    atomic_bool       lock_cut;                 /* not even to close */
    atomic_bool       stuck[QST__CLAIMS_HOLDS]; /* has been waited for in vain */
};

#define QST__MAP_ALIGN ((uint64_t)1 << 16) /* a multiple of any page size */

/* So many bytes, or as many as a file of this process may have now (RLIMIT_FSIZE), in whole QST__MAP_ALIGN. */
uint64_t qst__env_within_limits(uint64_t bytes);
/* May all of the map be written to? Where it is only larger than what is used, it is made smaller for that. Without a
 * transaction of this thread. */
bool qst__env_fits(qst__env *env);

/* Does the data file's name still lead to it? Where it does not, the environment is gone: it has left the folder to whoever
 * opens it next. */
bool qst__env_is_there(qst__env *env);

/* As lmdb-env.h's open does where it is not open yet. */
qst_status qst__env_make(qst__env **out, const char *folder, uint64_t limit, bool readonly, const qst__log *log,
                         qst_error *err);

void qst__env_mark(qst__env *env);    /* leaves the clean mark */
void qst__env_destroy(qst__env *env); /* closes everything, whatever is open of it */

#endif
