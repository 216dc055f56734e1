/* SPDX-License-Identifier: MIT
 *
 * field.h: problems as text, by their operation's fields: `m=240 n=240 k=240 a=f32,240,1`.
 *
 * Words are separated by blanks; a word is name=value or, for fields that share what stands before a dot,
 * name=v1,v2,…  in their order; fewer values leave out the members at the end. A member may also be given alone under
 * its full name, a.row=240. Arrays are given whole and written 3x1x1x1. An enumerated value is its token or, where it
 * has none, its number. Printing leaves out a field (and, inside a comma list, members at its end) that complete()
 * would restore to the same value. Doubles are printed so that they read back equal (%.17g where shorter does not),
 * with a dot whatever the locale; infinities and not-a-number are inf, -inf, nan, -nan.
 */
#ifndef QST_MODEL_FIELD_H
#define QST_MODEL_FIELD_H

#include "base/base.h"

#include <quernstone/plugin.h>

/* Into `problem` (op->problem_size bytes; size is set, the rest zeroed first), then op->complete. E_INVALID names
 * the word. */
qst_status qst__problem_parse(const qst_op *op, const char *text, void *problem, qst_error *err);

/* Appends the words, of a problem that has op->problem_size bytes. */
void qst__problem_print(const qst_op *op, const void *problem, qst__str *out);

/* Copies a caller's problem bounded: missing members are zero; E_INVALID where its size is less than 4, or bytes
 * beyond op->problem_size are not zero, or it is over QST__PROBLEM_MAX of op.h: a size that nobody set. */
qst_status qst__problem_copy(const qst_op *op, const void *problem, void *out, qst_error *err);

#endif
