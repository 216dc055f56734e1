/* SPDX-License-Identifier: MIT
 *
 * judge_bound.cl: reals, some lines whole.
 *   spread    A's column 0 and B's row 0 times opposite powers of two, in place
 *   bound     |C - ref| <= e + half * (|ref| + e) + least, e = factor * (|alpha| sum |a b| + |beta c0|), with ref in
 *             double, or in compensated sums (T. Ogita, S. Rump, S. Oishi, 2005) where double is no better than what is
 *             judged. factor: of the class and the types (docs/matmul.md). half: unit roundoff of C's type; least: half
 *             its smallest number. Where that reaches beyond C's largest number nothing is asked.
 *   worst     picks the element that is furthest out
 *
 * Index spaces: bound: an item is V columns of LINES sampled lines, a group takes neighbouring items. spread: work-items
 *   share a flat index. Macros: judge_common.cl's. No local memory.
 * The host guarantees: local size LANES (worst: one work-item in all), sizes >= 1, fewer than 2^32 - 1 lines and columns,
 *   at most 2^31 items, and words of the finding as said at each kernel.
 */
/* `count` elements `stride` apart in each batch, of a matrix of type TA. */
kernel void spread(global elem_a *x, ulong start, long batches, long count, long stride, long2 size01, long2 size23,
                   long2 step01, long2 step23, float factor)
{
    batches = BATCHES(batches);
    for (long item = get_global_id(0); item < batches * count; item += get_global_size(0)) {
        long           batch = batches == 1 ? 0 : item / count;
        global elem_a *p = x + start + BATCH_AT(batch, step) + (item - batch * count) * stride;
#if TA == 3
        vstore_half(GET(TA, p) * factor, 0, p);
#elif TA == 4
        *p = (ushort)(as_uint(GET(TA, p) * factor) >> 16);
#else
        *p *= factor;
#endif
    }
}

#if R64
typedef double real;
#define REAL double
#else
typedef float real;
#define REAL float
#endif
typedef VEC(REAL) realv;
#define TO_REAL TO(REAL)

typedef VEC(float) floatv;

/* s + e is the sum of the products. */
#if R64 && TA != 2 && TB != 2 && TC != 2
#define ADD(real_t, s, e, x, y) s = fma(x, y, s)
#else
#define ADD(real_t, s, e, x, y)                                                                                        \
    {                                                                                                                  \
        real_t p_ = (x) * (y), t_ = s + p_, z_ = t_ - s;                                                               \
        e += fma(x, y, -p_) + ((s - (t_ - z_)) + (p_ - z_));                                                           \
        s = t_;                                                                                                        \
    }
#endif

/* Lines and columns that one work-item does at a time. */
#if LANES == 1
#define LINES 4
#else
#define LINES 1
#endif
#define COLUMNS 4

/* Products of LINES lines of A with V columns of B that lie side by side; size gets the sums of |a b|. */
static void tile_of_rows(global const elem_a *const *a, long a_col, global const elem_b *b, long b_row, long length,
                  real *dot, float *size)
{
    realv  s[LINES], e[LINES];
    floatv m[LINES];
    for (int g = 0; g < LINES; g++) {
        s[g] = e[g] = (realv)0;
        m[g] = (floatv)0;
    }
    for (long l = 0; l < length; l++) {
        realv  bv = TO_REAL(GETV(TB, b + l * b_row));
        floatv bm = fabs(TO(float)(GETV(TB, b + l * b_row)));
#pragma unroll
        for (int g = 0; g < LINES; g++) {
            real  one = GET(TA, a[g] + l * a_col);
            realv av = (realv)one;
            ADD(realv, s[g], e[g], av, bv);
            m[g] = fma((floatv)fabs((float)one), bm, m[g]);
        }
    }
    for (int g = 0; g < LINES; g++) {
        VSTORE(s[g] + e[g], g, dot);
        VSTORE(m[g], g, size);
    }
}

