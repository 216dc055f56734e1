/* SPDX-License-Identifier: MIT
 *
 * probe.cl: what a device can do at most, in one program, since a program costs a driver more than a kernel in it.
 *
 *   chains_…      out[i] := 1, the end of a chain of `length` steps x := x·a + a with a = 1/2, started near 1. The
 *                 start's distance from 1 halves at each step until it is rounded away: exact from 64 steps on. Eight or
 *                 twelve chains a work-item are independent of each other, to hide the latency of an fma. `length` is a
 *                 multiple of 16, so that the loop's own instructions are one in fifty.
 *   read_…        out[0] := AND of all words of `from`, read `passes` times, another part of it by each work-item in each
 *                 pass so that no cache nearer than the footprint allows serves it. Words are all equal.
 *   launch        out[0] := 1, by one work-item: what a launch costs.
 *
 * Macros: TYPE 1 (f32), 2 (f64): of the chains; VECTORS 1: with the kernels of 64-byte vectors, which a GPU's compiler
 * would take a second over. No local memory. Index space: one dimension; …_vector… and …_blocks
 * have groups of one work-item. The host guarantees that out has room for all chains (chains_vector…), or says
 * how many elements it has (chains_scalar).
 */
#if TYPE == 2
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define real   double
#define lanes  double8
#define LANES  8
#define STORE  vstore8
#else
#define real   float
#define lanes  float16
#define LANES  16
#define STORE  vstore16
#endif

#define STEP(x)  x = fma(x, half_way, half_way);
#define EIGHT(x) STEP(x##0) STEP(x##1) STEP(x##2) STEP(x##3) STEP(x##4) STEP(x##5) STEP(x##6) STEP(x##7)
#define FOUR(x)  STEP(x##0) STEP(x##1) STEP(x##2) STEP(x##3)
#define FOUR_TIMES(steps)    steps steps steps steps
#define SIXTEEN_TIMES(steps) FOUR_TIMES(FOUR_TIMES_(steps))
#define FOUR_TIMES_(steps)   steps steps steps steps

/* Chains differ in their starts, or a compiler could make one of them all. */
#define BEGIN(type, x)                                                                                                 \
    const type half_way = (type)(a);                                                                                   \
    type x##0 = (type)((real)1 + (real)0.001f * (real)(get_global_id(0) & 255)), x##1 = x##0 + (real)0.01f,              \
         x##2 = x##1 + (real)0.01f, x##3 = x##2 + (real)0.01f, x##4 = x##3 + (real)0.01f, x##5 = x##4 + (real)0.01f,       \
         x##6 = x##5 + (real)0.01f, x##7 = x##6 + (real)0.01f;

kernel void chains_scalar(global real *out, ulong from, ulong count, uint length, real a)
{
    BEGIN(real, x)
    for (uint i = 0; i < length; i += 16) {
        SIXTEEN_TIMES(EIGHT(x))
    }
    real ends[8] = {x0, x1, x2, x3, x4, x5, x6, x7};
    for (uint k = 0; k < 8; k++) {
        ulong at = get_global_id(0) + k * get_global_size(0);
        if (at < count)
            out[from + at] = ends[k];
    }
}

#if VECTORS
kernel void chains_vector8(global real *out, ulong from, uint length, real a)
{
    BEGIN(lanes, x)
    for (uint i = 0; i < length; i += 16) {
        SIXTEEN_TIMES(EIGHT(x))
    }
    out += from + get_global_id(0) * (8 * LANES);
    STORE(x0, 0, out);
    STORE(x1, 1, out);
    STORE(x2, 2, out);
    STORE(x3, 3, out);
    STORE(x4, 4, out);
    STORE(x5, 5, out);
    STORE(x6, 6, out);
    STORE(x7, 7, out);
}

kernel void chains_vector12(global real *out, ulong from, uint length, real a)
{
    BEGIN(lanes, x)
    lanes y0 = x7 + (real)0.01f, y1 = y0 + (real)0.01f, y2 = y1 + (real)0.01f, y3 = y2 + (real)0.01f;
    for (uint i = 0; i < length; i += 16) {
        SIXTEEN_TIMES(EIGHT(x) FOUR(y))
    }
    out += from + get_global_id(0) * (12 * LANES);
    STORE(x0, 0, out);
    STORE(x1, 1, out);
    STORE(x2, 2, out);
    STORE(x3, 3, out);
    STORE(x4, 4, out);
    STORE(x5, 5, out);
    STORE(x6, 6, out);
    STORE(x7, 7, out);
    STORE(y0, 8, out);
    STORE(y1, 9, out);
    STORE(y2, 10, out);
    STORE(y3, 11, out);
}
#endif

/* Work-item 0, which always reads, tells the result; any other only what contradicts it, which also keeps its reads
 * alive, and nothing where it had nothing to read. */
#define TELL(word)                                                                                                     \
    if (get_global_id(0) == 0 || ((word) != expected && (word) != ~0u))                                                \
        out[to] = as_float(word);

#if VECTORS
/* Each group reads a block, as four streams side by side: one alone waits for memory. Blocks go round from pass to pass. */
kernel void read_blocks(global const uint *from, ulong at, global float *out, ulong to, uint vectors, uint passes,
                        uint expected)
{
    uint   groups = (uint)get_num_groups(0), per = (vectors + groups - 1) / groups;
    uint16 all0 = (uint16)(~0u), all1 = all0, all2 = all0, all3 = all0;

    from += at;
    for (uint pass = 0; pass < passes; pass++) {
        uint begin = min((((uint)get_group_id(0) + pass) % groups) * per, vectors), end = min(begin + per, vectors), v;
        uint quarter = (end - begin) / 4, next = begin + quarter;
        for (v = begin; v < next; v++) {
            all0 &= vload16(v, from);
            all1 &= vload16(v + quarter, from);
            all2 &= vload16(v + 2 * quarter, from);
            all3 &= vload16(v + 3 * quarter, from);
        }
        for (v = begin + 4 * quarter; v < end; v++)
            all0 &= vload16(v, from);
    }
    all0 &= all1 & all2 & all3;
    uint8 word8 = all0.lo & all0.hi;
    uint4 word4 = word8.lo & word8.hi;
    uint  word = word4.x & word4.y & word4.z & word4.w;
    TELL(word)
}
#endif

/* Neighbours read neighbours; what a work-item reads moves on from pass to pass. vectors: of 4 words. */
kernel void read_strides(global const uint *from, ulong at, global float *out, ulong to, uint vectors, uint passes,
                         uint expected)
{
    uint  items = (uint)get_global_size(0);
    uint4 both = (uint4)(~0u);

    from += at;
    for (uint pass = 0; pass < passes; pass++) {
        uint shift = (uint)(((ulong)pass * 40503u * 64u) % vectors);
        for (uint i = (uint)get_global_id(0); i < vectors; i += items) {
            uint v = i + shift;
            both &= vload4(v < vectors ? v : v - vectors, from);
        }
    }
    uint word = both.x & both.y & both.z & both.w;
    TELL(word)
}

kernel void launch(global float *out, ulong to)
{
    out[to] = 1.0f;
}
