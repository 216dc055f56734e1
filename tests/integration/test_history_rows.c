/* SPDX-License-Identifier: MIT
 *
 * test_history_rows.c: tunings and compilations have their rows in the history, and a hit has none.
 */
#include "decision_case.h"
#include "support/history_case.h"

#include "run/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct rows {
    int     sessions, tunings, compilations;
    json_t *tuning; /* the last */
} rows;

static int32_t take_row(void *user, uint64_t session, uint64_t number, const char *json, size_t bytes)
{
    rows       *r = user;
    json_t     *row = json_loadb(json, bytes, JSON_REJECT_DUPLICATES, NULL), *record;
    const char *kind;

    (void)session;
    assert_non_null(row);
    if (!number) {
        r->sessions++;
        json_decref(row);
        return 0;
    }
    kind = json_text_at(row, "kind");
    record = json_at(row, "record");
    if (!strcmp(kind, "autotune")) {
        r->tunings++;
        json_decref(r->tuning);
        r->tuning = json_incref(record);
    } else {
        assert_string_equal(kind, "compilation");
        assert_int_equal(strlen(json_text_at(record, "digest")), 64);
        assert_string_equal(json_text_at(record, "from"), "source");
        assert_true(json_is_false(json_at(record, "failed")));
        assert_true(json_real_value(json_at(record, "ms")) > 0);
        assert_true(strlen(json_text_at(record, "options")) > 0);
        r->compilations++;
    }
    json_decref(row);
    return 0;
}

static void history_has_rows(void **state)
{
    int          warnings = 0;
    qst_context *ctx = decision_context("\"history\": {\"level\": \"basic\"}", &warnings);
    qst_set     *set = blend_set(ctx, decision_candidates);
    qst_counters counters = {.size = sizeof counters};
    rows         r = {0};
    json_t      *verdicts, *one;
    size_t       i;

    (void)state;
    decision_run_blend(set, 1000);
    assert_int_equal(history_read(&ctx->store, take_row, &r), QST_OK);
    assert_int_equal(r.sessions, 1);
    assert_int_equal(r.tunings, 1); /* the hit added none */
    assert_int_equal(qst_context_counters(ctx, &counters), QST_OK);
    assert_true(r.compilations > 0 && (uint64_t)r.compilations <= counters.compiles);
    verdicts = decision_describe(ctx, "verdicts");
    assert_string_equal(json_text_at(r.tuning, "winner"), json_text_at(json_array_get(verdicts, 0), "winner"));
    assert_string_equal(json_text_at(r.tuning, "key"), json_text_at(json_array_get(verdicts, 0), "key"));
    assert_string_equal(json_text_at(r.tuning, "source"), "tuned here");
    assert_string_equal(json_text_at(r.tuning, "op"), "blend");
    assert_true(json_is_false(json_at(r.tuning, "stored"))); /* in memory alone */
    assert_int_equal(json_array_size(json_at(r.tuning, "trials")), 3);
    json_array_foreach(json_at(r.tuning, "trials"), i, one)
    {
        assert_true(json_int_at(one, "wall_ns") > 0 && json_int_at(one, "wall_ns") <= json_int_at(r.tuning, "wall_ns"));
        assert_null(json_object_get(one, "samples"));
    }
    json_decref(verdicts);
    json_decref(r.tuning);
    qst_context_destroy(ctx);
}

static void history_levels(void **state)
{
    int          warnings = 0;
    qst_context *off = decision_context("\"history\": {\"level\": \"off\"}", &warnings);
    qst_context *full = decision_context("\"history\": {\"level\": \"full\"}", &warnings);
    rows         r = {0};

    (void)state;
    decision_run_blend(blend_set(off, decision_candidates), 1000);
    assert_int_equal(history_read(&off->store, take_row, &r), QST_OK);
    assert_int_equal(r.sessions + r.tunings + r.compilations, 0);
    decision_run_blend(blend_set(full, decision_candidates), 1000);
    assert_int_equal(history_read(&full->store, take_row, &r), QST_OK);
    assert_int_equal(r.tunings, 1);
    assert_true(json_array_size(json_at(json_array_get(json_at(r.tuning, "trials"), 0), "samples")) > 0);
    json_decref(r.tuning);
    qst_context_destroy(off);
    qst_context_destroy(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(history_has_rows),
        cmocka_unit_test(history_levels),
    };

    return cmocka_run_group_tests(tests, decision_open, decision_close);
}
