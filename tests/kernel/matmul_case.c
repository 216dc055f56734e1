/* SPDX-License-Identifier: MIT
 *
 * matmul_case.c: see matmul_case.h. What lies between the elements is NaN, so that reading it shows.
 */
#include "matmul_case.h"
#include "tools/qst/element.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
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
    size_t  last = index_of(p, x, products(p) - 1, rows - 1, cols - 1), e, at;
    out->start = lead;
    out->count = lead + last + 1 + TAIL;
    out->value = (double *)malloc(out->count * sizeof(double));
    assert_non_null(out->value);
    for (e = 0; e < out->count; e++)
        out->value[e] = (double)NAN;
    for (z = 0; z < products(p) && real; z++)
        for (i = 0; i < rows; i++)
            for (at = lead + index_of(p, x, z, i, 0), j = 0; j < cols; j++, at += (size_t)x->col)
                out->value[at] = element_round(x->type, draw());
}

/* One element's sums over k. */
static void dot(const struct matmul_case *t, int64_t z, int64_t i, int64_t j, long double *sum, double *size)
{
    const qst_matmul *p = &t->problem;
    const double     *a = t->x[0].value + t->x[0].start + index_of(p, &p->a, z, i, 0);
    const double     *b = t->x[1].value + t->x[1].start + index_of(p, &p->b, z, 0, j);
    double            plain = 0;
    int64_t           q;
    *sum = 0;
    *size = 0;
    if (p->alpha == 0.0)
        return;
    if (p->a.type == QST_F64) {
        for (q = 0; q < p->k; q++, a += p->a.col, b += p->b.row) {
            *sum += (long double)*a * *b;
            *size += fabs(*a * *b);
        }
        return;
    }
    for (q = 0; q < p->k; q++, a += p->a.col, b += p->b.row) { /* products of narrower types are exact in double */
        plain += *a * *b;
        *size += fabs(*a * *b);
    }
    *sum = plain;
}

/* The exact result (sums in double, in long double for f64) and the bound of matmul.h. */
static void reference(struct matmul_case *t)
{
    const qst_matmul *p = &t->problem;
    const double      factor = qst_matmul_bound(p);
    int64_t           z, i, j;
    for (z = 0; z < products(p); z++)
        for (i = 0; i < p->m; i++)
            for (j = 0; j < p->n; j++) {
                const size_t at = t->x[2].start + index_of(p, &p->c, z, i, j);
                const double old = p->beta == 0.0 ? 0.0 : t->x[2].value[at];
                long double  sum;
                double       size;
                dot(t, z, i, j, &sum, &size);
                t->exact[at] = (double)((long double)p->alpha * sum + (long double)p->beta * old);
                size = fabs(p->alpha) * size + fabs(p->beta * old);
                t->bound[at] = factor * size;
                t->bound[at] += element_half_ulp(p->c.type, fabs(t->exact[at]) + t->bound[at]);
                t->inside[at] = 1;
            }
}

/* log2 of the alignment of a start in bytes that a problem states; 0: the element's own. */
static uint32_t aligned(size_t lead, uint32_t item)
{
    return lead != MATMUL_CASE_LEAD ? 0 : item == 2 ? 4 : 5;
}

void matmul_case_init(struct matmul_case *t, const qst_matmul *problem, size_t lead, int nan_in_a)
{
    const qst_matmul *p = &t->problem;
    t->problem = *problem;
    t->item[0] = qst_type_bytes(p->a.type);
    t->item[1] = qst_type_bytes(p->b.type);
    t->item[2] = qst_type_bytes(p->c.type);
    t->problem.a.align = aligned(lead, t->item[0]);
    t->problem.b.align = aligned(lead, t->item[1]);
    t->problem.c.align = aligned(lead, t->item[2]);
    fill(p, &p->a, p->m, p->k, lead, 1, &t->x[0]);
    if (nan_in_a)
        t->x[0].value[lead] = (double)NAN;
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

void matmul_case_upload(cl_context context, const struct matmul_case *t, int which, cl_mem *buffer, void **raw)
{
    const qst_matrix *x = which == 0 ? &t->problem.a : which == 1 ? &t->problem.b : &t->problem.c;
    const size_t      bytes = t->x[which].count * t->item[which];
    cl_int            code;
    *raw = stored(&t->x[which], x->type);
    *buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, *raw, &code);
    assert_int_equal(code, CL_SUCCESS);
}

