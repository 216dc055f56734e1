/* SPDX-License-Identifier: MIT
 *
 * guard.cl: which words of a buffer are no longer all ones, apart from a hole in it? finding[at] counts them, finding[at + 1]
 * holds the complement of the first one's index. Half-words from `hole` up to, but without, `after` are not looked at.
 * Any one-dimensional index space. The host zeroes the finding; count < 2^32 words are there, hole <= after <= 2 count.
 */
kernel void guard(global const uint *mem, ulong count, ulong hole, ulong after, uint at, global uint *finding)
{
    uint  wrong = 0, first = 0;
    ulong head = (hole + 1) / 2, inside = max(after / 2, head) - head; /* words before the hole's first whole one, in it */

    EACH(i, count - inside)
    {
        ulong j = i < head ? i : i + inside;
        uint  low = 2 * j >= hole && 2 * j < after ? 0xffffu : 0;
        uint  high = 2 * j + 1 >= hole && 2 * j + 1 < after ? 0xffff0000u : 0;
        if ((mem[j] | low | high) != 0xffffffffu) {
            wrong++;
            first = max(first, ~(uint)j);
        }
    }
    if (wrong) {
        atomic_add(finding + at, wrong);
        atomic_max(finding + at + 1, first);
    }
}
