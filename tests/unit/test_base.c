/* SPDX-License-Identifier: MIT
 *
 * test_base.c: memory, errors, text, arrays, hashes. Digests are checked against the vectors of their standards. */
#define _GNU_SOURCE
#include "base/base.h"
#include "base/clock.h"
#include "base/getenv.h"
#include "base/lock.h"
#include "support/meter.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- alloc, vec ---------------------------------------------------------------------------------------------- */

static void zalloc_is_zero_and_counts(void **state)
{
    (void)state;
    meter      m = {.left = -1};
    qst__alloc alloc = meter_alloc(&m);
    char      *bytes = qst__zalloc_array(&alloc, 3, 7);
    for (int i = 0; i < 21; i++)
        assert_int_equal(bytes[i], 0);
    assert_int_equal(m.live, 1);
    assert_null(qst__zalloc_array(&alloc, SIZE_MAX / 2, 3));
    bytes = qst__resize(&alloc, bytes, 100);
    assert_int_equal(m.live, 1);
    qst__free(&alloc, bytes);
    qst__free(&alloc, NULL);
    assert_int_equal(m.live, 0);
}

static void nothing_is_still_a_block(void **state)
{
    (void)state;
    qst__alloc alloc = qst__alloc_default();
    void      *a = qst__zalloc(&alloc, 0);
    void      *b = qst__memdup(&alloc, NULL, 0);
    assert_non_null(a);
    assert_non_null(b);
    qst__free(&alloc, a);
    qst__free(&alloc, b);
}

static void copies_fail_as_null(void **state)
{
    (void)state;
    meter      m = {.left = 1};
    qst__alloc alloc = meter_alloc(&m);
    char      *copy = qst__strdup(&alloc, "text");
    assert_string_equal(copy, "text");
    assert_null(qst__strdup(&alloc, "more"));
    assert_null(qst__strdup(&alloc, NULL));
    assert_null(qst__memdup(&alloc, "x", 1));
    assert_null(qst__zalloc(&alloc, 1));
    qst__free(&alloc, copy);
    assert_int_equal(m.live, 0);
}

static void vec_keeps_what_it_held_when_memory_ends(void **state)
{
    (void)state;
    meter      m = {.left = 2};
    qst__alloc alloc = meter_alloc(&m);
    QST__VEC(int) numbers = {0};
    int pushed = 0;
    while (qst__vec_push(&alloc, &numbers, pushed * 3))
        pushed++;
    assert_int_equal(pushed, 16); /* 8, then 16, then no memory */
    assert_int_equal(numbers.count, 16);
    for (int i = 0; i < 16; i++)
        assert_int_equal(numbers.data[i], 3 * i);
    qst__vec_finish(&alloc, &numbers);
    assert_int_equal(m.live, 0);
    assert_int_equal(numbers.capacity, 0);
}

/* ---- error, status ------------------------------------------------------------------------------------------- */

static void first_cause_wins(void **state)
{
    (void)state;
    qst_error err = {0};
    assert_int_equal(qst__fail(&err, QST_E_INVALID, "toy", "n is %d, not 0 or more", -3), QST_E_INVALID);
    assert_int_equal(qst__fail(&err, QST_E_IO, "other", "later"), QST_E_IO);
    assert_int_equal(qst__fail_cl(&err, -5, "other", "later"), QST_E_CL);
    assert_int_equal(err.status, QST_E_INVALID);
    assert_int_equal(err.cl_code, 0);
    assert_string_equal(err.source, "toy");
    assert_string_equal(err.text, "n is -3, not 0 or more");
    qst__error_clear(&err);
    assert_int_equal(qst__fail_cl(&err, -5, "cl", "the launch of %s failed", "twice"), QST_E_CL);
    assert_int_equal(err.cl_code, -5);
    assert_string_equal(err.text, "the launch of twice failed");
}

static void no_error_struct_is_fine(void **state)
{
    (void)state;
    assert_int_equal(qst__fail(NULL, QST_E_STATE, "toy", "%s", "x"), QST_E_STATE);
    qst__error_clear(NULL);
    assert_string_equal(qst__error_text(NULL, QST_E_STATE), qst_status_text(QST_E_STATE));
    qst_error err = {0};
    assert_string_equal(qst__error_text(&err, QST_E_IO), "input or output failed");
}

