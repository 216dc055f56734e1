/* SPDX-License-Identifier: MIT
 *
 * test_slips.c: settings and descriptors that are well formed and name what is not there: each is told once, by its
 * path, and what is there is told of nowhere.
 */
#include "support/matmul_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void *fixture;

typedef struct text {
    char   data[65536];
    size_t length;
} text;

static void gather(void *user, const char *piece, size_t length)
{
    text *t = user;

    assert_true(t->length + length < sizeof t->data);
    memcpy(t->data + t->length, piece, length);
    t->length += length;
    t->data[t->length] = '\0';
}

static qst_context *context(const char *config, text *log)
{
    qst_options  options;
    qst_context *ctx;
    qst_error    err = {0};

    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE;
    options.config = config;
    options.sink = gather;
    options.sink_user = log;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("%s", err.text);
    return ctx;
}

/* A call that no candidate is tuned for: the sets are in use afterwards. */
static void call(qst_context *ctx)
{
    cl_fixture *cl = fixture;
    qst_matmul  p;
    matmul_case c;

    qst_matmul_init(&p, 8, 8, 8, QST_F32);
    matmul_case_open(&c, cl, &p, NULL);
    for (int i = 0; i < 2; i++)
        assert_int_equal(qst_matmul_enqueue(ctx, cl->in_order, &p, c.mem[0], c.mem[1],
                                            matmul_case_operand(&c, 2).handle, 0, NULL, NULL, NULL),
                         QST_OK);
    assert_int_equal(clFinish(cl->in_order), CL_SUCCESS);
    matmul_case_close(&c);
}

static void assert_once(const text *log, const char *part)
{
    const char *at = strstr(log->data, part);

    if (!at || strstr(at + 1, part))
        fail_msg("'%s' is told %s in: %s", part, at ? "twice" : "nowhere", log->data);
}

static void slips_are_told_once(void **state)
{
    static const char *const told[] = {
        "plugins.load: 'tilde' is none of",
        "plugin.clblasst.library: no plugin is called 'clblasst'",
        "plugin.clblast.libary: clblast knows no such setting; it knows library",
        "candidates.deny: 'matmul.unity.*' is none of matmul's",
        "candidates.pin: 'matmal.*' is no candidate of any operation so far",
        "candidates.deny: '*tylde*' is no candidate of any operation so far",
        "groups.matmul.acelerated.priority: matmul has no group 'acelerated'",
        "groups.matmol.unit.priority: there is no such operation so far",
    };
    text        *log = calloc(1, sizeof *log);
    qst_context *ctx = context(
        "{\"log\": \"warn\", \"tune\": {\"mode\": \"fallback\"},"
        "\"plugins\": {\"load\": [\"unit\", \"tilde\", \"clblast\"]},"
        "\"plugin\": {\"clblasst\": {\"library\": \"x\"}, \"clblast\": {\"library\": \"x\", \"libary\": \"y\"}},"
        "\"candidates\": {\"deny\": [\"matmul.unity.*\", \"*tylde*\", \"*unit*\"],"
        "\"pin\": [\"matmal.*\", \"matmul.*\"]},"
        "\"groups\": {\"matmul\": {\"acelerated\": {\"priority\": 3}, \"unit\": {\"priority\": 3}},"
        "\"matmol\": {\"unit\": {\"priority\": 3}}}}",
        log);

    (void)state;
    call(ctx);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        assert_once(log, told[i]);
    assert_null(strstr(log->data, "'unit' is none"));
    assert_null(strstr(log->data, "'clblast'"));
    assert_null(strstr(log->data, "plugin.clblast.library"));
    assert_null(strstr(log->data, "'*unit*'"));
    assert_null(strstr(log->data, "has no group 'unit'"));
    qst_context_destroy(ctx);
    free(log);
}

/* What is not set, in a descriptor, is told as that. */
static void a_size_that_nobody_set(void **state)
{
    qst_candidate candidate = {.size = 4};
    text         *log = calloc(1, sizeof *log), *plugins = calloc(1, sizeof *plugins);
    qst_context  *ctx = context(
         "{\"plugins\": {\"load\": [\"bad_candidate\"], \"dirs\": [\"" QST_TEST_PLUGINS "/bad_candidate\"]}}", log);
    qst_set  *set;
    qst_error err = {0};

    (void)state;
    assert_int_equal(qst_set_find(&set, ctx, "matmul", NULL), QST_OK);
    assert_int_equal(qst_set_add_candidate(set, &candidate, &err), QST_E_INVALID);
    assert_non_null(strstr(err.text, "candidate of 4 bytes, at least "));
    assert_int_equal(qst_describe(ctx, "plugins", gather, plugins, NULL), QST_OK);
    if (!strstr(plugins->data, "a candidate of 4 bytes, at least "))
        fail_msg("%s", plugins->data);
    qst_context_destroy(ctx);
    free(plugins);
    free(log);
}

/* A start that says yes although an addition was refused is undone, and stopped: it does not know that it failed. */
static void a_refusal_that_nobody_looked_at(void **state)
{
    text        *log = calloc(1, sizeof *log), *plugins = calloc(1, sizeof *plugins);
    qst_context *ctx = context("{\"log\": \"warn\", \"plugins\": {\"load\": [\"careless\"], \"dirs\": "
                               "[\"" QST_TEST_PLUGINS "/careless\"]}}",
                               log);

    (void)state;
    assert_once(log, "careless: stopped");
    assert_int_equal(qst_describe(ctx, "plugins", gather, plugins, NULL), QST_OK);
    if (!strstr(plugins->data, "start: candidate nothing: revision 0, they count from 1"))
        fail_msg("%s", plugins->data);
    qst_context_destroy(ctx);
    assert_once(log, "careless: stopped");
    free(plugins);
    free(log);
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
        cmocka_unit_test(slips_are_told_once),
        cmocka_unit_test(a_size_that_nobody_set),
        cmocka_unit_test(a_refusal_that_nobody_looked_at),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
