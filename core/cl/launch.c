/* SPDX-License-Identifier: MIT
 *
 * launch.c: the hit path. What can be known at creation is worked out there: which arguments vary, in which order of
 * kinds, by how much an offset is shifted; an enqueue only walks short lists. */
#include "cl/launch.h"

#include "cl/kernel-pool.h"

#include <string.h>

#define WAITS_ON_STACK 16u /* events in one wait list without an allocation */

/* An argument that every enqueue sets. */
typedef struct varying {
    uint16_t arg;
    uint16_t index; /* operand, workspace */
    uint16_t kind;
    uint16_t shift; /* offset: log2 of the element's bytes */
} varying;

/* A step ready to go. varying[] holds operands, then offsets, then the rest. */
typedef struct bound {
    uint32_t         n_operands, n_offsets, n_rest;
    uint32_t         dims;
    const size_t    *global;
    const size_t    *local; /* NULL: the driver's choice */
    varying          varying[QST_ARGS_MAX];
    qst__pool        pool;
    _Atomic uint64_t calls; /* a call of another operation: how often it was made */
} bound;

struct qst__runner {
    const qst__alloc *alloc;
    bool              plain; /* one step, no workspace */
    uint32_t          n_steps;
    qst__arena       *arena;
    qst__cl_counters *counters;
    char             *who;
    qst__recipe       recipe;
    bound             steps[]; /* n_steps */
};

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

/* Another operation on operands made of ours: each begins bits[0] bytes after one of ours, or in a workspace. */
static qst_status call_step(qst__runner *runner, uint32_t step, const qst__go *go, qst__block *const *blocks,
                            cl_uint n_wait, const cl_event *wait_list, cl_event *event, qst_error *err)
{
    const qst__step *s = &runner->recipe.steps[step];
    qst_mem          operands[QST_OPERANDS_MAX];
    qst__go          inner = {.queue = go->queue,
                              .in_order = go->in_order,
                              .operands = operands,
                              .n_wait = n_wait,
                              .wait_list = wait_list,
                              .event = event,
                              .depth = go->depth + 1};
    qst_status       status;
    for (uint32_t i = 0; i < s->n_args; i++) {
        const qst_arg *arg = &s->args[i];
        operands[i] = arg->kind == QST_ARG_OPERAND ? go->operands[arg->index] : qst_mem_of(blocks[arg->index]->mem);
        operands[i].offset += arg->bits[0];
    }
    status = runner->recipe.call(s->target, &inner, err);
    if (status == QST_OK)
        atomic_fetch_add_explicit(&runner->steps[step].calls, 1, memory_order_relaxed);
    return status;
}

static qst_status any_step(qst__runner *runner, uint32_t step, const qst__go *go, qst__block *const *blocks,
                           cl_uint n_wait, const cl_event *wait_list, cl_event *event, qst_error *err)
{
    if (runner->recipe.steps[step].op)
        return call_step(runner, step, go, blocks, n_wait, wait_list, event, err);
    return enqueue_step(runner, step, go, blocks, n_wait, wait_list, event, err);
}

/* ---- Several steps, workspaces -------------------------------------------------------------------------------- */

/* What one call with steps or workspaces holds. */
typedef struct hold {
    qst__block *blocks[QST_WORKSPACES_MAX]; /* NULL: not asked for */
    cl_event    few[WAITS_ON_STACK];
    cl_event   *waits; /* few, or the heap's */
    cl_uint     n_waits;
} hold;

/* The caller's waits and those of the workspaces' last users, in one list. */
static qst_status gather_waits(qst__runner *runner, const qst__go *go, hold *h, qst_error *err)
{
    uint64_t count = (uint64_t)go->n_wait + QST_WORKSPACES_MAX;
    h->waits = h->few;
    if (count > WAITS_ON_STACK) {
        h->waits = qst__zalloc_array(runner->alloc, count, sizeof *h->waits);
        if (!h->waits)
            return qst__fail(err, QST_E_NOMEM, runner->who, "no memory for a wait list of %llu events",
                             (unsigned long long)count);
    }
    if (go->n_wait)
        memcpy(h->waits, go->wait_list, go->n_wait * sizeof *h->waits);
    h->n_waits = go->n_wait;
    for (uint32_t i = 0; i < QST_WORKSPACES_MAX; i++)
        if (h->blocks[i] && h->blocks[i]->last)
            h->waits[h->n_waits++] = h->blocks[i]->last;
    return QST_OK;
}

