/* SPDX-License-Identifier: MIT
 *
 * test_cl_launch.c: recipes on a real device: arguments of all kinds, order of steps, workspaces, events, many
 * threads, and every way in which a launch is refused. */
#include "cl/launch.h"

#include "cl/kernel-pool.h"
#include "support/cl_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char source[] =
    "kernel void put(global uint *to, ulong at, uint value, local uint *mine) {"
    "    mine[get_local_id(0)] = value;"
    "    barrier(CLK_LOCAL_MEM_FENCE);"
    "    to[at + get_global_id(0)] = mine[0] + (uint)get_global_id(0);"
    "}"
    "kernel void spread(global uint *scratch, global const uint *from, ulong at) {"
    "    scratch[get_global_id(0)] = from[at + get_global_id(0)] * 3u;"
    "}"
    "kernel void gather(global uint *to, ulong at, global const uint *scratch) {"
    "    to[at + get_global_id(0)] = scratch[get_global_id(0)] + 1u;"
    "}"
    "kernel void judge(global const uint *now, global const uint *before, ulong at, global uint *finding) {"
    "    finding[0] = now[0] + 100u * before[0] + 1000u * (uint)at;"
    "}"
    "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fixed(global uint *to) {"
    "    to[get_global_id(0)] = 9u;"
    "}";

static const uint32_t type_bytes[] = {4, 4};

enum { ITEMS = 8 };

typedef struct bench {
    cl_fixture  *fixture;
    qst__arena   arena;
    qst__recipe  recipe;
    qst_steps    steps;
    qst__runner *runner;
    cl_mem       buffers[2];
    qst_mem      operands[2];
} bench;

static bench open_bench(cl_fixture *fixture, bool judge)
{
    bench b = {.fixture = fixture};
    qst__recipe_init(&b.recipe, &fixture->alloc, 2, judge);
    for (uint32_t i = 0; i < 2; i++) {
        b.buffers[i] = cl_fixture_buffer(fixture, 64, 5 + i);
        b.operands[i] = qst_mem_of(b.buffers[i]);
    }
    return b;
}

static void close_bench(bench *b)
{
    qst__runner_destroy(b->runner);
    qst__arena_finish(&b->arena);
    (void)clReleaseMemObject(b->buffers[0]);
    (void)clReleaseMemObject(b->buffers[1]);
}

static void add(bench *b, const char *entry, uint32_t n_args, const qst_arg *args, uint64_t local)
{
    qst_launch launch = {.size = sizeof launch, .entry = entry, .dims = 1, .n_args = n_args, .args = args};
    launch.global[0] = ITEMS;
    launch.local[0] = local;
    qst__recipe_steps(&b->recipe, &b->steps);
    assert_int_equal(b->steps.launch(&b->steps, &launch), QST_OK);
}

static void add_put(bench *b, uint32_t value)
{
    const qst_arg args[] = {{.kind = QST_ARG_OPERAND, .index = 0},
                            {.kind = QST_ARG_OFFSET, .index = 0},
                            {.kind = QST_ARG_VALUE, .bytes = 4, .bits = {value, 0}},
                            {.kind = QST_ARG_LOCAL, .bytes = 64}};
    add(b, "put", 4, args, 4);
}

/* Operand 0 := 3 · operand 1 + 1 through a workspace. */
static void add_chain(bench *b)
{
    const qst_arg spread[] = {{.kind = QST_ARG_WORKSPACE, .index = 0},
                              {.kind = QST_ARG_OPERAND, .index = 1},
                              {.kind = QST_ARG_OFFSET, .index = 1}};
    const qst_arg gather[] = {{.kind = QST_ARG_OPERAND, .index = 0},
                              {.kind = QST_ARG_OFFSET, .index = 0},
                              {.kind = QST_ARG_WORKSPACE, .index = 0}};
    qst__recipe_steps(&b->recipe, &b->steps);
    assert_int_equal(b->steps.workspace(&b->steps, 0, ITEMS * 4), QST_OK);
    add(b, "spread", 3, spread, 0);
    add(b, "gather", 3, gather, 4);
}

static qst_status ready(bench *b, qst_error *err)
{
    cl_fixture   *fixture = b->fixture;
    qst__program *program = cl_fixture_build(fixture, source);
    qst__arena_init(&b->arena, &fixture->alloc, fixture->context, 1u << 20);
    assert_int_equal(qst__recipe_check(&b->recipe, &fixture->facts.device, "toy", err), QST_OK);
    return qst__runner_create(&b->runner, &fixture->alloc, &b->recipe, &program, 1, type_bytes, fixture->device,
                              &b->arena, &fixture->counters, "toy", err);
}

static qst__go go_on(const bench *b, cl_command_queue queue)
{
    return (qst__go){.queue = queue, .in_order = queue != b->fixture->out_of_order, .operands = b->operands};
}

static void run_ok(bench *b, const qst__go *go)
{
    qst_error err = {0};
    if (qst__runner_enqueue(b->runner, go, &err) != QST_OK)
        fail_msg("%s: %s", err.source, err.text);
}

static uint64_t kernels(cl_fixture *fixture)
{
    return atomic_load(&fixture->counters.kernels);
}

