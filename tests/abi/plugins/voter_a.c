/* SPDX-License-Identifier: MIT
 *
 * voter_a.c: one of two plugins that agree with each other on skewed.c's operation, and not with its fallback.
 */
#define VOTER "voter_a"
#include "skewed.c"
