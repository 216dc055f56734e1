/* SPDX-License-Identifier: MIT
 *
 * background.c: what a call costs while another key is tuned in the background. A benchmark, not a test: it prints.
 *
 *     background [SIZE]
 *
 * A context with tune.mode background; the safe candidate's time at SIZE (default 256) is taken first, with tuning off;
 * then a plan of that size is run 1000 times, each finished, while its own key and that of another size are tuned. Printed: the
 * safe candidate's median, the loop's median and maximum, at which call the winner took over, and how many calls took
 * over twice the safe median plus 1 ms.
 */
#include <quernstone/quernstone.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 1000, SAFE_CALLS = 50 };

typedef struct bench {
    cl_context       cl;
    cl_command_queue queue;
    cl_mem           mem[3];
    qst_matmul       problem;
} bench;

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void fail(const char *what, const qst_error *err)
{
    fprintf(stderr, "background: %s: %s\n", what, err->text);
    exit(1);
}

static qst_context *make_context(const char *mode)
{
    char         config[200];
    qst_options  options;
    qst_context *ctx;
    qst_error    err = {0};

    snprintf(config, sizeof config,
             "{\"tune\": {\"mode\": \"%s\"}, \"candidates\": {\"deny\": [\"matmul.clblast.*\", \"matmul.cblas.*\"]}}",
             mode);
    qst_options_init(&options);
    options.flags = QST_NO_STORE;
    options.config = config;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail("context", &err);
    return ctx;
}

static void make_operands(bench *b, qst_context *ctx, int64_t n)
{
    cl_platform_id platform;
    cl_device_id   device;
    cl_int         code;
    qst_error      err = {0};
    float         *data = calloc((size_t)(n * n), sizeof *data);
    int            i;

    if (!data || qst_context_pick_device(ctx, &platform, &device, &err) != QST_OK)
        fail("device", &err);
    b->cl = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    b->queue = clCreateCommandQueue(b->cl, device, 0, &code);
    for (i = 0; i < 3; i++)
        b->mem[i] = clCreateBuffer(b->cl, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, (size_t)(n * n) * sizeof *data,
                                   data, &code);
    free(data);
    qst_matmul_init(&b->problem, n, n, n, QST_F32);
}

/* Runs the plan `calls` times, each finished; times in ms. Gives the call at which the winner changed, 0: never. */
static int run(const bench *b, qst_plan *plan, int calls, double *ms)
{
    const qst_mem operands[3] = {qst_mem_of(b->mem[0]), qst_mem_of(b->mem[1]), qst_mem_of(b->mem[2])};
    const char   *first = qst_plan_winner(plan);
    qst_error     err = {0};
    int           i, took_over = 0;

    for (i = 0; i < calls; i++) {
        double start = now_ms();
        if (qst_plan_enqueue(plan, b->queue, operands, 0, NULL, NULL, &err) != QST_OK)
            fail("enqueue", &err);
        clFinish(b->queue);
        ms[i] = now_ms() - start;
        if (!took_over && strcmp(qst_plan_winner(plan), first))
            took_over = i;
    }
    return took_over;
}

static double median(double *ms, int n)
{
    qsort(ms, (size_t)n, sizeof *ms, by_size);
    return ms[n / 2];
}

int main(int argc, char **argv)
{
    static double ms[CALLS];
    int64_t       n = argc > 1 ? atoll(argv[1]) : 256;
    qst_context  *safe = make_context("fallback"), *ctx = make_context("background");
    bench         b;
    qst_matmul    other;
    qst_plan     *plan;
    qst_error     err = {0};
    double        safe_ms, loop_ms, limit;
    int           i, took_over, over = 0;

    make_operands(&b, safe, n);
    if (qst_matmul_plan(&plan, safe, b.queue, &b.problem, &err) != QST_OK)
        fail("plan", &err);
    run(&b, plan, SAFE_CALLS, ms);
    safe_ms = median(ms, SAFE_CALLS);
    printf("safe:    %s, median %.3f ms\n", qst_plan_winner(plan), safe_ms);
    qst_plan_destroy(plan);

    if (qst_matmul_plan(&plan, ctx, b.queue, &b.problem, &err) != QST_OK)
        fail("plan", &err);
    qst_matmul_init(&other, n, n / 2, n, QST_F32); /* another key, tuned meanwhile */
    if (qst_matmul_enqueue(ctx, b.queue, &other, b.mem[0], b.mem[1], b.mem[2], 0, NULL, NULL, &err) != QST_OK)
        fail("enqueue", &err);
    clFinish(b.queue);
    took_over = run(&b, plan, CALLS, ms);
    limit = 2 * safe_ms + 1;
    for (i = 0; i < CALLS; i++)
        over += ms[i] > limit;
    loop_ms = median(ms, CALLS);
    printf("taken over at call %d by %s\n", took_over, qst_plan_winner(plan));
    printf("loop:    median %.3f ms, maximum %.3f ms; %d of %d calls over %.3f ms\n", loop_ms, ms[CALLS - 1], over,
           CALLS, limit);
    qst_plan_destroy(plan);
    for (i = 0; i < 3; i++)
        clReleaseMemObject(b.mem[i]);
    clReleaseCommandQueue(b.queue);
    qst_context_destroy(ctx);
    qst_context_destroy(safe);
    clReleaseContext(b.cl);
    return 0;
}
