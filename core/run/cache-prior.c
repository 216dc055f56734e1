/* SPDX-License-Identifier: MIT
 *
 * cache-prior.c: answers from elsewhere become stored priors, where the store has none of its own.
 */
#include "cache/json.h"
#include "run/stored.h"
#include "tune/tuner.h"

#include <quernstone/cache.h>
#include <string.h>
#include <time.h>

#define SEEDS_MAX 1000u /* candidates of one answer */

typedef struct looked {
    const qst__alloc *alloc;
    bool              current;
} looked;

static int32_t is_current(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    looked     *l = user;
    qst__stored r;

    if (qst__stored_open(&r, l->alloc, QST_DB_VERDICTS, key, key_bytes, value, value_bytes) == QST_OK)
        l->current = r.state == QST__STORED_CURRENT;
    qst__stored_finish(&r, l->alloc);
    return 1;
}

/* With the key claimed, so that nobody tunes it meanwhile. QST_NOTHING: there is an answer, or soon will be. */
static qst_status put_prior(qst_context *ctx, const qst__verdict *verdict, const char *text, const uint8_t key[32])
{
    const qst_store *store = &ctx->store;
    looked           l = {&ctx->alloc, false};
    void            *token = NULL;
    uint8_t         *bytes = NULL;
    size_t           length;
    qst_status       status = store->claim(store->self, key, 32, &token);

    if (status == QST_E_BUSY)
        return QST_NOTHING;
    (void)store->get(store->self, QST_DB_VERDICTS, key, 32, is_current, &l);
    status = l.current ? QST_NOTHING : qst__verdict_encode(verdict, text, &ctx->alloc, &bytes, &length);
    if (status == QST_OK)
        status = store->put(store->self, QST_DB_VERDICTS, key, 32, bytes, length);
    qst__free(&ctx->alloc, bytes);
    if (token)
        store->release(store->self, token);
    return status;
}

/* ---- From an export ------------------------------------------------------------------------------------------------ */

typedef struct importer {
    qst_context       *ctx;
    qst_cache_imported count;
} importer;

static qst_status take_in(void *user, uint32_t db, const void *key, uint64_t key_bytes, const void *value,
                          uint64_t value_bytes)
{
    importer   *im = user;
    qst__stored r;
    qst_status  status = qst__stored_open(&r, &im->ctx->alloc, db, key, key_bytes, value, value_bytes);

    if (status != QST_OK)
        return status;
    if (db != QST_DB_VERDICTS || r.state != QST__STORED_CURRENT) {
        im->count.refused++;
        status = QST_NOTHING;
    } else {
        r.verdict.flags |= QST__VERDICT_PRIOR;
        status = put_prior(im->ctx, &r.verdict, r.text, key);
        im->count.added += status == QST_OK;
        im->count.present += status == QST_NOTHING;
    }
    qst__stored_finish(&r, &im->ctx->alloc);
    return status;
}

qst_status qst_cache_import(qst_context *ctx, const char *text, size_t length, qst_cache_imported *out, qst_error *err)
{
    importer      im = {.ctx = ctx};
    qst__imported done;
    qst_status    status;

    if (!ctx || !text || (out && out->size < 2 * sizeof(uint32_t)))
        return qst__fail(err, QST_E_INVALID, "cache", "%s",
                         !ctx    ? "context is NULL"
                         : !text ? "text is NULL"
                                 : "imported has no size");
    memset(&done, 0, sizeof done);
    status = qst__store_import(&ctx->alloc, text, length, take_in, &im, &done, err);
    if (out) {
        im.count.size = out->size < sizeof *out ? out->size : (uint32_t)sizeof *out;
        memcpy(out, &im.count, im.count.size);
    }
    return status == QST_OK ? QST_OK : qst__fail(err, status, "cache", "not imported: %s", qst_status_text(status));
}

/* ---- From times that somebody knows -------------------------------------------------------------------------------- */

static qst_status fill(qst__verdict *v, const qst__alloc *alloc, const char *target, const char *op,
                       const qst_cache_time *times, uint32_t count)
{
    bool     good;
    uint32_t i;

    memset(v, 0, sizeof *v);
    v->alloc = alloc;
    v->findings = qst__zalloc_array(alloc, count, sizeof *v->findings);
    v->order = qst__zalloc_array(alloc, count, sizeof *v->order);
    v->n = v->findings ? count : 0;
    v->op = qst__strdup(alloc, op);
    v->target = qst__strdup(alloc, target);
    good = v->findings && v->order && v->op && v->target;
    for (i = 0; i < count && good; i++) {
        v->findings[i].name = qst__strdup(alloc, times[i].candidate);
        v->findings[i].outcome = QST__OUTCOME_TIMED;
        v->findings[i].round = 1;
        qst__samples_push(&v->findings[i].samples, times[i].ns, 0);
        good = v->findings[i].name != NULL;
    }
    if (!good) {
        qst__verdict_finish(v);
        return QST_E_NOMEM;
    }
    v->flags = QST__VERDICT_PRIOR | QST__VERDICT_PROVEN;
    v->at_s = (uint64_t)time(NULL);
    qst__decide(v);
    return QST_OK;
}

static qst_status check(const qst_context *ctx, const char *target, const char *op, const char *key,
                        const qst_cache_time *times, uint32_t count, qst_error *err)
{
    uint32_t i;

    if (!ctx || !target || !op || !key || !times)
        return qst__fail(err, QST_E_INVALID, "cache", "%s is NULL",
                         !ctx      ? "context"
                         : !target ? "target"
                         : !op     ? "op"
                         : !key    ? "key"
                                   : "times");
    if (!count || count > SEEDS_MAX)
        return qst__fail(err, QST_E_INVALID, "cache", "count is %u, not 1 to %u", count, SEEDS_MAX);
    for (i = 0; i < count; i++)
        if (!times[i].candidate || !*times[i].candidate || !times[i].ns)
            return qst__fail(err, QST_E_INVALID, "cache", "times[%u] has no %s", i,
                             times[i].candidate && *times[i].candidate ? "time" : "name");
    return QST_OK;
}

qst_status qst_cache_seed(qst_context *ctx, const char *target, const char *op, const char *key,
                          const qst_cache_time *times, uint32_t count, char *id, qst_error *err)
{
    qst__verdict v;
    uint8_t      digest[32];
    qst_status   status = check(ctx, target, op, key, times, count, err);

    if (status != QST_OK)
        return status;
    status = fill(&v, &ctx->alloc, target, op, times, count);
    if (status != QST_OK)
        return qst__fail(err, status, "cache", "no memory for an answer of %u candidates", count);
    qst__answer_digest(target, op, key, digest);
    if (id)
        qst__hex(id, digest, sizeof digest);
    status = put_prior(ctx, &v, key, digest);
    qst__verdict_finish(&v);
    if (status == QST_NOTHING)
        return qst__fail(err, QST_E_STATE, "cache", "%s %.300s: the store has an answer", op, key);
    return status == QST_OK
               ? QST_OK
               : qst__fail(err, status, "cache", "%s %.300s: not stored: %s", op, key, qst_status_text(status));
}
