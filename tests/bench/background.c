/* SPDX-License-Identifier: MIT
 *
 * background.c: what a call costs while another key is tuned in the background. A benchmark, not a test: it prints.
 *
 *     background [SIZE [AHEAD]]
 *
 * A context with tune.mode background; 1000 calls of SIZE (default 256) by the safe candidate are timed first, with tuning
 * off, which shows what the machine itself does; then a plan of that size is run, each call finished, while its own key
 * and that of another size are tuned: 1000 times, and on until the winner has taken over and as many calls again have
 * gone by, but no longer than two minutes. Printed: the safe candidate's median; at which call and after how many
 * seconds the winner took over; for the first 1000 calls and for all of them median and maximum, and how many took over
 * twice the safe median plus 1 ms, with the place and time of the longest. AHEAD 0: tune.ahead false.
 */
#include <quernstone/quernstone.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 1000, CALLS_MAX = 2000000, LONGEST = 8 };
#define PATIENCE_MS 120000.0

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

static qst_context *make_context(const char *mode, const char *ahead)
{
    char         config[200];
    qst_options  options;
    qst_context *ctx;
    qst_error    err = {0};

    /* OpenBLAS's threads go on spinning after a call, and would be measured, not the tuner */
    snprintf(config, sizeof config,
             "{\"tune\": {\"mode\": \"%s\", \"ahead\": %s}, \"candidates\": {\"deny\": [\"matmul.cblas.*\"]}}", mode,
             ahead);
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
    cl_device_id   device = NULL;
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

/* One call, finished; ms. */
static double call(const bench *b, qst_plan *plan)
{
    const qst_mem operands[3] = {qst_mem_of(b->mem[0]), qst_mem_of(b->mem[1]), qst_mem_of(b->mem[2])};
    qst_error     err = {0};
    double        start = now_ms();

    if (qst_plan_enqueue(plan, b->queue, operands, 0, NULL, NULL, &err) != QST_OK)
        fail("enqueue", &err);
    clFinish(b->queue);
    return now_ms() - start;
}

/* The loop; times in ms and when each call began. Gives the number of calls; *took_over: the one at which the winner
 * changed, 0: none. */
static int run(const bench *b, qst_plan *plan, double *ms, double *at, int *took_over)
{
    const char *first = qst_plan_winner(plan);
    double      began = now_ms();
    int         i, last = CALLS;

    *took_over = 0;
    for (i = 0; i < CALLS_MAX && (i < last || !*took_over) && now_ms() - began < PATIENCE_MS; i++) {
        at[i] = now_ms() - began;
        ms[i] = call(b, plan);
        if (!*took_over && strcmp(qst_plan_winner(plan), first)) {
            *took_over = i;
            last = i + CALLS > CALLS ? i + CALLS : CALLS;
        }
    }
    return i;
}

static double median(double *ms, int n)
{
    qsort(ms, (size_t)n, sizeof *ms, by_size);
    return ms[n / 2];
}

static void tell(const char *what, const double *ms, const double *at, int n, double limit)
{
    double *sorted = malloc((size_t)n * sizeof *sorted), longest;
    int     i, k, over = 0;

    if (!sorted)
        return;
    memcpy(sorted, ms, (size_t)n * sizeof *sorted);
    printf("%-9s median %.3f ms, maximum ", what, median(sorted, n));
    for (i = 0; i < n; i++)
        over += ms[i] > limit;
    printf("%.3f ms; %d of %d calls over %.3f ms", sorted[n - 1], over, n, limit);
    for (k = 0; at && k < LONGEST && k < over; k++) {
        longest = sorted[n - 1 - k];
        for (i = 0; ms[i] < longest || ms[i] > longest; i++)
            ;
        printf("%s%.1f at %d (%.0f)", k ? ", " : "\n          ", longest, i, at[i]);
    }
    printf("\n");
    free(sorted);
}

int main(int argc, char **argv)
{
    double      *ms = malloc(CALLS_MAX * sizeof *ms), *at = malloc(CALLS_MAX * sizeof *at);
    int64_t      n = argc > 1 ? atoll(argv[1]) : 256;
    const char  *ahead = argc > 2 && !strcmp(argv[2], "0") ? "false" : "true";
    qst_context *safe = make_context("fallback", ahead), *ctx = make_context("background", ahead);
    bench        b;
    qst_matmul   other;
    qst_plan    *plan;
    qst_error    err = {0};
    double       safe_ms, limit;
    int          i, calls, took_over;

    if (!ms || !at)
        return 1;
    make_operands(&b, safe, n);
    if (qst_matmul_plan(&plan, safe, b.queue, &b.problem, &err) != QST_OK)
        fail("plan", &err);
    (void)call(&b, plan);
    for (i = 0; i < CALLS; i++)
        ms[i] = call(&b, plan);
    memcpy(at, ms, CALLS * sizeof *at);
    safe_ms = median(at, CALLS);
    limit = 2 * safe_ms + 1;
    printf("safe:     %s\n", qst_plan_winner(plan));
    tell("alone:", ms, NULL, CALLS, limit);
    qst_plan_destroy(plan);

    if (qst_matmul_plan(&plan, ctx, b.queue, &b.problem, &err) != QST_OK)
        fail("plan", &err);
    qst_matmul_init(&other, n, n / 2, n, QST_F32); /* another key, tuned meanwhile */
    if (qst_matmul_enqueue(ctx, b.queue, &other, b.mem[0], b.mem[1], b.mem[2], 0, NULL, NULL, &err) != QST_OK)
        fail("enqueue", &err);
    clFinish(b.queue);
    calls = run(&b, plan, ms, at, &took_over);
    if (took_over)
        printf("winner:   %s, from call %d on, after %.1f s\n", qst_plan_winner(plan), took_over, at[took_over] * 1e-3);
    else
        printf("winner:   not within %d calls, %.1f s\n", calls, at[calls - 1] * 1e-3);
    tell("1000:", ms, at, calls < CALLS ? calls : CALLS, limit);
    tell("all:", ms, at, calls, limit);
    qst_plan_destroy(plan);
    for (i = 0; i < 3; i++)
        clReleaseMemObject(b.mem[i]);
    clReleaseCommandQueue(b.queue);
    qst_context_destroy(ctx);
    qst_context_destroy(safe);
    clReleaseContext(b.cl);
    free(ms);
    free(at);
    return 0;
}
