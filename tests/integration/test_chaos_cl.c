/* SPDX-License-Identifier: MIT
 *
 * test_chaos_cl.c: each OpenCL call fails, one by one: alone, with all later ones of its kind, and with all later ones
 * whatever they are, as after the loss of a device. A call of ours then fails with a status and a line, or it goes on
 * without; a result that is called good is right; every object is released in the end; and once OpenCL works again the
 * same context does what it could not do.
 */
#include "chaos_case.h"
#include "support/chaos.h"
#include "support/chaos_cl.h"
#include "support/matmul_case.h"

#include <quernstone/kit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define DENSE 6 /* the first failures of a kind are tried one by one; QST_CHAOS_ALL: all */

static void *fixture;

typedef struct world {
    cl_fixture      *cl;
    cl_command_queue queue;
    int              kind; /* what fails */
    long             n;
    bool             for_good;
    long             failed;
    cl_event         user; /* NULL: none is waited for */
    bool             events;
    qst_context     *ctx;
    qst_set         *blend; /* NULL: a matmul is done */
    matmul_case      c;
    blend_case       b;
    long             made_here; /* events of the test's own */
} world;

typedef struct scene {
    const char                 *name;
    const char                 *config;
    uint32_t                    flags;
    int64_t                     k;          /* of the matmul; 0: blend */
    const qst_candidate *const *candidates; /* of blend */
    bool                        out_of_order, events, user, tuned;
    qst_status (*act)(world *w, qst_error *err);
} scene;

/* ---- What is done ------------------------------------------------------------------------------------------------- */

static void begin(world *w)
{
    if (w->kind != CHAOS_CL_COUNT)
        chaos_cl_arm(w->kind, w->n, w->for_good);
}

static void end(world *w)
{
    if (w->kind != CHAOS_CL_COUNT)
        w->failed += chaos_cl_disarm();
}

static qst_status enqueue(world *w, cl_uint n, const cl_event *waits, cl_event *event, qst_error *err)
{
    if (w->blend)
        return qst_enqueue(w->blend, w->queue, &w->b.problem, w->b.operand, n, waits, event, err);
    return qst_matmul_enqueue_at(w->ctx, w->queue, &w->c.problem, matmul_case_operand(&w->c, 0),
                                 matmul_case_operand(&w->c, 1), matmul_case_operand(&w->c, 2), n, waits, event, err);
}

