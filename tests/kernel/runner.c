/* SPDX-License-Identifier: MIT
 *
 * runner.c: see runner.h. Nothing is checked here that the library's host checks; OpenCL's own errors are told.
 */
#include "runner.h"
#include <stdio.h>
#include <stdlib.h>

static void *host_alloc(void *self, uint64_t bytes)
{
    (void)self;
    return calloc(1, bytes); /* as the host: zeroed */
}

static void host_free(void *self, void *memory)
{
    (void)self;
    free(memory);
}

static void host_log(void *self, uint32_t level, const char *text)
{
    (void)self;
    fprintf(stderr, "log %u: %s\n", level, text);
}

static const char *host_config(void *self, const char *key)
{
    (void)self;
    (void)key;
    return NULL;
}

/* No kernel of a probe runs here: what needs proving is not there. */
static int32_t host_run_once(void *self, const qst_device *device, const qst_program *program, const qst_launch *launch,
                             void *answer, uint32_t bytes, qst_error *err)
{
    (void)self;
    (void)device;
    (void)program;
    (void)launch;
    (void)answer;
    (void)bytes;
    (void)err;
    return QST_E_UNSUPPORTED;
}

static int32_t host_add(void *self, const qst_candidate *candidate)
{
    struct runner           *r = (struct runner *)self;
    struct runner_candidate *c = &r->candidates[r->n];
    if (r->n == RUNNER_CANDIDATES || candidate->size > sizeof c->candidate)
        return QST_E_INVALID;
    memset(c, 0, sizeof *c);
    memcpy(&c->candidate, candidate, candidate->size);
    snprintf(c->name, sizeof c->name, "%s.%s", r->plugins[r->n_plugins]->name, candidate->variant);
    r->n++;
    return QST_OK;
}

#define FACT(name, into) clGetDeviceInfo(r->id, name, sizeof(into), &(into), NULL)

static void device_facts(struct runner *r)
{
    qst_device    *d = &r->device;
    size_t         group = 0, dims[3] = {0, 0, 0};
    cl_device_type type = 0;
    cl_uint        f64 = 0;
    FACT(CL_DEVICE_TYPE, type);
    FACT(CL_DEVICE_MAX_COMPUTE_UNITS, d->units);
    FACT(CL_DEVICE_MAX_WORK_GROUP_SIZE, group);
    FACT(CL_DEVICE_MAX_WORK_ITEM_SIZES, dims);
    FACT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, d->vector_f32);
    FACT(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, f64);
    FACT(CL_DEVICE_MAX_CLOCK_FREQUENCY, d->clock_mhz);
    FACT(CL_DEVICE_LOCAL_MEM_SIZE, d->local_bytes);
    FACT(CL_DEVICE_MAX_MEM_ALLOC_SIZE, d->max_alloc);
    FACT(CL_DEVICE_GLOBAL_MEM_SIZE, d->global_bytes);
    clGetDeviceInfo(r->id, CL_DEVICE_NAME, sizeof r->name - 1, r->name, NULL);
    d->size = (uint32_t)sizeof *d;
    d->type = (uint32_t)type >> 1; /* CL_DEVICE_TYPE_DEFAULT is bit 0 there */
    d->flags = f64 ? QST_DEVICE_F64 : 0;
    d->max_group = (uint32_t)group;
    d->max_group_dim[0] = (uint32_t)dims[0];
    d->max_group_dim[1] = (uint32_t)dims[1];
    d->max_group_dim[2] = (uint32_t)dims[2];
    d->group_multiple = 1;
    d->cl_version = 120;
    d->context = r->context;
    d->id = r->id;
    d->name = d->vendor = d->platform = d->driver = d->extensions = d->target = r->name;
}

