/* SPDX-License-Identifier: MIT
 *
 * kernel_matrix: every candidate of every plugin there is, against a reference on the host, over forms and sizes, layouts,
 * scalars, types and classes: right within the bound, or not applicable for a reason. What is not an element is NaN before
 * and untouched afterwards.
 *
 *     kernel_matrix [--whole | --huge] [--shard I/N] [--share I/N] [--only GLOB] [--config JSON]
 *
 * Without --whole a thinned cover, the same in every run: each candidate meets each level of each factor that it can, and
 * each pair of levels of two factors is met by somebody. With it: each form, size, layout and type, scalars and classes in
 * turn, by every candidate; in an order that has all levels early, so that after SIGTERM, which ends a run with its counts,
 * what ran is a sample. --huge: offsets beyond 2^31 instead. --shard: those points of --whole; --share: those candidates,
 * of the whole or of the one thinned cover, which builds each program in one process only. --config names the device and
 * the plugins, as for the library. Exit 0: nothing was wrong, and something ran where there was a candidate to run. 77:
 * --huge, and no room for it.
 */
#include "bench.h"

#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRIES    2000 /* points drawn for each that is taken */
#define LEFT_OUT 77   /* exit code: the device has no room, nothing was run */
#define STRIDE   4099 /* from a point to the next: a prime that divides no number of levels */

/* Part `index` of `count`. */
typedef struct part {
    unsigned index, count;
} part;

typedef struct choice {
    const char *only; /* NULL: all */
    part        shard, share;
} choice;

/* The signal that ends the run is blocked, in every thread and every compiler that the driver starts, and looked for
 * between points: LLVM, within PoCL, has a handler of its own, which deletes what a compiler is writing and ends the
 * process at the second signal; and timeout(1) sends two. */
static sigset_t end_signal(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    return set;
}

