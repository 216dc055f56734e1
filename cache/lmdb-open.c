/* SPDX-License-Identifier: MIT
 *
 * lmdb-open.c: opens an environment: with locks, for reading alone, or over a copy. */
#define _GNU_SOURCE
#include "cache/folder.h"
#include "cache/lmdb-check.h"
#include "cache/lmdb-state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GATE_MS = 10000, MAX_READERS = 960, TRIES = 3 };
#define MAP_FIRST ((uint64_t)4 << 20)

static const char *const TABLES[QST_DB_COUNT] = {
    [QST_DB_META] = "meta",         [QST_DB_VERDICTS] = "verdicts",     [QST_DB_THROUGHPUT] = "throughput",
    [QST_DB_PROGRAMS] = "programs", [QST_DB_QUARANTINE] = "quarantine", [QST_DB_HISTORY] = "history",
};

/* What the tables' keys and values are; another number: another release's store, left alone. */
static const char LAYOUT_KEY[] = "quernstone.layout", LAYOUT[] = "1";

/* ---- LMDB -------------------------------------------------------------------------------------------------------- */

static qst_status failed(const qst__env *env, int rc, const char *what, qst_error *err)
{
    return qst__fail(err,
                     rc == ENOMEM        ? QST_E_NOMEM
                     : rc == MDB_INVALID ? QST_E_CORRUPT
                                         : QST_E_IO,
                     "store", "'%.300s' %s: %s", env->files.folder, what, mdb_strerror(rc));
}

static int start_mdb(qst__env *env, const char *path, unsigned flags)
{
    uint64_t    had = qst__env_file_bytes(env), map = qst__env_within_limits(atomic_load(&env->limit));
    MDB_envinfo info;
    int         rc = mdb_env_create(&env->mdb);

    if (map > MAP_FIRST && map > 2 * had)
        map = 2 * had > MAP_FIRST ? (2 * had + QST__MAP_ALIGN - 1) & ~(QST__MAP_ALIGN - 1) : MAP_FIRST;
    if (rc == 0)
        rc = mdb_env_set_mapsize(env->mdb, (size_t)map);
    if (rc == 0)
        rc = mdb_env_set_maxdbs(env->mdb, QST_DB_COUNT);
    if (rc == 0)
        rc = mdb_env_set_maxreaders(env->mdb, MAX_READERS);
    if (rc == 0)
        rc = mdb_env_open(env->mdb, path, flags, 0600);
    if (rc == 0)
        rc = mdb_env_info(env->mdb, &info);
    if (rc == 0) {
        atomic_store(&env->map_bytes, info.me_mapsize);
    } else if (env->mdb) {
        mdb_env_close(env->mdb);
        env->mdb = NULL;
    }
    return rc;
}

/* The handles of the tables; where they may be made, they are. */
static int open_tables(qst__env *env, bool make)
{
    MDB_txn *txn;
    int      rc = mdb_txn_begin(env->mdb, NULL, make ? 0 : MDB_RDONLY, &txn);

    if (rc != 0)
        return rc;
    for (uint32_t db = 0; db < QST_DB_COUNT && rc == 0; db++) {
        rc = mdb_dbi_open(txn, TABLES[db], make ? MDB_CREATE : 0, &env->table[db]);
        env->has[db] = rc == 0;
        if (rc == MDB_NOTFOUND && env->readonly)
            rc = 0;
    }
    if (rc == 0 && make) {
        MDB_val key = {sizeof LAYOUT_KEY - 1, (void *)LAYOUT_KEY}, value = {sizeof LAYOUT - 1, (void *)LAYOUT};
        rc = mdb_put(txn, env->table[QST_DB_META], &key, &value, MDB_NOOVERWRITE);
        rc = rc == MDB_KEYEXIST ? 0 : rc;
    }
    if (rc == 0)
        return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return rc;
}

static qst_status check_layout(qst__env *env, qst_error *err)
{
    MDB_val    key = {sizeof LAYOUT_KEY - 1, (void *)LAYOUT_KEY}, value;
    MDB_txn   *txn;
    qst_status status = QST_OK;
    int        rc = mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, &txn);

    if (rc != 0)
        return failed(env, rc, "cannot be read", err);
    rc = env->has[QST_DB_META] ? mdb_get(txn, env->table[QST_DB_META], &key, &value) : MDB_NOTFOUND;
    if (rc == 0 && (value.mv_size != sizeof LAYOUT - 1 || memcmp(value.mv_data, LAYOUT, value.mv_size) != 0))
        status = qst__fail(err, QST_E_STALE, "store", "'%.300s' has layout %.*s, not %s", env->files.folder,
                           (int)(value.mv_size < 20 ? value.mv_size : 20), (const char *)value.mv_data, LAYOUT);
    else if (rc != 0 && rc != MDB_NOTFOUND)
        status = failed(env, rc, "cannot be read", err);
    mdb_txn_abort(txn);
    return status;
}

