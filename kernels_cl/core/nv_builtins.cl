/* SPDX-License-Identifier: MIT
 *
 * nv_builtins.cl: the functions of OpenCL C that an object of NVIDIA's front end leaves open, as far as kernels here use
 * them, for the builder that finishes such objects without the driver's own linker (plugins/nv_mma/build.c). Each does
 * what the driver's does, read off the assembly that the driver makes: work-item numbers come from special registers, and
 * what depends on a launch's offset from the driver's environment registers %envreg0 to 9:
 *     0 to 2 first group, 3 to 5 first work-item, 6 to 8 number of groups, 9 dimensions.
 * A program that needs another function is left to the driver, and builds twice as long: QST_LOG=info,cl tells. The front
 * end reads this before any other program can be finished, so what no kernel uses is not here. No macros, no launch of its
 * own.
 */
#define OVER __attribute__((overloadable))

/* ---- Work-items --------------------------------------------------------------------------------------------------- */

#define ENVREG(name, number)                                                                                           \
    static uint name(void)                                                                                             \
    {                                                                                                                  \
        uint value;                                                                                                    \
        __asm__("mov.b32 %0, %%envreg" #number ";" : "=r"(value));                                                     \
        return value;                                                                                                  \
    }
ENVREG(group0, 0)
ENVREG(group1, 1)
ENVREG(group2, 2)
ENVREG(item0, 3)
ENVREG(item1, 4)
ENVREG(item2, 5)
ENVREG(groups0, 6)
ENVREG(groups1, 7)
ENVREG(groups2, 8)
ENVREG(dimensions, 9)

#define BY_DIMENSION(name, x, y, z, beyond)                                                                            \
    size_t name(uint d)                                                                                                \
    {                                                                                                                  \
        return d == 0 ? (size_t)(x) : d == 1 ? (size_t)(y) : d == 2 ? (size_t)(z) : (size_t)(beyond);                   \
    }
#define TID(c)  (uint) __nvvm_read_ptx_sreg_tid_##c()
#define NTID(c) (uint) __nvvm_read_ptx_sreg_ntid_##c()
#define CTA(c)  (uint) __nvvm_read_ptx_sreg_ctaid_##c()
BY_DIMENSION(get_local_id, TID(x), TID(y), TID(z), 0)
BY_DIMENSION(get_local_size, NTID(x), NTID(y), NTID(z), 1)
BY_DIMENSION(get_group_id, CTA(x) + group0(), CTA(y) + group1(), CTA(z) + group2(), 0)
BY_DIMENSION(get_num_groups, groups0(), groups1(), groups2(), 1)
BY_DIMENSION(get_global_size, groups0() * NTID(x), groups1() * NTID(y), groups2() * NTID(z), 1)
#define GLOBAL(c, first) (ulong) TID(c) + first() + (ulong)NTID(c) * CTA(c)
BY_DIMENSION(get_global_id, GLOBAL(x, item0), GLOBAL(y, item1), GLOBAL(z, item2), 0)

uint get_work_dim(void)
{
    return dimensions();
}

void barrier(cl_mem_fence_flags flags)
{
    __asm__ volatile("bar.sync 0;" ::: "memory");
}
void OVER mem_fence(cl_mem_fence_flags flags)
{
    __asm__ volatile("membar.cta;" ::: "memory");
}

/* ---- Element by element ------------------------------------------------------------------------------------------- */

/* A function of one, two or three arguments on vectors of 2, 4, 8 and 16, by the one on halves. */
#define HALVES1(r, t, f, n)                                                                                         \
    r##n OVER f(t##n a)                                                                                                \
    {                                                                                                                  \
        return (r##n)(f(a.lo), f(a.hi));                                                                               \
    }
#define HALVES2(r, t, f, n)                                                                                         \
    r##n OVER f(t##n a, t##n b)                                                                                        \
    {                                                                                                                  \
        return (r##n)(f(a.lo, b.lo), f(a.hi, b.hi));                                                                   \
    }
#define HALVES3(r, t, f, n)                                                                                         \
    r##n OVER f(t##n a, t##n b, t##n c)                                                                                \
    {                                                                                                                  \
        return (r##n)(f(a.lo, b.lo, c.lo), f(a.hi, b.hi, c.hi));                                                       \
    }
#define WIDTHS(k, r, t, f) HALVES##k(r, t, f, 2) HALVES##k(r, t, f, 4) HALVES##k(r, t, f, 8) HALVES##k(r, t, f, 16)

#define REALS(t, fma_, fabs_, min_, max_, c)                                                                           \
    t OVER fma(t a, t b, t c_)                                                                                         \
    {                                                                                                                  \
        return fma_(a, b, c_);                                                                                         \
    }                                                                                                                  \
    t OVER fabs(t a)                                                                                                   \
    {                                                                                                                  \
        return fabs_(a);                                                                                               \
    }                                                                                                                  \
    t OVER fmin(t a, t b)                                                                                              \
    {                                                                                                                  \
        t d;                                                                                                           \
        __asm__(min_ " %0, %1, %2;" : "=" c(d) : c(a), c(b));                                                          \
        return d;                                                                                                      \
    }                                                                                                                  \
    t OVER fmax(t a, t b)                                                                                              \
    {                                                                                                                  \
        t d;                                                                                                           \
        __asm__(max_ " %0, %1, %2;" : "=" c(d) : c(a), c(b));                                                          \
        return d;                                                                                                      \
    }                                                                                                                  \
    WIDTHS(3, t, t, fma) WIDTHS(1, t, t, fabs) WIDTHS(2, t, t, fmin) WIDTHS(2, t, t, fmax)
REALS(float, __builtin_fmaf, __builtin_fabsf, "min.f32", "max.f32", "f")
REALS(double, __builtin_fma, __builtin_fabs, "min.f64", "max.f64", "d")

#define WHOLE(t)                                                                                                       \
    t OVER min(t a, t b)                                                                                               \
    {                                                                                                                  \
        return a < b ? a : b;                                                                                          \
    }                                                                                                                  \
    t OVER max(t a, t b)                                                                                               \
    {                                                                                                                  \
        return a > b ? a : b;                                                                                          \
    }
WHOLE(int)
WHOLE(uint)
WHOLE(long)
WHOLE(ulong)

/* ---- Bits --------------------------------------------------------------------------------------------------------- */

#define AS(to, from)                                                                                                   \
    to OVER as_##to(from a)                                                                                             \
    {                                                                                                                  \
        return __builtin_astype(a, to);                                                                                \
    }
#define AS_WIDTHS(to, from)                                                                                            \
    AS(to, from) AS(to##2, from##2) AS(to##4, from##4) AS(to##8, from##8) AS(to##16, from##16)
#define AS_ANY(a, b) AS_WIDTHS(a, b) AS_WIDTHS(b, a) AS_WIDTHS(a, a) AS_WIDTHS(b, b)
AS_ANY(float, uint)
AS_WIDTHS(int, float)
AS_WIDTHS(float, int)
AS_WIDTHS(int, int)
AS_WIDTHS(int, uint)
AS_WIDTHS(uint, int)
AS_ANY(double, ulong)
AS_WIDTHS(long, double)
AS_WIDTHS(double, long)
AS_WIDTHS(short, ushort)
AS_WIDTHS(ushort, short)

float __int_as_float(int a)
{
    return __builtin_astype(a, float);
}

int OVER isfinite(float a)
{
    return (__builtin_astype(a, uint) & 0x7fffffffu) < 0x7f800000u;
}
int OVER isfinite(double a)
{
    return (__builtin_astype(a, ulong) & 0x7ffffffffffffffful) < 0x7ff0000000000000ul;
}
int OVER isnan(float a)
{
    return (__builtin_astype(a, uint) & 0x7fffffffu) > 0x7f800000u;
}
int OVER isnan(double a)
{
    return (__builtin_astype(a, ulong) & 0x7ffffffffffffffful) > 0x7ff0000000000000ul;
}
int OVER isinf(float a)
{
    return (__builtin_astype(a, uint) & 0x7fffffffu) == 0x7f800000u;
}

/* The sign bits of a mask decide. */
#define ANY(t)                                                                                                         \
    int OVER any(t##2 a)                                                                                               \
    {                                                                                                                  \
        return (a.x | a.y) < 0;                                                                                        \
    }                                                                                                                  \
    int OVER any(t##4 a)                                                                                               \
    {                                                                                                                  \
        return (a.x | a.y | a.z | a.w) < 0;                                                                            \
    }                                                                                                                  \
    int OVER all(t##2 a)                                                                                               \
    {                                                                                                                  \
        return (a.x & a.y) < 0;                                                                                        \
    }                                                                                                                  \
    int OVER all(t##4 a)                                                                                               \
    {                                                                                                                  \
        return (a.x & a.y & a.z & a.w) < 0;                                                                            \
    }
ANY(int)
ANY(long)

#define SELECT(t, m)                                                                                                   \
    t##2 OVER select(t##2 a, t##2 b, m##2 c)                                                                           \
    {                                                                                                                  \
        return (t##2)(c.x < 0 ? b.x : a.x, c.y < 0 ? b.y : a.y);                                                       \
    }                                                                                                                  \
    t##4 OVER select(t##4 a, t##4 b, m##4 c)                                                                           \
    {                                                                                                                  \
        return (t##4)(select(a.lo, b.lo, c.lo), select(a.hi, b.hi, c.hi));                                             \
    }
SELECT(float, int)
SELECT(int, int)
SELECT(double, long)
SELECT(long, long)

/* ---- Conversions: each number as C converts it, which is to nearest for reals, towards zero for whole ones ----------- */

#define CONVERT(to, from)                                                                                              \
    to OVER convert_##to(from a)                                                                                       \
    {                                                                                                                  \
        return (to)a;                                                                                                  \
    }                                                                                                                  \
    WIDTHS_OF_CONVERT(to, from, 2, )                                                                                   \
    WIDTHS_OF_CONVERT(to, from, 4, 2)                                                                                  \
    WIDTHS_OF_CONVERT(to, from, 8, 4)                                                                                  \
    WIDTHS_OF_CONVERT(to, from, 16, 8)
#define WIDTHS_OF_CONVERT(to, from, n, h)                                                                              \
    to##n OVER convert_##to##n(from##n a)                                                                              \
    {                                                                                                                  \
        return (to##n)(convert_##to##h(a.lo), convert_##to##h(a.hi));                                                  \
    }
CONVERT(float, float)
CONVERT(float, double)
CONVERT(float, int)
CONVERT(float, uint)
CONVERT(double, double)
CONVERT(double, float)
CONVERT(double, int)
CONVERT(int, float)
CONVERT(int, double)
CONVERT(int, uint)
CONVERT(uint, int)
CONVERT(uint, float)
CONVERT(uint, ushort)
CONVERT(ushort, uint)
CONVERT(ushort, ushort)

/* ---- Memory ------------------------------------------------------------------------------------------------------- */

#define LOADED_2(p)  (p[0], p[1])
#define LOADED_4(p)  (p[0], p[1], p[2], p[3])
#define LOADED_8(p)  (p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7])
#define LOADED_16(p)                                                                                                   \
    (p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15])
#define LOAD(t, n, where)                                                                                              \
    t##n OVER vload##n(size_t i, const where t *p)                                                                     \
    {                                                                                                                  \
        p += i * n;                                                                                                    \
        return (t##n)LOADED_##n(p);                                                                                    \
    }
#define STORE(t, n, where)                                                                                             \
    void OVER vstore##n(t##n a, size_t i, where t *p)                                                                  \
    {                                                                                                                  \
        p += i * n;                                                                                                    \
        STORE_##n(p)                                                                                                   \
    }
#define STORE_2(p) p[0] = a.x; p[1] = a.y;
#define STORE_4(p) p[0] = a.x; p[1] = a.y; p[2] = a.z; p[3] = a.w;
#define STORE_8(p) STORE_4(p) p[4] = a.s4; p[5] = a.s5; p[6] = a.s6; p[7] = a.s7;
#define STORE_16(p)                                                                                                    \
    STORE_8(p) p[8] = a.s8; p[9] = a.s9; p[10] = a.sa; p[11] = a.sb; p[12] = a.sc; p[13] = a.sd; p[14] = a.se;         \
    p[15] = a.sf;
#define LOADS(t, where)  LOAD(t, 2, where) LOAD(t, 4, where) LOAD(t, 8, where) LOAD(t, 16, where)
#define STORES(t, where) STORE(t, 2, where) STORE(t, 4, where) STORE(t, 8, where) STORE(t, 16, where)
#define MEMORY(t)                                                                                                      \
    LOADS(t, global) LOADS(t, local) LOADS(t, private)                                                                 \
    STORES(t, global) STORES(t, local) STORES(t, private)
MEMORY(float)
MEMORY(double)
MEMORY(uint)
MEMORY(ushort)

static float of_half(ushort bits)
{
    float a;
    __asm__("{ .reg .f16 h; mov.b16 h, %1; cvt.f32.f16 %0, h; }" : "=f"(a) : "h"(bits));
    return a;
}
static ushort to_half(float a)
{
    ushort bits;
    __asm__("{ .reg .f16 h; cvt.rn.f16.f32 h, %1; mov.b16 %0, h; }" : "=h"(bits) : "f"(a));
    return bits;
}
#define HALF(where)                                                                                                    \
    float OVER vload_half(size_t i, const where half *p)                                                               \
    {                                                                                                                  \
        return of_half(((const where ushort *)p)[i]);                                                                  \
    }                                                                                                                  \
    float4 OVER vload_half4(size_t i, const where half *p)                                                             \
    {                                                                                                                  \
        const where ushort *q = (const where ushort *)p + 4 * i;                                                       \
        return (float4)(of_half(q[0]), of_half(q[1]), of_half(q[2]), of_half(q[3]));                                   \
    }                                                                                                                  \
    void OVER vstore_half_rte(float a, size_t i, where half *p)                                                        \
    {                                                                                                                  \
        ((where ushort *)p)[i] = to_half(a);                                                                           \
    }                                                                                                                  \
    void OVER vstore_half4_rte(float4 a, size_t i, where half *p)                                                      \
    {                                                                                                                  \
        where ushort *q = (where ushort *)p + 4 * i;                                                                   \
        q[0] = to_half(a.x);                                                                                           \
        q[1] = to_half(a.y);                                                                                           \
        q[2] = to_half(a.z);                                                                                           \
        q[3] = to_half(a.w);                                                                                           \
    }
HALF(global)
HALF(local)

/* ---- Atomics ------------------------------------------------------------------------------------------------------ */

#define ATOMIC(name, t, where, op, extra, value)                                                                       \
    t OVER name(volatile where t *p extra)                                                                             \
    {                                                                                                                  \
        t old;                                                                                                         \
        __asm__ volatile("atom." op " %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(value) : "memory");                     \
        return old;                                                                                                    \
    }
#define COMMA ,
/* state: of the memory, as the assembly calls it. */
#define ATOMICS(t, where, state, s)                                                                                    \
    ATOMIC(atomic_add, t, where, state ".add." s, COMMA t v, v)                                                        \
    ATOMIC(atomic_sub, t, where, state ".add." s, COMMA t v, -v)                                                       \
    ATOMIC(atomic_inc, t, where, state ".add." s, , (t)1)                                                              \
    ATOMIC(atomic_dec, t, where, state ".add." s, , (t)-1)                                                             \
    ATOMIC(atomic_min, t, where, state ".min." s, COMMA t v, v)                                                        \
    ATOMIC(atomic_max, t, where, state ".max." s, COMMA t v, v)                                                        \
    ATOMIC(atomic_or, t, where, state ".or.b32", COMMA t v, v)                                                         \
    ATOMIC(atomic_and, t, where, state ".and.b32", COMMA t v, v)                                                       \
    ATOMIC(atomic_xchg, t, where, state ".exch.b32", COMMA t v, v)                                                     \
    t OVER atomic_cmpxchg(volatile where t *p, t was, t v)                                                             \
    {                                                                                                                  \
        t old;                                                                                                         \
        __asm__ volatile("atom." state ".cas.b32 %0, [%1], %2, %3;"                                                    \
                         : "=r"(old)                                                                                   \
                         : "l"(p), "r"(was), "r"(v)                                                                    \
                         : "memory");                                                                                  \
        return old;                                                                                                    \
    }
ATOMICS(uint, global, "global", "u32")
ATOMICS(int, global, "global", "s32")
ATOMICS(uint, local, "shared", "u32")
ATOMICS(int, local, "shared", "s32")
