/* SPDX-License-Identifier: MIT
 *
 * job.c: a matmul as calls of a BLAS: gemv where C is a vector, else gemm, once a product. */
#include "job.h"

#include <stdatomic.h>
#include <stdlib.h>

static struct job_matrix express(const qst_matrix *x, int64_t rows, int64_t cols, int dimension)
{
    struct blas_matrix in = blas_express(x, rows, cols);
    struct job_matrix  out = {in.transpose, (int)in.ld, dimension < 0 ? 0 : x->batch[dimension]};
    return out;
}

struct job *job_create(const struct cblas_library *library, const qst_matmul *p)
{
    struct job *job = calloc(1, sizeof *job);
    int         dims, d = blas_batch(p, &dims);
    if (!job)
        return NULL;
    atomic_init(&job->holders, 1);
    job->library = library;
    job->x[0] = express(&p->a, p->m, p->k, d);
    job->x[1] = express(&p->b, p->k, p->n, d);
    job->x[2] = express(&p->c, p->m, p->n, d);
    job->element = p->c.type == QST_F64 ? sizeof(double) : sizeof(float);
    job->m = p->m;
    job->n = p->n;
    job->k = p->k;
    job->batch = d < 0 ? 1 : p->batch[d];
    job->alpha = p->alpha;
    job->beta = p->beta;
    job->as_vector = blas_as_vector(p, &job->vector);
    return job;
}

void job_hold(struct job *job)
{
    atomic_fetch_add(&job->holders, 1);
}

void job_drop(struct job *job)
{
    if (job && atomic_fetch_sub(&job->holders, 1) == 1)
        free(job);
}

static void *address(const struct job *job, int which, int64_t product)
{
    return (char *)job->buffer[which] + job->offset[which] + (uint64_t)(product * job->x[which].batch) * job->element;
}

static void multiply(const struct job *job, int64_t product)
{
    const struct job_matrix *a = &job->x[0], *b = &job->x[1], *c = &job->x[2];
    void *pa = address(job, 0, product), *pb = address(job, 1, product), *pc = address(job, 2, product);
    int   m = (int)job->m, n = (int)job->n, k = (int)job->k;
    if (job->element == sizeof(double))
        job->library->dgemm(BLAS_ROW_MAJOR, a->transpose, b->transpose, m, n, k, job->alpha, pa, a->ld, pb, b->ld,
                            job->beta, pc, c->ld);
    else
        job->library->sgemm(BLAS_ROW_MAJOR, a->transpose, b->transpose, m, n, k, (float)job->alpha, pa, a->ld, pb,
                            b->ld, (float)job->beta, pc, c->ld);
}

/* Beta 0 never reads y; some libraries scale it, and 0 times NaN is NaN. */
static void clear(const struct job *job, char *y)
{
    int64_t count = job->vector.matrix == 0 ? job->m : job->n;
    for (int64_t i = 0; i < count; i++, y += job->vector.y_step * job->element)
        for (uint64_t byte = 0; byte < job->element; byte++)
            y[byte] = 0;
}

static void multiply_vector(const struct job *job)
{
    const struct blas_vector *v = &job->vector;
    void  *x = address(job, v->matrix, 0), *in = address(job, v->vector, 0), *out = address(job, 2, 0);
    double beta = job->beta == 0 ? 1 : job->beta;
    if (job->beta == 0)
        clear(job, out);
    if (job->element == sizeof(double))
        job->library->dgemv(BLAS_ROW_MAJOR, v->transpose, (int)v->rows, (int)v->cols, job->alpha, x, (int)v->ld, in,
                            (int)v->x_step, beta, out, (int)v->y_step);
    else
        job->library->sgemv(BLAS_ROW_MAJOR, v->transpose, (int)v->rows, (int)v->cols, (float)job->alpha, x, (int)v->ld,
                            in, (int)v->x_step, (float)beta, out, (int)v->y_step);
}

void job_run(void *args)
{
    const struct job_part *part = args;
    struct job            *job = part->job;
    job->buffer[part->which] = part->buffer;
    if (part->which == 2 && job->as_vector)
        multiply_vector(job);
    for (int64_t product = 0; product < job->batch && part->which == 2 && !job->as_vector; product++)
        multiply(job, product);
    job_drop(job);
}
