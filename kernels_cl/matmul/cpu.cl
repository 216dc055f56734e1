/* SPDX-License-Identifier: MIT
 *
 * cpu.cl: C := alpha A B + beta C for f32 in one launch without barriers, for devices whose work-item is a thread.
 *
 * Mathematics   k in equal blocks of at most `kc`. Within a block each element is one fma chain over p ascending from
 *               zero; the block's sum s goes to C:  first block  beta == 0: alpha * s (C is not read), else
 *               fma(alpha, s, beta * c);  later blocks  fma(alpha, s, c).
 * Index space   work-groups of one work-item. Group (x, y, z) owns columns x*bn … and rows y*bm … of products z,
 *               z + Z, …: for each block of k, for each panel of NR = 16*NV columns, tiles of MR rows whose MR x NV
 *               sums stay in registers. A is read where it lies, an element of A is a broadcast.
 * Macros        MR, NV   register tile: MR rows of NV vectors; MR*NV + NV + 1 vector registers should exist
 *               TA       0: columns of A adjacent, 1: rows of A adjacent
 *               TB       0: columns of B adjacent, 1: rows of B adjacent
 *               PACK     1: each panel of B is copied to local memory first; TB = 1 implies it. 0: full vectors of B
 *               are read in place, only the ragged last vector of a row is copied
 * Local memory  `scratch`: kc * (PACK ? NR : 16) floats
 * Host          kc >= 1: a panel of kc x NR of B should stay in the second-level cache; an argument and not a macro,
 *               so that rows that differ in it share a program. lda, ldb, ldc: the stride, in elements, of the
 *               direction that is not adjacent; bm a multiple of MR, bn of 16. Product z is (z / inner, z % inner) of
 *               the two batch strides of each matrix. k_slice > 0 splits along k: product z takes k_slice of k from
 *               (z % inner) * k_slice, and the inner strides of A and B step from slice to slice.
 * No work-item reads or writes an element outside A, B and C: rows past the end repeat the last row.
 */
#ifndef MR
#define MR 6
#endif
#ifndef NV
#define NV 4
#endif
#ifndef TA
#define TA 0
#endif
#ifndef TB
#define TB 0
#endif
#ifndef PACK
#define PACK TB
#endif
#define NR     (16 * NV)
#define SMALL  ((MR + 1) / 2) /* rows of the tile for what is left of the rows */
#define UNROLL _Pragma("unroll")

#if TA
#define A_ROW  1
#define A_STEP lda
#else
#define A_ROW  lda
#define A_STEP 1
#endif

/* The sums of a tile to C: whole vectors, or through memory where the last vector is ragged. */
#define SAVE_WHOLE(R, V)                                                                                              \
    UNROLL for (int i = 0; i < R; i++) if (i < rows) UNROLL for (int v = 0; v < V; v++)                               \
    {                                                                                                                 \
        global float *to = c + i * ldc + 16 * v;                                                                      \
        vstore16(beta == 0 ? alpha * s[i][v] : fma((float16)(alpha), s[i][v], beta * vload16(0, to)), 0, to);         \
    }
#define SAVE_RAGGED(R, V)                                                                                             \
    float each[R][16 * V];                                                                                            \
    UNROLL for (int i = 0; i < R; i++) UNROLL for (int v = 0; v < V; v++) vstore16(s[i][v], v, each[i]);              \
    for (int i = 0; i < rows; i++)                                                                                    \
        for (int j = 0; j < cols; j++) {                                                                              \
            global float *to = c + i * ldc + j;                                                                       \
            *to = beta == 0 ? alpha * each[i][j] : fma(alpha, each[i][j], beta * *to);                                \
        }
#define SAVE_EITHER(R, V)                                                                                             \
    if (cols >= 16 * V) {                                                                                             \
        SAVE_WHOLE(R, V)                                                                                              \
    } else {                                                                                                          \
        SAVE_RAGGED(R, V)                                                                                             \
    }

