/* SPDX-License-Identifier: MIT
 *
 * stats.h: statistics of samples, and the rules by which samples end and candidates go (behaviour 5.3, 5.5 as the
 * design states them).
 */
#ifndef QST_MODEL_STATS_H
#define QST_MODEL_STATS_H

#include <stdbool.h>
#include <stdint.h>

#define QST__SAMPLES_MAX 128u

/* The samples of one candidate, in ns, with the sampling round each was taken in. */
typedef struct qst__samples {
    uint32_t count;
    uint32_t stalled; /* pushes since the best improved by 2 % or more */
    uint64_t best;    /* least of the reliable samples, 0: none */
    uint64_t ns[QST__SAMPLES_MAX];
    uint16_t round[QST__SAMPLES_MAX];
} qst__samples;

#define QST__STALL_GAIN 0.98 /* a new best must be under this times the old one */
#define QST__STALLS     2u   /* so many pushes without gain: converged */

/* Reliable: all while fewer than three, from three on all but the first. A sample of 0 ns is no measurement and is
 * ignored, as is one for which there is no room. */
void     qst__samples_push(qst__samples *samples, uint64_t ns, uint32_t round);
bool     qst__samples_converged(const qst__samples *samples);
bool     qst__samples_under(const qst__samples *samples, uint64_t limit, uint32_t times); /* first one included */
uint64_t qst__samples_min(const qst__samples *samples);
uint64_t qst__samples_promise(const qst__samples *samples); /* the least of all, the first too: what it may do */
uint64_t qst__samples_median(const qst__samples *samples);  /* of the reliable; mean of the middle two */
double   qst__samples_spread(const qst__samples *samples);  /* (p75 − p25) / median; 0 under three reliable ones */

/* Elimination: of `n` sets of samples, live[i] says which are in. Marks in out[i] those that go: count ≥
 * min_samples and none of its samples, not even the first, within factor × the least best (on a host with two speeds two
 * slow ones in a row are no proof), slowest first, never leaving fewer than two live. Returns how
 * many go. */
uint32_t qst__samples_eliminate(const qst__samples *const *samples, const bool *live, uint32_t n, uint32_t min_samples,
                                double factor, bool *out);

/* Median and quantile (0 … 1, nearest rank) of n numbers; sorts in place. */
double qst__median(double *values, uint32_t n);
double qst__quantile(double *values, uint32_t n, double q);

#endif
