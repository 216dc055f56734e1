/* SPDX-License-Identifier: MIT
 *
 * test_cl_launch.c: recipes on a real device: arguments of all kinds, order of steps, workspaces and events. */
#include "launch_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t kernels(cl_fixture *fixture)
{
    return atomic_load(&fixture->counters.kernels);
}

/* ---- One step --------------------------------------------------------------------------------------------------- */

static void test_one_step(void **state)
{
    cl_fixture *fixture = *state;
    bench       b = open_bench(fixture, false);
    qst_error   err = {0};
    uint64_t    before = kernels(fixture);
    add_put(&b, 40);
    assert_int_equal(ready(&b, &err), QST_OK);
    assert_int_equal(qst__runner_launches(b.runner), 1);
    assert_int_equal(qst__runner_workspace(b.runner), 0);
    b.operands[0].offset = 16 * 4;
    qst__go go = go_on(&b, fixture->in_order);
    run_ok(&b, &go);
    assert_int_equal(cl_fixture_read(fixture->in_order, b.buffers[0], 15), 5);
    assert_int_equal(cl_fixture_read(fixture->in_order, b.buffers[0], 16), 40);
    assert_int_equal(cl_fixture_read(fixture->in_order, b.buffers[0], 23), 47);
    assert_int_equal(cl_fixture_read(fixture->in_order, b.buffers[0], 24), 5);
    b.operands[0] = qst_mem_of(b.buffers[1]);
    run_ok(&b, &go);
    assert_int_equal(cl_fixture_read(fixture->in_order, b.buffers[1], 0), 40);
    assert_int_equal(qst__runner_runs(b.runner), 2);
    assert_int_equal(qst__runner_kernels(b.runner), 2);
    close_bench(&b);
    assert_int_equal(kernels(fixture) - before, 2);
}

/* What a kernel has been told already it need not be told again; all else it must be, at once. */
static void test_offsets_that_change(void **state)
{
    static const uint64_t at[] = {0, 0, 8, 8, 0, 48, 8, 0};
    cl_fixture           *fixture = *state;
    bench                 b = open_bench(fixture, false);
    qst_error             err = {0};
    add_put(&b, 40);
    assert_int_equal(ready(&b, &err), QST_OK);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        cl_mem  mem = cl_fixture_buffer(fixture, 64, 5);
        qst__go go = go_on(&b, fixture->in_order);
        b.operands[0] = qst_mem_of(mem);
        b.operands[0].offset = at[i] * 4;
        run_ok(&b, &go);
        for (uint64_t k = 0; k < 64; k++)
            assert_int_equal(cl_fixture_read(fixture->in_order, mem, k),
                             k >= at[i] && k < at[i] + ITEMS ? 40 + k - at[i] : 5);
        assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
    }
    close_bench(&b);
}

static void test_events(void **state)
{
    cl_fixture *fixture = *state;
    bench       b = open_bench(fixture, false);
    qst_error   err = {0};
    cl_event    first = NULL, last = NULL;
    add_put(&b, 1);
    assert_int_equal(ready(&b, &err), QST_OK);
    qst__go go = go_on(&b, fixture->in_order);
    go.event = &last;
    go.first = &first;
    run_ok(&b, &go);
    assert_ptr_equal(first, last);
    assert_int_equal(clWaitForEvents(1, &last), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(last), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(first), CL_SUCCESS);
    go.event = NULL;
    first = NULL;
    run_ok(&b, &go);
    assert_non_null(first);
    assert_int_equal(clWaitForEvents(1, &first), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(first), CL_SUCCESS);
    close_bench(&b);
}

