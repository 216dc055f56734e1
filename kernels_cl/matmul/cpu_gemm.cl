/* SPDX-License-Identifier: MIT
 *
 * cpu_gemm.cl: C := alpha A B + beta C in one launch without barriers, for devices whose work-item is a thread.
 *
 * Mathematics   k in equal blocks of at most `kc`. Within a block each element is one fma chain over p ascending from
 *               zero; the block's sum s goes to C:  first block  beta == 0: alpha * s (C is not read), else
 *               fma(alpha, s, beta * c);  later blocks  fma(alpha, s, c). One block is naive.cl's order, bit for bit.
 *               Where C is narrower than the sums a block begins from those of the block before, which wait in `sums`,
 *               and the last one rounds alpha * s or fma(alpha, s, beta * c) once: naive.cl's order in any number of blocks.
 * Index space   work-groups of one work-item. Group (x, y, z) owns columns x*bn … and some rows (first_row) of `run` products
 *               from z*run on: for each block of k, for each panel of NR = W*NV columns, tiles of MR rows whose MR x NV
 *               sums stay in registers. An element of A is a broadcast.
 * Macros        ELEMENT  storage of A and B: 1 f32 (default), 2 f64, 3 f16, 4 bf16; sums are f64 for f64, else f32. A
 *                        vector is 64 bytes of sums: W = 8 of f64, 16 of f32
 *               OUT      storage of C: ELEMENT (default) or 1; rounded to the nearest, ties to even
 *               MR, NV   register tile: MR rows of NV vectors; MR*NV + NV + 1 vector registers should exist
 *               TA       0: columns of A adjacent, 1: rows of A adjacent
 *               TB       0: columns of B adjacent, 1: rows of B adjacent
 *               PACK_A   1: A is copied to local memory, BM rows of a block at a time, row by row (TA = 0) or MR rows
 *                        interleaved (TA = 1). 0: A is read where it lies, f32 or f64. Copies are of the sums' type
 *               ROWS, LINES   of PACK_A: BM is ROWS rounded down to tiles; cache lines from one packed row to the next, an
 *                        odd number: kc and some padding
 *               PACK_B   1: each panel of B is copied to local memory first; TB = 1 implies it. 0: full vectors of B
 *                        are read in place, only the ragged last vector of a row is copied
 *               AHEAD    1: where B is read in place, the panel that comes next is brought nearer line by line while this
 *                        one is computed: few rows leave no time to wait for it
 * Local memory  `scratch`: kc * (PACK_B ? NR : W) elements and, with PACK_A, BM * LINES * W more
 * Host          kc >= 1, with PACK_A at most LINES * W: a panel of kc x NR of B should stay in the second-level cache; an
 *               argument and not a macro, so that rows that differ in it share a program. lda, ldb, ldc: the stride, in
 *               elements, of the direction that is not adjacent; bn a multiple of W. Product z is
 *               (z / inner, z % inner) of the two batch strides of each matrix. k_slice > 0 splits along k: product z
 *               takes k_slice of k from (z % inner) * k_slice, and the inner strides of A and B step from slice to slice.
 *               sums: where C is narrower than the sums and k more than one block, m rows of n rounded up to NR a product;
 *               else never touched.
 * No work-item reads or writes an element outside A, B and C: rows past the end repeat the last row.
 */
#pragma OPENCL FP_CONTRACT OFF

#ifndef ELEMENT
#define ELEMENT 1
#endif
#ifndef OUT
#define OUT ELEMENT
#endif
#if ELEMENT == 2
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

/* A vector to any element of memory at once: what vstore16 becomes on PoCL are three stores and two shuffles. */
#ifdef __clang__
typedef VEC LOOSE __attribute__((aligned(sizeof(REAL))));
#define SET(space, x, p) (*(space LOOSE *)(p) = (x))
#else
#define SET(space, x, p) STORE(x, 0, p)
#endif

