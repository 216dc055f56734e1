/* SPDX-License-Identifier: MIT
 *
 * cpu_gemm.h: what the files of this plugin share. A candidate is one row of the table in cpu_gemm.c.
 */
#ifndef CPU_GEMM_CPU_GEMM_H
#define CPU_GEMM_CPU_GEMM_H

#include "plugins/common/matmul_view.h"

enum { CPU_GEMM_TYPES = 2, CPU_GEMM_CASES = 4, CPU_GEMM_OPTIONS = 160 };
enum { CPU_GEMM_PROGRAMS = CPU_GEMM_TYPES * CPU_GEMM_CASES, CPU_GEMM_ADD = CPU_GEMM_PROGRAMS };

/* What is copied to local memory before it is used. B is copied anyway where its rows are adjacent. */
enum { CPU_GEMM_IN_PLACE = 0, CPU_GEMM_PACK_A = 1, CPU_GEMM_PACK_B = 2, CPU_GEMM_PACK_BOTH = 3 };

/* How C is cut into the parts of work-groups: along rows where there are rows enough, else along columns; along columns
 * alone; half of the parts along rows, half along columns. */
enum { CPU_GEMM_ROWS, CPU_GEMM_COLUMNS, CPU_GEMM_GRID };

/* One row of the table.
 *   mr, nv   register tile: rows, and vectors of 64 bytes
 *   kc       longest block of k
 *   pack     CPU_GEMM_PACK_…
 *   parts    work-groups for each compute unit; fewer where there is too little work
 *   cut      CPU_GEMM_ROWS, …
 *   slices   parts of k, each a product of its own, added by a second launch; 1: one launch
 *   least    m and n under which the row is a last resort; a third of it for k
 *   most_m   m over which it is one; 0: none */
struct cpu_gemm_row {
    const char *variant;
    uint32_t    mr, nv, kc;
    uint32_t    pack;
    uint32_t    parts, cut;
    uint32_t    slices;
    int64_t     least, most_m;
};

/* What a candidate's functions get as user: its row and the options of its programs, index 4 * (type is f64) +
 * transposition. */
struct cpu_gemm_candidate {
    const struct cpu_gemm_row *row;
    char                       options[CPU_GEMM_PROGRAMS][CPU_GEMM_OPTIONS];
};

/* The text of the kernel; the options of a row's program. */
void cpu_gemm_source(qst_program *out);
void cpu_gemm_options(const struct cpu_gemm_row *row, uint32_t program, char *text, size_t size);

/* Is the device a CPU with local memory enough? */
int32_t cpu_gemm_supports(const struct cpu_gemm_row *row, const qst_device *device, const char **why);

/* QST_POOR, so that its program is not built before others, where the sizes of a key are not what the row is made for. */
int32_t cpu_gemm_suits(const struct cpu_gemm_row *row, const qst_key *key, const char **why);

/* Limits of a launch that hang on the problem. `strict`: one block of k it must be. */
int32_t cpu_gemm_fits(const struct cpu_gemm_row *row, const qst_device *device, const struct matmul_view *view,
                      int strict, const char **why);

/* Expected ns of a launch; 0 where the device says nothing. */
double cpu_gemm_estimate(const struct cpu_gemm_row *row, const qst_device *device, const struct matmul_view *view);

/* The launch itself. */
int32_t cpu_gemm_launch(const struct cpu_gemm_row *row, const qst_device *device, const struct matmul_view *view,
                        int strict, qst_steps *out);

#endif
