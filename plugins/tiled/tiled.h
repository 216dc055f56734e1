/* SPDX-License-Identifier: MIT
 *
 * tiled.h: what the files of this plugin share. A candidate is one row of the table in tiled.c.
 */
#ifndef TILED_TILED_H
#define TILED_TILED_H

#include "plugins/common/matmul_view.h"

enum { TILED_CASES = 4, TILED_ADD = 4, TILED_OPTIONS = 160 };

/* One row of the table.
 *   bm, bn, bk, tm, tn   tile of a group and of a work-item (tiled.cl)
 *   slices               parts of k, each a product of its own, added by a second launch; 1: one launch */
struct tiled_row {
    const char *variant;
    uint32_t    bm, bn, bk, tm, tn;
    uint32_t    slices;
};

/* What a candidate's functions get as user: its row and the options of its programs. */
struct tiled_candidate {
    const struct tiled_row *row;
    char                    options[TILED_CASES][TILED_OPTIONS];
};

/* The text of the kernel; the options of a row's program for one transposition. */
void tiled_source(qst_program *out);
void tiled_options(const struct tiled_row *row, uint32_t index, char *text, size_t size);

/* Can the device hold the row's group and local memory at all? QST_POOR on a CPU device. */
int32_t tiled_supports(const struct tiled_row *row, const qst_device *device, const char **why);

/* Limits of a launch that hang on the problem. */
int32_t tiled_fits(const struct tiled_row *row, const struct matmul_view *view, const char **why);

/* Expected ns of a launch; 0 where the device says nothing. */
double tiled_estimate(const struct tiled_row *row, const qst_device *device, const struct matmul_view *view);

/* The launch itself. */
int32_t tiled_launch(const struct tiled_row *row, const struct matmul_view *view, qst_steps *out);

#endif
