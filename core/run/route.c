/* SPDX-License-Identifier: MIT
 *
 * route.c: an exact problem, made ready: checked, brought to normal form, with the bytes each operand needs and the
 * way to run it.
 */
#include "cl/join.h"
#include "model/anchor.h"
#include "run/run.h"

#include <string.h>

static uint32_t read_u32(const void *problem, uint32_t offset)
{
    uint32_t value;

    memcpy(&value, (const char *)problem + offset, sizeof value);
    return value;
}

static uint32_t log2_of(uint32_t power)
{
    uint32_t log2 = 0;

    while (power >> (log2 + 1))
        log2++;
    return log2;
}

/* What a call needs to know of each operand of the caller's. */
static qst_status measure(qst__route *route, qst_error *err)
{
    const qst_op *op = &route->shelf->set->model.op;
    uint32_t      i, bytes[QST_OPERANDS_MAX];

    qst__type_sizes(op, route->given, bytes);
    route->n_operands = op->n_operands;
    for (i = 0; i < op->n_operands; i++) {
        if (!bytes[i])
            return qst__fail(err, QST_E_INVALID, op->name, "%s: unknown element type", op->operands[i].name);
        route->shift[i] = log2_of(bytes[i]);
        route->align[i] = op->operands[i].align_offset ? read_u32(route->given, op->operands[i].align_offset) : 0;
        if (route->align[i] < route->shift[i])
            route->align[i] = route->shift[i];
        if (route->align[i] > QST__ALIGN_MAX)
            return qst__fail(err, QST_E_INVALID, op->name, "%s: alignment 2^%u is over 2^%u bytes",
                             op->operands[i].name, route->align[i], QST__ALIGN_MAX);
        route->span[i] = op->span(op->user, route->given, i);
    }
    return QST_OK;
}

static qst_status normalise(qst__route *route, qst_error *err)
{
    const qst_op *op = &route->shelf->set->model.op;
    int32_t       answer = QST_OK;
    uint32_t      i;

    for (i = 0; i < QST_OPERANDS_MAX; i++)
        route->perm[i] = i;
    memcpy(route->normal, route->given, op->problem_size);
    if (op->normalise)
        answer = op->normalise(op->user, route->normal, route->perm);
    for (i = 0; i < op->n_operands; i++)
        if (route->perm[i] >= op->n_operands)
            return qst__fail(err, QST_E_PLUGIN, op->name, "normalise puts operand %u at %u", i, route->perm[i]);
    switch (answer) {
    case QST_OK:
        route->kind = QST__ROUTE_TUNED;
        return QST_OK;
    case QST_NOTHING:
        route->kind = QST__ROUTE_NOTHING;
        return QST_OK;
    case QST_TRIVIAL:
        route->kind = QST__ROUTE_TRIVIAL;
        return QST_OK;
    default:
        return qst__fail(err, answer < 0 ? answer : QST_E_PLUGIN, op->name, "normalise: %s", qst_status_text(answer));
    }
}

void qst__key_of(const qst__shelf *shelf, const void *normal, qst__key *key)
{
    const qst_op *op = &shelf->set->model.op;
    qst_anchor    anchor = qst__anchor_at((uint32_t)shelf->site->ctx->settings->level);

    memset(key, 0, sizeof *key);
    key->count = op->n_key_fields;
    op->key(op->user, normal, &anchor, key->value);
}

/* Does the problem read what an operand held that it also writes? */
static bool reads_result(const qst__route *route)
{
    const qst_op *op = &route->shelf->set->model.op;

    return route->kind == QST__ROUTE_TUNED && op->repeat && op->repeat(op->user, route->normal) != QST_REPEAT_SAME;
}

/* What the buffer of an operand must not be. */
static uint32_t unfit(const qst__route *route, uint32_t i)
{
    uint32_t access = route->shelf->set->model.op.operands[i].access;

    return QST__BUFFER_IS_NONE | (access & QST_ACCESS_WRITE ? QST__BUFFER_READ_ONLY : 0u) |
           (!(access & QST_ACCESS_WRITE) || reads_result(route) ? QST__BUFFER_WRITE_ONLY : 0u);
}

