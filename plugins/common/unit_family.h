/* SPDX-License-Identifier: MIT
 *
 * unit_family.h: what the plugins unit and double_unit have in common: from a row of their tables to tiles, options,
 * limits, cost and launch of unit.cl. A plugin includes it once, after its kernel; it adds rows, the number of
 * buffers and the priority.
 *
 * Tiles follow the reference's unit selector (CubeK), with two changes: what there depends on a launch's m and k is
 * fixed here at its largest, so that a name stands for one kernel of each transposition, and a plane is 32 wide.
 * Transposition and types of a problem, not its key, pick the program: index 4 * storage_index + NN, NT, TN or TT (bit
 * 1: A, bit 0: B).
 */
#ifndef PLUGINS_COMMON_UNIT_FAMILY_H
#define PLUGINS_COMMON_UNIT_FAMILY_H

#include "plugins/common/plugin.h"
#include "plugins/common/storage.h"
#include <stdio.h>

enum { UNIT_CASES = 4, UNIT_PROGRAMS = STORAGE_PAIRS * UNIT_CASES, UNIT_OPTIONS = 160 };

#define UNIT_SIZE_MAX     ((int64_t)1 << 30) /* an index plus a tile still fits an int */
#define UNIT_LOCAL_SLACK  4096u              /* bytes of local memory that drivers take for themselves */
#define UNIT_PRODUCTS_MAX 16384              /* groups along the batch; each loops over its share */
#define UNIT_GPU_LANES    64.0               /* f32 fma a clock on a compute unit, about; f64 half of it */
#define UNIT_CPU_SHARE    0.01               /* of a CPU device's peak that kernels with barriers reach there */
#define UNIT_LAUNCH_NS    5000.0             /* of a launch */

/* Begins the options on a CPU device only: without unrolled loops a program builds there in a fifth of the time, and
 * its registers are memory anyway. */
#define UNIT_CPU_OPTION "-DUNROLL= "

/* Tile of a unit's step (m, k; n is 4), its steps (m, n, k), units of a group (m, n); the macros of unit.cl. */
typedef struct unit_shape {
    uint32_t tm, tk, pm, pn, pk, sm, sn;
} unit_shape;

/* MAX, MIN: derived by the selector for each transposition; FIXED: as the row says for all of them. */
enum { UNIT_MAX = 1, UNIT_MIN = 2, UNIT_FIXED = 3 };

typedef struct unit_row {
    const char *variant;
    uint32_t    kind;
    unit_shape  fixed;
} unit_row;

/* What a plugin brings. */
typedef struct unit_family {
    uint32_t              buffers; /* 1 or 2 */
    uint32_t              revision;
    uint32_t              n_rows;
    const unit_row       *rows;
    const qst_membership *membership; /* of every row */
    const char           *source;
    uint64_t              length;
} unit_family;

typedef struct unit_candidate {
    const unit_family *family;
    unit_shape         shapes[UNIT_CASES];
    char               options[UNIT_PROGRAMS][UNIT_OPTIONS];
} unit_candidate;

typedef struct unit_instance {
    struct plugin_memory memory;
    unit_candidate       candidates[]; /* one a row */
} unit_instance;

/* ---- Tiles ------------------------------------------------------------------------------------------------------ */

/* The selector for general problems and four-element vectors. One buffer: 8 planes make a stage of 16 x 16 units, 8 x
 * 8 with MIN; two buffers: 4 planes, 16 x 8, and the steps along m and k are halved where there are more than 2. */
static inline unit_shape unit_derive(const unit_row *row, uint32_t buffers, uint32_t transposition)
{
    static const unit_shape max = {4, 4, 4, 2, 4, 16, 16}, along_k = {1, 4, 16, 2, 4, 16, 16},
                            outer = {4, 1, 2, 2, 8, 16, 16};
    const unit_shape *const min[UNIT_CASES] = {&along_k, &along_k, &outer, &max}; /* NN, NT, TN, TT */
    unit_shape              shape = row->kind == UNIT_MAX ? max : *min[transposition];
    if (row->kind == UNIT_FIXED)
        return row->fixed;
    if (buffers == 2) {
        shape.pm = shape.pm > 2 ? shape.pm / 2 : shape.pm;
        shape.pk = shape.pk > 2 ? shape.pk / 2 : shape.pk;
        shape.sn = 8;
    } else if (row->kind == UNIT_MIN) {
        shape.sm = shape.sn = 8;
    }
    return shape;
}

