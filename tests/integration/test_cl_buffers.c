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

static qst__plain plain; /* of the test that runs */

static void expect(cl_fixture *fixture, cl_mem mem, bool in_place, size_t bytes, uint32_t flags, const void *start)
{
    qst__buffer buffer = {NULL, 1, 2, 99, 1};
    qst__buffer_ask(mem, fixture->context, in_place, &plain, &buffer);
    assert_int_equal(buffer.code, CL_SUCCESS);
    assert_ptr_equal(buffer.context, fixture->context);
    assert_int_equal(buffer.bytes, bytes);
    assert_int_equal(buffer.flags, flags);
    assert_int_equal(buffer.start, (uintptr_t)start);
}

/* Drivers give a handle again soon: each of these is the next one's predecessor, of another size. */
static void test_sizes(void **state)
{
    cl_fixture *fixture = *state;
    for (size_t i = 1; i <= 2000; i++) {
        cl_mem mem = make(fixture, 64 * i, CL_MEM_READ_WRITE);
        for (int pass = 0; pass < 3; pass++)
            expect(fixture, mem, pass & 1, 64 * i, 0, NULL);
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
            expect(fixture, mem, true, 256, kinds[i % 3].said, NULL);
        assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
        /* With a memory of the device's own the size tells them apart. */
        mem = make(fixture, 512 + 64 * (size_t)i, kinds[i % 3].flags);
        for (int pass = 0; pass < 2; pass++)
            expect(fixture, mem, false, 512 + 64 * (size_t)i, kinds[i % 3].said, NULL);
        assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
    }
}

/* And in the caller's memory, where it starts anywhere: as a whole, and as a part of one. */
static void test_starts(void **state)
{
    static _Alignas(4096) char memory[8192];
    cl_fixture                *fixture = *state;
    for (int i = 0; i < 300; i++) {
        const cl_buffer_region region = {0, 2048};
        cl_int                 code;
        char                  *start = memory + 64 + 4 * (i % 16);
        cl_mem                 mem = make(fixture, 2048, CL_MEM_READ_WRITE), part;
        for (int pass = 0; pass < 2; pass++)
            expect(fixture, mem, true, 2048, 0, NULL);
        assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
        mem = clCreateBuffer(fixture->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, i & 1 ? 2048 : 4096, start,
                             &code);
        assert_int_equal(code, CL_SUCCESS);
        for (int pass = 0; pass < 2; pass++)
            expect(fixture, mem, true, i & 1 ? 2048 : 4096, 0, start);
        part = clCreateSubBuffer(mem, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
        assert_int_equal(code, CL_SUCCESS);
        for (int pass = 0; pass < 2; pass++)
            expect(fixture, part, true, 2048, 0, start);
        assert_int_equal(clReleaseMemObject(part), CL_SUCCESS);
        assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
    }
}

/* A buffer of another context is never taken for one of this. */
static void test_foreign(void **state)
{
    cl_fixture *fixture = *state;
    qst__buffer buffer;
    cl_int      code;
    cl_context  other = clCreateContext(NULL, 1, &fixture->device, NULL, NULL, &code);
    cl_mem      mem;
    assert_int_equal(code, CL_SUCCESS);
    mem = clCreateBuffer(other, CL_MEM_READ_WRITE, 4096, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    for (int pass = 0; pass < 4; pass++) {
        qst__buffer_ask(mem, fixture->context, pass & 1, &plain, &buffer);
        assert_ptr_equal(buffer.context, other);
        qst__buffer_ask(mem, other, pass & 1, &plain, &buffer); /* nor does being known there make it one here */
        assert_ptr_equal(buffer.context, other);
    }
    clReleaseMemObject(mem);
    clReleaseContext(other);
}

/* What is no handle of a buffer says so each time. */
static void test_none(void **state)
{
    qst__buffer buffer;
    cl_fixture *fixture = *state;
    for (int pass = 0; pass < 2; pass++) {
        qst__buffer_ask(NULL, fixture->context, true, &plain, &buffer);
        assert_int_equal(buffer.code, CL_INVALID_MEM_OBJECT);
        assert_null(buffer.context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_flags), cmocka_unit_test(test_starts),
        cmocka_unit_test(test_foreign), cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, cl_fixture_open, cl_fixture_close);
}
