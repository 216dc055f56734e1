/* SPDX-License-Identifier: MIT
 *
 * lmdb.c: the functions of a store over an open environment: each is one short transaction. */
#include "cache/lmdb.h"

#include "cache/lmdb-env.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

enum { BATCH_ENTRIES = 64, BATCH_BYTES = 256 * 1024 };
/* Removing needs pages too: a full store can still be made smaller. */
#define REMOVE_OVER ((uint64_t)8 << 20)

typedef struct lmdb {
    const qst__alloc *alloc;
    qst__env         *env;
    bool              readonly; /* as asked for; the environment may be read-only by itself */
} lmdb;

static bool in_contract(uint32_t db, const void *key, uint64_t key_bytes)
{
    return db < QST_DB_COUNT && key && key_bytes > 0 && key_bytes <= QST_STORE_KEY_MAX;
}

static MDB_val as_val(const void *data, uint64_t bytes)
{
    return (MDB_val){.mv_size = (size_t)bytes, .mv_data = (void *)(uintptr_t)data};
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int32_t lmdb_get(void *self, uint32_t db, const void *key, uint64_t key_bytes, qst_store_take take, void *user)
{
    lmdb         *store = self;
    unsigned char small[4096], *copy = small;
    MDB_val       at = as_val(key, key_bytes), value = {0, NULL};
    MDB_txn      *txn;
    MDB_dbi       table;
    qst_status    status;

    if (!in_contract(db, key, key_bytes) || !take)
        return QST_E_INVALID;
    status = qst__env_begin(store->env, false, &txn);
    if (status != QST_OK)
        return status;
    status = QST_E_NOTFOUND;
    if (qst__env_table(store->env, db, &table))
        status = qst__env_status(store->env, mdb_get(txn, table, &at, &value));
    if (status == QST_OK && value.mv_size > sizeof small) {
        copy = qst__resize(store->alloc, NULL, value.mv_size);
        status = copy ? QST_OK : QST_E_NOMEM;
    }
    if (status == QST_OK && value.mv_size)
        memcpy(copy, value.mv_data, value.mv_size);
    (void)qst__env_end(store->env, false, txn, MDB_NOTFOUND);
    if (status == QST_OK)
        (void)take(user, key, key_bytes, copy, value.mv_size);
    if (copy != small)
        qst__free(store->alloc, copy);
    return status;
}

/* Some entries: key bytes u64, value bytes u64, key, value, one behind the other. */
typedef struct batch {
    qst__str      bytes;
    uint32_t      n;
    uint32_t      last_bytes; /* 0: before the first, for keys are not empty */
    unsigned char last[QST_STORE_KEY_MAX];
} batch;

/* The entries after the last one. */
static int read_batch(MDB_txn *txn, MDB_dbi table, batch *b)
{
    MDB_cursor *cursor;
    MDB_val     key = as_val(b->last, b->last_bytes), value;
    int         rc = mdb_cursor_open(txn, table, &cursor);

    if (rc != 0)
        return rc;
    rc = mdb_cursor_get(cursor, &key, &value, b->last_bytes ? MDB_SET_RANGE : MDB_FIRST);
    if (rc == 0 && b->last_bytes == key.mv_size && memcmp(key.mv_data, b->last, key.mv_size) == 0)
        rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    while (rc == 0 && b->n < BATCH_ENTRIES && b->bytes.length < BATCH_BYTES) {
        uint64_t sizes[2] = {key.mv_size, value.mv_size};

        qst__str_append_n(&b->bytes, (const char *)sizes, sizeof sizes);
        qst__str_append_n(&b->bytes, key.mv_data, key.mv_size);
        qst__str_append_n(&b->bytes, value.mv_data, value.mv_size);
        if (b->bytes.failed || key.mv_size > sizeof b->last) {
            rc = b->bytes.failed ? ENOMEM : MDB_BAD_VALSIZE;
            break;
        }
        memcpy(b->last, key.mv_data, key.mv_size);
        b->last_bytes = (uint32_t)key.mv_size;
        b->n++;
        rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

static bool show_batch(const batch *b, qst_store_take take, void *user)
{
    const char *at = b->bytes.text;

    for (uint32_t i = 0; i < b->n; i++) {
        uint64_t sizes[2];
        memcpy(sizes, at, sizeof sizes);
        at += sizeof sizes;
        if (take(user, at, sizes[0], at + sizes[0], sizes[1]) != 0)
            return false;
        at += sizes[0] + sizes[1];
    }
    return true;
}

static int32_t lmdb_iterate(void *self, uint32_t db, qst_store_take take, void *user)
{
    lmdb      *store = self;
    batch      b = {.n = 0};
    qst_status status;
    MDB_txn   *txn;
    MDB_dbi    table;

    if (db >= QST_DB_COUNT || !take)
        return QST_E_INVALID;
    qst__str_init(&b.bytes, store->alloc);
    do {
        b.n = 0;
        qst__str_clear(&b.bytes);
        status = qst__env_begin(store->env, false, &txn);
        if (status != QST_OK)
            break;
        if (qst__env_table(store->env, db, &table))
            status = qst__env_status(store->env, read_batch(txn, table, &b));
        (void)qst__env_end(store->env, false, txn, MDB_NOTFOUND);
    } while (status == QST_OK && b.n > 0 && show_batch(&b, take, user));
    qst__str_finish(&b.bytes);
    return status;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Puts, or with value NULL removes, as often as the map must grow for it. */
static qst_status write_entry(lmdb *store, uint32_t db, MDB_val key, MDB_val *value, uint64_t over)
{
    qst_status status;
    MDB_txn   *txn;
    MDB_dbi    table;
    int        rc;

    do {
        status = store->readonly ? QST_E_REFUSED : qst__env_begin(store->env, true, &txn);
        if (status != QST_OK)
            return status;
        rc = qst__env_table(store->env, db, &table) ? 0 : MDB_NOTFOUND;
        if (rc == 0)
            rc = value ? mdb_put(txn, table, &key, value, 0) : mdb_del(txn, table, &key, NULL);
        rc = qst__env_end(store->env, true, txn, rc);
    } while (rc == MDB_MAP_FULL && qst__env_grow(store->env, over));
    /* A value that is large beside the whole says nothing about the others. */
    if (rc == MDB_MAP_FULL && value && value->mv_size > qst__env_map_bytes(store->env) / 8 &&
        !qst__env_is_limited(store->env))
        return QST_E_NOMEM;
    return qst__env_status(store->env, rc);
}

static int32_t lmdb_put(void *self, uint32_t db, const void *key, uint64_t key_bytes, const void *value,
                        uint64_t value_bytes)
{
    MDB_val bytes = as_val(value, value_bytes);

    if (!in_contract(db, key, key_bytes) || (!value && value_bytes))
        return QST_E_INVALID;
    if (value_bytes > UINT32_MAX)
        return QST_E_NOMEM; /* LMDB's largest value */
    return write_entry(self, db, as_val(key, key_bytes), &bytes, 0);
}

static int32_t lmdb_remove(void *self, uint32_t db, const void *key, uint64_t key_bytes)
{
    if (!in_contract(db, key, key_bytes))
        return QST_E_INVALID;
    return write_entry(self, db, as_val(key, key_bytes), NULL, REMOVE_OVER);
}

static int32_t lmdb_sync(void *self)
{
    lmdb *store = self;
    return store->readonly ? QST_OK : qst__env_sync(store->env);
}

/* ---- Claims, state, life ----------------------------------------------------------------------------------------- */

static int32_t lmdb_claim(void *self, const void *key, uint64_t key_bytes, void **token)
{
    lmdb *store = self;

    if (!in_contract(0, key, key_bytes) || !token)
        return QST_E_INVALID;
    return qst__claims_take(qst__env_claims(store->env), key, (size_t)key_bytes, token);
}

static void lmdb_release(void *self, void *token)
{
    lmdb *store = self;
    qst__claims_give(qst__env_claims(store->env), token);
}

static int32_t lmdb_stat(void *self, qst_store_stat *out)
{
    lmdb          *store = self;
    qst_store_stat now = {.size = sizeof now};
    qst_status     status;
    MDB_txn       *txn;
    MDB_dbi        table;
    MDB_stat       of;

    if (!out || out->size < sizeof out->size)
        return QST_E_INVALID;
    status = qst__env_begin(store->env, false, &txn);
    if (status != QST_OK)
        return status;
    for (uint32_t db = 0; db < QST_DB_COUNT; db++)
        if (qst__env_table(store->env, db, &table) && mdb_stat(txn, table, &of) == 0)
            now.entries[db] = of.ms_entries;
    (void)qst__env_end(store->env, false, txn, MDB_NOTFOUND);
    now.flags = qst__env_readonly(store->env) || store->readonly ? QST_STORE_READONLY : 0;
    now.place = qst__env_folder(store->env);
    now.file_bytes = qst__env_file_bytes(store->env);
    now.map_bytes = qst__env_map_bytes(store->env);
    if (now.size > out->size)
        now.size = out->size;
    memcpy(out, &now, now.size);
    return QST_OK;
}

static void lmdb_close(void *self)
{
    lmdb *store = self;

    if (!store)
        return;
    qst__env_close(store->env);
    qst__free(store->alloc, store);
}

/* A block of which the disk took a part is EIO to LMDB. */
static int cause_of(const char *folder, int code)
{
    struct statvfs disk;

    return code == EIO && statvfs(folder, &disk) == 0 && disk.f_bavail == 0 ? ENOSPC : code;
}

void qst__store_lmdb_failure(const qst_store *store, char *text, size_t room)
{
    const lmdb *self = store->self;
    const char *folder = qst__env_folder(self->env);
    int         code = qst__env_failure(self->env);

    text[0] = '\0';
    if (code == QST__ENV_LIMIT || (code == MDB_MAP_FULL && qst__env_is_limited(self->env)))
        (void)snprintf(text, room,
                       "'%s': it would be larger than a file of this process may be, %llu bytes (RLIMIT_FSIZE)", folder,
                       (unsigned long long)qst__files_limit());
    else if (code == MDB_MAP_FULL)
        (void)snprintf(text, room, "'%s': it is as large as store.map_mb lets it be, %llu MiB", folder,
                       (unsigned long long)(qst__env_map_bytes(self->env) >> 20));
    else if (code == QST__ENV_GONE)
        (void)snprintf(text, room, "'%s': it was removed, or replaced, while it was in use", folder);
    else if (code != 0)
        (void)snprintf(text, room, "'%s': %s", folder, mdb_strerror(cause_of(folder, code)));
}

bool qst__store_lmdb_readonly(const qst_store *store)
{
    const lmdb *self = store->self;
    return self->readonly || qst__env_readonly(self->env);
}

qst_status qst__store_lmdb(qst_store *store, const qst__alloc *alloc, const char *folder, uint64_t limit_bytes,
                           bool readonly, const qst__log *log, qst_error *err)
{
    lmdb      *self = qst__zalloc(alloc, sizeof *self);
    qst_status status;

    if (!self)
        return qst__fail(err, QST_E_NOMEM, "store", "no memory for a store, %zu bytes", sizeof *self);
    self->alloc = alloc;
    self->readonly = readonly;
    status = qst__env_open(&self->env, folder, limit_bytes, readonly, log, err);
    if (status != QST_OK) {
        qst__free(alloc, self);
        return status;
    }
    *store = (qst_store){
        .size = sizeof *store,
        .name = "lmdb",
        .self = self,
        .get = lmdb_get,
        .put = lmdb_put,
        .iterate = lmdb_iterate,
        .remove = lmdb_remove,
        .claim = lmdb_claim,
        .release = lmdb_release,
        .sync = lmdb_sync,
        .close = lmdb_close,
        .stat = lmdb_stat,
    };
    return QST_OK;
}
