/* SPDX-License-Identifier: MIT
 *
 * set.c: an operation's groups and candidates: adding, undoing, freezing, finding. */
#include "model/set.h"

#include "model/candidate.h"
#include "model/checksum.h"
#include "model/op.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static qst_status no_memory(const qst__set *set, qst_error *err)
{
    return qst__fail(err, QST_E_NOMEM, set->op.name, "no memory for the set");
}

static qst_status take_judge_and_trivial(qst__set *set, qst_error *err)
{
    qst_status status = QST_OK;
    if (set->op.judge) {
        set->judge = qst__zalloc(set->alloc, sizeof *set->judge);
        if (!set->judge)
            return no_memory(set, err);
        status = qst__op_take_judge(set->judge, set->op.judge, set->op.name, err);
        set->op.judge = set->judge;
    }
    if (status == QST_OK && set->op.trivial) {
        set->trivial = qst__zalloc(set->alloc, sizeof *set->trivial);
        if (!set->trivial)
            return no_memory(set, err);
        status = qst__op_take_trivial(set->trivial, set->op.trivial, set->op.name, err);
        set->op.trivial = set->trivial;
    }
    return status;
}

qst_status qst__set_init(qst__set *set, const qst__alloc *alloc, const qst_op *op, qst_error *err)
{
    *set = (qst__set){.alloc = alloc, .op_given = op, .fallback = NONE};
    qst_status status = qst__op_take(&set->op, op, err);
    if (status == QST_OK)
        status = take_judge_and_trivial(set, err);
    const char *at = (const char *)set->op.groups;
    for (uint32_t i = 0; status == QST_OK && i < set->op.n_groups; i++) {
        uint32_t stride;
        memcpy(&stride, at, sizeof stride);
        status = qst__set_group(set, (const qst_group *)(const void *)at, err);
        at += stride;
    }
    if (status != QST_OK)
        qst__set_finish(set);
    return status;
}

void qst__set_finish(qst__set *set)
{
    if (!set || !set->alloc)
        return;
    set->frozen = false;
    qst__set_truncate(set, 0, 0);
    qst__free(set->alloc, set->groups);
    qst__free(set->alloc, set->candidates);
    qst__free(set->alloc, set->names);
    qst__free(set->alloc, set->judge);
    qst__free(set->alloc, set->trivial);
    memset(set, 0, sizeof *set);
    set->fallback = NONE;
}

/* ---- Adding ------------------------------------------------------------------------------------------------------ */

/* Makes an array one element longer; on failure it stays as it is. */
static bool lengthen(const qst__set *set, void **data, uint32_t count, size_t bytes)
{
    if ((size_t)count + 1 > SIZE_MAX / bytes)
        return false;
    void *grown = qst__resize(set->alloc, *data, ((size_t)count + 1) * bytes);
    if (!grown)
        return false;
    *data = grown;
    return true;
}

static uint32_t find_group(const qst__set *set, const char *name)
{
    for (uint32_t i = 0; name && i < set->n_groups; i++)
        if (strcmp(set->groups[i].name, name) == 0)
            return i;
    return NONE;
}

qst_status qst__set_group(qst__set *set, const qst_group *group, qst_error *err)
{
    qst__group taken = {.overridden = false};
    if (set->frozen)
        return qst__fail(err, QST_E_STATE, set->op.name, "group: the set is in use and takes no more");
    qst_status status = qst__group_take(&taken.desc, group, set->op.name, err);
    if (status != QST_OK)
        return status;
    if (find_group(set, taken.desc.name) != NONE)
        return qst__fail(err, QST_E_STATE, set->op.name, "group %s is there already", taken.desc.name);
    taken.name = qst__strdup(set->alloc, taken.desc.name);
    if (!taken.name || !lengthen(set, (void **)&set->groups, set->n_groups, sizeof *set->groups)) {
        qst__free(set->alloc, taken.name);
        return no_memory(set, err);
    }
    set->groups[set->n_groups++] = taken;
    return QST_OK;
}

static qst_status resolve_groups(const qst__set *set, qst__candidate *candidate, qst_error *err)
{
    uint32_t n = candidate->desc.n_memberships;
    if (n == 0)
        return QST_OK;
    candidate->groups = qst__zalloc_array(set->alloc, n, sizeof *candidate->groups);
    if (!candidate->groups)
        return no_memory(set, err);
    for (uint32_t i = 0; i < n; i++) {
        const char *group = candidate->desc.memberships[i].group;
        candidate->groups[i] = find_group(set, group);
        if (candidate->groups[i] == NONE)
            return qst__fail(err, QST_E_INVALID, set->op.name, "candidate %s: no group '%s'", candidate->name,
                             group ? group : "(null)");
    }
    return QST_OK;
}

