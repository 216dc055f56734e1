/* SPDX-License-Identifier: MIT
 *
 * nv_copy_f32.cl: how f32 slices of A and B come into local memory, for the kernels on tf32 operands. Stands between
 * nv_common.cl and theirs.
 *
 * A lies in rows of BK floats, B in rows of BN along k, both in chunks of 16 bytes that are permuted (SWIZZLE_A by row,
 * SWIZZLE_B by k, from the kernel's macros) so that what is read together lies in different banks. Matrices that lie
 * the other way are turned by copies of single elements.
 *
 * Macros        BM, BN, BK; THREADS work-items that share a slice; SWIZZLE_B
 */
#define A_BYTES (BM * BK * 4)
#define B_BYTES (BK * BN * 4)
#define STAGE   (A_BYTES + B_BYTES)
#define STEPS   (BK / 8)
#if BK == 32
#define SWIZZLE_A(r) ((r)&7)
#else
#define SWIZZLE_A(r) (((r) >> 1) & 3)
#endif
#define SWIZZLE_WIDE(x)   (((x)&3) << 1)                    /* for readers of 4 k by 2 chunks side by side */
#define SWIZZLE_SPREAD(x) (((x)&1) | (((x)&2) << 1))        /* by 2 chunks two apart */
#define A_AT(r, x) ((r) * (BK * 4) + ((((x) >> 2) ^ SWIZZLE_A(r)) << 4) + ((x)&3) * 4)
#define B_AT(x, r) ((x) * (BN * 4) + ((((r) >> 2) ^ SWIZZLE_B(x)) << 4) + ((r)&3) * 4)

/* How a work-item copies its parts of a slice: copy i is at row A_ROW + A_DOWN(i), column A_COL + A_OVER(i) of the tile;
 * the pattern's part that i changes is A_TURN(i). B likewise, its rows along k. */
#if !TA && !LOOSE
#define A_COPIES  (A_BYTES / 16 / THREADS)
#define A_ROW     (t / (BK / 4))
#define A_COL     (t % (BK / 4) * 4)
#define A_DOWN(i) ((i) * (THREADS * 4 / BK))
#define A_OVER(i) 0
#define A_TURN(i) 0
#elif !TA
#define A_COPIES  (A_BYTES / 4 / THREADS)
#define A_ROW     (t / BK)
#define A_COL     (t % BK)
#define A_DOWN(i) ((i) * (THREADS / BK))
#define A_OVER(i) 0
#define A_TURN(i) (BK == 32 ? (A_DOWN(i) & 4) << 4 : 0)
#else /* a warp takes 8 adjacent rows by 4 columns: whole sectors, and 32 different banks; BM 16: four warps take 16 by 8 */
#define A_COPIES  (A_BYTES / 4 / THREADS)
#define A_ROW     (t / 32 % (BM / 8) * 8 + t % 8)
#define A_COL     (t / (BM * 4) * 4 + t / 8 % 4)
#define A_DOWN(i) ((i) * (THREADS / 32) % (BM / 8) * 8)
#define A_OVER(i) ((i) * (THREADS / 32) / (BM / 8) * 4)
#define A_TURN(i) (A_OVER(i) << 2)
#endif
#if !TB && !LOOSE
#define B_COPIES  (B_BYTES / 16 / THREADS)
#define B_ROW     (t / (BN / 4))
#define B_COL     (t % (BN / 4) * 4)
#define B_DOWN(i) ((i) * (THREADS * 4 / BN))
#define B_OVER(i) 0
#define B_TURN(i) 0
#elif !TB
#define B_COPIES  (B_BYTES / 4 / THREADS)
#define B_ROW     (t / BN)
#define B_COL     (t % BN)
#define B_DOWN(i) ((i) * (THREADS / BN))
#define B_OVER(i) 0
#define B_TURN(i) (SWIZZLE_B(B_DOWN(i)) << 4)
#else
#define B_COPIES  (B_BYTES / 4 / THREADS)
#define B_ROW     (t / 8 % 4)
#define B_COL     (t / 32 * 8 + t % 8)
#define B_DOWN(i) ((i) * (THREADS / 32) / (BN / 8) * 4)
#define B_OVER(i) ((i) * (THREADS / 32) % (BN / 8) * 8)
#define B_TURN(i) 0
#endif
#define A_STEP (TA ? a_ld : 1)
#define A_NEXT (TA ? 1 : a_ld)
#define B_STEP (TB ? 1 : b_ld)
#define B_NEXT (TB ? b_ld : 1)
#define A_FROM(i) (pa + (long)A_DOWN(i) * A_NEXT + (long)A_OVER(i) * A_STEP)
#define B_FROM(i) (pb + (long)B_DOWN(i) * B_STEP + (long)B_OVER(i) * B_NEXT)
#define A_TO(i)   ((a_to ^ A_TURN(i)) + A_DOWN(i) * (BK * 4))
#define B_TO(i)   ((b_to ^ B_TURN(i)) + B_DOWN(i) * (BN * 4) + B_OVER(i) * 4)
#if !TA && !LOOSE
#define COPY_A(i, at) COPY16(at, A_FROM(i), a_row < rows - A_DOWN(i) && a_col < left)
#else
#define COPY_A(i, at) COPY4(at, A_FROM(i), a_row < rows - A_DOWN(i) && a_col < left - A_OVER(i))
#endif
#if !TB && !LOOSE
#define COPY_B(i, at) COPY16(at, B_FROM(i), b_row < left - B_DOWN(i) && b_col < cols)
#else
#define COPY_B(i, at) COPY4(at, B_FROM(i), b_row < left - B_DOWN(i) && b_col < cols - B_OVER(i))
#endif
#ifndef COPY_ALL_A
#define COPY_ALL_A(stage) UNROLL for (int i = 0; i < A_COPIES; i++) COPY_A(i, base + (stage)*STAGE + A_TO(i))
#endif
#define LOAD(stage)                                                                                                   \
    {                                                                                                                 \
        FRESH_LD(a_ld);                                                                                                  \
        FRESH_LD(b_ld);                                                                                                  \
        COPY_ALL_A(stage);                                                                                            \
        UNROLL for (int i = 0; i < B_COPIES; i++) COPY_B(i, base + (stage)*STAGE + A_BYTES + B_TO(i));               \
        pa += (long)BK * A_STEP;                                                                                      \
        pb += (long)BK * B_STEP;                                                                                      \
        left -= BK;                                                                                                   \
    }

