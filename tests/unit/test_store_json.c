/* SPDX-License-Identifier: MIT
 *
 * test_store_json.c: export and import of a store, envelopes, hex and base64; damaged documents. */
#include "cache/envelope.h"
#include "cache/json.h"
#include "cache/memory.h"
#include "cache/text.h"
#include "support/store_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static qst__alloc alloc;

static int set_up(void **state)
{
    (void)state;
    alloc = qst__alloc_default();
    return 0;
}

static int32_t to_str(void *user, const char *text, size_t bytes)
{
    qst__str_append_n(user, text, bytes);
    return 0;
}

static int32_t refuse(void *user, const char *text, size_t bytes)
{
    int *left = user;

    (void)text, (void)bytes;
    return (*left)-- == 0;
}

static void encodings(void **state)
{
    static const char *const pairs[][3] = {
        {"", "", ""},
        {"f", "66", "Zg=="},
        {"fo", "666f", "Zm8="},
        {"foo", "666f6f", "Zm9v"},
        {"foobar", "666f6f626172", "Zm9vYmFy"},
        {"\xff\xfe\x01", "fffe01", "//4B"},
    };
    static const char *const bad[] = {"Z", "Zg=", "Zg==Zg==", "Zh==", "Zm9=", "Z===", "====", "Zm 8", "Zm8=\n", "=Zm8"};
    bool                     no_memory;
    (void)state;

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        size_t   length = strlen(pairs[i][0]), n;
        qst__str str;
        uint8_t *back;

        qst__str_init(&str, &alloc);
        qst__hex_append(&str, pairs[i][0], length);
        assert_string_equal(str.text, pairs[i][1]);
        back = qst__hex_read(&alloc, str.text, str.length, &n, &no_memory);
        assert_int_equal(n, length);
        assert_memory_equal(back, pairs[i][0], length);
        qst__free(&alloc, back);
        qst__str_clear(&str);
        qst__base64_append(&str, pairs[i][0], length);
        assert_string_equal(str.text, pairs[i][2]);
        back = qst__base64_read(&alloc, str.text, str.length, &n, &no_memory);
        assert_int_equal(n, length);
        assert_memory_equal(back, pairs[i][0], length);
        qst__free(&alloc, back);
        qst__str_finish(&str);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t n;
        assert_null(qst__base64_read(&alloc, bad[i], strlen(bad[i]), &n, &no_memory));
        assert_false(no_memory);
    }
    size_t n;
    assert_null(qst__hex_read(&alloc, "abc", 3, &n, &no_memory));
    assert_null(qst__hex_read(&alloc, "AB", 2, &n, &no_memory));
    assert_null(qst__hex_read(&alloc, "g0", 2, &n, &no_memory));
}

static uint8_t *sealed(const char *key, const char *value, size_t *length)
{
    qst__envelope e = {.kind = 'P', .schema = 3, .key = key, .key_length = strlen(key)};

    e.value = (const uint8_t *)value;
    e.value_bytes = strlen(value);
    return qst__envelope_seal(&alloc, &e, length);
}

static void envelopes(void **state)
{
    size_t        length;
    uint8_t      *bytes = sealed("the key", "the value", &length);
    qst__envelope e;
    (void)state;

    assert_int_equal(qst__envelope_open(&e, bytes, length), QST_OK);
    assert_int_equal(e.kind, 'P');
    assert_int_equal(e.schema, 3);
    assert_int_equal(e.key_length, 7);
    assert_memory_equal(e.key, "the key", 7);
    assert_int_equal(e.value_bytes, 9);
    assert_memory_equal(e.value, "the value", 9);
    for (size_t n = 0; n < length; n++)
        assert_int_equal(qst__envelope_open(&e, bytes, n), QST_E_CORRUPT);
    for (size_t i = 0; i < length; i++) {
        if (i >= 3 && i < 8)
            continue; /* kind and schema are the caller's to compare */
        bytes[i] ^= 4;
        assert_int_equal(qst__envelope_open(&e, bytes, length), QST_E_CORRUPT);
        bytes[i] ^= 4;
    }
    qst__free(&alloc, bytes);
}

