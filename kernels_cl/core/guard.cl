/* SPDX-License-Identifier: MIT
 *
 * guard.cl: which words of a buffer are no longer all ones? finding[0] counts them, finding[1] holds the complement of
 * the first one's index. Any one-dimensional index space. The host zeroes finding; count < 2^32 words are looked at.
 */
kernel void guard(global const uint *mem, ulong count, global uint *finding)
{
    uint wrong = 0, first = 0;

    EACH(i, count)
    {
        if (mem[i] != 0xffffffffu) {
            wrong++;
            first = max(first, ~(uint)i);
        }
    }
    if (wrong) {
        atomic_add(finding, wrong);
        atomic_max(finding + 1, first);
    }
}
