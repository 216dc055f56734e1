/* SPDX-License-Identifier: MIT
 *
 * bench_matmul.c: `qst bench matmul`: the library beside its peers, problem by problem, and what all of them say together.
 */
#include "bench_matmul.h"

#include "out.h"
#include "stop.h"
#include "subject.h"
#include "verb.h"
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PEERS_MAX 4

static const char *const numerics_words[] = {"plain", "strict", "fast", NULL};

static const matmul_options defaults = {
    .batch = 1, .rounds = 15, .seed = 1, .type = QST_F32, .peers = "", .range = "16..1024"};

#define AT(member) offsetof(matmul_options, member)
static const args_option table[] = {
    {"m", ARGS_INT, AT(m), "N", "rows of A and C", 1, PROBLEM_SIDE_MAX, NULL, 0},
    {"n", ARGS_INT, AT(n), "N", "columns of B and C", 1, PROBLEM_SIDE_MAX, NULL, 0},
    {"k", ARGS_INT, AT(k), "N", "columns of A, rows of B", 1, PROBLEM_SIDE_MAX, NULL, 0},
    {"dtype", ARGS_WORD, AT(type), "TYPE", "element type", 0, 0, args_types, 0},
    {"transa", ARGS_FLAG, AT(ta), NULL, "A lies transposed: k rows of m; also --ta", 0, 0, NULL, 0},
    {"transb", ARGS_FLAG, AT(tb), NULL, "B lies transposed: n rows of k; also --tb", 0, 0, NULL, 0},
    {"ta", ARGS_FLAG, AT(ta), NULL, NULL, 0, 0, NULL, 0},
    {"tb", ARGS_FLAG, AT(tb), NULL, NULL, 0, 0, NULL, 0},
    {"batch", ARGS_INT, AT(batch), "N", "products, one after the other", 1, 1000000, NULL, 0},
    {"numerics", ARGS_WORD, AT(numerics), "CLASS", "class of rounding", 0, 0, numerics_words, 0},
    {"problem", ARGS_TEXT, AT(problem), "TEXT", "a problem as logs print it", 0, 0, NULL, 0},
    {"problems", ARGS_TEXT, AT(problems), "FILE", "a problem a line, # begins a comment; - for stdin", 0, 0, NULL, 0},
    {"random", ARGS_INT, AT(random), "N", "so many shapes, the logarithms of m, n and k evenly spread", 0, 100000, NULL,
     0},
    {"skip", ARGS_INT, AT(skip), "N", "leave out the first N of the random shapes", 0, 100000, NULL, 0},
    {"seed", ARGS_INT, AT(seed), "N", "of the random shapes", 0, INT64_MAX, NULL, 0},
    {"range", ARGS_TEXT, AT(range), "LOW..HIGH", "bounds of the random shapes' sides", 0, 0, NULL, 0},
    {"peers", ARGS_TEXT, AT(peers), "LIST", "clblast, openblas, joined by a comma", 0, 0, NULL, 0},
    {"sync", ARGS_FLAG, AT(sync), NULL, "finish each call; without it calls queue up and are finished once", 0, 0, NULL,
     0},
    {"rounds", ARGS_INT, AT(rounds), "N", "samples of each", 1, 100000, NULL, 0},
    {"all", ARGS_FLAG, AT(all), NULL, "time every candidate, and the choice against the best of them", 0, 0, NULL, 0},
    {NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0},
};
#undef AT

typedef struct bench {
    const args_common    *common;
    const matmul_options *options;
    device_handle         device;
    matmul_wishes         wishes;
    peer                 *peers[PEERS_MAX];
    size_t                n_peers;
    regret_pool          *pool;
    json_t               *results;
    double               *by_p25[PEERS_MAX], *by_pairs[PEERS_MAX]; /* our speed over the peer's, one number a problem */
    size_t                n_ratios[PEERS_MAX];
    double               *regrets;
    size_t                n_regrets;
} bench;

static bool is_open(const bench *b, const char *name)
{
    for (size_t i = 0; i < b->n_peers; i++)
        if (strcmp(peer_name(b->peers[i]), name) == 0)
            return true;
    return false;
}

