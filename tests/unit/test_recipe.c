/* SPDX-License-Identifier: MIT
 *
 * test_recipe.c: recording launches and every limit that refuses one. No device: the facts are made up. */
#include "cl/recipe.h"
#include "support/meter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static qst__alloc heap;

static const qst_device device = {.size = sizeof(qst_device),
                                  .max_group = 256,
                                  .max_group_dim = {256, 256, 64},
                                  .pointer_bits = 64,
                                  .local_bytes = 32768,
                                  .max_alloc = 1u << 20};

static const qst_arg good_args[] = {{.kind = QST_ARG_OPERAND, .index = 2},
                                    {.kind = QST_ARG_OFFSET, .index = 1},
                                    {.kind = QST_ARG_WORKSPACE, .index = 1},
                                    {.kind = QST_ARG_LOCAL, .bytes = 1024},
                                    {.kind = QST_ARG_VALUE, .bytes = 4, .bits = {7, 0}}};

static qst_launch good_launch(void)
{
    return (qst_launch){.size = sizeof(qst_launch),
                        .entry = "kernel_a",
                        .dims = 2,
                        .n_args = sizeof good_args / sizeof *good_args,
                        .global = {64, 32, 0},
                        .local = {8, 4, 0},
                        .args = good_args};
}

/* Records one launch with two workspaces and checks it. */
static qst_status judge(const qst_launch *launch, bool as_judge, qst_error *err)
{
    qst__recipe recipe;
    qst_steps   steps;
    memset(err, 0, sizeof *err);
    qst__recipe_init(&recipe, &heap, 3, as_judge);
    qst__recipe_steps(&recipe, &steps);
    assert_int_equal(steps.workspace(&steps, 1, 4096), QST_OK);
    (void)steps.launch(&steps, launch);
    qst_status status = qst__recipe_check(&recipe, &device, "toy", err);
    qst__recipe_finish(&recipe);
    return status;
}

static void test_records_copies(void **state)
{
    qst__recipe recipe;
    qst_steps   steps;
    qst_error   err = {0};
    qst_arg     args[sizeof good_args / sizeof *good_args];
    char        entry[] = "kernel_a";
    qst_launch  launch = good_launch();
    (void)state;
    memcpy(args, good_args, sizeof args);
    launch.args = args;
    launch.entry = entry;
    qst__recipe_init(&recipe, &heap, 3, false);
    qst__recipe_steps(&recipe, &steps);
    assert_int_equal(steps.workspace(&steps, 1, 100), QST_OK);
    assert_int_equal(steps.workspace(&steps, 1, 50), QST_OK);
    assert_int_equal(steps.workspace(&steps, 0, 10), QST_OK);
    assert_int_equal(steps.launch(&steps, &launch), QST_OK);
    launch.local[0] = launch.local[1] = 0;
    assert_int_equal(steps.launch(&steps, &launch), QST_OK);
    memset(args, 0, sizeof args);
    entry[0] = '\0';
    assert_int_equal(qst__recipe_check(&recipe, &device, "toy", &err), QST_OK);
    assert_int_equal(recipe.n_steps, 2);
    assert_int_equal(recipe.n_workspaces, 2);
    assert_int_equal(qst__recipe_workspace(&recipe), 110);
    assert_string_equal(recipe.steps[0].entry, "kernel_a");
    assert_int_equal(recipe.steps[0].args[4].bits[0], 7);
    assert_int_equal(recipe.steps[0].global[1], 32);
    assert_int_equal(recipe.steps[0].global[2], 1);
    assert_false(recipe.steps[0].driver_local);
    assert_true(recipe.steps[1].driver_local);
    qst__recipe_finish(&recipe);
}

/* One that is shorter than any release's is a size that nobody set. */
static void test_short_launch(void **state)
{
    qst_error  err;
    qst_launch launch = good_launch();
    (void)state;
    launch.size = offsetof(qst_launch, args);
    assert_int_equal(judge(&launch, false, &err), QST_E_INVALID);
    assert_string_equal(err.text, "a launch of 72 bytes, at least 80: is its size set?");
    launch = good_launch();
    launch.args = NULL;
    assert_int_equal(judge(&launch, false, &err), QST_E_INVALID);
    assert_non_null(strstr(err.text, "5 arguments at NULL"));
}

typedef struct range_case {
    uint32_t    dims;
    uint64_t    global[3], local[3];
    qst_status  status;
    const char *text;
} range_case;

