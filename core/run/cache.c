/* SPDX-License-Identifier: MIT
 *
 * cache.c: what the store holds, told: all of it, one record, and decisions made again from what is stored.
 */
#include "run/describe.h"
#include "run/stored.h"
#include "tune/tuner.h"

#include <quernstone/cache.h>
#include <string.h>

#define ID_MIN 4u /* digits */

static qst_status check(const qst_context *ctx, bool rest, const char *what, qst_error *err)
{
    return ctx && rest ? QST_OK : qst__fail(err, QST_E_INVALID, "cache", "%s is NULL", ctx ? what : "context");
}

static qst_status out_of_memory(qst_error *err)
{
    return qst__fail(err, QST_E_NOMEM, "cache", "no memory for a record of the store");
}

/* ---- Where it stands --------------------------------------------------------------------------------------------- */

qst_status qst_cache_stat(qst_context *ctx, qst_sink sink, void *user, qst_error *err)
{
    qst_store_stat stat = {.size = (uint32_t)sizeof stat};
    qst_status     status = check(ctx, sink, "sink", err);
    qst__json     *one, *entries;
    uint32_t       db;

    if (status != QST_OK)
        return status;
    status = ctx->store.stat(ctx->store.self, &stat);
    if (status != QST_OK)
        return qst__fail(err, status, "cache", "%s: where it stands cannot be told: %s", ctx->store.name,
                         qst_status_text(status));
    one = qst__json_object();
    entries = qst__json_object();
    qst__json_set_text(one, "name", ctx->store.name);
    qst__json_set_text(one, "place", stat.place);
    qst__json_set_text(one, "environment", ctx->settings->environment);
    qst__json_set_bool(one, "lasts", (ctx->store.flags & QST_STORE_LASTS) != 0);
    qst__json_set_bool(one, "readonly", (stat.flags & QST_STORE_READONLY) != 0);
    qst__json_set_text(one, "degraded", stat.degraded);
    qst__json_set_int(one, "file_bytes", (int64_t)stat.file_bytes);
    qst__json_set_int(one, "map_bytes", (int64_t)stat.map_bytes);
    for (db = 0; db < QST_DB_COUNT; db++)
        qst__json_set_int(entries, qst__stored_table(db), (int64_t)stat.entries[db]);
    qst__json_set(one, "entries", entries);
    status = qst__json_write(one, false, sink, user);
    qst__json_destroy(one);
    return status == QST_OK ? QST_OK : out_of_memory(err);
}

/* ---- Records in turn: a JSON array, written piece by piece ------------------------------------------------------- */

typedef struct teller {
    qst_context *ctx;
    qst_sink     sink;
    void        *user;
    uint32_t     db;
    bool         some;                                                    /* a comma comes first */
    qst__json *(*tell)(const struct teller *teller, qst__stored *stored); /* NULL: leave it out */
    qst_status status;
} teller;

static int32_t tell_record(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    teller     *t = user;
    qst__stored s;
    qst__json  *one;

    t->status = qst__stored_open(&s, &t->ctx->alloc, t->db, key, key_bytes, value, value_bytes);
    if (t->status != QST_OK)
        return 1;
    one = t->tell(t, &s);
    if (one) {
        if (t->some)
            t->sink(t->user, ",", 1);
        t->some = true;
        t->status = qst__json_write(one, false, t->sink, t->user);
        qst__json_destroy(one);
    }
    qst__stored_finish(&s, &t->ctx->alloc);
    return t->status != QST_OK;
}

static qst_status tell_tables(teller *t, uint32_t first, uint32_t end, qst_error *err)
{
    const qst_store *store = &t->ctx->store;
    qst_status       status;

    t->sink(t->user, "[", 1);
    for (t->db = first; t->db < end; t->db++) {
        status = store->iterate(store->self, t->db, tell_record, t);
        if (t->status != QST_OK)
            return out_of_memory(err);
        if (status < 0)
            return qst__fail(err, status, "cache", "%s: the table %s cannot be read: %s", store->name,
                             qst__stored_table(t->db), qst_status_text(status));
    }
    t->sink(t->user, "]\n", 2);
    return QST_OK;
}

