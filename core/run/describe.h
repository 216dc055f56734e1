/* SPDX-License-Identifier: MIT
 *
 * describe.h: parts of qst_describe that stand in files of their own.
 */
#ifndef QST_RUN_DESCRIBE_H
#define QST_RUN_DESCRIBE_H

#include "conf/json.h"
#include "run/peaks.h"

qst_status qst__tell_verdicts(qst_context *ctx, qst__json **out, qst_error *err);

/* The ceiling of the problem that the verdict was tuned on, as far as peaks are known by now. False: none. */
bool qst__verdict_ceiling(const qst__entry *entry, const qst__verdict *verdict, qst__ceiling *out);

/* Adds what a verdict says of itself: how it was measured, and its findings. */
void qst__tell_verdict(qst__json *one, const qst__verdict *verdict);

#endif
