/* SPDX-License-Identifier: MIT
 *
 * quarantine.c: see quarantine.h.
 */
#include "run/quarantine.h"

#include "model/field.h"

#include <stdio.h>
#include <string.h>

/* Is a candidate watched at all? The fallback has to run whatever happens. */
static bool watched(const qst__shelf *shelf, uint32_t candidate)
{
    return (shelf->site->ctx->store.flags & QST_STORE_LASTS) && candidate != shelf->set->model.fallback;
}

/* ---- The line ------------------------------------------------------------------------------------------------------ */

/* A journal with memory of its own for its bytes. */
typedef struct line {
    const qst__alloc *alloc;
    uint8_t          *bytes; /* NULL: there is none, and the texts are "" */
    qst__journal      journal;
} line;

static int32_t take(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    line *l = user;

    (void)key;
    (void)key_bytes;
    l->bytes = qst__memdup(l->alloc, value, (size_t)value_bytes);
    if (l->bytes && qst__journal_open(&l->journal, l->bytes, (size_t)value_bytes) != QST_OK) {
        qst__free(l->alloc, l->bytes);
        l->bytes = NULL;
    }
    return 1;
}

static void read_line(qst__shelf *shelf, uint32_t candidate, line *l)
{
    const qst_store *store = &shelf->site->ctx->store;
    const char      *name = shelf->set->model.candidates[candidate].name;

    *l = (line){.alloc = &shelf->site->ctx->alloc};
    (void)store->get(store->self, QST_DB_QUARANTINE, shelf->watches[candidate].key, 32, take, l);
    if (!l->bytes)
        l->journal = (qst__journal){.trying = "", .died_at = "", .why = ""};
    l->journal.name = name;
    l->journal.name_length = strlen(name);
}

static void forget_line(line *l)
{
    qst__free(l->alloc, l->bytes);
    l->bytes = NULL;
}

/* A line that holds nothing against anybody goes. */
static void write_line(qst__shelf *shelf, uint32_t candidate, const qst__journal *j)
{
    qst_context *ctx = shelf->site->ctx;
    qst_store   *store = &ctx->store;
    const void  *key = shelf->watches[candidate].key;
    uint8_t     *bytes;
    size_t       length = 0;

    if (!j->deaths && !j->open) {
        (void)store->remove(store->self, QST_DB_QUARANTINE, key, 32);
        return;
    }
    bytes = qst__journal_seal(j, &ctx->alloc, &length);
    if (!bytes || store->put(store->self, QST_DB_QUARANTINE, key, 32, bytes, length) != QST_OK)
        QST__LOG(&ctx->log, STORE, INFO, "%s: that %s is about to be tried is not noted", store->name,
                 shelf->set->model.candidates[candidate].name);
    qst__free(&ctx->alloc, bytes);
}

/* The claim of the line's key is ours: an open one is that of a dead process. */
static bool count_death(qst__journal *j)
{
    if (!j->open)
        return false;
    j->open = false;
    j->harm++;
    j->deaths++;
    j->died_at = j->trying;
    j->trying = j->why = "";
    return true;
}

static bool claim(qst__shelf *shelf, qst__watch *w)
{
    qst_store *store = &shelf->site->ctx->store;

    return store->claim(store->self, w->key, sizeof w->key, &w->token) == QST_OK;
}

static void release(qst__shelf *shelf, qst__watch *w)
{
    qst_store *store = &shelf->site->ctx->store;

    store->release(store->self, w->token);
    w->token = NULL;
}

/* ---- Asked --------------------------------------------------------------------------------------------------------- */

static void ask(qst__shelf *shelf, uint32_t candidate)
{
    qst__watch *w = &shelf->watches[candidate];
    line        l;

    if (w->asked || !watched(shelf, candidate))
        return;
    w->asked = true;
    qst__journal_key(shelf, candidate, w->key);
    read_line(shelf, candidate, &l);
    if (l.journal.open && claim(shelf, w)) {
        (void)count_death(&l.journal);
        write_line(shelf, candidate, &l.journal);
        release(shelf, w);
    }
    w->suspect = qst__journal_suspects(&l.journal);
    w->barred = qst__journal_bars(&l.journal);
    w->deaths = l.journal.deaths;
    snprintf(w->why, sizeof w->why, "%s", l.journal.why);
    forget_line(&l);
}

bool qst__quarantine_suspects(qst__shelf *shelf, uint32_t candidate)
{
    bool suspect;

    qst__lock_take(&shelf->site->lock);
    ask(shelf, candidate);
    suspect = shelf->watches[candidate].suspect;
    qst__lock_give(&shelf->site->lock);
    return suspect;
}

bool qst__quarantine_bars(qst__shelf *shelf, uint32_t candidate)
{
    bool barred;

    qst__lock_take(&shelf->site->lock);
    ask(shelf, candidate);
    barred = shelf->watches[candidate].barred;
    qst__lock_give(&shelf->site->lock);
    return barred;
}

