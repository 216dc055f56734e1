/* SPDX-License-Identifier: MIT
 *
 * trial.c: operands of our own for one problem: made, filled, reset, run on. Judging is verify.c's.
 */
#include "run/trial.h"

#include "cl/timing.h"

#include <string.h>

/* What surrounds results, and fills them before a run: all ones, a NaN of every float type. Around inputs stands another
 * NaN of every type (twice 0x7ff5: NaN as f16 and bf16, as f32, and as the upper word of an f64), so that what is
 * computed from beyond an input is not what already stands beyond a result. */
#define FOUR(x)                                                                                                        \
    {                                                                                                                  \
        x, x, x, x                                                                                                     \
    }
static const uint32_t ones[4] = FOUR(0xffffffffu), beyond_inputs[4] = FOUR(0x7ff57ff5u);

/* PoCL writes a pattern at a time: 1 MB took 96 us by 4 bytes, 27 us by 16. */
static cl_int fill(qst__trial *t, uint32_t i, const uint32_t *pattern)
{
    size_t at_once = t->shelf->site->facts.device.type == QST_DEVICE_CPU ? 16 : 4;

    return clEnqueueFillBuffer(t->queue, t->mem[i], pattern, at_once, 0, (size_t)t->bytes[i], 0, NULL, NULL);
}

static qst_status fail_cl(qst_error *err, cl_int code, const char *what)
{
    return qst__fail_cl(err, code, "rig", "%s", what);
}

/* Where the span starts in its buffer: after the guard band, at just the promised alignment. */
static uint64_t start_of(uint32_t align)
{
    return QST__GUARD + (align < QST__ALIGN_MAX ? UINT64_C(1) << align : 0);
}

static qst_status make_operand(qst__trial *t, uint32_t i, uint32_t align, qst_error *err)
{
    const char *name = t->shelf->set->model.op.operands[i].name;
    cl_int      code;
    uint64_t    start = start_of(align);

    if (t->span[i] > t->shelf->site->facts.device.max_alloc) /* and the sum below does not overflow */
        return qst__fail(err, QST_E_NOMEM, "rig", "%s: %llu bytes are over the device's largest buffer of %llu", name,
                         (unsigned long long)t->span[i], (unsigned long long)t->shelf->site->facts.device.max_alloc);
    t->bytes[i] = (start + t->span[i] + QST__GUARD + 15) & ~UINT64_C(15);
    if (t->bytes[i] > t->shelf->site->facts.device.max_alloc)
        return qst__fail(err, QST_E_NOMEM, "rig", "%s: %llu bytes are over the device's largest buffer of %llu", name,
                         (unsigned long long)t->bytes[i], (unsigned long long)t->shelf->site->facts.device.max_alloc);
    t->mem[i] = clCreateBuffer(t->shelf->site->context, CL_MEM_READ_WRITE, (size_t)t->bytes[i], NULL, &code);
    if (code != CL_SUCCESS)
        return fail_cl(err, code, "a buffer for an operand");
    t->operand[i] = qst_mem_at(t->mem[i], start);
    code = fill(t, i, t->written[i] ? ones : beyond_inputs);
    return code == CL_SUCCESS ? QST_OK : fail_cl(err, code, "filling an operand with NaN");
}

qst_status qst__trial_launch(qst__trial *t, qst__runner *runner, const qst_mem *operands, const cl_mem *before,
                             qst_error *err)
{
    qst__go    go;
    qst_status status;

    memset(&go, 0, sizeof go);
    go.queue = t->queue;
    go.in_order = true;
    go.operands = operands;
    go.before = before;
    go.finding = t->finding;
    status = qst__runner_enqueue(runner, &go, err);
    if (status == QST_OK)
        atomic_fetch_add(&t->shelf->site->ctx->n_verify, qst__runner_launches(runner));
    return status;
}

