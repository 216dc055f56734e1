/* SPDX-License-Identifier: MIT
 *
 * nv_wgmma_f16.cl: f16 or bf16 products with f32 sums by Hopper's wgmma.
 *
 * Mathematics   both tiles by descriptor, in whichever direction they lie: nothing is transposed. PROMOTE 0: sums stay in
 *               the unit, which rounds them toward zero. PROMOTE 1: each slice of BK starts from zero and is added to f32
 *               sums.
 * Index space   see nv_common.cl; groups of 128 · WGS work-items
 * Macros        BM = 64 · MI · WGS rows, BN 64, 128 or 256 columns; BK 32 or 64; STAGES slices in local memory, AHEAD =
 *               STAGES - 1 of them under way; WGS warpgroups, one under another, each MI blocks of 64 rows; PROMOTE; BF16 1:
 *               A and B are bf16, else f16; OUT 1: C is f32, 3 f16, 4 bf16; TA, TB, LOOSE, FULL
 * Local memory  STAGES · 2 · BK · (BM + BN) bytes, static
 * Host          sm_90a; LOOSE 0: starts, strides and the adjacent extents of A, B and C are multiples of 16 bytes; LOOSE 1: any,
 *               or with PADDED those of C
 */
#define MI      (BM / 64 / WGS)
#define NR      (BN / 2)

#define SHAPE_BY_K    ((ulong)SWIZZLE_MODE << 62 | (ulong)(8 * BK * 2 / 16) << 32 | 1u << 16)
#define SHAPE_ACROSS  ((ulong)1 << 62 | (ulong)(1024 / 16) << 32 | (BK * 128 / 16) << 16)
#if TA
#define SHAPE_A    SHAPE_ACROSS
#define A_BLOCK(i) ((i) * (BK * 128)) /* bytes to 64 rows further on */
#define A_ADVANCE  2048               /* bytes to 16 k further on */
#else
#define SHAPE_A    SHAPE_BY_K
#define A_BLOCK(i) ((i) * 64 * (BK * 2))
#define A_ADVANCE  32
#endif
#if TB
#define SHAPE_B   SHAPE_BY_K
#define B_ADVANCE 32
#else
#define SHAPE_B   SHAPE_ACROSS
#define B_ADVANCE 2048
#endif
#define TURNS TEXT(TA) "," TURN_B
#if TB
#define TURN_B "0"
#else
#define TURN_B "1"
#endif
#if BN == 64
#define WGMMA(d, da, db, add)                                                                                         \
    asm volatile(WGMMA_ON "{.reg .pred p;setp.ne.s32 p,%34,0;wgmma.mma_async.sync.aligned.m64n64k16.f32." TYPES " {"  \
                 R16_0 "," R16_1 "},%32,%33,p,1,1," TURNS ";}" : F32(d, 0) : "l"(da), "l"(db), "r"(add))
#elif BN == 128
#define WGMMA(d, da, db, add)                                                                                         \
    asm volatile(WGMMA_ON "{.reg .pred p;setp.ne.s32 p,%66,0;wgmma.mma_async.sync.aligned.m64n128k16.f32." TYPES " {" \
                 R16_0 "," R16_1 "," R16_2 "," R16_3 "},%64,%65,p,1,1," TURNS ";}"                                    \
                 : F64_(d, 0) : "l"(da), "l"(db), "r"(add))
#else
#define WGMMA(d, da, db, add)                                                                                         \
    asm volatile(WGMMA_ON "{.reg .pred p;setp.ne.s32 p,%130,0;wgmma.mma_async.sync.aligned.m64n256k16.f32." TYPES     \
                 " {" R16_0 "," R16_1 "," R16_2 "," R16_3 "," R16_4 "," R16_5 "," R16_6 "," R16_7                     \
                 "},%128,%129,p,1,1," TURNS ";}" : F64_(d, 0), F64_(d, 64) : "l"(da), "l"(db), "r"(add))
#endif

/* Descriptors of step x of the slice at `read`. */
#define FACTOR_A(i, x) (SHAPE_A | (at_a + (read * STAGE + A_BLOCK(i) + (x)*A_ADVANCE) / 16))
#define FACTOR_B(x)    (SHAPE_B | (at_b + (read * STAGE + (x)*B_ADVANCE) / 16))

