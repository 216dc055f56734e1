/* SPDX-License-Identifier: MIT
 *
 * checksum.h: SHA-256 over the candidates' full names, sorted by bytes, each preceded by its length as u32
 * little-endian: neither the order of loading nor where one name ends can matter.
 */
#ifndef QST_MODEL_CHECKSUM_H
#define QST_MODEL_CHECKSUM_H

#include "base/base.h"

/* names: n strings, in any order; their array is sorted in place. */
void qst__checksum(const char **names, size_t n, uint8_t digest[32]);

#endif