static cl_command_queue in_order_queue(const qst__go *go)
{
    return go->in_order ? go->queue : NULL;
}

static qst_status take_blocks(qst__runner *runner, const qst__go *go, hold *h, qst_error *err)
{
    qst_status status = QST_OK;
    for (uint32_t i = 0; i < runner->recipe.n_workspaces && status == QST_OK; i++)
        if (runner->recipe.workspace[i])
            status =
                qst__arena_take(runner->arena, runner->recipe.workspace[i], in_order_queue(go), &h->blocks[i], err);
    return status;
}

/* Without an event, what was enqueued would still use a block that the next taker thinks idle. */
static void give_blocks(qst__runner *runner, const qst__go *go, hold *h, cl_event last, bool enqueued)
{
    for (uint32_t i = 0; i < QST_WORKSPACES_MAX; i++) {
        if (!h->blocks[i])
            continue;
        if (enqueued && !last)
            qst__arena_drop(runner->arena, h->blocks[i]);
        else
            qst__arena_give(runner->arena, h->blocks[i], in_order_queue(go), last);
    }
}

/* Enqueues steps until one fails; *done counts them. *last: the last step's event, where one was to be made. */
static qst_status enqueue_steps(qst__runner *runner, const qst__go *go, const hold *h, cl_event *first, cl_event *last,
                                uint32_t *done, qst_error *err)
{
    cl_uint         n_wait = h->n_waits;
    const cl_event *waits = h->waits;
    cl_event        before = NULL;
    qst_status      status = QST_OK;
    bool            remembered = go->event || runner->recipe.n_workspaces;
    for (*done = 0; *done < runner->n_steps; ++*done) {
        cl_event event = NULL;
        bool     at_end = *done + 1 == runner->n_steps;
        bool     make = (at_end ? remembered : !go->in_order) || (*done == 0 && go->first);
        status = any_step(runner, *done, go, h->blocks, n_wait, n_wait ? waits : NULL, make ? &event : NULL, err);
        if (status != QST_OK) {
            /* A call that failed may have enqueued a part of what it does. */
            *done += runner->recipe.steps[*done].op ? 1 : 0;
            break;
        }
        if (*done == 0 && go->first && clRetainEvent(event) == CL_SUCCESS)
            *first = event;
        if (before)
            (void)clReleaseEvent(before);
        before = event;
        n_wait = go->in_order ? 0 : 1;
        waits = &before;
    }
    if (status == QST_OK) {
        *last = before;
        before = NULL;
    }
    if (before)
        (void)clReleaseEvent(before);
    return status;
}

/* Bits of the operands that the first n steps use. */
static uint32_t operands_of(const qst__runner *runner, uint32_t n)
{
    uint32_t bits = 0;
    for (uint32_t step = 0; step < n; step++)
        for (uint32_t i = 0; i < runner->recipe.steps[step].n_args; i++) {
            const qst_arg *arg = &runner->recipe.steps[step].args[i];
            if (arg->kind == QST_ARG_OPERAND && arg->index < QST_OPERANDS_MAX)
                bits |= 1u << arg->index;
        }
    return bits;
}

static qst_status enqueue_chain(qst__runner *runner, const qst__go *go, qst_error *err)
{
    hold       h = {.waits = NULL};
    cl_event   first = NULL, last = NULL;
    uint32_t   done = 0;
    qst_status status = take_blocks(runner, go, &h, err);
    if (status == QST_OK)
        status = gather_waits(runner, go, &h, err);
    if (status == QST_OK)
        status = enqueue_steps(runner, go, &h, &first, &last, &done, err);
    give_blocks(runner, go, &h, last, done > 0);
    if (status != QST_OK && go->touched)
        *go->touched = operands_of(runner, done);
    if (status == QST_OK && go->first) {
        *go->first = first;
        first = NULL;
    }
    if (status == QST_OK && go->event) {
        *go->event = last;
        last = NULL;
    }
    if (first)
        (void)clReleaseEvent(first);
    if (last)
        (void)clReleaseEvent(last);
    if (h.waits != h.few)
        qst__free(runner->alloc, h.waits);
    return status;
}

qst_status qst__runner_enqueue(qst__runner *runner, const qst__go *go, qst_error *err)
{
    if (!runner->plain)
        return enqueue_chain(runner, go, err);
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
