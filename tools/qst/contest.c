/* SPDX-License-Identifier: MIT
 *
 * contest.c: calls, batches, rounds. */
#include "contest.h"

#include "element.h"
#include "out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AGAIN 2 /* times more that a batch is taken that seems too slow to go on with */

static const data_matrix *const *matrices(const contest *c, const data_matrix *all[3])
{
    all[0] = &c->a;
    all[1] = &c->b;
    all[2] = &c->c;
    return all;
}

bool contest_init(contest *c, const device_handle *device, const qst_matmul *problem, bool sync, uint64_t seed)
{
    const qst_matmul *p = problem;
    memset(c, 0, sizeof *c);
    c->device = device;
    c->problem = problem;
    c->sync = sync;
    data_init(&c->a, &p->a, p->m, p->k, p->batch, 0, 0);
    data_init(&c->b, &p->b, p->k, p->n, p->batch, 0, 0);
    data_init(&c->c, &p->c, p->m, p->n, p->batch, 0, 0);
    data_random(&c->a, 3 * seed);
    data_random(&c->b, 3 * seed + 1);
    if (p->beta != 0)
        data_random(&c->c, 3 * seed + 2);
    c->now = out_resize(NULL, (size_t)c->c.bytes);
    return data_upload(&c->a, device) && data_upload(&c->b, device) && data_upload(&c->c, device);
}

void contest_finish(contest *c)
{
    data_finish(&c->a);
    data_finish(&c->b);
    data_finish(&c->c);
    free(c->now);
    free(c->first);
    memset(c, 0, sizeof *c);
}

