/* SPDX-License-Identifier: MIT
 *
 * nv_copy_f16.cl: how slices of f16 or bf16 come into local memory and results into C, for the kernels on such operands.
 * Stands between nv_common.cl and theirs.
 *
 * Tiles stay as their matrices lie: the readers take them in either direction.
 *
 * Macros        BM, BN; BK 32 or 64; THREADS; BF16 1: A and B are bf16, else f16; OUT 1: C is f32, 3 f16, 4 bf16; PADDED 1:
 *               with LOOSE only C is not aligned
 */
#define A_BYTES (BM * BK * 2)
#define B_BYTES (BK * BN * 2)
#define STAGE   (A_BYTES + B_BYTES)
#define STEPS   (BK / 16)
#if !OWN_COPIES && ((A_BYTES / 16) % THREADS || (B_BYTES / 16) % THREADS)
#error "tile too small for the group"
#endif

/* A tile in chunks of 8 elements, in one of the unit's own patterns. By k: rows of BK elements, chunk x of row r. Across:
 * blocks of 64 rows or columns, each BK rows of 128 bytes, chunk y of k-row x. */
#if BK == 64
#define SWIZZLE(r) ((r)&7)
#define SWIZZLE_MODE 1
#else
#define SWIZZLE(r) (((r) >> 1) & 3)
#define SWIZZLE_MODE 2
#endif
#define BY_K(r, x)    ((r) * (BK * 2) + (((x) ^ SWIZZLE(r)) << 4))
#define ACROSS(y, x)  (((y) >> 3) * (BK * 128) + (x)*128 + ((((y)&7) ^ ((x)&7)) << 4))

/* Copy i of a work-item: chunk A_X + A_DX(i) along k, A_Y + A_DY(i) across (TA: in chunks, else in rows). */
#if TA
#define A_X        (t / (BM / 8))
#define A_Y        (t % (BM / 8))
#define A_DX(i)    ((i) * (THREADS * 8 / BM))
#define A_DY(i)    0
#define A_AT(y, x) ACROSS(y, x)
#define A_TO(i)    (a_to + A_DX(i) * 128)
#define A_HAS(i)   (a_x < left - A_DX(i) ? rows - a_y * 8 : 0)
#define A_FROM(i)  (pa + (long)A_DX(i) * a_ld)
#define A_FIRST    (a_y * 8 + tile.x + (long)a_x * a_ld)
#define A_STEP     a_ld
#else
#define A_X        (t % (BK / 8))
#define A_Y        (t / (BK / 8))
#define A_DY(i)    ((i) * (THREADS * 8 / BK))
#define A_AT(y, x) BY_K(y, x)
#define A_TO(i)    (a_to + A_DY(i) * (BK * 2))
#define A_HAS(i)   (a_y < rows - A_DY(i) ? left - a_x * 8 : 0)
#define A_FROM(i)  (pa + (long)A_DY(i) * a_ld)
#define A_FIRST    ((long)(tile.x + a_y) * a_ld + a_x * 8)
#define A_STEP     1
#endif
#if TB
#define B_X        (t % (BK / 8))
#define B_Y        (t / (BK / 8))
#define B_DY(i)    ((i) * (THREADS * 8 / BK))
#define B_AT(y, x) BY_K(y, x)
#define B_TO(i)    (b_to + B_DY(i) * (BK * 2))
#define B_HAS(i)   (b_y < cols - B_DY(i) ? left - b_x * 8 : 0)
#define B_FROM(i)  (pb + (long)B_DY(i) * b_ld)
#define B_FIRST    ((long)(tile.y + b_y) * b_ld + b_x * 8)
#define B_STEP     1
#else
#define B_X        (t / (BN / 8))
#define B_Y        (t % (BN / 8))
#define B_DX(i)    ((i) * (THREADS * 8 / BN))
#define B_AT(y, x) ACROSS(y, x)
#define B_TO(i)    (b_to + B_DX(i) * 128)
#define B_HAS(i)   (b_x < left - B_DX(i) ? cols - b_y * 8 : 0)
#define B_FROM(i)  (pb + (long)B_DX(i) * b_ld)
#define B_FIRST    (tile.y + b_y * 8 + (long)b_x * b_ld)
#define B_STEP     b_ld
#endif
#if !OWN_COPIES && (THREADS * 8 / BM % 8 || THREADS * 8 / BN % 8 || THREADS * 8 / BK % 8)
#error "a work-item's copies would not keep their place in the pattern"
#endif

#if LOOSE && !PADDED
static void gather(uint at, global const ushort *from, int has)
{
    uint v[8];
    UNROLL for (int x = 0; x < 8; x++) v[x] = x < has ? from[x] : 0;
    STS4(at, v[0] | v[1] << 16, v[2] | v[3] << 16, v[4] | v[5] << 16, v[6] | v[7] << 16);
}
#define COPY(at, from, has) gather(at, from, has)
#else
#define COPY(at, from, has) COPY16(at, from, (has) > 0)
#endif
#define LOAD(stage)                                                                                                   \
    {                                                                                                                 \
        FRESH_LD(a_ld);                                                                                                  \
        FRESH_LD(b_ld);                                                                                                  \
        UNROLL for (int i = 0; i < A_BYTES / 16 / THREADS; i++)                                                       \
            COPY(base + (stage)*STAGE + A_TO(i), A_FROM(i), A_HAS(i));                                                \
        UNROLL for (int i = 0; i < B_BYTES / 16 / THREADS; i++)                                                       \
            COPY(base + (stage)*STAGE + A_BYTES + B_TO(i), B_FROM(i), B_HAS(i));                                      \
        pa += (long)BK * A_STEP;                                                                                      \
        pb += (long)BK * B_STEP;                                                                                      \
        left -= BK;                                                                                                   \
    }

