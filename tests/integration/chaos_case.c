/* SPDX-License-Identifier: MIT
 *
 * chaos_case.c: candidates of blend with more ways to fail than its own.
 */
#include "chaos_case.h"

#include <quernstone/kit.h>

static const char source[] =
    "kernel void part(global const float *x, ulong x0, global float *y, ulong y0, ulong from, ulong to, float a,\n"
    "                 float b)\n"
    "{ x += x0; y += y0;\n"
    "  for (ulong i = from + get_global_id(0); i < to; i += get_global_size(0))\n"
    "    y[i] = b == 0 ? a * x[i] : fma(a, x[i], y[i]); }\n";

static int32_t lib_open(void *user, const qst_device *device, void **instance, const char **why)
{
    const char *text = source;
    cl_int      code;
    cl_program  program = clCreateProgramWithSource(device->context, 1, &text, NULL, &code);

    (void)user, (void)why;
    if (code == CL_SUCCESS && clBuildProgram(program, 1, &device->id, "", NULL, NULL) == CL_SUCCESS) {
        *instance = program;
        return QST_OK;
    }
    if (program)
        clReleaseProgram(program);
    return QST_E_BUILD;
}

/* One kernel; where it fails nothing was enqueued. */
static int32_t lib_enqueue(void *instance, const void *problem, const qst_call *call, const char **why)
{
    const blend_problem *p = problem;
    cl_int               code = CL_SUCCESS, made;
    cl_kernel            kernel = clCreateKernel(instance, "part", &made);
    cl_mem               x = call->operands[0].handle, y = call->operands[1].handle;
    cl_ulong x0 = call->operands[0].offset / 4, y0 = call->operands[1].offset / 4, from = 0, to = (cl_ulong)p->n;
    float    a = (float)p->a, b = (float)p->b;
    size_t   items = 64, i;
    const struct {
        size_t      bytes;
        const void *at;
    } args[] = {{sizeof x, &x},       {sizeof x0, &x0}, {sizeof y, &y}, {sizeof y0, &y0},
                {sizeof from, &from}, {sizeof to, &to}, {sizeof a, &a}, {sizeof b, &b}};

    *why = "the library's own call of OpenCL failed";
    if (made != CL_SUCCESS)
        return QST_E_CL;
    for (i = 0; i < QSTK_COUNT(args) && code == CL_SUCCESS; i++)
        code = clSetKernelArg(kernel, (cl_uint)i, args[i].bytes, args[i].at);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(call->queue, kernel, 1, NULL, &items, NULL, 0, NULL, call->done);
    clReleaseKernel(kernel);
    return code == CL_SUCCESS ? QST_OK : QST_E_CL;
}

static void lib_close(void *instance)
{
    clReleaseProgram(instance);
}

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    (void)user, (void)device, (void)key, (void)index;
    out->data = source;
    out->length = sizeof source - 1;
    return QST_OK;
}

static int32_t halves(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const blend_problem *p = problem;
    int64_t              cut[3] = {0, p->n / 2, p->n};
    int32_t              status = QST_OK;
    int                  i;

    (void)user, (void)device;
    for (i = 0; i < 2 && status == QST_OK; i++) {
        const qst_arg args[] = {qstk_operand(0),  qstk_offset(0),       qstk_operand(1), qstk_offset(1),
                                qstk_i64(cut[i]), qstk_i64(cut[i + 1]), qstk_f32(p->a),  qstk_f32((double)p->b)};
        qst_launch    one = qstk_launch(0, "part", 1, args, QSTK_COUNT(args));
        one.global[0] = one.local[0] = 16;
        status = out->launch(out, &one);
    }
    return status;
}

#define OF_BLEND                                                                                                       \
    .size = sizeof(qst_candidate), .op = "blend", .revision = 1, .classes = QST_CLASS_PLAIN,                           \
    .problem_size = sizeof(blend_problem)
static const qst_candidate vendor = {OF_BLEND,
                                     .flags = QST_CANDIDATE_NO_WAITS | QST_CANDIDATE_HIDES_EVENTS,
                                     .variant = "vendor",
                                     .open = lib_open,
                                     .enqueue = lib_enqueue,
                                     .close = lib_close};
static const qst_candidate by_halves = {OF_BLEND, .variant = "halves", .program = program, .steps = halves};

const qst_candidate *const chaos_own[] = {&blend_loop, &blend_wide, &blend_twice, NULL};
const qst_candidate *const chaos_with_vendor[] = {&blend_loop, &blend_wide, &vendor, NULL};
const qst_candidate *const chaos_with_halves[] = {&blend_loop, &blend_wide, &by_halves, NULL};
