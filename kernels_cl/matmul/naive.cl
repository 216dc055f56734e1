/* SPDX-License-Identifier: MIT
 *
 * naive.cl: C := alpha A B + beta C in the order of summation that numerics STRICT means.
 *
 * Mathematics   s = 0; for p = 0 … k - 1: s = fma(a(i,p), b(p,j), s)   one chain per element, never split
 *               beta == 0:  c(i,j) = alpha * s                         C is not read
 *               else:       c(i,j) = fma(alpha, s, beta * c(i,j))      beta * c rounds first
 *               Both kernels do just this for each element, so they agree bit for bit.
 * Index space   one dimension of any size: work-item t computes parts t, t + T, … of T work-items.
 *   naive_scalar  a part is one element; any strides
 *   naive_row16   a part is 16 adjacent columns of a row, the last part of a row the n % 16 (or 16) that remain;
 *                 columns of B and of C adjacent, n >= 16
 * Macros        ELEMENT  storage of A and B: 1 f32 (default), 2 f64, 3 f16, 4 bf16; sums are f64 for f64, else f32
 *               OUT      storage of C: ELEMENT (default) or 1
 *               An element is widened exactly; what is stored is rounded once, to the nearest, ties to even.
 * Local memory  none
 * Host          m, n and all batches at least 1, k at least 0; starts and strides in elements, not negative
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
typedef double   REAL;
typedef double16 REAL16;
#else
typedef float   REAL;
typedef float16 REAL16;
#endif

/* By storage type: what lies in memory, one element and 16 neighbours as REAL, one REAL stored. f16 needs no half
 * arithmetic of the device. */
#define STORED_1           float
#define STORED_2           double
#define STORED_3           half
#define STORED_4           ushort
#define LOAD1_1(p, i)      ((p)[i])
#define LOAD1_2(p, i)      ((p)[i])
#define LOAD1_3(p, i)      vload_half(i, p)
#define LOAD1_4(p, i)      as_float((uint)(p)[i] << 16)
#define LOAD16_1(p, i)     vload16(0, (p) + (i))
#define LOAD16_2(p, i)     vload16(0, (p) + (i))
#define LOAD16_3(p, i)     vload_half16(0, (p) + (i))
#define LOAD16_4(p, i)     as_float16(convert_uint16(vload16(0, (p) + (i))) << 16)
#define STORE1_1(x, p, i)  ((p)[i] = (float)(x))
#define STORE1_2(x, p, i)  ((p)[i] = (x))
#define STORE1_3(x, p, i)  vstore_half_rte(x, i, p)
#define STORE1_4(x, p, i)  ((p)[i] = narrow(x))
#define JOIN_(name, type)  name##_##type
#define JOIN(name, type)   JOIN_(name, type)
#define LOAD1(p, i)        JOIN(LOAD1, ELEMENT)(p, i)
#define LOAD16(p, i)       JOIN(LOAD16, ELEMENT)(p, i)
typedef JOIN(STORED, ELEMENT) STORED;
typedef JOIN(STORED, OUT) STORED_OUT;

#if OUT == 4
static ushort narrow(float x) /* to the nearest, ties to even; a NaN stays one */
{
    const uint bits = as_uint(x);
    return (ushort)((isnan(x) ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
#endif

/* The outer two and the inner two of the four batch strides of a matrix (or of the batch sizes). */
static long batch_start(long z, long2 outer, long2 inner, long2 size_outer, long2 size_inner)
{
    const long b3 = z % size_inner.s1, z2 = z / size_inner.s1;
    const long b2 = z2 % size_inner.s0, z1 = z2 / size_inner.s0;
    const long b1 = z1 % size_outer.s1, b0 = z1 / size_outer.s1;
    return b0 * outer.s0 + b1 * outer.s1 + b2 * inner.s0 + b3 * inner.s1;
}

static void finish(global STORED_OUT *c, REAL s, REAL alpha, REAL beta)
{
    if (beta == 0)
        JOIN(STORE1, OUT)(alpha * s, c, 0);
    else
        JOIN(STORE1, OUT)(fma(alpha, s, beta * JOIN(LOAD1, OUT)(c, 0)), c, 0);
}

#define ARGUMENTS                                                                                                     \
    global const STORED *a, ulong a_start, global const STORED *b, ulong b_start, global STORED_OUT *c, ulong c_start, \
        long m, long n, long k, long2 a_stride, long2 b_stride, long2 c_stride, long2 size_outer, long2 size_inner,   \
        long2 a_outer, long2 a_inner, long2 b_outer, long2 b_inner, long2 c_outer, long2 c_inner, REAL alpha,         \
        REAL beta
#define BATCHES (size_outer.s0 * size_outer.s1 * size_inner.s0 * size_inner.s1)

kernel void naive_scalar(ARGUMENTS)
{
    const long parts = BATCHES * m * n;
    for (long t = get_global_id(0); t < parts; t += get_global_size(0)) {
        const long j = t % n, i = t / n % m, z = t / n / m;
        global const STORED *pa = a + a_start + batch_start(z, a_outer, a_inner, size_outer, size_inner) + i * a_stride.s0;
        global const STORED *pb = b + b_start + batch_start(z, b_outer, b_inner, size_outer, size_inner) + j * b_stride.s1;
        REAL s = 0;
        for (long p = 0; p < k; p++)
            s = fma(LOAD1(pa, p * a_stride.s1), LOAD1(pb, p * b_stride.s0), s);
        finish(c + c_start + batch_start(z, c_outer, c_inner, size_outer, size_inner) + i * c_stride.s0 + j * c_stride.s1,
               s, alpha, beta);
    }
}

/* Adjacent work-items take adjacent rows of the same columns: they share what they read of B. The last part of a
 * row reads 16 columns that end with the row and keeps those that no other part has. */
kernel void naive_row16(ARGUMENTS)
{
    const long across = (n + 15) / 16, parts = BATCHES * m * across;
    for (long t = get_global_id(0); t < parts; t += get_global_size(0)) {
        const long i = t % m, j = 16 * (t / m % across), z = t / m / across;
        const long first = min(j, n - 16);
        global const STORED *pa = a + a_start + batch_start(z, a_outer, a_inner, size_outer, size_inner) + i * a_stride.s0;
        global const STORED *pb = b + b_start + batch_start(z, b_outer, b_inner, size_outer, size_inner) + first;
        global STORED_OUT   *pc = c + c_start + batch_start(z, c_outer, c_inner, size_outer, size_inner) + i * c_stride.s0 + first;
        REAL16 s = 0;
        for (long p = 0; p < k; p++)
            s = fma((REAL16)(LOAD1(pa, p * a_stride.s1)), LOAD16(pb, p * b_stride.s0), s);
        REAL each[16];
        vstore16(s, 0, each);
        for (long x = j - first; x < 16; x++)
            finish(pc + x, each[x], alpha, beta);
    }
}