static qst__json *tell_line(const teller *t, qst__stored *s)
{
    (void)t;
    return qst__stored_tell(s);
}

qst_status qst_cache_list(qst_context *ctx, qst_sink sink, void *user, qst_error *err)
{
    teller     t = {.ctx = ctx, .sink = sink, .user = user, .tell = tell_line};
    qst_status status = check(ctx, sink, "sink", err);

    return status == QST_OK ? tell_tables(&t, QST_DB_META + 1, QST_DB_COUNT, err) : status;
}

static qst__json *tell_again(const teller *t, qst__stored *s)
{
    qst__json  *one = NULL;
    char        id[2 * QST_STORE_KEY_MAX + 1];
    const char *before, *after;

    (void)t;
    if (s->state == QST__STORED_CURRENT) {
        one = qst__json_object();
        qst__stored_id(id, s->key, s->key_bytes);
        before = qst__stored_winner(&s->verdict);
        qst__decide(&s->verdict);
        after = qst__stored_winner(&s->verdict);
        qst__json_set_text(one, "id", id);
        qst__json_set_text(one, "op", s->verdict.op);
        qst__json_set_text(one, "key", s->text);
        qst__json_set_text(one, "winner", before);
        qst__json_set_text(one, "replayed", after);
        qst__json_set_bool(one, "same", before && after ? !strcmp(before, after) : before == after);
    }
    return one;
}

qst_status qst_cache_replay(qst_context *ctx, qst_sink sink, void *user, qst_error *err)
{
    teller     t = {.ctx = ctx, .sink = sink, .user = user, .tell = tell_again};
    qst_status status = check(ctx, sink, "sink", err);

    return status == QST_OK ? tell_tables(&t, QST_DB_VERDICTS, QST_DB_VERDICTS + 1, err) : status;
}

/* ---- One record --------------------------------------------------------------------------------------------------- */

/* Finds a record by the beginning of its id and does something with it. */
typedef struct finder {
    qst_context *ctx;
    const char  *id;
    uint32_t     db;    /* being looked at */
    uint32_t     found; /* records that begin so, at most 2 */
    uint32_t     found_db;
    uint8_t      key[QST_STORE_KEY_MAX];
    uint64_t     key_bytes;
    qst_sink     sink;
    void        *user;
    qst_error   *err;
    qst_status (*use)(const struct finder *finder, const qst__stored *stored);
    qst_status status;
} finder;

static int32_t match(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    finder *f = user;
    char    id[2 * QST_STORE_KEY_MAX + 1];

    (void)value;
    (void)value_bytes;
    qst__stored_id(id, key, key_bytes);
    if (strncmp(id, f->id, strlen(f->id)) || key_bytes > sizeof f->key)
        return 0;
    f->found++;
    f->found_db = f->db;
    f->key_bytes = key_bytes;
    memcpy(f->key, key, (size_t)key_bytes);
    return f->found > 1;
}

static int32_t use(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    finder     *f = user;
    qst__stored s;

    f->status = qst__stored_open(&s, &f->ctx->alloc, f->found_db, key, key_bytes, value, value_bytes);
    if (f->status != QST_OK) {
        f->status = out_of_memory(f->err);
        return 1;
    }
    f->status = f->use(f, &s);
    qst__stored_finish(&s, &f->ctx->alloc);
    return 1;
}

