/* SPDX-License-Identifier: MIT
 *
 * test_matmul_calls.c: the contract of a call: wait lists and events, nothing to compute, plans, policies, and bad
 * arguments, each with its one line and nothing launched.
 */
#include "support/matmul_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void *fixture;

static qst_status enqueue(qst_context *ctx, const matmul_case *c, cl_command_queue queue, cl_uint n,
                          const cl_event *waits, cl_event *event, qst_error *err)
{
    return qst_matmul_enqueue_at(ctx, queue, &c->problem, matmul_case_operand(c, 0), matmul_case_operand(c, 1),
                                 matmul_case_operand(c, 2), n, waits, event, err);
}

static cl_int state_of(cl_event event)
{
    cl_int state = CL_COMPLETE;

    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL), CL_SUCCESS);
    return state;
}

/* The caller's event completes only after our return. */
static void wait_for_user_event(const char *mode, cl_command_queue queue)
{
    cl_fixture  *cl = fixture;
    qst_context *ctx = matmul_context(mode);
    qst_matmul   p;
    matmul_case  c;
    cl_event     user, done = NULL;
    cl_int       code;

    qst_matmul_init(&p, 70, 50, 60, QST_F32);
    p.beta = 1;
    matmul_case_open(&c, cl, &p, NULL);
    user = clCreateUserEvent(cl->context, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(enqueue(ctx, &c, queue, 1, &user, &done, NULL), QST_OK);
    assert_non_null(done);
    assert_true(state_of(done) > CL_COMPLETE);
    assert_int_equal(clSetUserEventStatus(user, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
    matmul_case_check(&c, queue);
    clReleaseEvent(user);
    clReleaseEvent(done);
    matmul_case_close(&c);
    qst_context_destroy(ctx);
}

static void returns_before_the_callers_event(void **state)
{
    cl_fixture *cl = fixture;

    (void)state;
    if (!cl->user_events)
        skip();
    wait_for_user_event("", cl->in_order);
    wait_for_user_event(", \"tune\": {\"mode\": \"fallback\"}", cl->in_order);
    if (cl->out_of_order) {
        wait_for_user_event("", cl->out_of_order);
        wait_for_user_event(", \"tune\": {\"mode\": \"fallback\"}", cl->out_of_order);
    }
}

static void nothing_to_compute(void **state)
{
    cl_fixture  *cl = fixture;
    qst_context *ctx = matmul_context("");
    cl_event     user, done;
    cl_int       code;
    int          i;

    (void)state;
    for (i = 0; i < 3; i++) {
        qst_matmul   p;
        qst_counters before = {.size = sizeof before}, after = {.size = sizeof after};
        qst_matmul_init(&p, i == 0 ? 0 : 4, i == 1 ? 0 : 4, 4, QST_F32);
        if (i == 2)
            qst_matmul_batch(&p, 0);
        qst_context_counters(ctx, &before);
        assert_int_equal(qst_matmul_enqueue(ctx, cl->in_order, &p, NULL, NULL, NULL, 0, NULL, NULL, NULL), QST_OK);
        done = NULL;
        assert_int_equal(qst_matmul_enqueue(ctx, cl->in_order, &p, NULL, NULL, NULL, 0, NULL, &done, NULL), QST_OK);
        assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
        clReleaseEvent(done);
        if (cl->user_events) {
            user = clCreateUserEvent(cl->context, &code);
            assert_int_equal(qst_matmul_enqueue(ctx, cl->in_order, &p, NULL, NULL, NULL, 1, &user, &done, NULL),
                             QST_OK);
            clFlush(cl->in_order);
            assert_true(state_of(done) > CL_COMPLETE);
            clSetUserEventStatus(user, CL_COMPLETE);
            assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
            clReleaseEvent(user);
            clReleaseEvent(done);
        }
        qst_context_counters(ctx, &after);
        assert_int_equal(before.kernels, after.kernels);
    }
    qst_context_destroy(ctx);
}

/* k = 0 or alpha = 0: A and B are not looked at. */
static void scales_without_operands(void **state)
{
    cl_fixture  *cl = fixture;
    qst_context *ctx = matmul_context("");
    int          i;

    (void)state;
    for (i = 0; i < 4; i++) {
        qst_matmul  p;
        matmul_case c;
        qst_matmul_init(&p, 33, 20, i & 1 ? 0 : 12, QST_F32);
        p.alpha = i & 1 ? 1 : 0;
        p.beta = i & 2 ? 0.5 : 0;
        matmul_case_open(&c, cl, &p, NULL);
        assert_int_equal(qst_matmul_enqueue_at(ctx, cl->in_order, &p, qst_mem_of(NULL), qst_mem_of(NULL),
                                               matmul_case_operand(&c, 2), 0, NULL, NULL, NULL),
                         QST_OK);
        matmul_case_check(&c, cl->in_order);
        matmul_case_close(&c);
    }
    qst_context_destroy(ctx);
}

static void plans(void **state)
{
    cl_fixture  *cl = fixture;
    qst_context *ctx = matmul_context("");
    qst_matmul   p;
    matmul_case  c;
    qst_plan    *plan = NULL;
    qst_mem      operands[3];
    qst_counters before = {.size = sizeof before}, after = {.size = sizeof after};
    cl_event     done = NULL;
    int          i;

    (void)state;
    qst_matmul_init(&p, 96, 80, 72, QST_F32);
    matmul_case_open(&c, cl, &p, NULL);
    assert_int_equal(qst_matmul_plan(&plan, ctx, cl->in_order, &p, NULL), QST_OK);
    assert_non_null(strstr(qst_plan_winner(plan), "matmul."));
    for (i = 0; i < 3; i++)
        operands[i] = matmul_case_operand(&c, i);
    qst_context_counters(ctx, &before);
    assert_int_equal(qst_plan_enqueue(plan, cl->in_order, operands, 0, NULL, &done, NULL), QST_OK);
    qst_context_counters(ctx, &after);
    assert_int_equal(after.candidate - before.candidate, 1);
    assert_int_equal(after.compiles, before.compiles);
    assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
    clReleaseEvent(done);
    matmul_case_check(&c, cl->in_order);
    if (cl->out_of_order) {
        matmul_case_reset(&c, cl);
        assert_int_equal(qst_plan_enqueue(plan, cl->out_of_order, operands, 0, NULL, NULL, NULL), QST_OK);
        matmul_case_check(&c, cl->out_of_order);
    }
    qst_plan_destroy(plan);
    matmul_case_close(&c);
    qst_context_destroy(ctx);
}

/* A key is tuned once: problems of its bucket and later calls only run. */
static void tuned_once(void **state)
{
    cl_fixture          *cl = fixture;
    qst_context         *ctx = matmul_context("");
    static const int64_t sizes[] = {240, 240, 208, 250};
    static const int     tunes[] = {1, 0, 0, 1};
    size_t               i;

    (void)state;
    for (i = 0; i < 4; i++) {
        qst_matmul   p;
        matmul_case  c;
        qst_counters before = {.size = sizeof before}, after = {.size = sizeof after};
        qst_matmul_init(&p, sizes[i], sizes[i], sizes[i], QST_F32);
        matmul_case_open(&c, cl, &p, NULL);
        qst_context_counters(ctx, &before);
        assert_int_equal(enqueue(ctx, &c, cl->in_order, 0, NULL, NULL, NULL), QST_OK);
        qst_context_counters(ctx, &after);
        assert_int_equal(after.tuned - before.tuned, tunes[i]);
        if (!tunes[i])
            assert_int_equal(after.candidate - before.candidate, 1);
        else
            assert_true(after.candidate - before.candidate > 3);
        matmul_case_check(&c, cl->in_order);
        matmul_case_close(&c);
    }
    qst_context_destroy(ctx);
}

static void fallback_tunes_nothing(void **state)
{
    cl_fixture  *cl = fixture;
    qst_context *ctx = matmul_context(", \"tune\": {\"mode\": \"fallback\"}");
    qst_matmul   p;
    matmul_case  c;
    qst_plan    *plan;
    qst_counters after = {.size = sizeof after};

    (void)state;
    qst_matmul_init(&p, 64, 64, 64, QST_F32);
    matmul_case_open(&c, cl, &p, NULL);
    assert_int_equal(enqueue(ctx, &c, cl->in_order, 0, NULL, NULL, NULL), QST_OK);
    matmul_case_check(&c, cl->in_order);
    qst_context_counters(ctx, &after);
    assert_int_equal(after.tuned, 0);
    assert_int_equal(after.launches, 1);
    assert_int_equal(qst_matmul_plan(&plan, ctx, cl->in_order, &p, NULL), QST_OK);
    assert_non_null(strstr(qst_plan_winner(plan), "matmul.naive.row16/"));
    qst_plan_destroy(plan);
    matmul_case_close(&c);
    qst_context_destroy(ctx);
}

/* ---- Bad arguments -------------------------------------------------------------------------------------------- */

typedef struct bad {
    cl_fixture  *cl;
    qst_context *ctx;
    matmul_case  c;
    qst_mem      operands[3];
} bad;

static void expect_line(bad *b, cl_command_queue queue, const char *text)
{
    qst_error    err;
    qst_counters before = {.size = sizeof before}, after = {.size = sizeof after};

    memset(&err, 0, sizeof err);
    qst_context_counters(b->ctx, &before);
    assert_int_equal(qst_matmul_enqueue_at(b->ctx, queue, &b->c.problem, b->operands[0], b->operands[1], b->operands[2],
                                           0, NULL, NULL, &err),
                     QST_E_INVALID);
    if (!strstr(err.text, text))
        fail_msg("the line is \"%s\", expected \"%s\" in it", err.text, text);
    assert_null(strchr(err.text, '\n'));
    qst_context_counters(b->ctx, &after);
    assert_int_equal(after.kernels, before.kernels);
}

static void bad_arguments(void **state)
{
    bad              b = {.cl = fixture};
    qst_matmul       p;
    cl_context       other;
    cl_command_queue foreign;
    cl_int           code;
    int              i;

    (void)state;
    b.ctx = matmul_context("");
    qst_matmul_init(&p, 10, 12, 14, QST_F32);
    matmul_case_open(&b.c, b.cl, &p, NULL);
    for (i = 0; i < 3; i++)
        b.operands[i] = matmul_case_operand(&b.c, i);

    b.operands[0].handle = NULL;
    expect_line(&b, b.cl->in_order, "a is NULL");
    b.operands[0] = matmul_case_operand(&b.c, 0);
    b.operands[1].offset = 2;
    expect_line(&b, b.cl->in_order, "b: offset 2 is no multiple of 4 bytes");
    b.operands[1].offset = 4;
    expect_line(&b, b.cl->in_order, "b: the buffer has 672 bytes, the problem needs 672 from 4 on");
    b.operands[1] = matmul_case_operand(&b.c, 1);
    b.operands[2].kind = 9;
    expect_line(&b, b.cl->in_order, "c: unknown kind of memory 9");
    b.operands[2] = matmul_case_operand(&b.c, 2);

    b.c.problem.a.row = 20;
    expect_line(&b, b.cl->in_order, "a: the buffer has 560 bytes, the problem needs 776");
    b.c.problem = p;
    b.c.problem.m = -1;
    expect_line(&b, b.cl->in_order, "m is -1");
    b.c.problem = p;
    b.c.problem.a.type = 77;
    expect_line(&b, b.cl->in_order, "77");
    b.c.problem = p;
    b.c.problem.c.row = 0;
    expect_line(&b, b.cl->in_order, "c");
    b.c.problem = p;
    expect_line(&b, NULL, "queue is NULL");

    other = clCreateContext(NULL, 1, &b.cl->device, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    foreign = clCreateCommandQueue(other, b.cl->device, 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    expect_line(&b, foreign, "a: the buffer and the queue are of different contexts");
    assert_int_equal(qst_context_forget(b.ctx, other, NULL), QST_OK);
    assert_int_equal(qst_context_forget(b.ctx, other, NULL), QST_E_NOTFOUND);
    clReleaseCommandQueue(foreign);
    clReleaseContext(other);
    matmul_case_close(&b.c);
    qst_context_destroy(b.ctx);
}

static cl_mem buffer_of(const bad *b, cl_mem_flags flags)
{
    cl_int code;
    cl_mem mem = clCreateBuffer(b->cl->context, flags, 4096, NULL, &code);

    assert_int_equal(code, CL_SUCCESS);
    return mem;
}

/* As calls see it, and a plan's first enqueue. */
static void expect_not_admitted(bad *b, int operand, cl_mem mem, const char *text)
{
    qst_plan *plan;
    qst_error err = {0};

    b->operands[operand] = qst_mem_of(mem);
    expect_line(b, b->cl->in_order, text);
    expect_line(b, b->cl->in_order, text); /* nothing is remembered of a call that was refused */
    assert_int_equal(qst_matmul_plan(&plan, b->ctx, b->cl->in_order, &b->c.problem, NULL), QST_OK);
    assert_int_equal(qst_plan_enqueue(plan, b->cl->in_order, b->operands, 0, NULL, NULL, &err), QST_E_INVALID);
    assert_non_null(strstr(err.text, text));
    qst_plan_destroy(plan);
    b->operands[operand] = matmul_case_operand(&b->c, operand);
    clReleaseMemObject(mem);
}

/* Memory that kernels must not use so, or that is no buffer. */
static void memory_of_another_kind(void **state)
{
    bad             b = {.cl = fixture};
    cl_image_format format = {CL_R, CL_FLOAT};
    cl_image_desc   desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 64, .image_height = 64};
    cl_bool         images = CL_FALSE;
    qst_matmul      p;
    cl_mem          written;

    (void)state;
    b.ctx = matmul_context(", \"tune\": {\"mode\": \"fallback\"}");
    qst_matmul_init(&p, 10, 12, 14, QST_F32);
    matmul_case_open(&b.c, b.cl, &p, NULL);
    for (int i = 0; i < 3; i++)
        b.operands[i] = matmul_case_operand(&b.c, i);
    expect_not_admitted(&b, 2, buffer_of(&b, CL_MEM_READ_ONLY), "c is written, and its buffer is CL_MEM_READ_ONLY");
    expect_not_admitted(&b, 0, buffer_of(&b, CL_MEM_WRITE_ONLY), "a is read, and its buffer is CL_MEM_WRITE_ONLY");
    b.c.problem.beta = 1;
    expect_not_admitted(&b, 2, buffer_of(&b, CL_MEM_WRITE_ONLY), "c is read, and its buffer is CL_MEM_WRITE_ONLY");
    b.c.problem.beta = 0;
    assert_int_equal(clGetDeviceInfo(b.cl->device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL), CL_SUCCESS);
    if (images) {
        cl_int code;
        cl_mem image = clCreateImage(b.cl->context, CL_MEM_READ_WRITE, &format, &desc, NULL, &code);
        if (code == CL_SUCCESS)
            expect_not_admitted(&b, 2, image, "c: an image, or what else is no buffer");
    }
    written = buffer_of(&b, CL_MEM_WRITE_ONLY); /* with beta 0 it is only written */
    b.operands[2] = qst_mem_of(written);
    assert_int_equal(qst_matmul_enqueue_at(b.ctx, b.cl->in_order, &b.c.problem, b.operands[0], b.operands[1],
                                           b.operands[2], 0, NULL, NULL, NULL),
                     QST_OK);
    assert_int_equal(clFinish(b.cl->in_order), CL_SUCCESS);
    clReleaseMemObject(written);
    matmul_case_close(&b.c);
    qst_context_destroy(b.ctx);
}

static void bad_pointers(void **state)
{
    cl_fixture  *cl = fixture;
    qst_context *ctx = matmul_context("");
    qst_matmul   p;
    qst_plan    *plan;
    cl_event     none = NULL;
    qst_error    err;

    (void)state;
    memset(&err, 0, sizeof err);
    qst_matmul_init(&p, 4, 4, 4, QST_F32);
    assert_int_equal(qst_matmul_enqueue(NULL, cl->in_order, &p, NULL, NULL, NULL, 0, NULL, NULL, &err), QST_E_INVALID);
    assert_int_equal(qst_matmul_enqueue(ctx, cl->in_order, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL), QST_E_INVALID);
    assert_int_equal(qst_matmul_enqueue(ctx, cl->in_order, &p, NULL, NULL, NULL, 0, &none, NULL, NULL), QST_E_INVALID);
    assert_int_equal(qst_matmul_enqueue(ctx, cl->in_order, &p, NULL, NULL, NULL, 2, NULL, NULL, NULL), QST_E_INVALID);
    assert_int_equal(qst_matmul_plan(NULL, ctx, cl->in_order, &p, NULL), QST_E_INVALID);
    assert_int_equal(qst_matmul_plan(&plan, ctx, NULL, &p, NULL), QST_E_INVALID);
    assert_null(plan);
    p.size = 2;
    assert_int_equal(qst_matmul_enqueue(ctx, cl->in_order, &p, NULL, NULL, NULL, 0, NULL, NULL, NULL), QST_E_INVALID);
    qst_context_destroy(ctx);
    qst_context_destroy(NULL);
    qst_plan_destroy(NULL);
}

/* Types that not even the fallback takes together: a status and a reason. */
static void unsupported_types(void **state)
{
    cl_fixture  *cl = fixture;
    qst_context *ctx = matmul_context("");
    qst_matmul   p;
    cl_mem       mem = cl_fixture_buffer(cl, 1024, 0);
    qst_error    err;

    (void)state;
    memset(&err, 0, sizeof err);
    qst_matmul_init(&p, 4, 4, 4, QST_F16);
    p.b.type = QST_BF16;
    assert_int_equal(qst_matmul_enqueue(ctx, cl->in_order, &p, mem, mem, mem, 0, NULL, NULL, &err), QST_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "A and B of different types"));
    clReleaseMemObject(mem);
    qst_context_destroy(ctx);
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
        cmocka_unit_test(returns_before_the_callers_event),
        cmocka_unit_test(nothing_to_compute),
        cmocka_unit_test(scales_without_operands),
        cmocka_unit_test(plans),
        cmocka_unit_test(tuned_once),
        cmocka_unit_test(fallback_tunes_nothing),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(memory_of_another_kind),
        cmocka_unit_test(bad_pointers),
        cmocka_unit_test(unsupported_types),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
