/* SPDX-License-Identifier: MIT
 *
 * cpu_gemm.c: the plugin: the table of its candidates and the functions that all rows share. A variant is a line here.
 */
#include "cpu_gemm.h"
#include "splitk.cl.h"

#include "plugins/common/plugin.h"
#include "plugins/common/split_k.h"

/* A name tells tile, block of k, what is packed and, where that is not 4 and along rows, cut and groups a unit. Rows that
 * differ in the last two only, or in the block while A is read in place, share their programs. Short blocks are for few
 * rows: they read B in the order of memory, or fetch it ahead. Other types than f32 alone and f64 alone are for rows that
 * copy A. Tall rows share their program. */
/* clang-format off */
static const struct cpu_gemm_row rows[] = {
    /* variant,                mr, nv, kc,  pack,      parts for a unit, cut,          slices, most_m, ahead, beside */
    {"6x4_k128",               6,  4,  128, CPU_GEMM_IN_PLACE,   4, CPU_GEMM_ROWS,    1,      0,      0,     CPU_GEMM_NEVER},
    {"6x4_k256",               6,  4,  256, CPU_GEMM_IN_PLACE,   4, CPU_GEMM_ROWS,    1,      0,      0,     CPU_GEMM_NEVER},
    {"6x4_k384",               6,  4,  384, CPU_GEMM_IN_PLACE,   4, CPU_GEMM_ROWS,    1,      0,      0,     CPU_GEMM_NEVER},
    {"8x3_k64_columns1_ahead", 8,  3,  64,  CPU_GEMM_IN_PLACE,   1, CPU_GEMM_COLUMNS, 1,      64,     1,     CPU_GEMM_NEVER},
    {"6x4_k32_columns2",       6,  4,  32,  CPU_GEMM_IN_PLACE,   2, CPU_GEMM_COLUMNS, 1,      64,     0,     CPU_GEMM_NEVER},
    {"8x3_k384",               8,  3,  384, CPU_GEMM_IN_PLACE,   4, CPU_GEMM_ROWS,    1,      0,      0,     CPU_GEMM_NEVER},
    {"8x3_k32_columns1",       8,  3,  32,  CPU_GEMM_IN_PLACE,   1, CPU_GEMM_COLUMNS, 1,      64,     0,     CPU_GEMM_NEVER},
    {"6x4_k384_b",             6,  4,  384, CPU_GEMM_PACK_B,     4, CPU_GEMM_ROWS,    1,      0,      0,     CPU_GEMM_NEVER},
    {"6x4_k256_ab",            6,  4,  256, CPU_GEMM_PACK_BOTH,  4, CPU_GEMM_ROWS,    1,      0,      0,     CPU_GEMM_NEVER},
    {"6x4_k256_ab_rows2",      6,  4,  256, CPU_GEMM_PACK_BOTH,  2, CPU_GEMM_ROWS,    1,      0,      0,     CPU_GEMM_NEVER},
    {"6x4_k256_ab_grid",       6,  4,  256, CPU_GEMM_PACK_BOTH,  4, CPU_GEMM_GRID,    1,      0,      0,     CPU_GEMM_NEVER},
    {"8x3_k192_ab_rows2",      8,  3,  192, CPU_GEMM_PACK_BOTH,  2, CPU_GEMM_ROWS,    1,      0,      0,     CPU_GEMM_NEVER},
    {"8x3_k192_ab_rows1",      8,  3,  192, CPU_GEMM_PACK_BOTH,  1, CPU_GEMM_ROWS,    1,      0,      0,     CPU_GEMM_MEDIUM},
    {"6x4_k128_ab_rows2",      6,  4,  128, CPU_GEMM_PACK_BOTH,  2, CPU_GEMM_ROWS,    1,      0,      0,     CPU_GEMM_LARGE},
    {"8x3_k32_a_columns1",     8,  3,  32,  CPU_GEMM_PACK_A,     1, CPU_GEMM_COLUMNS, 1,      64,     0,     CPU_GEMM_NEVER},
    {"24x1_k128_ab_rows1",     24, 1,  128, CPU_GEMM_TALL_BOTH,  1, CPU_GEMM_ROWS,    1,      0,      0,     CPU_GEMM_NEVER},
    {"24x1_k256_ab_rows1",     24, 1,  256, CPU_GEMM_TALL_BOTH,  1, CPU_GEMM_ROWS,    1,      0,      0,     CPU_GEMM_NEVER},
    {"24x1_k128_a",            24, 1,  128, CPU_GEMM_TALL_A,     4, CPU_GEMM_ROWS,    1,      0,      0,     CPU_GEMM_NEVER},
    {"24x1_k256_a",            24, 1,  256, CPU_GEMM_TALL_A,     4, CPU_GEMM_ROWS,    1,      0,      0,     CPU_GEMM_NEVER},
    {"6x4_k384_split8",        6,  4,  384, CPU_GEMM_IN_PLACE,   4, CPU_GEMM_ROWS,    8,      128,    0,     CPU_GEMM_NEVER},
};
/* clang-format on */

static const qst_membership memberships[] = {{"cpu", NULL, 0, 0}};

