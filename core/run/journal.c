/* SPDX-License-Identifier: MIT
 *
 * journal.c: see journal.h.
 */
#include "run/journal.h"

#include "cache/envelope.h"

#include <string.h>

#define KIND   'Q'
#define SCHEMA 2u
#define HEAD   12u /* bytes before the texts */
#define TEXTS  3u

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

qst_status qst__journal_open(qst__journal *j, const void *bytes, size_t length)
{
    qst__envelope  e;
    const char   **texts[TEXTS] = {&j->trying, &j->died_at, &j->why};
    const uint8_t *at, *end;
    uint32_t       i;

    memset(j, 0, sizeof *j);
    if (qst__envelope_open(&e, bytes, length) != QST_OK || e.kind != KIND)
        return QST_E_CORRUPT;
    if (e.schema != SCHEMA)
        return QST_E_STALE;
    if (e.value_bytes < HEAD)
        return QST_E_CORRUPT;
    j->open = get32(e.value) != 0;
    j->harm = get32(e.value + 4);
    j->deaths = get32(e.value + 8);
    j->name = e.key;
    j->name_length = e.key_length;
    at = e.value + HEAD;
    end = e.value + e.value_bytes;
    for (i = 0; i < TEXTS; i++) {
        const uint8_t *stop = at < end ? memchr(at, '\0', (size_t)(end - at)) : NULL;
        if (!stop)
            return QST_E_CORRUPT;
        *texts[i] = (const char *)at;
        at = stop + 1;
    }
    return QST_OK;
}

uint8_t *qst__journal_seal(const qst__journal *j, const qst__alloc *alloc, size_t *length)
{
    const char   *texts[TEXTS] = {j->trying, j->died_at, j->why};
    uint8_t       head[HEAD], *bytes = NULL;
    qst__str      value;
    qst__envelope e = {KIND, SCHEMA, j->name, j->name_length, NULL, 0};
    uint32_t      i;

    put32(head, j->open);
    put32(head + 4, j->harm);
    put32(head + 8, j->deaths);
    qst__str_init(&value, alloc);
    qst__str_append_n(&value, (const char *)head, HEAD);
    for (i = 0; i < TEXTS; i++)
        qst__str_append_n(&value, texts[i], strlen(texts[i]) + 1);
    e.value = (const uint8_t *)value.text;
    e.value_bytes = value.length;
    if (!value.failed)
        bytes = qst__envelope_seal(alloc, &e, length);
    qst__str_finish(&value);
    return bytes;
}

void qst__journal_key(const qst__shelf *shelf, uint32_t candidate, uint8_t key[32])
{
    qst_context          *ctx = shelf->site->ctx;
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
    qst__sha256_update(&sha, shelf->site->facts.stack, strlen(shelf->site->facts.stack) + 1);
    qst__sha256_finish(&sha, key);
}

bool qst__journal_bars(const qst__journal *j)
{
    return j->harm >= QST__HARM_QUARANTINE || j->deaths >= QST__DEATHS_MAX;
}

bool qst__journal_suspects(const qst__journal *j)
{
    return j->harm >= QST__HARM_SUSPECT;
}

const char *qst__journal_standing(const qst__journal *j)
{
    return qst__journal_bars(j) ? "quarantined" : qst__journal_suspects(j) ? "suspect" : "watched";
}
