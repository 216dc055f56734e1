/* SPDX-License-Identifier: MIT
 *
 * test_json.c: what the JSON writer writes, byte for byte, and that it writes nothing where a step had failed. */
#include "conf/json.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct written {
    char   text[4096];
    size_t length;
    int    pieces;
} written;

static void keep(void *user, const char *text, size_t length)
{
    written *w = user;
    assert_true(w->length + length < sizeof w->text);
    memcpy(w->text + w->length, text, length);
    w->length += length;
    w->text[w->length] = '\0';
    w->pieces++;
}

static void assert_written(const qst__json *json, bool indented, const char *expected)
{
    written w = {.length = 0};
    assert_int_equal(qst__json_write(json, indented, keep, &w), QST_OK);
    assert_string_equal(w.text, expected);
    assert_int_equal(w.pieces, 1);
}

static void members_in_their_order(void **state)
{
    (void)state;
    qst__json *json = qst__json_object();
    qst__json_set_text(json, "z", "last letter");
    qst__json_set_int(json, "a", -9223372036854775807 - 1);
    qst__json_set_bool(json, "m", true);
    qst__json_set_bool(json, "b", false);
    qst__json_set_text(json, "none", NULL);
    qst__json_set(json, "list", qst__json_array());
    qst__json_set(json, "object", qst__json_object());
    assert_written(json, false,
                   "{\"z\":\"last letter\",\"a\":-9223372036854775808,\"m\":true,\"b\":false,\"none\":null,"
                   "\"list\":[],\"object\":{}}\n");
    qst__json_set_int(json, "z", 1); /* replaced in its place */
    assert_written(json, false,
                   "{\"z\":1,\"a\":-9223372036854775808,\"m\":true,\"b\":false,\"none\":null,\"list\":[],"
                   "\"object\":{}}\n");
    qst__json_destroy(json);
}

static void lists_and_indentation(void **state)
{
    (void)state;
    qst__json *json = qst__json_object(), *list = qst__json_array(), *inner = qst__json_object();
    qst__json_set(json, "list", list);
    qst__json_add_text(list, "one"); /* goes on being filled inside its container */
    qst__json_add_int(list, 2);
    qst__json_add(list, inner);
    qst__json_set_real(inner, "three", 3.0);
    assert_written(json, false, "{\"list\":[\"one\",2,{\"three\":3.0}]}\n");
    assert_written(json, true, "{\n  \"list\": [\n    \"one\",\n    2,\n    {\n      \"three\": 3.0\n    }\n  ]\n}\n");
    qst__json_destroy(json);
    qst__json_destroy(NULL);
}

static void numbers(void **state)
{
    (void)state;
    qst__json *json = qst__json_object();
    qst__json_set_real(json, "tenth", 0.1);
    qst__json_set_real(json, "small", 1.25e-7);
    qst__json_set_real(json, "nan", NAN);
    qst__json_set_real(json, "inf", -HUGE_VAL);
    assert_written(json, false, "{\"tenth\":0.1,\"small\":1.25e-7,\"nan\":null,\"inf\":null}\n");
    qst__json_destroy(json);
}

static void text_that_is_not_utf8(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"plain", "[\"plain\"]\n"},
        {"\"q\" \\ \n\t\x01", "[\"\\\"q\\\" \\\\ \\n\\t\\u0001\"]\n"},
        {"1 \xe2\x80\xa6 2, \xc3\xa9, \xf0\x9f\x98\x80", "[\"1 \xe2\x80\xa6 2, \xc3\xa9, \xf0\x9f\x98\x80\"]\n"},
        {"\x80!", "[\"?!\"]\n"},              /* a continuation alone */
        {"caf\xe9", "[\"caf?\"]\n"},          /* Latin-1 at the end */
        {"a\xe2\x80", "[\"a??\"]\n"},         /* cut short */
        {"\xc0\xaf", "[\"??\"]\n"},           /* longer than needed */
        {"\xed\xa0\x80", "[\"???\"]\n"},      /* a surrogate */
        {"\xf4\x90\x80\x80", "[\"????\"]\n"}, /* beyond U+10FFFF */
        {"\xff\xfe\xf8", "[\"???\"]\n"},      /* never a byte of UTF-8 */
        {"\xe2(\xa1", "[\"?(?\"]\n"},         /* broken in the middle */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qst__json *json = qst__json_array();
        qst__json_add_text(json, cases[i].text);
        assert_written(json, false, cases[i].expected);
        qst__json_destroy(json);
    }
    qst__json *json = qst__json_object();
    qst__json_set_int(json, "na\xefve", 1);
    assert_written(json, false, "{\"na?ve\":1}\n");
    qst__json_destroy(json);
}

/* ---- Failed steps ----------------------------------------------------------------------------------------------- */

static void nothing_of_what_failed(void **state)
{
    (void)state;
    written    w = {.length = 0};
    qst__json *json = qst__json_object(), *inner = qst__json_object();
    assert_int_equal(qst__json_write(NULL, false, keep, &w), QST_E_NOMEM);
    qst__json_set(json, "inner", inner);
    qst__json_set_int(NULL, "a", 1);
    qst__json_add_text(NULL, "a");
    qst__json_set(NULL, "a", qst__json_array());
    assert_written(json, false, "{\"inner\":{}}\n");
    qst__json_set(inner, "gone", NULL); /* what a creation without memory gives */
    assert_int_equal(qst__json_write(json, false, keep, &w), QST_E_NOMEM);
    assert_int_equal(w.pieces, 0);
    qst__json_destroy(json);
}

static long fail_at, calls;

static void *failing_malloc(size_t bytes)
{
    return ++calls >= fail_at ? NULL : malloc(bytes);
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    json_malloc_t before_malloc;
    json_free_t   before_free;
    qst_status    status = QST_E_NOMEM;
    json_get_alloc_funcs(&before_malloc, &before_free);
    json_set_alloc_funcs(failing_malloc, free);
    for (fail_at = 1; status != QST_OK; fail_at++) {
        written w = {.length = 0};
        assert_true(fail_at < 200);
        calls = 0;
        qst__json *json = qst__json_object(), *list = qst__json_array();
        qst__json_set_text(json, "name", "caf\xe9");
        qst__json_set_real(json, "real", 0.5);
        qst__json_add_int(list, 7);
        qst__json_set(json, "list", list);
        status = qst__json_write(json, true, keep, &w);
        assert_int_equal(w.pieces, status == QST_OK);
        if (status != QST_OK)
            assert_int_equal(status, QST_E_NOMEM);
        qst__json_destroy(json);
    }
    json_set_alloc_funcs(before_malloc, before_free);
    assert_true(fail_at > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_in_their_order),
        cmocka_unit_test(lists_and_indentation),
        cmocka_unit_test(numbers),
        cmocka_unit_test(text_that_is_not_utf8),
        cmocka_unit_test(nothing_of_what_failed),
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
