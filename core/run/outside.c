/* SPDX-License-Identifier: MIT
 *
 * outside.c: is everything around a result's elements as it was before the run? Where the elements lie without gaps only
 * the guard bands are looked at; else the elements are erased, and then the whole buffer is.
 */
#include "run/trial.h"

#include <string.h>

static bool is_result(const qst__trial *t, uint32_t i)
{
    return t->written[i] && t->mem[i];
}

/* Binds and enqueues what counts operand i's words that are not as they were, apart from its span where `hole`. */
static qst_status count(qst__trial *t, uint32_t i, uint32_t which, bool hole, qst_error *err)
{
    const uint64_t at = QST__FOUND_OUTSIDE + 2 * i, start = t->operand[i].offset / 2;
    const uint64_t numbers[4] = {at, hole ? start : 0, hole ? start + t->span[i] / 2 : 0, 0};
    qst_mem        whole = qst_mem_of(t->mem[i]);
    qst_status     status = QST_OK;

    if (!t->guards[i])
        status = qst__core_bind(&t->guards[i], t->shelf, which, QST_F32, t->bytes[i] / 4, numbers, err);
    return status == QST_OK ? qst__trial_launch(t, t->guards[i], &whole, &t->expected[i], err) : status;
}

/* A result that lies without gaps is all ones, band to band, when it was zero and its elements were erased. */
static qst_status learn(qst__trial *t, uint32_t i, qst_error *err)
{
    const uint64_t whole[4] = {QST__FOUND_OUTSIDE + 2 * i, 0, 0, 0};
    qst_mem        all = qst_mem_of(t->mem[i]);
    qst__runner   *guard = NULL;
    qst_status     status = qst__core_bind(&guard, t->shelf, QST__CORE_GUARD, QST_F32, t->bytes[i] / 4, whole, err);

    if (status == QST_OK)
        status = qst__trial_launch(t, guard, &all, NULL, err);
    qst__runner_destroy(guard);
    return status;
}

qst_status qst__outside_learn(qst__trial *t, qst_error *err)
{
    static const uint8_t  zero = 0;
    static const uint32_t ones = 0xffffffffu;
    uint32_t              i, found[QST__FOUND];
    cl_int                code = CL_SUCCESS;
    qst_status            status = qst__trial_clear(t, err);

    for (i = 0; i < t->n && status == QST_OK; i++) {
        if (!is_result(t, i))
            continue;
        code = clEnqueueFillBuffer(t->queue, t->mem[i], &ones, sizeof ones, 0, (size_t)t->bytes[i], 0, NULL, NULL);
        if (code == CL_SUCCESS)
            code = clEnqueueFillBuffer(t->queue, t->mem[i], &zero, sizeof zero, (size_t)t->operand[i].offset,
                                       (size_t)t->span[i], 0, NULL, NULL);
        if (code != CL_SUCCESS)
            status = qst__fail_cl(err, code, "judge", "clearing a result");
    }
    if (status == QST_OK)
        status = qst__trial_phase(t, QST_JUDGE_ERASE, err);
    for (i = 0; i < t->n && status == QST_OK; i++)
        if (is_result(t, i))
            status = learn(t, i, err);
    if (status == QST_OK)
        status = qst__trial_found(t, found, err);
    for (i = 0; i < t->n && status == QST_OK; i++)
        t->dense[i] = is_result(t, i) && !found[QST__FOUND_OUTSIDE + 2 * i];
    t->learned = status == QST_OK;
    return status;
}

qst_status qst__outside_look(qst__trial *t, qst_error *err)
{
    uint32_t   i;
    qst_status status = QST_OK;

    for (i = 0; i < t->n && status == QST_OK; i++)
        if (is_result(t, i) && t->dense[i])
            status = count(t, i, QST__CORE_GUARD, true, err);
    return status;
}

/* A written operand that is read first: its first content with the elements erased, made once. */
static qst_status make_erased(qst__trial *t, uint32_t i, qst_error *err)
{
    qst_mem    operands[QST_OPERANDS_MAX];
    cl_mem     before[QST_OPERANDS_MAX];
    cl_int     code;
    qst_status status;

    memcpy(operands, t->operand, sizeof operands);
    memcpy(before, t->mem, sizeof before);
    t->expected[i] = clCreateBuffer(t->shelf->site->context, CL_MEM_READ_WRITE, (size_t)t->bytes[i], NULL, &code);
    if (code == CL_SUCCESS)
        code = clEnqueueCopyBuffer(t->queue, t->before[i], t->expected[i], 0, 0, (size_t)t->bytes[i], 0, NULL, NULL);
    operands[i].handle = t->expected[i];
    status = code == CL_SUCCESS ? qst__trial_launch(t, t->phase[QST_JUDGE_ERASE], operands, before, err)
                                : qst__fail_cl(err, code, "judge", "a copy of a result's first content");
    if (status != QST_OK && t->expected[i]) { /* half of it would make right results wrong */
        clReleaseMemObject(t->expected[i]);
        t->expected[i] = NULL;
    }
    return status;
}

qst_status qst__outside_look_between(qst__trial *t, uint32_t found[QST__FOUND], qst_error *err)
{
    uint32_t   i, gaps = 0;
    qst_status status = QST_OK;

    for (i = 0; i < t->n; i++)
        gaps += is_result(t, i) && !t->dense[i];
    if (!gaps)
        return QST_OK;
    status = qst__trial_phase(t, QST_JUDGE_ERASE, err);
    for (i = 0; i < t->n && status == QST_OK; i++) {
        if (!is_result(t, i) || t->dense[i])
            continue;
        if (t->before[i] && !t->expected[i])
            status = make_erased(t, i, err);
        if (status == QST_OK)
            status = count(t, i, t->before[i] ? QST__CORE_DIFFER : QST__CORE_GUARD, false, err);
    }
    return status == QST_OK ? qst__trial_found(t, found, err) : status;
}

qst_status qst__outside_tell(const qst__trial *t, const uint32_t found[QST__FOUND], qst_error *err)
{
    uint32_t i;

    for (i = 0; i < t->n; i++) {
        const uint32_t *at = found + QST__FOUND_OUTSIDE + 2 * i;
        if (at[0])
            return qst__fail(err, QST_E_VERIFY, "judge",
                             "%u words outside %s's elements are overwritten, first at byte %lld from its start", at[0],
                             t->shelf->set->model.op.operands[i].name,
                             (long long)~at[1] * 4 - (long long)t->operand[i].offset);
    }
    return QST_OK;
}
