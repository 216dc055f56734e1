/* SPDX-License-Identifier: MIT
 *
 * store.h: what keeps answers: a dumb table of bytes. What the bytes mean is decided by one codec above it.
 *
 * Keys are at most QST_STORE_KEY_MAX bytes. A get that fails for any reason is a miss to its caller; a put that
 * fails costs speed later and nothing else.
 */
#ifndef QUERNSTONE_STORE_H
#define QUERNSTONE_STORE_H

#include <quernstone/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QST_STORE_KEY_MAX 500u

/* The tables of a store. */
enum {
    QST_DB_META,
    QST_DB_VERDICTS,
    QST_DB_THROUGHPUT,
    QST_DB_PROGRAMS,
    QST_DB_QUARANTINE,
    QST_DB_HISTORY,
    QST_DB_COUNT
};

/* Receives a value (and, when iterating, its key); memory is borrowed until it returns. Non-zero ends iteration. */
typedef int32_t (*qst_store_take)(void *user, const void *key, uint64_t key_bytes, const void *value,
                                  uint64_t value_bytes);

enum {
    QST_STORE_READONLY = 1u << 0, /* puts do not reach the place; they are kept in memory */
    QST_STORE_DEGRADED = 1u << 1  /* something failed: what `degraded` says */
};

/* Where a store stands. Grows: the caller sets `size`, no more is written. Texts live until the store is closed. */
typedef struct qst_store_stat {
    uint32_t    size;
    uint32_t    flags;      /* QST_STORE_READONLY, … */
    const char *place;      /* the folder; NULL: memory only */
    const char *degraded;   /* why it is worse than asked for, one line; NULL: it is not */
    uint64_t    file_bytes; /* the file's size; 0: memory only */
    uint64_t    map_bytes;  /* how large it may become without growing its map */
    uint64_t    entries[8]; /* by QST_DB_…, the first QST_DB_COUNT */
} qst_store_stat;

enum { QST_STORE_LASTS = 1u << 0 /* what is put survives the process */ };

/* An open store. Grows. All functions: [any thread].
 *   get       calls `take` once, or E_NOTFOUND
 *   put       replaces
 *   iterate   in ascending order of keys
 *   remove    E_NOTFOUND where the key is not there
 *   claim     non-blocking: E_BUSY while another holder, in this process or another, has the key; released by
 *             release or by the end of the process. A holder that is stopped, not dead, keeps it: who waits for a
 *             claim asks again for as long as it is worth to him
 *   sync      all earlier puts survive the death of the machine
 *   close     [one thread]
 *   stat      as said above */
typedef struct qst_store {
    uint32_t    size;
    uint32_t    flags;
    const char *name; /* "memory", "lmdb", … */
    void       *self;
    int32_t (*get)(void *self, uint32_t db, const void *key, uint64_t key_bytes, qst_store_take take, void *user);
    int32_t (*put)(void *self, uint32_t db, const void *key, uint64_t key_bytes, const void *value,
                   uint64_t value_bytes);
    int32_t (*iterate)(void *self, uint32_t db, qst_store_take take, void *user);
    int32_t (*remove)(void *self, uint32_t db, const void *key, uint64_t key_bytes);
    int32_t (*claim)(void *self, const void *key, uint64_t key_bytes, void **token);
    void (*release)(void *self, void *token);
    int32_t (*sync)(void *self);
    void (*close)(void *self);
    int32_t (*stat)(void *self, qst_store_stat *stat);
} qst_store;

#ifdef __cplusplus
}
#endif
#endif