static void hold_end(void)
{
    const sigset_t set = end_signal();
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static bool ended(void)
{
    static bool           came;
    const struct timespec none = {0, 0};
    const sigset_t        set = end_signal();
    if (!came)
        came = sigtimedwait(&set, NULL, &none) == SIGTERM;
    return came;
}

typedef struct cover {
    unsigned char *pairs;            /* by two factors and two levels */
    uint32_t       own[FACTORS][32]; /* of one candidate: levels it has met */
    uint32_t       state;            /* of draw */
} cover;

enum { SLOT = 32 }; /* more than any factor has levels */

static unsigned char *pair(cover *c, uint32_t f, uint32_t x, uint32_t g, uint32_t y)
{
    return &c->pairs[((f * FACTORS + g) * SLOT + x) * SLOT + y];
}

static point draw_point(cover *c)
{
    point    x;
    uint32_t f;
    for (f = 0; f < FACTORS; f++)
        x.level[f] = draw(&c->state, levels[f]);
    x.other[0] = draw(&c->state, levels[SIZE]);
    x.other[1] = draw(&c->state, levels[SIZE]);
    return x;
}

/* How much is new in it: levels for this candidate, then pairs for all. */
static uint32_t worth(cover *c, const point *x)
{
    uint32_t f, g, sum = 0;
    for (f = 0; f < FACTORS; f++) {
        sum += c->own[f][x->level[f]] ? 0 : 100;
        for (g = f + 1; g < FACTORS; g++)
            sum += !*pair(c, f, x->level[f], g, x->level[g]);
    }
    return sum;
}

static void take(cover *c, const point *x)
{
    uint32_t f, g;
    for (f = 0; f < FACTORS; f++) {
        c->own[f][x->level[f]]++;
        for (g = f + 1; g < FACTORS; g++)
            *pair(c, f, x->level[f], g, x->level[g]) = 1;
    }
}

static bool in_share(uint32_t candidate, const choice *what)
{
    return candidate % what->share.count == what->share.index;
}

static bool is_named(const matrix_bench *b, uint32_t candidate, const choice *what)
{
    return !what->only || fnmatch(what->only, bench_name(b, candidate), 0) == 0;
}

static bool wanted(const matrix_bench *b, uint32_t candidate, const choice *what)
{
    return in_share(candidate, what) && is_named(b, candidate, what);
}

/* Points for one candidate until none that is drawn has a level that is new to it. Where another share runs them they
 * are taken all the same, so that all shares go by one cover. */
static void cover_candidate(matrix_bench *b, cover *c, uint32_t candidate, bool runs)
{
    memset(c->own, 0, sizeof c->own);
    while (!ended()) {
        point    best = {{0}, {0}};
        uint32_t most = 0, i;
        for (i = 0; i < TRIES; i++) {
            const point x = draw_point(c);
            uint32_t    value = worth(c, &x);
            const char *why;
            if (value <= most || value < 100 || !bench_applies(b, candidate, &x, &why))
                continue;
            most = value;
            best = x;
        }
        if (!most)
            break;
        take(c, &best);
        if (runs)
            bench_run(b, &best, &candidate, 1);
    }
}

/* Levels that a candidate did not meet count as not applicable: one more point each, to have the reason that it gives. */
static void tell_unmet(matrix_bench *b, cover *c, uint32_t candidate, bool runs)
{
    uint32_t f, l, i;
    for (f = 0; f < FACTORS; f++)
        for (l = 0; l < levels[f]; l++) {
            const char *last = NULL;
            for (i = 0; i < 20 && !c->own[f][l] && !ended(); i++) {
                point       x = draw_point(c);
                const char *why;
                x.level[f] = l;
                if (!bench_applies(b, candidate, &x, &why))
                    last = why;
            }
            if (last && runs)
                bench_refused(b, candidate, last);
        }
}

/* Pairs that no candidate has met: the fallback does, which takes everything. How many pairs there are. */
static uint32_t cover_rest(matrix_bench *b, cover *c)
{
    uint32_t f, g, x, y, all = 0;
    for (f = 0; f < FACTORS; f++)
        for (g = f + 1; g < FACTORS; g++)
            for (x = 0; x < levels[f]; x++)
                for (y = 0; y < levels[g]; y++) {
                    point at = draw_point(c);
                    all++;
                    if (*pair(c, f, x, g, y) || ended())
                        continue;
                    at.level[f] = x;
                    at.level[g] = y;
                    take(c, &at);
                    bench_run(b, &at, &b->set->model.fallback, 1);
                }
    return all;
}

static void thinned(matrix_bench *b, const choice *what)
{
    cover    c;
    uint32_t i;
    memset(&c, 0, sizeof c);
    c.state = 20240229;
    c.pairs = calloc((size_t)FACTORS * FACTORS * SLOT * SLOT, 1);
    if (!c.pairs)
        return;
    for (i = 0; i < b->n && !ended(); i++)
        if (is_named(b, i, what)) {
            cover_candidate(b, &c, i, in_share(i, what));
            tell_unmet(b, &c, i, in_share(i, what));
        }
    if (!what->only && what->share.index == 0 && !ended())
        printf("all %u pairs of levels met\n", cover_rest(b, &c));
    free(c.pairs);
}

/* Form, size, layout and type of point `at` of all; the other factors go round with it. */
static point point_at(uint32_t at)
{
    static const uint32_t turning[] = {SIZE, FORM, LAYOUT, TYPE};
    uint32_t              state = at, rest = at, i;
    point                 x;
    for (i = 0; i < sizeof turning / sizeof *turning; i++) {
        x.level[turning[i]] = rest % levels[turning[i]];
        rest /= levels[turning[i]];
    }
    x.level[SCALAR] = at % levels[SCALAR]; /* 19 and 4 divide none of the other numbers of levels */
    x.level[CLASS] = at % 4 % levels[CLASS];
    for (i = 0; i < 2; i++) {
        (void)draw(&state, 1);
        x.other[i] = draw(&state, levels[SIZE]);
    }
    return x;
}

static void whole(matrix_bench *b, const choice *what)
{
    const uint32_t all = levels[TYPE] * levels[LAYOUT] * levels[FORM] * levels[SIZE];
    uint32_t      *who = calloc(b->n + 1, sizeof *who), n = 0, t;
    b->others = what->share.index != 0; /* the trivial candidate is of the first share */
    for (t = 0; t < b->n && who; t++)
        if (wanted(b, t, what))
            who[n++] = t;
    for (t = what->shard.index; t < all && !ended(); t += what->shard.count) {
        const point x = point_at((uint32_t)((uint64_t)t * STRIDE % all));
        bench_run(b, &x, who, n);
    }
    if (ended())
        printf("ended by signal %d at point %u of %u\n", SIGTERM, t, all);
    free(who);
}

static int summary(const matrix_bench *b, const choice *what)
{
    uint32_t i, r, asked = 0, right = 0, refused = 0, wrong = 0;
    for (i = 0; i <= b->n; i++) {
        const account *a = &b->accounts[i];
        right += a->right;
        refused += a->refused;
        wrong += a->wrong;
        if (i < b->n && !wanted(b, i, what))
            continue;
        asked += i < b->n;
        printf("%-48s right %6u  wrong %3u  not applicable %6u\n", bench_name(b, i), a->right, a->wrong, a->refused);
        for (r = 0; r < REASONS; r++)
            if (a->reasons[r].count)
                printf("    %6u  %s\n", a->reasons[r].count, a->reasons[r].text);
    }
    printf("in all: right %u, wrong %u, not applicable %u\n", right, wrong, refused);
    return wrong || (!right && asked);
}

static int usage(void)
{
    fputs("kernel_matrix [--whole | --huge] [--shard I/N] [--share I/N] [--only GLOB] [--config JSON]\n", stderr);
    return 2;
}

static bool part_of(part *out, const char *text)
{
    return sscanf(text, "%u/%u", &out->index, &out->count) == 2 && out->index < out->count;
}

int main(int argc, char **argv)
{
    choice       what = {NULL, {0, 1}, {0, 1}};
    const char  *config = NULL;
    bool         all = false, huge = false;
    matrix_bench b;
    int          i, status = 1;

    for (i = 1; i < argc; i++) {
        const char *option = argv[i];
        if (strcmp(option, "--whole") == 0)
            all = true;
        else if (strcmp(option, "--huge") == 0)
            huge = true;
        else if (++i == argc)
            return usage();
        else if (strcmp(option, "--only") == 0)
            what.only = argv[i];
        else if (strcmp(option, "--config") == 0)
            config = argv[i];
        else if (!(strcmp(option, "--shard") == 0 && part_of(&what.shard, argv[i])) &&
                 !(strcmp(option, "--share") == 0 && part_of(&what.share, argv[i])))
            return usage();
    }
    hold_end();
    if (bench_open(&b, config)) {
        bool room = true;
        if (huge)
            room = bench_huge(&b, what.only);
        else if (all)
            whole(&b, &what);
        else
            thinned(&b, &what);
        status = room ? summary(&b, &what) : LEFT_OUT;
    }
    bench_close(&b);
    return status;
}
