/* SPDX-License-Identifier: MIT
 *
 * dl.h: opening shared objects, the only place that does. Nothing is ever closed: code of a plugin may be on another
 * thread's stack, and its threads and thread-local data may outlive what was asked of it.
 */
#ifndef QST_PLUG_DL_H
#define QST_PLUG_DL_H

#include "base/base.h"

/* Opens by absolute path, all symbols bound, none given to others. NULL: `why` has one line without the path. */
void *qst__dl_open(const char *path, char *why, size_t why_size);

/* A data symbol and the bytes that the shared object states for it (0: unknown). NULL where there is none. */
const void *qst__dl_symbol(void *handle, const char *name, size_t *bytes);

/* The file of this library, or of the program that it is linked into: absolute, links resolved, allocated. E_NOTFOUND
 * where it cannot be told, E_NOMEM. */
qst_status qst__dl_self(const qst__alloc *alloc, char **path);

#endif
