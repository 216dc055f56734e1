/* SPDX-License-Identifier: MIT
 *
 * guard.cl: which words of a buffer are no longer all ones, apart from a hole in it? finding[at] counts them, finding[at + 1]
 * holds the complement of the first one's index. Half-words from `hole` up to, but without, `after` are not looked at.
 * Any one-dimensional index space. The host zeroes the finding; count < 2^32 words are there, hole <= after <= 2 count.
 */
kernel void guard(global const uint *mem, ulong count, ulong hole, ulong after, uint at, global uint *finding)
{
    uint  wrong = 0, first = 0;
    ulong head = (hole + 2 * BLOCK - 1) / (2 * BLOCK), blocks = (count + BLOCK - 1) / BLOCK;
    ulong inside = max(after / (2 * BLOCK), head) - head; /* blocks that lie in the hole */

    EACH(i, blocks - min(inside, blocks))
    {
        ulong from = (i < head ? i : i + inside) * BLOCK;
        if (from + BLOCK <= count && !ANY(LOAD(mem + from) != (words)(~0u)))
            continue;
        for (ulong j = from; j < min(from + BLOCK, count); j++) {
            uint low = 2 * j >= hole && 2 * j < after ? 0xffffu : 0;
            uint high = 2 * j + 1 >= hole && 2 * j + 1 < after ? 0xffff0000u : 0;
            if ((mem[j] | low | high) != ~0u) {
                wrong++;
                first = max(first, ~(uint)j);
            }
        }
    }
    if (wrong) {
        atomic_add(finding + at, wrong);
        atomic_max(finding + at + 1, first);
    }
}
