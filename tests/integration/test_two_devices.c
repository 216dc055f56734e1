/* SPDX-License-Identifier: MIT
 *
 * test_two_devices.c: two devices of one platform, in one cl_context and in two: each has its own answers. PoCL shows
 * its drivers `pthread` and `basic` as two devices where POCL_DEVICES says so, as it does for this test; they are told
 * apart by name. Kernels that wait for a user event do not end on `basic`.
 */
#include "cl/place.h"
#include "support/blend.h"

#include <jansson.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { PTHREAD, BASIC, DEVICES };

static const char *const names[DEVICES] = {"pthread", "basic"};

static cl_platform_id platform;
static cl_device_id   devices[DEVICES];

/* ---- Candidates that one of the devices alone can run ------------------------------------------------------------ */

static int32_t only(const qst_device *device, uint32_t which, const char **why)
{
    if (strncmp(device->name, names[which], strlen(names[which])) == 0)
        return QST_OK;
    if (why)
        *why = which == PTHREAD ? "for pthread only" : "for basic only";
    return QST_E_UNSUPPORTED;
}

static int32_t only_pthread(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    (void)user, (void)key;
    return only(device, PTHREAD, why);
}

static int32_t only_basic(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    (void)user, (void)key;
    return only(device, BASIC, why);
}

static qst_context *make_context(qst_set **set)
{
    qst_context                      *ctx = blend_context("{\"tune\": {\"budget_ms\": 0, \"short_circuit\": false}}");
    static const qst_candidate *const both[] = {&blend_loop, NULL};
    qst_candidate                     one = blend_wide, other = blend_wide;

    *set = blend_set(ctx, both);
    one.variant = "for_pthread";
    one.supports = only_pthread;
    other.variant = "for_basic";
    other.supports = only_basic;
    assert_int_equal(qst_set_add_candidate(*set, &one, NULL), QST_OK);
    assert_int_equal(qst_set_add_candidate(*set, &other, NULL), QST_OK);
    return ctx;
}

/* ---- The devices in use ------------------------------------------------------------------------------------------ */

/* Each device with a queue and a case, in a cl_context that they share or have each. */
typedef struct pair {
    cl_context       context[DEVICES];
    cl_command_queue queue[DEVICES];
    blend_case       c[DEVICES];
    int              calls[DEVICES];
} pair;

static cl_context context_of(cl_uint n, const cl_device_id *of)
{
    cl_int     code;
    cl_context made = clCreateContext(NULL, n, of, NULL, NULL, &code);

    assert_int_equal(code, CL_SUCCESS);
    return made;
}

static cl_command_queue queue_of(cl_context context, cl_device_id device)
{
    cl_int           code;
    cl_command_queue made = clCreateCommandQueue(context, device, 0, &code);

    assert_int_equal(code, CL_SUCCESS);
    return made;
}

static void open_pair(pair *p, bool shared, int64_t n)
{
    blend_problem problem = blend_of(n, 3, 1);

    memset(p, 0, sizeof *p);
    p->context[PTHREAD] = shared ? context_of(DEVICES, devices) : context_of(1, &devices[PTHREAD]);
    p->context[BASIC] = shared ? p->context[PTHREAD] : context_of(1, &devices[BASIC]);
    for (int i = 0; i < DEVICES; i++) {
        p->queue[i] = queue_of(p->context[i], devices[i]);
        blend_open(&p->c[i], p->context[i], p->queue[i], &problem);
    }
}

static void close_pair(pair *p)
{
    for (int i = 0; i < DEVICES; i++) {
        blend_close(&p->c[i]);
        clReleaseCommandQueue(p->queue[i]);
    }
    clReleaseContext(p->context[PTHREAD]);
    if (p->context[BASIC] != p->context[PTHREAD])
        clReleaseContext(p->context[BASIC]);
}

static void call(pair *p, qst_set *set, int i)
{
    qst_error err = {0};

    if (qst_enqueue(set, p->queue[i], &p->c[i].problem, p->c[i].operand, 0, NULL, NULL, &err) != QST_OK)
        fail_msg("%s: %s", names[i], err.text);
    blend_check(&p->c[i], p->queue[i], ++p->calls[i]);
}

static qst_counters counters_of(qst_context *ctx)
{
    qst_counters c = {.size = sizeof c};

    assert_int_equal(qst_context_counters(ctx, &c), QST_OK);
    return c;
}

/* ---- What the context says ---------------------------------------------------------------------------------------- */