/* By storage type: what lies in memory; W neighbours and one element as sums; sums stored. f16 needs no half arithmetic of
 * the device. */
#define STORED_1     float
#define STORED_2     double
#define STORED_3     half
#define STORED_4     ushort
#define WIDE_1(p)    LOAD(0, p)
#define WIDE_2(p)    LOAD(0, p)
#define WIDE_3(p)    vload_half16(0, p)
#define WIDE_4(p)    as_float16(convert_uint16(vload16(0, p)) << 16)
#define WIDE1_1(p)   (*(p))
#define WIDE1_2(p)   (*(p))
#define WIDE1_3(p)   vload_half(0, p)
#define WIDE1_4(p)   as_float((uint)(p)[0] << 16)
#if ELEMENT == 2
#define PUT_1(x, p)  vstore8(convert_float8(x), 0, p)
#else
#define PUT_1(x, p)  SET(global, x, p)
#endif
#define PUT_2(x, p)  SET(global, x, p)
#define PUT_3(x, p)  vstore_half16_rte(x, 0, p)
#define PUT_4(x, p)  vstore16(narrow16(x), 0, p)
#define PUT1_1(x, p) (*(p) = (float)(x))
#define PUT1_2(x, p) (*(p) = (x))
#define PUT1_3(x, p) vstore_half_rte(x, 0, p)
#define PUT1_4(x, p) (*(p) = narrow16((float16)(x)).s0)
#define JOIN_(a, b)  a##b
#define JOIN(a, b)   JOIN_(a, b)
#define WIDE(p)      JOIN(WIDE_, ELEMENT)(p)
#define WIDE1(p)     JOIN(WIDE1_, ELEMENT)(p)
#define PUT(x, p)    JOIN(PUT_, OUT)(x, p)
#define PUT1(x, p)   JOIN(PUT1_, OUT)(x, p)
#define NARROW       (OUT != (ELEMENT == 2 ? 2 : 1)) /* is C narrower than the sums? */
typedef JOIN(STORED_, ELEMENT) STORED;
typedef JOIN(STORED_, OUT) STORED_OUT;
#if OUT == 1 && ELEMENT == 2
#define OLD(p)  convert_double8(vload8(0, p))
#define OLD1(p) ((double)(p)[0])
#else
#define OLD(p)  JOIN(WIDE_, OUT)(p)
#define OLD1(p) JOIN(WIDE1_, OUT)(p)
#endif

#if OUT == 4
static ushort16 narrow16(float16 x) /* to the nearest, ties to even; a NaN stays one */
{
    const uint16 bits = as_uint16(x);
    return convert_ushort16(select(bits + 0x7fff + (bits >> 16 & 1), bits | 0x400000, isnan(x)) >> 16);
}
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
#ifndef AHEAD
#define AHEAD 0
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
#define A_REAL  REAL
#define A_ROW   (TA ? 1L : LDP)
#define A_STEP  (TA ? MR : 1)
#else
#define A_SPACE global
#define A_REAL  STORED
#define A_ROW   (TA ? 1L : lda)
#define A_STEP  (TA ? lda : 1L)
#endif
#define A_AT(i, p) a[TA ? (p) * lda + (i) : (i) * lda + (p)]
#define B_AT(p, j) b[TB ? (j) * ldb + (p) : (p) * ldb + (j)]

/* Where a tile's sums go. Where C is NARROW: between blocks of k to `sums`; `more` blocks come after this one. */
struct target {
    global STORED_OUT *c;
    long               ldc;
    global REAL       *sums;
    long               ld_sums;
    int                first, more;
    REAL               alpha, beta;
};

/* The sums of a tile to C: whole vectors, or through memory where the last vector is ragged. */
#define EACH(R, V, X)                                                                                                  \
    UNROLL for (int i = 0; i < R; i++) if (R == MR || i < rows) UNROLL for (int v = 0; v < V; v++)                     \
    {                                                                                                                  \
        global STORED_OUT *to = t.c + i * t.ldc + W * v;                                                               \
        PUT(X, to);                                                                                                    \
    }
