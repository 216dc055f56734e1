/* SPDX-License-Identifier: MIT
 *
 * binaries.h: program binaries of a site, kept in the context's store.
 *
 * Key: SHA-256 of the program's digest, device name, driver and pointer width. Value, little-endian: magic "QSTP",
 * schema, flags (1: the log of a failed build), length, CRC-32 of what follows; then the key once more, then the bytes.
 * Any damage is a miss. Switched off by programs.cache.
 */
#ifndef QST_RUN_BINARIES_H
#define QST_RUN_BINARIES_H

#include "run/run.h"

void qst__binaries_attach(qst__site *site);

/* After a tuning: the winner's programs are to be kept. They have run here with the sizes they will be used with. */
void qst__binaries_note(qst__site *site, const qst__way *winner);

/* Keeps what was noted. Only when nothing else of the context runs: taking a binary makes some drivers compile (PoCL 3.1:
 * one to three seconds a program), and PoCL 3.1 aborts the process when another thread ends or makes kernels
 * meanwhile. */
void qst__binaries_flush(qst__site *site);

#endif
