/* SPDX-License-Identifier: MIT
 *
 * test_background.c: while keys are tuned in the background, a candidate that is far too slow runs the second shape alone,
 * not the problem that calls wait behind; and a plan in use takes the winner over, with and without the process that
 * compiles ahead.
 */
#include "run/background.h"
#include "support/blend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quernstone/kit.h>

#define N 65536

static void *fixture;

/* Right, and thousands of times as slow as need be. */
static const char source[] =
    "kernel void slow(global const float *x, ulong x0, global float *y, ulong y0, long n, float a, float b) {"
    "    for (long i = (long)get_global_id(0); i < n; i += (long)get_global_size(0)) {"
    "        volatile float v = a * x[x0 + i];"
    "        for (int k = 0; k < 4000; k++) v = v;"
    "        y[y0 + i] = v;"
    "    }"
    "}";

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    (void)user, (void)device, (void)key, (void)index;
    out->data = source;
    out->length = sizeof source - 1;
    return QST_OK;
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const blend_problem *p = problem;
    const qst_arg        args[] = {qstk_operand(0), qstk_offset(0), qstk_operand(1),       qstk_offset(1),
                                   qstk_i64(p->n),  qstk_f32(p->a), qstk_f32((double)p->b)};
    qst_launch           one = qstk_launch(0, "slow", 1, args, QSTK_COUNT(args));

    (void)user, (void)device;
    one.global[0] = 16;
    one.local[0] = 1;
    return out->launch(out, &one);
}

static const qst_membership memberships[] = {{.group = "all", .constant = 1}};
static const qst_candidate  slow = {.size = sizeof slow,
                                    .op = "blend",
                                    .variant = "slow",
                                    .revision = 1,
                                    .classes = QST_CLASS_PLAIN,
                                    .problem_size = sizeof(blend_problem),
                                    .n_memberships = 1,
                                    .memberships = memberships,
                                    .program = program,
                                    .steps = steps};

/* Tunes one key while a plan of it runs; gives the verdicts as text. */
static char *tuned(const char *config)
{
    static const qst_candidate *const all[] = {&blend_loop, &blend_wide, &slow, NULL};
    cl_fixture                       *cl = fixture;
    qst_context                      *ctx = blend_context(config);
    qst_set                          *set = blend_set(ctx, all);
    blend_problem                     p = blend_of(N, 2, 0);
    blend_case                        c;
    qst_plan                         *plan;
    char                             *text;
    qst_error                         err = {0};

    blend_open(&c, cl->context, cl->in_order, &p);
    assert_int_equal(qst_plan_create(&plan, set, cl->in_order, &p, 0, &err), QST_OK);
    assert_int_equal(qst_plan_enqueue(plan, cl->in_order, c.operand, 0, NULL, NULL, &err), QST_OK);
    qst__background_settle(ctx);
    assert_int_equal(qst_plan_enqueue(plan, cl->in_order, c.operand, 0, NULL, NULL, &err), QST_OK);
    blend_check(&c, cl->in_order, 2);
    assert_null(strstr(qst_plan_winner(plan), "slow"));
    text = blend_describe(ctx, "verdicts");
    assert_non_null(strstr(text, "\"ready\""));
    qst_plan_destroy(plan);
    blend_close(&c);
    qst_context_destroy(ctx);
    return text;
}

static void slow_in_the_background(void **state)
{
    static const char *const configs[] = {"{\"tune\": {\"mode\": \"background\", \"budget_ms\": 0}}",
                                          "{\"tune\": {\"mode\": \"background\", \"budget_ms\": 0, \"ahead\": false}}"};
    size_t                   i;

    (void)state;
    for (i = 0; i < sizeof configs / sizeof *configs; i++) {
        char *text = tuned(configs[i]);
        assert_non_null(strstr(text, "at first contact on a second shape"));
        free(text);
    }
}

/* Where a call waits for the tuning anyway, the problem itself says more. */
static void slow_in_a_call(void **state)
{
    char *text = tuned("{\"tune\": {\"budget_ms\": 0}}");

    (void)state;
    assert_non_null(strstr(text, "at first contact"));
    assert_null(strstr(text, "on a second shape"));
    free(text);
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
        cmocka_unit_test(slow_in_the_background),
        cmocka_unit_test(slow_in_a_call),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
