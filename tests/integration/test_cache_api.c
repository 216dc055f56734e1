/* SPDX-License-Identifier: MIT
 *
 * test_cache_api.c: what quernstone/cache.h tells and changes, on the store in memory of one context. Priors are taken
 * over by a second one; damage is put in by hand.
 */
#include "model/peak.h"
#include "run/journal.h"
#include "support/blend.h"

#include <quernstone/cache.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <cmocka.h>

static void *fixture;

/* ---- Text ---------------------------------------------------------------------------------------------------------- */

typedef struct text {
    char  *data;
    size_t length;
} text;

static void gather(void *user, const char *piece, size_t length)
{
    text *t = user;
    t->data = realloc(t->data, t->length + length + 1);
    assert_non_null(t->data);
    memcpy(t->data + t->length, piece, length);
    t->length += length;
    t->data[t->length] = '\0';
}

static json_t *parse(text *t)
{
    json_error_t error;
    json_t      *json = json_loadb(t->data, t->length, JSON_REJECT_DUPLICATES, &error);

    if (!json)
        fail_msg("%s at %d of %s", error.text, error.position, t->data);
    free(t->data);
    return json;
}

static json_t *list(qst_context *ctx)
{
    text t = {NULL, 0};
    assert_int_equal(qst_cache_list(ctx, gather, &t, NULL), QST_OK);
    return parse(&t);
}

static json_t *show(qst_context *ctx, const char *id)
{
    text t = {NULL, 0};
    assert_int_equal(qst_cache_show(ctx, id, gather, &t, NULL), QST_OK);
    return parse(&t);
}

static const char *word(const json_t *object, const char *name)
{
    const char *found = json_string_value(json_object_get(object, name));
    return found ? found : "";
}

/* The records of a table and state ("": any); *first, where not NULL, is one of them, borrowed. */
static size_t count(const json_t *all, const char *table, const char *state, json_t **first)
{
    size_t  i, n = 0;
    json_t *one;
    json_array_foreach(all, i, one)
    {
        if (strcmp(word(one, "table"), table) || (*state && strcmp(word(one, "state"), state)))
            continue;
        if (first && !n)
            *first = one;
        n++;
    }
    return n;
}

/* ---- A context with answers ---------------------------------------------------------------------------------------- */

static const qst_candidate *const all[] = {&blend_loop, &blend_wide, &blend_twice, NULL};
static const int64_t              sizes[] = {3000, 9000};

static void call(qst_set *set, int64_t n)
{
    cl_fixture   *cl = fixture;
    blend_problem p = blend_of(n, 2, 0);
    blend_case    c;

    blend_open(&c, cl->context, cl->in_order, &p);
    assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
    blend_check(&c, cl->in_order, 1);
    blend_close(&c);
}