static void test_ranges(void **state)
{
    static const range_case cases[] = {
        {1, {64, 0, 0}, {8, 0, 0}, QST_OK, ""},
        {3, {64, 2, 64}, {2, 2, 64}, QST_OK, ""},
        {0, {64, 0, 0}, {8, 0, 0}, QST_E_INVALID, "0 dimensions"},
        {4, {64, 1, 1}, {8, 1, 1}, QST_E_INVALID, "4 dimensions"},
        {2, {64, 0, 0}, {8, 1, 0}, QST_E_INVALID, "global size 1 is 0"},
        {2, {64, 9, 0}, {8, 4, 0}, QST_E_INVALID, "does not divide global size 9"},
        {2, {64, 8, 0}, {8, 0, 0}, QST_E_INVALID, "local size 1, 0,"},
        {1, {1024, 0, 0}, {512, 0, 0}, QST_E_UNSUPPORTED, "at most 256"},
        {3, {64, 1, 128}, {1, 1, 128}, QST_E_UNSUPPORTED, "at most 64"},
        {2, {64, 64, 0}, {32, 16, 0}, QST_E_UNSUPPORTED, "32 x 16 x 1"},
    };
    qst_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qst_launch launch = good_launch();
        launch.dims = cases[i].dims;
        memcpy(launch.global, cases[i].global, sizeof launch.global);
        memcpy(launch.local, cases[i].local, sizeof launch.local);
        assert_int_equal(judge(&launch, false, &err), cases[i].status);
        assert_non_null(strstr(err.text, cases[i].text));
    }
}

static void test_narrow_device(void **state)
{
    qst__recipe recipe;
    qst_steps   steps;
    qst_error   err = {0};
    qst_launch  launch = good_launch();
    qst_device  narrow = device;
    (void)state;
    narrow.pointer_bits = 32;
    launch.n_args = 0;
    launch.global[0] = 1ull << 32;
    qst__recipe_init(&recipe, &heap, 3, false);
    qst__recipe_steps(&recipe, &steps);
    assert_int_equal(steps.launch(&steps, &launch), QST_OK);
    assert_int_equal(qst__recipe_check(&recipe, &device, "toy", &err), QST_OK);
    assert_int_equal(qst__recipe_check(&recipe, &narrow, "toy", &err), QST_E_UNSUPPORTED);
    qst__recipe_finish(&recipe);
}

typedef struct arg_case {
    qst_arg     arg;
    bool        judge;
    qst_status  status;
    const char *text;
} arg_case;

static void test_arguments(void **state)
{
    static const arg_case cases[] = {
        {{.kind = QST_ARG_OPERAND, .index = 3}, false, QST_E_INVALID, "no operand 3 among 3"},
        {{.kind = QST_ARG_OFFSET, .index = 3}, true, QST_E_INVALID, "no offset of operand 3"},
        {{.kind = QST_ARG_OPERAND, .index = QST_JUDGE_FINDING}, false, QST_E_INVALID, "no operand 128"},
        {{.kind = QST_ARG_OPERAND, .index = QST_JUDGE_FINDING}, true, QST_OK, ""},
        {{.kind = QST_ARG_OPERAND, .index = QST_JUDGE_BEFORE + 2}, true, QST_OK, ""},
        {{.kind = QST_ARG_OPERAND, .index = QST_JUDGE_BEFORE + 3}, true, QST_E_INVALID, "no operand 67"},
        {{.kind = QST_ARG_OFFSET, .index = QST_JUDGE_BEFORE + 2}, true, QST_OK, ""},
        {{.kind = QST_ARG_OFFSET, .index = QST_JUDGE_BEFORE}, false, QST_E_INVALID, "no offset of operand 64"},
        {{.kind = QST_ARG_OFFSET, .index = QST_JUDGE_FINDING}, true, QST_E_INVALID, "no offset of operand 128"},
        {{.kind = QST_ARG_WORKSPACE, .index = 0}, false, QST_E_INVALID, "workspace 0 was not asked for"},
        {{.kind = QST_ARG_WORKSPACE, .index = 2}, false, QST_E_INVALID, "workspace 2 was not asked for"},
        {{.kind = QST_ARG_LOCAL, .bytes = 0}, false, QST_E_INVALID, "local memory of 0 bytes"},
        {{.kind = QST_ARG_LOCAL, .bytes = 32768 - 4096}, false, QST_OK, ""},
        {{.kind = QST_ARG_LOCAL, .bytes = 32768 - 4095}, false, QST_E_UNSUPPORTED, "28673 bytes"},
        {{.kind = QST_ARG_LOCAL, .bytes = UINT64_MAX}, false, QST_E_UNSUPPORTED, "less 4096"},
        {{.kind = QST_ARG_VALUE, .bytes = 16}, false, QST_OK, ""},
        {{.kind = QST_ARG_VALUE, .bytes = 17}, false, QST_E_INVALID, "a value of 17 bytes"},
        {{.kind = QST_ARG_VALUE, .bytes = 0}, false, QST_E_INVALID, "a value of 0 bytes"},
        {{.kind = 9}, false, QST_E_INVALID, "unknown kind 9"},
    };
    qst_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qst_launch launch = good_launch();
        launch.n_args = 1;
        launch.args = &cases[i].arg;
        assert_int_equal(judge(&launch, cases[i].judge, &err), cases[i].status);
        assert_non_null(strstr(err.text, cases[i].text));
        if (cases[i].status != QST_OK)
            assert_string_equal(err.source, "toy");
    }
}

