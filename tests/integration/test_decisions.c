/* SPDX-License-Identifier: MIT
 *
 * test_decisions.c: a tuning gives one line of JSON with the reference's members and ours, a hit gives none; lines of
 * several contexts stand one after the other; a place that cannot be written to costs a warning and nothing else; and
 * the history has its rows.
 */
#define _XOPEN_SOURCE 700 /* P_tmpdir */

#include "support/blend.h"
#include "support/matmul_case.h"

#include "cache/history.h"
#include "run/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include <cmocka.h>

static void *fixture;
static char  folder[256], path[300];

static const qst_candidate *const all[] = {&blend_loop, &blend_wide, &blend_off, NULL};

static void count_warning(void *user, const char *line, size_t length)
{
    (void)length;
    *(int *)user += strstr(line, "warn:") != NULL;
}

/* `what`: members of the configuration besides the log. */
static qst_context *context_with(const char *what, int *warnings)
{
    char         config[1024];
    qst_options  options;
    qst_context *ctx = NULL;
    qst_error    err = {0};

    snprintf(config, sizeof config, "{\"log\": \"warn\", \"tune\": {\"budget_ms\": 0}%s%s}", what ? ", " : "",
             what ? what : "");
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_PLUGINS | QST_NO_STORE;
    options.config = config;
    options.sink = count_warning;
    options.sink_user = warnings;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("context: %s", err.text);
    return ctx;
}

static qst_context *context_to_file(const char *more, int *warnings)
{
    char what[700];

    snprintf(what, sizeof what, "\"decisions\": {\"file\": \"%s\"}%s%s", path, more ? ", " : "", more ? more : "");
    return context_with(what, warnings);
}

/* Tunes one problem, runs it once more, and looks at the product. */
static void run_blend(qst_set *set, int64_t n)
{
    cl_fixture   *cl = fixture;
    blend_problem p = blend_of(n, 2, 1);
    blend_case    c;
    int           i;

    blend_open(&c, cl->context, cl->in_order, &p);
    for (i = 0; i < 2; i++)
        assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
    blend_check(&c, cl->in_order, 2);
    blend_close(&c);
}

static void run_matmul(qst_context *ctx)
{
    cl_fixture *cl = fixture;
    qst_matmul  p;
    matmul_case c;
    qst_error   err = {0};
    int         i;

    qst_matmul_init(&p, 60, 64, 64, QST_F32);
    p.b.row = 1; /* a transposed view */
    p.b.col = 64;
    matmul_case_open(&c, cl, &p, NULL);
    for (i = 0; i < 2; i++)
        if (qst_matmul_enqueue_at(ctx, cl->in_order, &p, matmul_case_operand(&c, 0), matmul_case_operand(&c, 1),
                                  matmul_case_operand(&c, 2), 0, NULL, NULL, &err) != QST_OK)
            fail_msg("matmul: %s", err.text);
    assert_int_equal(clFinish(cl->in_order), CL_SUCCESS);
    matmul_case_close(&c);
}

/* The lines of the file, each of which must be an object, as a list. */
static json_t *read_lines(void)
{
    json_t      *list = json_array();
    FILE        *file = fopen(path, "r");
    static char  line[1 << 18];
    json_error_t error;

    while (file && fgets(line, sizeof line, file)) {
        json_t *one = json_loads(line, JSON_REJECT_DUPLICATES, &error);
        if (!one)
            fail_msg("%s at %d of: %s", error.text, error.position, line);
        assert_true(json_is_object(one));
        assert_int_equal(line[strlen(line) - 1], '\n');
        json_array_append_new(list, one);
    }
    if (file)
        fclose(file);
    return list;
}

static json_t *describe(qst_context *ctx, const char *what)
{
    char   *text = blend_describe(ctx, what);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

    assert_non_null(json);
    free(text);
    return json;
}

/* a.b.c of an object; fails where there is none. */
static json_t *at(json_t *json, const char *dotted)
{
    char        name[64];
    const char *rest = dotted;

    while (*rest) {
        size_t n = strcspn(rest, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, rest);
        json = json_object_get(json, name);
        if (!json)
            fail_msg("%s: there is no %s", dotted, name);
        rest += n + (rest[n] == '.');
    }
    return json;
}

static const char *text_at(json_t *json, const char *dotted)
{
    json_t *text = at(json, dotted);

    if (!json_is_string(text))
        fail_msg("%s is no text", dotted);
    return json_string_value(text);
}

static json_int_t int_at(json_t *json, const char *dotted)
{
    json_t *number = at(json, dotted);

    if (!json_is_integer(number))
        fail_msg("%s is no integer", dotted);
    return json_integer_value(number);
}

