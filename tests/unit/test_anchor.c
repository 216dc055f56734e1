/* SPDX-License-Identifier: MIT
 *
 * test_anchor.c: bucket ceilings at each level against the reference's list, and keys as text. */
#include "model/anchor.h"
#include "model/key.h"

#include "base/base.h"
#include "base/settings.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

/* Every size up to the greatest in the last bucket falls into the first bucket that holds it. */
static void assert_buckets(uint32_t level, const int64_t *greatest, const int64_t *ceiling, size_t n)
{
    int64_t size = 1;
    for (size_t bucket = 0; bucket < n; bucket++)
        for (; size <= greatest[bucket]; size++)
            assert_int_equal(qst__anchor(level, size), ceiling[bucket]);
}

static void test_balanced(void **state)
{
    (void)state;
    for (int e = 1; e <= 62; e++) {
        int64_t power = (int64_t)1 << e;
        assert_int_equal(qst__anchor(QST__LEVEL_BALANCED, power), power);
        if (e > 1)
            assert_int_equal(qst__anchor(QST__LEVEL_BALANCED, power - 1), power);
        if (e < 62)
            assert_int_equal(qst__anchor(QST__LEVEL_BALANCED, power + 1), power * 2);
    }
    assert_int_equal(qst__anchor(QST__LEVEL_BALANCED, 1), 1);
    assert_int_equal(qst__anchor(QST__LEVEL_BALANCED, ((int64_t)1 << 62) + 1), INT64_MAX);
}

/* The greatest size of a bucket is the power rounded down, its ceiling the power rounded up: to a whole number, then,
 * over 16, to a multiple of 16. */
static void test_minimal(void **state)
{
    (void)state;
    static const int64_t greatest[] = {1, 2, 6, 15, 39, 97, 244, 610, 1525, 3814, 9536};
    static const int64_t ceiling[] = {1, 3, 7, 16, 48, 112, 256, 624, 1536, 3824, 9552};
    assert_buckets(QST__LEVEL_MINIMAL, greatest, ceiling, sizeof greatest / sizeof *greatest);
    /* 2.5³ is 15.625: 16 is beyond it. Not idempotent. */
    assert_int_equal(qst__anchor(QST__LEVEL_MINIMAL, 15), 16);
    assert_int_equal(qst__anchor(QST__LEVEL_MINIMAL, 16), 48);
    assert_int_equal(qst__anchor(QST__LEVEL_MINIMAL, 48), 112);
}

static void test_extensive(void **state)
{
    (void)state;
    static const int64_t greatest[] = {1,   2,   3,   5,   7,   11,  17,   25,   38,   57,  86,
                                       129, 194, 291, 437, 656, 985, 1477, 2216, 3325, 4987};
    static const int64_t ceiling[] = {1,   3,   4,   6,   8,   12,  32,   32,   48,   64,  96,
                                      144, 208, 304, 448, 672, 992, 1488, 2224, 3328, 4992};
    assert_buckets(QST__LEVEL_EXTENSIVE, greatest, ceiling, sizeof greatest / sizeof *greatest);
    assert_int_equal(qst__anchor(QST__LEVEL_EXTENSIVE, 2), 3);
    assert_int_equal(qst__anchor(QST__LEVEL_EXTENSIVE, 3), 4);
    assert_int_equal(qst__anchor(QST__LEVEL_EXTENSIVE, 4), 6);
}

static void test_large(void **state)
{
    (void)state;
    /* 2.5^40 = 8271806125530276.7…, 1.5^60 = 36768468716.9…, 1.5^107 = 6946478869293091595.2… (the last under 2^63) */
    assert_int_equal(qst__anchor(QST__LEVEL_MINIMAL, 8271806125530276), 8271806125530288);
    assert_true(qst__anchor(QST__LEVEL_MINIMAL, 8271806125530277) > 8271806125530288);
    assert_int_equal(qst__anchor(QST__LEVEL_EXTENSIVE, 36768468716), 36768468720);
    assert_true(qst__anchor(QST__LEVEL_EXTENSIVE, 36768468717) > 36768468720);
    assert_int_equal(qst__anchor(QST__LEVEL_EXTENSIVE, 6946478869293091595), 6946478869293091600);
    assert_int_equal(qst__anchor(QST__LEVEL_EXTENSIVE, 6946478869293091596), INT64_MAX);
    for (uint32_t level = QST__LEVEL_MINIMAL; level <= QST__LEVEL_FULL; level++) {
        assert_int_equal(qst__anchor(level, INT64_MAX), INT64_MAX);
        assert_int_equal(qst__anchor(level, 0), 0);
        assert_int_equal(qst__anchor(level, -5), 0);
        assert_int_equal(qst__anchor(level, 1), 1);
    }
}

static void test_full_and_view(void **state)
{
    (void)state;
    qst_anchor full = qst__anchor_at(QST__LEVEL_FULL), balanced = qst__anchor_at(QST__LEVEL_BALANCED);
    assert_int_equal(full.anchor(full.level, 1000), 1000);
    assert_int_equal(balanced.anchor(balanced.level, 1000), 1024);
}

static void test_key(void **state)
{
    (void)state;
    static const char *const   types[] = {NULL, "f32", "f64"};
    static const qst_key_field fields[] = {
        {.name = "n", .kind = QST_KEY_SIZE},
        {.name = "type", .kind = QST_KEY_ENUM, .n_tokens = 3, .tokens = types},
        {.name = "align", .kind = QST_KEY_SIZE, .flags = QST_KEY_EXTRA},
        {.name = "dense", .kind = QST_KEY_FLAG},
    };
    qst_op     op = {.n_key_fields = 4, .key_fields = fields};
    qst__key   key = {.count = 4, .value = {512, 2, 3, 1}};
    qst__alloc alloc = qst__alloc_default();
    qst__str   text;
    qst__str_init(&text, &alloc);
    qst__key_print(&key, &op, false, &text);
    assert_string_equal(text.text, "n=512 type=f64 dense=true");
    qst__str_clear(&text);
    key.value[1] = 0; /* a value without a token */
    key.value[3] = 0;
    qst__key_print(&key, &op, true, &text);
    assert_string_equal(text.text, "n=512 type=0 align=3 dense=false");
    qst__str_finish(&text);

    assert_int_equal(qst__key_view(&key).count, 4);
    assert_ptr_equal(qst__key_view(&key).value, key.value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balanced), cmocka_unit_test(test_minimal),       cmocka_unit_test(test_extensive),
        cmocka_unit_test(test_large),    cmocka_unit_test(test_full_and_view), cmocka_unit_test(test_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
