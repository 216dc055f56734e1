/* SPDX-License-Identifier: MIT
 *
 * test_clblast.c: the cases of test_candidates.c for the vendor library's candidate alone; where the library is not
 * installed, all are counted as not applicable.
 */
#define VENDOR 1
#include "test_candidates.c"