/* ---- One step ------------------------------------------------------------------------------------------------- */

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

/* ---- Several steps -------------------------------------------------------------------------------------------- */

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

/* ---- Refusals ------------------------------------------------------------------------------------------------- */

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
    if (fixture->facts.device.flags & QST_DEVICE_LOCAL_FAST) {
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

/* ---- The pool and threads ------------------------------------------------------------------------------------- */

/* All slots lent: a spare is made, counted and released; a slot given back is lent again. */
static void test_pool(void **state)
{
    cl_fixture   *fixture = *state;
    bench         b = open_bench(fixture, false);
    qst_error     err = {0};
    qst_status    status = QST_OK;
    qst__pool     pool;
    qst__slot    *lent[QST__POOL_SLOTS + 2];
    qst__program *program = cl_fixture_build(fixture, source);
    memset(&pool, 0, sizeof pool);
    add_put(&b, 1);
    qst__arena_init(&b.arena, &fixture->alloc, fixture->context, 1u << 20);
    assert_int_equal(qst__pool_init(&pool, &fixture->alloc, qst__program_cl(program), &b.recipe.steps[0],
                                    fixture->device, "toy", &err),
                     QST_OK);
    for (uint32_t i = 0; i < QST__POOL_SLOTS + 2; i++) {
        lent[i] = qst__pool_borrow(&pool, 3, &status, &err);
        assert_non_null(lent[i]);
        assert_non_null(qst__slot_kernel(lent[i]));
        assert_int_equal(lent[i]->spare, i >= QST__POOL_SLOTS);
        for (uint32_t j = 0; j < i; j++) {
            assert_ptr_not_equal(lent[i], lent[j]);
            assert_ptr_not_equal(qst__slot_kernel(lent[i]), qst__slot_kernel(lent[j]));
        }
    }
    /* The first call of a lone thread is served by the kernel that is there. */
    assert_ptr_equal(lent[0], &pool.slots[0]);
    for (uint32_t i = 0; i < QST__POOL_SLOTS + 2; i++)
        qst__pool_give(&pool, lent[i], i != 1);
    assert_int_equal(qst__pool_runs(&pool), QST__POOL_SLOTS + 1);
    lent[0] = qst__pool_borrow(&pool, 3, &status, &err);
    assert_ptr_equal(lent[0], &pool.slots[3]);
    qst__pool_give(&pool, lent[0], false);
    assert_int_equal(qst__pool_runs(&pool), QST__POOL_SLOTS + 1);
    qst__pool_finish(&pool);
    qst__recipe_finish(&b.recipe);
    close_bench(&b);
}

enum { THREADS = 12, CALLS = 40 };

typedef struct caller {
    pthread_t          thread;
    bench             *b;
    pthread_barrier_t *together;
    cl_mem             buffer;
    int                wrong;
} caller;

/* Each call writes elsewhere in this thread's own buffer; a kernel shared by two threads would miss one. */
static void *call(void *user)
{
    caller  *c = user;
    qst_mem  operands[2] = {qst_mem_of(c->buffer), qst_mem_of(c->buffer)};
    qst__go  go = {.queue = c->b->fixture->in_order, .in_order = true, .operands = operands};
    uint32_t values[ITEMS * CALLS] = {0};
    (void)pthread_barrier_wait(c->together);
    for (uint32_t i = 0; i < CALLS; i++) {
        operands[0].offset = (uint64_t)i * ITEMS * 4;
        c->wrong += qst__runner_enqueue(c->b->runner, &go, NULL) != QST_OK;
    }
    c->wrong += clEnqueueReadBuffer(go.queue, c->buffer, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL) != 0;
    for (uint32_t i = 0; i < ITEMS * CALLS; i++)
        c->wrong += values[i] != 1000 + i % ITEMS;
    return NULL;
}

static void test_threads(void **state)
{
    cl_fixture       *fixture = *state;
    bench             b = open_bench(fixture, false);
    qst_error         err = {0};
    caller            callers[THREADS];
    pthread_barrier_t together;
    add_put(&b, 1000);
    assert_int_equal(ready(&b, &err), QST_OK);
    assert_int_equal(pthread_barrier_init(&together, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (caller){.b = &b, .together = &together};
        callers[i].buffer = cl_fixture_buffer(fixture, ITEMS * CALLS, 0);
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
        assert_int_equal(callers[i].wrong, 0);
        (void)clReleaseMemObject(callers[i].buffer);
    }
    assert_int_equal(qst__runner_runs(b.runner), THREADS * CALLS);
    (void)pthread_barrier_destroy(&together);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_step),       cmocka_unit_test(test_events),
        cmocka_unit_test(test_judge_operands), cmocka_unit_test(test_chain),
        cmocka_unit_test(test_many_waits),     cmocka_unit_test(test_shared_block),
        cmocka_unit_test(test_arity),          cmocka_unit_test(test_no_such_kernel),
        cmocka_unit_test(test_driver_refuses), cmocka_unit_test(test_refused_call),
        cmocka_unit_test(test_local_memory),   cmocka_unit_test(test_program_index),
        cmocka_unit_test(test_pool),           cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, cl_fixture_open, cl_fixture_close);
}
