/* SPDX-License-Identifier: MIT
 *
 * huge.c: offsets that 32 bits do not hold. Five lines of a matrix lie 2^28 elements of f32 or 2^29 of f16 apart: the last
 * begins 4 GiB after the first, 2^30 or 2^31 elements. Reading at an offset that was cut shows, for there are zeros and not
 * numbers; a result that was written there is missing in C.
 */
#include "bench.h"

#include "tools/qst/element.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES = 5, M = 5, N = 37, K = 131 /* is split; 5 where B's lines are apart */ };

#define SPAN  ((uint64_t)1 << 32) /* bytes from the first line to the last */
#define SPARE ((uint64_t)1 << 30) /* of memory that others may want */

static int64_t value(int which, int64_t i, int64_t j)
{
    return (7 * i + 3 * j + which) % 5 < 2 ? 1 : -1; /* sums are exact in all types */
}

typedef struct huge {
    matrix_bench *b;
    qst_matmul    p;
    uint32_t      item;
    int           apart; /* which matrix */
    cl_mem        mem[3];
} huge;

static const qst_matrix *matrix(const huge *h, int which)
{
    return which == 0 ? &h->p.a : which == 1 ? &h->p.b : &h->p.c;
}

/* Writes the elements of A or B, or the NaN that C holds before, line by line; or reads C's. */
static bool transfer(const huge *h, int which, bool read, double *values)
{
    const int64_t rows = which == 1 ? h->p.k : M, cols = which == 0 ? h->p.k : N;
    int64_t       i, j;
    unsigned char line[8 * K];
    for (i = 0; i < rows; i++) {
        const size_t at = (size_t)(i * matrix(h, which)->row) * h->item, bytes = (size_t)cols * h->item;
        for (j = 0; j < cols && !read; j++)
            element_store(h->p.a.type, line, j, which == 2 ? (double)NAN : (double)value(which, i, j));
        if ((read ? clEnqueueReadBuffer(h->b->queue, h->mem[which], CL_TRUE, at, bytes, line, 0, NULL, NULL)
                  : clEnqueueWriteBuffer(h->b->queue, h->mem[which], CL_TRUE, at, bytes, line, 0, NULL, NULL)) !=
            CL_SUCCESS)
            return false;
        for (j = 0; j < cols && read; j++)
            values[i * N + j] = element_load(h->p.a.type, line, j);
    }
    return true;
}

static bool right(const huge *h, const double *c)
{
    int64_t i, j, q;
    for (i = 0; i < M; i++)
        for (j = 0; j < N; j++) {
            double want = 0;
            for (q = 0; q < h->p.k; q++)
                want += (double)(value(0, i, q) * value(1, q, j));
            if (!(fabs(c[i * N + j] - want) < 0.5))
                return false;
        }
    return true;
}

static void try_one(const huge *h, uint32_t candidate)
{
    qst_mem    operands[3] = {qst_mem_of(h->mem[0]), qst_mem_of(h->mem[1]), qst_mem_of(h->mem[2])};
    double     c[M * N];
    qst_error  err;
    qst_status status;

    memset(&err, 0, sizeof err);
    if (!transfer(h, 2, false, NULL))
        return;
    status = bench_launch(h->b, candidate, &h->p, operands, &err);
    if (status == QST_E_UNSUPPORTED || status == QST_E_NOTFOUND) {
        bench_refused(h->b, candidate, err.text);
        return;
    }
    if (status == QST_OK && transfer(h, 2, true, c) && right(h, c)) {
        h->b->accounts[candidate].right++;
        return;
    }
    h->b->accounts[candidate].wrong++;
    fprintf(stderr, "WRONG %s: lines of %c 4 GiB from the first to the last, %s: %s\n", bench_name(h->b, candidate),
            'A' + h->apart, qst_type_name(h->p.a.type), status == QST_OK ? "not the product" : err.text);
}

/* The device's memory, and on a CPU the machine's, which it promises whether it has it or not. */
static bool has_room(const matrix_bench *b)
{
    const qst_device *device = &b->site->facts.device;
    const uint64_t    free_bytes = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (device->max_alloc >= SPAN + (1u << 20) && (device->type != QST_DEVICE_CPU || free_bytes >= SPARE))
        return true;
    printf("huge offsets: left out, the largest buffer is of %llu MB, %llu MB are free\n",
           (unsigned long long)device->max_alloc >> 20, (unsigned long long)free_bytes >> 20);
    return false;
}

static void one_matrix(huge *h, const char *only)
{
    qst_matrix *x = h->apart == 0 ? &h->p.a : h->apart == 1 ? &h->p.b : &h->p.c;
    bool        made = true;
    uint32_t    i;
    int         which;

    x->row = (int64_t)(SPAN / (LINES - 1) / h->item);
    for (which = 0; which < 3; which++) {
        const uint64_t span = qst_matmul_op.span(NULL, &h->p, (uint32_t)which);
        cl_int         code;
        h->mem[which] = clCreateBuffer(h->b->cl, CL_MEM_READ_WRITE, (size_t)span, NULL, &code);
        made = made && code == CL_SUCCESS && (which == 2 || transfer(h, which, false, NULL));
    }
    if (!made)
        printf("huge offsets: left out, no buffer of 4 GiB\n");
    for (i = 0; i < h->b->n && made; i++)
        if (!only || fnmatch(only, bench_name(h->b, i), 0) == 0)
            try_one(h, i);
    for (which = 0; which < 3; which++)
        if (h->mem[which])
            clReleaseMemObject(h->mem[which]);
}

bool bench_huge(matrix_bench *b, const char *only)
{
    static const uint32_t types[] = {QST_F32, QST_F16};
    uint32_t              t;
    int                   apart;
    const bool            room = has_room(b);

    for (t = 0; t < 2 && room; t++)
        for (apart = 0; apart < 3; apart++) {
            huge h;
            memset(&h, 0, sizeof h);
            h.b = b;
            h.apart = apart;
            h.item = qst_type_bytes(types[t]);
            qst_matmul_init(&h.p, M, N, apart == 1 ? LINES : K, types[t]);
            one_matrix(&h, only);
        }
    return room;
}
