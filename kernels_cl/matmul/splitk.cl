/* SPDX-License-Identifier: MIT
 *
 * splitk.cl: adds the partial products of a matmul that was split along k.
 *
 * Mathematics   s(i,j) = w_0(i,j) + w_1(i,j) + … in this order, w_x the product over slice x of k
 *               beta == 0:  c(i,j) = alpha * s(i,j), C is not read;  else  c = fma(alpha, s, beta * c)
 * Index space   one dimension of any size: work-item t takes parts t, t + T, … of T work-items; a part is up to 16
 *               adjacent columns of a row of one product
 * Macros        none
 * Local memory  none
 * Host          the partial products lie dense in `w`: [batch][slice][m][n], as the first launch left them; columns
 *               of C adjacent; starts and strides in elements
 */
kernel void splitk_add(global const float *restrict w, int slices, global float *restrict c, ulong c_start, int m,
                       int n, long c_row, long c_batch, int batches, float alpha, float beta)
{
    const int  across = (n + 15) / 16;
    const long parts = (long)batches * m * across, slice = (long)m * n;
    for (long t = get_global_id(0); t < parts; t += get_global_size(0)) {
        const int  j = 16 * (int)(t % across), i = (int)(t / across % m), cols = min(16, n - j);
        const long z = t / across / m;
        global const float *from = w + z * slices * slice + (long)i * n + j;
        global float       *to = c + c_start + z * c_batch + i * c_row + j;
        if (cols == 16) {
            float16 s = vload16(0, from);
            for (int x = 1; x < slices; x++)
                s += vload16(0, from + x * slice);
            vstore16(beta == 0 ? alpha * s : fma((float16)(alpha), s, beta * vload16(0, to)), 0, to);
            continue;
        }
        for (int y = 0; y < cols; y++) {
            float s = from[y];
            for (int x = 1; x < slices; x++)
                s += from[y + x * slice];
            to[y] = beta == 0 ? alpha * s : fma(alpha, s, beta * to[y]);
        }
    }
}
