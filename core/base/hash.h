/* hash.h: a fast hash for tables in memory and a checksum and a digest for what is stored. */
#ifndef QST_BASE_HASH_H
#define QST_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a style mixing over 8-byte words, finished with a 64-bit avalanche; not stable across releases. */
uint64_t qst__hash(const void *data, size_t bytes, uint64_t seed);

/* CRC-32 (IEEE 802.3, reflected, as in zlib); start with 0. */
uint32_t qst__crc32(uint32_t crc, const void *data, size_t bytes);

/* SHA-256 (FIPS 180-4): digests of candidate names, of programs and of plugins. */
typedef struct qst__sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t  block[64];
} qst__sha256;
void qst__sha256_init(qst__sha256 *sha);
void qst__sha256_update(qst__sha256 *sha, const void *data, size_t bytes);
void qst__sha256_finish(qst__sha256 *sha, uint8_t digest[32]);
/* Lower-case hex of `bytes` bytes and a terminator. */
void qst__hex(char *out, const uint8_t *data, size_t bytes);

#endif