/* ---- Elsewhere ------------------------------------------------------------------------------------------------------ */

void qst__quarantine_place(qst__shelf *shelf, uint32_t candidate, qst__str *problem)
{
    qst__watch *w = &shelf->watches[candidate];
    line        l;

    qst__lock_take(&shelf->site->lock);
    ask(shelf, candidate);
    if (w->suspect && !w->tried) {
        w->tried = true;
        read_line(shelf, candidate, &l);
        qst__str_append(problem, l.journal.died_at);
        forget_line(&l);
    }
    qst__lock_give(&shelf->site->lock);
}

void qst__quarantine_learn(qst__shelf *shelf, uint32_t candidate, const char *problem, const char *why)
{
    qst__watch *w = &shelf->watches[candidate];
    line        l;

    qst__lock_take(&shelf->site->lock);
    ask(shelf, candidate);
    if (why) {
        w->barred = true; /* also where no store would tell it to the next process */
        snprintf(w->why, sizeof w->why, "%s", why);
    }
    /* Who has the line open while it is tried ends that with bad news. */
    if (watched(shelf, candidate) && (w->token ? why != NULL : claim(shelf, w))) {
        read_line(shelf, candidate, &l);
        if (why) {
            l.journal.harm = QST__HARM_QUARANTINE;
            l.journal.deaths += l.journal.deaths ? 0 : 1;
            l.journal.died_at = problem;
            l.journal.why = why;
            l.journal.open = false;
            l.journal.trying = "";
        } else if (l.journal.harm && !strcmp(l.journal.died_at, problem)) {
            l.journal.harm--;
        }
        write_line(shelf, candidate, &l.journal);
        w->suspect = qst__journal_suspects(&l.journal);
        w->deaths = l.journal.deaths;
        release(shelf, w);
        forget_line(&l);
    }
    qst__lock_give(&shelf->site->lock);
}

/* ---- A trial ------------------------------------------------------------------------------------------------------- */

static void problem_text(const qst__shelf *shelf, const void *problem, qst__str *text)
{
    qst__str_init(text, &shelf->site->ctx->alloc);
    qst__problem_print(&shelf->set->model.op, problem, text);
}

/* The line says what is tried now; its earlier texts are kept. */
static void note_trial(qst__shelf *shelf, uint32_t candidate, const void *problem)
{
    qst__watch *w = &shelf->watches[candidate];
    qst__str    text;
    line        l;

    problem_text(shelf, problem, &text);
    read_line(shelf, candidate, &l);
    if (w->inside == 1) /* else it is open because of ourselves */
        (void)count_death(&l.journal);
    l.journal.open = true;
    l.journal.trying = text.text;
    write_line(shelf, candidate, &l.journal);
    forget_line(&l);
    qst__str_finish(&text);
}

qst_status qst__quarantine_enter(qst__shelf *shelf, uint32_t candidate, const void *problem, qst_error *err)
{
    qst__watch *w = &shelf->watches[candidate];
    qst_status  status = QST_OK;

    qst__lock_take(&shelf->site->lock);
    ask(shelf, candidate);
    if (w->barred) {
        status = qst__fail(err, QST_E_REFUSED, shelf->set->model.candidates[candidate].name,
                           "in quarantine: %u process%s died when %s tried it here%s%s", w->deaths,
                           w->deaths == 1 ? "" : "es", w->deaths == 1 ? "it" : "they", *w->why ? "; " : "", w->why);
    } else if (watched(shelf, candidate)) {
        w->inside++;
        if (w->token || claim(shelf, w)) /* else another process watches it */
            note_trial(shelf, candidate, problem);
    }
    qst__lock_give(&shelf->site->lock);
    return status;
}

void qst__quarantine_leave(qst__shelf *shelf, uint32_t candidate, const void *problem)
{
    qst__watch *w = &shelf->watches[candidate];
    qst__str    text;
    line        l;

    qst__lock_take(&shelf->site->lock);
    if (w->inside && !--w->inside && w->token) {
        problem_text(shelf, problem, &text);
        read_line(shelf, candidate, &l);
        if (l.journal.harm && !strcmp(l.journal.died_at, text.text))
            l.journal.harm--;
        l.journal.open = false;
        l.journal.trying = "";
        write_line(shelf, candidate, &l.journal);
        release(shelf, w);
        forget_line(&l);
        qst__str_finish(&text);
    }
    qst__lock_give(&shelf->site->lock);
}

void qst__quarantine_bar(qst__shelf *shelf, uint32_t candidate, const void *problem, const char *why)
{
    qst__str text;

    problem_text(shelf, problem, &text);
    qst__quarantine_learn(shelf, candidate, text.text, why);
    qst__str_finish(&text);
}
