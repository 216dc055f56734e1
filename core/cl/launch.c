/* SPDX-License-Identifier: MIT
 *
 * launch.c: the hit path. What can be known at creation is worked out there: which arguments vary, in which order of
 * kinds, by how much an offset is shifted; an enqueue only walks short lists. */
#include "cl/launch-state.h"

#include <string.h>

/* ---- Creation ------------------------------------------------------------------------------------------------- */

/* The rest: workspaces, and what only a judge sees. */
enum { REST_WORKSPACE, REST_BEFORE, REST_FINDING };

static uint32_t log2_of(uint32_t power)
{
    uint32_t shift = 0;
    while (power > 1) {
        power >>= 1;
        shift++;
    }
    return shift;
}

/* The `pass` an argument is sorted into: 0 operand, 1 offset, 2 rest, 3 none (constant). */
static int pass_of(const qst_arg *arg)
{
    if (arg->kind == QST_ARG_OFFSET)
        return 1;
    if (arg->kind == QST_ARG_WORKSPACE)
        return 2;
    if (arg->kind != QST_ARG_OPERAND)
        return 3;
    return arg->index < QST_JUDGE_BEFORE ? 0 : 2;
}

static varying vary(uint32_t at, const qst_arg *arg, const uint32_t *type_bytes)
{
    bool     before = arg->index >= QST_JUDGE_BEFORE && arg->index < QST_JUDGE_FINDING;
    uint32_t index = before ? arg->index - QST_JUDGE_BEFORE : arg->index;
    varying  v = {.arg = (uint16_t)at, .index = (uint16_t)index};
    if (arg->kind == QST_ARG_OFFSET)
        v.shift = (uint16_t)log2_of(type_bytes[index]);
    else if (arg->kind == QST_ARG_WORKSPACE)
        v.kind = REST_WORKSPACE;
    else
        v.kind = before ? REST_BEFORE : REST_FINDING; /* the problem's own need no kind */
    return v;
}

static void bind_step(bound *b, const qst__step *step, const uint32_t *type_bytes)
{
    uint32_t counts[3] = {0, 0, 0}, n = 0;
    b->dims = step->dims;
    b->global = step->global;
    b->local = step->driver_local ? NULL : step->local;
    for (int pass = 0; pass < 3; pass++)
        for (uint32_t i = 0; i < step->n_args; i++)
            if (pass_of(&step->args[i]) == pass) {
                b->varying[n++] = vary(i, &step->args[i], type_bytes);
                counts[pass]++;
            }
    b->n_operands = counts[0];
    b->n_offsets = counts[1];
    b->n_rest = counts[2];
}

static qst_status bind_all(qst__runner *runner, qst__program *const *programs, uint32_t n_programs,
                           const uint32_t *type_bytes, cl_device_id device, qst_error *err)
{
    for (uint32_t i = 0; i < runner->n_steps; i++) {
        const qst__step *step = &runner->recipe.steps[i];
        if (step->op)
            continue;
        if (step->program >= n_programs || !programs[step->program])
            return qst__fail(err, QST_E_INVALID, runner->who, "kernel '%s' is of program %u, there are %u", step->entry,
                             (unsigned)step->program, (unsigned)n_programs);
        bind_step(&runner->steps[i], step, type_bytes);
        qst_status status = qst__pool_init(&runner->steps[i].pool, runner->alloc,
                                           qst__program_cl(programs[step->program]), step, device, runner->who, err);
        if (status != QST_OK)
            return status;
    }
    return QST_OK;
}

qst_status qst__runner_create(qst__runner **runner, const qst__alloc *alloc, qst__recipe *recipe,
                              qst__program *const *programs, uint32_t n_programs, const uint32_t *type_bytes,
                              cl_device_id device, qst__arena *arena, qst__cl_counters *counters, const char *who,
                              qst_error *err)
{
    qst_status   status = QST_E_NOMEM;
    qst__runner *made = qst__zalloc(alloc, sizeof *made + recipe->n_steps * sizeof *made->steps);
    *runner = NULL;
    if (!made) {
        qst__recipe_finish(recipe);
        return qst__fail(err, status, who, "no memory for %u launches", (unsigned)recipe->n_steps);
    }
    made->alloc = alloc;
    made->recipe = *recipe;
    made->n_steps = recipe->n_steps;
    made->plain = recipe->n_steps == 1 && recipe->n_workspaces == 0 && !recipe->steps[0].op;
    made->arena = arena;
    made->counters = counters;
    memset(recipe->steps, 0, sizeof recipe->steps); /* they are the runner's now */
    recipe->n_steps = 0;
    made->who = qst__strdup(alloc, who);
    if (made->who)
        status = bind_all(made, programs, n_programs, type_bytes, device, err);
    else
        status = qst__fail(err, status, who, "no memory for a name");
    if (status == QST_OK) {
        *runner = made;
        made = NULL;
    }
    qst__runner_destroy(made);
    return status;
}

void qst__runner_destroy(qst__runner *runner)
{
    if (!runner)
        return;
    if (runner->counters)
        atomic_fetch_add_explicit(&runner->counters->kernels, qst__runner_kernels(runner), memory_order_relaxed);
    for (uint32_t i = 0; i < runner->n_steps; i++)
        qst__pool_finish(&runner->steps[i].pool);
    qst__recipe_finish(&runner->recipe);
    qst__free(runner->alloc, runner->who);
    qst__free(runner->alloc, runner);
}

