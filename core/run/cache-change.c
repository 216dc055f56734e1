/* SPDX-License-Identifier: MIT
 *
 * cache-change.c: the store checked, pruned and written out. What is to go is listed first and removed then,
 * so that no iteration runs over what it removes.
 */
#include "cache/json.h"
#include "cache/lmdb-file.h"
#include "run/stored.h"

#include <errno.h>
#include <quernstone/cache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct item {
    uint8_t *key; /* owned */
    uint64_t key_bytes;
    uint64_t bytes; /* of the value */
    uint64_t at_s;
    uint32_t db;
} item;

/* Looks at the records of some tables; `wants` says which are to be listed. */
typedef struct survey {
    qst_context *ctx;
    uint32_t     db;
    bool (*wants)(struct survey *survey, const qst__stored *stored);
    void *user; /* of wants */
    QST__VEC(item) items;
    qst_status status;
} survey;

static bool list(survey *s, const qst__stored *r)
{
    const qst__alloc *alloc = &s->ctx->alloc;
    item              it = {NULL, r->key_bytes, r->value_bytes, r->at_s, r->db};

    it.key = qst__zalloc(alloc, (size_t)r->key_bytes + 1);
    if (!it.key)
        return false;
    memcpy(it.key, r->key, (size_t)r->key_bytes);
    if (qst__vec_push(alloc, &s->items, it))
        return true;
    qst__free(alloc, it.key);
    return false;
}

static int32_t look(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    survey     *s = user;
    qst__stored r;

    s->status = qst__stored_open(&r, &s->ctx->alloc, s->db, key, key_bytes, value, value_bytes);
    if (s->status != QST_OK)
        return 1;
    if (s->wants(s, &r) && !list(s, &r))
        s->status = QST_E_NOMEM;
    qst__stored_finish(&r, &s->ctx->alloc);
    return s->status != QST_OK;
}

static qst_status look_through(survey *s, uint32_t first, uint32_t end, qst_error *err)
{
    const qst_store *store = &s->ctx->store;
    qst_status       status;

    for (s->db = first; s->db < end; s->db++) {
        status = store->iterate(store->self, s->db, look, s);
        if (s->status != QST_OK)
            return qst__fail(err, s->status, "cache", "no memory to look through the store");
        if (status < 0)
            return qst__fail(err, status, "cache", "%s: the table %s cannot be read: %s", store->name,
                             qst__stored_table(s->db), qst_status_text(status));
    }
    return QST_OK;
}

static qst_status cannot_remove(const qst_store *store, const char *table, qst_status status, qst_error *err)
{
    qst_store_stat now = {.size = (uint32_t)sizeof now};
    bool           told = store->stat(store->self, &now) == QST_OK;
    bool           readonly = told && (now.flags & QST_STORE_READONLY);

    return qst__fail(err, status, "cache", "%.300s: a record of %s cannot be removed: %s",
                     told && now.place ? now.place : store->name, table,
                     readonly ? "the store is read-only" : qst_status_text(status));
}

/* Removes the first n listed; another process may have been quicker. */
static qst_status drop(survey *s, size_t n, uint64_t *removed, qst_error *err)
{
    const qst_store *store = &s->ctx->store;
    size_t           i;

    for (i = 0; i < n; i++) {
        const item *it = &s->items.data[i];
        qst_status  status = store->remove(store->self, it->db, it->key, it->key_bytes);
        if (status == QST_OK)
            ++*removed;
        else if (status != QST_E_NOTFOUND)
            return cannot_remove(store, qst__stored_table(it->db), status, err);
    }
    return QST_OK;
}

static void survey_finish(survey *s)
{
    size_t i;

    for (i = 0; i < s->items.count; i++)
        qst__free(&s->ctx->alloc, s->items.data[i].key);
    qst__vec_finish(&s->ctx->alloc, &s->items);
}

/* ---- Verify ------------------------------------------------------------------------------------------------------- */

typedef struct verifier {
    qst_cache_check count;
    qst_sink        sink;
    void           *user;
    bool            removes;
} verifier;

