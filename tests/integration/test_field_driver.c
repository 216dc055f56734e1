/* SPDX-License-Identifier: MIT
 *
 * test_field_driver.c: the driver changes under a store. Nothing is used unseen, what is checked is little, and drivers
 * that take turns do not undo each other's work. */
#include "cache_case.h"
#include "support/field_case.h"
#include "support/store_case.h"

#include <quernstone/cache.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 20 };
static const char set[] = "abcdefghijklmnop"; /* as many as a family has */

static field_report run(const field_job *job, const char *what)
{
    field_report r;

    field_process(job, &r);
    print_message("%-34s tuned or checked %2llu keys, %4u executions\n", what, (unsigned long long)r.counters.tuned,
                  field_ran_all(&r));
    return r;
}

static void expect_known(const field_report *r)
{
    assert_int_equal(r->counters.tuned, 0);
    assert_int_equal(field_ran_all(r), KEYS);
}

/* The winner alone is checked for each key, in the old order, and at most 15 % of a cold tuning is executed. */
static void expect_short(const field_report *r, const field_report *cold)
{
    assert_int_equal(r->counters.tuned, KEYS);
    for (uint32_t key = 0; key < KEYS; key++) {
        assert_int_equal(r->winner[key], 'd');
        assert_true(r->ran[key]['d' - 'a'] >= 4); /* first contact, two samples, the call */
        for (char letter = 'b'; letter <= 'z'; letter++)
            if (letter != 'd' && r->ran[key][letter - 'a'])
                fail_msg("key %u: %c is executed", key, letter);
    }
    print_message("a re-check takes %.1f %% of a cold tuning's executions\n",
                  100.0 * field_ran_all(r) / field_ran_all(cold));
    assert_true(100 * field_ran_all(r) <= 15 * field_ran_all(cold));
}

static void another_driver(void **state)
{
    char        *folder = folder_make();
    field_job    job = {.folder = folder, .set = set, .driver = "1.0", .keys = KEYS};
    field_report cold = run(&job, "1.0, cold:"), r = run(&job, "1.0 again:");

    (void)state;
    expect_known(&r);
    job.driver = "2.0";
    r = run(&job, "2.0:");
    expect_short(&r, &cold);
    r = run(&job, "2.0 again:");
    expect_known(&r);
    /* Two drivers that take turns: each has checked it once, and that is enough. */
    job.driver = "1.0";
    r = run(&job, "1.0, set back:");
    expect_known(&r);
    job.driver = "2.0";
    r = run(&job, "2.0, once more:");
    expect_known(&r);
    /* The same driver on another version of the device's OpenCL. */
    job.version = "OpenCL 2.0 of another build";
    r = run(&job, "2.0, another device version:");
    expect_short(&r, &cold);
    r = run(&job, "again:");
    expect_known(&r);
    assert_true(field_verify(folder) >= KEYS);
    folder_remove(folder);
}

/* A driver that does not tell its version is never the one that it was. */
static void unknown_driver(void **state)
{
    char        *folder = folder_make();
    field_job    job = {.folder = folder, .set = set, .driver = "", .keys = KEYS, .settle = true};
    field_report cold = run(&job, "unknown, cold:");

    (void)state;
    for (int i = 0; i < 2; i++) {
        field_report r = run(&job, "unknown, later:");
        expect_short(&r, &cold);
        assert_int_equal(r.binaries, 0); /* nor is its binary */
    }
    job.driver = "; ;#\n\x80 1.0"; /* nonsense is a name like any other */
    for (int i = 0; i < 2; i++) {
        field_report r = run(&job, "nonsense:");
        assert_int_equal(r.counters.tuned, i ? 0 : KEYS);
    }
    folder_remove(folder);
}

