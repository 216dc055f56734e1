/* SPDX-License-Identifier: MIT
 *
 * quarantine.c: see quarantine.h.
 */
#include "run/quarantine.h"

#include "cache/envelope.h"

#include <string.h>

#define SCHEMA 1u
#define KIND   'Q'
#define BYTES  8u

enum { CAME_BACK, ABOUT_TO_BE_TRIED };
enum { NOT_ASKED, ASKED, INSIDE, DONE }; /* of a watch */

/* Is a candidate watched at all? The fallback has to run whatever happens. */
static bool watched(const qst__shelf *shelf, uint32_t candidate)
{
    return (shelf->site->ctx->store.flags & QST_STORE_LASTS) && candidate != shelf->set->model.fallback;
}

static void key_of(qst__shelf *shelf, uint32_t candidate, uint8_t key[32])
{
    const qst_context    *ctx = shelf->site->ctx;
    const qst__candidate *c = &shelf->set->model.candidates[candidate];
    const qst_device     *d = &shelf->site->facts.device;
    uint8_t               file[32] = {0};
    qst__sha256           sha;

    if (c->origin < ctx->plugins.list.count)
        qst__plugin_digest(&ctx->plugins.list.data[c->origin], file);
    qst__sha256_init(&sha);
    qst__sha256_update(&sha, c->name, strlen(c->name) + 1);
    qst__sha256_update(&sha, file, sizeof file);
    qst__sha256_update(&sha, d->target, strlen(d->target) + 1);
    qst__sha256_update(&sha, d->driver, strlen(d->driver) + 1);
    qst__sha256_finish(&sha, key);
}

typedef struct line {
    bool     there;
    uint32_t state, deaths;
} line;

static uint32_t get32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void put32(uint8_t *bytes, uint32_t value)
{
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
    bytes[2] = (uint8_t)(value >> 16);
    bytes[3] = (uint8_t)(value >> 24);
}

qst_status qst__quarantine_open(qst__quarantined *out, const void *value, uint64_t value_bytes)
{
    qst__envelope e;

    if (qst__envelope_open(&e, value, (size_t)value_bytes) != QST_OK || e.kind != KIND)
        return QST_E_CORRUPT;
    if (e.schema != SCHEMA)
        return QST_E_STALE;
    if (e.value_bytes != BYTES)
        return QST_E_CORRUPT;
    *out = (qst__quarantined){e.key, e.key_length, get32(e.value), get32(e.value + 4)};
    return QST_OK;
}

static int32_t take(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    line            *l = user;
    qst__quarantined found;

    (void)key;
    (void)key_bytes;
    if (qst__quarantine_open(&found, value, value_bytes) == QST_OK)
        *l = (line){true, found.state, found.deaths};
    return 1;
}

static line read_line(const qst__shelf *shelf, const uint8_t key[32])
{
    const qst_store *store = &shelf->site->ctx->store;
    line             l = {false, CAME_BACK, 0};

    (void)store->get(store->self, QST_DB_QUARANTINE, key, 32, take, &l);
    return l;
}

static void write_line(const qst__shelf *shelf, uint32_t candidate, const uint8_t key[32], uint32_t state,
                       uint32_t deaths)
{
    qst_context  *ctx = shelf->site->ctx;
    const char   *name = shelf->set->model.candidates[candidate].name;
    uint8_t       value[BYTES];
    qst__envelope e = {KIND, SCHEMA, name, strlen(name), value, sizeof value};
    uint8_t      *bytes;
    size_t        length = 0;

    put32(value, state);
    put32(value + 4, deaths);
    bytes = qst__envelope_seal(&ctx->alloc, &e, &length);
    if (!bytes || ctx->store.put(ctx->store.self, QST_DB_QUARANTINE, key, 32, bytes, length) != QST_OK)
        QST__LOG(&ctx->log, STORE, INFO, "%s: that %s is about to be tried is not noted", ctx->store.name, name);
    qst__free(&ctx->alloc, bytes);
}

/* Fills the watch from the store. A line that stands, and whose claim is free, is that of a dead process. */
static void ask(qst__shelf *shelf, uint32_t candidate, qst__watch *w)
{
    qst_store *store = &shelf->site->ctx->store;
    uint8_t    key[32];
    line       l;

    if (w->state != NOT_ASKED)
        return;
    w->state = ASKED;
    if (!watched(shelf, candidate))
        return;
    key_of(shelf, candidate, key);
    l = read_line(shelf, key);
    w->deaths = l.deaths;
    if (l.there && l.state == CAME_BACK) {
        w->state = DONE;
    } else if (l.there && store->claim(store->self, key, sizeof key, &w->token) == QST_OK) {
        w->deaths++;
        write_line(shelf, candidate, key, ABOUT_TO_BE_TRIED, w->deaths - 1);
        store->release(store->self, w->token);
        w->token = NULL;
    }
}

uint32_t qst__quarantine_deaths(qst__shelf *shelf, uint32_t candidate)
{
    qst__watch *w = &shelf->watches[candidate];
    uint32_t    deaths;

    qst__lock_take(&shelf->site->lock);
    ask(shelf, candidate, w);
    deaths = w->deaths;
    qst__lock_give(&shelf->site->lock);
    return deaths;
}

qst_status qst__quarantine_enter(qst__shelf *shelf, uint32_t candidate, qst_error *err)
{
    qst_store  *store = &shelf->site->ctx->store;
    qst__watch *w = &shelf->watches[candidate];
    const char *name = shelf->set->model.candidates[candidate].name;
    uint8_t     key[32];
    qst_status  status = QST_OK;

    qst__lock_take(&shelf->site->lock);
    ask(shelf, candidate, w);
    if (w->deaths >= QST__DEATHS_QUARANTINE) {
        status =
            qst__fail(err, QST_E_REFUSED, name, "in quarantine: %u processes died when they tried it here", w->deaths);
    } else if (w->state == ASKED && watched(shelf, candidate)) {
        key_of(shelf, candidate, key);
        if (store->claim(store->self, key, sizeof key, &w->token) == QST_OK) {
            w->state = INSIDE;
            write_line(shelf, candidate, key, ABOUT_TO_BE_TRIED, w->deaths);
        }
    }
    qst__lock_give(&shelf->site->lock);
    return status;
}

void qst__quarantine_leave(qst__shelf *shelf, uint32_t candidate)
{
    qst_store  *store = &shelf->site->ctx->store;
    qst__watch *w = &shelf->watches[candidate];
    uint8_t     key[32];

    qst__lock_take(&shelf->site->lock);
    if (w->state == INSIDE) {
        key_of(shelf, candidate, key);
        write_line(shelf, candidate, key, CAME_BACK, w->deaths);
        store->release(store->self, w->token);
        w->token = NULL;
        w->state = DONE;
    }
    qst__lock_give(&shelf->site->lock);
}
