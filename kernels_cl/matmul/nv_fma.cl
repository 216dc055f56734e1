/* SPDX-License-Identifier: MIT
 *
 * nv_fma.cl: f32 products by plain fma, in the fallback's order of summation: what numerics STRICT asks for.
 *
 * Mathematics   s = 0; for p = 0 … k - 1: s = fma(a(i,p), b(p,j), s), one chain per element; then as naive.cl:
 *               beta == 0:  c = alpha · s, C is not read;  else  c = fma(alpha, s, beta · c)
 *               A slice that is cut short is summed only as far as it goes, so that no chain meets the zeros behind it
 *               (they would turn a -0 into +0).
 * Index space   see nv_common.cl; groups of BM · BN / (TM · TN) work-items
 * Macros        BM, BN, BK 16: tile; TM, TN: of a work-item, multiples of 4; the 32 lanes of a warp as LM × LN;
 *               STAGES slices in local memory, AHEAD = STAGES - 1 of them under way; TA, TB, LOOSE, FULL
 *               PAD, PAD_B: floats between rows of A's and B's tile, by default what keeps turning stores in different
 *               banks
 * Local memory  STAGES · 4 · BK · (BM + PAD + BN + PAD_B) bytes, static; PAD and PAD_B at most 8
 * Host          sm_80 (cp.async); LOOSE 0: starts, strides and adjacent extents of A, B (TB 0) and C are multiples of 16 bytes
 */
#ifndef LM
#define LM 8
#define LN 4
#endif
#define WM      (LM * TM)
#define WN      (LN * TN)
#ifndef PAD
#define PAD (TA ? 0 : LOOSE ? 8 : 4) /* so that turning stores meet 32 banks */
#endif
#define LDA     (BM + PAD)
#ifndef PAD_B
#define PAD_B (TB ? 8 : 0)
#endif
#define LDB     (BN + PAD_B)
#define STAGE   (BK * (LDA + LDB)) /* floats */
#define STRIP   (LM * 4 * WN)      /* floats: of a warp's sums, what goes to C at once (LOOSE) */

#if LOOSE && THREADS / 32 * STRIP > STAGES * STAGE
#error "sums do not fit where the slices were"
#endif
#if THREADS > 2 * BM
#error "more work-items than parts of A"
#endif
/* A lies k by k in local memory. Turned through registers (16-byte loads, four stores), copied as it lies (TA), or
 * element by element. */
#define A_TURNED (!TA && !LOOSE)
#if A_TURNED
#define A_COPIES  (BM * BK / 4 / THREADS)
#define A_ROW     (t >> 1)
#define A_COL     ((t & 1) * 4)
#define A_DOWN(i) ((i) * (THREADS / 2) % BM)
#define A_OVER(i) ((i) * (THREADS / 2) / BM * 8)
#elif TA && !LOOSE
#define A_COPIES  (BM * BK / 4 / THREADS)
#define A_ROW     (t % (BM / 4) * 4)
#define A_COL     (t / (BM / 4))
#define A_DOWN(i) 0
#define A_OVER(i) ((i) * (THREADS * 4 / BM))
#elif TA
#define A_COPIES  (BM * BK / THREADS)
#define A_ROW     (t % BM)
#define A_COL     (t / BM)
#define A_DOWN(i) (BM > THREADS ? (i) * THREADS % BM : 0)
#define A_OVER(i) (BM > THREADS ? (i) * THREADS / BM : (i) * (THREADS / BM))
#else /* a warp takes 8 rows by 4 columns */
#define A_COPIES  (BM * BK / THREADS)
#define A_ROW     (t / 32 * 8 + t % 8)
#define A_COL     (t / 8 % 4)
#define A_DOWN(i) ((i) * (THREADS / 32) % (BM / 8) * 8)
#define A_OVER(i) ((i) * (THREADS / 32) / (BM / 8) * 4)
#endif
#if !TB && !LOOSE
#define B_COPIES  (BK * BN / 4 / THREADS)
#define B_ROW     (t / (BN / 4))
#define B_COL     (t % (BN / 4) * 4)
#define B_DOWN(i) ((i) * (THREADS * 4 / BN))
#define B_OVER(i) 0
#elif !TB
#define B_COPIES  (BK * BN / THREADS)
#define B_ROW     (t / BN)
#define B_COL     (t % BN)
#define B_DOWN(i) (BN > THREADS ? (i) * THREADS / BN : (i) * (THREADS / BN))
#define B_OVER(i) (BN > THREADS ? (i) * THREADS % BN : 0)
#else
#define B_COPIES  (BK * BN / THREADS)
#define B_ROW     (t / 8 % 4)
#define B_COL     (t / 32 * 8 + t % 8)
#define B_DOWN(i) ((i) * (THREADS / 32) / (BN / 8) * 4)
#define B_OVER(i) ((i) * (THREADS / 32) % (BN / 8) * 8)
#endif
#define A_STEP    (TA ? a_ld : 1)
#define A_NEXT    (TA ? 1 : a_ld)
#define B_STEP    (TB ? 1 : b_ld)
#define B_NEXT    (TB ? b_ld : 1)
#define A_FROM(i) (pa + (long)A_DOWN(i) * A_NEXT + (long)A_OVER(i) * A_STEP)
#define B_FROM(i) (pb + (long)B_DOWN(i) * B_STEP + (long)B_OVER(i) * B_NEXT)
#define A_TO(i)   (base + a_to + ((A_OVER(i)) * LDA + A_DOWN(i)) * 4)
#define B_TO(i)   (base + b_to + ((B_DOWN(i)) * LDB + B_OVER(i)) * 4)