static int right(const struct matmul_case *t, size_t e, double value)
{
    return isnan(t->exact[e]) ? isnan(value) : fabs(value - t->exact[e]) <= t->bound[e];
}

int matmul_case_right(const struct matmul_case *t, const char *name, const void *got, const void *before, char *text,
                      size_t size)
{
    const qst_matmul *p = &t->problem;
    const size_t      bytes = t->item[2];
    size_t            e;
    for (e = 0; e < t->x[2].count; e++) {
        const double value = element_load(p->c.type, got, (int64_t)e);
        if (t->inside[e] ? right(t, e, value)
                         : memcmp((const char *)got + e * bytes, (const char *)before + e * bytes, bytes) == 0)
            continue;
        snprintf(text, size,
                 "%s, %s to %s, %lld x %lld x %lld, batch %lldx%lldx%lldx%lld, a %lld,%lld b %lld,%lld c %lld,%lld, "
                 "alpha %g, beta %g: element %lld of C's buffer is %.9g, should be %.9g (%s)",
                 name, qst_type_name(p->a.type), qst_type_name(p->c.type), (long long)p->m, (long long)p->n,
                 (long long)p->k, (long long)p->batch[0], (long long)p->batch[1], (long long)p->batch[2],
                 (long long)p->batch[3], (long long)p->a.row, (long long)p->a.col, (long long)p->b.row,
                 (long long)p->b.col, (long long)p->c.row, (long long)p->c.col, p->alpha, p->beta,
                 (long long)e - (long long)t->x[2].start, value, t->exact[e],
                 t->inside[e] ? "outside the bound" : "not an element of C");
        return 0;
    }
    return 1;
}

void matmul_case_compare(const struct matmul_case *t, const char *name, const void *got, const void *before)
{
    char text[600];
    if (!matmul_case_right(t, name, got, before, text, sizeof text))
        fail_msg("%s", text);
}

/* ---- Candidates on a case ----------------------------------------------------------------------------------------- */

struct runner_candidate *matmul_case_candidate(struct runner *r, const char *name)
{
    uint32_t i;
    for (i = 0; i < r->n; i++)
        if (strcmp(r->candidates[i].name, name) == 0)
            return &r->candidates[i];
    fail_msg("no candidate %s", name);
    return NULL;
}

void matmul_case_refused(struct runner *r, const char *name, const qst_matmul *p, const char *reason)
{
    const struct runner_candidate *c = matmul_case_candidate(r, name);
    const char                    *why = NULL;
    assert_int_equal(c->candidate.can_run(c->candidate.user, &r->device, p, &why), QST_E_UNSUPPORTED);
    assert_string_equal(why, reason);
}

int matmul_case_run(struct runner *r, struct runner_candidate *c, const struct matmul_case *t, cl_mem *buffers,
                    void *const *raw, void *got)
{
    const qst_matmul *p = &t->problem;
    const size_t      bytes = t->x[2].count * t->item[2];
    const char       *why = NULL;
    qst_mem           operands[3];
    int32_t           status = c->candidate.can_run(c->candidate.user, &r->device, p, &why);
    int               i;
    if (!(c->candidate.classes >> p->numerics & 1u)) {
        c->refused++;
        return 0;
    }
    if (status != QST_OK) {
        assert_int_equal(status, QST_E_UNSUPPORTED);
        assert_non_null(why);
        c->refused++;
        return 0;
    }
    assert_int_equal(clEnqueueWriteBuffer(r->queue, buffers[2], CL_TRUE, 0, bytes, raw[2], 0, NULL, NULL), CL_SUCCESS);
    for (i = 0; i < 3; i++)
        operands[i] = qst_mem_at(buffers[i], t->x[i].start * t->item[i]);
    status = runner_run(r, c, p, operands, t->item);
    if (status != QST_OK)
        fail_msg("%s: status %d", c->name, status);
    assert_int_equal(clEnqueueReadBuffer(r->queue, buffers[2], CL_TRUE, 0, bytes, got, 0, NULL, NULL), CL_SUCCESS);
    c->ran++;
    return 1;
}
