/* SPDX-License-Identifier: MIT
 *
 * decisions.h: the account of each tuning as one JSON object, docs/records.md field by field: on one line to where
 * decisions.{stdout,stderr,file} say, and all of a context's by qst_describe.
 */
#ifndef QST_RUN_DECISIONS_H
#define QST_RUN_DECISIONS_H

#include "conf/json.h"
#include "run/run.h"

/* decision-json.c: of a verdict of this entry. at_ms: when it was decided, ms since 1970. What fails for want of memory
 * shows when the value is written (json.h). */
qst__json *qst__decision_json(const qst__entry *entry, const qst__verdict *verdict, int64_t at_ms);

/* decision-key.c: its member "key". */
qst__json *qst__decision_key(const qst__entry *entry);

/* The candidates that were contacted, in that order: the next one after `last` (verdict->n: the first), verdict->n:
 * there is none. */
uint32_t qst__decision_next(const qst__verdict *verdict, uint32_t last);

void qst__decisions_init(qst__decisions *decisions);
void qst__decisions_finish(qst__decisions *decisions);

/* A tuning of the entry gave this verdict, which is published: its line is written. To be called when neither the
 * device's lease nor the key's claims are held: whoever reads the lines may be slow. A place that cannot be written to
 * costs one warning, and gets no more lines. Nothing is written of a tuning in which nothing gave a right result. */
void qst__decision_note(qst__entry *entry, const qst__verdict *verdict);

/* The last decision of each key tuned in this context, the oldest first. */
qst_status qst__tell_decisions(qst_context *ctx, qst__json **out, qst_error *err);

#endif
