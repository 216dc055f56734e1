/* SPDX-License-Identifier: MIT
 *
 * nv_tma_f16.cl: f16 or bf16 products with f32 sums by Hopper's wgmma, fed by its tensor copies: one work-item has whole
 * tiles fetched, warpgroups beside it multiply what has come.
 *
 * Mathematics   both tiles by descriptor, in whichever direction they lie. PROMOTE 0: sums stay in the unit, which rounds
 *               them toward zero. PROMOTE 1: each slice of BK starts from zero and is added to f32 sums.
 * Copies        cp.async.bulk.tensor brings a box of 64 elements by up to 256 rows in the unit's pattern of 128 bytes; what
 *               lies beyond a matrix comes as zeros. What it needs to know of a matrix, a map of 128 bytes, CUDA's library
 *               would encode on the host. Here each group makes its two from zeros by tensormap.replace, and publishes
 *               them in `maps`. A box that begins beside a multiple of 16 bytes faults; all of these begin at one of 128.
 * Hand-over     a slice has two barriers in local memory: `come` completes when its bytes are there, `gone` when the
 *               warps that multiply have read it (an arrival of each). They are waited for by the parity of their phase,
 *               which turns over with every round through the slices.
 * Index space   one dimension, groups of 128 · (WGS + 1) work-items, as many as there are units, or tiles where they are
 *               fewer. Group g computes tiles g, g + groups, …, in the order of nv_common.cl. The last warpgroup copies.
 * Macros        BM = 64 · WGS rows, BN 128 or 256 columns; BK 64; STAGES slices in local memory; WGS warpgroups, one under
 *               another; PROMOTE; BF16 1: A and B are bf16, else f16; OUT 1: C is f32, 3 f16, 4 bf16; TA, TB; LOOSE 1: C is not aligned;
 *               OWN_COPIES 1
 * Local memory  STAGES · 2 · BK · (BM + BN) + 512 bytes, static: slices, maps, barriers; LOOSE: 2304 more for each warp that
 *               multiplies
 * Registers     all that a work-item of 384 has are 168. PROMOTE with BN 256 holds 192 in sums: there the warpgroup that
 *               copies gives back what it does not need and the others take it, before either does anything else.
 * Host          sm_90a; starts and strides of A and B are multiples of 16 bytes, batch strides under 2^40 bytes; LOOSE 0:
 *               those of C, too, and its columns; `maps`: 256 bytes a group, aligned to 128
 */
#define NR    (BN / 2)
#define ITEMS (128 * (WGS + 1))
#define PN    (PROMOTE ? 128 : BN) /* columns of one product */
#if LOOSE
#define STRIPS (4 * WGS * STRIP_BYTES)
#else
#define STRIPS 0
#endif

#define SHAPE_BY_K   ((ulong)1 << 62 | (ulong)(8 * BK * 2 / 16) << 32 | 1u << 16)
#define SHAPE_ACROSS ((ulong)1 << 62 | (ulong)(1024 / 16) << 32 | (BK * 128 / 16) << 16)
#define STRIP        (64 * BK * 2) /* bytes of 64 rows of A, or of 64 columns of B, in either shape */
#if TA
#define SHAPE_A   SHAPE_ACROSS
#define A_ADVANCE 2048 /* bytes to 16 k further on */
#else
#define SHAPE_A   SHAPE_BY_K
#define A_ADVANCE 32
#endif
#if TB
#define SHAPE_B   SHAPE_BY_K
#define B_ADVANCE 32
#define TURN_B    "0"
#else
#define SHAPE_B   SHAPE_ACROSS
#define B_ADVANCE 2048
#define TURN_B    "1"
#endif
#define TURNS TEXT(TA) "," TURN_B
#if PROMOTE || BN == 128
#define WGMMA(d, da, db, add)                                                                                         \
    asm volatile(WGMMA_ON "{.reg .pred p;setp.ne.s32 p,%66,0;wgmma.mma_async.sync.aligned.m64n128k16.f32." TYPES " {" \
                 R16_0 "," R16_1 "," R16_2 "," R16_3 "},%64,%65,p,1,1," TURNS ";}"                                    \
                 : F64_(d, 0) : "l"(da), "l"(db), "r"(add))