static bool wants_damaged(survey *s, const qst__stored *r)
{
    verifier *v = s->user;
    uint64_t *counts[QST__STORED_STATES] = {&v->count.current, &v->count.stale, &v->count.damaged, &v->count.kept};
    char      id[2 * QST_STORE_KEY_MAX + 1];
    qst__str  line;

    ++*counts[r->state];
    if (v->sink && (r->state == QST__STORED_STALE || r->state == QST__STORED_DAMAGED)) {
        qst__stored_id(id, r->key, r->key_bytes);
        qst__str_init(&line, &s->ctx->alloc);
        qst__str_printf(&line, "%s %s: %s\n", qst__stored_table(r->db), id, qst__stored_state(r->state));
        v->sink(v->user, line.text, line.length);
        qst__str_finish(&line);
    }
    return v->removes && r->state == QST__STORED_DAMAGED;
}

/* Stores that were damaged as a whole. */
static qst_status look_aside(verifier *v, const qst_store *store, qst_error *err)
{
    qst_store_stat now = {.size = (uint32_t)sizeof now};
    char           path[QST__PATH_MAX], line[QST__PATH_MAX + 64];
    int            n = 0;

    if (store->stat(store->self, &now) != QST_OK || !now.place)
        return QST_OK;
    while (qst__files_aside(now.place, &n, path)) {
        v->count.set_aside++;
        if (v->sink)
            v->sink(v->user, line, (size_t)snprintf(line, sizeof line, "%s: a damaged store, set aside\n", path));
        if (v->removes && (now.flags & QST_STORE_READONLY))
            return qst__fail(err, QST_E_REFUSED, "cache", "%.300s: cannot be removed: the store is read-only", path);
        if (v->removes && unlink(path) != 0)
            return qst__fail(err, QST_E_IO, "cache", "%.300s: cannot be removed: %s", path, strerror(errno));
        v->count.removed += v->removes;
    }
    return QST_OK;
}

qst_status qst_cache_verify(qst_context *ctx, uint32_t flags, qst_cache_check *out, qst_sink sink, void *user,
                            qst_error *err)
{
    verifier   v = {.sink = sink, .user = user, .removes = (flags & QST_CACHE_REMOVE_DAMAGED) != 0};
    survey     s = {.ctx = ctx, .wants = wants_damaged, .user = &v};
    qst_status status;

    if (!ctx || !out || out->size < 2 * sizeof(uint32_t))
        return qst__fail(err, QST_E_INVALID, "cache", "%s", !ctx ? "context is NULL" : "check is NULL or has no size");
    if (flags & ~(uint32_t)QST_CACHE_REMOVE_DAMAGED)
        return qst__fail(err, QST_E_INVALID, "cache", "unknown flags 0x%x", flags);
    status = look_through(&s, QST_DB_META + 1, QST_DB_COUNT, err);
    if (status == QST_OK)
        status = drop(&s, s.items.count, &v.count.removed, err);
    if (status == QST_OK)
        status = look_aside(&v, &ctx->store, err);
    survey_finish(&s);
    v.count.size = out->size < sizeof *out ? out->size : (uint32_t)sizeof *out;
    memcpy(out, &v.count, v.count.size);
    return status;
}

/* ---- Prune -------------------------------------------------------------------------------------------------------- */

static bool wants_pruned(survey *s, const qst__stored *r)
{
    const qst_cache_prune_options *o = s->user;

    if (o->flags & QST_CACHE_ALL)
        return true;
    if (r->state == QST__STORED_STALE || r->state == QST__STORED_DAMAGED)
        return (o->flags & QST_CACHE_UNUSABLE) != 0;
    if (r->db == QST_DB_QUARANTINE)
        return o->quarantine && qst__glob(o->quarantine, r->text);
    return o->op && r->db == QST_DB_VERDICTS && qst__glob(o->op, r->verdict.op);
}

static bool wants_any(survey *s, const qst__stored *r)
{
    (void)s;
    (void)r;
    return true;
}

