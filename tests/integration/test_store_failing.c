/* SPDX-License-Identifier: MIT
 *
 * test_store_failing.c: a store in places that fail: read-only, another's, full, not to be made. */
#define _GNU_SOURCE
#include "cache/open.h"
#include "support/store_case.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmocka.h>

enum { MIB = 1 << 20 };
static qst__alloc  alloc;
static counted_log slog;

static void drop_root(void)
{
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        _exit(99);
}

/* Reads, keeps what is new, warns once. The bits of what went wrong. */
static int readonly_case(const char *folder, bool asked)
{
    qst_store      store;
    qst_store_stat stat = {.size = sizeof stat};
    void          *token = NULL;
    int            bad;

    store_guarded(&store, folder, asked, &alloc, &slog);
    bad = strcmp(store_got(&store, QST_DB_VERDICTS, "b"), "old") != 0;
    bad |= (slog.lines != 0) << 1;
    bad |= (store_put(&store, QST_DB_VERDICTS, "c", "new") != QST_OK) << 2;
    bad |= (store_put(&store, QST_DB_VERDICTS, "b", "newer") != QST_OK) << 3;
    bad |= (strcmp(store_got(&store, QST_DB_VERDICTS, "b"), "newer") != 0) << 4;
    bad |= (store_count(&store, QST_DB_VERDICTS) != 3) << 5;
    bad |= (store.remove(store.self, QST_DB_VERDICTS, "d", 1) != QST_E_REFUSED) << 6;
    bad |= (slog.lines != 1) << 7;
    bad |= (store.claim(store.self, "k", 1, &token) != QST_OK) << 2;
    store.release(store.self, token);
    bad |= (store.stat(store.self, &stat) != QST_OK || !(stat.flags & QST_STORE_READONLY)) << 2;
    store.close(store.self);
    store_guarded(&store, folder, asked, &alloc, &slog);
    bad |= (strcmp(store_got(&store, QST_DB_VERDICTS, "b"), "old") != 0) << 4;
    store.close(store.self);
    return bad;
}

static char *readonly_store(void)
{
    char     *folder = folder_make(), path[512];
    qst_store store;

    assert_int_equal(chmod(folder, 0755), 0);
    store_guarded(&store, folder, false, &alloc, &slog);
    assert_int_equal(store_put(&store, QST_DB_VERDICTS, "b", "old"), QST_OK);
    assert_int_equal(store_put(&store, QST_DB_VERDICTS, "d", "old"), QST_OK);
    store.close(store.self);
    assert_int_equal(chmod(path_in(path, folder, "e"), 0555), 0);
    assert_int_equal(chmod(path_in(path, folder, "e/data.mdb"), 0444), 0);
    return folder;
}

