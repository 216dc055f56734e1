/* SPDX-License-Identifier: MIT
 *
 * lookup_candidate.c: a candidate as an application would add one: dense f32 products, 16 columns a work-item. */
#include "lookup_candidate.h"

#include <quernstone/kit.h>
#include <string.h>

/* C := alpha A B + beta C; columns of A, B and C adjacent, n a multiple of 16: a work-item computes 16 columns of a
 * row. Index space: n / 16 × m, both rounded up to whole groups. */
const char lookup_source[] =
    "kernel void lookup_matmul(global const float *a, ulong a_start, global const float *b, ulong b_start,\n"
    "                          global float *c, ulong c_start, int m, int n, int k, int lda, int ldb, int ldc,\n"
    "                          float alpha, float beta)\n"
    "{\n"
    "    const int j = 16 * get_global_id(0), i = get_global_id(1);\n"
    "    float16   s = 0;\n"
    "    if (i >= m || j >= n)\n"
    "        return;\n"
    "    a += a_start + (ulong)i * lda;\n"
    "    b += b_start + j;\n"
    "    c += c_start + (ulong)i * ldc + j;\n"
    "    for (int p = 0; p < k; p++)\n"
    "        s = fma((float16)(a[p]), vload16(0, b + (ulong)p * ldb), s);\n"
    "    vstore16(beta == 0 ? alpha * s : fma((float16)(alpha), s, beta * vload16(0, c)), 0, c);\n"
    "}\n";

/* Strides and sizes go to the kernel as int. */
#define INT_LIMIT 0x7FFFFFFF

static int32_t can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    const qst_matmul *p = problem;
    (void)user;
    (void)device;
    if (p->a.type != QST_F32 || p->b.type != QST_F32 || p->c.type != QST_F32)
        return qstk_no(why, "computes f32 only");
    if (p->a.col != 1 || p->b.col != 1 || p->c.col != 1)
        return qstk_no(why, "wants adjacent columns in all three matrices");
    if (p->n % LOOKUP_COLUMNS != 0)
        return qstk_no(why, "wants n to be a multiple of 16");
    if (p->batch[0] != 1 || p->batch[1] != 1 || p->batch[2] != 1 || p->batch[3] != 1)
        return qstk_no(why, "computes one product, no batch");
    if (p->m > INT_LIMIT || p->n > INT_LIMIT || p->k > INT_LIMIT || p->a.row > INT_LIMIT || p->b.row > INT_LIMIT ||
        p->c.row > INT_LIMIT)
        return qstk_no(why, "sizes and strides must be below 2^31");
    return QST_OK;
}

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    (void)user;
    (void)device;
    (void)key;
    (void)index;
    out->form = QST_PROGRAM_SOURCE;
    out->data = lookup_source;
    out->length = strlen(lookup_source);
    return QST_OK;
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_matmul *p = problem;
    const qst_arg     args[] = {
            qstk_operand(0),    qstk_offset(0),     qstk_operand(1),    qstk_offset(1),    qstk_operand(2),
            qstk_offset(2),     qstk_i32(p->m),     qstk_i32(p->n),     qstk_i32(p->k),    qstk_i32(p->a.row),
            qstk_i32(p->b.row), qstk_i32(p->c.row), qstk_f32(p->alpha), qstk_f32(p->beta),
    };
    qst_launch launch = qstk_launch(0, LOOKUP_ENTRY, 2, args, QSTK_COUNT(args));
    (void)user;
    (void)device;
    launch.global[0] = qstk_round_up((uint64_t)p->n / LOOKUP_COLUMNS, LOOKUP_GROUP_X);
    launch.global[1] = qstk_round_up((uint64_t)p->m, LOOKUP_GROUP_Y);
    launch.local[0] = LOOKUP_GROUP_X;
    launch.local[1] = LOOKUP_GROUP_Y;
    return out->launch(out, &launch);
}

cl_int lookup_by_hand(cl_kernel kernel, cl_command_queue queue, const qst_matmul *p, const cl_mem mem[3])
{
    const cl_ulong start = 0;
    const cl_int   number[] = {(cl_int)p->m,     (cl_int)p->n,     (cl_int)p->k,
                               (cl_int)p->a.row, (cl_int)p->b.row, (cl_int)p->c.row};
    const cl_float scale[] = {(cl_float)p->alpha, (cl_float)p->beta};
    const size_t   local[2] = {LOOKUP_GROUP_X, LOOKUP_GROUP_Y};
    const size_t   global[2] = {((size_t)p->n / LOOKUP_COLUMNS + local[0] - 1) / local[0] * local[0],
                                ((size_t)p->m + local[1] - 1) / local[1] * local[1]};
    cl_int         code = CL_SUCCESS;
    for (cl_uint i = 0; i < 3; i++) {
        code |= clSetKernelArg(kernel, 2 * i, sizeof(cl_mem), &mem[i]);
        code |= clSetKernelArg(kernel, 2 * i + 1, sizeof start, &start);
    }
    for (cl_uint i = 0; i < 6; i++)
        code |= clSetKernelArg(kernel, 6 + i, sizeof(cl_int), &number[i]);
    for (cl_uint i = 0; i < 2; i++)
        code |= clSetKernelArg(kernel, 12 + i, sizeof(cl_float), &scale[i]);
    if (code != CL_SUCCESS)
        return code;
    return clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL);
}

const qst_candidate lookup_candidate = {
    .size = (uint32_t)sizeof(qst_candidate),
    .op = "matmul",
    .variant = "lookup",
    .revision = 1,
    .classes = QST_CLASS_PLAIN,
    .problem_size = (uint32_t)sizeof(qst_matmul),
    .can_run = can_run,
    .program = program,
    .steps = steps,
};
