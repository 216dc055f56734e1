/* SPDX-License-Identifier: MIT
 *
 * gemv_add.cl: the second step of a product with a vector that was split along p, and the product of two vectors.
 *
 * Mathematics   gemv_add    y(o) = alpha * (w_0(o) + w_1(o) + …) + beta * y(o), w_s the partial result of slice s
 *               gemv_outer  c(i, j) = alpha * (a(i) * b(j)) + beta * c(i, j): one term, naive.cl's order, bit for bit
 *               beta == 0: y and c are not read
 * Index space   of any size. gemv_add: two dimensions, work-item (x, z) takes outputs x*WIDE … of product z, and every X-th
 *               and Z-th from there: no division an output, which takes longer than the sum. gemv_outer: one dimension,
 *               work-item t takes parts t, t + T, … of T; a part is 16 adjacent columns of a row of a product, or what
 *               is left
 * Macros        F64   double instead of float
 *               WIDE  1, or 16: adjacent outputs of gemv_add at a time, for work-items that are threads
 * Local memory  none
 * Host          the partial results lie dense in `w`: [product][slice][count]; columns of c adjacent, and b's elements.
 *               Product z is (z / inner, z % inner) of the two batch strides
 */
#pragma OPENCL FP_CONTRACT OFF

#ifdef F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double   REAL;
typedef double16 VEC;
#else
typedef float   REAL;
typedef float16 VEC;
#endif

#ifndef WIDE
#define WIDE 1
#endif

kernel void gemv_add(global const REAL *restrict w, int slices, global REAL *restrict y, ulong y_start, int count,
                     long y_step, long2 y_batch, int batches, int inner, REAL alpha, REAL beta)
{
    for (int z = get_global_id(1); z < batches; z += get_global_size(1)) {
        global const REAL *from = w + (long)z * slices * count;
        global REAL       *to = y + y_start + z / inner * y_batch.s0 + z % inner * y_batch.s1;
        for (int o = WIDE * (int)get_global_id(0); o < count; o += WIDE * (int)get_global_size(0)) {
#if WIDE == 16
            if (o + WIDE <= count && y_step == 1) {
                VEC s = vload16(0, from + o);
                for (int x = 1; x < slices; x++)
                    s += vload16(0, from + (long)x * count + o);
                vstore16(beta == 0 ? alpha * s : fma((VEC)(alpha), s, beta * vload16(0, to + o)), 0, to + o);
                continue;
            }
#endif
            for (int q = o; q < min(o + WIDE, count); q++) {
                REAL s = from[q];
                for (int x = 1; x < slices; x++)
                    s += from[(long)x * count + q];
                to[q * y_step] = beta == 0 ? alpha * s : fma(alpha, s, beta * to[q * y_step]);
            }
        }
    }
}

kernel void gemv_outer(global const REAL *restrict a, ulong a_start, global const REAL *restrict b, ulong b_start,
                       global REAL *restrict c, ulong c_start, int m, int n, long a_step, long ldc, long2 a_batch,
                       long2 b_batch, long2 c_batch, int batches, int inner, REAL alpha, REAL beta)
{
    const int  across = (n + 15) / 16;
    const long parts = (long)batches * m * across;
    for (long t = get_global_id(0); t < parts; t += get_global_size(0)) {
        const long z = t / across / m, i = t / across % m, outer_z = z / inner, inner_z = z % inner;
        const int  j = 16 * (int)(t % across), cols = min(16, n - j);
        const REAL x = a[a_start + outer_z * a_batch.s0 + inner_z * a_batch.s1 + i * a_step];
        global const REAL *from = b + b_start + outer_z * b_batch.s0 + inner_z * b_batch.s1 + j;
        global REAL       *to = c + c_start + outer_z * c_batch.s0 + inner_z * c_batch.s1 + i * ldc + j;
        if (cols == 16) {
            const VEC s = x * vload16(0, from);
            vstore16(beta == 0 ? alpha * s : fma((VEC)(alpha), s, beta * vload16(0, to)), 0, to);
            continue;
        }
        for (int q = 0; q < cols; q++)
            to[q] = beta == 0 ? alpha * (x * from[q]) : fma(alpha, x * from[q], beta * to[q]);
    }
}
