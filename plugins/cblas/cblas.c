/* SPDX-License-Identifier: MIT
 *
 * cblas.c: the host's BLAS as a candidate of matmul on a CPU device: a native kernel of the queue, which waits and is
 * waited for like any other. The library is opened when the candidate is about to run for the first time, from
 * plugin.cblas.library or by its usual names.
 */
#include "job.h"

#include "plugins/common/vendor.h"

#include <CL/cl.h>
#include <stdio.h>

#define CALL_NS     5000.0 /* of a call */
#define FLOP_PER_NS 40.0   /* a core's rate; only orders first contact */

/* One a device. */
struct instance {
    const struct vendor_plugin *plugin;
    const struct cblas_library *library;
};

/* The reason of the last refusal on this thread where it has to carry what the system said. */
static _Thread_local char reason[256];

static double estimate(void *user, const qst_device *device, const void *problem)
{
    (void)user;
    return CALL_NS + vendor_flops(problem) / (FLOP_PER_NS * (device->units ? device->units : 1));
}

static int32_t can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    const qst_matmul        *p = problem;
    const struct blas_matrix a = blas_express(&p->a, p->m, p->k), b = blas_express(&p->b, p->k, p->n);
    const struct blas_matrix c = blas_express(&p->c, p->m, p->n);
    int                      dims;
    (void)user;
    (void)blas_batch(p, &dims);
    if (device->type != QST_DEVICE_CPU)
        return qstk_no(why, "a BLAS of the host computes for CPU devices only");
    if (!blas_one_type(p))
        return qstk_no(why, "A, B and C all f32 or all f64 only");
    if (!a.ld || !b.ld)
        return qstk_no(why, "BLAS needs adjacent columns or rows of A and B and lines that do not overlap");
    if (!c.ld || c.transpose != BLAS_PLAIN)
        return qstk_no(why, "BLAS needs adjacent columns of C");
    if (dims > 1)
        return qstk_no(why, "one batch dimension only; these do not merge into one");
    if (p->m > INT32_MAX || p->n > INT32_MAX || p->k > INT32_MAX || a.ld > INT32_MAX || b.ld > INT32_MAX ||
        c.ld > INT32_MAX)
        return qstk_no(why, "BLAS counts in 32 bits");
    return QST_OK;
}

static int32_t open_library(void *user, const qst_device *device, void **out, const char **why)
{
    const struct vendor_plugin *plugin = user;
    cl_device_exec_capabilities can = 0;
    struct instance            *self;
    if (clGetDeviceInfo(device->id, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL) != CL_SUCCESS ||
        !(can & CL_EXEC_NATIVE_KERNEL))
        return qstk_no(why, "the device runs no native kernels");
    self = vendor_alloc(plugin, sizeof *self);
    if (!self)
        return QST_E_NOMEM;
    self->plugin = plugin;
    self->library = cblas_library_open(plugin->path, reason, sizeof reason);
    if (!self->library) {
        vendor_release(plugin, self);
        return qstk_no(why, reason);
    }
    *out = self;
    return QST_OK;
}

/* A part of a buffer as the whole: PoCL 3.1 gives native kernels no address for the part. */
static cl_int find_whole(const qst_mem *operand, cl_mem *whole, uint64_t *offset)
{
    cl_mem parent = NULL;
    size_t origin = 0;
    cl_int code;
    *whole = operand->handle;
    *offset = operand->offset;
    code = clGetMemObjectInfo(*whole, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL);
    if (code != CL_SUCCESS || !parent)
        return code;
    code = clGetMemObjectInfo(*whole, CL_MEM_OFFSET, sizeof origin, &origin, NULL);
    *whole = parent;
    *offset += origin;
    return code;
}

/* The places of all three buffers, by one native kernel for each; the last one computes. One for all would be told their
 * places in the order in which the buffers were made (PoCL 3.1), whatever the order of the list. */
static cl_int enqueue_all(struct job *job, const qst_call *call)
{
    cl_mem whole[3];
    cl_int code = CL_SUCCESS;
    for (int i = 0; i < 3 && code == CL_SUCCESS; i++)
        code = find_whole(&call->operands[i], &whole[i], &job->offset[i]);
    for (int i = 0; i < 3 && code == CL_SUCCESS; i++) {
        struct job_part part = {job, NULL, i};
        const void     *place = &part.buffer;
        job_hold(job);
        code =
            clEnqueueNativeKernel(call->queue, job_run, &part, sizeof part, 1, &whole[i], &place, i ? 0 : call->n_waits,
                                  i || !call->n_waits ? NULL : call->waits, i == 2 ? call->done : NULL);
        if (code != CL_SUCCESS)
            job_drop(job);
    }
    return code;
}

static int32_t enqueue(void *instance, const void *problem, const qst_call *call, const char **why)
{
    const struct instance *self = instance;
    struct job            *job = job_create(self->library, problem);
    cl_int                 code = job ? enqueue_all(job, call) : CL_OUT_OF_HOST_MEMORY;
    job_drop(job);
    if (code == CL_SUCCESS)
        return QST_OK;
    snprintf(reason, sizeof reason, "enqueueing a native kernel: OpenCL code %d", (int)code);
    if (why)
        *why = reason;
    return QST_E_CL;
}

/* The library stays: calls that were enqueued outlive the context. */
static void close_library(void *instance)
{
    struct instance *self = instance;
    vendor_release(self->plugin, self);
}

static const qst_candidate gemm = {
    .size = sizeof gemm,
    .op = "matmul",
    .variant = "gemm",
    .revision = 2,
    .classes = QST_CLASS_PLAIN | QST_CLASS_FAST,
    .problem_size = sizeof(qst_matmul),
    .can_run = can_run,
    .estimate = estimate,
    .open = open_library,
    .enqueue = enqueue,
    .close = close_library,
};

static int32_t start(const qst_host *host, void **instance)
{
    return vendor_start(host, &gemm, instance);
}

PLUGIN(cblas, .start = start, .stop = plugin_close);
