/* SPDX-License-Identifier: MIT
 *
 * unit.cl: C := alpha A B + beta C with a register tile for each work-item (a unit) and the operands staged in local
 * memory, slice of k by slice of k, in one buffer or in two. For devices with fast local memory.
 *
 * Mathematics   s = 0; for p = 0 … k - 1: s = fma(a(i,p), b(p,j), s)   one chain per element (slices are padded with
 *               zeros, which change no sum); beta == 0: c = alpha * s, C is not read; else c = fma(alpha, s, beta * c).
 *               This is naive.cl's order, bit for bit.
 * Index space   groups of THREADS = SM*SN units in dimension 0, one for each BM x BN tile of C; four rows of tiles are
 *               taken together, column by column, so that groups near in time share what they read. Group z of
 *               dimension 2 computes products z, z + Z, … of Z.
 * Macros        SM, SN       units of a group, down and across
 *               TM, TK       tile of a unit's step: TM x 4 of C over TK of k; (4,4), (4,1) or (1,4). With TM 1 the
 *                            slice of A lies with k innermost and is read in vectors along k, else with m innermost
 *               PM, PN, PK   steps of a unit down, across and along k: BM = TM*PM*SM, BN = 4*PN*SN, BK = TK*PK, a
 *                            multiple of 4
 *               BUFFERS      1: stage a slice, barrier, compute, barrier
 *                            2: fetch the next slice into registers, compute, put it in the other buffer, barrier
 *               TA, TB       1: rows of A (B) are nearer to each other than columns; staging goes along them
 *               ELEMENT      storage of A and B: 1 f32, 2 f64, 3 f16, 4 bf16; sums are f32, for f64 f64
 *               OUT          storage of C: ELEMENT (default) or 1; stored rounded to the nearest, ties to even
 *               UNROLL       what stands before a loop over registers
 * Local memory  `pool`: BUFFERS * (A + B) of the sums' type; B = BK*(BN + 4); A = BK*(BM + 4), with TM 1 BM*(BK + 4).
 *               The 4 keep transposing writes and reads of several rows off each other's banks.
 * Host          m, n, k at most 2^30, products and tiles of C each under 2^31; strides (row, column) in elements, any,
 *               not negative. Bit 0, 1, 2 of `aligned`: in A, B, C the near direction has stride 1 (C: columns), and the
 *               start and all other strides are multiples of four elements.
 * Edges for every m, n and k are handled here; nothing outside A, B and C is read or written.
 */
#pragma OPENCL FP_CONTRACT OFF

#ifndef TM
#define SM      8
#define SN      8
#define TM      4
#define TK      4
#define PM      1
#define PN      1
#define PK      4
#define BUFFERS 1
#define TA      0
#define TB      0
#define ELEMENT 1
#endif
#ifndef OUT
#define OUT ELEMENT
#endif
#if ELEMENT == 2
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double  REAL;
typedef double4 REAL4;
#else
typedef float  REAL;
typedef float4 REAL4;
#endif

