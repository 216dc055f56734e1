/* SPDX-License-Identifier: MIT
 *
 * rows.h: matmul's candidates of this plugin. A kernel (a text with its entry) has many rows, each a line of a table:
 * tile, stages, macros. A problem is looked at once and then spoken of as a `view`.
 *
 * How the matrices lie picks the program, not the key: two problems of one bucket never run each other's kernel. The
 * types, which a key holds as they are, are taken from it.
 */
#ifndef NV_MMA_ROWS_H
#define NV_MMA_ROWS_H

#include "nv_mma.h"

/* Bits of a program's index: B or A lies turned; something is not aligned for copies of 16 bytes; m, n and k are multiples
 * of the tile; k is so long that the kernel may save some care. */
enum { NV_TB = 1, NV_TA = 2, NV_LOOSE = 4, NV_FULL = 8, NV_LONG = 16, NV_PROGRAMS = 32 };

/* The program of the copies of a row that pads: its kernels know no NV_LONG. */
enum { NV_PAD_PROGRAM = NV_LONG };

/* Which matrices must be aligned, in all their strides, for copies of 16 bytes. */
enum { NV_ALIGN_A = 1, NV_ALIGN_B = 2, NV_ALIGN_C = 4 };

/* A problem as the kernels want it.
 *   index               NV_TA and NV_TB: the program's index, less what the row decides
 *   strided             NV_ALIGN_…: start and strides are multiples of 16 bytes
 *   aligned             and the adjacent extent, too
 *   a_ld, b_ld, c_ld    stride of the direction that is not adjacent
 *   outer, inner        the two batch dimensions; products are outer * inner, inner fastest
 *   a, b, c             batch strides, outer then inner */
typedef struct nv_view {
    uint32_t index;
    uint32_t strided, aligned;
    uint32_t half; /* operands are f16 or bf16 */
    int64_t  m, n, k;
    int64_t  a_ld, b_ld, c_ld;
    int64_t  outer, inner;
    int64_t  a[2], b[2], c[2];
    double   alpha, beta;
} nv_view;

/* Fills the view, or says with a reason why no kernel here can express the problem. */
int32_t nv_look(nv_view *view, const qst_matmul *problem, const char **why);

/* A kernel.
 *   entry       its name
 *   half        operands of 16 bits, else f32
 *   sm90a       its program is retargeted
 *   least_cc    compute capability
 *   least_k     shorter k does not keep the class's bound
 *   long_k      from which NV_LONG holds, just over a bucket's end so that a key has one program; 0: there is no such
 *   full        has programs for whole tiles
 *   tensor      fed by tensor copies: wants A and B strided, and does with any C; as many groups as the device has units,
 *               which go through the tiles and keep maps of A and B in a workspace
 *   exempt      NV_ALIGN_… by index: of matrices that need no alignment where TA or TB turns them
 *   slow        time of a slice over that of one that lies as the kernel likes it, by the low three bits of the index;
 *               with NV_LOOSE over that of a row's `loose` slice
 *   text        all of its source, made at start */
typedef struct nv_kernel {
    const char *entry;
    uint32_t    half;
    uint32_t    sm90a;
    uint32_t    least_cc;
    uint32_t    full;
    uint32_t    tensor;
    int64_t     least_k, long_k;
    uint32_t    exempt_ta, exempt_tb;
    float       slow[8];
    const char *text;
    size_t      length;
} nv_kernel;

/* A row.
 *   bm, bn, bk, stages   tile and slices in local memory
 *   threads, ways        work-items that share a slice, and such sets in a group
 *   local_bytes          static local memory of the kernel, at most
 * and of its cost (see cost.c), on 132 units at 1.98 GHz:
 *   tflops               rate of full units in the middle of their slices, in 10^12 operations a second
 *   groups               groups at once on a unit, beyond which others wait
 *   slice_ns             of a slice where a group is alone on its unit and has little to compute: copies, barriers
 *   tile_ns              of a group, beyond its slices and stores
 *   loose                time of a slice with NV_LOOSE over that of one without; 0: copies A and B first where they are not
 *                        as the kernel wants them (pad.c), and refuses where both are */
typedef struct nv_row {
    const char *variant;
    uint32_t    kernel; /* NV_WGMMA_F32, … */
    uint32_t    classes;
    uint32_t    bm, bn, bk, stages;
    uint32_t    threads, ways;
    uint32_t    local_bytes;
    const char *macros;
    float       tflops;
    uint32_t    groups;
    float       slice_ns, tile_ns;
    float       loose;
} nv_row;

