/* SPDX-License-Identifier: MIT
 *
 * binaries.h: program binaries of a site, kept in the context's store.
 *
 * Key: SHA-256 of the program's digest, target, driver and pointer width. Value, little-endian words: magic "QSTP",
 * schema, CRC-32 of what follows, length of the bytes, flags (1: the log of a failed build), time of last use in s since
 * 1970 (renewed at most once a day); then the key once more, then the bytes. Any damage is a miss. Switched off by
 * programs.cache.
 */
#ifndef QST_RUN_BINARIES_H
#define QST_RUN_BINARIES_H

#include "run/run.h"

void qst__binaries_attach(qst__site *site);

/* A value, looked into: `bytes` point into it. E_CORRUPT: damaged, or not of this key; E_STALE: of another schema. */
typedef struct qst__binary {
    const uint8_t *bytes; /* binary, or log */
    size_t         length;
    bool           failed;
    uint32_t       used_s;
} qst__binary;
qst_status qst__binary_open(qst__binary *binary, const void *key, uint64_t key_bytes, const void *value,
                            uint64_t value_bytes);

/* After a tuning: the winner's programs are to be kept. They have run here with the sizes they will be used with. */
void qst__binaries_note(qst__site *site, const qst__way *winner);

/* Keeps what was noted, and holds to programs.max_mb. Only when nothing else of the context runs: taking a binary makes some drivers compile (PoCL 3.1:
 * one to three seconds a program), and PoCL 3.1 aborts the process when another thread ends or makes kernels
 * meanwhile. */
void qst__binaries_flush(qst__site *site);

#endif
