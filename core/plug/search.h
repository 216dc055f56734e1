/* SPDX-License-Identifier: MIT
 *
 * search.h: which files of a directory may be opened as code. Directory and file must be owned by root or the user
 * and be writable by their owner alone: who may write them may run what he likes as this user.
 */
#ifndef QST_PLUG_SEARCH_H
#define QST_PLUG_SEARCH_H

#include "base/base.h"

typedef struct qst__files { /* paths, owned */
    QST__VEC(char *) list;
} qst__files;

/* May code be taken from here? Links are followed; where one leads to another directory, that one is looked at too.
 * QST_OK: *path is the real path, allocated; E_NOTFOUND: it is missing; E_REFUSED: `why` has one line; E_NOMEM. */
qst_status qst__search_directory(const qst__alloc *alloc, const char *directory, char **path, char *why,
                                 size_t why_size);
qst_status qst__search_file(const qst__alloc *alloc, const char *directory, const char *file, char **path, char *why,
                            size_t why_size);

/* The names that end in .so, in the order of their bytes. E_REFUSED: it cannot be read; E_NOMEM. */
qst_status qst__search_list(const qst__alloc *alloc, const char *directory, qst__files *files, char *why,
                            size_t why_size);
void       qst__search_finish(const qst__alloc *alloc, qst__files *files);

#endif
