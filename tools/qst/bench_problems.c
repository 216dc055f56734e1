/* SPDX-License-Identifier: MIT
 *
 * bench_problems.c: which problems `qst bench matmul` measures: sizes, one of options, texts, random ones. */
#include "bench_matmul.h"

#include "file.h"
#include "out.h"
#include "subject.h"
#include "verb.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *label_of(const qst_matmul *p)
{
    const problem_shape shape = {p->m, p->n, p->k, false};
    int64_t             products = data_products(p->batch);
    char               *batch = products > 1 ? out_text(" b%" PRId64, products) : out_text("%s", "");
    char *label = out_text("%s%s%s%s", problem_shape_label(&shape).text, p->a.col != 1 && p->k > 1 ? " ta" : "",
                           p->b.col != 1 && p->n > 1 ? " tb" : "", batch);
    free(batch);
    return label;
}

static void add(matmul_wishes *all, const qst_matmul *problem)
{
    if ((all->n & (all->n - 1)) == 0) /* full at each power of two: there may be many */
        all->data = out_resize(all->data, (all->n ? 2 * all->n : 1) * sizeof *all->data);
    matmul_wish *wish = &all->data[all->n++];
    wish->problem = *problem;
    wish->problem.a.align = wish->problem.b.align = wish->problem.c.align = PROBLEM_ALIGN;
    wish->label = label_of(problem);
}

void matmul_wishes_drop(matmul_wishes *all)
{
    for (size_t i = 0; i < all->n; i++)
        free(all->data[i].label);
    free(all->data);
    memset(all, 0, sizeof *all);
}

/* Dense, with the options that hold for each: transposes, batch, class. */
static void add_dense(matmul_wishes *all, const matmul_options *o, int64_t m, int64_t n, int64_t k, bool tb)
{
    qst_matmul p;
    qst_matmul_init(&p, m, n, k, o->type);
    p.numerics = o->numerics;
    if (o->batch > 1)
        qst_matmul_batch(&p, o->batch);
    if (o->ta) {
        p.a.row = 1;
        p.a.col = m;
    }
    if (o->tb || tb) {
        p.b.row = 1;
        p.b.col = k;
    }
    add(all, &p);
}

static int add_text(matmul_wishes *all, qst_context *context, const char *text, const matmul_options *o,
                    const char *where)
{
    problem_shape shape;
    subject       s;
    bool          named = strncmp(text, "matmul ", 7) == 0;
    char         *word = named || !strchr(text, '=') ? out_text("%s", text) : out_text("matmul %s", text);
    int           status = 0;
    memset(&s, 0, sizeof s);
    if (problem_shape_parse(word, &shape)) {
        add_dense(all, o, shape.m, shape.n, shape.k, shape.transposed);
    } else if (!subject_looks(word) || strncmp(word, "matmul ", 7) != 0) {
        status = problem_shape_refuse(where, text, "neither N nor MxNxK nor a matmul's problem");
    } else {
        status = subject_open(&s, context, word, o->type, where);
        if (status == 0)
            add(all, s.problem);
        subject_close(&s);
    }
    free(word);
    return status;
}

typedef struct lines {
    matmul_wishes        *all;
    qst_context          *context;
    const matmul_options *options;
} lines;

static int add_line(void *user, const char *text, const char *where)
{
    const lines *to = user;
    return add_text(to->all, to->context, text, to->options, where);
}

static int add_file(matmul_wishes *all, qst_context *context, const matmul_options *o)
{
    lines to = {all, context, o};
    return file_lines("bench matmul", o->problems, add_line, &to);
}

/* ---- Random ones ------------------------------------------------------------------------------------------------ */

static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += 0x9E3779B97F4A7C15u; /* splitmix64 */
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* A whole number whose logarithm is evenly spread from that of low to that of high + 1. */
static int64_t log_uniform(uint64_t *state, int64_t low, int64_t high)
{
    double  part = ldexp((double)(next(state) >> 11), -53);
    int64_t value = (int64_t)exp(log((double)low) + part * (log((double)high + 1) - log((double)low)));
    return value < low ? low : value > high ? high : value;
}

static int add_random(matmul_wishes *all, const matmul_options *o, const char *verb)
{
    uint64_t    state = (uint64_t)o->seed;
    int64_t     low = 0, high = 0;
    const char *dots = strstr(o->range, "..");
    char       *first = out_text("%.*s", (int)(dots ? dots - o->range : 0), o->range);
    bool good = dots && args_int(first, 1, PROBLEM_SIDE_MAX, &low) && args_int(dots + 2, low, PROBLEM_SIDE_MAX, &high);
    free(first);
    if (!good)
        return args_usage(verb, "--range %s: not LOW..HIGH within 1..%d", out_shown(o->range).text, PROBLEM_SIDE_MAX);
    if (o->skip >= o->random)
        return args_usage(verb, "--skip %" PRId64 ": leaves none of the %" PRId64 " random problems", o->skip,
                          o->random);
    for (int64_t i = 0; i < o->random; i++) {
        int64_t m = log_uniform(&state, low, high), n = log_uniform(&state, low, high);
        int64_t k = log_uniform(&state, low, high);
        if (i >= o->skip)
            add_dense(all, o, m, n, k, false);
    }
    return 0;
}

int matmul_wishes_collect(matmul_wishes *all, qst_context *context, const matmul_options *o, const char *verb, int argc,
                          char **argv)
{
    bool sized = o->m || o->n || o->k;
    int  status = 0;
    if (sized && !(o->m && o->n && o->k))
        return args_usage(verb, "--%s is missing: --m, --n and --k name one problem together",
                          !o->m   ? "m"
                          : !o->n ? "n"
                                  : "k");
    if (sized)
        add_dense(all, o, o->m, o->n, o->k, false);
    for (int i = 0; i < argc && status == 0; i++)
        status = add_text(all, context, argv[i], o, "bench matmul");
    if (status == 0 && o->problem)
        status = add_text(all, context, o->problem, o, "bench matmul: --problem");
    if (status == 0 && o->problems)
        status = add_file(all, context, o);
    if (status == 0 && o->random)
        status = add_random(all, o, verb);
    if (status == 0 && !all->n)
        status = args_usage(verb, "no problem; see qst %s --help", verb);
    return status;
}
