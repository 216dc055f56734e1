/* SPDX-License-Identifier: MIT
 *
 * test_room.c: PoCL's cache cannot be written to for a while: a file lies where its folder was, which stops root as well as a
 * full disk does. The call fails with one clear line; with room again the same process is served, and the next context
 * knows nothing of it. Where the fallback is there already it serves, and what is known to be better is tried again once a
 * second. */
#include "cl/canary.h"
#include "run/run.h"
#include "support/blend.h"
#include "support/store_case.h"

#include <quernstone/cache.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static qst_candidate              apart; /* as wide, with a program of its own */
static const qst_candidate *const all[] = {&blend_loop, &blend_wide, &blend_twice, &apart, NULL};
static void                      *fixture;
static char                      *base, cache[512], aside[512];

static int32_t program_apart(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    int32_t status = blend_wide.program(user, device, key, index, out);

    out->options = "-cl-std=CL1.2 -DAPART";
    return status;
}

/* ---- The cache ------------------------------------------------------------------------------------------------------ */

static void shut(void)
{
    assert_int_equal(rename(cache, aside), 0);
    file_write(cache, (const unsigned char *)"", 0);
}

static void reopen(void)
{
    assert_int_equal(unlink(cache), 0);
    assert_int_equal(rename(aside, cache), 0);
}

/* ---- Contexts that share a store ------------------------------------------------------------------------------------ */

typedef struct told {
    uint32_t lines;
    char     first[600];
} told;

static void note(void *user, const char *text, size_t length)
{
    told *t = user;

    if (t->lines++ == 0)
        (void)snprintf(t->first, sizeof t->first, "%.*s", (int)length, text);
}

/* `more`: members of the configuration, or NULL. */
static qst_context *context_on(const char *folder, const char *more, told *t)
{
    qst_options  options;
    qst_context *ctx = NULL;
    qst_error    err = {0};
    char         config[600];

    memset(t, 0, sizeof *t);
    (void)snprintf(config, sizeof config, "{\"log\": \"warn\", \"store.path\": \"%s\"%s%s}", folder, more ? ", " : "",
                   more ? more : "");
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_PLUGINS;
    options.config = config;
    options.sink = note;
    options.sink_user = t;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("context: %s", err.text);
    return ctx;
}

static uint64_t later; /* added to the clock */
static uint64_t held;  /* it stands there; 0: it goes on */

static uint64_t now(void *user)
{
    qst__clock host = qst__clock_host();

    (void)user;
    return (held ? held : qst__now(&host)) + later;
}

static qst_counters counters(qst_context *ctx)
{
    qst_counters c = {.size = sizeof c};

    assert_int_equal(qst_context_counters(ctx, &c), QST_OK);
    return c;
}

static void call_of(qst_set *set, int64_t n)
{
    cl_fixture   *cl = fixture;
    blend_problem p = blend_of(n, 2, 0);
    blend_case    c;
    qst_error     err = {0};

    blend_open(&c, cl->context, cl->in_order, &p);
    if (qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, &err) != QST_OK)
        fail_msg("%s", err.text);
    blend_check(&c, cl->in_order, 1);
    blend_close(&c);
}

static void call(qst_set *set)
{
    call_of(set, 3000);
}

/* How many programs a call has the driver build, well or not. */
static uint64_t builds_of_call(qst_context *ctx, qst_set *set)
{
    uint64_t before = counters(ctx).compiles;

    call(set);
    return counters(ctx).compiles - before;
}

static void call_in_vain(qst_set *set, const told *t)
{
    cl_fixture   *cl = fixture;
    blend_problem p = blend_of(3000, 2, 0);
    blend_case    c;
    qst_error     err = {0};

    blend_open(&c, cl->context, cl->in_order, &p);
    assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, &err), QST_E_BUILD);
    assert_non_null(strstr(err.text, "no program builds now"));
    assert_int_equal(err.cl_code, CL_COMPILER_NOT_AVAILABLE);
    assert_int_equal(t->lines, 1);
    assert_non_null(strstr(t->first, "no program builds now"));
    blend_close(&c);
}

static bool is_pocl(void)
{
    cl_fixture *cl = fixture;

    return strstr(cl->facts.device.platform, "Portable Computing Language") != NULL;
}

