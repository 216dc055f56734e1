/* SPDX-License-Identifier: MIT
 *
 * judge_locate.cl: where judge_equal.cl has found a line wrong, which element. A program of its own, built only then.
 *   locate    recomputes one line exactly, modulo 2^32, and finds its first wrong column
 *
 * Index space: work-items share a flat index, the columns. Macros: judge_common.cl's. No local memory.
 * The host guarantees: what it does for judge_equal.cl, whose finding this reads; pass 0, then pass 1.
 */

/* pass 0: finding[2] = largest of ~column that is wrong in line ~finding[1].
 * pass 1: tells about that column: finding[3] = 1, [4] and [5] the element's bits, [6] the integer it should be. */
kernel void locate(global const elem_a *a, ulong a_start, long a_row, long a_col, long2 a01, long2 a23,
                   global const elem_b *b, ulong b_start, long b_row, long b_col, long2 b01, long2 b23,
                   global const elem_c *c, ulong c_start, long c_row, long c_col, long2 c01, long2 c23,
                   global const elem_c *old, ulong old_start, long2 size01, long2 size23, long rows, long cols,
                   long length, uint alpha, uint beta, uint pass, global uint *finding)
{
    if (finding[0] == 0 || (pass == 1 && finding[2] == 0))
        return;
    long line = ~finding[1];
    long batch = BATCH_OF(line, rows), i = line - batch * rows;
    a += a_start + BATCH_AT(batch, a) + i * a_row;
    b += b_start + BATCH_AT(batch, b);
    c += c_start + BATCH_AT(batch, c) + i * c_row;
    old += old_start + BATCH_AT(batch, c) + i * c_row;
    ROLLED for (long j = get_global_id(0); j < cols; j += get_global_size(0)) {
        uint want = 0;
        int  bad = 0, ignored = 0, got;
        if (pass == 1 && (uint)j != ~finding[2])
            continue;
        for (long l = 0; l < length; l++)
            want += (uint)(int)GET(TA, a + l * a_col) * (uint)(int)GET(TB, b + l * b_row + j * b_col);
        want *= alpha;
        if (beta)
            want += beta * (uint)whole(GET(TC, old + j * c_col), &ignored);
        got = whole(GET(TC, c + j * c_col), &bad);
        if (!bad && (uint)got == want)
            continue;
        if (pass == 0) {
            atomic_max(finding + 2, ~(uint)j);
        } else {
#if TC == 2
            ulong bits = as_ulong(c[j * c_col]);
#else
            ulong bits = as_uint(GET(TC, c + j * c_col));
#endif
            finding[3] = 1;
            finding[4] = (uint)bits;
            finding[5] = (uint)(bits >> 32);
            finding[6] = want;
        }
    }
}
