/* SPDX-License-Identifier: MIT
 *
 * json.c: the JSON writer over jansson. A node keeps a jansson value and, in a list, the nodes put into it, so that
 * these can go on being filled for as long as the container lives; a failed step marks its node. */
#include "conf/json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

struct qst__json {
    json_t           *value;
    bool              failed;
    struct qst__json *child, *next;
};

/* Every decimal of so many digits survives the way to binary and back; 17 would print 0.1 as 0.10000000000000001. */
#define DIGITS 15

/* jansson has one allocator for the process, which is not ours to set; the nodes come from where its values do. */
static qst__json *node(json_t *value)
{
    qst__alloc alloc = qst__alloc_default();
    qst__json *json = value ? qst__zalloc(&alloc, sizeof *json) : NULL;
    if (!json)
        json_decref(value);
    else
        json->value = value;
    return json;
}

qst__json *qst__json_object(void)
{
    return node(json_object());
}

qst__json *qst__json_array(void)
{
    return node(json_array());
}

void qst__json_destroy(qst__json *json)
{
    qst__alloc alloc = qst__alloc_default();
    if (!json)
        return;
    for (qst__json *child = json->child, *next; child; child = next) {
        next = child->next;
        qst__json_destroy(child);
    }
    json_decref(json->value);
    qst__free(&alloc, json);
}

/* ---- Text ------------------------------------------------------------------------------------------------------- */

/* Bytes of the UTF-8 character at `text`, 0 where there is none: cut short, longer than needed, a surrogate, or
 * beyond U+10FFFF. */
static size_t character(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t      least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t more = 0; more < sizeof forms / sizeof *forms; more++) {
        if ((*text & forms[more].mask) != forms[more].lead)
            continue;
        uint32_t code = *text & (unsigned char)~forms[more].mask;
        for (size_t i = 1; i <= more; i++) {
            if ((text[i] & 0xc0u) != 0x80u)
                return 0;
            code = code << 6 | (text[i] & 0x3fu);
        }
        bool bad = code < forms[more].least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
        return bad ? 0 : more + 1;
    }
    return 0;
}

/* A copy with ? in the place of each byte that belongs to no character. NULL where there is no memory. */
static char *mend(const qst__alloc *alloc, const char *text)
{
    char *copy = qst__strdup(alloc, text);
    for (char *at = copy; at && *at;) {
        size_t length = character((const unsigned char *)at);
        if (length == 0)
            *at = '?';
        at += length ? length : 1;
    }
    return copy;
}

static json_t *text_value(const char *text)
{
    qst__alloc alloc = qst__alloc_default();
    if (!text)
        return json_null();
    char   *copy = mend(&alloc, text);
    json_t *value = copy ? json_string(copy) : NULL;
    qst__free(&alloc, copy);
    return value;
}

/* ---- Filling ---------------------------------------------------------------------------------------------------- */

/* Both take the value; NULL, of a step that had failed, marks the container. */
static void set(qst__json *object, const char *name, json_t *value)
{
    qst__alloc alloc = qst__alloc_default();
    if (!object) {
        json_decref(value);
        return;
    }
    char *key = mend(&alloc, name);
    if (!key)
        json_decref(value);
    if (!key || json_object_set_new(object->value, key, value) != 0)
        object->failed = true;
    qst__free(&alloc, key);
}

static void add(qst__json *array, json_t *value)
{
    if (!array)
        json_decref(value);
    else if (json_array_append_new(array->value, value) != 0)
        array->failed = true;
}

/* The container keeps the node beside its value. */
static json_t *adopt(qst__json *container, qst__json *child)
{
    if (!child)
        return NULL;
    if (!container) {
        qst__json_destroy(child);
        return NULL;
    }
    child->next = container->child;
    container->child = child;
    return json_incref(child->value);
}

void qst__json_set(qst__json *object, const char *name, qst__json *value)
{
    set(object, name, adopt(object, value));
}

void qst__json_set_text(qst__json *object, const char *name, const char *text)
{
    set(object, name, text_value(text));
}

void qst__json_set_int(qst__json *object, const char *name, int64_t value)
{
    set(object, name, json_integer(value));
}

void qst__json_set_real(qst__json *object, const char *name, double value)
{
    set(object, name, isfinite(value) ? json_real(value) : json_null());
}

void qst__json_set_bool(qst__json *object, const char *name, bool value)
{
    set(object, name, json_boolean(value));
}

void qst__json_add(qst__json *array, qst__json *value)
{
    add(array, adopt(array, value));
}

void qst__json_add_text(qst__json *array, const char *text)
{
    add(array, text_value(text));
}

void qst__json_add_int(qst__json *array, int64_t value)
{
    add(array, json_integer(value));
}

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

static bool whole(const qst__json *json)
{
    if (!json || json->failed)
        return false;
    for (const qst__json *child = json->child; child; child = child->next)
        if (!whole(child))
            return false;
    return true;
}

static int gather(const char *text, size_t length, void *user)
{
    qst__str *str = user;
    qst__str_append_n(str, text, length);
    return str->failed ? -1 : 0;
}

qst_status qst__json_write(const qst__json *json, bool indented, qst_sink sink, void *user)
{
    qst__alloc alloc = qst__alloc_default();
    qst__str   text;
    qst_status status = QST_E_NOMEM;
    size_t     flags = JSON_REAL_PRECISION(DIGITS) | (indented ? JSON_INDENT(2) : JSON_COMPACT);
    qst__str_init(&text, &alloc);
    if (!whole(json) || json_dump_callback(json->value, gather, &text, flags) != 0)
        goto out;
    qst__str_append(&text, "\n");
    if (text.failed)
        goto out;
    sink(user, text.text, text.length);
    status = QST_OK;
out:
    qst__str_finish(&text);
    return status;
}