#define SAVE_WHOLE(R, V)                                                                                               \
    if (t.beta == 0) {                                                                                                 \
        EACH(R, V, t.alpha * s[i][v])                                                                                  \
    } else {                                                                                                           \
        EACH(R, V, fma((VEC)(t.alpha), s[i][v], t.beta * OLD(to)))                                                     \
    }
#define SAVE_RAGGED(R, V)                                                                                              \
    REAL each[R][W * V];                                                                                               \
    UNROLL for (int i = 0; i < R; i++) UNROLL for (int v = 0; v < V; v++) STORE(s[i][v], v, each[i]);                  \
    for (int i = 0; i < rows; i++)                                                                                     \
        for (int j = 0; j < cols; j++) {                                                                               \
            global STORED_OUT *to = t.c + i * t.ldc + j;                                                               \
            PUT1(t.beta == 0 ? t.alpha * each[i][j] : fma(t.alpha, each[i][j], t.beta * OLD1(to)), to);                \
        }
#define SAVE_EITHER(R, V)                                                                                              \
    if (cols >= W * V) {                                                                                               \
        SAVE_WHOLE(R, V)                                                                                               \
    } else {                                                                                                           \
        SAVE_RAGGED(R, V)                                                                                              \
    }

/* Row i of a tile of R, of which `rows` exist. */
#define ROW(R, i) (R == MR ? i : min(i, rows - 1))

#if NARROW
#define BEGIN(R, i, v) s[i][v] = t.first ? 0 : LOAD(v, t.sums + ROW(R, i) * t.ld_sums)
#define END(R, V, SAVE)                                                                                                \
    if (t.more) {                                                                                                      \
        UNROLL for (int i = 0; i < R; i++) if (R == MR || i < rows) UNROLL for (int v = 0; v < V; v++)                 \
            SET(global, s[i][v], t.sums + i * t.ld_sums + W * v);                                                      \
    } else {                                                                                                           \
        SAVE(R, V)                                                                                                     \
    }
#else
#define BEGIN(R, i, v)  s[i][v] = 0, FETCH(t.c + ROW(R, i) * t.ldc + W * v)
#define END(R, V, SAVE) SAVE(R, V)
#endif

/* PoCL's own prefetch() does nothing; what its compiler offers does. */
#ifdef POCL_DEVICE_ADDRESS_BITS
#define FETCH(from) __builtin_prefetch((const void *)(size_t)(from), 0, 2)
#else
#define FETCH(from) prefetch(from, W)
#endif

/* Lines of the panel of B that comes next, fetched at each step of a tile: V of them, or, where a panel has tiles enough,
 * one: the same V times, which costs no branch. */
struct near {
    long far, step;
};

#if AHEAD && !PACK_B
#define LOOK(V) UNROLL for (int v = 0; v < V; v++) FETCH(b + near.far + v * near.step);
#else
#define LOOK(V)
#endif
#define STAY(V)

/* A register tile of V vectors: R = MR rows, or `rows` (at most R) where R is less; `cols` columns are stored. The sums
 * are long in coming: what of C they meet is brought nearer meanwhile. */
#define TILE(name, R, V, SPACE, TYPE, WIDEN, SAVE, LOOK)                                                               \
    static void name(A_SPACE const A_REAL *restrict a, long lda, SPACE const TYPE *restrict b, long b_row, int kc,     \
                     int rows, int cols, struct target t, struct near near)                                            \
    {                                                                                                                  \
        VEC s[R][V];                                                                                                   \
        UNROLL for (int i = 0; i < R; i++) UNROLL for (int v = 0; v < V; v++) BEGIN(R, i, v);                          \
        for (int p = 0; p < kc; p++, a += A_STEP, b += b_row) {                                                        \
            VEC bv[V];                                                                                                 \
            UNROLL for (int v = 0; v < V; v++) bv[v] = WIDEN(b + W * v);                                               \
            LOOK(V)                                                                                                    \
            UNROLL for (int i = 0; i < R; i++)                                                                         \
            {                                                                                                          \
                const VEC x = a[ROW(R, i) * A_ROW];                                                                    \
                UNROLL for (int v = 0; v < V; v++) s[i][v] = fma(x, bv[v], s[i][v]);                                   \
            }                                                                                                          \
        }                                                                                                              \
        END(R, V, SAVE)                                                                                                \
    }

