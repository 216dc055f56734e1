/* SPDX-License-Identifier: MIT
 *
 * vec.c: how an array grows: by doubling, from 8. */
#include "base/vec.h"

#include <stdint.h>

bool qst__vec_room(const qst__alloc *alloc, void **data, size_t count, size_t *capacity, size_t bytes)
{
    if (count < *capacity)
        return true;
    size_t wanted = *capacity ? *capacity * 2 : 8;
    if (wanted <= count || wanted > SIZE_MAX / bytes)
        return false;
    void *grown = qst__resize(alloc, *data, wanted * bytes);
    if (!grown)
        return false;
    *data = grown;
    *capacity = wanted;
    return true;
}
