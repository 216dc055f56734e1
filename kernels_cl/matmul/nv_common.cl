/* SPDX-License-Identifier: MIT
 *
 * nv_common.cl: what the kernels of the plugin nv_mma begin with. The host puts this text before theirs.
 *
 * Arguments     A is m × k, B is k × n, C is m × n with adjacent columns; starts and strides in elements. TA: rows of A
 *               are adjacent, else its columns; TB: rows of B are adjacent, else its columns; a_ld and b_ld are the
 *               stride of the other direction. Two batch dimensions, strides outer then inner; product z is
 *               (z / inner, z % inner).
 *               PACKED: numbers share arguments, each of which makes a launch 0.04 µs longer; kernels of large tiles came
 *               out slower so
 * Index space   one dimension: work-group g computes tile g % T of product g / T, T tiles a product. Tiles go column by
 *               column through bands of GW rows of tiles, so that groups that run together share rows and columns in
 *               the second-level cache.
 * Copies        cp.async: 16 bytes where a matrix lies as the tile wants it and its start and strides are multiples of
 *               16 bytes, else element by element (LOOSE: no matrix is known to be aligned). Elements beyond m, n or k
 *               are not read: they become zeros. FULL: m, n and k are multiples of the tile, nothing lies beyond.
 * wgmma         the compiler behind OpenCL C targets sm_90, where wgmma is refused. Each stands in the PTX as a comment,
 *               "//@ …", with its operands; the host uncomments and retargets to sm_90a.
 * Host          m, n at least 1, strides below 2^31, the grid a multiple of the group
 */
#pragma OPENCL FP_CONTRACT OFF

#ifndef TA
#define TA 0
#endif
#ifndef TB
#define TB 0
#endif
#ifndef LOOSE
#define LOOSE 0
#endif
#ifndef FULL
#define FULL 0
#endif
#ifndef PACKED
#define PACKED 0
#endif
#ifndef GW
#define GW 8
#endif
#ifndef STAGES
#define STAGES 2
#endif

#define UNROLL    _Pragma("unroll")
#define TEXT_(x)  #x
#define TEXT(x)   TEXT_(x)
#define SYNC      barrier(CLK_LOCAL_MEM_FENCE)
#define WGMMA_ON  "//@ "

#if FULL
#define COPY16(to, from, there) asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(to), "l"(from))
#define COPY4(to, from, there)  asm volatile("cp.async.ca.shared.global [%0],[%1],4;" ::"r"(to), "l"(from))
#define WITHIN(x)               1
#else /* nothing is read where `there` is false: zeros are written (a copy of a part of the bytes is several copies) */
#define COPY16(to, from, there)                                                                                       \
    asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(to), "l"(from), "r"((there) ? 16 : 0))
#define COPY4(to, from, there)                                                                                        \
    asm volatile("cp.async.ca.shared.global [%0],[%1],4,%2;" ::"r"(to), "l"(from), "r"((there) ? 4 : 0))
#define WITHIN(x) (x)
#endif
#define COMMIT asm volatile("cp.async.commit_group;")
/* Waits until no more than AHEAD - 1 of this work-item's slices are under way. */
#if AHEAD == 1
#define WAIT asm volatile("cp.async.wait_group 0;" ::: "memory")
#elif AHEAD == 2
#define WAIT asm volatile("cp.async.wait_group 1;" ::: "memory")
#elif AHEAD == 3
#define WAIT asm volatile("cp.async.wait_group 2;" ::: "memory")
#else
#define WAIT asm volatile("cp.async.wait_group 3;" ::: "memory")
#endif

/* Local memory by address, as PTX wants it. */
#define LDS1(r0, at)             asm volatile("ld.shared.b32 %0,[%1];" : "=r"(r0) : "r"(at) : "memory")
#define LDS2(r0, r1, at)         asm volatile("ld.shared.v2.b32 {%0,%1},[%2];" : "=r"(r0), "=r"(r1) : "r"(at) : "memory")
#define LDS4(r0, r1, r2, r3, at)                                                                                      \
    asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3},[%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(at) : "memory")
