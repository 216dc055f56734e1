/* SPDX-License-Identifier: MIT
 *
 * How the table's memory is laid out and published: entries are immutable once a slot shows them, slot arrays are
 * at most half full, and an array that was ever published stays until finish. */
#include "tune/table.h"

#include <string.h>

enum { FIRST_SLOTS = 64 };

typedef struct entry {
    uint64_t      hash;
    void         *value;
    size_t        bytes;
    unsigned char key[];
} entry;

struct qst__table_slots {
    qst__table_slots *older; /* the array before, kept for readers that still look at it */
    uint32_t          size;  /* a power of two */
    _Atomic(entry *)  at[];
};

static qst__table_slots *make_slots(const qst__alloc *alloc, uint32_t size)
{
    qst__table_slots *slots = qst__zalloc(alloc, sizeof *slots + size * sizeof slots->at[0]);

    if (!slots)
        return NULL;
    slots->size = size;
    for (uint32_t i = 0; i < size; i++)
        atomic_init(&slots->at[i], NULL);
    return slots;
}

static bool is_key(const entry *found, const void *key, size_t bytes, uint64_t hash)
{
    return found->hash == hash && found->bytes == bytes && (bytes == 0 || memcmp(found->key, key, bytes) == 0);
}

/* The entry of a key, or NULL; `free_at` (where not NULL) gets the slot it would go to. */
static entry *probe(const qst__table_slots *slots, const void *key, size_t bytes, uint64_t hash, uint32_t *free_at)
{
    uint32_t at = (uint32_t)hash & (slots->size - 1);

    for (;;) {
        entry *found = atomic_load_explicit(&slots->at[at], memory_order_acquire);
        if (!found || is_key(found, key, bytes, hash)) {
            if (free_at)
                *free_at = at;
            return found;
        }
        at = (at + 1) & (slots->size - 1);
    }
}

void qst__table_init(qst__table *table, const qst__alloc *alloc, uint32_t limit)
{
    table->alloc = alloc;
    qst__lock_init(&table->lock);
    atomic_init(&table->slots, NULL);
    table->count = 0;
    table->limit = limit;
}

void qst__table_finish(qst__table *table)
{
    qst__table_slots *slots = atomic_load_explicit(&table->slots, memory_order_acquire);

    for (uint32_t i = 0; slots && i < slots->size; i++)
        qst__free(table->alloc, atomic_load_explicit(&slots->at[i], memory_order_relaxed));
    while (slots) {
        qst__table_slots *older = slots->older;
        qst__free(table->alloc, slots);
        slots = older;
    }
    atomic_store_explicit(&table->slots, NULL, memory_order_relaxed);
    table->count = 0;
    qst__lock_finish(&table->lock);
}

void *qst__table_get(const qst__table *table, const void *key, size_t bytes, uint64_t hash)
{
    const qst__table_slots *slots = atomic_load_explicit(&table->slots, memory_order_acquire);
    const entry            *found = slots ? probe(slots, key, bytes, hash, NULL) : NULL;

    return found ? found->value : NULL;
}

/* Under the lock: a slot array with room for one more, or NULL. */
static qst__table_slots *room(qst__table *table)
{
    qst__table_slots *old = atomic_load_explicit(&table->slots, memory_order_relaxed);
    qst__table_slots *slots;

    if (old && table->count < old->size / 2)
        return old;
    if (old && old->size > UINT32_MAX / 2)
        return NULL;
    slots = make_slots(table->alloc, old ? old->size * 2 : FIRST_SLOTS);
    if (!slots)
        return NULL;
    for (uint32_t i = 0; old && i < old->size; i++) {
        entry   *moved = atomic_load_explicit(&old->at[i], memory_order_relaxed);
        uint32_t at;
        if (!moved)
            continue;
        probe(slots, moved->key, moved->bytes, moved->hash, &at);
        atomic_store_explicit(&slots->at[at], moved, memory_order_relaxed);
    }
    slots->older = old;
    atomic_store_explicit(&table->slots, slots, memory_order_release);
    return slots;
}

/* Under the lock, the key not being there. */
static void *insert(qst__table *table, const void *key, size_t bytes, uint64_t hash, void *value)
{
    qst__table_slots *slots;
    entry            *fresh;
    uint32_t          at;

    if (table->limit && table->count >= table->limit)
        return NULL;
    slots = room(table);
    if (!slots || bytes > SIZE_MAX - sizeof *fresh)
        return NULL;
    fresh = qst__zalloc(table->alloc, sizeof *fresh + bytes);
    if (!fresh)
        return NULL;
    fresh->hash = hash;
    fresh->value = value;
    fresh->bytes = bytes;
    if (bytes)
        memcpy(fresh->key, key, bytes);
    probe(slots, key, bytes, hash, &at);
    atomic_store_explicit(&slots->at[at], fresh, memory_order_release);
    table->count++;
    return value;
}

void *qst__table_add(qst__table *table, const void *key, size_t bytes, uint64_t hash, void *value)
{
    void *there;

    qst__lock_take(&table->lock);
    there = qst__table_get(table, key, bytes, hash);
    if (!there)
        there = insert(table, key, bytes, hash, value);
    qst__lock_give(&table->lock);
    return there;
}

void qst__table_each(const qst__table *table, void (*visit)(void *user, void *value), void *user)
{
    const qst__table_slots *slots = atomic_load_explicit(&table->slots, memory_order_acquire);

    for (uint32_t i = 0; slots && i < slots->size; i++) {
        const entry *found = atomic_load_explicit(&slots->at[i], memory_order_acquire);
        if (found)
            visit(user, found->value);
    }
}
