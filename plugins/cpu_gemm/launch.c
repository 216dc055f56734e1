/* SPDX-License-Identifier: MIT
 *
 * launch.c: what a row makes of a problem: options, limits, cost and launch of cpu_gemm.cl and cpu_tall.cl.
 */
#include "cpu_gemm.cl.h"
#include "cpu_gemm.h"
#include "cpu_tall.cl.h"
#include <stdio.h>
#include <string.h>

#define LOCAL_SLACK  16384u /* bytes of local memory to keep clear of: PoCL aborts the process beyond its limit */
#define ALPHA_LEAST  0x1p-32
#define ALPHA_MOST   0x1p32
#define PACKED_BYTES 860000u /* of A at a time: with a panel of B within a second-level cache of 1 MB */
#define PACKED_ROWS  516u    /* rows of A at a time, at most */
#define TALL_VECTORS 64u     /* of columns of B at a time in tall rows */
#define TALL_GAIN    1.02 /* how much longer than other tiles they take where loads are what is short: tried after these */
#define LAUNCH_NS    20000.0 /* of a launch: the wake-up of the workers */
#define BYTES_A_NS   20.0    /* rate at which operands come from memory, about, by all units */
#define SCATTERED    3.0     /* how much longer B takes from memory in tall panels that few rows use */
#define SCATTERED_K  64
#define SCATTERED_M  96
#define LATE         1.2            /* the same where nothing of it is fetched ahead */
#define SPILLED      1.06           /* how much longer products with a larger one take */
#define STRIDED      1.25           /* the same where it is read in place, of a large B */
#define WAIT         0.01           /* the same, over the parts of a unit: at the end one waits for the other */
#define SUMS_MAX     (512ull << 20) /* bytes of sums between blocks of k */
#define PACK_STEPS   0.7            /* fma of a vector that copying one vector costs, about */
#define TRANSPOSE    3.0            /* the same where it is transposed */

static double bytes_of(uint32_t type)
{
    return type == QST_F64 ? 8.0 : type == QST_F32 ? 4.0 : 2.0;
}

/* The type of the sums. */
static uint32_t sums_of(uint32_t storage)
{
    return storage_element(storage) == QST_F64 ? QST_F64 : QST_F32;
}

/* Is it f32 alone or f64 alone, which A is read of in place? */
static int is_plain(uint32_t storage)
{
    return storage_element(storage) <= QST_F64 && storage_out(storage) == storage_element(storage);
}

static int packs_b(const struct cpu_gemm_row *row, uint32_t index)
{
    return (row->pack & CPU_GEMM_PACK_B) || (index & 1u);
}

/* Lines of a packed row of A, with one of padding; an odd number for the usual blocks, so that rows spread over the sets of
 * a cache. Rows that are packed at a time. */
static uint32_t packed_lines(const struct cpu_gemm_row *row, uint32_t type)
{
    return (row->kc / cpu_gemm_vector(type) + 1) | 1u;
}

static uint32_t packed_rows(const struct cpu_gemm_row *row, uint32_t type)
{
    const uint32_t rows = PACKED_BYTES / (packed_lines(row, type) * CPU_GEMM_VECTOR);
    return rows < PACKED_ROWS ? rows : PACKED_ROWS;
}

static uint64_t local_bytes(const struct cpu_gemm_row *row, uint32_t type, int pack_b, int64_t kc)
{
    if (cpu_gemm_is_tall(row))
        return (uint64_t)kc * row->mr * cpu_gemm_item(type) +
               (uint64_t)(kc + 1) * (pack_b ? TALL_VECTORS : 1) * CPU_GEMM_VECTOR;
    const uint64_t a =
        row->pack & CPU_GEMM_PACK_A ? (uint64_t)packed_rows(row, type) * packed_lines(row, type) * CPU_GEMM_VECTOR : 0;
    return a + (uint64_t)kc * (pack_b ? row->nv : 1) * CPU_GEMM_VECTOR;
}

void cpu_gemm_options(const struct cpu_gemm_row *row, uint32_t program, char *text, size_t size)
{
    const uint32_t storage = program / CPU_GEMM_CASES, index = program % CPU_GEMM_CASES, type = sums_of(storage);
    int used = snprintf(text, size, "-cl-std=CL1.2 -DELEMENT=%u -DOUT=%u -DMR=%u -DNV=%u -DTA=%u -DTB=%u -DPACK_B=%d",
                        storage_element(storage), storage_out(storage), row->mr, row->nv, index >> 1, index & 1u,
                        packs_b(row, index));
    if (row->ahead && !packs_b(row, index))
        used += snprintf(text + used, size - (size_t)used, " -DAHEAD=1");
    if (cpu_gemm_is_tall(row))
        snprintf(text + used, size - (size_t)used, " -DCOLS=%u", TALL_VECTORS);
    else if (row->pack & CPU_GEMM_PACK_A)
        snprintf(text + used, size - (size_t)used, " -DPACK_A=1 -DROWS=%u -DLINES=%u", packed_rows(row, type),
                 packed_lines(row, type));
}

