/* SPDX-License-Identifier: MIT
 *
 * nv_split.cl: f32 operands as two planes of f16, for nv_planes.cl, and what is known of their range. Stands behind
 * nv_common.cl.
 *
 * Mathematics   a vector is a row of A or a column of B, k elements, M the largest size among them. x · 2^e = hi + lo + r,
 *               2^e such that M · 2^e lies in [2^14, 2^15), hi and lo in f16: |r| is at most 2^-22 |x| 2^e, or 2^-25 where
 *               that is more. Flags of a vector, for the guard:
 *                 1  fewer than three quarters of the elements reach 2^-6 M
 *                 2  some element that is not 0 does not reach 2^-18 M
 *                 4  M is not finite, or not within 2^-60 and 2^60
 *               Planes are good for a product where no vector has flag 4, and where none has 1 or none has 2: without 2
 *               each product of elements is right to 2^-19.8 of itself; without 1 at least half of the products in a sum
 *               are 2^-12 of the largest or more, so that what falls under the planes is at most 2^-25 of the sum of
 *               sizes. A vector of zeros has no flag.
 * Index space   one dimension, groups of 256. nv_split_rows: a group a vector, for a matrix with k adjacent.
 *               nv_split_maxima, then nv_split_columns, for the other kind: group g has 128 vectors from 128 (g % across)
 *               and block g / across of `blocks` of k. nv_split_flags: a work-item a vector of that kind.
 * Macros        LOOSE 1: starts and strides are any, else multiples of 16 bytes, as the adjacent extent
 * Local memory  4 KB
 * Host          planes of `vectors` (a multiple of 128) by `depth` (of 64) elements, the second `plane` elements after the
 *               first; what is beyond m, n or k in them becomes 0. part, count (blocks · vectors words), exponents, flags:
 *               where those begin in `words`, multiples of 4
 */
static uint pack(float a, float b)
{
    uint y;
    asm("cvt.rn.f16x2.f32 %0,%1,%2;" : "=r"(y) : "f"(b), "f"(a));
    return y;
}
static float2 unpack(uint x)
{
    float2 y;
    asm("{.reg .b16 u,v;mov.b32 {u,v},%2;cvt.f32.f16 %0,u;cvt.f32.f16 %1,v;}" : "=f"(y.x), "=f"(y.y) : "r"(x));
    return y;
}
static float4 read4(global const float *x, int there)
{
#if LOOSE
    return (float4)(there > 0 ? x[0] : 0, there > 1 ? x[1] : 0, there > 2 ? x[2] : 0, there > 3 ? x[3] : 0);
#else
    return there > 0 ? *(global const float4 *)x : (float4)(0);
#endif
}
/* Sizes by their bits: infinities and NaN are the largest. */
static uint size_of(float x)
{
    return as_uint(x) & 0x7fffffffu;
}
/* e for a vector whose largest size is m. */
static int exponent(uint m)
{
    return m < (127u - 60) << 23 || m > (127u + 60) << 23 ? 0 : 14 - ((int)(m >> 23) - 127);
}
static float power(int e)
{
    return as_float((uint)(e + 127) << 23);
}
static int is_large(float scaled)
{
    return size_of(scaled) >= (127u + 14 - 6 + 1) << 23; /* 2^-6 of at most 2^15 */
}
static int is_tiny(float scaled)
{
    return scaled != 0 && size_of(scaled) < (127u + 14 - 18 + 1) << 23;
}
static uint flags_of(uint m, int large, int tiny, int k)
{
    if (m == 0)
        return 0;
    return (4 * large < 3 * k ? 1u : 0u) | (tiny ? 2u : 0u) | (m < (127u - 60) << 23 || m > (127u + 60) << 23 ? 4u : 0u);
}
static void split4(global uint2 *to, long plane, float4 y)
{
    const uint2  h = (uint2)(pack(y.x, y.y), pack(y.z, y.w));
    const float2 u = unpack(h.x), v = unpack(h.y);
    to[0] = h;
    to[plane / 4] = (uint2)(pack(y.x - u.x, y.y - u.y), pack(y.z - v.x, y.w - v.y));
}

kernel void nv_split_rows(global const float *x, ulong x_start, int vectors, int k, int ld, int depth, global ushort *planes,
                          long plane, global uint *words, int exponents, int flags)
{
    local uint reduce[256];
    const int  t = get_local_id(0), r = get_group_id(0);
    global const float *from = x + x_start + (long)r * ld;
    uint m = 0, counts = 0;
    if (r < vectors)
        for (int i = t * 4; i < k; i += 1024) {
            const float4 v = read4(from + i, k - i);
            m = max(max(m, max(size_of(v.x), size_of(v.y))), max(size_of(v.z), size_of(v.w)));
        }
    reduce[t] = m;
    SYNC;
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s)
            reduce[t] = max(reduce[t], reduce[t + s]);
        SYNC;
    }
    m = reduce[0];
    SYNC;
    const int   e = exponent(m);
    const float f = power(e);
    int large = 0, tiny = 0;
    for (int i = t * 4; i < depth; i += 1024) {
        const float4 y = f * (r < vectors ? read4(from + i, k - i) : (float4)(0));
        large += is_large(y.x) + is_large(y.y) + is_large(y.z) + is_large(y.w);
        tiny |= is_tiny(y.x) | is_tiny(y.y) | is_tiny(y.z) | is_tiny(y.w);
        split4((global uint2 *)planes + ((long)r * depth + i) / 4, plane, y);
    }
    reduce[t] = (uint)large << 1 | (uint)tiny; /* tiny as a count would spill into large: only its bit is kept */
    SYNC;
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s)
            reduce[t] = ((reduce[t] & ~1u) + (reduce[t + s] & ~1u)) | ((reduce[t] | reduce[t + s]) & 1u);
        SYNC;
    }
    counts = reduce[0];
    if (t == 0) {
        words[exponents + r] = (uint)-e;
        words[flags + r] = flags_of(m, counts >> 1, counts & 1, k);
    }
}

