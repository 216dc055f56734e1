/* SPDX-License-Identifier: MIT
 *
 * sets.c: operations of a context: made, found, added to, frozen; and their problems as text and keys.
 */
#include "model/anchor.h"
#include "model/field.h"
#include "run/slips.h"

#include <string.h>

qst_status qst__set_create(qst_context *ctx, const qst_op *op, qst_set **out, qst_error *err)
{
    qst_set   *set = NULL;
    qst_status status;
    uint32_t   n;

    if (!op)
        return qst__fail(err, QST_E_INVALID, "op", "op is NULL");
    qst__lock_take(&ctx->lock);
    n = atomic_load(&ctx->n_sets);
    set = qst__zalloc(&ctx->alloc, sizeof *set);
    if (!set) {
        status = qst__fail(err, QST_E_NOMEM, "op", "no memory for a set");
        goto out;
    }
    qst__lock_init(&set->lock);
    set->ctx = ctx;
    set->index = n;
    status = qst__set_init(&set->model, &ctx->alloc, op, err);
    if (status != QST_OK)
        goto out;
    if (qst__set_named(ctx, set->model.op.name))
        status = qst__fail(err, QST_E_STATE, "op", "%s is there already", set->model.op.name);
    else if (n == QST__SETS_MAX)
        status = qst__fail(err, QST_E_STATE, "op", "%s: a context holds %u operations at most", set->model.op.name,
                           QST__SETS_MAX);
    else if (set->model.op.problem_size > QST__PROBLEM_BYTES)
        status = qst__fail(err, QST_E_INVALID, "op", "%s: problem_size is %u, over %u", set->model.op.name,
                           set->model.op.problem_size, QST__PROBLEM_BYTES);
    if (status != QST_OK)
        goto out;
    ctx->sets[n] = set;
    ctx->set_op[n] = set->model.op_given;
    atomic_store(&ctx->n_sets, n + 1);
    *out = set;
    set = NULL;
out:
    qst__lock_give(&ctx->lock);
    qst__set_destroy(set);
    return status;
}

void qst__set_destroy(qst_set *set)
{
    if (!set)
        return;
    qst__set_finish(&set->model);
    qst__lock_finish(&set->lock);
    qst__free(&set->ctx->alloc, set);
}

qst_set *qst__set_named(qst_context *ctx, const char *name)
{
    uint32_t i, n = atomic_load(&ctx->n_sets);

    for (i = 0; i < n; i++)
        if (!strcmp(ctx->sets[i]->model.op.name, name))
            return ctx->sets[i];
    return NULL;
}

void qst__set_use(qst_set *set)
{
    if (atomic_load_explicit(&set->frozen, memory_order_acquire))
        return;
    qst__lock_take(&set->lock);
    if (!atomic_load(&set->frozen)) {
        qst__set_freeze(&set->model, set->ctx->settings);
        qst__slips_set(set);
        atomic_store(&set->frozen, true);
    }
    qst__lock_give(&set->lock);
    qst__slips_rest(set->ctx);
}

qst_status qst_op_create(qst_set **set, qst_context *ctx, const qst_op *op, qst_error *err)
{
    if (!set || !ctx)
        return qst__fail(err, QST_E_INVALID, "op", "%s is NULL", set ? "context" : "set");
    return qst__set_create(ctx, op, set, err);
}

qst_status qst_set_find(qst_set **set, qst_context *ctx, const char *name, qst_error *err)
{
    if (!set || !ctx || !name)
        return qst__fail(err, QST_E_INVALID, "op", "%s is NULL", !set ? "set" : !ctx ? "context" : "name");
    *set = qst__set_named(ctx, name);
    return *set ? QST_OK : qst__fail(err, QST_E_NOTFOUND, "op", "no operation is called %s", name);
}

qst_set *qst_set_of(qst_context *ctx, const qst_op *op)
{
    uint32_t i, n;

    if (!ctx)
        return NULL;
    n = atomic_load_explicit(&ctx->n_sets, memory_order_acquire);
    for (i = 0; i < n; i++)
        if (ctx->set_op[i] == op)
            return ctx->sets[i];
    return NULL;
}

qst_status qst_set_add_group(qst_set *set, const qst_group *group, qst_error *err)
{
    qst_status status;

    if (!set || !group)
        return qst__fail(err, QST_E_INVALID, "op", "%s is NULL", set ? "group" : "set");
    qst__lock_take(&set->lock);
    status = qst__set_group(&set->model, group, err);
    qst__lock_give(&set->lock);
    return status;
}

qst_status qst_set_add_candidate(qst_set *set, const qst_candidate *candidate, qst_error *err)
{
    qst_status status;

    if (!set || !candidate)
        return qst__fail(err, QST_E_INVALID, "op", "%s is NULL", set ? "candidate" : "set");
    qst__lock_take(&set->lock);
    status = qst__set_add(&set->model, candidate, "app", UINT32_MAX, err);
    qst__lock_give(&set->lock);
    return status;
}

const qst_op *qst_set_op(const qst_set *set)
{
    return set ? &set->model.op : NULL;
}

qst_status qst_problem_parse(qst_set *set, const char *text, void *problem, qst_error *err)
{
    if (!set || !text || !problem)
        return qst__fail(err, QST_E_INVALID, "op", "%s is NULL", !set ? "set" : !text ? "text" : "problem");
    return qst__problem_parse(&set->model.op, text, problem, err);
}

qst_status qst_problem_print(qst_set *set, const void *problem, qst_sink sink, void *user, qst_error *err)
{
    char       copy[QST__PROBLEM_BYTES];
    qst__str   text;
    qst_status status;

    if (!set || !problem || !sink)
        return qst__fail(err, QST_E_INVALID, "op", "%s is NULL", !set ? "set" : !problem ? "problem" : "sink");
    status = qst__problem_copy(&set->model.op, problem, copy, err);
    if (status != QST_OK)
        return status;
    qst__str_init(&text, &set->ctx->alloc);
    qst__problem_print(&set->model.op, copy, &text);
    if (text.failed)
        status = qst__fail(err, QST_E_NOMEM, set->model.op.name, "no memory for a problem's text");
    else
        sink(user, text.text, text.length);
    qst__str_finish(&text);
    return status;
}

qst_status qst_problem_key(qst_set *set, const void *problem, int64_t *values, uint32_t *count, qst_error *err)
{
    char          copy[QST__PROBLEM_BYTES];
    const qst_op *op;
    qst_anchor    anchor;
    uint32_t      i, perm[QST_OPERANDS_MAX];
    qst_status    status;

    if (!set || !problem || !values || !count)
        return qst__fail(err, QST_E_INVALID, "op", "%s is NULL",
                         !set       ? "set"
                         : !problem ? "problem"
                         : !values  ? "values"
                                    : "count");
    op = &set->model.op;
    status = qst__problem_copy(op, problem, copy, err);
    if (status == QST_OK)
        status = op->check(op->user, copy, err);
    if (status != QST_OK)
        return status;
    for (i = 0; i < QST_OPERANDS_MAX; i++)
        perm[i] = i;
    if (op->normalise)
        status = op->normalise(op->user, copy, perm);
    if (status != QST_OK)
        return qst__fail(err, QST_E_UNSUPPORTED, op->name, "%s: such a problem has no key", qst_status_text(status));
    anchor = qst__anchor_at((uint32_t)set->ctx->settings->level);
    memset(values, 0, op->n_key_fields * sizeof *values);
    op->key(op->user, copy, &anchor, values);
    *count = op->n_key_fields;
    return QST_OK;
}
