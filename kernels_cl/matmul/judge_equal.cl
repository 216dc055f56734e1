/* SPDX-License-Identifier: MIT
 *
 * judge_equal.cl: integers, every element in O(n^2) (R. Freivalds, 1977). All sums modulo 2^32, r a vector of odd random
 * numbers.
 *   weights   r[j] = odd hash of (seed, j)
 *   sums      out[line] = sum x[line, j] * w[j];  y = B * r, then t = A * y
 *   check     each element of C is finite and an integer, and for each line sum C r = alpha * t + beta * sum C0 r.
 *             One wrong element of a line is always caught: the weights are odd.
 *   erase     all bits of each element of C become one
 *
 * Index spaces: sums, check, erase: a group takes every (number of groups)-th line; where a matrix is column-major sums takes V lines
 *   in one work-item instead. The rest: work-items share a flat index. Macros: judge_common.cl's.
 * Local memory: sums, check: LANES words.
 * The host guarantees: local size LANES, sizes >= 1, C's elements distinct, fewer than 2^32 - 1 lines and columns, integer
 *   inputs below 2^30 in size, and words of the finding as said at each kernel.
 */
typedef VEC(uint) uintv;
typedef VEC(int) intv;

#if V == 16
#define FOLD(v) fold16(v)
static uint fold16(uint16 v)
{
    uint8 a = v.lo + v.hi;
    uint4 b = a.lo + a.hi;
    return b.x + b.y + b.z + b.w;
}
#else
#define FOLD(v) ((v).x + (v).y + (v).z + (v).w)
#endif

