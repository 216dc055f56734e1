/* SPDX-License-Identifier: MIT
 *
 * embed.c: a program with a device, a queue and buffers of its own that lets Quernstone multiply: one call by key, then
 * a plan, with wait lists and events on a queue that is out of order where the device offers one.
 */
#include <quernstone/quernstone.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 123, N = 45, K = 67 }; /* C is M × N, A is M × K, B is K × N; all row by row */

/* What the program owns. Zeroed first, so that `close` may be called whatever `open` reached. */
typedef struct app {
    qst_context     *qst;
    cl_context       cl;
    cl_command_queue queue;
    cl_mem           a, b, c;
    float            host_a[M * K], host_b[K * N], host_c[M * N];
} app;

/* One line about a failure. A qst_error is zeroed by who owns it; the first cause stays in it. */
static int failed(const char *what, qst_status status, const qst_error *err)
{
    fprintf(stderr, "embed: %s: %s: %s: %s", what, qst_status_name(status), err->source, err->text);
    if (err->cl_code)
        fprintf(stderr, " (OpenCL %d)", (int)err->cl_code);
    fputc('\n', stderr);
    return 0;
}

static int cl_failed(const char *what, cl_int code)
{
    fprintf(stderr, "embed: %s: OpenCL %d\n", what, (int)code);
    return 0;
}

/* The device that the configuration names, and on it a context and a queue as any OpenCL program makes them. */
static int open_device(app *self)
{
    qst_error                   err = {0};
    cl_platform_id              platform;
    cl_device_id                device;
    cl_command_queue_properties offered = 0;
    cl_int                      code;
    qst_status                  status = qst_context_pick_device(self->qst, &platform, &device, &err);
    if (status < 0)
        return failed("device", status, &err);
    self->cl = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    if (!self->cl)
        return cl_failed("context", code);
    clGetDeviceInfo(device, CL_DEVICE_QUEUE_PROPERTIES, sizeof offered, &offered, NULL);
    offered &= CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    self->queue = clCreateCommandQueue(self->cl, device, offered, &code);
    if (!self->queue)
        return cl_failed("queue", code);
    printf("queue: %s\n", offered ? "out of order" : "in order");
    return 1;
}

static int open_buffers(app *self)
{
    cl_int code[3];
    self->a = clCreateBuffer(self->cl, CL_MEM_READ_ONLY, sizeof self->host_a, NULL, &code[0]);
    self->b = clCreateBuffer(self->cl, CL_MEM_READ_ONLY, sizeof self->host_b, NULL, &code[1]);
    self->c = clCreateBuffer(self->cl, CL_MEM_READ_WRITE, sizeof self->host_c, NULL, &code[2]);
    return self->a && self->b && self->c ? 1 : cl_failed("buffers", code[0] ? code[0] : code[1] ? code[1] : code[2]);
}

static void close_app(app *self)
{
    if (self->queue)
        clFinish(self->queue);
    qst_context_destroy(self->qst); /* NULL is fine; plans have been destroyed before */
    if (self->a)
        clReleaseMemObject(self->a);
    if (self->b)
        clReleaseMemObject(self->b);
    if (self->c)
        clReleaseMemObject(self->c);
    if (self->queue)
        clReleaseCommandQueue(self->queue);
    if (self->cl)
        clReleaseContext(self->cl);
}

/* New numbers for A and B, small integers so that every sum is exact, and their way to the device: two commands that
 * nobody waits for here. */
static int upload(app *self, int seed, cl_event ready[2])
{
    cl_int code;
    int    i;
    for (i = 0; i < M * K; i++)
        self->host_a[i] = (float)((i + seed) % 7 - 3);
    for (i = 0; i < K * N; i++)
        self->host_b[i] = (float)((i * 5 + seed) % 9 - 4);
    code = clEnqueueWriteBuffer(self->queue, self->a, CL_FALSE, 0, sizeof self->host_a, self->host_a, 0, NULL, ready);
    if (code != CL_SUCCESS)
        return cl_failed("upload of A", code);
    code =
        clEnqueueWriteBuffer(self->queue, self->b, CL_FALSE, 0, sizeof self->host_b, self->host_b, 0, NULL, ready + 1);
    return code == CL_SUCCESS ? 1 : cl_failed("upload of B", code);
}