void contest_player_finish(contest_player *player)
{
    free(player->name);
    free(player->times);
    free(player->ruled_out);
    memset(player, 0, sizeof *player);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

/* The results as they were at first: NaN where beta is 0. */
static bool refill(const contest *c)
{
    return device_ok(
        clEnqueueWriteBuffer(c->device->queue, c->c.mem, CL_TRUE, 0, (size_t)c->c.bytes, c->c.host, 0, NULL, NULL),
        "clEnqueueWriteBuffer");
}

/* … for times alone: where nothing of them is read, others' may stand there. */
static bool reset(const contest *c)
{
    return c->problem->beta == 0 || refill(c);
}

/* For one that computes on the host: where the buffers are there. */
static bool map(const contest *c, unsigned char *host[3])
{
    const data_matrix *all[3];
    matrices(c, all);
    for (int i = 0; i < 3; i++) {
        cl_int       code;
        cl_map_flags flags = i == 2 ? CL_MAP_READ | CL_MAP_WRITE : CL_MAP_READ;
        host[i] = clEnqueueMapBuffer(c->device->queue, all[i]->mem, CL_TRUE, flags, 0, (size_t)all[i]->bytes, 0, NULL,
                                     NULL, &code);
        if (!device_ok(code, "clEnqueueMapBuffer"))
            return false;
    }
    return true;
}

static bool unmap(const contest *c, unsigned char *const host[3])
{
    const data_matrix *all[3];
    matrices(c, all);
    for (int i = 0; i < 3; i++)
        if (!device_ok(clEnqueueUnmapMemObject(c->device->queue, all[i]->mem, host[i], 0, NULL, NULL),
                       "clEnqueueUnmapMemObject"))
            return false;
    return device_ok(clFinish(c->device->queue), "clFinish");
}

static bool finish(const contest *c)
{
    return device_ok(clFinish(c->device->queue), "clFinish");
}

static bool call(const contest *c, const contest_player *player, unsigned char *const host[3], char **why)
{
    const data_matrix *all[3];
    qst_error          err = {0};
    int                code;
    if (player->context) {
        qst_status status = qst_matmul_enqueue_at(player->context, c->device->queue, c->problem, data_operand(&c->a),
                                                  data_operand(&c->b), data_operand(&c->c), 0, NULL, NULL, &err);
        if (status < 0)
            *why = out_text("%s", err.text[0] ? err.text : qst_status_text(status));
        return status >= 0;
    }
    code = peer_call(player->peer, c->problem, matrices(c, all), host, c->device->queue);
    if (code != 0)
        *why = out_text("%s returned %d", player->name, code);
    return code == 0;
}

/* n calls, ms from the first to the end of the last; negative, with *why, where one failed. */
static double calls(const contest *c, const contest_player *player, unsigned char *const host[3], int64_t n, char **why)
{
    uint64_t start = device_now();
    bool     good = true;
    for (int64_t i = 0; i < n && good; i++)
        good = call(c, player, host, why) && (!c->sync || finish(c));
    good = good && finish(c);
    return good ? (double)(device_now() - start) / 1e6 : -1;
}

static void rest(const contest_player *player)
{
    const struct timespec pause = {0, CONTEST_PAUSE_MS * 1000000L};
    if (player->peer && peer_on_host(player->peer))
        nanosleep(&pause, NULL);
}

double contest_batch(contest *c, contest_player *player)
{
    unsigned char *host[3];
    char          *why = NULL;
    bool           maps = player->peer && peer_on_host(player->peer);
    double         ms = -1;
    if (!reset(c) || (maps && !map(c, host)))
        return -1;
    if (calls(c, player, host, 1, &why) >= 0)
        ms = calls(c, player, host, player->calls, &why);
    if (maps && !unmap(c, host))
        ms = -1;
    rest(player);
    if (why)
        out_fail("bench matmul: %s", why);
    free(why);
    return ms < 0 ? -1 : ms / (double)player->calls;
}

/* ---- First calls ------------------------------------------------------------------------------------------------ */

/* These rows of every product. False: one is wrong, and the player is ruled out. */
static bool check_rows(const contest *c, contest_player *player, const int64_t *rows, int64_t n_rows)
{
    const check_task   task = {c->problem, &c->a, &c->b, &c->c, c->now, rows, n_rows};
    const check_result result = check_product(&task);
    player->right = result.right;
    player->error = result.relative > player->error ? result.relative : player->error;
    if (!result.right) {
        char *text = check_text(&result);
        player->ruled_out = out_text("wrong: %s", text);
        free(text);
    }
    return result.right;
}

static double apart(double x, double y)
{
    if (x == y || (isnan(x) && isnan(y)))
        return 0;
    return isnan(x - y) ? INFINITY : fabs(x - y);
}

/* The row, be it of any product, in which the results are furthest from those of the first who was right; −1: they are
 * the same. */
static int64_t furthest_row(const contest *c)
{
    const data_matrix *m = &c->c;
    int64_t            products = m->rows && m->cols ? data_products(m->batch) : 0, row = -1;
    double             most = 0;
    for (int64_t z = 0; z < products; z++)
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t j = 0; j < m->cols; j++) {
                int64_t place = data_place(m, z, i, j);
                double  off = apart(element_load(m->view.type, c->now + m->start, place),
                                    element_load(m->view.type, c->first + m->start, place));
                if (off > most) {
                    most = off;
                    row = i;
                }
            }
    return row;
}

/* Some rows, and the one that differs most from what another computed: operands are of one size throughout, so that
 * a wrong element stands there. */
static bool check(contest *c, contest_player *player)
{
    if (!data_download(&c->c, c->device, c->now))
        return false;
    int64_t n_rows, *rows = check_sample(c->problem->m, CONTEST_ROWS, &n_rows);
    bool    right = check_rows(c, player, rows, n_rows);
    free(rows);
    if (right && c->first) {
        int64_t row = furthest_row(c);
        if (row >= 0)
            (void)check_rows(c, player, &row, 1);
    } else if (right) {
        c->first = out_resize(NULL, (size_t)c->c.bytes);
        memcpy(c->first, c->now, (size_t)c->c.bytes);
    }
    return true;
}

