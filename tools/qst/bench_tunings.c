/* SPDX-License-Identifier: MIT
 *
 * bench_tunings.c: `qst bench tunings`: the same keys tuned from nothing again and again. Where the winners differ, each is
 * timed against the one that won most often. */
#include "bench_matmul.h"

#include "out.h"
#include "stop.h"
#include "verb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tunings_options {
    int64_t     keys, skip, times, seed, pairs;
    uint32_t    type;
    const char *range;
} tunings_options;

static const tunings_options defaults = {20, 0, 20, 1, 15, QST_F32, "16..1024"};

#define AT(member) offsetof(tunings_options, member)
static const args_option table[] = {
    {"keys", ARGS_INT, AT(keys), "N", "problems, the logarithms of m, n and k evenly spread", 1, 10000, NULL, 0},
    {"skip", ARGS_INT, AT(skip), "N", "leave out the first N of them", 0, 10000, NULL, 0},
    {"times", ARGS_INT, AT(times), "N", "tunings of each", 1, 1000, NULL, 0},
    {"seed", ARGS_INT, AT(seed), "N", "of the problems", 0, INT64_MAX, NULL, 0},
    {"range", ARGS_TEXT, AT(range), "LOW..HIGH", "bounds of the problems' sides", 0, 0, NULL, 0},
    {"pairs", ARGS_INT, AT(pairs), "N", "samples of each of two winners", 1, 1000, NULL, 0},
    {"dtype", ARGS_WORD, AT(type), "TYPE", "element type", 0, 0, args_types, 0},
    {NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0},
};
#undef AT

/* Who won, how often, and its time over that of the one that won most often. */
typedef struct winner {
    char   *name;
    int64_t times;
    double  ratio;
} winner;

typedef struct bench {
    const args_common     *common;
    const tunings_options *options;
    device_handle          device;
    matmul_wishes          wishes;
    regret_pool           *pool;
    json_t                *keys;
    int64_t                tunings, same, within_2, within_5;
    double                 most;
} bench;

static void count(winner *all, size_t *n, const char *name)
{
    size_t i = 0;
    while (i < *n && strcmp(all[i].name, name) != 0)
        i++;
    if (i == *n)
        all[(*n)++] = (winner){out_text("%s", name), 0, 1};
    all[i].times++;
}

/* One tuning by a context of its own. False after one line. */
static bool tune(bench *b, const qst_matmul *p, winner *all, size_t *n)
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
        count(all, n, qst_plan_winner(plan));
    qst_plan_destroy(plan);
    qst_context_destroy(context);
    return status >= 0;
}

static int more_often(const void *a, const void *b)
{
    const winner *x = a, *y = b;
    return (x->times < y->times) - (x->times > y->times);
}

static bool compare(bench *b, const qst_matmul *p, winner *all, size_t n)
{
    contest c;
    bool    good = n < 2 || contest_init(&c, &b->device, p, false, 1);
    for (size_t i = 1; i < n && good; i++)
        good = regret_duel(b->pool, &c, all[i].name, all[0].name, b->options->pairs, &all[i].ratio);
    if (n > 1)
        contest_finish(&c);
    return good;
}

/* A difference either way is one. */
static void judge(bench *b, const winner *w, bool first)
{
    double off = w->ratio > 1 ? w->ratio - 1 : 1 / w->ratio - 1;
    b->tunings += w->times;
    b->same += first ? w->times : 0;
    b->within_2 += off <= 0.02 ? w->times : 0;
    b->within_5 += off <= 0.05 ? w->times : 0;
    b->most = off > b->most ? off : b->most;
}

/* A key that is done. */
static void keep(bench *b, const matmul_wish *wish, const winner *all, size_t n)
{
    json_t *winners = out_need(json_array());
    stop_hold();
    if (!b->common->json)
        printf("%s\n", wish->label);
    for (size_t i = 0; i < n; i++) {
        judge(b, &all[i], i == 0);
        json_array_append_new(winners, out_need(json_pack("{s:s,s:I,s:f}", "name", all[i].name, "times",
                                                          (json_int_t)all[i].times, "ratio", all[i].ratio)));
        if (!b->common->json)
            printf("  %4lld  %6.3f  %s\n", (long long)all[i].times, all[i].ratio, all[i].name);
    }
    fflush(stdout);
    json_array_append_new(b->keys, out_need(json_pack("{s:s,s:o}", "label", wish->label, "winners", winners)));
    stop_go();
}

static bool measure(bench *b, const matmul_wish *wish)
{
    winner *all = out_resize(NULL, (size_t)b->options->times * sizeof *all);
    size_t  n = 0;
    bool    good = true;
    for (int64_t t = 0; t < b->options->times && good; t++) {
        out_progress("%s: %lld of %lld", wish->label, (long long)t + 1, (long long)b->options->times);
        good = tune(b, &wish->problem, all, &n);
    }
    qsort(all, n, sizeof *all, more_often);
    good = good && compare(b, &wish->problem, all, n);
    out_progress(NULL);
    if (good)
        keep(b, wish, all, n);
    for (size_t i = 0; i < n; i++)
        free(all[i].name);
    free(all);
    return good;
}

static void tell(const bench *b)
{
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
    const bench *b = user;
    if (json_array_size(b->keys))
        tell(b);
    out_fail("bench tunings: ended by %s after %zu of %zu keys", stop_name(), json_array_size(b->keys), b->wishes.n);
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
    stop_tell(tell_end, &b);
    for (size_t i = 0; i < b.wishes.n && status == 0; i++)
        status = measure(&b, &b.wishes.data[i]) ? 0 : EXIT_FAILED;
    stop_tell(NULL, NULL);
    if (status == 0)
        tell(&b);
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
        "the winners differ, each is timed against the most frequent one in alternated pairs: how often it won, its\n"
        "time over that one's, its name. At the end how many tunings took the most frequent winner of their key, or one\n"
        "within 2 %, within 5 % of its time, slower or faster.\n",
    .groups = ARGS_LEVEL | ARGS_TUNE,
    .options = table,
    .defaults = &defaults,
    .options_size = sizeof(tunings_options),
    .run = run,
};
