/* SPDX-License-Identifier: MIT
 *
 * nv_wgmma_f32.cl: f32 products by Hopper's wgmma on tf32 operands, one product (SPLIT 0) or three ("3xtf32", SPLIT 1).
 *
 * Mathematics   wgmma takes tf32 from local memory only with k adjacent, so the transposed product is computed,
 *               C' = B' · A': A by descriptor, B' from registers, where each lane reads what it needs of B.
 *   SPLIT 1     x = hi + lo, hi the 11 leading bits (the unit ignores the others), lo = x - hi exact; the unit adds
 *               lo·hi + hi·lo + hi·hi. The units' sums round toward zero: each slice of BK starts from zero and is added
 *               to f32 sums. A work-item that then holds a sum that is not finite computes all of its elements again
 *               by a chain of f32 fma: what has an infinity, a NaN or an overflow in it comes out as from a plain loop,
 *               slowly.
 *   SPLIT 0     x rounded to 11 bits, to nearest, ties away; sums stay in the unit. Infinities and NaN keep their kind.
 * Index space   see nv_common.cl; groups of 128 · WGS · WAYS work-items
 * Macros        BM 16, 32, 64, 128 rows of C; BN = 64 · MI · WGS columns; BK 16 or 32; STAGES slices in local memory, AHEAD =
 *               STAGES - 1 of them under way; WGS warpgroups side by side, each MI (1 or 2) blocks of 64 columns;
 *               WAYS sets of warpgroups that share k, added in order at the end (a deterministic split of k in one
 *               launch); SPLIT; LONG (k is at least 1024); TA, TB, LOOSE, FULL; GUARD 1: only tiles (128 by
 *               128) whose flags forbid planes, see nv_split.cl
 * Local memory  WAYS · (STAGES · 4 · BK · (BM + BN) + SPLIT · 8 · BM · BK) bytes, static
 * Host          sm_90a; LOOSE 0: starts, strides and adjacent extents of A (TA 0), B (TB 0) and C are multiples of 16 bytes
 * Range         elements below 2^-115 in size keep 2^-136 of absolute precision
 */
#define NR      (BM / 2)    /* sums of a block in a work-item */
#define WAY     (STAGES * STAGE + SPLIT * 2 * A_BYTES)
#define STRIP_LD (16 * MI + 4) /* floats between rows of a warp's strip of sums: no two of a store in one bank (LOOSE) */
#if BN != 64 * MI * WGS
#error "BN"
#endif

/* Which of the unit's patterns A lies in. */
#define SWIZZLE_MODE (BK == 32 ? 1 : 2)
#define SWIZZLE_B    SWIZZLE_WIDE

#if BM == 128
#define WGMMA(d, a0, a1, a2, a3, at, add)                                                                             \
    asm volatile(WGMMA_ON "{.reg .pred p;setp.ne.s32 p,%69,0;wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {"  \
                 R16_0 "," R16_1 "," R16_2 "," R16_3 "},{%64,%65,%66,%67},%68,p,1,1;}"                                \
                 : F64_(d, 0) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(at), "r"(add))
#elif BM == 64
#define WGMMA(d, a0, a1, a2, a3, at, add)                                                                             \
    asm volatile(WGMMA_ON "{.reg .pred p;setp.ne.s32 p,%37,0;wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {"   \
                 R16_0 "," R16_1 "},{%32,%33,%34,%35},%36,p,1,1;}"                                                    \
                 : F32(d, 0) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(at), "r"(add))
#elif BM == 16
#define WGMMA(d, a0, a1, a2, a3, at, add)                                                                             \
    asm volatile(WGMMA_ON "{.reg .pred p;setp.ne.s32 p,%13,0;wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32 {"   \
                 R8_0 "},{%8,%9,%10,%11},%12,p,1,1;}"                                                                 \
                 : F8(d, 0) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(at), "r"(add))
#else
#define WGMMA(d, a0, a1, a2, a3, at, add)                                                                             \
    asm volatile(WGMMA_ON "{.reg .pred p;setp.ne.s32 p,%21,0;wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 {"   \
                 R16_0 "},{%16,%17,%18,%19},%20,p,1,1;}"                                                              \
                 : F16(d, 0) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(at), "r"(add))
#endif

