/* SPDX-License-Identifier: MIT
 *
 * matmul.h: C := alpha · A · B + beta · C, batched, any strides.
 *
 *   A is m × k, B is k × n, C is m × n, for each of batch[0] × batch[1] × batch[2] × batch[3] products. Element
 *   (i, j) of batch (b0, b1, b2, b3) of a matrix stands at  i·row + j·col + Σ b_d·batch[d]  elements after the
 *   operand's start. Strides are not negative; 0 broadcasts (A and B only: C's elements must all be distinct). C must
 *   not overlap A or B in memory; that is not checked.
 *
 * Element types: A and B of one type, f32, f64, f16 or bf16; C of the same or f32. Sums are f64 where A and B are, else
 * f32, and an element of C is rounded once, to the nearest, ties to even; f16 wants no half arithmetic of the device.
 * Other mixtures are in contract, but E_UNSUPPORTED unless a plugin offers a candidate for them.
 *
 * BLAS rules: beta = 0 never reads C; k = 0 or alpha = 0 scales C and reads neither A nor B; m, n or a batch of 0 is
 * success with nothing computed. NaN and infinities in what is read go through as in a plain fma loop.
 *
 * Accuracy, numerics PLAIN and STRICT: each element c differs from the exact value by at most
 *   2 u (√k + 4) (|alpha| Σ|a b| + |beta c₀|),   u the unit roundoff of the accumulation type (2^-24 for f32),
 * plus one rounding to C's type: what a sequential fma loop keeps with wide margin when rounding errors are
 * independent (N. Higham, T. Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput.
 * 41, 2019). FAST adds to the factor 2 u k for sums that are cut instead of rounded, and for each of A and B that is f32
 * the 2^-10 of a cut to 11 bits and 2^-21, half of the product of both cuts. qst_matmul_bound gives the factor;
 * docs/matmul.md derives it.
 */
#ifndef QUERNSTONE_MATMUL_H
#define QUERNSTONE_MATMUL_H

#include <quernstone/op.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One matrix of the problem, strides in elements. Value struct.
 *   align   log2 of the alignment of its start in bytes, 0: the element's own. An enqueue fills it from the operand;
 *           a plan states it and refuses operands below it. */
typedef struct qst_matrix {
    uint32_t type; /* QST_F32, … */
    uint32_t align;
    int64_t  row;
    int64_t  col;
    int64_t  batch[4];
} qst_matrix;

#define QST_MATMUL_BATCHES 4

/* Grows. */
typedef struct qst_matmul {
    uint32_t   size;
    uint32_t   numerics; /* QST_NUMERICS_… */
    int64_t    m, n, k;
    int64_t    batch[QST_MATMUL_BATCHES]; /* each 1 where unused */
    qst_matrix a, b, c;
    double     alpha, beta;
} qst_matmul;

/* Row-major, dense, one product, alpha 1, beta 0, PLAIN; A, B and C of one type. Change what differs. */
static inline void qst_matmul_init(qst_matmul *p, int64_t m, int64_t n, int64_t k, uint32_t type)
{
    int d;
    memset(p, 0, sizeof *p);
    p->size = (uint32_t)sizeof *p;
    p->m = m;
    p->n = n;
    p->k = k;
    for (d = 0; d < QST_MATMUL_BATCHES; d++)
        p->batch[d] = 1;
    p->a.type = p->b.type = p->c.type = type;
    p->a.row = k;
    p->b.row = n;
    p->c.row = n;
    p->a.col = p->b.col = p->c.col = 1;
    p->alpha = 1.0;
}

/* Makes `p` a batch of `count` dense products that lie one after the other. */
static inline void qst_matmul_batch(qst_matmul *p, int64_t count)
{
    p->batch[3] = count;
    p->a.batch[3] = p->m * p->k;
    p->b.batch[3] = p->k * p->n;
    p->c.batch[3] = p->m * p->n;
}

/* The key's numbers, in the order of the key fields: the reference's first, ours after. */
enum {
    QST_MATMUL_KEY_M,
    QST_MATMUL_KEY_N,
    QST_MATMUL_KEY_K,
    QST_MATMUL_KEY_LHS_POW2,
    QST_MATMUL_KEY_LHS_STRIDE,
    QST_MATMUL_KEY_RHS_POW2,
    QST_MATMUL_KEY_RHS_STRIDE,
    QST_MATMUL_KEY_ELEM_LHS,
    QST_MATMUL_KEY_ELEM_RHS,
    QST_MATMUL_KEY_ELEM_OUT,
    QST_MATMUL_KEY_LAYOUT_LHS,
    QST_MATMUL_KEY_LAYOUT_RHS,
    QST_MATMUL_KEY_STORAGE_LHS,
    QST_MATMUL_KEY_STORAGE_RHS,
    QST_MATMUL_KEY_SCALE,
    QST_MATMUL_KEY_KIND,
    QST_MATMUL_KEY_LAYOUT_OUT,
    QST_MATMUL_KEY_OUT_STRIDE,
    QST_MATMUL_KEY_ALIGN,
    QST_MATMUL_KEY_BATCH,
    QST_MATMUL_KEY_BETA,
    QST_MATMUL_KEY_NUMERICS,
    QST_MATMUL_KEY_COUNT
};
enum {
    QST_LAYOUT_CONTIGUOUS,
    QST_LAYOUT_TRANSPOSED, /* MildlyPermuted { transposed: true, batch_swap: false } */
    QST_LAYOUT_SWAPPED,    /* MildlyPermuted { transposed: false, batch_swap: true } */
    QST_LAYOUT_TRANSPOSED_SWAPPED,
    QST_LAYOUT_HIGHLY_PERMUTED
};
enum { QST_SCALE_SMALL, QST_SCALE_MEDIUM, QST_SCALE_LARGE };
enum {
    QST_KIND_GENERAL,
    QST_KIND_MATVEC,
    QST_KIND_VECMAT,
    QST_KIND_SCALARVEC,
    QST_KIND_VECSCALAR,
    QST_KIND_INNER,
    QST_KIND_OUTER,
    QST_KIND_SCALARPRODUCT
};
enum { QST_BETA_ZERO, QST_BETA_ONE, QST_BETA_OTHER };

/* The operation's descriptor, for qst_set_of. */
QST_API extern const qst_op qst_matmul_op;

/* [any thread] qst_enqueue and qst_plan_create for a matmul on whole buffers: a, b, c from their first element. An
 * operand that the problem does not touch may be NULL. For offsets use qst_matmul_enqueue_at. */
QST_API qst_status qst_matmul_enqueue(qst_context *context, cl_command_queue queue, const qst_matmul *problem, cl_mem a,
                                      cl_mem b, cl_mem c, cl_uint n_wait, const cl_event *wait_list, cl_event *event,
                                      qst_error *err);
QST_API qst_status qst_matmul_enqueue_at(qst_context *context, cl_command_queue queue, const qst_matmul *problem,
                                         qst_mem a, qst_mem b, qst_mem c, cl_uint n_wait, const cl_event *wait_list,
                                         cl_event *event, qst_error *err);
QST_API qst_status qst_matmul_plan(qst_plan **plan, qst_context *context, cl_command_queue queue,
                                   const qst_matmul *problem, qst_error *err);

/* [any thread] The factor of the accuracy bound above for this problem, its types and its class: multiply it by
 * |alpha| Σ|a b| + |beta c₀| and add half a unit in the last place of C's type. 0 for NULL. */
QST_API double qst_matmul_bound(const qst_matmul *problem);

#ifdef __cplusplus
}
#endif
#endif
