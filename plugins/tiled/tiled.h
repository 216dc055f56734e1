/* SPDX-License-Identifier: MIT
 *
 * tiled.h: what the files of this plugin share. A candidate is one row of the table in tiled.c; a problem is looked
 * at once and then spoken of as a `view`.
 *
 * The transposition of a problem picks the program, not the key: program index 0 … 3 is NN, NT, TN, TT (bit 1: A,
 * bit 0: B). Two problems of one bucket so never run each other's kernel.
 */
#ifndef TILED_TILED_H
#define TILED_TILED_H

#include <quernstone/kit.h>
#include <quernstone/matmul.h>

enum { TILED_CASES = 4, TILED_ADD = 4, TILED_OPTIONS = 160 };

/* How a row computes: with work-groups, barriers and local memory, or a thread a work-item and neither. */
enum { TILED_BARRIER = 1, TILED_THREAD = 2 };

/* One row of the table.
 *   bm, bn, bk, tm, tn   TILED_BARRIER: tile of a group and of a work-item (tiled.cl)
 *   bm, bn, bk           TILED_THREAD: rows and columns of the register tile, longest block of k (cpu.cl)
 *   pack                 TILED_THREAD: B is packed always; else only where its rows are adjacent
 *   slices               parts of k, each a product of its own, added by a second launch; 1: one launch */
struct tiled_row {
    const char *variant;
    uint32_t    form;
    uint32_t    bm, bn, bk, tm, tn;
    uint32_t    pack;
    uint32_t    slices;
};

/* What a candidate's functions get as user: its row and the options of its programs. */
struct tiled_candidate {
    const struct tiled_row *row;
    char                    options[TILED_CASES][TILED_OPTIONS];
};

/* A problem as the kernels want it.
 *   index               transposition, the program's index
 *   a_ld, b_ld, c_ld    stride of the direction that is not adjacent
 *   outer, inner        the two batch dimensions; products are outer * inner, inner fastest
 *   a, b, c             batch strides, outer then inner
 *   aligned             bits 0, 1, 2: A, B, C with all their strides are multiples of 16 bytes
 *   slice               0, or the length of a slice of k; inner then counts slices
 *   alpha, beta         what the launch applies */
struct tiled_view {
    uint32_t index;
    uint32_t aligned;
    int64_t  m, n, k;
    int64_t  a_ld, b_ld, c_ld;
    int64_t  outer, inner;
    int64_t  a[2], b[2], c[2];
    int64_t  slice;
    double   alpha, beta;
};

/* Fills the view, or says with a reason why these kernels cannot express the problem. */
int32_t tiled_look(struct tiled_view *view, const qst_matmul *problem, const char **why);

/* The options of a row's program for one transposition. */
void tiled_barrier_options(const struct tiled_row *row, uint32_t index, char *text, size_t size);
void tiled_thread_options(const struct tiled_row *row, uint32_t index, char *text, size_t size);

/* Can the device hold the row's group, registers and local memory at all? QST_POOR on the wrong kind of device. */
int32_t tiled_barrier_supports(const struct tiled_row *row, const qst_device *device, const char **why);
int32_t tiled_thread_supports(const struct tiled_row *row, const qst_device *device, const char **why);

/* Limits of a launch that hang on the problem. */
int32_t tiled_barrier_fits(const struct tiled_row *row, const struct tiled_view *view, const char **why);
int32_t tiled_thread_fits(const struct tiled_row *row, const struct tiled_view *view, const char **why);

/* Expected ns of a launch; 0 where the device says nothing. */
double tiled_barrier_estimate(const struct tiled_row *row, const qst_device *device, const struct tiled_view *view);
double tiled_thread_estimate(const struct tiled_row *row, const qst_device *device, const struct tiled_view *view);

/* The launch itself; C is operand 2, or workspace 0 where the view is split. */
int32_t tiled_barrier_launch(const struct tiled_row *row, const struct tiled_view *view, qst_steps *out);
int32_t tiled_thread_launch(const struct tiled_row *row, const qst_device *device, const struct tiled_view *view,
                            qst_steps *out);

/* The text of a program of the two kernels. */
void tiled_barrier_source(qst_program *out);
void tiled_thread_source(qst_program *out);

/* Splitting along k (splitk.c): turns a view into that of the partial products; the workspace in bytes; the second
 * launch; its program; its expected ns. */
int32_t  tiled_split(const struct tiled_row *row, const qst_device *device, struct tiled_view *view, const char **why);
uint64_t tiled_split_bytes(const struct tiled_view *view);
int32_t  tiled_split_add(const struct tiled_view *view, const qst_matmul *problem, qst_steps *out);
void     tiled_split_source(qst_program *out);
double   tiled_split_estimate(const qst_device *device, const struct tiled_view *view);

/* The arguments that both kernels begin with, A to beta. */
enum { TILED_ARGS = 20 };
void tiled_args(const struct tiled_view *view, qst_arg *args);

#endif