static void fill(qst_store *store)
{
    size_t   length;
    uint8_t *bytes = sealed("m=512 \"quoted\"", "verdict", &length);

    assert_int_equal(qst__store_memory(store, &alloc, NULL), QST_OK);
    assert_int_equal(store->put(store->self, QST_DB_VERDICTS, "\x01\x00z", 3, bytes, length), QST_OK);
    assert_int_equal(store->put(store->self, QST_DB_THROUGHPUT, "t", 1, "\xff\x00\x01", 3), QST_OK);
    assert_int_equal(store->put(store->self, QST_DB_PROGRAMS, "p", 1, "", 0), QST_OK);
    qst__free(&alloc, bytes);
}

static void round_trip(void **state)
{
    qst_store     from, to;
    qst__str      text, again;
    uint64_t      count;
    qst__imported done;
    qst_error     err = {0};
    (void)state;

    fill(&from);
    qst__str_init(&text, &alloc);
    qst__str_init(&again, &alloc);
    const uint32_t tables = (1u << QST_DB_VERDICTS) | (1u << QST_DB_THROUGHPUT);
    assert_int_equal(qst__store_export(&from, tables, "a \"test\"", to_str, &text, &count, &err), QST_OK);
    assert_int_equal(count, 2);
    assert_non_null(
        strstr(text.text, "{\"format\": \"quernstone-store\", \"version\": 1, \"about\": \"a \\\"test\\\"\""));
    assert_non_null(strstr(text.text, "\n{\"table\": \"throughput\", \"key\": \"74\", \"value\": \"/wAB\"}"));
    assert_non_null(strstr(text.text, "\"about\": \"m=512 \\\"quoted\\\"\"}"));

    qst__str_clear(&text);
    assert_int_equal(qst__store_export(&from, ~0u, NULL, to_str, &text, &count, &err), QST_OK);
    assert_int_equal(count, 3);
    assert_int_equal(qst__store_memory(&to, &alloc, NULL), QST_OK);
    assert_int_equal(to.put(to.self, QST_DB_THROUGHPUT, "t", 1, "local", 5), QST_OK); /* is not replaced */
    assert_int_equal(qst__store_import(&alloc, text.text, text.length, qst__import_put, &to, &done, &err), QST_OK);
    assert_int_equal(done.records, 3);
    assert_int_equal(done.taken, 2);
    assert_int_equal(done.passed_over, 1);
    assert_string_equal(store_got(&to, QST_DB_THROUGHPUT, "t"), "local");
    assert_int_equal(to.put(to.self, QST_DB_THROUGHPUT, "t", 1, "\xff\x00\x01", 3), QST_OK);
    assert_int_equal(qst__store_export(&to, ~0u, NULL, to_str, &again, NULL, &err), QST_OK);
    assert_string_equal(text.text, again.text);
    to.close(to.self);
    from.close(from.self);
    qst__str_finish(&text);
    qst__str_finish(&again);
}

static qst_status fail_at_second(void *user, uint32_t db, const void *key, uint64_t key_bytes, const void *value,
                                 uint64_t value_bytes)
{
    int *seen = user;

    (void)db, (void)key, (void)key_bytes, (void)value, (void)value_bytes;
    return ++*seen == 2 ? QST_E_IO : QST_OK;
}

static void ends(void **state)
{
    qst_store     from;
    qst__str      text;
    qst__imported done;
    int           seen = 0;
    (void)state;

    fill(&from);
    for (int n = 0; n < 5; n++) {
        int left = n;
        assert_int_equal(qst__store_export(&from, ~0u, NULL, refuse, &left, NULL, NULL), QST_E_IO);
    }
    qst__str_init(&text, &alloc);
    assert_int_equal(qst__store_export(&from, ~0u, NULL, to_str, &text, NULL, NULL), QST_OK);
    assert_int_equal(qst__store_import(&alloc, text.text, text.length, fail_at_second, &seen, &done, NULL), QST_E_IO);
    assert_int_equal(done.taken, 1);
    qst__str_finish(&text);
    from.close(from.self);
}

