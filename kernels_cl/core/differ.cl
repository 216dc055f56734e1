/* SPDX-License-Identifier: MIT
 *
 * differ.cl: where do two buffers differ as words, zeros of either sign counting as equal? The finding is guard.cl's.
 * For results of integer inputs, which are exact whatever computed them.
 */
#define DIFFER(a, b) (((a) != (b)) & ((((a) | (b)) & 0x7fffffffu) != 0))

kernel void differ(global const uint *mem, ulong count, global const uint *expected, uint at, global uint *finding)
{
    uint wrong = 0, first = 0;

    EACH(i, (count + BLOCK - 1) / BLOCK)
    {
        ulong from = i * BLOCK;
        if (from + BLOCK <= count && !ANY(DIFFER(LOAD(mem + from), LOAD(expected + from))))
            continue;
        for (ulong j = from; j < min(from + BLOCK, count); j++)
            if (DIFFER(mem[j], expected[j])) {
                wrong++;
                first = max(first, ~(uint)j);
            }
    }
    if (wrong) {
        atomic_add(finding + at, wrong);
        atomic_max(finding + at + 1, first);
    }
}