#if BF16
#define TYPES "bf16.bf16"
#else
#define TYPES "f16.f16"
#endif

/* C's type. */
#if OUT == 1
typedef float RESULT;
#else
typedef ushort RESULT;
static float2 widen(uint x)
{
    float2 y;
#if OUT == 3
    asm("{.reg .b16 u,v;mov.b32 {u,v},%2;cvt.f32.f16 %0,u;cvt.f32.f16 %1,v;}" : "=f"(y.x), "=f"(y.y) : "r"(x));
#else
    y = (float2)(as_float(x << 16), as_float(x & 0xffff0000u));
#endif
    return y;
}
static uint narrow(float2 x)
{
    uint y;
#if OUT == 3
    asm("cvt.rn.f16x2.f32 %0,%1,%2;" : "=r"(y) : "f"(x.y), "f"(x.x));
#else
    asm("cvt.rn.bf16x2.f32 %0,%1,%2;" : "=r"(y) : "f"(x.y), "f"(x.x));
#endif
    return y;
}
#endif

#if LOOSE

/* ---- C where it is not aligned ------------------------------------------------------------------------------------ */

#define STRIP_LD    72 /* floats between a strip's rows: no two lanes of a store in one bank */
#define STRIP_BYTES (8 * STRIP_LD * 4)

/* One element of C, 0 where it is not to be read. */
static float get(global const RESULT *from, int there)
{
#if OUT == 1
    float x;
    asm volatile("{.reg .pred p;setp.ne.s32 p,%2,0;mov.f32 %0,0f00000000;@p ld.global.f32 %0,[%1];}"
                 : "=f"(x) : "l"(from), "r"(there) : "memory");
    return x;
#else
    uint x;
    asm volatile("{.reg .pred p;.reg .b16 x;setp.ne.s32 p,%2,0;mov.b16 x,0;@p ld.global.b16 x,[%1];cvt.u32.u16 %0,x;}"
                 : "=r"(x) : "l"(from), "r"(there) : "memory");
    return widen(x).x;
#endif
}
static void put(global RESULT *to, int there, float x)
{
#if OUT == 1
    asm volatile("{.reg .pred p;setp.ne.s32 p,%2,0;@p st.global.f32 [%0],%1;}" ::"l"(to), "f"(x), "r"(there) : "memory");
#else
    asm volatile("{.reg .pred p;.reg .b16 x,y;setp.ne.s32 p,%2,0;mov.b32 {x,y},%1;@p st.global.b16 [%0],x;}" ::"l"(to),
                 "r"(narrow((float2)(x, 0))), "r"(there) : "memory");
#endif
}

/* A warp's sums of 8 rows by `width` columns, a multiple of 32, into C, of which `rows` and `cols` are there; sum 4 j + e is
 * of row lane / 4, column 8 j + 2 (lane % 4) + e. Through the warp's strip of local memory, 64 columns at a time: lanes
 * store side by side what lies side by side. beta 0: C is not read. */
static inline __attribute__((always_inline)) void put_strip(local float *strip, global RESULT *c, int ld, int rows, int cols,
                                                            int width, const float *sum, float alpha, float beta)
{
    const int lane = get_local_id(0) & 31;
    UNROLL for (int first = 0; first < width; first += 64) {
        WARP_SYNC;
        UNROLL for (int j = first / 8; j < (first + 64 < width ? first + 64 : width) / 8; j++)
            *(local float2 *)(strip + (lane >> 2) * STRIP_LD + (j * 8 - first) + (lane & 3) * 2) =
                (float2)(sum[j * 4], sum[j * 4 + 1]);
        WARP_SYNC;
        UNROLL for (int row = 0; row < 8; row += 4) {
            float old[4][2] = {{0}};
            if (beta != 0) /* all reads before a store: the compiler cannot know that they are of other elements */
                UNROLL for (int y = 0; y < 4; y++)
                    UNROLL for (int x = 0; x < 2 && first + x * 32 < width; x++)
                        old[y][x] = get(c + (long)(row + y) * ld + (first + x * 32 + lane),
                                        row + y < rows && first + x * 32 + lane < cols);
            UNROLL for (int y = 0; y < 4; y++)
                UNROLL for (int x = 0; x < 2 && first + x * 32 < width; x++)
                    put(c + (long)(row + y) * ld + (first + x * 32 + lane), row + y < rows && first + x * 32 + lane < cols,
                        fma(alpha, strip[(row + y) * STRIP_LD + x * 32 + lane], beta * old[y][x]));
        }
    }
}

#else

/* Two adjacent elements of C where they are there, without a branch; beta 0: C is not read. */
static void finish(global RESULT *to, int there, float2 s, float alpha, float beta)
{
#if OUT == 1
    nv_put2(to, there > 0, s, alpha, beta);
#else
    uint old;
    asm volatile("{.reg .pred p;setp.ne.s32 p,%2,0;mov.b32 %0,0;@p ld.global.b32 %0,[%1];}"
                 : "=r"(old) : "l"(to), "r"(there > 0 && beta != 0) : "memory");
    old = narrow(fma((float2)(alpha), s, beta * widen(old)));
    asm volatile("{.reg .pred p;setp.ne.s32 p,%2,0;@p st.global.b32 [%0],%1;}" ::"l"(to), "r"(old), "r"(there > 0) : "memory");
#endif
}
#endif