#define HEAD "{\"format\":\"quernstone-store\",\"version\":1,\"records\":["
#define GOOD "{\"table\":\"meta\",\"key\":\"61\",\"value\":\"\"}"

static void refused(void **state)
{
    static const char *const rows[][2] = {
        {"", "line 1"},
        {"[]", "the format is not"},
        {"{\"format\":\"other\",\"version\":1,\"records\":[]}", "the format is not"},
        {"{\"format\":\"quernstone-store\",\"version\":2,\"records\":[]}", "the version is not 1"},
        {"{\"format\":\"quernstone-store\",\"version\":1}", "no list of records"},
        {"{\"format\":\"quernstone-store\",\"version\":1,\"records\":{}}", "no list of records"},
        {HEAD GOOD ",1]}", "record 2: names no table"},
        {HEAD GOOD ",{\"table\":\"other\",\"key\":\"61\",\"value\":\"\"}]}", "record 2: names no table"},
        {HEAD GOOD ",{\"table\":\"meta\",\"key\":\"\",\"value\":\"\"}]}", "record 2: has no key"},
        {HEAD GOOD ",{\"table\":\"meta\",\"key\":\"6\",\"value\":\"\"}]}", "record 2: has a key that is not hex"},
        {HEAD GOOD ",{\"table\":\"meta\",\"key\":5,\"value\":\"\"}]}", "record 2: has no key"},
        {HEAD GOOD ",{\"table\":\"meta\",\"key\":\"61\"}]}", "record 2: has no value"},
        {HEAD GOOD ",{\"table\":\"meta\",\"key\":\"61\",\"value\":\"x\"}]}",
         "record 2: has a value that is not base64"},
        {HEAD GOOD "]", "line 1"},
        {HEAD GOOD "],\"version\":1}", "duplicate"},
        {HEAD GOOD "]}x", "line 1"},
    };
    int seen = 0;
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qst__imported done;
        qst_error     err = {0};
        assert_int_equal(qst__store_import(&alloc, rows[i][0], strlen(rows[i][0]), fail_at_second, &seen, &done, &err),
                         QST_E_CORRUPT);
        assert_non_null(strstr(err.text, rows[i][1]));
        assert_int_equal(seen, 0); /* nothing of a damaged document */
    }
}

/* Any single change to a document is refused, or imports only what the change could mean. */
static void flips(void **state)
{
    qst_store from, to;
    qst__str  text;
    int       refusals = 0;
    (void)state;

    fill(&from);
    qst__str_init(&text, &alloc);
    assert_int_equal(qst__store_export(&from, ~0u, "about", to_str, &text, NULL, NULL), QST_OK);
    for (size_t i = 0; i < text.length; i++)
        for (int bit = 0; bit < 8; bit++) {
            qst__imported done;

            text.text[i] ^= (char)(1 << bit);
            assert_int_equal(qst__store_memory(&to, &alloc, NULL), QST_OK);
            if (qst__store_import(&alloc, text.text, text.length, qst__import_put, &to, &done, NULL) != QST_OK) {
                refusals++;
                assert_int_equal(done.taken, 0);
            } else {
                assert_true(done.records <= 3);
            }
            to.close(to.self);
            text.text[i] ^= (char)(1 << bit);
        }
    assert_true(refusals > (int)text.length);
    for (size_t length = 0; length + 2 < text.length; length++) {
        qst__imported done;
        assert_int_equal(qst__store_import(&alloc, text.text, length, qst__import_put, &from, &done, NULL),
                         QST_E_CORRUPT);
    }
    qst__str_finish(&text);
    from.close(from.self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodings), cmocka_unit_test(envelopes), cmocka_unit_test(round_trip),
        cmocka_unit_test(ends),      cmocka_unit_test(refused),   cmocka_unit_test(flips),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
