/* SPDX-License-Identifier: MIT
 *
 * decision_case.c: see decision_case.h. */
#define _XOPEN_SOURCE 700 /* P_tmpdir */

#include "decision_case.h"

#include "support/matmul_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

void *decision_fixture;
char  decision_folder[256], decision_path[300];

const qst_candidate *const decision_candidates[4] = {&blend_loop, &blend_wide, &blend_off, NULL};

static void count_warning(void *user, const char *line, size_t length)
{
    (void)length;
    *(int *)user += strstr(line, "warn:") != NULL;
}

qst_context *decision_context(const char *what, int *warnings)
{
    char         config[1024];
    qst_options  options;
    qst_context *ctx = NULL;
    qst_error    err = {0};

    snprintf(config, sizeof config, "{\"log\": \"warn\", \"tune\": {\"budget_ms\": 0, \"short_circuit\": false}%s%s}",
             what ? ", " : "", what ? what : "");
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_PLUGINS | QST_NO_STORE;
    options.config = config;
    options.sink = count_warning;
    options.sink_user = warnings;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("context: %s", err.text);
    return ctx;
}

qst_context *decision_context_to_file(const char *more, int *warnings)
{
    char what[700];

    snprintf(what, sizeof what, "\"decisions\": {\"file\": \"%s\"}%s%s", decision_path, more ? ", " : "",
             more ? more : "");
    return decision_context(what, warnings);
}

void decision_run_blend(qst_set *set, int64_t n)
{
    cl_fixture   *cl = decision_fixture;
    blend_problem p = blend_of(n, 2, 1);
    blend_case    c;
    int           i;

    blend_open(&c, cl->context, cl->in_order, &p);
    for (i = 0; i < 2; i++)
        assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
    blend_check(&c, cl->in_order, 2);
    blend_close(&c);
}

void decision_run_matmul(qst_context *ctx)
{
    cl_fixture *cl = decision_fixture;
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

json_t *decision_lines(void)
{
    json_t      *list = json_array();
    FILE        *file = fopen(decision_path, "r");
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

json_t *decision_describe(qst_context *ctx, const char *what)
{
    char   *text = blend_describe(ctx, what);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

    assert_non_null(json);
    free(text);
    return json;
}

json_t *json_at(json_t *json, const char *dotted)
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

const char *json_text_at(json_t *json, const char *dotted)
{
    json_t *text = json_at(json, dotted);

    if (!json_is_string(text))
        fail_msg("%s is no text", dotted);
    return json_string_value(text);
}

json_int_t json_int_at(json_t *json, const char *dotted)
{
    json_t *number = json_at(json, dotted);

    if (!json_is_integer(number))
        fail_msg("%s is no integer", dotted);
    return json_integer_value(number);
}

json_int_t json_ns_at(json_t *json, const char *dotted)
{
    json_t *duration = json_at(json, dotted);

    assert_in_range(json_int_at(duration, "nanos"), 0, 999999999);
    return json_int_at(duration, "secs") * 1000000000 + json_int_at(duration, "nanos");
}

int decision_fresh(void **state)
{
    (void)state;
    unlink(decision_path);
    return 0;
}

int decision_open(void **state)
{
    const char *base = getenv("TMPDIR");

    (void)state;
    snprintf(decision_folder, sizeof decision_folder, "%s/qst-decisions-XXXXXX", base && *base ? base : P_tmpdir);
    if (!mkdtemp(decision_folder))
        return -1;
    snprintf(decision_path, sizeof decision_path, "%s/decisions.jsonl", decision_folder);
    return cl_fixture_open(&decision_fixture);
}

int decision_close(void **state)
{
    (void)state;
    unlink(decision_path);
    rmdir(decision_folder);
    return cl_fixture_close(&decision_fixture);
}
