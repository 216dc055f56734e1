/* SPDX-License-Identifier: MIT
 *
 * test_base_log.c: the list that says what is logged, how a line looks, and what the settings allow. */
#define _GNU_SOURCE
#include "base/base.h"
#include "base/settings.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- log ----------------------------------------------------------------------------------------------------- */

typedef struct page {
    char   text[4096];
    size_t length;
    int    pieces;
} page;

static void take_line(void *user, const char *text, size_t length)
{
    page *p = user;
    assert_true(p->length + length < sizeof p->text);
    memcpy(p->text + p->length, text, length);
    p->length += length;
    p->text[p->length] = '\0';
    p->pieces++;
}

static void lists(void **state)
{
    (void)state;
    enum { O, E, W, I, D };
    static const struct {
        const char *list;
        uint32_t    tune, store; /* levels afterwards */
    } rows[] = {
        {"", O, O},           {"off", O, O},        {"warn", W, W}, {"warn,tune", D, W},     {"tune", D, O},
        {"tune,warn", D, W},  {"store,tune", D, D}, {"info", I, I}, {" error , tune", D, E}, {",,debug,", D, D},
        {"warn,error", E, E},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qst__log  log = {0};
        qst_error err = {0};
        log.level[QST__AREA_TUNE] = 9; /* whatever stood there is replaced */
        assert_int_equal(qst__log_configure(&log, rows[i].list, &err), QST_OK);
        if (log.level[QST__AREA_TUNE] != rows[i].tune || log.level[QST__AREA_STORE] != rows[i].store)
            fail_msg("'%s' gives tune %u, store %u", rows[i].list, log.level[QST__AREA_TUNE],
                     log.level[QST__AREA_STORE]);
    }
    qst__log log = {0};
    assert_int_equal(qst__log_configure(&log, NULL, NULL), QST_OK);
}

static void an_unknown_word_is_named(void **state)
{
    (void)state;
    qst__log  log = {0};
    qst_error err = {0};
    log.level[QST__AREA_CL] = QST_LOG_WARN;
    assert_int_equal(qst__log_configure(&log, "debug,tunes,cl", &err), QST_E_CONFIG);
    assert_non_null(strstr(err.text, "'tunes'"));
    assert_int_equal(log.level[QST__AREA_CL], QST_LOG_WARN); /* untouched */
    assert_int_equal(log.level[QST__AREA_TUNE], 0);
    assert_int_equal(qst__log_configure(&log, "warning", NULL), QST_E_CONFIG);
    assert_int_equal(qst__log_configure(&log, "WARN", NULL), QST_E_CONFIG);
}

static void a_line_is_one_piece(void **state)
{
    (void)state;
    page     p = {0};
    qst__log log = {.sink = take_line, .user = &p};
    assert_int_equal(qst__log_configure(&log, "warn,tune", NULL), QST_OK);
    QST__LOG(&log, TUNE, DEBUG, "round %d", 2);
    QST__LOG(&log, STORE, WARN, "two\nlines");
    QST__LOG(&log, STORE, WARN, "a\tb\x1b[31m\x7f\xc3\xa9\xc2\x9bz"); /* nothing that a terminal obeys; é is a letter */
    assert_string_equal(p.text, "quernstone: debug: tune: round 2\nquernstone: warn: store: two lines\n"
                                "quernstone: warn: store: a b?[31m?\xc3\xa9??z\n");
    assert_int_equal(p.pieces, 3);
}

static int formatted;
static int count_formatting(void)
{
    return ++formatted;
}

static void below_the_level_nothing_is_formatted(void **state)
{
    (void)state;
    page     p = {0};
    qst__log log = {.sink = take_line, .user = &p};
    assert_int_equal(qst__log_configure(&log, "warn", NULL), QST_OK);
    QST__LOG(&log, RUN, INFO, "%d", count_formatting());
    QST__LOG((const qst__log *)NULL, RUN, ERROR, "%d", count_formatting());
    assert_int_equal(formatted, 0);
    QST__LOG(&log, RUN, ERROR, "%d", count_formatting());
    assert_int_equal(formatted, 1);
    assert_string_equal(p.text, "quernstone: error: run: 1\n");
}