static json_int_t ns_at(json_t *json, const char *dotted)
{
    json_t *duration = at(json, dotted);

    assert_in_range(int_at(duration, "nanos"), 0, 999999999);
    return int_at(duration, "secs") * 1000000000 + int_at(duration, "nanos");
}

/* ---- The line ----------------------------------------------------------------------------------------------------- */

/* The members that the reference's readers take, in their forms. */
static void key_of_the_reference(void **state)
{
    static const char *const factors[] = {"definition.lhs_pow2_factor", "definition.lhs_stride_factor",
                                          "definition.rhs_pow2_factor", "definition.rhs_stride_factor"};
    static const int         values[] = {4, 8, 4, 8};
    int                      warnings = 0;
    qst_context             *ctx = context_to_file(NULL, &warnings);
    json_t                  *lines, *key;
    size_t                   i;

    (void)state;
    run_matmul(ctx);
    lines = read_lines();
    assert_int_equal(json_array_size(lines), 1);
    key = at(json_array_get(lines, 0), "key");
    assert_int_equal(int_at(key, "definition.m"), 64);
    assert_int_equal(int_at(key, "definition.n"), 64);
    assert_int_equal(int_at(key, "definition.k"), 64);
    for (i = 0; i < 4; i++)
        assert_int_equal(int_at(key, factors[i]), values[i]);
    assert_string_equal(text_at(key, "definition.elem_lhs.Float"), "F32");
    assert_string_equal(text_at(key, "definition.elem_out.Float"), "F32");
    assert_string_equal(text_at(key, "definition.matrix_layout_lhs"), "Contiguous");
    assert_true(json_is_true(at(key, "definition.matrix_layout_rhs.MildlyPermuted.transposed")));
    assert_true(json_is_false(at(key, "definition.matrix_layout_rhs.MildlyPermuted.batch_swap")));
    assert_string_equal(text_at(key, "definition.lhs_storage"), "Plain");
    assert_string_equal(text_at(key, "analysis.scale_global"), "Small");
    assert_string_equal(text_at(key, "analysis.kind"), "General");
    assert_string_equal(text_at(key, "more.beta"), "zero");
    assert_string_equal(text_at(json_array_get(lines, 0), "op"), "matmul");
    assert_non_null(strstr(text_at(json_array_get(lines, 0), "problem"), "m=60 n=64 k=64"));
    assert_int_equal(warnings, 0);
    json_decref(lines);
    qst_context_destroy(ctx);
}

static void expect_results(json_t *line)
{
    json_t     *results = at(line, "results"), *first = json_array_get(results, 0), *one;
    const char *winner = text_at(line, "winner");
    size_t      i, ok = 0, wrong = 0;

    assert_int_equal(json_array_size(results), 3);
    assert_string_equal(text_at(first, "outcome.Ok.name"), winner);
    assert_int_equal(int_at(first, "outcome.Ok.index"), int_at(line, "fastest_index"));
    assert_int_equal(ns_at(first, "outcome.Ok.computation.median"), ns_at(line, "fastest_time"));
    json_array_foreach(results, i, one)
    {
        json_t *good = json_object_get(at(one, "outcome"), "Ok");
        if (good) {
            assert_true(ns_at(good, "computation.min") > 0);
            assert_true(ns_at(good, "computation.min") <= ns_at(good, "computation.median"));
            assert_true(ns_at(good, "computation.median") <= ns_at(good, "computation.max"));
            assert_in_range(ns_at(good, "computation.mean"), ns_at(good, "computation.min"),
                            ns_at(good, "computation.max"));
            assert_true(ns_at(good, "computation.variance") >= 0);
            assert_int_equal(ok, i); /* those with a time come first */
            ok++;
        } else {
            assert_string_equal(text_at(one, "outcome.Err.Unknown.name"), "blend.app.off/1");
            assert_non_null(strstr(text_at(one, "outcome.Err.Unknown.err"), "wrong result"));
            wrong++;
        }
    }
    assert_int_equal(ok, 2);
    assert_int_equal(wrong, 1);
}

