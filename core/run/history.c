/* SPDX-License-Identifier: MIT
 *
 * history.c: the rows of a context in the store's history.
 */
#include "run/history.h"

#include "cache/history.h"
#include "run/decisions.h"

#include <string.h>

qst_status qst__history_start(qst_context *ctx, qst_error *err)
{
    const qst__settings *s = ctx->settings;
    qst__history_options options;

    memset(&options, 0, sizeof options);
    options.level = s->history_level;
    options.keep = (uint32_t)s->history_keep;
    options.now_ns = qst__now(&ctx->clock);
    return qst__history_begin(&ctx->history, &ctx->store, &ctx->alloc, &options, err);
}

void qst__history_stop(qst_context *ctx)
{
    qst__history_end(ctx->history);
    ctx->history = NULL;
}

static void take_text(void *user, const char *text, size_t length)
{
    qst__str_append_n(user, text, length && text[length - 1] == '\n' ? length - 1 : length);
}

/* Takes the record. */
static void note(qst_context *ctx, const char *kind, qst__json *record, uint32_t flags)
{
    qst__str text;

    qst__str_init(&text, &ctx->alloc);
    if (qst__json_write(record, false, take_text, &text) == QST_OK && !text.failed)
        qst__history_note(ctx->history, kind, text.text, qst__now(&ctx->clock), flags);
    qst__str_finish(&text);
    qst__json_destroy(record);
}

/* ---- Tunings ------------------------------------------------------------------------------------------------------ */

static qst__json *tell_trial(const qst__finding *f, bool full)
{
    qst__json *one = qst__json_object(), *samples;
    uint32_t   i;

    qst__json_set_text(one, "name", f->name);
    qst__json_set_int(one, "wall_ns", (int64_t)(f->build_ns + f->verify_ns + f->sample_ns));
    if (!full)
        return one;
    qst__json_set_text(one, "outcome", qst__outcome_name(f->outcome));
    samples = qst__json_array();
    for (i = 0; i < f->samples.count; i++)
        qst__json_add_int(samples, (int64_t)f->samples.ns[i]);
    qst__json_set(one, "samples", samples);
    return one;
}

void qst__history_tuned(const qst__entry *entry, const qst__verdict *v, uint64_t wall_ns)
{
    qst_context *ctx = entry->shelf->site->ctx;
    bool         full = ctx->settings->history_level == QST__HISTORY_FULL, stored;
    qst__json   *one, *trials;
    const char  *winner = v->n_order ? v->findings[v->order[0]].name : NULL;
    char         hex[65];
    uint32_t     i;

    if (!ctx->history)
        return;
    one = qst__json_object();
    trials = qst__json_array();
    stored = ctx->settings->verdict_cache && (ctx->store.flags & QST_STORE_LASTS);
    qst__json_set_text(one, "op", entry->shelf->set->model.op.name);
    qst__json_set_text(one, "key", entry->text);
    qst__json_set_text(one, "target", entry->shelf->site->facts.device.target);
    qst__hex(hex, v->checksum, sizeof v->checksum);
    qst__json_set_text(one, "checksum", hex);
    qst__json_set_text(one, "winner", winner);
    for (i = qst__decision_next(v, v->n); i < v->n; i = qst__decision_next(v, i))
        qst__json_add(trials, tell_trial(&v->findings[i], full));
    qst__json_set(one, "trials", trials);
    qst__json_set_text(one, "short_circuit", v->flags & QST__VERDICT_ROOF ? winner : NULL);
    qst__json_set_bool(one, "partial", (v->flags & QST__VERDICT_PARTIAL) != 0);
    qst__json_set_int(one, "wall_ns", (int64_t)wall_ns);
    qst__json_set_bool(one, "stored", stored);
    qst__json_set_text(one, "source", entry->source);
    note(ctx, "autotune", one, ctx->settings->verdict_cache ? QST__NOTE_CHANGED : 0);
}

/* ---- Programs ----------------------------------------------------------------------------------------------------- */

static void built(void *user, const qst__built *b)
{
    static const char *const sources[] = {"source", "binary", "store"};
    const qst__site         *site = user;
    qst__json               *one = qst__json_object();
    char                     hex[65];

    qst__hex(hex, b->digest, 32);
    qst__json_set_text(one, "digest", hex);
    qst__json_set_text(one, "options", b->options);
    qst__json_set_real(one, "ms", 1e-6 * (double)b->ns);
    qst__json_set_text(one, "from", sources[b->from]);
    qst__json_set_bool(one, "failed", b->failed);
    note(site->ctx, "compilation", one, b->from == QST__BUILT_STORE ? 0 : QST__NOTE_CHANGED);
}

void qst__history_attach(qst__site *site)
{
    if (!site->ctx->history)
        return;
    site->programs.built_user = site;
    site->programs.built = built;
}
