/* SPDX-License-Identifier: MIT
 *
 * test_two_devices.c: two devices of one platform, in one cl_context and in two: each has its own answers.
 */
#include "cl/place.h"
#include "device_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void picked_by_name(void **state)
{
    (void)state;
    for (int i = 0; i < DEVICES; i++) {
        char           config[64];
        qst_context   *ctx;
        cl_platform_id of;
        cl_device_id   id;
        snprintf(config, sizeof config, "{\"device\": {\"name\": \"%s\"}}", pair_names[i]);
        ctx = blend_context(config);
        assert_int_equal(qst_context_pick_device(ctx, &of, &id, NULL), QST_OK);
        assert_ptr_equal(id, pair_devices[i]);
        assert_ptr_equal(of, pair_platform);
        qst_context_destroy(ctx);
    }
}

/* By what one process tells another. */
static void placed_by_name(void **state)
{
    (void)state;
    for (int i = 0; i < DEVICES; i++) {
        qst__place     place;
        qst__pick      wanted = {.platform = "Portable", .name = ""};
        cl_platform_id of = NULL;
        cl_device_id   id = NULL;
        uint64_t       count = 0;
        assert_int_equal(qst__place_of(&place, pair_devices[i]), CL_SUCCESS);
        assert_int_equal(place.nth, 0);
        assert_int_equal(qst__place_find(&place, &of, &id, &count), CL_SUCCESS);
        assert_ptr_equal(id, pair_devices[i]);
        assert_ptr_equal(of, pair_platform);
        assert_int_equal(qst__device_index("Portable", pair_names[i], pair_devices[i]), 0);
        assert_int_equal(qst__device_index("Portable", pair_names[1 - i], pair_devices[i]), -1);
        wanted.index = qst__device_index("Portable", "", pair_devices[i]);
        assert_int_equal(qst__device_pick(&wanted, &of, &id, NULL), QST_OK);
        assert_ptr_equal(id, pair_devices[i]);
    }
}

static void own_answers(bool shared)
{
    qst_set     *set;
    qst_context *ctx = pair_make_context(&set);
    pair         p;
    qst_counters first, after;

    pair_open(&p, shared, 900);
    pair_call(&p, set, PTHREAD);
    assert_int_equal(pair_counters(ctx).tuned, 1);
    pair_call(&p, set, BASIC); /* the other's answer is not this one's */
    first = pair_counters(ctx);
    assert_int_equal(first.tuned, 2);
    pair_told_apart(ctx, 1);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < DEVICES; i++)
            pair_call(&p, set, i);
    after = pair_counters(ctx);
    assert_int_equal(after.tuned, 2);
    assert_int_equal(after.compiles, first.compiles);
    assert_int_equal(after.hits, first.hits + 6);
    assert_int_equal(after.candidate, first.candidate + 6);
    pair_close(&p);
    qst_context_destroy(ctx);
}

static void in_one_context(void **state)
{
    (void)state;
    own_answers(true);
}

static void in_two_contexts(void **state)
{
    (void)state;
    own_answers(false);
}

static void plans_stay_at_home(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        qst_set     *set;
        qst_context *ctx = pair_make_context(&set);
        qst_plan    *plan[DEVICES];
        pair         p;
        pair_open(&p, shared, 700);
        for (int i = 0; i < DEVICES; i++)
            assert_int_equal(qst_plan_create(&plan[i], set, p.queue[i], &p.c[i].problem, 0, NULL), QST_OK);
        for (int i = 0; i < DEVICES; i++) {
            qst_error err = {0};
            cl_event  event = NULL;
            assert_int_equal(qst_plan_enqueue(plan[i], p.queue[!i], p.c[!i].operand, 0, NULL, &event, &err),
                             QST_E_INVALID);
            assert_null(event);
            assert_non_null(strstr(err.text, shared ? "another device" : "another context"));
            assert_int_equal(qst_plan_enqueue(plan[i], p.queue[i], p.c[i].operand, 0, NULL, NULL, NULL), QST_OK);
            assert_null(strstr(qst_plan_winner(plan[i]), pair_names[!i]));
        }
        for (int i = 0; i < DEVICES; i++) {
            blend_check(&p.c[i], p.queue[i], 1); /* the refused call did nothing */
            qst_plan_destroy(plan[i]);
        }
        assert_int_equal(pair_counters(ctx).tuned, 2);
        pair_close(&p);
        qst_context_destroy(ctx);
    }
}

/* While one device's queue is held, the other is tuned and used. */
static void one_is_held(void **state)
{
    qst_set     *set;
    qst_context *ctx = pair_make_context(&set);
    pair         p;
    cl_int       code;
    cl_event     gate;
    (void)state;

    pair_open(&p, false, 800);
    gate = clCreateUserEvent(p.context[PTHREAD], &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(
        qst_enqueue(set, p.queue[PTHREAD], &p.c[PTHREAD].problem, p.c[PTHREAD].operand, 1, &gate, NULL, NULL), QST_OK);
    pair_call(&p, set, BASIC);
    pair_call(&p, set, BASIC);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    blend_check(&p.c[PTHREAD], p.queue[PTHREAD], 1);
    clReleaseEvent(gate);
    pair_told_apart(ctx, 1);
    pair_close(&p);
    qst_context_destroy(ctx);
}

/* Contexts and cl_contexts come and go, now for the one device and now for the other, as likely as not at the address of
 * the one before. */
static void coming_and_going(void **state)
{
    qst_set     *set;
    qst_context *ctx = pair_make_context(&set);
    (void)state;

    for (int i = 0; i < 10; i++) {
        int           which = i & 1;
        blend_problem problem = blend_of(900, 3, 1);
        pair          p = {.context = {NULL}};
        qst_set      *own_set;
        qst_context  *own = pair_make_context(&own_set);
        p.context[which] = pair_cl_context(1, &pair_devices[which]);
        p.queue[which] = pair_queue(p.context[which], pair_devices[which]);
        blend_open(&p.c[which], p.context[which], p.queue[which], &problem);
        pair_call(&p, set, which);
        pair_call(&p, set, which);
        pair_call(&p, own_set, which);
        assert_int_equal(pair_counters(own).tuned, 1);
        qst_context_destroy(own);
        blend_close(&p.c[which]);
        clReleaseCommandQueue(p.queue[which]);
        assert_int_equal(qst_context_forget(ctx, p.context[which], NULL), QST_OK);
        clReleaseContext(p.context[which]);
    }
    assert_int_equal(pair_counters(ctx).tuned, 2); /* once a device: the others read what it stored */
    qst_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picked_by_name),     cmocka_unit_test(in_one_context), cmocka_unit_test(in_two_contexts),
        cmocka_unit_test(plans_stay_at_home), cmocka_unit_test(one_is_held),    cmocka_unit_test(coming_and_going),
        cmocka_unit_test(placed_by_name),
    };
    (void)alarm(200);
    return pair_find_devices() ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
