/* SPDX-License-Identifier: MIT
 *
 * gemv_cpu.cl: y := alpha M x + beta y for devices whose work-item is a thread; M is `count` x k, or k x `count` and
 * transposed. Without barriers.
 *
 * Mathematics   y(o) = alpha * s + beta * y(o), s the sum of M(o, p) x(p) over a slice of p; beta == 0: y is not read.
 *               gemv_dot     s in RU x UV vectors of partial sums, added at the end
 *               gemv_strip   s is one fma chain over p ascending from zero: naive.cl's order, bit for bit
 *               gemv_sweep   partial sums in y itself: one fma chain an element too, in steps of RB
 * Index space   work-groups of one work-item. Group (x, y, z): outputs x*per …, slice y of p, `run` products from z*run
 *               on. Dot: RU outputs at a time, whose lines are adjacent along p. Strip: SW vectors of adjacent outputs
 *               stay in registers while p runs. Sweep: RB lines of adjacent outputs at a time, CHUNK outputs of y being
 *               read and written again in the first-level cache: reads M in the order of memory.
 * Macros        F64      double instead of float; a vector is W = 8 elements instead of 16
 *               RU, UV   dot: outputs and vectors at a time      SW   strip: vectors of a strip
 *               RB       sweep: lines at a time                  One of RU, SW and RB is defined: its kernel is there
 * Local memory  none
 * Host          ld: the stride of M in the direction that is not adjacent; x of dot has step 1, y of strip and sweep has.
 *               Slice s of p is k_slice long and its y begins s * y_slice elements on; gemv_sweep: alpha 1, beta 0.
 *               `per` a multiple of RU, or of SW*W. Product z is (z / inner, z % inner) of the two batch strides.
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
#define UNROLL _Pragma("unroll")

/* A vector to any element of memory at once: what vstore16 becomes on PoCL are three stores and two shuffles. */
#ifdef __clang__
typedef VEC LOOSE __attribute__((aligned(sizeof(REAL))));
#define SET(x, p) (*(global LOOSE *)(p) = (x))
#else
#define SET(x, p) STORE(x, 0, p)
#endif

/* One product: outputs o0 … o1 - 1, sums of kz terms. All at the first element of it. */
#define ONE(name)                                                                                                     \
    static void name(global const REAL *restrict mat, long ld, global const REAL *restrict x, long x_step,            \
                     global REAL *restrict y, long y_step, int o0, int o1, int kz, REAL alpha, REAL beta)

#define KERNEL(name, one, LINE)                                                                                       \
    __attribute__((reqd_work_group_size(1, 1, 1))) kernel void name(                                                  \
        global const REAL *restrict mat, ulong mat_start, global const REAL *restrict x, ulong x_start,               \
        global REAL *restrict y, ulong y_start, int count, int k, long ld, long x_step, long y_step, long2 mat_batch, \
        long2 x_batch, long2 y_batch, int batches, int inner, REAL alpha, REAL beta, int per, int run, int k_slice,   \
        long y_slice)                                                                                                 \
    {                                                                                                                 \
        const int o0 = get_group_id(0) * per, o1 = min(count, o0 + per);                                              \
        const int p0 = get_group_id(1) * k_slice, kz = min(k_slice, k - p0);                                          \
        const int z0 = get_group_id(2) * run, z1 = min(batches, z0 + run);                                            \
        for (int z = z0; z < z1; z++) {                                                                               \
            const long2 at = (long2)(z / inner, z % inner);                                                           \
            const long2 of_mat = at * mat_batch, of_x = at * x_batch, of_y = at * y_batch;                            \
            one(mat + mat_start + of_mat.s0 + of_mat.s1 + p0 * (long)(LINE), ld,                                      \
                x + x_start + of_x.s0 + of_x.s1 + p0 * x_step, x_step,                                                \
                y + y_start + of_y.s0 + of_y.s1 + get_group_id(1) * y_slice, y_step, o0, o1, kz, alpha, beta);        \
        }                                                                                                             \
    }

static REAL saved(REAL alpha, REAL s, REAL beta, global const REAL *y)
{
    return beta == 0 ? alpha * s : fma(alpha, s, beta * *y);
}

#ifdef RU
static REAL sum(VEC v)
{
#ifdef F64
    const double4 a = v.lo + v.hi;
#else
    const float8 b = v.lo + v.hi;
    const float4 a = b.lo + b.hi;
#endif
    return (a.s0 + a.s2) + (a.s1 + a.s3);
}