static void expect_context(json_t *line)
{
    json_t *context = at(line, "log_context"), *one;
    size_t  i, steps = 0, failed = 0;

    assert_int_equal(json_is_null(at(context, "limit")), json_is_null(at(context, "bounds")));
    json_array_foreach(at(context, "events"), i, one)
    {
        json_t *step = json_object_get(one, "TuningStep");
        if (!step)
            continue;
        assert_true(json_is_string(json_array_get(step, 0)));
        assert_true(int_at(json_array_get(step, 1), "secs") > 0 || int_at(json_array_get(step, 1), "nanos") > 0);
        steps++;
    }
    assert_int_equal(steps, 3);
    assert_int_equal(json_array_size(at(context, "checks")), 3);
    json_array_foreach(at(context, "checks"), i, one)
    {
        bool off = !strcmp(text_at(one, "name"), "blend.app.off/1");
        failed += json_is_false(at(one, "passed"));
        assert_int_equal(json_is_false(at(one, "passed")), off);
    }
    assert_int_equal(failed, 1);
}

static void expect_candidates(json_t *line)
{
    json_t    *candidates = at(line, "candidates"), *one, *sample;
    json_int_t build = 0, verify = 0, samples = 0;
    size_t     i, k;

    assert_int_equal(json_array_size(candidates), 3);
    json_array_foreach(candidates, i, one)
    {
        assert_int_equal(int_at(one, "index"), i);
        assert_true(int_at(one, "round") > 0);
        build += int_at(one, "build_ns");
        verify += int_at(one, "verify_ns");
        samples += int_at(one, "sample_ns");
        json_array_foreach(at(one, "samples"), k, sample)
        {
            assert_true(int_at(sample, "ns") > 0);
            assert_true(k == 0 || int_at(sample, "round") > int_at(json_array_get(at(one, "samples"), k - 1), "round"));
        }
        assert_true(json_is_null(at(one, "not_tried")));
        if (!strcmp(text_at(one, "name"), "blend.app.off/1")) {
            assert_string_equal(text_at(one, "outcome"), "WRONG");
            assert_true(strlen(text_at(one, "why")) > 0);
        }
        if (!strcmp(text_at(one, "name"), text_at(line, "winner")))
            assert_true(json_array_size(at(one, "samples")) >= 2 && int_at(one, "launches") > 0);
    }
    assert_int_equal(int_at(line, "build_ns"), build);
    assert_int_equal(int_at(line, "verify_ns"), verify);
    assert_int_equal(int_at(line, "sample_ns"), samples);
    assert_true(verify > 0 && samples > 0 && int_at(line, "total_ns") >= verify + samples);
}

