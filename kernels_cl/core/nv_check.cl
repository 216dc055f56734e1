/* SPDX-License-Identifier: MIT
 *
 * nv_check.cl: is a program that was finished by the builder (plugins/nv_mma/build.c) right? One group of 64 work-items:
 * each tries what objects leave open, of each kind, on its own word and its neighbours', and word i becomes 0x600d where
 * all of it was right for work-item i. Local memory: 512 bytes. The host gives 64 words, zero.
 */
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void check(global uint *words)
{
    local float part[64];
    local uint  order[64];
    const uint  me = (uint)get_local_id(0), other = 63 - me;
    bool        right;

    right = get_global_id(0) == me && get_group_id(0) == 0 && get_local_size(0) == 64 && get_num_groups(0) == 1 &&
            get_global_size(0) == 64 && get_local_id(1) == 0 && get_global_size(1) == 1 && get_num_groups(2) == 1;
    part[me] = fma((float)me, 0.5f, 0.25f);
    order[me] = me * 3u;
    barrier(CLK_LOCAL_MEM_FENCE);
    right = right && part[other] == fma((float)other, 0.5f, 0.25f);
    right = right && as_uint(part[me]) == as_uint(0.5f * (float)me + 0.25f) && as_float(as_uint(part[me])) == part[me];
    float4 four = vload4(0, part), twice = fma(four, (float4)(2.0f), (float4)(1.0f));
    right = right && four.x == 0.25f && four.w == 1.75f && twice.y == 2.5f && fabs(-four.z) == 1.25f;
    int4 whole = convert_int4(twice);
    right = right && whole.x == 1 && whole.y == 2 && whole.z == 3 && whole.w == 4 && convert_float4(whole).w == 4.0f;
    right = right && min((int)me, 7) == (me < 7 ? (int)me : 7) && max(me, 9u) == (me > 9u ? me : 9u) &&
            min((long)me, -1L) == -1L && fmin(part[me], 1.0f) <= 1.0f && fmax(part[me], 1.0f) >= 1.0f;
    right = right && isfinite(part[me]) && !isfinite(as_float(0x7f800000u)) && any(whole - 2) && !any(whole);
    float4 chosen = select(four, twice, (int4)(0, -1, 0, -1));
    right = right && chosen.x == four.x && chosen.y == twice.y && chosen.z == four.z && chosen.w == twice.w;
    right = right && order[other] == other * 3u;
    barrier(CLK_LOCAL_MEM_FENCE);
    right = right && atomic_or(order + other, 0x100u) == other * 3u && atomic_max(order + other, 5u) == other * 3u + 0x100u;
    barrier(CLK_LOCAL_MEM_FENCE);
    right = right && order[me] == me * 3u + 0x100u;

    /* Atomics and 16-byte stores on the result itself: a word counts to 64, is turned into its number, and is set last. */
    right = right && atomic_add(words + me, 2u) == 0u && atomic_inc(words + me) == 2u && atomic_max(words + me, 60u) == 3u;
    barrier(CLK_GLOBAL_MEM_FENCE);
    right = right && words[me] == 60u;
    if (me % 4 == 0)
        vstore4((uint4)(1u, 2u, 3u, 4u), me / 4, words);
    barrier(CLK_GLOBAL_MEM_FENCE);
    uint4 read = vload4(me / 4, words);
    right = right && read.x == 1u && read.w == 4u && words[me] == me % 4 + 1u;
    barrier(CLK_GLOBAL_MEM_FENCE);
    words[me] = right ? 0x600du : 0xbadu;
}
