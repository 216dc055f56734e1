/* SPDX-License-Identifier: MIT
 *
 * nv_planes.cl: f32 products by Hopper's wgmma on f16 planes (nv_split.cl), where the guard allows it. Stands behind
 * nv_common.cl.
 *
 * Mathematics   s = Σ lo·hi + hi·lo + hi·hi over the planes; each slice of BK starts from zero in the unit, which rounds
 *               toward zero, and is added to f32 sums; c = alpha · s · 2^-(e_a + e_b) + beta · c. A tile whose vectors'
 *               flags forbid planes is left alone: nv_wgmma_f32.cl with GUARD computes just those, by the same rule.
 * Index space   see nv_common.cl; groups of 128 · WGS work-items
 * Macros        BM 128 rows, in WGS warpgroups; BN 64 or 128 columns; BK 32; STAGES, AHEAD; TA, TB: planes with k apart
 *               (from nv_split_columns); LOOSE 1: C is not aligned
 * Local memory  STAGES · 8 · BK · (BM + BN) bytes, static
 * Host          sm_90a; planes padded with zeros to multiples of 128 vectors and 64 k; a_ld, b_ld: of the planes, in
 *               elements; flags and exponents of as many vectors
 */
#define MI      (BM / 64 / WGS)
#define NR      (BN / 2)
#define A_BYTES (BM * BK * 2)
#define B_BYTES (BK * BN * 2)
#define STAGE   (2 * (A_BYTES + B_BYTES))
#define STEPS   (BK / 16)
#define SWIZZLE(r) (((r) >> 1) & 3)
#define BY_K(r, x)   ((r) * (BK * 2) + (((x) ^ SWIZZLE(r)) << 4))
#define ACROSS(y, x) (((y) >> 3) * (BK * 128) + (x)*128 + ((((y)&7) ^ ((x)&7)) << 4))
#define SHAPE_BY_K   ((ulong)2 << 62 | (ulong)(8 * BK * 2 / 16) << 32 | 1u << 16)
#define SHAPE_ACROSS ((ulong)1 << 62 | (ulong)(1024 / 16) << 32 | (BK * 128 / 16) << 16)

#if TA
#define A_X        (t / (BM / 8))
#define A_Y        (t % (BM / 8))
#define A_TO(i)    (ACROSS(a_y, a_x) + (i) * (THREADS * 8 / BM) * 128)
#define A_FROM(i)  (pa + (long)((i) * (THREADS * 8 / BM)) * a_ld)
#define A_FIRST    (a_y * 8 + tile.x + (long)a_x * a_ld)
#define A_STEP     a_ld
#define SHAPE_A    SHAPE_ACROSS
#define A_BLOCK(i) ((i) * (BK * 128))
#define A_ADVANCE  2048
#else
#define A_X        (t % (BK / 8))
#define A_Y        (t / (BK / 8))
#define A_TO(i)    (BY_K(a_y, a_x) + (i) * (THREADS * 8 / BK) * (BK * 2))
#define A_FROM(i)  (pa + (long)((i) * (THREADS * 8 / BK)) * a_ld)
#define A_FIRST    ((long)(tile.x + a_y) * a_ld + a_x * 8)
#define A_STEP     1
#define SHAPE_A    SHAPE_BY_K
#define A_BLOCK(i) ((i) * 64 * (BK * 2))
#define A_ADVANCE  32
#endif
#if TB
#define B_X       (t % (BK / 8))
#define B_Y       (t / (BK / 8))
#define B_TO(i)   (BY_K(b_y, b_x) + (i) * (THREADS * 8 / BK) * (BK * 2))
#define B_FROM(i) (pb + (long)((i) * (THREADS * 8 / BK)) * b_ld)
#define B_FIRST   ((long)(tile.y + b_y) * b_ld + b_x * 8)
#define B_STEP    1
#define SHAPE_B   SHAPE_BY_K
#define B_ADVANCE 32
#define TURN_B    "0"
#else
#define B_X       (t / (BN / 8))
#define B_Y       (t % (BN / 8))
#define B_TO(i)   (ACROSS(b_y, b_x) + (i) * (THREADS * 8 / BN) * 128)
#define B_FROM(i) (pb + (long)((i) * (THREADS * 8 / BN)) * b_ld)
#define B_FIRST   (tile.y + b_y * 8 + (long)b_x * b_ld)
#define B_STEP    b_ld
#define SHAPE_B   SHAPE_ACROSS
#define B_ADVANCE 2048
#define TURN_B    "1"
#endif
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(to), "l"(from))
#define LOAD(stage)                                                                                                   \
    {                                                                                                                 \
        UNROLL for (int p = 0; p < 2; p++)                                                                            \
        {                                                                                                             \
            UNROLL for (int i = 0; i < A_BYTES / 16 / THREADS; i++)                                                   \
                COPY(base + (stage)*STAGE + p * A_BYTES + A_TO(i), A_FROM(i) + p * a_plane);                          \
            UNROLL for (int i = 0; i < B_BYTES / 16 / THREADS; i++)                                                   \
                COPY(base + (stage)*STAGE + 2 * A_BYTES + p * B_BYTES + B_TO(i), B_FROM(i) + p * b_plane);            \
        }                                                                                                             \
        pa += (long)BK * A_STEP;                                                                                      \
        pb += (long)BK * B_STEP;                                                                                      \
    }
