/* SPDX-License-Identifier: MIT
 *
 * judge_data.h: a matmul problem of any layout with its operands on the host, and its result as a right or a coarse
 * candidate would give it.
 */
#ifndef TEST_KERNEL_JUDGE_DATA_H
#define TEST_KERNEL_JUDGE_DATA_H

#include <quernstone/matmul.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define START        5 /* elements before an operand */
#define TAIL         9 /* and behind it */

/* The buffers: three operands, C as it was before the run, the judge's finding, and four workspaces. */
enum { A, B, C, OLD, FINDING, WORK, BUFFERS = WORK + 4 };

typedef struct data {
    qst_matmul p;
    size_t     elements[OLD + 1]; /* of the buffer */
    size_t     bytes[OLD + 1];
    uint8_t   *memory[OLD + 1];
} data;

/* Bytes of an element of a type. */
uint32_t bytes_of(uint32_t type);

/* An element at an index of a buffer. Halves: exact for what the tests put there (normal numbers of 11 bits, zero,
 * NaN). */
void   put(uint32_t type, uint8_t *memory, int64_t at, double value);
double get(uint32_t type, const uint8_t *memory, int64_t at);

/* Where in its buffer an element of product b is. */
int64_t a_at(const qst_matmul *p, int64_t b, int64_t i, int64_t l);
int64_t b_at(const qst_matmul *p, int64_t b, int64_t l, int64_t j);
int64_t c_at(const qst_matmul *p, int64_t b, int64_t i, int64_t j);
int64_t batches_of(const qst_matmul *p);

/* The next of (−1, 1) after a state. */
double random_real(uint32_t *x);

/* Operands with NaN in all gaps; integers of −3 … 3, or reals of (−1, 1). Freed by drop. */
void make(data *d, int real);
void drop(data *d);

/* C by fma loops of the accumulation type, from inputs of `bits` bits (0: as they are). */
void multiply(data *d, int in_double, int bits);

enum { DENSE, PADDED, A_TURNED, B_TURNED, BOTH_TURNED, STRIDED, BATCHED, A_BROADCAST, ROW, COLUMN, OUTER, LAYOUTS };

/* A problem of such a layout, with sizes of its own. */
void shape(qst_matmul *p, int which, uint32_t type);

#endif
