/* SPDX-License-Identifier: MIT
 *
 * clblast.c: CLBlast's GEMM as a candidate of matmul. The library is opened when the candidate is about to run for
 * the first time, from plugin.clblast.library or by its usual name; what its interface cannot say is refused.
 */
#include "plugins/common/blas.h"
#include "plugins/common/vendor.h"

#include <dlfcn.h>
#include <stdio.h>

#define LIBRARY    "libclblast.so.1"
#define ALIGN_LOG2 4u
#define CALL_NS    10000.0  /* of a call on the host */
#define FIRST_NS   100000.0 /* of a first call to a CPU device, which decides there: 0.13 ms at 32, 0.24 ms at 100 */
#define TILE       128u     /* rows and columns of C that a work-group of its GPU kernels makes */

/* The part of CLBlast's C interface that is used, so that building needs no CLBlast. Enumerations are ints there. */

#define GEMM_TYPE(name, real)                                                                                          \
    typedef int (*name)(int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k, real alpha,        \
                        cl_mem a, size_t a_offset, size_t a_ld, cl_mem b, size_t b_offset, size_t b_ld, real beta,     \
                        cl_mem c, size_t c_offset, size_t c_ld, cl_command_queue *queue, cl_event *event)
#define BATCHED_TYPE(name, real)                                                                                       \
    typedef int (*name)(int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k, real alpha,        \
                        cl_mem a, size_t a_offset, size_t a_ld, size_t a_stride, cl_mem b, size_t b_offset,            \
                        size_t b_ld, size_t b_stride, real beta, cl_mem c, size_t c_offset, size_t c_ld,               \
                        size_t c_stride, size_t batches, cl_command_queue *queue, cl_event *event)
GEMM_TYPE(sgemm_fn, float);
GEMM_TYPE(dgemm_fn, double);
BATCHED_TYPE(sgemm_batched_fn, float);
BATCHED_TYPE(dgemm_batched_fn, double);

/* One an opened library. */
struct library {
    const struct vendor_plugin *plugin;
    sgemm_fn                    sgemm;
    dgemm_fn                    dgemm;
    sgemm_batched_fn            sgemm_batched;
    dgemm_batched_fn            dgemm_batched;
};

/* The reason of the last refusal on this thread where it has to carry what the system said. */
static _Thread_local char reason[256];

/* A rough time, so that quicker ones are tried first: its kernels reach 20 to 34 GFLOP/s on two cores of a CPU device
 * (PoCL 3.1), and about half of a GPU's fma peak where C has a tile for each of its units. Where it has no chance by
 * this it is not built (tune.prune_factor): its programs take as long as all others together. */
static double estimate(void *user, const qst_device *device, const void *problem)
{
    const int         cpu = device->type == QST_DEVICE_CPU;
    const double      per_ns = cpu ? 12.0 * device->units : 64.0 * device->units * (double)device->clock_mhz * 1e-3;
    const qst_matmul *p = (const qst_matmul *)problem;
    const double tiles = (double)qstk_ceil_div((uint64_t)p->m, TILE) * (double)qstk_ceil_div((uint64_t)p->n, TILE) *
                         (double)p->batch[0] * (double)p->batch[1] * (double)p->batch[2] * (double)p->batch[3];
    const double busy = cpu || tiles >= device->units ? 1.0 : tiles / (double)device->units;
    (void)user;
    return per_ns > 0.0 ? (cpu ? FIRST_NS : CALL_NS) + vendor_flops(p) / (per_ns * busy) : 0.0;
}

static int32_t can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    const qst_matmul        *p = (const qst_matmul *)problem;
    const struct blas_matrix c = blas_express(&p->c, p->m, p->n);
    int                      dims, d = blas_batch(p, &dims);
    (void)user;
    if (!blas_one_type(p))
        return qstk_no(why, "A, B and C all f32 or all f64 only");
    if (p->a.type == QST_F64 && !(device->flags & QST_DEVICE_F64))
        return qstk_no(why, "the device has no f64 arithmetic");
    if (p->k == 0)
        return qstk_no(why, "CLBlast refuses k = 0");
    if (blas_express(&p->a, p->m, p->k).ld == 0)
        return qstk_no(why, "CLBlast needs adjacent columns or rows of A and lines that do not overlap");
    if (blas_express(&p->b, p->k, p->n).ld == 0)
        return qstk_no(why, "CLBlast needs adjacent columns or rows of B and lines that do not overlap");
    if (c.ld == 0 || c.transpose != BLAS_PLAIN)
        return qstk_no(why, "CLBlast needs adjacent columns of C");
    if (dims > 1)
        return qstk_no(why, "CLBlast has one batch dimension; these do not merge into one");
    if (d >= 0 && (p->a.batch[d] == 0 || p->b.batch[d] == 0 || p->c.batch[d] == 0))
        return qstk_no(why, "a batch that shares A or B has no form in CLBlast");
    /* It takes a buffer's start to suit its vectors; one over the caller's own memory may not. */
    if (p->a.align < ALIGN_LOG2 || p->b.align < ALIGN_LOG2 || p->c.align < ALIGN_LOG2)
        return qstk_no(why, "A, B and C must start at multiples of 16 bytes, and say so");
    return QST_OK;
}

static int resolve(void *handle, const char *name, void *into, size_t size)
{
    void *symbol = dlsym(handle, name);
    memcpy(into, &symbol, size);
    return symbol != NULL;
}

