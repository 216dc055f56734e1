/* SPDX-License-Identifier: MIT
 *
 * test_verdict.c: a verdict in memory and as bytes: equal after a round trip; damage is told, and harms nobody. */
#include "model/verdict.h"
#include "support/meter.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- A verdict with something in every member -------------------------------------------------------------------- */

static char           NAMES[4][16] = {"toy.p.a/1", "toy.p.b/2", "toy.p.c/1", "toy.p.d/1"};
static qst__candidate CANDIDATES[4] = {{.name = NAMES[0]}, {.name = NAMES[1]}, {.name = NAMES[2]}, {.name = NAMES[3]}};

static qst__set toy_set(void)
{
    qst__set set;
    memset(&set, 0, sizeof set);
    set.candidates = CANDIDATES;
    set.n_candidates = 4;
    for (size_t i = 0; i < sizeof set.checksum; i++)
        set.checksum[i] = (uint8_t)(i * 7 + 1);
    return set;
}

static void fill(qst__verdict *v, const qst__alloc *alloc)
{
    qst__set set = toy_set();
    assert_int_equal(qst__verdict_init(v, alloc, &set), QST_OK);
    v->flags = QST__VERDICT_PARTIAL;
    v->level = 1;
    v->judge_revision = 2;
    v->ruler_revision = 3;
    v->ruler = 1;
    v->limit_ns = 0x0102030405060708u;
    v->total_ns = 123456789;
    v->problem = qst__strdup(alloc, "m=5 n=6");
    v->driver = NULL;
    v->op = qst__strdup(alloc, "toy");
    v->target = qst__strdup(alloc, "a device");
    v->at_s = 0x1122334455667788u;
    qst__finding *f = v->findings;
    f[0].outcome = QST__OUTCOME_TIMED;
    f[0].round = 1;
    f[0].launches = 2;
    f[0].workspace = 4096;
    f[0].build_ns = 7;
    f[0].verify_ns = 8;
    f[0].sample_ns = 9;
    f[0].estimate_ns = 0.5;
    for (uint32_t i = 0; i < 6; i++)
        qst__samples_push(&f[0].samples, 1000 - 10 * i, i);
    f[1].outcome = QST__OUTCOME_WRONG;
    f[1].poor = 1;
    qst__finding_why(&f[1], alloc, "element %d is %s", 17, "nan");
    f[2].outcome = QST__OUTCOME_VERIFIED;
    v->order[0] = 2;
    v->order[1] = 0;
    v->n_order = 2;
}

static void assert_same_text(const char *a, const char *b)
{
    assert_int_equal(!a, !b);
    if (a)
        assert_string_equal(a, b);
}

static void assert_same(const qst__verdict *a, const qst__verdict *b)
{
    assert_int_equal(a->n, b->n);
    for (uint32_t i = 0; i < a->n; i++) {
        qst__finding x = a->findings[i], y = b->findings[i];
        assert_same_text(x.name, y.name);
        assert_same_text(x.why, y.why);
        x.name = y.name = x.why = y.why = NULL;
        assert_memory_equal(&x, &y, sizeof x);
    }
    assert_int_equal(a->n_order, b->n_order);
    assert_memory_equal(a->order, b->order, a->n_order * sizeof *a->order);
    assert_int_equal(a->flags, b->flags);
    assert_memory_equal(a->checksum, b->checksum, sizeof a->checksum);
    assert_int_equal(a->level, b->level);
    assert_int_equal(a->judge_revision, b->judge_revision);
    assert_int_equal(a->ruler_revision, b->ruler_revision);
    assert_int_equal(a->ruler, b->ruler);
    assert_true(a->limit_ns == b->limit_ns && a->total_ns == b->total_ns);
    assert_same_text(a->problem, b->problem);
    assert_same_text(a->driver, b->driver);
    assert_same_text(a->op, b->op);
    assert_same_text(a->target, b->target);
    assert_true(a->at_s == b->at_s);
}

/* ---- In memory --------------------------------------------------------------------------------------------------- */

static void test_memory(void **state)
{
    (void)state;
    meter        m = {.left = -1};
    qst__alloc   alloc = meter_alloc(&m);
    qst__verdict v, copy;
    qst__set     set = toy_set();
    assert_int_equal(qst__verdict_init(&v, &alloc, &set), QST_OK);
    assert_int_equal(v.n, 4);
    assert_int_equal(v.findings[3].outcome, QST__OUTCOME_UNTRIED);
    assert_int_equal(qst__verdict_find(&v, "toy.p.b/2"), 1);
    assert_int_equal(qst__verdict_find(&v, "toy.p.b/1"), UINT32_MAX);
    assert_memory_equal(v.checksum, set.checksum, 32);
    qst__verdict_finish(&v);
    qst__verdict_finish(&v);
    fill(&v, &alloc);
    assert_string_equal(v.findings[1].why, "element 17 is nan");
    assert_int_equal(qst__verdict_copy(&copy, &alloc, &v), QST_OK);
    assert_same(&v, &copy);
    qst__finding_why(&v.findings[1], &alloc, "again: %s", v.findings[1].why); /* its own argument */
    assert_string_equal(v.findings[1].why, "again: element 17 is nan");
    assert_string_equal(copy.findings[1].why, "element 17 is nan");
    qst__verdict_finish(&v);
    qst__verdict_finish(&copy);
    assert_int_equal(m.live, 0);
}

