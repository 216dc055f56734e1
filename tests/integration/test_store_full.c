/* SPDX-License-Identifier: MIT
 *
 * test_store_full.c: a store in places with no room: a full disk, and a limit on the size of files, under which the kernel
 * ends who writes beyond it. */
#define _GNU_SOURCE
#include "cache/open.h"
#include "support/store_case.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { MIB = 1 << 20 };
static qst__alloc  alloc;
static counted_log slog;

/* Puts until long after nothing fits any more; all of it is to be had, and the one line names the place and what it said. */
static int fill_up(const char *folder, bool from_start, const char *said)
{
    static char value[60000];
    qst_store   store;
    char        key[32];
    int         bad = 0;

    memset(value, 'v', sizeof value);
    store_guarded(&store, folder, false, &alloc, &slog);
    bad |= strcmp(store.name, from_start ? "memory" : "lmdb") != 0;
    for (int i = 0; i < 60; i++) {
        snprintf(key, sizeof key, "%d", i);
        bad |= (store.put(store.self, QST_DB_PROGRAMS, key, strlen(key), value, sizeof value) != QST_OK) << 1;
    }
    for (int i = 0; i < 60; i++) {
        snprintf(key, sizeof key, "%d", i);
        bad |= (store_got(&store, QST_DB_PROGRAMS, key)[0] != 'v') << 2;
    }
    bad |= (store_count(&store, QST_DB_PROGRAMS) != 60) << 3;
    bad |= (slog.lines != 1 || !strstr(slog.last, folder) || !strstr(slog.last, said)) << 4;
    store.close(store.self);
    if (!from_start) { /* what was put while it went well is there, and in order */
        store_guarded(&store, folder, false, &alloc, &slog);
        bad |= (strcmp(store.name, "lmdb") != 0 || store_got(&store, QST_DB_PROGRAMS, "0")[0] != 'v' || slog.lines != 0)
               << 5;
        store.close(store.self);
    }
    return bad;
}

static void full_disk(void **state)
{
    char *folder = folder_make(), path[512];
    (void)state;

    if (geteuid() == 0 && mount("none", folder, "tmpfs", 0, "size=1m,mode=0700") == 0) {
        size_t         bytes;
        unsigned char *rest = calloc(1, MIB);
        int            bad = fill_up(folder, false, strerror(ENOSPC));
        FILE          *file;

        folder_remove(strdup(folder)); /* its content */
        file = fopen(path_in(path, folder, "rest"), "wb");
        bytes = file ? fwrite(rest, 1, MIB, file) : 0;
        if (file)
            (void)fclose(file);
        (void)bytes;
        bad |= fill_up(folder, true, strerror(ENOSPC)) << 8; /* not even a lock file fits */
        free(rest);
        assert_int_equal(umount2(folder, MNT_DETACH), 0);
        assert_int_equal(bad, 0);
    }
    folder_remove(folder);
}

/* ---- A limit on the size of files: without care the kernel ends the process ------------------------------------------- */

static void limit_bytes(uint64_t bytes)
{
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};

    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(98);
}

static void limit_files(uint64_t kib)
{
    limit_bytes(kib << 10);
}

/* 20 values of 60 kB, without a limit: more than a MiB. */
static void make_large(const char *folder)
{
    static char value[60000];
    qst_store   store;
    char        key[32];

    memset(value, 'v', sizeof value);
    store_guarded(&store, folder, false, &alloc, &slog);
    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof key, "%d", i);
        assert_int_equal(store.put(store.self, QST_DB_PROGRAMS, key, strlen(key), value, sizeof value), QST_OK);
    }
    store.close(store.self);
}

/* The store is larger than what may be written, as it is opened or from then on, and is taken from: it is read, and what is
 * new is kept in memory. */
static int too_large(const char *folder, bool later)
{
    qst_store store;
    int       bad = 0;

    if (!later)
        limit_files(256);
    store_guarded(&store, folder, false, &alloc, &slog);
    if (later)
        limit_files(256);
    bad |= strcmp(store.name, "lmdb") != 0 || store_got(&store, QST_DB_PROGRAMS, "3")[0] != 'v';
    (void)store.remove(store.self, QST_DB_PROGRAMS, "4", 1);
    bad |= (store_put(&store, QST_DB_PROGRAMS, "new", "n") != QST_OK) << 1;
    bad |= (store_got(&store, QST_DB_PROGRAMS, "new")[0] != 'n' || store_got(&store, QST_DB_PROGRAMS, "19")[0] != 'v')
           << 2;
    bad |= (slog.lines != 1 || !strstr(slog.last, "RLIMIT_FSIZE")) << 3;
    store.close(store.self);
    return bad;
}

/* One that is small, and may grow no further than a limit that is set when it is open. */
static int no_growth(const char *folder)
{
    qst_store store, again;
    int       bad;

    store_guarded(&store, folder, false, &alloc, &slog);
    limit_files(512);
    bad = fill_up(folder, false, "RLIMIT_FSIZE");
    store_guarded(&again, folder, false, &alloc, &slog); /* full as it is, it gives */
    bad |= (again.remove(again.self, QST_DB_PROGRAMS, "0", 1) != QST_OK || slog.lines != 0) << 6;
    again.close(again.self);
    store.close(store.self);
    return bad;
}

static int limited(const char *folder, int how)
{
    static const uint64_t kib[] = {512, 192, 0};

    if (how < 3)
        limit_files(kib[how]);
    return how < 3    ? fill_up(folder, how == 2, "RLIMIT_FSIZE")
           : how == 3 ? no_growth(folder)
                      : too_large(folder, how == 4);
}