/* A register tile: `rows` (at most R) rows of V vectors, of which `cols` columns are stored. */
#define TILE(name, R, V, SPACE, SAVE)                                                                                 \
    static void name(global const float *restrict a, long lda, SPACE const float *restrict b, long b_row,             \
                     global float *restrict c, long ldc, int kc, int rows, int cols, float alpha, float beta)         \
    {                                                                                                                 \
        global const float *row[R];                                                                                   \
        float16             s[R][V];                                                                                  \
        UNROLL for (int i = 0; i < R; i++)                                                                            \
        {                                                                                                             \
            row[i] = a + min(i, rows - 1) * A_ROW;                                                                    \
            UNROLL for (int v = 0; v < V; v++) s[i][v] = 0;                                                           \
        }                                                                                                             \
        for (int p = 0; p < kc; p++, b += b_row) {                                                                    \
            float16 bv[V];                                                                                            \
            UNROLL for (int v = 0; v < V; v++) bv[v] = vload16(v, b);                                                 \
            UNROLL for (int i = 0; i < R; i++)                                                                        \
            {                                                                                                         \
                const float16 x = row[i][p * A_STEP];                                                                 \
                UNROLL for (int v = 0; v < V; v++) s[i][v] = fma(x, bv[v], s[i][v]);                                  \
            }                                                                                                         \
        }                                                                                                             \
        SAVE(R, V)                                                                                                    \
    }

