/* SPDX-License-Identifier: MIT
 *
 * cpu_tall.cl: C := alpha A B + beta C for devices whose work-item is a thread, by tiles one vector wide and as tall as
 * registers allow. f32 and f64, one launch without barriers.
 *
 * Mathematics   as cpu_gemm.cl: k in equal blocks of at most `kc`; within a block each element is one fma chain over p
 *               ascending from zero; the block's sum s goes to C:  first block  beta == 0: alpha * s (C is not read), else
 *               fma(alpha, s, beta * c);  later blocks  fma(alpha, s, c). One block is naive.cl's order, bit for bit.
 * Index space   work-groups of one work-item. Group (x, y, z) owns columns x*bn … and some rows (first_row) of `run` products
 *               from z*run on: for each COLS vectors of columns, for each block of k: B is copied, in panels one vector
 *               wide; for each MR rows of A, copied too, one tile a panel. A's copy stays in the first-level cache, B's
 *               in the second; each step of a tile is one vector of B and MR fma that take their element of A from
 *               memory as they multiply: hardly more than one operation an fma, which counts where a core is shared by
 *               two threads.
 * Macros        ELEMENT  1 f32 (default), 2 f64: of A, B, C and the sums; a vector is 64 bytes: W = 16 or 8
 *               MR       24 (default): rows of a tile, a multiple of 8, at least 24; MR + 5 vector registers should exist
 *               COLS     vectors of columns that are gone over at a time
 *               TA       0: columns of A adjacent, 1: rows of A adjacent      TB  0: columns of B adjacent, 1: rows
 *               PACK_B   1 (default), and with TB always: B is copied. 0: full vectors of B are read in place, only the
 *                        ragged last one of a row is copied
 * Local memory  `scratch`: (MR * kc + COLS * W * (kc + 1)) elements; with PACK_B 0, (MR * kc + W * (kc + 1))
 * Host          kc a multiple of W. lda, ldb, ldc: the stride, in elements, of the direction that is not adjacent; bn
 *               a multiple of W. Product z is (z / inner, z % inner) of the two batch strides of each matrix.
 *               k_slice is 0; sums is never touched: arguments are those of cpu_gemm.cl.
 * No work-item reads or writes an element outside A, B and C: rows past the end repeat the last row.
 */
#pragma OPENCL FP_CONTRACT OFF

#ifndef ELEMENT
#define ELEMENT 1
#endif
#if ELEMENT == 2
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double           REAL;
typedef double8          VEC;
typedef double8          EIGHT;
#define W     8
#define LOAD  vload8
#define STORE vstore8
#else
typedef float   REAL;
typedef float16 VEC;
typedef float8  EIGHT;
#define W     16
#define LOAD  vload16
#define STORE vstore16
#endif

/* Vectors to any element of memory at once: what vstore16 becomes on PoCL are three stores and two shuffles. */
#ifdef __clang__
typedef VEC   LOOSE __attribute__((aligned(sizeof(REAL))));
typedef EIGHT LOOSE_EIGHT __attribute__((aligned(sizeof(REAL))));
#define SET(space, x, p)       (*(space LOOSE *)(p) = (x))
#define SET_EIGHT(space, x, p) (*(space LOOSE_EIGHT *)(p) = (x))
#else
#define SET(space, x, p)       STORE(x, 0, p)
#define SET_EIGHT(space, x, p) vstore8(x, 0, p)
#endif

/* To the second-level cache. PoCL's own prefetch() does nothing; what its compiler offers does. */
#ifdef POCL_DEVICE_ADDRESS_BITS
#define FETCH(from) __builtin_prefetch((const void *)(size_t)(from), 0, 2)
#else
#define FETCH(from) prefetch(from, W)
#endif

#ifndef MR
#define MR 24
#endif
#ifndef COLS
#define COLS 64
#endif
#ifndef TA
#define TA 0
#endif
#ifndef TB
#define TB 0
#endif
#ifndef PACK_B
#define PACK_B 1
#endif
#define DEEP   4 /* steps of k between two looks at the loop's end */
#define UNROLL _Pragma("unroll")

