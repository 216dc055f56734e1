/* SPDX-License-Identifier: MIT
 *
 * test_field_room.c: a driver that cannot build anything for a while, as where a disk is full. Nothing of that is kept: the
 * next process finds what it would have found, and who never builds is still built once, ever. */
#include "model/verdict.h"
#include "run/binaries.h"
#include "support/field_case.h"
#include "support/store_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FIRST = 30, KEYS = 3, FLAGS_AT = 16, CRC_AT = 8, COVERED_FROM = 12, VALUES_MAX = 32 };
static const char   set[] = "abxdv";
static field_report whole; /* of a process with room for all it builds */

static field_job job_on(const char *folder)
{
    return (field_job){.folder = folder, .set = set, .first = FIRST, .keys = KEYS, .vendor = true};
}

/* It may fail, and must end well all the same. */
static field_report run(const field_job *job)
{
    field_report r;
    int          from, pid = field_start(job, &from);

    assert_int_equal(field_end(pid, from, &r), 0);
    return r;
}

/* All is as in the process with room, x is built so many times, and its failure is known from then on. */
static void expect_well(const char *folder, uint32_t tuned, uint32_t builds_of_x)
{
    field_job    job = job_on(folder);
    field_report r;

    for (int i = 0; i < 2; i++) {
        field_process(&job, &r);
        for (uint32_t key = FIRST; key < FIRST + KEYS; key++)
            assert_int_equal(r.winner[key], 'd');
        assert_int_equal(r.counters.tuned, i ? 0 : tuned);
        assert_int_equal(r.builds['x' - 'a'], i ? 0 : builds_of_x);
        assert_int_equal(r.warnings, 0);
    }
    assert_int_equal(field_verify(folder), KEYS + 1);
}

/* ---- The values of a table ------------------------------------------------------------------------------------------ */

typedef struct values {
    uint32_t n;
    size_t   bytes[VALUES_MAX];
    uint8_t  key[VALUES_MAX][32], *value[VALUES_MAX];
} values;

static int32_t keep_value(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    values *v = user;

    assert_true(v->n < VALUES_MAX && key_bytes == 32);
    v->value[v->n] = malloc(value_bytes);
    memcpy(v->key[v->n], key, 32);
    memcpy(v->value[v->n], value, value_bytes);
    v->bytes[v->n++] = value_bytes;
    return 0;
}

/* Calls change for each value, which then becomes what that gives; how many there are. */
static uint32_t each(const char *folder, uint32_t db,
                     void (*change)(const uint8_t *key, uint8_t **value, size_t *bytes))
{
    static values v;
    qst_context  *ctx = field_look(folder);

    v.n = 0;
    assert_int_equal(ctx->store.iterate(ctx->store.self, db, keep_value, &v), QST_OK);
    for (uint32_t i = 0; i < v.n; i++) {
        if (change) {
            change(v.key[i], &v.value[i], &v.bytes[i]);
            assert_int_equal(ctx->store.put(ctx->store.self, db, v.key[i], 32, v.value[i], v.bytes[i]), QST_OK);
        }
        free(v.value[i]);
    }
    qst_context_destroy(ctx);
    return v.n;
}

static void put_u32(uint8_t *at, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(number >> 8 * i);
}

/* As versions wrote it that kept every failure. */
static void age_program(const uint8_t *key, uint8_t **value, size_t *bytes)
{
    qst__binary b;

    assert_int_equal(qst__binary_open(&b, key, 32, *value, *bytes), QST_OK);
    assert_true(b.failed && b.proven);
    put_u32(*value + FLAGS_AT, 1);
    put_u32(*value + CRC_AT, qst__crc32(0, *value + COVERED_FROM, *bytes - COVERED_FROM));
    assert_int_equal(qst__binary_open(&b, key, 32, *value, *bytes), QST_OK);
    assert_true(b.failed && !b.proven);
}

