/* SPDX-License-Identifier: MIT
 *
 * kernel-pool.c: how a kernel object is made ready, what it must be able to do, and the slow side of lending. */
#include "cl/kernel-pool.h"

static unsigned long long ull(uint64_t number)
{
    return number;
}

static bool is_constant(const qst_arg *arg)
{
    return arg->kind == QST_ARG_LOCAL || arg->kind == QST_ARG_VALUE;
}

static qst_status set_constants(const qst__pool *pool, cl_kernel kernel, qst_error *err)
{
    const qst__step *step = pool->step;
    for (uint32_t i = 0; i < step->n_args; i++) {
        const qst_arg *arg = &step->args[i];
        if (!is_constant(arg))
            continue;
        cl_int code = clSetKernelArg(kernel, i, (size_t)arg->bytes, arg->kind == QST_ARG_VALUE ? arg->bits : NULL);
        if (code != CL_SUCCESS)
            return qst__fail_cl(err, code, pool->who,
                                "kernel '%s', argument %u of %llu bytes: clSetKernelArg gives %s (%d)", step->entry,
                                (unsigned)i, ull(arg->bytes), qst__cl_name(code), (int)code);
    }
    return QST_OK;
}

static qst_status make_kernel(const qst__pool *pool, cl_kernel *kernel, qst_error *err)
{
    cl_int code;
    *kernel = clCreateKernel(pool->program, pool->step->entry, &code);
    if (code == CL_SUCCESS)
        return QST_OK;
    *kernel = NULL;
    return qst__fail_cl(err, code, pool->who, "kernel '%s': clCreateKernel gives %s (%d)", pool->step->entry,
                        qst__cl_name(code), (int)code);
}

/* ---- What the kernel can do ----------------------------------------------------------------------------------- */

static qst_status check_arity(const qst__pool *pool, cl_kernel kernel, qst_error *err)
{
    cl_uint count = 0;
    cl_int  code = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
    if (code != CL_SUCCESS)
        return qst__fail_cl(err, code, pool->who, "kernel '%s': clGetKernelInfo gives %s (%d)", pool->step->entry,
                            qst__cl_name(code), (int)code);
    if (count != pool->step->n_args)
        return qst__fail(err, QST_E_INVALID, pool->who, "kernel '%s' takes %u arguments, the launch gives %u",
                         pool->step->entry, (unsigned)count, (unsigned)pool->step->n_args);
    return QST_OK;
}

/* A kernel that needs many registers gets smaller work-groups than the device's most. What the source requires
 * (reqd_work_group_size) is left to the driver, which has built the kernel for it: NVIDIA's says 256 of a kernel that
 * requires 512 and runs with them. */
static qst_status check_group(const qst__pool *pool, cl_kernel kernel, cl_device_id device, qst_error *err)
{
    const qst__step *step = pool->step;
    size_t           most = 0, required[3] = {0};
    uint64_t         items = (uint64_t)step->local[0] * step->local[1] * step->local[2];
    cl_int code = clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    if (code != CL_SUCCESS)
        return qst__fail_cl(err, code, pool->who, "kernel '%s': clGetKernelWorkGroupInfo gives %s (%d)", step->entry,
                            qst__cl_name(code), (int)code);
    if (step->driver_local || items <= most)
        return QST_OK;
    code = clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required, NULL);
    if (code != CL_SUCCESS || (uint64_t)required[0] * required[1] * required[2] != items)
        return qst__fail(err, QST_E_UNSUPPORTED, pool->who,
                         "kernel '%s': a work-group of %llu work-items, this kernel has at most %llu here", step->entry,
                         ull(items), ull(most));
    return QST_OK;
}

/* Where local memory is plain memory, a driver may abort the process over too much of it. Where it is real the driver
 * has built the kernel and refuses by itself, and some accept more static memory than the device says it has. Asked
 * before any argument is set, so that the kernel's number is its static part alone. */