#else
#define WGMMA(d, da, db, add)                                                                                         \
    asm volatile(WGMMA_ON "{.reg .pred p;setp.ne.s32 p,%130,0;wgmma.mma_async.sync.aligned.m64n256k16.f32." TYPES     \
                 " {" R16_0 "," R16_1 "," R16_2 "," R16_3 "," R16_4 "," R16_5 "," R16_6 "," R16_7                     \
                 "},%128,%129,p,1,1," TURNS ";}" : F64_(d, 0), F64_(d, 64) : "l"(da), "l"(db), "r"(add))
#endif
/* Descriptors of step x of the slice in `slot`, columns from h · PN on. */
#define FACTOR_A(x)    (SHAPE_A | (at_a + (slot * STAGE + (x)*A_ADVANCE) / 16))
#define FACTOR_B(h, x) (SHAPE_B | (at_b + (slot * STAGE + (h) * (PN / 64) * STRIP + (x)*B_ADVANCE) / 16))
#define WGMMA_WAIT_1   asm volatile(WGMMA_ON "wgmma.wait_group.sync.aligned 1;" ::: "memory")

/* ---- Barriers in local memory ----------------------------------------------------------------------------------- */

#define COME(slot) (barriers + (slot)*8)
#define GONE(slot) (barriers + STAGES * 8 + (slot)*8)
#define EXPECT_ARRIVALS(at, n)                                                                                        \
    asm volatile(WGMMA_ON "mbarrier.init.shared::cta.b64 [%0],%1;" ::"r"(at), "r"(n) : "memory")
#define SHOW_BARRIERS asm volatile(WGMMA_ON "fence.mbarrier_init.release.cluster;" ::: "memory")
#define ARRIVE(at)    asm volatile(WGMMA_ON "mbarrier.arrive.shared::cta.b64 _,[%0];" ::"r"(at) : "memory")
#define ARRIVE_AND_EXPECT(at, bytes)                                                                                  \
    asm volatile(WGMMA_ON "mbarrier.arrive.expect_tx.shared::cta.b64 _,[%0],%1;" ::"r"(at), "r"(bytes) : "memory")
static void await(uint at, uint parity)
{
    uint done;
    do
        asm volatile(WGMMA_ON "{.reg .pred p;mbarrier.try_wait.parity.shared::cta.b64 p,[%1],%2;selp.u32 %0,1,0,p;}"
                     : "=r"(done) : "r"(at), "r"(parity) : "memory");
    while (!done);
}
#define NEXT_SLOT                                                                                                     \
    {                                                                                                                 \
        slot = slot + 1 == STAGES ? 0 : slot + 1;                                                                     \
        parity ^= slot == 0;                                                                                          \
    }

/* ---- Maps of matrices --------------------------------------------------------------------------------------------- */

#define REPLACE(field, value)                                                                                         \
    asm volatile(WGMMA_ON "tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0]," value ";" ::"r"(map) : "memory")
#define REPLACE4(field, at, value)                                                                                    \
    asm volatile(WGMMA_ON "tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0]," at "%1;" ::"r"(map),         \
                 "r"(value) : "memory")
#define REPLACE8(field, at, value)                                                                                    \
    asm volatile(WGMMA_ON "tensormap.replace.tile." field ".shared::cta.b1024.b64 [%0]," at "%1;" ::"r"(map),         \
                 "l"(value) : "memory")

/* The map at `map`, zeros before, of a matrix of `across` adjacent elements by `down`, and its batches; boxes of 64 by
 * `rows`. Elements are u16, whatever they mean. */
