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

/* How many samples were under the roof; counts only where the roof ended the tuning, for then a candidate with less
 * evidence than another does not win on one lucky sample. */
static uint32_t evidence(const qst__verdict *verdict, uint32_t i)
{
    const qst__samples *samples = &verdict->findings[i].samples;
    uint32_t            count = 0;

    if (!(verdict->flags & QST__VERDICT_ROOF) || !verdict->limit_ns)
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

/* The winner among the n finalists in order[]. */
static uint32_t find_winner(const qst__verdict *verdict, uint32_t n)
{
    const qst__finding *findings = verdict->findings;
    const uint32_t     *who = verdict->order;
    qst__series         series = {.first = &findings[0].samples, .stride = sizeof *findings};
    uint32_t            fastest = who[0], winner;
    double              least = INFINITY;

    for (uint32_t k = 0; n > 1 && k < n; k++) {
        double score = verdict->flags & QST__VERDICT_MEDIANS ? (double)qst__samples_median(&findings[who[k]].samples)
                                                             : qst__score(series, who, n, k);
        if (score < least || (score <= least && preferred(&findings[who[k]], &findings[fastest]))) {
            least = score;
            fastest = who[k];
        }
    }
    winner = fastest;
    for (uint32_t k = 0; k < n; k++)
        if (who[k] != fastest && preferred(&findings[who[k]], &findings[winner]) &&
            qst__compare_tied(qst__compare(&findings[who[k]].samples, &findings[fastest].samples)))
            winner = who[k];
    return winner;
}
/* Does `a` stand before `b` among those that did not win? Timed ones by median, then others by estimate. */
static bool stands_before(const qst__finding *a, const qst__finding *b)
{
    bool a_timed = a->samples.count > 0, b_timed = b->samples.count > 0;

    if (a_timed != b_timed)
        return a_timed;
    if (a_timed && qst__samples_median(&a->samples) != qst__samples_median(&b->samples))
        return qst__samples_median(&a->samples) < qst__samples_median(&b->samples);
    if (!a_timed && (a->estimate_ns > 0) != (b->estimate_ns > 0))
        return a->estimate_ns > 0;
    if (!a_timed && (a->estimate_ns < b->estimate_ns || a->estimate_ns > b->estimate_ns))
        return a->estimate_ns < b->estimate_ns;
    return preferred(a, b);
}

void qst__decide(qst__verdict *verdict)
{
    uint32_t n = gather_finalists(verdict);
    uint32_t winner = n ? find_winner(verdict, n) : ~0u;

    verdict->n_order = 0;
    if (n)
        verdict->order[verdict->n_order++] = winner;
    for (uint32_t i = 0; i < verdict->n; i++) {
        uint32_t at = verdict->n_order;
        if (i == winner || !qst__outcome_right(verdict->findings[i].outcome))
            continue;
        for (; at > (n ? 1u : 0u); at--) {
            if (!stands_before(&verdict->findings[i], &verdict->findings[verdict->order[at - 1]]))
                break;
            verdict->order[at] = verdict->order[at - 1];
        }
        verdict->order[at] = i;
        verdict->n_order++;
    }
}
