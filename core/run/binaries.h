/* SPDX-License-Identifier: MIT
 *
 * binaries.h: program binaries of a site, kept in the context's store.
 *
 * Key: SHA-256 of the program's digest, target, driver and pointer width. Value, little-endian words: magic "QSTP",
 * schema, CRC-32 of what follows, length of the bytes, flags (1: the log of a failed build; 2: while another program did
 * build, else it is tried again), time of last use in s since 1970 (renewed at most once a day); then the key once more,
 * then the bytes. Any damage is a miss. Switched off by programs.cache.
 */
#ifndef QST_RUN_BINARIES_H
#define QST_RUN_BINARIES_H

#include "run/run.h"

void qst__binaries_attach(qst__site *site);

/* A value, looked into: `bytes` point into it. E_CORRUPT: damaged, or not of this key; E_STALE: of another schema. */
typedef struct qst__binary {
    const uint8_t *bytes; /* binary, or log */
    size_t         length;
    bool           failed, proven;
    uint32_t       used_s;
} qst__binary;
qst_status qst__binary_open(qst__binary *binary, const void *key, uint64_t key_bytes, const void *value,
                            uint64_t value_bytes);

/* Keeps the programs of a key's winner, unless they came from there; on platforms that want a quiet moment for it, since
 * programs are complete there once they have run with the sizes they are used with (binaries.c lists them), notes them
 * for flush. */
void qst__binaries_note(qst__site *site, const qst__way *winner);

/* Keeps what was noted. Only when nothing else of the process uses OpenCL. */
void qst__binaries_flush(qst__site *site);

#endif
