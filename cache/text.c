/* SPDX-License-Identifier: MIT
 *
 * text.c: hex and base64. */
#include "cache/text.h"

#include <string.h>

static const char HEX[] = "0123456789abcdef";
static const char BASE64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The value of a digit, or 255. */
static uint8_t digit(const char *digits, char c)
{
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (uint8_t)(at - digits) : 255;
}

void qst__hex_append(qst__str *out, const void *data, size_t bytes)
{
    const uint8_t *at = data;

    for (size_t i = 0; i < bytes; i++) {
        char two[2] = {HEX[at[i] >> 4], HEX[at[i] & 15]};
        qst__str_append_n(out, two, sizeof two);
    }
}

uint8_t *qst__hex_read(const qst__alloc *alloc, const char *text, size_t length, size_t *bytes, bool *no_memory)
{
    uint8_t *out;

    *no_memory = false;
    if (length % 2 != 0)
        return NULL;
    out = qst__zalloc(alloc, length / 2 + 1);
    *no_memory = !out;
    if (!out)
        return NULL;
    for (size_t i = 0; i < length / 2; i++) {
        uint8_t high = digit(HEX, text[2 * i]), low = digit(HEX, text[2 * i + 1]);
        if (high > 15 || low > 15) {
            qst__free(alloc, out);
            return NULL;
        }
        out[i] = (uint8_t)(high << 4 | low);
    }
    *bytes = length / 2;
    return out;
}

void qst__base64_append(qst__str *out, const void *data, size_t bytes)
{
    const uint8_t *at = data;

    for (size_t i = 0; i < bytes; i += 3) {
        size_t   left = bytes - i;
        uint32_t bits = (uint32_t)at[i] << 16 | (left > 1 ? (uint32_t)at[i + 1] << 8 : 0) | (left > 2 ? at[i + 2] : 0);
        char     four[4] = {BASE64[bits >> 18], BASE64[bits >> 12 & 63], left > 1 ? BASE64[bits >> 6 & 63] : '=',
                        left > 2 ? BASE64[bits & 63] : '='};
        qst__str_append_n(out, four, sizeof four);
    }
}

uint8_t *qst__base64_read(const qst__alloc *alloc, const char *text, size_t length, size_t *bytes, bool *no_memory)
{
    size_t   pads = 0, n = 0;
    uint8_t *out;
    bool     good = true;

    *no_memory = false;
    if (length % 4 != 0)
        return NULL;
    while (pads < 2 && pads < length && text[length - 1 - pads] == '=')
        pads++;
    out = qst__zalloc(alloc, length / 4 * 3 + 1);
    *no_memory = !out;
    if (!out)
        return NULL;
    for (size_t i = 0; i < length && good; i += 4) {
        uint32_t bits = 0;
        size_t   used = i + 4 == length ? 4 - pads : 4;

        for (size_t j = 0; j < 4 && good; j++) {
            uint8_t value = j < used ? digit(BASE64, text[i + j]) : 0;
            good = value < 64;
            bits = bits << 6 | (value & 63);
        }
        good = good && (used == 4 || (used == 3 && (bits & 0xff) == 0) || (used == 2 && (bits & 0xffff) == 0));
        for (size_t j = 0; j + 1 < used; j++)
            out[n++] = (uint8_t)(bits >> (16 - 8 * j));
    }
    if (!good) {
        qst__free(alloc, out);
        return NULL;
    }
    *bytes = n;
    return out;
}
