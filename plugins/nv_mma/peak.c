/* SPDX-License-Identifier: MIT
 *
 * peak.c: what the matrix units can do at most, as candidates of probe.compute: f16 and bf16 products, tf32 for f32 in
 * class FAST, and for f32 in class PLAIN the fastest route that keeps its accuracy: three f16 products of scaled halves.
 */
#include "nv_mma.h"

#include <quernstone/probe.h>

enum { AS_F16, AS_BF16, AS_TF32 };
enum { GROUP = 128, WGMMA_SUMS = 64, MMA_SUMS = 32 };

/* One row: the unit's arithmetic, and whether it needs sm_90a. */
typedef struct peak_row {
    const char *variant;
    const char *entry;
    uint32_t    arithmetic;
    uint32_t    sm90a;
} peak_row;

static const peak_row rows[] = {
    {"wgmma_f16", "rate_wgmma_f16", AS_F16, 1},    {"wgmma_bf16", "rate_wgmma_bf16", AS_BF16, 1},
    {"wgmma_tf32", "rate_wgmma_tf32", AS_TF32, 1}, {"mma_f16", "rate_mma_f16", AS_F16, 0},
    {"mma_bf16", "rate_mma_bf16", AS_BF16, 0},     {"mma_tf32", "rate_mma_tf32", AS_TF32, 0},
};

typedef struct peak {
    nv_mma         *plugin;
    const peak_row *row;
} peak;

/* Which arithmetic gives a type's products in a class, and how many of its products one is. */
static const struct {
    uint32_t type, numerics, arithmetic, products;
} routes[] = {
    {QST_F32, QST_NUMERICS_PLAIN, AS_F16, 3},   {QST_F32, QST_NUMERICS_FAST, AS_TF32, 1},
    {QST_F16, QST_NUMERICS_PLAIN, AS_F16, 1},   {QST_F16, QST_NUMERICS_FAST, AS_F16, 1},
    {QST_BF16, QST_NUMERICS_PLAIN, AS_BF16, 1}, {QST_BF16, QST_NUMERICS_FAST, AS_BF16, 1},
};

/* 0: this row is not the way to it. */
static uint32_t products_of(const peak_row *row, uint32_t type, uint32_t numerics)
{
    for (size_t i = 0; i < QSTK_COUNT(routes); i++)
        if (routes[i].type == type && routes[i].numerics == numerics)
            return routes[i].arithmetic == row->arithmetic ? routes[i].products : 0;
    return 0;
}

static int32_t supports(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    static const nv_needs mma = {80, 0, 0, 0}, wgmma = {90, 0, 1, 0};
    const peak           *self = (const peak *)user;
    const peak_row       *row = self->row;
    if (!products_of(row, (uint32_t)key->value[0], (uint32_t)key->value[1]))
        return qstk_no(why, "another arithmetic serves this type and class");
    if (!row->sm90a && nv_mma_supports(self->plugin, device, &wgmma, NULL) == QST_OK)
        return qstk_no(why, "wgmma is faster");
    return nv_mma_supports(self->plugin, device, row->sm90a ? &wgmma : &mma, why);
}

static int64_t per_group(const peak_row *row)
{
    return (int64_t)GROUP * (row->sm90a ? WGMMA_SUMS : MMA_SUMS);
}

static int32_t can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    const peak_row  *row = ((const peak *)user)->row;
    const qst_probe *p = (const qst_probe *)problem;
    if (!products_of(row, p->type, p->numerics) || p->bytes % (4 * per_group(row)))
        return qstk_no(why, "not its arithmetic, or not a whole number of work-groups");
    return nv_mma_is_ours(device, why);
}

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    static const char *const options[][2] = {
        [AS_F16] = {"-cl-std=CL1.2 -DRATE=RATE_F16", "-cl-std=CL1.2 -DSM90A=1 -DRATE=RATE_F16"},
        [AS_BF16] = {"-cl-std=CL1.2 -DRATE=RATE_BF16", "-cl-std=CL1.2 -DSM90A=1 -DRATE=RATE_BF16"},
        [AS_TF32] = {"-cl-std=CL1.2 -DRATE=RATE_TF32", "-cl-std=CL1.2 -DSM90A=1 -DRATE=RATE_TF32"},
    };
    const peak_row *row = ((const peak *)user)->row;
    (void)device;
    (void)key;
    if (index != 0)
        return QST_E_INVALID;
    nv_probe_program(out, row->sm90a);
    out->options = options[row->arithmetic][row->sm90a];
    return QST_OK;
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const peak_row  *row = ((const peak *)user)->row;
    const qst_probe *p = (const qst_probe *)problem;
    const qst_arg    args[] = {qstk_operand(0), qstk_offset(0), qstk_i32(p->repeats),
                               qstk_i32(products_of(row, p->type, p->numerics))};
    qst_launch       launch = qstk_launch(0, row->entry, 1, args, QSTK_COUNT(args));
    (void)device;
    launch.local[0] = GROUP;
    launch.global[0] = (uint64_t)(p->bytes / 4 / per_group(row)) * GROUP;
    return out->launch(out, &launch);
}

int32_t nv_peak_add(nv_mma *plugin, const qst_host *host)
{
    peak   *all = (peak *)nv_mma_memory(plugin, sizeof *all * QSTK_COUNT(rows));
    int32_t status = all ? QST_OK : QST_E_NOMEM;
    for (size_t i = 0; i < QSTK_COUNT(rows) && status == QST_OK; i++) {
        qst_candidate candidate;
        all[i].plugin = plugin;
        all[i].row = &rows[i];
        memset(&candidate, 0, sizeof candidate);
        candidate.size = (uint32_t)sizeof candidate;
        candidate.op = "probe.compute";
        candidate.variant = rows[i].variant;
        candidate.revision = 2;
        candidate.classes = QST_CLASS_PLAIN | QST_CLASS_FAST;
        candidate.problem_size = (uint32_t)sizeof(qst_probe);
        candidate.user = &all[i];
        candidate.supports = supports;
        candidate.can_run = can_run;
        candidate.program = program;
        candidate.steps = steps;
        status = host->add_candidate(host->self, &candidate);
    }
    return status;
}
