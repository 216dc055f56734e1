/* SPDX-License-Identifier: MIT
 *
 * test_saboteurs.c: plugins that are fast and wrong, that do not build, that never launch: the product is right each
 * time, and the verdict says what was wrong with them.
 */
#include "sabotage_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TUNE "\"tune\": {\"budget_ms\": 0, \"short_circuit\": false}"

/* Its last term is missing in every sum, so the very first element is wrong. */
static void wrong(void **state)
{
    static const double betas[] = {0, 1, 0.5};
    size_t              i;

    (void)state;
    for (i = 0; i < sizeof betas / sizeof *betas; i++) {
        sabotage s = {.ctx = sabotage_context(
                          "wrong", "{\"pin\": [\"matmul.wrong.*\", \"matmul.tiled.*\", \"matmul.naive.*\"]}")};
        sabotage_run(&s, 200, betas[i]);
        sabotage_expect(&s, "matmul.wrong.short/1", "WRONG", "C[0,0]");
        assert_int_not_equal(strlen(sabotage_text(s.verdict, "winner")), 0);
        sabotage_finish(&s);
    }
}

/* Sums right, one row too many: what it computed from beyond A must show beyond C. */
static void beyond(void **state)
{
    static const double betas[] = {0, 1, 0.5};
    size_t              i;

    (void)state;
    for (i = 0; i < sizeof betas / sizeof *betas; i++) {
        sabotage s = {.ctx = sabotage_context("beyond", "{\"pin\": [\"matmul.beyond.*\", \"matmul.naive.*\"]}")};
        sabotage_run(&s, 60, betas[i]);
        sabotage_expect(&s, "matmul.beyond.row/1", "WRONG", "outside c's elements");
        sabotage_finish(&s);
    }
}

/* Each seeded bug alone with the fallback, on a problem whose own shape does not show it where a second one must. */
static void seeded(void **state)
{
    static const struct {
        const char *variant;
        int64_t     m, n, k, pad;
        double      alpha, beta;
        const char *why;
    } rows[] = {
        {"whole_tile", 200, 200, 200, 0, 1, 0, "on "}, /* whole tiles of rows in another shape alone */
        {"whole_tile", 160, 200, 200, 0, 1, 0, "C[144,0]"},
        {"tail", 200, 200, 200, 0, 1, 0, "C[0,192] is not a number"},
        {"tail", 200, 192, 200, 0, 1, 1, "on a second shape"},
        {"k_rest", 200, 200, 200, 0, 1, 0, "on a second shape"},
        {"k_rest", 199, 201, 203, 0, -1, 0.5, "C["},
        {"odd_m", 200, 200, 200, 0, 1, 0, "on a second shape: C["},
        {"odd_m", 201, 200, 200, 0, 1, 0, "C["},
        {"even_m", 200, 200, 200, 0, 1, 0, "C["},
        {"even_m", 201, 200, 200, 0, 1, 0, "on a second shape: C["},
        {"whole_m", 201, 200, 200, 0, 1, 0, "on a second shape: C["},
        {"whole_m", 192, 200, 200, 0, 1, 0, "C["},
        {"second_launch", 200, 200, 200, 0, 1, 0, "on a second shape: C[0,0]"},
        {"second_launch", 200, 200, 200, 0, 1, 1, "on a second shape: C[0,0]"},
        {"reads_c", 200, 200, 200, 0, 1, 0, "is not a number"},
        {"padding", 200, 200, 200, 3, 1, 0, "outside c's elements"},
        {"padding", 200, 200, 200, 3, 1, 0.5, "outside c's elements"},
        {"one_group", 200, 200, 200, 0, 1, 0, "C["},
        {"alpha", 200, 200, 200, 0, 0.75, 0, "on badly scaled reals"},
        {"beta", 200, 200, 200, 0, 1, 0.75, "on badly scaled reals"},
        {"later", 200, 200, 200, 0, 1, 0, "runs C[0,0] is"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        char       pins[120], name[80];
        sabotage   s = {0};
        qst_matmul p;
        snprintf(name, sizeof name, "matmul.seeded.%s/1", rows[i].variant);
        snprintf(pins, sizeof pins, "{\"pin\": [\"%s\", \"matmul.naive.*\"]}", name);
        s.ctx = sabotage_context("seeded", pins);
        qst_matmul_init(&p, rows[i].m, rows[i].n, rows[i].k, QST_F32);
        p.a.row += rows[i].pad;
        p.b.row += rows[i].pad;
        p.c.row += rows[i].pad;
        p.alpha = rows[i].alpha;
        p.beta = rows[i].beta;
        sabotage_run_problem(&s, &p);
        sabotage_expect(&s, name, "WRONG", rows[i].why);
        sabotage_finish(&s);
    }
}

/* The same kernel without a bug is right, so that it is the bugs that are found. */
static void not_seeded(void **state)
{
    sabotage s = {.ctx = sabotage_context("seeded", "{\"pin\": [\"matmul.seeded.none/1\"]}")};

    (void)state;
    sabotage_run(&s, 200, 0.5);
    assert_string_equal(sabotage_text(s.verdict, "winner"), "matmul.seeded.none/1");
    sabotage_finish(&s);
}

/* Integers of f16 are exact in sums of f16 too: the reals tell. */
static void narrow_sums(void **state)
{
    static const int64_t sizes[] = {64, 200, 201};
    cl_fixture          *cl = sabotage_fixture;
    size_t               i;

    (void)state;
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sabotage  s = {.ctx = sabotage_context("seeded", "{\"pin\": [\"matmul.seeded.narrow*\", \"matmul.naive.*\"]}")};
        cl_mem    mem = cl_fixture_buffer(cl, (size_t)(2 * sizes[i] * sizes[i]), 0);
        cl_mem    c = cl_fixture_buffer(cl, (size_t)(2 * sizes[i] * sizes[i]), 0);
        qst_error err = {0};
        qst_matmul p;
        qst_matmul_init(&p, sizes[i], sizes[i], sizes[i], QST_F16);
        assert_int_equal(qst_matmul_enqueue(s.ctx, cl->in_order, &p, mem, mem, c, 0, NULL, NULL, &err), QST_OK);
        assert_int_equal(clFinish(cl->in_order), CL_SUCCESS);
        sabotage_read(&s);
        sabotage_expect(&s, "matmul.seeded.narrow_sums/1", "WRONG", "on badly scaled reals");
        json_decref(s.verdict);
        clReleaseMemObject(mem);
        clReleaseMemObject(c);
        qst_context_destroy(s.ctx);
    }
}

