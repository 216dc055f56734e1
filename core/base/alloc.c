/* SPDX-License-Identifier: MIT
 *
 * alloc.c: the memory of a context, all of it through one function. */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *heap_resize(void *user, void *memory, size_t bytes)
{
    (void)user;
    if (bytes == 0) {
        free(memory);
        return NULL;
    }
    return realloc(memory, bytes);
}

qst__alloc qst__alloc_default(void)
{
    return (qst__alloc){.resize = heap_resize, .user = NULL};
}

void *qst__resize(const qst__alloc *alloc, void *memory, size_t bytes)
{
    /* resize(p, 0) frees; here it means the smallest block, so that NULL always means no memory. */
    return alloc->resize(alloc->user, memory, bytes ? bytes : 1);
}

void *qst__zalloc(const qst__alloc *alloc, size_t bytes)
{
    void *memory = qst__resize(alloc, NULL, bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

void *qst__zalloc_array(const qst__alloc *alloc, size_t count, size_t bytes)
{
    if (bytes && count > SIZE_MAX / bytes)
        return NULL;
    return qst__zalloc(alloc, count * bytes);
}

void qst__free(const qst__alloc *alloc, void *memory)
{
    if (memory)
        (void)alloc->resize(alloc->user, memory, 0);
}

void *qst__memdup(const qst__alloc *alloc, const void *data, size_t bytes)
{
    void *copy = qst__resize(alloc, NULL, bytes);
    if (copy && bytes)
        memcpy(copy, data, bytes);
    return copy;
}

char *qst__strdup(const qst__alloc *alloc, const char *text)
{
    return text ? qst__memdup(alloc, text, strlen(text) + 1) : NULL;
}
