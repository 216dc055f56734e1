/* SPDX-License-Identifier: MIT
 *
 * test_false_peaks.c: a peak that is too low never hides the best candidate, and one that is too high ends nothing. Times
 * are scripted (field_case.h): the first to be contacted takes 3 ms, the best 1 ms, a probe 0.4 ms.
 */
#include "run/peaks.h"
#include "support/field_case.h"
#include "support/store_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <cmocka.h>

enum { KEY = 48 }; /* n = 65536, b = 0 */
#define BYTES    (8.0 * 65536)
#define FIRST_NS 3000000.0 /* of the candidate that is contacted first */
#define BEST_NS  1000000.0 /* of the best, d */
#define PROBE_NS 400000u
#define SET      "bad" /* b is contacted before a and d */

/* A peak that the folder's store knows, bandwidth or the cost of a launch; sets it first where `value` is not 0. */
static qst__peak stored(const char *folder, uint32_t probe, double value)
{
    qst_context *ctx = field_look(folder);
    qst_set     *set = qst__peaks_set(ctx, probe);
    qst__peak    peak = {.role = 1u << probe, .bytes = probe == QST__PROBE_MEMORY ? (int64_t)BYTES : 0};
    void        *state = NULL;
    cl_fixture  *cl;
    qst__site   *site;

    assert_int_equal(cl_fixture_open(&state), 0);
    cl = state;
    assert_int_equal(qst__site_of(ctx, cl->context, cl->device, &site, NULL), QST_OK);
    qst__set_use(set);
    if (value > 0) {
        peak.value = value;
        memcpy(peak.checksum, set->model.checksum, sizeof peak.checksum);
        strcpy(peak.candidate, "none");
        qst__peak_remember(site, set, &peak);
    }
    assert_int_equal(qst__peak_recall(site, set, &peak), QST_OK);
    qst_context_destroy(ctx);
    assert_int_equal(cl_fixture_close(&state), 0);
    return peak;
}

typedef struct tuning {
    char        *folder;
    field_report report;
    json_t      *verdict;
    qst__peak    peak; /* that the store knows at the end */
} tuning;

static void look(qst_context *ctx, void *user)
{
    tuning *t = user;
    char   *text = blend_describe(ctx, "verdicts");
    json_t *all = json_loads(text, 0, NULL);

    free(text);
    assert_int_equal(json_array_size(all), 1);
    t->verdict = json_incref(json_array_get(all, 0));
    json_decref(all);
}

static void begin(tuning *t)
{
    memset(t, 0, sizeof *t);
    t->folder = folder_make();
}

/* Tunes the key with a bandwidth of `peak` in the store, and a cost of launches where that is not 0, where a probe's launch
 * takes so long. */
static void tune_on(tuning *t, const char *set, const char *level, double peak, double launch_ns, uint32_t probe_ns)
{
    char            config[120];
    const field_job job = {.folder = t->folder,
                           .plain = true,
                           .config = config,
                           .set = set,
                           .first = KEY,
                           .keys = 1,
                           .stranger_ns = probe_ns};

    snprintf(config, sizeof config, "\"tune.budget_ms\": 0, \"store.map_mb\": 64, \"tune.level\": \"%s\"", level);
    assert_true(fabs(stored(t->folder, QST__PROBE_MEMORY, peak).value / peak - 1) < 1e-9);
    if (launch_ns > 0)
        (void)stored(t->folder, QST__PROBE_LAUNCH, launch_ns);
    field_run_and_look(&job, &t->report, look, t);
    assert_int_equal(t->report.status, QST_OK);
    assert_int_equal(t->report.counters.tuned, 1);
    t->peak = stored(t->folder, QST__PROBE_MEMORY, 0);
}

static void tune(tuning *t, double peak, double launch_ns, uint32_t probe_ns)
{
    begin(t);
    tune_on(t, SET, "balanced", peak, launch_ns, probe_ns);
}

static void finish(tuning *t)
{
    json_decref(t->verdict);
    folder_remove(t->folder);
}

static double number(const tuning *t, const char *name)
{
    return json_number_value(json_object_get(t->verdict, name));
}

/* Everyone is timed, and the best one wins. */
static void expect_best(const tuning *t)
{
    const json_t *each;
    size_t        i;

    assert_string_equal(json_string_value(json_object_get(t->verdict, "winner")), "blend.app.d/1");
    assert_int_equal(json_array_size(json_object_get(t->verdict, "findings")), strlen(SET));
    json_array_foreach(json_object_get(t->verdict, "findings"), i, each)
    {
        assert_true(json_array_size(json_object_get(each, "samples")) > 0);
    }
}

/* A peak that the first comes near to, and that a second look does not raise, does end a tuning: else the others of this
 * file would show nothing. */
static void believed(void **state)
{
    tuning t;
    (void)state;

    tune(&t, BYTES / (0.95 * FIRST_NS) * 1e9, 0, (uint32_t)FIRST_NS);
    assert_string_equal(json_string_value(json_object_get(t.verdict, "winner")), "blend.app.b/1");
    assert_int_equal(field_ran(&t.report, 'd'), 0);
    assert_true(number(&t, "limit_ms") > 0);
    assert_true(t.report.counters.probe_memory > 0);
    finish(&t);
}

