/* SPDX-License-Identifier: MIT
 *
 * text.c: how a variable or a default says a value, lists by commas or colons, numbers and truth values as words; and
 * how a value of an open row is kept. Numbers are read and written by the JSON library, because strtod and printf
 * follow the locale. */
#include "conf/state.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Text to a number or a truth value where the row wants one; what is neither stays a text, which the row refuses. */
static qst__input read_scalar(const qst__key_row *row, const char *text)
{
    static const struct {
        const char *word;
        bool        truth;
    } truths[] = {{"true", true}, {"1", true}, {"on", true}, {"false", false}, {"0", false}, {"off", false}};

    qst__input input = {.kind = QST__INPUT_TEXT, .text = text};
    bool       number = row->type == QST__TYPE_INT || row->type == QST__TYPE_LONG || row->type == QST__TYPE_REAL;
    if (row->type == QST__TYPE_BOOL)
        for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
            if (strcmp(truths[i].word, text) == 0)
                input = (qst__input){.kind = QST__INPUT_BOOL, .truth = truths[i].truth};
    json_t *json = number ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    if (json_is_number(json))
        input = (qst__input){.kind = json_is_integer(json) ? QST__INPUT_INT : QST__INPUT_REAL,
                             .integer = json_integer_value(json),
                             .real = json_number_value(json)};
    json_decref(json);
    return input;
}

/* Splits a copy of the text in place; empty items are left out, since an empty directory would be the working one, but for
 * the first of a list that gathers, which takes back what was said before. */
static qst_status put_split(qst__conf *conf, uint32_t place, const qst__key_row *row, const char *text, char between,
                            qst_error *err)
{
    char        *copy = qst__strdup(&conf->alloc, text);
    const char **items = qst__zalloc_array(&conf->alloc, strlen(text) / 2 + 1, sizeof *items);
    qst__input   input = {.kind = QST__INPUT_LIST, .items = items};
    qst_status   status = QST_OK;
    if (!copy || !items) {
        status = qst__conf_nomem(err);
        goto out;
    }
    for (char *at = copy, *next = NULL; at; at = next) {
        next = strchr(at, between);
        if (next)
            *next++ = '\0';
        bool first = at == copy;
        at += strspn(at, " ");
        for (size_t length = strlen(at); length && at[length - 1] == ' '; length--)
            at[length - 1] = '\0';
        if (*at || (first && next && row->type == QST__TYPE_GATHER))
            items[input.n_items++] = at;
    }
    status = qst__conf_put(conf, place, row, row->path, &input, err);
out:
    qst__free(&conf->alloc, copy);
    qst__free(&conf->alloc, items);
    return status;
}

qst_status qst__conf_put_text(qst__conf *conf, uint32_t place, const qst__key_row *row, const char *text,
                              qst_error *err)
{
    if (row->type == QST__TYPE_LIST || row->type == QST__TYPE_GATHER || row->type == QST__TYPE_PATHS)
        return put_split(conf, place, row, text, row->type == QST__TYPE_PATHS ? ':' : ',', err);
    qst__input input = read_scalar(row, text);
    return qst__conf_put(conf, place, row, row->path, &input, err);
}

/* ---- Open rows -------------------------------------------------------------------------------------------------- */

/* A real number with the fewest digits that read back equal, whatever the locale's decimal point. NULL where there is
 * no memory. */
static char *real_as_text(const qst__alloc *alloc, double real)
{
    char text[40] = "";
    for (size_t digits = 15; digits <= 17; digits++) {
        json_t *json = json_real(real);
        size_t  length = json_dumpb(json, text, sizeof text - 1, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
        json_decref(json);
        if (!json || length == 0 || length >= sizeof text)
            return NULL;
        text[length] = '\0';
        json = json_loads(text, JSON_DECODE_ANY, NULL);
        bool equal = json && json_number_value(json) == real;
        json_decref(json);
        if (equal)
            break;
    }
    return qst__strdup(alloc, text);
}

char *qst__conf_as_text(const qst__alloc *alloc, const qst__input *input)
{
    char number[24];
    if (input->kind == QST__INPUT_TEXT)
        return qst__strdup(alloc, input->text);
    if (input->kind == QST__INPUT_BOOL)
        return qst__strdup(alloc, input->truth ? "true" : "false");
    if (input->kind == QST__INPUT_REAL)
        return real_as_text(alloc, input->real);
    (void)snprintf(number, sizeof number, "%lld", (long long)input->integer);
    return qst__strdup(alloc, number);
}
