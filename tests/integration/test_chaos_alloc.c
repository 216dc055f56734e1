/* SPDX-License-Identifier: MIT
 *
 * test_chaos_alloc.c: each allocation of a context fails, one by one: alone, and with all that come after it. Whatever
 * was under way says so or does without; nothing leaks; a result that is called good is right; and once there is memory
 * again the same context does what it could not do.
 */
#include "memory_case.h"
#include "support/chaos_cl.h" /* programs are built once */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void *fixture;

/* ---- What is done ----------------------------------------------------------------------------------------------- */

static qst_status call(memory_world *w, int problem, qst_error *err)
{
    const matmul_case *c = &w->c[problem];

    return qst_matmul_enqueue_at(w->ctx, w->cl->in_order, &c->problem, matmul_case_operand(c, 0),
                                 matmul_case_operand(c, 1), matmul_case_operand(c, 2), 0, NULL, NULL, err);
}

static void check_one(memory_world *w, int problem)
{
    matmul_case_check(&w->c[problem], w->cl->in_order);
    matmul_case_reset(&w->c[problem], w->cl);
}

static qst_status call_flat(memory_world *w, qst_error *err)
{
    return call(w, FLAT, err);
}

static void check_flat(memory_world *w)
{
    check_one(w, FLAT);
}

static qst_status call_deep(memory_world *w, qst_error *err)
{
    return call(w, DEEP, err);
}

static void check_deep(memory_world *w)
{
    check_one(w, DEEP);
}

static void created(memory_world *w)
{
    qst_error err = {0};

    memory_must("a call after create", call_flat(w, &err), &err);
    check_flat(w);
}

static void called_flat(memory_world *w)
{
    created(w);
}

static void called_both(memory_world *w)
{
    qst_error err = {0};

    created(w);
    memory_must("a second key", call_deep(w, &err), &err);
    check_deep(w);
}

static void forgotten(memory_world *w)
{
    qst_error err = {0};

    created(w);
    chaos_arm(&w->memory, 0, true); /* it needs none */
    memory_must("forget", qst_context_forget(w->ctx, w->cl->context, &err), &err);
    (void)chaos_disarm(&w->memory);
}

static qst_status plan(memory_world *w, qst_error *err)
{
    const matmul_case *c = &w->c[DEEP];
    qst_mem            operands[3] = {matmul_case_operand(c, 0), matmul_case_operand(c, 1), matmul_case_operand(c, 2)};
    qst_plan          *made = NULL;
    qst_status         status = qst_matmul_plan(&made, w->ctx, w->cl->in_order, &c->problem, err);

    if (status != QST_OK) {
        assert_null(made);
        return status;
    }
    status = qst_plan_enqueue(made, w->cl->in_order, operands, 0, NULL, NULL, err);
    qst_plan_destroy(made);
    return status;
}

/* A hit with so many events to wait for that the list is no longer kept on the stack. */
static qst_status hit_with_waits(memory_world *w, qst_error *err)
{
    const matmul_case *c = &w->c[DEEP];
    cl_command_queue   queue = w->cl->out_of_order ? w->cl->out_of_order : w->cl->in_order;
    cl_event           waits[24], done = NULL;
    qst_status         status;
    int                i;

    for (i = 0; i < 24; i++)
        assert_int_equal(clEnqueueMarkerWithWaitList(queue, 0, NULL, &waits[i]), CL_SUCCESS);
    status = qst_matmul_enqueue_at(w->ctx, queue, &c->problem, matmul_case_operand(c, 0), matmul_case_operand(c, 1),
                                   matmul_case_operand(c, 2), 24, waits, &done, err);
    for (i = 0; i < 24; i++)
        clReleaseEvent(waits[i]);
    assert_int_equal(done != NULL, status == QST_OK);
    if (done) {
        assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
        clReleaseEvent(done);
    }
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    return status;
}

static qst_status blend(memory_world *w, qst_error *err)
{
    static const qst_candidate *const all[] = {&blend_loop, &blend_wide, &blend_twice};
    qst_set                          *set = qst_set_of(w->ctx, &blend_op);
    qst_status                        status = set ? QST_OK : qst_op_create(&set, w->ctx, &blend_op, err);

    for (; w->added < 3 && status == QST_OK; w->added += status == QST_OK)
        status = qst_set_add_candidate(set, all[w->added], err);
    if (status == QST_OK)
        status = qst_enqueue(set, w->cl->in_order, &w->blend.problem, w->blend.operand, 0, NULL, NULL, err);
    return status;
}

