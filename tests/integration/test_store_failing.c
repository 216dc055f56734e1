/* SPDX-License-Identifier: MIT
 *
 * test_store_failing.c: a store in places that fail: read-only, another's, not to be made, without locks. */
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmocka.h>

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
        cmocka_unit_test(read_only),
        cmocka_unit_test(unwritable),
        cmocka_unit_test(foreign_files),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
