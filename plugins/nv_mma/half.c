/* SPDX-License-Identifier: MIT
 *
 * half.c: rows for f16 and bf16 operands, C of the same type or f32: sums that stay in the matrix units (FAST), or that
 * are added to f32 sums slice by slice (PLAIN). Those fed by tensor copies want all aligned; the others are their siblings.
 */
#include "rows.h"

#define PLAIN    (QST_CLASS_PLAIN | QST_CLASS_FAST)
#define FAST     QST_CLASS_FAST
#define STAYS    " -DPROMOTE=0"
#define PROMOTED " -DPROMOTE=1"
#define FED      "-DWGS=2 -DOWN_COPIES=1"

/* clang-format off */
static const nv_row rows[] = {
    /* variant, kernel, classes, bm, bn, bk, stages, threads, ways, local, macros, tflops, groups, tile_us */
    {"half_tma_128x256x64", NV_TMA_F16, FAST, 128, 256, 64, 4, 384, 1, 197120, FED STAYS, 810, 1, 1.7f},
    {"half_tma_128x128x64", NV_TMA_F16, FAST, 128, 128, 64, 6, 384, 1, 197120, FED STAYS, 800, 1, 1.7f},
    {"half_128x256x64", NV_WGMMA_F16, FAST, 128, 256, 64, 3, 256, 1, 147456, "-DWGS=2" STAYS, 590, 1, 2},
    {"half_128x128x64", NV_WGMMA_F16, FAST, 128, 128, 64, 3, 256, 1, 98304, "-DWGS=2 -DGW=16" STAYS, 660, 1, 1.2f},
    {"half_128x128x32_48k", NV_WGMMA_F16, FAST, 128, 128, 32, 3, 128, 1, 49152, "-DWGS=1" STAYS, 540, 1, 1.2f},
    {"half_64x128x64_48k", NV_WGMMA_F16, FAST, 64, 128, 64, 2, 128, 1, 49152, "-DWGS=1" STAYS, 560, 2, 1},
    {"half_64x64x64_48k", NV_WGMMA_F16, FAST, 64, 64, 64, 3, 128, 1, 49152, "-DWGS=1" STAYS, 450, 3, 0.8f},
    {"half_mma_128x128x32", NV_MMA_F16, FAST, 128, 128, 32, 3, 128, 1, 49152, "-DWM=64 -DWN=64" STAYS, 400, 1, 2},

    {"half_tma_promoted_128x256x64", NV_TMA_F16, PLAIN, 128, 256, 64, 4, 384, 1, 197120, FED PROMOTED, 640, 1, 1.7f},
    {"half_tma_promoted_128x128x64", NV_TMA_F16, PLAIN, 128, 128, 64, 6, 384, 1, 197120, FED PROMOTED, 600, 1, 1.7f},
    {"half_promoted_128x128x64", NV_WGMMA_F16, PLAIN, 128, 128, 64, 3, 256, 1, 98304, "-DWGS=2 -DGW=16" PROMOTED, 470, 1, 1.2f},
    {"half_promoted_64x128x64", NV_WGMMA_F16, PLAIN, 64, 128, 64, 3, 128, 1, 73728, "-DWGS=1" PROMOTED, 480, 1.5f, 1},
    {"half_promoted_64x64x64_48k", NV_WGMMA_F16, PLAIN, 64, 64, 64, 3, 128, 1, 49152, "-DWGS=1" PROMOTED, 450, 3, 0.8f},
    {"half_promoted_mma_128x128x32", NV_MMA_F16, PLAIN, 128, 128, 32, 3, 256, 1, 49152, "-DWM=64 -DWN=32" PROMOTED, 282, 1, 2},
    {"half_promoted_mma_64x64x64", NV_MMA_F16, PLAIN, 64, 64, 64, 2, 128, 1, 32768, "-DWM=32 -DWN=32" PROMOTED, 280, 3, 1},
};
/* clang-format on */
const nv_table nv_half_rows = {rows, QSTK_COUNT(rows)};