kernel void nv_split_maxima(global const float *x, ulong x_start, int vectors, int k, int ld, int across, int blocks,
                            global uint *words, int part)
{
    local uint4 reduce[8][32];
    const int   t = get_local_id(0), g = get_group_id(0), c = g % across * 128 + (t & 31) * 4, block = g / across, y = t >> 5;
    const int   rows = (k + blocks - 1) / blocks, end = min(k, (block + 1) * rows);
    uint4 m = 0;
    if (c < vectors)
        for (int i = block * rows + y; i < end; i += 8) {
            const float4 v = read4(x + x_start + (long)i * ld + c, vectors - c);
            m = (uint4)(max(m.x, size_of(v.x)), max(m.y, size_of(v.y)), max(m.z, size_of(v.z)), max(m.w, size_of(v.w)));
        }
    reduce[y][t & 31] = m;
    SYNC;
    if (y == 0) {
        for (int i = 1; i < 8; i++) {
            const uint4 o = reduce[i][t];
            m = (uint4)(max(m.x, o.x), max(m.y, o.y), max(m.z, o.z), max(m.w, o.w));
        }
        *(global uint4 *)(words + part + (long)block * across * 128 + c) = m;
    }
}

/* The largest of four adjacent vectors, over all blocks. */
static uint4 maxima(global const uint *part, int c, int across, int blocks)
{
    uint4 m = 0;
    for (int i = 0; i < blocks; i++) {
        const uint4 o = *(global const uint4 *)(part + (long)i * across * 128 + c);
        m = (uint4)(max(m.x, o.x), max(m.y, o.y), max(m.z, o.z), max(m.w, o.w));
    }
    return m;
}

kernel void nv_split_columns(global const float *x, ulong x_start, int vectors, int k, int ld, int across, int blocks,
                             int depth, global ushort *planes, long plane, global uint *words, int part, int count,
                             int exponents)
{
    local uint4 reduce[8][32];
    const int   t = get_local_id(0), g = get_group_id(0), c = g % across * 128 + (t & 31) * 4, block = g / across, y = t >> 5;
    const int   rows = (depth + blocks - 1) / blocks, end = min(depth, (block + 1) * rows);
    const uint4 m = maxima(words + part, c, across, blocks);
    const int   e0 = exponent(m.x), e1 = exponent(m.y), e2 = exponent(m.z), e3 = exponent(m.w);
    const float4 f = (float4)(power(e0), power(e1), power(e2), power(e3));
    uint4 n = 0; /* large in the upper 31 bits, tiny in the lowest */
    for (int i = block * rows + y; i < end; i += 8) {
        const float4 v = i < k ? read4(x + x_start + (long)i * ld + c, vectors - c) : (float4)(0);
        const float4 s = v * f;
        n = (uint4)((n.x + 2 * is_large(s.x)) | is_tiny(s.x), (n.y + 2 * is_large(s.y)) | is_tiny(s.y),
                    (n.z + 2 * is_large(s.z)) | is_tiny(s.z), (n.w + 2 * is_large(s.w)) | is_tiny(s.w));
        split4((global uint2 *)planes + ((long)i * across * 128 + c) / 4, plane, s);
    }
    reduce[y][t & 31] = n;
    SYNC;
    if (y == 0) {
        for (int i = 1; i < 8; i++) {
            const uint4 o = reduce[i][t], one = (uint4)(1);
            n = ((n & ~one) + (o & ~one)) | ((n | o) & one);
        }
        *(global uint4 *)(words + count + (long)block * across * 128 + c) = n;
        if (block == 0)
            *(global uint4 *)(words + exponents + c) = (uint4)((uint)-e0, (uint)-e1, (uint)-e2, (uint)-e3);
    }
}

kernel void nv_split_flags(int k, int across, int blocks, global uint *words, int part, int count, int flags)
{
    const int c = get_global_id(0);
    if (c >= across * 128)
        return;
    uint m = 0, large = 0, tiny = 0;
    for (int i = 0; i < blocks; i++) {
        const uint n = words[count + (long)i * across * 128 + c];
        m = max(m, words[part + (long)i * across * 128 + c]);
        large += n >> 1;
        tiny |= n & 1;
    }
    words[flags + c] = flags_of(m, large, tiny, k);
}
