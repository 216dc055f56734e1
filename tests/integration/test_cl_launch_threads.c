/* SPDX-License-Identifier: MIT
 *
 * test_cl_launch_threads.c: one recipe called by many: the pool lends each call a kernel of its own. */
#include "cl/kernel-pool.h"
#include "launch_bench.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

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
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, cl_fixture_open, cl_fixture_close);
}
