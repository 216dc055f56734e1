/* SPDX-License-Identifier: MIT
 *
 * test_field_layouts.c: layouts of one size that might share an answer: packed is tuned first, then each other layout is
 * called, in one process and in another one over the same store. All are right: a key of their own, or a candidate that
 * was asked again whether it can run. */
#include "support/matmul_case.h"
#include "support/store_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { M = 64, N = 48, K = 128 };
static void *fixture;

typedef struct layout {
    const char *name;
    int64_t     a_row, a_col, b_row, b_col, c_row, c_col; /* strides in elements */
    int64_t     offset[3];
} layout;

static const layout layouts[] = {
    {"packed", K, 1, N, 1, N, 1, {0, 0, 0}},
    {"pitched A (130, 1)", 130, 1, N, 1, N, 1, {0, 0, 0}},
    {"transposed A", 1, M, N, 1, N, 1, {0, 0, 0}},
    {"transposed B", K, 1, 1, K, N, 1, {0, 0, 0}},
    {"one row of A for all", 0, 1, N, 1, N, 1, {0, 0, 0}},
    {"one column of B for all", K, 1, N, 0, N, 1, {0, 0, 0}},
    {"one element of A for all", 0, 0, N, 1, N, 1, {0, 0, 0}},
    {"rows of A that overlap", 1, 1, N, 1, N, 1, {0, 0, 0}},
    {"every second element of A", 2 * K, 2, N, 1, N, 1, {0, 0, 0}},
    {"A one element on", K, 1, N, 1, N, 1, {1, 0, 0}},
    {"all one element on", K, 1, N, 1, N, 1, {1, 1, 1}},
    {"C far apart", K, 1, N, 1, 4099, 1, {0, 0, 0}},
    {"all far apart", 8192, 1, 4096, 1, 2048, 1, {0, 0, 0}},
    {"transposed C", K, 1, N, 1, 1, M, {0, 0, 0}},
};

static void run(qst_context *ctx, const layout *l)
{
    cl_fixture *cl = fixture;
    qst_matmul  p;
    matmul_case c;
    qst_error   err = {0};

    qst_matmul_init(&p, M, N, K, QST_F32);
    p.a.row = l->a_row;
    p.a.col = l->a_col;
    p.b.row = l->b_row;
    p.b.col = l->b_col;
    p.c.row = l->c_row;
    p.c.col = l->c_col;
    matmul_case_open(&c, cl, &p, l->offset);
    if (qst_matmul_enqueue_at(ctx, cl->in_order, &p, matmul_case_operand(&c, 0), matmul_case_operand(&c, 1),
                              matmul_case_operand(&c, 2), 0, NULL, NULL, &err) != QST_OK)
        fail_msg("%s: %s", l->name, err.text);
    print_message("%s\n", l->name);
    matmul_case_check(&c, cl->in_order);
    matmul_case_close(&c);
}

static qst_context *context_on(const char *folder)
{
    char         config[1024];
    qst_options  options;
    qst_context *ctx = NULL;
    qst_error    err = {0};

    snprintf(config, sizeof config,
             "{\"store.path\": \"%s\", \"tune\": {\"budget_ms\": 0, \"short_circuit\": false}, \"candidates.pin\": "
             "[\"matmul.naive.*\", \"matmul.unit.*\", \"matmul.double_unit.*\"]}",
             folder);
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV;
    options.config = config;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("context: %s", err.text);
    return ctx;
}

/* One of each family, so that what is tuned for one layout may well be asked for another. */
static void one_key_for_none(void **state)
{
    char        *folder = folder_make();
    qst_counters counters = {.size = sizeof counters};
    uint64_t     keys = 0;
    (void)state;

    for (int process = 0; process < 2; process++) {
        qst_context *ctx = context_on(folder);
        for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
            run(ctx, &layouts[i]);
        assert_int_equal(qst_context_counters(ctx, &counters), QST_OK);
        keys = process ? keys : counters.tuned;
        assert_true(process ? counters.tuned == 0 : keys >= 5);
        qst_context_destroy(ctx);
    }
    print_message("%llu keys for %zu layouts\n", (unsigned long long)keys, sizeof layouts / sizeof *layouts);
    folder_remove(folder);
}

/* Rows that overlap in C would be written twice: refused, whatever is known. */
static void overlapping_result(void **state)
{
    char        *folder = folder_make();
    qst_context *ctx = context_on(folder);
    cl_fixture  *cl = fixture;
    cl_mem       mem = cl_fixture_buffer(cl, (size_t)M * K, 0);
    qst_matmul   p;
    qst_error    err = {0};
    (void)state;

    run(ctx, &layouts[0]);
    qst_matmul_init(&p, M, N, K, QST_F32);
    p.c.row = 1;
    assert_int_equal(qst_matmul_enqueue(ctx, cl->in_order, &p, mem, mem, mem, 0, NULL, NULL, &err), QST_E_INVALID);
    assert_true(err.text[0]);
    qst_context_destroy(ctx);
    clReleaseMemObject(mem);
    folder_remove(folder);
}

static int set_up(void **state)
{
    (void)state;
    return cl_fixture_open(&fixture);
}

static int tear_down(void **state)
{
    (void)state;
    return cl_fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_key_for_none), cmocka_unit_test(overlapping_result)};

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