static qst_context *answered(qst_set **set)
{
    qst_context *ctx = blend_context("{\"tune\": {\"budget_ms\": 0, \"short_circuit\": false}}"); /* verdicts alone */
    size_t       i;

    *set = blend_set(ctx, all);
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
        call(*set, sizes[i]);
    return ctx;
}

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
    qst_context             *ctx = answered(&set);
    text                     t = {NULL, 0};
    json_t                  *stat, *records = list(ctx), *one = NULL;
    size_t                   i;

    (void)state;
    assert_int_equal(qst_cache_stat(ctx, gather, &t, NULL), QST_OK);
    stat = parse(&t);
    assert_true(word(stat, "name")[0]);
    assert_false(json_is_true(json_object_get(stat, "lasts")));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(stat, "entries"), "verdicts")), 2);
    assert_int_equal(count(records, "verdicts", "current", &one), 2);
    for (i = 0; i < sizeof members / sizeof *members; i++)
        if (!word(one, members[i])[0])
            fail_msg("a verdict in the list has no %s", members[i]);
    assert_string_equal(word(one, "op"), "blend");
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
    records = list(ctx);
    assert_int_equal(count(records, "quarantine", "current", &one), 1);
    assert_string_equal(word(one, "candidate"), "blend.app.bad/1");
    assert_int_equal(json_integer_value(json_object_get(one, "deaths")), 2);
    assert_string_equal(word(one, "standing"), "quarantined");
    assert_string_equal(word(one, "died_at"), "n=3");
    assert_int_equal(count(records, "throughput", "current", &one), 1);
    assert_string_equal(word(one, "candidate"), "probe.x/1");
    assert_string_equal(word(one, "key"), "of what");
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
    qst_context *ctx = answered(&set);
    json_t      *records = list(ctx), *one = NULL, *whole, *part;
    text         t = {NULL, 0};
    qst_error    err = {0};
    char         id[9];

    (void)state;
    count(records, "verdicts", "", &one);
    whole = show(ctx, word(one, "id"));
    memcpy(id, word(one, "id"), 8);
    id[8] = '\0';
    part = show(ctx, id);
    assert_true(json_equal(whole, part));
    assert_string_equal(word(whole, "winner"), word(one, "winner"));
    assert_int_equal(json_array_size(json_object_get(whole, "findings")), 3);
    assert_int_equal(qst_cache_show(ctx, "abc", gather, &t, &err), QST_E_INVALID);
    memset(&err, 0, sizeof err);
    assert_int_equal(qst_cache_show(ctx, "12G4", gather, &t, &err), QST_E_INVALID);
    assert_non_null(strstr(err.text, "12G4"));
    assert_int_equal(qst_cache_show(ctx, "00000000ff", gather, &t, NULL), QST_E_NOTFOUND);
    assert_int_equal(qst_cache_extract(ctx, id, gather, &t, NULL), QST_E_UNSUPPORTED);
    damage(ctx, QST_DB_VERDICTS, 7, "x");
    damage(ctx, QST_DB_PROGRAMS, 7, "x");
    assert_int_equal(qst_cache_extract(ctx, "07000000", gather, &t, NULL), QST_E_INVALID); /* two begin so */
    assert_int_equal(prune(ctx, QST_CACHE_UNUSABLE, NULL, UINT64_MAX), 2);
    damage(ctx, QST_DB_PROGRAMS, 7, "x");
    assert_int_equal(qst_cache_extract(ctx, "07000000", gather, &t, NULL), QST_E_CORRUPT);
    assert_null(t.data);
    json_decref(whole);
    json_decref(part);
    json_decref(records);
    qst_context_destroy(ctx);
}

static void replay(void **state)
{
    qst_set     *set;
    qst_context *ctx = answered(&set);
    text         t = {NULL, 0};
    json_t      *rows, *one;
    size_t       i;

    (void)state;
    assert_int_equal(qst_cache_replay(ctx, gather, &t, NULL), QST_OK);
    rows = parse(&t);
    assert_int_equal(json_array_size(rows), 2);
    json_array_foreach(rows, i, one)
    {
        assert_true(json_is_true(json_object_get(one, "same")));
        assert_string_equal(word(one, "winner"), word(one, "replayed"));
    }
    json_decref(rows);
    qst_context_destroy(ctx);
}

/* ---- Checked and removed ------------------------------------------------------------------------------------------- */

static void verify(void **state)
{
    qst_set        *set;
    qst_context    *ctx = answered(&set);
    qst_cache_check check = {.size = sizeof check};
    json_t         *after;
    text            t = {NULL, 0};
    uint64_t        sound;

    (void)state;
    assert_int_equal(qst_cache_verify(ctx, 0, &check, gather, &t, NULL), QST_OK);
    sound = check.current;
    assert_true(sound >= 2); /* verdicts, and the peaks that were measured */
    assert_int_equal(check.damaged + check.stale + check.removed, 0);
    assert_null(t.data);
    damage(ctx, QST_DB_VERDICTS, 2, "QSTV\2");
    damage(ctx, QST_DB_PROGRAMS, 3, "QSTP and no more than that");
    assert_int_equal(qst_cache_verify(ctx, QST_CACHE_REMOVE_DAMAGED, &check, gather, &t, NULL), QST_OK);
    assert_int_equal(check.damaged, 2);
    assert_int_equal(check.removed, 2);
    assert_non_null(strstr(t.data, "verdicts 0200000000"));
    assert_int_equal(qst_cache_verify(ctx, 0, &check, NULL, NULL, NULL), QST_OK);
    assert_int_equal(check.damaged, 0);
    assert_int_equal(check.current, sound);
    after = list(ctx);
    assert_int_equal(count(after, "verdicts", "", NULL), 2);
    free(t.data);
    json_decref(after);
    qst_context_destroy(ctx);
}