#if A_TURNED
#define COPY_A(stage)
/* Rows beyond m and chunks beyond k are read from the last there is: they are never summed or stored. */
#if FULL
#define GET_A(i) held[i] = *(global const float4 *)A_FROM(i)
#else
#define GET_A(i)                                                                                                      \
    held[i] = *(global const float4 *)(pa + (long)(min(A_DOWN(i), last_row)) * a_ld + min(A_OVER(i), left - 4 - a_col))
#endif
#define PUT_A(i, stage)                                                                                               \
    {                                                                                                                 \
        local float *into = memory + (stage)*STAGE + (a_col + A_OVER(i)) * LDA + a_row + A_DOWN(i);                   \
        into[0] = held[i].x, into[LDA] = held[i].y, into[2 * LDA] = held[i].z, into[3 * LDA] = held[i].w;             \
    }
#elif TA && !LOOSE
#define COPY_A(stage)                                                                                                 \
    UNROLL for (int i = 0; i < A_COPIES; i++)                                                                         \
        COPY16(A_TO(i) + (stage)*STAGE * 4, A_FROM(i), a_col < left - A_OVER(i) && a_row < rows)
#else
#define COPY_A(stage)                                                                                                 \
    UNROLL for (int i = 0; i < A_COPIES; i++)                                                                         \
        COPY4(A_TO(i) + (stage)*STAGE * 4, A_FROM(i), a_row < rows - A_DOWN(i) && a_col < left - A_OVER(i))
#endif
#if !TB && !LOOSE
#define COPY_B(stage)                                                                                                 \
    UNROLL for (int i = 0; i < B_COPIES; i++)                                                                         \
        COPY16(B_TO(i) + (stage)*STAGE * 4, B_FROM(i), b_row < left - B_DOWN(i) && b_col < cols)
#else
#define COPY_B(stage)                                                                                                 \
    UNROLL for (int i = 0; i < B_COPIES; i++)                                                                         \
        COPY4(B_TO(i) + (stage)*STAGE * 4, B_FROM(i), b_row < left - B_DOWN(i) && b_col < cols - B_OVER(i))
#endif
#define LOAD(stage)                                                                                                   \
    {                                                                                                                 \
        COPY_A(stage);                                                                                                \
        COPY_B(stage);                                                                                                \
        pb += (long)BK * B_STEP;                                                                                      \
    }
/* The factors of one k, and the tile's sums; to and fro, so that every fma shares an operand with the one before. */
#define READ(to, stage, kk)                                                                                           \
    {                                                                                                                 \
        UNROLL for (int i = 0; i < TM / 4; i++)                                                                       \
        {                                                                                                             \
            const float4 v = *(local const float4 *)(as + (stage)*STAGE + (kk)*LDA + i * LM * 4);                     \
            fa[to][i * 4] = v.x, fa[to][i * 4 + 1] = v.y, fa[to][i * 4 + 2] = v.z, fa[to][i * 4 + 3] = v.w;           \
        }                                                                                                             \
        UNROLL for (int j = 0; j < TN / 4; j++)                                                                       \
        {                                                                                                             \
            const float4 v = *(local const float4 *)(bs + (stage)*STAGE + (kk)*LDB + j * LN * 4);                     \
            fb[to][j * 4] = v.x, fb[to][j * 4 + 1] = v.y, fb[to][j * 4 + 2] = v.z, fb[to][j * 4 + 3] = v.w;           \
        }                                                                                                             \
    }
#define ADD(from)                                                                                                     \
    UNROLL for (int i = 0; i < TM; i++)                                                                               \
        UNROLL for (int jj = 0; jj < TN; jj++)                                                                        \
        {                                                                                                             \
            const int j = i & 1 ? TN - 1 - jj : jj;                                                                   \
            sum[i][j] = fma(fa[from][i], fb[from][j], sum[i][j]);                                                     \
        }

