/* SPDX-License-Identifier: MIT
 *
 * The final: who is sampled on when the rounds of all are over, and until when. A contender may still be faster than the
 * leader; they meet round by round until none may, or until more samples would cost more than the choice is worth. */
#include "tune/schedule.h"

#include <string.h>

enum {
    LAST_PLAYERS = 3,
    PAIRS_LEAST = 3 /* a contender goes on for so many samples more at least */
};

/* What samples of this tuning may cost in all. */
static uint64_t purse(const qst__schedule *s)
{
    uint64_t runs = QST__PURSE_RUNS * qst__schedule_best(s);

    return s->shortened || runs > QST__PURSE_NS ? runs : QST__PURSE_NS;
}

/* How many contenders can be sampled with the leader as often again as they were with what is left; the two nearest until
 * nothing is. So each doubling of the samples about halves the field. */
static uint32_t afford(const qst__schedule *s)
{
    uint64_t all = purse(s), left = all > s->spent_ns ? all - s->spent_ns : 0;
    uint64_t each = s->n_sampled && s->sampled_ns > s->n_sampled ? s->sampled_ns / s->n_sampled : 1;
    uint32_t turns = s->turns[s->leader];
    uint64_t players = left / (each * (turns > PAIRS_LEAST ? turns : PAIRS_LEAST));
    uint64_t last = left / (each * PAIRS_LEAST);

    if (players < LAST_PLAYERS)
        players = last < LAST_PLAYERS ? last : LAST_PLAYERS;
    return players > s->n ? s->n : players > 1 ? (uint32_t)players - 1 : 0;
}

/* How many samples it may have: more than QST__FINAL_SAMPLES only where so many have left it in doubt. */
static uint32_t most_of(const qst__schedule *s, uint32_t i)
{
    double doubt = qst__fit_doubt(&s->fit, s->place[i], s->place[s->leader]);

    return s->shortened || doubt > QST__TIE_LOSS ? QST__SAMPLES_MAX : s->final;
}

static bool may_go_on(const qst__schedule *s, uint32_t i)
{
    uint32_t most, sure = s->shortened ? QST__SURE_LONG : QST__SURE_SAMPLES;
    double   best = (double)s->samples[s->leader].best, least = best > 0 ? (double)s->samples[i].best / best : 1;

    if (!s->live[i] || i == s->leader || s->place[i] == QST__NOBODY)
        return false;
    most = most_of(s, i);
    return s->turns[i] < most && s->turns[s->leader] < most &&
           qst__fit_open(&s->fit, s->place[i], s->place[s->leader], sure, least);
}

bool qst__final_allow(const qst__schedule *s)
{
    uint32_t n = 0, room = afford(s);

    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t at;
        if (!may_go_on(s, i))
            continue;
        for (at = n; at > 0 && s->fit.level[s->place[s->queue[at - 1]]] > s->fit.level[s->place[i]]; at--)
            s->queue[at] = s->queue[at - 1];
        s->queue[at] = i;
        n++;
    }
    for (uint32_t k = 0; k < n && k < room; k++) {
        uint32_t i = s->queue[k];
        s->allowed[i] = most_of(s, i);
        if (s->allowed[i] > s->allowed[s->leader])
            s->allowed[s->leader] = s->allowed[i];
    }
    return n > 0 && room > 0;
}
