/* SPDX-License-Identifier: MIT
 *
 * element.h: elements of the storage types on the host, as doubles.
 */
#ifndef QST_TOOL_ELEMENT_H
#define QST_TOOL_ELEMENT_H

#include <stdint.h>

/* Element i of an array of the type; stores round to nearest, ties to even. */
double element_load(uint32_t type, const void *array, int64_t i);
void   element_store(uint32_t type, void *array, int64_t i, double value);

/* The value that storing and loading gives. */
double element_round(uint32_t type, double value);

/* Half a unit in the last place of the type at `value`. */
double element_half_ulp(uint32_t type, double value);

#endif