static void long_lines_are_cut_and_marked(void **state)
{
    (void)state;
    page     p = {0};
    qst__log log = {.sink = take_line, .user = &p, .level = {[QST__AREA_CL] = QST_LOG_DEBUG}};
    for (int width = 985; width < 1010; width++) {
        p.length = 0;
        QST__LOG(&log, CL, INFO, "%0*d", width, 5);
        size_t whole = strlen("quernstone: info: cl: ") + (size_t)width + 1;
        assert_int_equal(p.length, whole < 1023 ? whole : 1023);
        assert_memory_equal(p.text + p.length - 4, whole > 1023 ? "...\n" : "005\n", 4);
    }
}

/* ---- settings ------------------------------------------------------------------------------------------------ */

static qst__strings strings(const qst__alloc *alloc, uint32_t count, const char *const *from)
{
    qst__strings list = {.data = qst__zalloc_array(alloc, count, sizeof(char *)), .count = count};
    for (uint32_t i = 0; i < count; i++)
        list.data[i] = qst__strdup(alloc, from[i]);
    return list;
}

static void deny_wins_over_pin(void **state)
{
    (void)state;
    qst__alloc    alloc = qst__alloc_default();
    qst__settings settings = {0};
    const char   *why = "untouched";
    assert_true(qst__settings_allow(&settings, "toy.naive.plain/1", &why));
    assert_null(why);
    assert_true(qst__settings_allow(&settings, "toy.naive.plain/1", NULL));

    settings.pin = strings(&alloc, 2, (const char *const[]){"toy.naive.*", "toy.tiled.*"});
    assert_true(qst__settings_allow(&settings, "toy.tiled.t8/2", &why));
    assert_false(qst__settings_allow(&settings, "toy.blas.gemm/1", &why));
    assert_string_equal(why, "not among candidates.pin");

    settings.deny = strings(&alloc, 1, (const char *const[]){"*.t8/*"});
    assert_false(qst__settings_allow(&settings, "toy.tiled.t8/2", &why));
    assert_string_equal(why, "denied by candidates.deny");
    assert_true(qst__settings_allow(&settings, "toy.tiled.t4/2", &why));
    assert_null(why);
    qst__settings_finish(&settings, &alloc);
    assert_int_equal(settings.pin.count, 0);
    qst__settings_finish(&settings, &alloc);
    qst__settings_finish(NULL, &alloc);
}

static void pairs_are_found_by_path(void **state)
{
    (void)state;
    qst__alloc    alloc = qst__alloc_default();
    qst__settings settings = {.device_name = qst__strdup(&alloc, "x"), .log = qst__strdup(&alloc, "warn")};
    settings.pairs = qst__zalloc_array(&alloc, 2, sizeof *settings.pairs);
    settings.n_pairs = 2;
    settings.pairs[0].path = qst__strdup(&alloc, "plugin.blas.library");
    settings.pairs[0].value = qst__strdup(&alloc, "libblas.so.3");
    settings.pairs[1].path = qst__strdup(&alloc, "groups.toy.unit.priority");
    settings.pairs[1].value = qst__strdup(&alloc, "7");
    assert_string_equal(qst__settings_pair(&settings, "groups.toy.unit.priority"), "7");
    assert_string_equal(qst__settings_pair(&settings, "plugin.blas.library"), "libblas.so.3");
    assert_null(qst__settings_pair(&settings, "plugin.blas"));
    qst__settings_finish(&settings, &alloc); /* the leak checker looks on */
    assert_null(qst__settings_pair(&settings, "plugin.blas.library"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(an_unknown_word_is_named),
        cmocka_unit_test(a_line_is_one_piece),
        cmocka_unit_test(below_the_level_nothing_is_formatted),
        cmocka_unit_test(long_lines_are_cut_and_marked),
        cmocka_unit_test(deny_wins_over_pin),
        cmocka_unit_test(pairs_are_found_by_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
