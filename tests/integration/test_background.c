/* SPDX-License-Identifier: MIT
 *
 * test_background.c: while keys are tuned in the background, a candidate that is far too slow runs the second shape alone,
 * not the problem that calls wait behind; and a plan in use takes the winner over, with and without the process that
 * compiles ahead. A candidate that kills that one is known to all from then on, unless nothing builds then.
 */
#include "run/background.h"
#include "support/blend.h"
#include "support/store_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quernstone/kit.h>

#define N 65536

static void *fixture;

static _Atomic bool     full;    /* nothing builds that is known to be right */
static _Atomic uint32_t in_vain; /* builds of it since then */

cl_int __real_clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *notify)(cl_program, void *), void *user);
cl_int __wrap_clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *notify)(cl_program, void *), void *user);

cl_int __wrap_clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    size_t bytes = 0;
    char  *text;
    bool   refused;

    if (clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &bytes) != CL_SUCCESS || !bytes)
        return __real_clBuildProgram(program, n, devices, options, notify, user);
    text = malloc(bytes);
    assert_non_null(text);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_SOURCE, bytes, text, NULL), CL_SUCCESS);
    refused = full && strstr(text, "kernel void canary_");
    free(text);
    in_vain += refused;
    return refused ? CL_BUILD_PROGRAM_FAILURE : __real_clBuildProgram(program, n, devices, options, notify, user);
}

/* Right, and thousands of times as slow as need be. */
static const char source[] =
    "kernel void slow(global const float *x, ulong x0, global float *y, ulong y0, long n, float a, float b) {"
    "    for (long i = (long)get_global_id(0); i < n; i += (long)get_global_size(0)) {"
    "        volatile float v = a * x[x0 + i];"
    "        for (int k = 0; k < 4000; k++) v = v;"
    "        y[y0 + i] = v;"
    "    }"
    "}";

/* It writes to where nothing is. */
static const char deadly[] =
    "kernel void slow(global const float *x, ulong x0, global float *y, ulong y0, long n, float a, float b) {"
    "    *(global volatile uint *)(size_t)(x0 + 8) = 1;"
    "}";

/* user: the text; the second shape, and what is known, have the same one. */
static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    (void)device, (void)key, (void)index;
    out->data = user;
    out->length = strlen(user);
    return QST_OK;
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const blend_problem *p = problem;
    const qst_arg        args[] = {qstk_operand(0), qstk_offset(0), qstk_operand(1),       qstk_offset(1),
                                   qstk_i64(p->n),  qstk_f32(p->a), qstk_f32((double)p->b)};
    qst_launch           one = qstk_launch(0, "slow", 1, args, QSTK_COUNT(args));

    (void)user, (void)device;
    one.global[0] = 16;
    one.local[0] = 1;
    return out->launch(out, &one);
}

static const qst_membership memberships[] = {{.group = "all", .constant = 1}};
static const qst_candidate  slow = {.size = sizeof slow,
                                    .op = "blend",
                                    .variant = "slow",
                                    .revision = 1,
                                    .classes = QST_CLASS_PLAIN,
                                    .problem_size = sizeof(blend_problem),
                                    .n_memberships = 1,
                                    .memberships = memberships,
                                    .user = (void *)(uintptr_t)source,
                                    .program = program,
                                    .steps = steps};

static const qst_candidate killer = {.size = sizeof killer,
                                     .op = "blend",
                                     .variant = "killer",
                                     .revision = 1,
                                     .classes = QST_CLASS_PLAIN,
                                     .problem_size = sizeof(blend_problem),
                                     .n_memberships = 1,
                                     .memberships = memberships,
                                     .user = (void *)(uintptr_t)deadly,
                                     .program = program,
                                     .steps = steps};

/* Tunes one key while a plan of it runs; gives the verdicts as text. */
static char *tuned(const char *config)
{
    static const qst_candidate *const all[] = {&blend_loop, &blend_wide, &slow, NULL};
    cl_fixture                       *cl = fixture;
    qst_context                      *ctx = blend_context(config);
    qst_set                          *set = blend_set(ctx, all);
    blend_problem                     p = blend_of(N, 2, 0);
    blend_case                        c;
    qst_plan                         *plan;
    char                             *text;
    qst_error                         err = {0};

    blend_open(&c, cl->context, cl->in_order, &p);
    assert_int_equal(qst_plan_create(&plan, set, cl->in_order, &p, 0, &err), QST_OK);
    assert_int_equal(qst_plan_enqueue(plan, cl->in_order, c.operand, 0, NULL, NULL, &err), QST_OK);
    qst__background_settle(ctx);
    assert_int_equal(qst_plan_enqueue(plan, cl->in_order, c.operand, 0, NULL, NULL, &err), QST_OK);
    blend_check(&c, cl->in_order, 2);
    assert_null(strstr(qst_plan_winner(plan), "slow"));
    text = blend_describe(ctx, "verdicts");
    assert_non_null(strstr(text, "\"ready\""));
    qst_plan_destroy(plan);
    blend_close(&c);
    qst_context_destroy(ctx);
    return text;
}

