/* SPDX-License-Identifier: MIT
 *
 * test_decision_places.c: lines of several contexts stand one after the other; a place that cannot be written to costs
 * a warning and nothing else.
 */
#include "decision_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void contexts_append(void **state)
{
    int          warnings = 0;
    qst_context *a = decision_context_to_file(NULL, &warnings), *b = decision_context_to_file(NULL, &warnings);
    qst_set     *of_a = blend_set(a, decision_candidates), *of_b = blend_set(b, decision_candidates);
    json_t      *lines, *told;

    (void)state;
    decision_run_blend(of_a, 1000);
    decision_run_blend(of_b, 1000);
    decision_run_blend(of_a, 5000);
    lines = decision_lines();
    assert_int_equal(json_array_size(lines), 3);
    assert_int_equal(json_int_at(json_array_get(lines, 1), "key.definition.n"), 1024);
    assert_int_equal(json_int_at(json_array_get(lines, 2), "key.definition.n"), 8192);
    told = decision_describe(a, "decisions"); /* the oldest first */
    assert_int_equal(json_array_size(told), 2);
    assert_true(json_equal(json_array_get(told, 0), json_array_get(lines, 0)));
    assert_true(json_equal(json_array_get(told, 1), json_array_get(lines, 2)));
    json_decref(told);
    json_decref(lines);
    qst_context_destroy(a);
    qst_context_destroy(b);
}

static void nothing_unless_asked(void **state)
{
    int          warnings = 0;
    qst_context *ctx = decision_context(NULL, &warnings);
    json_t      *told = decision_describe(ctx, "decisions");

    (void)state;
    assert_int_equal(json_array_size(told), 0);
    json_decref(told);
    decision_run_blend(blend_set(ctx, decision_candidates), 1000);
    assert_int_not_equal(access(decision_path, F_OK), 0);
    told = decision_describe(ctx, "decisions");
    assert_int_equal(json_array_size(told), 1);
    json_decref(told);
    qst_context_destroy(ctx);
}

static void unwritable_file(void **state)
{
    int          warnings = 0;
    qst_context *ctx;
    qst_set     *set;
    char         good[sizeof decision_path];

    (void)state;
    memcpy(good, decision_path, sizeof good);
    snprintf(decision_path, sizeof decision_path, "%s/no/such/folder", decision_folder);
    ctx = decision_context_to_file(NULL, &warnings);
    memcpy(decision_path, good, sizeof decision_path);
    set = blend_set(ctx, decision_candidates);
    decision_run_blend(set, 1000);
    assert_int_equal(warnings, 1);
    decision_run_blend(set, 5000);
    assert_int_equal(warnings, 1);
    qst_context_destroy(ctx);
}

/* Nobody reads standard output any longer: the process lives on. */
static void closed_pipe(void **state)
{
    int          warnings = 0, ends[2], before;
    qst_context *ctx = decision_context("\"decisions\": {\"stdout\": true}", &warnings);
    qst_set     *set = blend_set(ctx, decision_candidates);

    (void)state;
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    before = dup(STDOUT_FILENO);
    assert_true(dup2(ends[1], STDOUT_FILENO) >= 0);
    close(ends[0]);
    close(ends[1]);
    decision_run_blend(set, 1000);
    decision_run_blend(set, 5000);
    assert_true(dup2(before, STDOUT_FILENO) >= 0);
    close(before);
    assert_int_equal(warnings, 1);
    qst_context_destroy(ctx);
}

/* What the program had printed before stands before the line. */
static void standard_output(void **state)
{
    int          warnings = 0, ends[2], before;
    qst_context *ctx = decision_context("\"decisions\": {\"stdout\": true, \"stderr\": false}", &warnings);
    qst_set     *set = blend_set(ctx, decision_candidates);
    static char  text[1 << 16];
    size_t       length = 0;
    ssize_t      n;
    json_t      *line;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    before = dup(STDOUT_FILENO);
    assert_true(dup2(ends[1], STDOUT_FILENO) >= 0);
    close(ends[1]);
    printf("first\n");
    decision_run_blend(set, 1000);
    assert_true(dup2(before, STDOUT_FILENO) >= 0);
    close(before);
    while ((n = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)n;
    close(ends[0]);
    assert_int_equal(strncmp(text, "first\n{", 7), 0);
    line = json_loads(text + 6, 0, NULL);
    assert_non_null(line);
    assert_string_equal(json_text_at(line, "op"), "blend");
    json_decref(line);
    qst_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(contexts_append, decision_fresh),
        cmocka_unit_test_setup(nothing_unless_asked, decision_fresh),
        cmocka_unit_test_setup(unwritable_file, decision_fresh),
        cmocka_unit_test_setup(closed_pipe, decision_fresh),
        cmocka_unit_test(standard_output),
    };

    return cmocka_run_group_tests(tests, decision_open, decision_close);
}
