/* SPDX-License-Identifier: MIT
 *
 * error.c: filling the caller's qst_error; the first cause wins, and a text too long is cut, never refused. */
#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The codes of cl.h that mean "no memory"; this layer includes no OpenCL header. CL_OUT_OF_RESOURCES (-5) is not
 * one: drivers give it for registers, for time limits and for a kernel's bad access as well. */
enum { MEM_OBJECT_ALLOCATION_FAILURE = -4, OUT_OF_HOST_MEMORY = -6 };

/* A text of several lines (a build log, an operating system's message) becomes one. */
static void flatten(char *text)
{
    size_t length = strlen(text);
    while (length && (text[length - 1] == '\n' || text[length - 1] == ' '))
        text[--length] = '\0';
    for (; *text; text++)
        if (*text == '\n' || *text == '\r' || *text == '\t')
            *text = ' ';
}

static void fill(qst_error *err, qst_status status, int32_t cl_code, const char *source, const char *format,
                 va_list args)
{
    if (!err || err->status != QST_OK)
        return;
    err->status = status;
    err->cl_code = cl_code;
    (void)snprintf(err->source, sizeof err->source, "%s", source ? source : "");
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    flatten(err->text);
}

qst_status qst__fail(qst_error *err, qst_status status, const char *source, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(err, status, 0, source, format, args);
    va_end(args);
    return status;
}

qst_status qst__fail_cl(qst_error *err, int32_t cl_code, const char *source, const char *format, ...)
{
    bool       memory = cl_code == MEM_OBJECT_ALLOCATION_FAILURE || cl_code == OUT_OF_HOST_MEMORY;
    qst_status status = memory ? QST_E_NOMEM : QST_E_CL;
    va_list    args;
    va_start(args, format);
    fill(err, status, cl_code, source, format, args);
    va_end(args);
    return status;
}

qst_status qst__pass(qst_error *err, const qst_error *from)
{
    if (err && !err->text[0])
        *err = *from;
    return from->status;
}

void qst__error_clear(qst_error *err)
{
    if (err)
        memset(err, 0, sizeof *err);
}

const char *qst__error_text(const qst_error *err, qst_status status)
{
    return err && err->status != QST_OK && err->text[0] ? err->text : qst_status_text(status);
}
