/* SPDX-License-Identifier: MIT
 *
 * number.h: numbers of fields from text and to text, the same in every locale. The whole text must be the number;
 * no blanks, no hexadecimal.
 */
#ifndef QST_MODEL_NUMBER_H
#define QST_MODEL_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define QST__NUMBER_CHARS 64u /* the longest text of a number, with its terminator */

/* NULL: read. Else what is wrong with it, static. */
const char *qst__number_i64(const char *text, int64_t *out);
const char *qst__number_u32(const char *text, uint32_t *out);
const char *qst__number_f64(const char *text, double *out);

/* The shortest of 15, 16, 17 digits that reads back equal. */
void qst__number_print_f64(double value, char text[QST__NUMBER_CHARS]);

#endif