static void test_judge_operands(void **state)
{
    static const qst_arg args[] = {{.kind = QST_ARG_OPERAND, .index = 0},
                                   {.kind = QST_ARG_OPERAND, .index = QST_JUDGE_BEFORE + 1},
                                   {.kind = QST_ARG_OFFSET, .index = QST_JUDGE_BEFORE + 1},
                                   {.kind = QST_ARG_OPERAND, .index = QST_JUDGE_FINDING}};
    cl_fixture          *fixture = *state;
    bench                b = open_bench(fixture, true);
    qst_error            err = {0};
    cl_mem               finding = cl_fixture_buffer(fixture, QST_FINDING_WORDS, 0);
    cl_mem               before[2] = {NULL, b.buffers[1]};
    add(&b, "judge", 4, args, 0);
    assert_int_equal(ready(&b, &err), QST_OK);
    qst__go go = go_on(&b, fixture->in_order);
    b.operands[1].offset = 2 * 4;
    go.before = before;
    go.finding = finding;
    run_ok(&b, &go);
    assert_int_equal(cl_fixture_read(fixture->in_order, finding, 0), 2605);
    (void)clReleaseMemObject(finding);
    close_bench(&b);
}

/* ---- Several steps ---------------------------------------------------------------------------------------------- */

static void test_chain(void **state)
{
    cl_fixture      *fixture = *state;
    cl_command_queue queues[3] = {fixture->in_order, fixture->profiling, fixture->out_of_order};
    for (int i = 0; i < 3 && queues[i]; i++) {
        bench     b = open_bench(fixture, false);
        qst_error err = {0};
        cl_event  first = NULL, last = NULL;
        add_chain(&b);
        assert_int_equal(ready(&b, &err), QST_OK);
        assert_int_equal(qst__runner_launches(b.runner), 2);
        assert_int_equal(qst__runner_workspace(b.runner), ITEMS * 4);
        b.operands[0].offset = 4;
        qst__go go = go_on(&b, queues[i]);
        run_ok(&b, &go);
        assert_int_equal(clFinish(queues[i]), CL_SUCCESS);
        assert_int_equal(cl_fixture_read(fixture->in_order, b.buffers[0], 0), 5);
        assert_int_equal(cl_fixture_read(fixture->in_order, b.buffers[0], ITEMS), 19);
        go.first = &first;
        go.event = &last;
        run_ok(&b, &go);
        assert_ptr_not_equal(first, last);
        assert_int_equal(clWaitForEvents(1, &last), CL_SUCCESS);
        assert_int_equal(clWaitForEvents(1, &first), CL_SUCCESS);
        assert_int_equal(clReleaseEvent(first), CL_SUCCESS);
        assert_int_equal(clReleaseEvent(last), CL_SUCCESS);
        /* Both runs are over, so they had the same block. */
        assert_non_null(b.arena.first);
        assert_null(b.arena.first->next);
        assert_int_equal(qst__runner_runs(b.runner), 2);
        assert_int_equal(qst__runner_kernels(b.runner), 4);
        close_bench(&b);
    }
}

/* More waits than the stack's list has room for, all of them honoured, on a queue of either kind. */
static void test_many_waits(void **state)
{
    enum { WAITS = 20 };
    cl_fixture      *fixture = *state;
    cl_command_queue queues[2] = {fixture->in_order, fixture->out_of_order};
    if (!fixture->user_events)
        skip();
    for (int i = 0; i < 2 && queues[i]; i++) {
        bench     b = open_bench(fixture, false);
        qst_error err = {0};
        cl_event  gates[WAITS], last = NULL;
        cl_int    code, status = CL_COMPLETE;
        add_chain(&b);
        assert_int_equal(ready(&b, &err), QST_OK);
        for (int j = 0; j < WAITS; j++) {
            gates[j] = clCreateUserEvent(fixture->context, &code);
            assert_int_equal(code, CL_SUCCESS);
        }
        qst__go go = go_on(&b, queues[i]);
        go.n_wait = WAITS;
        go.wait_list = gates;
        go.event = &last;
        run_ok(&b, &go);
        assert_int_equal(clFlush(queues[i]), CL_SUCCESS);
        for (int j = 0; j < WAITS; j++) {
            assert_int_equal(clGetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL), 0);
            assert_true(status > CL_COMPLETE);
            assert_int_equal(cl_fixture_read(fixture->profiling, b.buffers[0], 0), 5);
            assert_int_equal(clSetUserEventStatus(gates[j], CL_COMPLETE), CL_SUCCESS);
            assert_int_equal(clReleaseEvent(gates[j]), CL_SUCCESS);
        }
        assert_int_equal(clWaitForEvents(1, &last), CL_SUCCESS);
        assert_int_equal(cl_fixture_read(fixture->profiling, b.buffers[0], 0), 19);
        assert_int_equal(clReleaseEvent(last), CL_SUCCESS);
        close_bench(&b);
    }
}

