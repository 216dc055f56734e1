/* SPDX-License-Identifier: MIT
 *
 * test_history.c: sessions and records: when rows are written, which, how many, and in which order they are read. */
#include "cache/history.h"
#include "cache/memory.h"
#include "support/history_case.h"
#include "support/store_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static qst__alloc alloc;
static qst_store  store;

static int set_up(void **state)
{
    (void)state;
    alloc = qst__alloc_default();
    return qst__store_memory(&store, &alloc, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    store.close(store.self);
    return 0;
}

static qst__history *begin(int32_t level, uint32_t keep, uint64_t unix_ns, const char *label)
{
    qst__history_options options = {.level = level, .keep = keep, .label = label, .unix_ns = unix_ns, .now_ns = 1000};
    qst__history        *history;

    assert_int_equal(qst__history_begin(&history, &store, &alloc, &options, NULL), QST_OK);
    return history;
}

static int32_t print(void *user, uint64_t session, uint64_t number, const char *json, size_t bytes)
{
    char  *out = user;
    size_t used = strlen(out);

    if (number == 0)
        snprintf(out + used, 4000 - used, "[%llu] ", (unsigned long long)session);
    else
        snprintf(out + used, 4000 - used, "%llu/%llu %.*s ", (unsigned long long)session, (unsigned long long)number,
                 (int)bytes, json);
    return 0;
}

static const char *printed(void)
{
    static char out[4000];

    out[0] = '\0';
    assert_int_equal(history_read(&store, print, out), QST_OK);
    return out;
}

static void late(void **state)
{
    qst__history *h = begin(QST__HISTORY_BASIC, 0, 7, NULL);
    (void)state;

    qst__history_note(h, "marks", "1", 1005, 0);
    qst__history_note(h, "marks", "2", 1006, QST__NOTE_HEAVY);
    assert_string_equal(printed(), "");
    qst__history_note(h, "autotune", "{\"a\":3}", 1010, QST__NOTE_CHANGED);
    qst__history_note(h, "marks", "4", 900, 0); /* a clock that went back */
    qst__history_note(h, "no name", "5", 0, QST__NOTE_CHANGED);
    qst__history_end(h);
    assert_string_equal(printed(), "[7] 7/1 {\"kind\":\"marks\",\"offset_ns\":5,\"record\":1} "
                                   "7/2 {\"kind\":\"autotune\",\"offset_ns\":10,\"record\":{\"a\":3}} "
                                   "7/3 {\"kind\":\"marks\",\"offset_ns\":0,\"record\":4} ");
}

static void levels(void **state)
{
    qst__history *h = begin(QST__HISTORY_OFF, 0, 7, NULL);
    (void)state;

    assert_null(h);
    qst__history_note(h, "autotune", "1", 0, QST__NOTE_CHANGED);
    qst__history_end(h);
    assert_string_equal(printed(), "");
    h = begin(QST__HISTORY_FULL, 0, 7, NULL);
    qst__history_note(h, "compilation", "1", 1000, QST__NOTE_CHANGED | QST__NOTE_HEAVY);
    qst__history_end(h);
    assert_string_equal(printed(), "[7] 7/1 {\"kind\":\"compilation\",\"offset_ns\":0,\"record\":1} ");
}

static int32_t take_session(void *user, uint64_t session, uint64_t number, const char *json, size_t bytes)
{
    (void)session;
    if (number != 0)
        return 0;
    snprintf(user, 400, "%.*s", (int)bytes, json);
    return 1;
}

static void session_row(void **state)
{
    char          out[400] = "";
    qst__history *h = begin(QST__HISTORY_BASIC, 0, 1700000000123456789u, "night run");
    (void)state;

    qst__history_note(h, "autotune", "1", 0, QST__NOTE_CHANGED);
    qst__history_end(h);
    assert_int_equal(history_read(&store, take_session, out), QST_OK);
    assert_non_null(strstr(out, "\"session\":\"1700000000123456789\""));
    assert_non_null(strstr(out, "\"started_unix_ms\":1700000000123"));
    assert_non_null(strstr(out, "\"label\":\"night run\""));

    /* The id is taken: the next one. A label that is no UTF-8 is left out. */
    h = begin(QST__HISTORY_BASIC, 1, 1700000000123456789u, "\xff");
    qst__history_note(h, "autotune", "2", 0, QST__NOTE_CHANGED);
    qst__history_end(h);
    assert_int_equal(history_read(&store, take_session, out), QST_OK);
    assert_non_null(strstr(out, "\"session\":\"1700000000123456790\""));
    assert_non_null(strstr(out, "\"label\":null"));
}

static void old_ones_go(void **state)
{
    (void)state;
    for (uint64_t session = 300; session > 250; session -= 10) { /* clocks need not ascend */
        qst__history *h = begin(QST__HISTORY_BASIC, 3, session, NULL);
        qst__history_note(h, "m", "0", 0, 0);
        qst__history_note(h, "m", "1", 0, QST__NOTE_CHANGED);
        qst__history_end(h);
    }
    assert_null(strstr(printed(), "[250]"));
    assert_non_null(strstr(printed(), "[300] "));
    assert_int_equal(store_count(&store, QST_DB_HISTORY), 9);
    qst__history *h = begin(QST__HISTORY_BASIC, 1, 1000, NULL);
    qst__history_note(h, "m", "1", 0, 0);
    assert_int_equal(store_count(&store, QST_DB_HISTORY), 9); /* nothing changed, nothing goes */
    qst__history_note(h, "m", "2", 0, QST__NOTE_CHANGED);
    assert_int_equal(store_count(&store, QST_DB_HISTORY), 3);
    qst__history_end(h);
}

/* At most a mebibyte is held, the newest. */
static void held(void **state)
{
    qst__history *h = begin(QST__HISTORY_BASIC, 0, 5, NULL);
    char         *json = malloc(100003);
    uint8_t       key[16] = {0};
    int64_t       rows;
    (void)state;

    memset(json, 'x', 100002);
    json[0] = json[100001] = '"';
    json[100002] = '\0';
    for (int i = 0; i < 40; i++)
        qst__history_note(h, "m", json, 0, 0);
    qst__history_note(h, "m", "1", 0, QST__NOTE_CHANGED);
    rows = store_count(&store, QST_DB_HISTORY);
    assert_int_equal(rows, 1 + 10 + 1);
    key[7] = 5;
    key[15] = 31;
    assert_int_equal(store.remove(store.self, QST_DB_HISTORY, key, sizeof key), QST_OK);
    key[15] = 30;
    assert_int_equal(store.remove(store.self, QST_DB_HISTORY, key, sizeof key), QST_E_NOTFOUND);
    qst__history_end(h);
    free(json);
}

/* Larger than all that is held: gone, and the next one is taken. */
static void too_large(void **state)
{
    char         *json;
    qst__history *h = begin(QST__HISTORY_BASIC, 0, 6, NULL);
    (void)state;

    json = calloc(1, QST__HISTORY_HELD + 2);
    memset(json, '1', QST__HISTORY_HELD + 1);
    qst__history_note(h, "m", json, 0, 0);
    qst__history_note(h, "m", "2", 1000, 0);
    qst__history_note(h, "m", "3", 1000, QST__NOTE_CHANGED);
    qst__history_end(h);
    free(json);
    assert_non_null(strstr(printed(), "[6] 6/2 {\"kind\":\"m\",\"offset_ns\":0,\"record\":2} 6/3 "));
}

static void damaged_rows(void **state)
{
    qst__history *h = begin(QST__HISTORY_BASIC, 0, 7, NULL);
    uint8_t       key[16] = {0};
    (void)state;

    qst__history_note(h, "m", "1", 1000, QST__NOTE_CHANGED);
    qst__history_end(h);
    key[7] = 7;
    assert_int_equal(store.put(store.self, QST_DB_HISTORY, key, sizeof key, "junk", 4), QST_OK);
    assert_int_equal(store_put(&store, QST_DB_HISTORY, "junk", "junk"), QST_OK);
    assert_string_equal(printed(), "7/1 {\"kind\":\"m\",\"offset_ns\":0,\"record\":1} ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(late, set_up, tear_down),
        cmocka_unit_test_setup_teardown(levels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(session_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_ones_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(held, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_large, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_rows, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
