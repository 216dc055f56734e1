/* SPDX-License-Identifier: MIT
 *
 * judge_bench.c: the shortest way from the descriptors of matmul's judge and trivial candidate to the queue, without the
 * library.
 */
#include "judge_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define SEED UINT64_C(0x123456789abcdef)

static void make_queue(runner *r)
{
    cl_platform_id      platforms[8];
    cl_uint             n = 0;
    cl_int              rc;
    cl_device_fp_config f64 = 0;
    assert_int_equal(clGetPlatformIDs(COUNT(platforms), platforms, &n), CL_SUCCESS);
    for (cl_uint i = 0; i < n && i < COUNT(platforms) && !r->id; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &r->id, NULL) != CL_SUCCESS)
            r->id = NULL;
    assert_non_null(r->id);
    r->context = clCreateContext(NULL, 1, &r->id, NULL, NULL, &rc);
    assert_int_equal(rc, CL_SUCCESS);
    r->queue = clCreateCommandQueue(r->context, r->id, 0, &rc);
    assert_int_equal(rc, CL_SUCCESS);
    (void)clGetDeviceInfo(r->id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof f64, &f64, NULL);
    r->device.size = (uint32_t)sizeof r->device;
    r->device.units = 2;
    r->device.flags = f64 ? QST_DEVICE_F64 : 0;
}

