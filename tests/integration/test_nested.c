/* SPDX-License-Identifier: MIT
 *
 * test_nested.c: a candidate whose steps call another operation: that one is tuned for itself before the caller is
 * measured, runs in the caller's order on operands and workspaces of the caller, and is found wrong with it.
 */
#include "support/blend.h"

#include <quernstone/kit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void *fixture;

/* y := a·x in two calls: w := a·x, then y := 1·w, with w in a workspace. */
static int32_t call_twice(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const blend_problem *p = problem;
    const char          *callee = user;
    blend_problem        first = blend_of(p->n, p->a, 0), second = blend_of(p->n, 1, 0);
    const qst_arg        into[2] = {qstk_operand(0), qstk_workspace(0)}, back[2] = {qstk_workspace(0), qstk_operand(1)};
    int32_t              status = out->workspace(out, 0, (uint64_t)p->n * sizeof(float));

    (void)device;
    if (status == QST_OK)
        status = out->call(out, callee, &first, 2, into);
    return status == QST_OK ? out->call(out, callee, &second, 2, back) : status;
}

static int32_t no_program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    (void)user, (void)device, (void)key, (void)index, (void)out;
    return QST_E_INTERNAL;
}

static int32_t only_overwrites(void *user, const qst_device *device, const void *problem, const char **why)
{
    (void)user, (void)device;
    return ((const blend_problem *)problem)->b ? qstk_no(why, "b = 0 alone") : QST_OK;
}

static qst_set *make_outer(qst_context *ctx, const char *callee, bool with_fallback)
{
    static qst_op        op;
    static qst_candidate loop, caller;
    qst_set             *set = NULL;
    qst_error            err = {0};

    op = blend_op;
    op.name = "outer";
    loop = blend_loop;
    loop.op = "outer";
    memset(&caller, 0, sizeof caller);
    caller.size = (uint32_t)sizeof caller;
    caller.op = "outer";
    caller.variant = "caller";
    caller.revision = 1;
    caller.classes = QST_CLASS_PLAIN;
    caller.problem_size = (uint32_t)sizeof(blend_problem);
    caller.user = (void *)(uintptr_t)callee;
    caller.can_run = only_overwrites;
    caller.program = no_program;
    caller.steps = call_twice;
    if (qst_op_create(&set, ctx, &op, &err) != QST_OK)
        fail_msg("%s", err.text);
    if (with_fallback)
        assert_int_equal(qst_set_add_candidate(set, &loop, NULL), QST_OK);
    assert_int_equal(qst_set_add_candidate(set, &caller, NULL), QST_OK);
    return set;
}

static void run_on(cl_command_queue queue, const char *pin)
{
    static const qst_candidate *const inner[] = {&blend_loop, &blend_wide, NULL};
    cl_fixture                       *cl = fixture;
    qst_context                      *ctx = blend_context(pin);
    qst_set                          *set;
    blend_problem                     p = blend_of(3000, 3, 0);
    blend_case                        c;
    qst_plan                         *plan = NULL;
    qst_error                         err = {0};

    blend_set(ctx, inner);
    set = make_outer(ctx, "blend", true);
    blend_open(&c, cl->context, cl->in_order, &p);
    if (qst_plan_create(&plan, set, queue, &p, 0, &err) != QST_OK)
        fail_msg("%s", err.text);
    assert_string_equal(qst_plan_winner(plan), "outer.app.caller/1");
    if (qst_plan_enqueue(plan, queue, c.operand, 0, NULL, NULL, &err) != QST_OK)
        fail_msg("%s", err.text);
    blend_check(&c, queue, 1);
    qst_plan_destroy(plan);
    blend_close(&c);
    qst_context_destroy(ctx);
}

static void calls_in_order(void **state)
{
    cl_fixture *cl = fixture;
    const char *pin = "{\"candidates\": {\"pin\": [\"outer.app.caller/*\", \"blend.*\"]}}";

    (void)state;
    run_on(cl->in_order, pin);
    if (cl->out_of_order)
        run_on(cl->out_of_order, pin);
}

/* The callee's key is tuned and stands among the verdicts. */
static void callee_is_tuned(void **state)
{
    static const qst_candidate *const inner[] = {&blend_loop, &blend_wide, NULL};
    cl_fixture                       *cl = fixture;
    qst_context                      *ctx = blend_context(NULL);
    qst_set                          *set;
    blend_problem                     p = blend_of(3000, 3, 0);
    blend_case                        c;
    char                             *text;

    (void)state;
    blend_set(ctx, inner);
    set = make_outer(ctx, "blend", true);
    blend_open(&c, cl->context, cl->in_order, &p);
    assert_int_equal(qst_enqueue(set, cl->in_order, &c.problem, c.operand, 0, NULL, NULL, NULL), QST_OK);
    blend_check(&c, cl->in_order, 1);
    text = blend_describe(ctx, "verdicts");
    assert_non_null(strstr(text, "\"op\":\"blend\""));
    assert_non_null(strstr(text, "\"op\":\"outer\""));
    free(text);
    blend_close(&c);
    qst_context_destroy(ctx);
}

static void callee_is_not_there(void **state)
{
    cl_fixture   *cl = fixture;
    qst_context  *ctx = blend_context(NULL);
    qst_set      *set = make_outer(ctx, "nowhere", true);
    blend_problem p = blend_of(500, 2, 0);
    blend_case    c;
    char         *text;

    (void)state;
    blend_open(&c, cl->context, cl->in_order, &p);
    assert_int_equal(qst_enqueue(set, cl->in_order, &c.problem, c.operand, 0, NULL, NULL, NULL), QST_OK);
    blend_check(&c, cl->in_order, 1);
    text = blend_describe(ctx, "verdicts");
    assert_non_null(strstr(text, "it calls the operation nowhere, which is not here"));
    free(text);
    blend_close(&c);
    qst_context_destroy(ctx);
}

/* A candidate that calls its own operation would never end: it comes to an end, and the result is right. */
static void calls_itself(void **state)
{
    cl_fixture   *cl = fixture;
    qst_context  *ctx = blend_context("{\"candidates\": {\"pin\": [\"outer.app.caller/*\"]}}");
    qst_set      *set = make_outer(ctx, "outer", true);
    blend_problem p = blend_of(500, 2, 0);
    blend_case    c;

    (void)state;
    blend_open(&c, cl->context, cl->in_order, &p);
    for (int call = 0; call < 3; call++) {
        assert_int_equal(qst_enqueue(set, cl->in_order, &c.problem, c.operand, 0, NULL, NULL, NULL), QST_OK);
        blend_check(&c, cl->in_order, 1);
    }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_in_order), cmocka_unit_test(callee_is_tuned),
                                       cmocka_unit_test(callee_is_not_there), cmocka_unit_test(calls_itself)};

    return cmocka_run_group_tests(tests, open_all, close_all);
}
