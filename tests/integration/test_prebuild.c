/* SPDX-License-Identifier: MIT
 *
 * test_prebuild.c: programs built ahead by a builder: what is built, in which order the front end gets it, what the driver
 * gets when the builder's check is right, wrong or cannot be made, and what candidates are asked before anything is tried.
 * The builder is made up: assembly and machine code are the object of PoCL's front end, which PoCL 3.1 does not load, so
 * that its check cannot be right (test_cl_builder.c has machine code). The host has eight processors, says this test,
 * so that builds are made ahead wherever it runs.
 */
#include "cl/builder.h"
#include "run/prebuild.h"
#include "run/rig.h"
#include "run/run.h"
#include "support/blend.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void *fixture;

long __wrap_sysconf(int name);
long __real_sysconf(int name);

long __wrap_sysconf(int name)
{
    return name == _SC_NPROCESSORS_ONLN ? 8 : __real_sysconf(name);
}

/* Threads in the front end that are not the tests' own, and the most there were at a time. */
static _Atomic int inside, most;
static pthread_t   own;

cl_int __wrap_clCompileProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                               cl_uint n_headers, const cl_program *headers, const char **names,
                               void (*notify)(cl_program, void *), void *user);
cl_int __real_clCompileProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                               cl_uint n_headers, const cl_program *headers, const char **names,
                               void (*notify)(cl_program, void *), void *user);

cl_int __wrap_clCompileProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                               cl_uint n_headers, const cl_program *headers, const char **names,
                               void (*notify)(cl_program, void *), void *user)
{
    bool   ahead = !pthread_equal(pthread_self(), own);
    int    now = ahead ? atomic_fetch_add(&inside, 1) + 1 : 0;
    cl_int code;

    if (now > atomic_load(&most))
        atomic_store(&most, now);
    code = __real_clCompileProgram(program, n, devices, options, n_headers, headers, names, notify, user);
    if (ahead)
        atomic_fetch_sub(&inside, 1);
    return code;
}

/* ---- The builder ------------------------------------------------------------------------------------------------ */

static const char check[] = "kernel void check(global uint *words) { words[get_global_id(0)] = 7; }";

static struct {
    _Atomic uint32_t compiled, assembled;
    int32_t          answer; /* of both steps */
} seen;

static int32_t supports(void *instance, const qst_device *device, const char **why)
{
    (void)instance;
    (void)device;
    (void)why;
    return QST_OK;
}

static int32_t compile(void *instance, const qst_device *device, const qst_object *object, const qst_object *library,
                       const char *options, void *user, qst_builder_take take, qst_error *err)
{
    (void)instance;
    (void)options;
    (void)err;
    assert_null(library->data);
    assert_false(device->flags & QST_DEVICE_PRESUMED);
    atomic_fetch_add(&seen.compiled, 1);
    take(user, object->data, object->length);
    return seen.answer;
}

static int32_t assemble(void *instance, const qst_device *device, const char *text, uint64_t length, const char *target,
                        void *user, qst_builder_take take, qst_error *err)
{
    (void)instance;
    (void)device;
    (void)target;
    (void)err;
    atomic_fetch_add(&seen.assembled, 1);
    take(user, text, length);
    return seen.answer;
}

static qst_builder builder = {.size = sizeof builder,
                              .threads = 4,
                              .check = check,
                              .check_items = 4,
                              .check_words = 4,
                              .check_answer = 7,
                              .supports = supports,
                              .compile = compile,
                              .assemble = assemble};

static const void *get_extension(const char *id)
{
    return strcmp(id, QST_EXT_BUILDER) == 0 ? &builder : NULL;
}

static int32_t start(const qst_host *host, void **instance)
{
    (void)host;
    (void)instance;
    return QST_OK;
}

static const qst_plugin plugin = {.magic = QST_PLUGIN_MAGIC,
                                  .size = sizeof plugin,
                                  .abi_major = QST_ABI_MAJOR,
                                  .abi_minor = QST_ABI_MINOR,
                                  .name = "made_up",
                                  .version = "1",
                                  .licence = "MIT",
                                  .start = start,
                                  .get_extension = get_extension};