#define A_AT(i, p) a[TA ? (p)*lda + (i) : (i)*lda + (p)]
#define B_AT(p, j) b[TB ? (j)*ldb + (p) : (p)*ldb + (j)]

/* What is fetched while a tile is made: a line from `from` on each DEEP steps. */
struct near {
    global const REAL *from;
    long               step;
};

struct target {
    global REAL *c;
    long         ldc;
    REAL         alpha, beta;
};

static void save_ragged(REAL (*each)[W], int rows, int cols, struct target t)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            global REAL *to = t.c + i * t.ldc + j;
            *to = t.beta == 0 ? t.alpha * each[i][j] : fma(t.alpha, each[i][j], t.beta * *to);
        }
}

/* A tile of R rows, of which `rows` exist, and of one vector, of which `cols` columns do. Step p of A is R elements at a +
 * p * R, of B a vector at b + p * b_row. */
#define TILE(name, R, SPACE)                                                                                           \
    static void name(local const REAL *restrict a, SPACE const REAL *restrict b, long b_row, int kc, int rows,         \
                     int cols, struct target t, struct near near)                                                      \
    {                                                                                                                  \
        VEC s[R];                                                                                                      \
        int p = 0;                                                                                                     \
        UNROLL for (int i = 0; i < R; i++) s[i] = 0;                                                                   \
        for (; p + DEEP <= kc; p += DEEP, a += DEEP * R, b += DEEP * b_row, near.from += near.step) {                  \
            FETCH(near.from);                                                                                          \
            UNROLL for (int u = 0; u < DEEP; u++)                                                                      \
            {                                                                                                          \
                const VEC v = LOAD(0, b + u * b_row);                                                                  \
                UNROLL for (int i = 0; i < R; i++) s[i] = fma((VEC)(a[u * R + i]), v, s[i]);                           \
            }                                                                                                          \
        }                                                                                                              \
        for (; p < kc; p++, a += R, b += b_row) {                                                                      \
            const VEC v = LOAD(0, b);                                                                                  \
            UNROLL for (int i = 0; i < R; i++) s[i] = fma((VEC)(a[i]), v, s[i]);                                       \
        }                                                                                                              \
        if (rows < R || cols < W) {                                                                                    \
            REAL each[R][W];                                                                                           \
            UNROLL for (int i = 0; i < R; i++) SET(private, s[i], each[i]);                                            \
            save_ragged(each, rows, min(cols, W), t);                                                                  \
        } else if (t.beta == 0) {                                                                                      \
            UNROLL for (int i = 0; i < R; i++) SET(global, t.alpha *s[i], t.c + i * t.ldc);                            \
        } else {                                                                                                       \
            UNROLL for (int i = 0; i < R; i++)                                                                         \
                SET(global, fma((VEC)(t.alpha), s[i], t.beta *LOAD(0, t.c + i * t.ldc)), t.c + i * t.ldc);             \
        }                                                                                                              \
    }