static qst_status make(qst__shelf *shelf, const void *problem, qst__route **out, qst_error *err)
{
    const qst_op     *op = &shelf->set->model.op;
    const qst__alloc *alloc = &shelf->site->ctx->alloc;
    qst__route       *route = qst__zalloc(alloc, sizeof *route);
    qst__way         *way = NULL;
    qst__key          key;
    qst_status        status;

    if (!route)
        return qst__fail(err, QST_E_NOMEM, op->name, "no memory for a problem");
    route->shelf = shelf;
    route->given = qst__memdup(alloc, problem, op->problem_size);
    route->normal = qst__memdup(alloc, problem, op->problem_size);
    status = route->given && route->normal ? QST_OK : qst__fail(err, QST_E_NOMEM, op->name, "no memory for a problem");
    if (status == QST_OK)
        status = op->check(op->user, route->given, err);
    if (status == QST_OK)
        status = measure(route, err);
    if (status == QST_OK)
        status = normalise(route, err);
    for (uint32_t i = 0; status == QST_OK && i < op->n_operands; i++)
        route->unfit[i] = unfit(route, i);
    if (status == QST_OK && route->kind == QST__ROUTE_TRIVIAL) {
        status = qst__way_trivial(&way, shelf, route->normal, err);
        route->ways = way;
        atomic_store(&route->way, way);
    }
    if (status == QST_OK && route->kind == QST__ROUTE_TUNED) {
        qst__key_of(shelf, route->normal, &key);
        status = qst__entry_of(shelf, &key, &route->entry, err);
    }
    if (status == QST_OK) {
        *out = route;
        route = NULL;
    }
    qst__route_destroy(route);
    return status;
}

void qst__route_destroy(qst__route *route)
{
    qst_context *ctx;
    qst__way    *way, *next;

    if (!route)
        return;
    ctx = route->shelf->site->ctx;
    for (way = route->ways; way; way = next) {
        next = way->next;
        atomic_fetch_add(&ctx->n_hits, qst__way_runs(way));
        qst__way_account(way, ctx);
        qst__way_destroy(way, &ctx->alloc);
    }
    qst__free(&ctx->alloc, route->given);
    qst__free(&ctx->alloc, route->normal);
    qst__free(&ctx->alloc, route);
}

qst_status qst__route_of(qst__shelf *shelf, const void *problem, qst__route **out, qst_error *err)
{
    size_t      bytes = shelf->set->model.op.problem_size;
    uint64_t    hash = qst__hash(problem, bytes, 0);
    qst__route *route = qst__table_get(&shelf->routes, problem, bytes, hash);
    qst__route *there;
    qst_status  status;

    if (route) {
        *out = route;
        return QST_OK;
    }
    status = make(shelf, problem, &route, err);
    if (status != QST_OK)
        return status;
    there = qst__table_add(&shelf->routes, problem, bytes, hash, route);
    if (!there)
        route->loose = true; /* the table is full: this one lives as long as its call or plan */
    else if (there != route)
        qst__route_destroy(route);
    *out = there ? there : route;
    return QST_OK;
}

