/* SPDX-License-Identifier: MIT
 *
 * test_retry.c: a device without memory for a moment: the call is served by the safe candidate, and the key is tuned
 * when the memory is back, by calls and by plans. The clock is the test's; clCreateBuffer fails while it says so.
 */
#include "run/run.h"
#include "support/blend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void *fixture;

static bool no_memory;

cl_mem __real_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code);
cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code);

cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code)
{
    if (!no_memory)
        return __real_clCreateBuffer(context, flags, size, host, code);
    *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

/* Stands until the test lets it go, however long the calls before take; then real time, so that times of samples are
 * sound, and what the test adds to it. */
static uint64_t   held, added;
static qst__clock host;

static uint64_t now(void *user)
{
    (void)user;
    return held ? held : qst__now(&host) + added;
}

static uint64_t tuned(qst_context *ctx)
{
    qst_counters c = {.size = sizeof c};

    qst_context_counters(ctx, &c);
    return c.tuned;
}

static void tuned_when_memory_is_back(void **state)
{
    static const qst_candidate *const all[] = {&blend_loop, &blend_wide, NULL};
    cl_fixture                       *cl = fixture;
    qst_context                      *ctx = blend_context(NULL);
    qst_set                          *set = blend_set(ctx, all);
    blend_problem                     p = blend_of(3000, 2, 0);
    blend_case                        c;
    qst_plan                         *plan = NULL;

    (void)state;
    host = qst__clock_host();
    held = qst__now(&host);
    ctx->clock.now = now;
    blend_open(&c, cl->context, cl->in_order, &p);
    no_memory = true;
    assert_int_equal(qst_plan_create(&plan, set, cl->in_order, &p, 0, NULL), QST_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
        blend_check(&c, cl->in_order, 1);
    }
    no_memory = false;
    assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, NULL), QST_OK); /* too early */
    assert_int_equal(tuned(ctx), 0);
    held = 0;
    added = 10 * (uint64_t)QST__RETRY_FIRST_NS;
    assert_int_equal(qst_plan_enqueue(plan, cl->in_order, c.operand, 0, NULL, NULL, NULL), QST_OK);
    assert_int_equal(tuned(ctx), 1);
    assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
    blend_check(&c, cl->in_order, 1);
    assert_int_equal(tuned(ctx), 1);
    qst_plan_destroy(plan);
    blend_close(&c);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(tuned_when_memory_is_back)};

    return cmocka_run_group_tests(tests, open_all, close_all);
}
