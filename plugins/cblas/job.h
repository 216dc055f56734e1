/* SPDX-License-Identifier: MIT
 *
 * job.h: one matmul as native kernels have it: a block that is shared by the three that are enqueued for it, one a buffer,
 * each of which is told where its buffer is. The last one computes, and whoever is last lets the block go.
 */
#ifndef QST_CBLAS_JOB_H
#define QST_CBLAS_JOB_H

#include "library.h"
#include "plugins/common/blas.h"

struct job_matrix {
    int     transpose, ld;
    int64_t batch; /* elements from product to product */
};

struct job {
    const struct cblas_library *library;
    void                       *buffer[3]; /* where the operands' buffers are in memory */
    uint64_t                    offset[3]; /* bytes from there to the matrix */
    struct job_matrix           x[3];
    uint64_t                    element; /* bytes */
    int64_t                     m, n, k, batch;
    double                      alpha, beta;
    struct blas_vector          vector;
    int                         as_vector;
    _Atomic int                 holders;
};

/* What a native kernel gets, copied by OpenCL, which fills `buffer`. */
struct job_part {
    struct job *job;
    void       *buffer;
    int         which; /* operand; the last one computes */
};

/* All but buffer and offset, held once; NULL: no memory. Plain memory, since what was enqueued may outlive the context. */
struct job *job_create(const struct cblas_library *library, const qst_matmul *p);
void        job_hold(struct job *job);
void        job_drop(struct job *job); /* NULL is fine */

/* The native kernel; it drops what was held for it. */
void job_run(void *args);

#endif
