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
    /* variant, kernel, classes, bm, bn, bk, stages, threads, ways, local, macros, tflops, groups, tile_us */
    {"3xtf32_128x128x16_48k", NV_WGMMA_F32, PLAIN, 128, 128, 16, 2, 128, 1, 49152, "-DWGS=1 -DMI=2" THREE, 97, 2, 2},
    {"3xtf32_128x128x16_s3", NV_WGMMA_F32, PLAIN, 128, 128, 16, 3, 128, 1, 65536, "-DWGS=1 -DMI=2" THREE, 96, 2, 2},
    {"3xtf32_64x128x32", NV_WGMMA_F32, PLAIN, 64, 128, 32, 2, 128, 1, 65536, "-DWGS=1 -DMI=2" THREE, 89, 2, 2},
    {"3xtf32_128x64x32", NV_WGMMA_F32, PLAIN, 128, 64, 32, 2, 128, 1, 81920, "-DWGS=1 -DMI=1" THREE, 84, 2, 2},
    {"3xtf32_64x64x32", NV_WGMMA_F32, PLAIN, 64, 64, 32, 3, 128, 1, 65536, "-DWGS=1 -DMI=1" THREE, 82, 3, 1.5f},
    {"3xtf32_64x64x32_48k", NV_WGMMA_F32, PLAIN, 64, 64, 32, 2, 128, 1, 49152, "-DWGS=1 -DMI=1" THREE, 80, 4, 1.5f},
    {"3xtf32_64x64x16_32k", NV_WGMMA_F32, PLAIN, 64, 64, 16, 3, 128, 1, 32768, "-DWGS=1 -DMI=1" THREE, 68, 5, 1.2f},
    {"3xtf32_64x64x32_ways2", NV_WGMMA_F32, PLAIN, 64, 64, 32, 2, 128, 2, 98304, "-DWGS=1 -DMI=1" THREE, 80, 1.5f, 2},
    {"3xtf32_32x64x32_ways2", NV_WGMMA_F32, PLAIN, 32, 64, 32, 3, 128, 2, 90112, "-DWGS=1 -DMI=1" THREE, 57, 1.8f, 1.5f},
    {"3xtf32_32x64x32_ways4", NV_WGMMA_F32, PLAIN, 32, 64, 32, 3, 128, 4, 180224, "-DWGS=1 -DMI=1" THREE, 52, 1, 1.5f},
    {"3xtf32_mma_128x64x16", NV_MMA_F32, PLAIN, 128, 64, 16, 3, 128, 1, 36864, "-DWM=64 -DWN=32" THREE, 64, 3, 2},
    {"3xtf32_mma_64x64x32", NV_MMA_F32, PLAIN, 64, 64, 32, 3, 128, 1, 49152, "-DWM=32 -DWN=32" THREE, 56, 4, 1.5f},

    {"tf32_128x256x32", NV_WGMMA_TF32, FAST, 128, 256, 32, 3, 512, 1, 147456, "-DWGS=4 -DMI=1 -DGW=16" ONE, 245, 1, 2},
    {"tf32_128x128x32", NV_WGMMA_TF32, FAST, 128, 128, 32, 3, 256, 1, 98304, "-DWGS=2 -DMI=1" ONE, 212, 2, 2},
    {"tf32_128x64x32", NV_WGMMA_TF32, FAST, 128, 64, 32, 3, 128, 1, 73728, "-DWGS=1 -DMI=1" ONE, 150, 3, 1.5f},
    {"tf32_64x64x32", NV_WGMMA_TF32, FAST, 64, 64, 32, 4, 128, 1, 65536, "-DWGS=1 -DMI=1" ONE, 110, 3, 1.5f},
    {"tf32_128x128x16_48k", NV_WGMMA_TF32, FAST, 128, 128, 16, 3, 128, 1, 49152, "-DWGS=1 -DMI=2" ONE, 140, 2, 2},
    {"tf32_mma_128x128x16", NV_MMA_TF32, FAST, 128, 128, 16, 3, 128, 1, 49152, "-DWM=64 -DWN=64" ONE, 145, 2, 2},
};
/* clang-format on */
const nv_table nv_tf32_rows = {rows, QSTK_COUNT(rows)};