static json_t *verdicts(qst_context *ctx)
{
    char   *text = blend_describe(ctx, "verdicts");
    json_t *list = json_loads(text, 0, NULL);

    free(text);
    assert_true(json_is_array(list));
    return list;
}

static const char *member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

static const char *outcome_of(const json_t *verdict, const char *name)
{
    size_t  i;
    json_t *finding;

    json_array_foreach(json_object_get(verdict, "findings"), i,
                       finding) if (strcmp(member(finding, "name"), name) == 0) return member(finding, "outcome");
    return "";
}

/* `each` verdicts of each device; what is for the one alone is not supported on the other and right on its own. */
static void told_apart(qst_context *ctx, int each)
{
    json_t *list = verdicts(ctx), *v;
    int     seen[DEVICES] = {0};
    char    target[DEVICES][256] = {"", ""};
    size_t  i;

    json_array_foreach(list, i, v)
    {
        int         which = strncmp(member(v, "device"), names[BASIC], strlen(names[BASIC])) == 0 ? BASIC : PTHREAD;
        const char *own = which == BASIC ? "blend.app.for_basic/1" : "blend.app.for_pthread/1";
        const char *others = which == BASIC ? "blend.app.for_pthread/1" : "blend.app.for_basic/1";
        seen[which]++;
        snprintf(target[which], sizeof target[which], "%s", member(v, "target"));
        assert_string_equal(member(v, "state"), "ready");
        assert_string_equal(outcome_of(v, others), "UNSUPPORTED");
        assert_string_not_equal(outcome_of(v, own), "UNSUPPORTED");
        assert_string_not_equal(outcome_of(v, own), "UNTRIED");
        assert_string_not_equal(member(v, "winner"), others);
    }
    json_decref(list);
    assert_int_equal(seen[PTHREAD], each);
    assert_int_equal(seen[BASIC], each);
    assert_non_null(strstr(target[BASIC], "basic"));
    assert_non_null(strstr(target[PTHREAD], "pthread"));
}

/* ---- The tests ---------------------------------------------------------------------------------------------------- */

static void picked_by_name(void **state)
{
    (void)state;
    for (int i = 0; i < DEVICES; i++) {
        char           config[64];
        qst_context   *ctx;
        cl_platform_id of;
        cl_device_id   id;
        snprintf(config, sizeof config, "{\"device\": {\"name\": \"%s\"}}", names[i]);
        ctx = blend_context(config);
        assert_int_equal(qst_context_pick_device(ctx, &of, &id, NULL), QST_OK);
        assert_ptr_equal(id, devices[i]);
        assert_ptr_equal(of, platform);
        qst_context_destroy(ctx);
    }
}

/* By what one process tells another. */
static void placed_by_name(void **state)
{
    (void)state;
    for (int i = 0; i < DEVICES; i++) {
        qst__place     place;
        qst__pick      wanted = {.platform = "Portable", .name = ""};
        cl_platform_id of = NULL;
        cl_device_id   id = NULL;
        uint64_t       count = 0;
        assert_int_equal(qst__place_of(&place, devices[i]), CL_SUCCESS);
        assert_int_equal(place.nth, 0);
        assert_int_equal(qst__place_find(&place, &of, &id, &count), CL_SUCCESS);
        assert_ptr_equal(id, devices[i]);
        assert_ptr_equal(of, platform);
        assert_int_equal(qst__device_index("Portable", names[i], devices[i]), 0);
        assert_int_equal(qst__device_index("Portable", names[1 - i], devices[i]), -1);
        wanted.index = qst__device_index("Portable", "", devices[i]);
        assert_int_equal(qst__device_pick(&wanted, &of, &id, NULL), QST_OK);
        assert_ptr_equal(id, devices[i]);
    }
}

static void own_answers(bool shared)
{
    qst_set     *set;
    qst_context *ctx = make_context(&set);
    pair         p;
    qst_counters first, after;

    open_pair(&p, shared, 900);
    call(&p, set, PTHREAD);
    assert_int_equal(counters_of(ctx).tuned, 1);
    call(&p, set, BASIC); /* the other's answer is not this one's */
    first = counters_of(ctx);
    assert_int_equal(first.tuned, 2);
    told_apart(ctx, 1);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < DEVICES; i++)
            call(&p, set, i);
    after = counters_of(ctx);
    assert_int_equal(after.tuned, 2);
    assert_int_equal(after.compiles, first.compiles);
    assert_int_equal(after.hits, first.hits + 6);
    assert_int_equal(after.candidate, first.candidate + 6);
    close_pair(&p);
    qst_context_destroy(ctx);
}

static void in_one_context(void **state)
{
    (void)state;
    own_answers(true);
}

