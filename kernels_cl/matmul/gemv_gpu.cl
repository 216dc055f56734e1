/* SPDX-License-Identifier: MIT
 *
 * gemv_gpu.cl: y := alpha M x + beta y with work-groups that reduce in local memory; M is `count` x k, or k x `count`
 * and transposed.
 *
 * Mathematics   y(o) = alpha * s + beta * y(o), s the sum of M(o, p) x(p) over a slice of p: a partial fma chain each
 *               work-item, then a tree; beta == 0: y is not read
 * Index space   gemv_dot    lines of M adjacent along p: a group of LANES work-items an output; item l takes terms l, l +
 *                           LANES, … of p, WIDE adjacent ones at a time
 *               gemv_cols   outputs adjacent: a group of COLS x DEEP work-items for COLS outputs; item (c, d) takes terms
 *                           d, d + DEEP, … of p
 *               Group (x, y, z): outputs x, x + X, …, slice y of p, products z, z + Z, …
 * Macros        F64      double instead of float
 *               LANES, WIDE   dot: WIDE is 1 or 4; 4 wants lines and x aligned to four elements
 *               COLS, DEEP    cols: LANES is COLS * DEEP. One of the pairs is defined: its kernel is there
 * Local memory  `scratch`: LANES elements
 * Host          LANES a power of two and the size of the group, in one dimension; DEEP a power of two. ld: the stride of M
 *               in the direction that is not adjacent; x of dot has step 1. Slice s of p is k_slice long, a multiple of
 *               4, and its y begins s * y_slice elements on. Product z is (z / inner, z % inner) of the batch strides.
 */
#ifdef F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double  REAL;
typedef double4 REAL4;
#else
typedef float  REAL;
typedef float4 REAL4;
#endif
#ifdef COLS
#define LANES (COLS * DEEP)
#endif

/* The sum over items l, l + last, l + 2 last … is in item l < last afterwards. All items call it. */
static void reduce(local REAL *scratch, int l, int last, REAL s)
{
    scratch[l] = s;
    for (int reach = LANES / 2; reach >= last; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < reach)
            scratch[l] += scratch[l + reach];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

#define KERNEL(name)                                                                                                  \
    __attribute__((reqd_work_group_size(LANES, 1, 1))) kernel void name(                                              \
        global const REAL *restrict mat, ulong mat_start, global const REAL *restrict x, ulong x_start,               \
        global REAL *restrict y, ulong y_start, int count, int k, long ld, long x_step, long y_step, long2 mat_batch, \
        long2 x_batch, long2 y_batch, int batches, int inner, REAL alpha, REAL beta, int k_slice, long y_slice,       \
        local REAL *scratch)

/* The starts of product z and of this group's slice; `line` is M's stride along p. */
#define PRODUCT(line)                                                                                                 \
    const int   p0 = get_group_id(1) * k_slice, kz = min(k_slice, k - p0), l = get_local_id(0);                       \
    const long2 at = (long2)(z / inner, z % inner);                                                                   \
    const long2 of_mat = at * mat_batch, of_x = at * x_batch, of_y = at * y_batch;                                    \
    global const REAL *m = mat + mat_start + of_mat.s0 + of_mat.s1 + p0 * (long)(line);                               \
    global const REAL *v = x + x_start + of_x.s0 + of_x.s1 + p0 * x_step;                                             \
    global REAL       *to = y + y_start + of_y.s0 + of_y.s1 + get_group_id(1) * y_slice;

#ifndef COLS
KERNEL(gemv_dot)
{
    for (int z = get_group_id(2); z < batches; z += get_num_groups(2)) {
        PRODUCT(1)
        for (int o = get_group_id(0); o < count; o += get_num_groups(0)) {
            global const REAL *a = m + o * ld;
            REAL               s = 0;
            int                p = WIDE * l;
#if WIDE == 4
            REAL4 s4 = 0;
            for (; p + 4 <= kz; p += 4 * LANES)
                s4 = fma(*(global const REAL4 *)(a + p), *(global const REAL4 *)(v + p), s4);
            s = (s4.s0 + s4.s1) + (s4.s2 + s4.s3);
            for (int q = p; q < min(p + 4, kz); q++)
                s = fma(a[q], v[q], s);
#else
            for (; p < kz; p += LANES)
                s = fma(a[p], v[p], s);
#endif
            reduce(scratch, l, 1, s);
            if (l == 0) {
                global REAL *c = to + o * y_step;
                *c = beta == 0 ? alpha * scratch[0] : fma(alpha, scratch[0], beta * *c);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}
#else
KERNEL(gemv_cols)
{
    for (int z = get_group_id(2); z < batches; z += get_num_groups(2)) {
        PRODUCT(ld)
        for (int o0 = get_group_id(0) * COLS; o0 < count; o0 += get_num_groups(0) * COLS) {
            const int o = o0 + l % COLS;
            REAL      s = 0;
            if (o < count)
                for (int p = l / COLS; p < kz; p += DEEP)
                    s = fma(m[p * ld + o], v[p * x_step], s);
            reduce(scratch, l, COLS, s);
            if (l < COLS && o < count) {
                global REAL *c = to + o * y_step;
                *c = beta == 0 ? alpha * scratch[l] : fma(alpha, scratch[l], beta * *c);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}
#endif
