/* SPDX-License-Identifier: MIT
 *
 * retarget.h: a program's assembly text, made for another processor than its driver's compiler had in mind.
 *
 * NVIDIA's compiler of OpenCL C names a processor without the features that only its exact model has (sm_90 where sm_90a
 * is there), and refuses their instructions. What it gives as the program's binary is the assembly's text. So a source
 * may carry such instructions as comments of that text, `//@ wgmma…`, with operands that the compiler fills in; here
 * the mark is taken away and the processor's name replaced.
 */
#ifndef QST_CL_RETARGET_H
#define QST_CL_RETARGET_H

#include "cl/status.h"

#include <quernstone/plugin.h>

#define QST__RETARGET_MARKER "//@ "

/* `text`, terminated behind its length, without each `marker` and with `target` for the name behind its only ".target".
 * *out is the caller's, terminated behind its length as well. E_UNSUPPORTED: not such a text; err says what is wrong. */
qst_status qst__retarget_text(const qst__alloc *alloc, const char *text, size_t length, const char *target,
                              const char *marker, char **out, size_t *out_length, qst_error *err);

/* The binary of a program that was built for one device, terminated behind its length; the caller's. NULL: *code says
 * why. */
char *qst__binary_of(const qst__alloc *alloc, cl_program cl, size_t *length, cl_int *code);

/* The build of a program's RETARGETED form from what its source gave: `*cl`, built, is replaced by the retargeted
 * program, built with the same options. Without success *cl is what there is to read a log from, and err says which of
 * the steps gave what. */
cl_int qst__retarget_build(const qst__alloc *alloc, cl_context context, cl_device_id device, const qst_program *desc,
                           const char *options, cl_program *cl, qst_error *err);

#endif
