/* SPDX-License-Identifier: MIT
 *
 * builder.h: programs by a plugin's builder (quernstone/ext/draft/builder.h): the driver's front end, the builder's two
 * steps, and the driver again, which loads machine code.
 */
#ifndef QST_CL_BUILDER_H
#define QST_CL_BUILDER_H

#include "cl/program.h"

#include <quernstone/ext/draft/builder.h>

/* The object that the front end makes of a source; the caller's. NULL: *code says why. */
char *qst__builder_object(const qst__programs *programs, const char *source, size_t length, const char *options,
                          size_t *out_length, cl_int *code);

/* Builds a program of form SOURCE or RETARGETED. NULL: err says which step gave what; the driver's own way is left. */
cl_program qst__builder_build(const qst__programs *programs, const qst__builder *by, const qst_program *desc,
                              const char *options, qst_error *err);

/* The same with the programs' own builder. False: there is none, or it does not manage this one. */
bool qst__builder_try(const qst__programs *programs, const qst_program *desc, const char *options, cl_program *cl);

#endif
