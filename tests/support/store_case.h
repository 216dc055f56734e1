/* SPDX-License-Identifier: MIT
 *
 * store_case.h: folders for stores, a log that counts warnings, and short ways to put and get. */
#ifndef QST_TEST_STORE_CASE_H
#define QST_TEST_STORE_CASE_H

#include "base/base.h"

#include <quernstone/store.h>

/* A new folder of its own, mode 0700, outside of the source and build trees; folder_remove takes it, with all within it. */
char *folder_make(void);
void  folder_remove(char *folder);
char *path_in(char out[512], const char *folder, const char *name);

/* The whole of a file, malloc'ed; NULL: none. */
unsigned char *file_read(const char *path, size_t *bytes);
void           file_write(const char *path, const void *data, size_t bytes);

/* Keeps the last line and counts. */
typedef struct counted_log {
    qst__log log;
    uint32_t lines;
    char     last[1024];
} counted_log;
void counted_log_init(counted_log *log);

/* A store in a file of the folder, and one as a context opens it: the folder must hold the environment "e" already, or be
 * writable. The log is made anew; the test fails where there is none. */
void store_in_file(qst_store *store, const char *folder, uint64_t bytes, const qst__alloc *alloc, counted_log *log);
void store_guarded(qst_store *store, const char *folder, bool readonly, const qst__alloc *alloc, counted_log *log);

qst_status store_put(qst_store *store, uint32_t db, const char *key, const char *value);
/* The value as text, in a buffer that the next call reuses; "" where there is none. */
const char *store_got(qst_store *store, uint32_t db, const char *key);
/* Claims a key as soon as nobody else has it. */
qst_status store_claim(qst_store *store, const char *key, void **token);
/* How many entries iteration shows; −1: out of order. */
int64_t store_count(qst_store *store, uint32_t db);

/* Runs this very program with arguments (NULL ends them) in a new process: its pid; *from: what it prints. */
int program_start(int *from, ...);
/* Its exit status, or −signal. */
int program_end(int pid);

#endif
