/* SPDX-License-Identifier: MIT
 *
 * test_cache_api.c: what quernstone/cache.h tells, checks and removes, on the store in memory of one context; damage is
 * put in by hand.
 */
#include "cache_case.h"
#include "model/peak.h"
#include "run/journal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void *fixture;

static void damage(qst_context *ctx, uint32_t db, uint8_t first, const char *value)
{
    uint8_t key[32] = {0};
    key[0] = first;
    assert_int_equal(ctx->store.put(ctx->store.self, db, key, sizeof key, value, strlen(value)), QST_OK);
}

static uint64_t prune(qst_context *ctx, uint32_t flags, const char *op, uint64_t programs_bytes)
{
    qst_cache_prune_options o;
    uint64_t                removed = 99;

    qst_cache_prune_options_init(&o);
    o.flags = flags;
    o.op = op;
    o.programs_bytes = programs_bytes;
    assert_int_equal(qst_cache_prune(ctx, &o, &removed, NULL), QST_OK);
    return removed;
}

/* ---- Told ---------------------------------------------------------------------------------------------------------- */

static void stat_and_list(void **state)
{
    static const char *const members[] = {"op", "key", "target", "driver", "problem", "winner", "id"};
    qst_set                 *set;
    qst_context             *ctx = cache_answered(fixture, &set);
    cache_text               t = {NULL, 0};
    json_t                  *stat, *records = cache_list(ctx), *one = NULL;
    size_t                   i;

    (void)state;
    assert_int_equal(qst_cache_stat(ctx, cache_gather, &t, NULL), QST_OK);
    stat = cache_parse(&t);
    assert_true(cache_word(stat, "name")[0]);
    assert_false(json_is_true(json_object_get(stat, "lasts")));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(stat, "entries"), "verdicts")), 2);
    assert_int_equal(cache_count(records, "verdicts", "current", &one), 2);
    for (i = 0; i < sizeof members / sizeof *members; i++)
        if (!cache_word(one, members[i])[0])
            fail_msg("a verdict in the list has no %s", members[i]);
    assert_string_equal(cache_word(one, "op"), "blend");
    assert_true(json_integer_value(json_object_get(one, "at_s")) > 1500000000);
    assert_false(json_is_true(json_object_get(one, "prior")));
    json_decref(records);
    json_decref(stat);
    qst_context_destroy(ctx);
}

/* Peaks and the quarantine's lines are looked into: who is meant can be read. */
static void other_tables(void **state)
{
    qst__journal    dead = {false, 2, 2, "", "n=3", "", "blend.app.bad/1", 15};
    qst__peak       peak = {.role = QST_OP_PROBE_MEMORY, .bytes = 4096, .value = 2e9, .candidate = "probe.x/1"};
    qst_context    *ctx = blend_context(NULL);
    qst_cache_check check = {.size = sizeof check};
    uint8_t         key[32] = {9}, *bytes;
    size_t          length;
    json_t         *records, *one = NULL;

    (void)state;
    bytes = qst__journal_seal(&dead, &ctx->alloc, &length);
    assert_int_equal(ctx->store.put(ctx->store.self, QST_DB_QUARANTINE, key, sizeof key, bytes, length), QST_OK);
    qst__free(&ctx->alloc, bytes);
    assert_int_equal(qst__peak_encode(&peak, "of what", &ctx->alloc, &bytes, &length), QST_OK);
    assert_int_equal(ctx->store.put(ctx->store.self, QST_DB_THROUGHPUT, key, sizeof key, bytes, length), QST_OK);
    qst__free(&ctx->alloc, bytes);
    records = cache_list(ctx);
    assert_int_equal(cache_count(records, "quarantine", "current", &one), 1);
    assert_string_equal(cache_word(one, "candidate"), "blend.app.bad/1");
    assert_int_equal(json_integer_value(json_object_get(one, "deaths")), 2);
    assert_string_equal(cache_word(one, "standing"), "quarantined");
    assert_string_equal(cache_word(one, "died_at"), "n=3");
    assert_int_equal(cache_count(records, "throughput", "current", &one), 1);
    assert_string_equal(cache_word(one, "candidate"), "probe.x/1");
    assert_string_equal(cache_word(one, "key"), "of what");
    assert_true(json_real_value(json_object_get(one, "value")) > 1e9);
    json_decref(records);
    damage(ctx, QST_DB_QUARANTINE, 1, "no line");
    damage(ctx, QST_DB_THROUGHPUT, 1, "no peak");
    assert_int_equal(qst_cache_verify(ctx, 0, &check, NULL, NULL, NULL), QST_OK);
    assert_int_equal(check.current, 2);
    assert_int_equal(check.damaged, 2);
    qst_context_destroy(ctx);
}