/* One line of A with one column of B, from element l of both on, added to what is there. */
static void one_column(global const elem_a *a, long a_col, global const elem_b *b, long b_row, long l, long length, real *dot,
                float *size)
{
    real  s = *dot, e = 0;
    float m = *size;
    ROLLED for (; l < length; l++) {
        real x = GET(TA, a + l * a_col), y = GET(TB, b + l * b_row);
        ADD(real, s, e, x, y);
        m = fma(fabs((float)x), fabs((float)y), m);
    }
    *dot = s + e;
    *size = m;
}

/* One line of A with COLUMNS columns of B whose elements lie side by side. */
static void tile_of_columns(global const elem_a *a, long a_col, global const elem_b *b, long b_col, long length, real *dot,
                     float *size)
{
    realv  s[COLUMNS], e[COLUMNS];
    floatv m[COLUMNS];
    long   l = 0;
    for (int i = 0; i < COLUMNS; i++) {
        s[i] = e[i] = (realv)0;
        m[i] = (floatv)0;
    }
    for (; l + V <= length; l += V) {
        realv av;
        if (a_col == 1) {
            av = TO_REAL(GETV(TA, a + l));
        } else {
            real line[V];
            for (int v = 0; v < V; v++)
                line[v] = GET(TA, a + (l + v) * a_col);
            av = VLOAD(line);
        }
        floatv am = fabs(TO(float)(av));
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            realv bv = TO_REAL(GETV(TB, b + i * b_col + l));
            ADD(realv, s[i], e[i], av, bv);
            m[i] = fma(am, fabs(TO(float)(bv)), m[i]);
        }
    }
    ROLLED for (int i = 0; i < COLUMNS; i++) {
        real  parts[2 * V], sum = 0, rest = 0;
        float sizes[V], all = 0;
        VSTORE(s[i], 0, parts);
        VSTORE(e[i], 1, parts);
        VSTORE(m[i], 0, sizes);
        for (int v = 0; v < V; v++) {
            ADD(real, sum, rest, parts[v], (real)1);
            rest += parts[V + v];
            all += sizes[v];
        }
        dot[i] = sum + rest;
        size[i] = all;
        one_column(a, a_col, b + i * b_col, 1, l, length, dot + i, size + i);
    }
}

/* LINES lines with V columns from j on; columns at and behind cols are left at 0. */
static void tile(global const elem_a *const *a, long a_col, global const elem_b *b, long b_row, long b_col, long j, long cols,
          long length, real *dot, float *size)
{
    bool columns = !USUAL && b_row == 1; /* B's elements lie side by side along a column */
    if (b_col == 1 && !columns && j + V <= cols) {
        tile_of_rows(a, a_col, b + j, b_row, length, dot, size);
        return;
    }
    for (int i = 0; i < LINES * V; i++)
        dot[i] = size[i] = 0;
    for (int g = 0; g < LINES; g++)
        ROLLED for (int v = 0; v < V && j + v < cols;) {
            if (columns && v + COLUMNS <= V && j + v + COLUMNS <= cols) {
                tile_of_columns(a[g], a_col, b + (j + v) * b_col, b_col, length, dot + g * V + v, size + g * V + v);
                v += COLUMNS;
            } else {
                one_column(a[g], a_col, b + (j + v) * b_col, b_row, 0, length, dot + g * V + v, size + g * V + v);
                v++;
            }
        }
}

/* Sample s is LINES lines of one batch. Where `samples` can hold all lines each is looked at; else the first and the
 * last line, and any others. */
static void pick(long s, long samples, long batches, long rows, ulong seed, long *batch, long *row)
{
    long blocks = (rows + LINES - 1) / LINES;
    bool all = batches * blocks <= samples;
    *batch = batches == 1 ? 0 : all ? QUOTIENT(s, blocks) : s == 0 ? 0 : s == 1 ? batches - 1 :
             (long)((ulong)hash(seed, s) * batches >> 32);
    for (int g = 0; g < LINES; g++) {
        long any = (long)((ulong)hash(seed + 1, s * LINES + g) * rows >> 32);
        row[g] = all ? min((s - *batch * blocks) * LINES + g, rows - 1) : g > 0 || s > 1 ? any : s == 0 ? 0 : rows - 1;
    }
}