static int open_peers(bench *b)
{
    for (const char *at = b->options->peers; *at;) {
        size_t length = strcspn(at, ",");
        char  *name = out_text("%.*s", (int)length, at), *why = NULL;
        bool   room = b->n_peers < PEERS_MAX;
        if (is_open(b, name)) {
            int status = args_usage("bench matmul", "--peers %s: %s twice", out_shown(b->options->peers).text, name);
            free(name);
            return status;
        }
        if (room && (b->peers[b->n_peers] = peer_open(name, &b->device, &why)))
            b->n_peers++;
        else
            out_fail("bench matmul: peer %s: %s", out_shown(name).text, room ? why : "too many");
        bool known = peer_known(name), failed = !room || why;
        free(name);
        free(why);
        if (failed)
            return known ? EXIT_FAILED : EXIT_USAGE;
        at += length + (at[length] == ',');
    }
    return 0;
}

/* ---- One problem ------------------------------------------------------------------------------------------------ */

/* 0 where the key's answer was found on another problem, whose roof is another. */
static double roof_of(bench *b, qst_set *set, const qst_matmul *p, const char *text)
{
    problem_key key;
    json_t     *verdict = NULL;
    double      roof = 0;
    if (problem_key_of(set, p, &key, NULL) && verdict_find(&verdict, b->device.context, &key) &&
        strcmp(out_member(verdict, "problem"), text) == 0)
        roof = out_number(verdict, "roof_ms");
    json_decref(verdict);
    return roof;
}

/* Our name for what runs; the caller frees. NULL after one line. */
static char *winner_of(bench *b, qst_set *set, const qst_matmul *p)
{
    qst_error err = {0};
    qst_plan *plan;
    subject_heed(set, p);
    qst_status status = qst_matmul_plan(&plan, b->device.context, b->device.queue, p, &err);
    stop_end();
    if (status < 0)
        return out_error("bench matmul", status, &err), NULL;
    char *name = out_text("%s", qst_plan_winner(plan));
    char *barred = verdict_barred(b->device.context, "matmul", name, NULL);
    if (barred)
        out_fail("bench matmul: %s; %s runs all the same", barred, name);
    free(barred);
    qst_plan_destroy(plan);
    return name;
}

static void compare(const bench *b, const contest_player *ours, const contest_player *peers, json_t *rows)
{
    for (size_t i = 0; i < b->n_peers; i++) {
        size_t  n = peers[i].n_times;
        json_t *row = json_array_get(rows, i + 1);
        if (peers[i].ruled_out || n == 0 || n != ours->n_times)
            continue;
        double by_p25 = contest_quantile(peers[i].times, n, 0.25) / contest_quantile(ours->times, n, 0.25);
        json_object_set_new(row, "speed_p25", json_real(by_p25));
        json_object_set_new(row, "speed_paired", json_real(contest_paired(peers[i].times, ours->times, n)));
    }
}

/* A problem that is done, for all that is told at the end. */
static void keep(bench *b, json_t *result)
{
    const json_t *rows = json_object_get(result, "rows"), *regret = json_object_get(result, "regret");
    stop_hold();
    for (size_t i = 0; i < b->n_peers; i++) {
        const json_t *row = json_array_get(rows, i + 1);
        if (!json_object_get(row, "speed_p25"))
            continue;
        b->by_p25[i][b->n_ratios[i]] = out_number(row, "speed_p25");
        b->by_pairs[i][b->n_ratios[i]++] = out_number(row, "speed_paired");
    }
    if (json_is_real(regret))
        b->regrets[b->n_regrets++] = json_real_value(regret);
    if (!b->common->json)
        matmul_print(result);
    json_array_append(b->results, result);
    stop_go();
}

/* Tunes and tries all, then times them. False after one line. */
static bool play(bench *b, contest *c, contest_player *ours, contest_player *peers, const char *winner, json_t *result)
{
    contest_player *all[PEERS_MAX + 1] = {ours};
    json_t         *rows = out_need(json_array());
    bool            good = contest_try(c, ours);
    json_object_set_new(result, "rows", rows);
    if (good && ours->ruled_out)
        return out_fail("bench matmul: %s: %s", winner, ours->ruled_out), false;
    for (size_t i = 0; i < b->n_peers && good; i++) {
        all[i + 1] = &peers[i];
        good = contest_try(c, &peers[i]);
    }
    if (!good || !contest_play(c, all, b->n_peers + 1, b->options->rounds))
        return false;
    for (size_t i = 0; i <= b->n_peers; i++)
        json_array_append_new(rows, matmul_row(c, all[i], i ? peer_detail(b->peers[i - 1]) : winner));
    compare(b, ours, peers, rows);
    return true;
}