#define STS1(at, r0)             asm volatile("st.shared.b32 [%0],%1;" ::"r"(at), "r"(r0) : "memory")
#define STS4(at, r0, r1, r2, r3)                                                                                      \
    asm volatile("st.shared.v4.b32 [%0],{%1,%2,%3,%4};" ::"r"(at), "r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory")

/* A warp's lanes wait for each other; and: which of them say so, a bit each. */
#define WARP_SYNC asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
static uint nv_which(int x)
{
    uint which;
    asm volatile("{.reg .pred p;setp.ne.s32 p,%1,0;vote.sync.ballot.b32 %0,p,0xffffffff;}" : "=r"(which) : "r"(x));
    return which;
}

/* Lists for wgmma: 16 operands' numbers, and 8, 32, … accumulators. */
#define R8_0       "%0,%1,%2,%3,%4,%5,%6,%7"
#define R16_0      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define R16_1      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define R16_2      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define R16_3      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define R16_4      "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define R16_5      "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define R16_6      "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"
#define R16_7      "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define F8(d, o)                                                                                                      \
    "+f"(d[(o)]), "+f"(d[(o) + 1]), "+f"(d[(o) + 2]), "+f"(d[(o) + 3]), "+f"(d[(o) + 4]), "+f"(d[(o) + 5]),           \
        "+f"(d[(o) + 6]), "+f"(d[(o) + 7])
#define F16(d, o)  F8(d, o), F8(d, (o) + 8)
#define F32(d, o)  F16(d, o), F16(d, (o) + 16)
#define F64_(d, o) F32(d, o), F32(d, (o) + 32)

/* Orders ordinary stores and copies to local memory before what wgmma reads. */
#define FENCE_ASYNC  asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define WGMMA_FENCE  asm volatile(WGMMA_ON "wgmma.fence.sync.aligned;" ::: "memory")
#define WGMMA_COMMIT asm volatile(WGMMA_ON "wgmma.commit_group.sync.aligned;" ::: "memory")
#define WGMMA_WAIT   asm volatile(WGMMA_ON "wgmma.wait_group.sync.aligned 0;" ::: "memory")
/* After a wait the compiler must not use what it knew of an accumulator before. */
#define TOUCH(x) asm volatile("" : "+f"(x)::"memory")

#if PACKED
#define NV_ARGUMENTS(T_A, T_B, T_C)                                                                                   \
    global const T_A *restrict a, ulong a_start, global const T_B *restrict b, ulong b_start, global T_C *restrict c, \
        ulong c_start, int4 extents, int4 strides_alpha, long2 a_batch, long2 b_batch, long2 c_batch, float beta
#define NV_UNPACK                                                                                                     \
    const int   m = extents.x, n = extents.y, k = extents.z, inner = extents.w;                                       \
    int         a_ld = strides_alpha.x, b_ld = strides_alpha.y, c_ld = strides_alpha.z;                               \
    const float alpha = as_float(strides_alpha.w)
#else
#define NV_ARGUMENTS(T_A, T_B, T_C)                                                                                   \
    global const T_A *restrict a, ulong a_start, global const T_B *restrict b, ulong b_start, global T_C *restrict c, \
        ulong c_start, int m, int n, int k, int a_ld, int b_ld, int c_ld, long2 a_batch, long2 b_batch,               \
        long2 c_batch, int inner, float alpha, float beta
#define NV_UNPACK
#endif

/* Hides what is known of x: keeps what follows from it from being computed ahead of a loop and held in registers. */
#define FRESH(x) asm volatile("" : "+r"(x))
#if FULL
#define FRESH_LD(x)
#else
#define FRESH_LD(x) FRESH(x)
#endif

