/* SPDX-License-Identifier: MIT
 *
 * folder.h: a store's folder in the file system: making it, and whether it may be trusted with a store.
 *
 * Binaries of programs are code, so a folder is used only where it, and the data in it, belong to the user (or to
 * root) and are not writable by everybody. LMDB needs memory maps and locks that all processes share, so file systems
 * over a network, and those in user space, whose nature cannot be told, are not used.
 */
#ifndef QST_CACHE_FOLDER_H
#define QST_CACHE_FOLDER_H

#include "cache/place.h"

/* Makes the folder and those above it, mode 0700, none of them directly in "/" nor within must_exist. E_IO with the
 * first folder that cannot be made; QST_OK where all is there, writable or not. */
qst_status qst__folder_make(const qst__place *place, qst_error *err);

/* E_NOTFOUND: no folder; E_REFUSED: another's, everybody's, or on a network; E_IO: cannot be looked at. */
qst_status qst__folder_trust(const char *path, qst_error *err);

/* The same for a file in it, by descriptor: a plain file, of the user or root, not writable by everybody. */
qst_status qst__folder_trust_file(int fd, const char *path, qst_error *err);

/* The name of a type of file system (statfs) that is not used, or NULL. */
const char *qst__folder_network(uint64_t type);

/* The nearest folder from `from` upwards that has a quernstone.json; false: none, or the path is too long. */
bool qst__folder_project(char *out, size_t bytes, const char *from);

#endif
