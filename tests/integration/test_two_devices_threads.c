/* SPDX-License-Identifier: MIT
 *
 * test_two_devices_threads.c: threads on two devices of one platform at once, and cl_contexts that are forgotten beside
 * them.
 */
#include "device_pair.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

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
        qst_context *ctx = pair_make_context(&set);
        worker       w[THREADS];
        pair         p;
        pair_open(&p, shared, 10);
        for (int i = 0; i < THREADS; i++)
            w[i] = (worker){.ctx = ctx, .set = set, .context = p.context[i & 1], .device = pair_devices[i & 1]};
        run_all(w, THREADS);
        assert_int_equal(pair_counters(ctx).tuned, 2);
        pair_told_apart(ctx, 1);
        pair_close(&p);
        qst_context_destroy(ctx);
    }
}

/* One device's cl_contexts are forgotten over and over while the other's is in use. */
static void forgotten_beside_the_other(void **state)
{
    (void)state;
    for (int goes = 0; goes < DEVICES; goes++) {
        qst_set     *set;
        qst_context *ctx = pair_make_context(&set);
        worker       w[4];
        pair         p;
        pair_open(&p, false, 10);
        for (int i = 0; i < 4; i++) {
            int which = i < 2 ? goes : !goes;
            w[i] = (worker){.ctx = ctx, .set = set, .device = pair_devices[which]};
            w[i].context = which == goes ? NULL : p.context[which];
        }
        run_all(w, 4);
        pair_call(&p, set, PTHREAD);
        pair_call(&p, set, BASIC);
        pair_close(&p);
        qst_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_on_both),
        cmocka_unit_test(forgotten_beside_the_other),
    };
    (void)alarm(200);
    return pair_find_devices() ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
