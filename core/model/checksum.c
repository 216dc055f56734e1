/* SPDX-License-Identifier: MIT
 *
 * checksum.c: the digest by which stored verdicts know their set again. */
#include "model/checksum.h"

#include <stdlib.h>
#include <string.h>

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void qst__checksum(const char **names, size_t n, uint8_t digest[32])
{
    qst__sha256 sha;
    qst__sha256_init(&sha);
    if (n > 1)
        qsort(names, n, sizeof *names, by_bytes);
    for (size_t i = 0; i < n; i++) {
        size_t  length = strlen(names[i]);
        uint8_t prefix[4];
        for (int byte = 0; byte < 4; byte++)
            prefix[byte] = (uint8_t)(length >> 8 * byte);
        qst__sha256_update(&sha, prefix, sizeof prefix);
        qst__sha256_update(&sha, names[i], length);
    }
    qst__sha256_finish(&sha, digest);
}