static void texts_are_one_line_and_cut(void **state)
{
    (void)state;
    qst_error err = {0};
    char      big[1000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    qst__fail(&err, QST_E_BUILD, big, "a\nb\tc%s", big);
    assert_int_equal(strlen(err.source), sizeof err.source - 1);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_memory_equal(err.text, "a b cxxx", 8);
    qst__error_clear(&err);
    qst__fail(&err, QST_E_BUILD, "toy", "last\n\n");
    assert_string_equal(err.text, "last");
}

static void memory_codes_are_nomem(void **state)
{
    (void)state;
    qst_error err = {0};
    assert_int_equal(qst__fail_cl(&err, -4, "cl", "a buffer"), QST_E_NOMEM);
    assert_int_equal(err.cl_code, -4);
    assert_int_equal(qst__fail_cl(NULL, -6, "cl", "the host"), QST_E_NOMEM);
    assert_int_equal(qst__fail_cl(NULL, -11, "cl", "a build"), QST_E_CL);
}

static void statuses_have_names(void **state)
{
    (void)state;
    assert_string_equal(qst_status_name(QST_OK), "OK");
    assert_string_equal(qst_status_name(QST_E_NOMEM), "E_NOMEM");
    assert_string_equal(qst_status_text(QST_E_VERIFY), "wrong result");
    assert_string_equal(qst_status_name(12345), "unknown status");
    assert_string_equal(qst_status_text(-12345), "unknown status");
    assert_int_equal(sizeof(qst_error), 512);
}

static void types_have_bytes(void **state)
{
    (void)state;
    assert_int_equal(qst_type_bytes(QST_F32), 4);
    assert_int_equal(qst_type_bytes(QST_F64), 8);
    assert_int_equal(qst_type_bytes(QST_F16), 2);
    assert_int_equal(qst_type_bytes(QST_BF16), 2);
    assert_int_equal(qst_type_bytes(0), 0);
    assert_int_equal(qst_type_bytes(QST_TYPE_END), 0);
    assert_string_equal(qst_type_name(QST_BF16), "bf16");
    assert_string_equal(qst_type_name(0), "?");
    assert_string_equal(qst_type_name(UINT32_MAX), "?");
}

/* ---- str ----------------------------------------------------------------------------------------------------- */

static void str_grows(void **state)
{
    (void)state;
    meter      m = {.left = -1};
    qst__alloc alloc = meter_alloc(&m);
    qst__str   str;
    qst__str_init(&str, &alloc);
    assert_string_equal(str.text, "");
    qst__str_clear(&str);
    assert_int_equal(m.live, 0);
    for (int i = 0; i < 100; i++)
        qst__str_printf(&str, "%02d,", i);
    assert_int_equal(str.length, 300);
    assert_memory_equal(str.text + 297, "99,", 4);
    qst__str_printf(&str, "%0500d", 7); /* longer than any first try */
    assert_int_equal(str.length, 800);
    assert_int_equal(str.text[799], '7');
    qst__str_clear(&str);
    assert_string_equal(str.text, "");
    qst__str_append(&str, "ab");
    qst__str_append_n(&str, "cdef", 1);
    char *text = qst__str_take(&str);
    assert_string_equal(text, "abc");
    assert_string_equal(str.text, "");
    qst__free(&alloc, text);
    text = qst__str_take(&str);
    assert_string_equal(text, "");
    qst__free(&alloc, text);
    qst__str_finish(&str);
    qst__str_finish(&str);
    assert_int_equal(m.live, 0);
}

/* Appends at the exact edge of what is there: one character too many used would be seen by the sanitizer. */
static void str_edges(void **state)
{
    (void)state;
    qst__alloc alloc = qst__alloc_default();
    for (size_t first = 60; first < 68; first++) {
        char big[80] = {0};
        memset(big, 'y', first);
        qst__str str;
        qst__str_init(&str, &alloc);
        qst__str_append(&str, big);
        qst__str_append(&str, "z");
        assert_int_equal(strlen(str.text), first + 1);
        qst__str_finish(&str);
    }
}

static void str_fails_once_and_for_all(void **state)
{
    (void)state;
    meter      m = {.left = 1};
    qst__alloc alloc = meter_alloc(&m);
    qst__str   str;
    qst__str_init(&str, &alloc);
    qst__str_append(&str, "fits");
    qst__str_printf(&str, "%0300d", 1);
    qst__str_append(&str, "!");
    assert_true(str.failed);
    assert_string_equal(str.text, "fits");
    assert_null(qst__str_take(&str));
    assert_int_equal(m.live, 0);
    qst__str_finish(&str);
}

static void names(void **state)
{
    (void)state;
    assert_true(qst__is_name("double_unit2", NULL));
    assert_true(qst__is_name("a.b/1", "./"));
    assert_false(qst__is_name("a.b", NULL));
    assert_false(qst__is_name("A", "."));
    assert_false(qst__is_name("", "."));
    assert_false(qst__is_name(NULL, NULL));
}

static void globs(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool        match;
    } rows[] = {
        {"matmul.naive.row16/1", "matmul.naive.row16/1", true},
        {"matmul.naive", "matmul.naive.row16/1", false},
        {"matmul.naive*", "matmul.naive.row16/1", true},
        {"*.row16/1", "matmul.naive.row16/1", true},
        {"*naive*", "matmul.naive.row16/1", true},
        {"*", "", true},
        {"", "", true},
        {"", "a", false},
        {"**", "abc", true},
        {"a*b*c", "aXbXbXc", true},
        {"a*b*c", "aXbXbX", false},
        {"*ab", "aab", true},
        {"*aab*", "aaaab", true},
        {"a*", "b", false},
        {"a?c", "abc", false},
        {"ab", "abc", false},
        {"abc", "ab", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (qst__glob(rows[i].pattern, rows[i].text) != rows[i].match)
            fail_msg("glob '%s' on '%s' should be %d", rows[i].pattern, rows[i].text, rows[i].match);
}

/* ---- hash ---------------------------------------------------------------------------------------------------- */

/* Long data go another way than short ones, by words and wherever they begin. */
static void crc_of_long_data(void **state)
{
    static uint8_t data[5000];
    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    for (size_t length = 2000; length < sizeof data; length += 37) {
        for (size_t from = 0; from < 9 && from <= sizeof data - length; from++) {
            uint32_t crc = 77;
            for (size_t i = 0; i < length; i++)
                crc = qst__crc32(crc, data + from + i, 1);
            assert_int_equal(qst__crc32(77, data + from, length), crc);
        }
    }
}

static void crc_vectors(void **state)
{
    (void)state;
    assert_int_equal(qst__crc32(0, "", 0), 0);
    assert_int_equal(qst__crc32(0, "123456789", 9), 0xcbf43926u);
    assert_int_equal(qst__crc32(qst__crc32(0, "1234", 4), "56789", 5), 0xcbf43926u);
}

static const char *sha_of(const void *data, size_t bytes, size_t piece)
{
    static char hex[65];
    uint8_t     digest[32];
    qst__sha256 sha;
    qst__sha256_init(&sha);
    for (size_t at = 0; at < bytes; at += piece)
        qst__sha256_update(&sha, (const char *)data + at, bytes - at < piece ? bytes - at : piece);
    qst__sha256_finish(&sha, digest);
    qst__hex(hex, digest, 32);
    return hex;
}

static void sha_vectors(void **state)
{
    (void)state;
    static char million[1000000];
    const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    memset(million, 'a', sizeof million);
    assert_string_equal(sha_of("", 0, 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_string_equal(sha_of("abc", 3, 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    for (size_t piece = 1; piece <= 56; piece++)
        assert_string_equal(sha_of(two_blocks, 56, piece),
                            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    assert_string_equal(sha_of(million, sizeof million, 999),
                        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void hash_tells_apart(void **state)
{
    (void)state;
    uint64_t seen[4 * 64 + 40];
    size_t   n = 0;
    /* Every single bit of 32 bytes, and zero blocks of every length up to 39. */
    for (size_t bit = 0; bit < 256; bit++) {
        uint8_t block[32] = {0};
        block[bit / 8] = (uint8_t)(1u << bit % 8);
        seen[n++] = qst__hash(block, sizeof block, 0);
    }
    for (size_t length = 0; length < 40; length++) {
        static const uint8_t zeros[40];
        seen[n++] = qst__hash(zeros, length, 0);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
    assert_true(qst__hash("abc", 3, 0) == qst__hash("abc", 3, 0));
    assert_true(qst__hash("abc", 3, 0) != qst__hash("abc", 3, 1));
}

/* Small tables use the low bits, large ones more: 4096 consecutive keys in 256 slots of either end stay within what a
 * fair throw gives (mean 16, 5 standard deviations 36). */
static void hash_spreads(void **state)
{
    (void)state;
    uint32_t low[256] = {0}, high[256] = {0};
    for (int64_t i = 0; i < 4096; i++) {
        int64_t  key[3] = {16 * i, 512, 512};
        uint64_t h = qst__hash(key, sizeof key, 0);
        low[h & 255]++;
        high[h >> 56]++;
    }
    for (int i = 0; i < 256; i++) {
        assert_in_range(low[i], 1, 36);
        assert_in_range(high[i], 1, 36);
    }
}

/* ---- clock, getenv, lock ------------------------------------------------------------------------------------- */

static void clock_never_goes_back(void **state)
{
    (void)state;
    qst__clock clock = qst__clock_host();
    uint64_t   last = qst__now(&clock);
    assert_true(last > 0);
    for (int i = 0; i < 1000; i++) {
        uint64_t now = qst__now(&clock);
        assert_true(now >= last);
        last = now;
    }
}

static void empty_is_not_set(void **state)
{
    (void)state;
    setenv("QST_TEST_BASE", "value", 1);
    assert_string_equal(qst__getenv("QST_TEST_BASE"), "value");
    setenv("QST_TEST_BASE", "", 1);
    assert_null(qst__getenv("QST_TEST_BASE"));
    unsetenv("QST_TEST_BASE");
    assert_null(qst__getenv("QST_TEST_BASE"));
}

typedef struct hand_over {
    qst__lock lock;
    qst__cond cond;
    int       turns; /* odd: the other's turn */
} hand_over;

static void *other_side(void *user)
{
    hand_over *h = user;
    qst__lock_take(&h->lock);
    for (int i = 0; i < 100; i++) {
        while (h->turns % 2 == 0)
            qst__cond_wait(&h->cond, &h->lock);
        h->turns++;
        qst__cond_wake(&h->cond);
    }
    qst__lock_give(&h->lock);
    return NULL;
}

static void two_threads_take_turns(void **state)
{
    (void)state;
    hand_over h = {.turns = 0};
    pthread_t other;
    qst__lock_init(&h.lock);
    qst__cond_init(&h.cond);
    assert_int_equal(pthread_create(&other, NULL, other_side, &h), 0);
    qst__lock_take(&h.lock);
    for (int i = 0; i < 100; i++) {
        h.turns++;
        qst__cond_wake(&h.cond);
        while (h.turns % 2)
            qst__cond_wait(&h.cond, &h.lock);
    }
    qst__lock_give(&h.lock);
    pthread_join(other, NULL);
    assert_int_equal(h.turns, 200);
    qst__cond_finish(&h.cond);
    qst__lock_finish(&h.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zalloc_is_zero_and_counts),
        cmocka_unit_test(nothing_is_still_a_block),
        cmocka_unit_test(copies_fail_as_null),
        cmocka_unit_test(vec_keeps_what_it_held_when_memory_ends),
        cmocka_unit_test(first_cause_wins),
        cmocka_unit_test(no_error_struct_is_fine),
        cmocka_unit_test(texts_are_one_line_and_cut),
        cmocka_unit_test(memory_codes_are_nomem),
        cmocka_unit_test(statuses_have_names),
        cmocka_unit_test(types_have_bytes),
        cmocka_unit_test(str_grows),
        cmocka_unit_test(str_edges),
        cmocka_unit_test(str_fails_once_and_for_all),
        cmocka_unit_test(names),
        cmocka_unit_test(globs),
        cmocka_unit_test(crc_vectors),
        cmocka_unit_test(crc_of_long_data),
        cmocka_unit_test(sha_vectors),
        cmocka_unit_test(hash_tells_apart),
        cmocka_unit_test(hash_spreads),
        cmocka_unit_test(clock_never_goes_back),
        cmocka_unit_test(empty_is_not_set),
        cmocka_unit_test(two_threads_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
