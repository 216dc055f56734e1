/* SPDX-License-Identifier: MIT
 *
 * quarantine.h: candidates that kill the process that tries them.
 *
 * While a candidate makes first contact for a key, a line of the store (journal.h) says so, and its key is claimed. A
 * claim ends with its process, so that a line that stands without a claim tells of a death. One makes the candidate
 * suspect: tried after all others, and first in a process of its own where that can be (isolate.h). Two, or one in such a
 * process, put it into quarantine: REFUSED with the reason. Who comes back from the problem at which a process died has made
 * that death good. With a store that does not last nothing is written, and the fallback is never watched.
 */
#ifndef QST_RUN_QUARANTINE_H
#define QST_RUN_QUARANTINE_H

#include "run/journal.h"

/* May it kill the process? Asked once a process and candidate; what comes of its isolation is learnt, too. */
bool qst__quarantine_suspects(qst__shelf *shelf, uint32_t candidate);
/* Is it not to be tried? */
bool qst__quarantine_bars(qst__shelf *shelf, uint32_t candidate);

/* Appends the problem at which a suspect's process died, where it is known, and once a process. */
void qst__quarantine_place(qst__shelf *shelf, uint32_t candidate, qst__str *problem);
/* What came of trying it elsewhere: why it is to be barred, or NULL: it came back from that problem. */
void qst__quarantine_learn(qst__shelf *shelf, uint32_t candidate, const char *problem, const char *why);
/* A process of ours died of it for that problem while it is about to be tried here: nobody is to try it. */
void qst__quarantine_bar(qst__shelf *shelf, uint32_t candidate, const void *problem, const char *why);

/* It is about to be built and run for a problem, as the caller gave it. E_REFUSED: in quarantine. */
qst_status qst__quarantine_enter(qst__shelf *shelf, uint32_t candidate, const void *problem, qst_error *err);
/* It came back, whatever its answer, from the problem that it entered with. */
void qst__quarantine_leave(qst__shelf *shelf, uint32_t candidate, const void *problem);

#endif
