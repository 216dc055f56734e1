/* SPDX-License-Identifier: MIT
 *
 * cpu_gemm.h: what the files of this plugin share. A candidate is one row of the table in cpu_gemm.c.
 */
#ifndef CPU_GEMM_CPU_GEMM_H
#define CPU_GEMM_CPU_GEMM_H

#include "plugins/common/matmul_view.h"
#include "plugins/common/storage.h"

/* Bytes of a vector; of a panel of B, or a tall tile of A, that stays in a first-level cache of 48 KB; of a B that stays in a
 * second-level cache of 2 MB anyway; of one whose panels, read in place, come late, its rows being pages apart. */
#define CPU_GEMM_VECTOR  64u
#define CPU_GEMM_PANEL   40960u
#define CPU_GEMM_SMALL_B 1048576.0
#define CPU_GEMM_LARGE_B 8388608.0

/* Programs: 4 * storage_index + transposition, and in the place of the index that is not given, 4, the one that adds
 * slices: the host takes 32 at most. */
enum { CPU_GEMM_CASES = 4, CPU_GEMM_OPTIONS = 160 };
enum { CPU_GEMM_PROGRAMS = STORAGE_PAIRS * CPU_GEMM_CASES, CPU_GEMM_ADD = 4 * CPU_GEMM_CASES };

/* What is copied to local memory before it is used. B is copied anyway where its rows are adjacent. Tall: as tiles of
 * cpu_tall.cl want it, A and B or A alone. */
enum { CPU_GEMM_IN_PLACE = 0, CPU_GEMM_PACK_A = 1, CPU_GEMM_PACK_B = 2, CPU_GEMM_PACK_BOTH = 3 };
enum { CPU_GEMM_TALL_A = 5, CPU_GEMM_TALL_BOTH = 7, CPU_GEMM_TALL = 4 /* its bit */ };
enum { CPU_GEMM_TALL_STEP = 8 /* rows by which the height of the last tall tile goes */ };

/* How C is cut into the parts of work-groups: along rows where there are rows enough, else along columns; along columns
 * alone; half of the parts along rows, half along columns. */
enum { CPU_GEMM_ROWS, CPU_GEMM_COLUMNS, CPU_GEMM_GRID };

/* For which keys a row that copies both for tiles that are not tall is compared where tall rows pay: how large m and n are. */
enum { CPU_GEMM_NEVER, CPU_GEMM_MEDIUM, CPU_GEMM_LARGE };

/* One row of the table.
 *   mr, nv   register tile: rows, and vectors of 64 bytes
 *   kc       longest block of k
 *   pack     CPU_GEMM_PACK_…
 *   parts    work-groups for each compute unit; fewer where there is too little work
 *   cut      CPU_GEMM_ROWS, …
 *   slices   parts of k, each a product of its own, added by a second launch; 1: one launch
 *   most_m   m over which it is a last resort; 0: none
 *   ahead    are panels of B that are read in place fetched before their turn?
 *   beside   CPU_GEMM_NEVER, …: beside tall rows */
struct cpu_gemm_row {
    const char *variant;
    uint32_t    mr, nv, kc;
    uint32_t    pack;
    uint32_t    parts, cut;
    uint32_t    slices;
    int64_t     most_m;
    uint32_t    ahead;
    uint32_t    beside;
};

static inline int cpu_gemm_is_tall(const struct cpu_gemm_row *row)
{
    return (row->pack & CPU_GEMM_TALL) != 0;
}

/* Bytes of the sums, by the type of a view. */
static inline uint32_t cpu_gemm_item(uint32_t type)
{
    return type == QST_F64 ? 8 : 4;
}

/* Elements of a vector, by the type of a view. */
static inline uint32_t cpu_gemm_vector(uint32_t type)
{
    return CPU_GEMM_VECTOR / cpu_gemm_item(type);
}

/* What a candidate's functions get as user: its row and the options of its programs. */
struct cpu_gemm_candidate {
    const struct cpu_gemm_row *row;
    char                       options[CPU_GEMM_PROGRAMS][CPU_GEMM_OPTIONS];
};

/* A problem as the row computes it.
 *   view      what its first launch sees, split where the row splits; its type is that of the sums
 *   storage   storage_index of the types
 *   narrow    is C narrower than the sums? Those then wait in a workspace between blocks of k
 *   kc        the longest block of k */
struct cpu_gemm_problem {
    struct matmul_view view;
    uint32_t           storage;
    int                narrow;
    int64_t            kc;
};

/* The text of a row's kernel; the options of its program. */
void cpu_gemm_source(const struct cpu_gemm_row *row, qst_program *out);
void cpu_gemm_options(const struct cpu_gemm_row *row, uint32_t program, char *text, size_t size);

/* Is the device a CPU with local memory enough? */
int32_t cpu_gemm_supports(const struct cpu_gemm_row *row, const qst_device *device, const char **why);

/* QST_POOR, so that its program is not built before others, where sizes or types of a key are not what the row is made
 * for. `tall`: the longest block of k of rows that copy both for tall tiles and run on the device; 0: none does. */
int32_t cpu_gemm_suits(const struct cpu_gemm_row *row, int64_t tall, const qst_key *key, const char **why);

/* How a problem is cut into parts.
 *   down, over     parts along rows and along columns
 *   early, first   along rows: the first `early` parts share `first` tiles evenly (tall: steps of 8 rows)
 *   last           tiles of the last part; those between share what is left
 *   bn             columns of a part
 *   run, among     products that a group computes one after the other; groups along the batch */
struct cpu_gemm_cut {
    int64_t down, over;
    int64_t early, first, last;
    int64_t bn;
    int64_t run, among;
};
struct cpu_gemm_cut cpu_gemm_cut(const struct cpu_gemm_row *row, const qst_device *device, const struct matmul_view *v);

/* Fma of a vector that a unit does in a ns, about; 0 where the device says nothing. */
double cpu_gemm_rate(const qst_device *device);

/* Is the launch of `row` that of `other` for all problems of a key: k in one block of either, C cut in the same way? They
 * then differ by no more than how local memory is laid out. */
int cpu_gemm_same(const struct cpu_gemm_row *row, const struct cpu_gemm_row *other, const qst_device *device,
                  const qst_key *key);

/* Takes a problem whose view is there: fills what the row makes of it, or says what limit it breaks. */
int32_t cpu_gemm_fits(const struct cpu_gemm_row *row, const qst_device *device, const qst_matmul *problem,
                      struct cpu_gemm_problem *out, const char **why);

/* Bytes of the workspace for sums between blocks of k; 0: none. */
uint64_t cpu_gemm_sums(const struct cpu_gemm_row *row, const struct cpu_gemm_problem *problem);

/* Expected ns of a launch; 0 where the device says nothing. */
double cpu_gemm_estimate(const struct cpu_gemm_row *row, const qst_device *device,
                         const struct cpu_gemm_problem *problem);

/* The launch itself. */
int32_t cpu_gemm_launch(const struct cpu_gemm_row *row, const qst_device *device,
                        const struct cpu_gemm_problem *problem, qst_steps *out);

#endif