static void in_two_contexts(void **state)
{
    (void)state;
    own_answers(false);
}

static void plans_stay_at_home(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        qst_set     *set;
        qst_context *ctx = make_context(&set);
        qst_plan    *plan[DEVICES];
        pair         p;
        open_pair(&p, shared, 700);
        for (int i = 0; i < DEVICES; i++)
            assert_int_equal(qst_plan_create(&plan[i], set, p.queue[i], &p.c[i].problem, 0, NULL), QST_OK);
        for (int i = 0; i < DEVICES; i++) {
            qst_error err = {0};
            cl_event  event = NULL;
            assert_int_equal(qst_plan_enqueue(plan[i], p.queue[!i], p.c[!i].operand, 0, NULL, &event, &err),
                             QST_E_INVALID);
            assert_null(event);
            assert_non_null(strstr(err.text, shared ? "another device" : "another context"));
            assert_int_equal(qst_plan_enqueue(plan[i], p.queue[i], p.c[i].operand, 0, NULL, NULL, NULL), QST_OK);
            assert_null(strstr(qst_plan_winner(plan[i]), names[!i]));
        }
        for (int i = 0; i < DEVICES; i++) {
            blend_check(&p.c[i], p.queue[i], 1); /* the refused call did nothing */
            qst_plan_destroy(plan[i]);
        }
        assert_int_equal(counters_of(ctx).tuned, 2);
        close_pair(&p);
        qst_context_destroy(ctx);
    }
}

/* While one device's queue is held, the other is tuned and used. */
static void one_is_held(void **state)
{
    qst_set     *set;
    qst_context *ctx = make_context(&set);
    pair         p;
    cl_int       code;
    cl_event     gate;
    (void)state;

    open_pair(&p, false, 800);
    gate = clCreateUserEvent(p.context[PTHREAD], &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(
        qst_enqueue(set, p.queue[PTHREAD], &p.c[PTHREAD].problem, p.c[PTHREAD].operand, 1, &gate, NULL, NULL), QST_OK);
    call(&p, set, BASIC);
    call(&p, set, BASIC);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    blend_check(&p.c[PTHREAD], p.queue[PTHREAD], 1);
    clReleaseEvent(gate);
    told_apart(ctx, 1);
    close_pair(&p);
    qst_context_destroy(ctx);
}

/* Contexts and cl_contexts come and go, now for the one device and now for the other, as likely as not at the address of
 * the one before. */
static void coming_and_going(void **state)
{
    qst_set     *set;
    qst_context *ctx = make_context(&set);
    (void)state;

    for (int i = 0; i < 10; i++) {
        int           which = i & 1;
        blend_problem problem = blend_of(900, 3, 1);
        pair          p = {.context = {NULL}};
        qst_set      *own_set;
        qst_context  *own = make_context(&own_set);
        p.context[which] = context_of(1, &devices[which]);
        p.queue[which] = queue_of(p.context[which], devices[which]);
        blend_open(&p.c[which], p.context[which], p.queue[which], &problem);
        call(&p, set, which);
        call(&p, set, which);
        call(&p, own_set, which);
        assert_int_equal(counters_of(own).tuned, 1);
        qst_context_destroy(own);
        blend_close(&p.c[which]);
        clReleaseCommandQueue(p.queue[which]);
        assert_int_equal(qst_context_forget(ctx, p.context[which], NULL), QST_OK);
        clReleaseContext(p.context[which]);
    }
    assert_int_equal(counters_of(ctx).tuned, 2); /* once a device: the others read what it stored */
    qst_context_destroy(ctx);
}

/* ---- Threads ------------------------------------------------------------------------------------------------------ */

enum { THREADS = 8, CALLS = 12, COUNT = 1200 };

typedef struct worker {
    qst_context       *ctx;
    qst_set           *set;
    cl_context         context; /* NULL: one of its own each time, forgotten afterwards */
    cl_device_id       device;
    pthread_barrier_t *start;
    pthread_t          thread;
    const char        *wrong;
    qst_error          err;
} worker;

static bool made(worker *w, cl_int code, const char *what)
{
    if (code != CL_SUCCESS)
        w->wrong = what;
    return code == CL_SUCCESS;
}

static void use(worker *w, cl_context context)
{
    static const float zeros[COUNT];
    float              host[COUNT];
    blend_problem      problem = blend_of(COUNT, 3, 1);
    cl_mem             mem[2] = {NULL, NULL};
    qst_mem            operand[2];
    cl_int             code;
    cl_command_queue   queue = clCreateCommandQueue(context, w->device, 0, &code);

    if (!made(w, code, "a queue"))
        return;
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)(i % 13);
    mem[0] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof host, host, &code);
    if (made(w, code, "a buffer"))
        mem[1] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros, (void *)zeros, &code);
    if (!w->wrong && made(w, code, "a buffer")) {
        operand[0] = qst_mem_of(mem[0]);
        operand[1] = qst_mem_of(mem[1]);
        for (int call_no = 0; call_no < CALLS && !w->wrong; call_no++)
            if (qst_enqueue(w->set, queue, &problem, operand, 0, NULL, NULL, &w->err) != QST_OK)
                w->wrong = "a call";
        code = clEnqueueReadBuffer(queue, mem[1], CL_TRUE, 0, sizeof host, host, 0, NULL, NULL);
        if (!w->wrong && made(w, code, "reading"))
            for (int i = 0; i < COUNT; i++)
                if (host[i] != (float)(CALLS * 3 * (i % 13)))
                    w->wrong = "a product";
    }
    clFinish(queue);
    for (int i = 0; i < 2; i++)
        if (mem[i])
            clReleaseMemObject(mem[i]);
    clReleaseCommandQueue(queue);
}

