/* SPDX-License-Identifier: MIT
 *
 * compare.h: how times of candidates are compared, the same way while sampling and in the decision. Internal to tune/.
 */
#ifndef QST_TUNE_COMPARE_H
#define QST_TUNE_COMPARE_H

#include "model/stats.h"
#include "tune/tuner.h"

#include <stddef.h>

/* The band of a pairing holds with 95 %; a tuning makes many comparisons, so here it is wider by this factor (for a
 * normal distribution: 99.7 %). It tells whether a host is quiet, and whether more samples are worth taking. */
#define QST__TIE_WIDTH 1.5

/* In the decision a ratio is a tie when it is nearer to 1 than the first of these on a quiet host (where the band is no
 * wider than that), than the second on a noisy one. Two steps rather than the band itself, because a band estimated
 * from some twenty pairs varies by a fifth from tuning to tuning, and picks near its edge with it. Beyond the second
 * step the median is a better guide than a name, however wide the band. */
#define QST__TIE_QUIET 0.015
#define QST__TIE_NOISY 0.02
/* While sampling, a ratio nearer to 1 than the first of these is in doubt, unless so many pairs have a band no wider
 * than the floor: fewer have one by chance now and then. */
#define QST__TIE_DOUBT  0.06
#define QST__SURE_PAIRS 9u
#define QST__SURE_LONG  5u /* where runs are long, and the noise of all candidates tells that of one */
/* Who is, band and all, faster than the leader by no more than this is no contender: the leader costs no more. */
#define QST__TIE_LOSS 0.02

/* Samples of candidates 0, 1, … at equal distances in memory. */
typedef struct qst__series {
    const qst__samples *first;
    size_t              stride; /* bytes */
} qst__series;

static inline const qst__samples *qst__series_at(qst__series series, uint32_t candidate)
{
    return (const qst__samples *)(const void *)((const char *)series.first + candidate * series.stride);
}

qst__pairing qst__compare(const qst__samples *a, const qst__samples *b); /* with the wider band */
bool         qst__compare_tied(qst__pairing pairing);

/* Undecided, and more samples of `a` and the leader `b` may change that: `a` may be faster, as far as the doubt of
 * their ratio (a half-width of 95 %) goes; or the least times say something quite different, as on a host with two
 * speeds, where few pairs mislead. `sure`: pairs before a near ratio is believed. */
bool qst__compare_open(qst__pairing pairing, double doubt, uint32_t sure, const qst__samples *a, const qst__samples *b);

/* The median of the pair ratios of who[at] against the others among who[0 … n): the least is the fastest. */
double qst__score(qst__series series, const uint32_t *who, uint32_t n, uint32_t at);

#endif