/* What is not checked is not used: with a mode that measures nothing the safe candidate serves. */
static void frozen(void **state)
{
    char        *folder = folder_make();
    field_job    job = {.folder = folder, .set = set, .driver = "1.0", .keys = KEYS};
    field_report r = run(&job, "1.0, cold:");

    (void)state;
    job.config = "\"tune.mode\": \"frozen\"";
    r = run(&job, "1.0, frozen:");
    for (uint32_t key = 0; key < KEYS; key++)
        assert_int_equal(r.winner[key], 'd');
    job.driver = "2.0";
    r = run(&job, "2.0, frozen:");
    assert_int_equal(r.counters.tuned, 0);
    for (uint32_t key = 0; key < KEYS; key++)
        assert_int_equal(r.winner[key], 'a');
    job.config = "\"tune.mode\": \"frozen\", \"tune.recheck\": \"never\""; /* unless it is to be believed */
    r = run(&job, "2.0, frozen, believed:");
    for (uint32_t key = 0; key < KEYS; key++)
        assert_int_equal(r.winner[key], 'd');
    folder_remove(folder);
}

/* Binaries are of one driver: another one's are never loaded. What did not build is built once by each driver. */
static void programs(void **state)
{
    static const struct {
        const char *driver, *version;
        uint32_t    binaries, failed; /* loads; builds of what does not build */
    } rows[] = {{"1.0", NULL, 0, 1}, {"1.0", NULL, 1, 0}, {"2.0", NULL, 0, 1},
                {"2.0", NULL, 1, 0}, {"1.0", NULL, 1, 0}, {"1.0", "OpenCL 2.0 other", 0, 1}};
    char        *folder = folder_make();
    field_report r;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        field_job job = {.folder = folder,
                         .set = "abxd",
                         .driver = rows[i].driver,
                         .version = rows[i].version,
                         .first = 30,
                         .keys = 3,
                         .settle = true};
        field_process(&job, &r);
        if (r.binaries != rows[i].binaries || r.builds['x' - 'a'] != rows[i].failed)
            fail_msg("process %zu: %u binaries, %u builds of x", i, r.binaries, r.builds['x' - 'a']);
        for (uint32_t key = job.first; key < job.first + job.keys; key++)
            assert_int_equal(r.winner[key], 'd');
    }
    folder_remove(folder);
}

static uint64_t import(const char *folder, const cache_text *t, uint64_t *present)
{
    qst_context       *ctx = field_look(folder);
    qst_cache_imported done = {.size = sizeof done};

    assert_int_equal(qst_cache_import(ctx, t->data, t->length, &done, NULL), QST_OK);
    qst_context_destroy(ctx);
    *present = done.present;
    return done.added;
}

/* What another store exported is used after one check, and never takes the place of what was measured here. */
static void imported(void **state)
{
    char        *from = folder_make(), *to = folder_make();
    field_job    job = {.folder = from, .set = set, .keys = KEYS};
    field_report cold = run(&job, "the exporter, cold:"), r;
    qst_context *ctx = field_look(from);
    cache_text   t = {NULL, 0};
    uint64_t     present;

    (void)state;
    assert_int_equal(qst_cache_export(ctx, NULL, cache_gather, &t, NULL), QST_OK);
    qst_context_destroy(ctx);
    job.folder = to;
    job.keys = 4; /* these are measured here first, and b wins */
    job.config = "\"candidates.deny\": [\"blend.app.d/*\"]";
    r = run(&job, "measured here, d denied:");
    assert_int_equal(import(to, &t, &present), KEYS - 4);
    assert_int_equal(present, 4);
    job.config = NULL;
    job.first = 4;
    job.keys = KEYS - 4;
    r = run(&job, "imported:");
    assert_int_equal(r.counters.tuned, KEYS - 4);
    for (uint32_t key = 4; key < KEYS; key++) {
        assert_int_equal(r.winner[key], 'd');
        for (char letter = 'b'; letter <= 'z'; letter++)
            if (letter != 'd')
                assert_int_equal(r.ran[key][letter - 'a'], 0);
    }
    assert_true(100 * field_ran_all(&r) <= 15 * field_ran_all(&cold));
    r = run(&job, "imported, again:");
    assert_int_equal(r.counters.tuned, 0);
    assert_int_equal(import(to, &t, &present), 0); /* all of it is this store's own by now */
    assert_int_equal(present, KEYS);
    assert_true(field_verify(to) >= KEYS);
    free(t.data);
    folder_remove(from);
    folder_remove(to);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_driver), cmocka_unit_test(unknown_driver), cmocka_unit_test(frozen),
        cmocka_unit_test(programs),       cmocka_unit_test(imported),
    };

    return argc > 1 ? field_child(argc, argv) : cmocka_run_group_tests(tests, NULL, NULL);
}
