/* SPDX-License-Identifier: MIT
 *
 * file.h: whole files, and a folder for the time of a measurement.
 */
#ifndef QST_TOOL_FILE_H
#define QST_TOOL_FILE_H

#include <stddef.h>

/* The whole file, 256 MiB at most, terminated; the caller frees. NULL after one line. "-": standard input. */
char *file_read(const char *path, size_t *length);

/* Bytes of the byte order mark that a text begins with: 3 or 0. */
size_t file_mark(const char *text);

/* Written whole or not at all: beside it, then renamed. 0, or EXIT_FAILED after one line. */
int file_write(const char *path, const char *bytes, size_t length);

/* A new folder under $TMPDIR, else where the system has such; the caller frees the path. NULL after one line.
 * file_folder_remove takes all that is in it along. */
char *file_folder(void);
void  file_folder_remove(const char *path);

/* The lines of a file of the user's that hold more than blanks and a comment from # on, without these. `where` is
 * "VERB: PATH:NUMBER". 0, what `take` gave when it was not 0, or an exit code after one line. */
typedef int file_take(void *user, const char *text, const char *where);
int         file_lines(const char *verb, const char *path, file_take *take, void *user);

#endif
