/* SPDX-License-Identifier: MIT
 *
 * judge.cl: is C = alpha * A * B + beta * C0? Two questions, two kinds of input.
 *
 * Integers, every element in O(n^2) (R. Freivalds, 1977): all sums modulo 2^32, r a vector of odd random numbers.
 *   weights   r[j] = odd hash of (seed, j)
 *   sums      out[line] = sum x[line, j] * w[j];  y = B * r, then t = A * y
 *   check     each element of C is finite and an integer, and for each line sum C r = alpha * t + beta * sum C0 r.
 *             One wrong element of a line is always caught: the weights are odd.
 *   locate    recomputes one line exactly and finds the first wrong column
 *
 * Reals, some lines whole:
 *   spread    A's column 0 and B's row 0 times opposite powers of two, in place
 *   bound     |C - ref| <= e + half * (|ref| + e) + least, e = factor * (|alpha| sum |a b| + |beta c0|), with ref in
 *             double, or in compensated sums (T. Ogita, S. Rump, S. Oishi, 2005) where double is no better than what is
 *             judged. factor: of the class and the types (docs/matmul.md). half: unit roundoff of C's type; least: half
 *             its smallest number. Where that reaches beyond C's largest number nothing is asked.
 *   worst     picks the element that is furthest out
 * And erase: all bits of each element of C become one.
 *
 * Index spaces: one dimension, groups of LANES work-items. sums, check, erase: a group takes every (number of
 *   groups)-th line, a line is a row of a matrix in one batch; where a matrix is column-major sums takes V lines in
 *   one work-item instead. bound: an item is V columns of LINES sampled lines. The rest: work-items share a flat index.
 * Macros: TA, TB, TC element types (1 float, 2 double, 3 half, 4 bfloat16); R64 1: the reference is double; LANES
 *   work-items in a group, 1 on a CPU: no barriers then, vectors of 16 and neighbouring work in one work-item; else
 *   vectors of 4 and neighbouring work in neighbouring work-items; PART 1: the kernels for integers alone, 2: those for
 *   reals, else all.
 * Local memory: sums, check: LANES words.
 * The host guarantees: local size LANES (worst: one work-item in all), sizes >= 1, C's elements distinct, fewer than 2^32 - 1 lines and columns,
 *   integer inputs below 2^30 in size, and words of the finding as said at each kernel.
 */
#pragma OPENCL FP_CONTRACT OFF
#if R64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define CAT_(a, b) a##b
#define CAT(a, b)  CAT_(a, b)

#if LANES == 1
#define V 16
#else
#define V 4
#endif
#define VEC(type)  CAT(type, V)
#define TO(type)   CAT(convert_, VEC(type))
#define VLOAD(p)   CAT(vload, V)(0, p)
#define UNBF(x)    CAT(as_float, V)(CAT(convert_uint, V)(x) << 16)
#define VSTORE     CAT(vstore, V)

/* By element type: as stored, as a number, one, V neighbours. */
#define ELEM_1     float
#define ELEM_2     double
#define ELEM_3     half
#define ELEM_4     ushort
#define NUMBER_1   float
#define NUMBER_2   double
#define NUMBER_3   float
#define NUMBER_4   float
#define GET_1(p)   (*(p))
#define GET_2(p)   (*(p))
#define GET_3(p)   vload_half(0, p)
#define GET_4(p)   as_float((uint) * (p) << 16)
#define GETV_1(p)  VLOAD(p)
#define GETV_2(p)  VLOAD(p)
#define GETV_3(p)  CAT(vload_half, V)(0, p)
#define GETV_4(p)  UNBF(VLOAD(p))
#define ELEM(t)    CAT(ELEM_, t)
#define NUMBER(t)  CAT(NUMBER_, t)
#define GET(t, p)  CAT(GET_, t)(p)
#define GETV(t, p) CAT(GETV_, t)(p)

typedef ELEM(TA) elem_a;
typedef ELEM(TB) elem_b;
typedef ELEM(TC) elem_c;
typedef NUMBER(TC) number_c;
typedef VEC(uint) uintv;
typedef VEC(int) intv;

#if V == 16
#define FOLD(v) fold16(v)
uint fold16(uint16 v)
{
    uint8 a = v.lo + v.hi;
    uint4 b = a.lo + a.hi;
    return b.x + b.y + b.z + b.w;
}
#else
#define FOLD(v) ((v).x + (v).y + (v).z + (v).w)
#endif

/* A group's lines: on a CPU neighbours, which it reads in the order of memory. */
#if LANES == 1
#define EACH_LINE(line, lines)                                                                                         \
    for (long line = (lines) * get_group_id(0) / get_num_groups(0),                                                    \
              end_ = (lines) * (get_group_id(0) + 1) / get_num_groups(0);                                              \
         line < end_; line++)
