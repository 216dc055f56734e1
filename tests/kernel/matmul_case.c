/* SPDX-License-Identifier: MIT
 *
 * matmul_case.c: see matmul_case.h. What lies between the elements is NaN, so that reading it shows.
 */
#include "matmul_case.h"
#include "tools/qst/element.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TAIL = 24 }; /* elements after a matrix */

static double draw(void)
{
    static uint32_t state = 12345u;
    state = state * 1664525u + 1013904223u;
    return (double)(int32_t)state / 2147483648.0;
}

/* Where element (i, j) of product z stands, after the start. */
static size_t index_of(const qst_matmul *p, const qst_matrix *x, int64_t z, int64_t i, int64_t j)
{
    int64_t at = i * x->row + j * x->col;
    int     d;
    for (d = QST_MATMUL_BATCHES - 1; d >= 0; d--) {
        at += z % p->batch[d] * x->batch[d];
        z /= p->batch[d];
    }
    return (size_t)at;
}

static int64_t products(const qst_matmul *p)
{
    return p->batch[0] * p->batch[1] * p->batch[2] * p->batch[3];
}

static void fill(const qst_matmul *p, const qst_matrix *x, int64_t rows, int64_t cols, size_t lead, int real,
                 struct matmul_case_matrix *out)
{
    int64_t z, i, j;
    size_t  last = index_of(p, x, products(p) - 1, rows - 1, cols - 1), e;
    out->start = lead;
    out->count = lead + last + 1 + TAIL;
    out->value = (double *)malloc(out->count * sizeof(double));
    assert_non_null(out->value);
    for (e = 0; e < out->count; e++)
        out->value[e] = (double)NAN;
    for (z = 0; z < products(p) && real; z++)
        for (i = 0; i < rows; i++)
            for (j = 0; j < cols; j++)
                out->value[lead + index_of(p, x, z, i, j)] = element_round(x->type, draw());
}

/* The exact result in double (long double sums for f64) and the bound of matmul.h. */
static void reference(struct matmul_case *t)
{
    const qst_matmul *p = &t->problem;
    const double      factor = qst_matmul_bound(p);
    int64_t           z, i, j, q;
    for (z = 0; z < products(p); z++)
        for (i = 0; i < p->m; i++)
            for (j = 0; j < p->n; j++) {
                const size_t at = t->x[2].start + index_of(p, &p->c, z, i, j);
                const double old = p->beta == 0.0 ? 0.0 : t->x[2].value[at];
                long double  sum = 0;
                double       size = 0;
                for (q = 0; q < p->k; q++) {
                    const double a = t->x[0].value[t->x[0].start + index_of(p, &p->a, z, i, q)];
                    const double b = t->x[1].value[t->x[1].start + index_of(p, &p->b, z, q, j)];
                    sum += (long double)a * b;
                    size += fabs(a * b);
                }
                t->exact[at] = (double)((long double)p->alpha * sum + (long double)p->beta * old);
                size = fabs(p->alpha) * size + fabs(p->beta * old);
                t->bound[at] = factor * size;
                t->bound[at] += element_half_ulp(p->c.type, fabs(t->exact[at]) + t->bound[at]);
                t->inside[at] = 1;
            }
}

void matmul_case_init(struct matmul_case *t, const qst_matmul *problem, size_t lead)
{
    const qst_matmul *p = &t->problem;
    t->problem = *problem;
    t->item[0] = qst_type_bytes(p->a.type);
    t->item[1] = qst_type_bytes(p->b.type);
    t->item[2] = qst_type_bytes(p->c.type);
    t->problem.a.align = t->problem.b.align = t->problem.c.align = lead == MATMUL_CASE_LEAD ? 5 : 0;
    fill(p, &p->a, p->m, p->k, lead, 1, &t->x[0]);
    fill(p, &p->b, p->k, p->n, lead, 1, &t->x[1]);
    fill(p, &p->c, p->m, p->n, lead, p->beta != 0.0, &t->x[2]);
    t->exact = (double *)calloc(t->x[2].count, sizeof(double));
    t->bound = (double *)calloc(t->x[2].count, sizeof(double));
    t->inside = (char *)calloc(t->x[2].count, 1);
    assert_true(t->exact && t->bound && t->inside);
    reference(t);
}

void matmul_case_finish(struct matmul_case *t)
{
    int i;
    for (i = 0; i < 3; i++)
        free(t->x[i].value);
    free(t->exact);
    free(t->bound);
    free(t->inside);
}

static void *stored(const struct matmul_case_matrix *x, uint32_t type)
{
    void  *raw = malloc(x->count * 8);
    size_t e;
    assert_non_null(raw);
    for (e = 0; e < x->count; e++)
        element_store(type, raw, (int64_t)e, x->value[e]);
    return raw;
}

void matmul_case_upload(struct runner *r, const struct matmul_case *t, int which, cl_mem *buffer, void **raw)
{
    const qst_matrix *x = which == 0 ? &t->problem.a : which == 1 ? &t->problem.b : &t->problem.c;
    const size_t      bytes = t->x[which].count * t->item[which];
    cl_int            code;
    *raw = stored(&t->x[which], x->type);
    *buffer = clCreateBuffer(r->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, *raw, &code);
    assert_int_equal(code, CL_SUCCESS);
}

/* Every element of C within its bound, every other one as it was, bit for bit. */
void matmul_case_compare(const struct matmul_case *t, const char *name, const void *got, const void *before)
{
    const qst_matmul *p = &t->problem;
    const size_t      bytes = t->item[2];
    size_t            e;
    for (e = 0; e < t->x[2].count; e++) {
        const double value = element_load(p->c.type, got, (int64_t)e);
        if (t->inside[e] ? fabs(value - t->exact[e]) <= t->bound[e]
                         : memcmp((const char *)got + e * bytes, (const char *)before + e * bytes, bytes) == 0)
            continue;
        fail_msg(
            "%s, %s, %lld x %lld x %lld, batch %lldx%lldx%lldx%lld, a %lld,%lld b %lld,%lld c %lld,%lld, alpha %g, "
            "beta %g: element %lld of C's buffer is %.9g, should be %.9g (%s)",
            name, qst_type_name(p->a.type), (long long)p->m, (long long)p->n, (long long)p->k, (long long)p->batch[0],
            (long long)p->batch[1], (long long)p->batch[2], (long long)p->batch[3], (long long)p->a.row,
            (long long)p->a.col, (long long)p->b.row, (long long)p->b.col, (long long)p->c.row, (long long)p->c.col,
            p->alpha, p->beta, (long long)e - (long long)t->x[2].start, value, t->exact[e],
            t->inside[e] ? "outside the bound" : "not an element of C");
    }
}
