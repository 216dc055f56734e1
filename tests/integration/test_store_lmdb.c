/* SPDX-License-Identifier: MIT
 *
 * test_store_lmdb.c: the store in a file, in one process: contract, growth, sharing, fork, damage, places that fail. */
#define _GNU_SOURCE
#include "cache/claims.h"
#include "cache/envelope.h"
#include "cache/lmdb-check.h"
#include "cache/lmdb.h"
#include "cache/open.h"
#include "support/store_case.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { MIB = 1 << 20 };
static qst__alloc  alloc;
static counted_log slog;

static void open_in(qst_store *store, const char *folder, uint64_t bytes)
{
    qst_error err = {0};

    counted_log_init(&slog);
    if (qst__store_lmdb(store, &alloc, folder, bytes, false, &slog.log, &err) != QST_OK)
        fail_msg("%s", err.text);
}

/* The store as a context opens it. The folder must hold the environment "e" already, or be writable. */
static void open_guarded(qst_store *store, const char *folder, bool readonly)
{
    qst__store_options options = {
        .place = QST__PLACE_PATH, .path = folder, .environment = "e", .map_mb = 8, .readonly = readonly};

    counted_log_init(&slog);
    assert_int_equal(qst__store_open(store, &alloc, &slog.log, &options, NULL), QST_OK);
}

static void contract(void **state)
{
    char     *folder = folder_make(), key[QST_STORE_KEY_MAX + 1];
    qst_store store, again;
    void     *token, *other;
    (void)state;

    open_in(&store, folder, 8 * MIB);
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
    open_in(&again, folder, 8 * MIB);
    assert_string_equal(store_got(&again, QST_DB_VERDICTS, "a"), "11");
    assert_int_equal(store.claim(store.self, "k", 1, &token), QST_OK);
    assert_int_equal(again.claim(again.self, "k", 1, &other), QST_E_BUSY);
    assert_null(other);
    assert_int_equal(again.lease(again.self, "kk", 2, &other), QST_OK);
    store.release(store.self, token);
    again.release(again.self, other);
    assert_int_equal(again.lease(again.self, "k", 1, &other), QST_OK);
    store.close(store.self);
    assert_string_equal(store_got(&again, QST_DB_VERDICTS, "a"), "11");
    again.close(again.self);

    open_in(&store, folder, 8 * MIB);
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

    open_in(&store, folder, 64 * MIB);
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
    open_in(&store, folder, 1 * MIB);
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

/* A child sees E_STATE, leaves the parent's locks alone, can open anew, and does not keep a dead parent's claims. */
static void forked(void **state)
{
    char     *folder = folder_make();
    qst_store store, again;
    void     *token, *other;
    int       pid;
    (void)state;

    open_in(&store, folder, 8 * MIB);
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

    open_guarded(&store, folder, false);
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
    open_guarded(&store, folder, false);
    assert_string_equal(store.name, "memory");
    assert_int_equal(slog.lines, 1);
    assert_non_null(strstr(slog.last, "another copy of this library"));
    store.close(store.self);
    qst__claims_close(theirs);
    open_guarded(&store, folder, false);
    assert_string_equal(store.name, "lmdb");
    store.close(store.self);
    folder_remove(folder);
}

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

enum { KEYS = 900 };

/* Values with headers; every table in use, pages freed, values over several pages. Returns data.mdb as bytes. */
static unsigned char *fill(const char *folder, size_t *bytes)
{
    char           key[64], path[512];
    unsigned char *content = calloc(1, 20000);
    qst_store      store;

    open_in(&store, folder, 32 * MIB);
    for (int i = 0; i < KEYS + 300; i++) {
        size_t        length, name = (size_t)snprintf(key, sizeof key, "key %d of the table", i * 37 % (KEYS + 300));
        qst__envelope e = {.kind = 'T', .key = key, .key_length = name, .value = content};
        uint8_t      *value;

        e.value_bytes = i % 60 == 0 ? 15000 : (size_t)(i % 400);
        value = qst__envelope_seal(&alloc, &e, &length);
        assert_int_equal(store.put(store.self, (uint32_t)i % QST_DB_COUNT, key, name, value, length), QST_OK);
        if (i >= 300 && i % 3 == 0)
            assert_int_equal(store.remove(store.self, (uint32_t)i % QST_DB_COUNT, key, name), QST_OK);
        qst__free(&alloc, value);
    }
    store.close(store.self);
    free(content);
    return file_read(path_in(path, folder, "data.mdb"), bytes);
}

static int32_t look(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    qst__envelope e;
    int          *seen = user;

    /* A damaged value shows, and so does one that now stands under another key. */
    *seen += qst__envelope_open(&e, value, (size_t)value_bytes) == QST_OK && e.key_length == key_bytes &&
             memcmp(e.key, key, (size_t)key_bytes) == 0;
    return 0;
}

static qst_status check_bytes(const char *path, const unsigned char *data, size_t bytes)
{
    int        fd;
    qst_status status;

    file_write(path, data, bytes);
    fd = open(path, O_RDONLY);
    status = qst__lmdb_check(fd, &alloc, NULL);
    close(fd);
    return status;
}

/* Opens whatever stands there, reads all, writes: it must go well. Returns how many sound values there are. */
static int use_all(const char *folder, uint32_t *warnings)
{
    int       seen = 0;
    qst_store store;

    open_guarded(&store, folder, false);
    for (uint32_t db = 0; db < QST_DB_COUNT; db++)
        assert_int_equal(store.iterate(store.self, db, look, &seen), QST_OK);
    for (int i = 0; i < 20; i++) {
        char key[32];
        snprintf(key, sizeof key, "new %d", i * 7);
        assert_int_equal(store_put(&store, QST_DB_VERDICTS, key, "value"), QST_OK);
        assert_string_equal(store_got(&store, QST_DB_VERDICTS, key), "value");
    }
    store.close(store.self);
    *warnings = slog.lines;
    return seen;
}

static void remove_set_aside(const char *folder)
{
    char path[512];

    for (int n = 1; n < 4; n++) {
        char name[40];
        snprintf(name, sizeof name, "e/data.mdb.damaged-%d", n);
        (void)remove(path_in(path, folder, name));
    }
}

static void damaged(void **state)
{
    static const size_t places[] = {0,  3,  8,  10, 12, 13,  14,  16,   18,   24,
                                    31, 40, 48, 72, 90, 136, 150, 2000, 3600, 4090};
    char               *folder = folder_make(), inner[512], path[512];
    size_t              bytes, found = 0, flips = 0;
    uint32_t            warnings;
    unsigned char      *data;
    int                 all;
    (void)state;

    assert_int_equal(mkdir(path_in(inner, folder, "e"), 0700), 0);
    data = fill(inner, &bytes);
    path_in(path, inner, "data.mdb");
    assert_true(bytes > 60 * 4096 && bytes % 4096 == 0);
    assert_int_equal(check_bytes(path, data, bytes), QST_OK);
    all = use_all(folder, &warnings);
    assert_int_equal(warnings, 0);
    assert_true(all >= KEYS * 2 / 3);
    for (size_t page = 0; page < bytes / 4096; page++)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            unsigned char *at = data + page * 4096 + places[i], was = *at;
            int            sound;

            *at ^= (unsigned char)(1u << (i + page) % 8 | 0x40);
            flips++;
            if (check_bytes(path, data, bytes) != QST_OK) {
                found++;
                if (i % 7 == 0) { /* set aside, with one warning; next start clean */
                    sound = use_all(folder, &warnings);
                    assert_int_equal(sound, 0);
                    assert_int_equal(warnings, 1);
                    (void)use_all(folder, &warnings);
                    assert_int_equal(warnings, 0);
                    remove_set_aside(folder);
                }
            } else if ((i + page) % 3 == 0) { /* in a value, in free space, in a free page: LMDB copes */
                sound = use_all(folder, &warnings);
                assert_int_equal(warnings, 0);
                assert_true(sound >= all - 1);
            }
            *at = was;
        }
    print_message("%zu of %zu flips are structural\n", found, flips);
    assert_true(found > flips / 4);
    free(data);
    folder_remove(folder);
}

