/* SPDX-License-Identifier: MIT
 *
 * test_ready.c: who is built, so that a look at it after the roof costs its runs alone (tune/rig.h): of all that it is judged
 * with, without another operation that may have to be tuned, and without a process of its own.
 */
#include "run/rig.h"
#include "support/blend.h"

#include <quernstone/kit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void *fixture;

enum { LOOP, WIDE, EDGED, CALLER };

/* Another program where n is odd, as it is in the problems that judge: see blend_op.vary. */
static int32_t edged_program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    int32_t status = blend_wide.program(user, device, key, 0, out);

    out->options = index ? "-DODD=1" : "-DEVEN=1";
    return status;
}

static int32_t edged_steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const blend_problem *p = problem;
    const qst_arg        args[] = {qstk_operand(0), qstk_offset(0), qstk_operand(1),       qstk_offset(1),
                                   qstk_i64(p->n),  qstk_f32(p->a), qstk_f32((double)p->b)};
    qst_launch           one = qstk_launch((uint32_t)(p->n % 2), user, 1, args, QSTK_COUNT(args));

    (void)device;
    one.global[0] = 32;
    one.local[0] = 16;
    return out->launch(out, &one);
}

static int32_t call_another(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_arg args[2] = {qstk_operand(0), qstk_operand(1)};

    (void)user, (void)device;
    return out->call(out, "another", problem, 2, args);
}

typedef struct bench {
    qst_context *ctx;
    qst__shelf  *shelf;
    qst__route  *route;
    qst__rig     rig;
} bench;

/* The rig, opened: that builds the fallback's program, which is that of WIDE too. */
static void open_bench(bench *b, const char *config)
{
    static qst_candidate       edged, caller;
    const qst_candidate *const all[] = {&blend_loop, &blend_wide, &edged, &caller, NULL};
    cl_fixture                *cl = fixture;
    blend_problem              p = blend_of(3000, 2, 0);
    uint32_t                   ruler;
    qst__site                 *site;
    qst_error                  err = {0};
    qst_set                   *set;

    edged = caller = blend_wide;
    edged.variant = "edged";
    edged.program = edged_program;
    edged.steps = edged_steps;
    caller.variant = "caller";
    caller.steps = call_another;
    memset(b, 0, sizeof *b);
    b->ctx = blend_context(config);
    set = blend_set(b->ctx, all);
    assert_int_equal(qst__site_of(b->ctx, cl->context, cl->device, &site, NULL), QST_OK);
    assert_int_equal(qst__shelf_of(site, set, &b->shelf, NULL), QST_OK);
    assert_int_equal(qst__route_of(b->shelf, &p, &b->route, NULL), QST_OK);
    assert_int_equal(qst__rig_create(&b->rig, b->route, 0, NULL), QST_OK);
    if (b->rig.open(b->rig.self, &ruler, &err) != QST_OK)
        fail_msg("%s", err.text);
}

static void close_bench(bench *b)
{
    b->rig.close(b->rig.self);
    qst__rig_destroy(&b->rig);
    qst_context_destroy(b->ctx);
}

static bool is_ready(const bench *b, uint32_t candidate)
{
    return b->rig.ready(b->rig.self, candidate);
}

static void build(const bench *b, uint32_t candidate, uint32_t which)
{
    char     problem[QST__PROBLEM_BYTES];
    qst__key key;

    assert_int_equal(qst__rig_derive(b->route, which, problem), QST_OK);
    qst__key_of(b->shelf, problem, &key);
    qst__way_expect(b->shelf, candidate, &key, problem);
}

static void all_programs(void **state)
{
    bench b;

    (void)state;
    open_bench(&b, NULL);
    assert_true(is_ready(&b, WIDE));
    assert_false(is_ready(&b, EDGED));
    build(&b, EDGED, QST_VARY_TIMED);
    assert_false(is_ready(&b, EDGED)); /* its other program would be built to judge it */
    build(&b, EDGED, QST_VARY_SECOND);
    assert_true(is_ready(&b, EDGED));
    close_bench(&b);
}

static void another_operation(void **state)
{
    bench b;

    (void)state;
    open_bench(&b, NULL);
    assert_false(is_ready(&b, CALLER));
    close_bench(&b);
}

static void process_of_its_own(void **state)
{
    bench b;

    (void)state;
    open_bench(&b, "{\"tune\": {\"isolate\": \"all\"}}");
    assert_false(is_ready(&b, WIDE));
    close_bench(&b);
}

static int setup(void **state)
{
    int status = cl_fixture_open(state);

    fixture = *state;
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_programs),
        cmocka_unit_test(another_operation),
        cmocka_unit_test(process_of_its_own),
    };

    return cmocka_run_group_tests(tests, setup, cl_fixture_close);
}