/* An operation whose fallback, which others are compared with, is itself wrong: two plugins that agree find it out; one
 * alone is in the wrong. */
static void wrong_reference(void **state)
{
    static const char *const voters[] = {"voter_b", "lone"};
    cl_fixture              *cl = sabotage_fixture;
    int                      i;

    (void)state;
    for (i = 0; i < 2; i++) {
        char          config[1024];
        float         y[300];
        qst_options   options;
        qst_error     err = {0};
        qst_set      *set;
        sabotage      s = {0};
        cl_mem        x = cl_fixture_buffer(cl, 300, 0x40000000u), out = cl_fixture_buffer(cl, 300, 0);
        const qst_mem operands[] = {qst_mem_of(x), qst_mem_of(out)};
        const struct { /* as the plugin has it */
            uint32_t size, type, x_align, y_align;
            int64_t  n;
        } problem = {sizeof problem, QST_F32, 0, 0, 300};
        snprintf(config, sizeof config,
                 "{\"plugins\": {\"dirs\": [\"%s/skewed\", \"%s/voter_a\", \"%s/%s\"]}, " TUNE "}", QST_TEST_PLUGINS,
                 QST_TEST_PLUGINS, QST_TEST_PLUGINS, voters[i]);
        qst_options_init(&options);
        options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE;
        options.config = config;
        assert_int_equal(qst_context_create(&s.ctx, &options, &err), QST_OK);
        assert_int_equal(qst_set_find(&set, s.ctx, "skewed", &err), QST_OK);
        if (qst_enqueue(set, cl->in_order, &problem, operands, 0, NULL, NULL, &err) != QST_OK)
            fail_msg("%s: %s", err.source, err.text);
        assert_int_equal(clFinish(cl->in_order), CL_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(cl->in_order, out, CL_TRUE, 0, sizeof y, y, 0, NULL, NULL), CL_SUCCESS);
        sabotage_read(&s);
        if (i == 0) {
            sabotage_expect(&s, "skewed.skewed.twice/1", "WRONG",
                            "outvoted: skewed.voter_a.twice/1 and skewed.voter_b.twice/1 agree");
            assert_true(y[299] == 4.0f);
        } else {
            sabotage_expect(&s, "skewed.voter_a.twice/1", "WRONG", "differs from the fallback's");
            assert_true(y[299] == 5.0f);
        }
        json_decref(s.verdict);
        clReleaseMemObject(x);
        clReleaseMemObject(out);
        qst_context_destroy(s.ctx);
    }
}

/* Even with nothing beside it but the fallback, which it would beat by far. */
static void wrong_against_the_fallback(void **state)
{
    sabotage s = {.ctx = sabotage_context("wrong", "{\"pin\": [\"matmul.wrong.*\"]}")};

    (void)state;
    sabotage_run(&s, 500, 0);
    sabotage_expect(&s, "matmul.wrong.short/1", "WRONG", "C[");
    assert_non_null(strstr(sabotage_text(s.verdict, "winner"), "matmul.naive.row16/"));
    sabotage_finish(&s);
}

static void broken(void **state)
{
    sabotage s = {.ctx = sabotage_context("broken", "{\"pin\": [\"matmul.broken.*\", \"matmul.naive.*\"]}")};

    (void)state;
    sabotage_run(&s, 200, 0);
    sabotage_expect(&s, "matmul.broken.syntax/1", "BUILD", "this_is_not_declared");
    sabotage_finish(&s);
}

/* The first round has nobody but it: no valid time there, and a later round names the winner. */
static void lone(void **state)
{
    sabotage      s = {.ctx = sabotage_context("lone", "{\"pin\": [\"matmul.lone.*\", \"matmul.naive.*\"]}")};
    const json_t *each;
    size_t        i, n;
    json_int_t    first, winners = 0;

    (void)state;
    sabotage_run(&s, 600, 0);
    sabotage_expect(&s, "matmul.lone.fails/1", "LAUNCH", "CL_INVALID_WORK_GROUP_SIZE");
    first = json_integer_value(json_object_get(sabotage_finding(&s, "matmul.lone.fails/1"), "round"));
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
    sabotage_finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong),           cmocka_unit_test(beyond),      cmocka_unit_test(seeded),
        cmocka_unit_test(not_seeded),      cmocka_unit_test(narrow_sums), cmocka_unit_test(wrong_against_the_fallback),
        cmocka_unit_test(wrong_reference), cmocka_unit_test(broken),      cmocka_unit_test(lone),
    };

    return cmocka_run_group_tests(tests, sabotage_open, sabotage_close);
}
