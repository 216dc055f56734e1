/* SPDX-License-Identifier: MIT
 *
 * test_vendor.c: a candidate in the form for vendor libraries, that enqueues its kernels itself, takes no wait list and
 * gives the event of a part of its work only: it must stand in the caller's order all the same.
 */
#include "support/blend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void *fixture;

/* ---- The library ------------------------------------------------------------------------------------------------ */

/* The second half is much longer than the first, and never as fast as what it is compared with: it wins by a pin. */
static const char source[] =
    "kernel void part(global const float *x, ulong x0, global float *y, ulong y0, ulong from, ulong n, float a,\n"
    "                 float b, uint turns)\n"
    "{ x += x0; y += y0;\n"
    "  for (ulong i = from + get_global_id(0); i < n; i += get_global_size(0)) {\n"
    "    float r = b == 0 ? a * x[i] : fma(a, x[i], y[i]);\n"
    "    for (uint t = 0; t < turns; t++) r = fmin(r + 1.0f, 1e30f) - 1.0f;\n"
    "    y[i] = r; } }\n";

typedef struct library {
    int         opens, closes, calls;
    int         fail_from; /* calls from this one on fail; 0: none */
    const char *refuses;
    cl_program  program;
} library;

static int32_t lib_open(void *user, const qst_device *device, void **instance, const char **why)
{
    library    *lib = user;
    const char *text = source;
    cl_int      code;

    lib->opens++;
    if (lib->refuses) {
        *why = lib->refuses;
        return QST_E_UNSUPPORTED;
    }
    lib->program = clCreateProgramWithSource(device->context, 1, &text, NULL, &code);
    if (code != CL_SUCCESS || clBuildProgram(lib->program, 1, &device->id, "", NULL, NULL) != CL_SUCCESS)
        return QST_E_BUILD;
    *instance = lib;
    return QST_OK;
}

static cl_int part(const library *lib, const blend_problem *p, const qst_call *call, uint64_t from, uint64_t to,
                   cl_uint turns, cl_event *event)
{
    cl_int    code;
    cl_kernel kernel = clCreateKernel(lib->program, "part", &code);
    cl_mem    x = call->operands[0].handle, y = call->operands[1].handle;
    cl_ulong  x0 = call->operands[0].offset / 4, y0 = call->operands[1].offset / 4;
    float     a = (float)p->a, b = (float)p->b;
    size_t    items = 64;

    if (code != CL_SUCCESS)
        return code;
    code |= clSetKernelArg(kernel, 0, sizeof x, &x);
    code |= clSetKernelArg(kernel, 1, sizeof x0, &x0);
    code |= clSetKernelArg(kernel, 2, sizeof y, &y);
    code |= clSetKernelArg(kernel, 3, sizeof y0, &y0);
    code |= clSetKernelArg(kernel, 4, sizeof from, &from);
    code |= clSetKernelArg(kernel, 5, sizeof to, &to);
    code |= clSetKernelArg(kernel, 6, sizeof a, &a);
    code |= clSetKernelArg(kernel, 7, sizeof b, &b);
    code |= clSetKernelArg(kernel, 8, sizeof turns, &turns);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(call->queue, kernel, 1, NULL, &items, NULL, 0, NULL, event);
    clReleaseKernel(kernel);
    return code;
}

static int32_t lib_enqueue(void *instance, const void *problem, const qst_call *call, const char **why)
{
    library             *lib = instance;
    const blend_problem *p = problem;
    uint64_t             n = (uint64_t)p->n, half = n / 2;

    if (call->n_waits || (lib->fail_from && ++lib->calls >= lib->fail_from)) {
        *why = call->n_waits ? "it takes no wait list" : "the licence has run out";
        return QST_E_REFUSED;
    }
    return part(lib, p, call, 0, half, 0, call->done) == CL_SUCCESS &&
                   part(lib, p, call, half, n, 2000, NULL) == CL_SUCCESS
               ? QST_OK
               : QST_E_CL;
}

static void lib_close(void *instance)
{
    library *lib = instance;

    lib->closes++;
    clReleaseProgram(lib->program);
}