/* A sound value under another's key, and one of another schema. */
static void verify_foreign(void **state)
{
    static const char old[] = {'Q', 'S', 'T', 'V', 99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    qst_set          *set;
    qst_context      *ctx = answered(&set);
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
    qst_context *ctx = answered(&set);
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
    records = list(ctx);
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
    text         t = {NULL, 0};

    (void)state;
    program(ctx, 1, 2000);
    program(ctx, 2, 1000);
    program(ctx, 3, 3000);
    assert_int_equal(prune(ctx, 0, NULL, 130), 1);
    records = list(ctx);
    assert_int_equal(count(records, "programs", "current", &one), 2);
    assert_int_equal(json_integer_value(json_object_get(one, "at_s")), 2000);
    assert_int_equal(qst_cache_extract(ctx, "0300", gather, &t, NULL), QST_OK);
    assert_string_equal(t.data, "code");
    assert_int_equal(qst_cache_extract(ctx, "0200", gather, &t, NULL), QST_E_NOTFOUND);
    free(t.data);
    json_decref(records);
    qst_context_destroy(ctx);
}

/* ---- Out and in ---------------------------------------------------------------------------------------------------- */

static void import(qst_context *ctx, const text *t, uint64_t added, uint64_t present, uint64_t refused)
{
    qst_cache_imported done = {.size = sizeof done};
    assert_int_equal(qst_cache_import(ctx, t->data, t->length, &done, NULL), QST_OK);
    assert_int_equal(done.added, added);
    assert_int_equal(done.present, present);
    assert_int_equal(done.refused, refused);
}

/* An imported answer is a prior until the first call of its key; then it is this context's own. */
static void moved(void **state)
{
    qst_set     *set, *other_set;
    qst_context *ctx = answered(&set), *other = blend_context("{\"tune\": {\"budget_ms\": 0}}");
    text         t = {NULL, 0}, none = {NULL, 0};
    json_t      *records, *one = NULL;
    qst_error    err = {0};
    char        *broken;

    (void)state;
    assert_int_equal(qst_cache_export(ctx, NULL, gather, &t, NULL), QST_OK);
    assert_int_equal(qst_cache_export(ctx, "matmul", gather, &none, NULL), QST_OK);
    other_set = blend_set(other, all);
    import(other, &none, 0, 0, 0);
    import(other, &t, 2, 0, 0);
    import(other, &t, 0, 2, 0);
    records = list(other);
    count(records, "verdicts", "current", &one);
    assert_true(json_is_true(json_object_get(one, "prior")));
    json_decref(records);
    call(other_set, sizes[0]);
    call(other_set, sizes[1]);
    import(other, &t, 0, 2, 0); /* what was measured here stays */
    records = list(other);
    count(records, "verdicts", "current", &one);
    assert_false(json_is_true(json_object_get(one, "prior")));
    json_decref(records);
    broken = strstr(t.data, "\"value\": \"");
    assert_non_null(broken);
    broken[strlen("\"value\": \"")] = '!';
    assert_int_equal(qst_cache_import(other, t.data, t.length, NULL, &err), QST_E_CORRUPT);
    assert_true(err.text[0]);
    free(t.data);
    free(none.data);
    qst_context_destroy(other);
    qst_context_destroy(ctx);
}

/* What a configuration refused, another one that allows it tries. */
static void pinned_elsewhere(void **state)
{
    qst_context *ctx = blend_context("{\"candidates\": {\"pin\": [\"*wide*\"]}}"), *other = blend_context(NULL);
    qst_set     *set = blend_set(ctx, all), *other_set = blend_set(other, all);
    text         t = {NULL, 0};
    json_t      *records, *one = NULL, *shown, *finding;
    size_t       i, before = 0, after = 0;

    (void)state;
    call(set, sizes[0]);
    records = list(ctx);
    count(records, "verdicts", "current", &one);
    shown = show(ctx, word(one, "id"));
    json_array_foreach(json_object_get(shown, "findings"), i, finding) before +=
        !strcmp(word(finding, "outcome"), "REFUSED");
    assert_true(before > 0);
    json_decref(shown);
    assert_int_equal(qst_cache_export(ctx, "blend", gather, &t, NULL), QST_OK);
    import(other, &t, 1, 0, 0);
    call(other_set, sizes[0]);
    shown = show(other, word(one, "id"));
    json_array_foreach(json_object_get(shown, "findings"), i, finding) after +=
        !strcmp(word(finding, "outcome"), "REFUSED");
    assert_int_equal(after, 0);
    json_decref(shown);
    json_decref(records);
    free(t.data);
    qst_context_destroy(other);
    qst_context_destroy(ctx);
}

/* An answer from outside: the winner it names is checked, and those that it does not name are tried. */
static void seeded(void **state)
{
    qst_set       *set, *other_set;
    qst_context   *ctx = answered(&set), *other = blend_context("{\"tune\": {\"budget_ms\": 0}}");
    json_t        *records = list(ctx), *one = NULL, *shown;
    qst_cache_time times[2] = {{NULL, 1000000000}, {"blend.gone.away/1", 500000000}};
    char           id[QST_CACHE_ID_BYTES];
    qst_error      err = {0};

    (void)state;
    count(records, "verdicts", "current", &one);
    times[0].candidate = word(one, "winner");
    other_set = blend_set(other, all);
    assert_int_equal(qst_cache_seed(other, word(one, "target"), "blend", word(one, "key"), times, 2, id, NULL), QST_OK);
    assert_string_equal(id, word(one, "id"));
    shown = show(other, id);
    assert_string_equal(word(shown, "winner"), "blend.gone.away/1");
    assert_true(json_is_true(json_object_get(shown, "prior")));
    json_decref(shown);
    call(other_set, sizes[0]);
    call(other_set, sizes[1]);
    shown = show(other, id);
    assert_false(json_is_true(json_object_get(shown, "prior")));
    assert_int_equal(json_array_size(json_object_get(shown, "findings")), 3);
    json_decref(shown);
    assert_int_equal(qst_cache_seed(other, word(one, "target"), "blend", word(one, "key"), times, 2, NULL, &err),
                     QST_E_STATE);
    times[1].ns = 0;
    memset(&err, 0, sizeof err);
    assert_int_equal(qst_cache_seed(other, "t", "blend", "k", times, 2, NULL, &err), QST_E_INVALID);
    assert_non_null(strstr(err.text, "times[1] has no time"));
    json_decref(records);
    qst_context_destroy(other);
    qst_context_destroy(ctx);
}

static void refused(void **state)
{
    qst_context            *ctx = blend_context(NULL);
    qst_cache_prune_options o;
    qst_cache_check         check = {.size = sizeof check};
    text                    t = {NULL, 0};

    (void)state;
    qst_cache_prune_options_init(&o);
    o.flags = 1u << 9;
    assert_int_equal(qst_cache_prune(ctx, &o, NULL, NULL), QST_E_INVALID);
    assert_int_equal(qst_cache_prune(ctx, NULL, NULL, NULL), QST_E_INVALID);
    assert_int_equal(qst_cache_verify(ctx, 1u << 9, &check, NULL, NULL, NULL), QST_E_INVALID);
    assert_int_equal(qst_cache_verify(NULL, 0, &check, NULL, NULL, NULL), QST_E_INVALID);
    assert_int_equal(qst_cache_list(ctx, NULL, NULL, NULL), QST_E_INVALID);
    assert_int_equal(qst_cache_show(ctx, NULL, gather, &t, NULL), QST_E_INVALID);
    assert_int_equal(qst_cache_import(ctx, "[]", 2, NULL, NULL), QST_E_CORRUPT);
    assert_int_equal(qst_cache_export(NULL, NULL, gather, &t, NULL), QST_E_INVALID);
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
        cmocka_unit_test(moved),        cmocka_unit_test(pinned_elsewhere),
        cmocka_unit_test(seeded),       cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