static void one_record(void **state)
{
    qst_set     *set;
    qst_context *ctx = cache_answered(fixture, &set);
    json_t      *records = cache_list(ctx), *one = NULL, *whole, *part;
    cache_text   t = {NULL, 0};
    qst_error    err = {0};
    char         id[9];

    (void)state;
    cache_count(records, "verdicts", "", &one);
    whole = cache_show(ctx, cache_word(one, "id"));
    memcpy(id, cache_word(one, "id"), 8);
    id[8] = '\0';
    part = cache_show(ctx, id);
    assert_true(json_equal(whole, part));
    assert_string_equal(cache_word(whole, "winner"), cache_word(one, "winner"));
    assert_int_equal(json_array_size(json_object_get(whole, "findings")), 3);
    assert_int_equal(qst_cache_show(ctx, "abc", cache_gather, &t, &err), QST_E_INVALID);
    memset(&err, 0, sizeof err);
    assert_int_equal(qst_cache_show(ctx, "12G4", cache_gather, &t, &err), QST_E_INVALID);
    assert_non_null(strstr(err.text, "12G4"));
    assert_int_equal(qst_cache_show(ctx, "00000000ff", cache_gather, &t, NULL), QST_E_NOTFOUND);
    assert_int_equal(qst_cache_extract(ctx, id, cache_gather, &t, NULL), QST_E_UNSUPPORTED);
    damage(ctx, QST_DB_VERDICTS, 7, "x");
    damage(ctx, QST_DB_PROGRAMS, 7, "x");
    assert_int_equal(qst_cache_extract(ctx, "07000000", cache_gather, &t, NULL), QST_E_INVALID); /* two begin so */
    assert_int_equal(prune(ctx, QST_CACHE_UNUSABLE, NULL, UINT64_MAX), 2);
    damage(ctx, QST_DB_PROGRAMS, 7, "x");
    assert_int_equal(qst_cache_extract(ctx, "07000000", cache_gather, &t, NULL), QST_E_CORRUPT);
    assert_null(t.data);
    json_decref(whole);
    json_decref(part);
    json_decref(records);
    qst_context_destroy(ctx);
}

static void replay(void **state)
{
    qst_set     *set;
    qst_context *ctx = cache_answered(fixture, &set);
    cache_text   t = {NULL, 0};
    json_t      *rows, *one;
    size_t       i;

    (void)state;
    assert_int_equal(qst_cache_replay(ctx, cache_gather, &t, NULL), QST_OK);
    rows = cache_parse(&t);
    assert_int_equal(json_array_size(rows), 2);
    json_array_foreach(rows, i, one)
    {
        assert_true(json_is_true(json_object_get(one, "same")));
        assert_string_equal(cache_word(one, "winner"), cache_word(one, "replayed"));
    }
    json_decref(rows);
    qst_context_destroy(ctx);
}

/* ---- Checked and removed ------------------------------------------------------------------------------------------- */

