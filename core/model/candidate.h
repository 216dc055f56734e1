/* SPDX-License-Identifier: MIT
 *
 * candidate.h: what makes a candidate's or a group's descriptor sound, whatever set it is for.
 *
 * A candidate: variant of [a-z0-9_x.-]+, revision from 1, exactly one of the two forms and that one whole,
 * problem_size of 4 bytes or more and no more than the operation's (a struct we do not know would be read beyond its
 * end), memberships that are there. Classes are closed: STRICT → PLAIN → FAST, none means FAST.
 */
#ifndef QST_MODEL_CANDIDATE_H
#define QST_MODEL_CANDIDATE_H

#include "base/base.h"

#include <quernstone/plugin.h>

#define QST__MEMBERSHIPS_MAX 64u
/* The least a descriptor can be: a vendor's ends later, one of launches as data needs no more. */
#define QST__LEAST_CANDIDATE QST_SIZE_TO(qst_candidate, steps)

qst_status qst__candidate_take(qst_candidate *out, const qst_candidate *candidate, const qst_op *op, qst_error *err);
qst_status qst__group_take(qst_group *out, const qst_group *group, const char *op, qst_error *err);

#endif
