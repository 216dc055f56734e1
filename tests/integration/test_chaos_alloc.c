/* SPDX-License-Identifier: MIT
 *
 * test_chaos_alloc.c: each allocation of a context fails, one by one: alone, and with all that come after it. Whatever
 * was under way says so or does without; nothing leaks; a result that is called good is right; and once there is memory
 * again the same context does what it could not do.
 */
#include "support/blend.h"
#include "support/chaos.h"
#include "support/chaos_cl.h" /* programs are built once */
#include "support/matmul_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MOST 20000 /* allocations of a scene; one that never ends is a failure */

static void *fixture;

static const qst_status nomem[] = {QST_E_NOMEM, QST_OK};

/* Two small problems with keys of their own; the second is deep enough to be split along k. */
enum { FLAT, DEEP, PROBLEMS };

typedef struct world {
    cl_fixture  *cl;
    chaos_memory memory;
    const char  *config;
    uint32_t     flags;
    qst_context *ctx;
    matmul_case  c[PROBLEMS];
    blend_case   blend;
    size_t       added; /* candidates of blend */
    const char  *what;  /* to describe */
    char        *text;  /* what it said, and what it has to say */
    char        *expected;
    size_t       length;
    qst_matmul   p;
} world;

/* One thing that is done while memory fails.
 *   before  what stands before it; NULL: a context
 *   act     may be called again after it failed
 *   check   after success; NULL: nothing */
typedef struct scene {
    const char *name;
    const char *config;
    uint32_t    flags;
    void (*before)(world *w);
    qst_status (*act)(world *w, qst_error *err);
    void (*check)(world *w);
    const char *what;
} scene;

/* ---- What is done ----------------------------------------------------------------------------------------------- */

static qst_status create(world *w, qst_error *err)
{
    qst_options options;

    if (w->ctx)
        return QST_OK;
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE | w->flags;
    options.config = w->config;
    options.allocator = chaos_allocator(&w->memory);
    return qst_context_create(&w->ctx, &options, err);
}

static void must(const char *what, qst_status status, const qst_error *err)
{
    if (status != QST_OK)
        fail_msg("%s: %s", what, err->text);
}

static qst_status call(world *w, int problem, qst_error *err)
{
    const matmul_case *c = &w->c[problem];

    return qst_matmul_enqueue_at(w->ctx, w->cl->in_order, &c->problem, matmul_case_operand(c, 0),
                                 matmul_case_operand(c, 1), matmul_case_operand(c, 2), 0, NULL, NULL, err);
}

static void check_one(world *w, int problem)
{
    matmul_case_check(&w->c[problem], w->cl->in_order);
    matmul_case_reset(&w->c[problem], w->cl);
}

static qst_status call_flat(world *w, qst_error *err)
{
    return call(w, FLAT, err);
}

static void check_flat(world *w)
{
    check_one(w, FLAT);
}

static qst_status call_deep(world *w, qst_error *err)
{
    return call(w, DEEP, err);
}

static void check_deep(world *w)
{
    check_one(w, DEEP);
}

static void created(world *w)
{
    qst_error err = {0};

    must("a call after create", call_flat(w, &err), &err);
    check_flat(w);
}

static void called_flat(world *w)
{
    created(w);
}

static void called_both(world *w)
{
    qst_error err = {0};

    created(w);
    must("a second key", call_deep(w, &err), &err);
    check_deep(w);
}

static void forgotten(world *w)
{
    qst_error err = {0};

    created(w);
    chaos_arm(&w->memory, 0, true); /* it needs none */
    must("forget", qst_context_forget(w->ctx, w->cl->context, &err), &err);
    (void)chaos_disarm(&w->memory);
}

static qst_status plan(world *w, qst_error *err)
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
static qst_status hit_with_waits(world *w, qst_error *err)
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

static qst_status blend(world *w, qst_error *err)
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

static void check_blend(world *w)
{
    blend_problem p = w->blend.problem;

    blend_check(&w->blend, w->cl->in_order, 1);
    blend_close(&w->blend);
    blend_open(&w->blend, w->cl->context, w->cl->in_order, &p);
}