/* All rows i0 … i1 - 1 of one panel, V vectors wide. `c` is the panel's first column in row 0. */
#define PANEL(name, V, SPACE, SAVE)                                                                                   \
    TILE(name##_tile, MR, V, SPACE, SAVE)                                                                             \
    TILE(name##_small, SMALL, V, SPACE, SAVE)                                                                         \
    static void name(global const float *a, long lda, SPACE const float *b, long b_row, global float *c, long ldc,    \
                     int i0, int i1, int kc, int cols, float alpha, float beta)                                       \
    {                                                                                                                 \
        for (int i = i0; i < i1; i += MR) {                                                                           \
            const int rows = min(MR, i1 - i);                                                                         \
            if (rows > SMALL)                                                                                         \
                name##_tile(a + i * (long)A_ROW, lda, b, b_row, c + i * ldc, ldc, kc, rows, cols, alpha, beta);       \
            else                                                                                                      \
                name##_small(a + i * (long)A_ROW, lda, b, b_row, c + i * ldc, ldc, kc, rows, cols, alpha, beta);      \
        }                                                                                                             \
    }

#if PACK
#define B_SPACE local
#define SAVE    SAVE_EITHER
#else
#define B_SPACE global
#define SAVE    SAVE_WHOLE
PANEL(ragged, 1, local, SAVE_RAGGED)
#endif
PANEL(panel1, 1, B_SPACE, SAVE)
#if NV >= 2
PANEL(panel2, 2, B_SPACE, SAVE)
#endif
#if NV >= 3
PANEL(panel3, 3, B_SPACE, SAVE)
#endif
#if NV >= 4
PANEL(panel4, 4, B_SPACE, SAVE)
#endif

static void panel(int vectors, global const float *a, long lda, B_SPACE const float *b, long b_row, global float *c,
                  long ldc, int i0, int i1, int kc, int cols, float alpha, float beta)
{
    switch (vectors) {
    case 1: panel1(a, lda, b, b_row, c, ldc, i0, i1, kc, cols, alpha, beta); break;
#if NV >= 2
    case 2: panel2(a, lda, b, b_row, c, ldc, i0, i1, kc, cols, alpha, beta); break;
#endif
#if NV >= 3
    case 3: panel3(a, lda, b, b_row, c, ldc, i0, i1, kc, cols, alpha, beta); break;
#endif
#if NV >= 4
    case 4: panel4(a, lda, b, b_row, c, ldc, i0, i1, kc, cols, alpha, beta); break;
#endif
    }
}

#if TB
/* The two halves of x and y interleaved; four rounds of it over 16 vectors transpose 16 x 16 elements. */
#define ZIP_LOW(x, y)                                                                                                 \
    (float16)(x.s0, y.s0, x.s1, y.s1, x.s2, y.s2, x.s3, y.s3, x.s4, y.s4, x.s5, y.s5, x.s6, y.s6, x.s7, y.s7)
#define ZIP_HIGH(x, y)                                                                                                \
    (float16)(x.s8, y.s8, x.s9, y.s9, x.sa, y.sa, x.sb, y.sb, x.sc, y.sc, x.sd, y.sd, x.se, y.se, x.sf, y.sf)

static void transpose16(global const float *from, long from_row, local float *to, long to_row)
{
    float16 r[16], t[16];
    UNROLL for (int i = 0; i < 16; i++) r[i] = vload16(0, from + i * from_row);
    UNROLL for (int round = 0; round < 4; round++)
    {
        UNROLL for (int i = 0; i < 8; i++)
        {
            t[2 * i] = ZIP_LOW(r[i], r[i + 8]);
            t[2 * i + 1] = ZIP_HIGH(r[i], r[i + 8]);
        }
        UNROLL for (int i = 0; i < 16; i++) r[i] = t[i];
    }
    UNROLL for (int i = 0; i < 16; i++) vstore16(r[i], 0, to + i * to_row);
}
#define B_AT(p, j) b[(j) * ldb + (p)]
#else
#define B_AT(p, j) b[(p) * ldb + (j)]
#endif

/* kc rows of up to 16 columns of B to local memory, columns past the end as zeros. */
static void pack16(global const float *b, long ldb, local float *to, long to_row, int kc, int cols)
{
    int p = 0;
    if (cols >= 16) {
#if TB
        for (; p + 16 <= kc; p += 16)
            transpose16(b + p, ldb, to + p * to_row, to_row);
#else
        for (; p < kc; p++)
            vstore16(vload16(0, b + p * ldb), 0, to + p * to_row);
#endif
    }
    for (; p < kc; p++)
        for (int j = 0; j < 16; j++)
            to[p * to_row + j] = j < cols ? B_AT(p, j) : 0.0f;
}

/* One block of k: C rows i0 … i1 - 1, columns j0 … j1 - 1. `a` and `b` are at the block's first k. */
static void block(global const float *a, long lda, global const float *b, long ldb, global float *c, long ldc, int i0,
                  int i1, int j0, int j1, int kc, float alpha, float beta, local float *scratch)
{
    for (int j = j0; j < j1; j += NR) {
        const int cols = min(NR, j1 - j), whole = cols / 16, rest = cols % 16;
#if PACK
        const int vectors = whole + (rest != 0);
        for (int v = 0; v < vectors; v++)
            pack16(&B_AT(0, j + 16 * v), ldb, scratch + 16 * v, 16 * vectors, kc, cols - 16 * v);
        panel(vectors, a, lda, scratch, 16 * vectors, c + j, ldc, i0, i1, kc, cols, alpha, beta);
#else
        panel(whole, a, lda, b + j, ldb, c + j, ldc, i0, i1, kc, 16 * whole, alpha, beta);
        if (rest) {
            pack16(b + j + 16 * whole, ldb, scratch, 16, kc, rest);
            ragged(a, lda, scratch, 16, c + j + 16 * whole, ldc, i0, i1, kc, rest, alpha, beta);
        }
#endif
    }
}

__attribute__((reqd_work_group_size(1, 1, 1))) kernel void
cpu_matmul(global const float *restrict a, ulong a_start, global const float *restrict b, ulong b_start,
           global float *restrict c, ulong c_start, int m, int n, int k, long lda, long ldb, long ldc, long2 a_batch,
           long2 b_batch, long2 c_batch, int batches, int inner, int k_slice, float alpha, float beta, int bm, int bn,
           int kc, local float *restrict scratch)
{
    const int i0 = get_group_id(1) * bm, i1 = min(m, i0 + bm);
    const int j0 = get_group_id(0) * bn, j1 = min(n, j0 + bn);
    for (int z = get_group_id(2); z < batches; z += get_num_groups(2)) {
        const long outer_z = z / inner, inner_z = z % inner;
        global const float *az = a + a_start + outer_z * a_batch.s0 + inner_z * a_batch.s1;
        global const float *bz = b + b_start + outer_z * b_batch.s0 + inner_z * b_batch.s1;
        global float       *cz = c + c_start + outer_z * c_batch.s0 + inner_z * c_batch.s1;
        const int kz = k_slice > 0 ? min(k_slice, k - (int)inner_z * k_slice) : k;
        const int blocks = max(1, (kz + kc - 1) / kc), step = (kz + blocks - 1) / blocks;
        int       p = 0;
        do {
            block(az + p * (long)A_STEP, lda, &(bz[TB ? p : p * ldb]), ldb, cz, ldc, i0, i1, j0, j1,
                  min(step, kz - p), alpha, p ? 1.0f : beta, scratch);
            p += step;
        } while (p < kz);
    }
}
