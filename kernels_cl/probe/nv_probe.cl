/* SPDX-License-Identifier: MIT
 *
 * nv_probe.cl: what an NVIDIA GPU can do: abilities that no query tells, shown by using them, and the rates of its matrix
 * units. A program for each, since a key needs two of them as a rule, and at the same time.
 *
 *   big_local      BIG_LOCAL: fills static `local` memory of so many bytes and reads it back in the opposite order.
 *                  answer[0] := the words that were right. The device says that it has 48 KB. Groups of 128.
 *   one_wgmma      SM90A: one asynchronous m64n8k16 product of ones, A from registers, B from local memory through a matrix
 *                  descriptor: every sum is 16. answer[0] := the work-items whose sums were. One group of 128.
 *   one_tensor_copy  SM90A: a tensor copy (TMA), by a map that is made here, of a box of which most lies beyond its matrix.
 *                  answer has 256 bytes: the matrix's elements, then the map. answer[0] := the elements of the box that
 *                  came out right, of 256. The wait is bounded. One group of 128.
 *   rate_mma_…     RATE: out[i] := 1, after `length` multiply-adds: accumulators start at 1 and get products of which each
 *   rate_wgmma_…   second is the first's negative, so that every sum is exact and 0 while no operand is. A work-item has
 *                  RATE_SUMS results and adds 16 (f16, bf16) or 8 (tf32) to each by a product. `products`: how often the
 *                  chain is run in full, 3 where a result of f32 accuracy takes three. Groups of 128.
 *
 * Macros: BIG_LOCAL; SM90A; RATE, RATE_F16 or RATE_BF16 or RATE_TF32: the rate of that arithmetic, with SM90A by wgmma, else
 *   by mma, which needs compute capability 8.0.
 * Local memory: BIG_LOCAL bytes; 4 KB; 768 bytes. The host guarantees that `length` is a multiple of 16 and
 * that out has room for RATE_SUMS a work-item from `from` on. The instructions of SM90A are comments of the assembly until
 * the mark in front of them is taken away and the processor called sm_90a.
 */
#define RATE_F16  1
#define RATE_BF16 2
#define RATE_TF32 3
#define GROUP     __attribute__((reqd_work_group_size(128, 1, 1)))

#ifdef BIG_LOCAL
kernel GROUP void big_local(global uint *answer)
{
    local uint words[BIG_LOCAL / 4];
    const uint me = get_local_id(0), many = BIG_LOCAL / 4;
    uint       right = 0;

    for (uint i = me; i < many; i += 128)
        words[i] = i * 2654435761u + 1u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = me; i < many; i += 128)
        right += words[many - 1 - i] == (many - 1 - i) * 2654435761u + 1u ? 1u : 0u;
    atomic_add(answer, right);
}
#endif

/* Small numbers of a few bits, by work-item: their products and sums are exact in every type. */
static uint few_bits(uint seed, uint quarter, uint shift)
{
    return quarter | (seed * 2654435761u >> 29) << shift;
}

#ifdef SM90A
/* 14 bits of an address or a distance, in units of 16 bytes. */
#define DESCRIBED(bytes) ((ulong)((bytes)&0x3ffff) >> 4)
#define FENCE            __asm__ volatile("//@ wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT           __asm__ volatile("//@ wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT             __asm__ volatile("//@ wgmma.wait_group.sync.aligned 0;" ::: "memory")
#define SHOW_ASYNC       __asm__ volatile("//@ fence.proxy.async.shared::cta;" ::: "memory")

#ifndef RATE
kernel GROUP void one_wgmma(global uint *answer)
{
    local ushort ones[2048] __attribute__((aligned(128)));
    const uint   me = get_local_id(0), a = 0x3c003c00u;
    const ulong  b = DESCRIBED((uint)(ulong)ones) | DESCRIBED(128) << 16 | DESCRIBED(256) << 32;
    float        x0 = 0.0f, x1 = 0.0f, x2 = 0.0f, x3 = 0.0f;

    for (uint i = me; i < 2048; i += 128)
        ones[i] = 0x3c00;
    SHOW_ASYNC;
    barrier(CLK_LOCAL_MEM_FENCE);
    FENCE;
    __asm__ volatile("//@ wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %4, %4, %4}, %5, 1, 1, 1, 0;"
                     : "+f"(x0), "+f"(x1), "+f"(x2), "+f"(x3)
                     : "r"(a), "l"(b));
    COMMIT;
    WAIT;
    __asm__ volatile("" : "+f"(x0), "+f"(x1), "+f"(x2), "+f"(x3)::"memory");
    if (x0 == 16.0f && x1 == 16.0f && x2 == 16.0f && x3 == 16.0f)
        atomic_inc(answer);
}

