/* SPDX-License-Identifier: MIT
 *
 * test_field_numbers.c: reports about numbers that are no ordinary ones. Infinities, NaN, subnormals and values near the
 * largest go through a product as through a loop of fma, by one candidate of each family and by the fallback; BLAS rules
 * say what is read at all.
 */
#include "support/blend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <cmocka.h>

#define SIDE  40 /* no size is larger */
#define TRIES 3  /* candidates of a plugin that are tried for a case */

static void *fixture;

/* A × B as the case makes them: row-major and dense, C whole. */
typedef struct numbers {
    const char *name;
    int64_t     m, n, k;
    double      alpha, beta;
    /* elements (i, j) of A, B and C; all are exact in f32 */
    double (*a)(int64_t i, int64_t j);
    double (*b)(int64_t i, int64_t j);
    double (*c)(int64_t i, int64_t j);
} numbers;

static double small(int64_t i, int64_t j)
{
    return (double)((i * 7 + j * 3) % 5 - 2);
}

static double not_zero(int64_t i, int64_t j)
{
    return (i + j) % 2 ? 1 : -2;
}

static double infinite_in_a_row(int64_t i, int64_t j)
{
    return i == 1 && j == 2 ? HUGE_VAL : not_zero(i, j);
}

static double both_infinities(int64_t i, int64_t j)
{
    return i == 3 && j < 2 ? (j ? -HUGE_VAL : HUGE_VAL) : not_zero(i, j);
}

static double nan_in_a_row(int64_t i, int64_t j)
{
    return i == 2 && j == 1 ? (double)NAN : not_zero(i, j);
}

static double all_nan(int64_t i, int64_t j)
{
    return (void)i, (void)j, (double)NAN;
}

static double all_infinite(int64_t i, int64_t j)
{
    return (i + j) % 2 ? HUGE_VAL : -HUGE_VAL;
}

/* Sums of a few are subnormals too, and exact. */
static double subnormal(int64_t i, int64_t j)
{
    return ldexp((double)((i * 5 + j) % 7 - 3), -149);
}

/* One term of each sum is not zero: what it is keeps its place at the top of the range. */
static double one_large(int64_t i, int64_t j)
{
    return (i + j) % 2 ? ldexp(1.9999998807907104, 127) : -ldexp(1, 127);
}

static double picks_one(int64_t i, int64_t j)
{
    return i == j % 3 ? 1 : 0;
}

static const numbers cases[] = {
    {"an infinity in A", 37, 29, 23, 1, 0, infinite_in_a_row, not_zero, all_nan},
    {"an infinity times zero", 37, 29, 23, 1, 0, infinite_in_a_row, picks_one, all_nan},
    {"infinities of both signs in a sum", 37, 29, 23, 1, 0, both_infinities, not_zero, all_nan},
    {"an infinity in B", 37, 29, 23, 1, 0, not_zero, infinite_in_a_row, all_nan},
    {"NaN in A", 37, 29, 23, -1, 0, nan_in_a_row, small, all_nan},
    {"NaN in B", 37, 29, 23, 0.5, 1, small, nan_in_a_row, small},
    {"subnormals", 37, 29, 23, 1, 0, subnormal, picks_one, all_nan},
    {"subnormals in C", 37, 29, 23, 1, 1, subnormal, picks_one, subnormal},
    {"values near the largest", 37, 29, 23, 1, 0, one_large, picks_one, all_nan},
    {"infinities in C", 37, 29, 23, 1, 1, small, small, all_infinite},
    {"infinities in C that beta 0 leaves", 37, 29, 23, 1, 0, small, small, all_infinite},
    {"NaN for alpha", 37, 29, 23, (double)NAN, 1, small, small, small},
    {"NaN for beta", 37, 29, 23, 1, (double)NAN, small, small, small},
    {"a column, an infinity in A", 40, 1, 33, 1, 0, infinite_in_a_row, not_zero, all_nan},
    {"a column, subnormals", 40, 1, 33, 1, 1, subnormal, picks_one, subnormal},
    {"a row, NaN in B", 1, 40, 33, 1, 0, small, nan_in_a_row, all_nan},
    /* nothing of A and B is read */
    {"alpha 0 and NaN in A and B", 37, 29, 23, 0, 1, all_nan, all_nan, small},
    {"alpha 0 and beta 0 over NaN", 37, 29, 23, 0, 0, all_nan, all_nan, all_nan},
    {"k 0 and NaN for alpha", 37, 29, 0, (double)NAN, 0.5, small, small, small},
    {"k 0 and beta 0 over infinities", 37, 29, 0, 1, 0, small, small, all_infinite},
};

/* By a loop of fma in double, whose infinities and NaN are those of one in float here: nothing overflows on the way. */
static double expected(const numbers *x, int64_t i, int64_t j)
{
    double sum = 0, old = x->beta == 0 ? 0 : x->beta * x->c(i, j);
    if (x->alpha == 0 || x->k == 0)
        return old;
    for (int64_t p = 0; p < x->k; p++)
        sum = fma(x->a(i, p), x->b(p, j), sum);
    return x->beta == 0 ? x->alpha * sum : fma(x->alpha, sum, old);
}