int runner_open(struct runner *r)
{
    cl_platform_id platforms[8];
    cl_uint        n = 0, i;
    cl_int         code = CL_DEVICE_NOT_FOUND;
    memset(r, 0, sizeof *r);
    if (clGetPlatformIDs(8, platforms, &n) != CL_SUCCESS)
        n = 0;
    for (i = 0; i < n && i < 8 && code != CL_SUCCESS; i++)
        code = clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &r->id, NULL);
    if (code == CL_SUCCESS)
        r->context = clCreateContext(NULL, 1, &r->id, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        r->queue = clCreateCommandQueue(r->context, r->id, CL_QUEUE_PROFILING_ENABLE, &code);
    if (code != CL_SUCCESS) {
        fprintf(stderr, "no OpenCL CPU device: %d\n", code);
        return -1;
    }
    device_facts(r);
    r->host.size = (uint32_t)sizeof r->host;
    r->host.self = r;
    r->host.alloc = host_alloc;
    r->host.free = host_free;
    r->host.log = host_log;
    r->host.config = host_config;
    r->host.add_candidate = host_add;
    r->host.run_once = host_run_once;
    return 0;
}

void runner_close(struct runner *r)
{
    uint32_t i, p;
    for (i = 0; i < r->n; i++) {
        for (p = 0; p < RUNNER_PROGRAMS; p++)
            if (r->candidates[i].programs[p])
                clReleaseProgram(r->candidates[i].programs[p]);
        if (r->candidates[i].library)
            r->candidates[i].candidate.close(r->candidates[i].library);
    }
    for (i = 0; i < r->n_plugins; i++)
        if (r->plugins[i]->stop)
            r->plugins[i]->stop(r->instances[i]);
    if (r->queue)
        clReleaseCommandQueue(r->queue);
    if (r->context)
        clReleaseContext(r->context);
}

int runner_start(struct runner *r, const qst_plugin *plugin)
{
    r->plugins[r->n_plugins] = plugin;
    if (plugin->start(&r->host, &r->instances[r->n_plugins]) != QST_OK)
        return -1;
    r->n_plugins++;
    return 0;
}

static int32_t record_launch(qst_steps *steps, const qst_launch *launch)
{
    struct runner_steps *out = (struct runner_steps *)steps->self;
    if (out->n == QST_LAUNCHES_MAX || launch->n_args > QST_ARGS_MAX)
        return QST_E_INVALID;
    out->launches[out->n] = *launch;
    snprintf(out->entries[out->n], sizeof out->entries[0], "%s", launch->entry);
    memcpy(out->args[out->n], launch->args, launch->n_args * sizeof *launch->args);
    out->n++;
    return QST_OK;
}

static int32_t record_workspace(qst_steps *steps, uint32_t index, uint64_t bytes)
{
    struct runner_steps *out = (struct runner_steps *)steps->self;
    if (index >= 4)
        return QST_E_INVALID;
    out->workspace[index] = bytes;
    return QST_OK;
}

int32_t runner_record(struct runner *r, struct runner_candidate *c, const void *problem, struct runner_steps *out)
{
    qst_steps steps;
    memset(&steps, 0, sizeof steps);
    memset(out, 0, sizeof *out);
    steps.size = (uint32_t)sizeof steps;
    steps.self = out;
    steps.launch = record_launch;
    steps.workspace = record_workspace;
    return c->candidate.steps(c->candidate.user, &r->device, problem, &steps);
}

