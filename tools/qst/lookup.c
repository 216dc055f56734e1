/* SPDX-License-Identifier: MIT
 *
 * lookup.c: three ways to launch one kernel, timed on the host in batches while a user event holds the queue: with
 * the device idle, its own threads would disturb more than what is measured. */
#include "lookup.h"

#include "check.h"
#include "lookup_candidate.h"
#include "out.h"
#include "problem.h"
#include "stop.h"
#include "verb.h"

#include <stdlib.h>
#include <string.h>

#define WAYS   3 /* by hand, keyed, plan */
#define WARMUP 2 /* rounds that are not counted */

typedef struct bench {
    device_handle  device;
    qst_matmul     problem;
    data_matrix    a, b, c;
    qst_plan      *plan;
    cl_program     program;
    cl_kernel      kernel;
    double        *ns[WAYS]; /* of a call, one number a round */
    int64_t        done, rounds;
    bool           json;
    lookup_teller *tell;
} bench;

static bool build_hand(bench *b)
{
    const char *source = lookup_source;
    cl_int      code;
    b->program = clCreateProgramWithSource(b->device.cl, 1, &source, NULL, &code);
    if (!device_ok(code, "clCreateProgramWithSource") ||
        !device_ok(clBuildProgram(b->program, 1, &b->device.id, "-cl-std=CL1.2", NULL, NULL), "clBuildProgram"))
        return false;
    b->kernel = clCreateKernel(b->program, LOOKUP_ENTRY, &code);
    return device_ok(code, "clCreateKernel");
}

/* What a program without the library would do for each call. */
static cl_int call_by_hand(const bench *b)
{
    const cl_mem mem[] = {b->a.mem, b->b.mem, b->c.mem};
    return lookup_by_hand(b->kernel, b->device.queue, &b->problem, mem);
}

static int32_t call_keyed(const bench *b)
{
    return qst_matmul_enqueue(b->device.context, b->device.queue, &b->problem, b->a.mem, b->b.mem, b->c.mem, 0, NULL,
                              NULL, NULL);
}

static int32_t call_plan(const bench *b)
{
    const qst_mem operands[] = {qst_mem_of(b->a.mem), qst_mem_of(b->b.mem), qst_mem_of(b->c.mem)};
    return qst_plan_enqueue(b->plan, b->device.queue, operands, 0, NULL, NULL, NULL);
}

/* The host's time for a batch, ns a call; negative: a call failed. */
static double batch(const bench *b, int way)
{
    static int32_t (*const ways[WAYS])(const bench *) = {call_by_hand, call_keyed, call_plan};
    int32_t  failed = 0;
    uint64_t start = device_now();
    for (int i = 0; i < LOOKUP_CALLS; i++)
        failed |= ways[way](b);
    uint64_t end = device_now();
    if (failed)
        out_fail("bench lookup: a call %s failed", way == 0 ? "by hand" : way == 1 ? "by key" : "by plan");
    return failed ? -1 : (double)(end - start) / LOOKUP_CALLS;
}

/* Two batches of each way behind a held barrier, in the order x y z z y x, so that what changes steadily with the
 * queue's length or the caches' warmth cancels; who is x, turns from round to round. A first batch that is not counted
 * brings the driver's memory up. ns: of a call. */
static bool play(const bench *b, int64_t turn, double *ns)
{
    static const int orders[6][WAYS] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}, {1, 0, 2}};
    const int       *order = orders[turn % 6];
    cl_int           code;
    cl_event         gate = clCreateUserEvent(b->device.cl, &code);
    if (!device_ok(code, "clCreateUserEvent"))
        return false;
    bool good =
        device_ok(clEnqueueBarrierWithWaitList(b->device.queue, 1, &gate, NULL), "clEnqueueBarrierWithWaitList");
    good = good && batch(b, order[0]) >= 0;
    ns[0] = ns[1] = ns[2] = 0;
    for (int i = 0; i < 2 * WAYS && good; i++) {
        int    way = order[i < WAYS ? i : 2 * WAYS - 1 - i];
        double one = batch(b, way);
        ns[way] += one / 2;
        good = one >= 0;
    }
    code = clSetUserEventStatus(gate, CL_COMPLETE);
    good = device_ok(code, "clSetUserEventStatus") && device_ok(clFinish(b->device.queue), "clFinish") && good;
    clReleaseEvent(gate);
    return good;
}

