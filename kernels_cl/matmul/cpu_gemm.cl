/* SPDX-License-Identifier: MIT
 *
 * cpu_gemm.cl: C := alpha A B + beta C in one launch without barriers, for devices whose work-item is a thread.
 *
 * Mathematics   k in equal blocks of at most `kc`. Within a block each element is one fma chain over p ascending from
 *               zero; the block's sum s goes to C:  first block  beta == 0: alpha * s (C is not read), else
 *               fma(alpha, s, beta * c);  later blocks  fma(alpha, s, c). One block is naive.cl's order, bit for bit.
 * Index space   work-groups of one work-item. Group (x, y, z) owns columns x*bn … and rows y*bm … of `run` products
 *               from z*run on: for each block of k, for each panel of NR = W*NV columns, tiles of MR rows whose MR x NV
 *               sums stay in registers. An element of A is a broadcast.
 * Macros        F64      double instead of float; a vector is W = 8 elements instead of 16, 64 bytes in both
 *               MR, NV   register tile: MR rows of NV vectors; MR*NV + NV + 1 vector registers should exist
 *               TA       0: columns of A adjacent, 1: rows of A adjacent
 *               TB       0: columns of B adjacent, 1: rows of B adjacent
 *               PACK_A   1: A is copied to local memory, BM rows of a block at a time, row by row (TA = 0) or MR rows
 *                        interleaved (TA = 1). 0: A is read where it lies
 *               ROWS, LINES   of PACK_A: BM is ROWS rounded down to tiles; cache lines from one packed row to the next, an
 *                        odd number: kc and some padding
 *               PACK_B   1: each panel of B is copied to local memory first; TB = 1 implies it. 0: full vectors of B
 *                        are read in place, only the ragged last vector of a row is copied
 * Local memory  `scratch`: kc * (PACK_B ? NR : W) elements and, with PACK_A, BM * LINES * W more
 * Host          kc >= 1, with PACK_A at most LINES * W: a panel of kc x NR of B should stay in the second-level cache; an
 *               argument and not a macro, so that rows that differ in it share a program. lda, ldb, ldc: the stride, in
 *               elements, of the direction that is not adjacent; bm a multiple of MR, bn of W. Product z is
 *               (z / inner, z % inner) of the two batch strides of each matrix. k_slice > 0 splits along k: product z
 *               takes k_slice of k from (z % inner) * k_slice, and the inner strides of A and B step from slice to slice.
 * No work-item reads or writes an element outside A, B and C: rows past the end repeat the last row.
 */
#pragma OPENCL FP_CONTRACT OFF

#ifdef F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double  REAL;
typedef double8 VEC;
#define W     8
#define LOAD  vload8
#define STORE vstore8
#else
typedef float   REAL;
typedef float16 VEC;
#define W     16
#define LOAD  vload16
#define STORE vstore16
#endif
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
#ifndef PACK_A
#define PACK_A 0
#endif
#ifndef PACK_B
#define PACK_B TB
#endif
#ifndef ROWS
#define ROWS 264
#endif
#ifndef LINES
#define LINES 25
#endif
#define NR     (W * NV)
#define SMALL  ((MR + 1) / 2)   /* rows of the tile for what is left of the rows */
#define BM     (ROWS / MR * MR) /* rows of A that are packed at a time */
#define LDP    (LINES * W)      /* stride of a packed row */
#define UNROLL _Pragma("unroll")

/* Element (i, p) of A is at i * A_ROW + p * A_STEP of its block; of a packed one with TA, i counts within MR rows. */
#if PACK_A
#define A_SPACE local
#define A_ROW   (TA ? 1L : LDP)
#define A_STEP  (TA ? MR : 1)
#else
#define A_SPACE global
#define A_ROW   (TA ? 1L : lda)
#define A_STEP  (TA ? lda : 1L)
#endif
#define A_AT(i, p) a[TA ? (p) * lda + (i) : (i) * lda + (p)]
#define B_AT(p, j) b[TB ? (j) * ldb + (p) : (p) * ldb + (j)]

/* The sums of a tile to C: whole vectors, or through memory where the last vector is ragged. */
#define SAVE_WHOLE(R, V)                                                                                              \
    UNROLL for (int i = 0; i < R; i++) if (R == MR || i < rows) UNROLL for (int v = 0; v < V; v++)                    \
    {                                                                                                                 \
        global REAL *to = c + i * ldc + W * v;                                                                        \
        STORE(beta == 0 ? alpha * s[i][v] : fma((VEC)(alpha), s[i][v], beta * LOAD(0, to)), 0, to);                   \
    }