ONE(dot)
{
    int o = o0;
    for (; o + RU <= o1; o += RU) {
        global const REAL *a = mat + o * ld;
        VEC                s[RU][UV];
        int                p = 0;
        UNROLL for (int r = 0; r < RU; r++) UNROLL for (int u = 0; u < UV; u++) s[r][u] = 0;
        for (; p + UV * W <= kz; p += UV * W)
            UNROLL for (int u = 0; u < UV; u++)
            {
                const VEC xv = LOAD(u, x + p);
                UNROLL for (int r = 0; r < RU; r++) s[r][u] = fma(LOAD(u, a + r * ld + p), xv, s[r][u]);
            }
        UNROLL for (int r = 0; r < RU; r++)
        {
            VEC  v = s[r][0];
            REAL t;
            UNROLL for (int u = 1; u < UV; u++) v += s[r][u];
            t = sum(v);
            for (int q = p; q < kz; q++)
                t = fma(a[r * ld + q], x[q], t);
            y[(o + r) * y_step] = saved(alpha, t, beta, y + (o + r) * y_step);
        }
    }
    for (; o < o1; o++) {
        global const REAL *a = mat + o * ld;
        VEC                v[4] = {0, 0, 0, 0};
        REAL               t;
        int                p = 0;
        for (; p + 4 * W <= kz; p += 4 * W)
            UNROLL for (int u = 0; u < 4; u++) v[u] = fma(LOAD(u, a + p), LOAD(u, x + p), v[u]);
        for (; p + W <= kz; p += W)
            v[0] = fma(LOAD(0, a + p), LOAD(0, x + p), v[0]);
        t = sum((v[0] + v[1]) + (v[2] + v[3]));
        for (; p < kz; p++)
            t = fma(a[p], x[p], t);
        y[o * y_step] = saved(alpha, t, beta, y + o * y_step);
    }
}
KERNEL(gemv_dot, dot, 1)
#endif

#ifdef SW
/* `V` vectors from output o on. */
#define STRIP(V)                                                                                                      \
    for (; o + V * W <= o1; o += V * W) {                                                                             \
        global const REAL *a = mat + o;                                                                               \
        VEC                s[V];                                                                                      \
        UNROLL for (int v = 0; v < V; v++) s[v] = 0;                                                                  \
        for (int p = 0; p < kz; p++, a += ld) {                                                                       \
            const VEC xv = x[p * x_step];                                                                             \
            UNROLL for (int v = 0; v < V; v++) s[v] = fma(LOAD(v, a), xv, s[v]);                                      \
        }                                                                                                             \
        UNROLL for (int v = 0; v < V; v++)                                                                            \
            SET(beta == 0 ? alpha * s[v] : fma((VEC)(alpha), s[v], beta * LOAD(v, y + o)), y + o + W * v);            \
    }

ONE(strip)
{
    int o = o0;
    STRIP(SW)
    STRIP(1)
    for (; o < o1; o++) {
        REAL s = 0;
        for (int p = 0; p < kz; p++)
            s = fma(mat[p * ld + o], x[p * x_step], s);
        y[o] = saved(alpha, s, beta, y + o);
    }
}
KERNEL(gemv_strip, strip, ld)
#endif

#ifdef RB
#define CHUNK (256 * W) /* of y: 16 KB */

/* `R` lines from p on, added to what is in y; the first ones write it. */
#define LINES(R)                                                                                                      \
    for (; p + R <= kz; p += R) {                                                                                     \
        global const REAL *a = mat + p * ld;                                                                          \
        REAL               xv[R];                                                                                     \
        int                o = c0;                                                                                    \
        UNROLL for (int r = 0; r < R; r++) xv[r] = x[(p + r) * x_step];                                               \
        for (; o + W <= c1; o += W) {                                                                                 \
            VEC s = p ? LOAD(0, y + o) : 0;                                                                           \
            UNROLL for (int r = 0; r < R; r++) s = fma((VEC)(xv[r]), LOAD(0, a + r * ld + o), s);                     \
            SET(s, y + o);                                                                                            \
        }                                                                                                             \
        for (; o < c1; o++) {                                                                                         \
            REAL s = p ? y[o] : 0;                                                                                    \
            UNROLL for (int r = 0; r < R; r++) s = fma(xv[r], a[r * ld + o], s);                                      \
            y[o] = s;                                                                                                 \
        }                                                                                                             \
    }

ONE(sweep)
{
    for (int c0 = o0; c0 < o1; c0 += CHUNK) {
        const int c1 = min(o1, c0 + CHUNK);
        int       p = 0;
        LINES(RB)
        LINES(1)
    }
}
KERNEL(gemv_sweep, sweep, ld)
#endif
