/* SPDX-License-Identifier: MIT
 *
 * test_cl_arena.c: which block a taker gets, with user events as last users. Nothing is enqueued. */
#include "cl/arena.h"

#include "support/cl_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define KIB 1024u

static cl_event user_event(cl_fixture *fixture)
{
    cl_int   code;
    cl_event event = clCreateUserEvent(fixture->context, &code);
    assert_int_equal(code, CL_SUCCESS);
    return event;
}

static void complete(cl_event event, cl_int status)
{
    assert_int_equal(clSetUserEventStatus(event, status), CL_SUCCESS);
    (void)clReleaseEvent(event);
}

static qst__block *take_for(qst__arena *arena, uint64_t bytes, cl_command_queue queue)
{
    qst__block *block = NULL;
    qst_error   err = {0};
    if (qst__arena_take(arena, bytes, queue, &block, &err) != QST_OK)
        fail_msg("%s", err.text);
    assert_non_null(block);
    assert_true(block->taken && block->bytes >= bytes);
    return block;
}

static qst__block *take(qst__arena *arena, uint64_t bytes)
{
    return take_for(arena, bytes, NULL);
}

static void test_reuse(void **state)
{
    cl_fixture *fixture = *state;
    qst__arena  arena;
    qst__arena_init(&arena, &fixture->alloc, fixture->context, 1024 * KIB);
    qst__block *large = take(&arena, 64 * KIB), *small = take(&arena, 8 * KIB);
    assert_ptr_not_equal(large, small);
    assert_int_equal(arena.used, 72 * KIB);
    qst__arena_give(&arena, large, NULL, NULL);
    qst__arena_give(&arena, small, NULL, NULL);
    /* The smallest that fits, though the larger stands elsewhere in the list. */
    assert_ptr_equal(take(&arena, 7 * KIB), small);
    assert_ptr_equal(take(&arena, 7 * KIB), large);
    assert_int_equal(arena.used, 72 * KIB);
    qst__arena_give(&arena, large, NULL, NULL);
    assert_ptr_equal(take(&arena, 9 * KIB), large);
    qst__arena_finish(&arena);
}

/* Busy blocks are left alone while the cap allows a new one, then shared with their event to wait for. */
static void test_busy(void **state)
{
    cl_fixture *fixture = *state;
    qst__arena  arena;
    cl_event    used = user_event(fixture), used_too = user_event(fixture);
    qst__arena_init(&arena, &fixture->alloc, fixture->context, 32 * KIB);
    qst__block *first = take(&arena, 16 * KIB);
    qst__arena_give(&arena, first, NULL, used);
    qst__block *second = take(&arena, 16 * KIB);
    assert_ptr_not_equal(first, second);
    assert_null(second->last);
    qst__arena_give(&arena, second, NULL, used_too);
    qst__block *third = take(&arena, 16 * KIB);
    assert_true(third == first || third == second);
    assert_ptr_equal(third->last, third == first ? used : used_too);
    /* Nothing was enqueued with it: the old event stays. */
    qst__arena_give(&arena, third, NULL, NULL);
    assert_ptr_equal(third->last, third == first ? used : used_too);
    complete(used, CL_COMPLETE);
    assert_ptr_equal(take(&arena, 16 * KIB), first);
    assert_null(first->last);
    complete(used_too, CL_COMPLETE);
    qst__arena_finish(&arena);
}

/* An in-order queue comes to its own block in order; others get one of their own, and do not wait for it. */
static void test_same_queue(void **state)
{
    cl_fixture *fixture = *state;
    qst__arena  arena;
    cl_event    used = user_event(fixture);
    qst__arena_init(&arena, &fixture->alloc, fixture->context, 32 * KIB);
    qst__block *first = take_for(&arena, 16 * KIB, fixture->in_order);
    qst__arena_give(&arena, first, fixture->in_order, used);
    for (int call = 0; call < 100; call++) {
        assert_ptr_equal(take_for(&arena, 16 * KIB, fixture->in_order), first);
        assert_ptr_equal(first->last, used);
        qst__arena_give(&arena, first, fixture->in_order, used);
    }
    assert_int_equal(arena.used, 16 * KIB);
    qst__block *other = take_for(&arena, 16 * KIB, fixture->out_of_order);
    assert_ptr_not_equal(other, first);
    assert_null(other->last);
    complete(used, CL_COMPLETE);
    qst__arena_finish(&arena);
}

