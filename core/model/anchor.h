/* SPDX-License-Identifier: MIT
 *
 * anchor.h: bucketing of sizes (behaviour of the reference, made integer-exact).
 *
 * The bucket's ceiling of x is ceil(b^e) for the least e ≥ 0 with b^e ≥ x, where b is 2.5, 2, 1.5 at level minimal,
 * balanced, extensive; level full leaves x as it is. x ≤ 0 gives 0, 1 gives 1. Powers are exact (2.5^e = 5^e / 2^e,
 * 1.5^e = 3^e / 2^e in integers), base 2 is a bit scan. At minimal and extensive, ceilings over 16 are then rounded
 * up to a multiple of 16, so that a bucket keeps a useful alignment. Not idempotent at these two levels.
 * What does not fit in 63 bits gives INT64_MAX. */
#ifndef QST_MODEL_ANCHOR_H
#define QST_MODEL_ANCHOR_H

#include <quernstone/plugin.h>

int64_t qst__anchor(uint32_t level, int64_t size);

/* For an operation's key(): the level with the function above. */
qst_anchor qst__anchor_at(uint32_t level);

#endif