static void read_only(void **state)
{
    char *folder = readonly_store(), path[512];
    int   pid;
    (void)state;

    /* As asked for: by whoever could write. */
    assert_int_equal(readonly_case(folder, true), 0);
    /* By another user, who may not write a byte: the data are copied. Where root is not to be had, by ourselves. */
    pid = fork();
    if (pid == 0) {
        drop_root();
        _exit(readonly_case(folder, false));
    }
    assert_int_equal(program_end(pid), 0);
    /* The folder is the user's own, but closed to writing: locks work, data do not. */
    if (geteuid() == 0) {
        static const char *const names[] = {"", "e", "e/data.mdb", "e/lock.mdb", "e/claims", "e/clean"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            (void)!chown(path_in(path, folder, names[i]), 65534, 65534);
        pid = fork();
        if (pid == 0) {
            drop_root();
            _exit(readonly_case(folder, false));
        }
        assert_int_equal(program_end(pid), 0);
        /* Root itself does not use another's folder. */
        qst_store store;
        store_guarded(&store, folder, false, &alloc, &slog);
        assert_string_equal(store.name, "memory");
        assert_non_null(strstr(slog.last, "belongs to user 65534"));
        store.close(store.self);
    }
    assert_int_equal(chmod(path_in(path, folder, "e"), 0755), 0);
    folder_remove(folder);
}

/* Nothing there, and nothing can be made: memory, one warning. */
static void unwritable(void **state)
{
    char *folder = folder_make();
    int   pid;
    (void)state;

    assert_int_equal(chmod(folder, 0555), 0);
    pid = fork();
    if (pid == 0) {
        qst_store store;
        int       bad;
        drop_root();
        store_guarded(&store, folder, false, &alloc, &slog);
        bad = strcmp(store.name, "memory") != 0 || store_put(&store, 0, "k", "v") != QST_OK ||
              strcmp(store_got(&store, 0, "k"), "v") != 0 || slog.lines != 1;
        store.close(store.self);
        _exit(bad);
    }
    assert_int_equal(program_end(pid), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    folder_remove(folder);
}

/* A lock file that another user left in our folder is replaced; claims that another owns are not trusted. */
static void foreign_files(void **state)
{
    char     *folder = folder_make(), path[512];
    qst_store store;
    (void)state;

    if (geteuid() != 0) {
        folder_remove(folder);
        skip();
    }
    store_guarded(&store, folder, false, &alloc, &slog);
    assert_int_equal(store_put(&store, 0, "k", "v"), QST_OK);
    store.close(store.self);
    assert_int_equal(chown(path_in(path, folder, "e/claims"), 65534, 65534), 0);
    store_guarded(&store, folder, false, &alloc, &slog);
    assert_string_equal(store.name, "memory");
    assert_int_equal(slog.lines, 1);
    store.close(store.self);

    static const char *const theirs[] = {"", "e", "e/data.mdb", "e/claims", "e/clean"};
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        assert_int_equal(chown(path_in(path, folder, theirs[i]), 65534, 65534), 0);
    int pid = fork();
    if (pid == 0) {
        int bad;
        drop_root();
        store_guarded(&store, folder, false, &alloc, &slog);
        bad = strcmp(store.name, "lmdb") != 0 || strcmp(store_got(&store, 0, "k"), "v") != 0 ||
              store_put(&store, 0, "k", "w") != QST_OK || slog.lines != 0;
        store.close(store.self);
        _exit(bad);
    }
    assert_int_equal(program_end(pid), 0);
    folder_remove(folder);
}

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

static void limit_files(uint64_t kib)
{
    struct rlimit limit = {.rlim_cur = kib << 10, .rlim_max = RLIM_INFINITY};

    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(98);
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

/* ---- File systems that refuse ------------------------------------------------------------------------------------ */

/* Stand in for the C library's, for us and for LMDB, which must see them: what fails next. */
#define SEEN __attribute__((visibility("default")))
static enum { ALL_WELL, NO_OFD_LOCKS, NO_LOCKS, NO_MAPS, NETWORK } trouble;

SEEN int fcntl(int fd, int command, ...)
{
    va_list list;
    void   *argument;
    bool    ofd = command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_OFD_GETLK;
    bool    locks = command == F_SETLK || command == F_SETLKW || command == F_GETLK;

    va_start(list, command);
    argument = va_arg(list, void *);
    va_end(list);
    if ((trouble == NO_OFD_LOCKS && ofd) || (trouble == NO_LOCKS && locks)) {
        errno = trouble == NO_LOCKS ? ENOLCK : EINVAL;
        return -1;
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

SEEN void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (trouble == NO_MAPS && fd >= 0) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}

SEEN int statfs(const char *path, struct statfs *out)
{
    int rc = (int)syscall(SYS_statfs, path, out);

    if (rc == 0 && trouble == NETWORK)
        out->f_type = 0x6969;
    return rc;
}

static void refused(void **state)
{
    (void)state;
    for (int kind = NO_OFD_LOCKS; kind <= NETWORK; kind++) {
        char     *folder = folder_make();
        qst_store store;

        for (int round = 0; round < 2; round++) { /* a new folder, then one with data */
            trouble = kind;
            store_guarded(&store, folder, false, &alloc, &slog);
            /* Without locks, what is there is still read, from a copy. */
            assert_string_equal(store.name, round && (kind == NO_LOCKS || kind == NO_OFD_LOCKS) ? "lmdb" : "memory");
            assert_string_equal(store_got(&store, 0, "k"), strcmp(store.name, "lmdb") == 0 ? "v" : "");
            assert_int_equal(store_put(&store, 0, "k", "kept"), QST_OK);
            assert_int_equal(slog.lines, 1);
            assert_string_equal(store_got(&store, 0, "k"), "kept");
            store.close(store.self);
            trouble = ALL_WELL;
            store_guarded(&store, folder, false, &alloc, &slog);
            assert_string_equal(store.name, "lmdb");
            assert_int_equal(store_put(&store, 0, "k", "v"), QST_OK);
            store.close(store.self);
            assert_int_equal(slog.lines, 0);
        }
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
        cmocka_unit_test(read_only), cmocka_unit_test(unwritable),    cmocka_unit_test(foreign_files),
        cmocka_unit_test(full_disk), cmocka_unit_test(limited_files), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
