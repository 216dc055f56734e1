/* SPDX-License-Identifier: MIT
 *
 * beyond.c: a saboteur. Its sums are right, but it computes one row more than there is, from what lies beyond A into what
 * lies beyond C. It must never win.
 */
#include "saboteur.h"

static const char source[] =
    "kernel void beyond_rows(global const float *a, ulong a0, global const float *b, ulong b0, global float *c,\n"
    "                       ulong c0, int m, int n, int k, long lda, long ldb, long ldc, float alpha, float beta)\n"
    "{\n"
    "    const int panels = (n + 15) / 16;\n"
    "    for (int t = get_global_id(0); t < (m + 1) * panels; t += get_global_size(0)) {\n"
    "        const int i = t % (m + 1), j = 16 * (t / (m + 1)), cols = min(16, n - j);\n"
    "        float s[16];\n"
    "        for (int x = 0; x < 16; x++)\n"
    "            s[x] = 0;\n"
    "        for (int p = 0; p < k; p++)\n"
    "            for (int x = 0; x < cols; x++)\n"
    "                s[x] = fma(a[a0 + i * lda + p], b[b0 + p * ldb + j + x], s[x]);\n"
    "        for (int x = 0; x < cols; x++) {\n"
    "            global float *to = c + c0 + i * ldc + j + x;\n"
    "            *to = beta == 0 ? alpha * s[x] : fma(alpha, s[x], beta * *to);\n"
    "        }\n"
    "    }\n"
    "}\n";

static const saboteur      how = {source, "beyond_rows", "-cl-std=CL1.2", QST_F32, 0};
static const qst_candidate candidate = SABOTEUR_CANDIDATE("row", &how);

DESCRIPTOR_WITH("beyond", candidate);
