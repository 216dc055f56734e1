/* SPDX-License-Identifier: MIT
 *
 * test_cblas.c: the host's BLAS as a candidate: in the order of the caller's queues, on his buffers, his sub-buffers
 * too, and without a trace in his own copy of the library or his environment. Where no BLAS is installed the tests that
 * need one are skipped.
 */
#include "support/matmul_case.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NAME "matmul.cblas.gemm/2"

static void *fixture;

static qst_context *context_with(const char *more)
{
    qst_options  options;
    qst_context *ctx = NULL;
    qst_error    err = {0};
    char         config[512];

    snprintf(config, sizeof config,
             "{\"candidates\": {\"pin\": [\"" NAME "\"]}, \"tune\": {\"budget_ms\": "
             "0}%s}",
             more);
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE;
    options.config = config;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("%s", err.text);
    return ctx;
}

static bool runs(qst_context *ctx, const qst_matmul *p)
{
    cl_fixture *cl = fixture;
    qst_matmul  aligned = *p;
    qst_plan   *plan = NULL;
    bool        mine;

    assert_int_equal(qst_matmul_plan(&plan, ctx, cl->in_order, &aligned, NULL), QST_OK);
    mine = strcmp(qst_plan_winner(plan), NAME) == 0;
    qst_plan_destroy(plan);
    return mine;
}

/* A context in which the candidate runs; the test is skipped where there is no BLAS. */
static qst_context *context_of_blas(void)
{
    qst_context *ctx = context_with("");
    qst_matmul   p;

    qst_matmul_init(&p, 40, 30, 20, QST_F32);
    if (!runs(ctx, &p)) {
        qst_context_destroy(ctx);
        skip();
    }
    return ctx;
}

static qst_status enqueue(qst_context *ctx, const matmul_case *c, cl_command_queue queue, cl_uint n,
                          const cl_event *waits, cl_event *event)
{
    return qst_matmul_enqueue_at(ctx, queue, &c->problem, matmul_case_operand(c, 0), matmul_case_operand(c, 1),
                                 matmul_case_operand(c, 2), n, waits, event, NULL);
}