static void describe(uint map, global const ushort *matrix, int across, int down, int inner, int outer, int ld,
                     long2 batch, int rows)
{
    REPLACE8("global_address", "", (ulong)matrix);
    REPLACE("rank", "3"); /* less 1 */
    REPLACE4("global_dim", "0,", across);
    REPLACE4("global_dim", "1,", down);
    REPLACE4("global_dim", "2,", inner);
    REPLACE4("global_dim", "3,", outer);
    REPLACE8("global_stride", "0,", (ulong)ld * 2);
    REPLACE8("global_stride", "1,", (ulong)batch.y * 2);
    REPLACE8("global_stride", "2,", (ulong)batch.x * 2);
    REPLACE4("box_dim", "0,", 64);
    REPLACE4("box_dim", "1,", rows);
    REPLACE4("box_dim", "2,", 1);
    REPLACE4("box_dim", "3,", 1);
    REPLACE4("element_stride", "0,", 1);
    REPLACE4("element_stride", "1,", 1);
    REPLACE4("element_stride", "2,", 1);
    REPLACE4("element_stride", "3,", 1);
    REPLACE("elemtype", "1"); /* u16 */
    REPLACE("interleave_layout", "0");
    REPLACE("swizzle_mode", "3"); /* of 128 bytes */
    REPLACE("fill_mode", "0");    /* zeros */
}
#define WARP_SYNC asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#define PUBLISH(to, map)                                                                                              \
    asm volatile(WGMMA_ON "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "   \
                          "[%0],[%1],128;" ::"l"(to), "r"(map) : "memory")
#define OBTAIN(at) asm volatile(WGMMA_ON "fence.proxy.tensormap::generic.acquire.gpu [%0],128;" ::"l"(at) : "memory")
#define FETCH(to, map, x, y)                                                                                          \
    asm volatile(WGMMA_ON "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "         \
                          "[%0],[%1,{%2,%3,%4,%5}],[%6];" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(in), "r"(out),     \
                 "r"(COME(slot)) : "memory")

/* ---- The two kinds of warpgroups ---------------------------------------------------------------------------------- */

#if PROMOTE && BN == 256
#define GIVE asm volatile(WGMMA_ON "setmaxnreg.dec.sync.aligned.u32 24;" ::: "memory")
#define TAKE asm volatile(WGMMA_ON "setmaxnreg.inc.sync.aligned.u32 240;" ::: "memory")
#else
#define GIVE
#define TAKE
#endif

static int3 tile_at(int place, int across, int down)
{
    const int z = place / (across * down), tile = place - z * (across * down);
    const int band = tile / (GW * across), rest = tile - band * GW * across, rows = min(GW, down - band * GW);
    return (int3)((band * GW + rest % rows) * BM, rest / rows * BN, z);
}

/* By one work-item: all slices of all tiles of the group, in turn. */
static void fetch_all(uint base, uint barriers, ulong map_a, ulong map_b, int count, int across, int down, uint tiles,
                      int inner)
{
    int  slot = 0;
    uint parity = 0;
    _Pragma("unroll 1") for (uint place = get_group_id(0); place < tiles; place += get_num_groups(0))
    {
        const int3 tile = tile_at(place, across, down);
        const int  out = tile.z / inner, in = tile.z - out * inner;
        _Pragma("unroll 1") for (int s = 0; s < count; s++)
        {
            const uint to = base + slot * STAGE;
            await(GONE(slot), parity ^ 1);
            ARRIVE_AND_EXPECT(COME(slot), STAGE);
#if TA
            UNROLL for (int i = 0; i < BM / 64; i++) FETCH(to + i * STRIP, map_a, tile.x + i * 64, s * BK);
#else
            FETCH(to, map_a, s * BK, tile.x);
#endif
#if TB
            FETCH(to + A_BYTES, map_b, s * BK, tile.y);
#else
            UNROLL for (int i = 0; i < BN / 64; i++) FETCH(to + A_BYTES + i * STRIP, map_b, tile.y + i * 64, s * BK);
#endif
            NEXT_SLOT;
        }
    }
}

