/* SPDX-License-Identifier: MIT
 *
 * explain.h: a verdict for people.
 */
#ifndef QST_TOOL_EXPLAIN_H
#define QST_TOOL_EXPLAIN_H

#include <jansson.h>

/* Prints all that the verdict says to stdout. */
void explain_print(const json_t *verdict);

#endif
