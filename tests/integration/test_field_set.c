/* SPDX-License-Identifier: MIT
 *
 * test_field_set.c: fifty keys are tuned, then candidates come, go, change places, are revised, and a library appears:
 * only what is new is timed, beside the reigning winner, and nothing else is. */
#include "support/field_case.h"
#include "support/store_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 50 };
static char *folder; /* with the answers of "abcd" for all keys */

static field_report run(const char *set)
{
    const field_job job = {.folder = folder, .set = set, .keys = KEYS};
    field_report    r;

    field_process(&job, &r);
    print_message("%-8s tuned %2llu keys; executions:", set, (unsigned long long)r.counters.tuned);
    for (char letter = 'a'; letter <= 'z'; letter++)
        if (field_ran(&r, letter))
            print_message(" %c %u", letter, field_ran(&r, letter));
    print_message(" %s\n", r.warning);
    return r;
}

static void expect_winner(const field_report *r, char letter)
{
    for (uint32_t key = 0; key < KEYS; key++)
        assert_int_equal(r->winner[key], letter);
}

/* A run of the winner for each call, and no more. */
static void expect_nothing(const char *set)
{
    field_report r = run(set);

    assert_int_equal(r.counters.tuned, 0);
    assert_int_equal(field_ran_all(&r), KEYS);
    assert_int_equal(field_ran(&r, 'd'), KEYS);
    expect_winner(&r, 'd');
}

/* This one and the winner are timed for each key. The fallback gives what they are compared with, once a shape: it is
 * not timed. Nobody else runs. */
static void expect_only(const field_report *r, char fresh)
{
    assert_int_equal(r->counters.tuned, KEYS);
    for (uint32_t key = 0; key < KEYS; key++) {
        assert_true(r->ran[key][fresh - 'a'] >= 3);
        assert_true(r->ran[key]['d' - 'a'] >= 3);
        assert_in_range(r->ran[key][0], 0, 2);
        for (char letter = 'b'; letter <= 'z'; letter++)
            if (letter != fresh && letter != 'd' && r->ran[key][letter - 'a'])
                fail_msg("key %u: %c is executed %u times", key, letter, r->ran[key][letter - 'a']);
    }
}

static void other_orders(void **state)
{
    (void)state;
    expect_nothing("abcd");
    expect_nothing("dcba");
    expect_nothing("bdac");
}

static void one_more(void **state)
{
    field_report r = run("abecd");

    (void)state;
    expect_only(&r, 'e');
    expect_winner(&r, 'd');
    expect_nothing("abecd");
    expect_nothing("dceba");
}

/* Removed again: nothing. And what was known of it is known when it comes back. */
static void one_less(void **state)
{
    (void)state;
    expect_nothing("abcd");
    expect_nothing("acd");
    expect_nothing("abecd");
}

/* The winner itself goes: the runner-up serves, and nothing is measured. */
static void without_the_winner(void **state)
{
    field_report r = run("abce");

    (void)state;
    assert_int_equal(r.counters.tuned, 0);
    assert_int_equal(field_ran_all(&r), KEYS);
    for (uint32_t key = 0; key < KEYS; key++)
        assert_true(strchr("bce", r.winner[key]) != NULL);
    expect_nothing("abecd");
}

static void revised(void **state)
{
    field_report r = run("abec2d");

    (void)state;
    expect_only(&r, 'c');
    expect_winner(&r, 'd');
    expect_nothing("abec2d");
}

/* The winner is revised: it is timed beside the best of the others. */
static void winner_revised(void **state)
{
    field_report r = run("abec2d2");

    (void)state;
    assert_int_equal(r.counters.tuned, KEYS);
    expect_winner(&r, 'd');
    for (uint32_t key = 0; key < KEYS; key++) {
        int others = 0;
        assert_int_equal(r.revision[key], 2);
        for (char letter = 'b'; letter <= 'e'; letter++)
            others += letter != 'd' && r.ran[key][letter - 'a'] > 0;
        assert_int_equal(others, 1);
    }
    expect_nothing("abec2d2");
}

/* A library that is not there is noted; once it is, its candidate is tried, once. */
static void library_installed(void **state)
{
    field_job    job = {.folder = folder, .set = "abec2d2v", .keys = KEYS};
    field_report r;

    (void)state;
    field_process(&job, &r); /* new, and it does not open */
    assert_int_equal(field_ran(&r, 'v'), 0);
    expect_nothing("abec2d2v");
    job.vendor = true;
    field_process(&job, &r);
    expect_only(&r, 'v');
    expect_winner(&r, 'd');
    field_process(&job, &r);
    assert_int_equal(r.counters.tuned, 0);
    assert_int_equal(field_ran_all(&r), KEYS);
    assert_true(field_verify(folder) >= KEYS);
}

static int set_up(void **state)
{
    field_report r;

    (void)state;
    folder = folder_make();
    r = run("abcd");
    return r.counters.tuned == KEYS ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_orders),       cmocka_unit_test(one_more), cmocka_unit_test(one_less),
        cmocka_unit_test(without_the_winner), cmocka_unit_test(revised),  cmocka_unit_test(winner_revised),
        cmocka_unit_test(library_installed),
    };

    return argc > 1 ? field_child(argc, argv) : cmocka_run_group_tests(tests, set_up, tear_down);
}