/* Four words of each of four neighbours: word i of the one whose place is j becomes word j of i's. */
static uint exchange(uint x, int mask)
{
    uint y;
    asm volatile("shfl.sync.bfly.b32 %0,%1,%2,0x1f,0xffffffff;" : "=r"(y) : "r"(x), "r"(mask));
    return y;
}
static uint4 turn(uint4 w, int place)
{
    const int odd = place & 1, upper = place & 2;
    uint      x = exchange(odd ? w.x : w.y, 1), y = exchange(odd ? w.z : w.w, 1);
    w = odd ? (uint4)(x, w.y, y, w.w) : (uint4)(w.x, x, w.z, y);
    x = exchange(upper ? w.x : w.z, 2);
    y = exchange(upper ? w.y : w.w, 2);
    return upper ? (uint4)(x, y, w.z, w.w) : (uint4)(w.x, w.y, x, y);
}
#define STORE16(to, v, there)                                                                                         \
    asm volatile("{.reg .pred p;setp.ne.s32 p,%5,0;@p st.global.v4.b32 [%0],{%1,%2,%3,%4};}" ::"l"(to), "r"(v.x),     \
                 "r"(v.y), "r"(v.z), "r"(v.w), "r"((int)(there)) : "memory")

#if !LOOSE
/* Half a row of a block's sums into C; sum 4 j + e is of column 8 j + 2 place + e. With nothing to read C is written in
 * pieces of 16 bytes. */
static inline __attribute__((always_inline)) void put_row(global RESULT *to, int has, int place, const float *sum,
                                                          float alpha, float beta)
{
#if OUT != 1
    if (beta == 0) {
        UNROLL for (int j = 0; j < BN / 8; j += 4) {
            uint w[4];
            UNROLL for (int i = 0; i < 4; i++)
                w[i] = narrow((float2)(alpha) * (float2)(sum[(j + i) * 4], sum[(j + i) * 4 + 1]));
            const uint4 all = turn((uint4)(w[0], w[1], w[2], w[3]), place);
            STORE16(to + (j + place) * 8, all, (j + place) * 8 < has);
        }
        return;
    }
#endif
    UNROLL for (int j = 0; j < BN / 8; j++)
        finish(to + j * 8 + place * 2, has - j * 8 - place * 2, (float2)(sum[j * 4], sum[j * 4 + 1]), alpha, beta);
}
#endif

