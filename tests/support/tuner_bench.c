/* SPDX-License-Identifier: MIT
 *
 * tuner_bench.c: how a scripted tuning is set up, run once more, looked at and taken down. */
#include "support/tuner_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

void start(bench *b, toy_spec *specs, const rig_script *scripts, uint32_t n)
{
    memset(b, 0, sizeof *b);
    b->alloc = qst__alloc_default();
    assert_true(toy_set(&b->set, &b->alloc, specs, n));
    scripted_rig_init(&b->rig, &b->set, scripts);
    scripted_task_init(&b->task, &b->rig);
    assert_int_equal(qst__verdict_init(&b->verdict, &b->alloc, &b->set), QST_OK);
}

void finish(bench *b)
{
    assert_false(b->rig.opened);
    assert_false(b->rig.misused);
    assert_int_equal(b->rig.leased, 0);
    qst__verdict_finish(&b->verdict);
    qst__set_finish(&b->set);
}

qst_status tune(bench *b)
{
    b->rig.log[0] = b->rig.commits[0] = '\0';
    memset(&b->err, 0, sizeof b->err);
    return qst__tune(&b->task.task, &b->verdict, &b->err);
}

const char *outcome(const bench *b, uint32_t candidate)
{
    return qst__outcome_name(b->verdict.findings[candidate].outcome);
}

const char *why(const bench *b, uint32_t candidate)
{
    return b->verdict.findings[candidate].why ? b->verdict.findings[candidate].why : "";
}

const char *winner(const bench *b)
{
    return b->verdict.n_order ? b->set.candidates[b->verdict.order[0]].desc.variant : "";
}

uint32_t samples(const bench *b, uint32_t candidate)
{
    return b->verdict.findings[candidate].samples.count;
}
