/* SPDX-License-Identifier: MIT
 *
 * meter.c: see meter.h. */
#include "support/meter.h"

#include <stdlib.h>

void *meter_resize(void *user, void *memory, size_t bytes)
{
    meter *m = user;
    if (bytes == 0) {
        m->live -= memory != NULL;
        free(memory);
        return NULL;
    }
    if (m->left == 0)
        return NULL;
    m->left -= m->left > 0;
    m->live += memory == NULL;
    m->most = bytes > m->most ? bytes : m->most;
    return realloc(memory, bytes);
}

qst__alloc meter_alloc(meter *m)
{
    return (qst__alloc){.resize = meter_resize, .user = m};
}
