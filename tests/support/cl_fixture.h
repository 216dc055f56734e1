/* SPDX-License-Identifier: MIT
 *
 * cl_fixture.h: a device, a context and queues for tests that need OpenCL.
 *
 * QST_TEST_DEVICE: a part of a device's or platform's name, ignoring case; the first match is taken. Without it: the
 * first device of PoCL's threaded driver, else the first there is. Whoever waits longer than 200 seconds is killed.
 */
#ifndef QST_TESTS_CL_FIXTURE_H
#define QST_TESTS_CL_FIXTURE_H

#include "base/base.h"
#include "cl/facts.h"
#include "cl/program.h"

typedef struct cl_fixture {
    qst__alloc       alloc;
    cl_platform_id   platform;
    cl_device_id     device;
    cl_context       context;
    cl_command_queue in_order;
    cl_command_queue out_of_order; /* NULL: the device has none */
    cl_command_queue profiling;    /* in order */
    bool             user_events;  /* kernels that wait for a user event end; not so on PoCL's basic driver */
    qst__facts       facts;
    qst__cl_counters counters;
    qst__programs    programs;
} cl_fixture;

/* cmocka group functions: *state is a cl_fixture. A machine without a device fails. */
int cl_fixture_open(void **state);
int cl_fixture_close(void **state);

/* A program from source, built; the test fails where it does not. */
qst__program *cl_fixture_build(cl_fixture *fixture, const char *source);

/* A buffer of `count` numbers, all of them `value`. */
cl_mem cl_fixture_buffer(cl_fixture *fixture, size_t count, uint32_t value);
/* Number `index` of a buffer, by a blocking read on `queue`. */
uint32_t cl_fixture_read(cl_command_queue queue, cl_mem buffer, size_t index);

/* A program's descriptor, as a candidate fills it. */
qst_program cl_fixture_source(const char *source, const char *options);

#endif
