/* SPDX-License-Identifier: MIT
 *
 * chain.c: executions of several steps, with workspaces, or with calls of other operations: who waits for whom, and what
 * is still in use when a step fails. */
#include "cl/launch-state.h"

#include <string.h>

#define WAITS_ON_STACK 16u /* events in one wait list without an allocation */

/* ---- One step --------------------------------------------------------------------------------------------------- */

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
    return qst__runner_step(runner, step, go, blocks, n_wait, wait_list, event, err);
}

/* ---- All of them ------------------------------------------------------------------------------------------------ */

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

qst_status qst__runner_chain(qst__runner *runner, const qst__go *go, qst_error *err)
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