static cl_program built(struct runner *r, struct runner_candidate *c, uint32_t index)
{
    static const int64_t zeros[QST_KEY_MAX];
    const qst_key        key = {QST_KEY_MAX, 0, zeros};
    qst_program          program;
    const char          *text;
    size_t               length;
    static char          log[8192];
    if (index >= RUNNER_PROGRAMS || c->programs[index])
        return index < RUNNER_PROGRAMS ? c->programs[index] : NULL;
    memset(&program, 0, sizeof program);
    program.size = (uint32_t)sizeof program;
    program.form = QST_PROGRAM_SOURCE;
    if (c->candidate.program(c->candidate.user, &r->device, &key, index, &program) != QST_OK)
        return NULL;
    text = (const char *)program.data;
    length = (size_t)program.length;
    c->programs[index] = clCreateProgramWithSource(r->context, 1, &text, &length, NULL);
    if (clBuildProgram(c->programs[index], 1, &r->id, program.options, NULL, NULL) == CL_SUCCESS)
        return c->programs[index];
    clGetProgramBuildInfo(c->programs[index], r->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    fprintf(stderr, "%s program %u does not build with %s:\n%s\n", c->name, index, program.options, log);
    return NULL;
}

static cl_int set_arg(cl_kernel kernel, cl_uint at, const qst_arg *arg, const qst_mem *operands, cl_mem *workspace,
                      const uint32_t *item)
{
    uint64_t start;
    switch (arg->kind) {
    case QST_ARG_OPERAND:
        return clSetKernelArg(kernel, at, sizeof(cl_mem), &operands[arg->index].handle);
    case QST_ARG_OFFSET:
        start = operands[arg->index].offset / item[arg->index];
        return clSetKernelArg(kernel, at, sizeof start, &start);
    case QST_ARG_WORKSPACE:
        return clSetKernelArg(kernel, at, sizeof(cl_mem), &workspace[arg->index]);
    case QST_ARG_LOCAL:
        return clSetKernelArg(kernel, at, (size_t)arg->bytes, NULL);
    default:
        return clSetKernelArg(kernel, at, (size_t)arg->bytes, arg->bits);
    }
}

cl_int runner_launch(struct runner *r, struct runner_candidate *c, const struct runner_steps *s, uint32_t i,
                     const qst_mem *operands, cl_mem *workspace, const uint32_t *item)
{
    const qst_launch *launch = &s->launches[i];
    cl_program        program = built(r, c, launch->program);
    size_t            global[3], local[3];
    cl_kernel         kernel;
    cl_int            code = CL_BUILD_PROGRAM_FAILURE;
    uint32_t          x;
    if (!program)
        return code;
    kernel = clCreateKernel(program, s->entries[i], &code);
    for (x = 0; x < launch->n_args && code == CL_SUCCESS; x++)
        code = set_arg(kernel, x, &s->args[i][x], operands, workspace, item);
    for (x = 0; x < 3; x++) {
        global[x] = (size_t)launch->global[x];
        local[x] = (size_t)launch->local[x];
    }
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(r->queue, kernel, launch->dims, NULL, global, local[0] ? local : NULL, 0, NULL,
                                      NULL);
    if (kernel)
        clReleaseKernel(kernel);
    return code;
}

/* The vendor form: open once, enqueue, and its event waited for. */
static int32_t run_vendor(struct runner *r, struct runner_candidate *c, const void *problem, const qst_mem *operands)
{
    cl_event    done = NULL;
    qst_call    call;
    const char *why = "no reason given";
    int32_t     status;
    memset(&call, 0, sizeof call);
    call.size = (uint32_t)sizeof call;
    call.queue = r->queue;
    call.operands = operands;
    call.done = &done;
    if (!c->library) {
        status = c->candidate.open(c->candidate.user, &r->device, &c->library, &why);
        if (status != QST_OK)
            return status;
    }
    status = c->candidate.enqueue(c->library, problem, &call, &why);
    if (status != QST_OK)
        fprintf(stderr, "%s: %s\n", c->name, why);
    if (done)
        clReleaseEvent(done);
    return clFinish(r->queue) == CL_SUCCESS ? status : QST_E_CL;
}

int32_t runner_run(struct runner *r, struct runner_candidate *c, const void *problem, const qst_mem *operands,
                   const uint32_t *item)
{
    static struct runner_steps steps;
    cl_mem                     workspace[4] = {NULL, NULL, NULL, NULL};
    cl_int                     code = CL_SUCCESS;
    int32_t                    status;
    uint32_t                   i;
    if (!c->candidate.steps)
        return run_vendor(r, c, problem, operands);
    status = runner_record(r, c, problem, &steps);
    for (i = 0; i < 4 && code == CL_SUCCESS; i++)
        if (steps.workspace[i])
            workspace[i] = clCreateBuffer(r->context, CL_MEM_READ_WRITE, (size_t)steps.workspace[i], NULL, &code);
    for (i = 0; i < steps.n && status == QST_OK && code == CL_SUCCESS; i++)
        code = runner_launch(r, c, &steps, i, operands, workspace, item);
    if (code == CL_SUCCESS)
        code = clFinish(r->queue);
    for (i = 0; i < 4; i++)
        if (workspace[i])
            clReleaseMemObject(workspace[i]);
    if (code != CL_SUCCESS)
        fprintf(stderr, "%s: OpenCL error %d\n", c->name, code);
    return status == QST_OK && code != CL_SUCCESS ? QST_E_CL : status;
}
