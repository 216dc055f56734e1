/* SPDX-License-Identifier: MIT
 *
 * test_decisions.c: a tuning gives one line of JSON with the reference's members and ours, a hit gives none, and
 * the documentation's example is such a line.
 */
#include "decision_case.h"

#include "run/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The members that the reference's readers take, in their forms. */
static void key_of_the_reference(void **state)
{
    static const char *const factors[] = {"definition.lhs_pow2_factor", "definition.lhs_stride_factor",
                                          "definition.rhs_pow2_factor", "definition.rhs_stride_factor"};
    static const int         values[] = {4, 8, 4, 8};
    int                      warnings = 0;
    qst_context             *ctx = decision_context_to_file(NULL, &warnings);
    json_t                  *lines, *key;
    size_t                   i;

    (void)state;
    decision_run_matmul(ctx);
    lines = decision_lines();
    assert_int_equal(json_array_size(lines), 1);
    key = json_at(json_array_get(lines, 0), "key");
    assert_int_equal(json_int_at(key, "definition.m"), 64);
    assert_int_equal(json_int_at(key, "definition.n"), 64);
    assert_int_equal(json_int_at(key, "definition.k"), 64);
    for (i = 0; i < 4; i++)
        assert_int_equal(json_int_at(key, factors[i]), values[i]);
    assert_string_equal(json_text_at(key, "definition.elem_lhs.Float"), "F32");
    assert_string_equal(json_text_at(key, "definition.elem_out.Float"), "F32");
    assert_string_equal(json_text_at(key, "definition.matrix_layout_lhs"), "Contiguous");
    assert_true(json_is_true(json_at(key, "definition.matrix_layout_rhs.MildlyPermuted.transposed")));
    assert_true(json_is_false(json_at(key, "definition.matrix_layout_rhs.MildlyPermuted.batch_swap")));
    assert_string_equal(json_text_at(key, "definition.lhs_storage"), "Plain");
    assert_string_equal(json_text_at(key, "analysis.scale_global"), "Small");
    assert_string_equal(json_text_at(key, "analysis.kind"), "General");
    assert_string_equal(json_text_at(key, "more.beta"), "zero");
    assert_string_equal(json_text_at(json_array_get(lines, 0), "op"), "matmul");
    assert_non_null(strstr(json_text_at(json_array_get(lines, 0), "problem"), "m=60 n=64 k=64"));
    assert_int_equal(warnings, 0);
    json_decref(lines);
    qst_context_destroy(ctx);
}

/* A candidate's outcome by name. On a busy machine one may be SLOW at first contact; nothing else varies. */
static const char *outcome_of(json_t *line, const char *name)
{
    json_t *one;
    size_t  i;

    json_array_foreach(json_at(line, "candidates"), i, one)
    {
        if (!strcmp(json_text_at(one, "name"), name))
            return json_text_at(one, "outcome");
    }
    fail_msg("there is no candidate %s", name);
    return NULL;
}

static bool is_right(const char *outcome)
{
    return !strcmp(outcome, "TIMED") || !strcmp(outcome, "ELIMINATED");
}

static void expect_time(json_t *good)
{
    assert_true(json_ns_at(good, "computation.min") > 0);
    assert_true(json_ns_at(good, "computation.min") <= json_ns_at(good, "computation.median"));
    assert_true(json_ns_at(good, "computation.median") <= json_ns_at(good, "computation.max"));
    assert_in_range(json_ns_at(good, "computation.mean"), json_ns_at(good, "computation.min"),
                    json_ns_at(good, "computation.max"));
    assert_true(json_ns_at(good, "computation.variance") >= 0);
}

static void expect_results(json_t *line)
{
    json_t *results = json_at(line, "results"), *first = json_array_get(results, 0), *one;
    size_t  i, ok = 0;

    assert_int_equal(json_array_size(results), 3);
    assert_string_equal(json_text_at(first, "outcome.Ok.name"), json_text_at(line, "winner"));
    assert_int_equal(json_int_at(first, "outcome.Ok.index"), json_int_at(line, "fastest_index"));
    assert_int_equal(json_ns_at(first, "outcome.Ok.computation.median"), json_ns_at(line, "fastest_time"));
    json_array_foreach(results, i, one)
    {
        json_t *good = json_object_get(json_at(one, "outcome"), "Ok");
        if (good) {
            expect_time(good);
            assert_true(is_right(outcome_of(line, json_text_at(good, "name"))));
            assert_int_equal(ok, i); /* those with a time come first */
            ok++;
        } else {
            bool wrong = !strcmp(outcome_of(line, json_text_at(one, "outcome.Err.Unknown.name")), "WRONG");
            assert_non_null(strstr(json_text_at(one, "outcome.Err.Unknown.err"),
                                   wrong ? "wrong result" : "too slow at first contact"));
        }
    }
    assert_false(is_right(outcome_of(line, "blend.app.off/1")));
}

