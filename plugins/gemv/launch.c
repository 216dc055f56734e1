/* SPDX-License-Identifier: MIT
 *
 * launch.c: what a row makes of a problem: options, cost and launches.
 */
#include "gemv.h"
#include "gemv_add.cl.h"
#include "gemv_cpu.cl.h"
#include "gemv_gpu.cl.h"
#include <stdio.h>

#define PART_BYTES     65536.0 /* least work of a part: under it waking another thread costs more than it gives */
#define GROUPS_MAX     16384   /* work-groups along the outputs, and along the batch; each loops over its share */
#define GROUPS_CPU     16      /* the same on a CPU device, and of a sum of slices */
#define ADD_GROUP      64u
#define ADD_GRID_MAX   4096
#define ADD_WIDE       16 /* outputs that a thread adds at a time */
#define CPU_LAUNCH_NS  20000.0
#define CPU_BYTES_A_NS 20.0 /* rate at which a matrix comes, about, by all units; a vector of 64 bytes by one in */
#define CPU_VECTOR_NS  1.2
#define STRIPS         1.3  /* how much longer a matrix takes in strips than in the order of memory */
#define FEW_LINES      0.1  /* the same by line, over the number of lines at a time: streams that overlap */
#define FEW_SWEPT      0.25 /* the same of a sweep, which also goes over the sums again */
#define WAIT           0.08 /* the same at the end, over the parts of a unit: one waits for the other */
#define GPU_LAUNCH_NS  4000.0
#define GPU_BYTES      8.0  /* a clock and compute unit, about */
#define CPU_GROUPS     30.0 /* how much longer kernels with barriers take on a CPU device */

static uint32_t item(uint32_t type)
{
    return type == QST_F64 ? 8 : 4;
}

static uint32_t vector(uint32_t type)
{
    return 64 / item(type);
}

static int64_t ceil_div(int64_t x, int64_t y)
{
    return (x + y - 1) / y;
}

static int64_t at_most(int64_t x, int64_t most)
{
    return x > most ? most : x < 1 ? 1 : x;
}

void gemv_options(const struct gemv_row *row, uint32_t type, char *text, size_t size)
{
    static const char *const macros[][2] = {{NULL, NULL},      {"RU", "UV"},     {"SW", NULL}, {"RB", NULL},
                                            {"LANES", "WIDE"}, {"COLS", "DEEP"}, {NULL, NULL}};
    const char *const       *m = macros[row->kernel];
    int                      used = snprintf(text, size, "-cl-std=CL1.2%s", type == QST_F64 ? " -DF64" : "");
    if (m[0])
        used += snprintf(text + used, size - (size_t)used, " -D%s=%u", m[0], row->a);
    if (m[1])
        snprintf(text + used, size - (size_t)used, " -D%s=%u", m[1], row->b);
}

int32_t gemv_program(const struct gemv_row *row, const qst_device *device, uint32_t index, qst_program *out)
{
    static const char *const adding[2][2] = {{"-cl-std=CL1.2", "-cl-std=CL1.2 -DF64"},
                                             {"-cl-std=CL1.2 -DWIDE=16", "-cl-std=CL1.2 -DF64 -DWIDE=16"}};
    const int                add = index >= GEMV_ADD_F32 || row->kernel == GEMV_OUTER;
    if (index >= GEMV_PROGRAMS || (index >= GEMV_ADD_F32 && !gemv_is_split(row)))
        return QST_E_INVALID;
    if (add) {
        out->data = gemv_add_cl;
        out->length = sizeof gemv_add_cl - 1;
        out->options = adding[device->type == QST_DEVICE_CPU][index == GEMV_ADD_F64 || index == GEMV_F64];
    } else if (row->kernel >= GEMV_GROUP_DOT) {
        out->data = gemv_gpu_cl;
        out->length = sizeof gemv_gpu_cl - 1;
    } else {
        out->data = gemv_cpu_cl;
        out->length = sizeof gemv_cpu_cl - 1;
    }
    return QST_OK;
}

/* ---- Costs ------------------------------------------------------------------------------------------------------- */