/* The library must run the pinned candidate, and rightly. */
static bool settle(bench *b)
{
    qst_error  err = {0};
    qst_set   *set;
    qst_status status = qst_set_find(&set, b->device.context, "matmul", &err);
    if (status >= 0)
        status = qst_set_add_candidate(set, &lookup_candidate, &err);
    if (status >= 0)
        status = qst_matmul_enqueue(b->device.context, b->device.queue, &b->problem, b->a.mem, b->b.mem, b->c.mem, 0,
                                    NULL, NULL, &err);
    if (status >= 0)
        status = qst_matmul_plan(&b->plan, b->device.context, b->device.queue, &b->problem, &err);
    if (status < 0)
        return out_error("bench lookup", status, &err), false;
    if (!device_ok(clFinish(b->device.queue), "clFinish"))
        return false;
    if (strcmp(qst_plan_winner(b->plan), LOOKUP_NAME) != 0)
        return out_fail("bench lookup: %s is pinned, but %s runs; see qst explain", LOOKUP_NAME,
                        qst_plan_winner(b->plan)),
               false;
    return true;
}

static bool prepare(bench *b, int64_t size)
{
    const problem_shape shape = {size, size, size, false};
    problem_from_shape(&b->problem, &shape, QST_F32);
    const qst_matmul *p = &b->problem;
    data_init(&b->a, &p->a, p->m, p->k, p->batch, 0, 0);
    data_init(&b->b, &p->b, p->k, p->n, p->batch, 0, 0);
    data_init(&b->c, &p->c, p->m, p->n, p->batch, 0, 0);
    data_random(&b->a, 1);
    data_random(&b->b, 2);
    return data_upload(&b->a, &b->device) && data_upload(&b->b, &b->device) && data_upload(&b->c, &b->device) &&
           build_hand(b) && settle(b);
}

static bool right(const bench *b)
{
    unsigned char *result = out_resize(NULL, (size_t)b->c.bytes);
    check_task     task = {&b->problem, &b->a, &b->b, &b->c, result, NULL, 0};
    bool           read = data_download(&b->c, &b->device, result), good = read;
    if (read) {
        check_result check = check_product(&task);
        good = check.right;
        if (!good) {
            char *text = check_text(&check);
            out_fail("bench lookup: %s", text);
            free(text);
        }
    }
    free(result);
    return good;
}

static bool measure(bench *b)
{
    for (int64_t r = -WARMUP; r < b->rounds; r++) {
        double ns[WAYS];
        if (r % 50 == 0)
            out_progress("round %lld of %lld", (long long)r, (long long)b->rounds);
        if (!play(b, r + WARMUP, ns))
            return false;
        if (r < 0)
            continue;
        stop_hold();
        b->ns[0][r] = ns[0];
        b->ns[1][r] = ns[1] - ns[0];
        b->ns[2][r] = ns[2] - ns[0];
        b->done++;
        stop_go();
    }
    out_progress(NULL);
    return true;
}

static void tell(const bench *b)
{
    const lookup_result result = {bench_spread_of(b->ns[0], b->done), bench_spread_of(b->ns[1], b->done),
                                  bench_spread_of(b->ns[2], b->done), b->done};
    b->tell(&result, b->json);
}

static void tell_end(void *user)
{
    const bench *b = user;
    if (b->done)
        tell(b);
    out_fail("bench lookup: ended by %s after %lld of %lld rounds", stop_name(), (long long)b->done,
             (long long)b->rounds);
}

static void finish(bench *b)
{
    if (b->device.queue)
        clFinish(b->device.queue);
    qst_plan_destroy(b->plan);
    if (b->kernel)
        clReleaseKernel(b->kernel);
    if (b->program)
        clReleaseProgram(b->program);
    data_finish(&b->a);
    data_finish(&b->b);
    data_finish(&b->c);
    for (int way = 0; way < WAYS; way++)
        free(b->ns[way]);
    device_close(&b->device);
}

int lookup_measure(const args_common *common, const bench_options *options, lookup_teller *teller)
{
    bench b;
    memset(&b, 0, sizeof b);
    b.rounds = options->batches;
    b.json = common->json;
    b.tell = teller;
    for (int way = 0; way < WAYS; way++)
        b.ns[way] = out_resize(NULL, (size_t)b.rounds * sizeof **b.ns);
    stop_tell(tell_end, &b);
    int status = device_open(&b.device, common, LOOKUP_NAME);
    if (status == 0 && (!prepare(&b, options->size) || !measure(&b) || !right(&b)))
        status = EXIT_FAILED;
    stop_hold_tell(NULL, NULL);
    if (status == 0)
        tell(&b);
    stop_go();
    finish(&b);
    return status;
}
