/* SPDX-License-Identifier: MIT
 *
 * anchor.c: the bucket's ceiling of a size, exact in integers. */
#include "model/anchor.h"

#include "base/settings.h"

#include <stdbool.h>

__extension__ typedef unsigned __int128 wide;

/* Ceiling of (numerator / 2)^e for the least e at which the power is size or more; numerator is 3 or 5, size 1 or more.
 * A power is held as whole + part / 2^e with part < 2^e; it is size or more exactly when whole is. The loop ends at
 * the latest when whole passes 2^63: e ≤ 108 for numerator 3, e ≤ 48 for 5, so that numerator · part stays under
 * 2^112. */
static wide half_power_ceiling(wide numerator, wide size)
{
    wide     whole = 1, part = 0;
    unsigned e = 0;
    while (whole < size) {
        wide scaled = numerator * part;
        wide halves = numerator * whole + (scaled >> e);
        part = (scaled & (((wide)1 << e) - 1)) | (halves & 1) << e;
        whole = halves >> 1;
        e++;
    }
    return whole + (part != 0);
}

static wide two_power_ceiling(wide size)
{
    wide power = 1;
    while (power < size)
        power <<= 1;
    return power;
}

int64_t qst__anchor(uint32_t level, int64_t size)
{
    if (size <= 0)
        return 0;
    if (level >= QST__LEVEL_FULL)
        return size;
    wide ceiling;
    if (level == QST__LEVEL_BALANCED) {
        ceiling = two_power_ceiling((wide)size);
    } else {
        ceiling = half_power_ceiling(level == QST__LEVEL_MINIMAL ? 5 : 3, (wide)size);
        if (ceiling > 16)
            ceiling = (ceiling + 15) & ~(wide)15;
    }
    return ceiling > INT64_MAX ? INT64_MAX : (int64_t)ceiling;
}

qst_anchor qst__anchor_at(uint32_t level)
{
    qst_anchor anchor = {.level = level, .anchor = qst__anchor};
    return anchor;
}
