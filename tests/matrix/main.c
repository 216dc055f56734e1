/* SPDX-License-Identifier: MIT
 *
 * kernel_matrix: every candidate of every plugin there is, against a reference on the host, over forms and sizes, layouts,
 * scalars, types and classes: right within the bound, or not applicable for a reason. What is not an element is NaN before
 * and untouched afterwards.
 *
 *     kernel_matrix [--whole | --huge] [--shard I/N] [--only GLOB] [--config JSON]
 *
 * Without --whole a thinned cover, the same in every run: each candidate meets each level of each factor that it can, and
 * each pair of levels of two factors is met by somebody. With it: each form, size, layout and type, scalars and classes in
 * turn, by every candidate. --huge: offsets beyond 2^31 instead. --config names the device and the plugins, as for the
 * library. Exit 0: nothing was wrong, and something ran.
 */
#include "bench.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 2000 /* points drawn for each that is taken */

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

static bool wanted(const matrix_bench *b, uint32_t candidate, const char *only)
{
    return !only || fnmatch(only, bench_name(b, candidate), 0) == 0;
}

/* Points for one candidate until none that is drawn has a level that is new to it. Levels that it never could meet count
 * as not applicable, with the reason that it gave. */
static void cover_candidate(matrix_bench *b, cover *c, uint32_t candidate)
{
    memset(c->own, 0, sizeof c->own);
    for (;;) {
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
        bench_run(b, &best, &candidate, 1);
    }
}

/* Levels that a candidate did not meet: one more point each, to have its reason. */
static void tell_unmet(matrix_bench *b, cover *c, uint32_t candidate)
{
    uint32_t f, l, i;
    for (f = 0; f < FACTORS; f++)
        for (l = 0; l < levels[f]; l++) {
            const char *last = NULL;
            for (i = 0; i < 20 && !c->own[f][l]; i++) {
                point       x = draw_point(c);
                const char *why;
                x.level[f] = l;
                if (!bench_applies(b, candidate, &x, &why))
                    last = why;
            }
            if (last)
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
                    if (*pair(c, f, x, g, y))
                        continue;
                    at.level[f] = x;
                    at.level[g] = y;
                    take(c, &at);
                    bench_run(b, &at, &b->set->model.fallback, 1);
                }
    return all;
}

static void thinned(matrix_bench *b, const char *only)
{
    cover    c;
    uint32_t i;
    memset(&c, 0, sizeof c);
    c.state = 20240229;
    c.pairs = calloc((size_t)FACTORS * FACTORS * SLOT * SLOT, 1);
    if (!c.pairs)
        return;
    for (i = 0; i < b->n; i++)
        if (wanted(b, i, only)) {
            cover_candidate(b, &c, i);
            tell_unmet(b, &c, i);
        }
    if (!only)
        printf("all %u pairs of levels met\n", cover_rest(b, &c));
    free(c.pairs);
}

static void whole(matrix_bench *b, const char *only, uint32_t shard, uint32_t shards)
{
    uint32_t *who = calloc(b->n + 1, sizeof *who), n = 0, at = 0, state = 1, i;
    point     x;
    for (i = 0; i < b->n && who; i++)
        if (wanted(b, i, only))
            who[n++] = i;
    for (x.level[TYPE] = 0; x.level[TYPE] < levels[TYPE]; x.level[TYPE]++)
        for (x.level[LAYOUT] = 0; x.level[LAYOUT] < levels[LAYOUT]; x.level[LAYOUT]++)
            for (x.level[FORM] = 0; x.level[FORM] < levels[FORM]; x.level[FORM]++)
                for (x.level[SIZE] = 0; x.level[SIZE] < levels[SIZE]; x.level[SIZE]++, at++) {
                    x.level[SCALAR] = at % levels[SCALAR]; /* 19 and 4 divide none of the other numbers of levels */
                    x.level[CLASS] = at % 4 % levels[CLASS];
                    x.other[0] = draw(&state, levels[SIZE]);
                    x.other[1] = draw(&state, levels[SIZE]);
                    if (at % shards == shard)
                        bench_run(b, &x, who, n);
                }
    free(who);
}

static int summary(const matrix_bench *b, const char *only)
{
    uint32_t i, r, ran = 0, refused = 0, wrong = 0;
    for (i = 0; i <= b->n; i++) {
        const account *a = &b->accounts[i];
        ran += a->ran;
        refused += a->refused;
        wrong += a->wrong;
        if (i < b->n && !wanted(b, i, only))
            continue;
        printf("%-48s right %6u  wrong %3u  not applicable %6u\n", bench_name(b, i), a->ran - a->wrong, a->wrong,
               a->refused);
        for (r = 0; r < REASONS; r++)
            if (a->reasons[r].count)
                printf("    %6u  %s\n", a->reasons[r].count, a->reasons[r].text);
    }
    printf("in all: right %u, wrong %u, not applicable %u\n", ran - wrong, wrong, refused);
    return wrong || !ran;
}

static int usage(void)
{
    fputs("kernel_matrix [--whole | --huge] [--shard I/N] [--only GLOB] [--config JSON]\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const char  *only = NULL, *config = NULL;
    bool         all = false, huge = false;
    unsigned     shard = 0, shards = 1;
    matrix_bench b;
    int          i, status = 1;

    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--whole") == 0)
            all = true;
        else if (strcmp(argv[i], "--huge") == 0)
            huge = true;
        else if (i + 1 == argc)
            return usage();
        else if (strcmp(argv[i], "--only") == 0)
            only = argv[++i];
        else if (strcmp(argv[i], "--config") == 0)
            config = argv[++i];
        else if (strcmp(argv[i], "--shard") != 0 || sscanf(argv[++i], "%u/%u", &shard, &shards) != 2 || shard >= shards)
            return usage();
    }
    if (bench_open(&b, config)) {
        if (huge)
            bench_huge(&b, only);
        else if (all)
            whole(&b, only, shard, shards);
        else
            thinned(&b, only);
        status = summary(&b, only);
    }
    bench_close(&b);
    return status;
}