/* The call, with what the scene asks for around it. */
static qst_status call(world *w, qst_error *err)
{
    cl_event   done = NULL;
    cl_int     code;
    qst_status status;

    if (w->user) {
        clReleaseEvent(w->user);
        w->user = clCreateUserEvent(w->cl->context, &code);
        assert_int_equal(code, CL_SUCCESS);
        w->made_here++;
    }
    begin(w);
    status = enqueue(w, w->user ? 1 : 0, w->user ? &w->user : NULL, w->events ? &done : NULL, err);
    end(w);
    if (w->user)
        assert_int_equal(clSetUserEventStatus(w->user, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(done != NULL, status == QST_OK && w->events);
    if (done) {
        assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
        clReleaseEvent(done);
    }
    assert_int_equal(clFinish(w->queue), CL_SUCCESS);
    return status;
}

static qst_status plan(world *w, qst_error *err)
{
    qst_mem operands[3] = {matmul_case_operand(&w->c, 0), matmul_case_operand(&w->c, 1), matmul_case_operand(&w->c, 2)};
    qst_plan  *made = NULL;
    qst_status status;

    begin(w);
    status = qst_matmul_plan(&made, w->ctx, w->queue, &w->c.problem, err);
    assert_int_equal(made != NULL, status == QST_OK);
    if (status == QST_OK)
        status = qst_plan_enqueue(made, w->queue, operands, 0, NULL, NULL, err);
    qst_plan_destroy(made);
    end(w);
    assert_int_equal(clFinish(w->queue), CL_SUCCESS);
    return status;
}

/* What can be known of the result, then the first content again. */
static void check(world *w)
{
    blend_problem p = w->b.problem;

    if (w->blend) {
        blend_check(&w->b, w->cl->in_order, 1);
        blend_close(&w->b);
        blend_open(&w->b, w->cl->context, w->cl->in_order, &p);
    } else {
        matmul_case_check(&w->c, w->cl->in_order);
        matmul_case_reset(&w->c, w->cl);
    }
}

/* After a failure nothing is said of the result. */
static void start_again(world *w)
{
    blend_problem p = w->b.problem;

    if (w->blend) {
        blend_close(&w->b);
        blend_open(&w->b, w->cl->context, w->cl->in_order, &p);
    } else {
        matmul_case_reset(&w->c, w->cl);
    }
}

/* No status to look at: the end goes on whatever fails, and so does a second forget. */
static qst_status leave(world *w, qst_error *err)
{
    begin(w);
    (void)qst_context_forget(w->ctx, w->cl->context, err);
    end(w);
    qst__error_clear(err);
    if (call(w, err) == QST_OK)
        check(w);
    else
        start_again(w);
    begin(w);
    qst_context_destroy(w->ctx);
    end(w);
    w->ctx = NULL;
    qst__error_clear(err);
    return QST_OK;
}

static void ignore(void *user, const char *text, size_t length)
{
    (void)user, (void)text, (void)length;
}

static qst_status look(world *w, qst_error *err)
{
    static const char *const what[] = {"devices", "plugins", "config", "sets", "verdicts", "counters"};
    cl_platform_id           platform;
    cl_device_id             device;
    qst_status               status = QST_OK;
    size_t                   i;

    begin(w);
    for (i = 0; i < QSTK_COUNT(what) && status == QST_OK; i++)
        status = qst_describe(w->ctx, what[i], ignore, NULL, err);
    if (status == QST_OK)
        status = qst_context_pick_device(w->ctx, &platform, &device, err);
    end(w);
    return status;
}

/* ---- One by one --------------------------------------------------------------------------------------------------- */

static const qst_status allowed[] = {QST_E_CL, QST_E_NOMEM, QST_E_BUILD, QST_E_NOTFOUND, QST_OK};

static void world_open(world *w, const scene *s)
{
    blend_problem p = blend_of(2000, 3, 1);
    qst_error     err = {0};
    qst_options   options;
    qst_matmul    m;

    (void)alarm(60); /* anew: the fixture's is for the whole */
    memset(w, 0, sizeof *w);
    w->cl = fixture;
    w->kind = CHAOS_CL_COUNT;
    w->events = s->events;
    w->queue = s->out_of_order ? w->cl->out_of_order : w->cl->in_order;
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE | s->flags;
    options.config = s->config;
    if (qst_context_create(&w->ctx, &options, &err) != QST_OK)
        fail_msg("%s: %s", s->name, err.text);
    if (s->candidates) {
        w->blend = blend_set(w->ctx, s->candidates);
        blend_open(&w->b, w->cl->context, w->cl->in_order, &p);
    } else {
        qst_matmul_init(&m, 24, 20, s->k, QST_F32);
        m.beta = 1;
        matmul_case_open(&w->c, w->cl, &m, NULL);
    }
    if (s->user && w->cl->user_events) {
        w->user = clCreateUserEvent(w->cl->context, NULL);
        w->made_here++;
    }
    if (s->tuned && call(w, &err) != QST_OK)
        fail_msg("%s: %s", s->name, err.text);
    if (s->tuned)
        check(w);
}

static void world_close(world *w, const scene *s, chaos_cl_objects before)
{
    chaos_cl_objects after;

    qst_context_destroy(w->ctx);
    if (w->blend)
        blend_close(&w->b);
    else
        matmul_case_close(&w->c);
    if (w->user)
        clReleaseEvent(w->user);
    after = chaos_cl_alive();
    after.events += w->made_here;
    if (memcmp(&after, &before, sizeof after))
        fail_msg("%s, %s %ld%s: left are %ld contexts, %ld queues, %ld buffers, %ld programs, %ld kernels, %ld events",
                 s->name, chaos_cl_names[w->kind < 0 ? 0 : w->kind], w->n, w->for_good ? " and on" : "",
                 after.contexts - before.contexts, after.queues - before.queues, after.buffers - before.buffers,
                 after.programs - before.programs, after.kernels - before.kernels, after.events - before.events);
}

/* False: the scene was over before. */
static bool fail_at(const scene *s, int kind, long n, bool for_good)
{
    chaos_cl_objects before = chaos_cl_alive();
    world            w;
    qst_error        err = {0}, again = {0};
    qst_status       status;
    char             what[200];

    world_open(&w, s);
    w.kind = kind;
    w.n = n;
    w.for_good = for_good;
    snprintf(what, sizeof what, "%s, %s%s", s->name, kind < 0 ? "all" : chaos_cl_names[kind],
             for_good ? " from there on" : "");
    status = s->act(&w, &err);
    chaos_expect(what, n, status, &err, allowed);
    if (!w.failed && status != QST_OK)
        fail_msg("%s: %s, and yet nothing failed", what, err.text);
    if (s->act == call || s->act == plan) {
        if (status == QST_OK)
            check(&w);
        else
            start_again(&w);
        w.kind = CHAOS_CL_COUNT;
        status = s->act(&w, &again);
        if (status == QST_OK)
            check(&w);
        /* a build that failed is not tried again */
        else if (kind != CHAOS_clBuildProgram || status != QST_E_BUILD)
            fail_msg("%s, after failure %ld: %s", what, n, again.text);
        w.kind = kind;
    }
    world_close(&w, s, before);
    return w.failed != 0;
}

static void sweep(const scene *s, long step)
{
    int  kind, for_good;
    long n;

    if (s->out_of_order && !((cl_fixture *)fixture)->out_of_order)
        skip();
    if (getenv("QST_CHAOS_ALL"))
        step = 1;
    for (for_good = 0; for_good < 2; for_good++)
        for (kind = CHAOS_ANY + !for_good; kind < CHAOS_CL_COUNT; kind++)
            for (n = 0; fail_at(s, kind, n, for_good); n += n < DENSE && !for_good ? 1 : kind < 0 ? 3 * step : step)
                ;
}

#define QUICK "\"tune\": {\"max_samples\": 3, \"verify\": false, \"short_circuit\": false}"
#define SPLIT                                                                                                          \
    "{" QUICK ", \"plugins\": {\"load\": [\"tiled\"]}, \"candidates\": {\"pin\": "                                     \
    "[\"matmul.cpu_gemm.6x4_k384_split8/*\"]}}"
#define PINNED(name) "{" QUICK ", \"candidates\": {\"pin\": [\"blend.app." name "/*\"]}}"

/* Judged by the operation's judge, after the device was probed. */
static void tuning(void **state)
{
    static const scene s = {
        .name = "tuning", .config = "{\"tune\": {\"max_samples\": 3}}", .flags = QST_NO_PLUGINS, .k = 28, .act = call};

    (void)state;
    sweep(&s, 61);
}

/* Compared with the fallback. */
static void tuning_without_a_judge(void **state)
{
    static const scene s = {.name = "tuning without a judge",
                            .config = "{\"tune\": {\"max_samples\": 3, \"short_circuit\": false}}",
                            .flags = QST_NO_PLUGINS,
                            .candidates = chaos_own,
                            .out_of_order = true,
                            .events = true,
                            .act = call};

    (void)state;
    sweep(&s, 31);
}

/* With markers, because one candidate hides its events. */
static void tuning_with_a_vendor(void **state)
{
    static const scene s = {.name = "tuning with a vendor",
                            .config = "{\"tune\": {\"max_samples\": 3, \"short_circuit\": false}}",
                            .flags = QST_NO_PLUGINS,
                            .candidates = chaos_with_vendor,
                            .events = true,
                            .act = call};

    (void)state;
    sweep(&s, 31);
}

static void plans(void **state)
{
    static const scene s = {.name = "plan", .config = "{" QUICK "}", .flags = QST_NO_PLUGINS, .k = 28, .act = plan};

    (void)state;
    sweep(&s, 5);
}

/* Two launches with a workspace, on either kind of queue. */
static void hits_of_two_launches(void **state)
{
    scene s = {.name = "split, in order", .config = SPLIT, .k = 160, .tuned = true, .act = call};

    (void)state;
    sweep(&s, 1);
    s.events = s.user = true;
    sweep(&s, 1);
    s.name = "split, out of order";
    s.out_of_order = true;
    sweep(&s, 1);
    s.events = s.user = false;
    sweep(&s, 1);
}

/* Both launches write the result. */
static void hits_of_halves(void **state)
{
    scene s = {.name = "halves, in order",
               .config = PINNED("halves"),
               .flags = QST_NO_PLUGINS,
               .candidates = chaos_with_halves,
               .tuned = true,
               .act = call};

    (void)state;
    sweep(&s, 1);
    s.name = "halves, out of order";
    s.out_of_order = s.events = s.user = true;
    sweep(&s, 1);
}

static void hits_of_a_vendor(void **state)
{
    scene s = {.name = "vendor, in order",
               .config = PINNED("vendor"),
               .flags = QST_NO_PLUGINS,
               .candidates = chaos_with_vendor,
               .tuned = true,
               .act = call};

    (void)state;
    sweep(&s, 1);
    s.events = s.user = true;
    sweep(&s, 1);
    s.name = "vendor, out of order";
    s.out_of_order = true;
    sweep(&s, 1);
    s.events = s.user = false;
    sweep(&s, 1);
}

static void leaving(void **state)
{
    scene s = {.name = "leave", .config = SPLIT, .k = 160, .tuned = true, .act = leave};

    (void)state;
    sweep(&s, 5);
    s.config = PINNED("vendor");
    s.flags = QST_NO_PLUGINS;
    s.candidates = chaos_with_vendor;
    s.out_of_order = true;
    sweep(&s, 5);
}

static void looking(void **state)
{
    static const scene s = {.name = "describe and pick",
                            .config = "{" QUICK "}",
                            .flags = QST_NO_PLUGINS,
                            .k = 28,
                            .tuned = true,
                            .act = look};

    (void)state;
    sweep(&s, 1);
}

static int open_all(void **state)
{
    (void)state;
    return cl_fixture_open(&fixture);
}

static int close_all(void **state)
{
    (void)state;
    chaos_cl_finish();
    return cl_fixture_close(&fixture);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tuning),
        cmocka_unit_test(tuning_without_a_judge),
        cmocka_unit_test(tuning_with_a_vendor),
        cmocka_unit_test(plans),
        cmocka_unit_test(hits_of_two_launches),
        cmocka_unit_test(hits_of_halves),
        cmocka_unit_test(hits_of_a_vendor),
        cmocka_unit_test(leaving),
        cmocka_unit_test(looking),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, open_all, close_all);
}
