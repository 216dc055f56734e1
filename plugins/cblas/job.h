/* SPDX-License-Identifier: MIT
 *
 * job.h: one matmul as a native kernel has it: all it needs in one block that OpenCL copies, with the addresses of the
 * buffers put in when it runs.
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
    void                       *buffer[3]; /* filled by OpenCL: where distinct buffers are in memory */
    uint32_t                    slot[3];   /* which of them holds the operand */
    uint64_t                    offset[3]; /* bytes from there to the matrix */
    struct job_matrix           x[3];
    uint64_t                    element; /* bytes */
    int64_t                     m, n, k, batch;
    double                      alpha, beta;
    struct blas_vector          vector;
    int                         as_vector;
};

/* All but library, buffer, slot and offset. */
void job_plan(struct job *job, const qst_matmul *p);

/* The native kernel. */
void job_run(void *args);

#endif
