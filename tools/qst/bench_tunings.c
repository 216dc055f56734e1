/* SPDX-License-Identifier: MIT
 *
 * bench_tunings.c: `qst bench tunings`: the same keys tuned from nothing again and again. Where the winners differ, each is
 * timed against the one that won most often: when all keys are tuned, and in passes over all of them, for a host that is slow for
 * seconds does not slow all candidates alike. */
#include "bench_matmul.h"

#include "out.h"
#include "stop.h"
#include "verb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES_MAX = 100 };

typedef struct tunings_options {
    int64_t     keys, skip, times, seed, pairs, passes;
    uint32_t    type;
    const char *range;
} tunings_options;

static const tunings_options defaults = {20, 0, 20, 1, 15, 5, QST_F32, "16..1024"};

#define AT(member) offsetof(tunings_options, member)
static const args_option table[] = {
    {"keys", ARGS_INT, AT(keys), "N", "problems, the logarithms of m, n and k evenly spread", 1, 10000, NULL, 0},
    {"skip", ARGS_INT, AT(skip), "N", "leave out the first N of them", 0, 10000, NULL, 0},
    {"times", ARGS_INT, AT(times), "N", "tunings of each", 1, 1000, NULL, 0},
    {"seed", ARGS_INT, AT(seed), "N", "of the problems", 0, INT64_MAX, NULL, 0},
    {"range", ARGS_TEXT, AT(range), "LOW..HIGH", "bounds of the problems' sides", 0, 0, NULL, 0},
    {"pairs", ARGS_INT, AT(pairs), "N", "samples of each of two winners in a pass", 1, 1000, NULL, 0},
    {"passes", ARGS_INT, AT(passes), "N", "passes over all keys in which winners are timed", 1, PASSES_MAX, NULL, 0},
    {"dtype", ARGS_WORD, AT(type), "TYPE", "element type", 0, 0, args_types, 0},
    {NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0},
};
#undef AT

/* Who won, how often, and its time over that of the one that won most often, by passes. */
typedef struct winner {
    char   *name;
    int64_t times;
    double  ratio[PASSES_MAX];
} winner;

/* The winners of a key, the most frequent one first, and how often they were timed. */
typedef struct rivals {
    winner *data;
    size_t  n;
    int64_t passes;
} rivals;

typedef struct bench {
    const args_common     *common;
    const tunings_options *options;
    device_handle          device;
    matmul_wishes          wishes;
    regret_pool           *pool;
    rivals                *rivals; /* by wish */
    json_t                *keys;
    int64_t                tunings, same, within_2, within_5;
    double                 most;
} bench;

static void count(rivals *r, const char *name)
{
    size_t i = 0;
    stop_hold();
    while (i < r->n && strcmp(r->data[i].name, name) != 0)
        i++;
    if (i == r->n) {
        r->data = out_resize(r->data, (r->n + 1) * sizeof *r->data);
        memset(&r->data[r->n], 0, sizeof *r->data);
        r->data[r->n++].name = out_text("%s", name);
    }
    r->data[i].times++;
    stop_go();
}

/* One tuning by a context of its own. False after one line. */
static bool tune(bench *b, const qst_matmul *p, rivals *r)
{
    qst_context *context;
    qst_error    err = {0};
    qst_plan    *plan = NULL;
    qst_status   status;
    if (device_apart(&context, b->common, NULL, NULL) != 0)
        return false;
    status = qst_matmul_plan(&plan, context, b->device.queue, p, &err);
    if (status < 0)
        out_error("bench tunings", status, &err);
    else
        count(r, qst_plan_winner(plan));
    qst_plan_destroy(plan);
    qst_context_destroy(context);
    return status >= 0;
}

static int more_often(const void *a, const void *b)
{
    const winner *x = a, *y = b;
    return (x->times < y->times) - (x->times > y->times);
}

