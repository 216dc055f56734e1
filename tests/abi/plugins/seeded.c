/* SPDX-License-Identifier: MIT
 *
 * seeded.c: a saboteur for each way of being wrong: a candidate is a line of the table and a macro of the kernel. Each is
 * fast, right nearly everywhere, and must never win.
 *
 * The kernel: tiles of 16 rows, items take panels of 16 columns of a row. Without a BUG it is right.
 */
#include "saboteur.h"

static const char source[] =
    "#if HALF\n"
    "typedef half T;\n"
    "#define GET(p) vload_half(0, p)\n"
    "#define PUT(p, x) vstore_half_rte((float)(x), 0, p)\n"
    "#else\n"
    "typedef float T;\n"
    "#define GET(p) (*(p))\n"
    "#define PUT(p, x) (*(p) = (x))\n"
    "#endif\n"
    "float narrow(float x) { ushort h; vstore_half_rte(x, 0, (half *)&h); return vload_half(0, (half *)&h); }\n"
    "kernel void seeded(global const T *a, ulong a0, global const T *b, ulong b0, global T *c, ulong c0, int m, int n,\n"
    "                   int k, long lda, long ldb, long ldc, float alpha, float beta\n"
    "#if BUG == 7\n"
    "                   , global uint *w\n"
    "#endif\n"
    "                   )\n"
    "{\n"
    "    const int rows = BUG == 1 && m > 16 && m % 16 == 0 ? m - 16 : m;\n"
    "    const int panels = BUG == 2 && n > 16 ? n / 16 : (n + 15) / 16;\n"
    "    const int terms = BUG == 3 && k > 4 ? k / 4 * 4 : k;\n"
    "    if (BUG == 12 && (alpha != 0.5f && alpha != 2 && alpha != -2))\n"
    "        alpha = alpha < 0 ? -1 : 1;\n"
    "    if (BUG == 13 && beta != 0)\n"
    "        beta = beta < 0 ? -1 : 1;\n"
    "    for (int t = get_global_id(0); t < rows * panels; t += get_global_size(0)) {\n"
    "        const int i = t % rows, j = 16 * (t / rows), cols = min(16, n - j);\n"
    "        float s[16];\n"
    "        for (int x = 0; x < 16; x++)\n"
    "            s[x] = 0;\n"
    "        for (int p = 0; p < terms; p++)\n"
    "            for (int x = 0; x < cols; x++) {\n"
    "                s[x] = fma(GET(a + a0 + i * lda + p), GET(b + b0 + p * ldb + j + x), s[x]);\n"
    "                if (BUG == 11)\n"
    "                    s[x] = narrow(s[x]);\n"
    "            }\n"
    "        if (BUG >= 4 && BUG <= 6 && t == rows / 2 && m % (BUG == 6 ? 64 : 2) == (BUG == 4))\n"
    "            s[0] += 1;\n"
    "        if (BUG == 10 && t / 16 % 100 == 99 && t % 16 == 0)\n"
    "            s[0] += 1;\n"
    "#if BUG == 14\n"
    "        if (t == 0 && m == 200)\n"
    "            s[0] += ++*((global uint *)(a + a0) - 1) > 0x7ff57ff6;\n"
    "#endif\n"
    "#if BUG == 7\n"
    "        if (t == 0) {\n"
    "            s[0] += w[0] == 0xfeedbeef;\n"
    "            w[0] = 0xfeedbeef;\n"
    "        }\n"
    "#endif\n"
    "        for (int x = 0; x < cols; x++) {\n"
    "            global T *to = c + c0 + i * ldc + j + x;\n"
    "            PUT(to, beta == 0 && BUG != 8 ? alpha * s[x] : fma(alpha, s[x], beta * GET(to)));\n"
    "        }\n"
    "        if (BUG == 9 && j + cols == n && ldc > n && i + 1 < m)\n"
    "            PUT(c + c0 + i * ldc + n, 0);\n"
    "    }\n"
    "}\n";

#define OPTIONS(bug, half) "-cl-std=CL1.2 -DHALF=" #half " -DBUG=" #bug
#define ROW(name, bug)                                                                                                 \
    {                                                                                                                  \
        name,                                                                                                          \
        {                                                                                                              \
            source, "seeded", OPTIONS(bug, 0), QST_F32, 0                                                              \
        }                                                                                                              \
    }
static const struct row {
    const char *variant;
    saboteur    how;
} rows[] = {
    ROW("none", 0),
    /* leaves out the last tile of rows where it is a whole one and not the only one */
    ROW("whole_tile", 1),
    /* the columns after the last whole panel */
    ROW("tail", 2),
    /* the terms after the last whole four */
    ROW("k_rest", 3),
    /* wrong in one element where m is odd, where it is even, where it is a multiple of 64 */
    ROW("odd_m", 4),
    ROW("even_m", 5),
    ROW("whole_m", 6),
    /* where its workspace was used before */
    {"second_launch", {source, "seeded", OPTIONS(7, 0), QST_F32, 4}},
    /* beta * c also where beta is 0 */
    ROW("reads_c", 8),
    /* writes the element after each row, where there is one */
    ROW("padding", 9),
    /* of a hundred groups of 16 items one adds 1 to one element */
    ROW("one_group", 10),
    /* sums rounded to f16 after each term */
    {"narrow_sums", {source, "seeded", OPTIONS(11, 1), QST_F16, 0}},
    /* alpha by its sign where it is no power of two that integers are tried with */
    ROW("alpha", 12),
    /* beta by its sign alone */
    ROW("beta", 13),
    /* from its second launch on, of 200 rows alone: it counts them in the word before A, whose filling it knows */
    ROW("later", 14),
};

static int32_t start(const qst_host *host, void **instance)
{
    int32_t status = QST_OK;
    size_t  i;
    *instance = NULL;
    for (i = 0; i < QSTK_COUNT(rows) && status == QST_OK; i++) {
        const qst_candidate candidate = SABOTEUR_CANDIDATE(rows[i].variant, &rows[i].how);
        status = host->add_candidate(host->self, &candidate);
    }
    return status;
}

DESCRIPTOR_OF("seeded", start);
