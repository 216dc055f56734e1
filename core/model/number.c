/* SPDX-License-Identifier: MIT
 *
 * number.c: reading and printing numbers without the locale having a say. */
#include "model/number.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *digits_end(const char *text)
{
    while (*text >= '0' && *text <= '9')
        text++;
    return text;
}

const char *qst__number_i64(const char *text, int64_t *out)
{
    const char *digits = text + (*text == '-' || *text == '+');
    const char *end = digits_end(digits);
    if (end == digits || *end)
        return "not a whole number";
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno == ERANGE)
        return "out of the range of 64 bits";
    *out = value;
    return NULL;
}

const char *qst__number_u32(const char *text, uint32_t *out)
{
    const char *end = digits_end(text);
    if (end == text || *end)
        return "not a whole number from 0";
    errno = 0;
    unsigned long long value = strtoull(text, NULL, 10);
    if (errno == ERANGE || value > UINT32_MAX)
        return "out of the range of 32 bits";
    *out = (uint32_t)value;
    return NULL;
}

/* The C library reads and prints doubles with the locale's decimal point. Printing one is the way to learn it that
 * is safe in any thread. */
static size_t decimal_point(char point[QST__NUMBER_CHARS])
{
    char text[QST__NUMBER_CHARS];
    int  length = snprintf(text, sizeof text, "%.1f", 0.5);
    if (length < 3)
        length = snprintf(text, sizeof text, "0.5");
    size_t bytes = (size_t)length - 2;
    memcpy(point, text + 1, bytes);
    return bytes;
}

/* Replaces the first `from` by `to`; what would not fit stays. */
static void exchange(char text[QST__NUMBER_CHARS], const char *from, size_t from_bytes, const char *to, size_t to_bytes)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + from_bytes <= length; i++) {
        if (memcmp(text + i, from, from_bytes) != 0)
            continue;
        if (length - from_bytes + to_bytes < QST__NUMBER_CHARS) {
            memmove(text + i + to_bytes, text + i + from_bytes, length - i - from_bytes + 1);
            memcpy(text + i, to, to_bytes);
        }
        return;
    }
}

/* [sign] digits [. digits] [e [sign] digits], with a digit before or after the dot; or [sign] inf or nan. */
static bool is_double(const char *text)
{
    text += *text == '-' || *text == '+';
    if (strcmp(text, "inf") == 0 || strcmp(text, "nan") == 0)
        return true;
    const char *end = digits_end(text);
    ptrdiff_t   digits = end - text;
    if (*end == '.') {
        const char *fraction = end + 1;
        end = digits_end(fraction);
        digits += end - fraction;
    }
    if (digits == 0)
        return false;
    if (*end == 'e' || *end == 'E') {
        const char *power = end + 1;
        power += *power == '-' || *power == '+';
        end = digits_end(power);
        if (end == power)
            return false;
    }
    return *end == '\0';
}

const char *qst__number_f64(const char *text, double *out)
{
    char   local[QST__NUMBER_CHARS], point[QST__NUMBER_CHARS];
    size_t bytes = decimal_point(point);
    if (!is_double(text) || strlen(text) >= sizeof local)
        return "not a number";
    memcpy(local, text, strlen(text) + 1);
    exchange(local, ".", 1, point, bytes);
    double value = strtod(local, NULL);
    if (value - value != 0.0 && strpbrk(text, "0123456789"))
        return "out of the range of a double";
    *out = value;
    return NULL;
}

void qst__number_print_f64(double value, char text[QST__NUMBER_CHARS])
{
    char   point[QST__NUMBER_CHARS];
    size_t bytes = decimal_point(point);
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, QST__NUMBER_CHARS, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    exchange(text, point, bytes, ".", 1);
}
