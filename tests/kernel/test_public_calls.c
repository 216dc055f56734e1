/* SPDX-License-Identifier: MIT
 *
 * test_public_calls.c: every kind of matmul in every type through the typed calls, at odd starts, with four batch
 * dimensions and broadcast in two of them: by the fallback alone, and tuned.
 */
#include "matmul_case.h"

#include <quernstone/quernstone.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct runner bench; /* for its device, context and queue */

/* By QST_KIND_…; extents other than 1 differ, and none is even. */
static const int64_t kinds[8][3] = {
    [QST_KIND_GENERAL] = {37, 29, 53}, [QST_KIND_MATVEC] = {37, 1, 53},      [QST_KIND_VECMAT] = {1, 29, 53},
    [QST_KIND_SCALARVEC] = {1, 29, 1}, [QST_KIND_VECSCALAR] = {37, 1, 1},    [QST_KIND_INNER] = {1, 1, 53},
    [QST_KIND_OUTER] = {37, 29, 1},    [QST_KIND_SCALARPRODUCT] = {1, 1, 1},
};

static const uint32_t types[][2] = {{QST_F32, QST_F32},  {QST_F16, QST_F16}, {QST_F64, QST_F64}, {QST_BF16, QST_BF16},
                                    {QST_BF16, QST_F32}, {QST_F16, QST_F32}, {QST_F64, QST_F32}};

static qst_context *context(const char *config)
{
    qst_options  options;
    qst_context *ctx = NULL;
    qst_error    err;
    memset(&err, 0, sizeof err);
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE;
    options.config = config;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("%s", err.text);
    return ctx;
}

static void compute(qst_context *ctx, const qst_matmul *p, size_t lead)
{
    struct matmul_case t;
    cl_mem             mem[3];
    void              *raw[3], *got;
    qst_mem            operands[3];
    qst_error          err;
    size_t             bytes;
    int                i;
    memset(&err, 0, sizeof err);
    matmul_case_init(&t, p, lead, 0);
    for (i = 0; i < 3; i++) {
        matmul_case_upload(bench.context, &t, i, &mem[i], &raw[i]);
        operands[i] = qst_mem_at(mem[i], t.x[i].start * t.item[i]);
    }
    bytes = t.x[2].count * t.item[2];
    got = malloc(bytes);
    assert_non_null(got);
    if (qst_matmul_enqueue_at(ctx, bench.queue, p, operands[0], operands[1], operands[2], 0, NULL, NULL, &err) !=
        QST_OK)
        fail_msg("%s: %s", err.source, err.text);
    assert_int_equal(clEnqueueReadBuffer(bench.queue, mem[2], CL_TRUE, 0, bytes, got, 0, NULL, NULL), CL_SUCCESS);
    matmul_case_compare(&t, "a typed call", got, raw[2]);
    for (i = 0; i < 3; i++) {
        clReleaseMemObject(mem[i]);
        free(raw[i]);
    }
    free(got);
    matmul_case_finish(&t);
}

static void expect_kind(qst_context *ctx, const qst_matmul *p, int64_t kind)
{
    int64_t  values[QST_KEY_MAX];
    uint32_t count;
    qst_set *set;
    assert_int_equal(qst_set_find(&set, ctx, "matmul", NULL), QST_OK);
    assert_int_equal(qst_problem_key(set, p, values, &count, NULL), QST_OK);
    assert_int_equal(values[QST_MATMUL_KEY_KIND], kind);
}

/* Once alone, and once as 2 x 3 x 2 x 2 products: the second dimension shares A, the third B, and C's dimensions lie in
 * another order than they count. */
static void all_kinds(qst_context *ctx, uint32_t n_types)
{
    uint32_t type, kind;
    for (type = 0; type < n_types; type++)
        for (kind = 0; kind < 8; kind++) {
            qst_matmul p;
            int64_t    a, b, c;
            if (types[type][0] == QST_F64 && !(bench.device.flags & QST_DEVICE_F64))
                continue;
            qst_matmul_init(&p, kinds[kind][0], kinds[kind][1], kinds[kind][2], types[type][0]);
            p.c.type = types[type][1];
            p.alpha = kind % 2 ? 0.75 : 1;
            p.beta = kind % 3 ? 0 : -0.5;
            expect_kind(ctx, &p, kind);
            compute(ctx, &p, 1 + kind % 3);
            a = p.m * p.k + 3;
            b = p.k * p.n;
            c = p.m * p.n + 1;
            p.batch[0] = 2;
            p.batch[1] = 3;
            p.batch[2] = p.batch[3] = 2;
            p.a.batch[0] = 4 * a;
            p.a.batch[2] = 2 * a;
            p.a.batch[3] = a;
            p.b.batch[0] = b;
            p.b.batch[1] = 2 * b;
            p.b.batch[3] = 6 * b;
            p.c.batch[0] = 12 * c;
            p.c.batch[1] = 4 * c;
            p.c.batch[2] = c;
            p.c.batch[3] = 2 * c;
            compute(ctx, &p, 5);
        }
}

static void by_the_fallback(void **state)
{
    qst_context *ctx = context("{\"tune\": {\"mode\": \"fallback\"}}");
    (void)state;
    all_kinds(ctx, QSTK_COUNT(types));
    qst_context_destroy(ctx);
}

static void tuned(void **state)
{
    qst_context *ctx = context(
        "{\"tune\": {\"max_samples\": 3}, \"candidates\": {\"pin\": [\"matmul.naive.*\", \"matmul.gemv.outer/*\", "
        "\"matmul.gemv.dot_4x2/*\", \"matmul.cpu_gemm.6x4_k256/*\"]}}");
    (void)state;
    all_kinds(ctx, 2);
    qst_context_destroy(ctx);
}

static int set_up(void **state)
{
    (void)state;
    return runner_open(&bench);
}

static int tear_down(void **state)
{
    (void)state;
    runner_close(&bench);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_the_fallback), cmocka_unit_test(tuned)};
    return cmocka_run_group_tests_name("public calls", tests, set_up, tear_down);
}
