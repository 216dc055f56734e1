/* SPDX-License-Identifier: MIT
 *
 * test_unit_storage.c: unit.cl with f16 and bf16 storage, which no candidate offers while the fallback does not: small
 * integers, whose products and sums are exact, so that every element must be the exact one. Launches are those of an f32
 * problem; ELEMENT alone differs, as a program's option.
 */
#include "runner.h"
#include <quernstone/matmul.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

extern const qst_plugin qst__builtin_unit, qst__builtin_double_unit;

enum { M = 37, N = 71, K = 45, PITCH = 72, ITEMS = 80 * PITCH, ALL_NAN = 0xffff };

static struct runner       bench;
static struct runner_steps steps;

/* Integers of up to 8 bits in either format. */
static uint16_t stored(uint32_t type, int value)
{
    union {
        float    f;
        uint32_t u;
    } x;
    uint32_t sign, exponent;
    x.f = (float)value;
    if (type == QST_BF16 || value == 0)
        return (uint16_t)(x.u >> 16);
    sign = x.u >> 16 & 0x8000u;
    exponent = (x.u >> 23 & 0xffu) - 127 + 15;
    return (uint16_t)(sign | exponent << 10 | (x.u >> 13 & 0x3ffu));
}

static cl_kernel kernel_of(struct runner_candidate *c, uint32_t type, cl_program *program)
{
    static char   options[256];
    const qst_key key = {0, 0, NULL};
    qst_program   out;
    const char   *text;
    char         *element;
    size_t        length;
    cl_int        code;
    memset(&out, 0, sizeof out);
    out.size = (uint32_t)sizeof out;
    assert_int_equal(c->candidate.program(c->candidate.user, &bench.device, &key, steps.launches[0].program, &out),
                     QST_OK);
    snprintf(options, sizeof options, "%s", out.options);
    element = strstr(options, "-DELEMENT=1");
    assert_non_null(element);
    element[10] = (char)('0' + type);
    text = (const char *)out.data;
    length = (size_t)out.length;
    *program = clCreateProgramWithSource(bench.context, 1, &text, &length, &code);
    assert_int_equal(clBuildProgram(*program, 1, &bench.id, options, NULL, NULL), CL_SUCCESS);
    return clCreateKernel(*program, steps.entries[0], &code);
}

/* Operands from the start of their buffers. */
static void run(struct runner_candidate *c, uint32_t type, cl_mem *buffers)
{
    const qst_launch *launch = &steps.launches[0];
    const cl_ulong    start = 0;
    size_t            global[3], local[3];
    cl_program        program;
    cl_kernel         kernel = kernel_of(c, type, &program);
    uint32_t          i;
    assert_non_null(kernel);
    for (i = 0; i < launch->n_args; i++) {
        const qst_arg *arg = &steps.args[0][i];
        cl_int code = arg->kind == QST_ARG_OPERAND  ? clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[arg->index])
                      : arg->kind == QST_ARG_OFFSET ? clSetKernelArg(kernel, i, sizeof start, &start)
                      : arg->kind == QST_ARG_LOCAL  ? clSetKernelArg(kernel, i, (size_t)arg->bytes, NULL)
                                                    : clSetKernelArg(kernel, i, (size_t)arg->bytes, arg->bits);
        assert_int_equal(code, CL_SUCCESS);
    }
    for (i = 0; i < 3; i++) {
        global[i] = (size_t)launch->global[i];
        local[i] = (size_t)launch->local[i];
    }
    assert_int_equal(clEnqueueNDRangeKernel(bench.queue, kernel, 3, NULL, global, local, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clFinish(bench.queue), CL_SUCCESS);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

/* Rows of A, B and C begin at multiples of `pitch` elements; what no matrix has is NaN. */
static void product(const char *name, uint32_t type, int64_t pitch, double beta)
{
    static uint16_t          x[3][ITEMS];
    static int               value[3][ITEMS];
    const int64_t            rows[3] = {M, K, M}, cols[3] = {K, N, N};
    struct runner_candidate *c = NULL;
    cl_mem                   buffers[3];
    qst_matmul               p;
    int64_t                  i, j, q, which;
    cl_int                   code;
    for (i = 0; i < bench.n; i++)
        c = strcmp(bench.candidates[i].name, name) == 0 ? &bench.candidates[i] : c;
    assert_non_null(c);
    qst_matmul_init(&p, M, N, K, QST_F32);
    p.a.row = p.b.row = p.c.row = pitch;
    p.a.align = p.b.align = p.c.align = pitch % 4 == 0 ? 5 : 0;
    p.beta = beta;
    assert_int_equal(runner_record(&bench, c, &p, &steps), QST_OK);
    for (which = 0; which < 3; which++) {
        memset(x[which], ALL_NAN & 0xff, sizeof x[which]);
        for (i = 0; i < rows[which]; i++)
            for (j = 0; j < cols[which] && (which < 2 || beta != 0.0); j++) {
                value[which][i * pitch + j] = (int)((i * 7 + j * 5 + which) % 3) - 1;
                x[which][i * pitch + j] = stored(type, value[which][i * pitch + j]);
            }
        buffers[which] =
            clCreateBuffer(bench.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof x[which], x[which], &code);
        assert_int_equal(code, CL_SUCCESS);
    }
    run(c, type, buffers);
    assert_int_equal(clEnqueueReadBuffer(bench.queue, buffers[2], CL_TRUE, 0, sizeof x[2], x[2], 0, NULL, NULL),
                     CL_SUCCESS);
    for (i = 0; i < ITEMS; i++) {
        int exact = beta == 0.0 ? 0 : (int)beta * value[2][i];
        for (q = 0; q < K && i / pitch < M && i % pitch < N; q++)
            exact += value[0][i / pitch * pitch + q] * value[1][q * pitch + i % pitch];
        assert_int_equal(x[2][i], i / pitch < M && i % pitch < N ? stored(type, exact) : ALL_NAN);
    }
    for (which = 0; which < 3; which++)
        clReleaseMemObject(buffers[which]);
}

static void halves(void **state)
{
    (void)state;
    product("unit.32x64x32_4x4", QST_F16, PITCH, 0.0);
    product("double_unit.32x32x32_4x4", QST_F16, PITCH - 1, 2.0);
}

static void brain_floats(void **state)
{
    (void)state;
    product("unit.32x64x32_4x4", QST_BF16, PITCH, 2.0);
    product("double_unit.32x32x32_4x4", QST_BF16, PITCH - 1, 0.0);
}

static int set_up(void **state)
{
    (void)state;
    return runner_open(&bench) || runner_start(&bench, &qst__builtin_unit) ||
           runner_start(&bench, &qst__builtin_double_unit);
}

static int tear_down(void **state)
{
    (void)state;
    runner_close(&bench);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(halves), cmocka_unit_test(brain_floats)};
    return cmocka_run_group_tests_name("unit storage", tests, set_up, tear_down);
}
