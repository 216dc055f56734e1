/* SPDX-License-Identifier: MIT
 *
 * data.h: a matmul's operands in host memory and on the device, filled from a seed, with bytes around the elements
 * that nobody may touch.
 *
 * Every byte that is no element of the matrix (before its start, between its rows, after its end) is 0xFF, which
 * reads as NaN in every type: what is read there shows in the product, what is written there is found.
 */
#ifndef QST_TOOL_DATA_H
#define QST_TOOL_DATA_H

#include "device.h"

#include <quernstone/matmul.h>

typedef struct data_matrix {
    qst_matrix     view;
    int64_t        rows, cols;
    const int64_t *batch; /* the problem's four */
    uint64_t       start; /* bytes from the buffer's start to element 0 */
    uint64_t       bytes; /* of the buffer */
    unsigned char *host;
    cl_mem         mem;
} data_matrix;

/* Host memory for the matrix, all 0xFF. `offset` elements before its start, `guard` bytes before these and after the
 * end. */
void data_init(data_matrix *matrix, const qst_matrix *view, int64_t rows, int64_t cols, const int64_t *batch,
               uint64_t offset, uint64_t guard);
void data_finish(data_matrix *matrix);

/* Elements from a hash of seed and place: multiples of 2^-52 in [−1, 1), rounded to the type. */
void data_random(data_matrix *matrix, uint64_t seed);

/* Row `row`, or where that is negative column `col`, of every product times 2^exponent. */
void data_scale(data_matrix *matrix, int64_t row, int64_t col, int exponent);

/* Of all bytes of `now`, a buffer of the matrix. */
uint64_t data_digest(const data_matrix *matrix, const unsigned char *now);

/* To a new buffer; from it to `host`, which has matrix->bytes. */
bool data_upload(data_matrix *matrix, const device_handle *device);
bool data_download(const data_matrix *matrix, const device_handle *device, unsigned char *host);

/* Where element (i, j) of product `z` stands, in elements after `start`. */
int64_t data_place(const data_matrix *matrix, int64_t z, int64_t i, int64_t j);

/* The operand as calls take it, and log2 of its start's alignment in bytes, at most PROBLEM_ALIGN. */
qst_mem  data_operand(const data_matrix *matrix);
uint32_t data_align(uint64_t start);

/* Is what stands in `now` what stands in the matrix's host memory, its elements aside where `elements` is false? */
bool data_unchanged(const data_matrix *matrix, const unsigned char *now, bool elements);

int64_t data_products(const int64_t *batch); /* 1 where unused; at most INT64_MAX */

/* Is the problem in contract, and do its operands fit the device's memory? False after one line. */
bool data_fits(const device_handle *device, const qst_matmul *problem, const char *where);

#endif