/* Waits for the product and compares every element. */
static int check(app *self, cl_event done)
{
    int    i, j, p;
    cl_int code =
        clEnqueueReadBuffer(self->queue, self->c, CL_TRUE, 0, sizeof self->host_c, self->host_c, 1, &done, NULL);
    if (code != CL_SUCCESS)
        return cl_failed("reading C", code);
    for (i = 0; i < M; i++)
        for (j = 0; j < N; j++) {
            float sum = 0.0f;
            for (p = 0; p < K; p++)
                sum += self->host_a[i * K + p] * self->host_b[p * N + j];
            if (self->host_c[i * N + j] == sum)
                continue;
            fprintf(stderr, "embed: C(%d, %d) is %g, not %g\n", i, j, self->host_c[i * N + j], sum);
            return 0;
        }
    return 1;
}

/* Uploads, multiplies once both uploads are done, reads back. plan NULL: by key. */
static int multiply(app *self, const qst_matmul *problem, qst_plan *plan, int seed)
{
    const qst_mem operands[] = {qst_mem_of(self->a), qst_mem_of(self->b), qst_mem_of(self->c)};
    cl_event      ready[2] = {NULL, NULL}, done = NULL;
    qst_error     err = {0};
    qst_status    status;
    int           right = upload(self, seed, ready);
    if (right) {
        if (plan)
            status = qst_plan_enqueue(plan, self->queue, operands, 2, ready, &done, &err);
        else
            status =
                qst_matmul_enqueue(self->qst, self->queue, problem, self->a, self->b, self->c, 2, ready, &done, &err);
        right = status < 0 ? failed("multiply", status, &err) : check(self, done);
    }
    clFinish(self->queue);
    if (ready[0])
        clReleaseEvent(ready[0]);
    if (ready[1])
        clReleaseEvent(ready[1]);
    if (done)
        clReleaseEvent(done);
    return right;
}

/* The first call for a kind of problem tunes it, within tune.budget_ms; those after it only launch. A plan spares the
 * look-up as well: for a problem that is computed many times. */
static int run(app *self)
{
    qst_plan  *plan = NULL;
    qst_matmul problem;
    qst_error  err = {0};
    qst_status status;
    int        round, right;
    qst_matmul_init(&problem, M, N, K, QST_F32);
    right = multiply(self, &problem, NULL, 1) && multiply(self, &problem, NULL, 2);
    if (!right)
        return 0;
    status = qst_matmul_plan(&plan, self->qst, self->queue, &problem, &err);
    if (status < 0)
        return failed("plan", status, &err);
    for (round = 0; round < 20 && right; round++)
        right = multiply(self, &problem, plan, round);
    if (right)
        printf("right 22 times, by %s\n", qst_plan_winner(plan));
    qst_plan_destroy(plan);
    return right;
}

/* A mistake is refused before anything is launched, in one line with the numbers. */
static int refuse(app *self)
{
    qst_matmul problem;
    qst_error  err = {0};
    qst_status status;
    qst_matmul_init(&problem, M + 1, N, K, QST_F32); /* one row more than A and C have */
    status = qst_matmul_enqueue(self->qst, self->queue, &problem, self->a, self->b, self->c, 0, NULL, NULL, &err);
    if (status != QST_E_INVALID) {
        fprintf(stderr, "embed: buffers that are too small gave %s\n", qst_status_name(status));
        return 0;
    }
    printf("refused as it must be: %s\n", err.text);
    return 1;
}

int main(void)
{
    static app self;
    qst_error  err = {0};
    qst_status status = qst_context_create(&self.qst, NULL, &err); /* one a program */
    int        right;
    if (status < 0)
        right = failed("start", status, &err);
    else
        right = open_device(&self) && open_buffers(&self) && run(&self) && refuse(&self);
    close_app(&self);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