/* finding[0] += elements out of bound; slots: 6 words an item about its worst element: how far out (bits of a float,
 * 1 is the limit, 0 where none is out), line, column, what stands there, the reference, the tolerance. */
kernel void bound(global const elem_a *a, ulong a_start, long a_row, long a_col, long2 a01, long2 a23,
                  global const elem_b *b, ulong b_start, long b_row, long b_col, long2 b01, long2 b23,
                  global const elem_c *c, ulong c_start, long c_row, long c_col, long2 c01, long2 c23,
                  global const elem_c *old, ulong old_start, long2 size01, long2 size23, long batches, long rows,
                  long cols, long length, ulong seed, long samples, real alpha, real beta, real factor, real half_unit,
                  real least, real largest, global uint *slots, global uint *finding)
{
    const uint blocks = (uint)((cols + V - 1) / V), items = blocks * (uint)samples;
    const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0), more = items % groups;
    const uint first = items / groups * group + min(group, more), end = first + items / groups + (group < more);
    batches = BATCHES(batches);
    a_col = BESIDE(a_col);
    b_col = BESIDE(b_col);
    c_col = BESIDE(c_col);
    beta = SCALED(beta);
    for (uint item = first + (uint)LANE; item < end; item += LANES) {
        long                 s = LANES == 1 ? item % (uint)samples : item / blocks;
        long                 j = (long)(LANES == 1 ? item / (uint)samples : item % blocks) * V;
        global uint         *slot = slots + 6 * (long)item;
        long                 batch, row[LINES];
        global const elem_a *lines[LINES];
        real                 dot[LINES * V];
        float                size[LINES * V], furthest = 0;
        uint                 wrong = 0;
        pick(s, samples, batches, rows, seed, &batch, row);
        for (int g = 0; g < LINES; g++)
            lines[g] = a + a_start + BATCH_AT(batch, a) + row[g] * a_row;
        tile(lines, a_col, b + b_start + BATCH_AT(batch, b), b_row, b_col, j, cols, length, dot, size);
        ROLLED for (int i = 0; i < LINES * V; i++) {
            long column = j + i % V, at = BATCH_AT(batch, c) + row[i / V] * c_row + column * c_col;
            if (column >= cols)
                continue;
            real before = beta != 0 ? beta * (real)GET(TC, old + old_start + at) : (real)0;
            real got = GET(TC, c + c_start + at);
            real ref = alpha * dot[i] + before;
            real sums_off = factor * (fabs(alpha) * size[i] + fabs(before));
            real limit = sums_off + half_unit * (fabs(ref) + sums_off) + least;
            real off = fabs(got - ref);
            if (off <= limit || !(fabs(ref) + limit <= largest))
                continue;
            float far = (float)(off / limit);
            far = isfinite(far) ? far : INFINITY;
            wrong++;
            if (far > furthest) {
                furthest = far;
                slot[1] = (uint)(batch * rows + row[i / V]);
                slot[2] = (uint)column;
                slot[3] = as_uint((float)got);
                slot[4] = as_uint((float)ref);
                slot[5] = as_uint((float)limit);
            }
        }
        slot[0] = as_uint(furthest);
        if (wrong)
            atomic_add(finding, wrong);
    }
}

/* One work-item: words 1 to 6 of the finding become the slot that is furthest out. */
kernel void worst(global const uint *slots, long items, global uint *finding)
{
    long at = 0;
    if (finding[0] == 0)
        return;
    ROLLED for (long item = 1; item < items; item++)
        if (slots[6 * item] > slots[6 * at])
            at = item;
    for (int i = 0; i < 6; i++)
        finding[1 + i] = slots[6 * at + i];
}