static void line_says_all(void **state)
{
    static const char *const texts[] = {"problem", "key_text", "device", "target",    "driver", "checksum",
                                        "level",   "ruler",    "cache",  "statistic", "abi",    "library"};
    cl_fixture              *cl = fixture;
    int                      warnings = 0;
    qst_context             *ctx = context_to_file(NULL, &warnings);
    json_t                  *lines, *line, *verdicts;
    char                     stamp[6];
    size_t                   i;
    int                      n = 0;

    (void)state;
    run_blend(blend_set(ctx, all), 3000);
    lines = read_lines();
    assert_int_equal(json_array_size(lines), 1); /* its second call was a hit */
    line = json_array_get(lines, 0);
    assert_int_equal(int_at(line, "key.definition.n"), 4096);
    assert_true(json_is_true(at(line, "key.definition.b"))); /* a flag */
    expect_results(line);
    expect_context(line);
    expect_candidates(line);
    for (i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_true(strlen(text_at(line, texts[i])) > 0);
    assert_string_equal(text_at(line, "op"), "blend");
    assert_string_equal(text_at(line, "driver"), cl->facts.device.driver);
    assert_string_equal(text_at(line, "target"), cl->facts.device.target);
    assert_int_equal(strlen(text_at(line, "checksum")), 64);
    assert_string_equal(text_at(line, "level"), "balanced");
    assert_true(json_is_false(at(line, "partial")));
    assert_int_equal(int_at(line, "ruler_revision"), QST__RULER_RULES);
    assert_int_equal(sscanf(text_at(line, "time"), "20%*2d-%*2d-%*2dT%*2d:%*2d:%*2d.%*3d%1[Z]%n", stamp, &n), 1);
    assert_int_equal(strlen(text_at(line, "time")), n);

    verdicts = describe(ctx, "verdicts");
    assert_string_equal(text_at(json_array_get(verdicts, 0), "winner"), text_at(line, "winner"));
    json_decref(verdicts);
    verdicts = describe(ctx, "decisions");
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
    qst_context *ctx = context_to_file("\"candidates\": {\"deny\": [\"*wide*\"]}", &warnings);
    json_t      *lines, *line, *one;
    size_t       i, skipped = 0;

    (void)state;
    run_blend(blend_set(ctx, all), 1000);
    lines = read_lines();
    line = json_array_get(lines, 0);
    json_array_foreach(at(line, "results"), i, one)
    {
        json_t *err = json_object_get(at(one, "outcome"), "Err");
        json_t *skip = err ? json_object_get(err, "Skip") : NULL;
        if (!skip)
            continue;
        assert_string_equal(text_at(skip, "name"), "blend.app.wide/1");
        skipped++;
    }
    assert_int_equal(skipped, 1);
    one = json_array_get(at(line, "candidates"), 1);
    assert_string_equal(text_at(one, "outcome"), "REFUSED");
    assert_non_null(strstr(text_at(one, "why"), "deny"));
    assert_non_null(strstr(text_at(one, "not_tried"), "deny"));
    assert_int_equal(json_array_size(at(one, "samples")), 0);
    json_decref(lines);
    qst_context_destroy(ctx);
}

/* ---- Where it goes ------------------------------------------------------------------------------------------------ */

static void contexts_append(void **state)
{
    int          warnings = 0;
    qst_context *a = context_to_file(NULL, &warnings), *b = context_to_file(NULL, &warnings);
    qst_set     *of_a = blend_set(a, all), *of_b = blend_set(b, all);
    json_t      *lines, *told;

    (void)state;
    run_blend(of_a, 1000);
    run_blend(of_b, 1000);
    run_blend(of_a, 5000);
    lines = read_lines();
    assert_int_equal(json_array_size(lines), 3);
    assert_int_equal(int_at(json_array_get(lines, 1), "key.definition.n"), 1024);
    assert_int_equal(int_at(json_array_get(lines, 2), "key.definition.n"), 8192);
    told = describe(a, "decisions"); /* the oldest first */
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
    qst_context *ctx = context_with(NULL, &warnings);
    json_t      *told = describe(ctx, "decisions");

    (void)state;
    assert_int_equal(json_array_size(told), 0);
    json_decref(told);
    run_blend(blend_set(ctx, all), 1000);
    assert_int_not_equal(access(path, F_OK), 0);
    told = describe(ctx, "decisions");
    assert_int_equal(json_array_size(told), 1);
    json_decref(told);
    qst_context_destroy(ctx);
}

static void unwritable_file(void **state)
{
    int          warnings = 0;
    qst_context *ctx;
    qst_set     *set;
    char         good[sizeof path];

    (void)state;
    memcpy(good, path, sizeof good);
    snprintf(path, sizeof path, "%s/no/such/folder", folder);
    ctx = context_to_file(NULL, &warnings);
    memcpy(path, good, sizeof path);
    set = blend_set(ctx, all);
    run_blend(set, 1000);
    assert_int_equal(warnings, 1);
    run_blend(set, 5000);
    assert_int_equal(warnings, 1);
    qst_context_destroy(ctx);
}

/* Nobody reads standard output any longer: the process lives on. */
static void closed_pipe(void **state)
{
    int          warnings = 0, ends[2], before;
    qst_context *ctx = context_with("\"decisions\": {\"stdout\": true}", &warnings);
    qst_set     *set = blend_set(ctx, all);

    (void)state;
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    before = dup(STDOUT_FILENO);
    assert_true(dup2(ends[1], STDOUT_FILENO) >= 0);
    close(ends[0]);
    close(ends[1]);
    run_blend(set, 1000);
    run_blend(set, 5000);
    assert_true(dup2(before, STDOUT_FILENO) >= 0);
    close(before);
    assert_int_equal(warnings, 1);
    qst_context_destroy(ctx);
}

/* What the program had printed before stands before the line. */
static void standard_error_and_output(void **state)
{
    int          warnings = 0, ends[2], before;
    qst_context *ctx = context_with("\"decisions\": {\"stdout\": true, \"stderr\": false}", &warnings);
    qst_set     *set = blend_set(ctx, all);
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
    run_blend(set, 1000);
    assert_true(dup2(before, STDOUT_FILENO) >= 0);
    close(before);
    while ((n = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)n;
    close(ends[0]);
    assert_int_equal(strncmp(text, "first\n{", 7), 0);
    line = json_loads(text + 6, 0, NULL);
    assert_non_null(line);
    assert_string_equal(text_at(line, "op"), "blend");
    json_decref(line);
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
    qst_context *ctx = context_to_file(NULL, &warnings);
    json_t      *told = example(), *lines;

    (void)state;
    run_matmul(ctx);
    lines = read_lines();
    expect_same_members(json_array_get(lines, 0), told, "the line");
    expect_same_members(json_array_get(at(json_array_get(lines, 0), "candidates"), 0),
                        json_array_get(at(told, "candidates"), 0), "a candidate");
    json_decref(lines);
    json_decref(told);
    qst_context_destroy(ctx);
}

/* ---- History ------------------------------------------------------------------------------------------------------ */

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
    kind = text_at(row, "kind");
    record = at(row, "record");
    if (!strcmp(kind, "autotune")) {
        r->tunings++;
        json_decref(r->tuning);
        r->tuning = json_incref(record);
    } else {
        assert_string_equal(kind, "compilation");
        assert_int_equal(strlen(text_at(record, "digest")), 64);
        assert_string_equal(text_at(record, "from"), "source");
        assert_true(json_is_false(at(record, "failed")));
        assert_true(json_real_value(at(record, "ms")) > 0);
        assert_true(strlen(text_at(record, "options")) > 0);
        r->compilations++;
    }
    json_decref(row);
    return 0;
}

static void history_has_rows(void **state)
{
    int          warnings = 0;
    qst_context *ctx = context_with("\"history\": {\"level\": \"basic\"}", &warnings);
    qst_set     *set = blend_set(ctx, all);
    qst_counters counters = {.size = sizeof counters};
    rows         r = {0};
    json_t      *verdicts, *one;
    size_t       i;

    (void)state;
    run_blend(set, 1000);
    assert_int_equal(qst__history_read(&ctx->store, take_row, &r), QST_OK);
    assert_int_equal(r.sessions, 1);
    assert_int_equal(r.tunings, 1); /* the hit added none */
    assert_int_equal(qst_context_counters(ctx, &counters), QST_OK);
    assert_true(r.compilations > 0 && (uint64_t)r.compilations <= counters.compiles);
    verdicts = describe(ctx, "verdicts");
    assert_string_equal(text_at(r.tuning, "winner"), text_at(json_array_get(verdicts, 0), "winner"));
    assert_string_equal(text_at(r.tuning, "key"), text_at(json_array_get(verdicts, 0), "key"));
    assert_string_equal(text_at(r.tuning, "source"), "tuned here");
    assert_string_equal(text_at(r.tuning, "op"), "blend");
    assert_true(json_is_false(at(r.tuning, "stored"))); /* in memory alone */
    assert_int_equal(json_array_size(at(r.tuning, "trials")), 3);
    json_array_foreach(at(r.tuning, "trials"), i, one)
    {
        assert_true(int_at(one, "wall_ns") > 0 && int_at(one, "wall_ns") <= int_at(r.tuning, "wall_ns"));
        assert_null(json_object_get(one, "samples"));
    }
    json_decref(verdicts);
    json_decref(r.tuning);
    qst_context_destroy(ctx);
}

static void history_levels(void **state)
{
    int          warnings = 0;
    qst_context *off = context_with("\"history\": {\"level\": \"off\"}", &warnings);
    qst_context *full = context_with("\"history\": {\"level\": \"full\"}", &warnings);
    rows         r = {0};

    (void)state;
    run_blend(blend_set(off, all), 1000);
    assert_int_equal(qst__history_read(&off->store, take_row, &r), QST_OK);
    assert_int_equal(r.sessions + r.tunings + r.compilations, 0);
    run_blend(blend_set(full, all), 1000);
    assert_int_equal(qst__history_read(&full->store, take_row, &r), QST_OK);
    assert_int_equal(r.tunings, 1);
    assert_true(json_array_size(at(json_array_get(at(r.tuning, "trials"), 0), "samples")) > 0);
    json_decref(r.tuning);
    qst_context_destroy(off);
    qst_context_destroy(full);
}

static int fresh_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static int open_all(void **state)
{
    const char *base = getenv("TMPDIR");

    (void)state;
    snprintf(folder, sizeof folder, "%s/qst-decisions-XXXXXX", base && *base ? base : P_tmpdir);
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/decisions.jsonl", folder);
    return cl_fixture_open(&fixture);
}

static int close_all(void **state)
{
    (void)state;
    unlink(path);
    rmdir(folder);
    return cl_fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(key_of_the_reference, fresh_file),
        cmocka_unit_test_setup(line_says_all, fresh_file),
        cmocka_unit_test_setup(untried_says_why, fresh_file),
        cmocka_unit_test_setup(contexts_append, fresh_file),
        cmocka_unit_test_setup(nothing_unless_asked, fresh_file),
        cmocka_unit_test_setup(unwritable_file, fresh_file),
        cmocka_unit_test_setup(closed_pipe, fresh_file),
        cmocka_unit_test(standard_error_and_output),
        cmocka_unit_test_setup(example_is_true, fresh_file),
        cmocka_unit_test(history_has_rows),
        cmocka_unit_test(history_levels),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
