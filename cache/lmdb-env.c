/* SPDX-License-Identifier: MIT
 *
 * lmdb-env.c: transactions in an open environment, the growth of its map, and its end. */
#include "cache/lmdb-state.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 8, WAIT_MS = 5000 };

bool qst__env_readonly(const qst__env *env)
{
    return env->readonly;
}

const char *qst__env_folder(const qst__env *env)
{
    return env->files.folder;
}

qst__claims *qst__env_claims(const qst__env *env)
{
    return env->claims;
}

bool qst__env_ours(const qst__env *env)
{
    return env->pid == getpid();
}

bool qst__env_table(const qst__env *env, uint32_t db, MDB_dbi *table)
{
    *table = env->table[db];
    return env->has[db];
}

qst_status qst__env_status(qst__env *env, int rc)
{
    static const struct {
        int        rc;
        qst_status status;
    } rows[] = {
        {0, QST_OK},
        {MDB_NOTFOUND, QST_E_NOTFOUND},
        {MDB_READERS_FULL, QST_E_BUSY},
        {MDB_MAP_RESIZED, QST_E_BUSY},
        {ENOMEM, QST_E_NOMEM},
        {MDB_BAD_VALSIZE, QST_E_INVALID},
        {MDB_CORRUPTED, QST_E_CORRUPT},
        {MDB_PAGE_NOTFOUND, QST_E_CORRUPT},
        {MDB_INVALID, QST_E_CORRUPT},
        {MDB_PANIC, QST_E_CORRUPT},
    };
    qst_status status = QST_E_IO;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].rc == rc)
            status = rows[i].status;
    if (status == QST_E_CORRUPT)
        atomic_store(&env->dead, true);
    if (status == QST_E_IO)
        atomic_store(&env->failure, rc);
    return status;
}

int qst__env_failure(const qst__env *env)
{
    return atomic_load(&env->failure);
}

/* ---- The map ----------------------------------------------------------------------------------------------------- */

uint64_t qst__env_within_limits(uint64_t bytes)
{
    uint64_t limit = qst__files_limit();

    return (limit < bytes ? limit : bytes) & ~(QST__MAP_ALIGN - 1);
}

static bool is_within_limits(const qst__env *env)
{
    uint64_t map = atomic_load(&env->map_bytes);
    return map <= qst__env_within_limits(map + QST__MAP_ALIGN - 1);
}

/* Waits until no transaction of this process is open. A failure leaves LMDB without a map: the end. */
static bool set_map(qst__env *env, uint64_t seen, uint64_t wanted)
{
    bool        grown = true;
    MDB_envinfo info;

    (void)pthread_rwlock_wrlock(&env->map_lock);
    if (atomic_load(&env->map_bytes) == seen) {
        if (mdb_env_set_mapsize(env->mdb, (size_t)wanted) != 0 || mdb_env_info(env->mdb, &info) != 0) {
            atomic_store(&env->dead, true);
            grown = false;
        } else {
            atomic_store(&env->map_bytes, info.me_mapsize);
        }
    }
    (void)pthread_rwlock_unlock(&env->map_lock);
    return grown;
}

bool qst__env_grow(qst__env *env, uint64_t over)
{
    uint64_t seen = atomic_load(&env->map_bytes), wanted;
    uint64_t most = qst__env_within_limits(atomic_load(&env->limit) + over);

    if (seen >= most || atomic_load(&env->dead))
        return false;
    wanted = seen < most / 2 ? 2 * seen : most;
    return set_map(env, seen, wanted);
}

bool qst__env_fits(qst__env *env)
{
    uint64_t seen = atomic_load(&env->map_bytes), most = qst__env_within_limits(seen + QST__MAP_ALIGN - 1);

    return is_within_limits(env) || (most && set_map(env, seen, most) && is_within_limits(env));
}

bool qst__env_is_limited(qst__env *env)
{
    uint64_t limit = atomic_load(&env->limit);

    return qst__env_within_limits(limit) < (limit & ~(QST__MAP_ALIGN - 1));
}

uint64_t qst__env_map_bytes(qst__env *env)
{
    return atomic_load(&env->map_bytes);
}

uint64_t qst__env_file_bytes(const qst__env *env)
{
    struct stat found;
    return env->files.fd >= 0 && fstat(env->files.fd, &found) == 0 ? (uint64_t)found.st_size : 0;
}

/* ---- Transactions ------------------------------------------------------------------------------------------------ */

/* Are the files no smaller than they were? Only what is larger may be mapped. */
static bool is_whole(qst__env *env)
{
    char        path[QST__PATH_MAX];
    uint64_t    seen = atomic_load(&env->data_bytes);
    struct stat found;
    bool        whole = fstat(env->files.fd, &found) == 0 && (uint64_t)found.st_size >= seen;

    while (whole && (uint64_t)found.st_size > seen &&
           !atomic_compare_exchange_weak(&env->data_bytes, &seen, (uint64_t)found.st_size))
        ;
    if (env->lock_inode) {
        qst__files_path(&env->files, path, "lock.mdb");
        if (stat(path, &found) == 0 && (uint64_t)found.st_ino == env->lock_inode && found.st_size < QST__LOCK_BYTES)
            atomic_store(&env->lock_cut, true);
    }
    whole = whole && !atomic_load(&env->lock_cut);
    if (!whole && !atomic_exchange(&env->dead, true))
        qst__claims_quit(env->claims);
    return whole;
}