static qst_candidate candidate_of(library *lib)
{
    return (qst_candidate){.size = sizeof(qst_candidate),
                           .flags = QST_CANDIDATE_NO_WAITS | QST_CANDIDATE_HIDES_EVENTS,
                           .op = "blend",
                           .variant = "vendor",
                           .revision = 1,
                           .classes = QST_CLASS_PLAIN,
                           .problem_size = sizeof(blend_problem),
                           .user = lib,
                           .open = lib_open,
                           .enqueue = lib_enqueue,
                           .close = lib_close};
}

/* ---- The tests -------------------------------------------------------------------------------------------------- */

#define PINNED "\"candidates\": {\"pin\": [\"blend.app.vendor/*\"]}"

typedef struct bench {
    cl_fixture   *cl;
    library       lib;
    qst_candidate vendor;
    qst_context  *ctx;
    qst_set      *set;
    blend_case    c;
} bench;

static void bench_open(bench *b, qst_context *ctx)
{
    const qst_candidate *all[] = {&b->vendor, &blend_wide, &blend_loop, NULL};
    blend_problem        p = blend_of(6000, 2, 1);

    b->cl = fixture;
    b->vendor = candidate_of(&b->lib);
    b->ctx = ctx;
    b->set = blend_set(ctx, all);
    blend_open(&b->c, b->cl->context, b->cl->in_order, &p);
}

static void bench_close(bench *b)
{
    blend_close(&b->c);
    qst_context_destroy(b->ctx);
    assert_int_equal(b->lib.closes, b->lib.refuses ? 0 : b->lib.opens);
}

static void enqueue(bench *b, cl_command_queue queue, cl_uint n, const cl_event *waits, cl_event *event)
{
    qst_error err = {0};

    if (qst_enqueue(b->set, queue, &b->c.problem, b->c.operand, n, waits, event, &err) != QST_OK)
        fail_msg("%s: %s", err.source, err.text);
}

static void expect_winner(bench *b, const char *name)
{
    qst_plan *plan;

    assert_int_equal(qst_plan_create(&plan, b->set, b->cl->in_order, &b->c.problem, 0, NULL), QST_OK);
    assert_string_equal(qst_plan_winner(plan), name);
    qst_plan_destroy(plan);
}

static void every_queue(void **state)
{
    cl_fixture      *cl = fixture;
    cl_command_queue queues[] = {cl->in_order, cl->profiling, cl->out_of_order};
    bench            b = {0};
    int              calls = 0;
    size_t           i;

    (void)state;
    bench_open(&b, blend_context("{" PINNED "}"));
    expect_winner(&b, "blend.app.vendor/1");
    for (i = 0; i < 3 && queues[i]; i++) {
        cl_event first = NULL, second = NULL;
        enqueue(&b, queues[i], 0, NULL, NULL);
        blend_check(&b.c, queues[i], ++calls);
        enqueue(&b, queues[i], 0, NULL, &first);
        enqueue(&b, queues[i], 1, &first, &second);
        calls += 2;
        assert_int_equal(clWaitForEvents(1, &second), CL_SUCCESS);
        /* on another queue: only the event tells that the whole of it is done */
        blend_check(&b.c, i ? cl->in_order : cl->profiling, calls);
        enqueue(&b, queues[i], 1, &second, NULL);
        blend_check(&b.c, queues[i], ++calls);
        clReleaseEvent(first);
        clReleaseEvent(second);
    }
    assert_int_equal(b.lib.opens, 1);
    bench_close(&b);
}

/* The call returns before the caller's event is complete; a later finish covers it. */
static void behind_a_user_event(void **state)
{
    cl_fixture      *cl = fixture;
    cl_command_queue queues[] = {cl->in_order, cl->out_of_order};
    bench            b = {0};
    size_t           i;

    (void)state;
    if (!cl->user_events)
        skip();
    bench_open(&b, blend_context("{" PINNED "}"));
    for (i = 0; i < 2 && queues[i]; i++) {
        cl_int   code, ran = CL_COMPLETE;
        cl_event user = clCreateUserEvent(cl->context, &code), done = NULL;
        assert_int_equal(code, CL_SUCCESS);
        enqueue(&b, queues[i], 1, &user, &done);
        assert_int_equal(clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof ran, &ran, NULL), CL_SUCCESS);
        assert_true(ran > CL_COMPLETE);
        blend_check(&b.c, cl->profiling, (int)i);
        assert_int_equal(clSetUserEventStatus(user, CL_COMPLETE), CL_SUCCESS);
        blend_check(&b.c, queues[i], (int)i + 1);
        clReleaseEvent(user);
        clReleaseEvent(done);
    }
    bench_close(&b);
}

