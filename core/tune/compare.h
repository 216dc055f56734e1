/* SPDX-License-Identifier: MIT
 *
 * compare.h: how times of candidates are compared, the same way while sampling and in the decision. Internal to tune/.
 *
 * A sample is its candidate's time, times how slow its round was, times noise. Candidates and rounds are fitted to all
 * samples by medians, in turn. So no sample is lost that was taken beside somebody other than the leader of now, and how
 * noisy the host is all candidates tell together, which counts while each has a few samples.
 */
#ifndef QST_TUNE_COMPARE_H
#define QST_TUNE_COMPARE_H

#include "model/stats.h"
#include "tune/tuner.h"

#include <stddef.h>

/* A doubt holds with 95 %; a tuning makes many comparisons, so to end one it is widened by the first of these (for a
 * normal distribution: 99.7 %), to let somebody go by the second: the leader is the luckiest of many. */
#define QST__TIE_WIDTH 1.5
#define QST__GO_WIDTH  2.0

/* In the decision a ratio is a tie when it is nearer to 1 than the first of these: a fixed width rather than the doubt itself,
 * because an estimated one varies from tuning to tuning, and picks near its edge with it. Where the widened doubt is over the
 * second nothing is a tie: there two tunings agree best where each takes what it saw as fastest, and a name is worth less than
 * what it may cost. */
#define QST__TIE       0.015
#define QST__TIE_BLIND 0.025
/* While sampling, a ratio nearer to 1 than the first of these is in doubt, unless each has so many samples and the doubt is
 * no larger than the floor: fewer agree by chance now and then. */
#define QST__TIE_DOUBT    0.06
#define QST__SURE_SAMPLES 9u
#define QST__SURE_LONG    5u /* where runs are long */
/* Who is, doubt and all, faster than the leader by no more than this is no contender: the leader costs no more. */
#define QST__TIE_LOSS 0.02
/* Where the least times of two differ from what their samples say by more than this, few samples may mislead. */
#define QST__TIE_MISLED 0.1

#define QST__FIT_MAX 64u /* candidates */

/* Samples of candidates 0, 1, … at equal distances in memory. */
typedef struct qst__series {
    const qst__samples *first;
    size_t              stride; /* bytes */
} qst__series;

static inline const qst__samples *qst__series_at(qst__series series, uint32_t candidate)
{
    return (const qst__samples *)(const void *)((const char *)series.first + candidate * series.stride);
}

/* What was fitted, by the places of candidates in the list that was given. */
typedef struct qst__fit {
    uint32_t n;
    double   level[QST__FIT_MAX];   /* logarithm of its time; infinite: it has no samples */
    uint32_t samples[QST__FIT_MAX]; /* that were taken beside others, and count: see stats.h for the first one */
    double   sigma;                 /* standard deviation of a sample, relative; infinite: not known */
} qst__fit;

/* Fits the n of the list, QST__FIT_MAX at most; what comes out does not depend on their order. */
void qst__compare(qst__fit *fit, qst__series series, const uint32_t *who, uint32_t n);

/* The time of a over b's; the half-width of that ratio that holds with 95 %, infinite where it is not known; the level of
 * one with half of its own doubt on top, about a standard error. */
double qst__fit_ratio(const qst__fit *fit, uint32_t a, uint32_t b);
double qst__fit_doubt(const qst__fit *fit, uint32_t a, uint32_t b);
double qst__fit_ceiling(const qst__fit *fit, uint32_t a);

bool qst__fit_tied(const qst__fit *fit, uint32_t a, uint32_t b);

/* Undecided, and more samples of a and the leader b may change that: a may be faster, as far as the doubt of their ratio
 * goes; or the least times, a's over b's, say something quite different, as on a host with two speeds. `sure`: samples of
 * each before a near ratio is believed. */
bool qst__fit_open(const qst__fit *fit, uint32_t a, uint32_t b, uint32_t sure, double least);

#endif