/* How a CPU device's work-groups share the problem. */
struct cut {
    int64_t per, over; /* outputs of a group; groups along them */
    int64_t run, among;
};

static struct cut cut_problem(const struct gemv_row *row, const qst_device *device, const struct gemv_view *v)
{
    const int64_t grain = row->kernel == GEMV_DOT ? row->a : row->kernel == GEMV_STRIP ? row->a * vector(v->type) : 16;
    const int64_t products = v->outer * v->inner;
    const double  bytes = (double)v->count * (double)v->k * item(v->type) * (double)products;
    const int64_t most = bytes < PART_BYTES * 1024 ? (int64_t)(bytes / PART_BYTES) : 1024;
    const int64_t parts = at_most(at_most((int64_t)row->parts * device->units, most), 1024);
    struct cut    cut;
    cut.run = ceil_div(products, parts);
    cut.among = ceil_div(products, cut.run);
    cut.over =
        row->kernel == GEMV_SWEEP ? 1 : at_most(ceil_div(parts, cut.among * v->slices), ceil_div(v->count, grain));
    cut.per = ceil_div(ceil_div(v->count, cut.over), grain) * grain;
    cut.over = ceil_div(v->count, cut.per);
    return cut;
}

/* What the matrix's bytes take, and the vectors: those of a line that is not whole, of a narrow strip, of sums at the end
 * of short lines. */
static double cpu_estimate(const struct gemv_row *row, const qst_device *device, const struct gemv_view *v)
{
    const struct cut cut = cut_problem(row, device, v);
    const double     w = vector(v->type), count = (double)v->count, k = (double)v->k;
    const double     products = (double)(v->outer * v->inner), groups = (double)(cut.over * cut.among * v->slices);
    const double     units = groups < device->units ? groups : device->units;
    const double     order = row->kernel == GEMV_STRIP ? STRIPS
                             : row->kernel == GEMV_DOT ? 1.0 + FEW_LINES / row->a
                                                       : 1.0 + FEW_SWEPT / row->a;
    const double     bytes =
        count * k * item(v->type) * products / CPU_BYTES_A_NS * order * (1.0 + WAIT * device->units / groups);
    double vectors = row->kernel == GEMV_DOT ? count * (k / w + 6.0 + (double)(v->slice % (int64_t)w))
                     : v->count < (int64_t)w ? count * k
                                             : (count / w + (double)(v->count % (int64_t)w)) * k;
    vectors *= CPU_VECTOR_NS * products / (units > 0.0 ? units : 1.0);
    if (row->kernel == GEMV_STRIP && row->a < 16)
        vectors *= 1.0 + 0.05 * (16 - row->a);
    return CPU_LAUNCH_NS + (gemv_is_split(row) ? 5000.0 : 0.0) + (bytes > vectors ? bytes : vectors);
}

static double gpu_estimate(const struct gemv_row *row, const qst_device *device, const struct gemv_view *v)
{
    const int    dot = row->kernel == GEMV_GROUP_DOT;
    const double products = (double)(v->outer * v->inner * v->slices);
    const double groups = (dot ? (double)v->count : (double)ceil_div(v->count, row->a)) * products;
    const double steps = (double)ceil_div(v->slice, dot ? row->a * row->b : row->b) + 12.0;
    const double busy = 8.0 * device->units * 256.0 / (dot ? row->a : row->a * row->b); /* groups at a time */
    const double waves = groups > busy ? groups / busy : 1.0;
    const double clock = (double)device->clock_mhz * 1e-3;
    const double bytes = (double)v->count * (double)v->k * item(v->type) * (double)(v->outer * v->inner);
    const double rate = clock * device->units * GPU_BYTES;
    double       ns;
    if (rate <= 0.0)
        return 0.0;
    ns = waves * steps * 60.0 / clock;
    ns = (ns > bytes / rate ? ns : bytes / rate) + GPU_LAUNCH_NS * (gemv_is_split(row) ? 2.0 : 1.0);
    return device->type == QST_DEVICE_CPU ? ns * CPU_GROUPS + CPU_LAUNCH_NS : ns;
}

