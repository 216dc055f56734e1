/* SPDX-License-Identifier: MIT
 *
 * chaos_case.h: sets of candidates of blend, for tests in which OpenCL fails.
 */
#ifndef QST_TESTS_CHAOS_CASE_H
#define QST_TESTS_CHAOS_CASE_H

#include "support/blend.h"

/* Each ended by a NULL, with blend's fallback and its wide candidate. */
extern const qst_candidate *const chaos_own[];         /* and two launches with a workspace */
extern const qst_candidate *const chaos_with_vendor[]; /* and a vendor's library, which hides its events */
extern const qst_candidate *const chaos_with_halves[]; /* and two launches that write a half of the result each */

#endif
