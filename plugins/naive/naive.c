/* SPDX-License-Identifier: MIT
 *
 * naive.c: the plugin with matmul's fallback: every stride, batch and storage type, one order of summation. Its one
 * decision is which of the two kernels runs; they agree bit for bit (naive.cl).
 */
#include "naive.cl.h"
#include "plugins/common/plugin.h"
#include "plugins/common/storage.h"
#include <quernstone/matmul.h>

#define GROUP     64u    /* work-items of a group: any device has them */
#define GRID_MAX  32768u /* work-items of a launch; PoCL compiles a grid of 65536 and more once again */
#define ROW_WIDTH 16

static int32_t unit_priority(void *user, const qst_device *device, const qst_key *key)
{
    (void)user;
    (void)device;
    if (key->value[QST_MATMUL_KEY_KIND] == QST_KIND_INNER)
        return 3;
    return key->value[QST_MATMUL_KEY_SCALE] == QST_SCALE_SMALL ? 2 : 0;
}

static const qst_membership memberships[] = {{"unit", unit_priority, 0, 0}};

static int32_t can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    const char *no = storage_refusal(device, (const qst_matmul *)problem);
    (void)user;
    return no ? qstk_no(why, no) : QST_OK;
}

/* Columns 16 at a time where both matrices have them side by side and a row has at least 16. */
static int by_rows(const qst_matmul *p)
{
    return p->n >= ROW_WIDTH && p->b.col == 1 && p->c.col == 1;
}

static uint64_t parts(const qst_matmul *p)
{
    uint64_t across = by_rows(p) ? qstk_ceil_div((uint64_t)p->n, ROW_WIDTH) : (uint64_t)p->n;
    uint64_t all = (uint64_t)p->m * across;
    int      d;
    for (d = 0; d < QST_MATMUL_BATCHES; d++)
        all *= (uint64_t)p->batch[d];
    return all;
}

/* An fma of a vector (rows) or of one element every few clocks on each unit; a GPU has some 64 of them at once. */
static double estimate(void *user, const qst_device *device, const void *problem)
{
    const qst_matmul *p = (const qst_matmul *)problem;
    double            lanes = device->type == QST_DEVICE_CPU ? 1.0 : 64.0;
    double            clocks = by_rows(p) && device->type == QST_DEVICE_CPU ? 4.0 : 8.0;
    double            per_ns = (double)device->units * (double)device->clock_mhz * 1e-3 * lanes / clocks;
    (void)user;
    return per_ns > 0.0 ? 10000.0 + (double)parts(p) * (double)p->k / per_ns : 0.0;
}

/* Program i: the storage_index. */
static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
#define OPTIONS(element, out) "-cl-std=CL1.2 -DELEMENT=" #element " -DOUT=" #out
    static const char *const options[STORAGE_PAIRS] = {OPTIONS(1, 1), OPTIONS(2, 2), OPTIONS(3, 3), OPTIONS(4, 4),
                                                       OPTIONS(1, 1), OPTIONS(2, 1), OPTIONS(3, 1), OPTIONS(4, 1)};
    (void)user;
    (void)device;
    (void)key;
    if (index >= QSTK_COUNT(options))
        return QST_E_INVALID;
    out->data = naive_cl;
    out->length = sizeof naive_cl - 1;
    out->options = options[index];
    return QST_OK;
}

static qst_arg pair(int64_t x, int64_t y)
{
    int64_t both[2];
    both[0] = x;
    both[1] = y;
    return qstk_value(both, sizeof both);
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_matmul *p = (const qst_matmul *)problem;
    const qst_arg     args[] = {
            qstk_operand(0),
            qstk_offset(0),
            qstk_operand(1),
            qstk_offset(1),
            qstk_operand(2),
            qstk_offset(2),
            qstk_i64(p->m),
            qstk_i64(p->n),
            qstk_i64(p->alpha == 0.0 ? 0 : p->k),
            pair(p->a.row, p->a.col),
            pair(p->b.row, p->b.col),
            pair(p->c.row, p->c.col),
            pair(p->batch[0], p->batch[1]),
            pair(p->batch[2], p->batch[3]),
            pair(p->a.batch[0], p->a.batch[1]),
            pair(p->a.batch[2], p->a.batch[3]),
            pair(p->b.batch[0], p->b.batch[1]),
            pair(p->b.batch[2], p->b.batch[3]),
            pair(p->c.batch[0], p->c.batch[1]),
            pair(p->c.batch[2], p->c.batch[3]),
            storage_scalar(p, p->alpha),
            storage_scalar(p, p->beta),
    };
    qst_launch launch =
        qstk_launch(storage_index(p), by_rows(p) ? "naive_row16" : "naive_scalar", 1, args, QSTK_COUNT(args));
    uint64_t items = qstk_round_up(parts(p), GROUP);
    (void)user;
    (void)device;
    launch.global[0] = items < GRID_MAX ? items : GRID_MAX;
    launch.local[0] = GROUP;
    return out->launch(out, &launch);
}

static const qst_candidate row16 = {
    .size = sizeof row16,
    .flags = QST_CANDIDATE_FALLBACK,
    .op = "matmul",
    .variant = "row16",
    .revision = 2,
    .classes = QST_CLASS_STRICT | QST_CLASS_PLAIN | QST_CLASS_FAST,
    .problem_size = sizeof(qst_matmul),
    .n_memberships = QSTK_COUNT(memberships),
    .memberships = memberships,
    .can_run = can_run,
    .estimate = estimate,
    .program = program,
    .steps = steps,
};

static int32_t start(const qst_host *host, void **instance)
{
    *instance = NULL;
    return host->add_candidate(host->self, &row16);
}

/* The same descriptor built into the library and as a plugin: a host that has the one skips the other by its name. */
PLUGIN(naive, .start = start);
