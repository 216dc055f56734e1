/* SPDX-License-Identifier: MIT
 *
 * digest.cl: sum[at] += Σ w(i) · f(x[i]) modulo 2^32, w(i) odd, f of an integer value the integer, of any other value a
 * mix of its bits. Linear in integers: the digest of a + r·b is that of a plus r times that of b, and one changed
 * element always changes it. Any one-dimensional index space. The host zeroes sum.
 */
#define WEIGHT(i) (((uint)(i) * 2654435761u + seed) | 1u)

#if TYPE == 2
static uint value_of(double x)
{
    int n = (int)fmax(fmin(x, 1073741824.0), -1073741824.0);
    uint2 bits = as_uint2(x);
    return (double)n == x ? (uint)n : bits.x * 0x85EBCA6Bu ^ bits.y;
}
#define VALUE(mem, i) value_of((mem)[i])
#else
static uint value_of(float x)
{
    int n = (int)fmax(fmin(x, 1073741824.0f), -1073741824.0f);
    return (float)n == x ? (uint)n : as_uint(x) * 0x85EBCA6Bu;
}
#if TYPE == 1
#define VALUE(mem, i) value_of((mem)[i])
#elif TYPE == 3
#define VALUE(mem, i) value_of(vload_half((i), (mem)))
#else
#define VALUE(mem, i) value_of(as_float((uint)(mem)[i] << 16))
#endif
#endif

/* The same of 16 neighbours. */
#if BLOCKED && TYPE == 2
static uint16 values_of(double16 x)
{
    int16   n = convert_int16(select((double16)(0), x, fabs(x) <= (double16)(1073741824.0)));
    int16   whole = convert_int16(convert_double16(n) == x);
    ulong16 bits = as_ulong16(x);
    return select(convert_uint16(bits) * 0x85EBCA6Bu ^ convert_uint16(bits >> 32), as_uint16(n), whole);
}
#define VALUES(p) values_of(vload16(0, p))
#elif BLOCKED
static uint16 values_of(float16 x)
{
    int16 n = convert_int16(select((float16)(0), x, fabs(x) <= (float16)(1073741824.0f)));
    return select(as_uint16(x) * 0x85EBCA6Bu, as_uint16(n), convert_float16(n) == x);
}
#if TYPE == 1
#define VALUES(p) values_of(vload16(0, p))
#elif TYPE == 3
#define VALUES(p) values_of(vload_half16(0, p))
#else
#define VALUES(p) values_of(as_float16(convert_uint16(vload16(0, p)) << 16))
#endif
#endif

kernel void digest(global const elem *mem, ulong from, ulong count, uint seed, uint at, global uint *sum)
{
    uint total = 0;

    mem += from;
#if BLOCKED
    uint16 totals = (uint16)(0);
    uint16 step = (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    ulong  vectors = count / 16;
    EACH(v, vectors)
        totals += VALUES(mem + v * 16) * ((((uint)(v * 16) + step) * 2654435761u + seed) | 1u);
    uint8 t8 = totals.lo + totals.hi;
    uint4 t4 = t8.lo + t8.hi;
    total = t4.x + t4.y + t4.z + t4.w;
    if (get_global_id(0) == 0)
        for (ulong i = vectors * 16; i < count; i++)
            total += VALUE(mem, i) * WEIGHT(i);
#else
    EACH(i, count)
        total += VALUE(mem, i) * WEIGHT(i);
#endif
    atomic_add(sum + at, total);
}
