/* SPDX-License-Identifier: MIT
 *
 * stats.c: what samples say: whether there are enough, and who goes. */
#include "model/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- One candidate ----------------------------------------------------------------------------------------------- */

/* Reliable samples are a tail of the array; this is where it begins. */
static uint32_t first_reliable(const qst__samples *samples)
{
    return samples->count < 3 ? 0 : 1;
}

void qst__samples_push(qst__samples *samples, uint64_t ns, uint32_t round)
{
    if (ns == 0 || samples->count >= QST__SAMPLES_MAX)
        return;
    samples->ns[samples->count] = ns;
    samples->round[samples->count] = round < UINT16_MAX ? (uint16_t)round : UINT16_MAX;
    samples->count++;
    if (samples->count == 3) { /* the first stops to count: what it set as best does, too */
        samples->best = samples->ns[1] < ns ? samples->ns[1] : ns;
        samples->stalled = 0;
        return;
    }
    bool gained = samples->count == 1 || (double)ns < QST__STALL_GAIN * (double)samples->best;
    samples->stalled = gained ? 0 : samples->stalled + 1;
    if (samples->count == 1 || ns < samples->best)
        samples->best = ns;
}

bool qst__samples_converged(const qst__samples *samples)
{
    return samples->stalled >= QST__STALLS;
}

bool qst__samples_under(const qst__samples *samples, uint64_t limit, uint32_t times)
{
    uint32_t under = 0;
    for (uint32_t i = 0; i < samples->count; i++)
        under += samples->ns[i] <= limit;
    return under >= times;
}

uint64_t qst__samples_min(const qst__samples *samples)
{
    return samples->best;
}

/* The reliable samples as numbers; returns how many. */
static uint32_t reliable(const qst__samples *samples, double values[QST__SAMPLES_MAX])
{
    uint32_t n = 0;
    for (uint32_t i = first_reliable(samples); i < samples->count; i++)
        values[n++] = (double)samples->ns[i];
    return n;
}

uint64_t qst__samples_median(const qst__samples *samples)
{
    double   values[QST__SAMPLES_MAX];
    uint32_t n = reliable(samples, values);
    return (uint64_t)qst__median(values, n);
}

double qst__samples_spread(const qst__samples *samples)
{
    double   values[QST__SAMPLES_MAX];
    uint32_t n = reliable(samples, values);
    if (n < 3)
        return 0.0;
    double median = qst__median(values, n);
    return (qst__quantile(values, n, 0.75) - qst__quantile(values, n, 0.25)) / median;
}

uint64_t qst__samples_promise(const qst__samples *samples)
{
    uint64_t least = samples->best;
    for (uint32_t i = 0; i < samples->count; i++)
        if (samples->ns[i] < least)
            least = samples->ns[i];
    return least;
}

/* ---- Elimination ------------------------------------------------------------------------------------------------- */

uint32_t qst__samples_eliminate(const qst__samples *const *samples, const bool *live, uint32_t n, uint32_t min_samples,
                                double factor, bool *out)
{
    uint64_t least = 0;
    uint32_t n_live = 0, gone = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t best = samples[i]->best;
        out[i] = false;
        n_live += live[i];
        if (live[i] && best && (least == 0 || best < least))
            least = best;
    }
    while (gone + 2 < n_live) {
        uint32_t slowest = n;
        for (uint32_t i = 0; i < n; i++) {
            bool goes = live[i] && !out[i] && samples[i]->count >= min_samples &&
                        (double)qst__samples_promise(samples[i]) > factor * (double)least;
            if (goes && (slowest == n || samples[i]->best >= samples[slowest]->best))
                slowest = i;
        }
        if (slowest == n)
            break;
        out[slowest] = true;
        gone++;
    }
    return gone;
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double qst__median(double *values, uint32_t n)
{
    if (n == 0)
        return 0.0;
    qsort(values, n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2.0;
}

double qst__quantile(double *values, uint32_t n, double q)
{
    if (n == 0)
        return 0.0;
    qsort(values, n, sizeof *values, by_value);
    double   rank = q * (double)n; /* nearest rank: the least one that is no less than this, from 1 */
    uint32_t at = rank > 0.0 ? (uint32_t)rank : 0;
    if (at < rank)
        at++;
    if (at > n)
        at = n;
    return values[at ? at - 1 : 0];
}
