/* SPDX-License-Identifier: MIT
 *
 * bench_verify.c: `qst bench verify`: what judging a key costs beside the winner's own runs, and how likely a fault that
 * shows only now and then is to be caught while the key is tuned. */
#include "bench.h"
#include "device.h"
#include "out.h"
#include "problem.h"
#include "stop.h"
#include "verb.h"
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t sides[] = {256, 512, 1024};

/* Faults by how seldom they show: one launch in `every`. */
static const struct fault {
    const char *name;
    double      every;
} faults[] = {
    {"wrong in each launch", 1},      {"in every 10th launch", 10},      {"in every 100th launch", 100},
    {"in every 1000th launch", 1000}, {"in one launch of 10000", 10000},
};
#define FAULTS (sizeof faults / sizeof *faults)

/* What the key's verdict says of its winner, and what the context did meanwhile. */
typedef struct verified {
    char   winner[160];
    double median_ms;
    double check_ms, all_check_ms; /* of the winner, of all: with the runs that are judged */
    double judge_ms;               /* without them: the judge itself, a candidate */
    int    seen;                   /* results of it on the problem that were looked at whole */
    int    tried;                  /* candidates that were judged */
} verified;

/* 1: judged in full; then a digest after each sample, which one wrong element always changes. */
static int results_seen(const json_t *finding)
{
    return 1 + (int)json_array_size(json_object_get(finding, "samples"));
}

static void read_verdict(verified *v, const json_t *verdict)
{
    const json_t *findings = json_object_get(verdict, "findings");
    (void)snprintf(v->winner, sizeof v->winner, "%s", out_member(verdict, "winner"));
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *f = json_array_get(findings, i);
        v->all_check_ms += out_number(f, "verify_ms");
        v->tried += out_number(f, "verify_ms") > 0;
        if (strcmp(out_member(f, "name"), v->winner) != 0)
            continue;
        v->check_ms = out_number(f, "verify_ms");
        v->median_ms = out_number(f, "median_ms");
        v->seen = results_seen(f);
    }
}

static uint64_t judge_ns(const device_handle *device)
{
    qst_counters counters = {.size = sizeof counters};
    return qst_context_counters(device->context, &counters) >= 0 ? counters.judge_ns : 0;
}

/* Tunes the square anew, by a plan: tuning has operands of its own. */
static bool tune(const device_handle *device, int64_t side, uint32_t type, verified *v)
{
    uint64_t   before = judge_ns(device);
    qst_error  err = {0};
    qst_plan  *plan = NULL;
    qst_set   *set;
    qst_matmul p;
    json_t    *verdict = NULL;
    memset(v, 0, sizeof *v);
    qst_matmul_init(&p, side, side, side, type);
    p.a.align = p.b.align = p.c.align = PROBLEM_ALIGN;
    qst_status status = qst_set_find(&set, device->context, "matmul", &err);
    if (status >= 0)
        status = qst_matmul_plan(&plan, device->context, device->queue, &p, &err);
    if (status < 0)
        return out_error("bench verify", status, &err), false;
    qst_plan_destroy(plan);
    problem_key key;
    if (!problem_key_of(set, &p, &key, NULL) || !verdict_find(&verdict, device->context, &key) || !verdict)
        return out_fail("bench verify: no verdict about %lld", (long long)side), false;
    read_verdict(v, verdict);
    v->judge_ms = v->tried ? 1e-6 * (double)(judge_ns(device) - before) / v->tried : 0;
    json_decref(verdict);
    return true;
}

static double caught(const verified *v, const struct fault *f)
{
    return 1 - pow(1 - 1 / f->every, v->seen);
}

static double runs(const verified *v, double ms)
{
    return v->median_ms > 0 ? ms / v->median_ms : 0;
}

static void print(int64_t side, const verified *v)
{
    printf("%lldx%lld: %s, median %s\n", (long long)side, (long long)side, v->winner, out_ms(v->median_ms).text);
    printf("    the judge itself, a candidate: %s, %.2f of the winner's runs\n", out_ms(v->judge_ms).text,
           runs(v, v->judge_ms));
    printf("    with the runs that it judges: %s, %.2f; of all %d candidates: %s\n", out_ms(v->check_ms).text,
           runs(v, v->check_ms), v->tried, out_ms(v->all_check_ms).text);
    printf("    results of it that were looked at whole: %d; a fault is caught with\n", v->seen);
    for (size_t i = 0; i < FAULTS; i++)
        printf("        %-24s %8.4f %%\n", faults[i].name, 100 * caught(v, &faults[i]));
}

static json_t *as_json(int64_t side, const verified *v)
{
    json_t *rows = out_need(json_array());
    for (size_t i = 0; i < FAULTS; i++)
        json_array_append_new(rows, out_need(json_pack("{s:s,s:f,s:f}", "fault", faults[i].name, "every",
                                                       faults[i].every, "caught", caught(v, &faults[i]))));
    return out_need(json_pack("{s:I,s:s,s:f,s:f,s:f,s:f,s:i,s:i,s:o}", "n", (json_int_t)side, "winner", v->winner,
                              "median_ms", v->median_ms, "judge_ms", v->judge_ms, "check_ms", v->check_ms,
                              "all_check_ms", v->all_check_ms, "judged", v->tried, "seen", v->seen, "faults", rows));
}

/* All squares. */
typedef struct course {
    bool    json;
    size_t  done;
    json_t *rows;
} course;

static void tell_end(void *user)
{
    const course *c = user;
    if (c->json && c->done)
        out_json(json_incref(c->rows));
    out_fail("bench verify: ended by %s after %zu of %zu squares", stop_name(), c->done, sizeof sides / sizeof *sides);
}

static int measure(const device_handle *device, uint32_t type, course *c)
{
    bool good = true;
    while (c->done < sizeof sides / sizeof *sides && good) {
        verified v;
        int64_t  side = sides[c->done];
        good = tune(device, side, type, &v);
        stop_hold();
        if (good && c->json)
            json_array_append_new(c->rows, as_json(side, &v));
        else if (good)
            print(side, &v);
        fflush(stdout);
        c->done += good;
        stop_go();
    }
    return good ? 0 : EXIT_FAILED;
}

int verify_bench(const args_common *common, const bench_options *options)
{
    const char   *settings[] = {"store.backend=memory", "tune.mode=tune", "tune.verify=true"};
    args_common   own = *common;
    device_handle device;
    course        c = {common->json, 0, out_need(json_array())};
    const char  **set = out_resize(NULL, (common->set.n + 3) * sizeof *set);
    for (size_t i = 0; i < common->set.n + 3; i++)
        set[i] = i < common->set.n ? common->set.data[i] : settings[i - common->set.n];
    own.set.data = set;
    own.set.n = common->set.n + 3;
    stop_tell(tell_end, &c); /* opening takes a while, too */
    int status = device_open(&device, &own, NULL);
    if (status == 0)
        status = measure(&device, options->type, &c);
    stop_hold_tell(NULL, NULL);
    if (status == 0 && common->json)
        out_json(json_incref(c.rows));
    stop_go();
    json_decref(c.rows);
    device_close(&device);
    free(set);
    return status;
}
