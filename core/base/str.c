/* SPDX-License-Identifier: MIT
 *
 * str.c: growing text, names and globs. */
#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* Stands for the text of every string that holds nothing; never written to, because its capacity is 0. */
static char EMPTY[1] = "";

void qst__str_init(qst__str *str, const qst__alloc *alloc)
{
    *str = (qst__str){.alloc = alloc, .text = EMPTY};
}

void qst__str_finish(qst__str *str)
{
    if (str->capacity)
        qst__free(str->alloc, str->text);
    qst__str_init(str, str->alloc);
}

void qst__str_clear(qst__str *str)
{
    str->length = 0;
    str->failed = false;
    if (str->capacity)
        str->text[0] = '\0';
}

/* Room for `more` characters and the terminator. */
static bool reserve(qst__str *str, size_t more)
{
    if (str->failed)
        return false;
    if (more < str->capacity - str->length && str->capacity)
        return true;
    if (more >= SIZE_MAX / 2 - str->length) {
        str->failed = true;
        return false;
    }
    size_t need = str->length + more + 1;
    size_t capacity = str->capacity ? str->capacity : 64;
    while (capacity < need)
        capacity *= 2;
    char *text = qst__resize(str->alloc, str->capacity ? str->text : NULL, capacity);
    if (!text) {
        str->failed = true;
        return false;
    }
    str->text = text;
    str->capacity = capacity;
    str->text[str->length] = '\0';
    return true;
}

void qst__str_append_n(qst__str *str, const char *text, size_t length)
{
    if (length == 0 || !reserve(str, length))
        return;
    memcpy(str->text + str->length, text, length);
    str->length += length;
    str->text[str->length] = '\0';
}

void qst__str_append(qst__str *str, const char *text)
{
    qst__str_append_n(str, text, strlen(text));
}

void qst__str_printf(qst__str *str, const char *format, ...)
{
    char    small[256];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(small, sizeof small, format, args);
    if (length < 0) {
        str->failed = true;
    } else if ((size_t)length < sizeof small) {
        qst__str_append_n(str, small, (size_t)length);
    } else if (reserve(str, (size_t)length)) {
        (void)vsnprintf(str->text + str->length, (size_t)length + 1, format, again);
        str->length += (size_t)length;
    }
    va_end(again);
    va_end(args);
}

char *qst__str_take(qst__str *str)
{
    /* An empty string has no memory of its own yet, but the caller is owed some to free. */
    if (!reserve(str, 0)) {
        qst__str_finish(str);
        return NULL;
    }
    char *text = str->text;
    qst__str_init(str, str->alloc);
    return text;
}

bool qst__is_name(const char *text, const char *also)
{
    if (!text || !*text)
        return false;
    for (; *text; text++) {
        bool plain = (*text >= 'a' && *text <= 'z') || (*text >= '0' && *text <= '9') || *text == '_';
        if (!plain && !(also && strchr(also, *text)))
            return false;
    }
    return true;
}

/* Only the last star has to be remembered: a match that needs an earlier one to take more exists only if one with
 * the last star taking more exists too. */
bool qst__glob(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