/* ---- Cases ---------------------------------------------------------------------------------------------------------- */

static void heals(void **state)
{
    char        *folder;
    told         t;
    qst_context *ctx;
    qst_set     *set;

    (void)state;
    if (!is_pocl())
        skip();
    folder = folder_make();
    ctx = context_on(folder, NULL, &t);
    set = blend_set(ctx, all);
    ctx->clock.now = now;
    shut();
    call_in_vain(set, &t);
    reopen();
    call(set);
    later += 100 * (uint64_t)QST__RETRY_FIRST_NS;
    call(set);
    assert_int_equal(counters(ctx).tuned, 1);
    qst_context_destroy(ctx);
    ctx = context_on(folder, NULL, &t);
    set = blend_set(ctx, all);
    call(set);
    assert_int_equal(counters(ctx).tuned, 0);
    assert_int_equal(t.lines, 0);
    qst_context_destroy(ctx);
    folder_remove(folder);
}

static void next_one_knows_nothing(void **state)
{
    char        *folder, *text;
    told         t;
    qst_context *ctx;

    (void)state;
    if (!is_pocl())
        skip();
    folder = folder_make();
    ctx = context_on(folder, NULL, &t);
    shut();
    call_in_vain(blend_set(ctx, all), &t);
    qst_context_destroy(ctx);
    reopen();
    ctx = context_on(folder, NULL, &t);
    call(blend_set(ctx, all));
    assert_int_equal(counters(ctx).tuned, 1);
    assert_int_equal(t.lines, 0);
    text = blend_describe(ctx, "verdicts");
    assert_null(strstr(text, "BUILD"));
    assert_null(strstr(text, "LAUNCH"));
    free(text);
    qst_context_destroy(ctx);
    folder_remove(folder);
}

static void known_but_not_built(void **state)
{
    static const char pinned[] = "\"candidates.pin\": [\"blend.app.apart/*\"]";
    static const char known[] = "\"tune.mode\": \"fallback\", \"candidates.pin\": [\"blend.app.apart/*\"]";
    const qst__clock  host = qst__clock_host();
    char             *folder;
    told              t;
    qst_context      *ctx;
    qst_set          *set;

    (void)state;
    if (!is_pocl())
        skip();
    folder = folder_make();
    ctx = context_on(folder, pinned, &t);
    call(blend_set(ctx, all));
    assert_int_equal(counters(ctx).tuned, 1);
    qst_context_destroy(ctx);
    ctx = context_on(folder, known, &t);
    set = blend_set(ctx, all);
    held = qst__now(&host);
    ctx->clock.now = now;
    call_of(set, 100000); /* nothing is known of it: the fallback */
    shut();
    assert_int_equal(builds_of_call(ctx, set), 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(builds_of_call(ctx, set), 0);
    later += QST__CANARY_NS;
    assert_int_equal(builds_of_call(ctx, set), 1);
    assert_int_equal(builds_of_call(ctx, set), 0);
    reopen();
    assert_int_equal(builds_of_call(ctx, set), 0);
    later += QST__CANARY_NS;
    assert_int_equal(builds_of_call(ctx, set), 1);
    later += QST__CANARY_NS;
    assert_int_equal(builds_of_call(ctx, set), 0); /* it is there */
    assert_int_equal(t.lines, 1);
    assert_non_null(strstr(t.first, "no program builds now"));
    qst_context_destroy(ctx);
    held = 0;
    folder_remove(folder);
}

/* PoCL reads where its cache is when it is first asked for anything. */
static int open_all(void **state)
{
    (void)state;
    apart = blend_wide;
    apart.variant = "apart";
    apart.program = program_apart;
    base = folder_make();
    if (!base)
        return -1;
    (void)path_in(cache, base, "pocl");
    (void)path_in(aside, base, "aside");
    return mkdir(cache, 0700) || setenv("POCL_CACHE_DIR", cache, 1) ? -1 : cl_fixture_open(&fixture);
}

static int close_all(void **state)
{
    int failed = cl_fixture_close(&fixture);

    (void)state;
    folder_remove(base);
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heals),
        cmocka_unit_test(next_one_knows_nothing),
        cmocka_unit_test(known_but_not_built),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