static void age_verdict(const uint8_t *key, uint8_t **value, size_t *bytes)
{
    const qst__alloc alloc = qst__alloc_default();
    qst__verdict     verdict;
    uint8_t         *aged;
    char             text[256];
    size_t           length;
    const char      *found = qst__record_key(*value, *bytes, &length);

    (void)key;
    assert_non_null(found);
    (void)snprintf(text, sizeof text, "%.*s", (int)length, found);
    assert_int_equal(qst__verdict_decode(&verdict, text, &alloc, *value, *bytes), QST_OK);
    assert_true(verdict.flags & QST__VERDICT_PROVEN);
    verdict.flags &= ~(uint32_t)QST__VERDICT_PROVEN;
    assert_int_equal(qst__verdict_encode(&verdict, text, &alloc, &aged, bytes), QST_OK);
    qst__verdict_finish(&verdict);
    free(*value);
    *value = aged;
}

/* ---- Cases ---------------------------------------------------------------------------------------------------------- */

static void full_from_the_start(void **state)
{
    char        *folder = folder_make();
    field_job    job = job_on(folder);
    field_report r;

    (void)state;
    job.full_from = 1;
    r = run(&job);
    assert_int_equal(r.status, QST_E_BUILD);
    assert_non_null(strstr(r.error, "no program builds now"));
    assert_int_equal(r.warnings, 1);
    assert_non_null(strstr(r.warning, "no program builds now"));
    assert_int_equal(each(folder, QST_DB_PROGRAMS, NULL), 0);
    assert_int_equal(each(folder, QST_DB_VERDICTS, NULL), 0);
    expect_well(folder, KEYS, 1);
    folder_remove(folder);
}

/* Wherever the room ends: whoever was found right by then serves, and nobody is held to fail. */
static void full_from_some_build_on(void **state)
{
    (void)state;
    for (uint32_t from = 2; from <= whole.builds_all; from++) {
        char        *folder = folder_make();
        field_job    job = job_on(folder);
        field_report r;
        job.full_from = from;
        r = run(&job);
        assert_true(r.status == QST_OK || r.status == QST_E_BUILD);
        print_message("full from build %u of %u on: %s, %llu keys tuned\n", from, whole.builds_all,
                      qst_status_name(r.status), (unsigned long long)r.counters.tuned);
        assert_in_range(r.warnings, 1, KEYS);
        job.full_from = 0;
        field_process(&job, &r);
        for (uint32_t key = FIRST; key < FIRST + KEYS; key++)
            assert_int_equal(r.winner[key], 'd');
        field_process(&job, &r);
        assert_int_equal(r.counters.tuned, 0);
        assert_int_equal(r.builds['x' - 'a'], 0);
        folder_remove(folder);
    }
}

/* The fallback does not build in one process, whatever that has done to it: no other one believes it. */
static void fallback_fails_once(void **state)
{
    char        *folder = folder_make();
    field_job    job = job_on(folder);
    field_report r;

    (void)state;
    job.fails = 'a';
    r = run(&job);
    assert_int_equal(r.status, QST_E_BUILD);
    assert_int_equal(r.builds['a' - 'a'], 1); /* once a process */
    assert_int_equal(each(folder, QST_DB_PROGRAMS, NULL), 0);
    expect_well(folder, KEYS, 1);
    folder_remove(folder);
}

/* What earlier versions kept of failures is tried once more, and then known. */
static void kept_by_earlier_versions(void **state)
{
    char        *folder = folder_make();
    field_job    job = job_on(folder);
    field_report r;

    (void)state;
    field_process(&job, &r);
    assert_int_equal(r.builds['x' - 'a'], 1);
    assert_int_equal(each(folder, QST_DB_PROGRAMS, age_program), 1);
    expect_well(folder, 0, 0); /* the verdict still knows */
    assert_int_equal(each(folder, QST_DB_VERDICTS, age_verdict), KEYS);
    expect_well(folder, KEYS, 1);
    folder_remove(folder);
}

static int set_up(void **state)
{
    char     *folder = folder_make();
    field_job job = job_on(folder);

    (void)state;
    field_process(&job, &whole);
    folder_remove(folder);
    return whole.winner[FIRST] == 'd' && whole.builds['x' - 'a'] == 1 ? 0 : -1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_from_the_start),
        cmocka_unit_test(full_from_some_build_on),
        cmocka_unit_test(fallback_fails_once),
        cmocka_unit_test(kept_by_earlier_versions),
    };

    return argc > 1 ? field_child(argc, argv) : cmocka_run_group_tests(tests, set_up, NULL);
}
