/* SPDX-License-Identifier: MIT
 *
 * cblas.c: the host's BLAS as a candidate of matmul on a CPU device: a native kernel of the queue, which waits and is
 * waited for like any other. The library is opened when the candidate is about to run for the first time, from
 * plugin.cblas.library or by its usual names.
 */
#include "job.h"

#include <CL/cl.h>
#include <quernstone/kit.h>
#include <stdio.h>

#define CALL_NS     5000.0 /* of a call */
#define FLOP_PER_NS 40.0   /* a core's rate; only orders first contact */

/* One a context: what the host gave, and the path. */
struct plugin {
    void *(*alloc)(void *host, uint64_t bytes);
    void (*release)(void *host, void *memory);
    void       *host;
    const char *path; /* NULL: by its usual names */
};

/* One a device. */
struct instance {
    const struct plugin        *plugin;
    const struct cblas_library *library;
};

/* The reason of the last refusal on this thread where it has to carry what the system said. */
static _Thread_local char reason[256];

static double estimate(void *user, const qst_device *device, const void *problem)
{
    const qst_matmul *p = problem;
    double            flops = 2.0 * (double)p->m * (double)p->n * (double)p->k;
    int               d;
    (void)user;
    for (d = 0; d < QST_MATMUL_BATCHES; d++)
        flops *= (double)p->batch[d];
    return CALL_NS + flops / (FLOP_PER_NS * (device->units ? device->units : 1));
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
    const struct plugin        *plugin = user;
    cl_device_exec_capabilities can = 0;
    struct instance            *self;
    if (clGetDeviceInfo(device->id, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL) != CL_SUCCESS ||
        !(can & CL_EXEC_NATIVE_KERNEL))
        return qstk_no(why, "the device runs no native kernels");
    self = plugin->alloc(plugin->host, sizeof *self);
    if (!self)
        return QST_E_NOMEM;
    self->plugin = plugin;
    self->library = cblas_library_open(plugin->path, reason, sizeof reason);
    if (!self->library) {
        plugin->release(plugin->host, self);
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
    self->plugin->release(self->plugin->host, self);
}

static void stop(void *instance)
{
    struct plugin *self = instance;
    self->release(self->host, self);
}

static int32_t start(const qst_host *host, void **instance)
{
    struct plugin *self = host->alloc(host->self, sizeof *self);
    qst_candidate  gemm = {
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
    int32_t status;
    if (!self)
        return QST_E_NOMEM;
    self->alloc = host->alloc;
    self->release = host->free;
    self->host = host->self;
    self->path = host->config(host->self, "library");
    gemm.user = self;
    status = host->add_candidate(host->self, &gemm);
    if (status == QST_OK)
        *instance = self;
    else
        stop(self);
    return status;
}

#ifdef QST_BUILTIN
#define DESCRIPTOR qst__builtin_cblas
#else
#define DESCRIPTOR qst_plugin_v1
#endif

extern QSTK_EXPORT const qst_plugin DESCRIPTOR;
const qst_plugin                    DESCRIPTOR = {
                       .magic = QST_PLUGIN_MAGIC,
                       .size = sizeof DESCRIPTOR,
                       .abi_major = QST_ABI_MAJOR,
                       .abi_minor = QST_ABI_MINOR,
                       .name = "cblas",
                       .version = "1.0",
                       .licence = "MIT",
                       .start = start,
                       .stop = stop,
};
