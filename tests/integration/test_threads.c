/* SPDX-License-Identifier: MIT
 *
 * test_threads.c: one context used by many threads: each key is tuned once and every product is right, whoever comes
 * first; with plans, with two cl_contexts, while another cl_context is forgotten, and with contexts that come and go.
 */
#include "run/background.h"
#include "support/blend.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define THREADS 8
#define CALLS   20

static void *fixture;

static const qst_candidate *const all[] = {&blend_loop, &blend_wide, &blend_twice, NULL};

/* What a thread does, and the first thing that went wrong in it: assertions belong to the main thread. */
typedef struct worker {
    pthread_t          thread;
    pthread_barrier_t *start;
    qst_context       *ctx;
    qst_set           *set;
    cl_context         context;
    cl_device_id       device;
    int64_t            n; /* elements of its first key; of the others 2n, 4n, … */
    int                keys;
    bool               planned, out_of_order;
    const char        *wrong;
    qst_error          err;
} worker;

typedef struct job {
    blend_problem problem;
    qst_plan     *plan;
    cl_mem        mem[2];
    qst_mem       operand[2];
    float        *host; /* x, then y */
} job;

static bool job_open(worker *w, job *j, cl_command_queue queue, int64_t n)
{
    size_t count = (size_t)n, i;
    cl_int code = CL_SUCCESS;

    memset(j, 0, sizeof *j);
    j->problem = blend_of(n, 3, 1);
    j->host = malloc(2 * count * sizeof *j->host);
    for (i = 0; j->host && i < count; i++) {
        j->host[i] = (float)(i % 11);
        j->host[count + i] = (float)(i % 3);
    }
    for (i = 0; j->host && i < 2 && code == CL_SUCCESS; i++) {
        j->mem[i] = clCreateBuffer(w->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, count * sizeof *j->host,
                                   j->host + i * count, &code);
        j->operand[i] = qst_mem_of(j->mem[i]);
    }
    if (!j->host || code != CL_SUCCESS)
        w->wrong = "buffers";
    else if (w->planned && qst_plan_create(&j->plan, w->set, queue, &j->problem, 0, &w->err) != QST_OK)
        w->wrong = "a plan";
    return !w->wrong;
}

static void job_close(job *j)
{
    int i;

    qst_plan_destroy(j->plan);
    for (i = 0; i < 2; i++)
        if (j->mem[i])
            clReleaseMemObject(j->mem[i]);
    free(j->host);
}

/* One more call; each waits for the one before, as the queue may be out of order. */
static bool job_call(worker *w, job *j, cl_command_queue queue, cl_event *last)
{
    cl_event   done = NULL;
    qst_status status =
        w->planned
            ? qst_plan_enqueue(j->plan, queue, j->operand, *last ? 1 : 0, *last ? last : NULL, &done, &w->err)
            : qst_enqueue(w->set, queue, &j->problem, j->operand, *last ? 1 : 0, *last ? last : NULL, &done, &w->err);

    if (*last)
        clReleaseEvent(*last);
    *last = done;
    if (status != QST_OK)
        w->wrong = "a call";
    return !w->wrong;
}

static bool job_check(worker *w, job *j, cl_command_queue queue, int calls)
{
    size_t count = (size_t)j->problem.n, i;
    float *got = malloc(count * sizeof *got);

    if (!got || clFinish(queue) != CL_SUCCESS ||
        clEnqueueReadBuffer(queue, j->mem[1], CL_TRUE, 0, count * sizeof *got, got, 0, NULL, NULL) != CL_SUCCESS)
        w->wrong = "reading";
    for (i = 0; !w->wrong && i < count; i++)
        if (got[i] != j->host[count + i] + 3 * (float)calls * j->host[i])
            w->wrong = "a product";
    free(got);
    return !w->wrong;
}

