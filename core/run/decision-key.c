/* SPDX-License-Identifier: MIT
 *
 * decision-key.c: a key's numbers as the object that decisions tell: their names and places are the operation's
 * (qst_key_field.record), their forms those in which serde writes Rust's enumerations.
 */
#include "run/decisions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The objects that the key's numbers stand in. */
typedef struct parts {
    qst__json  *key;
    uint32_t    count;
    const char *name[QST_KEY_MAX]; /* up to the dot */
    size_t      length[QST_KEY_MAX];
    qst__json  *part[QST_KEY_MAX];
} parts;

/* The object that a path begins with; *member: what follows its dot. */
static qst__json *part_of(parts *p, const char *path, const char **member)
{
    const char *dot = strchr(path, '.');
    size_t      length = dot ? (size_t)(dot - path) : 0;
    char        name[64];
    uint32_t    i;

    *member = dot ? dot + 1 : path;
    if (!dot)
        return p->key;
    for (i = 0; i < p->count; i++)
        if (p->length[i] == length && !memcmp(p->name[i], path, length))
            return p->part[i];
    (void)snprintf(name, sizeof name, "%.*s", (int)length, path);
    p->name[i] = path;
    p->length[i] = length;
    p->part[i] = qst__json_object();
    p->count++;
    qst__json_set(p->key, name, p->part[i]);
    return p->part[i];
}

/* `Name { a: true, b: 2 }`, as Rust prints a variant, is {"Name": {"a": true, "b": 2}} to serde. */
static qst__json *tell_variant(const char *token)
{
    const char *brace = strchr(token, '{');
    qst__json  *outer, *inner;
    char        name[64], member[64], value[64];
    int         used, n;

    if (!brace || sscanf(token, "%63[A-Za-z0-9_] {%n", name, &used) != 1)
        return NULL;
    outer = qst__json_object();
    inner = qst__json_object();
    qst__json_set(outer, name, inner);
    for (token += used; sscanf(token, " %63[A-Za-z0-9_]: %63[A-Za-z0-9_-]%n", member, value, &n) == 2;
         token += n + (token[n] == ',')) {
        char   *end;
        int64_t number = strtoll(value, &end, 10);
        if (!strcmp(value, "true") || !strcmp(value, "false"))
            qst__json_set_bool(inner, member, *value == 't');
        else if (!*end)
            qst__json_set_int(inner, member, number);
        else
            qst__json_set_text(inner, member, value);
    }
    return outer;
}

/* Element types are variants, too. */
static qst__json *tell_type(const char *token)
{
    static const char *const types[][2] = {{"f32", "F32"}, {"f64", "F64"}, {"f16", "F16"}, {"bf16", "BF16"}};
    qst__json               *one;
    size_t                   i;

    for (i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i][0], token)) {
            one = qst__json_object();
            qst__json_set_text(one, "Float", types[i][1]);
            return one;
        }
    return NULL;
}

static void tell_number(qst__json *part, const char *member, const qst_key_field *field, int64_t value)
{
    const char *token =
        field->kind == QST_KEY_ENUM && value >= 0 && value < (int64_t)field->n_tokens ? field->tokens[value] : NULL;
    qst__json *variant = NULL;

    if (token)
        variant = tell_type(token);
    if (token && !variant)
        variant = tell_variant(token);
    if (variant)
        qst__json_set(part, member, variant);
    else if (token)
        qst__json_set_text(part, member, token);
    else if (field->kind == QST_KEY_FLAG)
        qst__json_set_bool(part, member, value != 0);
    else
        qst__json_set_int(part, member, value);
}

qst__json *qst__decision_key(const qst__entry *entry)
{
    const qst_op *op = &entry->shelf->set->model.op;
    parts         p;
    uint32_t      i;

    p.key = qst__json_object();
    p.count = 0;
    for (i = 0; i < op->n_key_fields && i < entry->key.count && i < QST_KEY_MAX; i++) {
        const qst_key_field *field = &op->key_fields[i];
        const char          *otherwise = field->flags & QST_KEY_EXTRA ? "more." : "definition.", *member;
        qst__json           *part = part_of(&p, field->record ? field->record : otherwise, &member);
        tell_number(part, *member ? member : field->name, field, entry->key.value[i]);
    }
    return p.key;
}
