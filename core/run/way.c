/* SPDX-License-Identifier: MIT
 *
 * way.c: binds a candidate, the trivial candidate or a judge's phase to an exact problem, and runs what was bound.
 */
#include "model/field.h"
#include "run/background.h"
#include "run/quarantine.h"

#include <string.h>

/* Whose launches are bound: what gives programs for indices. */
typedef struct binder {
    qst__shelf          *shelf;
    const char          *who;
    const void          *problem;
    const qst_candidate *candidate; /* or */
    const qst_judge     *judge;
    qst_key              key;
    uint32_t             depth;
} binder;

void qst__type_sizes(const qst_op *op, const void *problem, uint32_t bytes[QST_OPERANDS_MAX])
{
    uint32_t i, type;

    for (i = 0; i < op->n_operands; i++) {
        memcpy(&type, (const char *)problem + op->operands[i].type_offset, sizeof type);
        bytes[i] = qst_type_bytes(type);
    }
}

static qst_status ask_program(const binder *b, uint32_t index, qst_program *out, qst_error *err)
{
    const qst_device *device = &b->shelf->site->facts.device;
    int32_t           answer;

    memset(out, 0, sizeof *out);
    out->size = (uint32_t)sizeof *out;
    out->form = QST_PROGRAM_SOURCE;
    answer = b->judge ? b->judge->program(b->judge->user, device, b->problem, index, out)
                      : b->candidate->program(b->candidate->user, device, &b->key, index, out);
    if (answer != QST_OK)
        return qst__fail(err, answer < 0 ? answer : QST_E_PLUGIN, b->who, "program %u is refused: %s", index,
                         qst_status_text(answer));
    if (!out->data || !out->length)
        return qst__fail(err, QST_E_PLUGIN, b->who, "program %u is empty", index);
    return QST_OK;
}

/* Does nothing work without it? A judge, a fallback, what is trivial, a probe. */
static bool is_vital(const binder *b)
{
    const qst_op *op = &b->shelf->set->model.op;

    return b->judge || (b->candidate->flags & QST_CANDIDATE_FALLBACK) || b->candidate == op->trivial ||
           (op->flags & (QST_OP_PROBE_COMPUTE | QST_OP_PROBE_MEMORY | QST_OP_PROBE_LAUNCH)) != 0;
}

/* A program that is to be built. */
static qst_status take_program(const binder *b, uint32_t index, qst_program *out, qst_error *err)
{
    qst_status status = ask_program(b, index, out, err);

    if (status == QST_OK && is_vital(b))
        qst__programs_vital(&b->shelf->site->programs, out);
    return status;
}

typedef bool program_visit(qst__programs *programs, const qst_program *desc);

/* Visits each program that a recorded recipe launches itself; were all visits true, and is that all there is? What another
 * operation has to be tuned for is not. */
static bool each_program(const binder *b, const qst__recipe *recipe, program_visit *visit)
{
    uint32_t    i, seen = 0;
    qst_program desc;
    bool        all = true;

    for (i = 0; i < recipe->n_steps; i++) {
        uint32_t p = recipe->steps[i].program;
        all = all && !recipe->steps[i].op;
        if (recipe->steps[i].op || p >= QST_PROGRAMS_MAX || (seen >> p & 1))
            continue;
        seen |= 1u << p;
        all = take_program(b, p, &desc, NULL) == QST_OK && visit(&b->shelf->site->programs, &desc) && all;
    }
    return all;
}

/* A step that calls another operation: its route here, made ready (tuned, where the policy says so) before anything of
 * this candidate is measured. */
static qst_status bind_call(const binder *b, qst__step *step, qst__way *way, qst_error *err)
{
    qst__site  *site = b->shelf->site;
    qst_set    *set = qst__set_named(site->ctx, step->op);
    qst__shelf *shelf;
    qst__route *route;
    char        copy[QST__PROBLEM_BYTES];
    qst_status  status;

    if (!set)
        return qst__fail(err, QST_E_NOTFOUND, b->who, "it calls the operation %s, which is not here", step->op);
    if (b->depth >= QST__DEPTH_MAX)
        return qst__fail(err, QST_E_UNSUPPORTED, b->who, "its calls of %s would be nested over %u deep", step->op,
                         QST__DEPTH_MAX);
    if (step->n_args != set->model.op.n_operands)
        return qst__fail(err, QST_E_INVALID, b->who, "it calls %s with %u operands, not %u", step->op, step->n_args,
                         set->model.op.n_operands);
    status = qst__shelf_of(site, set, &shelf, err);
    if (status == QST_OK)
        status = qst__problem_copy(&set->model.op, step->problem, copy, err);
    if (status == QST_OK)
        status = qst__route_of(shelf, copy, &route, err);
    if (status != QST_OK)
        return status;
    if (route->loose) { /* the way owns it */
        route->next_loose = way->called;
        way->called = route;
    }
    step->target = route;
    return qst__route_settle(route, b->depth + 1, err);
}