static int32_t open_library(void *user, const qst_device *device, void **instance, const char **why)
{
    const struct vendor_plugin *plugin = (const struct vendor_plugin *)user;
    void                       *handle = dlopen(plugin->path ? plugin->path : LIBRARY, RTLD_NOW | RTLD_LOCAL);
    struct library             *self;
    const char                 *said;
    (void)device;
    if (!handle) {
        said = dlerror();
        snprintf(reason, sizeof reason, "%s", said ? said : "the library cannot be opened");
        return qstk_no(why, reason);
    }
    self = (struct library *)vendor_alloc(plugin, sizeof *self);
    if (!self)
        return QST_E_NOMEM;
    self->plugin = plugin;
    if (!resolve(handle, "CLBlastSgemm", &self->sgemm, sizeof self->sgemm) ||
        !resolve(handle, "CLBlastDgemm", &self->dgemm, sizeof self->dgemm) ||
        !resolve(handle, "CLBlastSgemmStridedBatched", &self->sgemm_batched, sizeof self->sgemm_batched) ||
        !resolve(handle, "CLBlastDgemmStridedBatched", &self->dgemm_batched, sizeof self->dgemm_batched)) {
        vendor_release(plugin, self);
        return qstk_no(why, "the library has not the C functions of CLBlast 1.4 and later");
    }
    *instance = self;
    return QST_OK;
}

/* Buffers and where the matrices start in them, in elements. */
struct places {
    cl_mem buffer[3];
    size_t start[3];
};

static int enqueue_one(const struct library *lib, const qst_matmul *p, const struct places *at, cl_command_queue queue,
                       cl_event *event)
{
    const struct blas_matrix a = blas_express(&p->a, p->m, p->k), b = blas_express(&p->b, p->k, p->n),
                             c = blas_express(&p->c, p->m, p->n);
    const size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;
    if (p->a.type == QST_F64)
        return lib->dgemm(BLAS_ROW_MAJOR, a.transpose, b.transpose, m, n, k, p->alpha, at->buffer[0], at->start[0],
                          a.ld, at->buffer[1], at->start[1], b.ld, p->beta, at->buffer[2], at->start[2], c.ld, &queue,
                          event);
    return lib->sgemm(BLAS_ROW_MAJOR, a.transpose, b.transpose, m, n, k, (float)p->alpha, at->buffer[0], at->start[0],
                      a.ld, at->buffer[1], at->start[1], b.ld, (float)p->beta, at->buffer[2], at->start[2], c.ld,
                      &queue, event);
}

static int enqueue_batch(const struct library *lib, const qst_matmul *p, int d, const struct places *at,
                         cl_command_queue queue, cl_event *event)
{
    const struct blas_matrix a = blas_express(&p->a, p->m, p->k), b = blas_express(&p->b, p->k, p->n),
                             c = blas_express(&p->c, p->m, p->n);
    const size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k, count = (size_t)p->batch[d];
    const size_t as = (size_t)p->a.batch[d], bs = (size_t)p->b.batch[d], cs = (size_t)p->c.batch[d];
    if (p->a.type == QST_F64)
        return lib->dgemm_batched(BLAS_ROW_MAJOR, a.transpose, b.transpose, m, n, k, p->alpha, at->buffer[0],
                                  at->start[0], a.ld, as, at->buffer[1], at->start[1], b.ld, bs, p->beta, at->buffer[2],
                                  at->start[2], c.ld, cs, count, &queue, event);
    return lib->sgemm_batched(BLAS_ROW_MAJOR, a.transpose, b.transpose, m, n, k, (float)p->alpha, at->buffer[0],
                              at->start[0], a.ld, as, at->buffer[1], at->start[1], b.ld, bs, (float)p->beta,
                              at->buffer[2], at->start[2], c.ld, cs, count, &queue, event);
}

/* CLBlast's C functions let no exception out; they return a code. */
static int32_t enqueue(void *instance, const void *problem, const qst_call *call, const char **why)
{
    const struct library *lib = (const struct library *)instance;
    const qst_matmul     *p = (const qst_matmul *)problem;
    const size_t          bytes = p->a.type == QST_F64 ? sizeof(double) : sizeof(float);
    struct places         at;
    int                   i, code, dims, d = blas_batch(p, &dims);
    for (i = 0; i < 3; i++) {
        at.buffer[i] = (cl_mem)call->operands[i].handle;
        at.start[i] = (size_t)call->operands[i].offset / bytes;
    }
    code = d < 0 ? enqueue_one(lib, p, &at, call->queue, call->done)
                 : enqueue_batch(lib, p, d, &at, call->queue, call->done);
    if (code != 0) {
        snprintf(reason, sizeof reason, "CLBlast returned %d", code);
        if (why)
            *why = reason;
        return QST_E_PLUGIN;
    }
    return QST_OK;
}

/* The library stays loaded: it keeps compiled programs in static objects whose destructors would run at dlclose, and
 * another context may be using them. */
static void close_library(void *instance)
{
    struct library *self = (struct library *)instance;
    vendor_release(self->plugin, self);
}

static const qst_candidate gemm = {
    .size = sizeof gemm,
    .flags = QST_CANDIDATE_HIDES_EVENTS | QST_CANDIDATE_NO_WAITS,
    .op = "matmul",
    .variant = "gemm",
    .revision = 1,
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

PLUGIN(clblast, .start = start, .stop = plugin_close);
