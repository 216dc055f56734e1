/* SPDX-License-Identifier: MIT
 *
 * The decision: which of the right candidates serves, and in which order the others step in. It depends on the
 * findings alone, not on the order in which they stand. */
#include "tune/compare.h"

#include <math.h>
#include <string.h>

/* Is `a` preferred where times cannot tell the two apart? */
static bool preferred(const qst__finding *a, const qst__finding *b)
{
    if (a->launches != b->launches)
        return a->launches < b->launches;
    if (a->workspace != b->workspace)
        return a->workspace < b->workspace;
    return strcmp(a->name, b->name) < 0;
}

/* How many samples were under the roof; counts only where the roof ended the comparison, for then a candidate with less
 * evidence than another does not win on one lucky sample. */
static uint32_t evidence(const qst__verdict *verdict, uint32_t i)
{
    const qst__samples *samples = &verdict->findings[i].samples;
    uint32_t            count = 0;

    if ((verdict->flags & (QST__VERDICT_ROOF | QST__VERDICT_COMPARED)) != QST__VERDICT_ROOF || !verdict->limit_ns)
        return 0;
    while (count < samples->count && qst__samples_under(samples, verdict->limit_ns, count + 1))
        count++;
    return count;
}

/* Puts those that may win into order[0 … n): the survivors, or whoever was timed where none survived. */
static uint32_t gather_finalists(qst__verdict *verdict)
{
    static const uint32_t outcomes[] = {QST__OUTCOME_TIMED, QST__OUTCOME_ELIMINATED};
    uint32_t              n = 0, most = 0;

    for (uint32_t k = 0; k < 2 && n == 0; k++) {
        for (uint32_t i = 0; i < verdict->n; i++) {
            uint32_t mine;
            if (verdict->findings[i].outcome != outcomes[k] || !verdict->findings[i].samples.count)
                continue;
            mine = evidence(verdict, i);
            if (mine < most)
                continue;
            if (mine > most)
                n = 0;
            most = mine;
            verdict->order[n++] = i;
        }
    }
    return n;
}

/* Does `a` stand before `b` where neither won? Timed ones by median, then others by estimate. */
static bool stands_before(const qst__finding *a, const qst__finding *b)
{
    bool     a_timed = a->samples.count > 0, b_timed = b->samples.count > 0;
    uint64_t a_ns, b_ns;

    if (a_timed != b_timed)
        return a_timed;
    if (a_timed) {
        a_ns = qst__samples_median(&a->samples);
        b_ns = qst__samples_median(&b->samples);
        return a_ns != b_ns ? a_ns < b_ns : preferred(a, b);
    }
    if ((a->estimate_ns > 0) != (b->estimate_ns > 0))
        return a->estimate_ns > 0;
    if (a->estimate_ns < b->estimate_ns || a->estimate_ns > b->estimate_ns)
        return a->estimate_ns < b->estimate_ns;
    return preferred(a, b);
}

/* Lets the one at `root` sink to its place in the heap of n whose top stands last. */
static void sink(const qst__finding *findings, uint32_t *who, uint32_t n, uint32_t root)
{
    for (uint32_t child; (child = 2 * root + 1) < n; root = child) {
        uint32_t moved = who[root];
        if (child + 1 < n && stands_before(&findings[who[child]], &findings[who[child + 1]]))
            child++;
        if (!stands_before(&findings[moved], &findings[who[child]]))
            return;
        who[root] = who[child];
        who[child] = moved;
    }
}

/* By stands_before: a sort in place, for a decision has no memory of its own. */
static void sort(const qst__finding *findings, uint32_t *who, uint32_t n)
{
    for (uint32_t root = n / 2; root-- > 0;)
        sink(findings, who, n, root);
    for (uint32_t end = n; end-- > 1;) {
        uint32_t last = who[0];
        who[0] = who[end];
        who[end] = last;
        sink(findings, who, end, 0);
    }
}

/* The winner among the first n in `who`, by all of their samples. The surest to be fast is: one with few samples had less
 * luck to lose. */
static uint32_t pick(const qst__finding *findings, const uint32_t *who, uint32_t n)
{
    qst__series series = {.first = &findings[0].samples, .stride = sizeof *findings};
    qst__fit    fit;
    uint32_t    fastest = 0, winner;

    qst__compare(&fit, series, who, n);
    for (uint32_t k = 1; k < n; k++) {
        double mine = qst__fit_ceiling(&fit, k), least = qst__fit_ceiling(&fit, fastest);
        if (mine < least || (mine <= least && preferred(&findings[who[k]], &findings[who[fastest]])))
            fastest = k;
    }
    winner = fastest;
    for (uint32_t k = 0; k < n; k++)
        if (k != fastest && preferred(&findings[who[k]], &findings[who[winner]]) && qst__fit_tied(&fit, k, fastest))
            winner = k;
    return who[winner];
}

/* The same by medians alone. */
static uint32_t pick_by_median(const qst__finding *findings, const uint32_t *who, uint32_t n)
{
    double   least = (double)qst__samples_median(&findings[who[0]].samples);
    uint32_t winner = 0;

    for (uint32_t k = 1; k < n; k++)
        if (preferred(&findings[who[k]], &findings[who[winner]]) &&
            (double)qst__samples_median(&findings[who[k]].samples) <= (1 + QST__TIE) * least)
            winner = k;
    return who[winner];
}

/* The winner among the n finalists in order[]; sorts them. Only the first by median are compared by all of their samples,
 * so that the work does not grow with the set. */
static uint32_t find_winner(qst__verdict *verdict, uint32_t n)
{
    uint32_t rivals = n < QST__FIT_MAX ? n : QST__FIT_MAX;

    sort(verdict->findings, verdict->order, n);
    if (verdict->flags & QST__VERDICT_MEDIANS)
        return pick_by_median(verdict->findings, verdict->order, n);
    return pick(verdict->findings, verdict->order, rivals);
}

void qst__decide(qst__verdict *verdict)
{
    uint32_t n = gather_finalists(verdict);
    uint32_t winner = n ? find_winner(verdict, n) : ~0u;
    uint32_t first = n ? 1 : 0;

    verdict->n_order = first;
    if (n)
        verdict->order[0] = winner;
    for (uint32_t i = 0; i < verdict->n; i++)
        if (i != winner && qst__outcome_right(verdict->findings[i].outcome))
            verdict->order[verdict->n_order++] = i;
    sort(verdict->findings, verdict->order + first, verdict->n_order - first);
}

void qst__decide_place(qst__verdict *verdict, uint32_t candidate)
{
    uint32_t *order = verdict->order, n = 0, low = 0, high;

    for (uint32_t k = 0; k < verdict->n_order; k++)
        if (order[k] != candidate)
            order[n++] = order[k];
    verdict->n_order = n;
    if (!qst__outcome_right(verdict->findings[candidate].outcome))
        return;
    for (high = n; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (stands_before(&verdict->findings[candidate], &verdict->findings[order[middle]]))
            high = middle;
        else
            low = middle + 1;
    }
    memmove(order + low + 1, order + low, (n - low) * sizeof *order);
    order[low] = candidate;
    verdict->n_order++;
}