static void expect_context(json_t *line)
{
    json_t *context = json_at(line, "log_context"), *one;
    size_t  i, judged = 0;

    assert_int_equal(json_is_null(json_at(context, "limit")), json_is_null(json_at(context, "bounds")));
    assert_int_equal(json_array_size(json_at(context, "events")), 3);
    json_array_foreach(json_at(context, "events"), i, one)
    {
        json_t *step = json_at(one, "TuningStep");
        assert_true(json_is_string(json_array_get(step, 0)));
        assert_true(json_int_at(json_array_get(step, 1), "secs") > 0 ||
                    json_int_at(json_array_get(step, 1), "nanos") > 0);
    }
    json_array_foreach(json_at(context, "checks"), i, one)
        assert_int_equal(json_is_true(json_at(one, "passed")), is_right(outcome_of(line, json_text_at(one, "name"))));
    json_array_foreach(json_at(line, "candidates"), i, one) judged += strcmp(json_text_at(one, "outcome"), "SLOW") != 0;
    assert_int_equal(json_array_size(json_at(context, "checks")), judged);
}

static void expect_candidates(json_t *line)
{
    json_t    *candidates = json_at(line, "candidates"), *one, *sample;
    json_int_t build = 0, verify = 0, samples = 0;
    size_t     i, k;

    assert_int_equal(json_array_size(candidates), 3);
    json_array_foreach(candidates, i, one)
    {
        assert_int_equal(json_int_at(one, "index"), i);
        assert_true(json_int_at(one, "round") > 0);
        build += json_int_at(one, "build_ns");
        verify += json_int_at(one, "verify_ns");
        samples += json_int_at(one, "sample_ns");
        json_array_foreach(json_at(one, "samples"), k, sample)
        {
            assert_true(json_int_at(sample, "ns") > 0);
            assert_true(k == 0 || json_int_at(sample, "round") >
                                      json_int_at(json_array_get(json_at(one, "samples"), k - 1), "round"));
        }
        assert_true(json_is_null(json_at(one, "not_tried")));
        if (!is_right(json_text_at(one, "outcome")))
            assert_true(strlen(json_text_at(one, "why")) > 0);
        if (!strcmp(json_text_at(one, "name"), json_text_at(line, "winner")))
            assert_true(json_array_size(json_at(one, "samples")) >= 2 && json_int_at(one, "launches") > 0);
    }
    assert_int_equal(json_int_at(line, "build_ns"), build);
    assert_int_equal(json_int_at(line, "verify_ns"), verify);
    assert_int_equal(json_int_at(line, "sample_ns"), samples);
    assert_true(verify > 0 && samples > 0 && json_int_at(line, "wait_ns") > 0);
    assert_true(json_int_at(line, "total_ns") >= verify + samples + json_int_at(line, "wait_ns"));
}