/* A field of the map, by number or by value. */
#define FIELD(field, value) __asm__ volatile("//@ tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], " value ";" ::"r"(map) : "memory")
#define FIELD8(field, value) __asm__ volatile("//@ tensormap.replace.tile." field ".shared::cta.b1024.b64 [%0], %1;" ::"r"(map), "l"(value) : "memory")
#define STRIDE(which, bytes) __asm__ volatile("//@ tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], " which ", %1;" ::"r"(map), "l"((ulong)bytes) : "memory")

kernel GROUP void one_tensor_copy(global uint *answer)
{
    local uint  words[192] __attribute__((aligned(1024))); /* a box of 4 rows of 64, the map, a barrier */
    const uint  me = get_local_id(0), box = (uint)(ulong)words, map = box + 512, come = box + 640;
    const ulong published = (ulong)(answer + 32);
    uint        done = 0, right = 0;

    if (me < 32)
        answer[me] = (0x100 + 2 * me) | (0x101 + 2 * me) << 16; /* element i is 0x100 + i */
    words[me] = 0xffffffffu;
    if (me < 32)
        words[128 + me] = 0;
    if (me == 0)
        __asm__ volatile("//@ mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(come) : "memory");
    __asm__ volatile("//@ fence.proxy.async;" ::: "memory");
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (me < 32) {
        if (me == 0) { /* 8 × 2 × 2 × 2 elements, steps of 16, 32 and 64 bytes */
            FIELD8("global_address", (ulong)answer);
            FIELD("rank", "3");
            FIELD("global_dim", "0, 8");
            FIELD("global_dim", "1, 2");
            FIELD("global_dim", "2, 2");
            FIELD("global_dim", "3, 2");
            STRIDE("0", 16);
            STRIDE("1", 32);
            STRIDE("2", 64);
            FIELD("box_dim", "0, 64");
            FIELD("box_dim", "1, 4");
            FIELD("box_dim", "2, 1");
            FIELD("box_dim", "3, 1");
            FIELD("element_stride", "0, 1");
            FIELD("element_stride", "1, 1");
            FIELD("element_stride", "2, 1");
            FIELD("element_stride", "3, 1");
            FIELD("elemtype", "1");
            FIELD("interleave_layout", "0");
            FIELD("swizzle_mode", "3");
            FIELD("fill_mode", "0");
        }
        __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory");
        __asm__ volatile("//@ tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(published), "r"(map) : "memory");
        if (me == 0) {
            __asm__ volatile("//@ fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(published) : "memory");
            __asm__ volatile("//@ mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(come) : "memory");
            __asm__ volatile("//@ cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %4}], [%5];" ::"r"(box), "l"(published), "r"(0), "r"(0), "r"(1), "r"(come) : "memory");
        }
    }
    for (uint tries = 0; tries < 1u << 16 && !done; tries++)
        __asm__ volatile("//@ {.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(come) : "memory");
    for (uint e = me; e < 256; e += 128) {
        const uint row = e >> 6, x = e & 63, at = row * 64 + ((x >> 3 ^ row) << 3) + (x & 7);
        const uint got = words[at >> 1] >> ((at & 1) * 16) & 0xffff;
        right += done && got == (row < 2 && x < 8 ? 0x100 + 48 + row * 8 + x : 0u) ? 1u : 0u;
    }
    if (me == 0)
        answer[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    atomic_add(answer, right);
}
#endif

#define RATE_SUMS 64u
#define EIGHT(x, i)                                                                                                     \
    "+f"(x[i]), "+f"(x[i + 1]), "+f"(x[i + 2]), "+f"(x[i + 3]), "+f"(x[i + 4]), "+f"(x[i + 5]), "+f"(x[i + 6]),       \
        "+f"(x[i + 7])
#define ALL(x)                                                                                                          \
    EIGHT(x, 0), EIGHT(x, 8), EIGHT(x, 16), EIGHT(x, 24), EIGHT(x, 32), EIGHT(x, 40), EIGHT(x, 48), EIGHT(x, 56)
#define SUMS                                                                                                            \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,"     \
    "%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,"    \
    "%58,%59,%60,%61,%62,%63}"
#define WGMMA(shape, last) __asm__ volatile("//@ wgmma.mma_async.sync.aligned." shape " " SUMS ",{%64,%65,%66,%67},%68,1,1,1" last ";" : ALL(x) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b))

/* `a` of work-items that hold neighbours of a row is the same, `b` of neighbours of a column opposite. */
#define RATE_WGMMA(name, shape, last, mine, opposite, per)                                                      \
    kernel GROUP void name(global float *out, ulong from, uint length, uint products)                                   \
    {                                                                                                                   \
        local uint  halves[1024] __attribute__((aligned(128)));                                                        \
        const uint  me = get_local_id(0);                                                                               \
        const ulong b = DESCRIBED((uint)(ulong)halves) | DESCRIBED(128) << 16 | DESCRIBED(256) << 32;                   \
        const uint  a0 = mine(me >> 1), a1 = mine(a0 + 1), a2 = mine(a0 + 2), a3 = mine(a0 + 3);                         \
        float       x[RATE_SUMS];                                                                                       \
        for (uint i = me; i < 1024; i += 128)                                                                          \
            halves[i] = opposite(i);                                                                                    \
        _Pragma("unroll") for (uint i = 0; i < RATE_SUMS; i++)                                                                            \
            x[i] = 1.0f;                                                                                                \
        SHOW_ASYNC;                                                                                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                   \
        for (uint i = 0; i < length * products; i += 4 * per) {                                                         \
            FENCE;                                                                                                      \
            WGMMA(shape, last);                                                                                         \
            WGMMA(shape, last);                                                                                         \
            WGMMA(shape, last);                                                                                         \
            WGMMA(shape, last);                                                                                         \
            COMMIT;                                                                                                     \
            WAIT;                                                                                                       \
        }                                                                                                               \
        __asm__ volatile("" : ALL(x)::"memory");                                                                        \
        _Pragma("unroll") for (uint i = 0; i < RATE_SUMS; i++)                                                                            \
            out[from + (ulong)i * get_global_size(0) + get_global_id(0)] = x[i];                                        \
    }
#else
#define RATE_SUMS 32u
#define MMA(shape, x) __asm__ volatile("mma.sync.aligned." shape " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1))

#define RATE_MMA(name, shape, mine, opposite, per)                                                                     \
    kernel GROUP void name(global float *out, ulong from, uint length, uint products)                                   \
    {                                                                                                                   \
        const uint me = get_local_id(0), column = me >> 2, row = me & 3;                                                \
        const uint a0 = mine(me >> 1), a1 = mine(a0 + 1), a2 = mine(a0 + 2), a3 = mine(a0 + 3);                          \
        const uint b0 = opposite(column * 8 + row), b1 = opposite(column * 8 + row + 4);                                \
        float      x[RATE_SUMS / 4][4];                                                                                 \
        _Pragma("unroll") for (uint i = 0; i < RATE_SUMS; i++)                                                                            \
            x[i >> 2][i & 3] = 1.0f;                                                                                    \
        for (uint i = 0; i < length * products; i += per) {                                                             \
            _Pragma("unroll") for (uint k = 0; k < RATE_SUMS / 4; k++) MMA(shape, x[k]);                                \
        }                                                                                                               \
        _Pragma("unroll") for (uint i = 0; i < RATE_SUMS; i++)                                                                            \
            out[from + (ulong)i * get_global_size(0) + get_global_id(0)] = x[i >> 2][i & 3];                            \
    }
#endif

/* A word of A, and one of B: two neighbours along k in a word, or one with its sign by its place. */
#define PAIR_F16(i)      (few_bits(i, 0x3400u, 7) * 0x00010001u)
#define PAIR_BF16(i)     (few_bits(i, 0x3e80u, 4) * 0x00010001u)
#define ONE_TF32(i)      few_bits(i, 0x3e800000u, 20)
#define OPPOSITE_F16(i)  (PAIR_F16(i) | 0x80000000u)
#define OPPOSITE_BF16(i) (PAIR_BF16(i) | 0x80000000u)
#define OPPOSITE_TF32(i) (ONE_TF32((i) >> 1) | (uint)((i)&1) << 31)

#if defined SM90A && RATE == RATE_F16
RATE_WGMMA(rate_wgmma_f16, "m64n128k16.f32.f16.f16", ",0", PAIR_F16, OPPOSITE_F16, 16)
#elif defined SM90A && RATE == RATE_BF16
RATE_WGMMA(rate_wgmma_bf16, "m64n128k16.f32.bf16.bf16", ",0", PAIR_BF16, OPPOSITE_BF16, 16)
#elif defined SM90A && RATE == RATE_TF32
RATE_WGMMA(rate_wgmma_tf32, "m64n128k8.f32.tf32.tf32", "", ONE_TF32, OPPOSITE_TF32, 8)
#elif RATE == RATE_F16
RATE_MMA(rate_mma_f16, "m16n8k16.row.col.f32.f16.f16.f32", PAIR_F16, OPPOSITE_F16, 16)
#elif RATE == RATE_BF16
RATE_MMA(rate_mma_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", PAIR_BF16, OPPOSITE_BF16, 16)
#elif RATE == RATE_TF32
RATE_MMA(rate_mma_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", ONE_TF32, OPPOSITE_TF32, 8)
#endif