static qst_status fill_operand(qst__trial *t, uint32_t i, uint32_t type, qst_error *err)
{
    const qst_op *op = &t->shelf->set->model.op;
    qst__runner  *fill = NULL;
    qst_fill      how = {1, 0, t->real ? 1u : 0u, 0};
    uint64_t      numbers[4];
    qst_status    status;

    if (op->fill)
        op->fill(op->user, t->problem, i, t->real, &how);
    numbers[0] = QST__JUDGE_SEED + i * 0x01000193u + (t->real ? 77u : 0u);
    numbers[1] = how.range;
    numbers[2] = how.sparse;
    numbers[3] = how.real;
    status = qst__core_bind(&fill, t->shelf, QST__CORE_FILL, type, t->span[i] / qst_type_bytes(type), numbers, err);
    if (status == QST_OK)
        status = qst__trial_launch(t, fill, &t->operand[i], NULL, err);
    qst__runner_destroy(fill);
    return status;
}

/* Keeps the first content of a written operand that the problem reads. */
static qst_status keep_before(qst__trial *t, uint32_t i, qst_error *err)
{
    cl_int code;

    t->before[i] = clCreateBuffer(t->shelf->site->context, CL_MEM_READ_WRITE, (size_t)t->bytes[i], NULL, &code);
    if (code == CL_SUCCESS)
        code = clEnqueueCopyBuffer(t->queue, t->mem[i], t->before[i], 0, 0, (size_t)t->bytes[i], 0, NULL, NULL);
    return code == CL_SUCCESS ? QST_OK : fail_cl(err, code, "a copy of an operand");
}

/* Does a run read what the operand held? An operation with a judge says so by its repeats: such a run changes the
 * result. Without a judge one that may read it is taken to do so: compared with the fallback's on NaN, much that is
 * wrong would look right. */
static bool reads_result(const qst__trial *t, uint32_t i)
{
    const qst_op *op = &t->shelf->set->model.op;

    return op->operands[i].access == QST_ACCESS_READ_WRITE && (t->repeat != QST_REPEAT_SAME || !op->judge);
}

static qst_status make_operands(qst__trial *t, qst_error *err)
{
    const qst_op *op = &t->shelf->set->model.op;
    uint32_t      i, align, bytes[QST_OPERANDS_MAX];
    qst_status    status = QST_OK;

    qst__type_sizes(op, t->problem, bytes);
    for (i = 0; i < op->n_operands && status == QST_OK; i++) {
        uint32_t type;
        memcpy(&type, t->problem + op->operands[i].type_offset, sizeof type);
        t->written[i] = (op->operands[i].access & QST_ACCESS_WRITE) != 0;
        t->span[i] = op->span(op->user, t->problem, i);
        if (!t->span[i])
            continue;
        align = 0;
        if (op->operands[i].align_offset)
            memcpy(&align, t->problem + op->operands[i].align_offset, sizeof align);
        while ((1u << align) < bytes[i])
            align++;
        status = make_operand(t, i, align, err);
        if (status == QST_OK && (!t->written[i] || reads_result(t, i)))
            status = fill_operand(t, i, type, err);
        if (status == QST_OK && t->written[i] && reads_result(t, i))
            status = keep_before(t, i, err);
    }
    return status;
}

static qst_status spread(qst__trial *t, qst_error *err)
{
    qst_status status;

    if (!t->real || !t->shelf->set->model.op.judge)
        return QST_OK;
    status = qst__way_judge(&t->phase[QST_JUDGE_SCALE], t->shelf, t->problem, QST_JUDGE_SCALE, QST__JUDGE_SEED, err);
    if (status == QST_E_UNSUPPORTED) {
        if (err)
            qst__error_clear(err); /* inputs stay as they are */
        return QST_OK;
    }
    return status == QST_OK ? qst__trial_launch(t, t->phase[QST_JUDGE_SCALE], t->operand, t->before, err) : status;
}