static cl_mem upload(cl_fixture *cl, int64_t rows, int64_t cols, double (*element)(int64_t, int64_t))
{
    static float host[SIDE * SIDE];
    cl_int       code;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            host[i * cols + j] = (float)element(i, j);
    cl_mem mem = clCreateBuffer(cl->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof host, host, &code);
    assert_int_equal(code, CL_SUCCESS);
    return mem;
}

static bool same(double want, float got)
{
    return isnan(want) ? isnan(got) : (double)got == (double)(float)want;
}

/* The product by the candidates that `pin` names, else by the fallback; gives the winner's name. */
static void run(const numbers *x, const char *pin, char *winner, size_t size)
{
    static float host[SIDE * SIDE];
    char         more[256];
    cl_fixture  *cl = fixture;
    qst_error    err = {0};
    qst_plan    *plan = NULL;
    qst_matmul   p;
    (void)snprintf(more, sizeof more,
                   "{\"candidates\": {\"pin\": [\"%s\"]}, \"tune\": {\"budget_ms\": 0, \"short_circuit\": false}}",
                   pin);
    qst_options options;
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE;
    options.config = more;
    qst_context *ctx = NULL;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("context: %s", err.text);
    cl_mem a = upload(cl, x->m, x->k, x->a), b = upload(cl, x->k, x->n, x->b), c = upload(cl, x->m, x->n, x->c);
    qst_matmul_init(&p, x->m, x->n, x->k, QST_F32);
    p.alpha = x->alpha;
    p.beta = x->beta;
    if (qst_matmul_enqueue(ctx, cl->in_order, &p, a, b, c, 0, NULL, NULL, &err) != QST_OK)
        fail_msg("%s, %s: %s", x->name, pin, err.text);
    assert_int_equal(clEnqueueReadBuffer(cl->in_order, c, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL), CL_SUCCESS);
    p.a.align = p.b.align = p.c.align = 4;
    assert_int_equal(qst_matmul_plan(&plan, ctx, cl->in_order, &p, &err), QST_OK);
    (void)snprintf(winner, size, "%s", qst_plan_winner(plan));
    qst_plan_destroy(plan);
    for (int64_t i = 0; i < x->m; i++)
        for (int64_t j = 0; j < x->n; j++)
            if (!same(expected(x, i, j), host[i * x->n + j]))
                fail_msg("%s, by %s: C[%d,%d] is %g, not %g", x->name, winner, (int)i, (int)j,
                         (double)host[i * x->n + j], expected(x, i, j));
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseMemObject(c);
    qst_context_destroy(ctx);
}

/* Names of matmul's candidates, as the context has them. */
static json_t *candidates(void)
{
    qst_context *ctx = NULL;
    qst_options  options;
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE;
    assert_int_equal(qst_context_create(&ctx, &options, NULL), QST_OK);
    char   *text = blend_describe(ctx, "plugins");
    json_t *plugins = json_loads(text, 0, NULL);
    free(text);
    qst_context_destroy(ctx);
    return plugins;
}

/* Each case by the first candidate of a plugin that takes it; where none of a few does, it is not that plugin's. */
static void go_through(void **state)
{
    static const char *const families[] = {"naive", "tiled", "unit", "double_unit", "cpu_gemm", "gemv"};
    json_t                  *plugins = candidates();
    const json_t            *plugin;
    size_t                   i, k;
    uint32_t                 ran[sizeof families / sizeof *families] = {0};
    bool                     flushes = false;
    cl_fixture              *cl = fixture;
    cl_device_fp_config      can = 0;

    (void)state;
    assert_int_equal(clGetDeviceInfo(cl->device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof can, &can, NULL), CL_SUCCESS);
    flushes = !(can & CL_FP_DENORM);
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        json_array_foreach(plugins, i, plugin)
        {
            const json_t *names = json_object_get(plugin, "candidates");
            if (strcmp(json_string_value(json_object_get(plugin, "name")), families[f]) != 0)
                continue;
            for (size_t x = 0; x < sizeof cases / sizeof *cases; x++) {
                char        winner[128];
                const char *name = NULL;
                if (flushes && strstr(cases[x].name, "subnormals"))
                    continue;
                for (k = 0; k < json_array_size(names) && k < TRIES && (!name || strcmp(winner, name) != 0); k++) {
                    name = json_string_value(json_array_get(names, k));
                    run(&cases[x], name, winner, sizeof winner);
                    if (strcmp(winner, "trivial") == 0)
                        break;
                }
                ran[f] += name && strcmp(winner, name) == 0;
            }
        }
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        if (!ran[f])
            fail_msg("no case ran by %s", families[f]);
    json_decref(plugins);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(go_through)};

    return cmocka_run_group_tests(tests, open_all, close_all);
}
