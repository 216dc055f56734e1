/* SPDX-License-Identifier: MIT
 *
 * sabotage_case.c: see sabotage_case.h. Times are scripted (field_cl.h), each launch takes as long: nobody is dropped as slow
 * before he is found to be wrong.
 */
#include "sabotage_case.h"

#include "support/field_cl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nobody is left out for want of time, nor because another is good enough. */
#define TUNE "\"tune\": {\"budget_ms\": 0, \"short_circuit\": false}"

#define LOOK_NS UINT64_C(100000000)

void *sabotage_fixture;

qst_context *sabotage_context(const char *plugin, const char *candidates)
{
    char         config[1024];
    qst_options  options;
    qst_context *ctx = NULL;
    qst_error    err = {0};

    snprintf(config, sizeof config, "{\"plugins\": {\"dirs\": [\"%s/%s\"]}, " TUNE ", \"candidates\": %s}",
             QST_TEST_PLUGINS, plugin, candidates);
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE;
    options.config = config;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("context: %s", err.text);
    return ctx;
}

void sabotage_read(sabotage *s)
{
    char   *text = blend_describe(s->ctx, "verdicts");
    json_t *all = json_loads(text, 0, NULL);

    free(text);
    assert_int_equal(json_array_size(all), 1);
    s->verdict = json_incref(json_array_get(all, 0));
    json_decref(all);
}

void sabotage_run_problem(sabotage *s, const qst_matmul *p)
{
    cl_fixture *cl = sabotage_fixture;
    int         i;

    matmul_case_open(&s->c, cl, p, NULL);
    for (i = 0; i < 3; i++) {
        qst_error err = {0};
        matmul_case_reset(&s->c, cl);
        if (qst_matmul_enqueue_at(s->ctx, cl->in_order, p, matmul_case_operand(&s->c, 0), matmul_case_operand(&s->c, 1),
                                  matmul_case_operand(&s->c, 2), 0, NULL, NULL, &err) != QST_OK)
            fail_msg("%s: %s", err.source, err.text);
        matmul_case_check(&s->c, cl->in_order);
    }
    sabotage_read(s);
}

void sabotage_run(sabotage *s, int64_t n, double beta)
{
    qst_matmul p;

    qst_matmul_init(&p, n, n, n, QST_F32);
    p.beta = beta;
    sabotage_run_problem(s, &p);
}

void sabotage_finish(sabotage *s)
{
    json_decref(s->verdict);
    matmul_case_close(&s->c);
    qst_context_destroy(s->ctx);
}

const char *sabotage_text(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

const json_t *sabotage_finding(const sabotage *s, const char *name)
{
    const json_t *each;
    size_t        i;

    json_array_foreach(json_object_get(s->verdict, "findings"), i, each)
    {
        if (!strcmp(sabotage_text(each, "name"), name))
            return each;
    }
    fail_msg("%s is not among the findings", name);
    return NULL;
}

void sabotage_expect(const sabotage *s, const char *name, const char *outcome, const char *why)
{
    const json_t *f = sabotage_finding(s, name);

    if (strcmp(sabotage_text(f, "outcome"), outcome) || !strstr(sabotage_text(f, "why"), why))
        fail_msg("%s is %s: \"%s\", expected %s and \"%s\" in it", name, sabotage_text(f, "outcome"),
                 sabotage_text(f, "why"), outcome, why);
    assert_true(json_is_null(json_object_get(f, "rank")));
    assert_int_equal(json_array_size(json_object_get(f, "samples")), 0);
    assert_string_not_equal(sabotage_text(s->verdict, "winner"), name);
}

int sabotage_open(void **state)
{
    (void)state;
    field_cl_look_takes(LOOK_NS);
    return cl_fixture_open(&sabotage_fixture);
}

int sabotage_close(void **state)
{
    (void)state;
    return cl_fixture_close(&sabotage_fixture);
}
