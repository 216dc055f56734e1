/* SPDX-License-Identifier: MIT
 *
 * wrong.c: a saboteur. Its candidate is fast and wrong: of every sum it adds up at most 16 terms and never the last,
 * so that from some size on nothing honest is as fast. It must never win, and its first wrong element must be named.
 */
#include "saboteur.h"

static const char source[] =
    "kernel void wrong_rows(global const float *a, ulong a0, global const float *b, ulong b0, global float *c,\n"
    "                       ulong c0, int m, int n, int k, long lda, long ldb, long ldc, float alpha, float beta)\n"
    "{\n"
    "    const int panels = (n + 15) / 16;\n"
    "    for (int t = get_global_id(0); t < m * panels; t += get_global_size(0)) {\n"
    "        const int i = t % m, j = 16 * (t / m), cols = min(16, n - j);\n"
    "        float s[16];\n"
    "        for (int x = 0; x < 16; x++)\n"
    "            s[x] = 0;\n"
    "        for (int p = 0; p < min(k - 1, 16); p++)\n"
    "            for (int x = 0; x < cols; x++)\n"
    "                s[x] = fma(a[a0 + i * lda + p], b[b0 + p * ldb + j + x], s[x]);\n"
    "        for (int x = 0; x < cols; x++) {\n"
    "            global float *to = c + c0 + i * ldc + j + x;\n"
    "            *to = beta == 0 ? alpha * s[x] : fma(alpha, s[x], beta * *to);\n"
    "        }\n"
    "    }\n"
    "}\n";

static const saboteur      how = {source, "wrong_rows", "-cl-std=CL1.2", QST_F32, 0};
static const qst_candidate candidate = SABOTEUR_CANDIDATE("short", &how);

DESCRIPTOR_WITH("wrong", candidate);
