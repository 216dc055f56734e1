/* SPDX-License-Identifier: MIT
 *
 * test_store_damage.c: data files damaged at every page, cut short, replaced, or of another layout: nothing crashes,
 * what is sound is read, the rest is set aside. */
#define _GNU_SOURCE
#include "cache/envelope.h"
#include "cache/lmdb-check.h"
#include "cache/lmdb.h"
#include "cache/open.h"
#include "support/store_case.h"

#include <fcntl.h>
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

enum { KEYS = 900 };

/* Values with headers; every table in use, pages freed, values over several pages. Returns data.mdb as bytes. */
static unsigned char *fill(const char *folder, size_t *bytes)
{
    char           key[64], path[512];
    unsigned char *content = calloc(1, 20000);
    qst_store      store;

    store_in_file(&store, folder, 32 * MIB, &alloc, &slog);
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

    store_guarded(&store, folder, false, &alloc, &slog);
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

    store_in_file(&store, folder, 8 * MIB, &alloc, &slog);
    assert_int_equal(store_put(&store, 0, "k", "v"), QST_OK);
    store.close(store.self);
    assert_int_equal(stat(path_in(path, folder, "clean"), &before), 0);
    store_in_file(&store, folder, 8 * MIB, &alloc, &slog); /* reading alone leaves it */
    assert_string_equal(store_got(&store, 0, "k"), "v");
    store.close(store.self);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_int_equal(before.st_ino, after.st_ino);

    data = file_read(path_in(path, folder, "data.mdb"), &bytes);
    data[4096 + 16] ^= 1;
    file_write(path, data, bytes); /* same size, the mark still there */
    store_in_file(&store, folder, 8 * MIB, &alloc, &slog);
    assert_int_equal(slog.lines, 1);
    assert_non_null(strstr(slog.last, "set aside as data.mdb.damaged-1"));
    assert_string_equal(store_got(&store, 0, "k"), "");
    store.close(store.self);
    assert_int_equal(access(path_in(path, folder, "data.mdb.damaged-1"), F_OK), 0);
    free(data);
    folder_remove(folder);
}

/* To LMDB an empty file is a new one. The mark knows better, whoever opens it. */
static void emptied(void **state)
{
    char     *folder = folder_make(), path[512], other[512];
    qst_store store;
    (void)state;

    store_in_file(&store, folder, 8 * MIB, &alloc, &slog);
    assert_int_equal(store_put(&store, 0, "k", "v"), QST_OK);
    store.close(store.self);
    assert_int_equal(truncate(path_in(path, folder, "data.mdb"), 0), 0);
    store_in_file(&store, folder, 8 * MIB, &alloc, &slog);
    assert_int_equal(slog.lines, 1);
    assert_non_null(strstr(slog.last, "it is empty, and had "));
    assert_non_null(strstr(slog.last, "set aside as data.mdb.damaged-1"));
    assert_int_equal(store_put(&store, 0, "k", "v"), QST_OK); /* a new store begins */
    store.close(store.self);

    file_write(path_in(other, folder, "other"), "", 0); /* one that never held anything */
    assert_int_equal(rename(other, path), 0);
    store_in_file(&store, folder, 8 * MIB, &alloc, &slog);
    assert_int_equal(slog.lines, 0);
    store.close(store.self);
    folder_remove(folder);
}

static void other_layout(void **state)
{
    char     *folder = folder_make(), inner[512];
    qst_store store;
    (void)state;

    store_guarded(&store, folder, false, &alloc, &slog);
    assert_int_equal(store_put(&store, QST_DB_META, "quernstone.layout", "999"), QST_OK);
    store.close(store.self);
    store_guarded(&store, folder, false, &alloc, &slog);
    assert_string_equal(store.name, "memory");
    assert_int_equal(slog.lines, 1);
    assert_non_null(strstr(slog.last, "has layout 999"));
    store.close(store.self);
    assert_int_not_equal(access(path_in(inner, folder, "e/data.mdb.damaged-1"), F_OK),
                         0); /* it is another's, not bad */
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
        cmocka_unit_test(damaged), cmocka_unit_test(cut_short),    cmocka_unit_test(clean_mark),
        cmocka_unit_test(emptied), cmocka_unit_test(other_layout),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
