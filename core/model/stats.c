/* SPDX-License-Identifier: MIT
 *
 * stats.c: what samples say: whether there are enough, who goes, who is faster and by how much that is sure. */
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

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

/* Half-width of a 95 % confidence interval of the median of n ratios, in units of their MAD (the median distance from
 * their median): P(|median| ≤ HALF_WIDTH[n] · MAD) = 0.95 for n independent draws of one normal distribution. For
 * large n it tends to 1.96 · 1.2533 · 1.4826 / √n (1.2533 = √(π/2): a median's standard error over the mean's; 1.4826 =
 * 1 / Φ⁻¹(0.75): standard deviation over MAD; both textbook values), but the few samples here make MAD itself
 * uncertain, and too small on the average. So the numbers were found by simulation, 400 000 draws for each n; n = 2
 * is Student's t of one degree of freedom, 12.7, as it must be. MAD rather than the standard deviation, because one
 * disturbed sample must not widen the band. Beyond the table the limit stands with what 32 draws need over it. */
enum { WIDTHS = 32 };
static const double HALF_WIDTH[WIDTHS + 1] = {
    0,    0,    12.7, 18.5,  4.75,  4.24,  2.67,  2.50,  1.94,  1.86,  1.58,  1.53,  1.35,  1.33,  1.20,  1.18,  1.09,
    1.08, 1.01, 1.00, 0.935, 0.929, 0.883, 0.875, 0.834, 0.826, 0.793, 0.787, 0.758, 0.754, 0.726, 0.724, 0.700,
};

static double clamp_band(double band, double floor)
{
    if (band > QST__BAND_MAX)
        band = QST__BAND_MAX;
    return band > floor ? band : floor;
}

static double half_width(uint32_t n)
{
    return n <= WIDTHS ? HALF_WIDTH[n] : 3.642 / sqrt(n) * (1 + 2.8 / n);
}

static double noise_of(double *ratios, uint32_t n, double median)
{
    if (n < 2)
        return INFINITY;
    for (uint32_t i = 0; i < n; i++)
        ratios[i] = ratios[i] > median ? ratios[i] - median : median - ratios[i];
    return half_width(n) * qst__median(ratios, n);
}

/* The ratios of samples of equal rounds, which ascend in both; `late`: without either's first sample. */
static uint32_t pair_up(const qst__samples *a, const qst__samples *b, bool late, double ratios[QST__SAMPLES_MAX])
{
    uint32_t n = 0;
    for (uint32_t i = late, k = late; i < a->count && k < b->count;) {
        if (a->round[i] == b->round[k])
            ratios[n++] = (double)a->ns[i++] / (double)b->ns[k++];
        else if (a->round[i] < b->round[k])
            i++;
        else
            k++;
    }
    return n;
}

uint32_t qst__samples_jumps(const qst__samples *a, const qst__samples *b, double *jumps, uint32_t room)
{
    double   ratios[QST__SAMPLES_MAX];
    uint32_t pairs = pair_up(a, b, false, ratios), n = 0;
    for (uint32_t i = 1; i < pairs && n < room; i++)
        jumps[n++] = fabs(ratios[i] / ratios[i - 1] - 1);
    return n;
}

qst__pairing qst__samples_pair(const qst__samples *a, const qst__samples *b, double floor)
{
    double       ratios[QST__SAMPLES_MAX];
    qst__pairing pairing = {.pairs = pair_up(a, b, false, ratios), .least = INFINITY};
    for (uint32_t i = 0; i < pairing.pairs; i++)
        pairing.least = ratios[i] < pairing.least ? ratios[i] : pairing.least;
    uint32_t late = pair_up(a, b, true, ratios);
    pairing.pairs = late < 3 ? pair_up(a, b, false, ratios) : late;
    if (pairing.pairs == 0) {
        double under = (double)qst__samples_median(b);
        pairing.ratio = under > 0.0 ? (double)qst__samples_median(a) / under : 0.0;
    } else {
        pairing.ratio = qst__median(ratios, pairing.pairs);
    }
    pairing.noise = noise_of(ratios, pairing.pairs, pairing.ratio);
    pairing.band = clamp_band(pairing.noise, floor);
    return pairing;
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
