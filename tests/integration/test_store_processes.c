/* SPDX-License-Identifier: MIT
 *
 * test_store_processes.c: one store, many processes and threads, some of them killed. The program starts itself; with
 * arguments it is one of the others. */
#include "cache/lmdb-check.h"
#include "cache/lmdb.h"
#include "support/store_case.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { MIB = 1 << 20, KEYS = 20, ROUNDS = 120, PROCESSES = 8 };
static qst__alloc  alloc;
static counted_log slog;

static qst_status open_store(qst_store *store, const char *folder)
{
    counted_log_init(&slog);
    return qst__store_lmdb(store, &alloc, folder, 64 * MIB, false, &slog.log, NULL);
}

/* ---- The others -------------------------------------------------------------------------------------------------- */

/* A value that tells its number, of many sizes. */
static size_t make_value(char *out, uint32_t number)
{
    size_t length = number % 37 == 0 ? 9000 : 20 + number * 7919 % 900;

    memset(out, 'a' + (int)(number % 26), length);
    (void)!snprintf(out, 16, "%010u", (unsigned)number);
    return length;
}

/* Writes and removes without end; a number is printed when it is committed. */
static int run_write(const char *folder)
{
    qst_store store;
    char      value[9000], key[32];

    if (open_store(&store, folder) != QST_OK)
        return 1;
    for (uint32_t i = 0; i < 100000000; i++) {
        size_t   length = make_value(value, i);
        uint32_t shown = i;

        snprintf(key, sizeof key, "%u", (unsigned)i);
        if (store.put(store.self, QST_DB_VERDICTS, key, strlen(key), value, length) != QST_OK)
            return 2;
        if (write(1, &shown, sizeof shown) != sizeof shown)
            return 3;
        store_put(&store, QST_DB_HISTORY, "again and again", key);
        snprintf(key, sizeof key, "%u", (unsigned)i / 2 * 7 % 1000);
        store_put(&store, QST_DB_PROGRAMS, key, value);
        if (i % 5 == 0)
            (void)store.remove(store.self, QST_DB_PROGRAMS, key, strlen(key));
    }
    return 0;
}

/* Counts up under claims, reads, writes of its own, iterates, syncs, opens and closes. */
static int run_mix(const char *folder, const char *name)
{
    qst_store store;
    char      key[64], number[32];
    void     *token;

    if (open_store(&store, folder) != QST_OK)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(key, sizeof key, "counter %d", i % KEYS);
        if (store_claim(&store, key, &token) != QST_OK)
            return 2;
        snprintf(number, sizeof number, "%d", atoi(store_got(&store, QST_DB_VERDICTS, key)) + 1);
        if (store_put(&store, QST_DB_VERDICTS, key, number) != QST_OK)
            return 3;
        store.release(store.self, token);
        if (store.claim(store.self, "one for all", 11, &token) == QST_OK) {
            store_put(&store, QST_DB_META, "who", name);
            store.release(store.self, token);
        }
        snprintf(key, sizeof key, "%s %d", name, i);
        if (store_put(&store, QST_DB_THROUGHPUT, key, name) != QST_OK)
            return 4;
        if (strcmp(store_got(&store, QST_DB_THROUGHPUT, key), name) != 0)
            return 5;
        if (i % 16 == 3 && store_count(&store, QST_DB_THROUGHPUT) < i)
            return 6;
        if (i % 40 == 9) {
            if (store.sync(store.self) != QST_OK)
                return 7;
            store.close(store.self);
            if (open_store(&store, folder) != QST_OK || slog.lines != 0)
                return 8;
        }
    }
    store.close(store.self);
    return 0;
}

/* Holds a claim, says so, and waits to be killed. */
static int run_hold(const char *folder)
{
    qst_store store;
    void     *token;

    if (open_store(&store, folder) != QST_OK || store.claim(store.self, "k", 1, &token) != QST_OK)
        return 1;
    if (write(1, "h", 1) != 1)
        return 2;
    (void)pause();
    return 3;
}

