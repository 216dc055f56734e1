/* SPDX-License-Identifier: MIT
 *
 * tf32.c: rows for f32 on the matrix units' tf32 operands: three products of parts (PLAIN), or one of rounded operands
 * (FAST). Those named 48k and mma need nothing that is not documented of local memory; mma nothing at all.
 */
#include "rows.h"

#define PLAIN (QST_CLASS_PLAIN | QST_CLASS_FAST)
#define FAST  QST_CLASS_FAST
#define THREE " -DSPLIT=1"
#define ONE   " -DSPLIT=0"

/* clang-format off */
static const nv_row rows[] = {
    /* variant, kernel, classes, bm, bn, bk, stages, threads, ways, local, macros, tflops, groups, slice_ns, tile_ns, loose */
    {"3xtf32_128x128x16_48k", NV_WGMMA_F32, PLAIN, 128, 128, 16, 2, 128, 1, 49152, "-DWGS=1 -DMI=2" THREE, 114, 4, 630, 700, 1.44f},
    {"3xtf32_128x128x16_s3", NV_WGMMA_F32, PLAIN, 128, 128, 16, 3, 128, 1, 65536, "-DWGS=1 -DMI=2" THREE, 117, 2, 630, 860, 1.4f},
    {"3xtf32_64x128x32", NV_WGMMA_F32, PLAIN, 64, 128, 32, 2, 128, 1, 65536, "-DWGS=1 -DMI=2" THREE, 117, 2, 650, 1120, 1.51f},
    {"3xtf32_128x64x32", NV_WGMMA_F32, PLAIN, 128, 64, 32, 2, 128, 1, 81920, "-DWGS=1 -DMI=1" THREE, 116, 2, 800, 1020, 1.75f},
    {"3xtf32_64x64x32", NV_WGMMA_F32, PLAIN, 64, 64, 32, 3, 128, 1, 65536, "-DWGS=1 -DMI=1" THREE, 106, 3, 410, 1150, 1.61f},
    {"3xtf32_64x64x32_48k", NV_WGMMA_F32, PLAIN, 64, 64, 32, 2, 128, 1, 49152, "-DWGS=1 -DMI=1" THREE, 119, 4, 540, 970, 1.74f},
    {"3xtf32_64x64x16_32k", NV_WGMMA_F32, PLAIN, 64, 64, 16, 3, 128, 1, 32768, "-DWGS=1 -DMI=1" THREE, 98, 4, 290, 820, 1.46f},
    {"3xtf32_64x64x32_ways2", NV_WGMMA_F32, PLAIN, 64, 64, 32, 2, 128, 2, 98304, "-DWGS=1 -DMI=1" THREE, 105, 2, 170, 1270, 2.32f},
    {"3xtf32_32x64x32_ways2", NV_WGMMA_F32, PLAIN, 32, 64, 32, 3, 128, 2, 90112, "-DWGS=1 -DMI=1" THREE, 85, 2, 360, 1020, 1.62f},
    {"3xtf32_32x64x32_ways4", NV_WGMMA_F32, PLAIN, 32, 64, 32, 3, 128, 4, 180224, "-DWGS=1 -DMI=1" THREE, 90, 1, 420, 1420, 1.66f},
    {"3xtf32_16x64x32_ways4", NV_WGMMA_F32, PLAIN, 16, 64, 32, 3, 128, 4, 139264, "-DWGS=1 -DMI=1" THREE, 85, 1, 600, 500, 1.6f},
    {"3xtf32_mma_128x64x16", NV_MMA_F32, PLAIN, 128, 64, 16, 3, 128, 1, 36864, "-DWM=64 -DWN=32" THREE, 71, 2, 270, 3050, 1.78f},
    {"3xtf32_mma_64x64x32", NV_MMA_F32, PLAIN, 64, 64, 32, 3, 128, 1, 49152, "-DWM=32 -DWN=32" THREE, 82, 3, 280, 2540, 1.8f},

    {"tf32_128x256x32", NV_WGMMA_TF32, FAST, 128, 256, 32, 3, 512, 1, 147456, "-DWGS=4 -DMI=1 -DGW=16" ONE, 260, 1, 500, 2500, 1.8f},
    {"tf32_128x128x32", NV_WGMMA_TF32, FAST, 128, 128, 32, 3, 256, 1, 98304, "-DWGS=2 -DMI=1" ONE, 230, 2, 500, 1500, 1.8f},
    {"tf32_128x64x32", NV_WGMMA_TF32, FAST, 128, 64, 32, 3, 128, 1, 73728, "-DWGS=1 -DMI=1" ONE, 170, 3, 450, 1200, 1.8f},
    {"tf32_64x64x32", NV_WGMMA_TF32, FAST, 64, 64, 32, 4, 128, 1, 65536, "-DWGS=1 -DMI=1" ONE, 130, 3, 350, 1100, 1.8f},
    {"tf32_128x128x16_48k", NV_WGMMA_TF32, FAST, 128, 128, 16, 3, 128, 1, 49152, "-DWGS=1 -DMI=2" ONE, 150, 2, 400, 1300, 1.8f},
    {"tf32_mma_128x128x16", NV_MMA_TF32, FAST, 128, 128, 16, 3, 128, 1, 49152, "-DWM=64 -DWN=64" ONE, 155, 2, 400, 2500, 1.8f},
};
/* clang-format on */
const nv_table nv_tf32_rows = {rows, QSTK_COUNT(rows)};
