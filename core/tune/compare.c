/* SPDX-License-Identifier: MIT
 *
 * Comparing candidates by pairs of samples that were taken one soon after the other. */
#include "tune/compare.h"

#include <math.h>

enum { OPPONENTS_MAX = 256 }; /* a candidate is scored against so many others at most */

qst__pairing qst__compare(const qst__samples *a, const qst__samples *b)
{
    qst__pairing pairing = qst__samples_pair(a, b, 0);

    pairing.band *= QST__TIE_WIDTH;
    if (pairing.band < QST__TIE_FLOOR)
        pairing.band = QST__TIE_FLOOR;
    return pairing;
}

static double tie(qst__pairing pairing)
{
    return pairing.band <= QST__TIE_QUIET ? QST__TIE_QUIET : QST__TIE_NOISY;
}

bool qst__compare_tied(qst__pairing pairing)
{
    return fabs(pairing.ratio - 1) <= tie(pairing);
}

bool qst__compare_open(qst__pairing pairing, double doubt, uint32_t sure, const qst__samples *a, const qst__samples *b)
{
    double off = fabs(pairing.ratio - 1), band = isfinite(doubt) ? QST__TIE_WIDTH * doubt : pairing.band;
    double least = b->best ? (double)a->best / (double)b->best : 1;

    band = band < QST__TIE_FLOOR ? QST__TIE_FLOOR : band;
    if (pairing.pairs >= sure && pairing.ratio - band >= 1 - QST__TIE_LOSS)
        return false;
    if (band <= QST__TIE_FLOOR && off <= QST__TIE_FLOOR)
        return false;
    if (off <= (band > QST__TIE_DOUBT ? band : QST__TIE_DOUBT))
        return true;
    return pairing.pairs < 2 * sure && fabs(pairing.ratio / least - 1) > QST__BAND_MAX;
}

double qst__score(qst__series series, const uint32_t *who, uint32_t n, uint32_t at)
{
    double   ratios[OPPONENTS_MAX];
    uint32_t n_ratios = 0;

    for (uint32_t k = 0; k < n && n_ratios < OPPONENTS_MAX; k++)
        if (k != at)
            ratios[n_ratios++] =
                qst__samples_pair(qst__series_at(series, who[at]), qst__series_at(series, who[k]), 0).ratio;
    return qst__median(ratios, n_ratios);
}