static qst_status build_ahead(const binder *b, const qst_program *desc, const qst__recipe *recipe, uint32_t program,
                              qst__way *way, qst_error *err)
{
    const qst_op *op = &b->shelf->set->model.op;
    uint64_t      bytes[QST_OPERANDS_MAX] = {0};
    uint32_t      i;
    qst_error     why = {0};
    qst_status    status;

    if (!qst__background_here(b->shelf->site->ctx))
        return QST_OK;
    for (i = 0; i < op->n_operands; i++)
        bytes[i] = op->span(op->user, b->problem, i);
    status = qst__background_build(b->shelf->site, desc, recipe, program, bytes, b->who, &way->build_ns, &why);
    if (status == QST_E_REFUSED && !is_vital(b))
        qst__quarantine_bar(b->shelf, way->candidate, b->problem, why.text);
    return status == QST_OK ? QST_OK : qst__pass(err, &why);
}

/* Limits, programs, kernels of a recorded recipe. */
static qst_status bind(const binder *b, qst__recipe *recipe, qst__runner **runner, qst__way *way, qst_error *err)
{
    qst__site    *site = b->shelf->site;
    qst__program *programs[QST_PROGRAMS_MAX] = {NULL};
    uint32_t      sizes[QST_OPERANDS_MAX] = {0};
    uint32_t      i, n = 0;
    uint64_t      ns = 0;
    qst_program   desc;
    qst_status    status = qst__recipe_check(recipe, &site->facts.device, b->who, err);

    for (i = 0; i < recipe->n_steps && status == QST_OK; i++) {
        uint32_t p = recipe->steps[i].program;
        if (recipe->steps[i].op) {
            recipe->call = qst__route_call;
            status = bind_call(b, &recipe->steps[i], way, err);
            continue;
        }
        if (p >= QST_PROGRAMS_MAX)
            status = qst__fail(err, QST_E_PLUGIN, b->who, "program index %u is not under %u", p, QST_PROGRAMS_MAX);
        else if (!programs[p]) {
            status = take_program(b, p, &desc, err);
            if (status == QST_OK)
                status = build_ahead(b, &desc, recipe, p, way, err);
            if (status == QST_OK)
                status = qst__programs_get(&site->programs, &desc, &programs[p], &ns, err);
            way->build_ns += ns;
            ns = 0;
            if (status == QST_OK && way->n_programs < QST_LAUNCHES_MAX)
                way->programs[way->n_programs++] = programs[p];
            n = p >= n ? p + 1 : n;
        }
    }
    if (status != QST_OK)
        return status;
    qst__type_sizes(&b->shelf->set->model.op, b->problem, sizes);
    return qst__runner_create(runner, &site->ctx->alloc, recipe, programs, n, sizes, site->device, &site->arena,
                              &site->ctx->cl_counters, b->who, err);
}

/* Records the steps of a candidate; a refusal's own words win over the bare status. */
static qst_status record(const binder *b, qst__recipe *recipe, qst_error *err)
{
    qst_steps steps;
    int32_t   answer;

    qst__recipe_steps(recipe, &steps);
    answer = b->candidate->steps(b->candidate->user, &b->shelf->site->facts.device, b->problem, &steps);
    if (recipe->failure != QST_OK)
        return qst__fail(err, recipe->failure, b->who, "%s", recipe->why.text);
    if (answer != QST_OK)
        return qst__fail(err, answer < 0 ? answer : QST_E_PLUGIN, b->who, "steps are refused: %s",
                         qst_status_text(answer));
    return QST_OK;
}

