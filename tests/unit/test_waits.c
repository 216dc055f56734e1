/* SPDX-License-Identifier: MIT
 *
 * test_waits.c: whose waits for builds are whose: each thread's own, a builder ahead's nobody's. */
#include "cl/waits.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void mine_from_entering(void **state)
{
    qst__waits *waits = calloc(1, sizeof *waits);
    qst__wait  *entered;
    (void)state;
    qst__waits_add(waits, 5, 7); /* by a thread that is not entered */
    assert_int_equal(qst__waits_mine(waits), 0);
    entered = qst__waits_enter(waits, false);
    assert_non_null(entered);
    qst__waits_add(waits, 30, 40);
    assert_null(qst__waits_enter(waits, false)); /* a tuning inside a tuning: the outer one waits as well */
    qst__waits_leave(NULL);
    qst__waits_add(waits, 0, 2);
    assert_int_equal(qst__waits_mine(waits), 42);
    qst__waits_leave(entered);
    assert_int_equal(qst__waits_mine(waits), 0);
    assert_int_equal(waits->built_ns, 35);
    assert_int_equal(waits->waited_ns, 49);
    free(waits);
}

static void *build_ahead(void *user)
{
    qst__waits *waits = user;
    qst__wait  *entered = qst__waits_enter(waits, true);
    qst__waits_add(waits, 100, 100);
    qst__waits_leave(entered);
    return entered;
}

static void *build_for_itself(void *user)
{
    qst__waits *waits = user;
    qst__wait  *entered = qst__waits_enter(waits, false);
    qst__waits_add(waits, 10, 10);
    qst__waits_leave(entered);
    return entered;
}

static void others_are_not_mine(void **state)
{
    void *(*const work[])(void *) = {build_ahead, build_for_itself};
    qst__waits *waits = calloc(1, sizeof *waits);
    qst__wait  *entered = qst__waits_enter(waits, false);
    (void)state;
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        void     *found = NULL;
        assert_int_equal(pthread_create(&thread, NULL, work[i], waits), 0);
        assert_int_equal(pthread_join(thread, &found), 0);
        assert_non_null(found);
    }
    assert_int_equal(qst__waits_mine(waits), 0);
    assert_int_equal(waits->built_ns, 110);
    assert_int_equal(waits->waited_ns, 10);
    qst__waits_leave(entered);
    free(waits);
}

/* One more than there is room for: the sum is still right. */
static void no_room(void **state)
{
    qst__waits *waits = calloc(1, sizeof *waits);
    (void)state;
    for (int i = 0; i < QST__WAITS_MAX; i++)
        waits->of[i].thread = 1;
    assert_null(qst__waits_enter(waits, false));
    qst__waits_add(waits, 3, 4);
    assert_int_equal(qst__waits_mine(waits), 0);
    assert_int_equal(waits->waited_ns, 4);
    free(waits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mine_from_entering),
        cmocka_unit_test(others_are_not_mine),
        cmocka_unit_test(no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
