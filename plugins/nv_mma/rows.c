/* SPDX-License-Identifier: MIT
 *
 * rows.c: what all rows share: their kernels' texts, legality, priority, programs and launches.
 */
#include "rows.h"

#include "nv_common.cl.h"
#include "nv_copy_f16.cl.h"
#include "nv_copy_f32.cl.h"
#include "nv_fma.cl.h"
#include "nv_mma_f16.cl.h"
#include "nv_mma_f32.cl.h"
#include "nv_pad.cl.h"
#include "nv_planes.cl.h"
#include "nv_split.cl.h"
#include "nv_tma_f16.cl.h"
#include "nv_wgmma_f16.cl.h"
#include "nv_wgmma_f32.cl.h"
#include <stdio.h>

#define HALF_REVISION 5 /* of the rows for operands of 16 bits */
#define F32_REVISION  6

#define FIRST      4    /* priority in the group of the rows that the first round compares; over that of `tiled` */
#define LATER      1    /* and of the others */
#define MAP_BYTES  256u /* of the maps of A and B of a group that is fed by tensor copies */
#define NV_MAPS    2u   /* their workspace: those before it are copies' */
#define GRID_LIMIT ((double)(((int64_t)1 << 31) - 1))

/* The parts of each kernel's text. */
static const struct {
    const char *part[3];
    nv_kernel   kernel;
} texts[NV_KERNELS] = {
    [NV_FMA] = {{nv_common_cl, nv_fma_cl},
                {.entry = "nv_fma",
                 .least_cc = 80,
                 .full = 1,
                 .exempt_tb = NV_ALIGN_B,
                 .slow = {1, 1.1f, 1, 1.1f, 1, 1.05f, 1, 1.05f}}},
    [NV_WGMMA_F32] = {{nv_common_cl, nv_copy_f32_cl, nv_wgmma_f32_cl},
                      {.entry = "nv_wgmma_f32",
                       .sm90a = 1,
                       .least_cc = 90,
                       .full = 1,
                       .least_k = 64,
                       .long_k = 1025,
                       .exempt_ta = NV_ALIGN_A,
                       .exempt_tb = NV_ALIGN_B,
                       .slow = {1, 1.25f, 1.2f, 1.5f, 1, 1.1f, 1.1f, 1.15f}}},
    /* The same for one product: there whole tiles came out slower. */
    [NV_WGMMA_TF32] = {{nv_common_cl, nv_copy_f32_cl, nv_wgmma_f32_cl},
                       {.entry = "nv_wgmma_f32",
                        .sm90a = 1,
                        .least_cc = 90,
                        .exempt_ta = NV_ALIGN_A,
                        .exempt_tb = NV_ALIGN_B,
                        .slow = {1, 1.8f, 1.5f, 2, 1.1f, 1.1f, 1.1f, 1.1f}}},
    [NV_MMA_F32] = {{nv_common_cl, nv_copy_f32_cl, nv_mma_f32_cl},
                    {.entry = "nv_mma_f32",
                     .least_cc = 80,
                     .full = 1,
                     .least_k = 64,
                     .exempt_ta = NV_ALIGN_A,
                     .exempt_tb = NV_ALIGN_B,
                     .slow = {1, 1.2f, 1.2f, 1.3f, 1, 1, 1, 1.05f}}},
    [NV_MMA_TF32] = {{nv_common_cl, nv_copy_f32_cl, nv_mma_f32_cl},
                     {.entry = "nv_mma_f32",
                      .least_cc = 80,
                      .full = 1,
                      .exempt_ta = NV_ALIGN_A,
                      .exempt_tb = NV_ALIGN_B,
                      .slow = {1, 1.5f, 1.5f, 2, 1.1f, 1.1f, 1.1f, 1.1f}}},
    [NV_WGMMA_F16] =
        {{nv_common_cl, nv_copy_f16_cl, nv_wgmma_f16_cl},
         {.entry = "nv_wgmma_f16", .half = 1, .sm90a = 1, .least_cc = 90, .full = 1, .slow = {1, 1, 1, 1, 1, 1, 1, 1}}},
    [NV_MMA_F16] = {{nv_common_cl, nv_copy_f16_cl, nv_mma_f16_cl},
                    {.entry = "nv_mma_f16", .half = 1, .least_cc = 80, .full = 1, .slow = {1, 1, 1, 1, 1, 1, 1, 1}}},
    [NV_TMA_F16] =
        {{nv_common_cl, nv_copy_f16_cl, nv_tma_f16_cl},
         {.entry = "nv_tma_f16", .half = 1, .sm90a = 1, .least_cc = 90, .tensor = 1, .slow = {1, 1, 1, 1, 1, 1, 1, 1}}},
    [NV_PLANES] = {{nv_common_cl, nv_planes_cl},
                   {.entry = "nv_planes", .sm90a = 1, .least_cc = 90, .slow = {1, 1, 1, 1, 1, 1, 1, 1}}},
    [NV_SPLIT] = {{nv_common_cl, nv_split_cl}, {.entry = "nv_split_rows", .least_cc = 90}},
    [NV_PAD] = {{nv_pad_cl}, {.entry = "nv_pad", .least_cc = 80}},
};

