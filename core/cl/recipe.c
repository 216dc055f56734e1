/* SPDX-License-Identifier: MIT
 *
 * recipe.c: what a candidate may ask of the host in steps(), and what the device must be able to do before it is
 * tried: a driver may abort the process over a launch that this file refuses. */
#include "cl/recipe.h"

#include <string.h>

#define GLOBAL_MAX (UINT64_C(1) << 40) /* work-items in a dimension: beyond it a driver may abort (PoCL 3.1 at 2^60) */
#define ENTRY_MAX  255u                /* characters of a kernel's name */

#define LEAST_LAUNCH QST_SIZE_TO(qst_launch, args)

void qst__recipe_init(qst__recipe *recipe, const qst__alloc *alloc, uint32_t n_operands, bool judge)
{
    memset(recipe, 0, sizeof *recipe);
    recipe->alloc = alloc;
    recipe->n_operands = n_operands;
    recipe->judge = judge;
}

void qst__recipe_finish(qst__recipe *recipe)
{
    for (uint32_t i = 0; i < recipe->n_steps; i++) {
        qst__free(recipe->alloc, recipe->steps[i].op);
        qst__free(recipe->alloc, recipe->steps[i].problem);
        qst__free(recipe->alloc, recipe->steps[i].entry);
        qst__free(recipe->alloc, recipe->steps[i].args);
    }
    qst__recipe_init(recipe, recipe->alloc, recipe->n_operands, recipe->judge);
}

/* ---- Recording ------------------------------------------------------------------------------------------------ */

/* The candidate may ignore what its callback got; the recipe does not. */
static qst_status refuse(qst__recipe *recipe, qst_status status)
{
    if (recipe->failure == QST_OK)
        recipe->failure = status;
    return status;
}

static qst_status copy_step(qst__recipe *recipe, const qst_launch *launch, qst__step *step)
{
    memset(step, 0, sizeof *step);
    step->program = launch->program;
    step->dims = launch->dims;
    step->n_args = launch->n_args;
    step->driver_local = launch->local[0] == 0 && launch->local[1] == 0 && launch->local[2] == 0;
    for (uint32_t i = 0; i < 3; i++) {
        bool used = i < launch->dims;
        if (launch->global[i] > SIZE_MAX || launch->local[i] > SIZE_MAX)
            return qst__fail(&recipe->why, QST_E_UNSUPPORTED, "steps",
                             "launch of '%s': size %u is over what this host can name", launch->entry, (unsigned)i);
        step->global[i] = used ? (size_t)launch->global[i] : 1;
        step->local[i] = used ? (size_t)launch->local[i] : 1;
    }
    step->entry = qst__strdup(recipe->alloc, launch->entry);
    step->args = qst__memdup(recipe->alloc, launch->args, launch->n_args * sizeof *launch->args);
    if (step->entry && step->args)
        return QST_OK;
    qst__free(recipe->alloc, step->entry);
    qst__free(recipe->alloc, step->args);
    return qst__fail(&recipe->why, QST_E_NOMEM, "steps", "no memory for a launch of %u arguments",
                     (unsigned)launch->n_args);
}

static int32_t record_launch(qst_steps *steps, const qst_launch *given)
{
    qst__recipe *recipe = steps->self;
    qst_launch   launch;
    if (!given || given->size < LEAST_LAUNCH)
        return refuse(recipe, qst__fail(&recipe->why, QST_E_INVALID, "steps",
                                        "a launch of %u bytes, at least %u: is its size set?",
                                        given ? (unsigned)given->size : 0u, (unsigned)LEAST_LAUNCH));
    memset(&launch, 0, sizeof launch);
    memcpy(&launch, given, given->size < sizeof launch ? given->size : sizeof launch);
    if (recipe->n_steps == QST_LAUNCHES_MAX)
        return refuse(recipe, qst__fail(&recipe->why, QST_E_INVALID, "steps", "more than %u launches",
                                        (unsigned)QST_LAUNCHES_MAX));
    if (!launch.entry || !launch.entry[0] || strlen(launch.entry) > ENTRY_MAX)
        return refuse(recipe, qst__fail(&recipe->why, QST_E_INVALID, "steps",
                                        "launch %u has no kernel name of 1 to %u characters",
                                        (unsigned)recipe->n_steps + 1, (unsigned)ENTRY_MAX));
    if (launch.n_args > QST_ARGS_MAX || (launch.n_args && !launch.args))
        return refuse(recipe,
                      qst__fail(&recipe->why, QST_E_INVALID, "steps",
                                "launch of '%s': %u arguments%s, at most %u are allowed", launch.entry,
                                (unsigned)launch.n_args, launch.args ? "" : " at NULL", (unsigned)QST_ARGS_MAX));
    qst_status status = copy_step(recipe, &launch, &recipe->steps[recipe->n_steps]);
    if (status != QST_OK)
        return refuse(recipe, status);
    recipe->n_steps++;
    return QST_OK;
}

