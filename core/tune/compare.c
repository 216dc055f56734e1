/* SPDX-License-Identifier: MIT
 *
 * Fitting candidates and rounds to samples, and what follows for two of them. */
#include "tune/compare.h"

#include <math.h>
#include <string.h>

enum { PASSES = 2 }; /* from a good beginning; a third moves levels by no more than a tenth of their doubt */

#define SIGMA_OF_MAD 1.4826 /* standard deviation over median distance: 1 / Φ⁻¹(0.75) */
#define HALF_WIDTH   2.4565 /* of a median of n draws, with 95 %, in units of σ / √n: 1.96 √(π/2) */

/* What the passes work on: for each candidate its samples, which of them is next, and their logarithms less how slow their
 * rounds were. */
typedef struct work {
    const qst__samples *samples[QST__FIT_MAX];
    uint32_t            next[QST__FIT_MAX];
    uint32_t            n_rest[QST__FIT_MAX];
    float               rest[QST__FIT_MAX][QST__SAMPLES_MAX];
    uint32_t            rounds; /* with two samples or more: those tell something */
} work;

static uint32_t first_that_counts(const qst__samples *samples)
{
    return samples->count < 3 ? 0 : 1;
}

/* The least round that anybody still has a sample of; false: none is left. */
static bool next_round(const work *w, uint32_t n, uint32_t *round)
{
    bool any = false;

    for (uint32_t k = 0; k < n; k++) {
        const qst__samples *s = w->samples[k];
        if (w->next[k] < s->count && (!any || s->round[w->next[k]] < *round)) {
            *round = s->round[w->next[k]];
            any = true;
        }
    }
    return any;
}

/* The mean of the middle half; sorts. */
static double middle(double *values, uint32_t n)
{
    double   sum = 0;
    uint32_t out = n / 4;

    qst__median(values, n);
    for (uint32_t i = out; i < n - out; i++)
        sum += values[i];
    return sum / (n - 2 * out);
}

/* How slow each round was, by the levels as they stand: what its samples are over them. Into rest. Here no median: of
 * three it would be one of them, with no noise left. */
static void take_rounds_off(work *w, const qst__fit *fit)
{
    double   over[QST__FIT_MAX], sorted[QST__FIT_MAX];
    uint32_t who[QST__FIT_MAX], round = 0;

    w->rounds = 0;
    memset(w->n_rest, 0, sizeof w->n_rest);
    for (uint32_t k = 0; k < fit->n; k++)
        w->next[k] = first_that_counts(w->samples[k]);
    while (next_round(w, fit->n, &round)) {
        uint32_t n = 0;
        double   slowness;
        for (uint32_t k = 0; k < fit->n; k++) {
            const qst__samples *s = w->samples[k];
            if (w->next[k] >= s->count || s->round[w->next[k]] != round)
                continue;
            over[n] = log((double)s->ns[w->next[k]++]) - fit->level[k];
            who[n++] = k;
        }
        if (n < 2)
            continue;
        w->rounds++;
        memcpy(sorted, over, n * sizeof *over);
        slowness = middle(sorted, n);
        for (uint32_t i = 0; i < n; i++)
            w->rest[who[i]][w->n_rest[who[i]]++] = (float)(fit->level[who[i]] + over[i] - slowness);
    }
}

/* The median of a candidate's rest; with `around`, of its distances from that. */
static double median_of(const work *w, uint32_t k, const double *around)
{
    double values[QST__SAMPLES_MAX];

    for (uint32_t i = 0; i < w->n_rest[k]; i++)
        values[i] = around ? fabs(w->rest[k][i] - *around) : (double)w->rest[k][i];
    return qst__median(values, w->n_rest[k]);
}

/* How much too small the median distance of n draws is on the average, by its inverse (Croux and Rousseeuw 1992). */
static double few(uint32_t n)
{
    static const double table[] = {0, 0, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};

    return n < sizeof table / sizeof *table ? table[n] : n / (n - 0.8);
}

/* By the distances of all from their candidates' medians; of n samples of a round n − 1 tell noise. */
static double sigma_of(const work *w, const qst__fit *fit)
{
    double   sum = 0;
    uint32_t n = 0;

    for (uint32_t k = 0; k < fit->n; k++) {
        if (w->n_rest[k] < 2)
            continue;
        sum += w->n_rest[k] * few(w->n_rest[k]) * median_of(w, k, &fit->level[k]);
        n += w->n_rest[k];
    }
    return n > w->rounds ? SIGMA_OF_MAD * sum / n * sqrt((double)n / (n - w->rounds)) : INFINITY;
}

