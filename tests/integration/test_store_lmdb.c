/* SPDX-License-Identifier: MIT
 *
 * test_store_lmdb.c: the store in a file, in one process: contract, growth, sharing, fork, a second copy of the library. */
#include "cache/claims.h"
#include "cache/lmdb.h"
#include "cache/open.h"
#include "support/meter.h"
#include "support/store_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { MIB = 1 << 20 };
static qst__alloc  alloc;
static counted_log slog;

static void contract(void **state)
{
    char     *folder = folder_make(), key[QST_STORE_KEY_MAX + 1];
    qst_store store, again;
    void     *token, *other;
    (void)state;

    store_in_file(&store, folder, 8 * MIB, &alloc, &slog);
    assert_int_equal(store_put(&store, QST_DB_VERDICTS, "b", "2"), QST_OK);
    assert_int_equal(store_put(&store, QST_DB_VERDICTS, "a", "1"), QST_OK);
    assert_int_equal(store_put(&store, QST_DB_VERDICTS, "a", "11"), QST_OK);
    assert_int_equal(store_put(&store, QST_DB_PROGRAMS, "a", ""), QST_OK);
    assert_string_equal(store_got(&store, QST_DB_VERDICTS, "a"), "11");
    assert_string_equal(store_got(&store, QST_DB_THROUGHPUT, "a"), "");
    assert_int_equal(store_count(&store, QST_DB_VERDICTS), 2);
    memset(key, 'k', sizeof key);
    assert_int_equal(store.put(store.self, 0, key, QST_STORE_KEY_MAX, "v", 1), QST_OK);
    assert_int_equal(store.put(store.self, 0, key, sizeof key, "v", 1), QST_E_INVALID);
    assert_int_equal(store.put(store.self, 0, key, 0, "v", 1), QST_E_INVALID);
    assert_int_equal(store.put(store.self, QST_DB_COUNT, key, 1, "v", 1), QST_E_INVALID);
    assert_int_equal(store.remove(store.self, 0, "z", 1), QST_E_NOTFOUND);
    assert_int_equal(store.remove(store.self, QST_DB_VERDICTS, "b", 1), QST_OK);

    /* Two opens in a process are one environment. */
    store_in_file(&again, folder, 8 * MIB, &alloc, &slog);
    assert_string_equal(store_got(&again, QST_DB_VERDICTS, "a"), "11");
    assert_int_equal(store.claim(store.self, "k", 1, &token), QST_OK);
    assert_int_equal(again.claim(again.self, "k", 1, &other), QST_E_BUSY);
    assert_null(other);
    assert_int_equal(again.claim(again.self, "kk", 2, &other), QST_OK);
    store.release(store.self, token);
    again.release(again.self, other);
    assert_int_equal(again.claim(again.self, "k", 1, &other), QST_OK);
    store.close(store.self);
    assert_string_equal(store_got(&again, QST_DB_VERDICTS, "a"), "11");
    again.close(again.self);

    store_in_file(&store, folder, 8 * MIB, &alloc, &slog);
    assert_string_equal(store_got(&store, QST_DB_VERDICTS, "a"), "11");
    assert_int_equal(store.claim(store.self, "k", 1, &token), QST_OK);
    store.close(store.self);
    assert_int_equal(slog.lines, 0);
    folder_remove(folder);
}

static int32_t remove_shown(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    qst_store *store = user;

    (void)value, (void)value_bytes;
    assert_int_equal(store->remove(store->self, QST_DB_HISTORY, key, key_bytes), QST_OK);
    assert_int_equal(store->put(store->self, QST_DB_PROGRAMS, key, key_bytes, key, key_bytes), QST_OK);
    return 0;
}

/* 10^4 keys over a map of 64 KiB at first, values from none to many pages; a take that writes; then smaller again. */
static void growth(void **state)
{
    char          *folder = folder_make(), key[32];
    unsigned char *big = calloc(1, 600000);
    qst_store      store;
    qst_store_stat stat = {.size = sizeof stat};
    (void)state;

    store_in_file(&store, folder, 64 * MIB, &alloc, &slog);
    for (int i = 0; i < 10000; i++) {
        uint64_t bytes = i % 500 == 0 ? 100000 + (uint64_t)i * 40 : (uint64_t)(i % 700);

        snprintf(key, sizeof key, "key-%07d", i * 7919 % 10000);
        assert_int_equal(store.put(store.self, QST_DB_HISTORY, key, strlen(key), big, bytes), QST_OK);
    }
    assert_int_equal(store_count(&store, QST_DB_HISTORY), 10000);
    assert_int_equal(store.stat(store.self, &stat), QST_OK);
    assert_int_equal(stat.entries[QST_DB_HISTORY], 10000);
    assert_string_equal(stat.place, folder);
    assert_true(stat.map_bytes > 8 * MIB && stat.map_bytes <= 64 * MIB && stat.file_bytes > 8 * MIB);
    assert_int_equal(store.iterate(store.self, QST_DB_HISTORY, remove_shown, &store), QST_OK);
    assert_int_equal(store_count(&store, QST_DB_HISTORY), 0);
    assert_int_equal(store_count(&store, QST_DB_PROGRAMS), 10000);
    assert_int_equal(store.sync(store.self), QST_OK);
    store.close(store.self);

    /* Full: a put fails, what is there stays, and can be removed. */
    folder_remove(folder);
    folder = folder_make();
    store_in_file(&store, folder, 1 * MIB, &alloc, &slog);
    for (int i = 0, status = QST_OK; status == QST_OK; i++) {
        snprintf(key, sizeof key, "%d", i);
        status = store.put(store.self, QST_DB_META, key, strlen(key), big, 30000);
        assert_true(i < 40);
        assert_true(status == QST_OK || status == QST_E_IO);
    }
    assert_int_equal(store.put(store.self, QST_DB_META, "huge", 4, big, 600000), QST_E_NOMEM);
    assert_int_equal(store.remove(store.self, QST_DB_META, "0", 1), QST_OK);
    assert_int_equal(store.remove(store.self, QST_DB_META, "1", 1), QST_OK);
    assert_int_equal(store.put(store.self, QST_DB_META, "0", 1, big, 10000), QST_OK);
    store.close(store.self);
    free(big);
    folder_remove(folder);
}