static void check_blend(memory_world *w)
{
    blend_problem p = w->blend.problem;

    blend_check(&w->blend, w->cl->in_order, 1);
    blend_close(&w->blend);
    blend_open(&w->blend, w->cl->context, w->cl->in_order, &p);
}

static void append(void *user, const char *text, size_t length)
{
    memory_world *w = user;

    w->text = realloc(w->text, w->length + length + 1);
    assert_non_null(w->text);
    memcpy(w->text + w->length, text, length);
    w->length += length;
    w->text[w->length] = '\0';
}

static qst_status describe(memory_world *w, qst_error *err)
{
    memory_clear(w);
    return qst_describe(w->ctx, w->what, append, w, err);
}

static void described(memory_world *w)
{
    qst_error err = {0};

    called_both(w);
    memory_must(w->what, describe(w, &err), &err);
    w->expected = w->text;
    w->text = NULL;
    w->length = 0;
}

/* Half a description is none. */
static void check_text(memory_world *w)
{
    assert_non_null(w->text);
    assert_string_equal(w->text, w->expected);
}

static qst_status parse_and_print(memory_world *w, qst_error *err)
{
    qst_set   *set = qst_set_of(w->ctx, &qst_matmul_op);
    qst_status status;

    memory_clear(w);
    qst_matmul_init(&w->p, 1, 1, 1, QST_F32);
    status = qst_problem_parse(set, "m=24 n=20 k=28", &w->p, err);
    return status == QST_OK ? qst_problem_print(set, &w->p, append, w, err) : status;
}

static void check_print(memory_world *w)
{
    assert_non_null(strstr(w->text, "m=24"));
}

static qst_status pick(memory_world *w, qst_error *err)
{
    cl_platform_id platform = NULL;
    cl_device_id   device = NULL;
    qst_status     status = qst_context_pick_device(w->ctx, &platform, &device, err);

    assert_int_equal(device != NULL, status == QST_OK);
    return status;
}

/* Without probes of the device, but in PROBED. */
#define PROBED "{\"tune\": {\"max_samples\": 3}}"
#define BARE   "{\"tune\": {\"max_samples\": 3, \"short_circuit\": false}}"
/* The loader, a candidate with a workspace, and one of another family. */
#define LOADED                                                                                                                               \
    "{\"tune\": {\"max_samples\": 3, \"short_circuit\": false}, \"plugins\": {\"load\": [\"tiled\", \"naive\"]}, \"candidates\": {\"pin\": " \
    "[\"matmul.cpu_gemm.6x4_k384_split8/*\", \"matmul.naive.*\"]}}"
/* Only what has a workspace. */
#define SPLIT                                                                                                                              \
    "{\"tune\": {\"verify\": false, \"max_samples\": 3, \"short_circuit\": false}, \"plugins\": {\"load\": [\"tiled\"]}, \"candidates\": " \
    "{\"pin\": [\"matmul.cpu_gemm.6x4_k384_split8/*\"]}}"
#define EVERY_KIND                                                                                                     \
    "{\"device\": {\"name\": \"\"}, \"plugins\": {\"load\": [\"tiled\", \"na*\"], \"dirs\": [\"/nowhere\"], "          \
    "\"required\": [\"tiled\"]}, \"plugin\": {\"tiled\": {\"key\": \"value\"}}, \"groups\": {\"matmul\": {\"cpu\": "   \
    "{\"priority\": 3}}}, \"tune\": {\"max_samples\": 3, \"mode\": \"fallback\", \"level\": \"balanced\"}, "           \
    "\"candidates\": {\"pin\": [\"matmul.*\"], \"deny\": [\"matmul.clblast.*\", \"matmul.cblas.*\"]}, \"log\": \"error\"}"

static void context_bare(void **state)
{
    static const memory_scene s = {
        .name = "create", .config = BARE, .flags = QST_NO_PLUGINS, .act = memory_create, .check = created};

    (void)state;
    memory_sweep(fixture, &s, true, false, 1);
    memory_sweep(fixture, &s, true, true, 1);
}

static void context_with_plugins(void **state)
{
    static const memory_scene s = {.name = "create with plugins", .config = EVERY_KIND, .act = memory_create};

    (void)state;
    memory_sweep(fixture, &s, true, false, 1);
    memory_sweep(fixture, &s, true, true, 1);
}

