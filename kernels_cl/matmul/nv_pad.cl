/* SPDX-License-Identifier: MIT
 *
 * nv_pad.cl: ragged matrices of 16-bit elements into scratch whose rows are aligned, for kernels that copy 16 bytes at a
 * time. Plain OpenCL C: nothing here is NVIDIA's.
 *
 * Mathematics   row y of each matrix, `across` elements from any start, becomes a row of `pieces` pieces of 8; elements that
 *               the matrix does not have become 0.
 * Reads         a piece of a row lies in two of memory's aligned pieces of 16 bytes, which are read whole and shifted
 *               together, where both lie between the matrix's first element and its last; elements between its rows are
 *               read with them, and dropped. At both ends it is read element by element.
 * Index space   one dimension, groups of 256. Two operands, A and B; A's groups come first. For each, group g has block
 *               g % blocks of matrix g / blocks; a block is 1024 pieces in the scratch's order, four a work-item.
 * Arguments     for each operand: it, where it starts, its scratch; shape: across, down, distance of rows, pieces a row;
 *               spread: blocks a matrix, matrices of the inner batch, groups in all; distance of matrices, outer then inner.
 *               An operand of no groups is not looked at.
 * Host          scratch begins at a multiple of 16 bytes; pieces of a matrix and groups below 2^31
 */
#define UNROLL  _Pragma("unroll")
#define GROUP   256
#define AT_ONCE 4
#define SKIP(x) ((int)((ulong)(x)&15) / 2) /* elements from the aligned piece that x lies in to x */

/* What is left of words of 16-bit elements where `has` of the elements from the word's first on are there. */
static uint keep(uint word, int has)
{
    return has > 1 ? word : has > 0 ? word & 0xffffu : 0;
}

/* The 8 elements from `skip` on in two pieces. By masks: a branch would part the reads of several pieces. */
#define CHOOSE(bit, x, y) (((x) & (uint4)(-((skip) >> (bit) & 1))) | ((y) & ~(uint4)(-((skip) >> (bit) & 1))))
static uint4 shifted(uint4 one, uint4 two, int skip)
{
    one = CHOOSE(2, (uint4)(one.zw, two.xy), one);
    two = CHOOSE(2, two.zwzw, two);
    one = CHOOSE(1, (uint4)(one.yzw, two.x), one);
    two.x = skip & 2 ? two.y : two.x;
    return CHOOSE(0, one >> 16 | (uint4)(one.yzw, two.x) << 16, one);
}

/* 8 elements of which the first `has` are there. */
static uint4 read_each(global const ushort *x, int has)
{
    uint e[8];
    UNROLL for (int i = 0; i < 8; i++) e[i] = i < has ? x[i] : 0;
    return (uint4)(e[0] | e[1] << 16, e[2] | e[3] << 16, e[4] | e[5] << 16, e[6] | e[7] << 16);
}
static uint4 kept(uint4 x, int has)
{
    return (uint4)(keep(x.x, has), keep(x.y, has - 2), keep(x.z, has - 4), keep(x.w, has - 6));
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
kernel void nv_pad(global const ushort *a, ulong a_start, global uint4 *a_to, int4 a_shape, int4 a_spread, long2 a_batch,
                   global const ushort *b, ulong b_start, global uint4 *b_to, int4 b_shape, int4 b_spread, long2 b_batch)
{
    const int   second = (int)get_group_id(0) >= a_spread.z, g = (int)get_group_id(0) - (second ? a_spread.z : 0);
    const int4  shape = second ? b_shape : a_shape, spread = second ? b_spread : a_spread;
    const long2 batch = second ? b_batch : a_batch;
    const int   z = g / spread.x, pieces = shape.y * shape.w;
    const int   first = (g - z * spread.x) * (GROUP * AT_ONCE) + (int)get_local_id(0);
    const long  span = (long)(shape.y - 1) * shape.z + shape.x; /* elements from the matrix's first to its last */
    global const ushort *matrix = (second ? b + b_start : a + a_start) + z / spread.y * batch.x + z % spread.y * batch.y;
    global uint4        *to = (second ? b_to : a_to) + (long)z * pieces + first;
    global const ushort *from[AT_ONCE];
    int                  has[AT_ONCE], inside = 1;
    uint4                x[AT_ONCE];
    UNROLL for (int i = 0; i < AT_ONCE; i++) {
        const int  piece = first + i * GROUP, row = piece / shape.w, column = (piece - row * shape.w) * 8;
        const long at = (long)row * shape.z + column;
        from[i] = matrix + at;
        has[i] = piece < pieces ? shape.x - column : 0;
        inside &= at >= SKIP(from[i]) && at - SKIP(from[i]) + 16 <= span;
    }
    if (inside) {
        uint4 next[AT_ONCE];
        UNROLL for (int i = 0; i < AT_ONCE; i++) {
            x[i] = *(global const uint4 *)(from[i] - SKIP(from[i]));
            next[i] = *(global const uint4 *)(from[i] - SKIP(from[i]) + 8);
        }
        UNROLL for (int i = 0; i < AT_ONCE; i++) x[i] = kept(shifted(x[i], next[i], SKIP(from[i])), has[i]);
    } else {
        UNROLL for (int i = 0; i < AT_ONCE; i++) x[i] = read_each(from[i], has[i]);
    }
    UNROLL for (int i = 0; i < AT_ONCE; i++)
        if (first + i * GROUP < pieces)
            to[i * GROUP] = x[i];
}