static int32_t accept_any(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    (void)user, (void)key, (void)key_bytes, (void)value, (void)value_bytes;
    return 0;
}

/* A child sees E_STATE, leaves the parent's locks alone, can open anew, and does not keep a dead parent's claims. */
static void forked(void **state)
{
    char     *folder = folder_make();
    qst_store store, again;
    void     *token, *other;
    int       pid;
    (void)state;

    store_in_file(&store, folder, 8 * MIB, &alloc, &slog);
    assert_int_equal(store_put(&store, 0, "k", "v"), QST_OK);
    assert_int_equal(store.claim(store.self, "k", 1, &token), QST_OK);
    pid = fork();
    if (pid == 0) {
        int bad = store_put(&store, 0, "k", "w") != QST_E_STATE;
        bad |= (store.get(store.self, 0, "k", 1, remove_shown, NULL) != QST_E_STATE) << 1;
        bad |= (store.claim(store.self, "j", 1, &other) != QST_E_STATE) << 2;
        bad |= (store.sync(store.self) != QST_E_STATE) << 3;
        store.release(store.self, token);
        store.close(store.self);
        bad |= (qst__store_lmdb(&again, &alloc, folder, MIB, false, NULL, NULL) != QST_OK) << 4;
        if (!bad) {
            bad |= (strcmp(store_got(&again, 0, "k"), "v") != 0) << 5;
            bad |= (again.claim(again.self, "k", 1, &other) != QST_E_BUSY) << 6; /* the parent's */
            again.close(again.self);
        }
        _exit(bad);
    }
    assert_int_equal(program_end(pid), 0);
    assert_string_equal(store_got(&store, 0, "k"), "v");
    assert_int_equal(store.claim(store.self, "k", 1, &other), QST_E_BUSY);
    store.close(store.self);
    folder_remove(folder);
}

static void forked_guard(void **state)
{
    char     *folder = folder_make();
    qst_store store;
    int       pid;
    (void)state;

    store_guarded(&store, folder, false, &alloc, &slog);
    assert_int_equal(store_put(&store, 0, "k", "v"), QST_OK);
    pid = fork();
    if (pid == 0) {
        int bad = store_put(&store, 0, "c", "child") != QST_OK;
        bad |= (strcmp(store_got(&store, 0, "c"), "child") != 0) << 1;
        bad |= (strcmp(store_got(&store, 0, "k"), "") != 0) << 2;
        bad |= (slog.lines != 1) << 3;
        _exit(bad);
    }
    assert_int_equal(program_end(pid), 0);
    assert_string_equal(store_got(&store, 0, "c"), "");
    assert_string_equal(store_got(&store, 0, "k"), "v");
    store.close(store.self);
    assert_int_equal(slog.lines, 0);
    folder_remove(folder);
}

/* Another copy of the library in this process: it has a table of its own, so only the file tells. */
static void second_copy(void **state)
{
    char        *folder = folder_make(), path[512];
    qst__claims *theirs;
    qst_store    store;
    (void)state;

    assert_int_equal(mkdir(path_in(path, folder, "e"), 0700), 0);
    assert_int_equal(qst__claims_open(&theirs, &alloc, path, NULL), QST_OK);
    store_guarded(&store, folder, false, &alloc, &slog);
    assert_string_equal(store.name, "memory");
    assert_int_equal(slog.lines, 1);
    assert_non_null(strstr(slog.last, "another copy of this library"));
    store.close(store.self);
    qst__claims_close(theirs);
    store_guarded(&store, folder, false, &alloc, &slog);
    assert_string_equal(store.name, "lmdb");
    store.close(store.self);
    folder_remove(folder);
}

/* ---- Memory that is refused -------------------------------------------------------------------------------------- */

/* The n-th allocation fails, for all n: nothing is lost but the call. */
static void no_memory(void **state)
{
    char              *folder = folder_make();
    qst__store_options options = {.place = QST__PLACE_PATH, .path = folder};
    char              *large = calloc(1, 10000);
    int                n, bad = 1;
    (void)state;

    for (n = 0; n < 100 && bad; n++) {
        meter      m = {.left = n};
        qst__alloc poor = meter_alloc(&m);
        qst_store  store;
        void      *token = NULL;

        bad = qst__store_open(&store, &poor, NULL, &options, NULL) != QST_OK;
        if (bad)
            continue;
        bad |= store.put(store.self, QST_DB_PROGRAMS, "large", 5, large, 10000) != QST_OK;
        bad |= store_count(&store, QST_DB_PROGRAMS) != 1;
        bad |= store.get(store.self, QST_DB_PROGRAMS, "large", 5, accept_any, NULL) != QST_OK;
        bad |= store.claim(store.self, "k", 1, &token) != QST_OK;
        store.release(store.self, token);
        store.close(store.self);
    }
    assert_in_range(n, 4, 99);
    free(large);
    folder_remove(folder);
}

static int set_up(void **state)
{
    (void)state;
    alloc = qst__alloc_default();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contract),     cmocka_unit_test(growth),      cmocka_unit_test(forked),
        cmocka_unit_test(forked_guard), cmocka_unit_test(second_copy), cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
