/* SPDX-License-Identifier: MIT
 *
 * describe.h: parts of qst_describe that stand in files of their own.
 */
#ifndef QST_RUN_DESCRIBE_H
#define QST_RUN_DESCRIBE_H

#include "conf/json.h"
#include "run/run.h"

qst_status qst__tell_verdicts(qst_context *ctx, qst__json **out, qst_error *err);

#endif
