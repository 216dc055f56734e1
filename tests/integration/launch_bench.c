/* SPDX-License-Identifier: MIT
 *
 * launch_bench.c: kernels whose results tell who wrote where, and recipes of them. */
#include "launch_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

const char source[] =
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

const uint32_t type_bytes[2] = {4, 4};

bench open_bench(cl_fixture *fixture, bool judge)
{
    bench b = {.fixture = fixture};
    qst__recipe_init(&b.recipe, &fixture->alloc, 2, judge);
    for (uint32_t i = 0; i < 2; i++) {
        b.buffers[i] = cl_fixture_buffer(fixture, 64, 5 + i);
        b.operands[i] = qst_mem_of(b.buffers[i]);
    }
    return b;
}

void close_bench(bench *b)
{
    qst__runner_destroy(b->runner);
    qst__arena_finish(&b->arena);
    (void)clReleaseMemObject(b->buffers[0]);
    (void)clReleaseMemObject(b->buffers[1]);
}

void add(bench *b, const char *entry, uint32_t n_args, const qst_arg *args, uint64_t local)
{
    qst_launch launch = {.size = sizeof launch, .entry = entry, .dims = 1, .n_args = n_args, .args = args};
    launch.global[0] = ITEMS;
    launch.local[0] = local;
    qst__recipe_steps(&b->recipe, &b->steps);
    assert_int_equal(b->steps.launch(&b->steps, &launch), QST_OK);
}

void add_put(bench *b, uint32_t value)
{
    const qst_arg args[] = {{.kind = QST_ARG_OPERAND, .index = 0},
                            {.kind = QST_ARG_OFFSET, .index = 0},
                            {.kind = QST_ARG_VALUE, .bytes = 4, .bits = {value, 0}},
                            {.kind = QST_ARG_LOCAL, .bytes = 64}};
    add(b, "put", 4, args, 4);
}

void add_chain(bench *b)
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

qst_status ready(bench *b, qst_error *err)
{
    cl_fixture   *fixture = b->fixture;
    qst__program *program = cl_fixture_build(fixture, source);
    qst__arena_init(&b->arena, &fixture->alloc, fixture->context, 1u << 20);
    assert_int_equal(qst__recipe_check(&b->recipe, &fixture->facts.device, "toy", err), QST_OK);
    return qst__runner_create(&b->runner, &fixture->alloc, &b->recipe, &program, 1, type_bytes, fixture->device,
                              &b->arena, &fixture->counters, "toy", err);
}

qst__go go_on(const bench *b, cl_command_queue queue)
{
    return (qst__go){.queue = queue, .in_order = queue != b->fixture->out_of_order, .operands = b->operands};
}

void run_ok(bench *b, const qst__go *go)
{
    qst_error err = {0};
    if (qst__runner_enqueue(b->runner, go, &err) != QST_OK)
        fail_msg("%s: %s", err.source, err.text);
}
