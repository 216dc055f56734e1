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

/* The same launch without the library: arguments and enqueue. */
cl_int lookup_by_hand(cl_kernel kernel, cl_command_queue queue, const qst_matmul *problem, const cl_mem mem[3]);

#endif
