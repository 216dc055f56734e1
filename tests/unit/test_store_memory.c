/* SPDX-License-Identifier: MIT
 *
 * test_store_memory.c: the store in memory: contract, order, claims, callbacks that call back, threads, memory. */
#include "cache/memory.h"
#include "support/meter.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static qst__alloc alloc;

static int set_up(void **state)
{
    static qst_store store;

    alloc = qst__alloc_default();
    if (qst__store_memory(&store, &alloc, NULL) < 0)
        return -1;
    *state = &store;
    return 0;
}

static int tear_down(void **state)
{
    qst_store *store = *state;

    store->close(store->self);
    return 0;
}

static int32_t put(qst_store *store, uint32_t db, const char *key, const char *value)
{
    return store->put(store->self, db, key, strlen(key), value, strlen(value));
}

typedef struct text {
    char       out[256];
    uint32_t   end_after;
    qst_store *store; /* where not NULL: take removes what it is shown */
} text;

static int32_t append(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    text  *t = user;
    size_t used = strlen(t->out);

    snprintf(t->out + used, sizeof t->out - used, "%.*s=%.*s ", (int)key_bytes, (const char *)key, (int)value_bytes,
             (const char *)value);
    if (t->store) {
        assert_int_equal(t->store->remove(t->store->self, QST_DB_VERDICTS, key, key_bytes), QST_OK);
        used = strlen(t->out);
        snprintf(t->out + used, sizeof t->out - used, "%.*s ", (int)value_bytes, (const char *)value); /* still there */
    }
    return t->end_after && --t->end_after == 0;
}

static const char *got(qst_store *store, uint32_t db, const char *key)
{
    static text t;

    memset(&t, 0, sizeof t);
    if (store->get(store->self, db, key, strlen(key), append, &t) != QST_OK)
        return "";
    return t.out;
}

static void put_get_remove(void **state)
{
    qst_store *store = *state;

    assert_string_equal(store->name, "memory");
    assert_int_equal(store->size, sizeof *store);
    assert_string_equal(got(store, QST_DB_VERDICTS, "k"), "");
    assert_int_equal(put(store, QST_DB_VERDICTS, "k", "one"), QST_OK);
    assert_int_equal(put(store, QST_DB_PROGRAMS, "k", "other"), QST_OK);
    assert_string_equal(got(store, QST_DB_VERDICTS, "k"), "k=one ");
    assert_string_equal(got(store, QST_DB_PROGRAMS, "k"), "k=other ");
    assert_int_equal(put(store, QST_DB_VERDICTS, "k", "two"), QST_OK);
    assert_string_equal(got(store, QST_DB_VERDICTS, "k"), "k=two ");
    assert_int_equal(put(store, QST_DB_VERDICTS, "k", ""), QST_OK);
    assert_string_equal(got(store, QST_DB_VERDICTS, "k"), "k= ");
    assert_int_equal(store->remove(store->self, QST_DB_VERDICTS, "k", 1), QST_OK);
    assert_int_equal(store->remove(store->self, QST_DB_VERDICTS, "k", 1), QST_E_NOTFOUND);
    assert_string_equal(got(store, QST_DB_PROGRAMS, "k"), "k=other ");
    assert_int_equal(store->sync(store->self), QST_OK);
}

static void out_of_contract(void **state)
{
    qst_store *store = *state;
    char       key[QST_STORE_KEY_MAX + 1];
    void      *token;

    memset(key, 'x', sizeof key);
    assert_int_equal(store->put(store->self, 0, key, sizeof key, "", 0), QST_E_INVALID);
    assert_int_equal(store->put(store->self, 0, key, QST_STORE_KEY_MAX, "v", 1), QST_OK);
    assert_int_equal(store->remove(store->self, 0, key, QST_STORE_KEY_MAX), QST_OK);
    assert_int_equal(store->put(store->self, 0, key, 0, "", 0), QST_E_INVALID);
    assert_int_equal(store->put(store->self, QST_DB_COUNT, key, 1, "", 0), QST_E_INVALID);
    assert_int_equal(store->put(store->self, 0, key, 1, NULL, 1), QST_E_INVALID);
    assert_int_equal(store->put(store->self, 0, key, 1, "", UINT64_MAX), QST_E_NOMEM);
    assert_int_equal(store->get(store->self, 0, NULL, 1, append, NULL), QST_E_INVALID);
    assert_int_equal(store->iterate(store->self, QST_DB_COUNT, append, NULL), QST_E_INVALID);
    assert_int_equal(store->claim(store->self, key, sizeof key, &token), QST_E_INVALID);
}

