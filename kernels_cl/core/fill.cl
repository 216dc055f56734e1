/* SPDX-License-Identifier: MIT
 *
 * fill.cl: element i := an integer of −range … range, one in 2^sparse of them not zeroed, or (real) a number of (−1, 1),
 * from a counter hash of (seed, i). Any one-dimensional index space. The host guarantees count elements from `from` on.
 */
kernel void fill(global elem *mem, ulong from, ulong count, uint seed, uint range, uint sparse, uint real)
{
    mem += from;
    EACH(i, count)
    {
        uint  h = counter_hash(seed, i);
        float v;
        if (real)
            v = (float)(int)h * 0x1p-31f;
        else
            v = sparse && (counter_hash(~seed, i) & ((1u << sparse) - 1))
                    ? 0.0f
                    : (float)(int)(h % (2 * range + 1)) - (float)range;
        PUT(mem, i, v);
    }
}
