/* SPDX-License-Identifier: MIT
 *
 * op.h: what makes an operation's descriptor sound, and how descriptors that start with their size are taken over.
 *
 * Checked: the names; the mandatory functions check, key, span and work; fields, operands and the numerics class lie
 * inside the problem struct and not over its size; no name of a field can be read as two; key fields, operands and
 * fields are not more than there may be; `trivial` and `judge` are complete; no must-understand flag is unknown.
 */
#ifndef QST_MODEL_OP_H
#define QST_MODEL_OP_H

#include "base/base.h"

#include <quernstone/plugin.h>

#define QST__PROBLEM_MAX 65536u      /* bytes of a problem struct: anything larger is a size that nobody set */
#define QST__MUST_FLAGS  0xffff0000u /* bits that a host must understand; it knows none */

/* Copies a size-first struct bounded: what the source lacks is zero, what it has beyond is left. False where its size
 * is under least_size, the smallest that any release had. The copy's size becomes out_size. */
bool qst__take_struct(void *out, uint32_t out_size, uint32_t least_size, const void *given);

/* The descriptor as a bounded copy; E_INVALID names what is wrong with it. `judge` and `trivial` are not yet copied. */
qst_status qst__op_take(qst_op *out, const qst_op *op, qst_error *err);

/* Bounded copies of what op.trivial and op.judge point at. */
qst_status qst__op_take_judge(qst_judge *out, const qst_judge *judge, const char *op, qst_error *err);
qst_status qst__op_take_trivial(qst_candidate *out, const qst_candidate *trivial, const char *op, qst_error *err);

#endif