static qst_status check_local(const qst__pool *pool, cl_kernel kernel, cl_device_id device, qst_error *err)
{
    const qst__step         *step = pool->step;
    cl_device_local_mem_type type = CL_LOCAL;
    cl_ulong                 fixed = 0, there = 0;
    uint64_t                 asked = 0;
    cl_int                   code = clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_TYPE, sizeof type, &type, NULL);
    if (code == CL_SUCCESS)
        code = clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof there, &there, NULL);
    if (code == CL_SUCCESS)
        code = clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof fixed, &fixed, NULL);
    if (qst__cl_passing(code))
        return qst__fail_cl(err, code, pool->who, "kernel '%s': its local memory cannot be asked for: %s (%d)",
                            step->entry, qst__cl_name(code), (int)code);
    if (code != CL_SUCCESS || type == CL_LOCAL)
        return QST_OK;
    for (uint32_t i = 0; i < step->n_args; i++)
        if (step->args[i].kind == QST_ARG_LOCAL)
            asked += step->args[i].bytes;
    uint64_t limit = there > QST__LOCAL_SLACK ? there - QST__LOCAL_SLACK : 0;
    if (fixed > limit || asked > limit - fixed)
        return qst__fail(err, QST_E_UNSUPPORTED, pool->who,
                         "kernel '%s': %llu bytes of local memory of its own and %llu by arguments, the device has "
                         "%llu less %u",
                         step->entry, ull(fixed), ull(asked), ull(there), (unsigned)QST__LOCAL_SLACK);
    return QST_OK;
}

/* ---- Lending -------------------------------------------------------------------------------------------------- */

/* Puts a ready kernel into a slot that the caller holds. */
static qst_status fill(const qst__pool *pool, qst__slot *slot, qst_error *err)
{
    cl_kernel  kernel;
    qst_status status = make_kernel(pool, &kernel, err);
    if (status == QST_OK)
        status = set_constants(pool, kernel, err);
    if (status == QST_OK)
        atomic_store_explicit(&slot->kernel, kernel, memory_order_relaxed);
    else if (kernel)
        (void)clReleaseKernel(kernel);
    return status;
}

static qst__slot *make_spare(const qst__pool *pool, qst_status *status, qst_error *err)
{
    qst__slot *slot = qst__zalloc(pool->alloc, sizeof *slot);
    if (!slot) {
        *status =
            qst__fail(err, QST_E_NOMEM, pool->who, "kernel '%s': no memory for another object", pool->step->entry);
        return NULL;
    }
    slot->spare = true;
    *status = fill(pool, slot, err);
    if (*status == QST_OK)
        return slot;
    qst__free(pool->alloc, slot);
    return NULL;
}

qst__slot *qst__pool_search(qst__pool *pool, size_t hint, qst_status *status, qst_error *err)
{
    *status = QST_OK;
    for (size_t i = 0; i < QST__POOL_SLOTS; i++) {
        qst__slot *slot = &pool->slots[(hint + i) & (QST__POOL_SLOTS - 1)];
        if (atomic_exchange_explicit(&slot->taken, true, memory_order_acquire))
            continue;
        if (!qst__slot_kernel(slot))
            *status = fill(pool, slot, err);
        if (*status == QST_OK)
            return slot;
        atomic_store_explicit(&slot->taken, false, memory_order_release);
        return NULL;
    }
    return make_spare(pool, status, err);
}

void qst__pool_discard(qst__pool *pool, qst__slot *spare, bool ran)
{
    if (ran)
        atomic_fetch_add_explicit(&pool->spare_runs, 1, memory_order_relaxed);
    (void)clReleaseKernel(qst__slot_kernel(spare));
    qst__free(pool->alloc, spare);
}

uint64_t qst__pool_runs(const qst__pool *pool)
{
    uint64_t sum = atomic_load_explicit(&pool->spare_runs, memory_order_relaxed);
    for (uint32_t i = 0; i < QST__POOL_SLOTS; i++)
        sum += atomic_load_explicit(&pool->slots[i].runs, memory_order_relaxed);
    return sum;
}

qst_status qst__pool_init(qst__pool *pool, const qst__alloc *alloc, cl_program program, const qst__step *step,
                          cl_device_id device, const char *who, qst_error *err)
{
    cl_kernel kernel;
    pool->alloc = alloc;
    pool->program = program;
    pool->step = step;
    pool->who = who;
    qst_status status = make_kernel(pool, &kernel, err);
    if (status != QST_OK)
        return status;
    status = check_arity(pool, kernel, err);
    if (status == QST_OK)
        status = check_group(pool, kernel, device, err);
    if (status == QST_OK)
        status = check_local(pool, kernel, device, err);
    if (status == QST_OK)
        status = set_constants(pool, kernel, err);
    if (status == QST_OK)
        atomic_store_explicit(&pool->slots[0].kernel, kernel, memory_order_relaxed);
    else
        (void)clReleaseKernel(kernel);
    return status;
}

void qst__pool_finish(qst__pool *pool)
{
    for (uint32_t i = 0; i < QST__POOL_SLOTS; i++) {
        cl_kernel kernel = qst__slot_kernel(&pool->slots[i]);
        if (kernel)
            (void)clReleaseKernel(kernel);
        atomic_store_explicit(&pool->slots[i].kernel, NULL, memory_order_relaxed);
    }
}
