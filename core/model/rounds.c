/* SPDX-License-Identifier: MIT
 *
 * rounds.c: from priorities to the order in which candidates are tried (behaviour 2.2 to 2.4 of the reference). */
#include "model/rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Support ----------------------------------------------------------------------------------------------------- */

/* A word for the class that one bit means. */
static const char *class_word(uint32_t bit)
{
    if (bit & QST_CLASS_STRICT)
        return "strict";
    if (bit & QST_CLASS_PLAIN)
        return "plain";
    return bit & QST_CLASS_FAST ? "fast" : "an unknown class";
}

/* The fallback runs where all else fails, so a pin of others says nothing about it; a denial does. */
static bool allowed(const qst__set *set, uint32_t candidate, const qst__settings *settings, const char **why)
{
    if (!settings)
        return true;
    qst__settings rules = *settings;
    if (candidate == set->fallback)
        rules.pin.count = 0;
    return qst__settings_allow(&rules, set->candidates[candidate].name, why);
}

static void ask(const qst__candidate *c, const qst_device *device, const qst_key *key, qst__support *out)
{
    const char *why = NULL;
    int32_t     answer = c->desc.supports ? c->desc.supports(c->desc.user, device, key, &why) : QST_OK;
    if (answer == QST_OK) {
        out->answer = QST__SUPPORT_OK;
        return;
    }
    out->answer = answer == QST_POOR ? QST__SUPPORT_POOR : QST__SUPPORT_NO;
    if (answer == QST_POOR || answer == QST_E_UNSUPPORTED)
        (void)snprintf(out->why, sizeof out->why, "%s", why ? why : "no reason given");
    else
        (void)snprintf(out->why, sizeof out->why, "supports() answered %d: %s", (int)answer, why ? why : "no reason");
}

