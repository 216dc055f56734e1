/* SPDX-License-Identifier: MIT
 *
 * The final: who is sampled on when the rounds of all are over, and until when. A contender may still be faster than the
 * leader; they meet round by round until none may, or until more samples would cost more than the choice is worth. */
#include "tune/compare.h"
#include "tune/schedule.h"

#include <math.h>
#include <string.h>

enum {
    JUMPS_MAX = 256, /* so many tell how noisy the host is */
    PAIRS_LONG = 3,  /* a contender goes on for so many pairs more at least, where runs are long */
    LAST_PLAYERS = 3,
    PAIRS_SHORT = 48 /* and where they are short: fewer would say nothing in the noise in which the purse matters */
};

/* From jumps between draws of one normal distribution to its standard deviation: 1 / (√2 Φ⁻¹(0.75)). */
#define SIGMA_OF_JUMPS 1.048
/* The half-width of a median of n draws that holds with 95 %: 1.96 · √(π/2) σ / √n. */
#define HALF_WIDTH 2.457

double qst__final_doubt(const qst__schedule *s, uint32_t leader, qst__pairing pairing)
{
    double   jumps[JUMPS_MAX];
    uint32_t n = 0;

    if (!s->shortened)
        return pairing.noise;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->live[i] && i != leader)
            n += qst__samples_jumps(&s->samples[i], &s->samples[leader], jumps + n, JUMPS_MAX - n);
    return pairing.pairs ? HALF_WIDTH * SIGMA_OF_JUMPS * qst__median(jumps, n) / sqrt(pairing.pairs) : 0;
}

/* What samples of this tuning may cost in all. */
static uint64_t purse(const qst__schedule *s)
{
    uint64_t runs = QST__PURSE_RUNS * qst__schedule_best(s);

    return s->shortened || runs > QST__PURSE_NS ? runs : QST__PURSE_NS;
}

/* How many contenders can be paired with the leader as often again as they were, or often enough, with what is left; the
 * two nearest until nothing is. */
static uint32_t afford(const qst__schedule *s, uint32_t leader)
{
    uint64_t all = purse(s), left = all > s->spent_ns ? all - s->spent_ns : 0;
    uint64_t each = s->n_sampled && s->sampled_ns > s->n_sampled ? s->sampled_ns / s->n_sampled : 1;
    uint64_t least = s->shortened ? PAIRS_LONG : PAIRS_SHORT;
    uint64_t players = left / (each * (s->turns[leader] > least ? s->turns[leader] : least));
    uint64_t last = left / (each * PAIRS_LONG);

    if (players < LAST_PLAYERS)
        players = last < LAST_PLAYERS ? last : LAST_PLAYERS;
    return players > s->n ? s->n : players > 1 ? (uint32_t)players - 1 : 0;
}

/* How many samples it may have: more than QST__FINAL_SAMPLES only where so many have left it in doubt. */
static uint32_t most_of(const qst__schedule *s, double doubt)
{
    return s->shortened || doubt > QST__TIE_LOSS ? QST__SAMPLES_MAX : s->final;
}

static bool may_go_on(const qst__schedule *s, uint32_t i, uint32_t leader, double *ratio, uint32_t *most)
{
    const qst__samples *mine = &s->samples[i], *best = &s->samples[leader];
    qst__pairing        pairing = qst__compare(mine, best);
    double              doubt = qst__final_doubt(s, leader, pairing);

    *ratio = pairing.ratio;
    *most = most_of(s, doubt);
    return s->turns[i] < *most && s->turns[leader] < *most &&
           qst__compare_open(pairing, doubt, s->shortened ? QST__SURE_LONG : QST__SURE_PAIRS, mine, best);
}

bool qst__final_allow(const qst__schedule *s, uint32_t leader)
{
    uint32_t n = 0, room = afford(s, leader), most;
    double   ratio;

    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t at;
        if (!s->live[i] || i == leader || !may_go_on(s, i, leader, &ratio, &most))
            continue;
        for (at = n; at > 0 && s->nearness[at - 1] > ratio; at--) {
            s->nearness[at] = s->nearness[at - 1];
            s->queue[at] = s->queue[at - 1];
        }
        s->nearness[at] = ratio;
        s->queue[at] = i;
        s->allowed[i] = most;
        n++;
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = s->queue[k];
        if (k >= room)
            s->allowed[i] = 0;
        else if (s->allowed[i] > s->allowed[leader])
            s->allowed[leader] = s->allowed[i];
    }
    return n > 0 && room > 0;
}