/* Several calls under way at once, each behind an event of its own; their queues are used again afterwards. Events are
 * completed in the calls' order, because PoCL 3.1 orders the markers of an out-of-order queue. */
static void side_by_side(void **state)
{
    enum { N = 4 };
    cl_fixture *cl = fixture;
    bench       b = {0};
    blend_case  cases[N];
    cl_event    user[N], done[N];
    cl_int      code;
    int         i, turn;

    (void)state;
    if (!cl->user_events || !cl->out_of_order)
        skip();
    bench_open(&b, blend_context("{" PINNED "}"));
    enqueue(&b, cl->in_order, 0, NULL, NULL);
    for (i = 0; i < N; i++)
        blend_open(&cases[i], cl->context, cl->in_order, &b.c.problem);
    for (turn = 0; turn < 3; turn++) {
        for (i = 0; i < N; i++) {
            user[i] = clCreateUserEvent(cl->context, &code);
            assert_int_equal(code, CL_SUCCESS);
            assert_int_equal(
                qst_enqueue(b.set, cl->out_of_order, &b.c.problem, cases[i].operand, 1, &user[i], &done[i], NULL),
                QST_OK);
        }
        for (i = 0; i < N; i++) {
            assert_int_equal(clSetUserEventStatus(user[i], CL_COMPLETE), CL_SUCCESS);
            assert_int_equal(clWaitForEvents(1, &done[i]), CL_SUCCESS);
            blend_check(&cases[i], cl->in_order, turn + 1);
            clReleaseEvent(user[i]);
            clReleaseEvent(done[i]);
        }
    }
    for (i = 0; i < N; i++)
        blend_close(&cases[i]);
    bench_close(&b);
}

