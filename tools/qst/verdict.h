/* SPDX-License-Identifier: MIT
 *
 * verdict.h: what the library found about a key, from qst_describe("verdicts").
 */
#ifndef QST_TOOL_VERDICT_H
#define QST_TOOL_VERDICT_H

#include "problem.h"

#include <jansson.h>

/* The verdict about the key in *verdict, a new reference, NULL where there is none. False after one line on stderr. */
bool verdict_find(json_t **verdict, qst_context *context, const problem_key *key);

/* Does a full name match a glob of --pin? As the library has it: * stands for any run of characters. */
bool verdict_matches(const char *glob, const char *name);

/* Does the configuration, from qst_describe("config"), let a candidate of that name run? */
bool verdict_allows(const json_t *config, const char *name);

/* Does the configuration let none run but `runs`, which it denies or does not pin itself? What leaves out how many of the
 * operation's candidates, to be freed; NULL: it lets `runs` run. *all, where not NULL: it leaves out every one. */
char *verdict_barred(qst_context *context, const char *op, const char *runs, bool *all);

/* The one-line account of a finding: outcome, time, reason; the caller frees. */
char *verdict_account(const json_t *finding);

/* Did the finding end in a time, or at least in right results? */
bool verdict_right(const json_t *finding);

#endif