/* Doubles the batch until it is long enough, so that what first calls cost beyond later ones is not counted. */
static void size_batch(const contest *c, contest_player *player, unsigned char *const host[3], char **why)
{
    double ms;
    for (player->calls = 1;; player->calls *= 2) {
        ms = calls(c, player, host, player->calls, why);
        if (ms < 0 || ms >= CONTEST_BATCH_MS || player->calls >= CONTEST_CALLS)
            break;
    }
    double each = ms / (double)player->calls;
    for (int again = 0; again < AGAIN && ms >= 0 && c->limit_ms > 0 && each > c->limit_ms; again++) {
        ms = calls(c, player, host, player->calls, why);
        each = ms >= 0 && ms / (double)player->calls < each ? ms / (double)player->calls : each;
    }
    if (ms > CONTEST_BATCH_MS && player->calls > 1)
        player->calls = (int64_t)ceil(CONTEST_BATCH_MS / each);
    if (ms >= 0 && c->limit_ms > 0 && each > c->limit_ms)
        player->ruled_out = out_text("slow: %s", out_ms(each).text);
}

bool contest_try(contest *c, contest_player *player)
{
    unsigned char *host[3];
    const char    *reason;
    char          *why = NULL;
    bool           maps = player->peer && peer_on_host(player->peer), good;
    if (player->peer && !peer_suits(player->peer, c->problem, &reason)) {
        player->ruled_out = out_text("%s", reason);
        return true;
    }
    /* What another has left there would pass for what this one leaves out. */
    good = refill(c) && (!maps || map(c, host));
    if (good && calls(c, player, host, 1, &why) >= 0 && (!maps || unmap(c, host))) {
        good = check(c, player) && (!maps || map(c, host));
        if (good && player->right)
            size_batch(c, player, host, &why);
    }
    if (maps && good)
        good = unmap(c, host);
    rest(player);
    if (why && !player->ruled_out) {
        player->ruled_out = why;
        why = NULL;
    }
    free(why);
    return good;
}

/* ---- Rounds ----------------------------------------------------------------------------------------------------- */

bool contest_play(contest *c, contest_player *const *players, size_t n, int64_t rounds)
{
    for (int64_t r = 0; r < rounds; r++)
        for (size_t k = 0; k < n; k++) {
            contest_player *player = players[r % 2 ? n - 1 - k : k];
            if (player->ruled_out)
                continue;
            double ms = contest_batch(c, player);
            if (ms < 0)
                return false;
            player->times = out_resize(player->times, (player->n_times + 1) * sizeof *player->times);
            player->times[player->n_times++] = ms;
        }
    return true;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double contest_quantile(const double *times, size_t n, double q)
{
    double *sorted, value;
    size_t  at;
    if (n == 0)
        return 0;
    sorted = out_resize(NULL, n * sizeof *sorted);
    memcpy(sorted, times, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    at = (size_t)ceil(q * (double)n);
    value = sorted[at ? at - 1 : 0];
    free(sorted);
    return value;
}

static double *divide(const double *a, const double *b, size_t n)
{
    double *ratios = out_resize(NULL, n * sizeof *ratios);
    for (size_t i = 0; i < n; i++)
        ratios[i] = a[i] / b[i];
    return ratios;
}

double contest_paired(const double *a, const double *b, size_t n)
{
    double *ratios = divide(a, b, n), median = contest_quantile(ratios, n, 0.5);
    free(ratios);
    return median;
}

double contest_doubt(const double *a, const double *b, size_t n)
{
    /* How many of n ratios lie under their true median is binomial: n/2 ± 1.96 √n / 2 with 95 %. */
    double off = 0.98 / sqrt((double)n), *ratios, width;
    if (n < 6)
        return INFINITY;
    ratios = divide(a, b, n);
    width = contest_quantile(ratios, n, 0.5 + off) - contest_quantile(ratios, n, 0.5 - off);
    free(ratios);
    return width / 2;
}
