/* SPDX-License-Identifier: MIT
 *
 * verify.c: is what a candidate computed right? With the operation's judge in O(n²), else against the fallback's
 * result; then that nothing else was touched; then, after every sample, by a digest that is linear in integers.
 */
#include "run/trial.h"

#include <string.h>

static qst_status clear_finding(qst__trial *t, qst_error *err)
{
    const uint32_t zero = 0;
    cl_int code = clEnqueueFillBuffer(t->queue, t->finding, &zero, sizeof zero, 0, QST_FINDING_WORDS * sizeof(uint32_t),
                                      0, NULL, NULL);

    return code == CL_SUCCESS ? QST_OK : qst__fail_cl(err, code, "judge", "clearing the finding");
}

static qst_status read_finding(qst__trial *t, uint32_t finding[QST_FINDING_WORDS], qst_error *err)
{
    cl_int code = clEnqueueReadBuffer(t->queue, t->finding, CL_TRUE, 0, QST_FINDING_WORDS * sizeof(uint32_t), finding,
                                      0, NULL, NULL);

    return code == CL_SUCCESS ? QST_OK : qst__fail_cl(err, code, "judge", "reading the finding");
}

/* Launches a phase; the judge's operands `before` are the results' own buffers where nothing was kept, since a problem
 * that does not read its result has a judge that does not read them either. */
static qst_status launch_phase(qst__trial *t, uint32_t phase, qst_error *err)
{
    cl_mem     before[QST_OPERANDS_MAX];
    uint32_t   i;
    qst_status status = QST_OK;

    for (i = 0; i < QST_OPERANDS_MAX; i++)
        before[i] = t->before[i] ? t->before[i] : t->mem[i];
    if (!t->phase[phase])
        status = qst__way_judge(&t->phase[phase], t->shelf, t->problem, phase, QST__JUDGE_SEED, err);
    return status == QST_OK ? qst__trial_launch(t, t->phase[phase], t->operand, before, err) : status;
}

static qst_status tell(qst__trial *t, uint32_t phase, const uint32_t *finding, qst_error *err)
{
    const qst_judge *judge = t->shelf->set->model.op.judge;
    char             text[200] = "";

    if (judge->tell)
        judge->tell(judge->user, t->problem, phase, finding, text, (uint32_t)sizeof text);
    return qst__fail(err, QST_E_VERIFY, "judge", "%s", text[0] ? text : "wrong result");
}

static qst_status judge_equal(qst__trial *t, qst_error *err)
{
    uint32_t   finding[QST_FINDING_WORDS];
    qst_status status = clear_finding(t, err);

    if (status == QST_OK)
        status = launch_phase(t, QST_JUDGE_EQUAL, err);
    if (status == QST_OK)
        status = read_finding(t, finding, err);
    if (status != QST_OK || !finding[0])
        return status;
    status = launch_phase(t, QST_JUDGE_LOCATE, err);
    if (status == QST_OK)
        status = read_finding(t, finding, err);
    return status == QST_OK ? tell(t, QST_JUDGE_LOCATE, finding, err) : status;
}

/* The fallback's result of the same inputs, made once; nothing of it stays where it fails. */
static qst_status make_expected(qst__trial *t, qst__way *fallback, qst_error *err)
{
    cl_mem     mine[QST_OPERANDS_MAX];
    qst_mem    operands[QST_OPERANDS_MAX];
    uint32_t   i;
    cl_int     code = CL_SUCCESS;
    qst_status status = QST_OK;

    memcpy(mine, t->mem, sizeof mine);
    memcpy(operands, t->operand, sizeof operands);
    for (i = 0; i < t->n && status == QST_OK; i++) {
        if (!t->written[i] || !t->mem[i])
            continue;
        t->expected[i] = clCreateBuffer(t->shelf->site->context, CL_MEM_READ_WRITE, (size_t)t->bytes[i], NULL, &code);
        if (code != CL_SUCCESS) {
            t->expected[i] = NULL;
            status = qst__fail_cl(err, code, "judge", "a buffer for the expected result");
            break;
        }
        t->mem[i] = t->expected[i];
        operands[i].handle = t->expected[i];
    }
    if (status == QST_OK)
        status = qst__trial_reset(t, err);
    if (status == QST_OK)
        status = qst__way_enqueue(fallback, t->shelf->site,
                                  &(qst__go){.queue = t->queue, .in_order = true, .operands = operands}, err);
    memcpy(t->mem, mine, sizeof mine);
    for (i = 0; i < t->n && status != QST_OK; i++) {
        if (t->expected[i])
            clReleaseMemObject(t->expected[i]);
        t->expected[i] = NULL;
    }
    return status;
}