static void verify(void **state)
{
    qst_set        *set;
    qst_context    *ctx = cache_answered(fixture, &set);
    qst_cache_check check = {.size = sizeof check};
    json_t         *after;
    cache_text      t = {NULL, 0};
    uint64_t        sound;

    (void)state;
    assert_int_equal(qst_cache_verify(ctx, 0, &check, cache_gather, &t, NULL), QST_OK);
    sound = check.current;
    assert_true(sound >= 2); /* verdicts, and the peaks that were measured */
    assert_int_equal(check.damaged + check.stale + check.removed, 0);
    assert_null(t.data);
    damage(ctx, QST_DB_VERDICTS, 2, "QSTV\2");
    damage(ctx, QST_DB_PROGRAMS, 3, "QSTP and no more than that");
    assert_int_equal(qst_cache_verify(ctx, QST_CACHE_REMOVE_DAMAGED, &check, cache_gather, &t, NULL), QST_OK);
    assert_int_equal(check.damaged, 2);
    assert_int_equal(check.removed, 2);
    assert_non_null(strstr(t.data, "verdicts 0200000000"));
    assert_int_equal(qst_cache_verify(ctx, 0, &check, NULL, NULL, NULL), QST_OK);
    assert_int_equal(check.damaged, 0);
    assert_int_equal(check.current, sound);
    after = cache_list(ctx);
    assert_int_equal(cache_count(after, "verdicts", "", NULL), 2);
    free(t.data);
    json_decref(after);
    qst_context_destroy(ctx);
}