void cpu_gemm_source(const struct cpu_gemm_row *row, qst_program *out)
{
    out->data = cpu_gemm_is_tall(row) ? cpu_tall_cl : cpu_gemm_cl;
    out->length = cpu_gemm_is_tall(row) ? sizeof cpu_tall_cl - 1 : sizeof cpu_gemm_cl - 1;
}

int32_t cpu_gemm_supports(const struct cpu_gemm_row *row, const qst_device *device, const char **why)
{
    if (device->type != QST_DEVICE_CPU)
        return qstk_no(why, "a work-group of one work-item: for CPU devices only");
    if (local_bytes(row, QST_F32, 1, row->kc) + LOCAL_SLACK > device->local_bytes)
        return qstk_no(why, "the panels need more local memory than the device has, less 16 KB");
    return QST_OK;
}

/* SUMS_MAX + 1 where it is more than that. */
uint64_t cpu_gemm_sums(const struct cpu_gemm_row *row, const struct cpu_gemm_problem *p)
{
    const struct matmul_view *v = &p->view;
    const uint64_t            width = qstk_round_up((uint64_t)v->n, (uint64_t)row->nv * cpu_gemm_vector(v->type));
    const double bytes = (double)(v->outer * v->inner) * (double)v->m * (double)width * cpu_gemm_item(v->type);
    return !p->narrow || v->k <= p->kc ? 0 : bytes > (double)SUMS_MAX ? SUMS_MAX + 1 : (uint64_t)bytes;
}

/* Each block of k is scaled by alpha before it is added to C: where alpha is extreme, parts of a sum may overflow that the
 * whole does not. A narrow C gets the whole sum only. */
int32_t cpu_gemm_fits(const struct cpu_gemm_row *row, const qst_device *device, const qst_matmul *problem,
                      struct cpu_gemm_problem *p, const char **why)
{
    struct matmul_view *v = &p->view;
    const double        size = v->alpha < 0.0 ? -v->alpha : v->alpha;
    const int           strict = problem->numerics == QST_NUMERICS_STRICT;
    p->storage = storage_index(problem);
    v->type = sums_of(p->storage);
    p->narrow = problem->c.type != v->type;
    p->kc = strict && !p->narrow && v->k > (int64_t)row->kc ? v->k : (int64_t)row->kc;
    if (!is_plain(p->storage) && !(row->pack & CPU_GEMM_PACK_A))
        return qstk_no(why, "A is read in place: A, B and C all f32 or all f64 only");
    if (!is_plain(p->storage) && cpu_gemm_is_tall(row))
        return qstk_no(why, "A, B and C all f32 or all f64 only");
    if (v->k > p->kc && !p->narrow && !(size >= ALPHA_LEAST && size <= ALPHA_MOST))
        return qstk_no(why, "k in several blocks, and alpha not within 2^-32 and 2^32");
    if (p->kc > (int64_t)row->kc && row->pack & CPU_GEMM_PACK_A)
        return qstk_no(why, "k is longer than a block, and the order of summation is fixed");
    if (local_bytes(row, v->type, packs_b(row, v->index), p->kc) + LOCAL_SLACK > device->local_bytes)
        return qstk_no(why, "all of k in one panel needs more local memory than the device has, less 16 KB");
    if (cpu_gemm_sums(row, p) > SUMS_MAX || cpu_gemm_sums(row, p) > device->max_alloc)
        return qstk_no(why,
                       "sums between blocks of k would be over 512 MiB or larger than the device's largest buffer");
    return QST_OK;
}

/* How much longer operands take to come, and products to be made, than where panels of B are at hand: in the first-level
 * cache when they are used again, or fetched before their turn where few rows use them. */
static double lateness(const struct cpu_gemm_row *row, const struct matmul_view *v, double b_bytes)
{
    const int tall = row->kc > SCATTERED_K && b_bytes > CPU_GEMM_SMALL_B;
    if (v->m == 1 || v->n == 1)
        return v->m == 1 && tall ? SCATTERED : LATE; /* kernels made for vectors read in longer runs */
    if (b_bytes <= CPU_GEMM_SMALL_B || v->m >= SCATTERED_M)
        return 1.0;
    return tall ? SCATTERED : row->ahead && !packs_b(row, v->index) ? 1.0 : LATE;
}