static void iteration(void **state)
{
    qst_store *store = *state;
    text       t = {.out = ""};

    assert_int_equal(store->iterate(store->self, QST_DB_VERDICTS, append, &t), QST_OK);
    assert_string_equal(t.out, "");
    put(store, QST_DB_VERDICTS, "b", "3");
    put(store, QST_DB_VERDICTS, "ab", "2");
    put(store, QST_DB_VERDICTS, "\xff", "4");
    put(store, QST_DB_VERDICTS, "a", "1");
    put(store, QST_DB_META, "a", "meta");
    assert_int_equal(store->iterate(store->self, QST_DB_VERDICTS, append, &t), QST_OK);
    assert_string_equal(t.out, "a=1 ab=2 b=3 \xff=4 ");
    t = (text){.end_after = 2};
    assert_int_equal(store->iterate(store->self, QST_DB_VERDICTS, append, &t), QST_OK);
    assert_string_equal(t.out, "a=1 ab=2 ");
    t = (text){.store = store};
    assert_int_equal(store->iterate(store->self, QST_DB_VERDICTS, append, &t), QST_OK);
    assert_string_equal(t.out, "a=1 1 ab=2 2 b=3 3 \xff=4 4 ");
    t = (text){.out = ""};
    assert_int_equal(store->iterate(store->self, QST_DB_VERDICTS, append, &t), QST_OK);
    assert_string_equal(t.out, "");
}

static void claims(void **state)
{
    qst_store *store = *state;
    void      *first, *second, *other;

    assert_int_equal(store->claim(store->self, "k", 1, &first), QST_OK);
    assert_int_equal(store->claim(store->self, "k", 1, &second), QST_E_BUSY);
    assert_null(second);
    assert_int_equal(store->claim(store->self, "kk", 2, &other), QST_OK);
    store->release(store->self, first);
    store->release(store->self, NULL);
    assert_int_equal(store->claim(store->self, "k", 1, &second), QST_OK);
    assert_int_equal(store->claim(store->self, "kk", 2, &first), QST_E_BUSY);
    store->release(store->self, second);
    /* `other` is still held: close frees it */
}

enum { THREADS = 4, TURNS = 500 };

typedef struct worker {
    qst_store *store;
    uint32_t   number;
    uint32_t   wrong;
    uint32_t  *counter; /* guarded by the claim alone */
} worker;

static int32_t is_whole(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    const char *bytes = value;
    uint32_t   *wrong = user;

    (void)key, (void)key_bytes;
    for (uint64_t i = 1; i < value_bytes; i++)
        *wrong += bytes[i] != bytes[0];
    return 0;
}

static void *work(void *user)
{
    worker *w = user;
    char    value[64];

    memset(value, 'a' + (int)w->number, sizeof value);
    for (uint32_t i = 0; i < TURNS; i++) {
        char  key[2] = {'k', (char)('0' + i % 5)};
        void *token;
        w->store->put(w->store->self, QST_DB_VERDICTS, key, 2, value, 1 + i % sizeof value);
        w->store->get(w->store->self, QST_DB_VERDICTS, key, 2, is_whole, &w->wrong);
        if (i % 16 == 0)
            w->store->iterate(w->store->self, QST_DB_VERDICTS, is_whole, &w->wrong);
        if (i % 7 == 0)
            w->store->remove(w->store->self, QST_DB_VERDICTS, key, 2);
        if (w->store->claim(w->store->self, "counter", 7, &token) == QST_OK) {
            ++*w->counter;
            w->store->release(w->store->self, token);
        }
    }
    return NULL;
}

static void threads(void **state)
{
    worker    workers[THREADS];
    pthread_t started[THREADS];
    uint32_t  counter = 0;

    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.store = *state, .number = i, .counter = &counter};
        assert_int_equal(pthread_create(&started[i], NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(started[i], NULL), 0);
        assert_int_equal(workers[i].wrong, 0);
    }
    assert_in_range(counter, TURNS, THREADS * TURNS);
}

static void no_memory(void **state)
{
    meter      m = {.left = 0};
    qst__alloc poor = meter_alloc(&m);
    qst_store  store;
    qst_error  err = {0};
    void      *token;
    (void)state;

    assert_int_equal(qst__store_memory(&store, &poor, &err), QST_E_NOMEM);
    assert_int_equal(err.status, QST_E_NOMEM);
    m.left = 1;
    assert_int_equal(qst__store_memory(&store, &poor, NULL), QST_OK);
    assert_int_equal(put(&store, 0, "k", "v"), QST_E_NOMEM);
    m.left = 1;
    assert_int_equal(put(&store, 0, "k", "v"), QST_E_NOMEM); /* the entry, not the array */
    m.left = 1;
    assert_int_equal(store.claim(store.self, "k", 1, &token), QST_E_NOMEM);
    assert_null(token);
    m.left = 2;
    assert_int_equal(put(&store, 0, "k", "v"), QST_OK);
    assert_int_equal(put(&store, 0, "k", "w"), QST_E_NOMEM);
    assert_string_equal(got(&store, 0, "k"), "k=v ");
    store.close(store.self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(put_get_remove, set_up, tear_down),
        cmocka_unit_test_setup_teardown(out_of_contract, set_up, tear_down),
        cmocka_unit_test_setup_teardown(iteration, set_up, tear_down),
        cmocka_unit_test_setup_teardown(claims, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads, set_up, tear_down),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
