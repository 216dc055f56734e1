/* SPDX-License-Identifier: MIT
 *
 * binaries.c: see binaries.h.
 */
#include "run/binaries.h"

#include "run/stored.h"

#include <string.h>
#include <time.h>

#define SCHEMA  2u
#define FAILED  1u
#define PROVEN  2u                                        /* and a program known to be right was built right then */
#define RENEW_S 86400u                                    /* the time of last use is no finer than this */
enum { MAGIC, VERSION, CRC, LENGTH, FLAGS, USED, WORDS }; /* of the header */
#define HEADER  (WORDS * 4u)
#define COVERED (LENGTH * 4u) /* what the CRC covers begins here */
#define KEY     32u

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
    const char       *stack = site->facts.stack;
    qst__sha256       sha;

    qst__sha256_init(&sha);
    qst__sha256_update(&sha, digest, 32);
    qst__sha256_update(&sha, d->target, strlen(d->target) + 1);
    qst__sha256_update(&sha, stack, strlen(stack) + 1);
    qst__sha256_update(&sha, &d->pointer_bits, sizeof d->pointer_bits);
    qst__sha256_finish(&sha, key);
}

static uint32_t now_s(void)
{
    return (uint32_t)time(NULL);
}

qst_status qst__binary_open(qst__binary *binary, const void *key, uint64_t key_bytes, const void *value,
                            uint64_t value_bytes)
{
    const uint8_t *v = value;

    memset(binary, 0, sizeof *binary);
    if (value_bytes < HEADER + KEY || get(v, MAGIC) != magic)
        return QST_E_CORRUPT;
    if (get(v, VERSION) != SCHEMA)
        return QST_E_STALE;
    if (get(v, LENGTH) != value_bytes - HEADER - KEY ||
        get(v, CRC) != qst__crc32(0, v + COVERED, value_bytes - COVERED) || key_bytes != KEY ||
        memcmp(v + HEADER, key, KEY))
        return QST_E_CORRUPT;
    binary->bytes = v + HEADER + KEY;
    binary->length = get(v, LENGTH);
    binary->failed = (get(v, FLAGS) & FAILED) != 0;
    binary->proven = (get(v, FLAGS) & PROVEN) != 0;
    binary->used_s = get(v, USED);
    return QST_OK;
}

typedef struct loaded {
    const qst__site *site;
    uint8_t         *bytes; /* terminated, so that a log is text */
    size_t           length;
    bool             failed, proven;
    uint32_t         used_s;
    qst_status       status;
} loaded;

static int32_t take(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    loaded     *l = user;
    qst__binary b;

    l->status = qst__binary_open(&b, key, key_bytes, value, value_bytes);
    if (l->status != QST_OK)
        return 1;
    l->length = b.length;
    l->failed = b.failed;
    l->proven = b.proven;
    l->used_s = b.used_s;
    l->bytes = qst__zalloc(&l->site->ctx->alloc, b.length + 1);
    if (l->bytes)
        memcpy(l->bytes, b.bytes, b.length);
    else
        l->status = QST_E_NOMEM;
    return 1;
}

static void keep(const qst__site *site, const uint8_t key[KEY], bool failed, const void *bytes, size_t length)
{
    qst_context *ctx = site->ctx;
    uint8_t     *value;
    int32_t      status = QST_E_NOMEM;

    if (length > UINT32_MAX - HEADER - KEY)
        return;
    value = qst__zalloc(&ctx->alloc, HEADER + KEY + length);
    if (value) {
        memcpy(value + HEADER, key, KEY);
        memcpy(value + HEADER + KEY, bytes, length);
        put(value, MAGIC, magic);
        put(value, VERSION, SCHEMA);
        put(value, LENGTH, (uint32_t)length);
        put(value, FLAGS, failed ? FAILED | PROVEN : 0);
        put(value, USED, now_s());
        put(value, CRC, qst__crc32(0, value + COVERED, HEADER + KEY + length - COVERED));
        status = ctx->store.put(ctx->store.self, QST_DB_PROGRAMS, key, KEY, value, HEADER + KEY + length);
    }
    if (status != QST_OK)
        QST__LOG(&ctx->log, STORE, INFO, "%s: a program is not kept: %s", ctx->store.name, qst_status_text(status));
    qst__free(&ctx->alloc, value);
}

static qst_status load(void *user, const uint8_t digest[32], uint8_t **bytes, size_t *length)
{
    const qst__site *site = user;
    qst_context     *ctx = site->ctx;
    uint8_t          key[KEY];
    loaded           l = {.site = site, .status = QST_E_NOTFOUND};
    uint32_t         now = now_s();
    int32_t          got;

    if (!*site->facts.stack)
        return QST_E_NOTFOUND; /* nobody knows which driver it would be from */
    key_of(site, digest, key);
    got = ctx->store.get(ctx->store.self, QST_DB_PROGRAMS, key, sizeof key, take, &l);
    if (got < 0 || l.status != QST_OK) {
        if (got >= 0 && l.status == QST_E_CORRUPT)
            QST__LOG(&ctx->log, STORE, WARN, "%s: a kept program is damaged and built again", ctx->store.name);
        return QST_E_NOTFOUND;
    }
    if (l.failed && !l.proven) { /* by an earlier version, maybe for want of room */
        qst__free(&ctx->alloc, l.bytes);
        return QST_E_NOTFOUND;
    }
    if (now > l.used_s && now - l.used_s > RENEW_S)
        keep(site, key, l.failed, l.bytes, l.length);
    *bytes = l.bytes;
    *length = l.length;
    return l.failed ? QST_E_BUILD : QST_OK;
}

static void save(void *user, const uint8_t digest[32], bool failed, const void *bytes, size_t length)
{
    const qst__site *site = user;
    uint8_t          key[KEY];

    if (!*site->facts.stack)
        return;
    key_of(site, digest, key);
    keep(site, key, failed, bytes, length);
}

void qst__binaries_attach(qst__site *site)
{
    if (!site->ctx->settings->program_cache)
        return;
    site->programs.binaries.user = site;
    site->programs.binaries.load = load;
    site->programs.binaries.save = save;
}

/* Platforms where a binary is taken at a quiet moment only: PoCL 3.1 compiles one to three seconds to give one, and aborts
 * the process when another thread makes or ends kernels meanwhile. */
static bool wants_quiet(const qst__site *site)
{
    static const char *const platforms[] = {"Portable Computing Language"};
    size_t                   i;

    for (i = 0; i < sizeof platforms / sizeof *platforms; i++)
        if (strstr(site->facts.device.platform, platforms[i]))
            return true;
    return false;
}

void qst__binaries_note(qst__site *site, const qst__way *winner)
{
    uint32_t i, j;

    if (!(site->ctx->store.flags & QST_STORE_LASTS))
        return;
    if (!wants_quiet(site)) {
        for (i = 0; i < winner->n_programs; i++)
            qst__programs_keep(&site->programs, winner->programs[i]);
        return;
    }
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
    const uint64_t limit = (uint64_t)site->ctx->settings->programs_max_mb << 20;
    size_t         i;
    uint64_t       removed = 0;
    qst_error      err;

    for (i = 0; i < site->winners.count; i++)
        qst__programs_keep(&site->programs, site->winners.data[i]);
    memset(&err, 0, sizeof err);
    if (site->winners.count && limit && qst__stored_trim(site->ctx, limit, &removed, &err) != QST_OK)
        QST__LOG(&site->ctx->log, STORE, INFO, "programs are not trimmed: %s", err.text);
    qst__vec_finish(&site->ctx->alloc, &site->winners);
}