static int by_last_use(const void *a, const void *b)
{
    const item *x = a, *y = b;

    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

qst_status qst__stored_trim(qst_context *ctx, uint64_t bytes, uint64_t *removed, qst_error *err)
{
    survey     s = {.ctx = ctx, .wants = wants_any};
    uint64_t   sum = 0;
    size_t     i;
    qst_status status = look_through(&s, QST_DB_PROGRAMS, QST_DB_PROGRAMS + 1, err);

    for (i = 0; i < s.items.count; i++)
        sum += s.items.data[i].bytes;
    if (status == QST_OK && sum > bytes) {
        qsort(s.items.data, s.items.count, sizeof *s.items.data, by_last_use);
        for (i = 0; sum > bytes; i++)
            sum -= s.items.data[i].bytes;
        status = drop(&s, i, removed, err);
    }
    survey_finish(&s);
    return status;
}

qst_status qst_cache_prune(qst_context *ctx, const qst_cache_prune_options *given, uint64_t *removed, qst_error *err)
{
    qst_cache_prune_options o;
    survey                  s = {.ctx = ctx, .wants = wants_pruned, .user = &o};
    uint64_t                n = 0;
    qst_status              status;

    if (!ctx || !given || given->size < 2 * sizeof(uint32_t))
        return qst__fail(err, QST_E_INVALID, "cache", "%s",
                         !ctx ? "context is NULL" : "options are NULL, or not set by qst_cache_prune_options_init");
    qst_cache_prune_options_init(&o);
    memcpy(&o, given, given->size < sizeof o ? given->size : sizeof o);
    if (o.flags & ~(uint32_t)(QST_CACHE_UNUSABLE | QST_CACHE_ALL))
        return qst__fail(err, QST_E_INVALID, "cache", "options: unknown flags 0x%x", o.flags);
    status = look_through(&s, QST_DB_META + 1, QST_DB_COUNT, err);
    if (status == QST_OK)
        status = drop(&s, s.items.count, &n, err);
    survey_finish(&s);
    if (status == QST_OK && o.programs_bytes != UINT64_MAX)
        status = qst__stored_trim(ctx, o.programs_bytes, &n, err);
    if (removed)
        *removed = n;
    return status;
}

/* ---- Export: the store as one that shows current verdicts of some operations only --------------------------------- */

typedef struct sieve {
    qst_context   *ctx;
    const char    *op;
    qst_store_take take;
    void          *user;
    qst_sink       sink; /* where the text goes */
    void          *sink_user;
} sieve;

static int32_t sift(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    const sieve *v = user;
    qst__stored  r;
    int32_t      end = 0;

    if (qst__stored_open(&r, &v->ctx->alloc, QST_DB_VERDICTS, key, key_bytes, value, value_bytes) != QST_OK)
        return 0;
    if (r.state == QST__STORED_CURRENT && (!v->op || qst__glob(v->op, r.verdict.op)))
        end = v->take(v->user, key, key_bytes, value, value_bytes);
    qst__stored_finish(&r, &v->ctx->alloc);
    return end;
}

static int32_t iterate_sieve(void *self, uint32_t db, qst_store_take take, void *user)
{
    sieve           *v = self;
    const qst_store *store = &v->ctx->store;

    v->take = take;
    v->user = user;
    return store->iterate(store->self, db, sift, v);
}

static int32_t pass_on(void *user, const char *text, size_t bytes)
{
    const sieve *v = user;

    v->sink(v->sink_user, text, bytes);
    return 0;
}

qst_status qst_cache_export(qst_context *ctx, const char *op, qst_sink sink, void *user, qst_error *err)
{
    sieve     v = {.ctx = ctx, .op = op, .sink = sink, .sink_user = user};
    qst_store shown;
    uint64_t  count;

    if (!ctx || !sink)
        return qst__fail(err, QST_E_INVALID, "cache", "%s is NULL", ctx ? "sink" : "context");
    shown = ctx->store;
    shown.self = &v;
    shown.iterate = iterate_sieve;
    return qst__store_export(&shown, 1u << QST_DB_VERDICTS, "quernstone verdicts", pass_on, &v, &count, err);
}