static qst_status bind_launches(qst__way *way, qst__shelf *shelf, qst_key key, uint32_t depth, qst_error *err)
{
    binder      b;
    qst__recipe recipe;
    qst_status  status;

    memset(&b, 0, sizeof b);
    b.shelf = shelf;
    b.who = way->name;
    b.problem = way->problem;
    b.candidate = way->desc;
    b.key = key;
    b.depth = depth;
    qst__recipe_init(&recipe, &shelf->site->ctx->alloc, shelf->set->model.op.n_operands, false);
    status = record(&b, &recipe, err);
    if (status == QST_OK)
        status = bind(&b, &recipe, &way->runner, way, err);
    qst__recipe_finish(&recipe);
    return status;
}

static qst_status bind_vendor(qst__way *way, qst__shelf *shelf, qst_error *err)
{
    if (!qst__vendor_open(shelf, way->candidate, &way->build_ns))
        return qst__fail(err, QST_E_NOTFOUND, way->name, "%s", shelf->vendors[way->candidate].why);
    way->instance = shelf->vendors[way->candidate].instance;
    return QST_OK;
}

qst_status qst__way_create(qst__way **out, qst__shelf *shelf, uint32_t candidate, const qst__key *key,
                           const void *problem, uint32_t depth, qst_error *err)
{
    const qst__set       *set = &shelf->set->model;
    const qst__candidate *c = &set->candidates[candidate];
    const qst__alloc     *alloc = &shelf->site->ctx->alloc;
    const char           *why = NULL;
    qst__way             *way = NULL;
    qst_status            status = QST_OK;

    if (!qst__candidate_takes(c, problem, set->op.problem_size))
        return qst__fail(err, QST_E_UNSUPPORTED, c->name,
                         "the problem uses members beyond the %u bytes the candidate knows", c->desc.problem_size);
    if (c->desc.can_run && c->desc.can_run(c->desc.user, &shelf->site->facts.device, problem, &why) != QST_OK)
        return qst__fail(err, QST_E_UNSUPPORTED, c->name, "%s", why ? why : "the candidate gives no reason");
    way = qst__zalloc(alloc, sizeof *way);
    if (!way)
        return qst__fail(err, QST_E_NOMEM, c->name, "no memory to prepare it");
    way->desc = &c->desc;
    way->name = c->name;
    way->candidate = candidate;
    way->problem = problem;
    status = c->desc.steps ? bind_launches(way, shelf, qst__key_view(key), depth, err) : bind_vendor(way, shelf, err);
    if (status == QST_OK) {
        *out = way;
        way = NULL;
    }
    qst__way_destroy(way, alloc);
    return status;
}

qst_status qst__way_trivial(qst__way **out, qst__shelf *shelf, const void *problem, qst_error *err)
{
    const qst__alloc *alloc = &shelf->site->ctx->alloc;
    const qst_key     none = {0, 0, NULL};
    qst__way         *way;
    qst_status        status;

    if (!shelf->set->model.op.trivial)
        return qst__fail(err, QST_E_UNSUPPORTED, shelf->set->model.op.name,
                         "a trivial problem, and the operation has no trivial candidate");
    way = qst__zalloc(alloc, sizeof *way);
    if (!way)
        return qst__fail(err, QST_E_NOMEM, shelf->set->model.op.name, "no memory to prepare a trivial problem");
    way->desc = shelf->set->model.op.trivial;
    way->name = "trivial";
    way->candidate = UINT32_MAX;
    way->problem = problem;
    status = bind_launches(way, shelf, none, 0, err);
    if (status == QST_OK) {
        *out = way;
        way = NULL;
    }
    qst__way_destroy(way, alloc);
    return status;
}

qst_status qst__way_judge(qst__runner **runner, qst__shelf *shelf, const void *problem, uint32_t phase, uint64_t seed,
                          qst_error *err)
{
    const qst_judge *judge = shelf->set->model.op.judge;
    binder           b;
    qst__recipe      recipe;
    qst_steps        steps;
    qst__way         unused;
    int32_t          answer;
    qst_status       status;

    memset(&unused, 0, sizeof unused);
    memset(&b, 0, sizeof b);
    b.shelf = shelf;
    b.who = shelf->set->model.op.name;
    b.problem = problem;
    b.judge = judge;
    qst__recipe_init(&recipe, &shelf->site->ctx->alloc, shelf->set->model.op.n_operands, true);
    qst__recipe_steps(&recipe, &steps);
    answer = judge->steps(judge->user, &shelf->site->facts.device, problem, phase, seed, &steps);
    if (recipe.failure != QST_OK)
        status = qst__fail(err, recipe.failure, b.who, "judge: %s", recipe.why.text);
    else if (answer != QST_OK)
        status = qst__fail(err, answer < 0 ? answer : QST_E_PLUGIN, b.who, "judge, phase %u: %s", phase,
                           qst_status_text(answer));
    else
        status = bind(&b, &recipe, runner, &unused, err);
    qst__recipe_finish(&recipe);
    return status;
}