qst_status qst__trial_init(qst__trial *t, qst__shelf *shelf, const void *problem, bool real, cl_command_queue queue,
                           qst_error *err)
{
    const qst_op *op = &shelf->set->model.op;
    cl_int        code;
    qst_status    status = QST_OK;

    memset(t, 0, sizeof *t);
    t->shelf = shelf;
    t->queue = queue;
    t->real = real;
    t->n = op->n_operands;
    memcpy(t->problem, problem, op->problem_size);
    t->repeat = op->repeat ? op->repeat(op->user, t->problem) : QST_REPEAT_SAME;
    qst__key_of(shelf, t->problem, &t->key);
    t->finding = clCreateBuffer(shelf->site->context, CL_MEM_READ_WRITE, QST__FOUND * sizeof(uint32_t), NULL, &code);
    if (code != CL_SUCCESS)
        status = fail_cl(err, code, "a buffer for findings");
    if (status == QST_OK)
        status = make_operands(t, err);
    if (status == QST_OK)
        status = spread(t, err);
    t->ready = status == QST_OK;
    return status;
}

void qst__trial_finish(qst__trial *t)
{
    uint32_t i;

    if (!t->shelf)
        return;
    for (i = 0; i <= QST_JUDGE_BOUND; i++)
        qst__runner_destroy(t->phase[i]);
    for (i = 0; i < QST_OPERANDS_MAX; i++) {
        cl_mem   all[3] = {t->mem[i], t->before[i], t->expected[i]};
        uint32_t j;
        qst__runner_destroy(t->digesters[i]);
        qst__runner_destroy(t->guards[i]);
        for (j = 0; j < 3; j++)
            if (all[j])
                clReleaseMemObject(all[j]);
    }
    if (t->finding)
        clReleaseMemObject(t->finding);
    memset(t, 0, sizeof *t);
}

qst_status qst__trial_reset(qst__trial *t, qst_error *err)
{
    uint32_t i;
    cl_int   code = CL_SUCCESS;

    for (i = 0; i < t->n && code == CL_SUCCESS; i++) {
        if (!t->written[i] || !t->mem[i])
            continue;
        code = t->before[i]
                   ? clEnqueueCopyBuffer(t->queue, t->before[i], t->mem[i], 0, 0, (size_t)t->bytes[i], 0, NULL, NULL)
                   : fill(t, i, ones);
    }
    return code == CL_SUCCESS ? QST_OK : fail_cl(err, code, "resetting a result");
}

qst_status qst__trial_enqueue(qst__trial *t, qst__way *way, qst__stretch *stretch, qst_error *err)
{
    bool events = way->runner && t->shelf->site->bench_profiling;

    stretch->first = stretch->last = NULL;
    return qst__way_enqueue(way, t->shelf->site,
                            &(qst__go){.queue = t->queue,
                                       .in_order = true,
                                       .operands = t->operand,
                                       .event = events ? &stretch->last : NULL,
                                       .first = events ? &stretch->first : NULL},
                            err);
}

uint64_t qst__trial_took(qst__stretch *stretch)
{
    uint64_t  ns = 0;
    qst_error ignored;

    memset(&ignored, 0, sizeof ignored);
    if (stretch->first && stretch->last && qst__timing_span(stretch->first, stretch->last, &ns, &ignored) != QST_OK)
        ns = 0;
    if (stretch->first)
        clReleaseEvent(stretch->first);
    if (stretch->last)
        clReleaseEvent(stretch->last);
    stretch->first = stretch->last = NULL;
    return ns;
}

qst_status qst__trial_run(qst__trial *t, qst__way *way, uint64_t *host_ns, uint64_t *device_ns, qst_error *err)
{
    qst_context *ctx = t->shelf->site->ctx;
    qst__stretch stretch;
    uint64_t     start;
    cl_int       code = clFinish(t->queue);
    qst_status   status;

    *host_ns = *device_ns = 0;
    if (code != CL_SUCCESS)
        return fail_cl(err, code, "clFinish before a run");
    start = qst__now(&ctx->clock);
    status = qst__trial_enqueue(t, way, &stretch, err);
    if (status != QST_OK)
        return status;
    code = clFinish(t->queue);
    *host_ns = qst__now(&ctx->clock) - start;
    if (code != CL_SUCCESS)
        status = qst__fail_cl(err, code, "rig", "%s: clFinish after a run", way->name);
    *device_ns = qst__trial_took(&stretch);
    start = *device_ns ? *device_ns : *host_ns;
    t->shelf->site->run_ns = start > t->shelf->site->run_ns ? start : t->shelf->site->run_ns;
    return status;
}