/* Where that cannot be told, it does. */
static bool leads_to_it(const qst__env *env)
{
    char        path[QST__PATH_MAX];
    struct stat ours, named;

    qst__files_path(&env->files, path, "data.mdb");
    if (stat(path, &named) != 0)
        return errno != ENOENT && errno != ENOTDIR;
    return fstat(env->files.fd, &ours) != 0 || (ours.st_dev == named.st_dev && ours.st_ino == named.st_ino);
}

bool qst__env_is_there(qst__env *env)
{
    if (!atomic_load(&env->gone) && leads_to_it(env))
        return true;
    if (!atomic_exchange(&env->gone, true))
        qst__claims_part(env->claims);
    return false;
}

/* Holds what LMDB's mutex of that kind is behind. Waited for once: who is stopped may be so for good. */
static qst_status hold(qst__env *env, uint32_t what)
{
    qst_status status = qst__claims_hold(env->claims, what, atomic_load(&env->stuck[what]) ? 0 : WAIT_MS);

    atomic_store(&env->stuck[what], status != QST_OK);
    return status;
}

static int begin(qst__env *env, bool write, MDB_txn **txn)
{
    int rc;

    (void)pthread_rwlock_rdlock(&env->map_lock);
    if (atomic_load(&env->dead) || !is_whole(env))
        rc = MDB_PANIC;
    else if (write && !is_within_limits(env))
        rc = QST__ENV_LIMIT;
    else
        rc = mdb_txn_begin(env->mdb, NULL, write ? 0 : MDB_RDONLY, txn);
    if (rc != 0)
        (void)pthread_rwlock_unlock(&env->map_lock);
    return rc;
}

qst_status qst__env_begin(qst__env *env, bool write, MDB_txn **txn)
{
    const uint32_t what = write ? QST__CLAIMS_WRITER : QST__CLAIMS_READERS;
    qst_status     status;
    int            rc = MDB_MAP_RESIZED;

    *txn = NULL;
    if (!qst__env_ours(env))
        return QST_E_STATE;
    if (write && env->readonly)
        return QST_E_REFUSED;
    if (write && !qst__env_is_there(env))
        return qst__env_status(env, QST__ENV_GONE);
    for (int i = 0; i < TRIES && (rc == MDB_MAP_RESIZED || rc == MDB_READERS_FULL || rc == QST__ENV_LIMIT); i++) {
        uint64_t seen = atomic_load(&env->map_bytes);

        if (atomic_load(&env->dead))
            return QST_E_CORRUPT;
        status = hold(env, what);
        if (status != QST_OK)
            return status;
        rc = begin(env, write, txn);
        if (rc == MDB_READERS_FULL)
            (void)mdb_reader_check(env->mdb, NULL);
        if (rc != 0 || !write)
            qst__claims_let(env->claims, what);
        if (rc == 0)
            return QST_OK; /* the map's lock, and the writer's hold, are kept until the end */
        if (rc == MDB_MAP_RESIZED)
            (void)set_map(env, seen, 0);
        else if (rc == QST__ENV_LIMIT && !qst__env_fits(env))
            break;
    }
    return qst__env_status(env, rc);
}

int qst__env_end(qst__env *env, bool write, MDB_txn *txn, int rc)
{
    if (rc != 0)
        mdb_txn_abort(txn);
    else
        rc = mdb_txn_commit(txn);
    (void)pthread_rwlock_unlock(&env->map_lock);
    if (write)
        qst__claims_let(env->claims, QST__CLAIMS_WRITER);
    return rc;
}

/* ---- Sync and end ------------------------------------------------------------------------------------------------ */

void qst__env_mark(qst__env *env)
{
    MDB_txn *txn;

    if (env->readonly || qst__env_begin(env, true, &txn) != QST_OK)
        return;
    qst__files_mark(&env->files); /* nobody commits as long as we could */
    (void)qst__env_end(env, true, txn, MDB_NOTFOUND);
}

qst_status qst__env_sync(qst__env *env)
{
    int rc;

    if (!qst__env_ours(env))
        return QST_E_STATE;
    if (env->readonly)
        return QST_OK;
    if (atomic_load(&env->dead))
        return QST_E_CORRUPT;
    (void)pthread_rwlock_rdlock(&env->map_lock);
    rc = mdb_env_sync(env->mdb, 1);
    (void)pthread_rwlock_unlock(&env->map_lock);
    if (rc == 0)
        qst__env_mark(env);
    return qst__env_status(env, rc);
}

void qst__env_destroy(qst__env *env)
{
    if (!env)
        return;
    if (env->mdb && !atomic_load(&env->lock_cut))
        mdb_env_close(env->mdb);
    if (env->gated)
        qst__claims_leave(env->claims);
    qst__claims_close(env->claims);
    qst__files_finish(&env->files);
    (void)pthread_rwlock_destroy(&env->map_lock);
    qst__free(&env->alloc, env);
}