/* Did the caller's own objects make the enqueue fail? Then no candidate is to blame. */
static bool callers_fault(const qst_error *err)
{
    return err->cl_code == CL_INVALID_EVENT_WAIT_LIST || err->cl_code == CL_INVALID_EVENT ||
           err->cl_code == CL_INVALID_COMMAND_QUEUE || err->cl_code == CL_INVALID_CONTEXT ||
           err->cl_code == CL_INVALID_MEM_OBJECT || err->cl_code == CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

/* The last cause is the caller's to know, with its code. */
static qst_status give_up(const qst_error *failed, qst_error *err)
{
    if (err && err->status == QST_OK)
        *err = *failed;
    return failed->status;
}

/* Does what was enqueued before the failure keep others from taking over? It may write the result while they do, or
 * before them where they read it. */
static bool spoiled(const qst__route *route, uint32_t touched, bool in_order)
{
    const qst_op *op = &route->shelf->set->model.op;
    uint32_t      i, written = 0;

    for (i = 0; i < op->n_operands; i++)
        written |= op->operands[i].access & QST_ACCESS_WRITE ? 1u << i : 0;
    if (!(touched & written))
        return false;
    return !in_order || reads_result(route);
}

static bool last_resort(const qst__route *route, const qst__way *way)
{
    return route->kind == QST__ROUTE_TRIVIAL || way->candidate == route->shelf->set->model.fallback;
}

/* Off the hit path: finds ways until one is enqueued. */
static qst_status run_slowly(qst__route *route, qst__way *way, const qst__go *go, qst_error *failed, qst_error *err)
{
    qst_status status = failed->status;
    uint32_t   tries = route->shelf->set->model.n_candidates + 1;
    bool       keep;

    for (;; tries--) {
        if (way) {
            if (callers_fault(failed))
                return qst__fail(err, QST_E_INVALID, "run", "%s", failed->text);
            if (last_resort(route, way) || !tries)
                return give_up(failed, err);
            qst__demote(route, way, failed);
            if (spoiled(route, *go->touched, go->in_order))
                return give_up(failed, err);
        }
        status = qst__resolve(route, 0, &way, &keep, err);
        if (status != QST_OK)
            return status;
        if (keep)
            atomic_store_explicit(&route->way, way, memory_order_release);
        qst__error_clear(failed);
        *go->touched = 0;
        status = qst__way_enqueue(way, route->shelf->site, go, failed);
        if (status == QST_OK)
            return QST_OK;
    }
}

qst_status qst__route_run(qst__route *route, cl_command_queue queue, bool in_order, const qst_mem *operands,
                          cl_uint n_wait, const cl_event *wait_list, cl_event *event, qst_error *err)
{
    qst__way *way = atomic_load_explicit(&route->way, memory_order_acquire);
    qst_mem   normal[QST_OPERANDS_MAX];
    qst_error failed;
    qst__go   go;
    uint32_t  i, touched = 0;

    if (route->kind == QST__ROUTE_NOTHING)
        return qst__join_nothing(queue, n_wait, wait_list, event, err);
    for (i = 0; i < route->n_operands; i++)
        normal[i] = operands[route->perm[i]];
    failed.status = QST_OK;
    failed.cl_code = 0;
    failed.source[0] = failed.text[0] = '\0';
    memset(&go, 0, sizeof go);
    go.queue = queue;
    go.in_order = in_order;
    go.operands = normal;
    go.n_wait = n_wait;
    go.wait_list = wait_list;
    go.event = event;
    go.touched = &touched;
    if (way && qst__way_enqueue(way, route->shelf->site, &go, &failed) == QST_OK)
        return QST_OK;
    return run_slowly(route, way, &go, &failed, err);
}

qst_status qst__route_settle(qst__route *route, uint32_t depth, qst_error *err)
{
    qst__way  *way;
    bool       keep = false;
    qst_status status;

    if (route->kind != QST__ROUTE_TUNED || atomic_load(&route->way))
        return QST_OK;
    status = qst__resolve(route, depth, &way, &keep, err);
    if (status == QST_OK && keep)
        atomic_store_explicit(&route->way, way, memory_order_release);
    return status;
}

qst_status qst__route_call(void *target, const qst__go *go, qst_error *err)
{
    qst__route *route = target;
    qst__way   *way = atomic_load_explicit(&route->way, memory_order_acquire);
    const char *op = route->shelf->set->model.op.name;
    qst_mem     normal[QST_OPERANDS_MAX];
    qst__go     inner = *go;
    uint32_t    i;
    qst_status  status = QST_OK;

    if (go->depth > QST__DEPTH_MAX)
        return qst__fail(err, QST_E_PLUGIN, op, "calls from steps are nested over %u deep", QST__DEPTH_MAX);
    for (i = 0; i < route->n_operands; i++) {
        normal[i] = go->operands[route->perm[i]];
        if (route->span[route->perm[i]] && (normal[i].offset & ((UINT64_C(1) << route->align[route->perm[i]]) - 1)))
            return qst__fail(err, QST_E_INVALID, op,
                             "%s: a calling candidate's operand begins at byte %llu, no multiple of %llu",
                             route->shelf->set->model.op.operands[route->perm[i]].name,
                             (unsigned long long)normal[i].offset, 1ull << route->align[route->perm[i]]);
    }
    if (route->kind == QST__ROUTE_NOTHING)
        return qst__join_nothing(go->queue, go->n_wait, go->wait_list, go->event, err);
    if (!way)
        status = qst__resolve_known(route, go->depth, &way, err);
    inner.operands = normal;
    return status == QST_OK ? qst__way_enqueue(way, route->shelf->site, &inner, err) : status;
}
