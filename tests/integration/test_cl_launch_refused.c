/* SPDX-License-Identifier: MIT
 *
 * test_cl_launch_refused.c: every way in which a launch is refused, by the runner before it or by the driver at it, and
 * what the error then says. */
#include "launch_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_arity(void **state)
{
    static const qst_arg args[] = {{.kind = QST_ARG_OPERAND, .index = 0}};
    bench                b = open_bench(*state, false);
    qst_error            err = {0};
    add(&b, "put", 1, args, 0);
    assert_int_equal(ready(&b, &err), QST_E_INVALID);
    assert_null(b.runner);
    assert_non_null(strstr(err.text, "'put' takes 4 arguments, the launch gives 1"));
    assert_string_equal(err.source, "toy");
    close_bench(&b);
}

static void test_no_such_kernel(void **state)
{
    static const qst_arg args[] = {{.kind = QST_ARG_OPERAND, .index = 0}};
    bench                b = open_bench(*state, false);
    qst_error            err = {0};
    add(&b, "absent", 1, args, 0);
    assert_int_equal(ready(&b, &err), QST_E_CL);
    assert_int_equal(err.cl_code, CL_INVALID_KERNEL_NAME);
    assert_non_null(strstr(err.text, "'absent'"));
    close_bench(&b);
}

/* What the source requires is the driver's to refuse: at the launch, with the step's number. */
static void test_driver_refuses(void **state)
{
    static const qst_arg args[] = {{.kind = QST_ARG_OPERAND, .index = 0}};
    cl_fixture          *fixture = *state;
    cl_command_queue     queues[2] = {fixture->in_order, fixture->out_of_order};
    for (int i = 0; i < 2 && queues[i]; i++) {
        bench     b = open_bench(fixture, false);
        qst_error err = {0};
        cl_event  first = NULL, last = NULL;
        add_chain(&b);
        add(&b, "fixed", 1, args, 8);
        assert_int_equal(ready(&b, &err), QST_OK);
        qst__go go = go_on(&b, queues[i]);
        go.event = &last;
        go.first = &first;
        assert_int_equal(qst__runner_enqueue(b.runner, &go, &err), QST_E_CL);
        assert_int_equal(err.cl_code, CL_INVALID_WORK_GROUP_SIZE);
        assert_non_null(strstr(err.text, "step 3 of 3, kernel 'fixed': clEnqueueNDRangeKernel gives "
                                         "CL_INVALID_WORK_GROUP_SIZE"));
        assert_non_null(strstr(err.text, "the steps before it are enqueued"));
        assert_null(first);
        assert_null(last);
        /* The block of the enqueued steps went out of the arena: no event tells when they end. */
        assert_null(b.arena.first);
        assert_int_equal(b.arena.used, 0);
        assert_int_equal(qst__runner_runs(b.runner), 0);
        assert_int_equal(qst__runner_kernels(b.runner), 2);
        assert_int_equal(clFinish(queues[i]), CL_SUCCESS);
        close_bench(&b);
    }
}

static void test_refused_call(void **state)
{
    cl_fixture *fixture = *state;
    bench       b = open_bench(fixture, false);
    qst_error   err = {0};
    add_put(&b, 3);
    assert_int_equal(ready(&b, &err), QST_OK);
    qst__go go = go_on(&b, NULL);
    assert_int_equal(qst__runner_enqueue(b.runner, &go, &err), QST_E_CL);
    assert_int_equal(err.cl_code, CL_INVALID_COMMAND_QUEUE);
    assert_non_null(strstr(err.text, "step 1 of 1"));
    assert_null(strstr(err.text, "steps before"));
    /* The kernel came back: the next call is served. */
    go.queue = fixture->in_order;
    run_ok(&b, &go);
    assert_int_equal(cl_fixture_read(fixture->in_order, b.buffers[0], 0), 3);
    assert_int_equal(qst__runner_runs(b.runner), 1);
    close_bench(&b);
}

static void test_local_memory(void **state)
{
    static const char text[] = "kernel void big(global uint *to, local uint *more) {"
                               "    local uint own[1024];"
                               "    own[get_local_id(0)] = to[0];"
                               "    more[get_local_id(0)] = own[get_local_id(0)];"
                               "    barrier(CLK_LOCAL_MEM_FENCE);"
                               "    to[get_global_id(0)] = more[0] + own[1];"
                               "}";
    cl_fixture       *fixture = *state;
    bench             b = open_bench(fixture, false);
    qst_error         err = {0};
    qst__program     *program = cl_fixture_build(fixture, text);
    const qst_arg     args[] = {{.kind = QST_ARG_OPERAND, .index = 0},
                                {.kind = QST_ARG_LOCAL, .bytes = fixture->facts.device.local_bytes - QST__LOCAL_SLACK}};
    add(&b, "big", 2, args, 4);
    qst__arena_init(&b.arena, &fixture->alloc, fixture->context, 1u << 20);
    assert_int_equal(qst__recipe_check(&b.recipe, &fixture->facts.device, "toy", &err), QST_OK);
    if (fixture->facts.device.flags & QST_DEVICE_LOCAL_DEDICATED) {
        qst__recipe_finish(&b.recipe);
        close_bench(&b);
        skip();
    }
    assert_int_equal(qst__runner_create(&b.runner, &fixture->alloc, &b.recipe, &program, 1, type_bytes, fixture->device,
                                        &b.arena, NULL, "toy", &err),
                     QST_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "bytes of local memory of its own"));
    close_bench(&b);
}

static void test_program_index(void **state)
{
    cl_fixture   *fixture = *state;
    bench         b = open_bench(fixture, false);
    qst_error     err = {0};
    qst__program *program = cl_fixture_build(fixture, source);
    add_put(&b, 1);
    b.recipe.steps[0].program = 1;
    qst__arena_init(&b.arena, &fixture->alloc, fixture->context, 1u << 20);
    assert_int_equal(qst__runner_create(&b.runner, &fixture->alloc, &b.recipe, &program, 1, type_bytes, fixture->device,
                                        &b.arena, NULL, "toy", &err),
                     QST_E_INVALID);
    assert_non_null(strstr(err.text, "program 1, there are 1"));
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arity),          cmocka_unit_test(test_no_such_kernel),
        cmocka_unit_test(test_driver_refuses), cmocka_unit_test(test_refused_call),
        cmocka_unit_test(test_local_memory),   cmocka_unit_test(test_program_index),
    };
    return cmocka_run_group_tests(tests, cl_fixture_open, cl_fixture_close);
}
