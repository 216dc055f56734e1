/* SPDX-License-Identifier: MIT
 *
 * blas.h: a matmul in the words of a BLAS: for each matrix whether it is transposed and its leading dimension, row-major
 * throughout. Header-only; shared by those who call a library of that form.
 */
#ifndef QST_PLUGIN_COMMON_BLAS_H
#define QST_PLUGIN_COMMON_BLAS_H

#include <quernstone/matmul.h>
#include <stddef.h>

/* The enumerators of every BLAS with a C interface, CLBlast included. */
enum { BLAS_ROW_MAJOR = 101, BLAS_COLUMN_MAJOR = 102, BLAS_PLAIN = 111, BLAS_TRANSPOSED = 112 };

/* A matrix as BLAS takes it. `ld` is 0 where there is no way to say it. */
struct blas_matrix {
    int    transpose;
    size_t ld;
};

/* The leading dimension has to cover a line; with a single line its stride means nothing. */
static inline size_t blas_leading(int64_t stride, int64_t lines, int64_t width)
{
    if (lines == 1)
        return (size_t)width;
    return stride >= width ? (size_t)stride : 0;
}

static inline struct blas_matrix blas_express(const qst_matrix *x, int64_t rows, int64_t cols)
{
    struct blas_matrix out = {BLAS_PLAIN, 0};
    if (x->col == 1 || cols == 1)
        out.ld = blas_leading(x->row, rows, cols);
    if (out.ld == 0 && (x->row == 1 || rows == 1)) {
        out.transpose = BLAS_TRANSPOSED;
        out.ld = blas_leading(x->col, cols, rows);
    }
    return out;
}

/* The batch dimension that is in use, or -1; `count` dimensions are. */
static inline int blas_batch(const qst_matmul *p, int *count)
{
    int d, found = -1;
    for (*count = 0, d = 0; d < QST_MATMUL_BATCHES; d++) {
        if (p->batch[d] == 1)
            continue;
        found = d;
        (*count)++;
    }
    return found;
}

/* Are A, B and C all f32, or all f64? */
static inline int blas_one_type(const qst_matmul *p)
{
    return p->a.type == p->b.type && p->a.type == p->c.type && (p->a.type == QST_F32 || p->a.type == QST_F64);
}

/* A matrix by a vector: y := alpha · op(X) · x + beta · y, X of `rows` by `cols` as it lies. `matrix`, `vector`: which
 * operand is X, which x. */
struct blas_vector {
    int    transpose, matrix, vector;
    size_t rows, cols, ld, x_step, y_step;
};

static inline size_t blas_step(int64_t stride, int64_t count)
{
    return count == 1 ? 1 : stride > 0 ? (size_t)stride : 0;
}

/* Is it one product with one column or one row of C that a gemv can say? */
static inline int blas_as_vector(const qst_matmul *p, struct blas_vector *out)
{
    struct blas_matrix x;
    int                dims;
    (void)blas_batch(p, &dims);
    if (dims || (p->n != 1 && p->m != 1))
        return 0;
    if (p->n == 1) { /* c = A b */
        x = blas_express(&p->a, p->m, p->k);
        out->matrix = 0;
        out->rows = (size_t)(x.transpose == BLAS_PLAIN ? p->m : p->k);
        out->cols = (size_t)(x.transpose == BLAS_PLAIN ? p->k : p->m);
        out->x_step = blas_step(p->b.row, p->k);
        out->y_step = blas_step(p->c.row, p->m);
        out->transpose = x.transpose;
    } else { /* cᵀ = Bᵀ aᵀ */
        x = blas_express(&p->b, p->k, p->n);
        out->matrix = 1;
        out->rows = (size_t)(x.transpose == BLAS_PLAIN ? p->k : p->n);
        out->cols = (size_t)(x.transpose == BLAS_PLAIN ? p->n : p->k);
        out->x_step = blas_step(p->a.col, p->k);
        out->y_step = blas_step(p->c.col, p->n);
        out->transpose = x.transpose == BLAS_PLAIN ? BLAS_TRANSPOSED : BLAS_PLAIN;
    }
    out->vector = 1 - out->matrix;
    out->ld = x.ld;
    return x.ld && out->x_step && out->y_step;
}

#endif