#else
#define EACH_LINE(line, lines) for (long line = get_group_id(0); line < (lines); line += get_num_groups(0))
#endif

#if LANES == 1
#define LANE               0
#define across(v, part)    (v)
#else
#define LANE               ((long)get_local_id(0))
/* The sum over the group's work-items. */
uint across(uint v, local uint *part)
{
    uint lane = get_local_id(0);
    part[lane] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_of = LANES / 2; half_of > 0; half_of /= 2) {
        if (lane < half_of)
            part[lane] += part[lane + half_of];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    v = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return v;
}
#endif

/* Where batch b begins: sizes and steps of the four batch dimensions, outermost first. */
long batch_at(long b, long2 size01, long2 size23, long2 step01, long2 step23)
{
    long b3 = b % size23.y, rest = b / size23.y;
    long b2 = rest % size23.x, b1 = rest / size23.x % size01.y, b0 = rest / size23.x / size01.y;
    return b0 * step01.x + b1 * step01.y + b2 * step23.x + b3 * step23.y;
}
#define BATCH_AT(b, steps) ((size01.x * size01.y * size23.x * size23.y) == 1 ? 0 : \
                            batch_at(b, size01, size23, steps##01, steps##23))

uint hash(ulong seed, uint i)
{
    uint x = (i ^ (uint)seed) * 0x9e3779b1u + (uint)(seed >> 32);
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

#if PART != 2
/* ---- Integers ------------------------------------------------------------------------------------------------ */

kernel void weights(global uint *r, ulong seed, long count)
{
    for (long j = get_global_id(0); j < count; j += get_global_size(0))
        r[j] = hash(seed, (uint)j) | 1;
}

/* x is a matrix of type TA: `rows` lines of `length` in each batch; w_step words from the weights of a batch to the
 * next. */
kernel void sums(global const elem_a *x, ulong start, long batches, long rows, long length, long row, long col,
                 long2 size01, long2 size23, long2 step01, long2 step23, global const uint *w, long w_step,
                 global uint *out, local uint *part)
{
    x += start;
    if (row == 1 && col != 1) {
        long blocks = (rows + V - 1) / V;
        for (long item = get_global_id(0); item < batches * blocks; item += get_global_size(0)) {
            long                 batch = item / blocks, line = item % blocks * V;
            global const elem_a *p = x + BATCH_AT(batch, step) + line;
            global const uint   *wb = w + batch * w_step;
            global uint         *to = out + batch * rows + line;
            if (line + V <= rows) {
                uintv s = 0;
                for (long j = 0; j < length; j++)
                    s += CAT(as_uint, V)(TO(int)(GETV(TA, p + j * col))) * wb[j];
                VSTORE(s, 0, to);
            } else {
                for (long l = 0; l < rows - line; l++) {
                    uint s = 0;
                    for (long j = 0; j < length; j++)
                        s += (uint)(int)GET(TA, p + j * col + l) * wb[j];
                    to[l] = s;
                }
            }
        }
        return;
    }
    EACH_LINE(line, batches * rows)
    {
        long                 batch = line / rows, j;
        global const elem_a *p = x + BATCH_AT(batch, step) + (line - batch * rows) * row;
        global const uint   *wb = w + batch * w_step;
        uint                 s = 0;
        if (col == 1) {
            uintv sv = 0;
            for (j = LANE * V; j + V <= length; j += LANES * V)
                sv += CAT(as_uint, V)(TO(int)(GETV(TA, p + j))) * VLOAD(wb + j);
            s = FOLD(sv);
            for (j = length / V * V + LANE; j < length; j += LANES)
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

#define LARGEST ((number_c)1073741824)

/* An element of C as an integer; `bad` is set where it is none of at most 2^30. */
int whole(number_c x, int *bad)
{
    int v = fabs(x) <= LARGEST ? (int)x : 0;
    *bad |= (number_c)v != x;
    return v;
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
uint line_sum(global const elem_c *c, long cols, long col, global const uint *r, int *bad)
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
    for (; j < cols; j += LANES)
        s += (uint)whole(GET(TC, c + j * col), bad) * r[j];
    return s;
}

/* finding[0] += wrong lines, finding[1] = largest of ~line, so ~finding[1] is the first wrong line. */
kernel void check(global const elem_c *c, ulong c_start, global const elem_c *old, ulong old_start, long batches,
                  long rows, long cols, long row, long col, long2 size01, long2 size23, long2 step01, long2 step23,
                  global const uint *r, global const uint *t, uint alpha, uint beta, global uint *finding,
                  local uint *part)
{
    EACH_LINE(line, batches * rows)
    {
        long batch = line / rows;
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
    long batch = line / rows, i = line % rows;
    a += a_start + BATCH_AT(batch, a) + i * a_row;
    b += b_start + BATCH_AT(batch, b);
    c += c_start + BATCH_AT(batch, c) + i * c_row;
    old += old_start + BATCH_AT(batch, c) + i * c_row;
    for (long j = get_global_id(0); j < cols; j += get_global_size(0)) {
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
    EACH_LINE(line, batches * rows)
    {
        long           batch = line / rows;
        global elem_c *p = c + start + BATCH_AT(batch, step) + (line - batch * rows) * row;
        for (long j = LANE; j < cols; j += LANES)
            ONES;
    }
}

#endif

#if PART != 1
/* ---- Reals --------------------------------------------------------------------------------------------------- */

/* `count` elements `stride` apart in each batch, of a matrix of type TA. */
kernel void spread(global elem_a *x, ulong start, long batches, long count, long stride, long2 size01, long2 size23,
                   long2 step01, long2 step23, float factor)
{
    for (long item = get_global_id(0); item < batches * count; item += get_global_size(0)) {
        global elem_a *p = x + start + BATCH_AT(item / count, step) + item % count * stride;
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
void tile_of_rows(global const elem_a *const *a, long a_col, global const elem_b *b, long b_row, long length,
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
void one_column(global const elem_a *a, long a_col, global const elem_b *b, long b_row, long l, long length, real *dot,
                float *size)
{
    real  s = *dot, e = 0;
    float m = *size;
    for (; l < length; l++) {
        real x = GET(TA, a + l * a_col), y = GET(TB, b + l * b_row);
        ADD(real, s, e, x, y);
        m = fma(fabs((float)x), fabs((float)y), m);
    }
    *dot = s + e;
    *size = m;
}

/* One line of A with COLUMNS columns of B whose elements lie side by side. */
void tile_of_columns(global const elem_a *a, long a_col, global const elem_b *b, long b_col, long length, real *dot,
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
    for (int i = 0; i < COLUMNS; i++) {
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
void tile(global const elem_a *const *a, long a_col, global const elem_b *b, long b_row, long b_col, long j, long cols,
          long length, real *dot, float *size)
{
    if (b_col == 1 && b_row != 1 && j + V <= cols) {
        tile_of_rows(a, a_col, b + j, b_row, length, dot, size);
        return;
    }
    for (int i = 0; i < LINES * V; i++)
        dot[i] = size[i] = 0;
    for (int g = 0; g < LINES; g++)
        for (int v = 0; v < V && j + v < cols;) {
            if (b_row == 1 && v + COLUMNS <= V && j + v + COLUMNS <= cols) {
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
void pick(long s, long samples, long batches, long rows, ulong seed, long *batch, long *row)
{
    long blocks = (rows + LINES - 1) / LINES;
    bool all = batches * blocks <= samples;
    *batch = all ? s / blocks : s == 0 ? 0 : s == 1 ? batches - 1 : (long)((ulong)hash(seed, s) * batches >> 32);
    for (int g = 0; g < LINES; g++) {
        long any = (long)((ulong)hash(seed + 1, s * LINES + g) * rows >> 32);
        row[g] = all ? min(s % blocks * LINES + g, rows - 1) : g > 0 || s > 1 ? any : s == 0 ? 0 : rows - 1;
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
    long blocks = (cols + V - 1) / V, items = blocks * samples;
    long first = items * get_group_id(0) / get_num_groups(0), end = items * (get_group_id(0) + 1) / get_num_groups(0);
    for (long item = first + LANE; item < end; item += LANES) {
        long                 s = LANES == 1 ? item % samples : item / blocks;
        long                 j = (LANES == 1 ? item / samples : item % blocks) * V;
        long                 batch, row[LINES];
        global const elem_a *lines[LINES];
        real                 dot[LINES * V];
        float                size[LINES * V], furthest = 0;
        uint                 wrong = 0;
        pick(s, samples, batches, rows, seed, &batch, row);
        for (int g = 0; g < LINES; g++)
            lines[g] = a + a_start + BATCH_AT(batch, a) + row[g] * a_row;
        tile(lines, a_col, b + b_start + BATCH_AT(batch, b), b_row, b_col, j, cols, length, dot, size);
        for (int i = 0; i < LINES * V; i++) {
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
                slots[6 * item + 1] = (uint)(batch * rows + row[i / V]);
                slots[6 * item + 2] = (uint)column;
                slots[6 * item + 3] = as_uint((float)got);
                slots[6 * item + 4] = as_uint((float)ref);
                slots[6 * item + 5] = as_uint((float)limit);
            }
        }
        slots[6 * item] = as_uint(furthest);
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
    for (long item = 1; item < items; item++)
        if (slots[6 * item] > slots[6 * at])
            at = item;
    for (int i = 0; i < 6; i++)
        finding[1 + i] = slots[6 * at + i];
}
#endif
