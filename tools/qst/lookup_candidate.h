/* SPDX-License-Identifier: MIT
 *
 * lookup_candidate.h: the small matmul that bench lookup launches in three ways: one kernel, 14 arguments, no
 * workspace.
 */
#ifndef QST_TOOL_LOOKUP_CANDIDATE_H
#define QST_TOOL_LOOKUP_CANDIDATE_H

#include <quernstone/matmul.h>

#define LOOKUP_ENTRY   "lookup_matmul"
#define LOOKUP_COLUMNS 16u /* of a work-item; n must be a multiple */
#define LOOKUP_GROUP_X 4u  /* work-items of a group along a row of C */
#define LOOKUP_GROUP_Y 16u /* and along a column */

extern const char          lookup_source[];
extern const qst_candidate lookup_candidate;

#endif
