/* SPDX-License-Identifier: MIT
 *
 * core.cl: what the core's other kernels share: element types, a counter hash, and how work-items share an index.
 *
 * Macros: TYPE 1 float, 2 double, 3 half, 4 bfloat16; BLOCKED 1: each work-item takes one block of neighbours (CPU
 * devices), 0: neighbours go to neighbouring work-items (GPUs).
 */
#if TYPE == 2
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#if TYPE == 1
typedef float elem;
#define PUT(p, i, v) (p)[i] = (v)
#elif TYPE == 2
typedef double elem;
#define PUT(p, i, v) (p)[i] = (v)
#elif TYPE == 3
typedef half elem;
#define PUT(p, i, v) vstore_half((v), (i), (p))
#else
typedef ushort elem;
#define PUT(p, i, v) (p)[i] = (ushort)(as_uint(v) >> 16)
#endif

#if BLOCKED
#define EACH(i, count)                                                                                              \
    ulong per_ = ((count) + get_global_size(0) - 1) / get_global_size(0), begin_ = get_global_id(0) * per_,          \
          end_ = min((ulong)(count), begin_ + per_);                                                                \
    for (ulong i = begin_; i < end_; i++)
#else
#define EACH(i, count) for (ulong i = get_global_id(0); i < (count); i += get_global_size(0))
#endif

/* The finalizer of MurmurHash3 (A. Appleby, public domain) over a counter. */
static uint counter_hash(uint seed, ulong i)
{
    uint x = seed ^ ((uint)i * 0x9E3779B1u) ^ ((uint)(i >> 32) * 0x85EBCA77u);
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    return x ^ (x >> 16);
}
