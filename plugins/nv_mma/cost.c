/* SPDX-License-Identifier: MIT
 *
 * cost.c: what a row is expected to take, and which rows may be the best for a key. The model is one of waves: a unit runs
 * some groups at once, a group goes through slices of k, a slice takes what its copies and barriers take or what the
 * unit's arithmetic takes for all groups at once, and at the end the group stores its tile. The tables' numbers were fitted
 * to 1000 measured times of an H200 (rows without NV_LOOSE and with it, m and n from 300 to 4096, k from 31 to 3488): they
 * meet these within 4 to 9 % in the mean square, mma.sync within 17 % (docs/decisions/0046-waves-of-groups.md).
 */
#include "rows.h"

#include <math.h>

#define CLOCK_MHZ 1980.0 /* of the device that the tables' costs are of */
#define BYTES_NS  4500.0 /* of its memory */
#define LAUNCH_NS 3000.0

/* A row is compared at first where it is expected within `near` of the best for a problem `of` the key's values: at the
 * upper end of the bucket, or near its lower end, which is over a half of them. */
static const struct {
    double of, near;
} ends[] = {{1.0, 1.1}, {0.6, 1.07}};

/* ns an element of a tile to store it, aligned and NV_LOOSE, by the bytes of an element: 4, 2. */
static const double store_ns[2][2] = {{0.05, 0.12}, {0.03, 0.05}};

/* Groups go to the units in rounds. The last one is shorter where it leaves units idle, the less so the more there are. */
static double rounds(double share)
{
    if (share <= 1.0)
        return 1.0;
    return share < 6.0 ? 0.5 * (share + ceil(share)) : share + 0.25;
}

double nv_estimate(const nv_row *row, const nv_kernel *kernel, const qst_device *device, const nv_view *v)
{
    const double   units = device->units ? (double)device->units : NV_UNITS;
    const double   clock = device->clock_mhz ? (double)device->clock_mhz / CLOCK_MHZ : 1.0;
    const uint32_t index = nv_index(row, kernel, v) & 7u, loose = (index & NV_LOOSE) != 0;
    const double   depth = (double)row->bk * row->ways, tile = (double)row->bm * row->bn;
    const double   slices = ceil(((double)v->k + 1.0) / depth);
    const double   share = nv_tiles(row, v) / units;
    const double   at_once = ceil(share) < (double)row->groups ? ceil(share) : (double)row->groups;
    const double   sums = at_once * 2.0 * tile * depth / ((double)row->tflops * 1e3 / NV_UNITS);
    const double   slice = sqrt((double)row->slice_ns * (double)row->slice_ns + sums * sums) *
                         (double)kernel->slow[index] * (loose && !nv_pads(row) ? (double)row->loose : 1.0);
    const double group = (double)row->tile_ns + slices * slice + at_once * tile * store_ns[v->half != 0][loose];
    const double busy = rounds(share / (double)row->groups) * group / clock;
    const double bytes = (v->half ? 2.0 : 4.0) * (double)(v->outer * v->inner) *
                         ((double)v->m * (double)v->k + (double)v->k * (double)v->n + (double)v->m * (double)v->n);
    return LAUNCH_NS + (busy > bytes / BYTES_NS ? busy : bytes / BYTES_NS);
}

double nv_cost(const nv_row *row, const nv_kernel_set *set, const qst_device *device, const nv_view *view)
{
    const nv_kernel *kernel = &set->kernels[row->kernel];
    nv_view          padded = *view;
    if (row->kernel == NV_PLANES)
        return nv_planes_estimate(row, set, device, view);
    if (!nv_pads(row))
        return nv_estimate(row, kernel, device, view);
    nv_pad_view(kernel, &padded);
    return nv_pad_estimate(kernel, view) + nv_estimate(row, kernel, device, &padded);
}

/* ---- Which rows to compare ---------------------------------------------------------------------------------------- */

static int64_t part(int64_t whole, double of)
{
    const int64_t some = (int64_t)((double)whole * of);
    return some > 0 ? some : 1;
}

/* A problem like those of a key's bucket, as far as cost goes: its m, n and k are `of` the key's, plus `more`. */
static void view_of_key(nv_view *view, const qst_key *key, double of, int64_t more)
{
    const int64_t *v = key->value;
    memset(view, 0, sizeof *view);
    view->m = part(v[QST_MATMUL_KEY_M], of) + more;
    view->n = part(v[QST_MATMUL_KEY_N], of) + more;
    view->k = part(v[QST_MATMUL_KEY_K], of) + more;
    view->outer = 1;
    view->inner = v[QST_MATMUL_KEY_BATCH] > 1 ? v[QST_MATMUL_KEY_BATCH] : 1;
    view->a[1] = view->inner > 1 ? view->m * view->k : 0;
    view->b[1] = view->inner > 1 ? view->k * view->n : 0;
    view->half = v[QST_MATMUL_KEY_ELEM_LHS] != QST_F32;
    if (v[QST_MATMUL_KEY_LAYOUT_LHS] == QST_LAYOUT_TRANSPOSED)
        view->index |= NV_TA;
    if (v[QST_MATMUL_KEY_LAYOUT_RHS] == QST_LAYOUT_TRANSPOSED)
        view->index |= NV_TB;
    if (v[QST_MATMUL_KEY_ALIGN] >= 4)
        view->aligned = (v[QST_MATMUL_KEY_LHS_STRIDE] >= 4 ? NV_ALIGN_A : 0u) |
                        (v[QST_MATMUL_KEY_RHS_STRIDE] >= 4 ? NV_ALIGN_B : 0u) |
                        (v[QST_MATMUL_KEY_OUT_STRIDE] >= 4 || v[QST_MATMUL_KEY_OUT_STRIDE] == 0 ? NV_ALIGN_C : 0u);
    view->strided = view->aligned;
}

/* Could this row be compared for the key at all? The unsupported and those of other classes are no measure. */
static int in_race(const nv_kernel_set *set, const nv_row *row, const qst_device *device, const qst_key *key)
{
    return (row->classes >> key->value[QST_MATMUL_KEY_NUMERICS] & 1u) != 0 &&
           nv_supports(row, set, device, key, NULL) == QST_OK;
}

/* Of the rows that every problem of the bucket can run: others may leave the first round without anybody good. */
static double best_of(const nv_kernel_set *set, const qst_device *device, const qst_key *key, const nv_view *view)
{
    nv_view least;
    double  best = 0.0;
    view_of_key(&least, key, 0.5, 1);
    for (size_t t = 0; t < NV_TABLES; t++)
        for (size_t i = 0; i < nv_tables[t]->count; i++) {
            const nv_row *row = &nv_tables[t]->rows[i];
            double        ns;
            if (!in_race(set, row, device, key) ||
                nv_fits(row, &set->kernels[row->kernel], device, &least, NULL) != QST_OK)
                continue;
            ns = nv_cost(row, set, device, view);
            best = best == 0.0 || ns < best ? ns : best;
        }
    return best;
}

/* At either end of the bucket: one measured answer serves all of it. */
int nv_is_near(const nv_row *row, const nv_kernel_set *set, const qst_device *device, const qst_key *key)
{
    for (size_t i = 0; i < QSTK_COUNT(ends); i++) {
        nv_view view;
        view_of_key(&view, key, ends[i].of, 0);
        if (nv_pads(row) && nv_fits(row, &set->kernels[row->kernel], device, &view, NULL) != QST_OK)
            continue;
        if (nv_cost(row, set, device, &view) <= ends[i].near * best_of(set, device, key, &view))
            return 1;
    }
    return 0;
}
