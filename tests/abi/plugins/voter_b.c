/* SPDX-License-Identifier: MIT
 *
 * voter_b.c: one of two plugins that agree with each other on skewed.c's operation, and not with its fallback.
 */
#define VOTER "voter_b"
#include "skewed.c"
