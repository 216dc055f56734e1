/* SPDX-License-Identifier: MIT
 *
 * test_field_device.c: reports about devices that lack something: half and double arithmetic, queues that measure
 * times. What can be computed without is, and right; what cannot is refused with a line; and of devices whose events
 * tell nonsense. The device's answers are changed on their way (the calls in test_field_device.link are the test's).
 */
#include "support/blend.h"
#include "support/matmul_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <cmocka.h>

static void *fixture;

/* What the device is made to lack. */
static struct {
    bool     arithmetic; /* half and double */
    bool     profiling;  /* a queue that is asked to measure times cannot be had */
    uint32_t refused;    /* such queues */
    int      clock;      /* what its events tell, a NONSENSE */
} lacks;

enum { NO_NONSENSE, ZEROS, NO_LENGTH, BACKWARDS, WRAPPED, AN_HOUR, NOTHING, NONSENSES };

cl_int __real_clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t size, void *value, size_t *needed);
cl_int __wrap_clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t size, void *value, size_t *needed);
cl_int __wrap_clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t size, void *value, size_t *needed)
{
    cl_int code = __real_clGetDeviceInfo(d, what, size, value, needed);
    if (!lacks.arithmetic || code != CL_SUCCESS || !value)
        return code;
    if (what == CL_DEVICE_DOUBLE_FP_CONFIG)
        memset(value, 0, size);
    if (what == CL_DEVICE_EXTENSIONS)
        for (char *at = value; (at = strstr(at, "cl_khr_fp")) != NULL;)
            memcpy(at, "cl_not_fp", 9);
    return code;
}

cl_command_queue __real_clCreateCommandQueue(cl_context context, cl_device_id device,
                                             cl_command_queue_properties properties, cl_int *code);
cl_command_queue __wrap_clCreateCommandQueue(cl_context context, cl_device_id device,
                                             cl_command_queue_properties properties, cl_int *code);
cl_command_queue __wrap_clCreateCommandQueue(cl_context context, cl_device_id device,
                                             cl_command_queue_properties properties, cl_int *code)
{
    if (lacks.profiling && (properties & CL_QUEUE_PROFILING_ENABLE)) {
        lacks.refused++;
        *code = CL_INVALID_QUEUE_PROPERTIES;
        return NULL;
    }
    return __real_clCreateCommandQueue(context, device, properties, code);
}

cl_int __real_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed);
cl_int __wrap_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed);
cl_int __wrap_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed)
{
    static const cl_ulong told[NONSENSES][2] = {
        [ZEROS] = {0, 0},
        [NO_LENGTH] = {UINT64_C(1) << 40, UINT64_C(1) << 40},
        [BACKWARDS] = {UINT64_C(1) << 40, (UINT64_C(1) << 40) - 1000},
        [WRAPPED] = {UINT64_MAX - 500, 500},
        [AN_HOUR] = {UINT64_C(1) << 40, (UINT64_C(1) << 40) + UINT64_C(3600000000000)},
    };
    if (lacks.clock == NOTHING)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    if (lacks.clock == NO_NONSENSE || size < sizeof(cl_ulong) || !value)
        return __real_clGetEventProfilingInfo(event, what, size, value, needed);
    memcpy(value, &told[lacks.clock][what == CL_PROFILING_COMMAND_END], sizeof(cl_ulong));
    return CL_SUCCESS;
}

/* f32 is tuned and right, and halves are stored and summed in f32; doubles are refused, and so is nothing else. */
static void no_half_and_no_double(void **state)
{
    cl_fixture  *cl = fixture;
    uint16_t     host[16 * 16];
    cl_mem       half;
    qst_context *ctx;
    qst_matmul   p;
    matmul_case  c;
    qst_error    err = {0};
    cl_int       code;

    (void)state;
    lacks.arithmetic = true;
    ctx = matmul_context(", \"tune\": {\"budget_ms\": 1}");
    qst_matmul_init(&p, 33, 20, 12, QST_F32);
    matmul_case_open(&c, cl, &p, NULL);
    assert_int_equal(qst_matmul_enqueue_at(ctx, cl->in_order, &p, matmul_case_operand(&c, 0),
                                           matmul_case_operand(&c, 1), matmul_case_operand(&c, 2), 0, NULL, NULL, &err),
                     QST_OK);
    matmul_case_check(&c, cl->in_order);
    matmul_case_close(&c);

    for (size_t i = 0; i < 16 * 16; i++)
        host[i] = 0x3c00; /* 1 */
    half = clCreateBuffer(cl->context, CL_MEM_READ_WRITE, 2 * sizeof host, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clEnqueueWriteBuffer(cl->in_order, half, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL),
                     CL_SUCCESS);
    qst_matmul_init(&p, 16, 16, 16, QST_F16);
    if (qst_matmul_enqueue_at(ctx, cl->in_order, &p, qst_mem_of(half), qst_mem_of(half), qst_mem_at(half, sizeof host),
                              0, NULL, NULL, &err) != QST_OK)
        fail_msg("f16: %s", err.text);
    assert_int_equal(clEnqueueReadBuffer(cl->in_order, half, CL_TRUE, sizeof host, sizeof host, host, 0, NULL, NULL),
                     CL_SUCCESS);
    for (size_t i = 0; i < 16 * 16; i++)
        assert_int_equal(host[i], 0x4c00); /* 16 */

    qst_matmul_init(&p, 8, 8, 8, QST_F64);
    assert_int_equal(qst_matmul_enqueue(ctx, cl->in_order, &p, half, half, half, 0, NULL, NULL, &err),
                     QST_E_UNSUPPORTED);
    if (!strstr(err.text, "f64"))
        fail_msg("%s", err.text);
    clReleaseMemObject(half);
    qst_context_destroy(ctx);
    lacks.arithmetic = false;
}