/* What a candidate's functions get as user. */
typedef struct entry {
    const nv_row        *row;
    const nv_kernel_set *set;
} entry;

const nv_table *const nv_tables[NV_TABLES] = {&nv_fma_rows, &nv_tf32_rows, &nv_half_rows, &nv_planes_rows};

/* ---- Legality --------------------------------------------------------------------------------------------------- */

/* Tensor copies know where a row ends. */
uint32_t nv_missed(const nv_kernel *kernel, const nv_view *view)
{
    uint32_t needed = NV_ALIGN_A | NV_ALIGN_B | NV_ALIGN_C;
    if (view->index & NV_TA)
        needed &= ~kernel->exempt_ta;
    if (view->index & NV_TB)
        needed &= ~kernel->exempt_tb;
    return needed &
           ~(kernel->tensor ? (view->strided & ~(uint32_t)NV_ALIGN_C) | (view->aligned & NV_ALIGN_C) : view->aligned);
}

/* The index of the program for a view. */
uint32_t nv_index(const nv_row *row, const nv_kernel *kernel, const nv_view *view)
{
    uint32_t index = view->index;
    if (nv_missed(kernel, view))
        index |= NV_LOOSE;
    else if (kernel->full && view->m % row->bm == 0 && view->n % row->bn == 0 && view->k % row->bk == 0)
        index |= NV_FULL;
    return kernel->long_k && view->k >= kernel->long_k ? index | NV_LONG : index;
}

double nv_tiles(const nv_row *row, const nv_view *view)
{
    return (double)qstk_ceil_div((uint64_t)view->m, row->bm) * (double)qstk_ceil_div((uint64_t)view->n, row->bn) *
           (double)view->outer * (double)view->inner;
}

int32_t nv_fits(const nv_row *row, const nv_kernel *kernel, const qst_device *device, const nv_view *view,
                const char **why)
{
    if (view->half != kernel->half)
        return qstk_no(why, kernel->half ? "operands of f16 or bf16 only" : "f32 only");
    if (view->k < kernel->least_k && view->k > 0)
        return qstk_no(why, "k under 64: too short a sum for the bound of numerics PLAIN");
    if (nv_tiles(row, view) > GRID_LIMIT)
        return qstk_no(why, "2^31 tiles or more");
    if (nv_pads(row))
        return nv_pad_fits(kernel, device, view, why);
    if (kernel->tensor && nv_missed(kernel, view) & (NV_ALIGN_A | NV_ALIGN_B))
        return qstk_no(why, "tensor copies: a start or stride of A or B that is no multiple of 16 bytes");
    return row->kernel == NV_PLANES ? nv_planes_fits(view, device, why) : QST_OK;
}

int32_t nv_supports(const nv_row *row, const nv_kernel_set *set, const qst_device *device, const qst_key *key,
                    const char **why)
{
    const nv_kernel *kernel = &set->kernels[row->kernel];
    const nv_needs   needs = {kernel->least_cc, row->local_bytes, kernel->sm90a, kernel->tensor};
    const int64_t    type = key->value[QST_MATMUL_KEY_ELEM_LHS];
    if (nv_mma_is_ours(device, why) != QST_OK)
        return QST_E_UNSUPPORTED;
    if (kernel->half != (type == QST_F16 || type == QST_BF16))
        return qstk_no(why, kernel->half ? "operands of f16 or bf16 only" : "f32 only");
    return nv_mma_supports(set->plugin, device, &needs, why);
}

static int32_t supports(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    const entry *self = (const entry *)user;
    return nv_supports(self->row, self->set, device, key, why);
}

static int32_t can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    const entry *self = (const entry *)user;
    nv_view      view;
    int32_t      status = nv_mma_is_ours(device, why);
    if (status == QST_OK)
        status = nv_look(&view, (const qst_matmul *)problem, why);
    return status == QST_OK ? nv_fits(self->row, &self->set->kernels[self->row->kernel], device, &view, why) : status;
}

/* ---- Cost ------------------------------------------------------------------------------------------------------- */

