/* SPDX-License-Identifier: MIT
 *
 * test_describe.c: what qst_describe says parses, and has the members that programs read.
 */
#include "support/blend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <cmocka.h>

static void *fixture;

/* Members and their types, one letter each before the name: s text, i integer, r number, b truth, a list, o object, and
 * in capitals where null is fine. */
static void expect_members(const json_t *object, const char *const *members)
{
    assert_true(json_is_object(object));
    for (; *members; members++) {
        const json_t *v = json_object_get(object, *members + 1);
        char          kind = **members;
        bool          fits = false;
        if (!v)
            fail_msg("there is no \"%s\"", *members + 1);
        if (kind < 'a') {
            fits = json_is_null(v);
            kind = (char)(kind - 'A' + 'a');
        }
        fits = fits || (kind == 's' && json_is_string(v)) || (kind == 'i' && json_is_integer(v)) ||
               (kind == 'r' && json_is_number(v)) || (kind == 'b' && json_is_boolean(v)) ||
               (kind == 'a' && json_is_array(v)) || (kind == 'o' && json_is_object(v));
        if (!fits)
            fail_msg("\"%s\" is not of kind %c", *members + 1, kind);
    }
}

static json_t *describe(qst_context *ctx, const char *what)
{
    char        *text = blend_describe(ctx, what);
    json_error_t error;
    json_t      *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);

    if (!json)
        fail_msg("%s: %s at %d", what, error.text, error.position);
    free(text);
    return json;
}

/* A context with an answer: one operation tuned on one problem. */
static qst_context *tuned(blend_case *c)
{
    static const qst_candidate *const all[] = {&blend_loop, &blend_wide, &blend_off, NULL};
    cl_fixture                       *cl = fixture;
    qst_context                      *ctx = blend_context("{\"tune\": {\"budget_ms\": 0}}");
    qst_set                          *set = blend_set(ctx, all);
    blend_problem                     p = blend_of(3000, 2, 1);

    blend_open(c, cl->context, cl->in_order, &p);
    assert_int_equal(qst_enqueue(set, cl->in_order, &p, c->operand, 0, NULL, NULL, NULL), QST_OK);
    blend_check(c, cl->in_order, 1);
    return ctx;
}

static void devices(void **state)
{
    static const char *const members[] = {"iindex",    "splatform",  "sname",   "svendor",     "sdriver",
                                          "stype",     "iunits",     "starget", "icl_version", "iglobal_mb",
                                          "ilocal_kb", "imax_group", "aflags",  "bpicked",     NULL};
    cl_fixture              *cl = fixture;
    qst_context             *ctx = blend_context(NULL);
    json_t                  *all = describe(ctx, "devices"), *one;
    size_t                   i, picked = 0, ours = 0;

    (void)state;
    assert_true(json_array_size(all) > 0);
    json_array_foreach(all, i, one)
    {
        expect_members(one, members);
        assert_int_equal(json_integer_value(json_object_get(one, "index")), i);
        picked += json_is_true(json_object_get(one, "picked"));
        ours += !strcmp(json_string_value(json_object_get(one, "name")), cl->facts.device.name);
    }
    assert_int_equal(picked, 1);
    assert_true(ours > 0);
    json_decref(all);
    qst_context_destroy(ctx);
}

static void plugins(void **state)
{
    static const char *const members[] = {"sname",  "sversion", "slicence",    "Spath",
                                          "sstate", "Swhy",     "acandidates", NULL};
    qst_context             *ctx = blend_context(NULL);
    json_t                  *all = describe(ctx, "plugins"), *one, *naive = NULL;
    size_t                   i;

    (void)state;
    json_array_foreach(all, i, one)
    {
        expect_members(one, members);
        if (!strcmp(json_string_value(json_object_get(one, "name")), "naive"))
            naive = one;
    }
    assert_non_null(naive);
    assert_string_equal(json_string_value(json_object_get(naive, "state")), "builtin");
    assert_true(json_array_size(json_object_get(naive, "candidates")) > 0);
    json_decref(all);
    qst_context_destroy(ctx);
}

static void config(void **state)
{
    qst_context *ctx = blend_context("{\"tune\": {\"budget_ms\": 77}}");
    json_t      *all = describe(ctx, "config");
    char        *text = json_dumps(all, 0);

    (void)state;
    assert_non_null(strstr(text, "budget_ms"));
    assert_non_null(strstr(text, "77"));
    free(text);
    json_decref(all);
    qst_context_destroy(ctx);
}

static void sets(void **state)
{
    static const char *const members[] = {"sop", "bfrozen", "schecksum", "agroups", "acandidates", NULL};
    static const char *const of_candidate[] = {"sname", "splugin", "agroups", "aclasses", "bfallback", NULL};
    qst_context             *ctx = blend_context(NULL);
    json_t                  *all = describe(ctx, "sets"), *one, *each;
    size_t                   i, j, found = 0, fallbacks;

    (void)state;
    json_array_foreach(all, i, one)
    {
        expect_members(one, members);
        assert_true(json_is_true(json_object_get(one, "frozen")));
        assert_int_equal(strlen(json_string_value(json_object_get(one, "checksum"))), 64);
        found += !strcmp(json_string_value(json_object_get(one, "op")), "matmul");
        fallbacks = 0;
        json_array_foreach(json_object_get(one, "candidates"), j, each)
        {
            expect_members(each, of_candidate);
            fallbacks += json_is_true(json_object_get(each, "fallback"));
        }
        assert_true(fallbacks <= 1);
    }
    assert_int_equal(found, 1);
    json_decref(all);
    qst_context_destroy(ctx);
}

