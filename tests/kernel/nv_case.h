/* SPDX-License-Identifier: MIT
 *
 * nv_case.h: the matmul candidates of nv_mma on a device that is none of theirs, with the facts of one that is. For tests
 * with cmocka: what goes wrong fails the test.
 */
#ifndef TEST_KERNEL_NV_CASE_H
#define TEST_KERNEL_NV_CASE_H

#include "runner.h"
#include <quernstone/matmul.h>

/* runner_open, and the plugin started. 0, or -1 with a line on stderr. */
int nv_case_open(struct runner *r);

/* From now on the device has the facts of an H200, but for what the tables do not ask. */
void nv_case_h200(struct runner *r);

int nv_case_is_matmul(const struct runner_candidate *c); /* and no probe */

/* The matmul candidate of that variant; its cost, and its priority in its first group. */
struct runner_candidate *nv_case_candidate(struct runner *r, const char *variant);
double                   nv_case_cost(struct runner *r, const char *variant, const qst_matmul *p);
int32_t                  nv_case_priority(struct runner *r, const char *variant, const qst_key *key);

/* It refuses this problem, for just this reason. */
void nv_case_refuses(struct runner *r, const char *variant, const qst_matmul *p, const char *reason);

#endif