/* The unit cuts words to their leading 11 bits. A's high part is the word itself, so that its low part may be 2^-10 of
 * it: that one is rounded. B's high part is rounded, its low part at most 2^-11 of it; it is what carries a NaN. LONG:
 * nothing is rounded; a product is then right to 2^-18.4, which a sum of 1024 may be. */
#define CUT(x)     ((x)&0xffffe000u)
#define LOW(x, hi) as_uint(as_float(x) - as_float(hi))
#if LONG
#define LOW_A(x)  LOW(x, CUT(x))
#define HIGH_B(x) CUT(x)
#else
#define LOW_A(x)  (LOW(x, CUT(x)) + 0x1000u)
#define HIGH_B(x) CUT((x) + 0x1000u)
#endif
static uint nearest(uint x)
{
    uint y;
    asm("cvt.rna.tf32.f32 %0,%1;" : "=r"(y) : "f"(as_float(x)));
    return y;
}

/* SPLIT 0: A is rounded on its way where 16 bytes are copied at a time, through registers, one slice further ahead than
 * B; else in place, when its slice is about to be used. */
#define HELD (!SPLIT && !TA && !LOOSE)
#if HELD
#undef COPY_ALL_A
#define COPY_ALL_A(stage)                                                                                             \
    UNROLL for (int i = 0; i < A_COPIES; i++)                                                                         \
    {                                                                                                                 \
        STS4(base + (stage)*STAGE + A_TO(i), nearest(held[i].x), nearest(held[i].y), nearest(held[i].z),              \
             nearest(held[i].w));                                                                                     \
    }
#define HOLD                                                                                                   \
    UNROLL for (int i = 0; i < A_COPIES; i++)                                                                         \
        held[i] = a_row < rows - A_DOWN(i) && a_col < left ? *(global const uint4 *)A_FROM(i) : (uint4)(0)
#else
#define HOLD
#endif

#if WAYS > 1
#define WAY_SYNC asm volatile("bar.sync %0,%1;" ::"r"(way + 1), "r"(THREADS) : "memory")
#else
#define WAY_SYNC SYNC
#endif

