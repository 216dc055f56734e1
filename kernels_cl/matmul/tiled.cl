/* SPDX-License-Identifier: MIT
 *
 * tiled.cl: C := alpha A B + beta C for f32 with tiles staged in local memory, for devices with fast local memory.
 *
 * Mathematics   each element is one fma chain s over p ascending from zero (slices of BK are padded with zeros);
 *               c = fma(alpha, s, beta == 0 ? 0 : beta * c): C is not read where beta is 0
 * Index space   work-groups of THREADS = (BM/TM)*(BN/TN) work-items in one dimension. Group (x, y, z) computes the
 *               BM x BN tile at column x*BN, row y*BM of products z, z + Z, …; Z groups in dimension 2. A work-item
 *               computes TM adjacent rows and TN/4 vectors of 4 columns, BN/(TN/4) apart, so that neighbours read
 *               neighbouring vectors.
 * Macros        BM, BN, BK   tile of the group, multiples of 4     TM, TN   tile of a work-item, multiples of 4
 *               TA   0: columns of A adjacent, 1: rows of A adjacent;   TB   the same for B
 * Local memory  `pool`: BK*(BM + 4) + BK*(BN + 4) floats. Both slices lie with k outermost; 4 floats of padding keep
 *               the transposing writes off each other's banks.
 * Host          lda, ldb, ldc: the stride, in elements, of the direction that is not adjacent. Bit 0, 1, 2 of
 *               `aligned`: starts, strides and batch strides of A, B, C are multiples of 16 bytes.
 *               Product z is (z / inner, z % inner) of the two batch strides of each matrix. k_slice > 0 splits along
 *               k: product z takes k_slice of k from (z % inner) * k_slice, and the inner strides of A and B step
 *               from slice to slice.
 * Edges for every m, n and k are handled here; nothing outside A, B and C is read or written.
 */
#ifndef BM
#define BM 64
#define BN 64
#define BK 16
#define TM 4
#define TN 4
#endif
#ifndef TA
#define TA 0
#endif
#ifndef TB
#define TB 0
#endif
#define ACROSS  (BN / TN) /* work-items along a row of the tile */
#define THREADS ((BM / TM) * ACROSS)
#define A_PITCH (BM + 4)
#define B_PITCH (BN + 4)
#define UNROLL  _Pragma("unroll")

/* Four adjacent elements, of which `valid` exist; zeros for the others. Without known alignment a vector load is four
 * loads anyway. */
static float4 fetch(global const float *from, int valid, int aligned)
{
    if (aligned && valid >= 4)
        return *(global const float4 *)from;
    return (float4)(valid > 0 ? from[0] : 0.0f, valid > 1 ? from[1] : 0.0f, valid > 2 ? from[2] : 0.0f,
                    valid > 3 ? from[3] : 0.0f);
}

/* Copies LINES lines of WIDTH adjacent elements, `ld` apart, as they lie or transposed; zeros past the ends. */
#define STAGE(name, LINES, WIDTH, PITCH, TRANSPOSED)                                                                  \
    static void name(local float *to, global const float *from, long ld, int lines, int width, int aligned)           \
    {                                                                                                                 \
        for (int v = get_local_id(0); v < LINES * WIDTH / 4; v += THREADS) {                                          \
            const int    line = v / (WIDTH / 4), at = 4 * (v % (WIDTH / 4));                                          \
            const float4 x = fetch(from + line * ld + at, line < lines ? width - at : 0, aligned);                    \
            if (TRANSPOSED) {                                                                                         \
                to[(at + 0) * PITCH + line] = x.s0;                                                                   \
                to[(at + 1) * PITCH + line] = x.s1;                                                                   \
                to[(at + 2) * PITCH + line] = x.s2;                                                                   \
                to[(at + 3) * PITCH + line] = x.s3;                                                                   \
            } else                                                                                                    \
                *(local float4 *)(to + line * PITCH + at) = x;                                                        \
        }                                                                                                             \
    }

