/* SPDX-License-Identifier: MIT
 *
 * history.h: what a context notes in the store's history (cache/history.h): each tuning and each program that was made.
 * docs/records.md has the rows. Nothing of it is done by calls that are hits, and no look-up reads it.
 */
#ifndef QST_RUN_HISTORY_H
#define QST_RUN_HISTORY_H

#include "run/run.h"

/* Begins the context's session; to be called once its store is open. E_NOMEM. */
qst_status qst__history_start(qst_context *ctx, qst_error *err);

void qst__history_stop(qst_context *ctx); /* before the store is closed */

/* From now on the site's programs are noted. */
void qst__history_attach(qst__site *site);

/* A tuning of the entry gave this verdict; wall_ns: from the miss to there. */
void qst__history_tuned(const qst__entry *entry, const qst__verdict *verdict, uint64_t wall_ns);

#endif
