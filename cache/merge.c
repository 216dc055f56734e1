/* SPDX-License-Identifier: MIT
 *
 * merge.c: see merge.h. */
#include "cache/merge.h"

#include "cache/memory.h"

#include <string.h>

/* Entries of memory are shown between those of the place. */
typedef struct merge {
    const qst_store *memory;
    uint32_t         db;
    qst_store_take   take;
    void            *user;
    bool             ended;
    bool             more; /* `next` is one of memory still to be shown */
    qst__memory_at   next;
} merge;

static int compare(const merge *m, const void *key, uint64_t key_bytes)
{
    uint64_t common = m->next.bytes < key_bytes ? m->next.bytes : key_bytes;
    int      order = memcmp(m->next.key, key, (size_t)common);

    return order != 0 ? order : (m->next.bytes > key_bytes) - (m->next.bytes < key_bytes);
}

static int32_t show_kept(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    merge *m = user;

    m->ended = m->take(m->user, key, key_bytes, value, value_bytes) != 0;
    return 0;
}

/* Shows what of memory comes before the key (NULL: all that is left). */
static void show_before(merge *m, const void *key, uint64_t key_bytes)
{
    while (!m->ended && m->more && (!key || compare(m, key, key_bytes) < 0)) {
        (void)m->memory->get(m->memory->self, m->db, m->next.key, m->next.bytes, show_kept, m);
        m->more = qst__memory_next(m->memory, m->db, &m->next);
    }
}

static int32_t show_placed(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    merge *m = user;

    show_before(m, key, key_bytes);
    if (!m->ended && !(m->more && compare(m, key, key_bytes) == 0)) /* memory's is newer: it comes next */
        m->ended = m->take(m->user, key, key_bytes, value, value_bytes) != 0;
    return m->ended;
}

int32_t qst__merge(const qst_store *base, const qst_store *memory, uint32_t db, qst_store_take take, void *user)
{
    merge   m = {.memory = memory, .db = db, .take = take, .user = user};
    int32_t status = QST_OK;

    m.more = memory && qst__memory_next(memory, db, &m.next);
    if (base)
        status = base->iterate(base->self, db, show_placed, &m);
    show_before(&m, NULL, 0);
    return status;
}
