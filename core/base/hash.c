/* SPDX-License-Identifier: MIT
 *
 * hash.c: a hash for tables in memory, CRC-32 and SHA-256 for what is stored. */
#include "base/hash.h"

#include <string.h>

/* ---- Tables in memory ---------------------------------------------------------------------------------------- */

/* Spreads every bit over all others: two rounds of shift, xor and multiplication by odd constants. */
static uint64_t avalanche(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 29;
    x *= 0xa0761d6478bd642fu;
    x ^= x >> 32;
    return x;
}

uint64_t qst__hash(const void *data, size_t bytes, uint64_t seed)
{
    const uint64_t       prime = 0x100000001b3u; /* FNV's, 64 bits */
    const unsigned char *at = data;
    const uint64_t       length = bytes;
    uint64_t             hash = 0xcbf29ce484222325u ^ seed;
    uint64_t             word;
    for (; bytes >= sizeof word; bytes -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * prime;
        hash ^= hash >> 31; /* FNV's product never carries downwards: bring the upper half back */
    }
    word = 0;
    if (bytes)
        memcpy(&word, at, bytes);
    /* The length joins late: at the start it could be undone by a first word. */
    return avalanche((hash ^ word) * prime + (length << 40));
}

/* ---- CRC-32 -------------------------------------------------------------------------------------------------- */

/* Remainders of the 16 half-bytes for the reflected polynomial 0xedb88320: most of what is stored is short, so that a table
 * that needs no cache wins over a fast one. */
static const uint32_t CRC_NIBBLE[16] = {
    0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u, 0x4db26158u, 0x5005713cu,
    0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu, 0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu,
};
#define CRC_LONG 2048u /* bytes from which the larger table, made anew, pays */

/* The part that is whole words of 8 bytes: the remainders of a word's 16 half-bytes, each followed by those behind it
 * in the word, do not wait for each other. */
static uint32_t crc32_words(uint32_t crc, const uint8_t *at, size_t words)
{
    uint32_t before[16][16]; /* of a half-byte before so many others */
    memcpy(before[0], CRC_NIBBLE, sizeof before[0]);
    for (size_t i = 1; i < 16; i++)
        for (size_t n = 0; n < 16; n++)
            before[i][n] = (before[i - 1][n] >> 4) ^ CRC_NIBBLE[before[i - 1][n] & 15u];
    for (; words > 0; words--, at += 8) {
        uint64_t word = crc;
#pragma GCC unroll 8
        for (size_t i = 0; i < 8; i++)
            word ^= (uint64_t)at[i] << (8 * i);
        crc = 0;
#pragma GCC unroll 16
        for (size_t i = 0; i < 16; i++)
            crc ^= before[15 - i][word >> (4 * i) & 15u];
    }
    return crc;
}

uint32_t qst__crc32(uint32_t crc, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    size_t         words = bytes >= CRC_LONG ? bytes / 8 : 0;
    crc = ~crc;
    if (words)
        crc = crc32_words(crc, at, words);
    for (size_t i = 8 * words; i < bytes; i++) {
        crc ^= at[i];
        crc = (crc >> 4) ^ CRC_NIBBLE[crc & 15u];
        crc = (crc >> 4) ^ CRC_NIBBLE[crc & 15u];
    }
    return ~crc;
}

/* ---- SHA-256 (FIPS 180-4) ------------------------------------------------------------------------------------ */

/* Section 4.2.2: first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t SHA_ROUND[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u,
};

/* Section 5.3.3: the same of the square roots of the first 8. */
static const uint32_t SHA_START[8] = {
    0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u,
};

static uint32_t rotate(uint32_t x, unsigned right)
{
    return (x >> right) | (x << (32 - right));
}

static uint32_t load_big(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | (uint32_t)at[3];
}

static void store_big(uint8_t *at, uint32_t x)
{
    at[0] = (uint8_t)(x >> 24);
    at[1] = (uint8_t)(x >> 16);
    at[2] = (uint8_t)(x >> 8);
    at[3] = (uint8_t)x;
}

/* Section 6.2.2; s[0..7] are the working variables a..h. */
static void sha_block(uint32_t state[8], const uint8_t block[64])
{
    uint32_t w[64], s[8];
    for (int t = 0; t < 16; t++)
        w[t] = load_big(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t low = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t high = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = high + w[t - 7] + low + w[t - 16];
    }
    memcpy(s, state, sizeof s);
    for (int t = 0; t < 64; t++) {
        uint32_t sum1 = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t sum0 = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t t1 = s[7] + sum1 + choice + SHA_ROUND[t] + w[t];
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + sum0 + majority;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

void qst__sha256_init(qst__sha256 *sha)
{
    memset(sha, 0, sizeof *sha);
    memcpy(sha->state, SHA_START, sizeof sha->state);
}

void qst__sha256_update(qst__sha256 *sha, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    while (bytes) {
        size_t held = (size_t)(sha->bytes % 64);
        size_t take = bytes < 64 - held ? bytes : 64 - held;
        memcpy(sha->block + held, at, take);
        sha->bytes += take;
        at += take;
        bytes -= take;
        if (held + take == 64)
            sha_block(sha->state, sha->block);
    }
}

void qst__sha256_finish(qst__sha256 *sha, uint8_t digest[32])
{
    static const uint8_t padding[64] = {0x80};
    uint8_t              length[8];
    uint64_t             bits = sha->bytes * 8;
    size_t               held = (size_t)(sha->bytes % 64);
    store_big(length, (uint32_t)(bits >> 32));
    store_big(length + 4, (uint32_t)bits);
    qst__sha256_update(sha, padding, (held < 56 ? 56 : 120) - held);
    qst__sha256_update(sha, length, sizeof length);
    for (int i = 0; i < 8; i++)
        store_big(digest + 4 * i, sha->state[i]);
}

void qst__hex(char *out, const uint8_t *data, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes; i++) {
        *out++ = digits[data[i] >> 4];
        *out++ = digits[data[i] & 15];
    }
    *out = '\0';
}
