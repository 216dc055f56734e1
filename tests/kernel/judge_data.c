/* SPDX-License-Identifier: MIT
 *
 * judge_data.c: which layouts the judge is tried on, and what lies in their buffers.
 */
#include "judge_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t type_of(const qst_matmul *p, int operand)
{
    return operand == A ? p->a.type : operand == B ? p->b.type : p->c.type;
}

uint32_t bytes_of(uint32_t type)
{
    return type == QST_F64 ? 8 : type == QST_F32 ? 4 : 2;
}

void put(uint32_t type, uint8_t *memory, int64_t at, double value)
{
    float    f = (float)value;
    uint32_t bits;
    uint16_t narrow;
    memcpy(&bits, &f, sizeof bits);
    if (type == QST_F64) {
        memcpy(memory + 8 * at, &value, 8);
    } else if (type == QST_F32) {
        memcpy(memory + 4 * at, &f, 4);
    } else {
        if (type == QST_BF16)
            narrow = (uint16_t)(bits >> 16);
        else if (isnan(value))
            narrow = 0x7e00;
        else if (value == 0.0)
            narrow = 0;
        else
            narrow = (uint16_t)((bits >> 16 & 0x8000) | ((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 0x3ff));
        memcpy(memory + 2 * at, &narrow, 2);
    }
}

double get(uint32_t type, const uint8_t *memory, int64_t at)
{
    double   value;
    float    f;
    uint16_t narrow;
    uint32_t bits;
    if (type == QST_F64) {
        memcpy(&value, memory + 8 * at, 8);
        return value;
    }
    if (type == QST_F32) {
        memcpy(&f, memory + 4 * at, 4);
        return (double)f;
    }
    memcpy(&narrow, memory + 2 * at, 2);
    if (type == QST_BF16)
        bits = (uint32_t)narrow << 16;
    else if ((narrow & 0x7fff) == 0)
        bits = 0;
    else
        bits = (narrow & 0x8000u) << 16 | ((narrow >> 10 & 31u) + 112u) << 23 | (narrow & 0x3ffu) << 13;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static int64_t index_of(const qst_matrix *x, const int64_t *batch, int64_t b, int64_t i, int64_t j)
{
    int64_t at = START + i * x->row + j * x->col;
    for (int d = 3; d >= 0; d--) {
        at += b % batch[d] * x->batch[d];
        b /= batch[d];
    }
    return at;
}

int64_t a_at(const qst_matmul *p, int64_t b, int64_t i, int64_t l)
{
    return index_of(&p->a, p->batch, b, i, l);
}
int64_t b_at(const qst_matmul *p, int64_t b, int64_t l, int64_t j)
{
    return index_of(&p->b, p->batch, b, l, j);
}
int64_t c_at(const qst_matmul *p, int64_t b, int64_t i, int64_t j)
{
    return index_of(&p->c, p->batch, b, i, j);
}

int64_t batches_of(const qst_matmul *p)
{
    return p->batch[0] * p->batch[1] * p->batch[2] * p->batch[3];
}

double random_real(uint32_t *x)
{
    *x = *x * 1664525u + 1013904223u;
    return (double)(int32_t)(*x & 0xffffff00u) / 2147483648.0;
}

void make(data *d, int real)
{
    uint32_t x = 12345;
    for (int i = A; i <= OLD; i++) {
        uint32_t type = type_of(&d->p, i);
        uint64_t span = qst_matmul_op.span(NULL, &d->p, (uint32_t)(i == OLD ? C : i));
        d->elements[i] = START + (size_t)span / bytes_of(type) + TAIL;
        d->bytes[i] = d->elements[i] * bytes_of(type);
        d->memory[i] = malloc(d->bytes[i]);
        assert_non_null(d->memory[i]);
        for (size_t e = 0; e < d->elements[i]; e++)
            put(type, d->memory[i], (int64_t)e, NAN);
    }
    for (int64_t b = 0; b < batches_of(&d->p); b++) {
        for (int64_t l = 0; l < d->p.k; l++) {
            for (int64_t i = 0; i < d->p.m; i++)
                put(d->p.a.type, d->memory[A], a_at(&d->p, b, i, l),
                    real ? random_real(&x) : floor(3.5 * random_real(&x) + 0.5));
            for (int64_t j = 0; j < d->p.n; j++)
                put(d->p.b.type, d->memory[B], b_at(&d->p, b, l, j),
                    real ? random_real(&x) : floor(3.5 * random_real(&x) + 0.5));
        }
        for (int64_t i = 0; i < d->p.m; i++)
            for (int64_t j = 0; j < d->p.n && d->p.beta != 0.0; j++)
                put(d->p.c.type, d->memory[OLD], c_at(&d->p, b, i, j),
                    real ? random_real(&x) : floor(3.5 * random_real(&x) + 0.5));
    }
}

static double cut(double x, int bits)
{
    int    e;
    double f = frexp(x, &e);
    return bits == 0 ? x : ldexp(rint(ldexp(f, bits)), e - bits);
}

void multiply(data *d, int in_double, int bits)
{
    for (int64_t b = 0; b < batches_of(&d->p); b++)
        for (int64_t i = 0; i < d->p.m; i++)
            for (int64_t j = 0; j < d->p.n; j++) {
                double s = 0.0, old = 0.0;
                for (int64_t l = 0; l < d->p.k; l++) {
                    double x = cut(get(d->p.a.type, d->memory[A], a_at(&d->p, b, i, l)), bits);
                    double y = cut(get(d->p.b.type, d->memory[B], b_at(&d->p, b, l, j)), bits);
                    s = in_double ? fma(x, y, s) : (double)fmaf((float)x, (float)y, (float)s);
                }
                if (d->p.beta != 0.0)
                    old = d->p.beta * get(d->p.c.type, d->memory[OLD], c_at(&d->p, b, i, j));
                put(d->p.c.type, d->memory[C], c_at(&d->p, b, i, j), d->p.alpha * s + old);
            }
}

void drop(data *d)
{
    for (int i = A; i <= OLD; i++)
        free(d->memory[i]);
}

void shape(qst_matmul *p, int which, uint32_t type)
{
    static const int64_t sizes[LAYOUTS][3] = {{37, 29, 41}, {33, 65, 34}, {35, 19, 40}, {18, 37, 50},
                                              {34, 35, 33}, {21, 23, 22}, {19, 18, 17}, {20, 21, 35},
                                              {1, 70, 33},  {70, 1, 33},  {20, 40, 1}};
    qst_matmul_init(p, sizes[which][0], sizes[which][1], sizes[which][2], type);
    if (which == PADDED) {
        p->a.row += 3;
        p->b.row += 7;
        p->c.row += 5;
    }
    if (which == A_TURNED || which == BOTH_TURNED) {
        p->a.row = 1;
        p->a.col = p->m + 2;
    }
    if (which == B_TURNED || which == BOTH_TURNED) {
        p->b.row = 1;
        p->b.col = p->k;
    }
    if (which == STRIDED) {
        p->a.col = p->b.col = p->c.col = 2;
        p->a.row = 2 * p->k + 1;
        p->b.row = 2 * p->n;
        p->c.row = 2 * p->n + 3;
    }
    if (which == BATCHED) { /* 2 x 3; B shared in the inner dimension, C's batches the other way round */
        p->batch[2] = 2;
        p->batch[3] = 3;
        p->a.batch[3] = p->m * p->k;
        p->a.batch[2] = 3 * p->m * p->k + 1;
        p->b.batch[2] = p->k * p->n;
        p->c.batch[2] = p->m * p->n;
        p->c.batch[3] = 2 * p->m * p->n + 4;
    }
    if (which == A_BROADCAST) {
        p->a.row = 0;
        p->batch[3] = 2;
        p->c.batch[3] = p->m * p->n;
    }
}
