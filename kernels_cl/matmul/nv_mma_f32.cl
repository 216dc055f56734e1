/* SPDX-License-Identifier: MIT
 *
 * nv_mma_f32.cl: f32 products on tf32 operands by mma.sync m16n8k8, from plain source: no retargeting, sm_80 and later.
 *
 * Mathematics   SPLIT 1 ("3xtf32"): x = hi + lo, hi rounded to 11 bits, lo = x - hi; the units add lo·hi + hi·lo + hi·hi.
 *               Their sums round toward zero: each slice of BK starts from zero and is added to f32 sums. A work-item
 *               that then holds a sum that is not finite computes its elements again by a chain of f32 fma.
 *               SPLIT 0: operands rounded to 11 bits, sums stay in the units.
 * Index space   see nv_common.cl; groups of BM · BN / (WM · WN) warps
 * Macros        BM, BN, BK (16 or 32): tile; WM, WN (32 or 64): of a warp; STAGES slices in local memory, AHEAD =
 *               STAGES - 1 of them under way; SPLIT; TA, TB, LOOSE, FULL
 * Local memory  STAGES · 4 · BK · (BM + BN) bytes, static
 * Host          LOOSE 0: starts, strides and adjacent extents of A (TA 0), B (TB 0) and C are multiples of 16 bytes
 * Range         as in nv_wgmma_f32.cl
 */
#define MT (WM / 16)
#define NT (WN / 8)
#if WN == 64
#define SWIZZLE_B SWIZZLE_SPREAD
#else
#define SWIZZLE_B SWIZZLE_WIDE
#endif

/* A is read by ldmatrix: a row of one of its 8 × 8 matrices of b16 is 4 floats, and a lane gets one word, which is just
 * the fragment. It cannot turn words, so the columns of a warp's NT fragments of B are interleaved: column g of fragment
 * j is column g · NT + j, and a lane reads its NT columns of one k as vectors. */
#define LOAD_MATRIX(r, at)                                                                                            \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"                                       \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at))
#define MMA(d, x, y)                                                                                                  \
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"       \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                              \
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]))

#if SPLIT
#define NEAREST(x)  (((x) + 0x1000u) & 0xffffe000u)
#define REST(x, hi) as_uint(as_float(x) - as_float(hi))
#else
static uint nearest(uint x)
{
    uint y;
    asm("cvt.rna.tf32.f32 %0,%1;" : "=r"(y) : "f"(as_float(x)));
    return y;
}
#define NEAREST(x) nearest(x)
#endif