__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
kernel void nv_tma_f16(NV_ARGUMENTS(ushort, ushort, RESULT), int products, global uint *restrict maps)
{
    local uint4 memory[STAGES * STAGE / 16 + 32 + STRIPS / 16] __attribute__((aligned(1024)));
    const uint base = (uint)(ulong)memory, made = base + STAGES * STAGE, barriers = made + 256;
    const int  across = (n + BN - 1) / BN, down = (m + BM - 1) / BM, count = (k + BK - 1) / BK;
    const int  t = get_local_id(0), lane = t & 31;
    const uint tiles = across * down * products; /* unsigned: the last step goes beyond them */
    int        wg;
    asm volatile("shfl.sync.idx.b32 %0,%1,0,0x1f,0xffffffff;" : "=r"(wg) : "r"(t >> 7)); /* a warp has one role */

    if (t == 0) {
        for (int s = 0; s < STAGES; s++) {
            EXPECT_ARRIVALS(COME(s), 1);
            EXPECT_ARRIVALS(GONE(s), 4 * WGS);
        }
        SHOW_BARRIERS;
    }
    SYNC;
    if (wg == WGS) {
        GIVE;
        if ((t & 96) == 0 && count > 0) {
            const ulong map_a = (ulong)maps + get_group_id(0) * 256u, map_b = map_a + 128;
            STS1(made + lane * 4, 0);
            STS1(made + 128 + lane * 4, 0);
            WARP_SYNC;
            if (lane == 0) {
                describe(made, a + a_start, TA ? m : k, TA ? k : m, inner, products / inner, a_ld, a_batch, TA ? 64 : BM);
                describe(made + 128, b + b_start, TB ? k : n, TB ? n : k, inner, products / inner, b_ld, b_batch,
                         TB ? BN : 64);
            }
            WARP_SYNC;
            PUBLISH(map_a, made);
            PUBLISH(map_b, made + 128);
            if (lane == 0) {
                OBTAIN(map_a);
                OBTAIN(map_b);
                fetch_all(base, barriers, map_a, map_b, count, across, down, tiles, inner);
            }
        }
        return;
    }
    TAKE;
    const uint at_a = (base + wg * STRIP) >> 4, at_b = (base + A_BYTES) >> 4;
    int        slot = 0;
    uint       parity = 0;
    _Pragma("unroll 1") for (uint place = get_group_id(0); place < tiles; place += get_num_groups(0))
    {
        const int3 tile = tile_at(place, across, down);
        float      sum[NR];
        UNROLL for (int x = 0; x < NR; x++) sum[x] = 0;
#if PROMOTE
        float part[PN / 2];
        UNROLL for (int x = 0; x < PN / 2; x++) part[x] = 0;
        _Pragma("unroll 1") for (int s = 0; s < count; s++)
        {
            await(COME(slot), parity);
            UNROLL for (int h = 0; h < BN / PN; h++) {
                WGMMA_FENCE;
                UNROLL for (int x = 0; x < STEPS; x++) WGMMA(part, FACTOR_A(x), FACTOR_B(h, x), x > 0);
                WGMMA_COMMIT;
                WGMMA_WAIT;
                if (h == BN / PN - 1 && lane == 0)
                    ARRIVE(GONE(slot));
                UNROLL for (int x = 0; x < PN / 2; x++) TOUCH(part[x]);
                UNROLL for (int x = 0; x < PN / 2; x++) sum[h * (PN / 2) + x] += part[x];
            }
            NEXT_SLOT;
        }
#else
        int before = 0; /* the slice whose product may still be under way */
        _Pragma("unroll 1") for (int s = 0; s < count; s++)
        {
            await(COME(slot), parity);
            WGMMA_FENCE;
            UNROLL for (int x = 0; x < STEPS; x++) WGMMA(sum, FACTOR_A(x), FACTOR_B(0, x), 1);
            WGMMA_COMMIT;
            WGMMA_WAIT_1;
            if (s > 0 && lane == 0)
                ARRIVE(GONE(before));
            before = slot;
            NEXT_SLOT;
        }
        WGMMA_WAIT;
        if (count > 0 && lane == 0)
            ARRIVE(GONE(before));
        UNROLL for (int x = 0; x < NR; x++) TOUCH(sum[x]);
#endif
        /* Sum 4 j + 2 h + e: row lane / 4 + 8 h of the warp's 16. */
        global RESULT *corner = c + c_start + nv_batch(tile.z, inner, c_batch) + (long)tile.x * c_ld + tile.y;
        UNROLL for (int h = 0; h < 2; h++) {
            const int first = wg * 64 + (t >> 5 & 3) * 16 + h * 8;
#if LOOSE
            put_strip((local float *)(memory + STAGES * STAGE / 16 + 32) + (t >> 5) * (STRIP_BYTES / 4),
                      corner + (long)first * c_ld, c_ld, m - tile.x - first, n - tile.y, BN, sum + h * 2, alpha, beta);
#else
            const int row = first + (lane >> 2);
            put_row(corner + (long)row * c_ld, row < m - tile.x ? n - tile.y : 0, lane & 3, sum + h * 2, alpha, beta);
#endif
        }
    }
}
