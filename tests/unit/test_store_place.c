/* SPDX-License-Identifier: MIT
 *
 * test_store_place.c: where a store lives, as text and in the file system, and what is refused. */
#include "cache/folder.h"
#include "cache/open.h"
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

typedef struct place_row {
    qst__place_source source;
    qst_status        status;
    const char       *text; /* or a part of the reason */
    size_t            must_exist;
} place_row;

static const place_row ROWS[] = {
    {{.cache_home = "/c", .home = "/h"}, QST_OK, "/c/quernstone/default", 0},
    {{.home = "/h/u"}, QST_OK, "/h/u/.cache/quernstone/default", 4},
    {{.cache_home = "rel/ative", .home = "/h/u"}, QST_OK, "/h/u/.cache/quernstone/default", 4},
    {{.cache_home = "/c//x/./y/", .environment = "a b/c"}, QST_OK, "/c/x/y/quernstone/a_b_c", 0},
    {{.cache_home = "/c", .environment = ".."}, QST_OK, "/c/quernstone/default", 0},
    {{.cache_home = "/c", .environment = "..x-9_Z"}, QST_OK, "/c/quernstone/..x-9_Z", 0},
    {{.cache_home = "/c/\xc3\xbc"}, QST_OK, "/c/\xc3\xbc/quernstone/default", 0},
    {{.cache_home = "/c", .environment = "\xc3\xbc"}, QST_OK, "/c/quernstone/__", 0},
    {{.kind = QST__PLACE_LOCAL, .cwd = "/w"}, QST_OK, "/w/.quernstone/default", 2},
    {{.kind = QST__PLACE_PROJECT, .project = "/w/p", .home = "/h"}, QST_OK, "/w/p/.quernstone/default", 4},
    {{.kind = QST__PLACE_PROJECT, .home = "/h"}, QST_OK, "/h/.cache/quernstone/default", 2},
    {{.kind = QST__PLACE_PATH, .path = "/p/q", .environment = "e"}, QST_OK, "/p/q/e", 0},
    {{.kind = QST__PLACE_CACHE}, QST_E_NOTFOUND, "HOME is not set", 0},
    {{.home = ""}, QST_E_NOTFOUND, "HOME is not set", 0},
    {{.home = "/"}, QST_E_CONFIG, "HOME is '/'", 0},
    {{.home = "//."}, QST_E_CONFIG, "HOME is '/'", 0},
    {{.home = "h/u"}, QST_E_CONFIG, "HOME 'h/u' is not an absolute path", 0},
    {{.kind = QST__PLACE_PATH}, QST_E_NOTFOUND, "the store's path is not set", 0},
    {{.kind = QST__PLACE_PATH, .path = "p"}, QST_E_CONFIG, "the store's path 'p' is not an absolute path", 0},
    {{.kind = QST__PLACE_PATH, .path = "/"}, QST_E_CONFIG, "the store's path is '/'", 0},
    {{.kind = QST__PLACE_PATH, .path = "/a/../b"}, QST_E_CONFIG, "'..'", 0},
    {{.kind = QST__PLACE_PATH, .path = "/a/\n"}, QST_E_CONFIG, "control character", 0},
    {{.kind = QST__PLACE_LOCAL, .cwd = "/"}, QST_E_CONFIG, "the working directory is '/'", 0},
    {{.kind = QST__PLACE_LOCAL}, QST_E_NOTFOUND, "the working directory is not set", 0},
};

static void texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        qst__place place;
        qst_error  err = {0};

        assert_int_equal(qst__place_find(&place, &ROWS[i].source, &err), ROWS[i].status);
        if (ROWS[i].status == QST_OK) {
            assert_string_equal(place.text, ROWS[i].text);
            assert_int_equal(place.must_exist, ROWS[i].must_exist);
        } else {
            assert_non_null(strstr(err.text, ROWS[i].text));
            assert_string_equal(place.text, "");
        }
    }
}

static void too_long(void **state)
{
    char              path[QST__PLACE_MAX + 10], name[QST__ENVIRONMENT_MAX + 2];
    qst__place        place;
    qst__place_source source = {.kind = QST__PLACE_PATH, .path = path, .environment = "e"};
    (void)state;

    memset(path, 'a', sizeof path);
    path[0] = '/';
    path[QST__PLACE_MAX - 2] = '\0';
    assert_int_equal(qst__place_find(&place, &source, NULL), QST_OK);
    assert_int_equal(strlen(place.text), QST__PLACE_MAX);
    path[QST__PLACE_MAX - 2] = 'a';
    path[QST__PLACE_MAX - 1] = '\0';
    assert_int_equal(qst__place_find(&place, &source, NULL), QST_E_CONFIG);
    memset(name, 'n', sizeof name);
    name[QST__ENVIRONMENT_MAX] = '\0';
    source.path = "/p";
    source.environment = name;
    assert_int_equal(qst__place_find(&place, &source, NULL), QST_OK);
    name[QST__ENVIRONMENT_MAX] = 'n';
    name[QST__ENVIRONMENT_MAX + 1] = '\0';
    assert_int_equal(qst__place_find(&place, &source, NULL), QST_E_CONFIG);
}