/* The caller's event completes only after our return; ours only after it. */
static void in_order_of(qst_context *ctx, cl_command_queue queue)
{
    cl_fixture *cl = fixture;
    qst_matmul  p;
    matmul_case c;
    cl_event    user, done = NULL;
    cl_int      code, state;

    qst_matmul_init(&p, 70, 50, 60, QST_F32);
    p.beta = 1;
    matmul_case_open(&c, cl, &p, NULL);
    user = clCreateUserEvent(cl->context, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(enqueue(ctx, &c, queue, 1, &user, &done), QST_OK);
    assert_true(runs(ctx, &p));
    assert_int_equal(clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL), CL_SUCCESS);
    assert_true(state > CL_COMPLETE);
    assert_int_equal(clSetUserEventStatus(user, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
    matmul_case_check(&c, queue);
    clReleaseEvent(user);
    clReleaseEvent(done);
    matmul_case_close(&c);
}

static void waits_and_is_waited_for(void **state)
{
    cl_fixture  *cl = fixture;
    qst_context *ctx = context_of_blas();

    (void)state;
    if (cl->user_events) {
        in_order_of(ctx, cl->in_order);
        in_order_of(ctx, cl->profiling);
        if (cl->out_of_order)
            in_order_of(ctx, cl->out_of_order);
    }
    qst_context_destroy(ctx);
}

/* Layouts, batches, vectors, scalars: each right, nothing around C touched, NaN in C with beta 0 overwritten. */
static void every_form(void **state)
{
    static const struct {
        int64_t m, n, k, batch, pad;
        bool    ta, tb;
        double  alpha, beta;
    } rows[] = {
        {33, 47, 65, 1, 0, false, false, 1, 0},    {33, 47, 65, 1, 3, true, false, -1, 1},
        {33, 47, 65, 1, 5, false, true, 0.5, 0.5}, {33, 47, 65, 1, 0, true, true, 1, -1},
        {9, 8, 7, 5, 0, false, false, 1, 0},       {9, 8, 7, 5, 2, true, true, 2, 1},
        {65, 1, 33, 1, 0, false, false, 1, 0},     {65, 1, 33, 1, 4, true, false, 1, 0.5},
        {1, 65, 33, 1, 0, false, false, 1, 0},     {1, 65, 33, 1, 4, false, true, 1, 0},
        {1, 1, 129, 1, 0, false, false, 1, 0},     {2, 3, 1, 1, 0, false, false, 1, 0},
    };
    const int64_t offset[3] = {1, 3, 5};
    cl_fixture   *cl = fixture;
    qst_context  *ctx = context_of_blas();

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qst_matmul  p;
        matmul_case c;
        qst_matmul_init(&p, rows[i].m, rows[i].n, rows[i].k, QST_F32);
        if (rows[i].batch > 1)
            qst_matmul_batch(&p, rows[i].batch);
        p.alpha = rows[i].alpha;
        p.beta = rows[i].beta;
        p.a.row = rows[i].ta ? 1 : p.k + rows[i].pad;
        p.a.col = rows[i].ta ? p.m + rows[i].pad : 1;
        p.b.row = rows[i].tb ? 1 : p.n + rows[i].pad;
        p.b.col = rows[i].tb ? p.k + rows[i].pad : 1;
        p.c.row = p.n + rows[i].pad;
        p.a.batch[3] = p.batch[3] > 1 ? 1000 : 0;
        p.b.batch[3] = p.batch[3] > 1 ? 1000 : 0;
        p.c.batch[3] = p.batch[3] > 1 ? 1000 : 0;
        matmul_case_open(&c, cl, &p, offset);
        assert_int_equal(enqueue(ctx, &c, cl->in_order, 0, NULL, NULL), QST_OK);
        assert_true(runs(ctx, &p));
        matmul_case_check(&c, cl->in_order);
        matmul_case_close(&c);
    }
    qst_context_destroy(ctx);
}

/* Operands in sub-buffers of one buffer: their origins count. */
static void sub_buffers(void **state)
{
    enum { N = 32, BYTES = N * N * 4 };
    cl_fixture      *cl = fixture;
    qst_context     *ctx = context_of_blas();
    cl_buffer_region where[3] = {{4096, BYTES}, {2 * 4096 + BYTES / 4096 * 4096, BYTES}, {16 * 4096, BYTES}};
    cl_mem           whole = cl_fixture_buffer(cl, 32 * 4096 / 4, 0), part[3];
    float            a[N * N], b[N * N], c[N * N];
    qst_matmul       p;
    cl_int           code;

    (void)state;
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 7 - 3);
        b[i] = i / N == i % N ? 2.0f : 0.0f; /* twice the identity */
    }
    for (int i = 0; i < 3; i++) {
        part[i] = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &where[i], &code);
        assert_int_equal(code, CL_SUCCESS);
    }
    clEnqueueWriteBuffer(cl->in_order, part[0], CL_TRUE, 0, sizeof a, a, 0, NULL, NULL);
    clEnqueueWriteBuffer(cl->in_order, part[1], CL_TRUE, 0, sizeof b, b, 0, NULL, NULL);
    qst_matmul_init(&p, N, N, N, QST_F32);
    assert_int_equal(qst_matmul_enqueue(ctx, cl->in_order, &p, part[0], part[1], part[2], 0, NULL, NULL, NULL), QST_OK);
    clEnqueueReadBuffer(cl->in_order, whole, CL_TRUE, where[2].origin, sizeof c, c, 0, NULL, NULL);
    for (int i = 0; i < N * N; i++)
        assert_true(c[i] == 2 * a[i]);
    for (int i = 0; i < 3; i++)
        clReleaseMemObject(part[i]);
    clReleaseMemObject(whole);
    qst_context_destroy(ctx);
}

/* The program's own image of the library keeps its threads, and its environment its variables. */
static void leaves_the_program_alone(void **state)
{
    qst_context *ctx;
    void        *mine = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL), *symbol;
    int (*threads)(void);
    void (*set)(int);

    (void)state;
    if (!mine)
        skip();
    symbol = dlsym(mine, "openblas_get_num_threads");
    memcpy(&threads, &symbol, sizeof symbol);
    symbol = dlsym(mine, "openblas_set_num_threads");
    memcpy(&set, &symbol, sizeof symbol);
    set(1);
    ctx = context_of_blas();
    assert_int_equal(threads(), 1);
    assert_null(getenv("OPENBLAS_THREAD_TIMEOUT"));
    set(2);
    qst_context_destroy(ctx);
    assert_int_equal(threads(), 2);
}

/* No library: the call is right all the same, and the verdict says why. */
static void no_library(void **state)
{
    cl_fixture  *cl = fixture;
    qst_context *ctx = context_with(", \"plugin\": {\"cblas\": {\"library\": \"/nonexistent/libblas.so\"}}");
    qst_matmul   p;
    matmul_case  c;

    (void)state;
    qst_matmul_init(&p, 20, 21, 22, QST_F32);
    matmul_case_open(&c, cl, &p, NULL);
    assert_int_equal(enqueue(ctx, &c, cl->in_order, 0, NULL, NULL), QST_OK);
    assert_false(runs(ctx, &p));
    matmul_case_check(&c, cl->in_order);
    matmul_case_close(&c);
    qst_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_the_program_alone), cmocka_unit_test(every_form), cmocka_unit_test(sub_buffers),
        cmocka_unit_test(waits_and_is_waited_for),  cmocka_unit_test(no_library),
    };
    void *state = NULL;
    int   failed;

    if (cl_fixture_open(&state) != 0)
        return 1;
    fixture = state;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    cl_fixture_close(&state);
    return failed;
}
