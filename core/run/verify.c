/* SPDX-License-Identifier: MIT
 *
 * verify.c: is what a candidate computed right? With the operation's judge in O(n²), else against the fallback's
 * result; that nothing else was touched is outside.c's; then, after every sample, by a digest that is linear in integers.
 */
#include "run/trial.h"

#include <string.h>

qst_status qst__trial_clear(qst__trial *t, qst_error *err)
{
    const uint32_t zero = 0;
    cl_int         code =
        clEnqueueFillBuffer(t->queue, t->finding, &zero, sizeof zero, 0, QST__FOUND * sizeof(uint32_t), 0, NULL, NULL);

    return code == CL_SUCCESS ? QST_OK : qst__fail_cl(err, code, "judge", "clearing the finding");
}

qst_status qst__trial_found(qst__trial *t, uint32_t found[QST__FOUND], qst_error *err)
{
    cl_int code =
        clEnqueueReadBuffer(t->queue, t->finding, CL_TRUE, 0, QST__FOUND * sizeof(uint32_t), found, 0, NULL, NULL);

    return code == CL_SUCCESS ? QST_OK : qst__fail_cl(err, code, "judge", "reading the finding");
}

/* Launches a phase; the judge's operands `before` are the results' own buffers where nothing was kept, since a problem
 * that does not read its result has a judge that does not read them either. */
qst_status qst__trial_phase(qst__trial *t, uint32_t phase, qst_error *err)
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

/* What EQUAL found wrong, by name. It is wrong, whether LOCATE can be built and run or not. */
static qst_status locate(qst__trial *t, const uint32_t *equal, qst_error *err)
{
    uint32_t   found[QST__FOUND];
    qst_error  why, line;
    qst_status status;

    memset(&why, 0, sizeof why);
    status = qst__trial_phase(t, QST_JUDGE_LOCATE, &why);
    if (status == QST_OK)
        status = qst__trial_found(t, found, &why);
    if (status == QST_OK)
        return tell(t, QST_JUDGE_LOCATE, found, err);
    memset(&line, 0, sizeof line);
    (void)tell(t, QST_JUDGE_EQUAL, equal, &line);
    return qst__fail(err, QST_E_VERIFY, "judge", "%s; which element is not known: %.*s", line.text,
                     (int)strcspn(why.text, "\n"), why.text);
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
    const uint64_t at[4] = {0};
    uint32_t       i, found[QST__FOUND];
    bool           made = false;
    qst_status     status = QST_OK;

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
        status = qst__trial_clear(t, err);
        if (status == QST_OK)
            status = qst__core_bind(&differ, t->shelf, QST__CORE_DIFFER, QST_F32, t->bytes[i] / 4, at, err);
        if (status == QST_OK)
            status = qst__trial_launch(t, differ, &whole, &t->expected[i], err);
        if (status == QST_OK)
            status = qst__trial_found(t, found, err);
        qst__runner_destroy(differ);
        if (status == QST_OK && found[0])
            status =
                qst__fail(err, QST_E_VERIFY, "judge", "%s differs from the fallback's in %u words, first at byte %lld",
                          t->shelf->set->model.op.operands[i].name, found[0],
                          (long long)~found[1] * 4 - (long long)t->operand[i].offset);
    }
    return status;
}

/* Enqueues what sums the results' digest, of all of them in one word. */
static qst_status add_digests(qst__trial *t, qst_error *err)
{
    uint32_t   i;
    qst_status status = QST_OK;

    for (i = 0; i < t->n && status == QST_OK; i++) {
        const uint64_t numbers[4] = {QST__JUDGE_SEED + i, QST__FOUND_DIGEST, 0, 0};
        uint32_t       type;
        if (!t->written[i] || !t->mem[i])
            continue;
        memcpy(&type, t->problem + t->shelf->set->model.op.operands[i].type_offset, sizeof type);
        if (!t->digesters[i])
            status = qst__core_bind(&t->digesters[i], t->shelf, QST__CORE_DIGEST, type,
                                    t->span[i] / qst_type_bytes(type), numbers, err);
        if (status == QST_OK)
            status = qst__trial_launch(t, t->digesters[i], &t->operand[i], NULL, err);
    }
    return status;
}