static void limited_files(void **state)
{
    (void)state;
    for (int how = 0; how < 6; how++) {
        char *folder = folder_make();
        int   pid, bad;
        if (how > 3)
            make_large(folder);
        pid = fork();
        if (pid == 0)
            _exit(limited(folder, how));
        bad = program_end(pid);
        if (bad)
            fail_msg("case %d: %d", how, bad);
        folder_remove(folder);
    }
}

/* ---- No file may be as large as a store: an existing one is read -------------------------------------------------- */

/* Reads, keeps what is new in memory, says so once with the numbers; so does the next to open it. */
static int read_within(const char *folder, uint64_t bytes)
{
    qst_store store;
    char      number[32];
    int       bad = 0;

    limit_bytes(bytes);
    (void)snprintf(number, sizeof number, " %llu bytes (RLIMIT_FSIZE)", (unsigned long long)bytes);
    for (int round = 0; round < 2; round++) {
        store_guarded(&store, folder, false, &alloc, &slog);
        bad |= strcmp(store.name, "lmdb") != 0 || store_got(&store, QST_DB_PROGRAMS, "3")[0] != 'v' || slog.lines != 0;
        bad |= (store_put(&store, QST_DB_PROGRAMS, "new", "n") != QST_OK) << 1;
        bad |= (store_put(&store, QST_DB_PROGRAMS, "3", "n") != QST_OK) << 2;
        bad |= (store_got(&store, QST_DB_PROGRAMS, "3")[0] != 'n' || store_count(&store, QST_DB_PROGRAMS) != 21) << 3;
        bad |= (slog.lines != 1 || !strstr(slog.last, folder) || !strstr(slog.last, number)) << 4;
        store.close(store.self);
    }
    return bad;
}

/* Alone, and beside a process that writes. That one, and the next, know nothing of a limit. */
static void read_under_any_limit(void **state)
{
    static const uint64_t limits[] = {0, 1, 1024, 65535};

    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        char     *folder = folder_make();
        qst_store store;

        make_large(folder);
        for (int beside = 0; beside < 2; beside++) {
            int pid, bad;
            if (beside)
                store_guarded(&store, folder, false, &alloc, &slog);
            pid = fork();
            if (pid == 0)
                _exit(read_within(folder, limits[i]));
            bad = program_end(pid);
            if (bad)
                fail_msg("%llu bytes, %s: %d", (unsigned long long)limits[i], beside ? "beside another" : "alone", bad);
        }
        assert_int_equal(store_put(&store, QST_DB_PROGRAMS, "later", "w"), QST_OK);
        store.close(store.self);
        store_guarded(&store, folder, false, &alloc, &slog);
        assert_string_equal(store_got(&store, QST_DB_PROGRAMS, "later"), "w");
        assert_int_equal(store_count(&store, QST_DB_PROGRAMS), 21);
        assert_int_equal(slog.lines, 0);
        store.close(store.self);
        folder_remove(folder);
    }
}

/* What would have to be written first, or copied: memory, and one line that says why. */
static int nothing_within(const char *folder, uint64_t bytes, const char *said)
{
    qst_store store;
    int       bad;

    limit_bytes(bytes);
    store_guarded(&store, folder, false, &alloc, &slog);
    bad = strcmp(store.name, "memory") != 0;
    bad |= (store_put(&store, QST_DB_PROGRAMS, "new", "n") != QST_OK) << 1;
    bad |= (store_got(&store, QST_DB_PROGRAMS, "new")[0] != 'n') << 2;
    bad |= (slog.lines != 1 || !strstr(slog.last, said) || !strstr(slog.last, "(RLIMIT_FSIZE)")) << 3;
    store.close(store.self);
    return bad;
}

static void not_to_be_had(void **state)
{
    static const struct {
        uint64_t    bytes;
        const char *without, *said; /* a file that is removed before */
        bool        foreign;        /* a user who may not write a byte */
    } cases[] = {{0, "e/lock.mdb", "bytes be copied: a file of this process may have 0", false},
                 {0, "e/claims", "claims' cannot have", false},
                 {0, "e/data.mdb", "a store needs files of 64 KiB", false},
                 {256 << 10, NULL, "bytes be copied: a file of this process may have 262144", true},
                 {1024, NULL, "bytes be copied: a file of this process may have 1024", true}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = folder_make(), path[512];
        int   pid, bad;

        make_large(folder);
        if (cases[i].without)
            assert_int_equal(unlink(path_in(path, folder, cases[i].without)), 0);
        if (cases[i].foreign) {
            assert_int_equal(chmod(folder, 0755), 0);
            assert_int_equal(chmod(path_in(path, folder, "e"), 0555), 0);
            assert_int_equal(chmod(path_in(path, folder, "e/data.mdb"), 0444), 0);
        }
        pid = fork();
        if (pid == 0) {
            if (cases[i].foreign && geteuid() != 0) /* by ourselves, then */
                (void)chmod(path_in(path, folder, "e/claims"), 0444);
            else if (cases[i].foreign && (setgid(65534) != 0 || setuid(65534) != 0))
                _exit(99);
            _exit(nothing_within(folder, cases[i].bytes, cases[i].said));
        }
        bad = program_end(pid);
        if (bad)
            fail_msg("case %zu: %d", i, bad);
        assert_int_equal(chmod(path_in(path, folder, "e"), 0755), 0);
        folder_remove(folder);
    }
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
        cmocka_unit_test(full_disk),
        cmocka_unit_test(limited_files),
        cmocka_unit_test(read_under_any_limit),
        cmocka_unit_test(not_to_be_had),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
