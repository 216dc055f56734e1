/* SPDX-License-Identifier: MIT
 *
 * text.h: bytes as text and back, strictly: hex in lower case, base64 of RFC 4648 with padding. */
#ifndef QST_CACHE_TEXT_H
#define QST_CACHE_TEXT_H

#include "base/base.h"

void qst__hex_append(qst__str *out, const void *data, size_t bytes);
void qst__base64_append(qst__str *out, const void *data, size_t bytes);

/* Memory of the caller, at least one byte even for none; NULL where the text is not such text, *no_memory where there
 * was none. Text of one value has one form: upper-case hex, blanks, and set bits behind the end are refused. */
uint8_t *qst__hex_read(const qst__alloc *alloc, const char *text, size_t length, size_t *bytes, bool *no_memory);
uint8_t *qst__base64_read(const qst__alloc *alloc, const char *text, size_t length, size_t *bytes, bool *no_memory);

#endif