static inline uint32_t unit_group(const unit_shape *s)
{
    return s->sm * s->sn;
}
static inline uint64_t unit_rows_of(const unit_shape *s)
{
    return (uint64_t)s->tm * s->pm * s->sm;
}
static inline uint64_t unit_cols_of(const unit_shape *s)
{
    return 4ull * s->pn * s->sn;
}

/* Multiply-adds between two barriers, which the kernel unrolls. The time of a build goes with them: on NVIDIA 3 s and more
 * for 2048, one for 1024, and the tiles that have so many spill their registers besides. */
#define UNIT_UNROLLED 1024u
static inline uint32_t unit_unrolled(const unit_shape *s)
{
    return s->tm * s->pm * 4u * s->pn * s->tk * s->pk;
}

/* The formula of unit.cl. */
static inline uint64_t unit_local_bytes(const unit_shape *s, uint32_t buffers, uint32_t type)
{
    const uint64_t bm = unit_rows_of(s), bn = unit_cols_of(s), bk = (uint64_t)s->tk * s->pk;
    const uint64_t a = s->tm == 1 ? bm * (bk + 4) : bk * (bm + 4);
    return buffers * (a + bk * (bn + 4)) * (type == QST_F64 ? 8u : 4u);
}

/* ---- The problem ------------------------------------------------------------------------------------------------ */

/* Are rows nearer to each other than columns? */
static inline uint32_t unit_turned(const qst_matrix *x)
{
    return x->row < x->col;
}
static inline uint32_t unit_case(const qst_matmul *p)
{
    return 2u * unit_turned(&p->a) + unit_turned(&p->b);
}

/* Stride 1 in the near direction, all else multiples of a vector of four? */
static inline int unit_whole(const qst_matrix *x, uint32_t turned)
{
    const uint32_t log2_vector = x->type == QST_F64 ? 5 : x->type == QST_F32 ? 4 : 3;
    const int64_t  others = (turned ? x->col : x->row) | x->batch[0] | x->batch[1] | x->batch[2] | x->batch[3];
    return (turned ? x->row : x->col) == 1 && x->align >= log2_vector && others % 4 == 0;
}

static inline int64_t unit_products(const qst_matmul *p)
{
    return p->batch[0] * p->batch[1] * p->batch[2] * p->batch[3];
}
static inline uint64_t unit_tiles(const unit_shape *s, const qst_matmul *p)
{
    return qstk_ceil_div((uint64_t)p->m, unit_rows_of(s)) * qstk_ceil_div((uint64_t)p->n, unit_cols_of(s));
}

static inline const char *unit_refusal(const qst_device *device, const qst_matmul *p)
{
    int64_t products = 1;
    int     d;
    for (d = 0; d < QST_MATMUL_BATCHES; d++) {
        if (p->batch[d] > UNIT_SIZE_MAX / products)
            return "2^30 products or more in the batch";
        products *= p->batch[d];
    }
    if (p->m > UNIT_SIZE_MAX || p->n > UNIT_SIZE_MAX || p->k > UNIT_SIZE_MAX)
        return "m, n or k over 2^30";
    return storage_refusal(device, p);
}

static inline int32_t unit_can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    const unit_candidate *self = (const unit_candidate *)user;
    const qst_matmul     *p = (const qst_matmul *)problem;
    const char           *no = unit_refusal(device, p);
    const unit_shape     *shape = &self->shapes[unit_case(p)];
    if (no)
        return qstk_no(why, no);
    if (unit_local_bytes(shape, self->family->buffers, p->a.type) + UNIT_LOCAL_SLACK > device->local_bytes)
        return qstk_no(why, "the slices need more local memory than the device has, less 4 KB");
    if (unit_tiles(shape, p) >= (uint64_t)1 << 31)
        return qstk_no(why, "2^31 tiles of C or more");
    return QST_OK;
}