static void cut_short(void **state)
{
    char          *folder = folder_make(), inner[512], path[512];
    size_t         bytes;
    uint32_t       warnings;
    unsigned char *data, *noise;
    (void)state;

    assert_int_equal(mkdir(path_in(inner, folder, "e"), 0700), 0);
    data = fill(inner, &bytes);
    path_in(path, inner, "data.mdb");
    for (size_t length = 0; length < bytes; length += length < 8192 ? 1000 : 2048) {
        qst_status status = check_bytes(path, data, length);
        assert_true(status == QST_E_CORRUPT || length == 0 || length > bytes / 2);
        if (length % 8192 < 2048)
            (void)use_all(folder, &warnings);
        remove_set_aside(folder);
    }
    noise = calloc(1, bytes);
    assert_int_equal(check_bytes(path, noise, bytes), QST_E_CORRUPT);
    for (size_t page = 2; page < bytes / 4096; page += 3) { /* pages of zeros */
        memcpy(noise, data, bytes);
        memset(noise + page * 4096, 0, 4096);
        (void)check_bytes(path, noise, bytes);
        (void)use_all(folder, &warnings);
        assert_true(warnings <= 1);
        remove_set_aside(folder);
    }
    srand(1);
    for (int round = 0; round < 300; round++) { /* noise in many places at once */
        memcpy(noise, data, bytes);
        for (int i = 0; i < 30; i++)
            noise[(size_t)rand() % bytes] = (unsigned char)rand();
        (void)check_bytes(path, noise, bytes);
        if (round % 10 == 0)
            (void)use_all(folder, &warnings);
        remove_set_aside(folder);
    }
    free(noise);
    free(data);
    folder_remove(folder);
}