/* Asked for twice: the larger counts, so that parts of a candidate may share a workspace. */
static int32_t record_workspace(qst_steps *steps, uint32_t index, uint64_t bytes)
{
    qst__recipe *recipe = steps->self;
    if (index >= QST_WORKSPACES_MAX || bytes == 0)
        return refuse(recipe, qst__fail(&recipe->why, QST_E_INVALID, "steps",
                                        "workspace %u of %llu bytes: the index must be under %u, the size not 0",
                                        (unsigned)index, (unsigned long long)bytes, (unsigned)QST_WORKSPACES_MAX));
    if (recipe->workspace[index] < bytes)
        recipe->workspace[index] = bytes;
    if (recipe->n_workspaces <= index)
        recipe->n_workspaces = index + 1;
    return QST_OK;
}

static int32_t record_call(qst_steps *steps, const char *op, const void *problem, uint32_t n_operands,
                           const qst_arg *operands)
{
    qst__recipe *recipe = steps->self;
    uint32_t     size = 0;
    if (recipe->n_steps == QST_LAUNCHES_MAX)
        return refuse(recipe, qst__fail(&recipe->why, QST_E_INVALID, "steps", "more than %u launches",
                                        (unsigned)QST_LAUNCHES_MAX));
    if (problem)
        memcpy(&size, problem, sizeof size);
    if (!op || size < sizeof size || !operands || n_operands > QST_OPERANDS_MAX || recipe->judge)
        return refuse(recipe, qst__fail(&recipe->why, QST_E_INVALID, "steps",
                                        "a call of %s with a problem of %u bytes and %u operands", op ? op : "nothing",
                                        (unsigned)size, (unsigned)n_operands));
    qst__step *step = &recipe->steps[recipe->n_steps];
    memset(step, 0, sizeof *step);
    step->op = qst__strdup(recipe->alloc, op);
    step->entry = qst__strdup(recipe->alloc, op);
    step->problem = qst__memdup(recipe->alloc, problem, size);
    step->args = qst__memdup(recipe->alloc, operands, n_operands * sizeof *operands);
    step->n_args = n_operands;
    recipe->n_steps++; /* finish frees what there is of it */
    if (step->op && step->entry && step->problem && step->args)
        return QST_OK;
    return refuse(recipe, qst__fail(&recipe->why, QST_E_NOMEM, "steps", "no memory for a call of %s", op));
}

void qst__recipe_steps(qst__recipe *recipe, qst_steps *steps)
{
    memset(steps, 0, sizeof *steps);
    steps->size = (uint32_t)sizeof *steps;
    steps->self = recipe;
    steps->launch = record_launch;
    steps->workspace = record_workspace;
    steps->call = record_call;
}

/* ---- Checking ------------------------------------------------------------------------------------------------- */

static qst_status check_range(const qst__step *step, const qst_device *device, const char *who, qst_error *err)
{
    uint64_t largest = device->pointer_bits == 32 ? UINT32_MAX : GLOBAL_MAX;
    uint64_t items = 1;
    if (step->dims < 1 || step->dims > 3)
        return qst__fail(err, QST_E_INVALID, who, "kernel '%s': %u dimensions, not 1 to 3", step->entry,
                         (unsigned)step->dims);
    for (uint32_t i = 0; i < step->dims; i++) {
        unsigned long long global = step->global[i], local = step->local[i];
        if (global == 0)
            return qst__fail(err, QST_E_INVALID, who, "kernel '%s': global size %u is 0", step->entry, (unsigned)i);
        if (global > largest)
            return qst__fail(err, QST_E_UNSUPPORTED, who,
                             "kernel '%s': global size %u is %llu, the device counts to %llu", step->entry, (unsigned)i,
                             global, (unsigned long long)largest);
        if (step->driver_local)
            continue;
        if (local == 0 || global % local != 0)
            return qst__fail(err, QST_E_INVALID, who,
                             "kernel '%s': local size %u, %llu, does not divide global size %llu", step->entry,
                             (unsigned)i, local, global);
        if (local > device->max_group_dim[i])
            return qst__fail(err, QST_E_UNSUPPORTED, who,
                             "kernel '%s': local size %u is %llu, the device has at most %u", step->entry, (unsigned)i,
                             local, (unsigned)device->max_group_dim[i]);
        /* Both factors are below 2^32 here: no overflow. */
        items *= local;
        if (items > device->max_group)
            return qst__fail(err, QST_E_UNSUPPORTED, who,
                             "kernel '%s': a work-group of %llu x %llu x %llu, the device has at most %u work-items",
                             step->entry, (unsigned long long)step->local[0], (unsigned long long)step->local[1],
                             (unsigned long long)step->local[2], (unsigned)device->max_group);
    }
    return QST_OK;
}

/* What was before a run lies as the operand does, so it has the operand's offset; the finding has none. */
static bool operand_is_legal(const qst__recipe *recipe, const qst_arg *arg)
{
    if (arg->index < recipe->n_operands)
        return true;
    if (!recipe->judge)
        return false;
    if (arg->index == QST_JUDGE_FINDING)
        return arg->kind == QST_ARG_OPERAND;
    return arg->index >= QST_JUDGE_BEFORE && arg->index - QST_JUDGE_BEFORE < recipe->n_operands;
}