static cl_program build(runner *r, uint32_t index)
{
    static char log[8000];
    qst_program p = {.size = sizeof p, .form = QST_PROGRAM_SOURCE};
    qst_key     none = {0, 0, NULL};
    const char *text;
    size_t      length;
    cl_int      rc;
    if (r->judging)
        rc = qst_matmul_op.judge->program(NULL, &r->device, r->problem, index, &p);
    else
        rc = qst_matmul_op.trivial->program(NULL, &r->device, &none, index, &p);
    assert_int_equal(rc, QST_OK);
    for (int i = 0; i < r->n_programs; i++)
        if (r->texts[i] == p.data && strcmp(r->options[i], p.options) == 0)
            return r->programs[i];
    assert_in_range(r->n_programs, 0, COUNT(r->programs) - 1);
    text = p.data;
    length = (size_t)p.length;
    cl_program program = clCreateProgramWithSource(r->context, 1, &text, &length, &rc);
    assert_int_equal(rc, CL_SUCCESS);
    rc = clBuildProgram(program, 1, &r->id, p.options, NULL, NULL);
    memset(log, 0, sizeof log);
    (void)clGetProgramBuildInfo(program, r->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    if (rc != CL_SUCCESS || strstr(log, "warning")) /* which PoCL would print wherever a key is tuned */
        fail_msg("%s: %s", p.options, log);
    r->programs[r->n_programs] = program;
    r->options[r->n_programs] = p.options;
    r->texts[r->n_programs++] = p.data;
    return program;
}

static int slot_of(const qst_arg *arg)
{
    if (arg->kind == QST_ARG_WORKSPACE)
        return WORK + (int)arg->index;
    return arg->index == QST_JUDGE_FINDING               ? FINDING
           : arg->index == QST_JUDGE_BEFORE + (cl_uint)C ? OLD
                                                         : (int)arg->index;
}

static int32_t on_launch(qst_steps *steps, const qst_launch *launch)
{
    runner   *r = (runner *)steps;
    cl_int    rc;
    cl_ulong  start = START;
    size_t    global[3], local[3];
    cl_kernel kernel = clCreateKernel(build(r, launch->program), launch->entry, &rc);
    assert_int_equal(rc, CL_SUCCESS);
    for (cl_uint i = 0; i < launch->n_args; i++) {
        const qst_arg *arg = &launch->args[i];
        switch (arg->kind) {
        case QST_ARG_OPERAND:
        case QST_ARG_WORKSPACE:
            assert_non_null(r->buffer[slot_of(arg)]);
            rc = clSetKernelArg(kernel, i, sizeof(cl_mem), &r->buffer[slot_of(arg)]);
            break;
        case QST_ARG_OFFSET:
            rc = clSetKernelArg(kernel, i, sizeof start, &start);
            break;
        case QST_ARG_LOCAL:
            rc = clSetKernelArg(kernel, i, (size_t)arg->bytes, NULL);
            break;
        default:
            rc = clSetKernelArg(kernel, i, (size_t)arg->bytes, arg->bits);
        }
        assert_int_equal(rc, CL_SUCCESS);
    }
    for (cl_uint d = 0; d < launch->dims; d++) {
        global[d] = (size_t)launch->global[d];
        local[d] = (size_t)launch->local[d];
        assert_int_equal(global[d] % local[d], 0);
    }
    assert_int_equal(clEnqueueNDRangeKernel(r->queue, kernel, launch->dims, NULL, global, local, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(clFinish(r->queue), CL_SUCCESS);
    clReleaseKernel(kernel);
    return QST_OK;
}

static void set_buffer(runner *r, int slot, const void *from, size_t bytes)
{
    cl_int rc;
    if (r->buffer[slot])
        clReleaseMemObject(r->buffer[slot]);
    r->buffer[slot] = clCreateBuffer(r->context, CL_MEM_READ_WRITE, bytes, NULL, &rc);
    assert_int_equal(rc, CL_SUCCESS);
    if (from)
        assert_int_equal(clEnqueueWriteBuffer(r->queue, r->buffer[slot], CL_TRUE, 0, bytes, from, 0, NULL, NULL),
                         CL_SUCCESS);
}

static int32_t on_workspace(qst_steps *steps, uint32_t index, uint64_t bytes)
{
    assert_in_range(index, 0, BUFFERS - WORK - 1);
    assert_true(bytes > 0);
    set_buffer((runner *)steps, WORK + (int)index, NULL, (size_t)bytes);
    return QST_OK;
}

void upload(runner *r, const data *d)
{
    r->problem = &d->p;
    for (int i = A; i <= OLD; i++)
        set_buffer(r, i, d->memory[i], d->bytes[i]);
}

void phase(runner *r, uint32_t which, uint32_t *finding, int fresh)
{
    if (fresh)
        memset(finding, 0, QST_FINDING_WORDS * sizeof *finding);
    set_buffer(r, FINDING, finding, QST_FINDING_WORDS * sizeof *finding);
    r->judging = 1;
    assert_int_equal(qst_matmul_op.judge->steps(NULL, &r->device, r->problem, which, SEED, &r->steps), QST_OK);
    assert_int_equal(clEnqueueReadBuffer(r->queue, r->buffer[FINDING], CL_TRUE, 0, QST_FINDING_WORDS * sizeof *finding,
                                         finding, 0, NULL, NULL),
                     CL_SUCCESS);
}

void read_back(runner *r, int slot, uint8_t *to, size_t bytes)
{
    assert_int_equal(clEnqueueReadBuffer(r->queue, r->buffer[slot], CL_TRUE, 0, bytes, to, 0, NULL, NULL), CL_SUCCESS);
}

void both_forms(void **state, void (*test)(runner *))
{
    runner *r = *state;
    r->device.type = QST_DEVICE_CPU;
    test(r);
    r->device.type = QST_DEVICE_GPU;
    test(r);
}

int setup(void **state)
{
    runner *r = calloc(1, sizeof *r);
    if (!r)
        return -1;
    r->steps.size = (uint32_t)sizeof r->steps;
    r->steps.launch = on_launch;
    r->steps.workspace = on_workspace;
    make_queue(r);
    *state = r;
    return 0;
}

int teardown(void **state)
{
    runner *r = *state;
    for (int i = 0; i < BUFFERS; i++)
        if (r->buffer[i])
            clReleaseMemObject(r->buffer[i]);
    for (int i = 0; i < r->n_programs; i++)
        clReleaseProgram(r->programs[i]);
    clReleaseCommandQueue(r->queue);
    clReleaseContext(r->context);
    free(r);
    return 0;
}