/* Idle blocks that are too small go before anybody waits for a busy one. */
static void test_room_before_waiting(void **state)
{
    cl_fixture *fixture = *state;
    qst__arena  arena;
    cl_event    used = user_event(fixture);
    qst__arena_init(&arena, &fixture->alloc, fixture->context, 32 * KIB);
    qst__block *busy = take(&arena, 16 * KIB), *small = take(&arena, 8 * KIB), *smaller = take(&arena, 8 * KIB);
    qst__arena_give(&arena, busy, NULL, used);
    qst__arena_give(&arena, small, NULL, NULL);
    qst__arena_give(&arena, smaller, NULL, NULL);
    qst__block *block = take(&arena, 16 * KIB);
    assert_ptr_not_equal(block, busy);
    assert_null(block->last);
    assert_int_equal(arena.used, 32 * KIB);
    assert_ptr_equal(take(&arena, 16 * KIB), busy);
    complete(used, CL_COMPLETE);
    qst__arena_finish(&arena);
}

/* A last user that failed does not hold its block for ever. */
static void test_failed_user(void **state)
{
    cl_fixture *fixture = *state;
    qst__arena  arena;
    cl_event    used = user_event(fixture);
    qst__arena_init(&arena, &fixture->alloc, fixture->context, 1024 * KIB);
    qst__block *block = take(&arena, 4 * KIB);
    qst__arena_give(&arena, block, NULL, used);
    complete(used, -1);
    assert_ptr_equal(take(&arena, 4 * KIB), block);
    assert_null(block->last);
    qst__arena_finish(&arena);
}

static void test_cap(void **state)
{
    cl_fixture *fixture = *state;
    qst__arena  arena;
    qst__block *none;
    qst_error   err = {0};
    qst__arena_init(&arena, &fixture->alloc, fixture->context, 32 * KIB);
    qst__block *block = take(&arena, 20 * KIB);
    assert_int_equal(qst__arena_take(&arena, 20 * KIB, NULL, &none, &err), QST_E_NOMEM);
    assert_null(none);
    assert_non_null(strstr(err.text, "no block of 20480 bytes: 20480 of at most 32768"));
    qst__error_clear(&err);
    assert_int_equal(qst__arena_take(&arena, 33 * KIB, NULL, &none, &err), QST_E_NOMEM);
    qst__arena_give(&arena, block, NULL, NULL);
    /* An idle block that is too small makes room. */
    block = take(&arena, 30 * KIB);
    assert_int_equal(arena.used, 32 * KIB);
    qst__arena_give(&arena, block, NULL, NULL);
    qst__error_clear(&err);
    assert_int_equal(qst__arena_take(&arena, 0, NULL, &none, &err), QST_E_INVALID);
    qst__arena_finish(&arena);
}

static void test_cap_between_granules(void **state)
{
    cl_fixture *fixture = *state;
    qst__arena  arena;
    qst__arena_init(&arena, &fixture->alloc, fixture->context, 5000);
    qst__block *block = take(&arena, 5000);
    assert_int_equal(block->bytes, 5000);
    qst__arena_finish(&arena);
}

static void test_drop(void **state)
{
    cl_fixture *fixture = *state;
    qst__arena  arena;
    qst__arena_init(&arena, &fixture->alloc, fixture->context, 1024 * KIB);
    qst__block *kept = take(&arena, 4 * KIB), *dropped = take(&arena, 8 * KIB);
    qst__arena_drop(&arena, dropped);
    assert_int_equal(arena.used, 4 * KIB);
    assert_ptr_equal(arena.first, kept);
    assert_null(kept->next);
    qst__arena_finish(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_busy),
        cmocka_unit_test(test_same_queue),
        cmocka_unit_test(test_room_before_waiting),
        cmocka_unit_test(test_failed_user),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_cap_between_granules),
        cmocka_unit_test(test_drop),
    };
    return cmocka_run_group_tests(tests, cl_fixture_open, cl_fixture_close);
}
