/* SPDX-License-Identifier: MIT
 *
 * test_cl_buffers.c: what is said of a handle is true of the buffer that has it now. */
#include "cl/buffers.h"
#include "support/cl_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static cl_mem make(cl_fixture *fixture, size_t bytes, cl_mem_flags flags)
{
    cl_int code;
    cl_mem mem = clCreateBuffer(fixture->context, flags, bytes, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    return mem;
}

static void expect(cl_fixture *fixture, cl_mem mem, bool trust, size_t bytes, uint32_t flags)
{
    qst__buffer buffer = {NULL, 1, 99};
    assert_int_equal(qst__buffer_ask(mem, trust, &buffer), CL_SUCCESS);
    assert_ptr_equal(buffer.context, fixture->context);
    assert_int_equal(buffer.bytes, bytes);
    assert_int_equal(buffer.flags, flags);
}

/* Drivers give a handle again soon: each of these is the next one's predecessor, of another size. */
static void test_sizes(void **state)
{
    cl_fixture *fixture = *state;
    for (size_t i = 1; i <= 2000; i++) {
        cl_mem mem = make(fixture, 64 * i, CL_MEM_READ_WRITE);
        for (int pass = 0; pass < 3; pass++)
            expect(fixture, mem, true, 64 * i, 0);
        assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
    }
}

/* And here of another kind: one that is plain, then two that are not. */
static void test_flags(void **state)
{
    static const struct {
        cl_mem_flags flags;
        uint32_t     said;
    } kinds[] = {
        {CL_MEM_READ_WRITE, 0}, {CL_MEM_READ_ONLY, QST__BUFFER_READ_ONLY}, {CL_MEM_WRITE_ONLY, QST__BUFFER_WRITE_ONLY}};
    cl_fixture *fixture = *state;
    for (int i = 0; i < 300; i++) {
        cl_mem mem = make(fixture, 256, kinds[i % 3].flags);
        for (int pass = 0; pass < 2; pass++)
            expect(fixture, mem, false, 256, kinds[i % 3].said);
        assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
        /* With trust the size tells them apart. */
        mem = make(fixture, 512 + 64 * (size_t)i, kinds[i % 3].flags);
        for (int pass = 0; pass < 2; pass++)
            expect(fixture, mem, true, 512 + 64 * (size_t)i, kinds[i % 3].said);
        assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_flags),
    };
    return cmocka_run_group_tests(tests, cl_fixture_open, cl_fixture_close);
}