/* An out-of-order queue whose caller orders by barriers, not by events. */
static void behind_a_barrier(void **state)
{
    cl_fixture *cl = fixture;
    bench       b = {0};
    const float zero = 0;
    float      *got;
    size_t      bytes, i;
    cl_event    user;
    cl_int      code;

    (void)state;
    if (!cl->user_events || !cl->out_of_order)
        skip();
    bench_open(&b, blend_context("{" PINNED "}"));
    enqueue(&b, cl->in_order, 0, NULL, NULL);
    assert_int_equal(clFinish(cl->in_order), CL_SUCCESS);
    bytes = (size_t)b.c.problem.n * sizeof zero;
    user = clCreateUserEvent(cl->context, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clEnqueueFillBuffer(cl->out_of_order, b.c.y, &zero, sizeof zero, 0, bytes, 1, &user, NULL),
                     CL_SUCCESS);
    assert_int_equal(clEnqueueBarrierWithWaitList(cl->out_of_order, 0, NULL, NULL), CL_SUCCESS);
    enqueue(&b, cl->out_of_order, 0, NULL, NULL);
    assert_int_equal(clEnqueueBarrierWithWaitList(cl->out_of_order, 0, NULL, NULL), CL_SUCCESS);
    got = malloc(bytes);
    assert_non_null(got);
    assert_int_equal(clEnqueueReadBuffer(cl->out_of_order, b.c.y, CL_FALSE, 0, bytes, got, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clSetUserEventStatus(user, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clFinish(cl->out_of_order), CL_SUCCESS);
    for (i = 0; i < (size_t)b.c.problem.n; i++)
        if (got[i] != 2 * (float)(i % 7))
            fail_msg("y[%zu] is %g, not %g", i, (double)got[i], 2 * (double)(i % 7));
    free(got);
    clReleaseEvent(user);
    bench_close(&b);
}

static void open_refuses(void **state)
{
    bench b = {.lib = {.refuses = "no licence on this host"}};
    char *text;

    (void)state;
    bench_open(&b, blend_context(NULL));
    enqueue(&b, b.cl->in_order, 0, NULL, NULL);
    blend_check(&b.c, b.cl->in_order, 1);
    enqueue(&b, b.cl->in_order, 0, NULL, NULL);
    blend_check(&b.c, b.cl->in_order, 2);
    assert_int_equal(b.lib.opens, 1);
    text = blend_describe(b.ctx, "verdicts");
    assert_non_null(strstr(text, "no licence on this host"));
    free(text);
    bench_close(&b);
}

/* ---- A hit that fails ------------------------------------------------------------------------------------------- */

typedef struct lines {
    int  count;
    char last[600];
} lines;

static void keep_line(void *user, const char *text, size_t length)
{
    lines *l = user;

    if (!memchr(text, '\n', length) && length < 2)
        return;
    l->count++;
    snprintf(l->last, sizeof l->last, "%.*s", (int)length, text);
}

static void fails_on_a_hit(void **state)
{
    bench        b = {0};
    lines        log = {0, ""};
    qst_options  options;
    qst_context *ctx = NULL;
    qst_plan    *same, *other;
    qst_error    err = {0};
    cl_fixture  *cl = fixture;

    (void)state;
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_PLUGINS | QST_NO_STORE;
    options.config = "{\"log\": \"warn\", \"groups\": {\"blend\": {\"all\": {\"priority\": -1}}}}";
    options.sink = keep_line;
    options.sink_user = &log;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("%s", err.text);
    bench_open(&b, ctx);
    enqueue(&b, b.cl->in_order, 0, NULL, NULL); /* the vendor's is alone in the first round */
    blend_check(&b.c, b.cl->in_order, 1);
    expect_winner(&b, "blend.app.vendor/1");
    assert_int_equal(log.count, 0);
    b.lib.fail_from = 1;
    assert_int_equal(qst_plan_create(&other, b.set, cl->in_order, &b.c.problem, 0, NULL), QST_OK);
    b.c.problem.x_align = b.c.problem.y_align =
        7; /* what the keyed call found out: then the plan is the same problem */
    assert_int_equal(qst_plan_create(&same, b.set, cl->in_order, &b.c.problem, 0, NULL), QST_OK);
    assert_string_equal(qst_plan_winner(same), "blend.app.vendor/1");
    enqueue(&b, cl->in_order, 0, NULL, NULL);
    blend_check(&b.c, cl->in_order, 2);
    assert_int_equal(log.count, 1);
    assert_non_null(strstr(log.last, "blend.app.vendor/1"));
    assert_non_null(strstr(log.last, "the licence has run out"));
    assert_string_equal(qst_plan_winner(same), "blend.app.loop/1"); /* it follows */
    assert_int_equal(qst_plan_enqueue(same, cl->in_order, b.c.operand, 0, NULL, NULL, NULL), QST_OK);
    enqueue(&b, cl->in_order, 0, NULL, NULL);
    blend_check(&b.c, cl->in_order, 4);
    assert_int_equal(b.lib.calls, 1);
    /* The plan that promises less has a way of its own, and finds out for itself. */
    assert_int_equal(qst_plan_enqueue(other, cl->in_order, b.c.operand, 0, NULL, NULL, NULL), QST_OK);
    blend_check(&b.c, cl->in_order, 5);
    assert_string_equal(qst_plan_winner(other), "blend.app.loop/1");
    assert_int_equal(b.lib.calls, 2);
    assert_int_equal(log.count, 1);
    qst_plan_destroy(same);
    qst_plan_destroy(other);
    bench_close(&b);
}

/* What the caller gave is wrong: no candidate steps down for it. */
static void callers_events_are_his(void **state)
{
    bench    b = {0};
    cl_event none = NULL;

    (void)state;
    bench_open(&b, blend_context("{" PINNED "}"));
    enqueue(&b, b.cl->in_order, 0, NULL, NULL);
    assert_int_equal(qst_enqueue(b.set, b.cl->in_order, &b.c.problem, b.c.operand, 1, &none, NULL, NULL),
                     QST_E_INVALID);
    if (b.cl->out_of_order)
        assert_int_equal(qst_enqueue(b.set, b.cl->out_of_order, &b.c.problem, b.c.operand, 1, &none, NULL, NULL),
                         QST_E_INVALID);
    expect_winner(&b, "blend.app.vendor/1");
    blend_check(&b.c, b.cl->in_order, 1);
    bench_close(&b);
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
        cmocka_unit_test(every_queue),
        cmocka_unit_test(behind_a_user_event),
        cmocka_unit_test(side_by_side),
        cmocka_unit_test(behind_a_barrier),
        cmocka_unit_test(open_refuses),
        cmocka_unit_test(fails_on_a_hit),
        cmocka_unit_test(callers_events_are_his),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
