/* SPDX-License-Identifier: MIT
 *
 * open.c: a store that outlives the failure of its place. */
#include "cache/open.h"

#include "base/getenv.h"
#include "base/lock.h"
#include "cache/folder.h"
#include "cache/lmdb.h"
#include "cache/memory.h"
#include "cache/merge.h"
#include "cache/place.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { FAILURE_MAX = QST__PLACE_MAX + 128, WHY_MAX = FAILURE_MAX + 128 };

/* What the place is still good for. Only ever less. */
enum { GOOD_FOR_NOTHING, GOOD_FOR_READING, GOOD_FOR_ALL };

static const char NOT_WRITTEN[] = "the store cannot be written to, and new entries are kept in memory only";

typedef struct guard {
    const qst__alloc *alloc;
    const qst__log   *log;
    qst_store         base;   /* close NULL: none */
    qst_store         memory; /* what the place did not take */
    atomic_int        good_for;
    atomic_bool       kept[QST_DB_COUNT]; /* is anything of the table in memory? */
    qst__lock         lock;
    bool              warned;
    atomic_bool       degraded;
    char              why[WHY_MAX]; /* written once, before `degraded` */
} guard;

typedef struct ticket {
    qst_store *from;
    void      *token;
} ticket;

static bool can(guard *g, int what)
{
    return atomic_load(&g->good_for) >= what;
}

/* Says once what is wrong, and uses the place for less. */
static void degrade(guard *g, int good_for, const char *what, const char *why)
{
    bool first;

    qst__lock_take(&g->lock);
    if (atomic_load(&g->good_for) > good_for)
        atomic_store(&g->good_for, good_for);
    first = !g->warned;
    g->warned = true;
    if (first) {
        size_t length = strlen(what), more = strlen(why);
        if (length + 2 + more >= sizeof g->why)
            more = sizeof g->why - length - 3;
        memcpy(g->why, what, length);
        memcpy(g->why + length, ": ", 2);
        memcpy(g->why + length + 2, why, more);
        g->why[length + 2 + more] = '\0';
        atomic_store(&g->degraded, true);
    }
    qst__lock_give(&g->lock);
    if (first)
        QST__LOG(g->log, STORE, WARN, "%s", g->why);
}

/* Failures of the call itself or of the moment say nothing about the place. */
static bool is_passing(int32_t status)
{
    return status == QST_OK || status == QST_E_NOTFOUND || status == QST_E_INVALID || status == QST_E_NOMEM ||
           status == QST_E_BUSY;
}

/* `said`: room for what the place said. */
static const char *reason_of(const guard *g, int32_t status, char said[FAILURE_MAX])
{
    said[0] = '\0';
    if (status == QST_E_IO && g->base.close)
        qst__store_lmdb_failure(&g->base, said, FAILURE_MAX);
    return said[0]                   ? said
           : status == QST_E_STATE   ? "this process is a child of the one that opened it"
           : status == QST_E_TIMEOUT ? "another process has been at it for 5 s, or is stopped"
           : status == QST_E_CORRUPT ? "its files are damaged, or were cut short"
                                     : qst_status_text(status);
}

static void bad_read(guard *g, int32_t status)
{
    char said[FAILURE_MAX];

    if (!is_passing(status))
        degrade(g, GOOD_FOR_NOTHING, "the store cannot be read, and is kept in memory only",
                reason_of(g, status, said));
}

