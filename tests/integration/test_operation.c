/* SPDX-License-Identifier: MIT
 *
 * test_operation.c: an operation that the library knows nothing of is tuned, checked and run through the public calls.
 * It has no judge: what the fallback computes is right.
 */
#include "support/blend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <cmocka.h>

/* Nobody is left out because the machine is slow, nor because another is good enough. */
#define ALL_OF_THEM "{\"tune\": {\"budget_ms\": 0, \"short_circuit\": false}}"

static void *fixture;

static qst_counters counters(qst_context *ctx)
{
    qst_counters c = {.size = sizeof c};

    assert_int_equal(qst_context_counters(ctx, &c), QST_OK);
    return c;
}

static void enqueue(qst_set *set, cl_command_queue queue, const blend_case *c)
{
    qst_error err = {0};

    if (qst_enqueue(set, queue, &c->problem, c->operand, 0, NULL, NULL, &err) != QST_OK)
        fail_msg("%s: %s", err.source, err.text);
}

/* A copy of the finding about a candidate in the only verdict; the caller releases it. */
static json_t *finding(qst_context *ctx, const char *name)
{
    char   *text = blend_describe(ctx, "verdicts");
    json_t *all = json_loads(text, 0, NULL), *each, *found = NULL;
    size_t  i;

    free(text);
    assert_int_equal(json_array_size(all), 1);
    json_array_foreach(json_object_get(json_array_get(all, 0), "findings"), i, each)
    {
        if (!strcmp(json_string_value(json_object_get(each, "name")), name))
            found = json_incref(each);
    }
    assert_non_null(found);
    json_decref(all);
    return found;
}

static void expect_finding(qst_context *ctx, const char *name, const char *outcome, const char *why)
{
    json_t     *f = finding(ctx, name);
    const char *said = json_string_value(json_object_get(f, "why"));

    assert_string_equal(json_string_value(json_object_get(f, "outcome")), outcome);
    if (why && (!said || !strstr(said, why)))
        fail_msg("%s: \"%s\" has no \"%s\"", name, said ? said : "", why);
    json_decref(f);
}

/* Keyed calls: the first tunes, the next only runs; results of repeated calls add up. */
static void tuned_by_key(void **state)
{
    static const qst_candidate *const all[] = {&blend_loop, &blend_wide, &blend_twice, NULL};
    cl_fixture                       *cl = fixture;
    int64_t                           b;

    (void)state;
    for (b = 0; b < 3; b++) {
        qst_context  *ctx = blend_context(ALL_OF_THEM);
        qst_set      *set = blend_set(ctx, all);
        blend_problem p = blend_of(5000, 3, b);
        blend_case    c;
        qst_counters  before, after;
        blend_open(&c, cl->context, cl->in_order, &p);
        enqueue(set, cl->in_order, &c);
        blend_check(&c, cl->in_order, 1);
        before = counters(ctx);
        assert_int_equal(before.tuned, 1);
        assert_true(before.verify > 0);
        enqueue(set, cl->in_order, &c);
        blend_check(&c, cl->in_order, 2);
        after = counters(ctx);
        assert_int_equal(after.tuned, 1);
        assert_int_equal(after.candidate, before.candidate + 1);
        assert_int_equal(after.compiles, before.compiles);
        blend_close(&c);
        p.n = 4500; /* of the same bucket */
        blend_open(&c, cl->context, cl->in_order, &p);
        enqueue(set, cl->in_order, &c);
        blend_check(&c, cl->in_order, 1);
        before = counters(ctx);
        assert_int_equal(before.tuned, 1);
        assert_int_equal(before.candidate, after.candidate + 1);
        blend_close(&c);
        qst_context_destroy(ctx);
    }
}

/* The one that differs from the fallback is found out, with the place, whatever the operation does to what was there. */
static void wrong_never_wins(void **state)
{
    static const qst_candidate *const all[] = {&blend_off, &blend_past, &blend_deaf, &blend_wide, &blend_loop, NULL};
    cl_fixture                       *cl = fixture;
    int64_t                           b;

    (void)state;
    for (b = 0; b < 3; b++) {
        qst_context  *ctx = blend_context(ALL_OF_THEM);
        qst_set      *set = blend_set(ctx, all);
        blend_problem p = blend_of(1000, 1, b);
        blend_case    c;
        blend_open(&c, cl->context, cl->in_order, &p);
        enqueue(set, cl->in_order, &c);
        blend_check(&c, cl->in_order, 1);
        expect_finding(ctx, "blend.app.off/1", "WRONG", "y differs from the fallback's in 1 words, first at byte 3996");
        expect_finding(ctx, "blend.app.past/1", "WRONG",
                       "y differs from the fallback's in 1 words, first at byte 4000");
        if (b) /* also where running it again would show nothing */
            expect_finding(ctx, "blend.app.deaf/1", "WRONG", "y differs from the fallback's in ");
        blend_close(&c);
        qst_context_destroy(ctx);
    }
}

