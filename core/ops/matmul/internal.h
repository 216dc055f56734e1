/* SPDX-License-Identifier: MIT
 *
 * ops/matmul/internal.h: what the files of the operation matmul share. They see public headers only.
 *
 * Words used throughout
 *   view     a matrix of the problem as six dimensions, outermost first: batch 0 … 3, row, column
 *   line     a row of a matrix in one of its batches, counted through: batch · rows + row
 *   normal   a problem as candidates see it: C's rows are not closer together than its columns, strides of extents
 *            that are 1 have one fixed value, batches lie at the high indices and none could be merged, k and alpha
 *            are not 0, scalars are representable in the accumulation type
 */
#ifndef QST_OPS_MATMUL_INTERNAL_H
#define QST_OPS_MATMUL_INTERNAL_H

#include <quernstone/kit.h>
#include <quernstone/matmul.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

enum { QST__A, QST__B, QST__C, QST__OPERANDS };
enum { QST__DIM_ROW = QST_MATMUL_BATCHES, QST__DIM_COL, QST__DIMS };

typedef struct qst__view {
    int64_t extent[QST__DIMS];
    int64_t stride[QST__DIMS];
} qst__view;

/* The parts of the descriptor, each in the file of its name. */
#define QST__MATMUL_GROUPS 5u
extern const qst_group     qst__matmul_groups[QST__MATMUL_GROUPS];
extern const qst_judge     qst__matmul_judge;
extern const qst_candidate qst__matmul_scale;

int32_t  qst__matmul_check(void *user, const void *problem, qst_error *err);
int32_t  qst__matmul_normalise(void *user, void *problem, uint32_t *perm);
void     qst__matmul_key(void *user, const void *problem, const qst_anchor *anchor, int64_t *values);
uint64_t qst__matmul_span(void *user, const void *problem, uint32_t operand);
void     qst__matmul_work(void *user, const void *problem, qst_work *out);
int32_t  qst__matmul_vary(void *user, const void *problem, uint32_t which, void *out);
uint32_t qst__matmul_repeat(void *user, const void *problem);
void     qst__matmul_fill(void *user, const void *problem, uint32_t operand, uint32_t real, qst_fill *out);
void     qst__matmul_tell(void *user, const void *problem, uint32_t phase, const uint32_t *finding, char *text,
                          uint32_t text_size);

/* Programs of the judge. Bit 0: TA is A's type; 1: A and B change places, for the kernels that work on one input matrix.
 * Bit 1: the kernels for reals. On a GPU those are a program of their own, for both parts take long to build; on a CPU
 * each further program costs more than what is in it. PLACE: what names the first wrong element, built only then. */
enum { QST__JUDGE_SWAPPED = 1, QST__JUDGE_REALS = 2, QST__JUDGE_PLACE = 4, QST__JUDGE_PROGRAMS };
int32_t qst__matmul_judge_program(void *user, const qst_device *device, const void *problem, uint32_t index,
                                  qst_program *out);

/* Operand i of the problem; its six dimensions. */
static inline const qst_matrix *qst__matmul_matrix(const qst_matmul *p, uint32_t operand)
{
    return operand == QST__A ? &p->a : operand == QST__B ? &p->b : &p->c;
}
static inline void qst__matmul_view(const qst_matmul *p, uint32_t operand, qst__view *view)
{
    const qst_matrix *x = qst__matmul_matrix(p, operand);
    for (int d = 0; d < QST_MATMUL_BATCHES; d++) {
        view->extent[d] = p->batch[d];
        view->stride[d] = x->batch[d];
    }
    view->extent[QST__DIM_ROW] = operand == QST__B ? p->k : p->m;
    view->extent[QST__DIM_COL] = operand == QST__A ? p->k : p->n;
    view->stride[QST__DIM_ROW] = x->row;
    view->stride[QST__DIM_COL] = x->col;
}

/* Products in the whole batch; of a checked problem. */
static inline int64_t qst__matmul_batches(const qst_matmul *p)
{
    return p->batch[0] * p->batch[1] * p->batch[2] * p->batch[3];
}

/* The accumulation type: f64 where any matrix is f64, else f32. */
static inline uint32_t qst__matmul_sum_type(const qst_matmul *p)
{
    return p->a.type == QST_F64 || p->b.type == QST_F64 || p->c.type == QST_F64 ? QST_F64 : QST_F32;
}

/* log2 of the bytes of an element of a checked type. */
static inline uint32_t qst__matmul_log2_bytes(uint32_t type)
{
    return type == QST_F64 ? 3 : type == QST_F32 ? 2 : 1;
}

/* Fills err where it is wanted and still empty: the first cause wins. Returns the status. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline int32_t
qst__matmul_fail(qst_error *err, int32_t status, const char *format, ...)
{
    if (err && err->text[0] == 0) {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(err->text, sizeof err->text, format, arguments);
        va_end(arguments);
        (void)snprintf(err->source, sizeof err->source, "matmul");
        err->status = status;
        err->cl_code = 0;
    }
    return status;
}

#endif