/* Waits for a claim, and must find what its last holder left. */
static int run_wait(const char *folder)
{
    qst_store store;
    void     *token;

    if (open_store(&store, folder) != QST_OK || write(1, "a", 1) != 1)
        return 1;
    if (store_claim(&store, "k", &token) != QST_OK)
        return 2;
    if (strcmp(store_got(&store, QST_DB_META, "left"), "behind") != 0)
        return 3;
    store.release(store.self, token);
    store.close(store.self);
    return 0;
}

/* ---- The tests --------------------------------------------------------------------------------------------------- */

static void check_file(const char *folder)
{
    char      path[512];
    qst_error err = {0};
    int       fd = open(path_in(path, folder, "data.mdb"), O_RDONLY);

    assert_true(fd >= 0);
    if (qst__lmdb_check(fd, &alloc, &err) != QST_OK)
        fail_msg("%s", err.text);
    (void)close(fd);
}

/* Killed at ten moments while writing: every number that was printed is there, and the file is in order. */
static void killed(void **state)
{
    static const uint32_t moments[] = {1, 2, 7, 40, 133, 222, 400, 701, 1200, 2500};
    char                  value[9001];
    (void)state;

    for (size_t m = 0; m < sizeof moments / sizeof *moments; m++) {
        char     *folder = folder_make(), key[32];
        qst_store store;
        int       from, pid = program_start(&from, "write", folder, NULL);
        uint32_t  committed = 0, got;

        while (committed < moments[m]) {
            assert_int_equal(read(from, &got, sizeof got), sizeof got);
            assert_int_equal(got, committed);
            committed++;
        }
        assert_int_equal(kill(pid, SIGKILL), 0);
        while (read(from, &got, sizeof got) == sizeof got)
            committed++;
        assert_int_equal(program_end(pid), -SIGKILL);
        (void)close(from);

        check_file(folder);
        assert_int_equal(open_store(&store, folder), QST_OK);
        assert_int_equal(slog.lines, 0);
        for (uint32_t i = 0; i < committed; i++) {
            size_t length = make_value(value, i);
            value[length < 4095 ? length : 4095] = '\0';
            snprintf(key, sizeof key, "%u", (unsigned)i);
            assert_string_equal(store_got(&store, QST_DB_VERDICTS, key), value);
        }
        assert_true(store_count(&store, QST_DB_VERDICTS) <= committed + 1);
        assert_int_equal(store_put(&store, QST_DB_VERDICTS, "goes on", "yes"), QST_OK);
        store.close(store.self);
        check_file(folder);
        folder_remove(folder);
    }
}

/* Eight at once, and two more that are killed meanwhile: nothing that was committed is lost. */
static void many(void **state)
{
    char     *folder = folder_make(), name[PROCESSES][32], key[64];
    int       pid[PROCESSES], from[PROCESSES], writer[2], writes[2], total = 0;
    qst_store store;
    uint32_t  got;
    (void)state;

    for (int i = 0; i < PROCESSES; i++) {
        snprintf(name[i], sizeof name[i], "process %d", i);
        pid[i] = program_start(&from[i], "mix", folder, name[i], NULL);
    }
    for (int i = 0; i < 2; i++) { /* one after the other, while the eight are at it */
        writer[i] = program_start(&writes[i], "write", folder, NULL);
        for (int n = 0; n < 60 * (i + 1); n++)
            assert_int_equal(read(writes[i], &got, sizeof got), sizeof got);
        assert_int_equal(kill(writer[i], SIGKILL), 0);
        assert_int_equal(program_end(writer[i]), -SIGKILL);
        (void)close(writes[i]);
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(program_end(pid[i]), 0);
        (void)close(from[i]);
    }
    check_file(folder);
    assert_int_equal(open_store(&store, folder), QST_OK);
    assert_int_equal(slog.lines, 0);
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "counter %d", i);
        total += atoi(store_got(&store, QST_DB_VERDICTS, key));
    }
    assert_int_equal(total, PROCESSES * ROUNDS);
    assert_int_equal(store_count(&store, QST_DB_THROUGHPUT), PROCESSES * ROUNDS);
    for (int i = 0; i < 120; i++) {
        snprintf(key, sizeof key, "%d", i);
        assert_string_not_equal(store_got(&store, QST_DB_VERDICTS, key), "");
    }
    store.close(store.self);
    folder_remove(folder);
}

