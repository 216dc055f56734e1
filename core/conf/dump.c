/* SPDX-License-Identifier: MIT
 *
 * dump.c: the effective configuration as JSON, each key with where its value comes from. */
#include "conf/json.h"
#include "conf/state.h"

#include <stdlib.h>
#include <string.h>

static void set_strings(qst__json *entry, const char *name, const qst__strings *strings)
{
    qst__json *list = qst__json_array();
    for (uint32_t i = 0; i < strings->count; i++)
        qst__json_add_text(list, strings->data[i]);
    qst__json_set(entry, name, list);
}

/* The member `name` of an entry: the value that a row has in these settings. */
static void set_value(qst__json *entry, const char *name, const qst__key_row *row, const qst__settings *settings)
{
    const void *at = (const char *)settings + row->offset;
    switch (row->type) {
    case QST__TYPE_TEXT:
    case QST__TYPE_NAME:
    case QST__TYPE_PATH:
    case QST__TYPE_LOG:
        qst__json_set_text(entry, name, *(char *const *)at);
        break;
    case QST__TYPE_LIST:
    case QST__TYPE_GATHER:
    case QST__TYPE_PATHS:
        set_strings(entry, name, at);
        break;
    case QST__TYPE_INT:
        qst__json_set_int(entry, name, *(const int32_t *)at);
        break;
    case QST__TYPE_LONG:
        qst__json_set_int(entry, name, *(const int64_t *)at);
        break;
    case QST__TYPE_REAL:
        qst__json_set_real(entry, name, *(const double *)at);
        break;
    case QST__TYPE_BOOL:
        qst__json_set_bool(entry, name, *(const bool *)at);
        break;
    case QST__TYPE_WORD:
    case QST__TYPE_GRADE:
        qst__json_set_text(entry, name, row->tokens[*(const int32_t *)at]);
        break;
    case QST__TYPE_ANY: /* of open rows only, which are not members */
        break;
    }
}

/* Where a row's value comes from: of one that gathers, all whose items are in it, the last one first. */
static void set_origin(qst__json *entry, const qst__conf *conf, uint32_t index)
{
    qst__str origin;
    qst__str_init(&origin, &conf->alloc);
    qst__str_append(&origin, conf->places.data[conf->row_place[index]].name);
    for (size_t i = conf->row_place[index]; i-- > 0;)
        if (conf->row_behind[index] >> i & 1u)
            qst__str_printf(&origin, ", %s", conf->places.data[i].name);
    if (origin.failed)
        qst__json_set(entry, "origin", NULL); /* makes the whole fail */
    else
        qst__json_set_text(entry, "origin", origin.text);
    qst__str_finish(&origin);
}

static qst__json *describe_row(const qst__conf *conf, uint32_t index, const qst__settings *defaults)
{
    const qst__key_row *row = &qst__schema[index];
    qst__json          *entry = qst__json_object();
    qst__json_set_text(entry, "path", row->path);
    set_value(entry, "value", row, &conf->settings);
    set_origin(entry, conf, index);
    set_value(entry, "default", row, defaults);
    qst__json_set_text(entry, "help", row->help);
    return entry;
}

static qst__json *describe_pair(const qst__conf *conf, uint32_t index)
{
    const qst__pair    *pair = &conf->settings.pairs[index];
    const qst__key_row *row = qst__schema_find(pair->path);
    qst__json          *entry = qst__json_object();
    qst__json_set_text(entry, "path", pair->path);
    if (row->type == QST__TYPE_INT) /* kept as text, which was made from a number */
        qst__json_set_int(entry, "value", strtoll(pair->value, NULL, 10));
    else
        qst__json_set_text(entry, "value", pair->value);
    qst__json_set_text(entry, "origin", conf->places.data[conf->pair_place.data[index]].name);
    qst__json_set_text(entry, "default", NULL);
    qst__json_set_text(entry, "help", row->help);
    return entry;
}

static qst__json *describe_ignored(const qst__ignored *ignored)
{
    qst__json *entry = qst__json_object();
    qst__json_set_text(entry, "path", NULL);
    qst__json_set_text(entry, "value", NULL);
    qst__json_set_text(entry, "origin", ignored->name);
    qst__json_set_text(entry, "default", NULL);
    qst__json_set_text(entry, "help", ignored->why);
    return entry;
}

qst_status qst__conf_describe(const qst__conf *conf, qst__json **out)
{
    qst__conf              *plain = NULL;
    const qst__conf_sources none = {0};
    *out = NULL;
    qst_status status = qst__conf_create(&plain, &conf->alloc, &none, NULL);
    if (status != QST_OK)
        return status;
    qst__json *list = qst__json_array();
    for (uint32_t i = 0; i < qst__schema_rows; i++)
        if (qst__schema[i].offset != QST__OPEN)
            qst__json_add(list, describe_row(conf, i, qst__conf_settings(plain)));
    for (uint32_t i = 0; i < conf->settings.n_pairs; i++)
        qst__json_add(list, describe_pair(conf, i));
    for (size_t i = 0; i < conf->ignored.count; i++)
        qst__json_add(list, describe_ignored(&conf->ignored.data[i]));
    qst__conf_destroy(plain);
    *out = list;
    return list ? QST_OK : QST_E_NOMEM;
}