/* Transpositions differ in their tiles: what one of them can hold is not refused here. */
static inline int32_t unit_supports(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    const unit_candidate *self = (const unit_candidate *)user;
    const uint32_t        type = (uint32_t)key->value[QST_MATMUL_KEY_ELEM_LHS];
    uint64_t              least = UINT64_MAX;
    uint32_t              i;
    if (unit_group(self->shapes) > device->max_group || unit_group(self->shapes) > device->max_group_dim[0])
        return qstk_no(why, "the work-group is larger than the device's largest");
    for (i = 0; i < UNIT_CASES; i++) {
        const uint64_t bytes = unit_local_bytes(&self->shapes[i], self->family->buffers, type);
        least = bytes < least ? bytes : least;
    }
    if (least + UNIT_LOCAL_SLACK > device->local_bytes)
        return qstk_no(why, "the slices need more local memory than the device has, less 4 KB");
    if (device->type == QST_DEVICE_CPU)
        return qstk_poor(why, "barriers are slow on a CPU device");
    for (i = 0; i < UNIT_CASES; i++)
        if (unit_unrolled(&self->shapes[i]) > UNIT_UNROLLED)
            return qstk_poor(why, "over 1024 multiply-adds in one piece: a GPU's compiler takes seconds for them");
    return QST_OK;
}

/* Groups run in waves over the compute units, one of which is busy with 256 work-items; larger register tiles load less
 * for each fma, and a second buffer hides part of what is loaded. */
static inline double unit_estimate(void *user, const qst_device *device, const void *problem)
{
    const unit_candidate *self = (const unit_candidate *)user;
    const qst_matmul     *p = (const qst_matmul *)problem;
    const unit_shape     *s = &self->shapes[unit_case(p)];
    const double          rows = s->tm * s->pm, cols = 4.0 * s->pn, tile = rows * cols / (rows + cols);
    const double          loads = self->family->buffers == 2 ? 1.2 : 1.5;
    const int             gpu = device->type != QST_DEVICE_CPU;
    const double   lanes = gpu ? UNIT_GPU_LANES * tile / (tile + loads) : 2.0 * device->vector_f32 * UNIT_CPU_SHARE;
    const double   per_ns = lanes * (double)device->clock_mhz * 1e-3 * (p->a.type == QST_F64 ? 0.5 : 1.0);
    const uint64_t at_once = gpu && unit_group(s) < 256 ? 256 / unit_group(s) : 1;
    if (per_ns <= 0.0 || device->units == 0 || unit_refusal(device, p))
        return 0.0;
    return UNIT_LAUNCH_NS +
           (double)qstk_ceil_div(unit_tiles(s, p) * (uint64_t)unit_products(p), device->units * at_once) *
               (double)(at_once * unit_rows_of(s) * unit_cols_of(s)) *
               (double)qstk_round_up((uint64_t)p->k + 1, (uint64_t)s->tk * s->pk) / per_ns;
}

/* ---- Program and launch ----------------------------------------------------------------------------------------- */

static inline int32_t unit_program(void *user, const qst_device *device, const qst_key *key, uint32_t index,
                                   qst_program *out)
{
    const unit_candidate *self = (const unit_candidate *)user;
    (void)key;
    if (index >= UNIT_PROGRAMS)
        return QST_E_INVALID;
    out->data = self->family->source;
    out->length = self->family->length;
    out->options = self->options[index] + (device->type == QST_DEVICE_CPU ? 0 : sizeof UNIT_CPU_OPTION - 1);
    return QST_OK;
}

static inline qst_arg unit_pair(int64_t x, int64_t y)
{
    int64_t both[2];
    both[0] = x;
    both[1] = y;
    return qstk_value(both, sizeof both);
}
static inline qst_arg unit_sizes(const qst_matmul *p)
{
    int32_t size[QST_MATMUL_BATCHES];
    int     d;
    for (d = 0; d < QST_MATMUL_BATCHES; d++)
        size[d] = (int32_t)p->batch[d];
    return qstk_value(size, sizeof size);
}