#if LANES == 1
#define across(v, part) (v)
#else
/* The sum over the group's work-items. */
static uint across(uint v, local uint *part)
{
    uint lane = get_local_id(0);
    part[lane] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    ROLLED for (uint half_of = LANES / 2; half_of > 0; half_of /= 2) {
        if (lane < half_of)
            part[lane] += part[lane + half_of];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    v = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return v;
}
#endif

kernel void weights(global uint *r, ulong seed, long count)
{
    ROLLED for (long j = get_global_id(0); j < count; j += get_global_size(0))
        r[j] = hash(seed, (uint)j) | 1;
}

/* x is a matrix of type TA: `rows` lines of `length` in each batch; w_step words from the weights of a batch to the
 * next. */
kernel void sums(global const elem_a *x, ulong start, long batches, long rows, long length, long row, long col,
                 long2 size01, long2 size23, long2 step01, long2 step23, global const uint *w, long w_step,
                 global uint *out, local uint *part)
{
    x += start;
    batches = BATCHES(batches);
    col = BESIDE(col);
    if (row == 1 && col != 1) {
        long blocks = (rows + V - 1) / V;
        for (long item = get_global_id(0); item < batches * blocks; item += get_global_size(0)) {
            long                 batch = BATCH_OF(item, blocks), line = (item - batch * blocks) * V;
            global const elem_a *p = x + BATCH_AT(batch, step) + line;
            global const uint   *wb = w + batch * w_step;
            global uint         *to = out + batch * rows + line;
            if (line + V <= rows) {
                uintv s = 0;
                for (long j = 0; j < length; j++)
                    s += CAT(as_uint, V)(TO(int)(GETV(TA, p + j * col))) * wb[j];
                VSTORE(s, 0, to);
            } else {
                ROLLED for (long l = 0; l < rows - line; l++) {
                    uint s = 0;
                    ROLLED for (long j = 0; j < length; j++)
                        s += (uint)(int)GET(TA, p + j * col + l) * wb[j];
                    to[l] = s;
                }
            }
        }
        return;
    }
    for (long line = get_group_id(0); line < batches * rows; line += get_num_groups(0)) {
        long                 batch = BATCH_OF(line, rows), j;
        global const elem_a *p = x + BATCH_AT(batch, step) + (line - batch * rows) * row;
        global const uint   *wb = w + batch * w_step;
        uint                 s = 0;
        if (col == 1) {
            uintv sv = 0;
            for (j = LANE * V; j + V <= length; j += LANES * V)
                sv += CAT(as_uint, V)(TO(int)(GETV(TA, p + j))) * VLOAD(wb + j);
            s = FOLD(sv);
            ROLLED for (j = length / V * V + LANE; j < length; j += LANES)
                s += (uint)(int)GET(TA, p + j) * wb[j];
        } else {
            for (j = LANE; j < length; j += LANES)
                s += (uint)(int)GET(TA, p + j * col) * wb[j];
        }
        s = across(s, part);
        if (LANE == 0)
            out[line] = s;
    }
}

#if TC == 2
typedef VEC(double) numberv;
typedef VEC(long) maskv;
#define TO_NUMBER TO(double)
#else
typedef VEC(float) numberv;
typedef VEC(int) maskv;
#define TO_NUMBER TO(float)
#endif

/* This work-item's share of sum c[j] r[j] over a line. */
static uint line_sum(global const elem_c *c, long cols, long col, global const uint *r, int *bad)
{
    uint s = 0;
    long j = LANE;
    if (col == 1) {
        uintv sv = 0;
        maskv off = 0;
        for (j = LANE * V; j + V <= cols; j += LANES * V) {
            numberv x = GETV(TC, c + j);
            maskv   fits = fabs(x) <= (numberv)LARGEST;
            intv    v = TO(int)(select((numberv)0, x, fits));
            off |= TO_NUMBER(v) != x;
            sv += CAT(as_uint, V)(v) * VLOAD(r + j);
        }
        *bad |= any(off);
        s = FOLD(sv);
        j = cols / V * V + LANE;
    }
    ROLLED for (; j < cols; j += LANES)
        s += (uint)whole(GET(TC, c + j * col), bad) * r[j];
    return s;
}

/* finding[0] += wrong lines, finding[1] = largest of ~line, so ~finding[1] is the first wrong line. */
kernel void check(global const elem_c *c, ulong c_start, global const elem_c *old, ulong old_start, long batches,
                  long rows, long cols, long row, long col, long2 size01, long2 size23, long2 step01, long2 step23,
                  global const uint *r, global const uint *t, uint alpha, uint beta, global uint *finding,
                  local uint *part)
{
    batches = BATCHES(batches);
    col = BESIDE(col);
    beta = SCALED(beta);
    for (long line = get_group_id(0); line < batches * rows; line += get_num_groups(0)) {
        long batch = BATCH_OF(line, rows);
        long at = BATCH_AT(batch, step) + (line - batch * rows) * row;
        int  bad = 0, ignored = 0;
        uint s = line_sum(c + c_start + at, cols, col, r, &bad);
        if (beta)
            s -= beta * line_sum(old + old_start + at, cols, col, r, &ignored);
        s = across(s, part);
        bad = across((uint)(bad != 0), part);
        if (LANE == 0 && (bad || s != alpha * t[line])) {
            atomic_inc(finding);
            atomic_max(finding + 1, ~(uint)line);
        }
    }
}

#if TC == 1
#define ONES ((global uint *)p)[j * col] = ~0u
#elif TC == 2
#define ONES ((global ulong *)p)[j * col] = ~0ul
#else
#define ONES ((global ushort *)p)[j * col] = (ushort)0xffff
#endif

kernel void erase(global elem_c *c, ulong start, long batches, long rows, long cols, long row, long col, long2 size01,
                  long2 size23, long2 step01, long2 step23)
{
    batches = BATCHES(batches);
    col = BESIDE(col);
    for (long line = get_group_id(0); line < batches * rows; line += get_num_groups(0)) {
        long           batch = BATCH_OF(line, rows);
        global elem_c *p = c + start + BATCH_AT(batch, step) + (line - batch * rows) * row;
        ROLLED for (long j = LANE; j < cols; j += LANES)
            ONES;
    }
}