static void test_local_sum(void **state)
{
    static const qst_arg args[] = {{.kind = QST_ARG_LOCAL, .bytes = 20000}, {.kind = QST_ARG_LOCAL, .bytes = 20000}};
    qst_launch           launch = good_launch();
    qst_error            err;
    (void)state;
    launch.args = args;
    launch.n_args = 2;
    assert_int_equal(judge(&launch, false, &err), QST_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "20000 bytes of local memory after 20000"));
}

/* A candidate that ignores a refusal is refused all the same, with the first reason. */
static void test_refusal_is_kept(void **state)
{
    qst__recipe recipe;
    qst_steps   steps;
    qst_error   err = {0};
    qst_launch  launch = good_launch();
    (void)state;
    qst__recipe_init(&recipe, &heap, 3, false);
    qst__recipe_steps(&recipe, &steps);
    assert_int_equal(steps.workspace(&steps, 1, 8), QST_OK);
    launch.n_args = QST_ARGS_MAX + 1;
    assert_int_equal(steps.launch(&steps, &launch), QST_E_INVALID);
    assert_int_equal(steps.workspace(&steps, QST_WORKSPACES_MAX, 8), QST_E_INVALID);
    assert_int_equal(steps.workspace(&steps, 0, 0), QST_E_INVALID);
    launch = good_launch();
    assert_int_equal(steps.launch(&steps, &launch), QST_OK);
    assert_int_equal(qst__recipe_check(&recipe, &device, "toy", &err), QST_E_INVALID);
    assert_non_null(strstr(err.text, "49 arguments"));
    qst__recipe_finish(&recipe);
}

static void test_counts(void **state)
{
    qst__recipe recipe;
    qst_steps   steps;
    qst_error   err = {0};
    qst_launch  launch = good_launch();
    (void)state;
    qst__recipe_init(&recipe, &heap, 3, false);
    qst__recipe_steps(&recipe, &steps);
    assert_int_equal(qst__recipe_check(&recipe, &device, "toy", &err), QST_E_INVALID);
    for (uint32_t i = 0; i < QST_LAUNCHES_MAX; i++)
        assert_int_equal(steps.launch(&steps, &launch), QST_OK);
    assert_int_equal(steps.launch(&steps, &launch), QST_E_INVALID);
    launch.entry = "";
    assert_int_equal(steps.launch(&steps, &launch), QST_E_INVALID);
    qst__recipe_finish(&recipe);
}

static void test_workspace_over_device(void **state)
{
    qst__recipe recipe;
    qst_steps   steps;
    qst_error   err = {0};
    qst_launch  launch = good_launch();
    (void)state;
    qst__recipe_init(&recipe, &heap, 3, false);
    qst__recipe_steps(&recipe, &steps);
    assert_int_equal(steps.workspace(&steps, 1, (1u << 20) + 1), QST_OK);
    assert_int_equal(steps.launch(&steps, &launch), QST_OK);
    assert_int_equal(qst__recipe_check(&recipe, &device, "toy", &err), QST_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "1048577 bytes"));
    qst__recipe_finish(&recipe);
}

/* ---- Memory that ends ----------------------------------------------------------------------------------------- */

static void test_no_memory(void **state)
{
    meter      m = {0};
    qst__alloc alloc = meter_alloc(&m);
    (void)state;
    for (int allowed = 0; allowed < 3; allowed++) {
        qst__recipe recipe;
        qst_steps   steps;
        qst_error   err = {0};
        qst_launch  launch = good_launch();
        m.left = allowed;
        qst__recipe_init(&recipe, &alloc, 3, false);
        qst__recipe_steps(&recipe, &steps);
        assert_int_equal(steps.workspace(&steps, 1, 8), QST_OK);
        assert_int_equal(steps.launch(&steps, &launch), allowed < 2 ? QST_E_NOMEM : QST_OK);
        assert_int_equal(qst__recipe_check(&recipe, &device, "toy", &err), allowed < 2 ? QST_E_NOMEM : QST_OK);
        qst__recipe_finish(&recipe);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_copies),
        cmocka_unit_test(test_short_launch),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_narrow_device),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_local_sum),
        cmocka_unit_test(test_refusal_is_kept),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_workspace_over_device),
        cmocka_unit_test(test_no_memory),
    };
    heap = qst__alloc_default();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