static double estimate(void *user, const qst_device *device, const void *problem)
{
    const entry *self = (const entry *)user;
    nv_view      view;
    if (nv_mma_is_ours(device, NULL) != QST_OK || nv_look(&view, (const qst_matmul *)problem, NULL) != QST_OK)
        return 0.0;
    return nv_cost(self->row, self->set, device, &view);
}

/* Only the rows that the model puts near the best come first: building the others would cost more than it can give.
 * Products of vectors are memory's, and others know them better. */
static int32_t priority(void *user, const qst_device *device, const qst_key *key)
{
    const entry *self = (const entry *)user;
    if (key->value[QST_MATMUL_KEY_KIND] != QST_KIND_GENERAL || nv_mma_is_ours(device, NULL) != QST_OK)
        return -1;
    return nv_is_near(self->row, self->set, device, key) ? FIRST : LATER;
}

/* ---- Programs and launches -------------------------------------------------------------------------------------- */

void nv_options(char *text, size_t size, const nv_row *row, uint32_t index, uint32_t bf16, uint32_t out)
{
    (void)snprintf(
        text, size,
        "-cl-std=CL1.2 -DBM=%u -DBN=%u -DBK=%u -DSTAGES=%u -DAHEAD=%u -DTHREADS=%u -DWAYS=%u -DTA=%d -DTB=%d "
        "-DLOOSE=%d -DFULL=%d -DLONG=%d -DBF16=%u -DOUT=%u%s %s",
        row->bm, row->bn, row->bk, row->stages, row->stages - 1, row->threads, row->ways, (index & NV_TA) != 0,
        (index & NV_TB) != 0, (index & NV_LOOSE) != 0, (index & NV_FULL) != 0, (index & NV_LONG) != 0, bf16, out,
        nv_packed(row) ? " -DPACKED=1" : "", row->macros);
}

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    static _Thread_local char options[NV_OPTIONS];
    const entry              *self = (const entry *)user;
    const nv_kernel          *kernel = &self->set->kernels[self->row->kernel];
    (void)device;
    if (self->row->kernel == NV_PLANES)
        return nv_planes_program(self->row, self->set, index, out);
    if (index >= NV_PROGRAMS)
        return QST_E_INVALID;
    if (nv_pads(self->row) && index == NV_PAD_PROGRAM) {
        nv_pad_program(self->set, out);
        return QST_OK;
    }
    nv_options(options, sizeof options, self->row, index, key->value[QST_MATMUL_KEY_ELEM_LHS] == QST_BF16,
               (uint32_t)key->value[QST_MATMUL_KEY_ELEM_OUT]);
    nv_mma_program(out, kernel->text, kernel->length, options, kernel->sm90a);
    return QST_OK;
}

static qst_arg pair(const int64_t *both)
{
    return qstk_value(both, 2 * sizeof *both);
}

void nv_args(qst_arg *args, const nv_view *v)
{
    const qst_arg all[NV_ARGS] = {
        qstk_operand(0), qstk_offset(0), qstk_operand(1), qstk_offset(1),     qstk_operand(2),    qstk_offset(2),
        qstk_i32(v->m),  qstk_i32(v->n), qstk_i32(v->k),  qstk_i32(v->a_ld),  qstk_i32(v->b_ld),  qstk_i32(v->c_ld),
        pair(v->a),      pair(v->b),     pair(v->c),      qstk_i32(v->inner), qstk_f32(v->alpha), qstk_f32(v->beta),
    };
    memcpy(args, all, sizeof all);
}

/* The arguments after C's start where numbers share them. */
static uint32_t packed_args(qst_arg *args, const nv_view *v)
{
    const struct {
        int32_t m, n, k, inner;
    } extents = {(int32_t)v->m, (int32_t)v->n, (int32_t)v->k, (int32_t)v->inner};
    const struct {
        int32_t a_ld, b_ld, c_ld;
        float   alpha;
    } strides = {(int32_t)v->a_ld, (int32_t)v->b_ld, (int32_t)v->c_ld, (float)v->alpha};
    args[0] = qstk_value(&extents, sizeof extents);
    args[1] = qstk_value(&strides, sizeof strides);
    args[2] = pair(v->a);
    args[3] = pair(v->b);
    args[4] = pair(v->c);
    args[5] = qstk_f32(v->beta);
    return 6;
}