/* ---- A candidate that tells what it was asked --------------------------------------------------------------------- */

static _Atomic uint32_t presumed, asked;

static int32_t watched_supports(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    (void)user;
    (void)key;
    (void)why;
    atomic_fetch_add(device->flags & QST_DEVICE_PRESUMED ? &presumed : &asked, 1);
    return QST_OK;
}

static uint64_t compiles(qst_context *ctx)
{
    qst_counters c = {.size = sizeof c};

    qst_context_counters(ctx, &c);
    return c.compiles;
}

/* Builds go on at the same time, but what the call waited for them is a part of its time, beside what it did. */
static void check_waits(qst_context *ctx, uint64_t wall_ns)
{
    qst_counters c = {.size = sizeof c};

    assert_int_equal(qst_context_counters(ctx, &c), QST_OK);
    assert_true(c.build_ns > 0 && c.wait_ns > 0);
    assert_true(c.wait_ns + c.probe_ns + c.verify_ns + c.sample_ns <= wall_ns);
}

/* A context that has the builder. */
static qst_context *open_context(void)
{
    qst_context *ctx = blend_context("{\"tune\": {\"budget_ms\": 0}}");

    assert_int_equal(qst__plugins_add_builtin(&ctx->plugins, &plugin, NULL), QST_OK);
    ctx->plugins.list.data[ctx->plugins.list.count - 1].state = QST__PLUGIN_STARTED;
    return ctx;
}

/* Tunes a blend; the product is right whatever the builder is like. */
static qst_context *tune(const qst_candidate *other)
{
    const qst_candidate *const all[] = {&blend_loop, other, NULL};
    cl_fixture                *cl = fixture;
    qst_context               *ctx = open_context();
    blend_problem              p = blend_of(3000, 2, 0);
    blend_case                 c;
    qst_error                  err = {0};
    qst_set                   *set;
    uint64_t                   begun;

    seen.compiled = seen.assembled = 0;
    set = blend_set(ctx, all);
    blend_open(&c, cl->context, cl->in_order, &p);
    begun = qst__now(&ctx->clock);
    assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, &err), QST_OK);
    check_waits(ctx, qst__now(&ctx->clock) - begun);
    blend_check(&c, cl->in_order, 1);
    blend_close(&c);
    return ctx;
}

static void test_builds_ahead(void **state)
{
    qst_candidate watched = blend_wide;
    qst_context  *ctx;

    (void)state;
    watched.supports = watched_supports;
    presumed = asked = 0;
    seen.answer = QST_OK;
    builder.check_answer = 7;
    ctx = tune(&watched);
    assert_true(presumed > 0);
    assert_true(asked > 0);
    assert_true(seen.compiled > 0);
    assert_int_equal(seen.compiled, seen.assembled);
    assert_true(compiles(ctx) > 0);
    assert_int_not_equal(atomic_load(&atomic_load(&ctx->sites)->finisher.trust), 0);
    qst_context_destroy(ctx); /* also waits for what is still being built */
}

static void test_wrong_check(void **state)
{
    qst_context *ctx;

    (void)state;
    seen.answer = QST_OK;
    builder.check_answer = 8;
    ctx = tune(&blend_wide);
    assert_int_equal(atomic_load(&atomic_load(&ctx->sites)->finisher.trust), -1);
    assert_int_equal(atomic_load(&atomic_load(&ctx->sites)->finisher.state), -1);
    qst_context_destroy(ctx);
}

static void test_builds_nothing(void **state)
{
    qst_context *ctx;

    (void)state;
    seen.answer = QST_E_UNSUPPORTED;
    builder.check_answer = 7;
    ctx = tune(&blend_wide);
    assert_true(seen.compiled > 0);
    assert_int_equal(seen.assembled, 0);
    qst_context_destroy(ctx);
}

/* ---- Order -------------------------------------------------------------------------------------------------------- */