static void *work(void *user)
{
    worker *w = user;

    pthread_barrier_wait(w->start);
    if (w->context) {
        use(w, w->context);
        return NULL;
    }
    for (int i = 0; i < 6 && !w->wrong; i++) {
        cl_int     code;
        cl_context own = clCreateContext(NULL, 1, &w->device, NULL, NULL, &code);
        if (!made(w, code, "a cl_context"))
            break;
        use(w, own);
        if (!w->wrong && qst_context_forget(w->ctx, own, &w->err) != QST_OK)
            w->wrong = "forgetting";
        clReleaseContext(own);
    }
    return NULL;
}

static void run_all(worker *w, unsigned n)
{
    pthread_barrier_t start;

    assert_int_equal(pthread_barrier_init(&start, NULL, n), 0);
    for (unsigned i = 0; i < n; i++) {
        w[i].start = &start;
        assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
    }
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
    for (unsigned i = 0; i < n; i++)
        if (w[i].wrong)
            fail_msg("thread %u, %s: %s", i, w[i].wrong, w[i].err.text);
    pthread_barrier_destroy(&start);
}

static void threads_on_both(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        qst_set     *set;
        qst_context *ctx = make_context(&set);
        worker       w[THREADS];
        pair         p;
        open_pair(&p, shared, 10);
        for (int i = 0; i < THREADS; i++)
            w[i] = (worker){.ctx = ctx, .set = set, .context = p.context[i & 1], .device = devices[i & 1]};
        run_all(w, THREADS);
        assert_int_equal(counters_of(ctx).tuned, 2);
        told_apart(ctx, 1);
        close_pair(&p);
        qst_context_destroy(ctx);
    }
}

/* One device's cl_contexts are forgotten over and over while the other's is in use. */
static void forgotten_beside_the_other(void **state)
{
    (void)state;
    for (int goes = 0; goes < DEVICES; goes++) {
        qst_set     *set;
        qst_context *ctx = make_context(&set);
        worker       w[4];
        pair         p;
        open_pair(&p, false, 10);
        for (int i = 0; i < 4; i++) {
            int which = i < 2 ? goes : !goes;
            w[i] = (worker){.ctx = ctx, .set = set, .device = devices[which]};
            w[i].context = which == goes ? NULL : p.context[which];
        }
        run_all(w, 4);
        call(&p, set, PTHREAD);
        call(&p, set, BASIC);
        close_pair(&p);
        qst_context_destroy(ctx);
    }
}

/* ------------------------------------------------------------------------------------------------------------------- */

static bool find(int which)
{
    qst__pick wanted = {.platform = "Portable Computing Language", .name = names[which], .index = 0};

    return qst__device_pick(&wanted, &platform, &devices[which], NULL) == QST_OK && devices[which] != NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picked_by_name),  cmocka_unit_test(in_one_context),
        cmocka_unit_test(in_two_contexts), cmocka_unit_test(plans_stay_at_home),
        cmocka_unit_test(one_is_held),     cmocka_unit_test(coming_and_going),
        cmocka_unit_test(threads_on_both), cmocka_unit_test(forgotten_beside_the_other),
        cmocka_unit_test(placed_by_name),
    };
    (void)alarm(200);
    if (!find(PTHREAD) || !find(BASIC)) {
        printf("skipped: needs two devices: PoCL with POCL_DEVICES=\"pthread basic\"\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