static void slow_in_the_background(void **state)
{
    static const char *const configs[] = {"{\"tune\": {\"mode\": \"background\", \"budget_ms\": 0}}",
                                          "{\"tune\": {\"mode\": \"background\", \"budget_ms\": 0, \"ahead\": false}}"};
    size_t                   i;

    (void)state;
    for (i = 0; i < sizeof configs / sizeof *configs; i++) {
        char *text = tuned(configs[i]);
        assert_non_null(strstr(text, "at first contact on a second shape"));
        free(text);
    }
}

/* Where a call waits for the tuning anyway, the problem itself says more. */
static void slow_in_a_call(void **state)
{
    char *text = tuned("{\"tune\": {\"budget_ms\": 0}}");

    (void)state;
    assert_non_null(strstr(text, "at first contact"));
    assert_null(strstr(text, "on a second shape"));
    free(text);
}

/* One call of a key on a context with the store, tuned when it returns; gives the verdicts as text. */
static char *told_of(const char *folder, const char *more, int64_t n)
{
    static const qst_candidate *const all[] = {&blend_loop, &blend_wide, &killer, NULL};
    cl_fixture                       *cl = fixture;
    qst_options                       options;
    qst_context                      *ctx = NULL;
    qst_error                         err = {0};
    blend_problem                     p = blend_of(n, 2, 0);
    blend_case                        c;
    char                              config[600], *text;

    (void)snprintf(config, sizeof config, "{\"store.path\": \"%s\", \"tune.budget_ms\": 0, %s}", folder, more);
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_PLUGINS;
    options.config = config;
    assert_int_equal(qst_context_create(&ctx, &options, &err), QST_OK);
    blend_open(&c, cl->context, cl->in_order, &p);
    assert_int_equal(qst_enqueue(blend_set(ctx, all), cl->in_order, &p, c.operand, 0, NULL, NULL, &err), QST_OK);
    blend_check(&c, cl->in_order, 1);
    qst__background_settle(ctx);
    text = blend_describe(ctx, "verdicts");
    blend_close(&c);
    qst_context_destroy(ctx);
    return text;
}

/* Nobody runs into it a second time, in whatever mode; it would end this process. */
static void what_kills_the_other_is_known(void **state)
{
    static const struct {
        const char *more, *said;
    } runs[] = {
        {"\"tune.mode\": \"background\"", "the process that built it ahead died of SIG"},
        {"\"tune.mode\": \"background\"", "in quarantine: 1 process died when it tried it here; the process that "},
        {"\"tune.isolate\": \"none\"", "in quarantine: 1 process died when it tried it here; the process that "},
        {"\"tune.mode\": \"background\", \"tune.ahead\": false", "in quarantine: 1 process died"}};
    char  *folder;
    size_t i;

    (void)state;
    folder = folder_make();
    for (i = 0; i < sizeof runs / sizeof *runs; i++) {
        char *text = told_of(folder, runs[i].more, 1000 << 2 * i);
        assert_non_null(strstr(text, "\"ready\""));
        if (!strstr(text, runs[i].said))
            fail_msg("run %zu: no '%s' in %s", i, runs[i].said, text);
        free(text);
    }
    folder_remove(folder);
}

/* A driver without room may end the process that builds: nobody is held to blame for that, by any process. */
static void nobody_is_blamed_for_want_of_room(void **state)
{
    static const char background[] = "\"tune.mode\": \"background\"";
    char             *folder = folder_make(), *text;

    (void)state;
    full = true;
    text = told_of(folder, background, 1000);
    full = false;
    assert_true(in_vain > 0);
    assert_null(strstr(text, "died of SIG"));
    assert_null(strstr(text, "in quarantine"));
    free(text);
    text = told_of(folder, background, 1000);
    assert_non_null(strstr(text, "\"ready\""));
    assert_null(strstr(text, "in quarantine"));
    assert_non_null(strstr(text, "the process that built it ahead died of SIG"));
    free(text);
    folder_remove(folder);
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
        cmocka_unit_test(slow_in_the_background),
        cmocka_unit_test(slow_in_a_call),
        cmocka_unit_test(what_kills_the_other_is_known),
        cmocka_unit_test(nobody_is_blamed_for_want_of_room),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
