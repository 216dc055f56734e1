/* SPDX-License-Identifier: MIT
 *
 * test_table.c: the lock-free table alone, then with eight threads that add and look up the same keys. */
#include "base/hash.h"
#include "support/meter.h"
#include "tune/table.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t hash_of(uint32_t key)
{
    return qst__hash(&key, sizeof key, 0);
}

static void *get(const qst__table *table, uint32_t key)
{
    return qst__table_get(table, &key, sizeof key, hash_of(key));
}

static void *add(qst__table *table, uint32_t key, void *value)
{
    return qst__table_add(table, &key, sizeof key, hash_of(key), value);
}

static void count(void *user, void *value)
{
    (void)value;
    ++*(uint32_t *)user;
}

static uint32_t entries(const qst__table *table)
{
    uint32_t n = 0;

    qst__table_each(table, count, &n);
    return n;
}

static void add_and_get(void **state)
{
    qst__alloc alloc = qst__alloc_default();
    qst__table table;
    int        one, two;
    (void)state;

    qst__table_init(&table, &alloc, 0);
    assert_null(get(&table, 1));
    assert_int_equal(entries(&table), 0);
    assert_ptr_equal(add(&table, 1, &one), &one);
    assert_ptr_equal(add(&table, 1, &two), &one); /* the first stays */
    assert_ptr_equal(get(&table, 1), &one);
    assert_null(get(&table, 2));
    assert_int_equal(entries(&table), 1);
    qst__table_finish(&table);
}

/* Keys of one hash, of other lengths, one of no bytes: told apart by their bytes. */
static void equal_hashes(void **state)
{
    qst__alloc alloc = qst__alloc_default();
    qst__table table;
    int        values[4];
    (void)state;

    qst__table_init(&table, &alloc, 0);
    assert_ptr_equal(qst__table_add(&table, "ab", 2, 63, &values[0]), &values[0]);
    assert_ptr_equal(qst__table_add(&table, "ac", 2, 63, &values[1]), &values[1]);
    assert_ptr_equal(qst__table_add(&table, "a", 1, 63, &values[2]), &values[2]);
    assert_ptr_equal(qst__table_add(&table, "", 0, 63, &values[3]), &values[3]);
    assert_ptr_equal(qst__table_get(&table, "ab", 2, 63), &values[0]);
    assert_ptr_equal(qst__table_get(&table, "ac", 2, 63), &values[1]);
    assert_ptr_equal(qst__table_get(&table, "a", 1, 63), &values[2]);
    assert_ptr_equal(qst__table_get(&table, "", 0, 63), &values[3]);
    assert_null(qst__table_get(&table, "ab", 2, 62));
    assert_null(qst__table_get(&table, "b", 1, 63));
    qst__table_finish(&table);
}

static void growth(void **state)
{
    qst__alloc alloc = qst__alloc_default();
    qst__table table;
    static int values[5000];
    (void)state;

    qst__table_init(&table, &alloc, 0);
    for (uint32_t i = 0; i < 5000; i++)
        assert_ptr_equal(add(&table, i, &values[i]), &values[i]);
    for (uint32_t i = 0; i < 5000; i++)
        assert_ptr_equal(get(&table, i), &values[i]);
    assert_null(get(&table, 5000));
    assert_int_equal(entries(&table), 5000);
    qst__table_finish(&table);
}

static void limit(void **state)
{
    qst__alloc alloc = qst__alloc_default();
    qst__table table;
    int        value;
    (void)state;

    qst__table_init(&table, &alloc, 2);
    assert_non_null(add(&table, 1, &value));
    assert_non_null(add(&table, 2, &value));
    assert_null(add(&table, 3, &value));
    assert_ptr_equal(add(&table, 2, &value), &value);
    assert_null(get(&table, 3));
    qst__table_finish(&table);
}

static void no_memory(void **state)
{
    meter      m = {.left = 0};
    qst__alloc alloc = meter_alloc(&m);
    qst__table table;
    int        value;
    (void)state;

    qst__table_init(&table, &alloc, 0);
    assert_null(add(&table, 1, &value)); /* no slots */
    m.left = 1;
    assert_null(add(&table, 1, &value)); /* slots, no entry */
    m.left = 1;
    assert_ptr_equal(add(&table, 1, &value), &value);
    m.left = 31;
    for (uint32_t i = 2; i < 33; i++)
        assert_non_null(add(&table, i, &value));
    m.left = 0;
    assert_null(add(&table, 33, &value)); /* half full, and it cannot grow */
    assert_ptr_equal(get(&table, 32), &value);
    qst__table_finish(&table);
}

/* ---- Threads --------------------------------------------------------------------------------------------------- */

enum { THREADS = 8, KEYS = 2000 };

typedef struct cell {
    uint32_t key;
    uint32_t thread;
} cell;

typedef struct worker {
    qst__table *table;
    uint32_t    number;
    uint32_t    wrong;
    cell        cells[KEYS];
    cell       *there[KEYS]; /* what add said is there */
} worker;

/* Adds all keys in an order of its own and looks each up before and after; values are written before they are added,
 * read through what the table gives. */
static void *work(void *user)
{
    worker *w = user;

    for (uint32_t i = 0; i < KEYS; i++) {
        uint32_t    key = (i * 7 + w->number * 251) % KEYS;
        const cell *before = get(w->table, key);
        const cell *after;
        w->cells[key] = (cell){.key = key, .thread = w->number};
        w->there[key] = add(w->table, key, &w->cells[key]);
        after = get(w->table, key);
        w->wrong += after != w->there[key] || !after || after->key != key;
        w->wrong += before && before != after;
        if (i % 512 == 0 && entries(w->table) > KEYS)
            w->wrong++;
    }
    return NULL;
}

static void eight_threads(void **state)
{
    qst__alloc alloc = qst__alloc_default();
    qst__table table;
    pthread_t  threads[THREADS];
    worker    *workers = calloc(THREADS, sizeof *workers);
    (void)state;

    assert_non_null(workers);
    qst__table_init(&table, &alloc, 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].table = &table;
        workers[i].number = i;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(entries(&table), KEYS);
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].wrong, 0);
        for (uint32_t key = 0; key < KEYS; key++)
            assert_ptr_equal(workers[i].there[key], workers[0].there[key]); /* all got the same one */
    }
    qst__table_finish(&table);
    free(workers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_and_get), cmocka_unit_test(equal_hashes), cmocka_unit_test(growth),
        cmocka_unit_test(limit),       cmocka_unit_test(no_memory),    cmocka_unit_test(eight_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
