/* SPDX-License-Identifier: MIT
 *
 * levels.c: the levels of each factor, in tables.
 */
#include "levels.h"
#include "kernel/matmul_case.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const forms[] = {"square", "mixed", "tall", "wide", "deep", "skinny", "column", "row", "outer"};
static const int64_t     sizes[] = {1, 2, 3, 7, 16, 17, 31, 64, 65, 100, 127, 129, 255, 257, 333};

/* transposed: bit 0 B, bit 1 A, bit 2 C; pad: elements after each line; step: every stride so many times larger; batch:
 * a shape of batches, below. */
enum { NO_BATCH, BATCH, SWAPPED, BROADCAST };
static const struct layout {
    const char *name;
    int         transposed, pad, step, batch;
    size_t      lead;
} layouts[] = {
    {"NN", 0, 0, 1, NO_BATCH, MATMUL_CASE_LEAD},
    {"NT", 1, 0, 1, NO_BATCH, MATMUL_CASE_LEAD},
    {"TN", 2, 0, 1, NO_BATCH, MATMUL_CASE_LEAD},
    {"TT", 3, 0, 1, NO_BATCH, MATMUL_CASE_LEAD},
    {"column-major C", 4, 0, 1, NO_BATCH, MATMUL_CASE_LEAD},
    {"padded", 0, 3, 1, NO_BATCH, 3},
    {"padded to vectors, NT", 1, 16, 1, NO_BATCH, MATMUL_CASE_LEAD},
    {"offset by one element", 0, 0, 1, NO_BATCH, 1},
    {"batch", 0, 0, 1, BATCH, MATMUL_CASE_LEAD},
    {"batch, TN, padded", 2, 1, 1, BATCH, 0},
    {"batch swapped", 0, 0, 1, SWAPPED, MATMUL_CASE_LEAD},
    {"broadcast", 1, 0, 1, BROADCAST, MATMUL_CASE_LEAD},
    {"no stride of 1", 0, 0, 2, NO_BATCH, 0},
};

static const struct scalar {
    double alpha, beta;
    int    nan;
} scalars[] = {
    {1, 0, 0},    {1, 1, 0},   {1, -1, 0},  {1, 0.5, 0},  {-1, 0, 0},    {-1, 1, 0}, {-1, -1, 0},
    {-1, 0.5, 0}, {0.5, 0, 0}, {0.5, 1, 0}, {0.5, -1, 0}, {0.5, 0.5, 0}, {0, 0, 0},  {0, 1, 0},
    {0, -1, 0},   {0, 0.5, 0}, {1, 0, 1},   {0.5, 1, 1},  {0, 0.5, 1},
};

static const uint32_t types[][2] = {{QST_F32, QST_F32}, {QST_F64, QST_F64},  {QST_F16, QST_F16}, {QST_BF16, QST_BF16},
                                    {QST_F16, QST_F32}, {QST_BF16, QST_F32}, {QST_F64, QST_F32}};

static const char *const classes[] = {"plain", "strict", "fast"};

const uint32_t levels[FACTORS] = {COUNT(forms),   COUNT(sizes), COUNT(layouts),
                                  COUNT(scalars), COUNT(types), COUNT(classes)};

uint32_t draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(*state >> 8) * below) >> 24);
}

static int64_t at_most(int64_t x, int64_t limit)
{
    return x < limit ? x : limit;
}

static void sizes_of(const point *x, qst_matmul *p)
{
    const int64_t s = sizes[x->level[SIZE]], t = sizes[x->other[0]], u = sizes[x->other[1]];
    const int64_t small = at_most(t, 17), smaller = at_most(u, 31),
                  batched = layouts[x->level[LAYOUT]].batch ? 129 : 333;
    const int64_t all[][3] = {{s, s, s},           {s, t, u},           {s, small, smaller},
                              {smaller, s, small}, {smaller, small, s}, {1 + t % 3, s, u},
                              {s, 1, t},           {1, s, t},           {s, t, 1}};
    p->m = at_most(all[x->level[FORM]][0], batched);
    p->n = at_most(all[x->level[FORM]][1], batched);
    p->k = at_most(all[x->level[FORM]][2], batched);
}

/* Rows x cols, adjacent along columns or along rows. */
static int64_t lay(qst_matrix *x, int64_t rows, int64_t cols, int transposed, const struct layout *l)
{
    x->row = l->step * (transposed ? 1 : cols + l->pad);
    x->col = l->step * (transposed ? rows + l->pad : 1);
    return transposed ? x->col * cols : x->row * rows;
}

static void batch(qst_matmul *p, int d, int64_t count, int64_t a, int64_t b, int64_t c)
{
    p->batch[d] = count;
    p->a.batch[d] = a;
    p->b.batch[d] = b;
    p->c.batch[d] = c;
}

void point_problem(const point *x, qst_matmul *p, size_t *lead, int *nan)
{
    const struct layout *l = &layouts[x->level[LAYOUT]];
    const struct scalar *s = &scalars[x->level[SCALAR]];
    int64_t              a, b, c;

    qst_matmul_init(p, 1, 1, 1, types[x->level[TYPE]][0]);
    sizes_of(x, p);
    p->c.type = types[x->level[TYPE]][1];
    p->numerics = x->level[CLASS];
    p->alpha = s->alpha;
    p->beta = s->beta;
    a = lay(&p->a, p->m, p->k, l->transposed & 2, l);
    b = lay(&p->b, p->k, p->n, l->transposed & 1, l);
    c = lay(&p->c, p->m, p->n, l->transposed & 4, l);
    if (l->batch == BATCH)
        batch(p, 3, 3, a, b, c);
    if (l->batch == SWAPPED) {
        batch(p, 2, 2, a, b, c);
        batch(p, 3, 3, 2 * a, 2 * b, 2 * c);
    }
    if (l->batch == BROADCAST) { /* four dimensions, B shared in one, A in another, both in a third */
        batch(p, 0, 2, a, 0, 4 * c);
        batch(p, 1, 2, 0, 0, 8 * c);
        batch(p, 2, 2, 0, b, 2 * c);
        batch(p, 3, 2, 2 * a, 2 * b, c);
    }
    *lead = l->lead;
    *nan = s->nan;
}

void level_text(uint32_t factor, uint32_t level, char *text, size_t size)
{
    switch (factor) {
    case FORM:
        (void)snprintf(text, size, "%s", forms[level]);
        break;
    case SIZE:
        (void)snprintf(text, size, "size %d", (int)sizes[level]);
        break;
    case LAYOUT:
        (void)snprintf(text, size, "%s", layouts[level].name);
        break;
    case SCALAR:
        (void)snprintf(text, size, "alpha %g beta %g%s", scalars[level].alpha, scalars[level].beta,
                       scalars[level].nan ? " NaN in A" : "");
        break;
    case TYPE:
        (void)snprintf(text, size, "%s to %s", qst_type_name(types[level][0]), qst_type_name(types[level][1]));
        break;
    default:
        (void)snprintf(text, size, "%s", classes[level]);
    }
}

void point_text(const point *x, char *text, size_t size)
{
    qst_matmul p;
    size_t     lead, at = 0;
    int        nan;
    uint32_t   f;

    point_problem(x, &p, &lead, &nan);
    for (f = 0; f < FACTORS && at < size; f++) {
        char one[60];
        level_text(f, x->level[f], one, sizeof one);
        if (f == SIZE)
            (void)snprintf(one, sizeof one, "%d x %d x %d", (int)p.m, (int)p.n, (int)p.k);
        at += (size_t)snprintf(text + at, size - at, "%s%s", f ? ", " : "", one);
    }
}
