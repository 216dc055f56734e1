/* SPDX-License-Identifier: MIT
 *
 * The sampling rounds: who is sampled again, who goes for being slow, and when it is enough. */
#include "tune/schedule.h"

#include <math.h>
#include <string.h>

enum { LONG_ROUNDS = 2 }; /* rounds of all where runs are long; with the clocked first run three times of each */

/* Live candidates into the queue, by what they have shown they may do, as many as are fitted; returns how many. */
static uint32_t gather(const qst__schedule *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t promise = qst__samples_promise(&s->samples[i]);
        uint32_t at = n;
        if (!s->live[i] || !s->samples[i].count)
            continue;
        for (; at > 0 && qst__samples_promise(&s->samples[s->queue[at - 1]]) > promise; at--)
            if (at < QST__FIT_MAX)
                s->queue[at] = s->queue[at - 1];
        if (at < QST__FIT_MAX)
            s->queue[at] = i;
        n += n < QST__FIT_MAX;
    }
    return n;
}

/* Fits all samples of the live candidates; the fastest of them leads. */
static void compare(qst__schedule *s)
{
    qst__series series = {.first = s->samples, .stride = sizeof *s->samples};
    uint32_t    n = gather(s), first = 0;

    qst__compare(&s->fit, series, s->queue, n);
    for (uint32_t i = 0; i < s->n; i++)
        s->place[i] = QST__NOBODY;
    for (uint32_t k = 0; k < n; k++) {
        s->place[s->queue[k]] = k;
        first = s->fit.level[k] < s->fit.level[first] ? k : first;
    }
    s->leader = n ? s->queue[first] : QST__NOBODY;
}

/* How many turns each live candidate may take as things stand, into allowed[]; false: it is settled. */
static bool allow(const qst__schedule *s)
{
    uint32_t last[2], n_live = qst__schedule_live(s, last);
    bool     waiting = false;

    memset(s->allowed, 0, s->n * sizeof *s->allowed);
    if (n_live == 0 || (n_live == 1 && (s->roofed || qst__schedule_finding(s, last[0])->samples.count >= s->min)))
        return false;
    for (uint32_t i = 0; i < s->n; i++) {
        bool enough = s->turns[i] >= s->max || (s->turns[i] >= s->min && qst__samples_converged(&s->samples[i]));
        s->allowed[i] = s->live[i] ? s->max : 0;
        waiting = waiting || (s->live[i] && !enough);
    }
    if (waiting || n_live == 1)
        return waiting;
    memset(s->allowed, 0, s->n * sizeof *s->allowed);
    return qst__final_allow(s);
}

static void let_go(qst__schedule *s, uint32_t i, double factor, uint64_t best)
{
    s->live[i] = false;
    qst__schedule_finding(s, i)->outcome = QST__OUTCOME_ELIMINATED;
    qst__finding_why(qst__schedule_finding(s, i), s->verdict->alloc,
                     "best of %u samples %.4g ms, over %.4g times %.4g ms", s->samples[i].count,
                     (double)s->samples[i].best * 1e-6, factor, (double)best * 1e-6);
    qst__schedule_commit(s, i);
}

static bool is_long(const qst__schedule *s, uint32_t i)
{
    return s->first_ns[i] >= QST__LONG_NS;
}

/* How far its ratio to the leader may be off, so that it goes. Where runs are long less is asked: there the cost decides,
 * what is not known does not keep it, and one that alone takes long is not waited for. */
static double doubt(const qst__schedule *s, uint32_t i)
{
    double off = qst__fit_doubt(&s->fit, s->place[i], s->place[s->leader]);

    return !is_long(s, i) ? QST__GO_WIDTH * off : s->shortened && isfinite(off) ? off : 0;
}

