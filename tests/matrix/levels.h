/* SPDX-License-Identifier: MIT
 *
 * levels.h: what a problem of the kernel matrix is made of: one level of each factor.
 */
#ifndef TEST_MATRIX_LEVELS_H
#define TEST_MATRIX_LEVELS_H

#include <quernstone/matmul.h>
#include <stddef.h>

/* FORM   square, mixed, tall, wide, deep, skinny, a column or a row, an outer product
 * SIZE   the first of three sizes of 1 … 333; the other two are drawn
 * LAYOUT of A, B and C, their batches and their starts
 * SCALAR alpha and beta, and whether A holds a NaN
 * TYPE   of A and B, and of C
 * CLASS  of numerics */
enum { FORM, SIZE, LAYOUT, SCALAR, TYPE, CLASS, FACTORS };
extern const uint32_t levels[FACTORS];

/* A point of the matrix: a level of each factor, and two more sizes. */
typedef struct point {
    uint32_t level[FACTORS];
    uint32_t other[2]; /* levels of SIZE */
} point;

/* The problem it stands for. `lead`: elements before each matrix; *nan: A's first element is NaN. */
void point_problem(const point *x, qst_matmul *p, size_t *lead, int *nan);

/* "mixed 17 x 333 x 2, NT, alpha 1, beta 0.5, f16 to f32, strict". */
void point_text(const point *x, char *text, size_t size);

/* "square", "17", "column-major C", … */
void level_text(uint32_t factor, uint32_t level, char *text, size_t size);

/* Numbers that are the same in each run. */
uint32_t draw(uint32_t *state, uint32_t below);

#endif