/* ---- One step ------------------------------------------------------------------------------------------------- */

static cl_mem rest_mem(const varying *v, const qst__go *go, qst__block *const *blocks)
{
    if (v->kind == REST_WORKSPACE)
        return blocks[v->index]->mem;
    if (v->kind == REST_FINDING)
        return go->finding;
    return go->before ? go->before[v->index] : NULL;
}

/* *v stops at the argument that failed. A buffer is set each time, since another one may have its handle; an offset that
 * the kernel has already is not: they seldom change. */
static inline cl_int set_varying(const bound *b, qst__slot *slot, const qst__go *go, qst__block *const *blocks,
                                 const varying **v)
{
    cl_kernel      kernel = qst__slot_kernel(slot);
    cl_int         code;
    uint32_t       i = 0;
    const varying *at = b->varying, *end = at + b->n_operands;
    for (; at < end; at++) {
        code = clSetKernelArg(kernel, at->arg, sizeof(cl_mem), &go->operands[at->index].handle);
        if (code != CL_SUCCESS)
            goto out;
    }
    for (end += b->n_offsets; at < end; at++, i++) {
        cl_ulong elements = go->operands[at->index].offset >> at->shift;
        if (i < QST__SLOT_OFFSETS && slot->offset[i] == elements + 1)
            continue;
        code = clSetKernelArg(kernel, at->arg, sizeof elements, &elements);
        if (code != CL_SUCCESS)
            goto out;
        if (i < QST__SLOT_OFFSETS)
            slot->offset[i] = elements + 1;
    }
    for (end += b->n_rest; at < end; at++) {
        cl_mem mem = rest_mem(at, go, blocks);
        code = clSetKernelArg(kernel, at->arg, sizeof mem, &mem);
        if (code != CL_SUCCESS)
            goto out;
    }
    return CL_SUCCESS;
out:
    *v = at;
    return code;
}

/* v: the argument that failed, NULL: the enqueue did. */
static qst_status step_failed(const qst__runner *runner, uint32_t step, const varying *v, cl_int code, qst_error *err)
{
    const char *entry = runner->recipe.steps[step].entry;
    const char *before = step ? "; the steps before it are enqueued" : "";
    if (v)
        return qst__fail_cl(err, code, runner->who,
                            "step %u of %u, kernel '%s', argument %u: clSetKernelArg gives %s (%d)%s",
                            (unsigned)step + 1, (unsigned)runner->n_steps, entry, (unsigned)v->arg, qst__cl_name(code),
                            (int)code, before);
    return qst__fail_cl(err, code, runner->who, "step %u of %u, kernel '%s': clEnqueueNDRangeKernel gives %s (%d)%s",
                        (unsigned)step + 1, (unsigned)runner->n_steps, entry, qst__cl_name(code), (int)code, before);
}

static inline qst_status enqueue_step(qst__runner *runner, uint32_t step, const qst__go *go, qst__block *const *blocks,
                                      cl_uint n_wait, const cl_event *wait_list, cl_event *event, qst_error *err)
{
    bound         *b = &runner->steps[step];
    const varying *v = NULL;
    qst_status     status;
    /* A go stands on its caller's stack as a rule, and stacks of threads are megabytes apart: a hint who this is. */
    qst__slot *slot = qst__pool_borrow(&b->pool, (uintptr_t)go >> 20, &status, err);
    if (!slot)
        return status;
    cl_int code = set_varying(b, slot, go, blocks, &v);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(go->queue, qst__slot_kernel(slot), b->dims, NULL, b->global, b->local, n_wait,
                                      wait_list, event);
    qst__pool_give(&b->pool, slot, code == CL_SUCCESS);
    return code == CL_SUCCESS ? QST_OK : step_failed(runner, step, v, code, err);
}

/* ---- An execution ------------------------------------------------------------------------------------------------ */

qst_status qst__runner_step(qst__runner *runner, uint32_t step, const qst__go *go, qst__block *const *blocks,
                            cl_uint n_wait, const cl_event *wait_list, cl_event *event, qst_error *err)
{
    return enqueue_step(runner, step, go, blocks, n_wait, wait_list, event, err);
}

qst_status qst__runner_enqueue(qst__runner *runner, const qst__go *go, qst_error *err)
{
    if (!runner->plain)
        return qst__runner_chain(runner, go, err);
    cl_event  *event = go->event ? go->event : go->first;
    qst_status status = enqueue_step(runner, 0, go, NULL, go->n_wait, go->n_wait ? go->wait_list : NULL, event, err);
    if (status == QST_OK && go->first && go->event)
        *go->first = clRetainEvent(*go->event) == CL_SUCCESS ? *go->event : NULL;
    return status;
}

/* ---- Numbers -------------------------------------------------------------------------------------------------- */

uint32_t qst__runner_launches(const qst__runner *runner)
{
    return runner->n_steps;
}

uint64_t qst__runner_workspace(const qst__runner *runner)
{
    return qst__recipe_workspace(&runner->recipe);
}

/* An execution counts when its last step stands in the queue. */
uint64_t qst__runner_runs(const qst__runner *runner)
{
    const bound *last = &runner->steps[runner->n_steps - 1];
    return qst__pool_runs(&last->pool) + atomic_load_explicit(&last->calls, memory_order_relaxed);
}

uint64_t qst__runner_kernels(const qst__runner *runner)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < runner->n_steps; i++)
        sum += qst__pool_runs(&runner->steps[i].pool);
    return sum;
}