__attribute__((reqd_work_group_size(THREADS, 1, 1)))
kernel void nv_mma_f32(NV_ARGUMENTS(float, float, float))
{
    local uint4 memory[STAGES * STAGE / 16] __attribute__((aligned(128)));
    const uint  base = (uint)(ulong)memory;
    const uint  t = get_local_id(0);
    const int   lane = t & 31, warp = t >> 5, group = lane >> 2, quad = lane & 3;
    const int   down = warp / (BN / WN) * WM, over = warp % (BN / WN) * WN;
    const int3  tile = nv_tile(m, n);
    const int   rows = m - tile.x, cols = n - tile.y, count = (k + BK - 1) / BK;
    int         left = k; /* of k, from the next slice to copy */

    a += a_start + nv_batch(tile.z, inner, a_batch);
    b += b_start + nv_batch(tile.z, inner, b_batch);
    c += c_start + nv_batch(tile.z, inner, c_batch);
    const int  a_row = A_ROW, a_col = A_COL, b_row = B_ROW, b_col = B_COL;
    const uint a_to = A_AT(a_row, a_col), b_to = B_AT(b_row, b_col);
    global const float *pa = a + (long)(tile.x + a_row) * A_NEXT + (long)a_col * A_STEP;
    global const float *pb = b + (long)(tile.y + b_col) * B_NEXT + (long)b_row * B_STEP;
    _Pragma("unroll 1") for (int s = 0; s < AHEAD; s++)
    {
        if (s < count)
            LOAD(s);
        COMMIT;
    }

    const uint from_a = base + (down + (lane & 15)) * (BK * 4), turn_a = ((lane >> 4) ^ SWIZZLE_A(lane & 15)) << 4;
    const uint from_b = base + A_BYTES + quad * (BN * 4);
    const uint turn_b0 = ((over / 4 + group * (NT / 4)) ^ SWIZZLE_B(quad)) << 4;
    const uint turn_b1 = ((over / 4 + group * (NT / 4) + 1) ^ SWIZZLE_B(quad)) << 4;
    float      sum[MT][NT][4];
    UNROLL for (int i = 0; i < MT; i++)
        UNROLL for (int j = 0; j < NT; j++)
            UNROLL for (int x = 0; x < 4; x++) sum[i][j][x] = 0;
    int read = 0, write = AHEAD;
    for (int s = 0; s < count; s++) {
        WAIT;
        SYNC;
        if (s + AHEAD < count)
            LOAD(write);
        COMMIT;
#if SPLIT
        float part[MT][NT][4];
        UNROLL for (int i = 0; i < MT; i++)
            UNROLL for (int j = 0; j < NT; j++)
                UNROLL for (int x = 0; x < 4; x++) part[i][j][x] = 0;
#endif
        UNROLL for (int y = 0; y < STEPS; y++) {
            uint xa[MT][4], xb[NT][2];
            UNROLL for (int i = 0; i < MT; i++) LOAD_MATRIX(xa[i], from_a + read * STAGE + i * 16 * (BK * 4) + (turn_a ^ (y << 5)));
            UNROLL for (int x = 0; x < 2; x++) {
                const uint at = from_b + read * STAGE + (y * 8 + x * 4) * (BN * 4);
                LDS4(xb[0][x], xb[1][x], xb[2][x], xb[3][x], at + turn_b0);
#if NT == 8
                LDS4(xb[4][x], xb[5][x], xb[6][x], xb[7][x], at + turn_b1);
#endif
            }
            uint ha[MT][4], hb[NT][2];
            UNROLL for (int i = 0; i < MT; i++)
                UNROLL for (int x = 0; x < 4; x++) ha[i][x] = NEAREST(xa[i][x]);
            UNROLL for (int j = 0; j < NT; j++)
                UNROLL for (int x = 0; x < 2; x++) hb[j][x] = NEAREST(xb[j][x]);
#if SPLIT
            uint la[MT][4], lb[NT][2];
            UNROLL for (int i = 0; i < MT; i++)
                UNROLL for (int x = 0; x < 4; x++) la[i][x] = REST(xa[i][x], ha[i][x]);
            UNROLL for (int j = 0; j < NT; j++)
                UNROLL for (int x = 0; x < 2; x++) lb[j][x] = REST(xb[j][x], hb[j][x]);
            UNROLL for (int i = 0; i < MT; i++)
                UNROLL for (int j = 0; j < NT; j++) {
                    MMA(part[i][j], la[i], hb[j]);
                    MMA(part[i][j], ha[i], lb[j]);
                    MMA(part[i][j], ha[i], hb[j]);
                }
#else
            UNROLL for (int i = 0; i < MT; i++)
                UNROLL for (int j = 0; j < NT; j++) MMA(sum[i][j], ha[i], hb[j]);
#endif
        }
#if SPLIT
        UNROLL for (int i = 0; i < MT; i++)
            UNROLL for (int j = 0; j < NT; j++)
                UNROLL for (int x = 0; x < 4; x++) sum[i][j][x] += part[i][j][x];
#endif
        read = read + 1 == STAGES ? 0 : read + 1;
        write = write + 1 == STAGES ? 0 : write + 1;
    }

    /* Sum x of fragment (i, j): row 16 i + group + 8 (x / 2), column (2 quad + x % 2) · NT + j of the warp's tile. */
    c += (long)tile.x * c_ld + tile.y;
#if SPLIT
    float4 check = 0; /* NaN where a sum is not finite */
    UNROLL for (int i = 0; i < MT; i++)
        UNROLL for (int j = 0; j < NT; j++)
            check = fma((float4)(sum[i][j][0], sum[i][j][1], sum[i][j][2], sum[i][j][3]), (float4)(0), check);
    check.x += check.y + check.z + check.w;
    if (check.x != check.x) {
        _Pragma("unroll 1") for (int x = 0; x < MT * NT * 4; x++)
        {
            const int row = down + x / (NT * 4) * 16 + group + x / (NT * 2) % 2 * 8;
            const int col = over + quad * 2 * NT + x % (NT * 2);
            if (row < rows && col < cols)
                nv_chain(a + (long)(tile.x + row) * A_NEXT, A_STEP, b + (long)(tile.y + col) * B_NEXT, B_STEP, k,
                         c + (long)row * c_ld + col, alpha, beta);
        }
        return;
    }
#endif
    UNROLL for (int i = 0; i < MT; i++)
        UNROLL for (int x = 0; x < 4; x++) {
            const int     row = down + i * 16 + group + x / 2 * 8, column = over + (quad * 2 + x % 2) * NT;
            global float *to = c + (long)row * c_ld + column;
            UNROLL for (int j = 0; j < NT; j += 4) {
#if LOOSE
                UNROLL for (int y = 0; y < 4; y++)
                    nv_put1(to + j + y, WITHIN(row < rows && column + j + y < cols), sum[i][j + y][x], alpha, beta);
#else
                nv_put4(to + j, WITHIN(row < rows && column + j < cols),
                        (float4)(sum[i][j][x], sum[i][j + 1][x], sum[i][j + 2][x], sum[i][j + 3][x]), alpha, beta);
#endif
            }
        }
}
