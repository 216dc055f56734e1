/* SPDX-License-Identifier: MIT
 *
 * test_cl_join.c: what waits for what between queues, made visible by user events. */
#include "cl/join.h"

#include "support/cl_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static cl_int state_of(cl_event event)
{
    cl_int state = CL_QUEUED;
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL), CL_SUCCESS);
    return state;
}

static cl_event user_event(cl_fixture *fixture)
{
    cl_int   code;
    cl_event event = clCreateUserEvent(fixture->context, &code);
    assert_int_equal(code, CL_SUCCESS);
    return event;
}

static uint32_t references(cl_command_queue queue)
{
    cl_uint count = 0;
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, NULL), CL_SUCCESS);
    return count;
}

/* A fill behind the barrier stays undone until the event of "another queue" completes. */
static void test_wait_and_mark(void **state)
{
    cl_fixture *fixture = *state;
    qst_error   err = {0};
    uint32_t    two = 2;
    if (!fixture->user_events)
        skip();
    cl_mem   buffer = cl_fixture_buffer(fixture, 4, 1);
    cl_event gate = user_event(fixture), mark = NULL;
    assert_int_equal(qst__join_wait(fixture->in_order, 1, &gate, &err), QST_OK);
    assert_int_equal(clEnqueueFillBuffer(fixture->in_order, buffer, &two, sizeof two, 0, 16, 0, NULL, NULL), 0);
    assert_int_equal(qst__join_mark(fixture->in_order, &mark, &err), QST_OK);
    assert_int_equal(clFlush(fixture->in_order), CL_SUCCESS);
    /* The other queue is not held, and sees the old content. */
    assert_int_equal(cl_fixture_read(fixture->profiling, buffer, 3), 1);
    assert_true(state_of(mark) > CL_COMPLETE);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &mark), CL_SUCCESS);
    assert_int_equal(cl_fixture_read(fixture->profiling, buffer, 3), 2);
    (void)clReleaseEvent(gate);
    (void)clReleaseEvent(mark);
    (void)clReleaseMemObject(buffer);
}

static void test_nothing_to_join(void **state)
{
    cl_fixture *fixture = *state;
    qst_error   err = {0};
    cl_event    done = NULL;
    uint32_t    before;
    assert_int_equal(clFinish(fixture->in_order), CL_SUCCESS);
    before = references(fixture->in_order);
    assert_int_equal(qst__join_wait(fixture->in_order, 0, NULL, &err), QST_OK);
    assert_int_equal(qst__join_nothing(fixture->in_order, 0, NULL, NULL, &err), QST_OK);
    assert_int_equal(references(fixture->in_order), before);
    assert_int_equal(qst__join_nothing(fixture->in_order, 0, NULL, &done, &err), QST_OK);
    assert_non_null(done);
    assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
    (void)clReleaseEvent(done);
}

/* The empty call: its event is complete only after the waits, on both kinds of queue. */
static void test_empty_call(void **state)
{
    cl_fixture *fixture = *state;
    qst_error   err = {0};
    if (!fixture->user_events)
        skip();
    cl_command_queue queues[2] = {fixture->in_order, fixture->out_of_order};
    for (int i = 0; i < 2 && queues[i]; i++) {
        cl_event gate = user_event(fixture), done = NULL;
        assert_int_equal(qst__join_nothing(queues[i], 1, &gate, &done, &err), QST_OK);
        assert_int_equal(clFlush(queues[i]), CL_SUCCESS);
        assert_true(state_of(done) > CL_COMPLETE);
        assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
        assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
        (void)clReleaseEvent(gate);
        (void)clReleaseEvent(done);
    }
}

static void test_failures(void **state)
{
    cl_fixture *fixture = *state;
    qst_error   err = {0};
    cl_event    none = NULL;
    assert_int_equal(qst__join_wait(fixture->in_order, 1, &none, &err), QST_E_CL);
    assert_true(err.cl_code == CL_INVALID_EVENT_WAIT_LIST || err.cl_code == CL_INVALID_EVENT);
    qst__error_clear(&err);
    assert_int_equal(qst__join_mark(NULL, &none, &err), QST_E_CL);
    assert_int_equal(err.cl_code, CL_INVALID_COMMAND_QUEUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait_and_mark),
        cmocka_unit_test(test_nothing_to_join),
        cmocka_unit_test(test_empty_call),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, cl_fixture_open, cl_fixture_close);
}