static void first_call(void **state)
{
    static const memory_scene s = {
        .name = "first call", .config = BARE, .flags = QST_NO_PLUGINS, .act = call_flat, .check = check_flat};

    (void)state;
    memory_sweep(fixture, &s, true, false, 1);
    memory_sweep(fixture, &s, true, true, 5);
}

static void first_call_with_probes(void **state)
{
    static const memory_scene s = {
        .name = "first call, probed", .config = PROBED, .flags = QST_NO_PLUGINS, .act = call_flat, .check = check_flat};

    (void)state;
    memory_sweep(fixture, &s, true, false, 11);
    memory_sweep(fixture, &s, true, true, 23);
}

static void first_call_with_plugins(void **state)
{
    static const memory_scene s = {
        .name = "first call of two", .config = LOADED, .act = call_deep, .check = check_deep};

    (void)state;
    memory_sweep(fixture, &s, true, false, 4);
    memory_sweep(fixture, &s, true, true, 9);
}

static void second_key(void **state)
{
    static const memory_scene s = {.name = "second key",
                                   .config = BARE,
                                   .flags = QST_NO_PLUGINS,
                                   .before = called_flat,
                                   .act = call_deep,
                                   .check = check_deep};

    (void)state;
    memory_sweep(fixture, &s, true, false, 4);
    memory_sweep(fixture, &s, true, true, 9);
}

static void after_forget(void **state)
{
    static const memory_scene s = {.name = "call after forget",
                                   .config = BARE,
                                   .flags = QST_NO_PLUGINS,
                                   .before = forgotten,
                                   .act = call_flat,
                                   .check = check_flat};

    (void)state;
    memory_sweep(fixture, &s, true, false, 1);
    memory_sweep(fixture, &s, true, true, 1);
}

static void plans(void **state)
{
    static const memory_scene s = {
        .name = "plan", .config = BARE, .flags = QST_NO_PLUGINS, .act = plan, .check = check_deep};

    (void)state;
    memory_sweep(fixture, &s, true, false, 4);
    memory_sweep(fixture, &s, true, true, 9);
}

static void hits(void **state)
{
    static const memory_scene s = {
        .name = "hit", .config = SPLIT, .before = called_both, .act = hit_with_waits, .check = check_deep};

    (void)state;
    memory_sweep(fixture, &s, true, false, 1);
    memory_sweep(fixture, &s, true, true, 1);
}

static void an_operation(void **state)
{
    static const memory_scene s = {
        .name = "blend", .config = BARE, .flags = QST_NO_PLUGINS, .act = blend, .check = check_blend};

    (void)state;
    memory_sweep(fixture, &s, true, false, 1);
    memory_sweep(fixture, &s, true, true, 5);
}

static void descriptions(void **state)
{
    static const char *const what[] = {"devices", "plugins", "config", "sets", "verdicts"};
    size_t                   i;

    (void)state;
    for (i = 0; i < sizeof what / sizeof *what; i++) {
        memory_scene s = {.name = what[i],
                          .config = LOADED,
                          .before = described,
                          .act = describe,
                          .check = check_text,
                          .what = what[i]};
        memory_sweep(fixture, &s, false, false, 1);
        memory_sweep(fixture, &s, false, true, 1);
    }
}

static void problems_as_text(void **state)
{
    static const memory_scene s = {
        .name = "text", .config = BARE, .flags = QST_NO_PLUGINS, .act = parse_and_print, .check = check_print};

    (void)state;
    memory_sweep(fixture, &s, false, false, 1);
    memory_sweep(fixture, &s, false, true, 1);
}

static void picking(void **state)
{
    static const memory_scene s = {.name = "pick", .config = BARE, .flags = QST_NO_PLUGINS, .act = pick};

    (void)state;
    memory_sweep(fixture, &s, false, false, 1);
    memory_sweep(fixture, &s, false, true, 1);
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
        cmocka_unit_test(context_bare),
        cmocka_unit_test(context_with_plugins),
        cmocka_unit_test(first_call),
        cmocka_unit_test(first_call_with_probes),
        cmocka_unit_test(first_call_with_plugins),
        cmocka_unit_test(second_key),
        cmocka_unit_test(after_forget),
        cmocka_unit_test(plans),
        cmocka_unit_test(hits),
        cmocka_unit_test(an_operation),
        cmocka_unit_test(descriptions),
        cmocka_unit_test(problems_as_text),
        cmocka_unit_test(picking),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, open_all, close_all);
}
