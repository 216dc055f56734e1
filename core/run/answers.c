/* SPDX-License-Identifier: MIT
 *
 * answers.c: verdicts between an entry and the store.
 *
 * Stored under SHA-256(target, operation, key text), each preceded by its length; the value repeats the key text, so
 * that a collision is a miss. Only the verdict of a set with the same checksum is taken as it is.
 */
#include "run/run.h"

#include <string.h>

static void add(qst__sha256 *sha, const char *text)
{
    uint32_t length = (uint32_t)strlen(text);
    uint8_t  bytes[4] = {(uint8_t)length, (uint8_t)(length >> 8), (uint8_t)(length >> 16), (uint8_t)(length >> 24)};

    qst__sha256_update(sha, bytes, sizeof bytes);
    qst__sha256_update(sha, text, length);
}

static void store_key(const qst__entry *entry, uint8_t digest[32])
{
    qst__sha256 sha;

    qst__sha256_init(&sha);
    add(&sha, entry->shelf->site->facts.device.target);
    add(&sha, entry->shelf->set->model.op.name);
    add(&sha, entry->text);
    qst__sha256_finish(&sha, digest);
}

bool qst__publish(qst__entry *entry, qst__verdict *verdict, const char *source)
{
    qst_context *ctx = entry->shelf->site->ctx;
    bool         kept;

    qst__lock_take(&entry->shelf->site->lock);
    kept = qst__vec_push(&ctx->alloc, &entry->old, verdict);
    if (kept) {
        entry->source = source;
        atomic_store_explicit(&entry->verdict, verdict, memory_order_release);
    }
    qst__lock_give(&entry->shelf->site->lock);
    return kept;
}

void qst__remember(qst__entry *entry, const qst__verdict *verdict)
{
    qst_context *ctx = entry->shelf->site->ctx;
    uint8_t      digest[32], *bytes = NULL;
    size_t       length = 0;
    qst_status   status = qst__verdict_encode(verdict, entry->text, &ctx->alloc, &bytes, &length);

    store_key(entry, digest);
    if (status == QST_OK)
        status = ctx->store.put(ctx->store.self, QST_DB_VERDICTS, digest, sizeof digest, bytes, length);
    if (status != QST_OK)
        QST__LOG(&ctx->log, STORE, WARN, "%s: a verdict is not stored: %s", ctx->store.name, qst_status_text(status));
    qst__free(&ctx->alloc, bytes);
}

typedef struct recalled {
    qst__entry   *entry;
    qst__verdict *verdict;
    qst_status    status;
} recalled;

static int32_t take(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    recalled *r = user;

    (void)key;
    (void)key_bytes;
    r->status =
        qst__verdict_decode(r->verdict, r->entry->text, &r->entry->shelf->site->ctx->alloc, value, (size_t)value_bytes);
    return 1;
}

void qst__recall(qst__entry *entry)
{
    qst_context    *ctx = entry->shelf->site->ctx;
    const qst__set *set = &entry->shelf->set->model;
    recalled        r = {entry, NULL, QST_E_NOTFOUND};
    uint8_t         digest[32];
    uint32_t        i;

    r.verdict = qst__zalloc(&ctx->alloc, sizeof *r.verdict);
    if (!r.verdict)
        return;
    store_key(entry, digest);
    if (ctx->store.get(ctx->store.self, QST_DB_VERDICTS, digest, sizeof digest, take, &r) == QST_E_NOTFOUND)
        r.status = QST_E_NOTFOUND;
    if (r.status == QST_OK && (memcmp(r.verdict->checksum, set->checksum, sizeof set->checksum) ||
                               r.verdict->judge_revision != (set->op.judge ? set->op.judge->revision : 0) ||
                               r.verdict->ruler_revision != QST__RULER_RULES || r.verdict->n != set->n_candidates)) {
        qst__verdict_finish(r.verdict);
        r.status = QST_E_STALE;
    }
    if (r.status == QST_OK && qst__publish(entry, r.verdict, ctx->store.name)) {
        for (i = 0; i < r.verdict->n; i++) {
            uint32_t c = qst__set_find(set, r.verdict->findings[i].name);
            if (c != UINT32_MAX && qst__outcome_right(r.verdict->findings[i].outcome))
                atomic_store(&entry->shelf->verified[c], 1);
        }
        qst__claim_give(&entry->claim, r.verdict->flags & QST__VERDICT_PARTIAL ? QST__KEY_PARTIAL : QST__KEY_READY);
        return;
    }
    if (r.status == QST_OK)
        qst__verdict_finish(r.verdict);
    else if (r.status != QST_E_NOTFOUND)
        QST__LOG(&ctx->log, STORE, WARN, "%s: a stored verdict is not used: %s", ctx->store.name,
                 qst_status_text(r.status));
    qst__free(&ctx->alloc, r.verdict);
}
