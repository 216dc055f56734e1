/* SPDX-License-Identifier: MIT
 *
 * test_saboteurs.c: plugins that are fast and wrong, that do not build, that never launch: the product is right each
 * time, and the verdict says what was wrong with them.
 */
#include "support/blend.h"
#include "support/matmul_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <cmocka.h>

static void *fixture;

typedef struct sabotage {
    qst_context *ctx;
    matmul_case  c;
    json_t      *verdict; /* of the only key */
} sabotage;

static qst_context *context_with(const char *plugin, const char *candidates)
{
    char         config[1024];
    qst_options  options;
    qst_context *ctx = NULL;
    qst_error    err = {0};

    snprintf(config, sizeof config,
             "{\"plugins\": {\"dirs\": [\"%s/%s\"]}, \"tune\": {\"budget_ms\": 0}, \"candidates\": %s}",
             QST_TEST_PLUGINS, plugin, candidates);
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE;
    options.config = config;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("context: %s", err.text);
    return ctx;
}

/* Runs n × n × n three times, the product checked each time. */
static void run(sabotage *s, int64_t n, double beta)
{
    cl_fixture *cl = fixture;
    qst_matmul  p;
    char       *text;
    json_t     *all;
    int         i;

    qst_matmul_init(&p, n, n, n, QST_F32);
    p.beta = beta;
    matmul_case_open(&s->c, cl, &p, NULL);
    for (i = 0; i < 3; i++) {
        qst_error err = {0};
        matmul_case_reset(&s->c, cl);
        if (qst_matmul_enqueue_at(s->ctx, cl->in_order, &p, matmul_case_operand(&s->c, 0),
                                  matmul_case_operand(&s->c, 1), matmul_case_operand(&s->c, 2), 0, NULL, NULL,
                                  &err) != QST_OK)
            fail_msg("%s: %s", err.source, err.text);
        matmul_case_check(&s->c, cl->in_order);
    }
    text = blend_describe(s->ctx, "verdicts");
    all = json_loads(text, 0, NULL);
    free(text);
    assert_int_equal(json_array_size(all), 1);
    s->verdict = json_incref(json_array_get(all, 0));
    json_decref(all);
}

static void finish(sabotage *s)
{
    json_decref(s->verdict);
    matmul_case_close(&s->c);
    qst_context_destroy(s->ctx);
}

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

static const json_t *finding(const sabotage *s, const char *name)
{
    const json_t *each;
    size_t        i;

    json_array_foreach(json_object_get(s->verdict, "findings"), i, each)
    {
        if (!strcmp(text_of(each, "name"), name))
            return each;
    }
    fail_msg("%s is not among the findings", name);
    return NULL;
}

static void expect_finding(const sabotage *s, const char *name, const char *outcome, const char *why)
{
    const json_t *f = finding(s, name);

    if (strcmp(text_of(f, "outcome"), outcome) || !strstr(text_of(f, "why"), why))
        fail_msg("%s is %s: \"%s\", expected %s and \"%s\" in it", name, text_of(f, "outcome"), text_of(f, "why"),
                 outcome, why);
    assert_true(json_is_null(json_object_get(f, "rank")));
    assert_int_equal(json_array_size(json_object_get(f, "samples")), 0);
    assert_string_not_equal(text_of(s->verdict, "winner"), name);
}

/* Its last term is missing in every sum, so the very first element is wrong. */
static void wrong(void **state)
{
    static const double betas[] = {0, 1, 0.5};
    size_t              i;

    (void)state;
    for (i = 0; i < sizeof betas / sizeof *betas; i++) {
        sabotage s = {
            .ctx = context_with("wrong", "{\"pin\": [\"matmul.wrong.*\", \"matmul.tiled.*\", \"matmul.naive.*\"]}")};
        run(&s, 200, betas[i]);
        expect_finding(&s, "matmul.wrong.short/1", "WRONG", "C[0,0]");
        assert_int_not_equal(strlen(text_of(s.verdict, "winner")), 0);
        finish(&s);
    }
}

/* Sums right, one row too many: what it computed from beyond A must show beyond C. */
static void beyond(void **state)
{
    static const double betas[] = {0, 1, 0.5};
    size_t              i;

    (void)state;
    for (i = 0; i < sizeof betas / sizeof *betas; i++) {
        sabotage s = {.ctx = context_with("beyond", "{\"pin\": [\"matmul.beyond.*\", \"matmul.naive.*\"]}")};
        run(&s, 60, betas[i]);
        expect_finding(&s, "matmul.beyond.row/1", "WRONG", "outside c's elements");
        finish(&s);
    }
}

/* Even with nothing beside it but the fallback, which it would beat by far. */
static void wrong_against_the_fallback(void **state)
{
    sabotage s = {.ctx = context_with("wrong", "{\"pin\": [\"matmul.wrong.*\"]}")};

    (void)state;
    run(&s, 500, 0);
    expect_finding(&s, "matmul.wrong.short/1", "WRONG", "C[");
    assert_non_null(strstr(text_of(s.verdict, "winner"), "matmul.naive.row16/"));
    finish(&s);
}

static void broken(void **state)
{
    sabotage s = {.ctx = context_with("broken", "{\"deny\": [\"matmul.clblast.*\"]}")};

    (void)state;
    run(&s, 200, 0);
    expect_finding(&s, "matmul.broken.syntax/1", "BUILD", "this_is_not_declared");
    finish(&s);
}

/* The first round has nobody but it: no valid time there, and a later round names the winner. */
static void lone(void **state)
{
    sabotage      s = {.ctx = context_with("lone", "{\"deny\": [\"matmul.clblast.*\"]}")};
    const json_t *each;
    size_t        i, n;
    json_int_t    first, winners = 0;

    (void)state;
    run(&s, 600, 0);
    expect_finding(&s, "matmul.lone.fails/1", "LAUNCH", "CL_INVALID_WORK_GROUP_SIZE");
    first = json_integer_value(json_object_get(finding(&s, "matmul.lone.fails/1"), "round"));
    assert_int_equal(first, 1);
    n = json_array_size(json_object_get(s.verdict, "findings"));
    for (i = 0; i < n; i++) {
        each = json_array_get(json_object_get(s.verdict, "findings"), i);
        if (json_integer_value(json_object_get(each, "round")) == first)
            assert_int_equal(json_array_size(json_object_get(each, "samples")), 0);
        if (json_integer_value(json_object_get(each, "rank")) == 1)
            winners = json_integer_value(json_object_get(each, "round"));
    }
    assert_int_equal(winners, first + 1);
    finish(&s);
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
        cmocka_unit_test(wrong),  cmocka_unit_test(beyond), cmocka_unit_test(wrong_against_the_fallback),
        cmocka_unit_test(broken), cmocka_unit_test(lone),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
