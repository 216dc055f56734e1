/* SPDX-License-Identifier: MIT
 *
 * half.c: rows for f16 and bf16 operands, C of the same type or f32: sums that stay in the matrix units (FAST), or that
 * are added to f32 sums slice by slice (PLAIN). Those fed by tensor copies want A and B aligned; the others are their
 * siblings. Copies of 16 bytes are what ragged operands do not allow, and element by element they take 3 to 7 times as
 * long: those named padded have such operands copied into aligned scratch first, and cost as their namesakes do then.
 */
#include "rows.h"

#define PLAIN    (QST_CLASS_PLAIN | QST_CLASS_FAST)
#define FAST     QST_CLASS_FAST
#define STAYS    " -DPROMOTE=0"
#define PROMOTED " -DPROMOTE=1"
#define FED      "-DWGS=2 -DOWN_COPIES=1"
#define PADDED   " -DPADDED=1"

/* clang-format off */
static const nv_row rows[] = {
    /* variant, kernel, classes, bm, bn, bk, stages, threads, ways, local, macros, tflops, groups, slice_ns, tile_ns, loose */
    {"half_tma_128x256x64", NV_TMA_F16, FAST, 128, 256, 64, 4, 384, 1, 215552, FED STAYS, 1222, 1, 370, 3970, 1},
    {"half_tma_128x128x64", NV_TMA_F16, FAST, 128, 128, 64, 6, 384, 1, 215552, FED STAYS, 1328, 1, 250, 3320, 1},
    {"half_128x256x64", NV_WGMMA_F16, FAST, 128, 256, 64, 3, 256, 1, 147456, "-DWGS=2" STAYS, 873, 1, 420, 4460, 3.93f},
    {"half_128x128x64", NV_WGMMA_F16, FAST, 128, 128, 64, 3, 256, 1, 98304, "-DWGS=2 -DGW=16" STAYS, 954, 1, 320, 2630, 4.3f},
    {"half_128x128x32_48k", NV_WGMMA_F16, FAST, 128, 128, 32, 3, 128, 1, 49152, "-DWGS=1" STAYS, 919, 1, 200, 2560, 6.87f},
    {"half_64x128x64_48k", NV_WGMMA_F16, FAST, 64, 128, 64, 2, 128, 1, 49152, "-DWGS=1" STAYS, 1433, 2, 460, 2320, 3.19f},
    {"half_64x64x64_48k", NV_WGMMA_F16, FAST, 64, 64, 64, 3, 128, 1, 49152, "-DWGS=1" STAYS, 363, 4, 70, 1870, 4.6f},
    {"half_mma_128x128x32", NV_MMA_F16, FAST, 128, 128, 32, 3, 128, 1, 49152, "-DWM=64 -DWN=64" STAYS, 581, 1, 290, 2330, 4.12f},

    {"half_tma_promoted_128x256x64", NV_TMA_F16, PLAIN, 128, 256, 64, 4, 384, 1, 215552, FED PROMOTED, 892, 1, 410, 4190, 1},
    {"half_tma_promoted_128x128x64", NV_TMA_F16, PLAIN, 128, 128, 64, 6, 384, 1, 215552, FED PROMOTED, 968, 1, 300, 3260, 1},
    {"half_promoted_128x128x64", NV_WGMMA_F16, PLAIN, 128, 128, 64, 3, 256, 1, 98304, "-DWGS=2 -DGW=16" PROMOTED, 742, 1, 340, 2530, 4.36f},
    {"half_promoted_64x128x64", NV_WGMMA_F16, PLAIN, 64, 128, 64, 3, 128, 1, 73728, "-DWGS=1" PROMOTED, 450, 2, 130, 2200, 6.5f},
    {"half_promoted_64x64x64_48k", NV_WGMMA_F16, PLAIN, 64, 64, 64, 3, 128, 1, 49152, "-DWGS=1" PROMOTED, 378, 4, 150, 1640, 4.29f},
    {"half_promoted_mma_128x128x32", NV_MMA_F16, PLAIN, 128, 128, 32, 3, 256, 1, 49152, "-DWM=64 -DWN=32" PROMOTED, 314, 2, 270, 1920, 3.22f},
    {"half_promoted_mma_64x64x64", NV_MMA_F16, PLAIN, 64, 64, 64, 2, 128, 1, 32768, "-DWM=32 -DWN=32" PROMOTED, 306, 4, 190, 1490, 3.59f},

    {"half_padded_tma_128x256x64", NV_TMA_F16, FAST, 128, 256, 64, 4, 384, 1, 215552, FED STAYS, 1222, 1, 370, 3970, 0},
    {"half_padded_tma_128x128x64", NV_TMA_F16, FAST, 128, 128, 64, 6, 384, 1, 215552, FED STAYS, 1328, 1, 250, 3320, 0},
    {"half_padded_128x128x64", NV_WGMMA_F16, FAST, 128, 128, 64, 3, 256, 1, 98304, "-DWGS=2 -DGW=16" STAYS PADDED, 954, 1, 320, 2630, 0},
    {"half_padded_64x64x64_48k", NV_WGMMA_F16, FAST, 64, 64, 64, 3, 128, 1, 49152, "-DWGS=1" STAYS PADDED, 363, 4, 70, 1870, 0},
    {"half_padded_mma_128x128x32", NV_MMA_F16, FAST, 128, 128, 32, 3, 128, 1, 49152, "-DWM=64 -DWN=64" STAYS PADDED, 581, 1, 290, 2330, 0},
    {"half_padded_tma_promoted_128x256x64", NV_TMA_F16, PLAIN, 128, 256, 64, 4, 384, 1, 215552, FED PROMOTED, 892, 1, 410, 4190, 0},
    {"half_padded_tma_promoted_128x128x64", NV_TMA_F16, PLAIN, 128, 128, 64, 6, 384, 1, 215552, FED PROMOTED, 968, 1, 300, 3260, 0},
    {"half_padded_promoted_64x64x64_48k", NV_WGMMA_F16, PLAIN, 64, 64, 64, 3, 128, 1, 49152, "-DWGS=1" PROMOTED PADDED, 378, 4, 150, 1640, 0},
    {"half_padded_promoted_mma_128x128x32", NV_MMA_F16, PLAIN, 128, 128, 32, 3, 256, 1, 49152, "-DWM=64 -DWN=32" PROMOTED PADDED, 314, 2, 270, 1920, 0},
};
/* clang-format on */
const nv_table nv_half_rows = {rows, QSTK_COUNT(rows)};