/* The bytes of a whole key, where the id is one: then no table is searched. */
static bool whole_key(finder *f)
{
    size_t i, n = strlen(f->id);

    if (n != 64)
        return false;
    for (i = 0; i < n; i++) {
        char    c = f->id[i];
        uint8_t digit = (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        f->key[i / 2] = (uint8_t)(i % 2 ? f->key[i / 2] | digit : digit << 4);
    }
    f->key_bytes = n / 2;
    return true;
}

static qst_status find(finder *f)
{
    const qst_store *store = &f->ctx->store;
    int32_t          got = QST_E_NOTFOUND;

    if (strlen(f->id) < ID_MIN || f->id[strspn(f->id, "0123456789abcdef")])
        return qst__fail(f->err, QST_E_INVALID, "cache", "'%.80s': an id is %u or more digits of 0-9a-f", f->id,
                         ID_MIN);
    f->status = QST_OK;
    if (whole_key(f)) {
        for (f->found_db = QST_DB_META + 1; f->found_db < QST_DB_COUNT && got == QST_E_NOTFOUND; f->found_db++) {
            got = store->get(store->self, f->found_db, f->key, f->key_bytes, use, f);
            if (got >= 0)
                return f->status;
        }
    }
    for (f->db = QST_DB_META + 1; f->db < QST_DB_COUNT && f->found < 2; f->db++)
        (void)store->iterate(store->self, f->db, match, f);
    if (f->found > 1)
        return qst__fail(f->err, QST_E_INVALID, "cache", "%.80s: several records begin so", f->id);
    if (f->found)
        got = store->get(store->self, f->found_db, f->key, f->key_bytes, use, f);
    if (!f->found || got == QST_E_NOTFOUND)
        return qst__fail(f->err, QST_E_NOTFOUND, "cache", "%.80s: no record begins so", f->id);
    return got < 0 ? qst__fail(f->err, got, "cache", "%.80s: cannot be read: %s", f->id, qst_status_text(got))
                   : f->status;
}

static qst_status show(const finder *f, const qst__stored *s)
{
    qst__json *one = qst__stored_tell(s);
    qst__str   log;
    qst_status status;

    qst__str_init(&log, &f->ctx->alloc);
    if (s->state == QST__STORED_CURRENT && s->db == QST_DB_VERDICTS) {
        qst__tell_verdict(one, &s->verdict);
    } else if (s->state == QST__STORED_CURRENT && s->db == QST_DB_PROGRAMS && s->binary.failed) {
        qst__str_append_n(&log, (const char *)s->binary.bytes, s->binary.length);
        qst__json_set_text(one, "log", log.text);
    }
    status = log.failed ? QST_E_NOMEM : qst__json_write(one, false, f->sink, f->user);
    qst__str_finish(&log);
    qst__json_destroy(one);
    return status == QST_OK ? QST_OK : out_of_memory(f->err);
}

qst_status qst_cache_show(qst_context *ctx, const char *id, qst_sink sink, void *user, qst_error *err)
{
    finder     f = {.ctx = ctx, .id = id, .sink = sink, .user = user, .err = err, .use = show};
    qst_status status = check(ctx, id && sink, id ? "sink" : "id", err);

    return status == QST_OK ? find(&f) : status;
}

static qst_status extract(const finder *f, const qst__stored *s)
{
    if (s->db != QST_DB_PROGRAMS || s->binary.failed)
        return qst__fail(f->err, QST_E_UNSUPPORTED, "cache", "%.80s: %s, it has no binary", f->id,
                         s->db != QST_DB_PROGRAMS ? qst__stored_table(s->db) : "a build that failed");
    if (s->state != QST__STORED_CURRENT)
        return qst__fail(f->err, s->state == QST__STORED_STALE ? QST_E_STALE : QST_E_CORRUPT, "cache", "%.80s: %s",
                         f->id, qst__stored_state(s->state));
    f->sink(f->user, (const char *)s->binary.bytes, s->binary.length);
    return QST_OK;
}

qst_status qst_cache_extract(qst_context *ctx, const char *id, qst_sink sink, void *user, qst_error *err)
{
    finder     f = {.ctx = ctx, .id = id, .sink = sink, .user = user, .err = err, .use = extract};
    qst_status status = check(ctx, id && sink, id ? "sink" : "id", err);

    return status == QST_OK ? find(&f) : status;
}
