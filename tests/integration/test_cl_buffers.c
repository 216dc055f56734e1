/* SPDX-License-Identifier: MIT
 *
 * test_cl_buffers.c: what is remembered of buffers is that of the buffer which has the handle now. */
#include "cl/buffers.h"
#include "support/cl_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static cl_mem make(cl_fixture *fixture, size_t bytes, void *host)
{
    cl_int code;
    cl_mem mem =
        clCreateBuffer(fixture->context, CL_MEM_READ_WRITE | (host ? CL_MEM_USE_HOST_PTR : 0), bytes, host, &code);
    assert_int_equal(code, CL_SUCCESS);
    return mem;
}

static void expect(cl_fixture *fixture, cl_mem mem, size_t bytes, void *host)
{
    qst__buffer buffer = {NULL, 1, NULL, 1};
    assert_int_equal(qst__buffer_ask(mem, &buffer), CL_SUCCESS);
    assert_ptr_equal(buffer.context, fixture->context);
    assert_int_equal(buffer.bytes, bytes);
    assert_ptr_equal(buffer.host, host);
}

static void test_remembers(void **state)
{
    static float place[64];
    cl_fixture  *fixture = *state;
    cl_mem       plain = make(fixture, 1000, NULL), over = make(fixture, sizeof place, place);
    for (int i = 0; i < 3; i++) {
        expect(fixture, plain, 1000, NULL);
        expect(fixture, over, sizeof place, place);
    }
    assert_int_equal(clReleaseMemObject(over), CL_SUCCESS);
    expect(fixture, plain, 1000, NULL);
    assert_int_equal(clReleaseMemObject(plain), CL_SUCCESS);
}

/* Drivers give a handle again soon: each of these is the next one's predecessor. */
static void test_handles_come_again(void **state)
{
    cl_fixture *fixture = *state;
    cl_mem      before = NULL;
    unsigned    again = 0;
    for (size_t i = 1; i <= 2000; i++) {
        cl_mem mem = make(fixture, 64 * i, NULL);
        again += mem == before;
        expect(fixture, mem, 64 * i, NULL);
        expect(fixture, mem, 64 * i, NULL);
        before = mem;
        assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
    }
    assert_true(again > 0);
}

/* More than a thread remembers, and more than the driver is asked to watch. */
static void test_many(void **state)
{
    enum { MANY = 3000 };
    static cl_mem all[MANY];
    cl_fixture   *fixture = *state;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < MANY; i++)
            all[i] = make(fixture, 4 * (i + 1) + (size_t)round, NULL);
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < MANY; i++)
                expect(fixture, all[i], 4 * (i + 1) + (size_t)round, NULL);
        for (size_t i = 0; i < MANY; i++)
            assert_int_equal(clReleaseMemObject(all[i]), CL_SUCCESS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remembers),
        cmocka_unit_test(test_handles_come_again),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, cl_fixture_open, cl_fixture_close);
}