/* A kernel fed by tensor copies: as many groups as there are units go through the tiles. */
static int32_t tensor_launch(const nv_row *row, const qst_device *device, const nv_view *view, qst_arg *args,
                             qst_launch *launch, qst_steps *out)
{
    const double   units = device->units ? (double)device->units : NV_UNITS, tiles = nv_tiles(row, view);
    const uint64_t groups = (uint64_t)(tiles < units ? tiles : units);
    args[NV_ARGS] = qstk_i32(view->outer * view->inner);
    args[NV_ARGS + 1] = qstk_workspace(NV_MAPS);
    launch->n_args = NV_ARGS + 2;
    launch->local[0] = row->threads;
    launch->global[0] = groups * launch->local[0];
    return out->workspace(out, NV_MAPS, groups * MAP_BYTES);
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const entry     *self = (const entry *)user;
    const nv_row    *row = self->row;
    const nv_kernel *kernel = &self->set->kernels[row->kernel];
    qst_arg          args[NV_ARGS + 2], moved[4];
    nv_view          view;
    int32_t          status = nv_look(&view, (const qst_matmul *)problem, NULL);
    if (status != QST_OK)
        return status;
    if (row->kernel == NV_PLANES)
        return nv_planes_steps(row, self->set, &view, out);
    nv_args(args, &view);
    if (nv_pads(row)) {
        memcpy(moved, args, sizeof moved);
        status = nv_pad_steps(kernel, &view, out, moved);
        nv_pad_view(kernel, &view);
        nv_args(args, &view);
        memcpy(args, moved, sizeof moved);
    }
    if (status == QST_OK) {
        const uint32_t n_args = nv_packed(row) ? NV_OPERAND_ARGS + packed_args(args + NV_OPERAND_ARGS, &view) : NV_ARGS;
        qst_launch     launch = qstk_launch(nv_index(row, kernel, &view), kernel->entry, 1, args, n_args);
        launch.local[0] = (uint64_t)row->threads * row->ways;
        launch.global[0] = (uint64_t)nv_tiles(row, &view) * launch.local[0];
        if (kernel->tensor)
            status = tensor_launch(row, device, &view, args, &launch, out);
        if (status == QST_OK)
            status = out->launch(out, &launch);
    }
    return status;
}

/* ---- Start ------------------------------------------------------------------------------------------------------ */

static int32_t make_texts(nv_mma *plugin, nv_kernel_set *set)
{
    set->plugin = plugin;
    for (size_t i = 0; i < NV_KERNELS; i++) {
        size_t length = 0, p;
        char  *text;
        for (p = 0; p < QSTK_COUNT(texts[i].part) && texts[i].part[p]; p++)
            length += strlen(texts[i].part[p]);
        text = (char *)nv_mma_memory(plugin, length + 1);
        if (!text)
            return QST_E_NOMEM;
        set->kernels[i] = texts[i].kernel;
        set->kernels[i].text = text;
        set->kernels[i].length = length;
        for (p = 0; p < QSTK_COUNT(texts[i].part) && texts[i].part[p]; p++) {
            memcpy(text, texts[i].part[p], strlen(texts[i].part[p]));
            text += strlen(texts[i].part[p]);
        }
    }
    return QST_OK;
}

static const qst_membership memberships[] = {{"accelerated", priority, 0, 0}, {"tma", priority, 0, 0}};

static int32_t add(const qst_host *host, const nv_row *row, entry *self)
{
    const qst_candidate candidate = {
        .size = (uint32_t)sizeof candidate,
        .op = "matmul",
        .variant = row->variant,
        .revision = self->set->kernels[row->kernel].half ? HALF_REVISION : F32_REVISION,
        .classes = row->classes,
        .problem_size = (uint32_t)sizeof(qst_matmul),
        .n_memberships = self->set->kernels[row->kernel].tensor ? 2 : 1,
        .memberships = memberships,
        .user = self,
        .supports = supports,
        .can_run = can_run,
        .estimate = estimate,
        .program = program,
        .steps = steps,
    };
    return host->add_candidate(host->self, &candidate);
}

int32_t nv_rows_add(nv_mma *plugin, const qst_host *host)
{
    nv_kernel_set *set = (nv_kernel_set *)nv_mma_memory(plugin, sizeof *set);
    int32_t        status = set ? make_texts(plugin, set) : QST_E_NOMEM;
    for (size_t t = 0; t < NV_TABLES && status == QST_OK; t++) {
        entry *entries = (entry *)nv_mma_memory(plugin, nv_tables[t]->count * sizeof *entries);
        if (!entries)
            return QST_E_NOMEM;
        for (size_t i = 0; i < nv_tables[t]->count && status == QST_OK; i++) {
            entries[i].row = &nv_tables[t]->rows[i];
            entries[i].set = set;
            status = add(host, entries[i].row, &entries[i]);
        }
    }
    return status;
}
