/* error.h: filling the caller's qst_error. The first cause wins: a filled error is never overwritten, so that every
 * layer may say what it knows and pass the status on. No allocation. */
#ifndef QST_BASE_ERROR_H
#define QST_BASE_ERROR_H

#include <quernstone/types.h>
#include <stdarg.h>

#if defined(__GNUC__)
#define QST__PRINTF(text_at, args_at) __attribute__((format(printf, text_at, args_at)))
#else
#define QST__PRINTF(text_at, args_at)
#endif

/* Writes status, source and text into err (where it is not NULL and not yet filled) and returns status, so that a
 * failing place reads `return qst__fail(err, QST_E_INVALID, "matmul", "m is %lld, not 0 or more", m);` */
qst_status qst__fail(qst_error *err, qst_status status, const char *source, const char *format, ...) QST__PRINTF(4, 5);

/* The same for a failed OpenCL call: E_CL (or E_NOMEM for the codes that mean it) with the code. */
qst_status qst__fail_cl(qst_error *err, int32_t cl_code, const char *source, const char *format, ...) QST__PRINTF(4, 5);

/* Passes a failure on as it is, the code of OpenCL included, and returns its status. */
qst_status qst__pass(qst_error *err, const qst_error *from);

/* Empties an error so that another attempt can fill it. NULL is fine. */
void qst__error_clear(qst_error *err);

/* The text of an error, or of the status where the error is NULL or empty. */
const char *qst__error_text(const qst_error *err, qst_status status);

#endif