/* Many calls that a user event holds on one queue use one block, so that there is room for another queue's: it does not
 * wait for them. */
static void test_held_queue(void **state)
{
    cl_fixture *fixture = *state;
    bench       b = open_bench(fixture, false);
    qst_error   err = {0};
    cl_int      code;
    if (!fixture->user_events) {
        close_bench(&b);
        skip();
    }
    add_chain(&b);
    assert_int_equal(ready(&b, &err), QST_OK);
    b.arena.cap = 4 * 4096;
    cl_event gate = clCreateUserEvent(fixture->context, &code);
    assert_int_equal(code, CL_SUCCESS);
    qst__go go = go_on(&b, fixture->in_order);
    for (int i = 0; i < 20; i++) {
        go.n_wait = i ? 0 : 1;
        go.wait_list = i ? NULL : &gate;
        run_ok(&b, &go);
    }
    go = go_on(&b, fixture->profiling);
    run_ok(&b, &go);
    assert_int_equal(clFinish(fixture->profiling), CL_SUCCESS); /* or for ever */
    assert_int_equal(cl_fixture_read(fixture->profiling, b.buffers[0], 0), 19);
    assert_int_equal(b.arena.used, 2 * 4096);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clFinish(fixture->in_order), CL_SUCCESS);
    (void)clReleaseEvent(gate);
    close_bench(&b);
}

/* Two calls on two queues with room for one block: the second waits for the first on the device. */
static void test_shared_block(void **state)
{
    cl_fixture *fixture = *state;
    bench       b = open_bench(fixture, false);
    qst_error   err = {0};
    cl_int      code, status = CL_COMPLETE;
    cl_event    second = NULL;
    if (!fixture->user_events) {
        close_bench(&b);
        skip();
    }
    add_chain(&b);
    assert_int_equal(ready(&b, &err), QST_OK);
    b.arena.cap = 4096;
    cl_event gate = clCreateUserEvent(fixture->context, &code);
    assert_int_equal(code, CL_SUCCESS);
    qst__go held = go_on(&b, fixture->in_order), other = go_on(&b, fixture->profiling);
    held.n_wait = 1;
    held.wait_list = &gate;
    other.event = &second;
    run_ok(&b, &held);
    run_ok(&b, &other);
    assert_int_equal(clFlush(fixture->profiling), CL_SUCCESS);
    assert_int_equal(clGetEventInfo(second, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL), 0);
    assert_true(status > CL_COMPLETE);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &second), CL_SUCCESS);
    assert_int_equal(clFinish(fixture->in_order), CL_SUCCESS);
    assert_int_equal(cl_fixture_read(fixture->in_order, b.buffers[0], 0), 19);
    (void)clReleaseEvent(gate);
    (void)clReleaseEvent(second);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_step),   cmocka_unit_test(test_offsets_that_change),
        cmocka_unit_test(test_events),     cmocka_unit_test(test_judge_operands),
        cmocka_unit_test(test_chain),      cmocka_unit_test(test_many_waits),
        cmocka_unit_test(test_held_queue), cmocka_unit_test(test_shared_block),
    };
    return cmocka_run_group_tests(tests, cl_fixture_open, cl_fixture_close);
}
