/* SPDX-License-Identifier: MIT
 *
 * answers.c: verdicts between an entry and the store.
 *
 * Stored under SHA-256(target, operation, key text), each preceded by its length; the value repeats the key text, so
 * that a collision is a miss. Only the verdict of a set with the same checksum is taken as it is.
 */
#include "model/drivers.h"
#include "run/quarantine.h"
#include "run/run.h"
#include "tune/tuner.h"

#include <string.h>
#include <time.h>

static void add(qst__sha256 *sha, const char *text)
{
    uint32_t length = (uint32_t)strlen(text);
    uint8_t  bytes[4] = {(uint8_t)length, (uint8_t)(length >> 8), (uint8_t)(length >> 16), (uint8_t)(length >> 24)};

    qst__sha256_update(sha, bytes, sizeof bytes);
    qst__sha256_update(sha, text, length);
}

void qst__answer_digest(const char *target, const char *op, const char *key_text, uint8_t digest[32])
{
    qst__sha256 sha;

    qst__sha256_init(&sha);
    add(&sha, target);
    add(&sha, op);
    add(&sha, key_text);
    qst__sha256_finish(&sha, digest);
}

void qst__answer_key(const qst__entry *entry, uint8_t digest[32])
{
    qst__answer_digest(entry->shelf->site->facts.device.target, entry->shelf->set->model.op.name, entry->text, digest);
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
    qst__verdict stored = *verdict; /* its memory stays the verdict's */
    uint8_t      digest[32], *bytes = NULL;
    size_t       length = 0;
    qst_status   status;

    if (!ctx->settings->verdict_cache)
        return;
    /* What is stored was measured here and now, also where an answer from elsewhere has just been found to hold. */
    stored.op = (char *)entry->shelf->set->model.op.name;
    stored.target = (char *)entry->shelf->site->facts.device.target;
    if (!qst__drivers_have(verdict->driver, entry->shelf->site->facts.stack))
        stored.driver = (char *)entry->shelf->site->facts.stack;
    stored.ruler_revision = QST__RULER_RULES;
    stored.flags |= QST__VERDICT_PROVEN;
    stored.at_s = (uint64_t)time(NULL);
    status = qst__verdict_encode(&stored, entry->text, &ctx->alloc, &bytes, &length);
    qst__answer_key(entry, digest);
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

/* Not measured, for a reason that lay in the others or in the configuration of then. Untried is who seemed poor. */
static bool left_out(uint32_t outcome)
{
    return outcome == QST__OUTCOME_UNTRIED || outcome == QST__OUTCOME_REFUSED || outcome == QST__OUTCOME_SKIPPED ||
           outcome == QST__OUTCOME_PRUNED || outcome == QST__OUTCOME_SLOW;
}

/* The configuration may be another than then: what it refused and allows now is one to try; and where it allows nothing
 * that was found right, all that was left out is. */
static void weigh_refusals(const qst__entry *entry, qst__verdict *v)
{
    const qst__set      *set = &entry->shelf->set->model;
    const qst__settings *settings = entry->shelf->site->ctx->settings;
    const char          *why;
    bool                 some = false;
    uint32_t             i;

    for (i = 0; i < v->n; i++)
        some = some || (qst__outcome_right(v->findings[i].outcome) &&
                        qst__settings_allow(settings, set->candidates[i].name, &why));
    for (i = 0; i < v->n; i++) {
        uint32_t outcome = v->findings[i].outcome;
        if (!(some ? outcome == QST__OUTCOME_REFUSED : left_out(outcome)) ||
            !qst__settings_allow(settings, set->candidates[i].name, &why) || qst__quarantine_bars(entry->shelf, i))
            continue;
        v->findings[i].outcome = QST__OUTCOME_UNTRIED;
        v->flags |= QST__VERDICT_PARTIAL;
    }
}

/* Why the answer is to be checked before it is used; NULL: it is not. */
static const char *doubt(const qst__entry *entry, const qst__verdict *v)
{
    const qst_judge *judge = entry->shelf->set->model.op.judge;
    int32_t          recheck = entry->shelf->site->ctx->settings->recheck;

    if (v->judge_revision != (judge ? judge->revision : 0))
        return "it was judged by another revision of the judge";
    if (v->ruler_revision != QST__RULER_RULES)
        return "it was measured by other rules";
    if (!(v->flags & QST__VERDICT_COLD) != (entry->shelf->site->ctx->settings->cache != QST__CACHE_COLD))
        return v->flags & QST__VERDICT_COLD ? "it was measured with cold caches" : "it was measured with warm caches";
    if (recheck == QST__RECHECK_ALWAYS)
        return "tune.recheck is always";
    if (recheck == QST__RECHECK_DRIVER && !qst__drivers_have(v->driver, entry->shelf->site->facts.stack))
        return *entry->shelf->site->facts.stack ? "the driver is another" : "the driver does not tell its version";
    return v->flags & QST__VERDICT_PRIOR ? "it was imported" : NULL;
}

/* What did not build under one driver may build under another, and where earlier versions kept it, for want of room: it is
 * tried once more. */
static void weigh_builds(const qst__entry *entry, qst__verdict *v)
{
    uint32_t i;

    if ((v->flags & QST__VERDICT_PROVEN) &&
        (!v->driver || !*v->driver || qst__drivers_have(v->driver, entry->shelf->site->facts.stack)))
        return;
    for (i = 0; i < v->n; i++)
        if (v->findings[i].outcome == QST__OUTCOME_BUILD) {
            v->findings[i].outcome = QST__OUTCOME_UNTRIED;
            v->flags |= QST__VERDICT_PARTIAL;
        }
}

/* A roof that was good enough for a lower level ended the search: what it left out is one to try. */
static void weigh_level(const qst__entry *entry, qst__verdict *v)
{
    if ((v->flags & QST__VERDICT_ROOF) && v->level < (uint32_t)entry->shelf->site->ctx->settings->level)
        v->flags |= QST__VERDICT_PARTIAL;
}

/* Does what was stored hold as it is, or is it a prior? A library that was not there and is now makes its candidate
 * one to try. */
static void weigh(qst__entry *entry, qst__verdict *v)
{
    const qst__shelf *shelf = entry->shelf;
    const char       *why = doubt(entry, v);
    uint32_t          i;

    if (why) {
        v->flags |= QST__VERDICT_PRIOR;
        QST__LOG(&shelf->site->ctx->log, STORE, INFO,
                 "%s %s: the stored answer is checked before it is used: %s (%s, %s)", shelf->set->model.op.name,
                 entry->text, why, v->driver && *v->driver ? v->driver : "no driver stated",
                 *shelf->site->facts.stack ? shelf->site->facts.stack : "no driver told");
    }
    weigh_builds(entry, v);
    weigh_level(entry, v);
    weigh_refusals(entry, v);
    for (i = 0; i < v->n; i++) {
        if (v->findings[i].outcome == QST__OUTCOME_LIBRARY && qst__vendor_opens(entry->shelf, i))
            v->flags |= QST__VERDICT_PARTIAL;
        if (qst__outcome_right(v->findings[i].outcome) && !(v->flags & QST__VERDICT_PRIOR))
            atomic_store(&shelf->verified[i], 1);
    }
}

static int state_of(const qst__verdict *v)
{
    return v->flags & (QST__VERDICT_PARTIAL | QST__VERDICT_PRIOR) ? QST__KEY_PARTIAL : QST__KEY_READY;
}

/* Reads the stored verdict and brings it into the order of today's set. */
static qst_status read_stored(qst__entry *entry, qst__verdict *out)
{
    qst_context *ctx = entry->shelf->site->ctx;
    qst__verdict stored;
    recalled     r = {entry, &stored, QST_E_NOTFOUND};
    uint8_t      digest[32];
    int32_t      got;
    qst_status   status;

    memset(&stored, 0, sizeof stored);
    qst__answer_key(entry, digest);
    got = ctx->store.get(ctx->store.self, QST_DB_VERDICTS, digest, sizeof digest, take, &r);
    status = got < 0 ? got : r.status;
    if (status != QST_OK)
        return status;
    status = qst__verdict_adopt(out, &ctx->alloc, &entry->shelf->set->model, &stored);
    qst__verdict_finish(&stored);
    if (status == QST_OK)
        qst__decide(out);
    return status;
}

int qst__recall(qst__entry *entry, int state)
{
    qst_context  *ctx = entry->shelf->site->ctx;
    qst__verdict *v;
    qst_status    status;

    if (!ctx->settings->verdict_cache || ctx->settings->force)
        return state;
    v = qst__zalloc(&ctx->alloc, sizeof *v);
    if (!v)
        return state;
    status = read_stored(entry, v);
    if (status == QST_OK) {
        weigh(entry, v);
        /* What this process knows already is no less than a partial answer that it or another has stored. */
        if ((state == QST__KEY_ABSENT || state_of(v) == QST__KEY_READY) && qst__publish(entry, v, ctx->store.name))
            return state_of(v);
        qst__verdict_finish(v);
    } else if (status != QST_E_NOTFOUND) {
        QST__LOG(&ctx->log, STORE, WARN, "%s: a stored verdict is not used: %s", ctx->store.name,
                 qst_status_text(status));
    }
    qst__free(&ctx->alloc, v);
    return state;
}
