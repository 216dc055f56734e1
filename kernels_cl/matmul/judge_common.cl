/* SPDX-License-Identifier: MIT
 *
 * judge_common.cl: what the judge's kernels share: element types as numbers and as integers, batches, a hash. The judge asks whether
 * C = alpha * A * B + beta * C0, of integers in judge_equal.cl and judge_locate.cl, of reals in judge_bound.cl. The host joins
 * this file with one of them, or with two.
 *
 * A line is a row of a matrix in one batch. V lines or columns are done at a time.
 * Macros: TA, TB, TC element types (1 float, 2 double, 3 half, 4 bfloat16); R64 1: the reference is double; LANES
 *   work-items in a group, 1 on a CPU: no barriers then, vectors of 16, and neighbouring work in one work-item; else
 *   vectors of 4, and neighbouring work in neighbouring work-items; USUAL 1: the host promises what most problems are, one
 *   batch, beta 0, and the elements of a row next to each other in A, B and C. Half of the code is for what they are not, and
 *   a key's first call waits for it to be built.
 * Index spaces: one dimension, groups of LANES work-items.
 */
#pragma OPENCL FP_CONTRACT OFF
#if R64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define CAT_(a, b) a##b
#define CAT(a, b)  CAT_(a, b)

#if LANES == 1
#define V 16
#else
#define V 4
#endif
#define VEC(type)  CAT(type, V)
#define TO(type)   CAT(convert_, VEC(type))
#define VLOAD(p)   CAT(vload, V)(0, p)
#define UNBF(x)    CAT(as_float, V)(CAT(convert_uint, V)(x) << 16)
#define VSTORE     CAT(vstore, V)

/* In front of a loop whose body is not worth having several times: on a GPU a key's first call waits for this to be built. */
#if LANES == 1
#define ROLLED
#else
#define ROLLED _Pragma("unroll 1")
#endif
/* a / b of numbers under 2^32: divisions of 64 bits are long code. */
#define QUOTIENT(a, b) ((long)((uint)(a) / (uint)(b)))

/* By element type: as stored, as a number, one, V neighbours. */
#define ELEM_1     float
#define ELEM_2     double
#define ELEM_3     half
#define ELEM_4     ushort
#define NUMBER_1   float
#define NUMBER_2   double
#define NUMBER_3   float
#define NUMBER_4   float
#define GET_1(p)   (*(p))
#define GET_2(p)   (*(p))
#define GET_3(p)   vload_half(0, p)
#define GET_4(p)   as_float((uint) * (p) << 16)
#define GETV_1(p)  VLOAD(p)
#define GETV_2(p)  VLOAD(p)
#define GETV_3(p)  CAT(vload_half, V)(0, p)
#define GETV_4(p)  UNBF(VLOAD(p))
#define ELEM(t)    CAT(ELEM_, t)
#define NUMBER(t)  CAT(NUMBER_, t)
#define GET(t, p)  CAT(GET_, t)(p)
#define GETV(t, p) CAT(GETV_, t)(p)

typedef ELEM(TA) elem_a;
typedef ELEM(TB) elem_b;
typedef ELEM(TC) elem_c;
typedef NUMBER(TC) number_c;

#if LANES == 1
#define LANE 0
#else
#define LANE ((long)get_local_id(0))
#endif

/* Where batch b begins: sizes and steps of the four batch dimensions, outermost first. There are fewer than 2^32 batches. */
static long batch_at(uint b, long2 size01, long2 size23, long2 step01, long2 step23)
{
    const uint n1 = (uint)size01.y, n2 = (uint)size23.x, n3 = (uint)size23.y;
    uint b3 = b % n3, rest = b / n3;
    uint b2 = rest % n2, b1 = rest / n2 % n1, b0 = rest / n2 / n1;
    return b0 * step01.x + b1 * step01.y + b2 * step23.x + b3 * step23.y;
}

/* What USUAL promises, as constants; the batch that a line is in. */
#if USUAL
#define BATCHES(n)           1L
#define BESIDE(stride)       1L
#define SCALED(beta)         0
#define BATCH_OF(line, rows) 0L
#define BATCH_AT(b, steps)   0L
#else
#define BATCHES(n)           (n)
#define BESIDE(stride)       (stride)
#define SCALED(beta)         (beta)
#define BATCH_OF(line, rows) QUOTIENT(line, rows)
#define BATCH_AT(b, steps) ((size01.x * size01.y * size23.x * size23.y) == 1 ? 0 : \
                            batch_at((uint)(b), size01, size23, steps##01, steps##23))
#endif

static uint hash(ulong seed, uint i)
{
    uint x = (i ^ (uint)seed) * 0x9e3779b1u + (uint)(seed >> 32);
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

#define LARGEST ((number_c)1073741824)

/* An element of C as an integer; `bad` is set where it is none of at most 2^30. */
static int whole(number_c x, int *bad)
{
    int v = fabs(x) <= LARGEST ? (int)x : 0;
    *bad |= (number_c)v != x;
    return v;
}