static void verdicts(void **state)
{
    static const char *const members[] = {"sop",       "skey",      "sdevice",   "starget",   "sdriver", "sproblem",
                                          "sstate",    "Swinner",   "bpartial",  "ssource",   "slevel",  "sruler",
                                          "rlimit_ms", "rtotal_ms", "schecksum", "afindings", NULL};
    static const char *const of_finding[] = {"sname",      "soutcome",     "stext",      "iround",     "bpoor",
                                             "Swhy",       "ilaunches",    "iworkspace", "rbuild_ms",  "rverify_ms",
                                             "rsample_ms", "restimate_ms", "rmin_ms",    "rmedian_ms", "rspread",
                                             "asamples",   "Irank",        NULL};
    static const char *const of_sample[] = {"iround", "rms", NULL};
    blend_case               c;
    qst_context             *ctx = tuned(&c);
    json_t                  *all = describe(ctx, "verdicts"), *v, *f, *s;
    const char              *winner, *name;
    size_t                   i, j, firsts = 0;

    (void)state;
    assert_int_equal(json_array_size(all), 1);
    v = json_array_get(all, 0);
    expect_members(v, members);
    assert_string_equal(json_string_value(json_object_get(v, "state")), "ready");
    assert_true(json_is_false(json_object_get(v, "partial")));
    assert_string_equal(json_string_value(json_object_get(v, "source")), "tuned here");
    winner = json_string_value(json_object_get(v, "winner"));
    assert_non_null(winner);
    assert_int_equal(json_array_size(json_object_get(v, "findings")), 3);
    json_array_foreach(json_object_get(v, "findings"), i, f)
    {
        expect_members(f, of_finding);
        json_array_foreach(json_object_get(f, "samples"), j, s) expect_members(s, of_sample);
        name = json_string_value(json_object_get(f, "name"));
        if (json_integer_value(json_object_get(f, "rank")) == 1) {
            assert_string_equal(name, winner);
            assert_true(json_array_size(json_object_get(f, "samples")) >= 3);
            assert_true(json_number_value(json_object_get(f, "min_ms")) > 0);
            firsts++;
        }
        if (!strcmp(name, "blend.app.off/1")) {
            assert_true(json_is_null(json_object_get(f, "rank")));
            assert_int_equal(json_array_size(json_object_get(f, "samples")), 0);
        }
    }
    assert_int_equal(firsts, 1);
    json_decref(all);
    blend_close(&c);
    qst_context_destroy(ctx);
}

static void counters(void **state)
{
    static const char *const members[] = {"ilaunches",     "icandidate",    "iverify",   "iprobe.compute",
                                          "iprobe.memory", "iprobe.launch", "iother",    "ikernels",
                                          "icompiles",     "ibinary_loads", "ibuild_ns", "iverify_ns",
                                          "isample_ns",    "iprobe_ns",     "ituned",    "ihits",
                                          "ijudge_ns",     "iwait_ns",      NULL};
    blend_case               c;
    qst_context             *ctx = tuned(&c);
    qst_counters             told = {.size = sizeof told};
    uint32_t                 small[2] = {sizeof small, 99};
    json_t                  *all = describe(ctx, "counters");

    (void)state;
    expect_members(all, members);
    assert_int_equal(json_integer_value(json_object_get(all, "tuned")), 1);
    assert_int_equal(qst_context_counters(ctx, &told), QST_OK);
    assert_int_equal(json_integer_value(json_object_get(all, "launches")), told.launches);
    assert_int_equal(told.launches, told.candidate + told.verify + told.probe_compute + told.probe_memory +
                                        told.probe_launch + told.other);
    assert_true(told.compiles > 0 && told.build_ns > 0 && told.verify_ns > told.judge_ns && told.judge_ns > 0);
    assert_true(told.sample_ns > 0);
    assert_int_equal(qst_context_counters(ctx, (qst_counters *)(void *)small), QST_OK);
    told.size = 4;
    assert_int_equal(qst_context_counters(ctx, &told), QST_E_INVALID);
    json_decref(all);
    blend_close(&c);
    qst_context_destroy(ctx);
}

static void swallow(void *user, const char *text, size_t length)
{
    (void)text;
    *(size_t *)user += length;
}

static void other_words(void **state)
{
    static const char *const words[] = {"", "device", "Devices", "verdicts ", "everything"};
    qst_context             *ctx = blend_context(NULL);
    size_t                   i, length = 0;

    (void)state;
    for (i = 0; i < sizeof words / sizeof *words; i++) {
        qst_error err = {0};
        assert_int_equal(qst_describe(ctx, words[i], swallow, &length, &err), QST_E_NOTFOUND);
        assert_non_null(strstr(err.text, "devices, plugins, config, sets, verdicts, counters"));
    }
    assert_int_equal(length, 0);
    assert_int_equal(qst_describe(NULL, "sets", swallow, &length, NULL), QST_E_INVALID);
    assert_int_equal(qst_describe(ctx, NULL, swallow, &length, NULL), QST_E_INVALID);
    assert_int_equal(qst_describe(ctx, "sets", NULL, NULL, NULL), QST_E_INVALID);
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
        cmocka_unit_test(devices),  cmocka_unit_test(plugins),  cmocka_unit_test(config),      cmocka_unit_test(sets),
        cmocka_unit_test(verdicts), cmocka_unit_test(counters), cmocka_unit_test(other_words),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
