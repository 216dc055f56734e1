/* SPDX-License-Identifier: MIT
 *
 * nv_mma_f16.cl: f16 or bf16 products with f32 sums by mma.sync m16n8k16, from plain source: no retargeting, sm_80 and
 * later.
 *
 * Mathematics   PROMOTE 0: sums stay in the units, which round them toward zero. PROMOTE 1: each slice of BK starts from
 *               zero and is added to f32 sums.
 * Index space   see nv_common.cl; groups of BM · BN / (WM · WN) warps
 * Macros        BM, BN, BK (32 or 64): tile; WM, WN: of a warp, multiples of 16; STAGES slices in local memory, AHEAD =
 *               STAGES - 1 of them under way; PROMOTE; BF16, OUT as in nv_copy_f16.cl; TA, TB, LOOSE, FULL
 * Local memory  STAGES · 2 · BK · (BM + BN) bytes, static
 * Host          LOOSE 0: starts, strides and the adjacent extents of A, B and C are multiples of 16 bytes; LOOSE 1: any, or
 *               with PADDED those of C
 */
#define MT (WM / 16)
#define NT (WN / 8)

#define LOAD_MATRICES(how, r0, r1, r2, r3, at)                                                                        \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" how ".shared.b16 {%0,%1,%2,%3},[%4];"                                \
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(at))
#define MMA(d, x, y)                                                                                                  \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." TYPES ".f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"      \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                              \
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]))

/* Where this lane's row of the four 8 × 8 matrices lies: of fragment i of A, of fragments j and j + 1 of B, k step y. */
#if TA
#define TURN_A        ".trans"
#define A_PLACE(i, y) ACROSS((down + (i)*16) / 8 + (lane >> 3 & 1), (y)*16 + (lane & 7) + (lane >> 4) * 8)
#else
#define TURN_A        ""
#define A_PLACE(i, y) BY_K(down + (i)*16 + (lane & 15), (y)*2 + (lane >> 4))
#endif
#if TB
#define TURN_B        ""
#define B_PLACE(j, y) BY_K(over + (j)*8 + (lane & 7) + (lane >> 4) * 8, (y)*2 + (lane >> 3 & 1))
#else
#define TURN_B        ".trans"
#define B_PLACE(j, y) ACROSS((over + (j)*8) / 8 + (lane >> 4), (y)*16 + (lane & 15))
#endif

__attribute__((reqd_work_group_size(THREADS, 1, 1)))
kernel void nv_mma_f16(NV_ARGUMENTS(ushort, ushort, RESULT))
{
    local uint4 memory[STAGES * STAGE / 16] __attribute__((aligned(128)));
    const uint  base = (uint)(ulong)memory;
    const uint  t = get_local_id(0), lane = t & 31, warp = t >> 5;
    const uint  down = warp / (BN / WN) * WM, over = warp % (BN / WN) * WN;
    const int3  tile = nv_tile(m, n);
    const int   rows = m - tile.x, cols = n - tile.y, count = (k + BK - 1) / BK;
    int         left = k; /* of k, from the next slice to copy */

    a += a_start + nv_batch(tile.z, inner, a_batch);
    b += b_start + nv_batch(tile.z, inner, b_batch);
    c += c_start + nv_batch(tile.z, inner, c_batch) + (long)tile.x * c_ld + tile.y;
    const int  a_x = A_X, a_y = A_Y, b_x = B_X, b_y = B_Y;
    const uint a_to = A_AT(a_y, a_x), b_to = B_AT(b_y, b_x);
    global const ushort *pa = a + A_FIRST, *pb = b + B_FIRST;
    _Pragma("unroll 1") for (int s = 0; s < AHEAD; s++)
    {
        if (s < count)
            LOAD(s);
        COMMIT;
    }

    float sum[MT][NT][4];
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
        const uint at_a = base + read * STAGE, at_b = at_a + A_BYTES;
#if PROMOTE
        float part[MT][NT][4];
        UNROLL for (int i = 0; i < MT; i++)
            UNROLL for (int j = 0; j < NT; j++)
                UNROLL for (int x = 0; x < 4; x++) part[i][j][x] = 0;
#define INTO part
#else
#define INTO sum
#endif
        UNROLL for (int y = 0; y < STEPS; y++) {
            uint xa[MT][4], xb[NT][2];
            UNROLL for (int i = 0; i < MT; i++)
                LOAD_MATRICES(TURN_A, xa[i][0], xa[i][1], xa[i][2], xa[i][3], at_a + A_PLACE(i, y));
            UNROLL for (int j = 0; j < NT; j += 2)
                LOAD_MATRICES(TURN_B, xb[j][0], xb[j][1], xb[j + 1][0], xb[j + 1][1], at_b + B_PLACE(j, y));
            UNROLL for (int i = 0; i < MT; i++)
                UNROLL for (int j = 0; j < NT; j++) MMA(INTO[i][j], xa[i], xb[j]);
        }
#if PROMOTE
        UNROLL for (int i = 0; i < MT; i++)
            UNROLL for (int j = 0; j < NT; j++)
                UNROLL for (int x = 0; x < 4; x++) sum[i][j][x] += part[i][j][x];
#endif
        read = read + 1 == STAGES ? 0 : read + 1;
        write = write + 1 == STAGES ? 0 : write + 1;
    }

    /* Sum 2 h + e of fragment (i, j): row 16 i + 8 h + lane / 4, column 8 j + 2 (lane % 4) + e of the warp's tile. */
#if LOOSE
    SYNC; /* the slices are used up: strips lie there */
    local float *strip = (local float *)memory + warp * (STRIP_BYTES / 4);
#endif
    UNROLL for (int i = 0; i < MT; i++)
        UNROLL for (int h = 0; h < 2; h++) {
#if LOOSE
            const int first = down + i * 16 + h * 8;
            put_strip(strip, c + (long)first * c_ld + over, c_ld, rows - first, cols - (int)over, WN, sum[i][0] + h * 2, alpha,
                      beta);
#else
            const int      row = down + i * 16 + h * 8 + (lane >> 2), first = over + (lane & 3) * 2;
            global RESULT *to = c + (long)row * c_ld + first;
#define SUMS (float2)(sum[i][j][h * 2], sum[i][j][h * 2 + 1])
            UNROLL for (int j = 0; j < NT; j++)
                finish(to + j * 8, FULL ? 8 : row < rows ? cols - first - j * 8 : 0, SUMS, alpha, beta);
#endif
        }
}
