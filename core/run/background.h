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

/* tuning.c: takes the key's claims, waiting for them or not, and tunes it in the calling thread. E_BUSY: another is at it; QST_NOTHING: it is
 * READY. */
qst_status qst__tune_route(qst__route *route, bool wait, uint32_t depth, qst_error *err);

#endif