static void *work(void *user)
{
    enum { KEYS_MAX = 4 };
    worker          *w = user;
    job              jobs[KEYS_MAX];
    cl_event         last[KEYS_MAX] = {NULL};
    cl_int           code;
    cl_command_queue queue = clCreateCommandQueue(w->context, w->device,
                                                  w->out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, &code);
    int              opened = 0, i, call;

    if (code != CL_SUCCESS)
        w->wrong = "a queue";
    if (w->start)
        pthread_barrier_wait(w->start);
    for (; !w->wrong && opened < w->keys; opened++)
        if (!job_open(w, &jobs[opened], queue, w->n << opened)) {
            job_close(&jobs[opened]);
            break;
        }
    for (call = 0; !w->wrong && call < CALLS; call++)
        for (i = 0; !w->wrong && i < opened; i++)
            job_call(w, &jobs[i], queue, &last[i]);
    for (i = 0; !w->wrong && i < opened; i++)
        job_check(w, &jobs[i], queue, CALLS);
    if (code == CL_SUCCESS)
        (void)clFinish(queue);
    for (i = 0; i < opened; i++) {
        if (last[i])
            clReleaseEvent(last[i]);
        job_close(&jobs[i]);
    }
    if (code == CL_SUCCESS)
        clReleaseCommandQueue(queue);
    return NULL;
}

static worker worker_of(qst_context *ctx, qst_set *set)
{
    cl_fixture *cl = fixture;

    return (worker){.ctx = ctx, .set = set, .context = cl->context, .device = cl->device, .n = 700, .keys = 1};
}