static void append(void *user, const char *text, size_t length)
{
    world *w = user;

    w->text = realloc(w->text, w->length + length + 1);
    assert_non_null(w->text);
    memcpy(w->text + w->length, text, length);
    w->length += length;
    w->text[w->length] = '\0';
}

static void clear_text(world *w)
{
    free(w->text);
    w->text = NULL;
    w->length = 0;
}

static qst_status describe(world *w, qst_error *err)
{
    clear_text(w);
    return qst_describe(w->ctx, w->what, append, w, err);
}

static void described(world *w)
{
    qst_error err = {0};

    called_both(w);
    must(w->what, describe(w, &err), &err);
    w->expected = w->text;
    w->text = NULL;
    w->length = 0;
}

/* Half a description is none. */
static void check_text(world *w)
{
    assert_non_null(w->text);
    assert_string_equal(w->text, w->expected);
}

static qst_status parse_and_print(world *w, qst_error *err)
{
    qst_set   *set = qst_set_of(w->ctx, &qst_matmul_op);
    qst_status status;

    clear_text(w);
    qst_matmul_init(&w->p, 1, 1, 1, QST_F32);
    status = qst_problem_parse(set, "m=24 n=20 k=28", &w->p, err);
    return status == QST_OK ? qst_problem_print(set, &w->p, append, w, err) : status;
}

static void check_print(world *w)
{
    assert_non_null(strstr(w->text, "m=24"));
}

static qst_status pick(world *w, qst_error *err)
{
    cl_platform_id platform = NULL;
    cl_device_id   device = NULL;
    qst_status     status = qst_context_pick_device(w->ctx, &platform, &device, err);

    assert_int_equal(device != NULL, status == QST_OK);
    return status;
}

/* ---- One by one ------------------------------------------------------------------------------------------------- */

static void world_open(world *w, const scene *s)
{
    blend_problem p = blend_of(2000, 3, 1);
    qst_error     err = {0};
    int           i;

    (void)alarm(60); /* anew: the fixture's is for the whole */
    memset(w, 0, sizeof *w);
    w->cl = fixture;
    w->config = s->config;
    w->flags = s->flags;
    w->what = s->what;
    for (i = 0; i < PROBLEMS; i++) {
        qst_matmul m;
        qst_matmul_init(&m, 24, 20, i == DEEP ? 160 : 28, QST_F32);
        m.beta = 1;
        matmul_case_open(&w->c[i], w->cl, &m, NULL);
    }
    blend_open(&w->blend, w->cl->context, w->cl->in_order, &p);
    if (s->act != create)
        must("create", create(w, &err), &err);
    if (s->before)
        s->before(w);
}

static void world_close(world *w, const scene *s, long n)
{
    int i;

    chaos_arm(&w->memory, 0, true); /* nor does this */
    qst_context_destroy(w->ctx);
    (void)chaos_disarm(&w->memory);
    if (w->memory.pieces)
        fail_msg("%s, failure %ld: %zu pieces of memory, %zu bytes, are left", s->name, n, w->memory.pieces,
                 w->memory.bytes);
    for (i = 0; i < PROBLEMS; i++)
        matmul_case_close(&w->c[i]);
    blend_close(&w->blend);
    clear_text(w);
    free(w->expected);
}

/* False: the scene was over before its n-th allocation. */
static bool fail_at(const scene *s, world *w, long n, bool for_good)
{
    qst_error  err = {0}, again = {0};
    qst_status status;
    long       refused;

    chaos_arm(&w->memory, n, for_good);
    status = s->act(w, &err);
    refused = chaos_disarm(&w->memory);
    chaos_expect(s->name, n, status, &err, nomem);
    if (!refused && status != QST_OK)
        fail_msg("%s: %s, and yet nothing failed", s->name, err.text);
    if (status == QST_OK && s->check)
        s->check(w);
    status = s->act(w, &again);
    if (status != QST_OK)
        fail_msg("%s, after failure %ld: %s", s->name, n, again.text);
    if (s->check)
        s->check(w);
    return refused != 0;
}