/* Right on the problem itself, which is not enough: its answer serves others of the same key. */
static void wrong_on_a_second_shape(void **state)
{
    static const qst_candidate *const all[] = {&blend_even, &blend_wide, &blend_loop, NULL};
    cl_fixture                       *cl = fixture;
    int64_t                           b;

    (void)state;
    for (b = 0; b < 3; b++) {
        qst_context  *ctx = blend_context(ALL_OF_THEM);
        qst_set      *set = blend_set(ctx, all);
        blend_problem p = blend_of(4096, 1, b);
        blend_case    c;
        for (; p.n > 4093; p.n--) {
            blend_open(&c, cl->context, cl->in_order, &p);
            enqueue(set, cl->in_order, &c);
            blend_check(&c, cl->in_order, 1);
            blend_close(&c);
        }
        expect_finding(ctx, "blend.app.even/1", "WRONG", "second shape: y differs from the fallback's in 1 words");
        qst_context_destroy(ctx);
    }
}

/* Two launches and a workspace, in either order of queue, from two calls that are under way at once. */
static void two_launches(void **state)
{
    static const qst_candidate *const all[] = {&blend_loop, &blend_twice, NULL};
    cl_fixture                       *cl = fixture;
    cl_command_queue                  queues[2] = {cl->in_order, cl->out_of_order};
    qst_context                      *ctx = blend_context("{\"candidates\": {\"pin\": [\"blend.app.twice/*\"]}}");
    qst_set                          *set = blend_set(ctx, all);
    size_t                            i;

    (void)state;
    for (i = 0; i < 2 && queues[i]; i++) {
        blend_problem p = blend_of(3000, 2, 1);
        blend_case    c, d;
        cl_event      events[2] = {NULL, NULL};
        qst_counters  before, after;
        blend_open(&c, cl->context, cl->in_order, &p);
        blend_open(&d, cl->context, cl->in_order, &p);
        enqueue(set, queues[i], &c);
        assert_int_equal(clFinish(queues[i]), CL_SUCCESS);
        before = counters(ctx);
        assert_int_equal(qst_enqueue(set, queues[i], &p, c.operand, 0, NULL, &events[0], NULL), QST_OK);
        assert_int_equal(qst_enqueue(set, queues[i], &p, d.operand, 1, &events[0], &events[1], NULL), QST_OK);
        after = counters(ctx);
        assert_int_equal(after.candidate - before.candidate, 2);
        assert_int_equal(after.kernels - before.kernels, 4);
        assert_int_equal(clWaitForEvents(1, &events[1]), CL_SUCCESS);
        blend_check(&c, queues[i], 2);
        blend_check(&d, queues[i], 1);
        clReleaseEvent(events[0]);
        clReleaseEvent(events[1]);
        blend_close(&c);
        blend_close(&d);
    }
    expect_finding(ctx, "blend.app.twice/1", "TIMED", NULL);
    qst_context_destroy(ctx);
}

