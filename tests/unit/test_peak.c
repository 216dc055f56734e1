/* SPDX-License-Identifier: MIT
 *
 * test_peak.c: peaks as a store's bytes: there and back, and no damage is taken for a peak. */
#include "model/peak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static qst__peak example(void)
{
    qst__peak peak = {.role = QST_OP_PROBE_COMPUTE, .type = QST_F64, .numerics = QST_NUMERICS_FAST, .value = 1.25e12};

    peak.flags = QST__PEAK_RAISED | QST__PEAK_CONFIRMED;
    memset(peak.checksum, 7, sizeof peak.checksum);
    strcpy(peak.candidate, "probe.compute.some.thing/3");
    return peak;
}

static uint8_t *encode(const qst__peak *peak, const char *key, size_t *length)
{
    static qst__alloc alloc;
    uint8_t          *bytes;

    alloc = qst__alloc_default();
    assert_int_equal(qst__peak_encode(peak, key, &alloc, &bytes, length), QST_OK);
    return bytes;
}

static void drop(uint8_t *bytes)
{
    qst__alloc alloc = qst__alloc_default();

    qst__free(&alloc, bytes);
}

static void there_and_back(void **state)
{
    qst__peak peak = example(), got;
    size_t    length;
    uint8_t  *bytes = encode(&peak, "key", &length);
    (void)state;

    assert_int_equal(qst__peak_decode(&got, "key", bytes, length), QST_OK);
    assert_true(qst__peak_same(&got, &peak));
    assert_int_equal(got.flags, QST__PEAK_RAISED); /* that it was confirmed holds in one process only */
    assert_true(got.value >= peak.value && got.value <= peak.value);
    assert_memory_equal(got.checksum, peak.checksum, sizeof got.checksum);
    assert_string_equal(got.candidate, peak.candidate);
    assert_int_equal(qst__peak_decode(&got, NULL, bytes, length), QST_OK);
    assert_int_equal(qst__peak_decode(&got, "kez", bytes, length), QST_E_NOTFOUND);
    assert_int_equal(qst__peak_decode(&got, "keys", bytes, length), QST_E_NOTFOUND);
    drop(bytes);
}

static void same_or_not(void **state)
{
    qst__peak a = example(), b = example();
    (void)state;

    b.value = 1;
    b.flags = 0;
    assert_true(qst__peak_same(&a, &b));
    b.numerics = QST_NUMERICS_PLAIN;
    assert_false(qst__peak_same(&a, &b));
    b = a;
    b.bytes = 4096;
    assert_false(qst__peak_same(&a, &b));
    b = a;
    b.type = QST_F32;
    assert_false(qst__peak_same(&a, &b));
    b = a;
    b.role = QST_OP_PROBE_MEMORY;
    assert_false(qst__peak_same(&a, &b));
}

/* Every bit, every length; memory just as long as the input, so that a sanitizer sees what is read beyond it. */
static void damage(void **state)
{
    qst__peak peak = example(), got;
    size_t    length, i;
    uint8_t  *bytes = encode(&peak, "key", &length);
    (void)state;

    for (i = 0; i < length * 8; i++) {
        bytes[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_int_not_equal(qst__peak_decode(&got, "key", bytes, length), QST_OK);
        bytes[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    for (i = 0; i < length; i++) {
        uint8_t *cut = malloc(i ? i : 1);
        assert_non_null(cut);
        memcpy(cut, bytes, i);
        assert_int_equal(qst__peak_decode(&got, "key", cut, i), QST_E_CORRUPT);
        free(cut);
    }
    bytes[4] = QST__PEAK_SCHEMA + 1;
    assert_int_equal(qst__peak_decode(&got, "key", bytes, length), QST_E_STALE);
    drop(bytes);
}

/* Sound bytes of what cannot be a peak. */
static void implausible(void **state)
{
    static const double values[] = {0, -1, 1e308 * 10};
    qst__peak           peak, got;
    size_t              length, i;
    uint8_t            *bytes;
    (void)state;

    for (i = 0; i < 5; i++) {
        peak = example();
        if (i < 3)
            peak.value = values[i];
        else if (i == 3)
            peak.role = 8;
        else
            peak.bytes = -1;
        bytes = encode(&peak, "key", &length);
        assert_int_equal(qst__peak_decode(&got, "key", bytes, length), QST_E_CORRUPT);
        assert_int_equal(got.role, 0);
        drop(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(same_or_not),
        cmocka_unit_test(damage),
        cmocka_unit_test(implausible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