#define TURNS TEXT(TA) "," TURN_B
#if BN == 64
#define WGMMA(d, da, db, add)                                                                                         \
    asm volatile(WGMMA_ON "{.reg .pred p;setp.ne.s32 p,%34,0;wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"    \
                 R16_0 "," R16_1 "},%32,%33,p,1,1," TURNS ";}" : F32(d, 0) : "l"(da), "l"(db), "r"(add))
#else
#define WGMMA(d, da, db, add)                                                                                         \
    asm volatile(WGMMA_ON "{.reg .pred p;setp.ne.s32 p,%66,0;wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"   \
                 R16_0 "," R16_1 "," R16_2 "," R16_3 "},%64,%65,p,1,1," TURNS ";}"                                    \
                 : F64_(d, 0) : "l"(da), "l"(db), "r"(add))
#endif
/* The product of A's plane p and B's plane q in step x of block i. */
#define PRODUCT(p, q, add)                                                                                            \
    WGMMA(part, SHAPE_A | (at_a + (read * STAGE + (p)*A_BYTES + A_BLOCK(i) + x * A_ADVANCE) / 16),                    \
          SHAPE_B | (at_b + (read * STAGE + (q)*B_BYTES + x * B_ADVANCE) / 16), add)

__attribute__((reqd_work_group_size(THREADS, 1, 1)))
kernel void nv_planes(global const ushort *a, long a_plane, int a_ld, global const ushort *b, long b_plane, int b_ld,
                      global float *c, ulong c_start, int m, int n, int depth, int c_ld, global const uint *words,
                      int a_exponents, int b_exponents, int a_flags, int b_flags, float alpha, float beta)
{
    local uint4 memory[STAGES * STAGE / 16] __attribute__((aligned(1024)));
    const uint  base = (uint)(ulong)memory;
    const uint  t = get_local_id(0);
    const int   lane = t & 31, wg = t >> 7;
    const int3  tile = nv_tile(m, n);
    if (nv_guard((local uint *)memory, words + a_flags + tile.x, words + b_flags + (tile.y & ~127)))
        return;
    const int count = depth / BK, a_x = A_X, a_y = A_Y, b_x = B_X, b_y = B_Y;
    global const ushort *pa = a + A_FIRST, *pb = b + B_FIRST;
    _Pragma("unroll 1") for (int s = 0; s < AHEAD; s++)
    {
        if (s < count)
            LOAD(s);
        COMMIT;
    }
    float sum[MI][NR], part[NR];
    UNROLL for (int x = 0; x < NR; x++) part[x] = 0;
    UNROLL for (int i = 0; i < MI; i++)
        UNROLL for (int x = 0; x < NR; x++) sum[i][x] = 0;
    const uint at_a = (base + A_BLOCK(wg * MI)) >> 4, at_b = (base + 2 * A_BYTES) >> 4;
    int        read = 0, write = AHEAD;
    for (int s = 0; s < count; s++) {
        WAIT;
        FENCE_ASYNC;
        SYNC;
        UNROLL for (int i = 0; i < MI; i++) {
            WGMMA_FENCE;
            UNROLL for (int x = 0; x < STEPS; x++) {
                PRODUCT(1, 0, x > 0);
                PRODUCT(0, 1, 1);
                PRODUCT(0, 0, 1);
            }
            WGMMA_COMMIT;
            if (i == 0) {
                if (s + AHEAD < count)
                    LOAD(write);
                COMMIT;
            }
            WGMMA_WAIT;
            UNROLL for (int x = 0; x < NR; x++) TOUCH(part[x]);
            UNROLL for (int x = 0; x < NR; x++) sum[i][x] += part[x];
        }
        read = read + 1 == STAGES ? 0 : read + 1;
        write = write + 1 == STAGES ? 0 : write + 1;
    }

    /* Sum 4 j + 2 h + e of block i: row lane / 4 + 8 h of the warp's 16, column 8 j + 2 (lane % 4) + e. */
    const int3 here = nv_tile(m, n);
    const int  over = here.y + (lane & 3) * 2;
    UNROLL for (int i = 0; i < MI; i++)
        UNROLL for (int h = 0; h < 2; h++) {
            const int     row = here.x + (wg * MI + i) * 64 + (t >> 5 & 3) * 16 + h * 8 + (lane >> 2);
            const float   f = as_float((words[a_exponents + row] + 127) << 23);
            global float *to = c + c_start + (long)row * c_ld + over;
            UNROLL for (int j = 0; j < BN / 8; j++) {
                const uint2  e = *(global const uint2 *)(words + b_exponents + over + j * 8);
                const float2 s = (float2)(sum[i][j * 4 + h * 2] * f * as_float((e.x + 127) << 23),
                                          sum[i][j * 4 + h * 2 + 1] * f * as_float((e.y + 127) << 23));
#if LOOSE
                nv_put1(to + j * 8, row < m && over + j * 8 < n, s.x, alpha, beta);
                nv_put1(to + j * 8 + 1, row < m && over + j * 8 + 1 < n, s.y, alpha, beta);
#else
                nv_put2(to + j * 8, row < m && over + j * 8 < n, s, alpha, beta);
#endif
            }
        }
}