static qst_status name_candidate(const qst__set *set, qst__candidate *candidate, const char *plugin, qst_error *err)
{
    if (!qst__is_name(plugin, ""))
        return qst__fail(err, QST_E_INVALID, set->op.name, "candidate %s: bad plugin name '%s': not of [a-z0-9_]",
                         candidate->desc.variant, plugin ? plugin : "(null)");
    qst__str name;
    qst__str_init(&name, set->alloc);
    qst__str_printf(&name, "%s.%s.%s/%u", set->op.name, plugin, candidate->desc.variant, candidate->desc.revision);
    candidate->name = qst__str_take(&name);
    if (!candidate->name)
        return no_memory(set, err);
    if (qst__set_find(set, candidate->name) != NONE)
        return qst__fail(err, QST_E_STATE, set->op.name, "candidate %s is there already", candidate->name);
    return QST_OK;
}

static void finish_candidate(const qst__set *set, qst__candidate *candidate)
{
    qst__free(set->alloc, candidate->name);
    qst__free(set->alloc, candidate->groups);
}

qst_status qst__set_add(qst__set *set, const qst_candidate *candidate, const char *plugin, uint32_t origin,
                        qst_error *err)
{
    qst__candidate taken = {.index = set->n_candidates, .origin = origin};
    if (set->frozen)
        return qst__fail(err, QST_E_STATE, set->op.name, "candidate: the set is in use and takes no more");
    qst_status status = qst__candidate_take(&taken.desc, candidate, &set->op, err);
    if (status == QST_OK)
        status = name_candidate(set, &taken, plugin, err);
    if (status == QST_OK)
        status = resolve_groups(set, &taken, err);
    bool fallback = taken.desc.flags & QST_CANDIDATE_FALLBACK;
    if (status == QST_OK && fallback && set->fallback != NONE)
        status = qst__fail(err, QST_E_INVALID, set->op.name, "candidate %s: a second fallback, beside %s", taken.name,
                           set->candidates[set->fallback].name);
    if (status == QST_OK && !(lengthen(set, (void **)&set->names, set->n_candidates, sizeof *set->names) &&
                              lengthen(set, (void **)&set->candidates, set->n_candidates, sizeof *set->candidates)))
        status = no_memory(set, err);
    if (status != QST_OK) {
        finish_candidate(set, &taken);
        return status;
    }
    if (fallback)
        set->fallback = taken.index;
    set->candidates[set->n_candidates++] = taken;
    return QST_OK;
}

void qst__set_truncate(qst__set *set, uint32_t n_groups, uint32_t n_candidates)
{
    if (set->frozen)
        return;
    while (set->n_candidates > n_candidates)
        finish_candidate(set, &set->candidates[--set->n_candidates]);
    while (set->n_groups > n_groups)
        qst__free(set->alloc, set->groups[--set->n_groups].name);
    if (set->fallback != NONE && set->fallback >= set->n_candidates)
        set->fallback = NONE;
}

/* ---- Freezing ---------------------------------------------------------------------------------------------------- */

/* What is no whole number of 32 bits overrides nothing: conf/ has refused it with a line of its own. */
static void override_priority(const qst__set *set, qst__group *group, const qst__settings *settings)
{
    char path[512];
    int  length = snprintf(path, sizeof path, "groups.%s.%s.priority", set->op.name, group->name);
    if (length < 0 || (size_t)length >= sizeof path)
        return;
    const char *text = qst__settings_pair(settings, path);
    char       *end = NULL;
    errno = 0;
    long value = text && *text ? strtol(text, &end, 10) : 0;
    if (!end || *end || end == text || errno || value < INT32_MIN || value > INT32_MAX)
        return;
    group->overridden = true;
    group->override = (int32_t)value;
}

void qst__set_freeze(qst__set *set, const qst__settings *settings)
{
    if (set->frozen)
        return;
    for (uint32_t i = 0; settings && i < set->n_groups; i++)
        override_priority(set, &set->groups[i], settings);
    for (uint32_t i = 0; i < set->n_candidates; i++)
        set->names[i] = set->candidates[i].name;
    qst__checksum(set->names, set->n_candidates, set->checksum);
    set->frozen = true;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

uint32_t qst__set_find(const qst__set *set, const char *name)
{
    for (uint32_t i = 0; i < set->n_candidates; i++)
        if (strcmp(set->candidates[i].name, name) == 0)
            return i;
    return NONE;
}

uint32_t qst__set_class_of(const qst__set *set, const void *problem)
{
    uint32_t numerics;
    if (set->op.numerics_offset == 0)
        return QST_CLASS_FAST;
    memcpy(&numerics, (const char *)problem + set->op.numerics_offset, sizeof numerics);
    return numerics < QST_NUMERICS_END ? 1u << numerics : 1u << 31;
}

bool qst__candidate_takes(const qst__candidate *candidate, const void *problem, uint32_t problem_size)
{
    const uint8_t *bytes = problem;
    for (uint32_t i = candidate->desc.problem_size; i < problem_size; i++)
        if (bytes[i])
            return false;
    return true;
}

int32_t qst__group_priority(const qst__group *group, const qst_device *device, const qst_key *key)
{
    if (group->overridden)
        return group->override;
    return group->desc.priority ? group->desc.priority(group->desc.user, device, key) : group->desc.constant;
}

int32_t qst__member_priority(const qst__candidate *candidate, uint32_t i, const qst_device *device, const qst_key *key)
{
    const qst_membership *membership = &candidate->desc.memberships[i];
    return membership->priority ? membership->priority(candidate->desc.user, device, key) : membership->constant;
}