static bool tune_all(bench *b, const matmul_wish *wish, rivals *r)
{
    bool good = true;
    for (int64_t t = 0; t < b->options->times && good; t++) {
        out_progress("%s: %lld of %lld", wish->label, (long long)t + 1, (long long)b->options->times);
        good = tune(b, &wish->problem, r);
    }
    if (good)
        qsort(r->data, r->n, sizeof *r->data, more_often);
    return good;
}

/* One pass over a key. */
static bool compare(bench *b, const matmul_wish *wish, rivals *r)
{
    contest c;
    bool    good = r->n < 2 || contest_init(&c, &b->device, &wish->problem, false, 1);
    out_progress("%s: %lld of %lld passes", wish->label, (long long)r->passes + 1, (long long)b->options->passes);
    for (size_t i = 1; i < r->n && good; i++)
        good =
            regret_duel(b->pool, &c, r->data[i].name, r->data[0].name, b->options->pairs, &r->data[i].ratio[r->passes]);
    if (r->n > 1)
        contest_finish(&c);
    stop_hold();
    r->passes += good;
    stop_go();
    return good;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The median of the passes; of the most frequent one 1. */
static double ratio_of(const winner *w, int64_t passes, bool first)
{
    double  sorted[PASSES_MAX];
    int64_t half = passes / 2;
    if (first)
        return 1;
    memcpy(sorted, w->ratio, (size_t)passes * sizeof *sorted);
    qsort(sorted, (size_t)passes, sizeof *sorted, by_size);
    return passes % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/* A difference either way is one. */
static void judge(bench *b, int64_t times, double ratio, bool first)
{
    double off = ratio > 1 ? ratio - 1 : 1 / ratio - 1;
    b->tunings += times;
    b->same += first ? times : 0;
    b->within_2 += off <= 0.02 ? times : 0;
    b->within_5 += off <= 0.05 ? times : 0;
    b->most = off > b->most ? off : b->most;
}

static void print_key(const bench *b, const matmul_wish *wish, const rivals *r)
{
    if (b->common->json)
        return;
    printf("%s\n", wish->label);
    for (size_t i = 0; i < r->n; i++)
        printf("  %4lld  %6.3f  %s\n", (long long)r->data[i].times, ratio_of(&r->data[i], r->passes, i == 0),
               r->data[i].name);
    fflush(stdout);
}

/* What came of a key. */
static void keep(bench *b, const matmul_wish *wish, const rivals *r)
{
    json_t *winners = out_need(json_array());
    for (size_t i = 0; i < r->n; i++) {
        const winner *w = &r->data[i];
        double        ratio = ratio_of(w, r->passes, i == 0);
        judge(b, w->times, ratio, i == 0);
        json_array_append_new(winners, out_need(json_pack("{s:s,s:I,s:f}", "name", w->name, "times",
                                                          (json_int_t)w->times, "ratio", ratio)));
    }
    json_array_append_new(b->keys, out_need(json_pack("{s:s,s:o}", "label", wish->label, "winners", winners)));
}

/* From nothing to the end of the first pass. */
static bool measure(bench *b, const matmul_wish *wish, rivals *r)
{
    bool good = tune_all(b, wish, r) && compare(b, wish, r);
    out_progress(NULL);
    if (good) {
        stop_hold();
        print_key(b, wish, r);
        stop_go();
    }
    return good;
}

static void drop_rivals(bench *b)
{
    for (size_t i = 0; i < b->wishes.n; i++) {
        for (size_t k = 0; k < b->rivals[i].n; k++)
            free(b->rivals[i].data[k].name);
        free(b->rivals[i].data);
    }
    free(b->rivals);
}

/* Of all keys that were timed in a pass or more. Each was printed after the first; with others all are once more. */
static void tell(bench *b)
{
    bool again = b->rivals[0].passes > 1;
    if (again && !b->common->json)
        printf("by %lld passes:\n", (long long)b->rivals[0].passes);
    for (size_t i = 0; i < b->wishes.n; i++) {
        if (!b->rivals[i].passes)
            continue;
        keep(b, &b->wishes.data[i], &b->rivals[i]);
        if (again)
            print_key(b, &b->wishes.data[i], &b->rivals[i]);
    }
    if (b->common->json)
        out_json(out_need(json_pack("{s:I,s:I,s:I,s:I,s:f,s:O}", "tunings", (json_int_t)b->tunings, "same",
                                    (json_int_t)b->same, "within_2", (json_int_t)b->within_2, "within_5",
                                    (json_int_t)b->within_5, "most", b->most, "keys", b->keys)));
    else
        printf(
            "%lld tunings: %lld of the most frequent winner, %lld within 2 %% of it, %lld within 5 %%, most %.2f %%\n",
            (long long)b->tunings, (long long)b->same, (long long)b->within_2, (long long)b->within_5, 100 * b->most);
}

static void tell_end(void *user)
{
    bench *b = user;
    size_t done = 0;
    while (done < b->wishes.n && b->rivals[done].passes)
        done++;
    if (done)
        tell(b);
    out_fail("bench tunings: ended by %s after %zu of %zu keys", stop_name(), done, b->wishes.n);
}

static int run(const args_common *common, const void *given, int argc, char **argv)
{
    bench          b;
    matmul_options random = {.batch = 1};
    if (argc)
        return args_usage("bench tunings", "%s: takes no arguments", out_shown(argv[0]).text);
    stop_heed("bench tunings");
    memset(&b, 0, sizeof b);
    b.common = common;
    b.options = given;
    b.keys = out_need(json_array());
    random.random = b.options->keys;
    random.skip = b.options->skip;
    random.seed = b.options->seed;
    random.range = b.options->range;
    random.type = b.options->type;
    int status = device_open(&b.device, common, NULL);
    if (status == 0)
        status = matmul_wishes_collect(&b.wishes, b.device.context, &random, "bench tunings", 0, NULL);
    if (status == 0)
        status = regret_open(&b.pool, &b.device, common);
    b.rivals = out_resize(NULL, (b.wishes.n + 1) * sizeof *b.rivals);
    memset(b.rivals, 0, (b.wishes.n + 1) * sizeof *b.rivals);
    stop_tell(tell_end, &b);
    for (size_t i = 0; i < b.wishes.n && status == 0; i++)
        status = measure(&b, &b.wishes.data[i], &b.rivals[i]) ? 0 : EXIT_FAILED;
    for (int64_t pass = 1; pass < b.options->passes; pass++)
        for (size_t i = 0; i < b.wishes.n && status == 0; i++)
            status = compare(&b, &b.wishes.data[i], &b.rivals[i]) ? 0 : EXIT_FAILED;
    out_progress(NULL);
    stop_hold_tell(NULL, NULL);
    if (status == 0)
        tell(&b);
    stop_go();
    drop_rivals(&b);
    regret_close(b.pool);
    matmul_wishes_drop(&b.wishes);
    json_decref(b.keys);
    device_close(&b.device);
    return status;
}

const verb_info verb_bench_tunings = {
    .name = "bench tunings",
    .arguments = "",
    .summary = "whether tunings from nothing agree with one another",
    .help =
        "Each of --keys random problems is tuned --times times, each time by a context that finds nothing stored. Where\n"
        "the winners differ, each is timed against the most frequent one in alternated pairs, once at once and, when all\n"
        "are tuned, in further passes over all keys, for a host may be slow for minutes, and not for all candidates\n"
        "alike: how often it won, the median by passes of its time over that one's, its name. At the end how many tunings took the most frequent winner of their key, or one\n"
        "within 2 %, within 5 % of its time, slower or faster.\n",
    .groups = ARGS_LEVEL | ARGS_TUNE,
    .options = table,
    .defaults = &defaults,
    .options_size = sizeof(tunings_options),
    .run = run,
};