static qst_status start(qst__env *env, const char *path, unsigned flags, qst_error *err)
{
    int dead, rc = start_mdb(env, path, flags);

    if (rc != 0)
        return failed(env, rc, "cannot be opened", err);
    env->readonly = (flags & MDB_RDONLY) != 0;
    if (!(flags & MDB_NOLOCK))
        (void)mdb_reader_check(env->mdb, &dead);
    rc = open_tables(env, false);
    if (rc == MDB_NOTFOUND && !env->readonly && qst__env_fits(env))
        rc = open_tables(env, true);
    if (rc != 0)
        return failed(env, rc, "has no tables", err);
    return check_layout(env, err);
}

/* ---- Ways of opening --------------------------------------------------------------------------------------------- */

/* Over a copy in memory, checked, without locks: where nothing can be written. Why not otherwise stands in err. */
static qst_status open_copy(qst__env *env, qst_error *err)
{
    qst_status status;
    char       path[64];
    int        fd = -1;

    if (env->mdb)
        mdb_env_close(env->mdb);
    env->mdb = NULL;
    if (env->gated)
        qst__claims_leave(env->claims);
    env->gated = false;
    qst__files_finish(&env->files);
    status = qst__files_open(&env->files, false, &env->alloc, err);
    if (status == QST_OK && env->files.fd < 0)
        status =
            qst__fail(err, QST_E_NOTFOUND, "store", "'%.300s' has no data, and none can be written", env->files.folder);
    if (status == QST_OK)
        status = qst__files_check_emptied(&env->files, err);
    /* A writer may have been at work while it was copied: that looks like damage, once. */
    for (int i = 0; status == QST_OK && i < TRIES; i++) {
        fd = qst__files_copy(&env->files, err);
        if (fd < 0)
            return QST_E_IO;
        status = qst__lmdb_check(fd, &env->alloc, i + 1 < TRIES ? NULL : err);
        if (status == QST_OK)
            break;
        (void)close(fd);
        fd = -1;
        if (status == QST_E_CORRUPT && i + 1 < TRIES)
            status = QST_OK;
    }
    if (status != QST_OK)
        return status;
    qst__files_finish(&env->files);
    env->files.fd = fd;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return start(env, path, MDB_RDONLY | MDB_NOLOCK | MDB_NOSUBDIR | MDB_NOTLS, err);
}

/* Checks the data where nobody else has it open; sets it aside where it is damaged. */
static qst_status prepare(qst__env *env, bool alone, bool readonly, const qst__log *log, qst_error *err)
{
    qst_error  why = {0};
    char       name[32];
    qst_status status = qst__files_open(&env->files, alone, &env->alloc, &why);

    if ((status == QST_E_CORRUPT || status == QST_E_STALE) && !readonly && !env->files.readonly) {
        status = qst__files_set_aside(&env->files, name, err);
        if (status == QST_OK)
            QST__LOG(log, STORE, WARN, "'%s' is damaged (%s): set aside as %s, a new store begins", env->files.folder,
                     why.text, name);
        return status;
    }
    if (status != QST_OK)
        return qst__fail(err, status, "store", "'%.250s': %s", env->files.folder, qst__error_text(&why, status));
    return QST_OK;
}

/* Others have it open: are these the files that they have? */
static qst_status meet(qst__env *env, qst_error *err)
{
    qst__files_note theirs, now;

    if (!qst__claims_read(env->claims, &theirs, sizeof theirs) || !qst__files_note_of(&env->files, &now) ||
        memcmp(&theirs, &now, sizeof now) != 0)
        return qst__fail(err, QST_E_STATE, "store", "'%.300s' had files replaced while other processes use it",
                         env->files.folder);
    /* A writer may be at work while it is looked at: that looks like damage, once. */
    for (int i = 0; i < TRIES && qst__files_check_emptied(&env->files, NULL) == QST_OK; i++)
        if (qst__lmdb_full(env->files.fd) || qst__lmdb_check(env->files.fd, &env->alloc, NULL) == QST_OK)
            return QST_OK;
    return qst__fail(err, QST_E_STATE, "store", "'%.300s' was cut short while other processes use it",
                     env->files.folder);
}

