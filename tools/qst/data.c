/* SPDX-License-Identifier: MIT
 *
 * data.c: operands: where each element stands, what it holds, and whether anything else was written. */
#include "data.h"

#include "element.h"
#include "out.h"
#include "problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t data_products(const int64_t *batch)
{
    int64_t product = batch[0];
    for (int d = 1; d < QST_MATMUL_BATCHES; d++)
        if (__builtin_mul_overflow(product, batch[d], &product))
            return INT64_MAX;
    return product;
}

bool data_fits(const device_handle *device, const qst_matmul *problem, const char *where)
{
    qst_error err = {0};
    qst_set  *set;
    cl_ulong  most = 0, whole = 0;
    double    all = 0;
    if (qst_set_find(&set, device->context, "matmul", &err) < 0)
        return out_error(where, err.status, &err), false;
    const qst_op *op = qst_set_op(set);
    int32_t       status = op->check(op->user, problem, &err);
    if (status < 0)
        return out_error(where, status, &err), false;
    if (!device_ok(clGetDeviceInfo(device->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL),
                   "clGetDeviceInfo") ||
        !device_ok(clGetDeviceInfo(device->id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof whole, &whole, NULL),
                   "clGetDeviceInfo"))
        return false;
    for (uint32_t i = 0; i < op->n_operands; i++) {
        uint64_t bytes = op->span(op->user, problem, i);
        all += (double)bytes;
        if (bytes > most)
            return out_fail("%s: %s takes %.3g MB, over the device's largest buffer of %.3g MB", where,
                            op->operands[i].name, (double)bytes / 1e6, (double)most / 1e6),
                   false;
    }
    if (all > (double)whole)
        return out_fail("%s: its operands take %.3g MB, over the device's memory of %.3g MB", where, all / 1e6,
                        (double)whole / 1e6),
               false;
    return true;
}

int64_t data_place(const data_matrix *matrix, int64_t z, int64_t i, int64_t j)
{
    int64_t place = i * matrix->view.row + j * matrix->view.col;
    for (int d = QST_MATMUL_BATCHES - 1; d >= 0; d--) {
        place += z % matrix->batch[d] * matrix->view.batch[d];
        z /= matrix->batch[d];
    }
    return place;
}

/* Elements from the first to the last, both included. */
static uint64_t span(const data_matrix *matrix)
{
    int64_t products = data_products(matrix->batch);
    if (matrix->rows == 0 || matrix->cols == 0 || products == 0)
        return 0;
    return (uint64_t)data_place(matrix, products - 1, matrix->rows - 1, matrix->cols - 1) + 1;
}

void data_init(data_matrix *matrix, const qst_matrix *view, int64_t rows, int64_t cols, const int64_t *batch,
               uint64_t offset, uint64_t guard)
{
    uint32_t element = qst_type_bytes(view->type);
    memset(matrix, 0, sizeof *matrix);
    matrix->view = *view;
    matrix->rows = rows;
    matrix->cols = cols;
    matrix->batch = batch;
    matrix->start = guard + offset * element;
    matrix->bytes = matrix->start + span(matrix) * element + guard;
    if (matrix->bytes < element)
        matrix->bytes = element; /* OpenCL has no empty buffers */
    matrix->host = out_resize(NULL, (size_t)matrix->bytes);
    memset(matrix->host, 0xFF, (size_t)matrix->bytes);
}

void data_finish(data_matrix *matrix)
{
    if (matrix->mem)
        clReleaseMemObject(matrix->mem);
    free(matrix->host);
    memset(matrix, 0, sizeof *matrix);
}

/* Spreads every bit of x over all bits of the result. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    x *= 0xD1B54A32D192ED03u;
    return x ^ x >> 32;
}

void data_random(data_matrix *matrix, uint64_t seed)
{
    int64_t products = matrix->rows && matrix->cols ? data_products(matrix->batch) : 0;
    for (int64_t z = 0; z < products; z++)
        for (int64_t i = 0; i < matrix->rows; i++)
            for (int64_t j = 0; j < matrix->cols; j++) {
                int64_t place = data_place(matrix, z, i, j);
                int64_t bits = (int64_t)(mix(mix(seed) + (uint64_t)place) >> 11); /* 53 of them */
                element_store(matrix->view.type, matrix->host + matrix->start, place, ldexp((double)bits, -52) - 1);
            }
}

void data_scale(data_matrix *matrix, int64_t row, int64_t col, int exponent)
{
    int64_t products = data_products(matrix->batch), count = row < 0 ? matrix->rows : matrix->cols;
    for (int64_t z = 0; z < products; z++) {
        if (z > 0 && data_place(matrix, z, 0, 0) == data_place(matrix, 0, 0, 0))
            continue; /* all products share it */
        for (int64_t i = 0; i < count; i++) {
            int64_t place = data_place(matrix, z, row < 0 ? i : row, row < 0 ? col : i);
            double  value = element_load(matrix->view.type, matrix->host + matrix->start, place);
            element_store(matrix->view.type, matrix->host + matrix->start, place, ldexp(value, exponent));
        }
    }
}

/* FNV-1a, 64 bits. */
uint64_t data_digest(const data_matrix *matrix, const unsigned char *now)
{
    uint64_t digest = 0xcbf29ce484222325u;
    for (uint64_t i = 0; i < matrix->bytes; i++)
        digest = (digest ^ now[i]) * 0x100000001b3u;
    return digest;
}

bool data_upload(data_matrix *matrix, const device_handle *device)
{
    cl_int code;
    matrix->mem = clCreateBuffer(device->cl, CL_MEM_READ_WRITE, (size_t)matrix->bytes, NULL, &code);
    if (!device_ok(code, "clCreateBuffer"))
        return false;
    code = clEnqueueWriteBuffer(device->queue, matrix->mem, CL_TRUE, 0, (size_t)matrix->bytes, matrix->host, 0, NULL,
                                NULL);
    return device_ok(code, "clEnqueueWriteBuffer");
}

bool data_download(const data_matrix *matrix, const device_handle *device, unsigned char *host)
{
    cl_int code =
        clEnqueueReadBuffer(device->queue, matrix->mem, CL_TRUE, 0, (size_t)matrix->bytes, host, 0, NULL, NULL);
    return device_ok(code, "clEnqueueReadBuffer");
}

qst_mem data_operand(const data_matrix *matrix)
{
    return qst_mem_at(matrix->mem, matrix->start);
}

uint32_t data_align(uint64_t start)
{
    uint32_t align = 0;
    while (align < PROBLEM_ALIGN && (start >> align & 1) == 0)
        align++;
    return align;
}

bool data_unchanged(const data_matrix *matrix, const unsigned char *now, bool elements)
{
    if (elements)
        return memcmp(matrix->host, now, (size_t)matrix->bytes) == 0;
    /* A copy in which every element is put back; then the rest must agree. */
    size_t         element = qst_type_bytes(matrix->view.type);
    unsigned char *back = out_resize(NULL, (size_t)matrix->bytes);
    int64_t        products = matrix->rows && matrix->cols ? data_products(matrix->batch) : 0;
    memcpy(back, now, (size_t)matrix->bytes);
    for (int64_t z = 0; z < products; z++)
        for (int64_t i = 0; i < matrix->rows; i++)
            for (int64_t j = 0; j < matrix->cols; j++) {
                size_t at = (size_t)matrix->start + (size_t)data_place(matrix, z, i, j) * element;
                memcpy(back + at, matrix->host + at, element);
            }
    bool same = memcmp(matrix->host, back, (size_t)matrix->bytes) == 0;
    free(back);
    return same;
}