static bool regret(bench *b, contest *c, const contest_player *ours, const char *winner, json_t *result)
{
    json_t *rows = out_need(json_array());
    char   *best = NULL;
    double  value = 0;
    bool    good = regret_measure(b->pool, c, ours, winner, b->options->rounds, rows, &value, &best);
    json_object_set_new(result, "candidates", rows);
    json_object_set_new(result, "regret", isnan(value) ? json_null() : json_real(value));
    json_object_set_new(result, "best", json_string(best));
    free(best);
    return good;
}

static int measure(bench *b, const matmul_wish *wish, uint64_t seed)
{
    contest        c;
    contest_player ours = {.name = out_text("quernstone"), .context = b->device.context}, peers[PEERS_MAX];
    qst_set       *set = NULL;
    char          *text = NULL, *winner = NULL;
    json_t        *result = NULL;
    bool           good;
    memset(peers, 0, sizeof peers);
    for (size_t i = 0; i < b->n_peers; i++) {
        peers[i].name = out_text("%s", peer_name(b->peers[i]));
        peers[i].peer = b->peers[i];
    }
    qst_set_find(&set, b->device.context, "matmul", NULL);
    memset(&c, 0, sizeof c);
    /* The library looks at the problem before there are data for it. */
    good = data_fits(&b->device, &wish->problem, "bench matmul") &&
           (winner = winner_of(b, set, &wish->problem)) != NULL &&
           contest_init(&c, &b->device, &wish->problem, b->options->sync, seed);
    if (good) {
        text = problem_text(set, &wish->problem);
        double roof = roof_of(b, set, &wish->problem, text);
        result = out_need(json_pack("{s:s,s:s,s:o,s:n}", "problem", text, "label", wish->label, "roof_ms",
                                    roof > 0 ? json_real(roof) : json_null(), "regret"));
        good = play(b, &c, &ours, peers, winner, result) && (!b->pool || regret(b, &c, &ours, winner, result));
    }
    out_progress(NULL);
    if (good)
        keep(b, result);
    json_decref(result);
    for (size_t i = 0; i < b->n_peers; i++)
        contest_player_finish(&peers[i]);
    contest_player_finish(&ours);
    contest_finish(&c);
    free(text);
    free(winner);
    return good ? 0 : EXIT_FAILED;
}

/* ---- All of them ------------------------------------------------------------------------------------------------ */

static double geometric_mean(const double *ratios, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += log(ratios[i]);
    return n ? exp(sum / (double)n) : 0;
}

static size_t faster(const double *ratios, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += ratios[i] >= 1;
    return count;
}

static json_t *summary(const bench *b)
{
    json_t *all = out_need(json_object()), *means = out_need(json_array());
    for (size_t i = 0; i < b->n_peers; i++) {
        size_t n = b->n_ratios[i];
        if (n)
            json_array_append_new(
                means,
                out_need(json_pack("{s:s,s:I,s:f,s:f,s:f,s:f,s:I}", "peer", peer_name(b->peers[i]), "problems",
                                   (json_int_t)n, "speed_p25", geometric_mean(b->by_p25[i], n), "speed_paired",
                                   geometric_mean(b->by_pairs[i], n), "least_p25", contest_quantile(b->by_p25[i], n, 0),
                                   "least_paired", contest_quantile(b->by_pairs[i], n, 0), "faster_p25",
                                   (json_int_t)faster(b->by_p25[i], n))));
    }
    json_object_set_new(all, "geometric_mean", means);
    if (b->n_regrets)
        json_object_set_new(all, "regret",
                            out_need(json_pack("{s:I,s:f,s:f,s:f}", "problems", (json_int_t)b->n_regrets, "median",
                                               contest_quantile(b->regrets, b->n_regrets, 0.5), "p95",
                                               contest_quantile(b->regrets, b->n_regrets, 0.95), "max",
                                               contest_quantile(b->regrets, b->n_regrets, 1))));
    return all;
}

static void tell(const bench *b)
{
    if (b->common->json && b->wishes.n == 1) {
        out_json(json_incref(json_array_get(b->results, 0)));
        return;
    }
    json_t *all = summary(b);
    if (b->common->json) {
        json_object_set(all, "problems", b->results);
        out_json(json_incref(all));
    } else if (b->wishes.n > 1) {
        matmul_print_summary(all);
    }
    json_decref(all);
}