/* By storage type: what lies in memory; one element or four neighbours (aligned to four) as REAL; REAL stored. */
#define STORED_1       float
#define STORED_2       double
#define STORED_3       half
#define STORED_4       ushort
#define LOAD1_1(p)     (*(p))
#define LOAD1_2(p)     (*(p))
#define LOAD1_3(p)     vload_half(0, p)
#define LOAD1_4(p)     as_float((uint)*(p) << 16)
#define LOAD4_1(p)     (*(global const float4 *)(p))
#define LOAD4_2(p)     (*(global const double4 *)(p))
#define LOAD4_3(p)     vload_half4(0, p)
#define LOAD4_4(p)     as_float4(convert_uint4(*(global const ushort4 *)(p)) << 16)
#define STORE1_1(x, p) (*(p) = (float)(x))
#define STORE1_2(x, p) (*(p) = (x))
#define STORE1_3(x, p) vstore_half_rte(x, 0, p)
#define STORE1_4(x, p) (*(p) = narrow(x))
#if ELEMENT == 2
#define STORE4_1(x, p) (*(global float4 *)(p) = convert_float4(x))
#else
#define STORE4_1(x, p) (*(global float4 *)(p) = (x))
#endif
#define STORE4_2(x, p) (*(global double4 *)(p) = (x))
#define STORE4_3(x, p) vstore_half4_rte(x, 0, p)
#define STORE4_4(x, p) vstore4((ushort4)(narrow((x).s0), narrow((x).s1), narrow((x).s2), narrow((x).s3)), 0, p)
#define JOIN_(name, t) name##_##t
#define JOIN(name, t)  JOIN_(name, t)
#define LOAD1(p)       JOIN(LOAD1, ELEMENT)(p)
#define LOAD4(p)       JOIN(LOAD4, ELEMENT)(p)
#define LOAD1_C(p)     JOIN(LOAD1, OUT)(p)
#define STORE1_C(x, p) JOIN(STORE1, OUT)(x, p)
#define STORE4_C(x, p) JOIN(STORE4, OUT)(x, p)
#if ELEMENT == 2 && OUT == 1
#define LOAD4_C(p) convert_double4(LOAD4_1(p))
#else
#define LOAD4_C(p) JOIN(LOAD4, OUT)(p)
#endif
typedef JOIN(STORED, ELEMENT) STORED;
typedef JOIN(STORED, OUT) STORED_OUT;

