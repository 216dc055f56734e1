/* SPDX-License-Identifier: MIT
 *
 * library.h: the host's BLAS, as a copy of our own.
 *
 * A BLAS keeps its threads, their number and how long they spin for the whole process, and a program may use the same
 * library and rely on it. So it is loaded into a name space of its own (dlmopen): another image with other state, and a
 * C library of its own, whose environment tells it to let its threads sleep soon after a call. What is timed or runs
 * after a call is not disturbed by them, and the program's own copy is as it was. Such name spaces are few (16 a process,
 * by glibc): each library is opened once in a process and stays.
 */
#ifndef QST_CBLAS_LIBRARY_H
#define QST_CBLAS_LIBRARY_H

#include <stddef.h>

typedef void (*cblas_sgemm_fn)(int layout, int a_transpose, int b_transpose, int m, int n, int k, float alpha,
                               const float *a, int a_ld, const float *b, int b_ld, float beta, float *c, int c_ld);
typedef void (*cblas_dgemm_fn)(int layout, int a_transpose, int b_transpose, int m, int n, int k, double alpha,
                               const double *a, int a_ld, const double *b, int b_ld, double beta, double *c, int c_ld);
typedef void (*cblas_sgemv_fn)(int layout, int transpose, int rows, int cols, float alpha, const float *a, int a_ld,
                               const float *x, int x_step, float beta, float *y, int y_step);
typedef void (*cblas_dgemv_fn)(int layout, int transpose, int rows, int cols, double alpha, const double *a, int a_ld,
                               const double *x, int x_step, double beta, double *y, int y_step);

struct cblas_library {
    cblas_sgemm_fn sgemm;
    cblas_dgemm_fn dgemm;
    cblas_sgemv_fn sgemv;
    cblas_dgemv_fn dgemv;
};

/* [any thread] `path` NULL: by the usual names. NULL with the reason in `why`. What is returned lives as long as the
 * process. */
const struct cblas_library *cblas_library_open(const char *path, char *why, size_t why_size);

#endif