__attribute__((reqd_work_group_size(THREADS * WAYS, 1, 1)))
#if GUARD
kernel void nv_wgmma_f32(NV_ARGUMENTS(float, float, float), global const uint *words, int a_flags, int b_flags)
#else
kernel void nv_wgmma_f32(NV_ARGUMENTS(float, float, float))
#endif
{
    NV_UNPACK;
    local uint4 memory[WAYS * WAY / 16] __attribute__((aligned(1024)));
    const int  way = WAYS > 1 ? get_local_id(0) / THREADS : 0;
    const uint t = get_local_id(0) % THREADS;
    const int  lane = t & 31, warp = t >> 5, group = lane >> 2, quad = lane & 3;
    const int3 tile = nv_tile(m, n);
#if GUARD
    if (!nv_guard((local uint *)memory, words + a_flags + tile.x, words + b_flags + tile.y))
        return;
#endif
    const uint base = (uint)(ulong)memory + way * WAY, lows = base + STAGES * STAGE;
    const int  slices = (k + BK - 1) / BK, first = slices * way / WAYS, count = slices * (way + 1) / WAYS - first;
    const int  rows = m - tile.x, cols = n - tile.y;
    int        left = min(k, (first + count) * BK) - first * BK; /* of k, from the next slice to copy */

    const int  a_row = A_ROW, a_col = A_COL, b_row = B_ROW, b_col = B_COL;
    const uint a_to = A_AT(a_row, a_col), b_to = B_AT(b_row, b_col);
    global const float *pa = a + a_start + nv_batch(tile.z, inner, a_batch) + (long)(tile.x + a_row) * A_NEXT + (long)(first * BK + a_col) * A_STEP;
    global const float *pb = b + b_start + nv_batch(tile.z, inner, b_batch) + (long)(tile.y + b_col) * B_NEXT + (long)(first * BK + b_row) * B_STEP;

#if HELD
    uint4 held[A_COPIES];
#endif
    HOLD;
    _Pragma("unroll 1") for (int s = 0; s < AHEAD; s++)
    {
        if (s < count)
            LOAD(s);
        COMMIT;
        HOLD;
    }

    float sum[MI][NR];
    UNROLL for (int i = 0; i < MI; i++)
        UNROLL for (int x = 0; x < NR; x++) sum[i][x] = 0;
#if SPLIT
    float part[NR];
    UNROLL for (int x = 0; x < NR; x++) part[x] = 0;
#endif
    const ulong shape = (ulong)SWIZZLE_MODE << 62 | (ulong)(8 * BK * 4 / 16) << 32 | 1u << 16;
    /* This lane's columns of row `quad` of B: 2 MI adjacent ones, at the fragment's rows group and group + 8. */
    const uint from_b = base + A_BYTES + B_AT(quad, warp * 16 * MI + group * 2 * MI);
    int read = 0, write = AHEAD;
    for (int s = 0; s < count; s++) {
        WAIT;
#if SPLIT
        const uint low = lows + (s & 1) * A_BYTES;
        UNROLL for (int i = 0; i < A_COPIES; i++) { /* what this work-item has copied itself: no barrier yet */
            const uint at = A_TO(i);
#if !TA && !LOOSE
            uint v0, v1, v2, v3;
            LDS4(v0, v1, v2, v3, base + read * STAGE + at);
            STS4(low + at, LOW_A(v0), LOW_A(v1), LOW_A(v2), LOW_A(v3));
#else
            uint v0;
            LDS1(v0, base + read * STAGE + at);
            STS1(low + at, LOW_A(v0));
#endif
        }
#elif !HELD
        UNROLL for (int i = 0; i < A_COPIES; i++) {
            const uint at = base + read * STAGE + A_TO(i);
            uint       v0;
            LDS1(v0, at);
            STS1(at, nearest(v0));
        }
#endif
        FENCE_ASYNC;
        WAY_SYNC;
        uint word[STEPS][2][MI * 2]; /* step, k or k + 4, column: block · 2 + (fragment's row group or group + 8) */
        UNROLL for (int x = 0; x < STEPS; x++)
            UNROLL for (int y = 0; y < 2; y++)
#if MI == 2
                LDS4(word[x][y][0], word[x][y][1], word[x][y][2], word[x][y][3], from_b + read * STAGE + (x * 8 + y * 4) * (BN * 4));
#else
                LDS2(word[x][y][0], word[x][y][1], from_b + read * STAGE + (x * 8 + y * 4) * (BN * 4));
#endif
        const uint at = (base + read * STAGE) >> 4;
#if SPLIT
        UNROLL for (int i = 0; i < MI; i++) {
            uint hi[STEPS][4], lo[STEPS][4];
            UNROLL for (int x = 0; x < STEPS; x++)
                UNROLL for (int z = 0; z < 4; z++) {
                    const uint v = word[x][z / 2][i * 2 + z % 2];
                    hi[x][z] = HIGH_B(v);
                    lo[x][z] = LOW(v, hi[x][z]);
                }
            WGMMA_FENCE;
            UNROLL for (int x = 0; x < STEPS; x++) {
                WGMMA(part, lo[x][0], lo[x][1], lo[x][2], lo[x][3], shape | (at + x * 2), x > 0);
                WGMMA(part, hi[x][0], hi[x][1], hi[x][2], hi[x][3], shape | ((low >> 4) + x * 2), 1);
                WGMMA(part, hi[x][0], hi[x][1], hi[x][2], hi[x][3], shape | (at + x * 2), 1);
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
#else
        UNROLL for (int x = 0; x < STEPS; x++)
            UNROLL for (int y = 0; y < 2; y++)
                UNROLL for (int z = 0; z < MI * 2; z++) word[x][y][z] = nearest(word[x][y][z]);
        WGMMA_FENCE;
        UNROLL for (int x = 0; x < STEPS; x++)
            UNROLL for (int i = 0; i < MI; i++)
                WGMMA(sum[i], word[x][0][i * 2], word[x][0][i * 2 + 1], word[x][1][i * 2], word[x][1][i * 2 + 1], shape | (at + x * 2), 1);
        WGMMA_COMMIT;
        if (s + AHEAD < count)
            LOAD(write);
        COMMIT;
        HOLD;
        WGMMA_WAIT;
#endif
        read = read + 1 == STAGES ? 0 : read + 1;
        write = write + 1 == STAGES ? 0 : write + 1;
    }
    UNROLL for (int i = 0; i < MI; i++)
        UNROLL for (int x = 0; x < NR; x++) TOUCH(sum[i][x]);

#if WAYS > 1
    local float *other = (local float *)memory;
    SYNC;
    if (way > 0)
        UNROLL for (int i = 0; i < MI; i++)
            UNROLL for (int x = 0; x < NR; x++) other[((way - 1) * MI * NR + i * NR + x) * THREADS + t] = sum[i][x];
    SYNC;
    if (way > 0)
        return;
    for (int w = 0; w < WAYS - 1; w++)
        UNROLL for (int i = 0; i < MI; i++)
            UNROLL for (int x = 0; x < NR; x++) sum[i][x] += other[(w * MI * NR + i * NR + x) * THREADS + t];
#endif

    /* Sum 4 j + 2 h + e of block i: row 8 j + 2 quad + e, column h + 2 i after this lane's first. */
    const int column = warp * 16 * MI + group * 2 * MI;
    const int3 here = nv_tile(m, n); /* again, so that nothing of it was held in registers */
    c += c_start + nv_batch(here.z, inner, c_batch) + (long)here.x * c_ld + here.y;
#if LOOSE
    WAY_SYNC; /* the slices are used up: see `strip` */
    uint odd = 0; /* lanes with a sum that is not finite: they have stored theirs by themselves */
#endif
#if SPLIT
    float4 check = 0; /* NaN where a sum is not finite */
    UNROLL for (int i = 0; i < MI; i++)
        UNROLL for (int x = 0; x < NR; x += 4)
            check = fma((float4)(sum[i][x], sum[i][x + 1], sum[i][x + 2], sum[i][x + 3]), (float4)(0), check);
    check.x += check.y + check.z + check.w;
#if LOOSE
    odd = nv_which(check.x != check.x);
#endif
    if (check.x != check.x) {
        _Pragma("unroll 1") for (int x = 0; x < NR * MI; x++)
        {
            const int row = x / (4 * MI) * 8 + quad * 2 + x % 2, col = column + x / 2 % (2 * MI);
            if (row >= m - here.x || col >= n - here.y)
                continue;
            nv_chain(a + a_start + nv_batch(here.z, inner, a_batch) + (long)(here.x + row) * A_NEXT, A_STEP,
                     b + b_start + nv_batch(here.z, inner, b_batch) + (long)(here.y + col) * B_NEXT, B_STEP, k,
                     c + (long)row * c_ld + col, alpha, beta);
        }
#if !LOOSE
        return;
#endif
    }
#endif
#define SUM(x) sum[(x) / 2][j * 4 + (x) % 2 * 2 + e]
#if LOOSE /* through local memory, 8 rows at a time: lanes store side by side what lies side by side */
    local float  *strip = (local float *)memory + warp * (2 * 8 * STRIP_LD);
    const int     first_row = lane / (16 * MI), col = lane % (16 * MI), below = m - here.x - first_row;
    const int     within = warp * 16 * MI + col < n - here.y;
    const uint    mask = odd >> (col / (2 * MI) * 4);
    global float *to = c + (long)first_row * c_ld + warp * 16 * MI + col;
    UNROLL for (int j = 0; j < BM / 8; j++) {
        local float *eight = strip + (j & 1) * 8 * STRIP_LD, *mine = eight + first_row * STRIP_LD + col;
        UNROLL for (int e = 0; e < 2; e++)
#if MI == 2
            *(local float4 *)(eight + (quad * 2 + e) * STRIP_LD + group * 4) = (float4)(SUM(0), SUM(1), SUM(2), SUM(3));
#else
            *(local float2 *)(eight + (quad * 2 + e) * STRIP_LD + group * 2) = (float2)(SUM(0), SUM(1));
#endif
        WARP_SYNC;
        UNROLL for (int x = 0; x < 4 * MI; x++) { /* row x · 2 / MI + lane / (16 MI) of the eight, of quad x / MI */
            nv_put1(to, j * 8 + x * 2 / MI < below && within && !(mask >> (x / MI) & 1), mine[x * 2 / MI * STRIP_LD], alpha, beta);
            to += 2 / MI * (long)c_ld;
        }
    }
#else
    UNROLL for (int j = 0; j < BM / 8; j++)
        UNROLL for (int e = 0; e < 2; e++) {
            const int     row = j * 8 + quad * 2 + e;
            global float *to = c + (long)row * c_ld + column;
#if MI == 2
            nv_put4(to, WITHIN(row < m - here.x && column < n - here.y), (float4)(SUM(0), SUM(1), SUM(2), SUM(3)), alpha, beta);
#else
            nv_put2(to, WITHIN(row < m - here.x && column < n - here.y), (float2)(SUM(0), SUM(1)), alpha, beta);
#endif
        }
#endif
}
