/* SPDX-License-Identifier: MIT
 *
 * explain.h: a verdict for people.
 */
#ifndef QST_TOOL_EXPLAIN_H
#define QST_TOOL_EXPLAIN_H

#include <jansson.h>
#include <stdbool.h>

/* Prints what the verdict says to stdout. all: each candidate by itself, not as a family (fold.h). wide: lines of any
 * length, also on a terminal. */
void explain_print(const json_t *verdict, bool all, bool wide);

#endif