/* Tuned by the host's clock then. The caller's queue stays what it is. */
static void no_queue_that_measures(void **state)
{
    cl_fixture                       *cl = fixture;
    cl_command_queue_properties       before = 0, after = 0;
    qst_context                      *ctx;
    blend_case                        c;
    const blend_problem               p = blend_of(1000, 2, 1);
    static const qst_candidate *const all[] = {&blend_loop, &blend_wide, NULL};
    qst_set                          *set;
    char                             *verdicts;

    (void)state;
    lacks.profiling = true;
    lacks.refused = 0;
    ctx = blend_context(NULL);
    set = blend_set(ctx, all);
    blend_open(&c, cl->context, cl->in_order, &p);
    assert_int_equal(clGetCommandQueueInfo(cl->in_order, CL_QUEUE_PROPERTIES, sizeof before, &before, NULL),
                     CL_SUCCESS);
    assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
    blend_check(&c, cl->in_order, 1);
    assert_int_equal(clGetCommandQueueInfo(cl->in_order, CL_QUEUE_PROPERTIES, sizeof after, &after, NULL), CL_SUCCESS);
    assert_true(before == after && !(after & CL_QUEUE_PROFILING_ENABLE));
    assert_true(lacks.refused > 0);
    verdicts = blend_describe(ctx, "verdicts");
    if (!strstr(verdicts, "\"ruler\":\"host\"") && !strstr(verdicts, "\"ruler\": \"host\""))
        fail_msg("%s", verdicts);
    free(verdicts);
    blend_close(&c);
    qst_context_destroy(ctx);
    lacks.profiling = false;
}

/* Nobody is wrong, and where there are samples their median is a time. */
static void look_at_times(const char *verdicts, int nonsense)
{
    json_t *all = json_loads(verdicts, 0, NULL), *finding;
    size_t  i;
    assert_int_equal(json_array_size(all), 1);
    json_array_foreach(json_object_get(json_array_get(all, 0), "findings"), i, finding)
    {
        double      ms = json_real_value(json_object_get(finding, "median_ms"));
        const char *outcome = json_string_value(json_object_get(finding, "outcome"));
        assert_string_not_equal(outcome, "WRONG");
        if (json_array_size(json_object_get(finding, "samples")) > 0 && !(ms > 0 && ms < 3.6e6))
            fail_msg("nonsense %d: %s with a median of %g ms", nonsense, outcome, ms);
    }
    json_decref(all);
}

/* What no clock tells is no measurement: the call is right, and no time in the verdict is of that kind. */
static void events_that_tell_nonsense(void **state)
{
    static const qst_candidate *const all[] = {&blend_loop, &blend_wide, &blend_twice, NULL};
    cl_fixture                       *cl = fixture;
    const blend_problem               p = blend_of(1000, 2, 1);

    (void)state;
    for (int nonsense = ZEROS; nonsense < NONSENSES; nonsense++) {
        qst_context *ctx = blend_context(NULL);
        qst_set     *set = blend_set(ctx, all);
        blend_case   c;
        char        *verdicts;
        lacks.clock = nonsense;
        blend_open(&c, cl->context, cl->in_order, &p);
        for (int calls = 1; calls < 3; calls++) {
            assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
            blend_check(&c, cl->in_order, calls);
        }
        verdicts = blend_describe(ctx, "verdicts");
        look_at_times(verdicts, nonsense);
        free(verdicts);
        blend_close(&c);
        qst_context_destroy(ctx);
        lacks.clock = NO_NONSENSE;
    }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_half_and_no_double),
                                       cmocka_unit_test(no_queue_that_measures),
                                       cmocka_unit_test(events_that_tell_nonsense)};

    return cmocka_run_group_tests(tests, open_all, close_all);
}