/* For those who come while it is open. Without it they could not join: better it is not opened. */
static qst_status leave_note(qst__env *env, bool alone, qst_error *err)
{
    qst__files_note note, there;

    if (!qst__files_note_of(&env->files, &note))
        return QST_OK;
    env->lock_inode = note.lock;
    if (!alone || !note.lock ||
        (qst__claims_read(env->claims, &there, sizeof there) && memcmp(&there, &note, sizeof note) == 0))
        return QST_OK;
    if (qst__files_limit() < sizeof note)
        return qst__fail(err, QST_E_REFUSED, "store",
                         "'%.300s/claims' cannot have %d bytes: a file of this process may have %llu (RLIMIT_FSIZE)",
                         env->files.folder, (int)sizeof note, (unsigned long long)qst__files_limit());
    (void)qst__claims_write(env->claims, &note, sizeof note);
    return QST_OK;
}

static bool has_no_data(const qst__env *env)
{
    char        path[QST__PATH_MAX];
    struct stat found;

    qst__files_path(&env->files, path, "data.mdb");
    return lstat(path, &found) != 0 && errno == ENOENT;
}

static qst_status no_data(const qst__env *env, qst_error *err)
{
    return qst__fail(err, QST_E_NOTFOUND, "store", "'%.300s' has no data, and none is to be written",
                     env->files.folder);
}

/* With locks. The gate keeps other processes from opening meanwhile. */
static qst_status open_locked(qst__env *env, bool readonly, const qst__log *log, qst_error *err)
{
    bool       alone;
    unsigned   flags = MDB_NOTLS | MDB_NOSYNC;
    qst_status status = qst__claims_enter(env->claims, GATE_MS, err);

    env->gated = status == QST_OK;
    if (status == QST_OK)
        status = qst__claims_join(env->claims, &alone, err);
    if (status == QST_OK)
        status = prepare(env, alone, readonly, log, err);
    if (status != QST_OK)
        return status;
    if (env->confined && env->files.fd < 0)
        return qst__fail(err, QST_E_REFUSED, "store",
                         "'%.300s': a store needs files of %d KiB, and those of this process may have %llu bytes "
                         "(RLIMIT_FSIZE)",
                         env->files.folder, (int)(QST__MAP_ALIGN >> 10), (unsigned long long)qst__files_limit());
    if (readonly && env->files.fd < 0)
        return no_data(env, err);
    status = alone ? qst__files_reserve_lock(&env->files, err) : meet(env, err);
    if (status == QST_OK)
        status = start(env, env->files.folder, readonly || env->files.readonly ? flags | MDB_RDONLY : flags, err);
    if (status == QST_OK && env->files.fd < 0) /* LMDB has made it */
        status = qst__files_open(&env->files, false, &env->alloc, err);
    if (status == QST_OK)
        status = leave_note(env, alone, err);
    if (status != QST_OK)
        return status;
    if (env->files.checked)
        qst__env_mark(env);
    qst__claims_leave(env->claims);
    env->gated = false;
    return QST_OK;
}

qst_status qst__env_make(qst__env **out, const char *folder, uint64_t limit, bool readonly, const qst__log *log,
                         qst_error *err)
{
    qst__alloc  alloc = qst__alloc_default();
    qst__env   *env = qst__zalloc(&alloc, sizeof *env);
    qst_error   why = {0};
    struct stat found;
    qst_status  status;

    if (!env)
        return qst__fail(err, QST_E_NOMEM, "store", "no memory for an environment, %zu bytes", sizeof *env);
    env->alloc = alloc;
    env->pid = getpid();
    env->files.fd = -1;
    (void)pthread_rwlock_init(&env->map_lock, NULL);
    atomic_store(&env->limit, limit);
    env->confined = !readonly && qst__env_within_limits(limit) == 0;
    (void)snprintf(env->files.folder, sizeof env->files.folder, "%s", folder);
    status = qst__folder_trust(folder, err);
    if (status == QST_OK && stat(folder, &found) == 0) {
        env->device = found.st_dev;
        env->inode = found.st_ino;
    }
    if (status == QST_OK && readonly && has_no_data(env)) /* nothing is made there, claims neither */
        status = no_data(env, &why);
    else if (status == QST_OK)
        status = qst__claims_open(&env->claims, &env->alloc, folder, &why);
    else
        (void)qst__fail(&why, status, "store", "%s", qst__error_text(err, status));
    if (status == QST_OK)
        status = open_locked(env, readonly || env->confined, log, &why);
    else if (status == QST_E_IO && !env->claims)
        status = qst__claims_open(&env->claims, &env->alloc, NULL, err) == QST_OK ? QST_E_IO : QST_E_NOMEM;
    if (status == QST_E_IO && env->claims)
        status = open_copy(env, &why);
    if (status != QST_OK)
        (void)qst__fail(err, status, "store", "%s", qst__error_text(&why, status));
    if (status == QST_OK && env->confined)
        atomic_store(&env->failure, QST__ENV_LIMIT);
    if (status == QST_OK)
        *out = env;
    else
        qst__env_destroy(env);
    return status;
}
