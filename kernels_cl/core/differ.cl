/* SPDX-License-Identifier: MIT
 *
 * differ.cl: where do two buffers differ as words, zeros of either sign counting as equal? The finding is guard.cl's.
 * For results of integer inputs, which are exact whatever computed them.
 */
kernel void differ(global const uint *mem, ulong count, global const uint *expected, uint at, global uint *finding)
{
    uint wrong = 0, first = 0;

    EACH(i, count)
    {
        uint a = mem[i], b = expected[i];
        if (a != b && ((a | b) & 0x7fffffffu) != 0) {
            wrong++;
            first = max(first, ~(uint)i);
        }
    }
    if (wrong) {
        atomic_add(finding + at, wrong);
        atomic_max(finding + at + 1, first);
    }
}
