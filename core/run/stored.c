/* SPDX-License-Identifier: MIT
 *
 * stored.c: see stored.h. Whose values can be looked into is the table's row.
 */
#include "run/stored.h"

#include "cache/envelope.h"
#include "conf/json.h"

#include <string.h>

static qst_status keep_text(qst__stored *s, const qst__alloc *alloc, const char *text, size_t length)
{
    s->text = qst__zalloc(alloc, length + 1);
    if (!s->text)
        return QST_E_NOMEM;
    memcpy(s->text, text, length);
    return QST_OK;
}

static qst_status look_at_verdict(qst__stored *s, const qst__alloc *alloc, const void *value)
{
    qst_status  status = qst__verdict_decode(&s->verdict, NULL, alloc, value, (size_t)s->value_bytes);
    const char *text;
    size_t      length;
    uint8_t     digest[32];

    if (status != QST_OK)
        return status;
    s->at_s = s->verdict.at_s;
    text = qst__record_key(value, (size_t)s->value_bytes, &length);
    status = text ? keep_text(s, alloc, text, length) : QST_E_CORRUPT;
    if (status != QST_OK)
        return status;
    if (!s->verdict.op || !s->verdict.target)
        return QST_E_CORRUPT;
    qst__answer_digest(s->verdict.target, s->verdict.op, s->text, digest);
    return s->key_bytes == sizeof digest && !memcmp(s->key, digest, sizeof digest) ? QST_OK : QST_E_CORRUPT;
}

static qst_status look_at_program(qst__stored *s, const qst__alloc *alloc, const void *value)
{
    qst_status status = qst__binary_open(&s->binary, s->key, s->key_bytes, value, s->value_bytes);

    (void)alloc;
    s->at_s = s->binary.used_s;
    return status;
}

static qst_status look_at_peak(qst__stored *s, const qst__alloc *alloc, const void *value)
{
    qst__envelope e;
    qst_status    status = qst__peak_decode(&s->peak, NULL, value, (size_t)s->value_bytes);

    if (status == QST_OK)
        status = qst__envelope_open(&e, value, (size_t)s->value_bytes);
    return status == QST_OK ? keep_text(s, alloc, e.key, e.key_length) : status;
}

static qst_status look_at_journal(qst__stored *s, const qst__alloc *alloc, const void *value)
{
    qst_status status = qst__journal_open(&s->journal, value, (size_t)s->value_bytes);

    return status == QST_OK ? keep_text(s, alloc, s->journal.name, s->journal.name_length) : status;
}

static void tell_verdict(const qst__stored *s, qst__json *one)
{
    qst__json_set_text(one, "op", s->verdict.op);
    qst__json_set_text(one, "key", s->text);
    qst__json_set_text(one, "target", s->verdict.target);
    qst__json_set_text(one, "driver", s->verdict.driver);
    qst__json_set_text(one, "problem", s->verdict.problem);
    qst__json_set_text(one, "winner", qst__stored_winner(&s->verdict));
    qst__json_set_bool(one, "partial", (s->verdict.flags & QST__VERDICT_PARTIAL) != 0);
    qst__json_set_bool(one, "prior", (s->verdict.flags & QST__VERDICT_PRIOR) != 0);
    qst__json_set_int(one, "at_s", (int64_t)s->at_s);
}

static void tell_program(const qst__stored *s, qst__json *one)
{
    qst__json_set_bool(one, "failed", s->binary.failed);
    qst__json_set_int(one, "at_s", (int64_t)s->at_s);
}

static void tell_peak(const qst__stored *s, qst__json *one)
{
    qst__json_set_text(one, "key", s->text);
    qst__json_set_text(one, "candidate", s->peak.candidate);
    qst__json_set_real(one, "value", s->peak.value);
}

static void set_said(qst__json *one, const char *name, const char *text)
{
    qst__json_set_text(one, name, *text ? text : NULL);
}

static void tell_journal(const qst__stored *s, qst__json *one)
{
    qst__json_set_text(one, "candidate", s->text);
    qst__json_set_text(one, "standing", qst__journal_standing(&s->journal));
    qst__json_set_int(one, "deaths", s->journal.deaths);
    qst__json_set_int(one, "unexplained", s->journal.harm);
    set_said(one, "trying", s->journal.trying);
    set_said(one, "died_at", s->journal.died_at);
    set_said(one, "why", s->journal.why);
}

static const struct {
    const char *name;
    qst_status (*look)(qst__stored *stored, const qst__alloc *alloc, const void *value);
    void (*tell)(const qst__stored *stored, qst__json *one);
} tables[QST_DB_COUNT] = {
    [QST_DB_META] = {"meta", NULL, NULL},
    [QST_DB_VERDICTS] = {"verdicts", look_at_verdict, tell_verdict},
    [QST_DB_THROUGHPUT] = {"throughput", look_at_peak, tell_peak},
    [QST_DB_PROGRAMS] = {"programs", look_at_program, tell_program},
    [QST_DB_QUARANTINE] = {"quarantine", look_at_journal, tell_journal},
    [QST_DB_HISTORY] = {"history", NULL, NULL},
};

qst_status qst__stored_open(qst__stored *s, const qst__alloc *alloc, uint32_t db, const void *key, uint64_t key_bytes,
                            const void *value, uint64_t value_bytes)
{
    qst_status status;

    memset(s, 0, sizeof *s);
    s->db = db;
    s->key = key;
    s->key_bytes = key_bytes;
    s->value_bytes = value_bytes;
    s->state = QST__STORED_KEPT;
    if (!tables[db].look)
        return QST_OK;
    status = tables[db].look(s, alloc, value);
    s->state = status == QST_OK ? QST__STORED_CURRENT : status == QST_E_STALE ? QST__STORED_STALE : QST__STORED_DAMAGED;
    if (status != QST_OK)
        qst__stored_finish(s, alloc);
    return status == QST_E_NOMEM ? status : QST_OK;
}

void qst__stored_finish(qst__stored *s, const qst__alloc *alloc)
{
    qst__verdict_finish(&s->verdict);
    qst__free(alloc, s->text);
    s->text = NULL;
}

const char *qst__stored_table(uint32_t db)
{
    return tables[db].name;
}

const char *qst__stored_state(uint32_t state)
{
    static const char *const names[QST__STORED_STATES] = {"current", "stale", "damaged", "kept"};

    return names[state];
}

const char *qst__stored_winner(const qst__verdict *verdict)
{
    return verdict->n_order ? verdict->findings[verdict->order[0]].name : NULL;
}

void qst__stored_id(char id[2 * QST_STORE_KEY_MAX + 1], const void *key, uint64_t key_bytes)
{
    qst__hex(id, key, key_bytes < QST_STORE_KEY_MAX ? (size_t)key_bytes : QST_STORE_KEY_MAX);
}

qst__json *qst__stored_tell(const qst__stored *s)
{
    qst__json *one = qst__json_object();
    char       id[2 * QST_STORE_KEY_MAX + 1];

    qst__stored_id(id, s->key, s->key_bytes);
    qst__json_set_text(one, "table", qst__stored_table(s->db));
    qst__json_set_text(one, "id", id);
    qst__json_set_text(one, "state", qst__stored_state(s->state));
    qst__json_set_int(one, "bytes", (int64_t)s->value_bytes);
    if (s->state == QST__STORED_CURRENT)
        tables[s->db].tell(s, one);
    return one;
}