__attribute__((reqd_work_group_size(THREADS, 1, 1)))
kernel void nv_fma(NV_ARGUMENTS(float, float, float))
{
    NV_UNPACK;
    local float4  memory4[STAGES * STAGE / 4];
    local float  *memory = (local float *)memory4;
    const uint    base = (uint)(ulong)memory4;
    const uint    t = get_local_id(0);
    const int     lane = t & 31, warp = t >> 5, down = warp / (BN / WN) * WM + lane / LN * 4, over = warp % (BN / WN) * WN + lane % LN * 4;
    const int3    tile = nv_tile(m, n);
    const int     rows = m - tile.x, cols = n - tile.y;

    const int  a_row = A_ROW, a_col = A_COL, b_row = B_ROW, b_col = B_COL;
    const uint a_to = (a_col * LDA + a_row) * 4, b_to = (BK * LDA + b_row * LDB + b_col) * 4;
#if A_TURNED
    const int last_row = max(m - 1 - tile.x - a_row, 0);
    const int row = min(tile.x + a_row, m - 1);
#else
    const int row = tile.x + a_row;
#endif
    global const float *pa = a + a_start + nv_batch(tile.z, inner, a_batch) + (long)row * A_NEXT + (long)a_col * A_STEP;
    global const float *pb = b + b_start + nv_batch(tile.z, inner, b_batch) + (long)(tile.y + b_col) * B_NEXT + (long)b_row * B_STEP;
#if A_TURNED
    float4 held[A_COPIES];
#endif
    UNROLL for (int s = 0; s < AHEAD; s++) {
        const int left = k - s * BK;
        if (left > 0) {
            LOAD(s);
#if A_TURNED
            UNROLL for (int i = 0; i < A_COPIES; i++) {
                GET_A(i);
                PUT_A(i, s);
            }
#endif
            pa += (long)BK * A_STEP;
        }
        COMMIT;
    }
    float sum[TM][TN], fa[2][TM], fb[2][TN];
    UNROLL for (int i = 0; i < TM; i++)
        UNROLL for (int j = 0; j < TN; j++) sum[i][j] = 0;
    local const float *as = memory + down, *bs = memory + BK * LDA + over;
    int read = 0, write = AHEAD, rest = k; /* of k, from slice `read` */

    WAIT;
    SYNC;
    READ(0, 0, 0);
    while (rest >= BK) {
        const int to = STAGES == 2 ? !read : write, left = rest - AHEAD * BK; /* the slice that is loaded meanwhile */
        if (left > 0) {
#if A_TURNED
            UNROLL for (int i = 0; i < A_COPIES; i++) GET_A(i);
#endif
            LOAD(to);
        }
        COMMIT;
        rest -= BK;
        if (STAGES > 2)
            write = write + 1 == STAGES ? 0 : write + 1;
        UNROLL for (int x = 0; x < BK; x++) {
#if A_TURNED
            if (x == BK - 2 && left > 0)
                UNROLL for (int i = 0; i < A_COPIES; i++) PUT_A(i, to);
#endif
            if (x == BK - 1) { /* the next slice: wait for it, then read its first factors early */
                WAIT;
                SYNC;
                read = read + 1 == STAGES ? 0 : read + 1;
                READ((x + 1) & 1, read, 0);
            } else
                READ((x + 1) & 1, read, x + 1);
            ADD(x & 1);
        }
        pa += (long)BK * A_STEP;
    }
    for (int x = 0; x < rest; x++) {
        READ(0, read, x);
        ADD(0);
    }

    const int3 here = nv_tile(m, n);
    c += c_start + nv_batch(here.z, inner, c_batch) + (long)here.x * c_ld + here.y;
#if LOOSE
    /* Through local memory: a warp's lanes store side by side what lies side by side. */
    local float *strip = memory + warp * STRIP;
    const int    above = warp / (BN / WN) * WM, before = warp % (BN / WN) * WN;
    SYNC;
    UNROLL for (int i = 0; i < TM; i += 4) {
        UNROLL for (int y = 0; y < 4; y++)
            UNROLL for (int j = 0; j < TN; j += 4)
                *(local float4 *)(strip + (lane / LN * 4 + y) * WN + lane % LN * 4 + j * LN) =
                    (float4)(sum[i + y][j], sum[i + y][j + 1], sum[i + y][j + 2], sum[i + y][j + 3]);
        WARP_SYNC;
        _Pragma("unroll 8") for (int x = 0; x < STRIP / 32; x++)
        {
            const int     at = x * 32 + lane, row = above + i * LM + at / WN, column = before + at % WN;
            global float *to = c + (long)row * c_ld + column;
            const float   s = strip[at];
            if (row < m - here.x && column < n - here.y)
                *to = beta == 0 ? alpha * s : fma(alpha, s, beta * *to);
        }
        WARP_SYNC;
    }
#else
    UNROLL for (int i = 0; i < TM; i++) {
        const int row = down + i / 4 * LM * 4 + i % 4;
        if (!WITHIN(row < m - here.x))
            continue;
        UNROLL for (int j = 0; j < TN; j += 4) {
            const int     column = over + j * LN;
            global float *to = c + (long)row * c_ld + column;
            const float4  s = (float4)(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
            if (WITHIN(column < n - here.y))
                *(global float4 *)to = beta == 0 ? alpha * s : fma((float4)(alpha), s, beta * *(global float4 *)to);
        }
    }
#endif
}