#define SAVE_RAGGED(R, V)                                                                                             \
    REAL each[R][W * V];                                                                                              \
    UNROLL for (int i = 0; i < R; i++) UNROLL for (int v = 0; v < V; v++) STORE(s[i][v], v, each[i]);                 \
    for (int i = 0; i < rows; i++)                                                                                    \
        for (int j = 0; j < cols; j++) {                                                                              \
            global REAL *to = c + i * ldc + j;                                                                        \
            *to = beta == 0 ? alpha * each[i][j] : fma(alpha, each[i][j], beta * *to);                                \
        }
#define SAVE_EITHER(R, V)                                                                                             \
    if (cols >= W * V) {                                                                                              \
        SAVE_WHOLE(R, V)                                                                                              \
    } else {                                                                                                          \
        SAVE_RAGGED(R, V)                                                                                             \
    }

/* PoCL's own prefetch() does nothing; what its compiler offers does. */
#ifdef POCL_DEVICE_ADDRESS_BITS
#define FETCH(from) __builtin_prefetch((const void *)(size_t)(from), 0, 2)
#else
#define FETCH(from) prefetch(from, W)
#endif

/* A register tile of V vectors: R = MR rows, or `rows` (at most R) where R is less; `cols` columns are stored. The sums
 * are long in coming: what of C they meet is brought nearer meanwhile. */
#define TILE(name, R, V, SPACE, SAVE)                                                                                 \
    static void name(A_SPACE const REAL *restrict a, long lda, SPACE const REAL *restrict b, long b_row,              \
                     global REAL *restrict c, long ldc, int kc, int rows, int cols, REAL alpha, REAL beta)            \
    {                                                                                                                 \
        VEC s[R][V];                                                                                                  \
        UNROLL for (int i = 0; i < R; i++) UNROLL for (int v = 0; v < V; v++)                                         \
        {                                                                                                             \
            s[i][v] = 0;                                                                                              \
            FETCH(c + (R == MR ? i : min(i, rows - 1)) * ldc + W * v);                                                \
        }                                                                                                             \
        for (int p = 0; p < kc; p++, a += A_STEP, b += b_row) {                                                       \
            VEC bv[V];                                                                                                \
            UNROLL for (int v = 0; v < V; v++) bv[v] = LOAD(v, b);                                                    \
            UNROLL for (int i = 0; i < R; i++)                                                                        \
            {                                                                                                         \
                const VEC x = a[(R == MR ? i : min(i, rows - 1)) * A_ROW];                                            \
                UNROLL for (int v = 0; v < V; v++) s[i][v] = fma(x, bv[v], s[i][v]);                                  \
            }                                                                                                         \
        }                                                                                                             \
        SAVE(R, V)                                                                                                    \
    }