static qst_status check_arg(const qst__recipe *recipe, const qst__step *step, uint32_t index, const char *who,
                            qst_error *err)
{
    const qst_arg *arg = &step->args[index];
    switch (arg->kind) {
    case QST_ARG_OPERAND:
    case QST_ARG_OFFSET:
        if (!operand_is_legal(recipe, arg))
            return qst__fail(err, QST_E_INVALID, who, "kernel '%s', argument %u: there is no %s %u among %u operands",
                             step->entry, (unsigned)index,
                             arg->kind == QST_ARG_OFFSET ? "offset of operand" : "operand", (unsigned)arg->index,
                             (unsigned)recipe->n_operands);
        return QST_OK;
    case QST_ARG_WORKSPACE:
        if (arg->index >= recipe->n_workspaces || recipe->workspace[arg->index] == 0)
            return qst__fail(err, QST_E_INVALID, who, "kernel '%s', argument %u: workspace %u was not asked for",
                             step->entry, (unsigned)index, (unsigned)arg->index);
        return QST_OK;
    case QST_ARG_LOCAL:
        if (arg->bytes == 0)
            return qst__fail(err, QST_E_INVALID, who, "kernel '%s', argument %u: local memory of 0 bytes", step->entry,
                             (unsigned)index);
        return QST_OK;
    case QST_ARG_VALUE:
        if (arg->bytes == 0 || arg->bytes > sizeof arg->bits)
            return qst__fail(err, QST_E_INVALID, who, "kernel '%s', argument %u: a value of %llu bytes, not 1 to %u",
                             step->entry, (unsigned)index, (unsigned long long)arg->bytes, (unsigned)sizeof arg->bits);
        return QST_OK;
    default:
        return qst__fail(err, QST_E_INVALID, who, "kernel '%s', argument %u: unknown kind %u", step->entry,
                         (unsigned)index, (unsigned)arg->kind);
    }
}

/* A call's operands are operands or workspaces of ours. */
static qst_status check_call(const qst__recipe *recipe, const qst__step *step, const char *who, qst_error *err)
{
    for (uint32_t i = 0; i < step->n_args; i++) {
        qst_status status = QST_OK;
        if (step->args[i].kind != QST_ARG_OPERAND && step->args[i].kind != QST_ARG_WORKSPACE)
            return qst__fail(err, QST_E_INVALID, who, "call of %s, operand %u: kind %u is no operand and no workspace",
                             step->op, (unsigned)i, (unsigned)step->args[i].kind);
        status = check_arg(recipe, step, i, who, err);
        if (status != QST_OK)
            return status;
    }
    return QST_OK;
}

static qst_status check_args(const qst__recipe *recipe, const qst__step *step, const qst_device *device,
                             const char *who, qst_error *err)
{
    uint64_t limit = device->local_bytes > QST__LOCAL_SLACK ? device->local_bytes - QST__LOCAL_SLACK : 0;
    uint64_t left = limit;
    for (uint32_t i = 0; i < step->n_args; i++) {
        qst_status status = check_arg(recipe, step, i, who, err);
        if (status != QST_OK)
            return status;
        if (step->args[i].kind != QST_ARG_LOCAL)
            continue;
        if (step->args[i].bytes > left)
            return qst__fail(
                err, QST_E_UNSUPPORTED, who,
                "kernel '%s', argument %u: %llu bytes of local memory after %llu, the device has %llu less %u",
                step->entry, (unsigned)i, (unsigned long long)step->args[i].bytes, (unsigned long long)(limit - left),
                (unsigned long long)device->local_bytes, (unsigned)QST__LOCAL_SLACK);
        left -= step->args[i].bytes;
    }
    return QST_OK;
}

qst_status qst__recipe_check(const qst__recipe *recipe, const qst_device *device, const char *who, qst_error *err)
{
    qst_status status = recipe->failure;
    if (status != QST_OK)
        return qst__fail(err, status, who, "%s", qst__error_text(&recipe->why, status));
    if (recipe->n_steps == 0)
        return qst__fail(err, QST_E_INVALID, who, "no launch among the steps");
    for (uint32_t i = 0; i < recipe->n_workspaces; i++)
        if (recipe->workspace[i] > device->max_alloc)
            return qst__fail(err, QST_E_UNSUPPORTED, who,
                             "workspace %u of %llu bytes, the device's largest buffer has %llu", (unsigned)i,
                             (unsigned long long)recipe->workspace[i], (unsigned long long)device->max_alloc);
    for (uint32_t i = 0; i < recipe->n_steps && status == QST_OK; i++) {
        if (recipe->steps[i].op) {
            status = check_call(recipe, &recipe->steps[i], who, err);
            continue;
        }
        status = check_range(&recipe->steps[i], device, who, err);
        if (status == QST_OK)
            status = check_args(recipe, &recipe->steps[i], device, who, err);
    }
    return status;
}

uint64_t qst__recipe_workspace(const qst__recipe *recipe)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < recipe->n_workspaces; i++)
        sum = recipe->workspace[i] > UINT64_MAX - sum ? UINT64_MAX : sum + recipe->workspace[i];
    return sum;
}
