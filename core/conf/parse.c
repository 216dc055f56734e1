/* SPDX-License-Identifier: MIT
 *
 * parse.c: puts the configuration together: the order of the sources, and JSON text to values. */
#include "conf/state.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

/* ---- JSON text -------------------------------------------------------------------------------------------------- */

/* What a walk through a JSON value needs. */
typedef struct walk {
    qst__conf    *conf;
    uint32_t      place;
    const json_t *root;
    qst__str      path;
    qst_error    *err;
} walk;

static qst_status unknown_key(const walk *at)
{
    const qst__key_row *form = qst__schema_form(at->path.text);
    char                near[64];
    if (form)
        return qst__conf_fail(at->conf, at->place, at->path.text, at->err,
                              "unknown key (the form is %s, names of [a-z0-9_])", form->path);
    if (qst__schema_near(at->path.text, near, sizeof near))
        return qst__conf_fail(at->conf, at->place, at->path.text, at->err, "unknown key (did you mean %s?)", near);
    return qst__conf_fail(at->conf, at->place, at->path.text, at->err, "unknown key");
}

/* Points the input at a list's texts; `items` is freed by the caller. */
static qst_status read_list(const walk *at, const json_t *list, qst__input *input, const char ***items)
{
    size_t count = json_array_size(list);
    *items = qst__zalloc_array(&at->conf->alloc, count ? count : 1, sizeof **items);
    if (!*items)
        return qst__conf_nomem(at->err);
    *input = (qst__input){.kind = QST__INPUT_LIST, .items = *items, .n_items = count};
    for (size_t i = 0; i < count; i++) {
        (*items)[i] = json_string_value(json_array_get(list, i));
        if (!(*items)[i])
            input->kind = QST__INPUT_MIXED;
    }
    return QST_OK;
}

/* The spelling of a path in an object before which there are *skip others: `"index" in "device"`. False: there is none. */
static bool spell(const json_t *object, const char *path, uint32_t *skip, qst__str *spelt)
{
    const char *name = NULL;
    json_t     *value = NULL;
    json_object_foreach((json_t *)object, name, value)
    {
        size_t length = strlen(name);
        if (strncmp(path, name, length) != 0)
            continue;
        if (!path[length] && (*skip)-- == 0) {
            qst__str_printf(spelt, "\"%s\"", name);
            return true;
        }
        if (path[length] == '.' && json_is_object(value) && spell(value, path + length + 1, skip, spelt)) {
            qst__str_printf(spelt, " in \"%s\"", name);
            return true;
        }
    }
    return false;
}

static qst_status set_twice(const walk *at)
{
    qst__str   spelt[2];
    qst_status status;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t skip = i;
        qst__str_init(&spelt[i], &at->conf->alloc);
        (void)spell(at->root, at->path.text, &skip, &spelt[i]);
    }
    status = spelt[0].failed || spelt[1].failed
                 ? qst__conf_nomem(at->err)
                 : qst__conf_fail(at->conf, at->place, at->path.text, at->err, "is set twice, by %s and by %s",
                                  spelt[0].text, spelt[1].text);
    qst__str_finish(&spelt[0]);
    qst__str_finish(&spelt[1]);
    return status;
}

static qst_status put_value(const walk *at, const qst__key_row *row, const json_t *json)
{
    qst__input   input = {.kind = QST__INPUT_NULL};
    const char **items = NULL;
    qst_status   status = QST_OK;
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        input.kind = QST__INPUT_OBJECT;
        break;
    case JSON_ARRAY:
        status = read_list(at, json, &input, &items);
        break;
    case JSON_STRING:
        input = (qst__input){.kind = QST__INPUT_TEXT, .text = json_string_value(json)};
        break;
    case JSON_INTEGER:
    case JSON_REAL:
        input = (qst__input){.kind = json_is_integer(json) ? QST__INPUT_INT : QST__INPUT_REAL,
                             .integer = json_integer_value(json),
                             .real = json_number_value(json)};
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        input = (qst__input){.kind = QST__INPUT_BOOL, .truth = json_is_true(json)};
        break;
    case JSON_NULL:
        break;
    }
    if (status == QST_OK)
        status = qst__conf_put(at->conf, at->place, row, at->path.text, &input, at->err);
    qst__free(&at->conf->alloc, items);
    return status;
}

