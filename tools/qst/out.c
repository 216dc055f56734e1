/* SPDX-License-Identifier: MIT
 *
 * out.c: printing for people (one line a failure) and for programs (JSON); tables stand in out_table.c. */
#include "out.h"

#include "verb.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *out_need(void *memory)
{
    if (!memory) {
        fputs("qst: out of memory\n", stderr);
        exit(EXIT_FAILED);
    }
    return memory;
}

void *out_resize(void *memory, size_t bytes)
{
    return out_need(realloc(memory, bytes ? bytes : 1));
}

char *out_text_of(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int   length = vsnprintf(NULL, 0, format, again);
    char *text = out_resize(NULL, length < 0 ? 1 : (size_t)length + 1);
    va_end(again);
    text[0] = '\0';
    vsnprintf(text, length < 0 ? 1 : (size_t)length + 1, format, args);
    return text;
}

char *out_text(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = out_text_of(format, args);
    va_end(args);
    return text;
}

/* ---- Text of others ------------------------------------------------------------------------------------------- */

/* Bytes of the character that begins here; 0: it is none, or one that a terminal obeys. */
static size_t printable(const unsigned char *at)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t      least;
    } forms[] = {{0x80, 0x00, 0x20}, {0xe0, 0xc0, 0xa0}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t more = 0; more < sizeof forms / sizeof *forms; more++) {
        if ((*at & forms[more].mask) != forms[more].lead)
            continue;
        uint32_t code = *at & (unsigned char)~forms[more].mask;
        for (size_t i = 1; i <= more; i++) {
            if ((at[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (at[i] & 0x3f);
        }
        return code < forms[more].least || code == 0x7f || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff
                   ? 0
                   : more + 1;
    }
    return 0;
}

char *out_escaped(const char *text, bool lines)
{
    char *escaped = out_resize(NULL, 4 * strlen(text) + 1), *to = escaped;
    while (*text) {
        size_t n = lines && (*text == '\n' || *text == '\t') ? 1 : printable((const unsigned char *)text);
        if (n)
            memcpy(to, text, n);
        else
            snprintf(to, 5, "\\x%02x", (unsigned char)*text);
        to += n ? n : 4;
        text += n ? n : 1;
    }
    *to = '\0';
    return escaped;
}

/* ---- JSON ----------------------------------------------------------------------------------------------------- */

void out_json(json_t *json)
{
    json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9) | JSON_ENCODE_ANY);
    putchar('\n');
    json_decref(json);
}

void out_gather(void *user, const char *text, size_t length)
{
    out_buffer *all = user;
    if (all->length + length >= all->room) {
        all->room = 2 * (all->length + length) + 64;
        all->text = out_resize(all->text, all->room);
    }
    memcpy(all->text + all->length, text, length);
    all->length += length;
    all->text[all->length] = '\0';
}

json_t *out_parse(const char *what, const out_buffer *buffer)
{
    json_error_t where;
    json_t      *json = json_loadb(buffer->text ? buffer->text : "", buffer->length, JSON_DECODE_ANY, &where);
    if (!json)
        out_fail("%s: what the library says is not JSON: line %d, column %d: %s", what, where.line, where.column,
                 where.text);
    return json;
}

json_t *out_describe(qst_context *context, const char *what)
{
    out_buffer all = {NULL, 0, 0};
    qst_error  err = {0};
    json_t    *json = NULL;
    qst_status status = qst_describe(context, what, out_gather, &all, &err);
    if (status < 0)
        out_error(what, status, &err);
    else
        json = out_parse(what, &all);
    free(all.text);
    return json;
}

void out_harmless(json_t *json)
{
    const char *key;
    json_t     *value;
    size_t      i;
    if (json_is_string(json)) {
        char *escaped = out_escaped(json_string_value(json), true);
        json_string_set(json, escaped);
        free(escaped);
    }
    json_object_foreach(json, key, value) out_harmless(value);
    json_array_foreach(json, i, value) out_harmless(value);
}

const char *out_member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

double out_number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

int out_truth(const json_t *object, const char *name)
{
    return json_is_true(json_object_get(object, name));
}

/* ---- Lines ---------------------------------------------------------------------------------------------------- */

out_quote out_shown(const char *text)
{
    enum { SHOWN = 60 }; /* bytes */
    out_quote quote;
    char     *escaped = out_escaped(text, false);
    size_t    length = strlen(escaped);
    bool      cut = length > SHOWN;
    for (length = cut ? SHOWN : length; cut && length && ((unsigned char)escaped[length] & 0xc0u) == 0x80u;)
        length--; /* whole characters */
    (void)snprintf(quote.text, sizeof quote.text, "%.*s%s", (int)length, escaped, cut ? "…" : *text ? "" : "''");
    free(escaped);
    return quote;
}

out_time out_ms(double ms)
{
    out_time time;
    if (ms >= 1000)
        snprintf(time.text, sizeof time.text, "%.3f s", ms / 1000);
    else
        snprintf(time.text, sizeof time.text, ms < 1 ? "%.4f ms" : "%.3f ms", ms);
    return time;
}

void out_line(const char *prefix, bool lines, const char *format, va_list args)
{
    char *text = out_text_of(format, args), *whole = out_text("%s%s", prefix, text),
         *escaped = out_escaped(whole, lines);
    out_progress(NULL);
    fprintf(stderr, "%s\n", escaped);
    free(escaped);
    free(whole);
    free(text);
}

int out_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    out_line("qst: ", true, format, args);
    va_end(args);
    return EXIT_FAILED;
}

int out_error(const char *what, qst_status status, const qst_error *err)
{
    int spoken = err && err->text[0];
    if (spoken && err->source[0] && strcmp(err->source, what) != 0)
        return out_fail("%s: %s: %s", what, err->source, err->text);
    return out_fail("%s: %s", what, spoken ? err->text : qst_status_text(status));
}

void out_progress(const char *format, ...)
{
    va_list args;
    if (!isatty(STDERR_FILENO))
        return;
    fputs("\r\033[K", stderr); /* to the line's start, wipe it */
    if (format) {
        va_start(args, format);
        char *text = out_text_of(format, args), *escaped = out_escaped(text, false);
        va_end(args);
        fputs(escaped, stderr);
        free(escaped);
        free(text);
    }
    fflush(stderr);
}
