/* SPDX-License-Identifier: MIT
 *
 * fold.c: see fold.h. A name is operation.plugin.variant/revision, and a variant has no dot. */
#include "fold.h"

#include "out.h"

#include <string.h>

/* The length of "operation.plugin." in a name; 0: it is none of that form. */
static size_t stem(const char *name)
{
    size_t end = strcspn(name, "/");
    while (end && name[end - 1] != '.')
        end--;
    return end;
}

bool fold_kin(const char *a, const char *b)
{
    size_t length = stem(a);
    return length && length == stem(b) && strncmp(a, b, length) == 0;
}

char *fold_text(const char *name, size_t n)
{
    return out_text("%.*s* (%zu)", (int)stem(name), name, n);
}

size_t fold_at(const char *const *names, size_t n, size_t i, bool all)
{
    size_t kin = 1;
    bool   first = true;
    for (size_t k = 0; k < n && !all; k++)
        if (k != i && fold_kin(names[k], names[i])) {
            kin++;
            first = first && k > i;
        }
    return kin < FOLD_LEAST ? 1 : first ? kin : 0;
}
