/* SPDX-License-Identifier: MIT
 *
 * check.c: the product on the host, tile by tile on all cores: sums in double, in long double where A is f64, so that
 * the reference's own error is far below the bound. */
#include "check.h"

#include "element.h"
#include "out.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A tile is COLS columns of a product; of B, DEPTH × COLS elements at a time lie in cache as doubles. */
#define COLS    64
#define DEPTH   128
#define THREADS 8

/* Sums of one row of a tile: of a·b and of |a·b|. The wide ones serve f64, the others the narrower types. */
typedef struct sums {
    double      plain[COLS], size[COLS];
    long double wide[COLS];
} sums;

typedef struct worker {
    const check_task *task;
    int64_t           first, stride; /* tiles first, first + stride, … */
    double           *a;             /* the rows to look at of the current product, n_rows × k */
    double           *b;             /* DEPTH × COLS */
    sums             *rows;
    check_result      result;
} worker;

static int64_t row_of(const check_task *task, int64_t r)
{
    return task->rows ? task->rows[r] : r;
}

static double load(const data_matrix *matrix, const unsigned char *bytes, int64_t place)
{
    return element_load(matrix->view.type, bytes + matrix->start, place);
}

static void load_a(worker *w, int64_t z)
{
    const check_task *task = w->task;
    int64_t           k = task->problem->k;
    for (int64_t r = 0; r < task->n_rows; r++)
        for (int64_t p = 0; p < k; p++)
            w->a[r * k + p] = load(task->a, task->a->host, data_place(task->a, z, row_of(task, r), p));
}

static void load_b(worker *w, int64_t z, int64_t p0, int64_t depth, int64_t j0, int64_t cols)
{
    const data_matrix *b = w->task->b;
    for (int64_t p = 0; p < depth; p++) {
        int64_t place = data_place(b, z, p0 + p, j0);
        for (int64_t j = 0; j < COLS; j++)
            w->b[p * COLS + j] = j < cols ? load(b, b->host, place + j * b->view.col) : 0;
    }
}

static void add(sums *row, const double *restrict a, const double *restrict b, int64_t depth, bool wide)
{
    for (int64_t p = 0; p < depth; p++, b += COLS) {
        double x = a[p];
        for (int j = 0; j < COLS; j++)
            row->size[j] += fabs(x * b[j]);
        if (wide)
            for (int j = 0; j < COLS; j++)
                row->wide[j] += (long double)x * b[j];
        else
            for (int j = 0; j < COLS; j++)
                row->plain[j] += x * b[j];
    }
}

/* alpha and beta count as the type of the sums has them. */
static double scalar(const qst_matmul *p, double value)
{
    return p->a.type == QST_F64 ? value : (double)(float)value;
}

/* Compares one element with alpha · sum + beta · c0. */
static void compare(worker *w, int64_t z, int64_t i, int64_t j, long double sum, double size, double factor)
{
    const check_task *task = w->task;
    const qst_matmul *p = task->problem;
    int64_t           place = data_place(task->c, z, i, j);
    double            alpha = scalar(p, p->alpha), beta = scalar(p, p->beta);
    double            before = beta == 0 ? 0 : load(task->c, task->c->host, place);
    double            got = load(task->c, task->result, place);
    double            want = (double)(alpha * sum + (long double)beta * before);
    double            bound = factor * (fabs(alpha) * size + fabs(beta * before));
    double            part;

    bound += element_half_ulp(p->c.type, fabs(want) + bound);
    part = fabs(got - want) / bound;
    if (got == want || (isinf(got) && got == element_round(p->c.type, want)) || (isnan(got) && isnan(want)))
        part = 0;
    if (isnan(part))
        part = INFINITY;
    if (part > w->result.worst)
        w->result.worst = part;
    size = fabs(alpha) * size + fabs(beta * before);
    if (part > 0 && size > 0 && !(fabs(got - want) / size <= w->result.relative))
        w->result.relative = isnan(got) ? INFINITY : fabs(got - want) / size;
    if (part > 1 && w->result.right) {
        w->result.right = false;
        w->result.product = z;
        w->result.row = i;
        w->result.col = j;
        w->result.got = got;
        w->result.want = want;
        w->result.bound = bound;
    }
}