double gemv_estimate(const struct gemv_row *row, const qst_device *device, const struct gemv_view *v)
{
    const int cpu = device->type == QST_DEVICE_CPU;
    if (row->kernel == GEMV_OUTER) {
        const double bytes = (double)v->count * (double)v->width * (double)(v->outer * v->inner) * item(v->type);
        const double rate = cpu ? CPU_BYTES_A_NS : (double)device->clock_mhz * 1e-3 * device->units * GPU_BYTES;
        return rate > 0.0 ? (cpu ? CPU_LAUNCH_NS : GPU_LAUNCH_NS) + bytes / rate : 0.0;
    }
    return row->kernel >= GEMV_GROUP_DOT ? gpu_estimate(row, device, v) : cpu_estimate(row, device, v);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static qst_arg pair(const int64_t *both)
{
    return qstk_value(both, 2 * sizeof *both);
}

static qst_arg scalar(const struct gemv_view *v, double value)
{
    return v->type == QST_F64 ? qstk_f64(value) : qstk_f32(value);
}

static int32_t launch_outer(const struct gemv_view *v, qst_steps *out)
{
    const qst_arg args[] = {
        qstk_operand(0),     qstk_offset(0),
        qstk_operand(1),     qstk_offset(1),
        qstk_operand(2),     qstk_offset(2),
        qstk_i32(v->count),  qstk_i32(v->width),
        qstk_i64(v->x_step), qstk_i64(v->ld),
        pair(v->of_x),       pair(v->of_mat),
        pair(v->of_y),       qstk_i32(v->outer * v->inner),
        qstk_i32(v->inner),  scalar(v, v->alpha),
        scalar(v, v->beta),
    };
    qst_launch launch = qstk_launch(v->type == QST_F64 ? GEMV_F64 : GEMV_F32, "gemv_outer", 1, args, QSTK_COUNT(args));
    const double   parts = (double)(v->outer * v->inner) * (double)v->count * (double)ceil_div(v->width, 16);
    const uint64_t items = parts < ADD_GRID_MAX ? qstk_round_up((uint64_t)parts, ADD_GROUP) : ADD_GRID_MAX;
    launch.global[0] = items * (items == ADD_GRID_MAX ? 8 : 1);
    launch.local[0] = ADD_GROUP;
    return out->launch(out, &launch);
}

/* The arguments that both kernel files begin with, to beta. */
enum { ARGS = 18 };

static void common_args(const struct gemv_row *row, const struct gemv_view *v, qst_arg *args)
{
    const int     split = gemv_is_split(row);
    const qst_arg all[ARGS] = {
        qstk_operand(v->mat),
        qstk_offset(v->mat),
        qstk_operand(v->x),
        qstk_offset(v->x),
        split ? qstk_workspace(0) : qstk_operand(2),
        split ? qstk_i64(0) : qstk_offset(2),
        qstk_i32(v->count),
        qstk_i32(v->k),
        qstk_i64(v->ld),
        qstk_i64(v->x_step),
        qstk_i64(v->y_step),
        pair(v->of_mat),
        pair(v->of_x),
        pair(v->of_y),
        qstk_i32(v->outer * v->inner),
        qstk_i32(v->inner),
        scalar(v, v->alpha),
        scalar(v, v->beta),
    };
    memcpy(args, all, sizeof all);
}

static int32_t launch_cpu(const struct gemv_row *row, const qst_device *device, const struct gemv_view *v,
                          qst_steps *out)
{
    static const char *const entries[] = {NULL, "gemv_dot", "gemv_strip", "gemv_sweep"};
    const struct cut         cut = cut_problem(row, device, v);
    qst_arg                  args[ARGS + 4];
    qst_launch               launch =
        qstk_launch(v->type == QST_F64 ? GEMV_F64 : GEMV_F32, entries[row->kernel], 3, args, QSTK_COUNT(args));
    common_args(row, v, args);
    args[ARGS] = qstk_i32(cut.per);
    args[ARGS + 1] = qstk_i32(cut.run);
    args[ARGS + 2] = qstk_i32(v->slice);
    args[ARGS + 3] = qstk_i64(v->y_slice);
    launch.global[0] = (uint64_t)cut.over;
    launch.global[1] = (uint64_t)v->slices;
    launch.global[2] = (uint64_t)cut.among;
    launch.local[0] = launch.local[1] = launch.local[2] = 1;
    return out->launch(out, &launch);
}

static int32_t launch_groups(const struct gemv_row *row, const qst_device *device, const struct gemv_view *v,
                             qst_steps *out)
{
    const int      dot = row->kernel == GEMV_GROUP_DOT;
    const uint32_t lanes = dot ? row->a : row->a * row->b;
    const int64_t  groups = dot ? v->count : ceil_div(v->count, row->a), products = v->outer * v->inner;
    const int64_t  most = device->type == QST_DEVICE_CPU ? GROUPS_CPU : GROUPS_MAX;
    qst_arg        args[ARGS + 3];
    qst_launch launch = qstk_launch(v->type == QST_F64 ? GEMV_F64 : GEMV_F32, dot ? "gemv_dot" : "gemv_cols", 3, args,
                                    QSTK_COUNT(args));
    common_args(row, v, args);
    args[ARGS] = qstk_i32(v->slice);
    args[ARGS + 1] = qstk_i64(v->y_slice);
    args[ARGS + 2] = qstk_local((uint64_t)lanes * item(v->type));
    launch.global[0] = (uint64_t)at_most(groups, most) * lanes;
    launch.global[1] = (uint64_t)v->slices;
    launch.global[2] = (uint64_t)at_most(products, most / at_most(groups, most));
    launch.local[0] = lanes;
    launch.local[1] = launch.local[2] = 1;
    return out->launch(out, &launch);
}

int32_t gemv_launch(const struct gemv_row *row, const qst_device *device, const struct gemv_view *v, qst_steps *out)
{
    return row->kernel == GEMV_OUTER       ? launch_outer(v, out)
           : row->kernel >= GEMV_GROUP_DOT ? launch_groups(row, device, v, out)
                                           : launch_cpu(row, device, v, out);
}

/* Threads take few outputs each where all are few: waking one costs more than adding them. */
static void add_grid(const qst_device *device, const struct gemv_view *v, qst_launch *launch)
{
    const int64_t products = v->outer * v->inner;
    const double  bytes = (double)gemv_workspace(v);
    if (device->type == QST_DEVICE_CPU) {
        const int64_t groups =
            at_most(bytes < PART_BYTES * GROUPS_CPU ? (int64_t)(bytes / PART_BYTES) : GROUPS_CPU, GROUPS_CPU);
        launch->local[0] = 1;
        launch->global[1] = (uint64_t)at_most(products, groups);
        launch->global[0] = (uint64_t)at_most(ceil_div(v->count, ADD_WIDE), groups / (int64_t)launch->global[1]);
    } else {
        launch->local[0] = ADD_GROUP;
        launch->global[0] = qstk_round_up((uint64_t)at_most(v->count, ADD_GRID_MAX), ADD_GROUP);
        launch->global[1] = (uint64_t)at_most(products, ADD_GRID_MAX / (int64_t)launch->global[0]);
    }
    launch->local[1] = 1;
}

int32_t gemv_add(const qst_matmul *p, const qst_device *device, const struct gemv_view *v, qst_steps *out)
{
    const int64_t step = v->count == 1 ? 1 : p->n == 1 ? p->c.row : p->c.col;
    int64_t       batch[2] = {0, 0};
    int           d, at = 1;
    for (d = QST_MATMUL_BATCHES - 1; d >= 0; d--)
        if (p->batch[d] > 1)
            batch[at--] = p->c.batch[d];
    {
        const qst_arg args[] = {
            qstk_workspace(0),  qstk_i32(v->slices), qstk_operand(2),    qstk_offset(2),
            qstk_i32(v->count), qstk_i64(step),      pair(batch),        qstk_i32(v->outer * v->inner),
            qstk_i32(v->inner), scalar(v, p->alpha), scalar(v, p->beta),
        };
        qst_launch launch =
            qstk_launch(v->type == QST_F64 ? GEMV_ADD_F64 : GEMV_ADD_F32, "gemv_add", 2, args, QSTK_COUNT(args));
        add_grid(device, v, &launch);
        return out->launch(out, &launch);
    }
}