/* Rows i0 … i1 - 1 of one panel, V vectors wide. `a` and `c` are at row i0, `c` at the panel's first column. */
#define PANEL(name, V, SPACE, SAVE)                                                                                   \
    TILE(name##_tile, MR, V, SPACE, SAVE)                                                                             \
    TILE(name##_small, SMALL, V, SPACE, SAVE)                                                                         \
    static void name(A_SPACE const REAL *a, long lda, SPACE const REAL *b, long b_row, global REAL *c, long ldc,      \
                     int rows, int kc, int cols, REAL alpha, REAL beta, struct ahead *ahead)                          \
    {                                                                                                                 \
        for (; rows >= MR; rows -= MR, c += MR * ldc) {                                                               \
            look_ahead(ahead);                                                                                        \
            name##_tile(a, lda, b, b_row, c, ldc, kc, MR, cols, alpha, beta);                                         \
            a += PACK_A && TA ? (long)MR * kc : MR * A_ROW;                                                           \
        }                                                                                                             \
        for (; rows > 0; rows -= SMALL, a += SMALL * A_ROW, c += SMALL * ldc)                                         \
            name##_small(a, lda, b, b_row, c, ldc, kc, min(rows, SMALL), cols, alpha, beta);                          \
    }

/* The panel of B that comes next is brought nearer while this one is computed, `step` of its lines before each tile. */
struct ahead {
    global const REAL *b;
    long               ldb;
    int                at, end, step;
};

static void look_ahead(struct ahead *x)
{
#if PACK_B
    const int end = min(x->at + x->step, x->end);
    for (; x->at < end; x->at++) {
#if TB
        FETCH(x->b + x->at % NR * x->ldb + x->at / NR * W);
#else
        UNROLL for (int v = 0; v < NV; v++) FETCH(x->b + x->at * x->ldb + v * W);
#endif
    }
#endif
}

#if PACK_B
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

static void panel(int vectors, A_SPACE const REAL *a, long lda, B_SPACE const REAL *b, long b_row, global REAL *c,
                  long ldc, int rows, int kc, int cols, REAL alpha, REAL beta, struct ahead *ahead)
{
    switch (vectors) {
    case 1: panel1(a, lda, b, b_row, c, ldc, rows, kc, cols, alpha, beta, ahead); break;
#if NV >= 2
    case 2: panel2(a, lda, b, b_row, c, ldc, rows, kc, cols, alpha, beta, ahead); break;
#endif
#if NV >= 3
    case 3: panel3(a, lda, b, b_row, c, ldc, rows, kc, cols, alpha, beta, ahead); break;
#endif
#if NV >= 4
    case 4: panel4(a, lda, b, b_row, c, ldc, rows, kc, cols, alpha, beta, ahead); break;
#endif
    }
}

#if TB
/* The two halves of x and y interleaved; log2(W) rounds of it over W vectors transpose W x W elements. */
#ifdef F64
#define ZIP_LOW(x, y)  (VEC)(x.s0, y.s0, x.s1, y.s1, x.s2, y.s2, x.s3, y.s3)
#define ZIP_HIGH(x, y) (VEC)(x.s4, y.s4, x.s5, y.s5, x.s6, y.s6, x.s7, y.s7)
#define ROUNDS         3
#else
#define ZIP_LOW(x, y)                                                                                                 \
    (VEC)(x.s0, y.s0, x.s1, y.s1, x.s2, y.s2, x.s3, y.s3, x.s4, y.s4, x.s5, y.s5, x.s6, y.s6, x.s7, y.s7)
#define ZIP_HIGH(x, y)                                                                                                \
    (VEC)(x.s8, y.s8, x.s9, y.s9, x.sa, y.sa, x.sb, y.sb, x.sc, y.sc, x.sd, y.sd, x.se, y.se, x.sf, y.sf)
#define ROUNDS 4
#endif

static void transpose(global const REAL *from, long from_row, local REAL *to, long to_row)
{
    VEC r[W], t[W];
    UNROLL for (int i = 0; i < W; i++) r[i] = LOAD(0, from + i * from_row);
    UNROLL for (int round = 0; round < ROUNDS; round++)
    {
        UNROLL for (int i = 0; i < W / 2; i++)
        {
            t[2 * i] = ZIP_LOW(r[i], r[i + W / 2]);
            t[2 * i + 1] = ZIP_HIGH(r[i], r[i + W / 2]);
        }
        UNROLL for (int i = 0; i < W; i++) r[i] = t[i];
    }
    UNROLL for (int i = 0; i < W; i++) STORE(r[i], 0, to + i * to_row);
}
#endif

/* kc rows of up to W columns of B to local memory, columns past the end as zeros. */
static void pack_vector(global const REAL *b, long ldb, local REAL *to, long to_row, int kc, int cols)
{
    int p = 0;
    if (cols >= W) {
#if TB
        for (; p + W <= kc; p += W)
            transpose(b + p, ldb, to + p * to_row, to_row);
#else
        for (; p < kc; p++)
            STORE(LOAD(0, b + p * ldb), 0, to + p * to_row);
#endif
    }
    for (; p < kc; p++)
        for (int j = 0; j < W; j++)
            to[p * to_row + j] = j < cols ? B_AT(p, j) : 0;
}

#if PACK_B
/* kc rows of `vectors` vectors of B to local memory, rows dense. */
static void pack_b(global const REAL *b, long ldb, local REAL *to, int vectors, int kc, int cols)
{
#if !TB
    if (cols == NR) {
        for (int p = 0; p < kc; p++, b += ldb, to += NR)
            UNROLL for (int v = 0; v < NV; v++) STORE(LOAD(v, b), v, to);
        return;
    }
#endif
    for (int v = 0; v < vectors; v++)
        pack_vector(&B_AT(0, W * v), ldb, to + W * v, W * vectors, kc, cols - W * v);
}
#endif

#if PACK_A
/* A block of A to local memory, whole tiles; what is past the last row stays zero. */
static void pack_a(global const REAL *a, long lda, local REAL *to, int rows, int kc)
{
#if TA
    for (int i = 0; i < rows; i += MR, to += (long)MR * kc)
        for (int p = 0; p < kc; p++)
            UNROLL for (int r = 0; r < MR; r++) to[p * MR + r] = i + r < rows ? a[p * lda + i + r] : 0;
#else
    for (int i = 0; i < rows; i++, a += lda, to += LDP) {
        int p = 0;
        for (; p + W <= kc; p += W)
            STORE(LOAD(0, a + p), 0, to + p);
        for (; p < kc; p++)
            to[p] = a[p];
    }
#endif
}
#endif

/* One block of k, `rows` rows and `width` columns of C. All three matrices are at their first element of it. */
static void block(global const REAL *a, long lda, global const REAL *b, long ldb, global REAL *c, long ldc, int rows,
                  int width, int kc, REAL alpha, REAL beta, local REAL *scratch)
{
#if PACK_A
    local REAL *packed = scratch;
    pack_a(a, lda, packed, rows, kc);
    scratch += BM * LDP;
#else
    global const REAL *packed = a;
#endif
    for (int j = 0; j < width; j += NR) {
        const int    cols = min(NR, width - j), whole = cols / W, rest = cols % W;
        struct ahead ahead = {&B_AT(0, j + NR), ldb, 0, 0, 0};
#if PACK_B
        const int vectors = whole + (rest != 0);
        if (j + 2 * NR <= width) {
            ahead.end = TB ? NR * ((kc + W - 1) / W) : kc;
            ahead.step = ahead.end * MR / rows + 1;
        }
        pack_b(&B_AT(0, j), ldb, scratch, vectors, kc, cols);
        panel(vectors, packed, lda, scratch, W * vectors, c + j, ldc, rows, kc, cols, alpha, beta, &ahead);
#else
        panel(whole, packed, lda, b + j, ldb, c + j, ldc, rows, kc, W * whole, alpha, beta, &ahead);
        if (rest) {
            pack_vector(b + j + W * whole, ldb, scratch, W, kc, rest);
            ragged(packed, lda, scratch, W, c + j + W * whole, ldc, rows, kc, rest, alpha, beta, &ahead);
        }
#endif
    }
}

__attribute__((reqd_work_group_size(1, 1, 1))) kernel void
cpu_gemm(global const REAL *restrict a, ulong a_start, global const REAL *restrict b, ulong b_start,
         global REAL *restrict c, ulong c_start, int m, int n, int k, long lda, long ldb, long ldc, long2 a_batch,
         long2 b_batch, long2 c_batch, int batches, int inner, int k_slice, REAL alpha, REAL beta, int bm, int bn,
         int kc, int run, local REAL *restrict scratch)
{
    const int i0 = get_group_id(1) * bm, i1 = min(m, i0 + bm);
    const int j0 = get_group_id(0) * bn, j1 = min(n, j0 + bn);
    const int z0 = get_group_id(2) * run, z1 = min(batches, z0 + run);
    a += a_start;
    b += b_start;
    c += c_start;
    for (int z = z0; z < z1; z++) {
        const long outer_z = z / inner, inner_z = z % inner;
        const long a_z = outer_z * a_batch.s0 + inner_z * a_batch.s1, b_z = outer_z * b_batch.s0 + inner_z * b_batch.s1,
                   c_z = outer_z * c_batch.s0 + inner_z * c_batch.s1;
        const int kz = k_slice > 0 ? min(k_slice, k - (int)inner_z * k_slice) : k;
        const int blocks = max(1, (kz + kc - 1) / kc), step = (kz + blocks - 1) / blocks;
        int       p = 0;
        do {
            for (int i = i0; i < i1; i += PACK_A ? BM : bm)
                block(&A_AT(i, p) + a_z, lda, &B_AT(p, j0) + b_z, ldb, c + i * ldc + j0 + c_z, ldc,
                      PACK_A ? min(BM, i1 - i) : i1 - i, j1 - j0, min(step, kz - p), alpha, p ? 1 : beta, scratch);
            p += step;
        } while (p < kz);
    }
}