static void test_outcomes(void **state)
{
    (void)state;
    assert_string_equal(qst__outcome_name(QST__OUTCOME_TIMED), "TIMED");
    assert_string_equal(qst__outcome_text(QST__OUTCOME_WRONG), "wrong result");
    assert_string_equal(qst__outcome_name(QST__OUTCOME_COUNT), "?");
    assert_non_null(qst__outcome_text(UINT32_MAX));
    uint32_t right = 0;
    for (uint32_t i = 0; i < QST__OUTCOME_COUNT; i++)
        right += qst__outcome_right(i);
    assert_int_equal(right, 3);
    assert_true(qst__outcome_right(QST__OUTCOME_ELIMINATED) && !qst__outcome_right(QST__OUTCOME_SLOW));
}

/* ---- As bytes ---------------------------------------------------------------------------------------------------- */

typedef struct record {
    qst__alloc   alloc;
    meter        m;
    qst__verdict verdict;
    uint8_t     *bytes;
    size_t       length;
} record;

static int setup(void **state)
{
    record *r = calloc(1, sizeof *r);
    r->m.left = -1;
    r->alloc = meter_alloc(&r->m);
    fill(&r->verdict, &r->alloc);
    if (qst__verdict_encode(&r->verdict, "m=8 n=8", &r->alloc, &r->bytes, &r->length) != QST_OK)
        return 1;
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    record *r = *state;
    qst__free(&r->alloc, r->bytes);
    qst__verdict_finish(&r->verdict);
    int live = r->m.live;
    free(r);
    return live;
}

static void test_round_trip(void **state)
{
    record      *r = *state;
    qst__verdict back;
    size_t       key_length;
    assert_memory_equal(r->bytes, "QSTV\2\0\0\0", 8);
    assert_int_equal(qst__verdict_decode(&back, "m=8 n=8", &r->alloc, r->bytes, r->length), QST_OK);
    assert_same(&r->verdict, &back);
    qst__verdict_finish(&back);
    assert_int_equal(qst__verdict_decode(&back, NULL, &r->alloc, r->bytes, r->length), QST_OK);
    qst__verdict_finish(&back);
    assert_int_equal(qst__verdict_decode(&back, "m=8 n=9", &r->alloc, r->bytes, r->length), QST_E_NOTFOUND);
    assert_int_equal(qst__verdict_decode(&back, "m=8 n=", &r->alloc, r->bytes, r->length), QST_E_NOTFOUND);
    const char *key = qst__record_key(r->bytes, r->length, &key_length);
    assert_int_equal(key_length, 7);
    assert_memory_equal(key, "m=8 n=8", 7);
    assert_null(qst__record_key(r->bytes, r->length - 1, &key_length));
}

/* A finding that lost its standing after the order was made is not written into it. */
static void test_order_filter(void **state)
{
    record      *r = *state;
    qst__verdict back;
    uint8_t     *bytes;
    size_t       length;
    r->verdict.findings[2].outcome = QST__OUTCOME_LAUNCH;
    assert_int_equal(qst__verdict_encode(&r->verdict, "k", &r->alloc, &bytes, &length), QST_OK);
    assert_int_equal(qst__verdict_decode(&back, "k", &r->alloc, bytes, length), QST_OK);
    assert_int_equal(back.n_order, 1);
    assert_int_equal(back.order[0], 0);
    qst__verdict_finish(&back);
    qst__free(&r->alloc, bytes);
}

/* Decodes a copy that ends where its memory ends, so that a read too far is seen. */
static qst_status decode_copy(record *r, const uint8_t *bytes, size_t length, bool equal)
{
    qst__verdict back;
    uint8_t     *copy = malloc(length ? length : 1);
    memcpy(copy, bytes, length);
    qst_status status = qst__verdict_decode(&back, "m=8 n=8", &r->alloc, copy, length);
    free(copy);
    if (status == QST_OK && equal)
        assert_same(&r->verdict, &back);
    qst__verdict_finish(&back);
    return status;
}

