/* SPDX-License-Identifier: MIT
 *
 * test_cache_moved.c: answers that leave a store and come into another, as priors: exported, imported, seeded.
 */
#include "cache_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void *fixture;

static void import(qst_context *ctx, const cache_text *t, uint64_t added, uint64_t present, uint64_t refused)
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
    qst_context *ctx = cache_answered(fixture, &set), *other = blend_context("{\"tune\": {\"budget_ms\": 0}}");
    cache_text   t = {NULL, 0}, none = {NULL, 0};
    json_t      *records, *one = NULL;
    qst_error    err = {0};
    char        *broken;

    (void)state;
    assert_int_equal(qst_cache_export(ctx, NULL, cache_gather, &t, NULL), QST_OK);
    assert_int_equal(qst_cache_export(ctx, "matmul", cache_gather, &none, NULL), QST_OK);
    other_set = blend_set(other, cache_candidates);
    import(other, &none, 0, 0, 0);
    import(other, &t, 2, 0, 0);
    import(other, &t, 0, 2, 0);
    records = cache_list(other);
    cache_count(records, "verdicts", "current", &one);
    assert_true(json_is_true(json_object_get(one, "prior")));
    json_decref(records);
    cache_call(fixture, other_set, cache_sizes[0]);
    cache_call(fixture, other_set, cache_sizes[1]);
    import(other, &t, 0, 2, 0); /* what was measured here stays */
    records = cache_list(other);
    cache_count(records, "verdicts", "current", &one);
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
    qst_set     *set = blend_set(ctx, cache_candidates), *other_set = blend_set(other, cache_candidates);
    cache_text   t = {NULL, 0};
    json_t      *records, *one = NULL, *shown, *finding;
    size_t       i, before = 0, after = 0;

    (void)state;
    cache_call(fixture, set, cache_sizes[0]);
    records = cache_list(ctx);
    cache_count(records, "verdicts", "current", &one);
    shown = cache_show(ctx, cache_word(one, "id"));
    json_array_foreach(json_object_get(shown, "findings"), i, finding) before +=
        !strcmp(cache_word(finding, "outcome"), "REFUSED");
    assert_true(before > 0);
    json_decref(shown);
    assert_int_equal(qst_cache_export(ctx, "blend", cache_gather, &t, NULL), QST_OK);
    import(other, &t, 1, 0, 0);
    cache_call(fixture, other_set, cache_sizes[0]);
    shown = cache_show(other, cache_word(one, "id"));
    json_array_foreach(json_object_get(shown, "findings"), i, finding) after +=
        !strcmp(cache_word(finding, "outcome"), "REFUSED");
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
    qst_context   *ctx = cache_answered(fixture, &set), *other = blend_context("{\"tune\": {\"budget_ms\": 0}}");
    json_t        *records = cache_list(ctx), *one = NULL, *shown;
    qst_cache_time times[2] = {{NULL, 1000000000}, {"blend.gone.away/1", 500000000}};
    char           id[QST_CACHE_ID_BYTES];
    qst_error      err = {0};

    (void)state;
    cache_count(records, "verdicts", "current", &one);
    times[0].candidate = cache_word(one, "winner");
    other_set = blend_set(other, cache_candidates);
    assert_int_equal(
        qst_cache_seed(other, cache_word(one, "target"), "blend", cache_word(one, "key"), times, 2, id, NULL), QST_OK);
    assert_string_equal(id, cache_word(one, "id"));
    shown = cache_show(other, id);
    assert_string_equal(cache_word(shown, "winner"), "blend.gone.away/1");
    assert_true(json_is_true(json_object_get(shown, "prior")));
    json_decref(shown);
    cache_call(fixture, other_set, cache_sizes[0]);
    cache_call(fixture, other_set, cache_sizes[1]);
    shown = cache_show(other, id);
    assert_false(json_is_true(json_object_get(shown, "prior")));
    assert_int_equal(json_array_size(json_object_get(shown, "findings")), 3);
    json_decref(shown);
    assert_int_equal(
        qst_cache_seed(other, cache_word(one, "target"), "blend", cache_word(one, "key"), times, 2, NULL, &err),
        QST_E_STATE);
    times[1].ns = 0;
    memset(&err, 0, sizeof err);
    assert_int_equal(qst_cache_seed(other, "t", "blend", "k", times, 2, NULL, &err), QST_E_INVALID);
    assert_non_null(strstr(err.text, "times[1] has no time"));
    json_decref(records);
    qst_context_destroy(other);
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
        cmocka_unit_test(moved),
        cmocka_unit_test(pinned_elsewhere),
        cmocka_unit_test(seeded),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