static void line_says_all(void **state)
{
    static const char *const texts[] = {"problem", "key_text", "device", "target",    "driver", "checksum",
                                        "level",   "ruler",    "cache",  "statistic", "abi",    "library"};
    cl_fixture              *cl = decision_fixture;
    int                      warnings = 0;
    qst_context             *ctx = decision_context_to_file(NULL, &warnings);
    json_t                  *lines, *line, *verdicts;
    char                     stamp[6];
    size_t                   i;
    int                      n = 0;

    (void)state;
    decision_run_blend(blend_set(ctx, decision_candidates), 3000);
    lines = decision_lines();
    assert_int_equal(json_array_size(lines), 1); /* its second call was a hit */
    line = json_array_get(lines, 0);
    assert_int_equal(json_int_at(line, "key.definition.n"), 4096);
    assert_true(json_is_true(json_at(line, "key.definition.b"))); /* a flag */
    expect_results(line);
    expect_context(line);
    expect_candidates(line);
    for (i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_true(strlen(json_text_at(line, texts[i])) > 0);
    assert_string_equal(json_text_at(line, "op"), "blend");
    assert_string_equal(json_text_at(line, "driver"), cl->facts.stack);
    assert_string_equal(json_text_at(line, "target"), cl->facts.device.target);
    assert_int_equal(strlen(json_text_at(line, "checksum")), 64);
    assert_string_equal(json_text_at(line, "level"), "balanced");
    assert_true(json_is_false(json_at(line, "partial")));
    assert_int_equal(json_int_at(line, "ruler_revision"), QST__RULER_RULES);
    assert_int_equal(sscanf(json_text_at(line, "time"), "20%*2d-%*2d-%*2dT%*2d:%*2d:%*2d.%*3d%1[Z]%n", stamp, &n), 1);
    assert_int_equal(strlen(json_text_at(line, "time")), n);

    verdicts = decision_describe(ctx, "verdicts");
    assert_string_equal(json_text_at(json_array_get(verdicts, 0), "winner"), json_text_at(line, "winner"));
    json_decref(verdicts);
    verdicts = decision_describe(ctx, "decisions");
    assert_int_equal(json_array_size(verdicts), 1);
    assert_true(json_equal(json_array_get(verdicts, 0), line));
    json_decref(verdicts);
    json_decref(lines);
    assert_int_equal(warnings, 0);
    qst_context_destroy(ctx);
}

/* What is not tried says why, and is a Skip to the reference's readers. */
static void untried_says_why(void **state)
{
    int          warnings = 0;
    qst_context *ctx = decision_context_to_file("\"candidates\": {\"deny\": [\"*wide*\"]}", &warnings);
    json_t      *lines, *line, *one;
    size_t       i, skipped = 0;

    (void)state;
    decision_run_blend(blend_set(ctx, decision_candidates), 1000);
    lines = decision_lines();
    line = json_array_get(lines, 0);
    json_array_foreach(json_at(line, "results"), i, one)
    {
        json_t *err = json_object_get(json_at(one, "outcome"), "Err");
        json_t *skip = err ? json_object_get(err, "Skip") : NULL;
        if (!skip)
            continue;
        assert_string_equal(json_text_at(skip, "name"), "blend.app.wide/1");
        skipped++;
    }
    assert_int_equal(skipped, 1);
    one = json_array_get(json_at(line, "candidates"), 1);
    assert_string_equal(json_text_at(one, "outcome"), "REFUSED");
    assert_non_null(strstr(json_text_at(one, "why"), "deny"));
    assert_non_null(strstr(json_text_at(one, "not_tried"), "deny"));
    assert_int_equal(json_array_size(json_at(one, "samples")), 0);
    json_decref(lines);
    qst_context_destroy(ctx);
}

/* ---- The example in the documentation ----------------------------------------------------------------------------- */

static json_t *example(void)
{
    static char  text[1 << 17];
    FILE        *file = fopen(QST_SOURCE_DIR "/docs/records.md", "r");
    char        *from, *to;
    json_error_t error;
    json_t      *json;

    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    from = strstr(text, "```json\n");
    assert_non_null(from);
    from += 8;
    to = strstr(from, "```");
    assert_non_null(to);
    *to = '\0';
    json = json_loads(from, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("%s in line %d of the example", error.text, error.line);
    return json;
}

/* The members of `a`, and whatever stands in them, are those of `b`, in the same order. What one leaves null is free. */
static void expect_same_members(json_t *a, json_t *b, const char *where)
{
    void *i = json_object_iter(a), *k = json_object_iter(b);

    for (; i && k; i = json_object_iter_next(a, i), k = json_object_iter_next(b, k)) {
        json_t *x = json_object_iter_value(i), *y = json_object_iter_value(k);
        if (strcmp(json_object_iter_key(i), json_object_iter_key(k)))
            fail_msg("%s: %s here, %s in the example", where, json_object_iter_key(i), json_object_iter_key(k));
        if (json_is_object(x) && json_is_object(y))
            expect_same_members(x, y, json_object_iter_key(i));
    }
    if (i || k)
        fail_msg("%s: %s is %s", where, json_object_iter_key(i ? i : k), i ? "not in the example" : "missing");
}

static void example_is_true(void **state)
{
    int          warnings = 0;
    qst_context *ctx = decision_context_to_file(NULL, &warnings);
    json_t      *told = example(), *lines;

    (void)state;
    decision_run_matmul(ctx);
    lines = decision_lines();
    expect_same_members(json_array_get(lines, 0), told, "the line");
    expect_same_members(json_array_get(json_at(json_array_get(lines, 0), "candidates"), 0),
                        json_array_get(json_at(told, "candidates"), 0), "a candidate");
    json_decref(lines);
    json_decref(told);
    qst_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(key_of_the_reference, decision_fresh),
        cmocka_unit_test_setup(line_says_all, decision_fresh),
        cmocka_unit_test_setup(untried_says_why, decision_fresh),
        cmocka_unit_test_setup(example_is_true, decision_fresh),
    };

    return cmocka_run_group_tests(tests, decision_open, decision_close);
}