/* Is it slower than the leader by more than the factor, and surely slower? */
static bool is_behind(const qst__schedule *s, uint32_t i, double factor)
{
    double ratio;

    if (s->place[i] == QST__NOBODY)
        return false;
    ratio = qst__fit_ratio(&s->fit, s->place[i], s->place[s->leader]);
    return ratio > factor && ratio - doubt(s, i) > 1;
}

/* The least times alone would be misled by a host that becomes faster in the middle of a round, few samples by a leader
 * that was lucky: who goes is behind by both. */
static void eliminate(qst__schedule *s)
{
    uint64_t best = qst__schedule_best(s);
    double   factor = s->task->settings->speed_factor;

    if (!qst__samples_eliminate(s->views, s->live, s->n, s->min, factor, s->leaving))
        return;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->leaving[i] && s->live[i] && is_behind(s, i, is_long(s, i) ? 1 : factor))
            let_go(s, i, factor, best);
}

/* How far a candidate may lag behind the best with what has been seen of it; 0: too little to tell. Of what
 * tune.speed_factor allows beyond 1 all with tune.min_samples (that is `eliminate`'s), a half with one sample more, a third
 * with two, … Long runs cost much and tell much: the first counts too; all with two of
 * them, a third with three, a fourth with four, … */
static double slack(const qst__schedule *s, uint32_t i)
{
    uint32_t seen = s->samples[i].count + is_long(s, i), least = is_long(s, i) ? 2 : s->min + 1;
    uint32_t parts = !is_long(s, i) ? seen - s->min + 1 : seen > 2 ? seen : 1;

    return seen < least ? 0 : 1 + (s->task->settings->speed_factor - 1) / parts;
}

/* Who lags behind by more goes where both its least time and all of its samples say so: the first alone would be misled by
 * a clock that changes, the second by a host with two speeds. */
static void narrow(qst__schedule *s)
{
    uint32_t last[2], n_live = qst__schedule_live(s, last);
    uint64_t best = qst__schedule_best(s);

    for (uint32_t i = 0; i < s->n && n_live > 2; i++) {
        uint64_t promise = qst__samples_promise(&s->samples[i]);
        double   factor;
        if (!s->live[i] || i == s->leader || (factor = slack(s, i)) <= 0)
            continue;
        promise = is_long(s, i) && s->first_ns[i] < promise ? s->first_ns[i] : promise;
        if ((double)promise <= factor * (double)best || !is_behind(s, i, factor))
            continue;
        let_go(s, i, factor, best);
        n_live--;
    }
}

/* Runs so long that ten samples of each would take seconds: a few of each, then the final. */
static void shorten(qst__schedule *s)
{
    if (s->shortened || qst__schedule_best(s) < QST__LONG_NS)
        return;
    s->shortened = true;
    s->max = s->max < LONG_ROUNDS ? s->max : LONG_ROUNDS;
}

/* One sample for each live candidate that has a turn left; every second time backwards. */
static bool sample_each(qst__schedule *s, bool backwards)
{
    uint32_t round = ++s->clock_round;
    bool     any = false;

    for (uint32_t k = 0; k < s->n; k++) {
        uint32_t i = backwards ? s->n - 1 - k : k;
        if (!s->live[i] || s->turns[i] >= s->allowed[i])
            continue;
        qst__schedule_sample(s, i, round);
        any = true;
    }
    return any;
}

void qst__schedule_sampling(qst__schedule *s)
{
    bool backwards = false;

    s->compared = false;
    shorten(s);
    compare(s);
    narrow(s);
    while (qst__schedule_goes_on(s)) {
        if (!allow(s)) {
            s->compared = true;
            return;
        }
        if (qst__schedule_spent(s)) {
            s->spent = true;
            return;
        }
        if (!sample_each(s, backwards))
            return;
        backwards = !backwards;
        compare(s);
        for (uint32_t i = 0; i < s->n; i++)
            qst__schedule_roof(s, i);
        if (qst__schedule_goes_on(s)) {
            eliminate(s);
            narrow(s);
        }
    }
}