static inline int32_t unit_steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const unit_candidate *self = (const unit_candidate *)user;
    const qst_matmul     *p = (const qst_matmul *)problem;
    const uint32_t        which = unit_case(p);
    const unit_shape     *shape = &self->shapes[which];
    const int64_t         products = unit_products(p);
    const int aligned = unit_whole(&p->a, which >> 1) | unit_whole(&p->b, which & 1u) << 1 | unit_whole(&p->c, 0) << 2;
    const qst_arg args[] = {
        qstk_operand(0),
        qstk_offset(0),
        qstk_operand(1),
        qstk_offset(1),
        qstk_operand(2),
        qstk_offset(2),
        qstk_i32(p->m),
        qstk_i32(p->n),
        qstk_i32(p->alpha == 0.0 ? 0 : p->k),
        unit_pair(p->a.row, p->a.col),
        unit_pair(p->b.row, p->b.col),
        unit_pair(p->c.row, p->c.col),
        unit_sizes(p),
        unit_pair(p->a.batch[0], p->a.batch[1]),
        unit_pair(p->a.batch[2], p->a.batch[3]),
        unit_pair(p->b.batch[0], p->b.batch[1]),
        unit_pair(p->b.batch[2], p->b.batch[3]),
        unit_pair(p->c.batch[0], p->c.batch[1]),
        unit_pair(p->c.batch[2], p->c.batch[3]),
        qstk_i32(products),
        storage_scalar(p, p->alpha),
        storage_scalar(p, p->beta),
        qstk_i32(aligned),
        qstk_local(unit_local_bytes(shape, self->family->buffers, p->a.type)),
    };
    qst_launch launch = qstk_launch(UNIT_CASES * storage_index(p) + which, "unit_matmul", 3, args, QSTK_COUNT(args));
    (void)device;
    launch.local[0] = unit_group(shape);
    launch.local[1] = launch.local[2] = 1;
    launch.global[0] = unit_tiles(shape, p) * launch.local[0];
    launch.global[1] = 1;
    launch.global[2] = (uint64_t)(products < UNIT_PRODUCTS_MAX ? products : UNIT_PRODUCTS_MAX);
    return out->launch(out, &launch);
}

/* ---- Start and stop --------------------------------------------------------------------------------------------- */

static inline void unit_options(unit_candidate *self, uint32_t index)
{
    const uint32_t    which = index % UNIT_CASES;
    const unit_shape *s = &self->shapes[which];
    snprintf(self->options[index], UNIT_OPTIONS,
             UNIT_CPU_OPTION
             "-cl-std=CL1.2 -DELEMENT=%u -DBUFFERS=%u -DTM=%u -DTK=%u -DPM=%u -DPN=%u -DPK=%u -DSM=%u -DSN=%u -DTA=%u "
             "-DTB=%u -DOUT=%u",
             storage_element(index / UNIT_CASES), self->family->buffers, s->tm, s->tk, s->pm, s->pn, s->pk, s->sm,
             s->sn, which >> 1, which & 1u, storage_out(index / UNIT_CASES));
}

static inline int32_t unit_add(const qst_host *host, const unit_family *family, const unit_row *row,
                               unit_candidate *self)
{
    qst_candidate candidate;
    uint32_t      i;
    self->family = family;
    for (i = 0; i < UNIT_CASES; i++)
        self->shapes[i] = unit_derive(row, family->buffers, i);
    for (i = 0; i < UNIT_PROGRAMS; i++)
        unit_options(self, i);
    memset(&candidate, 0, sizeof candidate);
    candidate.size = (uint32_t)sizeof candidate;
    candidate.op = "matmul";
    candidate.variant = row->variant;
    candidate.revision = family->revision;
    candidate.classes = QST_CLASS_STRICT | QST_CLASS_PLAIN | QST_CLASS_FAST;
    candidate.problem_size = (uint32_t)sizeof(qst_matmul);
    candidate.n_memberships = 1;
    candidate.memberships = family->membership;
    candidate.user = self;
    candidate.supports = unit_supports;
    candidate.can_run = unit_can_run;
    candidate.estimate = unit_estimate;
    candidate.program = unit_program;
    candidate.steps = unit_steps;
    return host->add_candidate(host->self, &candidate);
}

static inline int32_t unit_start(const qst_host *host, const unit_family *family, void **instance)
{
    const uint64_t bytes = sizeof(unit_instance) + family->n_rows * sizeof(unit_candidate);
    unit_instance *self = (unit_instance *)plugin_open(host, bytes);
    int32_t        status = self ? QST_OK : QST_E_NOMEM;
    uint32_t       i;
    for (i = 0; i < family->n_rows && status == QST_OK; i++)
        status = unit_add(host, family, &family->rows[i], &self->candidates[i]);
    return plugin_started(self, status, instance);
}

#endif