/* First row and column of this group's tile in s0 and s1, the product in s2. */
static int3 nv_tile(int m, int n)
{
    const int across = (n + BN - 1) / BN, down = (m + BM - 1) / BM;
    int       group = get_group_id(0);
    FRESH(group); /* asked again later it is computed again, and nothing is held meanwhile */
    const int z = group / (across * down), tile = group - z * (across * down);
    const int band = tile / (GW * across), rest = tile - band * GW * across, rows = min(GW, down - band * GW);
    return (int3)((band * GW + rest % rows) * BM, rest / rows * BN, z);
}
static long nv_batch(int z, int inner, long2 strides)
{
    return z / inner * strides.x + z % inner * strides.y;
}

/* One element by a chain of f32 fma, for sums that are not finite. */
static void nv_chain(global const float *a, int a_step, global const float *b, int b_step, int k, global float *c,
                     float alpha, float beta)
{
    float s = 0;
    _Pragma("unroll 1") for (int x = 0; x < k; x++)
    {
        s = fma(*a, *b, s);
        a += a_step;
        b += b_step;
    }
    *c = beta == 0 ? alpha * s : fma(alpha, s, beta * *c);
}

/* c := alpha s + beta c where `there`, without a branch: many of these stand side by side. beta 0: c is not read. */
static void nv_put1(global float *c, int there, float s, float alpha, float beta)
{
    float old;
    asm volatile("{.reg .pred p;setp.ne.s32 p,%2,0;mov.f32 %0,0f00000000;@p ld.global.f32 %0,[%1];}"
                 : "=f"(old) : "l"(c), "r"(there && beta != 0) : "memory");
    old = fma(alpha, s, beta * old);
    asm volatile("{.reg .pred p;setp.ne.s32 p,%2,0;@p st.global.f32 [%0],%1;}" ::"l"(c), "f"(old), "r"(there) : "memory");
}
static void nv_put2(global float *c, int there, float2 s, float alpha, float beta)
{
    float2 old;
    asm volatile("{.reg .pred p;setp.ne.s32 p,%3,0;mov.f32 %0,0f00000000;mov.f32 %1,0f00000000;"
                 "@p ld.global.v2.f32 {%0,%1},[%2];}"
                 : "=f"(old.x), "=f"(old.y) : "l"(c), "r"(there && beta != 0) : "memory");
    old = fma((float2)(alpha), s, beta * old);
    asm volatile("{.reg .pred p;setp.ne.s32 p,%3,0;@p st.global.v2.f32 [%0],{%1,%2};}" ::"l"(c), "f"(old.x), "f"(old.y),
                 "r"(there) : "memory");
}
static void nv_put4(global float *c, int there, float4 s, float alpha, float beta)
{
    float4 old;
    asm volatile("{.reg .pred p;setp.ne.s32 p,%5,0;mov.f32 %0,0f00000000;mov.f32 %1,0f00000000;"
                 "mov.f32 %2,0f00000000;mov.f32 %3,0f00000000;@p ld.global.v4.f32 {%0,%1,%2,%3},[%4];}"
                 : "=f"(old.x), "=f"(old.y), "=f"(old.z), "=f"(old.w) : "l"(c), "r"(there && beta != 0) : "memory");
    old = fma((float4)(alpha), s, beta * old);
    asm volatile("{.reg .pred p;setp.ne.s32 p,%5,0;@p st.global.v4.f32 [%0],{%1,%2,%3,%4};}" ::"l"(c), "f"(old.x),
                 "f"(old.y), "f"(old.z), "f"(old.w), "r"(there) : "memory");
}

/* Do the flags of these 128 rows and 128 columns forbid planes (nv_split.cl)? By all work-items of a group. */
static int nv_guard(local uint *word, global const uint *rows, global const uint *columns)
{
    const int t = get_local_id(0);
    if (t == 0)
        *word = 0;
    SYNC;
    if (t < 128 && (rows[t] | columns[t]))
        atomic_or(word, rows[t] | columns[t]);
    SYNC;
    const uint flags = *word;
    SYNC;
    return (flags & 4) != 0 || (flags & 3) == 3;
}
