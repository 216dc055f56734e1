/* SPDX-License-Identifier: MIT
 *
 * matmul_case.c: see matmul_case.h.
 */
#include "support/matmul_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GUARD 64 /* elements before and after C */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static const qst_matrix *matrix(const qst_matmul *p, int i)
{
    return i == 0 ? &p->a : i == 1 ? &p->b : &p->c;
}

static size_t extent(const qst_matmul *p, int i)
{
    const qst_matrix *x = matrix(p, i);
    int64_t           rows = i == 1 ? p->k : p->m, cols = i == 0 ? p->k : p->n;
    int64_t           last = (rows > 0 ? rows - 1 : 0) * x->row + (cols > 0 ? cols - 1 : 0) * x->col;
    int               d;

    for (d = 0; d < QST_MATMUL_BATCHES; d++)
        last += (p->batch[d] > 0 ? p->batch[d] - 1 : 0) * x->batch[d];
    return (size_t)last + 1;
}

void matmul_case_open(matmul_case *c, cl_fixture *cl, const qst_matmul *problem, const int64_t offset[3])
{
    uint32_t seed = 12345;
    cl_int   code;
    int      i;
    size_t   j;

    memset(c, 0, sizeof *c);
    c->problem = *problem;
    for (i = 0; i < 3; i++) {
        c->offset[i] = (offset ? offset[i] : 0) + (i == 2 ? GUARD : 0);
        c->count[i] = (size_t)c->offset[i] + extent(problem, i) + (i == 2 ? GUARD : 0);
        c->host[i] = malloc(c->count[i] * sizeof(float));
        assert_non_null(c->host[i]);
        for (j = 0; j < c->count[i]; j++)
            c->host[i][j] = i == 2 && problem->beta == 0 ? NAN : (float)next_random(&seed) / 8388608.0f - 1.0f;
        c->mem[i] = clCreateBuffer(cl->context, CL_MEM_READ_WRITE, c->count[i] * sizeof(float), NULL, &code);
        assert_int_equal(code, CL_SUCCESS);
        code = clEnqueueWriteBuffer(cl->in_order, c->mem[i], CL_TRUE, 0, c->count[i] * sizeof(float), c->host[i], 0,
                                    NULL, NULL);
        assert_int_equal(code, CL_SUCCESS);
    }
}

void matmul_case_reset(matmul_case *c, cl_fixture *cl)
{
    assert_int_equal(clEnqueueWriteBuffer(cl->in_order, c->mem[2], CL_TRUE, 0, c->count[2] * sizeof(float), c->host[2],
                                          0, NULL, NULL),
                     CL_SUCCESS);
}

void matmul_case_close(matmul_case *c)
{
    int i;

    for (i = 0; i < 3; i++) {
        free(c->host[i]);
        if (c->mem[i])
            clReleaseMemObject(c->mem[i]);
    }
}

qst_mem matmul_case_operand(const matmul_case *c, int operand)
{
    return qst_mem_at(c->mem[operand], (uint64_t)c->offset[operand] * sizeof(float));
}

/* The exact element and the sum that bounds its error. */
static double reference(const matmul_case *c, int64_t i, int64_t j, const int64_t at[4], size_t *where, double *size)
{
    const qst_matmul *p = &c->problem;
    size_t            base[3];
    double            sum = 0, sizes = 0, before;
    int64_t           l;
    int               x, d;

    for (x = 0; x < 3; x++) {
        base[x] = (size_t)c->offset[x];
        for (d = 0; d < QST_MATMUL_BATCHES; d++)
            base[x] += (size_t)(at[d] * matrix(p, x)->batch[d]);
    }
    for (l = 0; l < p->k && p->alpha != 0; l++) {
        double a = c->host[0][base[0] + (size_t)(i * p->a.row + l * p->a.col)];
        double b = c->host[1][base[1] + (size_t)(l * p->b.row + j * p->b.col)];
        sum += a * b;
        sizes += fabs(a * b);
    }
    *where = base[2] + (size_t)(i * p->c.row + j * p->c.col);
    before = p->beta == 0 ? 0 : p->beta * (double)c->host[2][*where];
    *size = fabs(p->alpha) * sizes + fabs(before);
    return p->alpha * sum + before;
}

void matmul_case_check(const matmul_case *c, cl_command_queue queue)
{
    const qst_matmul *p = &c->problem;
    float            *got = malloc(c->count[2] * sizeof(float));
    unsigned char    *touched = calloc(c->count[2], 1);
    int64_t           i, j, at[4];
    size_t            where;
    double            size, want;

    assert_non_null(got);
    assert_non_null(touched);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, c->mem[2], CL_TRUE, 0, c->count[2] * sizeof(float), got, 0, NULL, NULL),
                     CL_SUCCESS);
    for (at[0] = 0; at[0] < p->batch[0]; at[0]++)
        for (at[1] = 0; at[1] < p->batch[1]; at[1]++)
            for (at[2] = 0; at[2] < p->batch[2]; at[2]++)
                for (at[3] = 0; at[3] < p->batch[3]; at[3]++)
                    for (i = 0; i < p->m; i++)
                        for (j = 0; j < p->n; j++) {
                            want = reference(c, i, j, at, &where, &size);
                            touched[where] = 1;
                            if (!(fabs((double)got[where] - want) <=
                                  qst_matmul_bound(p) * size + ldexp(fabs(want), -24)))
                                fail_msg("%lldx%lldx%lld: C[%lld,%lld] is %.9g, should be %.9g", (long long)p->m,
                                         (long long)p->n, (long long)p->k, (long long)i, (long long)j,
                                         (double)got[where], want);
                        }
    for (where = 0; where < c->count[2]; where++)
        if (!touched[where] && memcmp(&got[where], &c->host[2][where], sizeof(float)))
            fail_msg("element %zu of C's buffer is none of C's and was overwritten", where);
    free(touched);
    free(got);
}

qst_context *matmul_context(const char *more)
{
    char         config[1024];
    qst_options  options;
    qst_context *ctx = NULL;
    qst_error    err;

    memset(&err, 0, sizeof err);
    snprintf(config, sizeof config, "{\"candidates\": {\"deny\": [\"matmul.clblast.*\", \"matmul.cblas.*\"]}%s}", more);
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE;
    options.config = config;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("context: %s", err.text);
    return ctx;
}