static void tile(worker *w, int64_t z, int64_t j0)
{
    const check_task *task = w->task;
    const qst_matmul *p = task->problem;
    int64_t           cols = p->n - j0 < COLS ? p->n - j0 : COLS;
    bool              wide = p->a.type == QST_F64, reads = p->alpha != 0;
    double            factor = qst_matmul_bound(p);

    memset(w->rows, 0, (size_t)task->n_rows * sizeof *w->rows);
    for (int64_t p0 = 0; p0 < p->k && reads; p0 += DEPTH) {
        int64_t depth = p->k - p0 < DEPTH ? p->k - p0 : DEPTH;
        load_b(w, z, p0, depth, j0, cols);
        for (int64_t r = 0; r < task->n_rows; r++)
            add(&w->rows[r], w->a + r * p->k + p0, w->b, depth, wide);
    }
    for (int64_t r = 0; r < task->n_rows; r++)
        for (int64_t j = 0; j < cols; j++)
            compare(w, z, row_of(task, r), j0 + j, wide ? w->rows[r].wide[j] : (long double)w->rows[r].plain[j],
                    w->rows[r].size[j], factor);
}

static int64_t tiles_across(const check_task *task)
{
    return (task->problem->n + COLS - 1) / COLS;
}

static void *work(void *user)
{
    worker           *w = user;
    const check_task *task = w->task;
    int64_t           across = tiles_across(task), all = across * data_products(task->problem->batch), loaded = -1;
    for (int64_t t = w->first; t < all; t += w->stride) {
        int64_t z = t / across;
        if (z != loaded && task->problem->alpha != 0)
            load_a(w, z);
        loaded = z;
        tile(w, z, t % across * COLS);
    }
    return NULL;
}

static void worker_init(worker *w, const check_task *task, int64_t first, int64_t stride)
{
    w->task = task;
    w->first = first;
    w->stride = stride;
    w->a = out_resize(NULL, (size_t)(task->n_rows * task->problem->k) * sizeof *w->a);
    w->b = out_resize(NULL, sizeof *w->b * DEPTH * COLS);
    w->rows = out_resize(NULL, (size_t)task->n_rows * sizeof *w->rows);
    memset(&w->result, 0, sizeof w->result);
    w->result.right = true;
}

static void worker_finish(worker *w)
{
    free(w->a);
    free(w->b);
    free(w->rows);
}

/* Does the wrong element of a come before that of b? */
static bool earlier(const check_result *a, const check_result *b)
{
    if (a->product != b->product)
        return a->product < b->product;
    return a->row != b->row ? a->row < b->row : a->col < b->col;
}

static void merge(check_result *all, const check_result *one)
{
    double worst = all->worst > one->worst ? all->worst : one->worst;
    double relative = all->relative > one->relative ? all->relative : one->relative;
    if (!one->right && (all->right || earlier(one, all)))
        *all = *one;
    all->worst = worst;
    all->relative = relative;
}

check_result check_product(const check_task *given)
{
    check_task   task = *given;
    check_result all = {.right = true};
    worker       workers[THREADS];
    pthread_t    threads[THREADS];
    bool         started[THREADS] = {false};
    if (!task.rows)
        task.n_rows = task.problem->m;
    if (task.n_rows == 0 || task.problem->n == 0 || data_products(task.problem->batch) == 0)
        return all;
    int64_t tiles = tiles_across(&task) * data_products(task.problem->batch), n = sysconf(_SC_NPROCESSORS_ONLN);
    n = n < 1 ? 1 : n > THREADS ? THREADS : n;
    n = n > tiles ? tiles : n;
    for (int64_t t = 0; t < n; t++) {
        worker_init(&workers[t], &task, t, n);
        started[t] = t > 0 && pthread_create(&threads[t], NULL, work, &workers[t]) == 0;
    }
    for (int64_t t = 0; t < n; t++) /* the first, and those that got no thread, here */
        if (!started[t])
            work(&workers[t]);
    for (int64_t t = 0; t < n; t++) {
        if (started[t])
            pthread_join(threads[t], NULL);
        merge(&all, &workers[t].result);
        worker_finish(&workers[t]);
    }
    return all;
}

int64_t *check_sample(int64_t m, int64_t most, int64_t *n)
{
    int64_t  count = m < most ? m : most;
    int64_t *rows = out_resize(NULL, (size_t)(count ? count : 1) * sizeof *rows);
    for (int64_t r = 0; r < count; r++) {
        /* One row of each of `count` equal parts, anywhere in it; the outer two at the ends. */
        int64_t from = r * m / count, to = (r + 1) * m / count;
        rows[r] = from + (int64_t)((uint64_t)(r + 1) * 0x9E3779B9u >> 7) % (to - from);
    }
    if (count > 1) {
        rows[0] = 0;
        rows[count - 1] = m - 1;
    }
    *n = count;
    return rows;
}

char *check_text(const check_result *r)
{
    return out_text("product %" PRId64 ", element (%" PRId64 ", %" PRId64 ") is %.9g, should be %.9g within %.3g",
                    r->product, r->row, r->col, r->got, r->want, r->bound);
}
