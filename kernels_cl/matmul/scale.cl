/* SPDX-License-Identifier: MIT
 *
 * scale.cl: C := beta * C for every stride and batch; with beta = 0 zeros are stored and C is not read.
 *
 * Index space: one dimension, groups of LANES work-items; a group takes every (number of groups)-th line (a row of C
 *   in one batch), its work-items share the line's columns.
 * Macros: TC element type of C (1 float, 2 double, 3 half, 4 bfloat16), LANES work-items in a group.
 * Local memory: none.
 * The host guarantees: local size LANES, distinct elements, sizes >= 1, beta representable in float unless TC is 2.
 */
#if TC == 2
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double elem;
typedef double number;
#elif TC == 1
typedef float elem;
typedef float number;
#elif TC == 3
typedef half   elem;
typedef float  number;
#else
typedef ushort elem;
typedef float  number;
#endif

#if TC == 4
/* Round to nearest, ties to even; a NaN stays one. */
ushort to_bf16(float x)
{
    uint bits = as_uint(x);
    return isnan(x) ? (ushort)(bits >> 16 | 64) : (ushort)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
#endif

static void scale_one(global elem *c, number beta)
{
#if TC == 3
    vstore_half_rte(beta == 0 ? 0.0f : beta * vload_half(0, c), 0, c);
#elif TC == 4
    *c = to_bf16(beta == 0 ? 0.0f : beta * as_float((uint)*c << 16));
#else
    *c = beta == 0 ? (number)0 : beta * *c;
#endif
}

kernel void scale(global elem *c, ulong start, long lines, long rows, long cols, long row, long col, long2 size01,
                  long2 size23, long2 step01, long2 step23, number beta)
{
    long lane = LANES == 1 ? 0 : get_local_id(0);
    for (long line = get_group_id(0); line < lines; line += get_num_groups(0)) {
        long         b = line / rows, i = line % rows;
        long         b3 = b % size23.y, rest = b / size23.y;
        long         b2 = rest % size23.x, b1 = rest / size23.x % size01.y, b0 = rest / size23.x / size01.y;
        global elem *p = c + start + b0 * step01.x + b1 * step01.y + b2 * step23.x + b3 * step23.y + i * row;
        if (col == 1)
            for (long j = lane; j < cols; j += LANES)
                scale_one(p + j, beta);
        else
            for (long j = lane; j < cols; j += LANES)
                scale_one(p + j * col, beta);
    }
}