static double slowness(const struct cpu_gemm_row *row, const struct matmul_view *v, double b_bytes)
{
    if (cpu_gemm_is_tall(row))
        return TALL_GAIN * (row->kc * row->mr * cpu_gemm_item(v->type) <= CPU_GEMM_PANEL ? 1.0 : SPILLED) *
               (b_bytes <= CPU_GEMM_SMALL_B || packs_b(row, v->index) ? 1.0
                : b_bytes <= CPU_GEMM_LARGE_B                         ? SPILLED
                                                                      : STRIDED);
    if (b_bytes <= CPU_GEMM_SMALL_B || row->kc * row->nv * CPU_GEMM_VECTOR <= CPU_GEMM_PANEL)
        return 1.0;
    return b_bytes > CPU_GEMM_LARGE_B && !packs_b(row, v->index) ? STRIDED : SPILLED;
}

/* The arithmetic of whole tiles, what is copied or widened in place, and what comes from memory, on the units that get a
 * part. */
double cpu_gemm_estimate(const struct cpu_gemm_row *row, const qst_device *device, const struct cpu_gemm_problem *p)
{
    const struct matmul_view *v = &p->view;
    const struct cpu_gemm_cut cut = cpu_gemm_cut(row, device, v);
    const double              products = (double)(v->outer * v->inner), width = cpu_gemm_vector(v->type);
    const double              rows =
        (double)qstk_round_up((uint64_t)v->m, cpu_gemm_is_tall(row) ? CPU_GEMM_TALL_STEP : (row->mr + 1) / 2);
    const double cols = (double)qstk_ceil_div((uint64_t)v->n, (uint64_t)width);
    const double depth = (double)(v->slice ? v->slice : v->k);
    const double blocks = (double)qstk_ceil_div((uint64_t)depth, row->kc);
    const double groups = (double)(cut.down * cut.over * cut.among);
    const double units = groups < device->units ? groups : device->units;
    const double copy = v->index & 1u ? TRANSPOSE : row->pack & CPU_GEMM_PACK_B ? PACK_STEPS : 0.0;
    const double steps = rows * cols * (depth + 8.0 * blocks) + (double)cut.down * copy * cols * depth +
                         (row->pack & CPU_GEMM_PACK_A ? (double)cut.over * PACK_STEPS * rows * depth / width : 0.0) +
                         (row->pack == CPU_GEMM_PACK_A ? rows / row->mr * cols * depth : 0.0);
    const double of_ab = bytes_of(storage_element(p->storage)), of_c = bytes_of(storage_out(p->storage));
    const double bytes = of_ab * ((double)v->m * depth + depth * (double)v->n) + of_c * (double)v->m * (double)v->n;
    const double per_ns = units * cpu_gemm_rate(device);
    const double of_b = of_ab * depth * (double)v->n;
    const double wait = 1.0 + WAIT * device->units / groups;
    const double compute = steps * slowness(row, v, of_b) * wait * products / per_ns;
    const double memory = bytes * lateness(row, v, of_b) * products / BYTES_A_NS;
    return per_ns > 0.0 ? LAUNCH_NS + (compute > memory ? compute : memory) : 0.0;
}

int32_t cpu_gemm_launch(const struct cpu_gemm_row *row, const qst_device *device, const struct cpu_gemm_problem *p,
                        qst_steps *out)
{
    const struct matmul_view *v = &p->view;
    const struct cpu_gemm_cut cut = cpu_gemm_cut(row, device, v);
    qst_arg                   args[MATMUL_ARGS + 8];
    qst_launch                launch = qstk_launch(CPU_GEMM_CASES * p->storage + v->index,
                                    cpu_gemm_is_tall(row) ? "cpu_tall" : "cpu_gemm", 3, args, QSTK_COUNT(args));
    matmul_args(v, args);
    args[MATMUL_ARGS] = qstk_i32(cut.early);
    args[MATMUL_ARGS + 1] = qstk_i32(cut.first);
    args[MATMUL_ARGS + 2] = qstk_i32(cut.last);
    args[MATMUL_ARGS + 3] = qstk_i32(cut.bn);
    args[MATMUL_ARGS + 4] = qstk_i32(p->kc);
    args[MATMUL_ARGS + 5] = qstk_i32(cut.run);
    args[MATMUL_ARGS + 6] = qstk_local(local_bytes(row, v->type, packs_b(row, v->index), p->kc));
    args[MATMUL_ARGS + 7] = cpu_gemm_sums(row, p) ? qstk_workspace(0) : args[4]; /* else some buffer, never touched */
    launch.global[0] = (uint64_t)cut.over;
    launch.global[1] = (uint64_t)cut.down;
    launch.global[2] = (uint64_t)cut.among;
    launch.local[0] = launch.local[1] = launch.local[2] = 1;
    return out->launch(out, &launch);
}