/* A sound value under another's key, and one of another schema. */
static void verify_foreign(void **state)
{
    static const char old[] = {'Q', 'S', 'T', 'V', 99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    qst_set          *set;
    qst_context      *ctx = cache_answered(fixture, &set);
    qst_cache_check   check = {.size = sizeof check};
    qst__verdict      v;
    uint8_t           key[32] = {5}, *bytes;
    size_t            length;
    uint64_t          sound;

    (void)state;
    assert_int_equal(qst_cache_verify(ctx, 0, &check, NULL, NULL, NULL), QST_OK);
    sound = check.current;
    memset(&v, 0, sizeof v);
    assert_int_equal(qst__verdict_init(&v, &ctx->alloc, &set->model), QST_OK);
    v.op = qst__strdup(&ctx->alloc, "blend");
    v.target = qst__strdup(&ctx->alloc, "somewhere");
    assert_int_equal(qst__verdict_encode(&v, "n=4 b=0", &ctx->alloc, &bytes, &length), QST_OK);
    assert_int_equal(ctx->store.put(ctx->store.self, QST_DB_VERDICTS, key, sizeof key, bytes, length), QST_OK);
    key[0] = 6;
    assert_int_equal(ctx->store.put(ctx->store.self, QST_DB_VERDICTS, key, sizeof key, old, sizeof old), QST_OK);
    qst__answer_digest("somewhere", "blend", "n=4 b=0", key);
    assert_int_equal(ctx->store.put(ctx->store.self, QST_DB_VERDICTS, key, sizeof key, bytes, length), QST_OK);
    assert_int_equal(qst_cache_verify(ctx, 0, &check, NULL, NULL, NULL), QST_OK);
    assert_int_equal(check.current, sound + 1);
    assert_int_equal(check.damaged, 1);
    assert_int_equal(check.stale, 1);
    qst__free(&ctx->alloc, bytes);
    qst__verdict_finish(&v);
    qst_context_destroy(ctx);
}

static void pruned(void **state)
{
    qst_set     *set;
    qst_context *ctx = cache_answered(fixture, &set);
    json_t      *records;

    (void)state;
    damage(ctx, QST_DB_VERDICTS, 1, "nothing");
    assert_int_equal(prune(ctx, 0, NULL, UINT64_MAX), 0);
    assert_int_equal(prune(ctx, QST_CACHE_UNUSABLE, NULL, UINT64_MAX), 1);
    assert_int_equal(prune(ctx, 0, "matmul*", UINT64_MAX), 0);
    assert_int_equal(prune(ctx, 0, "ble*", UINT64_MAX), 2);
    damage(ctx, QST_DB_PROGRAMS, 1, "0123456789");
    damage(ctx, QST_DB_PROGRAMS, 2, "0123456789");
    assert_int_equal(prune(ctx, 0, NULL, 20), 0);
    assert_int_equal(prune(ctx, 0, NULL, 19), 1);
    assert_int_equal(prune(ctx, 0, NULL, 0), 1);
    damage(ctx, QST_DB_PROGRAMS, 2, "0123456789");
    damage(ctx, QST_DB_THROUGHPUT, 2, "0123456789");
    prune(ctx, QST_CACHE_ALL, NULL, UINT64_MAX);
    records = cache_list(ctx);
    assert_int_equal(json_array_size(records), 0);
    json_decref(records);
    qst_context_destroy(ctx);
}

/* A program's value as binaries.h says, last used at a time. */
static void program(qst_context *ctx, uint8_t first, uint32_t used_s)
{
    uint32_t word[6] = {0x50545351u, 2, 0, 4, 0, used_s};
    uint8_t  key[32] = {first}, value[sizeof word + sizeof key + 4];

    memcpy(value, word, sizeof word);
    memcpy(value + sizeof word, key, sizeof key);
    memcpy(value + sizeof word + sizeof key, "code", 4);
    word[2] = qst__crc32(0, value + 12, sizeof value - 12);
    memcpy(value, word, sizeof word);
    assert_int_equal(ctx->store.put(ctx->store.self, QST_DB_PROGRAMS, key, sizeof key, value, sizeof value), QST_OK);
}

static void least_recently_used(void **state)
{
    qst_context *ctx = blend_context(NULL);
    json_t      *records, *one = NULL;
    cache_text   t = {NULL, 0};

    (void)state;
    program(ctx, 1, 2000);
    program(ctx, 2, 1000);
    program(ctx, 3, 3000);
    assert_int_equal(prune(ctx, 0, NULL, 130), 1);
    records = cache_list(ctx);
    assert_int_equal(cache_count(records, "programs", "current", &one), 2);
    assert_int_equal(json_integer_value(json_object_get(one, "at_s")), 2000);
    assert_int_equal(qst_cache_extract(ctx, "0300", cache_gather, &t, NULL), QST_OK);
    assert_string_equal(t.data, "code");
    assert_int_equal(qst_cache_extract(ctx, "0200", cache_gather, &t, NULL), QST_E_NOTFOUND);
    free(t.data);
    json_decref(records);
    qst_context_destroy(ctx);
}

static void refused(void **state)
{
    qst_context            *ctx = blend_context(NULL);
    qst_cache_prune_options o;
    qst_cache_check         check = {.size = sizeof check};
    cache_text              t = {NULL, 0};

    (void)state;
    qst_cache_prune_options_init(&o);
    o.flags = 1u << 9;
    assert_int_equal(qst_cache_prune(ctx, &o, NULL, NULL), QST_E_INVALID);
    assert_int_equal(qst_cache_prune(ctx, NULL, NULL, NULL), QST_E_INVALID);
    assert_int_equal(qst_cache_verify(ctx, 1u << 9, &check, NULL, NULL, NULL), QST_E_INVALID);
    assert_int_equal(qst_cache_verify(NULL, 0, &check, NULL, NULL, NULL), QST_E_INVALID);
    assert_int_equal(qst_cache_list(ctx, NULL, NULL, NULL), QST_E_INVALID);
    assert_int_equal(qst_cache_show(ctx, NULL, cache_gather, &t, NULL), QST_E_INVALID);
    assert_int_equal(qst_cache_import(ctx, "[]", 2, NULL, NULL), QST_E_CORRUPT);
    assert_int_equal(qst_cache_export(NULL, NULL, cache_gather, &t, NULL), QST_E_INVALID);
    assert_null(t.data);
    qst_context_destroy(ctx);
}

static int open_all(void **state)
{
    (void)state;
    return cl_fixture_open(&fixture);
}

static int close_all(void **state)
{
    (void)state;
    return cl_fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_tables), cmocka_unit_test(stat_and_list),
        cmocka_unit_test(one_record),   cmocka_unit_test(replay),
        cmocka_unit_test(verify),       cmocka_unit_test(verify_foreign),
        cmocka_unit_test(pruned),       cmocka_unit_test(least_recently_used),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
