/* SPDX-License-Identifier: MIT
 *
 * plugin.c: one candidate for matmul, `narrow`: products of at most four columns (kernel.cl). Read from the bottom:
 * the descriptor, start, the candidate, its functions.
 */
#include "kernel.cl.h"
#include <quernstone/kit.h>
#include <quernstone/matmul.h>

#define COLUMNS_MAX 4         /* of C; a program each */
#define ROWS        4         /* of a panel, as in the programs' options */
#define GROUP       64        /* work-items of a group: any device has them */
#define GRID_MAX    32768     /* work-items of a launch; the kernel loops over the rest */
#define COUNT_MAX   (1 << 30) /* sizes and panels: with a grid added they still fit an int */

/* The batch dimension in use; the last where none is, -1 where there are two that do not merge. */
static int batch_of(const qst_matmul *p)
{
    int d, found = -1;
    for (d = 0; d < QST_MATMUL_BATCHES; d++) {
        if (p->batch[d] == 1)
            continue;
        if (found >= 0)
            return -1;
        found = d;
    }
    return found >= 0 ? found : QST_MATMUL_BATCHES - 1;
}

static int64_t panels_of_product(const qst_matmul *p)
{
    return (int64_t)qstk_ceil_div((uint64_t)p->m, ROWS);
}

/* By key, once a key: could it ever? A bucket of at most 16 columns may hold a problem of four. Few columns more
 * and it would never run; to say so here spares the look at each problem. */
static int32_t supports(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    (void)user;
    (void)device;
    if (key->value[QST_MATMUL_KEY_N] > 16)
        return qstk_no(why, "more than 4 columns");
    return QST_OK;
}

/* By problem, before each first use of it: legality, with the real numbers. One condition a line. */
static int32_t can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    const qst_matmul *p = (const qst_matmul *)problem;
    const int         d = batch_of(p);
    (void)user;
    (void)device;
    if (p->a.type != QST_F32 || p->b.type != QST_F32 || p->c.type != QST_F32)
        return qstk_no(why, "f32 only");
    if (p->n > COLUMNS_MAX)
        return qstk_no(why, "more than 4 columns");
    if (p->n > 1 && (p->b.col != 1 || p->c.col != 1))
        return qstk_no(why, "columns of B or of C are not adjacent");
    if (d < 0)
        return qstk_no(why, "more than one batch dimension that does not merge");
    if (p->m > COUNT_MAX || p->k > COUNT_MAX || p->batch[d] > COUNT_MAX / panels_of_product(p))
        return qstk_no(why, "m, k or the panels of 4 rows over 2^30");
    return QST_OK;
}

/* A rough number: too high by far and it is not tried, too low by far and others are not. A step along k is about
 * four clocks for the rows of a panel, and a panel has some forty clocks of its own. */
static double estimate(void *user, const qst_device *device, const void *problem)
{
    const qst_matmul *p = (const qst_matmul *)problem;
    const double      lanes = device->type == QST_DEVICE_CPU ? 1.0 : 32.0;
    const double      clocks_a_ns = 1e-3 * (double)device->clock_mhz * (double)device->units * lanes;
    const double      panels = (double)panels_of_product(p) * (double)p->batch[batch_of(p)];
    (void)user;
    return clocks_a_ns > 0.0 ? 10000.0 + panels * (40.0 + 4.0 * (double)p->k) / clocks_a_ns : 0.0;
}

/* Program i has i + 1 columns. The problem picks it, in steps: problems of one bucket may differ. */
static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    static const char *const options[COLUMNS_MAX] = {
        "-cl-std=CL1.2 -DN=1 -DROWS=4",
        "-cl-std=CL1.2 -DN=2 -DROWS=4",
        "-cl-std=CL1.2 -DN=3 -DROWS=4",
        "-cl-std=CL1.2 -DN=4 -DROWS=4",
    };
    (void)user;
    (void)device;
    (void)key;
    if (index >= COLUMNS_MAX)
        return QST_E_INVALID;
    out->data = kernel_cl;
    out->length = sizeof kernel_cl - 1;
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

/* The launch, as data: the arguments in the kernel's order. The host sets them, checks the ranges against the device
 * and enqueues; a plan keeps them. */
static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_matmul *p = (const qst_matmul *)problem;
    const int         d = batch_of(p);
    const int64_t     down = panels_of_product(p), panels = down * p->batch[d];
    const qst_arg     args[] = {
            qstk_operand(0),    qstk_offset(0),          qstk_operand(1),          qstk_offset(1),
            qstk_operand(2),    qstk_offset(2),          qstk_i32(p->m),           qstk_i32(p->k),
            qstk_i32(panels),   qstk_i32(down),          pair(p->a.row, p->a.col), qstk_i64(p->b.row),
            qstk_i64(p->c.row), qstk_i64(p->a.batch[d]), qstk_i64(p->b.batch[d]),  qstk_i64(p->c.batch[d]),
            qstk_f32(p->alpha), qstk_f32(p->beta),
    };
    qst_launch     launch = qstk_launch((uint32_t)p->n - 1, "narrow", 1, args, QSTK_COUNT(args));
    const uint64_t items = qstk_round_up((uint64_t)panels, GROUP);
    (void)user;
    (void)device;
    launch.global[0] = items < GRID_MAX ? items : GRID_MAX;
    launch.local[0] = GROUP;
    return out->launch(out, &launch);
}

/* A member of no group: it joins the first round of every key. Its full name is matmul.template.narrow/1. */
static const qst_candidate narrow = {
    .size = sizeof narrow,
    .op = "matmul",
    .variant = "narrow",
    .revision = 1, /* raise it whenever what it computes, or how fast, may have changed */
    .classes = QST_CLASS_PLAIN | QST_CLASS_FAST,
    .problem_size = sizeof(qst_matmul),
    .supports = supports,
    .can_run = can_run,
    .estimate = estimate,
    .program = program,
    .steps = steps,
};

static int32_t start(const qst_host *host, void **instance)
{
    *instance = NULL;
    return host->add_candidate(host->self, &narrow);
}

/* The only symbol that shows. */
extern QSTK_EXPORT const qst_plugin qst_plugin_v1;
const qst_plugin                    qst_plugin_v1 = {
                       QST_PLUGIN_HEAD, .name = "template", .version = "1.0", .licence = "MIT", .start = start,
};
