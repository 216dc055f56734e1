/* SPDX-License-Identifier: MIT
 *
 * meter.h: an allocator that fails from the n-th request on, and counts what is live. One thread's; chaos.h has one for
 * several.
 */
#ifndef QST_TESTS_METER_H
#define QST_TESTS_METER_H

#include "base/base.h"

typedef struct meter {
    int    left; /* requests that succeed; negative: all */
    int    live;
    size_t most; /* bytes of the largest request */
} meter;

void      *meter_resize(void *user, void *memory, size_t bytes);
qst__alloc meter_alloc(meter *m);

#endif