/* The check is left out while the mark fits, and not after foreign writing. */
static void clean_mark(void **state)
{
    char          *folder = folder_make(), path[512];
    size_t         bytes;
    struct stat    before, after;
    qst_store      store;
    unsigned char *data;
    (void)state;

    open_in(&store, folder, 8 * MIB);
    assert_int_equal(store_put(&store, 0, "k", "v"), QST_OK);
    store.close(store.self);
    assert_int_equal(stat(path_in(path, folder, "clean"), &before), 0);
    open_in(&store, folder, 8 * MIB); /* reading alone leaves it */
    assert_string_equal(store_got(&store, 0, "k"), "v");
    store.close(store.self);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_int_equal(before.st_ino, after.st_ino);

    data = file_read(path_in(path, folder, "data.mdb"), &bytes);
    data[4096 + 16] ^= 1;
    file_write(path, data, bytes); /* same size, the mark still there */
    open_in(&store, folder, 8 * MIB);
    assert_int_equal(slog.lines, 1);
    assert_non_null(strstr(slog.last, "set aside as data.mdb.damaged-1"));
    assert_string_equal(store_got(&store, 0, "k"), "");
    store.close(store.self);
    assert_int_equal(access(path_in(path, folder, "data.mdb.damaged-1"), F_OK), 0);
    free(data);
    folder_remove(folder);
}

static void other_layout(void **state)
{
    char     *folder = folder_make(), inner[512];
    qst_store store;
    (void)state;

    open_guarded(&store, folder, false);
    assert_int_equal(store_put(&store, QST_DB_META, "quernstone.layout", "999"), QST_OK);
    store.close(store.self);
    open_guarded(&store, folder, false);
    assert_string_equal(store.name, "memory");
    assert_int_equal(slog.lines, 1);
    assert_non_null(strstr(slog.last, "has layout 999"));
    store.close(store.self);
    assert_int_not_equal(access(path_in(inner, folder, "e/data.mdb.damaged-1"), F_OK),
                         0); /* it is another's, not bad */
    folder_remove(folder);
}

/* ---- Places that fail -------------------------------------------------------------------------------------------- */

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

    open_guarded(&store, folder, asked);
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
    open_guarded(&store, folder, asked);
    bad |= (strcmp(store_got(&store, QST_DB_VERDICTS, "b"), "old") != 0) << 4;
    store.close(store.self);
    return bad;
}

static char *readonly_store(void)
{
    char     *folder = folder_make(), path[512];
    qst_store store;

    assert_int_equal(chmod(folder, 0755), 0);
    open_guarded(&store, folder, false);
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
        open_guarded(&store, folder, false);
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
        open_guarded(&store, folder, false);
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
    open_guarded(&store, folder, false);
    assert_int_equal(store_put(&store, 0, "k", "v"), QST_OK);
    store.close(store.self);
    assert_int_equal(chown(path_in(path, folder, "e/claims"), 65534, 65534), 0);
    open_guarded(&store, folder, false);
    assert_string_equal(store.name, "memory");
    assert_int_equal(slog.lines, 1);
    store.close(store.self);
    folder_remove(folder);
}

/* Puts until long after nothing fits any more; all of it is to be had. */
static int fill_up(const char *folder, bool from_start)
{
    static char value[60000];
    qst_store   store;
    char        key[32];
    int         bad = 0;

    memset(value, 'v', sizeof value);
    open_guarded(&store, folder, false);
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
    bad |= (slog.lines != 1) << 4;
    store.close(store.self);
    if (!from_start) { /* what was put while it went well is there, and in order */
        open_guarded(&store, folder, false);
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
        int            bad = fill_up(folder, false);
        FILE          *file;

        folder_remove(strdup(folder)); /* its content */
        file = fopen(path_in(path, folder, "rest"), "wb");
        bytes = file ? fwrite(rest, 1, MIB, file) : 0;
        if (file)
            (void)fclose(file);
        (void)bytes;
        bad |= fill_up(folder, true) << 8; /* not even a lock file fits */
        free(rest);
        assert_int_equal(umount2(folder, MNT_DETACH), 0);
        assert_int_equal(bad, 0);
    }
    /* A limit on the size of files: without care the kernel ends the process. */
    int pid = fork();
    if (pid == 0) {
        struct rlimit limit = {.rlim_cur = 512 * 1024, .rlim_max = 512 * 1024};
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(98);
        _exit(fill_up(folder, false));
    }
    assert_int_equal(program_end(pid), 0);
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
        cmocka_unit_test(forked_guard), cmocka_unit_test(second_copy), cmocka_unit_test(damaged),
        cmocka_unit_test(cut_short),    cmocka_unit_test(clean_mark),  cmocka_unit_test(other_layout),
        cmocka_unit_test(read_only),    cmocka_unit_test(unwritable),  cmocka_unit_test(foreign_files),
        cmocka_unit_test(full_disk),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