/* `step`: between the allocations that fail, the first of them being the first. With QST_CHAOS_ALL set it is 1. */
static void sweep(const scene *s, bool fresh, bool for_good, long step)
{
    world w;
    bool  more = true;
    long  n;

    if (getenv("QST_CHAOS_ALL"))
        step = 1;
    if (!fresh)
        world_open(&w, s);
    for (n = 0; more; n += step) {
        if (n > MOST)
            fail_msg("%s: no end after %ld failures", s->name, n);
        if (fresh)
            world_open(&w, s);
        more = fail_at(s, &w, n, for_good);
        if (fresh)
            world_close(&w, s, n);
    }
    if (!fresh)
        world_close(&w, s, n);
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
    static const scene s = {.name = "create", .config = BARE, .flags = QST_NO_PLUGINS, .act = create, .check = created};

    (void)state;
    sweep(&s, true, false, 1);
    sweep(&s, true, true, 1);
}

static void context_with_plugins(void **state)
{
    static const scene s = {.name = "create with plugins", .config = EVERY_KIND, .act = create};

    (void)state;
    sweep(&s, true, false, 1);
    sweep(&s, true, true, 1);
}

static void first_call(void **state)
{
    static const scene s = {
        .name = "first call", .config = BARE, .flags = QST_NO_PLUGINS, .act = call_flat, .check = check_flat};

    (void)state;
    sweep(&s, true, false, 1);
    sweep(&s, true, true, 5);
}

static void first_call_with_probes(void **state)
{
    static const scene s = {
        .name = "first call, probed", .config = PROBED, .flags = QST_NO_PLUGINS, .act = call_flat, .check = check_flat};

    (void)state;
    sweep(&s, true, false, 11);
    sweep(&s, true, true, 23);
}

static void first_call_with_plugins(void **state)
{
    static const scene s = {.name = "first call of two", .config = LOADED, .act = call_deep, .check = check_deep};

    (void)state;
    sweep(&s, true, false, 4);
    sweep(&s, true, true, 9);
}

static void second_key(void **state)
{
    static const scene s = {.name = "second key",
                            .config = BARE,
                            .flags = QST_NO_PLUGINS,
                            .before = called_flat,
                            .act = call_deep,
                            .check = check_deep};

    (void)state;
    sweep(&s, true, false, 4);
    sweep(&s, true, true, 9);
}

static void after_forget(void **state)
{
    static const scene s = {.name = "call after forget",
                            .config = BARE,
                            .flags = QST_NO_PLUGINS,
                            .before = forgotten,
                            .act = call_flat,
                            .check = check_flat};

    (void)state;
    sweep(&s, true, false, 1);
    sweep(&s, true, true, 1);
}

static void plans(void **state)
{
    static const scene s = {.name = "plan", .config = BARE, .flags = QST_NO_PLUGINS, .act = plan, .check = check_deep};

    (void)state;
    sweep(&s, true, false, 4);
    sweep(&s, true, true, 9);
}

static void hits(void **state)
{
    static const scene s = {
        .name = "hit", .config = SPLIT, .before = called_both, .act = hit_with_waits, .check = check_deep};

    (void)state;
    sweep(&s, true, false, 1);
    sweep(&s, true, true, 1);
}

static void an_operation(void **state)
{
    static const scene s = {
        .name = "blend", .config = BARE, .flags = QST_NO_PLUGINS, .act = blend, .check = check_blend};

    (void)state;
    sweep(&s, true, false, 1);
    sweep(&s, true, true, 5);
}

static void descriptions(void **state)
{
    static const char *const what[] = {"devices", "plugins", "config", "sets", "verdicts"};
    size_t                   i;

    (void)state;
    for (i = 0; i < sizeof what / sizeof *what; i++) {
        scene s = {.name = what[i],
                   .config = LOADED,
                   .before = described,
                   .act = describe,
                   .check = check_text,
                   .what = what[i]};
        sweep(&s, false, false, 1);
        sweep(&s, false, true, 1);
    }
}

static void problems_as_text(void **state)
{
    static const scene s = {
        .name = "text", .config = BARE, .flags = QST_NO_PLUGINS, .act = parse_and_print, .check = check_print};

    (void)state;
    sweep(&s, false, false, 1);
    sweep(&s, false, true, 1);
}

static void picking(void **state)
{
    static const scene s = {.name = "pick", .config = BARE, .flags = QST_NO_PLUGINS, .act = pick};

    (void)state;
    sweep(&s, false, false, 1);
    sweep(&s, false, true, 1);
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
