/* SPDX-License-Identifier: MIT
 *
 * history_case.c: see history_case.h. */
#include "support/history_case.h"

#include "cache/envelope.h"
#include "cache/history.h"

enum { KEY_BYTES = 16 }; /* session and number, big-endian */

typedef struct reader {
    history_take take;
    void        *user;
} reader;

static uint64_t number_at(const uint8_t *at)
{
    uint64_t number = 0;

    for (int i = 0; i < 8; i++)
        number = number << 8 | at[i];
    return number;
}

static int32_t show(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    const uint8_t *at = key;
    reader        *r = user;
    qst__envelope  content;

    if (key_bytes != KEY_BYTES || qst__envelope_open(&content, value, (size_t)value_bytes) != QST_OK ||
        content.kind != 'H' || content.schema != QST__HISTORY_SCHEMA)
        return 0;
    return r->take(r->user, number_at(at), number_at(at + 8), (const char *)content.value, content.value_bytes);
}

qst_status history_read(const qst_store *store, history_take take, void *user)
{
    reader r = {.take = take, .user = user};

    return store->iterate(store->self, QST_DB_HISTORY, show, &r);
}
