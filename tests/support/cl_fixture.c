/* SPDX-License-Identifier: MIT
 *
 * cl_fixture.c: which device the tests use, and what they need of it. */
#include "support/cl_fixture.h"

#include "cl/timing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECONDS_TO_LIVE 200 /* of one test executable; a test that hangs must not hang the suite */

static cl_fixture the_fixture;

static bool pick(cl_fixture *fixture, const char *platform, const char *name)
{
    qst__pick wanted = {.platform = platform, .name = name, .index = 0};
    return qst__device_pick(&wanted, &fixture->platform, &fixture->device, NULL) == QST_OK;
}

static bool pick_any(cl_fixture *fixture)
{
    const char *wanted = getenv("QST_TEST_DEVICE");
    if (wanted && *wanted)
        return pick(fixture, NULL, wanted) || pick(fixture, wanted, NULL);
    return pick(fixture, "Portable Computing Language", "pthread") || pick(fixture, NULL, NULL);
}

int cl_fixture_open(void **state)
{
    cl_fixture *fixture = &the_fixture;
    qst_error   err = {0};
    bool        profiling;
    cl_int      code;
    (void)alarm(SECONDS_TO_LIVE);
    memset(fixture, 0, sizeof *fixture);
    fixture->alloc = qst__alloc_default();
    if (!pick_any(fixture)) {
        print_error("no OpenCL device, or none that QST_TEST_DEVICE names\n");
        return -1;
    }
    fixture->context = clCreateContext(NULL, 1, &fixture->device, NULL, NULL, &code);
    if (code != CL_SUCCESS)
        return -1;
    fixture->in_order = clCreateCommandQueue(fixture->context, fixture->device, 0, &code);
    if (code != CL_SUCCESS)
        return -1;
    if (qst__timing_queue(fixture->context, fixture->device, &fixture->profiling, &profiling, &err) != QST_OK ||
        qst__facts_init(&fixture->facts, &fixture->alloc, fixture->context, fixture->device, &err) != QST_OK) {
        print_error("%s\n", err.text);
        return -1;
    }
    if (fixture->facts.queue_out_of_order)
        fixture->out_of_order =
            clCreateCommandQueue(fixture->context, fixture->device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    fixture->user_events = strncmp(fixture->facts.device.name, "basic", 5) != 0;
    qst__programs_init(&fixture->programs, &fixture->alloc, NULL, fixture->context, fixture->device,
                       &fixture->counters);
    *state = fixture;
    return code == CL_SUCCESS ? 0 : -1;
}

int cl_fixture_close(void **state)
{
    cl_fixture *fixture = *state;
    qst__programs_finish(&fixture->programs);
    qst__facts_finish(&fixture->facts, &fixture->alloc);
    (void)clReleaseCommandQueue(fixture->in_order);
    (void)clReleaseCommandQueue(fixture->profiling);
    if (fixture->out_of_order)
        (void)clReleaseCommandQueue(fixture->out_of_order);
    return clReleaseContext(fixture->context) == CL_SUCCESS ? 0 : -1;
}

qst_program cl_fixture_source(const char *source, const char *options)
{
    return (qst_program){.size = sizeof(qst_program),
                         .form = QST_PROGRAM_SOURCE,
                         .data = source,
                         .length = strlen(source),
                         .options = options};
}

qst__program *cl_fixture_build(cl_fixture *fixture, const char *source)
{
    qst__program *program;
    qst_error     err = {0};
    qst_program   desc = cl_fixture_source(source, NULL);
    if (qst__programs_get(&fixture->programs, &desc, &program, NULL, &err) != QST_OK)
        fail_msg("%s: %s", err.source, err.text);
    return program;
}

cl_mem cl_fixture_buffer(cl_fixture *fixture, size_t count, uint32_t value)
{
    cl_int code;
    cl_mem buffer = clCreateBuffer(fixture->context, CL_MEM_READ_WRITE, count * sizeof value, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(
        clEnqueueFillBuffer(fixture->in_order, buffer, &value, sizeof value, 0, count * sizeof value, 0, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(clFinish(fixture->in_order), CL_SUCCESS);
    return buffer;
}

uint32_t cl_fixture_read(cl_command_queue queue, cl_mem buffer, size_t index)
{
    uint32_t value = 0;
    assert_int_equal(
        clEnqueueReadBuffer(queue, buffer, CL_TRUE, index * sizeof value, sizeof value, &value, 0, NULL, NULL),
        CL_SUCCESS);
    return value;
}