void qst__support_of(const qst__set *set, const qst_device *device, const qst_key *key, uint32_t class_bit,
                     const qst__settings *settings, qst__support *out)
{
    for (uint32_t i = 0; i < set->n_candidates; i++) {
        const qst__candidate *c = &set->candidates[i];
        const char           *why = NULL;
        memset(&out[i], 0, sizeof out[i]);
        if (!(c->desc.classes & class_bit)) {
            out[i].answer = QST__SUPPORT_CLASS;
            (void)snprintf(out[i].why, sizeof out[i].why, "%s is asked for, it gives %s", class_word(class_bit),
                           class_word(c->desc.classes));
        } else if (!allowed(set, i, settings, &why)) {
            out[i].answer = QST__SUPPORT_REFUSED;
            (void)snprintf(out[i].why, sizeof out[i].why, "%s", why ? why : "refused");
        } else {
            ask(c, device, key, &out[i]);
            if (i == set->fallback && out[i].answer != QST__SUPPORT_NO && settings &&
                !qst__settings_allow(settings, c->name, &why))
                out[i].answer = QST__SUPPORT_LAST;
        }
    }
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

/* One membership of one candidate, with the priorities for this key. */
typedef struct entry {
    int32_t  level;
    int32_t  bucket;
    uint32_t candidate;
    uint32_t group;
    bool     gone;
} entry;

/* Highest level first, in it highest bucket first, in it the order of registration. */
static int by_priority(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->level != y->level)
        return x->level > y->level ? -1 : 1;
    if (x->bucket != y->bucket)
        return x->bucket > y->bucket ? -1 : 1;
    if (x->candidate != y->candidate)
        return x->candidate < y->candidate ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

typedef struct entries {
    entry   *data;
    uint32_t count;
} entries;

static bool collect(const qst__alloc *alloc, const qst__set *set, const qst_device *device, const qst_key *key,
                    const qst__support *support, entries *out)
{
    size_t most = 0;
    for (uint32_t i = 0; i < set->n_candidates; i++)
        most += set->candidates[i].desc.n_memberships;
    out->data = qst__zalloc_array(alloc, most, sizeof *out->data);
    if (!out->data)
        return false;
    for (uint32_t i = 0; i < set->n_candidates; i++) {
        const qst__candidate *c = &set->candidates[i];
        bool                  possible = support[i].answer == QST__SUPPORT_OK || support[i].answer == QST__SUPPORT_POOR;
        for (uint32_t m = 0; possible && m < c->desc.n_memberships; m++)
            out->data[out->count++] = (entry){
                .level = qst__group_priority(&set->groups[c->groups[m]], device, key),
                .bucket = qst__member_priority(c, m, device, key),
                .candidate = i,
                .group = c->groups[m],
            };
    }
    qsort(out->data, out->count, sizeof *out->data, by_priority);
    return true;
}

/* The candidates of [from, to) have come out of these groups: they do not come out of the same ones again. */
static void strike(entries *list, uint32_t from, uint32_t to)
{
    for (uint32_t p = from; p < to; p++)
        for (uint32_t e = to; !list->data[p].gone && e < list->count; e++)
            if (list->data[e].candidate == list->data[p].candidate && list->data[e].group == list->data[p].group)
                list->data[e].gone = true;
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

static uint32_t filled(const qst__rounds *rounds)
{
    return rounds->start[rounds->n_rounds + 1];
}

/* Puts a candidate into the open round, unless it has come out before. start[n_rounds + 1] is the open round's end. */
static void put(qst__rounds *rounds, uint32_t candidate)
{
    if (rounds->round_of[candidate])
        return;
    rounds->round_of[candidate] = rounds->n_rounds + 1;
    rounds->order[rounds->start[rounds->n_rounds + 1]++] = candidate;
}

/* Ends the open round and opens the next; an empty one stays open. */
static void close_round(qst__rounds *rounds)
{
    if (filled(rounds) == rounds->start[rounds->n_rounds])
        return;
    rounds->n_rounds++;
    rounds->start[rounds->n_rounds + 1] = rounds->start[rounds->n_rounds];
}

static void put_ungrouped(qst__rounds *rounds, const qst__set *set, const qst__support *support)
{
    for (uint32_t i = 0; i < set->n_candidates; i++)
        if (set->candidates[i].desc.n_memberships == 0 && support[i].answer == QST__SUPPORT_OK)
            put(rounds, i);
}

/* Takes one bucket after the other, from the top; one that gives nothing new makes no round. So the ungrouped ones,
 * which the open round already holds, race against the first bucket that has somebody to race. */
static void put_levels(qst__rounds *rounds, const qst__support *support, entries *list)
{
    for (uint32_t from = 0, to; from < list->count; from = to) {
        const entry *first = &list->data[from];
        uint32_t     before = filled(rounds);
        for (to = from; to < list->count; to++) {
            const entry *e = &list->data[to];
            if (e->level != first->level || e->bucket != first->bucket)
                break;
            bool lets_in = !e->gone && e->level >= 0 && e->bucket >= 0;
            if (lets_in && support[e->candidate].answer == QST__SUPPORT_OK)
                put(rounds, e->candidate);
        }
        strike(list, from, to);
        if (filled(rounds) > before)
            close_round(rounds);
    }
    close_round(rounds);
}

/* Those that are only POOR here, where no group or one that is not negative lets them in. */
static void put_last_resort(qst__rounds *rounds, const qst__set *set, const qst__support *support, const entries *list)
{
    for (uint32_t i = 0; i < set->n_candidates; i++) {
        bool in = set->candidates[i].desc.n_memberships == 0;
        if (support[i].answer != QST__SUPPORT_POOR)
            continue;
        for (uint32_t e = 0; !in && e < list->count; e++)
            in = list->data[e].candidate == i && list->data[e].level >= 0 && list->data[e].bucket >= 0;
        if (in)
            put(rounds, i);
    }
    close_round(rounds);
}

qst_status qst__rounds_init(qst__rounds *rounds, const qst__alloc *alloc, const qst__set *set, const qst_device *device,
                            const qst_key *key, const qst__support *support)
{
    uint32_t n = set->n_candidates;
    entries  list = {0};
    *rounds = (qst__rounds){.alloc = alloc};
    rounds->order = qst__zalloc_array(alloc, n, sizeof *rounds->order);
    rounds->start = qst__zalloc_array(alloc, (size_t)n + 2, sizeof *rounds->start);
    rounds->round_of = qst__zalloc_array(alloc, n, sizeof *rounds->round_of);
    if (!rounds->order || !rounds->start || !rounds->round_of || !collect(alloc, set, device, key, support, &list)) {
        qst__rounds_finish(rounds);
        return QST_E_NOMEM;
    }
    put_ungrouped(rounds, set, support);
    put_levels(rounds, support, &list);
    put_last_resort(rounds, set, support, &list);
    if (set->fallback < n &&
        (support[set->fallback].answer == QST__SUPPORT_OK || support[set->fallback].answer == QST__SUPPORT_POOR ||
         support[set->fallback].answer == QST__SUPPORT_LAST))
        put(rounds, set->fallback);
    close_round(rounds);
    qst__free(alloc, list.data);
    return QST_OK;
}

void qst__rounds_finish(qst__rounds *rounds)
{
    if (!rounds || !rounds->alloc)
        return;
    qst__free(rounds->alloc, rounds->order);
    qst__free(rounds->alloc, rounds->start);
    qst__free(rounds->alloc, rounds->round_of);
    memset(rounds, 0, sizeof *rounds);
}

const char *qst__rounds_skip_reason(const qst__set *set, const qst__rounds *rounds, const qst__support *support,
                                    uint32_t candidate)
{
    bool possible = support[candidate].answer == QST__SUPPORT_OK || support[candidate].answer == QST__SUPPORT_POOR;
    if (!possible || rounds->round_of[candidate] || set->candidates[candidate].desc.n_memberships == 0)
        return NULL;
    return "every priority of its groups is negative for this key";
}