static qst_status sum_digest(qst__trial *t, uint32_t *digest, qst_error *err)
{
    uint32_t   found[QST__FOUND];
    qst_status status = qst__trial_clear(t, err);

    if (status == QST_OK)
        status = add_digests(t, err);
    if (status == QST_OK)
        status = qst__trial_found(t, found, err);
    *digest = status == QST_OK ? found[QST__FOUND_DIGEST] : 0;
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

/* Enqueues all that looks at a result, and waits once. */
static qst_status look(qst__trial *t, uint32_t found[QST__FOUND], qst_error *err)
{
    qst_status status = qst__trial_clear(t, err);

    if (status == QST_OK)
        status = qst__trial_phase(t, QST_JUDGE_EQUAL, err);
    if (status == QST_OK)
        status = add_digests(t, err);
    if (status == QST_OK)
        status = qst__outside_look(t, err);
    return status == QST_OK ? qst__trial_found(t, found, err) : status;
}

static qst_status judge(qst__trial *t, uint32_t *digest, qst_error *err)
{
    uint32_t   found[QST__FOUND];
    qst_status status = look(t, found, err);

    if (status == QST_OK && found[0])
        status = locate(t, found, err);
    if (status == QST_OK) {
        *digest = found[QST__FOUND_DIGEST];
        status = qst__outside_look_between(t, found, err);
    }
    return status == QST_OK ? qst__outside_tell(t, found, err) : status;
}

qst_status qst__trial_judge(qst__trial *t, qst__way *fallback, qst_error *err)
{
    uint32_t   digest = 0;
    qst_status status;

    if (t->shelf->set->model.op.judge) {
        status = judge(t, &digest, err);
    } else {
        status = compare_expected(t, fallback, err);
        if (status == QST_OK)
            status = sum_digest(t, &digest, err);
    }
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

/* After runs that should have given the same each time, the judge can name the first wrong element. */
static qst_status name_wrong(qst__trial *t, uint32_t repeats, qst_error *err)
{
    uint32_t   found[QST__FOUND];
    qst_error  why;
    qst_status status;

    memset(&why, 0, sizeof why);
    status = look(t, found, &why);
    if (status == QST_OK && found[0])
        status = locate(t, found, &why);
    return status == QST_E_VERIFY ? qst__fail(err, status, "judge", "after %u runs %s", repeats, why.text) : QST_OK;
}

qst_status qst__trial_digest(qst__trial *t, uint32_t repeats, qst_error *err)
{
    uint32_t   digest;
    qst_status status = sum_digest(t, &digest, err);

    if (status != QST_OK || !t->known || digest == expected_digest(t, repeats))
        return status;
    if (t->repeat == QST_REPEAT_SAME && t->shelf->set->model.op.judge)
        status = name_wrong(t, repeats, err);
    return status == QST_OK ? compare_digest(t, digest, repeats, err) : status;
}

qst_status qst__trial_bound(qst__trial *t, qst_error *err)
{
    uint32_t   found[QST__FOUND];
    qst_status status;

    if (!t->shelf->set->model.op.judge)
        return QST_OK;
    status = qst__trial_clear(t, err);
    if (status == QST_OK)
        status = qst__trial_phase(t, QST_JUDGE_BOUND, err);
    if (status == QST_OK)
        status = qst__trial_found(t, found, err);
    return status == QST_OK && found[0] ? tell(t, QST_JUDGE_BOUND, found, err) : status;
}

qst_status qst__trial_rehearse(qst__trial *t, qst_error *err)
{
    uint32_t   found[QST__FOUND];
    bool       judged = t->shelf->set->model.op.judge != NULL;
    qst_status status = QST_OK;

    if (t->real)
        return judged ? qst__trial_phase(t, QST_JUDGE_BOUND, err) : QST_OK;
    if (!judged)
        return sum_digest(t, found, err);
    if (!t->learned)
        status = qst__outside_learn(t, err);
    if (status == QST_OK)
        status = look(t, found, err);
    return status == QST_OK ? qst__outside_look_between(t, found, err) : status;
}