/* b's program is kept from another key: after a roof that a comes near to, at 4 ms, it is looked at, and c is not. */
static void kept(void **state)
{
    field_job    job = {.plain = true, .set = "ab", .first = KEY - 6, .keys = 1, .settle = true};
    field_report report;
    tuning       t;
    (void)state;

    begin(&t);
    job.folder = t.folder;
    job.config = "\"store.map_mb\": 64, \"tune.level\": \"full\"";
    field_run(&job, &report);
    assert_int_equal(report.winner[KEY - 6], 'b');
    tune_on(&t, "abc", "minimal", BYTES / (0.95 * FIRST_NS) * 1e9, 0, (uint32_t)FIRST_NS);
    assert_string_equal(json_string_value(json_object_get(t.verdict, "winner")), "blend.app.b/1");
    assert_int_equal(t.report.builds['b' - 'a'], 0);
    assert_int_equal(field_ran(&t.report, 'c'), 0);
    assert_true(number(&t, "limit_ms") > 0);
    finish(&t);
}

/* What was good enough at one level is asked again at a higher one, where that is less so: once, and who was left out is
 * tried. */
static void level_above(void **state)
{
    static const struct {
        const char *config;
        uint64_t    tuned;
        char        winner;
    } rows[] = {
        {"\"tune.budget_ms\": 0, \"store.map_mb\": 64, \"tune.level\": \"balanced\"", 0, 'b'},
        {"\"tune.budget_ms\": 0, \"store.map_mb\": 64, \"tune.level\": \"full\", \"tune.mode\": \"frozen\"", 0, 'b'},
        {"\"tune.budget_ms\": 0, \"store.map_mb\": 64, \"tune.level\": \"full\"", 1, 'd'},
        {"\"tune.budget_ms\": 0, \"store.map_mb\": 64, \"tune.level\": \"full\"", 0, 'd'},
        {"\"tune.budget_ms\": 0, \"store.map_mb\": 64, \"tune.level\": \"balanced\"", 0, 'd'},
    };
    tuning t;
    (void)state;

    tune(&t, BYTES / (0.95 * FIRST_NS) * 1e9, 0, (uint32_t)FIRST_NS);
    assert_int_equal(t.report.winner[KEY], 'b');
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const field_job job = {
            .folder = t.folder, .plain = true, .config = rows[i].config, .set = SET, .first = KEY, .keys = 1};
        field_report report;
        field_run(&job, &report);
        assert_int_equal(report.status, QST_OK);
        assert_int_equal(report.counters.tuned, rows[i].tuned);
        assert_int_equal(report.winner[KEY], rows[i].winner);
    }
    finish(&t);
}

/* Everything is faster than a peak of a megabyte a second allows: it is raised to what was seen, in the store too, and
 * who was left out is tried. */
static void beaten(void **state)
{
    tuning t;
    (void)state;

    tune(&t, 1e6, 0, PROBE_NS);
    expect_best(&t);
    assert_true(number(&t, "limit_ms") <= 0); /* this key has no roof any more */
    assert_true(t.peak.flags & QST__PEAK_RAISED);
    assert_true(fabs(t.peak.value / (BYTES / BEST_NS * 1e9) - 1) < 1e-6);
    finish(&t);
}

/* A peak that the first candidate comes near to but does not beat: it is measured again before it ends the tuning. */
static void half_the_truth(void **state)
{
    const double low = BYTES / (0.9 * (FIRST_NS - PROBE_NS)) * 1e9;
    tuning       t;
    (void)state;

    tune(&t, low, 0, PROBE_NS);
    expect_best(&t);
    assert_true(t.report.counters.probe_memory > 0);
    assert_true(t.peak.value > low);
    assert_false(t.peak.flags & QST__PEAK_RAISED);
    finish(&t);
}

/* A peak that no device reaches is believed, and ends nothing: what is left of a roof is a launch, and that is none. */
static void unreached(void **state)
{
    tuning t;
    (void)state;

    tune(&t, 1e18, 0, PROBE_NS);
    expect_best(&t);
    assert_true(number(&t, "limit_ms") <= 0);
    assert_int_equal(t.report.counters.probe_memory, 0);
    assert_true(fabs(t.peak.value / 1e18 - 1) < 1e-9);
    assert_true(number(&t, "of_attainable") < 1);
    finish(&t);
}

/* A launch that was measured on a busy host makes no limit, and is corrected all the same: what is told as attainable is no
 * slower than what was attained. */
static void dear_launch(void **state)
{
    tuning t;
    (void)state;

    tune(&t, BYTES / (0.1 * BEST_NS) * 1e9, 2 * FIRST_NS, PROBE_NS);
    expect_best(&t);
    assert_true(number(&t, "limit_ms") <= 0);
    assert_true(number(&t, "of_attainable") > 0.999 && number(&t, "of_attainable") < 1.000001);
    finish(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(believed),    cmocka_unit_test(kept),           cmocka_unit_test(level_above),
        cmocka_unit_test(beaten),      cmocka_unit_test(half_the_truth), cmocka_unit_test(unreached),
        cmocka_unit_test(dear_launch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
