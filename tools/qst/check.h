/* SPDX-License-Identifier: MIT
 *
 * check.h: is a matmul's result right? Against the product computed on the host in a wider type, within the bound of
 * quernstone/matmul.h.
 */
#ifndef QST_TOOL_CHECK_H
#define QST_TOOL_CHECK_H

#include "data.h"

/* What is to be checked. a, b, c: as they were before the call; `result`: c's buffer after it.
 *   rows   which rows of every product to look at, ascending; NULL: all */
typedef struct check_task {
    const qst_matmul    *problem;
    const data_matrix   *a, *b, *c;
    const unsigned char *result;
    const int64_t       *rows;
    int64_t              n_rows;
} check_task;

/* worst: the largest error as a part of its bound; over 1 is wrong, and then the first wrong element is named.
 * relative: the largest error over |alpha| Σ|a b| + |beta c₀|. */
typedef struct check_result {
    bool    right;
    double  worst, relative;
    int64_t product, row, col;
    double  got, want, bound;
} check_result;

check_result check_product(const check_task *task);

/* At most `most` rows of m, the first and the last among them, the others spread by a fixed hash, ascending. The
 * caller frees. */
int64_t *check_sample(int64_t m, int64_t most, int64_t *n);

/* The line about a wrong element; the caller frees. */
char *check_text(const check_result *result);

#endif