/* Of rows that do the same for a key one is enough: the first. */
static int32_t alone(const struct cpu_gemm_row *row, const qst_device *device, const qst_key *key, const char **why)
{
    for (const struct cpu_gemm_row *other = rows; other < row; other++)
        if (cpu_gemm_supports(other, device, NULL) == QST_OK && cpu_gemm_same(row, other, device, key))
            return qstk_poor(why, "another row does the same for matrices of this size");
    return QST_OK;
}

static int64_t longest_tall(const qst_device *device)
{
    int64_t longest = 0;
    for (size_t i = 0; i < QSTK_COUNT(rows); i++)
        if (rows[i].pack == CPU_GEMM_TALL_BOTH && rows[i].kc > longest &&
            cpu_gemm_supports(&rows[i], device, NULL) == QST_OK)
            longest = rows[i].kc;
    return longest;
}

static int32_t supports(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    const struct cpu_gemm_row *row = ((const struct cpu_gemm_candidate *)user)->row;
    int32_t                    status = cpu_gemm_supports(row, device, why);
    if (status == QST_OK)
        status = cpu_gemm_suits(row, longest_tall(device), key, why);
    return status == QST_OK ? alone(row, device, key, why) : status;
}

/* The problem as the row computes it. */
static int32_t look(const struct cpu_gemm_row *row, const qst_device *device, const void *problem,
                    struct cpu_gemm_problem *out, const char **why)
{
    const qst_matmul *p = (const qst_matmul *)problem;
    const char       *no = storage_refusal(device, p);
    int32_t           status = no ? qstk_no(why, no) : matmul_look(&out->view, p, why);
    if (status == QST_OK && row->slices > 1)
        status = p->numerics == QST_NUMERICS_STRICT ? qstk_no(why, "the order of summation is fixed")
                                                    : split_k(row->slices, device, &out->view, why);
    return status == QST_OK ? cpu_gemm_fits(row, device, p, out, why) : status;
}

static int32_t can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    struct cpu_gemm_problem p;
    return look(((const struct cpu_gemm_candidate *)user)->row, device, problem, &p, why);
}

static double estimate(void *user, const qst_device *device, const void *problem)
{
    const struct cpu_gemm_row *row = ((const struct cpu_gemm_candidate *)user)->row;
    struct cpu_gemm_problem    p;
    double                     ns;
    if (look(row, device, problem, &p, NULL) != QST_OK)
        return 0.0;
    ns = cpu_gemm_estimate(row, device, &p);
    return ns > 0.0 && row->slices > 1 ? ns + split_k_estimate(device, &p.view) : ns;
}

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    const struct cpu_gemm_candidate *self = (const struct cpu_gemm_candidate *)user;
    (void)device;
    (void)key;
    if (index == CPU_GEMM_ADD && self->row->slices > 1) {
        out->data = splitk_cl;
        out->length = sizeof splitk_cl - 1;
        out->options = "-cl-std=CL1.2";
        return QST_OK;
    }
    if (index >= CPU_GEMM_PROGRAMS)
        return QST_E_INVALID;
    cpu_gemm_source(self->row, out);
    out->options = self->options[index];
    return QST_OK;
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const struct cpu_gemm_row *row = ((const struct cpu_gemm_candidate *)user)->row;
    struct cpu_gemm_problem    p;
    int32_t                    status = look(row, device, problem, &p, NULL);
    uint64_t                   bytes = 0;
    if (status == QST_OK)
        bytes = row->slices > 1 ? split_k_bytes(&p.view) : cpu_gemm_sums(row, &p);
    if (status == QST_OK && bytes)
        status = out->workspace(out, 0, bytes);
    if (status == QST_OK)
        status = cpu_gemm_launch(row, device, &p, out);
    if (status == QST_OK && row->slices > 1)
        status = split_k_add(&p.view, (const qst_matmul *)problem, CPU_GEMM_ADD, out);
    return status;
}

/* A row's candidate but for what the row says. */
static const qst_candidate like = {
    .size = sizeof like,
    .op = "matmul",
    .revision = 8,
    .classes = QST_CLASS_STRICT | QST_CLASS_PLAIN | QST_CLASS_FAST,
    .problem_size = sizeof(qst_matmul),
    .n_memberships = QSTK_COUNT(memberships),
    .memberships = memberships,
    .supports = supports,
    .can_run = can_run,
    .estimate = estimate,
    .program = program,
    .steps = steps,
};

static void fill(const void *row, void *own, qst_candidate *candidate)
{
    struct cpu_gemm_candidate *self = (struct cpu_gemm_candidate *)own;
    uint32_t                   i;
    self->row = (const struct cpu_gemm_row *)row;
    for (i = 0; i < CPU_GEMM_PROGRAMS; i++)
        cpu_gemm_options(self->row, i, self->options[i], sizeof self->options[i]);
    candidate->variant = self->row->variant;
}

static const struct plugin_table table = {
    rows, QSTK_COUNT(rows), sizeof rows[0], sizeof(struct cpu_gemm_candidate), &like, fill};

static int32_t start(const qst_host *host, void **instance)
{
    return plugin_start(host, &table, instance);
}

PLUGIN(cpu_gemm, .start = start, .stop = plugin_close);