static void tell_end(void *user)
{
    const bench *b = user;
    size_t       done = json_array_size(b->results);
    if (done)
        tell(b);
    out_fail("bench matmul: ended by %s after %zu of %zu problems", stop_name(), done, b->wishes.n);
}

static int measure_all(bench *b)
{
    int status = 0;
    for (size_t i = 0; i < b->n_peers; i++) {
        b->by_p25[i] = out_resize(NULL, b->wishes.n * sizeof(double));
        b->by_pairs[i] = out_resize(NULL, b->wishes.n * sizeof(double));
    }
    b->regrets = out_resize(NULL, b->wishes.n * sizeof(double));
    if (!b->common->json)
        matmul_print_heads();
    stop_tell(tell_end, b);
    for (size_t i = 0; i < b->wishes.n && status == 0; i++)
        status = measure(b, &b->wishes.data[i], (uint64_t)i + 1);
    stop_hold_tell(NULL, NULL);
    if (json_array_size(b->results) > 0 || status == 0)
        tell(b);
    stop_go();
    return status;
}

/* What is about random problems, and there are none. */
static int check_random(const matmul_options *o)
{
    const char *odd = o->range != defaults.range ? "range"
                      : o->seed != defaults.seed ? "seed"
                      : o->skip                  ? "skip"
                                                 : NULL;
    return o->random || !odd ? 0 : args_usage("bench matmul", "--%s: only for the problems of --random", odd);
}

static int run(const args_common *common, const void *given, int argc, char **argv)
{
    bench b;
    int   odd = check_random(given);
    if (odd)
        return odd;
    stop_heed("bench matmul");
    memset(&b, 0, sizeof b);
    b.common = common;
    b.options = given;
    b.results = out_need(json_array());
    int status = device_open(&b.device, common, NULL);
    if (status == 0)
        status = matmul_wishes_collect(&b.wishes, b.device.context, b.options, "bench matmul", argc, argv);
    if (status == 0)
        status = open_peers(&b);
    if (status == 0 && b.options->all)
        status = regret_open(&b.pool, &b.device, common);
    if (status == 0)
        status = measure_all(&b);
    regret_close(b.pool);
    for (size_t i = 0; i < b.n_peers; i++) {
        peer_close(b.peers[i]);
        free(b.by_p25[i]);
        free(b.by_pairs[i]);
    }
    free(b.regrets);
    matmul_wishes_drop(&b.wishes);
    json_decref(b.results);
    device_close(&b.device);
    return status;
}

const verb_info verb_bench_matmul = {
    .name = "bench matmul",
    .arguments = "SIZE...",
    .summary = "the library's matmul beside other libraries', and beside its own candidates",
    .help =
        "SIZE is N or MxNxK, a T after it for a transposed B. The library (tuned first where nothing is stored) and\n"
        "the peers compute the same problem on the same buffers in one process, round by round in turning order. A\n"
        "sample is a batch of calls that lasts 5 ms or more, queued and finished once, or finished one by one with\n"
        "--sync; printed are the times of a call, GFLOP/s and % of the roof at the 25th percentile, and the largest\n"
        "error of checked rows over |alpha| sum |a b| + |beta c|; no roof where another problem of the key was tuned.\n"
        "speed: the library's over the peer's, by 25th percentiles, and the median of the ratios round by round; over 1\n"
        "the library is faster. After a peer with threads of its own (openblas) there is a pause of 120 ms, for they\n"
        "go on spinning.\n"
        "clblast is opened from plugin.clblast.library, openblas from plugin.cblas.library of the configuration, else\n"
        "by their usual names; openblas is any BLAS with a C interface, and needs a CPU device. A peer computes a\n"
        "product with a vector by its gemv.\n"
        "--all runs every candidate by itself, those over three times the choice's time once, and times the choice\n"
        "and the best of them again in 15 alternated pairs, ten times as many where their ratio is not sure to 1 %:\n"
        "regret is by how much the choice takes longer. --skip measures random problems in pieces.\n"
        "Told to end (SIGINT, SIGTERM, SIGHUP), or where one fails, it tells of those it measured.\n"
        "--json: the problem's object, for several problems {\"problems\", \"geometric_mean\", \"regret\"}.\n",
    .groups = ARGS_LEVEL | ARGS_TUNE,
    .options = table,
    .defaults = &defaults,
    .options_size = sizeof(matmul_options),
    .run = run,
};
