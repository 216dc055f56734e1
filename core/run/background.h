/* SPDX-License-Identifier: MIT
 *
 * background.h: the worker that tunes while calls run the safe candidate.
 */
#ifndef QST_RUN_BACKGROUND_H
#define QST_RUN_BACKGROUND_H

#include "run/run.h"

/* [any thread] Has the route's key tuned, once; the route must be in its table. */
void qst__background_tune(qst__route *route);

/* Nothing of the site is tuned or waits any more when it returns, and nothing will. */
void qst__background_leave(qst__site *site);
/* Waits until there is nothing to do. */
void qst__background_settle(qst_context *ctx);
/* Ends the worker. */
void qst__background_end(qst_context *ctx);

/* On the worker's thread, and where tune.ahead is on: has the program and those of the recipe's kernels that are of it
 * built ahead by a process of its own (cl/ahead.h), so that the driver compiles nothing in this one while calls go on.
 * operand_bytes: by operand. Adds to *ns what it took. E_REFUSED: it would kill this process. E_BUILD: that died, and
 * nothing builds now (qst__programs_unable). Elsewhere, and where there is no forerunner: nothing, QST_OK. */
qst_status qst__background_build(qst__site *site, const qst_program *desc, const qst__recipe *recipe, uint32_t program,
                                 const uint64_t *operand_bytes, const char *who, uint64_t *ns, qst_error *err);
/* On the worker's thread, after it gave the device's lease back. Where one of its runs took longer than a call may well
 * wait, and calls have come in since the last time, the device is left to them for a while, so that one call in many
 * waits and not each. */
void qst__background_rest(qst__site *site, uint64_t run_ns);
/* Is this the worker's thread? */
bool qst__background_here(const qst_context *ctx);

/* tuning.c: takes the key's claims, waiting for them or not, and tunes it in the calling thread. E_BUSY: another is at
 * it; QST_NOTHING: it is READY. */
qst_status qst__tune_route(qst__route *route, bool wait, uint32_t depth, qst_error *err);
/* Says in one line why the key is not tuned, as a warning unless that nothing builds has been said. */
void qst__tune_excuse(const qst__entry *entry, const qst_error *why);

#endif