/* The same of a candidate for a problem; false where it launches none. */
static bool each_of(qst__shelf *shelf, uint32_t candidate, const qst__key *key, const void *problem,
                    program_visit *visit)
{
    const qst__candidate *c = &shelf->set->model.candidates[candidate];
    binder                b;
    qst__recipe           recipe;
    bool                  all;

    if (!c->desc.steps || !qst__candidate_takes(c, problem, shelf->set->model.op.problem_size) ||
        (c->desc.can_run && c->desc.can_run(c->desc.user, &shelf->site->facts.device, problem, NULL) != QST_OK))
        return false;
    memset(&b, 0, sizeof b);
    b.shelf = shelf;
    b.who = c->name;
    b.problem = problem;
    b.candidate = &c->desc;
    b.key = qst__key_view(key);
    qst__recipe_init(&recipe, &shelf->site->ctx->alloc, shelf->set->model.op.n_operands, false);
    all = record(&b, &recipe, NULL) == QST_OK && each_program(&b, &recipe, visit);
    qst__recipe_finish(&recipe);
    return all;
}

static bool expect(qst__programs *programs, const qst_program *desc)
{
    qst__programs_expect(programs, desc);
    return true;
}

void qst__way_expect(qst__shelf *shelf, uint32_t candidate, const qst__key *key, const void *problem)
{
    (void)each_of(shelf, candidate, key, problem, expect);
}

bool qst__way_ready(qst__shelf *shelf, uint32_t candidate, const qst__key *key, const void *problem)
{
    return each_of(shelf, candidate, key, problem, qst__programs_ready);
}

void qst__way_expect_judge(qst__shelf *shelf, const void *problem, uint32_t phase)
{
    const qst_judge *judge = shelf->set->model.op.judge;
    binder           b;
    qst__recipe      recipe;
    qst_steps        steps;

    memset(&b, 0, sizeof b);
    b.shelf = shelf;
    b.who = shelf->set->model.op.name;
    b.problem = problem;
    b.judge = judge;
    qst__recipe_init(&recipe, &shelf->site->ctx->alloc, shelf->set->model.op.n_operands, true);
    qst__recipe_steps(&recipe, &steps);
    if (judge->steps(judge->user, &shelf->site->facts.device, problem, phase, QST__JUDGE_SEED, &steps) == QST_OK)
        (void)each_program(&b, &recipe, expect);
    qst__recipe_finish(&recipe);
}

void qst__way_destroy(qst__way *way, const qst__alloc *alloc)
{
    if (!way)
        return;
    qst__runner_destroy(way->runner);
    while (way->called) {
        qst__route *route = way->called;
        way->called = route->next_loose;
        qst__route_destroy(route);
    }
    qst__free(alloc, way);
}

uint32_t qst__way_launches(const qst__way *way)
{
    return way->runner ? qst__runner_launches(way->runner) : 1;
}

uint64_t qst__way_workspace(const qst__way *way)
{
    return way->runner ? qst__runner_workspace(way->runner) : 0;
}

uint64_t qst__way_runs(const qst__way *way)
{
    return way->runner ? qst__runner_runs(way->runner) : atomic_load(&way->calls);
}

void qst__way_account(const qst__way *way, qst_context *ctx)
{
    uint64_t runs = qst__way_runs(way);

    atomic_fetch_add(&ctx->n_candidate, runs);
    if (!way->runner) /* a runner counts its kernels itself */
        atomic_fetch_add(&ctx->cl_counters.kernels, runs);
}

qst_status qst__way_enqueue(qst__way *way, qst__site *site, const qst__go *go, qst_error *err)
{
    return way->runner ? qst__runner_enqueue(way->runner, go, err) : qst__vendor_enqueue(way, site, go, err);
}
