/* SPDX-License-Identifier: MIT
 *
 * fold.h: long lists of candidates, shortened: from FOLD_LEAST of a family on, which is all that a plugin brings for an
 * operation, they stand as `matmul.gemv.* (19)`.
 */
#ifndef QST_TOOL_FOLD_H
#define QST_TOOL_FOLD_H

#include <stdbool.h>
#include <stddef.h>

#define FOLD_LEAST 4u

/* Are both of one family? */
bool fold_kin(const char *a, const char *b);

/* "matmul.gemv.* (19)" for a name of it; to be freed. */
char *fold_text(const char *name, size_t n);

/* How the i-th of n names is to be listed: 1: by itself; more: as that many of its family, the first of which it is; 0: it
 * is among those. `all`: each by itself. */
size_t fold_at(const char *const *names, size_t n, size_t i, bool all);

#endif