static void trivial_and_nothing(void **state)
{
    static const qst_candidate *const all[] = {&blend_loop, &blend_wide, NULL};
    cl_fixture                       *cl = fixture;
    qst_context                      *ctx = blend_context(NULL);
    qst_set                          *set = blend_set(ctx, all);
    blend_problem                     p = blend_of(777, 0, 0), nothing = blend_of(0, 1, 1), same = blend_of(777, 0, 1);
    blend_case                        c;
    qst_plan                         *plan;
    qst_mem                           none[2] = {{0, 0, NULL, 0}, {0, 0, NULL, 0}};
    cl_event                          done = NULL;

    (void)state;
    blend_open(&c, cl->context, cl->in_order, &p);
    assert_int_equal(qst_enqueue(set, cl->in_order, &nothing, none, 0, NULL, &done, NULL), QST_OK);
    assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
    clReleaseEvent(done);
    c.operand[0] = none[0]; /* x is not looked at */
    assert_int_equal(qst_enqueue(set, cl->in_order, &same, c.operand, 0, NULL, NULL, NULL), QST_OK);
    blend_check(&c, cl->in_order, 0);
    assert_int_equal(counters(ctx).launches, 0);
    enqueue(set, cl->in_order, &c);
    blend_check(&c, cl->in_order, 1);
    assert_int_equal(counters(ctx).launches, 1);
    assert_int_equal(counters(ctx).tuned, 0);
    assert_int_equal(qst_plan_create(&plan, set, cl->in_order, &p, 0, NULL), QST_OK);
    assert_string_equal(qst_plan_winner(plan), "trivial");
    assert_int_equal(qst_plan_enqueue(plan, cl->in_order, c.operand, 0, NULL, NULL, NULL), QST_OK);
    qst_plan_destroy(plan);
    assert_int_equal(qst_plan_create(&plan, set, cl->in_order, &nothing, 0, NULL), QST_OK);
    assert_string_equal(qst_plan_winner(plan), "none");
    assert_int_equal(qst_plan_enqueue(plan, cl->in_order, none, 0, NULL, NULL, NULL), QST_OK);
    qst_plan_destroy(plan);
    blend_check(&c, cl->in_order, 1);
    blend_close(&c);
    qst_context_destroy(ctx);
}

/* A plan tunes when it is made; its enqueues check queue and operands, or not, as asked. */
static void planned(void **state)
{
    static const qst_candidate *const all[] = {&blend_loop, &blend_wide, &blend_twice, NULL};
    cl_fixture                       *cl = fixture;
    qst_context                      *ctx = blend_context(NULL);
    qst_set                          *set = blend_set(ctx, all);
    blend_problem                     p = blend_of(2000, 2, 1);
    blend_case                        c;
    qst_plan                         *plan;
    qst_error                         err = {0};
    uint32_t                          flags;
    int                               calls = 0;

    (void)state;
    blend_open(&c, cl->context, cl->in_order, &p);
    for (flags = 0; flags <= QST_PLAN_UNCHECKED; flags++) {
        assert_int_equal(qst_plan_create(&plan, set, cl->in_order, &p, flags, NULL), QST_OK);
        assert_int_equal(counters(ctx).tuned, 1);
        assert_non_null(strstr(qst_plan_winner(plan), "blend.app."));
        assert_int_equal(qst_plan_enqueue(plan, cl->in_order, c.operand, 0, NULL, NULL, NULL), QST_OK);
        blend_check(&c, cl->in_order, ++calls);
        if (cl->out_of_order) {
            assert_int_equal(qst_plan_enqueue(plan, cl->out_of_order, c.operand, 0, NULL, NULL, NULL), QST_OK);
            blend_check(&c, cl->out_of_order, ++calls);
        }
        if (!flags) {
            qst_mem beyond[2] = {c.operand[0], qst_mem_at(c.y, 8)};
            assert_int_equal(qst_plan_enqueue(plan, cl->in_order, beyond, 0, NULL, NULL, &err), QST_E_INVALID);
            assert_non_null(strstr(err.text, "y: the buffer has 8004 bytes, the problem needs 8000 from 8 on"));
        }
        qst_plan_destroy(plan);
    }
    blend_check(&c, cl->in_order, calls);
    assert_int_equal(qst_plan_create(&plan, set, cl->in_order, &p, 2, NULL), QST_E_INVALID);
    blend_close(&c);
    qst_context_destroy(ctx);
}

/* Without a fallback the best of the right ones runs; with none allowed there is a status and a line. */
static void without_fallback(void **state)
{
    static const qst_candidate *const all[] = {&blend_wide, &blend_twice, NULL};
    cl_fixture                       *cl = fixture;
    qst_context                      *ctx = blend_context(NULL);
    qst_set                          *set = blend_set(ctx, all);
    blend_problem                     p = blend_of(2000, 2, 1);
    blend_case                        c;
    qst_error                         err = {0};

    (void)state;
    blend_open(&c, cl->context, cl->in_order, &p);
    enqueue(set, cl->in_order, &c);
    blend_check(&c, cl->in_order, 1);
    qst_context_destroy(ctx);
    ctx = blend_context("{\"candidates\": {\"deny\": [\"blend.*\"]}}");
    set = blend_set(ctx, all);
    assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, &err), QST_E_UNSUPPORTED);
    assert_int_not_equal(strlen(err.text), 0);
    blend_check(&c, cl->in_order, 1);
    blend_close(&c);
    qst_context_destroy(ctx);
}

