/* SPDX-License-Identifier: MIT
 *
 * slips.h: settings that are well formed and obeyed by nobody, because what they name is not there: one warning each,
 * with their path, as soon as it can be known.
 */
#ifndef QST_RUN_SLIPS_H
#define QST_RUN_SLIPS_H

#include "run/run.h"

/* When it is known what is logged: variables that begin as ours do and are read by nobody. */
void qst__slips_variables(qst_context *ctx);
/* When the plugins have been loaded: plugins.load, plugin.<name>.<key>. */
void qst__slips_plugins(qst_context *ctx);
/* When a set takes no more, under its lock: groups.<op>.<group>, pins and denials of its candidates. */
void qst__slips_set(const qst_set *set);
/* After the first set has come into use, once a context: what speaks of operations that nobody has made so far. */
void qst__slips_rest(qst_context *ctx);

#endif
