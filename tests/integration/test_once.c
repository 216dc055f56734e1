/* SPDX-License-Identifier: MIT
 *
 * test_once.c: what the host table lets a plugin build and run outside of tunings: answers, refusals, and that an answer
 * is found again by the next context without a build.
 */
#include "run/once.h"
#include "support/cl_fixture.h"

#include <quernstone/context.h>
#include <quernstone/kit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void *fixture;

static const char text[] = "kernel void find(global uint *to, uint add) { to[0] += add; to[1] = get_local_size(0); }";

static qst_program program_of(const char *source, uint32_t form)
{
    qst_program program = cl_fixture_source(source, NULL);
    program.form = form;
    program.target = form == QST_PROGRAM_RETARGETED ? "sm_90a" : NULL;
    return program;
}

static qst_context *context_with(uint32_t flags)
{
    qst_options  options = {.size = sizeof options, .flags = QST_NO_FILES | QST_NO_ENV | QST_NO_PLUGINS | flags};
    qst_context *ctx = NULL;
    qst_error    err = {0};
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("%s", err.text);
    return ctx;
}

static uint64_t builds(qst_context *ctx)
{
    qst_counters c = {.size = sizeof c};
    assert_int_equal(qst_context_counters(ctx, &c), QST_OK);
    return c.compiles + c.binary_loads;
}

static const qst_device *device_of(qst_context *ctx)
{
    cl_fixture *cl = fixture;
    qst__site  *site;
    assert_int_equal(qst__site_of(ctx, cl->context, cl->device, &site, NULL), QST_OK);
    return &site->facts.device;
}

static qst_status ask(qst_context *ctx, const qst_program *program, int32_t add, uint32_t answer[2], qst_error *err)
{
    const qst_arg args[] = {qstk_operand(0), qstk_i32(add)};
    qst_launch    launch = qstk_launch(0, "find", 1, args, QSTK_COUNT(args));
    launch.global[0] = 1;
    launch.local[0] = 1;
    return qst__once_run(ctx, device_of(ctx), program, &launch, answer, 2 * sizeof *answer, err);
}

static void test_answers_and_keeps(void **state)
{
    qst_program program = program_of(text, QST_PROGRAM_SOURCE);
    uint64_t    before;
    (void)state;
    for (int i = 0; i < 2; i++) {
        qst_context *ctx = context_with(0);
        uint32_t     answer[2] = {99, 99};
        qst_error    err = {0};
        before = builds(ctx);
        if (ask(ctx, &program, 7, answer, &err) != QST_OK)
            fail_msg("%s", err.text);
        assert_int_equal(answer[0], 7);
        assert_int_equal(answer[1], 1);
        assert_int_equal(builds(ctx) - before, i == 0);
        answer[0] = 99;
        assert_int_equal(ask(ctx, &program, 8, answer, &err), QST_OK); /* another question */
        assert_int_equal(answer[0], 8);
        qst_context_destroy(ctx);
    }
}

static void test_refuses(void **state)
{
    qst_program  broken = program_of("kernel void find(", QST_PROGRAM_SOURCE);
    qst_program  changed = program_of(text, QST_PROGRAM_RETARGETED);
    qst_program  nowhere = changed, unmarked = changed, good = program_of(text, QST_PROGRAM_SOURCE);
    qst_context *ctx = context_with(QST_NO_STORE);
    uint32_t     answer[2];
    qst_error    err[5] = {{0}};
    qst_device   stranger = *device_of(ctx);
    qst_launch   launch = qstk_launch(0, "find", 1, NULL, 0);
    (void)state;
    nowhere.target = NULL;
    unmarked.marker = "";
    assert_int_equal(ask(ctx, &broken, 1, answer, &err[0]), QST_E_BUILD);
    assert_true(err[0].text[0] != '\0');
    assert_int_equal(ask(ctx, &changed, 1, answer, &err[1]), QST_E_BUILD); /* this driver's binary is no assembly */
    assert_non_null(strstr(err[1].text, "retargeted"));
    assert_int_equal(ask(ctx, &nowhere, 1, answer, &err[2]), QST_E_INVALID);
    assert_int_equal(ask(ctx, &unmarked, 1, answer, &err[3]), QST_E_INVALID);
    assert_int_equal(qst__once_run(ctx, &stranger, &good, &launch, answer, sizeof answer, &err[4]), QST_E_INVALID);
    qst_context_destroy(ctx);
}

typedef struct taken {
    uint64_t length;
    uint32_t times;
} taken;

static void take(void *user, const void *bytes, uint64_t length)
{
    taken *t = user;
    assert_non_null(bytes);
    t->length = length;
    t->times++;
}

static void test_binary(void **state)
{
    qst_program  program = program_of(text, QST_PROGRAM_SOURCE), broken = program_of("!", QST_PROGRAM_SOURCE);
    qst_context *ctx = context_with(QST_NO_STORE);
    taken        t = {0, 0};
    qst_error    err = {0};
    (void)state;
    assert_int_equal(qst__once_binary(ctx, device_of(ctx), &program, &t, take, &err), QST_OK);
    assert_int_equal(t.times, 1);
    assert_true(t.length > 0);
    assert_int_equal(qst__once_binary(ctx, device_of(ctx), &broken, &t, take, &err), QST_E_BUILD);
    assert_int_equal(t.times, 1);
    qst_context_destroy(ctx);
}

static int set_up(void **state)
{
    int result = cl_fixture_open(state);
    fixture = *state;
    return result;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_and_keeps),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_binary),
    };
    return cmocka_run_group_tests(tests, set_up, cl_fixture_close);
}
