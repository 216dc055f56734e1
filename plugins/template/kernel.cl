/* SPDX-License-Identifier: MIT
 *
 * kernel.cl: C := alpha A B + beta C for f32 where C has 1 to 4 columns: many small products, or one long thin one.
 *
 * Mathematics   s = 0; for p = 0 … k - 1: s = fma(a(i,p), b(p,j), s)   one chain per element
 *               beta == 0:  c(i,j) = alpha * s                         C is not read
 *               else:       c(i,j) = fma(alpha, s, beta * c(i,j))
 * Index space   one dimension of any size: work-item t computes panels t, t + T, … of T work-items. A panel is ROWS
 *               rows (the last of a product: what is left) of all N columns; panel z * down + y is rows y * ROWS … of
 *               product z. A row of C is one vector of N elements; the ROWS chains of a panel do not depend on each
 *               other, and each row of B is loaded once for all of them.
 * Macros        N       columns of B and C, 1 to 4
 *               ROWS    rows of a panel
 * Local memory  none
 * Host          panels = products * ceil(m / ROWS) fits an int with the grid added; columns of B and of C adjacent;
 *               a_stride is A's (row, column) stride, batch the strides of A, B, C from product to product, all in
 *               elements and not negative; m, n and products at least 1
 * No work-item reads or writes an element outside A, B and C: rows past the end repeat the last row.
 */
#ifndef N
#define N 4
#endif
#ifndef ROWS
#define ROWS 4
#endif

#if N == 1
#define ROW              float
#define LOAD(from)       (*(from))
#define STORE(value, to) (*(to) = (value))
#else
#define PASTE(x, y)      x##y
#define NAME(x, y)       PASTE(x, y)
#define ROW              NAME(float, N)
#define LOAD(from)       NAME(vload, N)(0, from)
#define STORE(value, to) NAME(vstore, N)(value, 0, to)
#endif

/* A loop over the rows of a panel, unrolled: only then do the sums live in registers. */
#define EACH_ROW(r) _Pragma("unroll") for (int r = 0; r < ROWS; r++)

kernel void narrow(global const float *restrict a, ulong a_start, global const float *restrict b, ulong b_start,
                   global float *restrict c, ulong c_start, int m, int k, int panels, int down, long2 a_stride,
                   long b_row, long c_row, long a_batch, long b_batch, long c_batch, float alpha, float beta)
{
    for (int t = get_global_id(0); t < panels; t += get_global_size(0)) {
        const int z = t / down, first = t % down * ROWS, rows = min(ROWS, m - first);
        global const float *from = b + b_start + z * b_batch;
        global const float *row[ROWS];
        ROW                 s[ROWS];

        EACH_ROW(r) {
            row[r] = a + a_start + z * a_batch + (first + min(r, rows - 1)) * a_stride.s0;
            s[r] = (ROW)(0);
        }
        for (int p = 0; p < k; p++) {
            const ROW line = LOAD(from + p * b_row);
            EACH_ROW(r) s[r] = fma((ROW)(row[r][p * a_stride.s1]), line, s[r]);
        }
        EACH_ROW(r) {
            global float *to = c + c_start + z * c_batch + (first + r) * c_row;
            if (r < rows)
                STORE(beta == 0 ? alpha * s[r] : fma((ROW)(alpha), s[r], beta * LOAD(to)), to);
        }
    }
}