static void claims_of_the_dead(void **state)
{
    char     *folder = folder_make(), byte;
    int       from, pid = program_start(&from, "hold", folder, NULL);
    qst_store store;
    void     *token;
    (void)state;

    assert_int_equal(read(from, &byte, 1), 1);
    assert_int_equal(open_store(&store, folder), QST_OK);
    assert_int_equal(store.claim(store.self, "k", 1, &token), QST_E_BUSY);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(store_claim(&store, "k", &token), QST_OK); /* as soon as the kernel has taken it back */
    assert_int_equal(program_end(pid), -SIGKILL);
    store.release(store.self, token);
    (void)close(from);

    assert_int_equal(store_claim(&store, "k", &token), QST_OK);
    pid = program_start(&from, "wait", folder, NULL);
    assert_int_equal(read(from, &byte, 1), 1);
    assert_int_equal(store_put(&store, QST_DB_META, "left", "behind"), QST_OK);
    store.release(store.self, token);
    assert_int_equal(program_end(pid), 0);
    (void)close(from);
    store.close(store.self);
    folder_remove(folder);
}

/* Somebody removes or replaces files that others use: whoever comes then stays out. */
static void replaced(void **state)
{
    static const char *const names[] = {"data.mdb", "lock.mdb"};
    (void)state;

    for (int i = 0; i < 2; i++) {
        char     *folder = folder_make(), path[512], byte;
        int       from, pid = program_start(&from, "hold", folder, NULL);
        qst_store store;
        qst_error err = {0};

        assert_int_equal(read(from, &byte, 1), 1);
        assert_int_equal(unlink(path_in(path, folder, names[i])), 0);
        assert_int_equal(qst__store_lmdb(&store, &alloc, folder, MIB, false, NULL, &err), QST_E_STATE);
        assert_non_null(strstr(err.text, "replaced while other processes use it"));
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(program_end(pid), -SIGKILL);
        (void)close(from);
        assert_int_equal(open_store(&store, folder), QST_OK);
        store.close(store.self);
        folder_remove(folder);
    }
}

typedef struct worker {
    qst_store *store;
    int        id;
    int        bad;
} worker;

static void *work(void *user)
{
    worker *w = user;
    char    key[32], value[3000], *end;
    void   *token;

    memset(value, 'x', sizeof value);
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof key, "%d %d", w->id, i);
        w->bad |= w->store->put(w->store->self, QST_DB_PROGRAMS, key, strlen(key), value, sizeof value) != QST_OK;
        w->bad |= store_claim(w->store, "sum", &token) != QST_OK;
        snprintf(key, sizeof key, "%ld", strtol(store_got(w->store, QST_DB_META, "sum"), &end, 10) + 1);
        w->bad |= store_put(w->store, QST_DB_META, "sum", key) != QST_OK;
        w->store->release(w->store->self, token);
        if (i % 50 == 0)
            w->bad |= store_count(w->store, QST_DB_PROGRAMS) < i;
    }
    return NULL;
}

/* Threads, while the map grows beneath them. */
static void threads(void **state)
{
    char     *folder = folder_make();
    qst_store store;
    worker    w[4];
    pthread_t thread[4];
    (void)state;

    assert_int_equal(open_store(&store, folder), QST_OK);
    for (int i = 0; i < 4; i++) {
        w[i] = (worker){.store = &store, .id = i};
        assert_int_equal(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(w[i].bad, 0);
    }
    assert_int_equal(store_count(&store, QST_DB_PROGRAMS), 1200);
    assert_string_equal(store_got(&store, QST_DB_META, "sum"), "1200");
    store.close(store.self);
    check_file(folder);
    folder_remove(folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed),   cmocka_unit_test(many),    cmocka_unit_test(claims_of_the_dead),
        cmocka_unit_test(replaced), cmocka_unit_test(threads),
    };

    alloc = qst__alloc_default();
    if (argc == 3 && strcmp(argv[1], "write") == 0)
        return run_write(argv[2]);
    if (argc == 4 && strcmp(argv[1], "mix") == 0)
        return run_mix(argv[2], argv[3]);
    if (argc == 3 && strcmp(argv[1], "hold") == 0)
        return run_hold(argv[2]);
    if (argc == 3 && strcmp(argv[1], "wait") == 0)
        return run_wait(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
