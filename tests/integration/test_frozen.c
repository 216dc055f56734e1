/* SPDX-License-Identifier: MIT
 *
 * test_frozen.c: a plugin that was compiled with the headers of 1.0 (abi/1.0/frozen.c) is loaded, asked, races and
 * runs, and whatever it brings and asks for does what 1.0 promised. Times are scripted (field_cl.h): nobody is dropped
 * as slow.
 */
#include "support/blend.h"
#include "support/field_cl.h"
#include "support/matmul_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <cmocka.h>

/* What each look moves the host's clock by: for what has several launches, and for a call whose time on the device nobody
 * scripts, which is to be believed whatever it is. */
#define LOOK_NS    UINT64_C(100000000)
#define LIBRARY_NS UINT64_C(10000000000)

static void *fixture;

/* As the plugin has it. */
typedef struct fill_problem {
    uint32_t size, type, align, numerics;
    int64_t  n;
    double   value;
} fill_problem;

static void keep_line(void *user, const char *text, size_t length)
{
    char  *log = user;
    size_t have = strlen(log);
    if (have + length < 4096) {
        memcpy(log + have, text, length);
        log[have + length] = '\0';
    }
}

static qst_context *context_with(const char *pins, char *log)
{
    char         config[1024];
    qst_options  options;
    qst_context *ctx = NULL;
    qst_error    err = {0};
    (void)snprintf(config, sizeof config,
                   "{\"plugins\": {\"dirs\": [\"%s/frozen\"]}, \"plugin\": {\"frozen\": {\"word\": \"a word\"}}, "
                   "\"tune\": {\"budget_ms\": 0, \"short_circuit\": false}, \"log\": \"warn\", "
                   "\"candidates\": {\"pin\": [%s]}}",
                   QST_TEST_PLUGINS, pins);
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE;
    options.config = config;
    options.sink = keep_line;
    options.sink_user = log;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("context: %s", err.text);
    return ctx;
}

static json_t *described(qst_context *ctx, const char *what)
{
    char   *text = blend_describe(ctx, what);
    json_t *all = json_loads(text, 0, NULL);
    free(text);
    assert_non_null(all);
    return all;
}

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

static const json_t *named(const json_t *list, const char *name)
{
    const json_t *each;
    size_t        i;
    json_array_foreach(list, i, each)
    {
        if (strcmp(text_of(each, "name"), name) == 0)
            return each;
    }
    fail_msg("%s is not there", name);
    return NULL;
}

static void expect_outcome(const json_t *verdicts, const char *op, const char *candidate, const char *outcome)
{
    const json_t *each, *f = NULL;
    size_t        i;
    json_array_foreach(verdicts, i, each)
    {
        if (strcmp(text_of(each, "op"), op) == 0)
            f = named(json_object_get(each, "findings"), candidate);
    }
    if (!f)
        fail_msg("no verdict of %s", op);
    if (strcmp(text_of(f, "outcome"), outcome) != 0)
        fail_msg("%s is %s: %s", candidate, text_of(f, "outcome"), text_of(f, "why"));
}

/* Its operation, by either form of candidates: chosen, checked by its judge, and the caller's y is filled. */
static void its_operation(void **state)
{
    static const struct {
        const char *pin, *name;
    } forms[] = {{"\"frozen.fill.frozen.group*\"", "frozen.fill.frozen.groups/2"},
                 {"\"frozen.fill.frozen.library/1\"", "frozen.fill.frozen.library/1"}};
    cl_fixture        *cl = fixture;
    const fill_problem p = {sizeof p, QST_F32, 0, QST_NUMERICS_PLAIN, 300, 2.5};

    (void)state;
    field_cl_look_takes(LIBRARY_NS);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        char          log[4096] = "";
        qst_context  *ctx = context_with(forms[f].pin, log);
        cl_mem        y = cl_fixture_buffer(cl, 302, 0);
        const qst_mem operand = qst_mem_at(y, sizeof(float));
        float         host[302];
        qst_error     err = {0};
        qst_set      *set;
        json_t       *verdicts;
        assert_non_null(strstr(log, "frozen: a word"));
        assert_int_equal(qst_set_find(&set, ctx, "frozen.fill", &err), QST_OK);
        for (int i = 0; i < 2; i++)
            if (qst_enqueue(set, cl->in_order, &p, &operand, 0, NULL, NULL, &err) != QST_OK)
                fail_msg("%s: %s", err.source, err.text);
        assert_int_equal(clEnqueueReadBuffer(cl->in_order, y, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL),
                         CL_SUCCESS);
        for (int i = 0; i < 302; i++)
            assert_true(host[i] == (i == 0 || i == 301 ? 0.0f : 2.5f));
        verdicts = described(ctx, "verdicts");
        expect_outcome(verdicts, "frozen.fill", forms[f].name, "TIMED");
        json_decref(verdicts);
        clReleaseMemObject(y);
        qst_context_destroy(ctx);
    }
}

/* Its matmul: races with the shipped ones on a problem, and runs where it alone is allowed. */
static void its_matmul(void **state)
{
    static const char *const pins[] = {"\"frozen.fill.*\", \"matmul.frozen.*\", \"matmul.naive.*\", \"matmul.tiled.*\"",
                                       "\"frozen.fill.*\", \"matmul.frozen.*\""};
    static const int64_t     offset[] = {3, 0, 5};
    cl_fixture              *cl = fixture;
    size_t                   i;

    (void)state;
    field_cl_look_takes(LOOK_NS);
    for (i = 0; i < 2; i++) {
        char         log[4096] = "";
        qst_context *ctx = context_with(pins[i], log);
        matmul_case  c;
        qst_matmul   p;
        json_t      *verdicts, *plugins;
        qst_matmul_init(&p, 70, 50, 90, QST_F32);
        matmul_case_open(&c, cl, &p, offset);
        for (int k = 0; k < 2; k++) {
            qst_error err = {0};
            matmul_case_reset(&c, cl);
            if (qst_matmul_enqueue_at(ctx, cl->in_order, &p, matmul_case_operand(&c, 0), matmul_case_operand(&c, 1),
                                      matmul_case_operand(&c, 2), 0, NULL, NULL, &err) != QST_OK)
                fail_msg("%s: %s", err.source, err.text);
            matmul_case_check(&c, cl->in_order);
        }
        verdicts = described(ctx, "verdicts");
        expect_outcome(verdicts, "matmul", "matmul.frozen.times/1", "TIMED");
        json_decref(verdicts);

        plugins = described(ctx, "plugins");
        const json_t *abilities = json_object_get(named(plugins, "frozen"), "abilities");
        assert_true(json_is_true(json_object_get(json_array_get(abilities, 0), "can")));
        json_decref(plugins);
        matmul_case_close(&c);
        qst_context_destroy(ctx);
    }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(its_operation), cmocka_unit_test(its_matmul)};

    return cmocka_run_group_tests(tests, open_all, close_all);
}