static void bad_write(guard *g, int32_t status)
{
    char said[FAILURE_MAX];

    if (status == QST_E_STATE || status == QST_E_CORRUPT)
        bad_read(g, status);
    else if (!is_passing(status))
        degrade(g, GOOD_FOR_READING, NOT_WRITTEN, reason_of(g, status, said));
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int32_t guard_get(void *self, uint32_t db, const void *key, uint64_t key_bytes, qst_store_take take, void *user)
{
    guard  *g = self;
    int32_t status = QST_E_NOTFOUND;

    if (db >= QST_DB_COUNT || !take)
        return QST_E_INVALID;
    if (atomic_load(&g->kept[db]))
        status = g->memory.get(g->memory.self, db, key, key_bytes, take, user);
    if (status == QST_E_NOTFOUND && can(g, GOOD_FOR_READING)) {
        status = g->base.get(g->base.self, db, key, key_bytes, take, user);
        bad_read(g, status);
    }
    return is_passing(status) ? status : QST_E_NOTFOUND;
}

static int32_t guard_iterate(void *self, uint32_t db, qst_store_take take, void *user)
{
    guard *g = self;

    if (db >= QST_DB_COUNT || !take)
        return QST_E_INVALID;
    bad_read(g, qst__merge(can(g, GOOD_FOR_READING) ? &g->base : NULL, atomic_load(&g->kept[db]) ? &g->memory : NULL,
                           db, take, user));
    return QST_OK;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static int32_t guard_put(void *self, uint32_t db, const void *key, uint64_t key_bytes, const void *value,
                         uint64_t value_bytes)
{
    guard  *g = self;
    char    said[FAILURE_MAX];
    int32_t status;

    if (db >= QST_DB_COUNT)
        return QST_E_INVALID;
    if (can(g, GOOD_FOR_ALL)) {
        status = g->base.put(g->base.self, db, key, key_bytes, value, value_bytes);
        if (is_passing(status))
            return status;
        bad_write(g, status);
    } else if (g->base.close) {
        qst__store_lmdb_failure(&g->base, said, sizeof said);
        if (said[0])
            degrade(g, GOOD_FOR_READING, NOT_WRITTEN, said);
        else
            degrade(g, GOOD_FOR_READING, "the store is read-only", "new entries are kept in memory only");
    }
    status = g->memory.put(g->memory.self, db, key, key_bytes, value, value_bytes);
    if (status == QST_OK)
        atomic_store(&g->kept[db], true);
    return status;
}

static int32_t nothing(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    (void)user, (void)key, (void)key_bytes, (void)value, (void)value_bytes;
    return 0;
}

static int32_t guard_remove(void *self, uint32_t db, const void *key, uint64_t key_bytes)
{
    guard  *g = self;
    int32_t kept, status = QST_E_NOTFOUND;

    if (db >= QST_DB_COUNT)
        return QST_E_INVALID;
    kept = g->memory.remove(g->memory.self, db, key, key_bytes);
    if (can(g, GOOD_FOR_ALL)) {
        status = g->base.remove(g->base.self, db, key, key_bytes);
        bad_write(g, status);
    }
    if (!can(g, GOOD_FOR_ALL) && guard_get(g, db, key, key_bytes, nothing, NULL) == QST_OK)
        return QST_E_REFUSED;
    return kept == QST_E_NOTFOUND && is_passing(status) ? status : kept;
}

static int32_t guard_sync(void *self)
{
    guard  *g = self;
    int32_t status = QST_OK;

    if (can(g, GOOD_FOR_ALL)) {
        status = g->base.sync(g->base.self);
        bad_write(g, status);
    }
    return is_passing(status) ? status : QST_OK;
}

/* ---- Claims ------------------------------------------------------------------------------------------------------ */

static int32_t guard_claim(void *self, const void *key, uint64_t key_bytes, void **token)
{
    guard  *g = self;
    int32_t status = QST_E_STATE;
    ticket *fresh;

    if (!token)
        return QST_E_INVALID;
    *token = NULL;
    fresh = qst__zalloc(g->alloc, sizeof *fresh);
    if (!fresh)
        return QST_E_NOMEM;
    if (can(g, GOOD_FOR_READING)) { /* as long as the place is there, so are its claims */
        fresh->from = &g->base;
        status = g->base.claim(g->base.self, key, key_bytes, &fresh->token);
        bad_read(g, status);
    }
    if (!is_passing(status)) {
        fresh->from = &g->memory;
        status = g->memory.claim(g->memory.self, key, key_bytes, &fresh->token);
    }
    if (status == QST_OK)
        *token = fresh;
    else
        qst__free(g->alloc, fresh);
    return status;
}

static void guard_release(void *self, void *token)
{
    guard  *g = self;
    ticket *given = token;

    if (!given)
        return;
    given->from->release(given->from->self, given->token);
    qst__free(g->alloc, given);
}

/* ---- State and life ---------------------------------------------------------------------------------------------- */

static int32_t guard_stat(void *self, qst_store_stat *out)
{
    guard         *g = self;
    qst_store_stat now = {.size = sizeof now}, kept = {.size = sizeof kept};
    int32_t        status;

    if (!out || out->size < sizeof out->size)
        return QST_E_INVALID;
    if (can(g, GOOD_FOR_READING)) {
        status = g->base.stat(g->base.self, &now);
        bad_read(g, status);
    }
    (void)g->memory.stat(g->memory.self, &kept);
    for (uint32_t db = 0; db < QST_DB_COUNT; db++)
        now.entries[db] += kept.entries[db];
    if (can(g, GOOD_FOR_READING) && !can(g, GOOD_FOR_ALL))
        now.flags |= QST_STORE_READONLY;
    if (atomic_load(&g->degraded)) {
        now.flags |= QST_STORE_DEGRADED;
        now.degraded = g->why;
    }
    now.size = out->size < sizeof now ? out->size : (uint32_t)sizeof now;
    memcpy(out, &now, now.size);
    return QST_OK;
}

static void guard_close(void *self)
{
    guard *g = self;

    if (!g)
        return;
    if (g->base.close)
        g->base.close(g->base.self);
    if (g->memory.close)
        g->memory.close(g->memory.self);
    qst__lock_finish(&g->lock);
    qst__free(g->alloc, g);
}

/* The folder that these options name, made where `make` says so. E_NOTFOUND, E_CONFIG, E_IO. */
static qst_status find_place(qst__place *place, const qst__store_options *options, bool make, qst_error *err)
{
    char              cwd[QST__PLACE_MAX], project[QST__PLACE_MAX];
    qst__place_source source = {
        .kind = options->place,
        .path = options->path,
        .environment = options->environment,
        .cache_home = qst__getenv("XDG_CACHE_HOME"),
        .home = qst__getenv("HOME"),
    };
    qst_status status;

    if (getcwd(cwd, sizeof cwd)) {
        source.cwd = cwd;
        if (options->place == QST__PLACE_PROJECT && qst__folder_project(project, sizeof project, cwd))
            source.project = project;
    }
    status = qst__place_find(place, &source, err);
    if (status == QST_OK && make)
        status = qst__folder_make(place, err);
    return status;
}

static qst_status open_base(guard *g, const qst__store_options *options, qst_error *err)
{
    uint64_t   mb = options->map_mb ? options->map_mb : QST__STORE_MAP_MB;
    qst__place place;
    qst_status status = find_place(&place, options, !options->readonly, err);

    if (status == QST_OK)
        status = qst__store_lmdb(&g->base, g->alloc, place.text, mb << 20, options->readonly, g->log, err);
    if (status == QST_OK)
        atomic_store(&g->good_for, qst__store_lmdb_readonly(&g->base) ? GOOD_FOR_READING : GOOD_FOR_ALL);
    return status;
}

qst_status qst__store_open(qst_store *store, const qst__alloc *alloc, const qst__log *log,
                           const qst__store_options *options, qst_error *err)
{
    qst_error  why = {0};
    guard     *g;
    qst_status status;

    if (options->off || options->backend == QST__BACKEND_MEMORY)
        return qst__store_memory(store, alloc, err);
    g = qst__zalloc(alloc, sizeof *g);
    if (!g)
        return qst__fail(err, QST_E_NOMEM, "store", "no memory for a store, %zu bytes", sizeof *g);
    g->alloc = alloc;
    g->log = log;
    qst__lock_init(&g->lock);
    status = qst__store_memory(&g->memory, alloc, err);
    if (status != QST_OK) {
        guard_close(g);
        return status;
    }
    status = open_base(g, options, &why);
    if (status != QST_OK)
        degrade(g, GOOD_FOR_NOTHING, "the store is kept in memory only", qst__error_text(&why, status));
    *store = (qst_store){
        .size = sizeof *store,
        .flags = atomic_load(&g->good_for) == GOOD_FOR_ALL ? QST_STORE_LASTS : 0,
        .name = status == QST_OK ? "lmdb" : "memory",
        .self = g,
        .get = guard_get,
        .put = guard_put,
        .iterate = guard_iterate,
        .remove = guard_remove,
        .claim = guard_claim,
        .release = guard_release,
        .sync = guard_sync,
        .close = guard_close,
        .stat = guard_stat,
    };
    return QST_OK;
}
