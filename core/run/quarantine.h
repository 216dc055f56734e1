/* SPDX-License-Identifier: MIT
 *
 * quarantine.h: candidates that kill the process that tries them.
 *
 * Before the first contact of a candidate with a device a line "about to try" is put into the store, and removed of its
 * mark when it came back; while it stands its key is claimed, and a claim ends with its process. So a line that stands
 * without a claim tells of a death: one makes the candidate suspect (tried after all others), two put it into
 * quarantine (REFUSED with the reason). A candidate that came back is not looked at again.
 *
 * Key: SHA-256 of candidate name, digest of its plugin's file, target and driver, so that a new build or driver starts
 * anew. Value: cache/envelope.h, kind 'Q', key text the candidate's name; state u32 (0 came back, 1 about to be tried),
 * deaths u32. With a store that does not last nothing is written. `qst cache prune` forgets it.
 */
#ifndef QST_RUN_QUARANTINE_H
#define QST_RUN_QUARANTINE_H

#include "run/run.h"

#define QST__DEATHS_SUSPECT    1u
#define QST__DEATHS_QUARANTINE 2u

/* A line of the store, looked into by whoever lists it. */
typedef struct qst__quarantined {
    const char *candidate; /* not terminated, inside the value */
    size_t      candidate_length;
    uint32_t    state;  /* 1: about to be tried, when it was written */
    uint32_t    deaths; /* before that */
} qst__quarantined;

/* E_CORRUPT; E_STALE: of another schema. */
qst_status qst__quarantine_open(qst__quarantined *line, const void *value, uint64_t value_bytes);

/* How many processes died when they tried it here; 0 where nothing says so. Asked once a process and candidate. */
uint32_t qst__quarantine_deaths(qst__shelf *shelf, uint32_t candidate);

/* About to be tried. E_REFUSED: in quarantine. */
qst_status qst__quarantine_enter(qst__shelf *shelf, uint32_t candidate, qst_error *err);
/* It came back, whatever its answer. */
void qst__quarantine_leave(qst__shelf *shelf, uint32_t candidate);

#endif
