/* SPDX-License-Identifier: MIT
 *
 * bench_regret.c: what the library's choice costs against the best candidate there is: each candidate is run by a context
 * that has it pinned, screened, and the best timed against the choice in pairs. */
#include "bench_matmul.h"

#include "out.h"
#include "verdict.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SCREEN_ROUNDS 3    /* of all */
#define NEAR_ROUNDS   6    /* more, of those that may be best */
#define NEAR          1.15 /* … whose median is within this of the least */
#define SLOW          3.0  /* over this times the choice's median: not screened */
#define SURE          0.01 /* a ratio whose doubt is no more than this takes no more pairs */
#define MORE_PAIRS    10   /* times the pairs asked for, at most */
#define THREADS       11   /* beside the caller, that ask candidates */

typedef struct regret_one {
    char        *name;
    qst_context *context; /* NULL until it is needed */
} regret_one;

struct regret_pool {
    const device_handle *device;
    const args_common   *common;
    char                *fallback;
    regret_one          *data;
    size_t               n;
};

static bool on_cpu(const device_handle *device)
{
    cl_device_type type = CL_DEVICE_TYPE_CPU;
    return clGetDeviceInfo(device->id, CL_DEVICE_TYPE, sizeof type, &type, NULL) != CL_SUCCESS ||
           type & CL_DEVICE_TYPE_CPU;
}

int regret_open(regret_pool **out, const device_handle *device, const args_common *common)
{
    regret_pool *pool = out_resize(NULL, sizeof *pool);
    json_t      *sets = out_describe(device->context, "sets"), *config = out_describe(device->context, "config");
    memset(pool, 0, sizeof *pool);
    pool->device = device;
    pool->common = common;
    for (size_t i = 0; i < json_array_size(sets); i++) {
        const json_t *set = json_array_get(sets, i), *list = json_object_get(set, "candidates");
        if (strcmp(out_member(set, "op"), "matmul") != 0)
            continue;
        for (size_t k = 0; k < json_array_size(list); k++) {
            const json_t *one = json_array_get(list, k);
            const char   *name = out_member(one, "name");
            if (out_truth(one, "fallback"))
                pool->fallback = out_text("%s", name);
            if (!verdict_allows(config, name))
                continue;
            pool->data = out_resize(pool->data, (pool->n + 1) * sizeof *pool->data);
            pool->data[pool->n++] = (regret_one){out_text("%s", name), NULL};
        }
    }
    if (!pool->fallback)
        pool->fallback = out_text("%s", "");
    *out = pool;
    json_decref(config);
    json_decref(sets);
    return sets && config ? 0 : 1;
}

void regret_close(regret_pool *pool)
{
    if (!pool)
        return;
    for (size_t i = 0; i < pool->n; i++) {
        qst_context_destroy(pool->data[i].context);
        free(pool->data[i].name);
    }
    free(pool->data);
    free(pool->fallback);
    free(pool);
}

/* A context of its own is asked: does it, and no other, run the problem? Else it is ruled out. False after one line. */
static bool ask(regret_pool *pool, const contest *c, regret_one *one, contest_player *player)
{
    qst_error  err = {0};
    qst_plan  *plan = NULL;
    qst_status status;
    if (!one->context && device_apart(&one->context, pool->common, one->name, pool->fallback) != 0)
        return false;
    player->name = out_text("%s", one->name);
    player->context = one->context;
    status = qst_matmul_plan(&plan, one->context, c->device->queue, c->problem, &err);
    if (status < 0)
        player->ruled_out = out_text("%s", err.text[0] ? err.text : qst_status_text(status));
    else if (strcmp(qst_plan_winner(plan), one->name) != 0)
        player->ruled_out = out_text("%s", "does not run this problem here");
    qst_plan_destroy(plan);
    return true;
}

/* Candidates are asked by some threads at once: nearly all of it is building, each context by itself. */
typedef struct asking {
    regret_pool    *pool;
    const contest  *c;
    contest_player *players;
    atomic_size_t   next;
    atomic_bool     failed;
} asking;

static void *ask_some(void *data)
{
    asking *all = data;
    size_t  i;
    while (!atomic_load(&all->failed) && (i = atomic_fetch_add(&all->next, 1)) < all->pool->n)
        if (!ask(all->pool, all->c, &all->pool->data[i], &all->players[i]))
            atomic_store(&all->failed, true);
    return NULL;
}

static bool ask_all(regret_pool *pool, const contest *c, contest_player *players)
{
    asking    all = {.pool = pool, .c = c, .players = players};
    pthread_t threads[THREADS];
    size_t    n = 0;
    out_progress("asking %zu candidates", pool->n);
    if (!on_cpu(c->device)) /* a CPU device's compiler takes the processors that there are */
        while (n < THREADS && pthread_create(&threads[n], NULL, ask_some, &all) == 0)
            n++;
    ask_some(&all);
    while (n > 0)
        (void)pthread_join(threads[--n], NULL);
    return !atomic_load(&all.failed);
}

