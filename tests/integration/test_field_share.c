/* SPDX-License-Identifier: MIT
 *
 * test_field_share.c: what is tuned once is tuned for all: eight processes at once on one store, one process without a
 * store, and environments that do not see each other. */
#include "run/run.h"
#include "support/field_case.h"
#include "support/store_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { PROCESSES = 8, KEYS = 20 };
static const char   set[] = "abcdef";
static field_report alone; /* one process on the same keys */

typedef struct crowd {
    uint64_t tuned, pauses;
    uint32_t executions, calls;
    uint32_t by_winner; /* calls that d answered */
} crowd;

/* All at once, in the same order. */
static crowd run_all(const char *folder, const char *config)
{
    const field_job     job = {.folder = folder, .set = set, .config = config, .keys = KEYS};
    static field_report r;
    crowd               all = {0};
    int                 pid[PROCESSES], from[PROCESSES];

    for (int i = 0; i < PROCESSES; i++)
        pid[i] = field_start(&job, &from[i]);
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(field_end(pid[i], from[i], &r), 0);
        if (r.status != QST_OK || r.warnings)
            fail_msg("%s%s", r.error, r.warning);
        all.tuned += r.counters.tuned;
        all.pauses += r.pauses;
        all.executions += field_ran_all(&r);
        all.calls += KEYS;
        for (uint32_t key = 0; key < KEYS; key++)
            all.by_winner += r.winner[key] == 'd';
    }
    return all;
}

/* Who comes second waits for the first one's answer and measures nothing. */
static void who_waits(void **state)
{
    char *folder = folder_make();
    crowd all = run_all(folder, "\"tune.wait\": true");

    (void)state;
    print_message("waiting: %u executions by %d processes, %u by one; %llu waits\n", all.executions, PROCESSES,
                  field_ran_all(&alone), (unsigned long long)all.pauses);
    assert_int_equal(all.tuned, KEYS);
    assert_int_equal(all.by_winner, all.calls);
    /* Each key's tuning, and a run for every call. */
    assert_int_equal(all.executions, field_ran_all(&alone) - KEYS + all.calls);
    assert_true(field_verify(folder) >= KEYS);
    folder_remove(folder);
}

/* Nobody waits for an answer: who comes second is served by the safe candidate. And still each key is tuned once. */
static void who_falls_back(void **state)
{
    char *folder = folder_make();
    crowd all = run_all(folder, NULL);

    (void)state;
    print_message("falling back: %u executions, %u of %u calls by the winner\n", all.executions, all.by_winner,
                  all.calls);
    assert_int_equal(all.pauses, 0);
    assert_int_equal(all.tuned, KEYS);
    assert_int_equal(all.executions, field_ran_all(&alone) - KEYS + all.calls);
    all = run_all(folder, NULL); /* all is known by now */
    assert_int_equal(all.tuned, 0);
    assert_int_equal(all.by_winner, all.calls);
    assert_int_equal(all.executions, all.calls);
    assert_true(field_verify(folder) >= KEYS);
    folder_remove(folder);
}

/* Without a store each key is tuned once a process; so it is where verdicts alone are not stored. */
static void without_a_store(void **state)
{
    static const char *const configs[] = {NULL, "\"store.backend\": \"off\"", "\"store.backend\": \"memory\"",
                                          "\"verdicts.cache\": false"};
    char                    *folder = folder_make();
    field_report             r;

    (void)state;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        field_job job = {.folder = i ? folder : NULL, .set = set, .config = configs[i], .keys = 6, .twice = true};
        for (int process = 0; process < 2; process++) {
            field_process(&job, &r);
            assert_int_equal(r.counters.tuned, job.keys);
            for (uint32_t key = 0; key < job.keys; key++)
                assert_int_equal(r.winner[key], 'd');
            assert_int_equal(r.again, job.keys); /* the second calls: a run each */
        }
    }
    folder_remove(folder);
}

static void environments(void **state)
{
    static const struct {
        const char *config;
        uint64_t    tuned;
    } rows[] = {{"\"store.environment\": \"one\"", 4},
                {"\"store.environment\": \"two\"", 4},
                {NULL, 4},
                {"\"store.environment\": \"one\"", 0},
                {"\"store.environment\": \"two\"", 0}};
    char        *folder = folder_make();
    field_report r;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        field_job job = {.folder = folder, .set = set, .config = rows[i].config, .keys = 4};
        field_process(&job, &r);
        assert_int_equal(r.counters.tuned, rows[i].tuned);
    }
    folder_remove(folder);
}

/* Another process has the device's lease and is stopped for good: it is waited for once, five seconds in all, then timed
 * beside; and it is taken again as soon as it is free. */
static void a_lease_that_nobody_gives_back(void **state)
{
    char        *folder = folder_make(), key[600];
    field_job    job = {.folder = folder, .set = set, .keys = 2};
    field_report r;
    qst_context *holder = field_look(folder);
    void        *device, *token = NULL;
    uint32_t     waits = 0;

    (void)state;
    assert_int_equal(cl_fixture_open(&device), 0);
    (void)snprintf(key, sizeof key, "lease %s", ((cl_fixture *)device)->facts.device.target);
    assert_int_equal(cl_fixture_close(&device), 0);
    assert_int_equal(holder->store.claim(holder->store.self, key, strlen(key), &token), QST_OK);
    field_lease_waits = &waits;
    field_run(&job, &r);
    assert_int_equal(waits, 5000); /* of a millisecond */
    assert_int_equal(r.warnings, 1);
    assert_non_null(strstr(r.warning, "the device's lease is held for over 5 s"));
    for (uint32_t i = 0; i < job.keys; i++)
        assert_int_equal(r.winner[i], 'd');
    holder->store.release(holder->store.self, token);
    job.first = job.keys;
    waits = 0;
    field_run(&job, &r);
    assert_int_equal(waits, 0);
    assert_int_equal(r.warnings, 0);
    field_lease_waits = NULL;
    qst_context_destroy(holder);
    folder_remove(folder);
}

static int set_up(void **state)
{
    char     *folder = folder_make();
    field_job job = {.folder = folder, .set = set, .keys = KEYS};

    (void)state;
    field_process(&job, &alone);
    folder_remove(folder);
    return alone.counters.tuned == KEYS ? 0 : -1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits),
        cmocka_unit_test(who_falls_back),
        cmocka_unit_test(without_a_store),
        cmocka_unit_test(environments),
        cmocka_unit_test(a_lease_that_nobody_gives_back),
    };

    return argc > 1 ? field_child(argc, argv) : cmocka_run_group_tests(tests, set_up, NULL);
}