static void made(void **state)
{
    char             *folder = folder_make(), path[512];
    qst__place        place;
    struct stat       found;
    qst__place_source source = {.home = folder, .environment = "one"};
    qst_error         err = {0};
    (void)state;

    assert_non_null(folder);
    assert_int_equal(qst__place_find(&place, &source, NULL), QST_OK);
    assert_int_equal(qst__folder_trust(place.text, NULL), QST_E_NOTFOUND);
    assert_int_equal(qst__folder_make(&place, &err), QST_OK);
    assert_int_equal(qst__folder_make(&place, NULL), QST_OK);
    assert_int_equal(stat(place.text, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0700);
    assert_int_equal(qst__folder_trust(place.text, &err), QST_OK);

    assert_int_equal(chmod(place.text, 0777), 0);
    assert_int_equal(qst__folder_trust(place.text, &err), QST_E_REFUSED);
    assert_non_null(strstr(err.text, "writable by everybody"));

    /* A home that is not there is not made, and nothing is made in "/". */
    path_in(path, folder, "ghost");
    source.home = path;
    assert_int_equal(qst__place_find(&place, &source, NULL), QST_OK);
    qst__error_clear(&err);
    assert_int_equal(qst__folder_make(&place, &err), QST_E_IO);
    assert_non_null(strstr(err.text, "not ours to make"));
    assert_int_not_equal(access(path, F_OK), 0);
    source = (qst__place_source){.kind = QST__PLACE_PATH, .path = "/quernstone-is-not-here"};
    assert_int_equal(qst__place_find(&place, &source, NULL), QST_OK);
    assert_int_equal(qst__folder_make(&place, NULL), QST_E_IO);
    assert_int_not_equal(access("/quernstone-is-not-here", F_OK), 0);

    /* A file stands where a folder should. */
    path_in(path, folder, "file");
    file_write(path, "x", 1);
    source.path = path;
    assert_int_equal(qst__place_find(&place, &source, NULL), QST_OK);
    qst__error_clear(&err);
    assert_int_equal(qst__folder_make(&place, &err), QST_E_IO);
    assert_non_null(strstr(err.text, "/file' is not a folder"));
    source = (qst__place_source){.home = path, .environment = "one"};
    assert_int_equal(qst__place_find(&place, &source, NULL), QST_OK);
    qst__error_clear(&err);
    assert_int_equal(qst__folder_make(&place, &err), QST_E_IO);
    assert_non_null(strstr(err.text, "/file' is not a folder"));
    folder_remove(folder);
}

static void project(void **state)
{
    char *folder = folder_make(), path[512], out[512];
    (void)state;

    assert_int_equal(mkdir(path_in(path, folder, "a"), 0700), 0);
    assert_int_equal(mkdir(path_in(path, folder, "a/b"), 0700), 0);
    file_write(path_in(path, folder, "quernstone.json"), "{}", 2);
    assert_true(qst__folder_project(out, sizeof out, path_in(path, folder, "a/b")));
    assert_string_equal(out, folder);
    file_write(path_in(path, folder, "a/quernstone.json"), "{}", 2);
    assert_true(qst__folder_project(out, sizeof out, path_in(path, folder, "a/b")));
    assert_string_equal(out, path_in(path, folder, "a"));
    assert_false(qst__folder_project(out, 10, path));
    assert_false(qst__folder_project(out, sizeof out, "relative"));
    assert_false(qst__folder_project(out, sizeof out, "/"));
    folder_remove(folder);
}

static void networks(void **state)
{
    (void)state;
    assert_string_equal(qst__folder_network(0x6969), "NFS");
    assert_string_equal(qst__folder_network(0xff534d42u), "CIFS");
    assert_string_equal(qst__folder_network((uint64_t)(int64_t)(int32_t)0xff534d42u),
                        "CIFS");                  /* as f_type sign-extends */
    assert_null(qst__folder_network(0xef53));     /* ext4 */
    assert_null(qst__folder_network(0x01021994)); /* tmpfs */
}

/* Whatever is wrong with the place: one warning, and a store that works. */
static void unusable(void **state)
{
    static const qst__store_options rows[] = {
        {.place = QST__PLACE_CACHE},
        {.place = QST__PLACE_PATH, .path = "relative"},
        {.place = QST__PLACE_PATH, .path = "/"},
        {.place = QST__PLACE_PATH, .path = "/dev/null/here"},
        {.place = QST__PLACE_PATH, .path = NULL},
    };
    qst__alloc alloc = qst__alloc_default();
    (void)state;

    assert_int_equal(unsetenv("HOME"), 0);
    assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        counted_log    log;
        qst_store      store;
        qst_store_stat stat = {.size = sizeof stat};
        void          *token;

        counted_log_init(&log);
        assert_int_equal(qst__store_open(&store, &alloc, &log.log, &rows[i], NULL), QST_OK);
        assert_string_equal(store.name, "memory");
        assert_int_equal(store_put(&store, QST_DB_VERDICTS, "k", "v"), QST_OK);
        assert_string_equal(store_got(&store, QST_DB_VERDICTS, "k"), "v");
        assert_int_equal(store.claim(store.self, "k", 1, &token), QST_OK);
        store.release(store.self, token);
        assert_int_equal(store.claim(store.self, "k", 1, &token), QST_OK);
        store.release(store.self, token);
        assert_int_equal(store.sync(store.self), QST_OK);
        assert_int_equal(store.stat(store.self, &stat), QST_OK);
        assert_int_equal(stat.flags, QST_STORE_DEGRADED);
        assert_int_equal(stat.entries[QST_DB_VERDICTS], 1);
        assert_null(stat.place);
        assert_non_null(strstr(log.last, stat.degraded));
        assert_int_equal(store.remove(store.self, QST_DB_VERDICTS, "k", 1), QST_OK);
        assert_int_equal(store.remove(store.self, QST_DB_VERDICTS, "k", 1), QST_E_NOTFOUND);
        store.close(store.self);
        assert_int_equal(log.lines, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),   cmocka_unit_test(too_long), cmocka_unit_test(made),
        cmocka_unit_test(project), cmocka_unit_test(networks), cmocka_unit_test(unusable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
