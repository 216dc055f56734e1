/* SPDX-License-Identifier: MIT
 *
 * isolate.h: first contact in a process of its own, as tune.isolate says: of no candidate, of suspects (quarantine.h) at
 * the problem at which a process died, or of every one at the problem at hand.
 *
 * The process is qst-try, beside the library's plugins. It loads what this context loads and tries the one candidate;
 * how it ends is told here: what dies by a signal of its own making, ends the process or takes longer than
 * tune.isolate_ms goes into quarantine with that reason; what comes back has made its last death good, and goes on
 * here. Where the process cannot be started, or was ended from outside, nothing is learnt. Candidates of the program's
 * own are in no plugin: they cannot be tried elsewhere.
 */
#ifndef QST_RUN_ISOLATE_H
#define QST_RUN_ISOLATE_H

#include "run/run.h"

/* Before the candidate is prepared for a problem, as the caller gave it; may take tune.isolate_ms. E_REFUSED: it must not
 * be, for with tune.isolate `all` it has to be tried elsewhere, and cannot. */
qst_status qst__isolate(qst__shelf *shelf, uint32_t candidate, const void *problem, qst_error *err);

#endif
