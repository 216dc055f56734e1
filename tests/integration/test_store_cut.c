/* SPDX-License-Identifier: MIT
 *
 * test_store_cut.c: what others do to a store that is open: they cut its files short, remove them, or are stopped while
 * they hold what everybody needs. The program starts itself; with arguments it is one of the others. */
#define _GNU_SOURCE
#include "cache/lmdb-env.h"
#include "cache/open.h"
#include "support/store_case.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { MIB = 1 << 20, VALUES = 300 };
static qst__alloc  alloc;
static counted_log slog;

/* Stands in for the C library's: the library's waits are counted and not slept. */
static uint64_t slept_ns;
int             nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)left;
    slept_ns += (uint64_t)wanted->tv_sec * 1000000000u + (uint64_t)wanted->tv_nsec;
    return 0;
}

/* A store with some dozens of pages. */
static char *filled(void)
{
    char     *folder = folder_make(), key[16];
    qst_store store;

    store_guarded(&store, folder, false, &alloc, &slog);
    for (int i = 0; i < VALUES; i++) {
        snprintf(key, sizeof key, "%d", i);
        assert_int_equal(store_put(&store, QST_DB_VERDICTS, key, "a value, of which many fill the pages of a file"), 0);
    }
    store.close(store.self);
    assert_int_equal(slog.lines, 0);
    return folder;
}

/* Reads and writes go on in memory, with one warning that has this text. */
static void goes_on(qst_store *store, const char *text)
{
    assert_int_equal(store_put(store, QST_DB_VERDICTS, "new", "kept"), QST_OK);
    assert_string_equal(store_got(store, QST_DB_VERDICTS, "new"), "kept");
    assert_true(store_count(store, QST_DB_VERDICTS) >= 1);
    assert_int_equal(store->sync(store->self), QST_OK);
    assert_int_equal(slog.lines, 1);
    if (!strstr(slog.last, text))
        fail_msg("\"%s\" has no \"%s\"", slog.last, text);
}

/* ---- Cut short ----------------------------------------------------------------------------------------------------- */

/* Whoever reads beyond the end of a mapped file gets a fault of memory, so nobody reads. */
static void cut_short(void **state)
{
    static const struct {
        const char *name;
        off_t       bytes;
    } cuts[] = {{"e/data.mdb", 0},     {"e/data.mdb", 4096}, {"e/data.mdb", 8192},
                {"e/data.mdb", 20480}, {"e/lock.mdb", 0},    {"e/lock.mdb", 4096}};
    (void)state;

    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        char     *folder = filled(), path[512];
        qst_store store;

        store_guarded(&store, folder, false, &alloc, &slog);
        assert_string_not_equal(store_got(&store, QST_DB_VERDICTS, "7"), "");
        assert_int_equal(truncate(path_in(path, folder, cuts[i].name), cuts[i].bytes), 0);
        assert_string_equal(store_got(&store, QST_DB_VERDICTS, "7"), "");
        goes_on(&store, "damaged, or were cut short");
        store.close(store.self);
        store_guarded(&store, folder, false, &alloc, &slog); /* the next one mends it */
        assert_string_equal(store.name, "lmdb");
        assert_int_equal(store_put(&store, QST_DB_VERDICTS, "k", "v"), QST_OK);
        store.close(store.self);
        store_guarded(&store, folder, false, &alloc, &slog);
        assert_string_equal(store_got(&store, QST_DB_VERDICTS, "k"), "v");
        assert_string_equal(store_got(&store, QST_DB_VERDICTS, "7")[0] ? "there" : "lost",
                            strstr(cuts[i].name, "data") ? "lost" : "there");
        store.close(store.self);
        assert_int_equal(slog.lines, 0);
        folder_remove(folder);
    }
}

/* Has the store open, and looks into it whenever it is told to. */
static int run_look(const char *folder)
{
    qst_store store;
    char      byte;

    store_guarded(&store, folder, false, &alloc, &slog);
    do {
        byte = store_got(&store, QST_DB_VERDICTS, "7")[0] ? 'y' : 'n';
        if (write(1, &byte, 1) != 1)
            return 1;
    } while (read(0, &byte, 1) == 1);
    return 0;
}

