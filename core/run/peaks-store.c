/* SPDX-License-Identifier: MIT
 *
 * peaks-store.c: peaks between a site and the store. Key: SHA-256 of rules, target, operation and what it is a peak of;
 * the value repeats target and operation, so that a collision is a miss.
 */
#include "run/peaks.h"

#include <string.h>

/* Digest and text of the key; false: no memory. */
static bool key_of(const qst__site *site, const qst_set *set, const qst__peak *peak, uint8_t digest[32], qst__str *text)
{
    qst__sha256 sha;

    qst__str_init(text, &site->ctx->alloc);
    qst__str_printf(text, "peak %u %s\n%s ", QST__PEAK_RULES, site->facts.device.target, set->model.op.name);
    qst__peak_print(peak, text);
    qst__sha256_init(&sha);
    qst__sha256_update(&sha, text->text, text->length);
    qst__sha256_finish(&sha, digest);
    return !text->failed;
}

typedef struct recalled {
    const char *text;
    qst__peak   peak;
    qst_status  status;
} recalled;

static int32_t take(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    recalled *r = user;

    (void)key;
    (void)key_bytes;
    r->status = qst__peak_decode(&r->peak, r->text, value, (size_t)value_bytes);
    return 1;
}

qst_status qst__peak_recall(qst__site *site, const qst_set *set, qst__peak *peak)
{
    qst_context *ctx = site->ctx;
    recalled     r = {NULL, {0}, QST_E_NOTFOUND};
    uint8_t      digest[32];
    qst__str     text;
    int32_t      got = QST_E_NOTFOUND;

    if (!ctx->settings->throughput_cache)
        return QST_E_NOTFOUND;
    if (key_of(site, set, peak, digest, &text)) {
        r.text = text.text;
        got = ctx->store.get(ctx->store.self, QST_DB_THROUGHPUT, digest, sizeof digest, take, &r);
    }
    qst__str_finish(&text);
    if (got < 0)
        return got;
    if (r.status == QST_OK && !qst__peak_same(&r.peak, peak))
        r.status = QST_E_CORRUPT;
    if (r.status == QST_OK && memcmp(r.peak.checksum, set->model.checksum, sizeof r.peak.checksum))
        r.status = QST_E_STALE;
    if (r.status == QST_OK)
        *peak = r.peak;
    else if (r.status == QST_E_CORRUPT)
        QST__LOG(&ctx->log, STORE, WARN, "%s: a stored peak is damaged and is measured again", ctx->store.name);
    return r.status;
}

void qst__peak_remember(qst__site *site, const qst_set *set, const qst__peak *peak)
{
    qst_context *ctx = site->ctx;
    uint8_t      digest[32], *bytes = NULL;
    size_t       length = 0;
    qst__str     text;
    qst_status   status;

    if (!ctx->settings->throughput_cache)
        return;
    status = key_of(site, set, peak, digest, &text) ? QST_OK : QST_E_NOMEM;
    if (status == QST_OK)
        status = qst__peak_encode(peak, text.text, &ctx->alloc, &bytes, &length);
    if (status == QST_OK)
        status = ctx->store.put(ctx->store.self, QST_DB_THROUGHPUT, digest, sizeof digest, bytes, length);
    if (status != QST_OK)
        QST__LOG(&ctx->log, STORE, WARN, "%s: a peak is not stored: %s", ctx->store.name, qst_status_text(status));
    qst__free(&ctx->alloc, bytes);
    qst__str_finish(&text);
}