#if TA
STAGE(stage_a, BK, BM, A_PITCH, 0)
#define STAGE_A(p) stage_a(as, az + p * lda + i0, lda, kz - p, m - i0, aligned & 1)
#else
STAGE(stage_a, BM, BK, A_PITCH, 1)
#define STAGE_A(p) stage_a(as, az + i0 * lda + p, lda, m - i0, kz - p, aligned & 1)
#endif
#if TB
STAGE(stage_b, BN, BK, B_PITCH, 1)
#define STAGE_B(p) stage_b(bs, bz + j0 * ldb + p, ldb, n - j0, kz - p, aligned & 2)
#else
STAGE(stage_b, BK, BN, B_PITCH, 0)
#define STAGE_B(p) stage_b(bs, bz + p * ldb + j0, ldb, kz - p, n - j0, aligned & 2)
#endif

/* Four adjacent sums to C, of which `valid` have a place there. Edges go element by element. */
static void put(float4 s, global float *c, int valid, int aligned, float alpha, float beta)
{
    if (aligned && valid >= 4) {
        const float4 old = beta == 0 ? (float4)(0) : *(global float4 *)c;
        *(global float4 *)c = fma((float4)(alpha), s, beta * old);
        return;
    }
    for (int x = 0; x < min(valid, 4); x++) {
        c[x] = fma(alpha, s.s0, beta == 0 ? 0.0f : beta * c[x]);
        s = s.s1230;
    }
}

__attribute__((reqd_work_group_size(THREADS, 1, 1))) kernel void
tiled_matmul(global const float *restrict a, ulong a_start, global const float *restrict b, ulong b_start,
             global float *restrict c, ulong c_start, int m, int n, int k, long lda, long ldb, long ldc,
             long2 a_batch, long2 b_batch, long2 c_batch, int batches, int inner, int k_slice, float alpha, float beta,
             int aligned, local float4 *pool)
{
    local float *as = (local float *)pool, *bs = as + BK * A_PITCH;
    const int    i0 = get_group_id(1) * BM, j0 = get_group_id(0) * BN;
    const int    row = (get_local_id(0) / ACROSS) * TM, col = (get_local_id(0) % ACROSS) * 4;

    for (int z = get_group_id(2); z < batches; z += get_num_groups(2)) {
        const long outer_z = z / inner, inner_z = z % inner;
        global const float *az = a + a_start + outer_z * a_batch.s0 + inner_z * a_batch.s1;
        global const float *bz = b + b_start + outer_z * b_batch.s0 + inner_z * b_batch.s1;
        global float       *cz = c + c_start + outer_z * c_batch.s0 + inner_z * c_batch.s1;
        const int kz = k_slice > 0 ? min(k_slice, k - (int)inner_z * k_slice) : k;
        float4    s[TM][TN / 4];
        UNROLL for (int i = 0; i < TM; i++) UNROLL for (int v = 0; v < TN / 4; v++) s[i][v] = 0;

        for (int p = 0; p < kz; p += BK) {
            STAGE_A(p);
            STAGE_B(p);
            barrier(CLK_LOCAL_MEM_FENCE);
            _Pragma("unroll 4") for (int q = 0; q < BK; q++)
            {
                float  x[TM];
                float4 y[TN / 4];
                UNROLL for (int i = 0; i < TM; i += 4) vstore4(*(local float4 *)(as + q * A_PITCH + row + i), 0, x + i);
                UNROLL for (int v = 0; v < TN / 4; v++) y[v] = *(local float4 *)(bs + q * B_PITCH + col + v * 4 * ACROSS);
                UNROLL for (int i = 0; i < TM; i++)
                    UNROLL for (int v = 0; v < TN / 4; v++) s[i][v] = fma((float4)(x[i]), y[v], s[i][v]);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        UNROLL for (int i = 0; i < TM; i++) if (i0 + row + i < m) UNROLL for (int v = 0; v < TN / 4; v++)
        {
            const int j = j0 + col + v * 4 * ACROSS;
            put(s[i][v], cz + (i0 + row + i) * ldc + j, n - j, aligned & 4, alpha, beta);
        }
    }
}
