/* SPDX-License-Identifier: MIT
 *
 * binaries.c: see binaries.h.
 */
#include "run/binaries.h"

#include <string.h>

#define SCHEMA 1u
#define FAILED 1u
enum { MAGIC, VERSION, FLAGS, LENGTH, CRC, WORDS }; /* of the header */
#define HEADER (WORDS * 4u)
#define KEY    32u

static const uint32_t magic = 0x50545351u; /* "QSTP" */

static void put(uint8_t *bytes, uint32_t word, uint32_t value)
{
    bytes[word * 4] = (uint8_t)value;
    bytes[word * 4 + 1] = (uint8_t)(value >> 8);
    bytes[word * 4 + 2] = (uint8_t)(value >> 16);
    bytes[word * 4 + 3] = (uint8_t)(value >> 24);
}

static uint32_t get(const uint8_t *bytes, uint32_t word)
{
    const uint8_t *b = bytes + word * 4;

    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void key_of(const qst__site *site, const uint8_t digest[32], uint8_t key[KEY])
{
    const qst_device *d = &site->facts.device;
    qst__sha256       sha;

    qst__sha256_init(&sha);
    qst__sha256_update(&sha, digest, 32);
    qst__sha256_update(&sha, d->target, strlen(d->target) + 1);
    qst__sha256_update(&sha, d->driver, strlen(d->driver) + 1);
    qst__sha256_update(&sha, &d->pointer_bits, sizeof d->pointer_bits);
    qst__sha256_finish(&sha, key);
}

typedef struct loaded {
    const qst__site *site;
    const uint8_t   *key;
    uint8_t         *bytes; /* terminated, so that a log is text */
    size_t           length;
    qst_status       status;
} loaded;

static int32_t take(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    loaded        *l = user;
    const uint8_t *v = value;

    (void)key;
    (void)key_bytes;
    l->status = QST_E_CORRUPT;
    if (value_bytes < HEADER + KEY || get(v, MAGIC) != magic || get(v, VERSION) != SCHEMA ||
        get(v, LENGTH) != value_bytes - HEADER - KEY ||
        get(v, CRC) != qst__crc32(0, v + HEADER, value_bytes - HEADER) || memcmp(v + HEADER, l->key, KEY))
        return 1;
    l->length = get(v, LENGTH);
    l->bytes = qst__zalloc(&l->site->ctx->alloc, l->length + 1);
    if (!l->bytes)
        return 1;
    memcpy(l->bytes, v + HEADER + KEY, l->length);
    l->status = get(v, FLAGS) & FAILED ? QST_E_BUILD : QST_OK;
    return 1;
}

static qst_status load(void *user, const uint8_t digest[32], uint8_t **bytes, size_t *length)
{
    const qst__site *site = user;
    qst_context     *ctx = site->ctx;
    uint8_t          key[KEY];
    loaded           l = {site, key, NULL, 0, QST_E_NOTFOUND};
    int32_t          got;

    key_of(site, digest, key);
    got = ctx->store.get(ctx->store.self, QST_DB_PROGRAMS, key, sizeof key, take, &l);
    if (got < 0 || l.status == QST_E_CORRUPT) {
        if (l.status == QST_E_CORRUPT)
            QST__LOG(&ctx->log, STORE, WARN, "%s: a kept program is damaged and built again", ctx->store.name);
        return QST_E_NOTFOUND;
    }
    *bytes = l.bytes;
    *length = l.length;
    return l.status;
}

static void save(void *user, const uint8_t digest[32], bool failed, const void *bytes, size_t length)
{
    const qst__site *site = user;
    qst_context     *ctx = site->ctx;
    uint8_t          key[KEY];
    uint8_t         *value;
    int32_t          status = QST_E_NOMEM;

    if (length > UINT32_MAX - HEADER - KEY)
        return;
    key_of(site, digest, key);
    value = qst__zalloc(&ctx->alloc, HEADER + KEY + length);
    if (value) {
        memcpy(value + HEADER, key, KEY);
        memcpy(value + HEADER + KEY, bytes, length);
        put(value, MAGIC, magic);
        put(value, VERSION, SCHEMA);
        put(value, FLAGS, failed ? FAILED : 0);
        put(value, LENGTH, (uint32_t)length);
        put(value, CRC, qst__crc32(0, value + HEADER, KEY + length));
        status = ctx->store.put(ctx->store.self, QST_DB_PROGRAMS, key, sizeof key, value, HEADER + KEY + length);
    }
    if (status != QST_OK)
        QST__LOG(&ctx->log, STORE, INFO, "%s: a program is not kept: %s", ctx->store.name, qst_status_text(status));
    qst__free(&ctx->alloc, value);
}

void qst__binaries_attach(qst__site *site)
{
    site->programs.binaries.user = site;
    site->programs.binaries.load = load;
    site->programs.binaries.save = save;
}

void qst__binaries_note(qst__site *site, const qst__way *winner)
{
    uint32_t i, j;

    if (!(site->ctx->store.flags & QST_STORE_LASTS))
        return;
    qst__lock_take(&site->lock);
    for (i = 0; i < winner->n_programs; i++) {
        for (j = 0; j < site->winners.count && site->winners.data[j] != winner->programs[i]; j++)
            ;
        if (j == site->winners.count)
            (void)qst__vec_push(&site->ctx->alloc, &site->winners, winner->programs[i]);
    }
    qst__lock_give(&site->lock);
}

void qst__binaries_flush(qst__site *site)
{
    size_t i;

    for (i = 0; i < site->winners.count; i++)
        qst__programs_keep(&site->programs, site->winners.data[i]);
    qst__vec_finish(&site->ctx->alloc, &site->winners);
}