__attribute__((reqd_work_group_size(THREADS, 1, 1)))
kernel void nv_wgmma_f16(NV_ARGUMENTS(ushort, ushort, RESULT))
{
    local uint4 memory[STAGES * STAGE / 16] __attribute__((aligned(1024)));
    const uint base = (uint)(ulong)memory;
    const uint t = get_local_id(0);
    const int  lane = t & 31, wg = t >> 7;
    const int3 tile = nv_tile(m, n);
    const int  rows = m - tile.x, cols = n - tile.y, count = (k + BK - 1) / BK;
    int        left = k; /* of k, from the next slice to copy */

    a += a_start + nv_batch(tile.z, inner, a_batch);
    b += b_start + nv_batch(tile.z, inner, b_batch);
    c += c_start + nv_batch(tile.z, inner, c_batch);
    const int  a_x = A_X, a_y = A_Y, b_x = B_X, b_y = B_Y;
    const uint a_to = A_AT(a_y, a_x), b_to = B_AT(b_y, b_x);
    global const ushort *pa = a + A_FIRST, *pb = b + B_FIRST;
    _Pragma("unroll 1") for (int s = 0; s < AHEAD; s++)
    {
        if (s < count)
            LOAD(s);
        COMMIT;
    }

    float sum[MI][NR];
    UNROLL for (int i = 0; i < MI; i++)
        UNROLL for (int x = 0; x < NR; x++) sum[i][x] = 0;
#if PROMOTE
    float part[NR];
    UNROLL for (int x = 0; x < NR; x++) part[x] = 0;
#endif
    const uint at_a = (base + A_BLOCK(wg * MI)) >> 4, at_b = (base + A_BYTES) >> 4;
    int        read = 0, write = AHEAD;
    for (int s = 0; s < count; s++) {
        WAIT;
        FENCE_ASYNC;
        SYNC;
#if PROMOTE
        UNROLL for (int i = 0; i < MI; i++) {
            WGMMA_FENCE;
            UNROLL for (int x = 0; x < STEPS; x++) WGMMA(part, FACTOR_A(i, x), FACTOR_B(x), x > 0);
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
#else
        WGMMA_FENCE;
        UNROLL for (int x = 0; x < STEPS; x++)
            UNROLL for (int i = 0; i < MI; i++)
                WGMMA(sum[i], FACTOR_A(i, x), FACTOR_B(x), 1);
        WGMMA_COMMIT;
        if (s + AHEAD < count)
            LOAD(write);
        COMMIT;
        WGMMA_WAIT;
#endif
        read = read + 1 == STAGES ? 0 : read + 1;
        write = write + 1 == STAGES ? 0 : write + 1;
    }
    UNROLL for (int i = 0; i < MI; i++)
        UNROLL for (int x = 0; x < NR; x++) TOUCH(sum[i][x]);

    /* Sum 4 j + 2 h + e of block i: row lane / 4 + 8 h of the warp's 16, column 8 j + 2 (lane % 4) + e. */
    c += (long)(m - rows) * c_ld + (n - cols);
#if LOOSE
    SYNC; /* the slices are used up: strips lie there */
    local float *strip = (local float *)memory + (t >> 5) * (STRIP_BYTES / 4);
#endif
    UNROLL for (int i = 0; i < MI; i++)
        UNROLL for (int h = 0; h < 2; h++) {
            const int first = (wg * MI + i) * 64 + (t >> 5 & 3) * 16 + h * 8;
#if LOOSE
            put_strip(strip, c + (long)first * c_ld, c_ld, rows - first, cols, BN, sum[i] + h * 2, alpha, beta);
#else
            const int      row = first + (lane >> 2), over = (lane & 3) * 2;
            global RESULT *to = c + (long)row * c_ld + over;
#define SUMS (float2)(sum[i][j * 4 + h * 2], sum[i][j * 4 + h * 2 + 1])
            UNROLL for (int j = 0; j < BN / 8; j++)
                finish(to + j * 8, FULL ? 8 : row < rows ? cols - over - j * 8 : 0, SUMS, alpha, beta);
#endif
        }
}
