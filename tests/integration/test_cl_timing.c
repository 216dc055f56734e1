/* SPDX-License-Identifier: MIT
 *
 * test_cl_timing.c: times of real kernels and markers, and what is no time. */
#include "cl/timing.h"

#include "support/cl_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char source[] = "kernel void spin(global uint *to, uint count) {"
                             "    uint sum = to[get_global_id(0)];"
                             "    for (uint i = 0; i < count; i++) sum = sum * 1664525u + 1013904223u;"
                             "    to[get_global_id(0)] = sum;"
                             "}";

static cl_event enqueue(cl_fixture *fixture, cl_command_queue queue, cl_mem buffer)
{
    cl_int    code;
    cl_uint   count = 1000;
    size_t    global = 64;
    cl_event  event = NULL;
    cl_kernel kernel = clCreateKernel(qst__program_cl(cl_fixture_build(fixture, source)), "spin", &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof count, &count), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event), CL_SUCCESS);
    assert_int_equal(clReleaseKernel(kernel), CL_SUCCESS);
    return event;
}

static void test_valid(void **state)
{
    (void)state;
    assert_true(qst__timing_valid(1, 2));
    assert_false(qst__timing_valid(2, 2));
    assert_false(qst__timing_valid(3, 2));
    assert_false(qst__timing_valid(0, 2));
    assert_false(qst__timing_valid(5, 0));
    assert_false(qst__timing_valid(0, 0));
}

static void test_span(void **state)
{
    cl_fixture *fixture = *state;
    cl_mem      buffer = cl_fixture_buffer(fixture, 64, 1);
    cl_event    first = enqueue(fixture, fixture->profiling, buffer);
    cl_event    second = enqueue(fixture, fixture->profiling, buffer);
    uint64_t    one = 0, both = 0, ends = 0;
    qst_error   err = {0};
    assert_int_equal(clFinish(fixture->profiling), CL_SUCCESS);
    assert_int_equal(qst__timing_span(first, first, &one, &err), QST_OK);
    assert_int_equal(qst__timing_span(first, second, &both, &err), QST_OK);
    assert_int_equal(qst__timing_ends(first, second, &ends, &err), QST_OK);
    assert_true(one > 0);
    assert_true(ends > 0);
    assert_true(both == one + ends);
    /* From the end of an event to its own end no time passes; and backwards it is negative. */
    assert_int_equal(qst__timing_ends(first, first, &ends, &err), QST_E_TIMEOUT);
    assert_int_equal(ends, 0);
    qst__error_clear(&err);
    assert_int_equal(qst__timing_ends(second, first, &ends, &err), QST_E_TIMEOUT);
    assert_non_null(strstr(err.text, "no measurement"));
    (void)clReleaseEvent(first);
    (void)clReleaseEvent(second);
    (void)clReleaseMemObject(buffer);
}

static void test_no_profiling(void **state)
{
    cl_fixture *fixture = *state;
    cl_mem      buffer = cl_fixture_buffer(fixture, 64, 1);
    cl_event    event = enqueue(fixture, fixture->in_order, buffer);
    uint64_t    ns = 1, empty = 1;
    bool        usable = true;
    qst_error   err = {0};
    assert_int_equal(clFinish(fixture->in_order), CL_SUCCESS);
    assert_int_equal(qst__timing_span(event, event, &ns, &err), QST_E_TIMEOUT);
    assert_non_null(strstr(err.text, "CL_PROFILING_INFO_NOT_AVAILABLE"));
    assert_int_equal(ns, 0);
    qst__error_clear(&err);
    assert_int_equal(qst__timing_markers(fixture->in_order, &usable, &empty, &err), QST_OK);
    assert_false(usable);
    assert_int_equal(empty, 0);
    (void)clReleaseEvent(event);
    (void)clReleaseMemObject(buffer);
}

/* Whether markers are usable is the device's affair; PoCL's are. */
static void test_markers(void **state)
{
    cl_fixture *fixture = *state;
    bool        usable = false;
    uint64_t    ns = 0;
    qst_error   err = {0};
    assert_int_equal(qst__timing_markers(fixture->profiling, &usable, &ns, &err), QST_OK);
    if (strstr(fixture->facts.device.platform, "Portable Computing Language")) {
        assert_true(usable);
        assert_true(ns > 0);
    }
    assert_true(usable || ns == 0);
}

static void test_queue(void **state)
{
    cl_fixture                 *fixture = *state;
    cl_command_queue            queue = NULL;
    cl_command_queue_properties properties = 0;
    bool                        profiling = false;
    qst_error                   err = {0};
    assert_int_equal(qst__timing_queue(fixture->context, fixture->device, &queue, &profiling, &err), QST_OK);
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL), 0);
    assert_int_equal(properties, profiling ? CL_QUEUE_PROFILING_ENABLE : 0);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
    assert_int_equal(qst__timing_queue(NULL, fixture->device, &queue, &profiling, &err), QST_E_CL);
    assert_int_equal(err.cl_code, CL_INVALID_CONTEXT);
    assert_null(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),   cmocka_unit_test(test_span),  cmocka_unit_test(test_no_profiling),
        cmocka_unit_test(test_markers), cmocka_unit_test(test_queue),
    };
    return cmocka_run_group_tests(tests, cl_fixture_open, cl_fixture_close);
}