/* The one with most samples, of these the fastest. */
static uint32_t find_base(const work *w, const qst__fit *fit)
{
    uint32_t base = 0;

    for (uint32_t k = 1; k < fit->n; k++) {
        uint32_t mine = w->samples[k]->count, most = w->samples[base]->count;
        if (mine > most || (mine == most && fit->level[k] < fit->level[base]))
            base = k;
    }
    return base;
}

/* The median of how much more the logarithms of a are than those of b in the rounds of both; *n of them. */
static double median_over(const qst__samples *a, const qst__samples *b, uint32_t *n)
{
    double   over[QST__SAMPLES_MAX];
    uint32_t i = first_that_counts(a), k = first_that_counts(b);

    for (*n = 0; i < a->count && k < b->count;) {
        if (a->round[i] == b->round[k])
            over[(*n)++] = log((double)a->ns[i++] / (double)b->ns[k++]);
        else if (a->round[i] < b->round[k])
            i++;
        else
            k++;
    }
    return qst__median(over, *n);
}

/* Where to begin: by what each shares with one, so that a host with two speeds does not matter, who missed which of them
 * or not; by its median where it shares nothing. */
static void begin(const work *w, qst__fit *fit)
{
    uint32_t base, shared;

    for (uint32_t k = 0; k < fit->n; k++)
        fit->level[k] = w->samples[k]->count ? log((double)qst__samples_median(w->samples[k])) : INFINITY;
    base = fit->n ? find_base(w, fit) : 0;
    for (uint32_t k = 0; k < fit->n; k++) {
        double over = k == base ? 0 : median_over(w->samples[k], w->samples[base], &shared);
        if (k != base && shared)
            fit->level[k] = fit->level[base] + over;
    }
}

void qst__compare(qst__fit *fit, qst__series series, const uint32_t *who, uint32_t n)
{
    work w;

    fit->n = n;
    for (uint32_t k = 0; k < n; k++)
        w.samples[k] = qst__series_at(series, who[k]);
    begin(&w, fit);
    for (int pass = 0; pass < PASSES; pass++) {
        take_rounds_off(&w, fit);
        for (uint32_t k = 0; k < n; k++)
            if (w.n_rest[k])
                fit->level[k] = median_of(&w, k, NULL);
    }
    memcpy(fit->samples, w.n_rest, sizeof fit->samples);
    fit->sigma = sigma_of(&w, fit);
}

double qst__fit_ratio(const qst__fit *fit, uint32_t a, uint32_t b)
{
    return exp(fit->level[a] - fit->level[b]);
}

double qst__fit_doubt(const qst__fit *fit, uint32_t a, uint32_t b)
{
    if (!fit->samples[a] || !fit->samples[b])
        return INFINITY;
    return HALF_WIDTH * fit->sigma * sqrt(1.0 / fit->samples[a] + 1.0 / fit->samples[b]);
}

double qst__fit_ceiling(const qst__fit *fit, uint32_t a)
{
    if (!fit->samples[a] || !isfinite(fit->sigma))
        return fit->level[a];
    return fit->level[a] + HALF_WIDTH / 2 * fit->sigma / sqrt(fit->samples[a]);
}

bool qst__fit_tied(const qst__fit *fit, uint32_t a, uint32_t b)
{
    double off = fabs(qst__fit_ratio(fit, a, b) - 1), doubt = QST__TIE_WIDTH * qst__fit_doubt(fit, a, b);

    return off <= QST__TIE && doubt <= QST__TIE_BLIND;
}

bool qst__fit_open(const qst__fit *fit, uint32_t a, uint32_t b, uint32_t sure, double least)
{
    double   ratio = qst__fit_ratio(fit, a, b), off = fabs(ratio - 1);
    double   doubt = QST__TIE_WIDTH * qst__fit_doubt(fit, a, b);
    uint32_t samples = fit->samples[a] < fit->samples[b] ? fit->samples[a] : fit->samples[b];

    if (samples >= sure && ratio - doubt >= 1 - QST__TIE_LOSS)
        return false;
    if (doubt <= QST__TIE_FLOOR && off <= QST__TIE_FLOOR)
        return false;
    if (off <= (doubt > QST__TIE_DOUBT ? doubt : QST__TIE_DOUBT))
        return true;
    return samples < sure && fabs(ratio / least - 1) > QST__TIE_MISLED;
}
