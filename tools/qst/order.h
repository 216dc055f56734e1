/* SPDX-License-Identifier: MIT
 *
 * order.h: in which order the findings of a verdict stand for a reader.
 */
#ifndef QST_TOOL_ORDER_H
#define QST_TOOL_ORDER_H

#include <jansson.h>
#include <stddef.h>

/* All findings, borrowed: the winner; who was timed to the end, by median; who was eliminated, the last to go first; who was
 * found right and not timed; whom the search dropped or refused, by outcome; whom it did not come to. The caller frees the
 * array. */
const json_t **order_findings(const json_t *verdict, size_t *n);

#endif