static void cut_path(qst__str *path, size_t length)
{
    if (path->length > length)
        path->text[path->length = length] = '\0';
}

/* The members of an object whose path is at->path. Deep only where names of the schema are: a text's depth is bounded
 * by jansson. */
static qst_status walk_object(walk *at, json_t *object)
{
    size_t      length = at->path.length;
    const char *name = NULL;
    json_t     *value = NULL;
    qst_status  status = QST_OK;
    json_object_foreach(object, name, value)
    {
        if (!*name)
            return qst__conf_fail(at->conf, at->place, length ? at->path.text : NULL, at->err, "has an empty key");
        qst__str_printf(&at->path, "%s%s", length ? "." : "", name);
        if (at->path.failed)
            return qst__conf_nomem(at->err);

        const qst__key_row *row = qst__schema_find(at->path.text);
        bool                section = qst__schema_section(at->path.text);
        if (section && json_is_object(value))
            status = walk_object(at, value);
        else if (row && qst__conf_holds(at->conf, at->place, row, at->path.text))
            status = set_twice(at);
        else if (row)
            status = put_value(at, row, value);
        else if (section && !qst__schema_form(at->path.text))
            status = qst__conf_fail(at->conf, at->place, at->path.text, at->err, "must be an object");
        else
            status = unknown_key(at);
        if (status != QST_OK)
            return status;
        cut_path(&at->path, length);
    }
    return QST_OK;
}

qst_status qst__conf_read_json(qst__conf *conf, uint32_t place, const char *text, size_t length, qst_error *err)
{
    json_error_t where = {0};
    walk         at = {.conf = conf, .place = place, .err = err};
    qst_status   status = QST_OK;
    size_t       mark = qst__text_mark(text, length);
    json_t      *root = json_loadb(text + mark, length - mark, JSON_REJECT_DUPLICATES, &where);
    qst__str_init(&at.path, &conf->alloc);
    if (!root && json_error_code(&where) == json_error_out_of_memory)
        status = qst__conf_nomem(err);
    else if (!root)
        status = qst__conf_fail_at(conf, place, where.line, where.column, err, where.text);
    else if (!json_is_object(root))
        status = qst__conf_fail(conf, place, NULL, err, "must be an object");
    else {
        at.root = root;
        status = walk_object(&at, root);
    }
    qst__str_finish(&at.path);
    json_decref(root);
    return status;
}

/* ---- Sources ---------------------------------------------------------------------------------------------------- */

uint32_t qst__conf_add_place(qst__conf *conf, uint32_t from, const char *name, const char *directory)
{
    qst__place place = {.from = from, .name = qst__strdup(&conf->alloc, name)};
    if (directory)
        place.directory = qst__strdup(&conf->alloc, directory);
    if (place.name && (place.directory || !directory) && qst__vec_push(&conf->alloc, &conf->places, place))
        return (uint32_t)conf->places.count - 1;
    qst__free(&conf->alloc, place.name);
    qst__free(&conf->alloc, place.directory);
    return UINT32_MAX;
}

/* The working directory, NULL where it is gone, too long or not absolute. */
static qst_status find_working(qst__conf *conf, qst_error *err)
{
    char path[4096];
    if (!getcwd(path, sizeof path) || path[0] != '/')
        return QST_OK;
    conf->working = qst__strdup(&conf->alloc, path);
    return conf->working ? QST_OK : qst__conf_nomem(err);
}