/* A tile of one of three heights. */
#define TILES(name, SPACE)                                                                                             \
    TILE(name##_whole, MR, SPACE)                                                                                      \
    TILE(name##_16, 16, SPACE)                                                                                         \
    TILE(name##_8, 8, SPACE)                                                                                           \
    static void name(int height, local const REAL *restrict a, SPACE const REAL *restrict b, long b_row, int kc,       \
                     int rows, int cols, struct target t, struct near near)                                            \
    {                                                                                                                  \
        if (height == MR)                                                                                              \
            name##_whole(a, b, b_row, kc, rows, cols, t, near);                                                        \
        else if (height == 16)                                                                                         \
            name##_16(a, b, b_row, kc, rows, cols, t, near);                                                           \
        else                                                                                                           \
            name##_8(a, b, b_row, kc, rows, cols, t, near);                                                            \
    }

TILES(copied, local)
#if !PACK_B
TILES(in_place, global)
#endif

/* Eight rows of eight neighbours, of which `rows` exist, transposed. */
#define ZIP_LOW(x, y)  (EIGHT)(x.s0, y.s0, x.s1, y.s1, x.s2, y.s2, x.s3, y.s3)
#define ZIP_HIGH(x, y) (EIGHT)(x.s4, y.s4, x.s5, y.s5, x.s6, y.s6, x.s7, y.s7)

static void turn(global const REAL *from, long from_row, int rows, local REAL *to, long to_row)
{
    EIGHT r[8], t[8];
    UNROLL for (int i = 0; i < 8; i++) r[i] = vload8(0, from + min(i, rows - 1) * from_row);
    UNROLL for (int round = 0; round < 3; round++)
    {
        UNROLL for (int i = 0; i < 4; i++)
        {
            t[2 * i] = ZIP_LOW(r[i], r[i + 4]);
            t[2 * i + 1] = ZIP_HIGH(r[i], r[i + 4]);
        }
        UNROLL for (int i = 0; i < 8; i++) r[i] = t[i];
    }
    UNROLL for (int i = 0; i < 8; i++) SET_EIGHT(local, r[i], to + i * to_row);
}

/* `rows` lines along p, eight at a time to neighbouring elements of steps that are to_row apart: what is transposed of A
 * and of B. Lines past the last repeat it, up to `height`. */
static void pack_turned(global const REAL *from, long from_row, local REAL *to, long to_row, int rows, int height,
                        int kc)
{
    for (int i = 0; i < height; i += 8) {
        const int first = min(i, rows - 1);
        int       p = 0;
        for (; p + 8 <= kc; p += 8)
            turn(from + first * from_row + p, from_row, max(rows - i, 1), to + p * to_row + i, to_row);
        for (; p < kc; p++)
            for (int r = 0; r < 8; r++)
                to[p * to_row + i + r] = from[min(i + r, rows - 1) * from_row + p];
    }
}

/* kc steps of `height` rows of A, of which `rows` exist. */
static void pack_a(global const REAL *a, long lda, local REAL *to, int rows, int height, int kc)
{
#if TA
    for (int p = 0; p < kc; p++, a += lda, to += height) {
        int i = 0;
        for (; i + 8 <= rows; i += 8)
            SET_EIGHT(local, vload8(0, a + i), to + i);
        for (; i < height; i++)
            to[i] = a[min(i, rows - 1)];
    }
#else
    pack_turned(a, lda, to, height, rows, height, kc);
#endif
}

/* kc rows of `cols` columns of B, panel by panel; columns past the end are never stored. */
static void pack_b(global const REAL *b, long ldb, local REAL *to, long panel, int kc, int cols)
{
#if TB
    for (int j = 0; j < cols; j += W, to += panel)
        pack_turned(&B_AT(0, j), ldb, to, W, min(W, cols - j), W, kc);
#else
    for (int p = 0; p < kc; p++, b += ldb, to += W) {
         int j = 0;
         for (; j + W <= cols; j += W)
            SET(local, LOAD(0, b + j), to + j / W * panel);
        if (j < cols)
            for (int x = 0; x < W; x++)
                to[j / W * panel + x] = b[min(j + x, cols - 1)];
    }
#endif
}

/* A block as it is copied: `rows` of A from a, `cols` of B from b, kc steps of k; the next block of B begins at next_b
 * and has `next` steps. */
struct block {
    global const REAL *a, *b, *next_b;
    long               lda, ldb;
    int                rows, cols, kc, next;
};

/* What to fetch with panel v: the next tile's rows of A, then the next block of B, `at` pieces of which are there. */
static struct near look_ahead(const struct block *x, int v, int below, int *at)
{
    const int   lines = x->kc / DEEP, pieces = lines ? (x->cols / W + lines - 1) / lines : 0;
    struct near near = {x->a, 0};
    if (v < MR && v < below) {
        near.from = TA ? x->a : x->a + (x->rows - below + v) * x->lda;
        near.step = DEEP;
    } else if (!TB && pieces && *at < x->next * pieces) {
        near.from = x->next_b + *at / pieces * x->ldb + *at % pieces * lines * W;
        near.step = W;
        ++*at;
    }
    return near;
}

static void multiply(const struct block *x, struct target t, local REAL *packed_a, local REAL *packed_b)
{
    const long panel = (x->kc | 1) * W;
    const int  from = PACK_B ? 0 : x->cols / W * W; /* columns from here on are copied */
    int        height, at = 0;
    pack_b(x->b + from, x->ldb, packed_b, panel, x->kc, x->cols - from);
    for (int i = 0; i < x->rows; i += height, t.c += height * t.ldc) {
        const int     left = x->rows - i;
        struct target to = t;
        height = left > 16 && (left <= MR || left > 32) ? MR : left > 8 ? 16 : 8;
        pack_a(x->a + i * (TA ? 1 : x->lda), x->lda, packed_a, min(left, height), height, x->kc);
        for (int j = 0; j < x->cols; j += W, to.c += W) {
            const struct near near = look_ahead(x, j / W, left - height, &at);
            const int         rows = min(left, height), cols = x->cols - j;
#if !PACK_B
            if (j < from)
                in_place(height, packed_a, x->b + j, x->ldb, x->kc, rows, cols, to, near);
            else
#endif
                copied(height, packed_a, packed_b + (j - from) / W * panel, W, x->kc, rows, cols, to, near);
        }
    }
}

/* The first row of group `y`, and where those before it end, in steps of 8 rows: `early` groups share `first` evenly, the last
 * one has `last`, those between share the others. */
static int first_row(int y, int m, int early, int first, int last)
{
    const int  between = get_num_groups(1) - 1 - early;
    const long steps = ((long)m + 7) / 8;
    long       step = steps;
    if (y <= early)
        step = (long)y * first / early;
    else if (y <= early + between)
        step = first + (y - early) * (steps - last - first) / between;
    return min((long)m, step * 8);
}

__attribute__((reqd_work_group_size(1, 1, 1))) kernel void cpu_tall(
    global const REAL *restrict a, ulong a_start, global const REAL *restrict b, ulong b_start, global REAL *restrict c,
    ulong c_start, int m, int n, int k, long lda, long ldb, long ldc, long2 a_batch, long2 b_batch, long2 c_batch,
    int batches, int inner, int k_slice, REAL alpha, REAL beta, int early, int first, int last,
    int bn, int kc, int run, local REAL *restrict scratch, global REAL *restrict sums)
{
    const int i0 = first_row(get_group_id(1), m, early, first, last), i1 = first_row(get_group_id(1) + 1, m, early, first, last);
    const int j0 = get_group_id(0) * bn, j1 = min(n, j0 + bn);
    const int z0 = get_group_id(2) * run, z1 = min(batches, z0 + run);
    const int vectors = (j1 - j0 + W - 1) / W, widths = (vectors + COLS - 1) / COLS;
    const int width = (vectors + widths - 1) / widths * W;
    const int blocks = (k + kc - 1) / kc, step = ((k + blocks - 1) / blocks + W - 1) / W * W;
    a += a_start;
    b += b_start;
    c += c_start;
    for (int z = z0; z < z1; z++) {
        const long outer_z = z / inner, inner_z = z % inner;
        const long a_z = outer_z * a_batch.s0 + inner_z * a_batch.s1, b_z = outer_z * b_batch.s0 + inner_z * b_batch.s1,
                   c_z = outer_z * c_batch.s0 + inner_z * c_batch.s1;
        for (int j = j0; j < j1; j += width)
            for (int p = 0; p < k; p += step) {
                const struct block x = {
                    &A_AT(i0, p) + a_z, &B_AT(p, j) + b_z, &B_AT(p + step, j) + b_z,       lda, ldb, i1 - i0,
                    min(width, j1 - j), min(step, k - p),  max(0, min(step, k - p - step))};
                const struct target t = {c + i0 * ldc + j + c_z, ldc, alpha, p == 0 ? beta : 1};
                multiply(&x, t, scratch, scratch + MR * kc);
            }
    }
}