#if OUT == 4
static ushort narrow(float x) /* to the nearest, ties to even; a NaN stays one */
{
    const uint bits = as_uint(x);
    return (ushort)((isnan(x) ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
#endif

#define THREADS (SM * SN)
#define ROWS    (TM * PM) /* of C that a unit computes */
#define BM      (ROWS * SM)
#define BN      (4 * PN * SN)
#define BK      (TK * PK)
#define BAND    4 /* rows of tiles taken together */
#define B_PITCH (BN + 4)
#if TM == 1
#define A_PITCH   (BK + 4)
#define A_SIZE    (BM * A_PITCH)
#define ROW(i, r) ((i) * SM + (r))
#else
#define A_PITCH   (BM + 4)
#define A_SIZE    (BK * A_PITCH)
#define ROW(i, r) (((i) / 4 * SM + (r)) * 4 + (i) % 4)
#endif
#define SLICE (A_SIZE + BK * B_PITCH)
#ifndef UNROLL
#define UNROLL _Pragma("unroll")
#endif

/* Four elements `step` apart, of which `valid` exist; zeros for the others. */
static REAL4 fetch4(global const STORED *from, long step, int valid, int whole)
{
    if (whole && valid >= 4)
        return LOAD4(from);
    return (REAL4)(valid > 0 ? LOAD1(from) : 0, valid > 1 ? LOAD1(from + step) : 0,
                   valid > 2 ? LOAD1(from + 2 * step) : 0, valid > 3 ? LOAD1(from + 3 * step) : 0);
}

/* A unit's share of LINES lines of WIDTH elements, four at a time: LOADS vectors into registers (zeros past the ends),
 * then to local memory as they lie or TURNED. */
#define LOADS(LINES, WIDTH) ((LINES * WIDTH / 4 + THREADS - 1) / THREADS)
#define MOVER(name, LINES, WIDTH, PITCH, TURNED)                                                                      \
    static void fetch_##name(REAL4 *x, global const STORED *from, long next, long step, int lines, int width,         \
                             int whole)                                                                               \
    {                                                                                                                 \
        UNROLL for (int i = 0; i < LOADS(LINES, WIDTH); i++)                                                          \
        {                                                                                                             \
            const int v = i * THREADS + (int)get_local_id(0), line = v / (WIDTH / 4), at = 4 * (v % (WIDTH / 4));     \
            x[i] = fetch4(from + line * next + at * step, step, line < min(lines, LINES) ? width - at : 0, whole);    \
        }                                                                                                             \
    }                                                                                                                 \
    static void put_##name(local REAL *to, const REAL4 *x)                                                            \
    {                                                                                                                 \
        UNROLL for (int i = 0; i < LOADS(LINES, WIDTH); i++)                                                          \
        {                                                                                                             \
            const int v = i * THREADS + (int)get_local_id(0), line = v / (WIDTH / 4), at = 4 * (v % (WIDTH / 4));     \
            if (LINES * WIDTH / 4 % THREADS != 0 && line >= LINES)                                                    \
                break;                                                                                                \
            if (TURNED) {                                                                                             \
                to[(at + 0) * PITCH + line] = x[i].s0;                                                                \
                to[(at + 1) * PITCH + line] = x[i].s1;                                                                \
                to[(at + 2) * PITCH + line] = x[i].s2;                                                                \
                to[(at + 3) * PITCH + line] = x[i].s3;                                                                \
            } else                                                                                                    \
                *(local REAL4 *)(to + line * PITCH + at) = x[i];                                                      \
        }                                                                                                             \
    }

#if TA
MOVER(a, BK, BM, A_PITCH, TM == 1)
#define FETCH_A(p) fetch_a(xa, az + (p) * a_stride.s1, a_stride.s1, a_stride.s0, k - (p), m - i0, aligned & 1)
#define LOADS_A    LOADS(BK, BM)
#else
MOVER(a, BM, BK, A_PITCH, TM != 1)
#define FETCH_A(p) fetch_a(xa, az + (p) * a_stride.s1, a_stride.s0, a_stride.s1, m - i0, k - (p), aligned & 1)
#define LOADS_A    LOADS(BM, BK)
#endif
#if TB
MOVER(b, BN, BK, B_PITCH, 1)
#define FETCH_B(p) fetch_b(xb, bz + (p) * b_stride.s0, b_stride.s1, b_stride.s0, n - j0, k - (p), aligned & 2)
#define LOADS_B    LOADS(BN, BK)
#else
MOVER(b, BK, BN, B_PITCH, 0)
#define FETCH_B(p) fetch_b(xb, bz + (p) * b_stride.s0, b_stride.s0, b_stride.s1, k - (p), n - j0, aligned & 2)
#define LOADS_B    LOADS(BK, BN)
#endif

/* One slice into a unit's sums s[ROWS][PN]; the unit is r down and u across in its group. */
static void multiply(REAL4 *s, local const REAL *as, local const REAL *bs, int r, int u)
{
    for (int q = 0; q < BK; q += TK) {
        REAL4 y[TK][PN];
        UNROLL for (int e = 0; e < TK; e++) UNROLL for (int v = 0; v < PN; v++)
            y[e][v] = *(local const REAL4 *)(bs + (q + e) * B_PITCH + 4 * (v * SN + u));
#if TM == 1
        UNROLL for (int i = 0; i < ROWS; i++)
        {
            REAL x[4];
            vstore4(*(local const REAL4 *)(as + ROW(i, r) * A_PITCH + q), 0, x);
            UNROLL for (int e = 0; e < 4; e++) UNROLL for (int v = 0; v < PN; v++)
                s[i * PN + v] = fma((REAL4)(x[e]), y[e][v], s[i * PN + v]);
        }
#else
        UNROLL for (int e = 0; e < TK; e++)
        {
            REAL x[ROWS];
            UNROLL for (int i = 0; i < ROWS; i += 4)
                vstore4(*(local const REAL4 *)(as + (q + e) * A_PITCH + ROW(i, r)), 0, x + i);
            UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < PN; v++)
                s[i * PN + v] = fma((REAL4)(x[i]), y[e][v], s[i * PN + v]);
        }
#endif
    }
}

/* Four sums to C, `step` apart, of which `valid` have a place there. */
static void put4(REAL4 s, global STORED_OUT *c, long step, int valid, int whole, REAL alpha, REAL beta)
{
    if (whole && valid >= 4) {
        const REAL4 all = beta == 0 ? alpha * s : fma((REAL4)(alpha), s, beta * LOAD4_C(c));
        STORE4_C(all, c);
        return;
    }
    for (int x = 0; x < min(valid, 4); x++, c += step) {
        const REAL one = beta == 0 ? alpha * s.s0 : fma(alpha, s.s0, beta * LOAD1_C(c));
        STORE1_C(one, c);
        s = s.s1230;
    }
}

/* Where product z of a matrix starts: z counts the four batch dimensions, the last fastest. */
static long start_of(long z, int4 size, long2 outer, long2 inner)
{
    const long z2 = z / size.s3, z1 = z2 / size.s2, z0 = z1 / size.s1;
    return z0 * outer.s0 + z1 % size.s1 * outer.s1 + z2 % size.s2 * inner.s0 + z % size.s3 * inner.s1;
}

__attribute__((reqd_work_group_size(THREADS, 1, 1))) kernel void
unit_matmul(global const STORED *restrict a, ulong a_start, global const STORED *restrict b, ulong b_start,
            global STORED_OUT *restrict c, ulong c_start, int m, int n, int k, long2 a_stride, long2 b_stride,
            long2 c_stride, int4 size, long2 a_outer, long2 a_inner, long2 b_outer, long2 b_inner, long2 c_outer,
            long2 c_inner, int products, REAL alpha, REAL beta, int aligned, local REAL4 *pool)
{
    const int down = (m + BM - 1) / BM, across = (n + BN - 1) / BN, tile = get_group_id(0);
    const int band = tile / (BAND * across), high = min(BAND, down - BAND * band), at = tile - BAND * across * band;
    const int i0 = (BAND * band + at % high) * BM, j0 = at / high * BN;
    const int r = get_local_id(0) / SN, u = get_local_id(0) % SN;

    for (int z = get_group_id(2); z < products; z += get_num_groups(2)) {
        global const STORED *az = a + a_start + start_of(z, size, a_outer, a_inner) + i0 * a_stride.s0;
        global const STORED *bz = b + b_start + start_of(z, size, b_outer, b_inner) + j0 * b_stride.s1;
        global STORED_OUT   *cz = c + c_start + start_of(z, size, c_outer, c_inner);
        local REAL          *now = (local REAL *)pool;
        REAL4                s[ROWS * PN], xa[LOADS_A], xb[LOADS_B];
        UNROLL for (int i = 0; i < ROWS * PN; i++) s[i] = 0;

#if BUFFERS == 2
        local REAL *next = now + SLICE;
        FETCH_A(0);
        FETCH_B(0);
        put_a(now, xa);
        put_b(now + A_SIZE, xb);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int p = BK; p < k + BK; p += BK) {
            if (p < k) {
                FETCH_A(p);
                FETCH_B(p);
            }
            multiply(s, now, now + A_SIZE, r, u);
            if (p < k) {
                put_a(next, xa);
                put_b(next + A_SIZE, xb);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            local REAL *used = now;
            now = next;
            next = used;
        }
#else
        for (int p = 0; p < k; p += BK) {
            FETCH_A(p);
            FETCH_B(p);
            put_a(now, xa);
            put_b(now + A_SIZE, xb);
            barrier(CLK_LOCAL_MEM_FENCE);
            multiply(s, now, now + A_SIZE, r, u);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
#endif
        UNROLL for (int i = 0; i < ROWS; i++)
        {
            const int row = i0 + ROW(i, r);
            if (row < m)
                UNROLL for (int v = 0; v < PN; v++)
                {
                    const int col = j0 + 4 * (v * SN + u);
                    put4(s[i * PN + v], cz + row * c_stride.s0 + col * c_stride.s1, c_stride.s1, n - col, aligned & 4,
                         alpha, beta);
                }
        }
    }
}
