/* SPDX-License-Identifier: MIT
 *
 * The decision: which of the right candidates serves, and in which order the others step in. It depends on the
 * findings alone, not on the order in which they stand. */
#include "tune/compare.h"

#include <math.h>
#include <string.h>

enum { RIVALS_MAX = 64 }; /* finalists that are compared pair by pair */

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

/* Who stands before the others by all of them may still be slower than one with whom it was paired often; of several
 * the one that is most surely so. */
static uint32_t beaten_by(const qst__finding *findings, const uint32_t *who, uint32_t n, uint32_t fastest)
{
    uint32_t better = fastest;
    double   least = INFINITY;

    for (uint32_t k = 0; k < n; k++) {
        qst__pairing pairing = qst__compare(&findings[who[k]].samples, &findings[fastest].samples);
        if (who[k] != fastest && pairing.pairs >= QST__SURE_PAIRS && pairing.ratio < 1 &&
            pairing.ratio + pairing.noise < least) {
            least = pairing.ratio + pairing.noise;
            better = who[k];
        }
    }
    return better;
}

/* The winner among the n finalists in order[]; sorts them. Only the first by median are compared pair by pair, so that
 * the work does not grow with the square of the set. */
static uint32_t find_winner(qst__verdict *verdict, uint32_t n)
{
    const qst__finding *findings = verdict->findings;
    uint32_t           *who = verdict->order, rivals = n < RIVALS_MAX ? n : RIVALS_MAX;
    qst__series         series = {.first = &findings[0].samples, .stride = sizeof *findings};
    uint32_t            fastest, winner;
    double              least = INFINITY;

    sort(findings, who, n);
    fastest = who[0];
    for (uint32_t k = 0; rivals > 1 && !(verdict->flags & QST__VERDICT_MEDIANS) && k < rivals; k++) {
        double score = qst__score(series, who, rivals, k);
        if (score < least || (score <= least && preferred(&findings[who[k]], &findings[fastest]))) {
            least = score;
            fastest = who[k];
        }
    }
    if (!(verdict->flags & QST__VERDICT_MEDIANS))
        fastest = beaten_by(findings, who, rivals, fastest);
    winner = fastest;
    for (uint32_t k = 0; k < n; k++)
        if (who[k] != fastest && preferred(&findings[who[k]], &findings[winner]) &&
            qst__compare_tied(qst__compare(&findings[who[k]].samples, &findings[fastest].samples)))
            winner = who[k];
    return winner;
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