/* A site's threads go through the front end one after the other; the check alone goes beside them. */
static void test_one_in_the_front_end(void **state)
{
    qst_context   *ctx;
    qst__prebuild *p;

    (void)state;
    seen.answer = QST_OK;
    builder.check_answer = 7;
    most = 0;
    ctx = tune(&blend_wide);
    assert_true(most <= 2);
    p = &atomic_load(&ctx->sites)->prebuild;
    qst__lock_take(&p->lock);
    while (p->running)
        qst__cond_wait(&p->idle, &p->lock);
    assert_false(p->fronting);
    assert_int_equal(p->jobs.count, 0);
    qst__lock_give(&p->lock);
    qst_context_destroy(ctx);
}

/* ---- After the roof ----------------------------------------------------------------------------------------------- */

/* Jobs that wait for the candidates before them, once the others are done. */
static size_t held(qst__site *site)
{
    qst__prebuild *p = &site->prebuild;
    size_t         count;

    qst__lock_take(&p->lock);
    while (p->running)
        qst__cond_wait(&p->idle, &p->lock);
    count = p->jobs.count;
    qst__lock_give(&p->lock);
    return count;
}

static void prepare(const qst__rig *rig, uint32_t candidate)
{
    qst__prepared prepared;
    qst_error     err = {0};

    if (rig->prepare(rig->self, candidate, &prepared, &err) != QST_OK)
        fail_msg("%s", err.text);
}

/* Each candidate that is prepared has one more built ahead, until it is asked who is built. */
static void test_none_after_the_roof(void **state)
{
    enum { MANY = 8 };
    static qst_candidate more[MANY];
    static char          names[MANY][8];
    const qst_candidate *all[MANY + 1] = {0};
    cl_fixture          *cl = fixture;
    qst_context         *ctx = open_context();
    blend_problem        p = blend_of(3000, 2, 0);
    qst__rig             rig = {0};
    qst__site           *site;
    qst__shelf          *shelf;
    qst__route          *route;
    qst__task            task;
    size_t               before, left;
    uint32_t             ruler;

    (void)state;
    seen.answer = QST_OK;
    builder.check_answer = 7;
    for (int i = 0; i < MANY; i++) {
        more[i] = i ? blend_wide : blend_loop;
        snprintf(names[i], sizeof names[i], "c%d", i);
        more[i].variant = names[i];
        all[i] = &more[i];
    }
    assert_int_equal(qst__site_of(ctx, cl->context, cl->device, &site, NULL), QST_OK);
    assert_int_equal(qst__shelf_of(site, blend_set(ctx, all), &shelf, NULL), QST_OK);
    assert_int_equal(qst__route_of(shelf, &p, &route, NULL), QST_OK);
    assert_int_equal(qst__rig_create(&rig, route, 0, NULL), QST_OK);
    task = (qst__task){.alloc = &ctx->alloc,
                       .clock = &ctx->clock,
                       .set = &shelf->set->model,
                       .device = &site->facts.device,
                       .key = &route->entry->key,
                       .problem = route->normal,
                       .class_bit = QST_CLASS_PLAIN,
                       .settings = ctx->settings,
                       .rig = &rig};
    qst__prebuild_begin(&task, route);
    before = held(site);
    assert_int_equal(rig.open(rig.self, &ruler, NULL), QST_OK);
    prepare(&rig, 1);
    left = held(site);
    assert_true(left > 0 && left < before);
    assert_true(rig.ready(rig.self, 2));
    prepare(&rig, 2);
    assert_int_equal(held(site), left);
    rig.close(rig.self);
    qst__rig_destroy(&rig);
    qst_context_destroy(ctx);
}

static int open_all(void **state)
{
    (void)state;
    own = pthread_self();
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
        cmocka_unit_test(test_builds_ahead),        cmocka_unit_test(test_wrong_check),
        cmocka_unit_test(test_builds_nothing),      cmocka_unit_test(test_one_in_the_front_end),
        cmocka_unit_test(test_none_after_the_roof),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