static void test_truncated(void **state)
{
    record *r = *state;
    for (size_t length = 0; length < r->length; length++)
        assert_int_equal(decode_copy(r, r->bytes, length, true), QST_E_CORRUPT);
    uint8_t *longer = calloc(1, r->length + 1);
    memcpy(longer, r->bytes, r->length);
    assert_int_equal(decode_copy(r, longer, r->length + 1, true), QST_E_CORRUPT);
    free(longer);
}

static void test_flipped(void **state)
{
    record *r = *state;
    for (size_t at = 0; at < r->length; at++) {
        for (int bit = 0; bit < 9; bit++) {
            uint8_t flip = (uint8_t)(bit < 8 ? 1u << bit : 0xffu);
            r->bytes[at] ^= flip;
            qst_status status = decode_copy(r, r->bytes, r->length, true);
            r->bytes[at] ^= flip;
            assert_int_equal(status, at >= 4 && at < 8 ? QST_E_STALE : QST_E_CORRUPT);
        }
    }
}

static void put_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void seal(uint8_t *bytes, size_t length)
{
    put_u32(bytes + 8, (uint32_t)(length - 16));
    put_u32(bytes + 12, qst__crc32(0, bytes + 16, length - 16));
}

/* Damage under a header made to fit: every byte takes nasty values, every length, and counts may say anything. What
 * decodes is sound all the same, and takes no memory that the input does not account for. */
static void test_hostile(void **state)
{
    static const uint8_t nasty[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    record              *r = *state;
    uint8_t             *bytes = malloc(r->length);
    uint32_t             corrupt = 0, good = 0;
    r->m.most = 0;
    for (size_t at = 16; at < r->length; at++) {
        for (size_t n = 0; n < sizeof nasty + 1; n++) {
            memcpy(bytes, r->bytes, r->length);
            if (n < sizeof nasty)
                bytes[at] = nasty[n];
            else
                memset(bytes + at, 0xff, r->length - at < 4 ? r->length - at : 4);
            seal(bytes, r->length);
            qst_status status = decode_copy(r, bytes, r->length, false);
            assert_true(status == QST_OK || status == QST_E_CORRUPT || status == QST_E_NOTFOUND);
            corrupt += status == QST_E_CORRUPT;
            good += status == QST_OK;
        }
        memcpy(bytes, r->bytes, at);
        seal(bytes, at);
        qst_status status = decode_copy(r, bytes, at, true);
        assert_true(status == QST_E_CORRUPT || status == QST_E_NOTFOUND);
    }
    assert_true(corrupt > 0 && good > 0);
    assert_true(r->m.most <= r->length * sizeof(qst__finding) / 68); /* 68: bytes of the least finding */
    free(bytes);
}

static void test_noise(void **state)
{
    record  *r = *state;
    uint8_t  bytes[300];
    uint32_t seed = 3;
    for (int n = 0; n < 5000; n++) {
        size_t length = 16 + (size_t)n % (sizeof bytes - 16);
        memcpy(bytes, r->bytes, length < r->length ? length : r->length);
        for (size_t i = 16 + (size_t)n % 90; i < length; i++) { /* keeps more or less of the true beginning */
            seed = seed * 1664525u + 1013904223u;
            bytes[i] = seed >> 30 ? 0 : (uint8_t)(seed >> 16);
        }
        seal(bytes, length);
        qst_status status = decode_copy(r, bytes, length, false);
        assert_true(status == QST_E_CORRUPT || status == QST_E_NOTFOUND);
    }
}

static void test_no_memory(void **state)
{
    record    *r = *state;
    qst_status status = QST_E_NOMEM;
    for (int n = 0; status != QST_OK; n++) {
        meter        m = {.left = n};
        qst__alloc   alloc = meter_alloc(&m);
        qst__verdict v, copy;
        uint8_t     *bytes = NULL;
        size_t       length;
        assert_in_range(n, 0, 100);
        memset(&copy, 0, sizeof copy);
        status = qst__verdict_decode(&v, "m=8 n=8", &alloc, r->bytes, r->length);
        if (status == QST_OK)
            status = qst__verdict_copy(&copy, &alloc, &v);
        if (status == QST_OK)
            status = qst__verdict_encode(&copy, "m=8 n=8", &alloc, &bytes, &length);
        assert_true(status == QST_OK || status == QST_E_NOMEM);
        if (status == QST_OK) {
            assert_int_equal(length, r->length);
            assert_memory_equal(bytes, r->bytes, length);
        }
        qst__free(&alloc, bytes);
        qst__verdict_finish(&copy);
        qst__verdict_finish(&v);
        assert_int_equal(m.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order_filter, setup, teardown),
        cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
        cmocka_unit_test_setup_teardown(test_flipped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
        cmocka_unit_test_setup_teardown(test_noise, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