/* Rows of one panel, V vectors wide. `a` and the target are at the first of them, the target at the panel's first column. */
#define PANEL(name, V, SPACE, TYPE, WIDEN, SAVE, LOOK)                                                                 \
    TILE(name##_tile, MR, V, SPACE, TYPE, WIDEN, SAVE, LOOK)                                                           \
    TILE(name##_small, SMALL, V, SPACE, TYPE, WIDEN, SAVE, LOOK)                                                       \
    static void name(A_SPACE const A_REAL *a, long lda, SPACE const TYPE *b, long b_row, int rows, int kc, int cols,   \
                     struct target t, struct ahead *ahead)                                                             \
    {                                                                                                                  \
        struct near near = {NR, rows > MR * (V - 1) ? 0 : W};                                                          \
        for (; rows >= MR; rows -= MR, t.c += MR * t.ldc, t.sums += MR * t.ld_sums) {                                  \
            look_ahead(ahead);                                                                                         \
            name##_tile(a, lda, b, b_row, kc, MR, cols, t, near);                                                      \
            a += PACK_A && TA ? (long)MR * kc : MR * A_ROW;                                                            \
            near.far = near.step ? NR : NR + (near.far + W) % NR;                                                      \
        }                                                                                                              \
        for (; rows > 0; rows -= SMALL, t.c += SMALL * t.ldc, t.sums += SMALL * t.ld_sums, a += SMALL * A_ROW)         \
            name##_small(a, lda, b, b_row, kc, min(rows, SMALL), cols, t, near);                                       \
    }

/* The panel of B that comes next is brought nearer while this one is computed, `step` of its lines before each tile. */
struct ahead {
    global const STORED *b;
    long                 ldb;
    int                  at, end, step;
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

#define SELF(p) LOAD(0, p)
#if PACK_B
#define B_SPACE local
#define B_REAL  REAL
#define B_WIDE  SELF
#define SAVE    SAVE_EITHER
#else
#define B_SPACE global
#define B_REAL  STORED
#define B_WIDE  WIDE
#define SAVE    SAVE_WHOLE
PANEL(ragged, 1, local, REAL, SELF, SAVE_RAGGED, STAY)
#endif
PANEL(panel1, 1, B_SPACE, B_REAL, B_WIDE, SAVE, LOOK)
#if NV >= 2
PANEL(panel2, 2, B_SPACE, B_REAL, B_WIDE, SAVE, LOOK)
#endif
#if NV >= 3
PANEL(panel3, 3, B_SPACE, B_REAL, B_WIDE, SAVE, LOOK)
#endif
#if NV >= 4
PANEL(panel4, 4, B_SPACE, B_REAL, B_WIDE, SAVE, LOOK)
#endif

static void panel(int vectors, A_SPACE const A_REAL *a, long lda, B_SPACE const B_REAL *b, long b_row, int rows, int kc,
                  int cols, struct target t, struct ahead *ahead)
{
    switch (vectors) {
    case 1:
        panel1(a, lda, b, b_row, rows, kc, cols, t, ahead);
        break;
#if NV >= 2
    case 2:
        panel2(a, lda, b, b_row, rows, kc, cols, t, ahead);
        break;
#endif
#if NV >= 3
    case 3:
        panel3(a, lda, b, b_row, rows, kc, cols, t, ahead);
        break;
#endif
#if NV >= 4
    case 4:
        panel4(a, lda, b, b_row, rows, kc, cols, t, ahead);
        break;
#endif
    }
}

#if TB
/* The two halves of x and y interleaved; log2(W) rounds of it over W vectors transpose W x W elements. */
#if ELEMENT == 2
#define ZIP_LOW(x, y)  (VEC)(x.s0, y.s0, x.s1, y.s1, x.s2, y.s2, x.s3, y.s3)
#define ZIP_HIGH(x, y) (VEC)(x.s4, y.s4, x.s5, y.s5, x.s6, y.s6, x.s7, y.s7)
#define ROUNDS         3
#else
#define ZIP_LOW(x, y)                                                                                                  \
    (VEC)(x.s0, y.s0, x.s1, y.s1, x.s2, y.s2, x.s3, y.s3, x.s4, y.s4, x.s5, y.s5, x.s6, y.s6, x.s7, y.s7)
#define ZIP_HIGH(x, y)                                                                                                 \
    (VEC)(x.s8, y.s8, x.s9, y.s9, x.sa, y.sa, x.sb, y.sb, x.sc, y.sc, x.sd, y.sd, x.se, y.se, x.sf, y.sf)
#define ROUNDS 4
#endif

static void transpose(global const STORED *from, long from_row, local REAL *to, long to_row)
{
    VEC r[W], t[W];
    UNROLL for (int i = 0; i < W; i++) r[i] = WIDE(from + i * from_row);
    UNROLL for (int round = 0; round < ROUNDS; round++)
    {
        UNROLL for (int i = 0; i < W / 2; i++)
        {
            t[2 * i] = ZIP_LOW(r[i], r[i + W / 2]);
            t[2 * i + 1] = ZIP_HIGH(r[i], r[i + W / 2]);
        }
        UNROLL for (int i = 0; i < W; i++) r[i] = t[i];
    }
    UNROLL for (int i = 0; i < W; i++) SET(local, r[i], to + i * to_row);
}
#endif

/* kc rows of up to W columns of B to local memory, columns past the end as zeros. */
static void pack_vector(global const STORED *b, long ldb, local REAL *to, long to_row, int kc, int cols)
{
    int p = 0;
    if (cols >= W) {
#if TB
        for (; p + W <= kc; p += W)
            transpose(b + p, ldb, to + p * to_row, to_row);
#else
        for (; p < kc; p++)
            SET(local, WIDE(b + p * ldb), to + p * to_row);
#endif
    }
    for (; p < kc; p++)
        for (int j = 0; j < W; j++)
            to[p * to_row + j] = j < cols ? WIDE1(&B_AT(p, j)) : 0;
}

#if PACK_B
/* kc rows of `vectors` vectors of B to local memory, rows dense. */
static void pack_b(global const STORED *b, long ldb, local REAL *to, int vectors, int kc, int cols)
{
#if !TB
    if (cols == NR) {
        for (int p = 0; p < kc; p++, b += ldb, to += NR)
            UNROLL for (int v = 0; v < NV; v++) SET(local, WIDE(b + W * v), to + W * v);
        return;
    }
#endif
    for (int v = 0; v < vectors; v++)
        pack_vector(&B_AT(0, W * v), ldb, to + W * v, W * vectors, kc, cols - W * v);
}
#endif

#if PACK_A
/* A block of A to local memory, whole tiles; what is past the last row stays zero. */
static void pack_a(global const STORED *a, long lda, local REAL *to, int rows, int kc)
{
#if TA
    for (int i = 0; i < rows; i += MR, to += (long)MR * kc)
        for (int p = 0; p < kc; p++)
            UNROLL for (int r = 0; r < MR; r++) to[p * MR + r] = i + r < rows ? WIDE1(a + p * lda + i + r) : 0;
#else
    for (int i = 0; i < rows; i++, a += lda, to += LDP) {
        int p = 0;
        for (; p + W <= kc; p += W)
            SET(local, WIDE(a + p), to + p);
        for (; p < kc; p++)
            to[p] = WIDE1(a + p);
    }
#endif
}
#endif

/* One block of k, `rows` rows and `width` columns of C. A, B and the target are at their first element of it. */
static void block(global const STORED *a, long lda, global const STORED *b, long ldb, int rows, int width, int kc,
                  struct target t, local REAL *scratch)
{
#if PACK_A
    local REAL *packed = scratch;
    pack_a(a, lda, packed, rows, kc);
    scratch += BM * LDP;
#else
    global const STORED *packed = a;
#endif
    for (int j = 0; j < width; j += NR, t.c += NR, t.sums += NR) {
        const int    cols = min(NR, width - j), whole = cols / W, rest = cols % W;
        struct ahead ahead = {&B_AT(0, j + NR), ldb, 0, 0, 0};
#if PACK_B
        const int vectors = whole + (rest != 0);
        if (j + 2 * NR <= width) {
            ahead.end = TB ? NR * ((kc + W - 1) / W) : kc;
            ahead.step = ahead.end * MR / rows + 1;
        }
        pack_b(&B_AT(0, j), ldb, scratch, vectors, kc, cols);
        panel(vectors, packed, lda, scratch, W * vectors, rows, kc, cols, t, &ahead);
#else
        panel(whole, packed, lda, b + j, ldb, rows, kc, W * whole, t, &ahead);
        if (rest) {
            struct target last = t;
            last.c += W * whole;
            last.sums += W * whole;
            pack_vector(b + j + W * whole, ldb, scratch, W, kc, rest);
            ragged(packed, lda, scratch, W, rows, kc, rest, last, &ahead);
        }
#endif
    }
}

/* The first row of group `y`, and where those before it end: `early` groups share `first` tiles evenly, the last one has `last`,
 * those between share the others. */
static int first_row(int y, int m, int early, int first, int last)
{
    const int  between = get_num_groups(1) - 1 - early;
    const long tiles = ((long)m + MR - 1) / MR;
    long       tile = tiles;
    if (y <= early)
        tile = (long)y * first / early;
    else if (y <= early + between)
        tile = first + (y - early) * (tiles - last - first) / between;
    return min((long)m, tile * MR);
}

__attribute__((reqd_work_group_size(1, 1, 1))) kernel void cpu_gemm(
    global const STORED *restrict a, ulong a_start, global const STORED *restrict b, ulong b_start,
    global STORED_OUT *restrict c, ulong c_start, int m, int n, int k, long lda, long ldb, long ldc, long2 a_batch,
    long2 b_batch, long2 c_batch, int batches, int inner, int k_slice, REAL alpha, REAL beta, int early, int first,
    int last, int bn, int kc, int run, local REAL *restrict scratch, global REAL *restrict sums)
{
    const int  i0 = first_row(get_group_id(1), m, early, first, last), i1 = first_row(get_group_id(1) + 1, m, early, first, last);
    const int  j0 = get_group_id(0) * bn, j1 = min(n, j0 + bn);
    const int  z0 = get_group_id(2) * run, z1 = min(batches, z0 + run);
    const long ld_sums = (n + NR - 1) / NR * NR;
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
            for (int i = i0; i < i1; i += PACK_A ? BM : m) {
                const struct target t = {c + i * ldc + j0 + c_z,
                                         ldc,
                                         sums + ((long)z * m + i) * ld_sums + j0,
                                         ld_sums,
                                         p == 0,
                                         p + step < kz,
                                         alpha,
                                         NARROW || p == 0 ? beta : 1};
                block(&A_AT(i, p) + a_z, lda, &B_AT(p, j0) + b_z, ldb, PACK_A ? min(BM, i1 - i) : i1 - i, j1 - j0,
                      min(step, kz - p), t, scratch);
            }
            p += step;
        } while (p < kz);
    }
}
