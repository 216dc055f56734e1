/* SPDX-License-Identifier: MIT
 *
 * options.c: build options in one spelling, because drivers' own caches and ours look programs up by their text. */
#include "cl/program.h"

#include <stdlib.h>
#include <string.h>

typedef struct word {
    const char *text;
    size_t      length;
    size_t      key; /* what words are sorted by: the first `key` characters */
    size_t      place;
} word;
typedef QST__VEC(word) words;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t word_end(const char *text, size_t at)
{
    bool quoted = false;
    for (; text[at] && (quoted || !is_blank(text[at])); at++)
        if (text[at] == '"')
            quoted = !quoted;
    return at;
}

static size_t skip_blanks(const char *text, size_t at)
{
    while (is_blank(text[at]))
        at++;
    return at;
}

/* Up to the '=', so that two definitions of one macro stay in order; all -I are one key. */
static size_t key_of(const char *text, size_t length)
{
    if (length >= 2 && text[0] == '-' && text[1] == 'I')
        return 2;
    const char *sign = memchr(text, '=', length);
    return sign ? (size_t)(sign - text) : length;
}

static bool split(const qst__alloc *alloc, const char *text, words *list)
{
    for (size_t at = skip_blanks(text, 0); text[at]; at = skip_blanks(text, at)) {
        size_t end = word_end(text, at);
        /* A lone -D, -U or -I takes the next word with it. */
        if (end == at + 2 && text[at] == '-' && strchr("DUI", text[at + 1]) && text[skip_blanks(text, end)])
            end = word_end(text, skip_blanks(text, end));
        word one = {.text = text + at, .length = end - at, .place = list->count};
        one.key = key_of(one.text, one.length);
        if (!qst__vec_push(alloc, list, one))
            return false;
        at = end;
    }
    return true;
}

static int by_key(const void *left, const void *right)
{
    const word *a = left, *b = right;
    int         order = memcmp(a->text, b->text, a->key < b->key ? a->key : b->key);
    if (order == 0)
        order = (a->key > b->key) - (a->key < b->key);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

char *qst__program_options(const qst__alloc *alloc, const char *options)
{
    words    list = {0};
    qst__str text;
    char    *result = NULL;
    qst__str_init(&text, alloc);
    if (!split(alloc, options ? options : "-cl-std=CL1.2", &list))
        goto out;
    if (list.count)
        qsort(list.data, list.count, sizeof *list.data, by_key);
    for (size_t i = 0; i < list.count; i++) {
        if (i)
            qst__str_append(&text, " ");
        qst__str_append_n(&text, list.data[i].text, list.data[i].length);
    }
    result = qst__str_take(&text);
out:
    qst__str_finish(&text);
    qst__vec_finish(alloc, &list);
    return result;
}