static qst_status read_defaults(qst__conf *conf, qst_error *err)
{
    uint32_t place = qst__conf_add_place(conf, QST__FROM_DEFAULT, "default", NULL);
    if (place == UINT32_MAX)
        return qst__conf_nomem(err);
    for (uint32_t i = 0; i < qst__schema_rows; i++) {
        const qst__key_row *row = &qst__schema[i];
        qst_status          status = QST_OK;
        if (row->offset != QST__OPEN)
            status = qst__conf_put_text(conf, place, row, row->standard, err);
        if (status != QST_OK)
            return status;
    }
    return QST_OK;
}

static qst_status read_api(qst__conf *conf, const char *text, qst_error *err)
{
    uint32_t place = qst__conf_add_place(conf, QST__FROM_API, "API", conf->working);
    return place == UINT32_MAX ? qst__conf_nomem(err) : qst__conf_read_json(conf, place, text, strlen(text), err);
}

/* The place of the row whose value a member of the settings is. */
static const qst__place *place_of(const qst__conf *conf, const char *path)
{
    return &conf->places.data[conf->row_place[qst__schema_find(path) - qst__schema]];
}

/* What no single row can say. The one who set either last is told of both. */
static qst_status check_whole(const qst__conf *conf, qst_error *err)
{
    const qst__settings *settings = &conf->settings;
    const qst__place    *least = place_of(conf, "tune.min_samples"), *most = place_of(conf, "tune.max_samples");
    if (settings->min_samples <= settings->max_samples)
        return QST_OK;
    bool last = least > most;
    return qst__conf_fail(conf, (uint32_t)((last ? least : most) - conf->places.data),
                          last ? "tune.min_samples" : "tune.max_samples", err, "%d is %s than tune.%s, %d",
                          (int)(last ? settings->min_samples : settings->max_samples), last ? "more" : "less",
                          last ? "max_samples" : "min_samples",
                          (int)(last ? settings->max_samples : settings->min_samples));
}

qst_status qst__conf_create(qst__conf **out, const qst__alloc *alloc, const qst__conf_sources *sources, qst_error *err)
{
    qst__conf *conf = qst__zalloc(alloc, sizeof *conf);
    qst_status status = QST_OK;
    *out = NULL;
    if (!conf)
        return qst__conf_nomem(err);
    conf->alloc = *alloc;
    conf->row_place = qst__zalloc_array(alloc, qst__schema_rows, sizeof *conf->row_place);
    conf->row_behind = qst__zalloc_array(alloc, qst__schema_rows, sizeof *conf->row_behind);
    status = conf->row_place && conf->row_behind ? find_working(conf, err) : qst__conf_nomem(err);
    if (status == QST_OK)
        status = read_defaults(conf, err);
    if (status == QST_OK && sources->files)
        status = qst__conf_read_files(conf, sources, err);
    if (status == QST_OK && sources->env)
        status = qst__conf_read_variables(conf, err);
    if (status == QST_OK && sources->api)
        status = read_api(conf, sources->api, err);
    if (status == QST_OK)
        status = check_whole(conf, err);
    if (status == QST_OK) {
        *out = conf;
        conf = NULL;
    }
    qst__conf_destroy(conf);
    return status;
}

void qst__conf_destroy(qst__conf *conf)
{
    if (!conf)
        return;
    qst__alloc alloc = conf->alloc;
    qst__settings_finish(&conf->settings, &alloc);
    for (size_t i = 0; i < conf->places.count; i++) {
        qst__free(&alloc, conf->places.data[i].name);
        qst__free(&alloc, conf->places.data[i].directory);
    }
    for (size_t i = 0; i < conf->ignored.count; i++) {
        qst__free(&alloc, conf->ignored.data[i].name);
        qst__free(&alloc, conf->ignored.data[i].why);
    }
    qst__vec_finish(&alloc, &conf->places);
    qst__vec_finish(&alloc, &conf->pair_place);
    qst__vec_finish(&alloc, &conf->ignored);
    qst__free(&alloc, conf->row_place);
    qst__free(&alloc, conf->row_behind);
    qst__free(&alloc, conf->working);
    qst__free(&alloc, conf);
}

const qst__settings *qst__conf_settings(const qst__conf *conf)
{
    return &conf->settings;
}