static qst_status compare_expected(qst__trial *t, qst__way *fallback, qst_error *err)
{
    uint32_t   i, finding[QST_FINDING_WORDS];
    bool       made = false;
    qst_status status = QST_OK;

    for (i = 0; i < t->n; i++)
        made = made || t->expected[i];
    if (!made && !fallback)
        return QST_OK;
    if (!made)
        status = make_expected(t, fallback, err);
    for (i = 0; i < t->n && status == QST_OK; i++) {
        qst__runner *differ = NULL;
        qst_mem      whole;
        if (!t->expected[i])
            continue;
        whole = qst_mem_of(t->mem[i]);
        status = clear_finding(t, err);
        if (status == QST_OK)
            status = qst__core_bind(&differ, t->shelf, QST__CORE_DIFFER, QST_F32, t->bytes[i] / 4, NULL, err);
        if (status == QST_OK)
            status = qst__trial_launch(t, differ, &whole, &t->expected[i], err);
        if (status == QST_OK)
            status = read_finding(t, finding, err);
        qst__runner_destroy(differ);
        if (status == QST_OK && finding[0])
            status =
                qst__fail(err, QST_E_VERIFY, "judge", "%s differs from the fallback's in %u words, first at byte %lld",
                          t->shelf->set->model.op.operands[i].name, finding[0],
                          (long long)~finding[1] * 4 - (long long)t->operand[i].offset);
    }
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

/* How many words of operand i differ from what they must be once its elements are erased? */
static qst_status count_outside(qst__trial *t, uint32_t i, uint32_t finding[QST_FINDING_WORDS], qst_error *err)
{
    qst_mem    whole = qst_mem_of(t->mem[i]);
    uint32_t   which = t->before[i] ? QST__CORE_DIFFER : QST__CORE_GUARD;
    qst_status status = QST_OK;

    if (t->before[i] && !t->expected[i])
        status = make_erased(t, i, err);
    if (status == QST_OK && !t->guards[i])
        status = qst__core_bind(&t->guards[i], t->shelf, which, QST_F32, t->bytes[i] / 4, NULL, err);
    if (status == QST_OK)
        status = clear_finding(t, err);
    if (status == QST_OK)
        status = qst__trial_launch(t, t->guards[i], &whole, &t->expected[i], err);
    return status == QST_OK ? read_finding(t, finding, err) : status;
}

/* Erases the result's elements: what is left must be as it was before the run. */
static qst_status check_guards(qst__trial *t, qst_error *err)
{
    uint32_t   i, finding[QST_FINDING_WORDS];
    qst_status status = launch_phase(t, QST_JUDGE_ERASE, err);

    for (i = 0; i < t->n && status == QST_OK; i++) {
        if (!t->written[i] || !t->mem[i])
            continue;
        status = count_outside(t, i, finding, err);
        if (status == QST_OK && finding[0])
            status = qst__fail(err, QST_E_VERIFY, "judge",
                               "%u words outside %s's elements are overwritten, first at byte %lld from its start",
                               finding[0], t->shelf->set->model.op.operands[i].name,
                               (long long)~finding[1] * 4 - (long long)t->operand[i].offset);
    }
    return status;
}

static qst_status sum_digest(qst__trial *t, uint32_t *digest, qst_error *err)
{
    uint32_t   i, finding[QST_FINDING_WORDS];
    qst_status status = clear_finding(t, err);

    for (i = 0; i < t->n && status == QST_OK; i++) {
        uint32_t type, numbers[4] = {QST__JUDGE_SEED + i, 0, 0, 0};
        if (!t->written[i] || !t->mem[i])
            continue;
        memcpy(&type, t->problem + t->shelf->set->model.op.operands[i].type_offset, sizeof type);
        if (!t->digesters[i])
            status = qst__core_bind(&t->digesters[i], t->shelf, QST__CORE_DIGEST, type,
                                    t->span[i] / qst_type_bytes(type), numbers, err);
        if (status == QST_OK)
            status = qst__trial_launch(t, t->digesters[i], &t->operand[i], NULL, err);
    }
    if (status == QST_OK)
        status = read_finding(t, finding, err);
    *digest = status == QST_OK ? finding[0] : 0;
    return status;
}

/* The digest that r runs since a reset must give; known from the first verified result on. */
static uint32_t expected_digest(const qst__trial *t, uint32_t repeats)
{
    uint32_t one = t->digest - t->digest_before;

    switch (t->repeat) {
    case QST_REPEAT_ADDS:
        return t->digest_before + repeats * one;
    case QST_REPEAT_ALTERNATES:
        return repeats % 2 ? t->digest : t->digest_before;
    default:
        return t->digest;
    }
}

static qst_status compare_digest(const qst__trial *t, uint32_t digest, uint32_t repeats, qst_error *err)
{
    if (digest == expected_digest(t, repeats))
        return QST_OK;
    return qst__fail(err, QST_E_VERIFY, "judge", "after %u runs the result's digest is %08x, not %08x", repeats, digest,
                     expected_digest(t, repeats));
}

qst_status qst__trial_digest(qst__trial *t, uint32_t repeats, qst_error *err)
{
    uint32_t   digest;
    qst_status status = sum_digest(t, &digest, err);

    return status == QST_OK && t->known ? compare_digest(t, digest, repeats, err) : status;
}

qst_status qst__trial_sum(qst__trial *t, uint32_t *digest, qst_error *err)
{
    return sum_digest(t, digest, err);
}

qst_status qst__trial_adopt(qst__trial *t, qst_error *err)
{
    uint32_t i;
    cl_int   code = CL_SUCCESS;

    t->known = false;
    for (i = 0; i < t->n && code == CL_SUCCESS; i++) {
        if (!t->written[i] || !t->mem[i])
            continue;
        if (!t->expected[i])
            t->expected[i] =
                clCreateBuffer(t->shelf->site->context, CL_MEM_READ_WRITE, (size_t)t->bytes[i], NULL, &code);
        if (code == CL_SUCCESS)
            code = clEnqueueCopyBuffer(t->queue, t->mem[i], t->expected[i], 0, 0, (size_t)t->bytes[i], 0, NULL, NULL);
    }
    return code == CL_SUCCESS ? QST_OK : qst__fail_cl(err, code, "judge", "a copy of a result");
}

qst_status qst__trial_judge(qst__trial *t, qst__way *fallback, qst_error *err)
{
    bool       judged = t->shelf->set->model.op.judge != NULL;
    uint32_t   digest = 0;
    qst_status status = judged ? judge_equal(t, err) : compare_expected(t, fallback, err);

    if (status == QST_OK)
        status = sum_digest(t, &digest, err);
    if (status == QST_OK && judged)
        status = check_guards(t, err);
    if (status != QST_OK)
        return status;
    if (t->known)
        return compare_digest(t, digest, 1, err);
    t->digest = digest;
    if (t->repeat != QST_REPEAT_SAME) {
        status = qst__trial_reset(t, err);
        if (status == QST_OK)
            status = sum_digest(t, &t->digest_before, err);
    }
    t->known = status == QST_OK;
    return status;
}

qst_status qst__trial_bound(qst__trial *t, qst_error *err)
{
    uint32_t   finding[QST_FINDING_WORDS];
    qst_status status;

    if (!t->shelf->set->model.op.judge)
        return QST_OK;
    status = clear_finding(t, err);
    if (status == QST_OK)
        status = launch_phase(t, QST_JUDGE_BOUND, err);
    if (status == QST_OK)
        status = read_finding(t, finding, err);
    return status == QST_OK && finding[0] ? tell(t, QST_JUDGE_BOUND, finding, err) : status;
}

qst_status qst__trial_rehearse(qst__trial *t, qst_error *err)
{
    uint32_t   i, ignored, finding[QST_FINDING_WORDS];
    bool       judged = t->shelf->set->model.op.judge != NULL;
    qst_status status = QST_OK;

    if (t->real)
        return judged ? launch_phase(t, QST_JUDGE_BOUND, err) : QST_OK;
    if (judged)
        status = launch_phase(t, QST_JUDGE_EQUAL, err);
    if (status == QST_OK)
        status = sum_digest(t, &ignored, err);
    if (status == QST_OK && judged)
        status = launch_phase(t, QST_JUDGE_ERASE, err);
    for (i = 0; i < t->n && status == QST_OK && judged; i++)
        if (t->written[i] && t->mem[i])
            status = count_outside(t, i, finding, err);
    return status;
}