/* Another process has it open and has not noticed: whoever comes stays out. Once it has, the next one mends it. */
static void cut_under_another(void **state)
{
    char     *folder = filled(), path[512], byte = 0;
    int       tell[2], from, pid;
    qst_store store;
    (void)state;

    assert_int_equal(pipe(tell), 0);
    assert_int_equal(dup2(tell[0], 0), 0);
    pid = program_start(&from, "look", folder, NULL);
    assert_int_equal(read(from, &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_int_equal(truncate(path_in(path, folder, "e/data.mdb"), 8192), 0);
    store_guarded(&store, folder, false, &alloc, &slog);
    assert_string_equal(store.name, "memory");
    goes_on(&store, "was cut short while other processes use it");
    store.close(store.self);
    assert_int_equal(write(tell[1], "l", 1), 1);
    assert_int_equal(read(from, &byte, 1), 1);
    assert_int_equal(byte, 'n');
    store_guarded(&store, folder, false, &alloc, &slog);
    assert_string_equal(store.name, "lmdb");
    assert_non_null(strstr(slog.last, "set aside as data.mdb.damaged-1"));
    assert_int_equal(store_put(&store, QST_DB_VERDICTS, "7", "seven"), QST_OK);
    assert_string_equal(store_got(&store, QST_DB_VERDICTS, "7"), "seven");
    store.close(store.self);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(program_end(pid), -SIGKILL);
    (void)close(from);
    (void)close(tell[0]);
    (void)close(tell[1]);
    folder_remove(folder);
}

/* ---- Stopped ------------------------------------------------------------------------------------------------------- */

/* Stops within a transaction: of LMDB's, or where a reader's begins. */
static int run_stop(const char *folder, bool write_it)
{
    char      path[512];
    qst__env *env;
    MDB_txn  *txn;

    if (qst__env_open(&env, path_in(path, folder, "e"), 8 * MIB, false, NULL, NULL) != QST_OK)
        return 1;
    if ((write_it ? qst__env_begin(env, true, &txn) : qst__claims_hold(qst__env_claims(env), QST__CLAIMS_READERS, 0)) !=
        QST_OK)
        return 2;
    if (write(1, "s", 1) != 1)
        return 3;
    return raise(SIGSTOP);
}

static void stopped(const char *how, bool readable)
{
    char     *folder = filled(), byte;
    int       from, pid = program_start(&from, how, folder, NULL);
    uint64_t  once;
    qst_store store;

    assert_int_equal(read(from, &byte, 1), 1);
    store_guarded(&store, folder, false, &alloc, &slog);
    slept_ns = 0;
    if (!readable)
        assert_string_equal(store_got(&store, QST_DB_VERDICTS, "7"), "");
    goes_on(&store, "another process has been at it for 5 s, or is stopped");
    once = slept_ns;
    assert_in_range(once, 5000000000u, 5100000000u);
    assert_string_equal(store_got(&store, QST_DB_VERDICTS, "7")[0] ? "there" : "", readable ? "there" : "");
    goes_on(&store, "another process"); /* and nobody waits again */
    store.close(store.self);
    assert_int_equal(slept_ns, once);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(program_end(pid), -SIGKILL);
    (void)close(from);
    store_guarded(&store, folder, false, &alloc, &slog);
    assert_string_equal(store.name, "lmdb");
    assert_int_equal(store_put(&store, QST_DB_VERDICTS, "k", "v"), QST_OK);
    store.close(store.self);
    store_guarded(&store, folder, false, &alloc, &slog);
    assert_string_equal(store_got(&store, QST_DB_VERDICTS, "k"), "v");
    store.close(store.self);
    assert_int_equal(slog.lines, 0);
    folder_remove(folder);
}

static void stopped_while_writing(void **state)
{
    (void)state;
    stopped("stop-writing", true);
}

static void stopped_while_beginning(void **state)
{
    (void)state;
    stopped("stop-reading", false);
}

static void remove_files(const char *folder)
{
    static const char *const names[] = {"e/data.mdb", "e/lock.mdb", "e/claims", "e/clean"};
    char                     path[512];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(unlink(path_in(path, folder, names[i])), 0);
    assert_int_equal(rmdir(path_in(path, folder, "e")), 0);
}

/* What is written to a file that was removed is nobody's: it is told once, and what was there is read as before. */
static void removed(void **state)
{
    char     *folder = filled();
    qst_store store;
    (void)state;

    store_guarded(&store, folder, false, &alloc, &slog);
    assert_int_equal(store_put(&store, QST_DB_VERDICTS, "before", "v"), QST_OK);
    remove_files(folder);
    goes_on(&store, "it was removed, or replaced, while it was in use");
    assert_string_equal(store_got(&store, QST_DB_VERDICTS, "before"), "v");
    assert_int_equal(store_count(&store, QST_DB_VERDICTS), VALUES + 2);
    store.close(store.self);
    folder_remove(folder);
}

/* Another store stands there: it is left alone, and whoever opens it has it. */
static void replaced(void **state)
{
    char     *folder = filled();
    qst_store store, other;
    (void)state;

    store_guarded(&store, folder, false, &alloc, &slog);
    remove_files(folder);
    store_guarded(&other, folder, false, &alloc, &slog);
    assert_string_equal(other.name, "lmdb");
    assert_int_equal(store_put(&other, QST_DB_VERDICTS, "theirs", "v"), QST_OK);
    goes_on(&store, "it was removed, or replaced, while it was in use");
    assert_string_equal(store_got(&store, QST_DB_VERDICTS, "theirs"), "");
    assert_int_equal(store_count(&other, QST_DB_VERDICTS), 1);
    store.close(store.self);
    other.close(other.self);
    store_guarded(&store, folder, false, &alloc, &slog);
    assert_int_equal(store_count(&store, QST_DB_VERDICTS), 1);
    store.close(store.self);
    folder_remove(folder);
}

/* Only the data are: the next store begins them anew, in the same process too, whether the one that has them open has noticed
 * or not, and whoever is closed first. */
static void begun_anew(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        char     *folder = filled(), path[512];
        qst_store store, next;

        store_guarded(&store, folder, false, &alloc, &slog);
        assert_int_equal(unlink(path_in(path, folder, "e/data.mdb")), 0);
        if (how & 1)
            goes_on(&store, "it was removed, or replaced, while it was in use");
        store_guarded(&next, folder, false, &alloc, &slog);
        assert_string_equal(next.name, "lmdb");
        assert_int_equal(store_count(&next, QST_DB_VERDICTS), 0);
        assert_int_equal(store_put(&next, QST_DB_VERDICTS, "7", "seven"), QST_OK);
        assert_int_equal(slog.lines, 0);
        if (!(how & 1))
            goes_on(&store, "it was removed, or replaced, while it was in use");
        assert_string_equal(store_got(&store, QST_DB_VERDICTS, "7"), "a value, of which many fill the pages of a file");
        (how & 2 ? &next : &store)->close((how & 2 ? &next : &store)->self);
        if (!(how & 2)) {
            assert_int_equal(store_put(&next, QST_DB_VERDICTS, "8", "eight"), QST_OK);
            assert_string_equal(store_got(&next, QST_DB_VERDICTS, "7"), "seven");
        }
        (how & 2 ? &store : &next)->close((how & 2 ? &store : &next)->self);
        store_guarded(&next, folder, false, &alloc, &slog);
        assert_string_equal(store_got(&next, QST_DB_VERDICTS, "7"), "seven");
        assert_int_equal(store_count(&next, QST_DB_VERDICTS), how & 2 ? 1 : 2);
        assert_int_equal(slog.lines, 0);
        next.close(next.self);
        folder_remove(folder);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_short),
        cmocka_unit_test(cut_under_another),
        cmocka_unit_test(removed),
        cmocka_unit_test(replaced),
        cmocka_unit_test(begun_anew),
        cmocka_unit_test(stopped_while_writing),
        cmocka_unit_test(stopped_while_beginning),
    };

    alloc = qst__alloc_default();
    if (argc == 3 && strcmp(argv[1], "look") == 0)
        return run_look(argv[2]);
    if (argc == 3)
        return run_stop(argv[2], strcmp(argv[1], "stop-writing") == 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