static double median(const contest_player *player)
{
    return contest_quantile(player->times, player->n_times, 0.5);
}

static contest_player *fastest(contest_player *const *players, size_t n)
{
    contest_player *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (!players[i]->ruled_out && players[i]->n_times && (!best || median(players[i]) < median(best)))
            best = players[i];
    return best;
}

/* Three rounds of all, more of the near ones. False after one line. */
static bool screen(contest *c, contest_player *const *players, size_t n)
{
    contest_player **near = out_resize(NULL, n * sizeof *near);
    size_t           n_near = 0;
    bool             good = contest_play(c, players, n, SCREEN_ROUNDS);
    contest_player  *best = fastest(players, n);
    for (size_t i = 0; i < n && good && best; i++)
        if (!players[i]->ruled_out && median(players[i]) <= NEAR * median(best))
            near[n_near++] = players[i];
    good = good && contest_play(c, near, n_near, NEAR_ROUNDS);
    free(near);
    return good;
}

/* Two in alternated pairs, as many more as make the ratio of their times sure. */
static bool play_pairs(contest *c, contest_player *a, contest_player *b, int64_t pairs, double *ratio)
{
    contest_player *both[2] = {a, b};
    bool            good = contest_play(c, both, 2, pairs);
    while (good && contest_doubt(a->times, b->times, a->n_times) > SURE && (int64_t)a->n_times < MORE_PAIRS * pairs)
        good = contest_play(c, both, 2, pairs);
    *ratio = good ? contest_paired(a->times, b->times, a->n_times) : 0;
    return good;
}

/* Choice and best once more, by themselves. */
static bool duel(contest *c, const contest_player *ours, const contest_player *best, int64_t pairs, double *regret)
{
    contest_player choice = {.name = ours->name, .context = ours->context, .calls = ours->calls};
    contest_player other = {.name = best->name, .context = best->context, .calls = best->calls};
    double         ratio;
    bool           good = play_pairs(c, &choice, &other, pairs, &ratio);
    *regret = ratio > 1 ? ratio - 1 : 0;
    free(choice.times);
    free(other.times);
    return good;
}

bool regret_duel(regret_pool *pool, contest *c, const char *name, const char *against, int64_t pairs, double *ratio)
{
    const char    *names[2] = {name, against};
    contest_player both[2];
    bool           good = true;
    memset(both, 0, sizeof both);
    for (int k = 0; k < 2 && good; k++) {
        regret_one *one = NULL;
        for (size_t i = 0; i < pool->n; i++)
            if (strcmp(pool->data[i].name, names[k]) == 0)
                one = &pool->data[i];
        good = one && ask(pool, c, one, &both[k]);
        good = good && (both[k].ruled_out || contest_try(c, &both[k]));
        if (good && both[k].ruled_out)
            good = (out_fail("%s: %s", names[k], both[k].ruled_out), false);
    }
    *ratio = 0;
    good = good && play_pairs(c, &both[0], &both[1], pairs, ratio);
    contest_player_finish(&both[0]);
    contest_player_finish(&both[1]);
    return good;
}

bool regret_measure(regret_pool *pool, contest *c, const contest_player *ours, const char *winner, int64_t pairs,
                    json_t *rows, double *regret, char **best_name)
{
    contest_player  *all = out_resize(NULL, pool->n * sizeof *all);
    contest_player **players = out_resize(NULL, pool->n * sizeof *players);
    bool             good = true;
    memset(all, 0, pool->n * sizeof *all);
    for (size_t i = 0; i < pool->n; i++)
        players[i] = &all[i];
    good = ask_all(pool, c, all);
    for (size_t i = 0; i < pool->n && good; i++) {
        out_progress("%zu of %zu: %s", i + 1, pool->n, pool->data[i].name);
        c->limit_ms = strcmp(pool->data[i].name, winner) == 0 ? 0 : SLOW * median(ours);
        good = all[i].ruled_out || contest_try(c, &all[i]);
    }
    c->limit_ms = 0;
    good = good && screen(c, players, pool->n);
    const contest_player *best = good ? fastest(players, pool->n) : NULL;
    *regret = best ? 0 : NAN;
    *best_name = out_text("%s", best ? best->name : winner);
    if (best && strcmp(best->name, winner) != 0)
        good = duel(c, ours, best, pairs < REGRET_PAIRS ? REGRET_PAIRS : pairs, regret);
    for (size_t i = 0; i < pool->n; i++) {
        if (good)
            json_array_append_new(rows, matmul_row(c, &all[i], NULL));
        contest_player_finish(&all[i]);
    }
    free(players);
    free(all);
    return good;
}
