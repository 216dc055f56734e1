/* SPDX-License-Identifier: MIT
 *
 * fma.c: rows on plain fma, one chain for each element in the fallback's order: the only ones here for STRICT.
 */
#include "rows.h"

#define ANY (QST_CLASS_STRICT | QST_CLASS_PLAIN | QST_CLASS_FAST)

/* clang-format off */
static const nv_row rows[] = {
    /* variant, kernel, classes, bm, bn, bk, stages, threads, ways, local, macros, tflops, groups, slice_ns, tile_ns, loose */
    {"fma_128x128x16", NV_FMA, ANY, 128, 128, 16, 2, 256, 1, 34816, "-DTM=8 -DTN=8", 51, 3, 160, 300, 1.25f},
    {"fma_64x128x16", NV_FMA, ANY, 64, 128, 16, 2, 128, 1, 26624, "-DTM=8 -DTN=8", 52, 4, 410, 620, 1.19f},
    {"fma_64x64x16", NV_FMA, ANY, 64, 64, 16, 3, 128, 1, 27648, "-DTM=8 -DTN=4", 48, 5, 440, 610, 1.19f},
    {"fma_32x64x16", NV_FMA, ANY, 32, 64, 16, 3, 64, 1, 21504, "-DTM=8 -DTN=4 -DLM=4 -DLN=8", 43, 6, 470, 1240, 1.05f},
    {"fma_32x32x16", NV_FMA, ANY, 32, 32, 16, 3, 32, 1, 15360, "-DTM=8 -DTN=4 -DLM=4 -DLN=8", 89, 4, 470, 860, 1.17f},
};
/* clang-format on */
const nv_table nv_fma_rows = {rows, QSTK_COUNT(rows)};