static void run_all(worker *workers, int n)
{
    pthread_barrier_t start;
    int               i;

    assert_int_equal(pthread_barrier_init(&start, NULL, (unsigned)n), 0);
    for (i = 0; i < n; i++) {
        workers[i].start = &start;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (i = 0; i < n; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    for (i = 0; i < n; i++)
        if (workers[i].wrong)
            fail_msg("thread %d, %s: %s", i, workers[i].wrong, workers[i].err.text);
    pthread_barrier_destroy(&start);
}

static uint64_t tuned(qst_context *ctx)
{
    qst_counters c = {.size = sizeof c};

    assert_int_equal(qst_context_counters(ctx, &c), QST_OK);
    return c.tuned;
}

static qst_context *make_context(void)
{
    return blend_context("{\"tune\": {\"budget_ms\": 0}}");
}

/* All threads meet at the same keys, by keyed calls and by plans, on both orders of queue. */
static void same_keys(void **state)
{
    cl_fixture  *cl = fixture;
    qst_context *ctx = make_context();
    qst_set     *set = blend_set(ctx, all);
    worker       w[THREADS];
    int          i;

    (void)state;
    for (i = 0; i < THREADS; i++) {
        w[i] = worker_of(ctx, set);
        w[i].keys = 3;
        w[i].planned = i & 1;
        w[i].out_of_order = (i & 2) && cl->out_of_order;
    }
    run_all(w, THREADS);
    assert_int_equal(tuned(ctx), 3);
    qst_context_destroy(ctx);
}

/* Each thread has a key of its own, which its two calls of the same bucket share. */
static void different_keys(void **state)
{
    qst_context *ctx = make_context();
    qst_set     *set = blend_set(ctx, all);
    worker       w[THREADS];
    int          i;

    (void)state;
    for (i = 0; i < THREADS; i++) {
        w[i] = worker_of(ctx, set);
        w[i].n = INT64_C(20) << i;
        w[i].planned = i & 1;
    }
    run_all(w, THREADS);
    assert_int_equal(tuned(ctx), THREADS);
    run_all(w, THREADS);
    assert_int_equal(tuned(ctx), THREADS);
    qst_context_destroy(ctx);
}

static cl_context another_context(void)
{
    cl_fixture *cl = fixture;
    cl_int      code;
    cl_context  made = clCreateContext(NULL, 1, &cl->device, NULL, NULL, &code);

    assert_int_equal(code, CL_SUCCESS);
    return made;
}

/* The device's answers are kept for each cl_context, and what one stored the other may take over. */
static void two_cl_contexts(void **state)
{
    qst_context *ctx = make_context();
    qst_set     *set = blend_set(ctx, all);
    cl_context   other = another_context();
    worker       w[THREADS];
    int          i;

    (void)state;
    for (i = 0; i < THREADS; i++) {
        w[i] = worker_of(ctx, set);
        w[i].keys = 2;
        w[i].planned = i & 2;
        if (i & 1)
            w[i].context = other;
    }
    run_all(w, THREADS);
    assert_in_range(tuned(ctx), 2, 4);
    assert_int_equal(qst_context_forget(ctx, other, NULL), QST_OK);
    clReleaseContext(other);
    qst_context_destroy(ctx);
}

/* Forgotten and used again: the answer comes from the store, and the thread's memory of its last call is void. */
static void forgotten(void **state)
{
    cl_fixture   *cl = fixture;
    qst_context  *ctx = make_context();
    qst_set      *set = blend_set(ctx, all);
    blend_problem p = blend_of(5000, 2, 1);
    blend_case    c;
    int           i;

    (void)state;
    blend_open(&c, cl->context, cl->in_order, &p);
    for (i = 1; i <= 4; i++) {
        assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
        blend_check(&c, cl->in_order, i);
        assert_int_equal(tuned(ctx), 1);
        assert_int_equal(qst_context_forget(ctx, cl->context, NULL), QST_OK);
        assert_int_equal(qst_context_forget(ctx, cl->context, NULL), QST_E_NOTFOUND);
    }
    blend_close(&c);
    qst_context_destroy(ctx);
}

/* A new cl_context each time, as likely as not at the address of the one before. */
static void forgotten_and_replaced(void **state)
{
    cl_fixture   *cl = fixture;
    qst_context  *ctx = make_context();
    qst_set      *set = blend_set(ctx, all);
    blend_problem p = blend_of(900, 2, 1);
    int           i;

    (void)state;
    for (i = 0; i < 10; i++) {
        cl_context       mine = another_context();
        cl_int           code;
        cl_command_queue queue = clCreateCommandQueue(mine, cl->device, 0, &code);
        blend_case       c;
        assert_int_equal(code, CL_SUCCESS);
        blend_open(&c, mine, queue, &p);
        assert_int_equal(qst_enqueue(set, queue, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
        assert_int_equal(qst_enqueue(set, queue, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
        blend_check(&c, queue, 2);
        blend_close(&c);
        clReleaseCommandQueue(queue);
        assert_int_equal(qst_context_forget(ctx, mine, NULL), QST_OK);
        clReleaseContext(mine);
    }
    qst_context_destroy(ctx);
}

/* Uses cl_contexts of its own and forgets them while the others look theirs up. */
static void *come_and_go(void *user)
{
    worker *w = user;
    int     i;

    pthread_barrier_wait(w->start);
    for (i = 0; i < 15 && !w->wrong; i++) {
        cl_int code;
        worker inner = *w;
        inner.start = NULL;
        inner.context = clCreateContext(NULL, 1, &w->device, NULL, NULL, &code);
        if (code != CL_SUCCESS) {
            w->wrong = "a cl_context";
            return NULL;
        }
        work(&inner);
        w->wrong = inner.wrong;
        w->err = inner.err;
        if (!w->wrong && qst_context_forget(w->ctx, inner.context, &w->err) != QST_OK)
            w->wrong = "forgetting";
        clReleaseContext(inner.context);
    }
    return NULL;
}

static void forgotten_while_others_run(void **state)
{
    qst_context      *ctx = make_context();
    qst_set          *set = blend_set(ctx, all);
    pthread_barrier_t start;
    worker            w[4];
    int               i;

    (void)state;
    assert_int_equal(pthread_barrier_init(&start, NULL, 4), 0);
    for (i = 0; i < 4; i++) {
        w[i] = worker_of(ctx, set);
        w[i].keys = 4; /* more than a thread remembers: each call looks its cl_context up */
        w[i].start = &start;
        assert_int_equal(pthread_create(&w[i].thread, NULL, i < 2 ? come_and_go : work, &w[i]), 0);
    }
    for (i = 0; i < 4; i++)
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
    for (i = 0; i < 4; i++)
        if (w[i].wrong)
            fail_msg("thread %d, %s: %s", i, w[i].wrong, w[i].err.text);
    pthread_barrier_destroy(&start);
    qst_context_destroy(ctx);
}

/* Contexts come and go, as likely as not at the same address; a thread's memory of the last one must not serve. */
static void contexts_in_a_loop(void **state)
{
    cl_fixture   *cl = fixture;
    blend_problem p = blend_of(640, 2, 1);
    blend_case    c;
    int           i;

    (void)state;
    blend_open(&c, cl->context, cl->in_order, &p);
    for (i = 1; i <= 10; i++) {
        qst_context *ctx = blend_context(i & 1 ? "{\"tune\": {\"mode\": \"fallback\"}}" : NULL);
        qst_set     *set = blend_set(ctx, all);
        qst_plan    *plan;
        assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
        blend_check(&c, cl->in_order, i);
        assert_int_equal(tuned(ctx), !(i & 1));
        assert_int_equal(qst_plan_create(&plan, set, cl->in_order, &p, 0, NULL), QST_OK);
        qst_plan_destroy(plan);
        qst_context_destroy(ctx);
    }
    blend_close(&c);
}

#define IN_BACKGROUND "{\"tune\": {\"mode\": \"background\", \"budget_ms\": 0}}"

/* Calls are served at once and are right while the worker tunes; plans follow. */
static void in_the_background(void **state)
{
    qst_context *ctx = blend_context(IN_BACKGROUND);
    qst_set     *set = blend_set(ctx, all);
    worker       w[THREADS];
    int          i;

    (void)state;
    for (i = 0; i < THREADS; i++) {
        w[i] = worker_of(ctx, set);
        w[i].keys = 3;
        w[i].planned = i & 1;
    }
    run_all(w, THREADS);
    qst__background_settle(ctx);
    assert_int_equal(tuned(ctx), 3);
    run_all(w, THREADS);
    assert_int_equal(tuned(ctx), 3);
    qst_context_destroy(ctx);
}

/* Forgotten, or ended, while the worker is at it. What it had found by then is gone on with. */
static void given_up_in_the_background(void **state)
{
    cl_fixture   *cl = fixture;
    blend_problem p = blend_of(4000, 2, 1);
    blend_case    c;
    qst_plan     *plan;
    int           i, calls = 0;

    (void)state;
    blend_open(&c, cl->context, cl->in_order, &p);
    for (i = 0; i < 3; i++) {
        qst_context *ctx = blend_context(IN_BACKGROUND);
        qst_set     *set = blend_set(ctx, all);
        int          j;
        for (j = 0; j <= i; j++) {
            assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
            blend_check(&c, cl->in_order, ++calls);
            assert_int_equal(qst_context_forget(ctx, cl->context, NULL), QST_OK);
        }
        assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
        blend_check(&c, cl->in_order, ++calls);
        if (i == 2) { /* no candidate was left out for good */
            char *text;
            qst__background_settle(ctx);
            assert_int_equal(qst_plan_create(&plan, set, cl->in_order, &p, 0, NULL), QST_OK);
            assert_non_null(strstr(qst_plan_winner(plan), "blend.app."));
            qst_plan_destroy(plan);
            text = blend_describe(ctx, "verdicts");
            assert_null(strstr(text, "REFUSED"));
            assert_non_null(strstr(text, "\"ready\""));
            free(text);
        }
        qst_context_destroy(ctx);
    }
    blend_close(&c);
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
        cmocka_unit_test(same_keys),
        cmocka_unit_test(different_keys),
        cmocka_unit_test(two_cl_contexts),
        cmocka_unit_test(forgotten),
        cmocka_unit_test(forgotten_and_replaced),
        cmocka_unit_test(forgotten_while_others_run),
        cmocka_unit_test(contexts_in_a_loop),
        cmocka_unit_test(in_the_background),
        cmocka_unit_test(given_up_in_the_background),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