/* What is not checked is timed all the same; more cannot be promised then. */
static void unverified(void **state)
{
    static const qst_candidate *const all[] = {&blend_loop, &blend_wide, &blend_twice, NULL};
    cl_fixture                       *cl = fixture;
    qst_context                      *ctx = blend_context("{\"tune\": {\"verify\": false}}");
    qst_set                          *set = blend_set(ctx, all);
    blend_problem                     p = blend_of(2000, 2, 1);
    blend_case                        c;

    (void)state;
    blend_open(&c, cl->context, cl->in_order, &p);
    enqueue(set, cl->in_order, &c);
    blend_check(&c, cl->in_order, 1);
    assert_int_equal(counters(ctx).tuned, 1);
    blend_close(&c);
    qst_context_destroy(ctx);
}

/* A problem that no device can hold: a plan of it is made without measuring, and nothing is launched. */
static void beyond_the_device(void **state)
{
    static const qst_candidate *const all[] = {&blend_loop, &blend_wide, NULL};
    cl_fixture                       *cl = fixture;
    qst_context                      *ctx = blend_context(NULL);
    qst_set                          *set = blend_set(ctx, all);
    blend_problem                     p = blend_of(INT64_MAX / 8, 2, 1), small = blend_of(100, 2, 1);
    blend_case                        c;
    qst_plan                         *plan;
    qst_error                         err = {0};

    (void)state;
    blend_open(&c, cl->context, cl->in_order, &small);
    assert_int_equal(qst_plan_create(&plan, set, cl->in_order, &p, 0, NULL), QST_OK);
    assert_string_equal(qst_plan_winner(plan), "blend.app.loop/1");
    assert_int_equal(qst_plan_enqueue(plan, cl->in_order, c.operand, 0, NULL, NULL, &err), QST_E_INVALID);
    assert_non_null(strstr(err.text, "x: the buffer has 404 bytes"));
    assert_int_equal(counters(ctx).tuned, 0);
    assert_int_equal(counters(ctx).candidate, 0);
    qst_plan_destroy(plan);
    blend_close(&c);
    qst_context_destroy(ctx);
}

/* The set is told as registered, and is frozen from then on. */
static void described(void **state)
{
    static const qst_candidate *const all[] = {&blend_loop, &blend_wide, NULL};
    qst_context                      *ctx = blend_context(NULL);
    qst_set                          *set = blend_set(ctx, all);
    char                             *text = blend_describe(ctx, "sets");
    json_t                           *sets = json_loads(text, 0, NULL), *one, *ours = NULL;
    size_t                            i;

    (void)state;
    json_array_foreach(sets, i, one)
    {
        if (!strcmp(json_string_value(json_object_get(one, "op")), "blend"))
            ours = one;
    }
    assert_non_null(ours);
    assert_true(json_is_true(json_object_get(ours, "frozen")));
    assert_string_equal(json_string_value(json_array_get(json_object_get(ours, "groups"), 0)), "all");
    ours = json_object_get(ours, "candidates");
    assert_int_equal(json_array_size(ours), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(ours, 0), "name")), "blend.app.loop/1");
    assert_string_equal(json_string_value(json_object_get(json_array_get(ours, 0), "plugin")), "app");
    assert_true(json_is_true(json_object_get(json_array_get(ours, 0), "fallback")));
    assert_true(json_is_false(json_object_get(json_array_get(ours, 1), "fallback")));
    assert_int_equal(qst_set_add_candidate(set, &blend_twice, NULL), QST_E_STATE);
    json_decref(sets);
    free(text);
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
        cmocka_unit_test(tuned_by_key),
        cmocka_unit_test(wrong_never_wins),
        cmocka_unit_test(wrong_on_a_second_shape),
        cmocka_unit_test(two_launches),
        cmocka_unit_test(trivial_and_nothing),
        cmocka_unit_test(planned),
        cmocka_unit_test(without_fallback),
        cmocka_unit_test(unverified),
        cmocka_unit_test(beyond_the_device),
        cmocka_unit_test(described),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
