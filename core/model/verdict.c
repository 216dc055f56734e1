/* SPDX-License-Identifier: MIT
 *
 * verdict.c: the life of a verdict in memory. */
#include "model/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct row {
    const char *name;
    const char *text;
} row;

#define OUTCOME_ROW(name, text) {#name, text},
static const row OUTCOMES[QST__OUTCOME_COUNT] = {QST__OUTCOME_LIST(OUTCOME_ROW)};
#undef OUTCOME_ROW

const char *qst__outcome_name(uint32_t outcome)
{
    return outcome < QST__OUTCOME_COUNT ? OUTCOMES[outcome].name : "?";
}

const char *qst__outcome_text(uint32_t outcome)
{
    return outcome < QST__OUTCOME_COUNT ? OUTCOMES[outcome].text : "unknown outcome";
}

bool qst__outcome_right(uint32_t outcome)
{
    return outcome == QST__OUTCOME_TIMED || outcome == QST__OUTCOME_ELIMINATED || outcome == QST__OUTCOME_VERIFIED;
}

/* Room for n findings and an order of them, all zero. */
static bool make_room(qst__verdict *verdict, const qst__alloc *alloc, uint32_t n)
{
    verdict->alloc = alloc;
    verdict->findings = qst__zalloc_array(alloc, n, sizeof *verdict->findings);
    verdict->order = qst__zalloc_array(alloc, n, sizeof *verdict->order);
    verdict->n = verdict->findings ? n : 0;
    return verdict->findings && verdict->order;
}

qst_status qst__verdict_init(qst__verdict *verdict, const qst__alloc *alloc, const qst__set *set)
{
    memset(verdict, 0, sizeof *verdict);
    bool good = make_room(verdict, alloc, set->n_candidates);
    for (uint32_t i = 0; good && i < verdict->n; i++) {
        verdict->findings[i].name = qst__strdup(alloc, set->candidates[i].name);
        good = verdict->findings[i].name != NULL;
    }
    if (!good) {
        qst__verdict_finish(verdict);
        return QST_E_NOMEM;
    }
    memcpy(verdict->checksum, set->checksum, sizeof verdict->checksum);
    return QST_OK;
}

void qst__verdict_finish(qst__verdict *verdict)
{
    if (!verdict || !verdict->alloc)
        return;
    for (uint32_t i = 0; i < verdict->n; i++) {
        qst__free(verdict->alloc, verdict->findings[i].name);
        qst__free(verdict->alloc, verdict->findings[i].why);
    }
    qst__free(verdict->alloc, verdict->findings);
    qst__free(verdict->alloc, verdict->order);
    qst__free(verdict->alloc, verdict->problem);
    qst__free(verdict->alloc, verdict->driver);
    qst__free(verdict->alloc, verdict->op);
    qst__free(verdict->alloc, verdict->target);
    memset(verdict, 0, sizeof *verdict);
}

/* Puts a copy of `text`, which may be NULL, where a borrowed pointer stands. */
static bool own(const qst__alloc *alloc, char **out, const char *text)
{
    *out = qst__strdup(alloc, text);
    return *out || !text;
}

qst_status qst__verdict_copy(qst__verdict *out, const qst__alloc *alloc, const qst__verdict *verdict)
{
    *out = *verdict;
    out->problem = out->driver = out->op = out->target = NULL;
    bool good = make_room(out, alloc, verdict->n);
    for (uint32_t i = 0; good && i < verdict->n; i++) {
        const qst__finding *from = &verdict->findings[i];
        qst__finding       *to = &out->findings[i];
        *to = *from;
        to->name = to->why = NULL;
        good = own(alloc, &to->name, from->name) && own(alloc, &to->why, from->why);
    }
    good = good && own(alloc, &out->problem, verdict->problem) && own(alloc, &out->driver, verdict->driver) &&
           own(alloc, &out->op, verdict->op) && own(alloc, &out->target, verdict->target);
    if (!good) {
        qst__verdict_finish(out);
        return QST_E_NOMEM;
    }
    if (verdict->n_order)
        memcpy(out->order, verdict->order, verdict->n_order * sizeof *out->order);
    return QST_OK;
}

void qst__finding_why(qst__finding *finding, const qst__alloc *alloc, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int   length = vsnprintf(NULL, 0, format, args);
    char *why = length < 0 ? NULL : qst__resize(alloc, NULL, (size_t)length + 1);
    if (why)
        (void)vsnprintf(why, (size_t)length + 1, format, again);
    qst__free(alloc, finding->why); /* only now: it may be among the arguments */
    finding->why = why;
    va_end(again);
    va_end(args);
}

uint32_t qst__verdict_find(const qst__verdict *verdict, const char *name)
{
    for (uint32_t i = 0; i < verdict->n; i++)
        if (strcmp(verdict->findings[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}