enum {
    NV_FMA,
    NV_WGMMA_F32,
    NV_WGMMA_TF32,
    NV_MMA_F32,
    NV_MMA_TF32,
    NV_WGMMA_F16,
    NV_MMA_F16,
    NV_TMA_F16,
    NV_PLANES,
    NV_SPLIT,
    NV_PAD,
    NV_KERNELS
};

/* All rows, table by table. */
typedef struct nv_table {
    const nv_row *rows;
    size_t        count;
} nv_table;
extern const nv_table nv_fma_rows, nv_tf32_rows, nv_half_rows, nv_planes_rows;
enum { NV_TABLES = 4 };
extern const nv_table *const nv_tables[NV_TABLES];

#define NV_UNITS 132.0 /* of the device that the tables' costs are of */

/* The kernels with their texts, in memory of the instance. */
typedef struct nv_kernel_set {
    nv_mma   *plugin;
    nv_kernel kernels[NV_KERNELS];
} nv_kernel_set;

/* Can the row's kernel run the problem? E_UNSUPPORTED with a reason. */
int32_t nv_fits(const nv_row *row, const nv_kernel *kernel, const qst_device *device, const nv_view *view,
                const char **why);
/* Tiles of all products. */
double nv_tiles(const nv_row *row, const nv_view *view);
/* What supports() answers for the row. */
int32_t nv_supports(const nv_row *row, const nv_kernel_set *set, const qst_device *device, const qst_key *key,
                    const char **why);

/* ---- cost.c ------------------------------------------------------------------------------------------------------- */

/* Expected ns of the row's kernel, and of all that the row launches. */
double nv_estimate(const nv_row *row, const nv_kernel *kernel, const qst_device *device, const nv_view *view);
double nv_cost(const nv_row *row, const nv_kernel_set *set, const qst_device *device, const nv_view *view);
/* For a key: is the row among those that may be the best somewhere in its bucket? */
int nv_is_near(const nv_row *row, const nv_kernel_set *set, const qst_device *device, const qst_key *key);

/* Do numbers share arguments (PACKED)? Where a tile is small so are products, and what a launch costs shows. */
static inline int nv_packed(const nv_row *row)
{
    return (row->kernel == NV_FMA || row->kernel == NV_WGMMA_F32) && row->bm * row->bn <= 2048;
}

/* The low bits of the options, and the arguments of NV_ARGUMENTS (nv_common.cl): A to beta. */
void nv_options(char *text, size_t size, const nv_row *row, uint32_t index, uint32_t bf16, uint32_t out);
enum { NV_ARGS = 18, NV_OPERAND_ARGS = 6 }; /* all; and those that are operands and their starts */
void     nv_args(qst_arg *args, const nv_view *view);
uint32_t nv_index(const nv_row *row, const nv_kernel *kernel, const nv_view *view);
/* NV_ALIGN_…: what the kernel wants aligned, and the problem does not have so. */
uint32_t nv_missed(const nv_kernel *kernel, const nv_view *view);

/* Rows that pad (pad.c). The view of the problem as its product finds it after the copies; their cost; their program; and
 * their launch, which puts the scratch into the product's arguments, of nv_args. */
static inline int nv_pads(const nv_row *row)
{
    return !(row->loose > 0.0f);
}
int32_t nv_pad_fits(const nv_kernel *kernel, const qst_device *device, const nv_view *view, const char **why);
void    nv_pad_view(const nv_kernel *kernel, nv_view *view);
double  nv_pad_estimate(const nv_kernel *kernel, const nv_view *view);
void    nv_pad_program(const nv_kernel_set *set, qst_program *out);
int32_t nv_pad_steps(const nv_kernel *kernel, const nv_view *view, qst_steps *out, qst_arg *product);

/* Rows of NV_PLANES (planes.c): several launches instead of one. */
int32_t nv_planes_fits(const nv_view *view, const qst_device *device, const char **why);
double  nv_planes_estimate(const nv_row *row, const nv_kernel_set *set, const qst_device *device, const nv_view *view);
int32_t nv_planes_program(const nv_row *row, const nv_kernel_set *set, uint32_t index, qst_program *out);
int32_t nv_planes_steps(const nv_row *row, const nv_kernel_set *set, const nv_view *view, qst_steps *out);

/* nv_family: adds all rows as candidates. */
int32_t nv_rows_add(nv_mma *plugin, const qst_host *host);

#endif
