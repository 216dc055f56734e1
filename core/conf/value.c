/* SPDX-License-Identifier: MIT
 *
 * value.c: checks one value against its row of the schema and stores it: a table with a function for each type. */
#include "base/log.h"
#include "conf/state.h"

#include <stdio.h>
#include <string.h>

#define TEXT_SHOWN 60 /* bytes of a value */

/* ---- One value -------------------------------------------------------------------------------------------------- */

/* Where a value goes, and for whom. */
typedef struct target {
    qst__conf          *conf;
    uint32_t            place;
    const qst__key_row *row;
    const char         *path;
    qst_error          *err;
} target;

typedef qst_status put_function(const target *to, const qst__input *input, void *at);

#define REFUSE(to, ...) qst__conf_fail((to)->conf, (to)->place, (to)->path, (to)->err, __VA_ARGS__)

static put_function put_text, put_name, put_path, put_log, put_list, put_gather, put_paths, put_int, put_long, put_real,
    put_bool, put_word;

static const struct {
    put_function *put; /* NULL: open rows only */
    const char   *wanted;
} TYPES[] = {
    [QST__TYPE_TEXT] = {put_text, "a text"},
    [QST__TYPE_NAME] = {put_name, "a text"},
    [QST__TYPE_PATH] = {put_path, "a text"},
    [QST__TYPE_LOG] = {put_log, "a text"},
    [QST__TYPE_ANY] = {NULL, "a text, a number, true or false"},
    [QST__TYPE_LIST] = {put_list, "a text or a list of texts"},
    [QST__TYPE_GATHER] = {put_gather, "a text or a list of texts"},
    [QST__TYPE_PATHS] = {put_paths, "a text or a list of texts"},
    [QST__TYPE_INT] = {put_int, "an integer"},
    [QST__TYPE_LONG] = {put_long, "an integer"},
    [QST__TYPE_REAL] = {put_real, "a number"},
    [QST__TYPE_BOOL] = {put_bool, "true or false"},
    [QST__TYPE_WORD] = {put_word, "a text"},
    [QST__TYPE_GRADE] = {put_word, "a text or an integer"},
};

static qst_status wrong_type(const target *to, const qst__input *input)
{
    static const char *const given[] = {
        [QST__INPUT_NULL] = "null",
        [QST__INPUT_BOOL] = "a truth value",
        [QST__INPUT_INT] = "an integer",
        [QST__INPUT_REAL] = "a real number",
        [QST__INPUT_TEXT] = "a text",
        [QST__INPUT_LIST] = "a list",
        [QST__INPUT_MIXED] = "a list of other things",
        [QST__INPUT_OBJECT] = "an object",
    };
    return REFUSE(to, "must be %s, not %s", TYPES[to->row->type].wanted, given[input->kind]);
}

static qst_status replace_text(const target *to, char **at, const char *text)
{
    char *copy = NULL;
    if (*text) {
        copy = qst__strdup(&to->conf->alloc, text);
        if (!copy)
            return qst__conf_nomem(to->err);
    }
    qst__free(&to->conf->alloc, *at);
    *at = copy;
    return QST_OK;
}

static qst_status put_text(const target *to, const qst__input *input, void *at)
{
    return input->kind == QST__INPUT_TEXT ? replace_text(to, at, input->text) : wrong_type(to, input);
}

/* A name becomes a part of a path: it must not lead elsewhere. */
static qst_status put_name(const target *to, const qst__input *input, void *at)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    if (input->kind != QST__INPUT_TEXT)
        return wrong_type(to, input);
    size_t length = strlen(input->text);
    if (length > QST__NAME_MAX)
        return REFUSE(to, "'%.*s…' is longer than %u bytes", TEXT_SHOWN, input->text, QST__NAME_MAX);
    if (strspn(input->text, allowed) < length || strspn(input->text, ".") == length)
        return REFUSE(to, "'%.*s' is no name of [A-Za-z0-9._-]", TEXT_SHOWN, input->text);
    return replace_text(to, at, input->text);
}

static qst_status put_log(const target *to, const qst__input *input, void *at)
{
    qst__log  scratch = {0};
    qst_error why = {0};
    if (input->kind != QST__INPUT_TEXT)
        return wrong_type(to, input);
    if (qst__log_configure(&scratch, input->text, &why) != QST_OK)
        return REFUSE(to, "%s", why.text);
    return replace_text(to, at, input->text);
}

/* ---- Paths and lists -------------------------------------------------------------------------------------------- */

static void free_strings(const qst__alloc *alloc, qst__strings *strings)
{
    for (uint32_t i = 0; i < strings->count; i++)
        qst__free(alloc, strings->data[i]);
    qst__free(alloc, strings->data);
    *strings = (qst__strings){0};
}

/* The absolute form of a path, allocated. */
static qst_status absolute(const target *to, const char *path, char **out)
{
    qst__str    str;
    const char *directory = to->conf->places.data[to->place].directory;
    if (path[0] != '/' && !directory)
        return REFUSE(to, "'%.*s' is relative and the working directory is unknown", TEXT_SHOWN, path);
    qst__str_init(&str, &to->conf->alloc);
    if (path[0] != '/')
        qst__str_printf(&str, "%s%s", directory, strcmp(directory, "/") == 0 ? "" : "/");
    qst__str_append(&str, path);
    *out = qst__str_take(&str);
    return *out ? QST_OK : qst__conf_nomem(to->err);
}

static qst_status put_path(const target *to, const qst__input *input, void *at)
{
    char *path = NULL;
    if (input->kind != QST__INPUT_TEXT)
        return wrong_type(to, input);
    qst_status status = *input->text ? absolute(to, input->text, &path) : QST_OK;
    if (status == QST_OK) {
        qst__free(&to->conf->alloc, *(char **)at);
        *(char **)at = path;
    }
    return status;
}

/* A list of its own from what is given, then what `behind` holds, which is emptied. */
static qst_status make_list(const target *to, const qst__input *input, qst__strings *behind, qst__strings *out)
{
    const char *const *items = input->kind == QST__INPUT_TEXT ? &input->text : input->items;
    size_t             count = input->kind == QST__INPUT_TEXT ? (*input->text != '\0') : input->n_items;
    const qst__alloc  *alloc = &to->conf->alloc;
    qst__strings       list = {0};
    qst_status         status = QST_OK;
    if (count + behind->count == 0)
        goto out;
    list.data = qst__zalloc_array(alloc, count + behind->count, sizeof *list.data);
    if (!list.data)
        status = qst__conf_nomem(to->err);
    for (size_t i = 0; i < count && status == QST_OK; i++) {
        if (!items[i][0])
            status = REFUSE(to, "item %zu is empty", i);
        else if (to->row->type == QST__TYPE_PATHS)
            status = absolute(to, items[i], &list.data[i]);
        else if (!(list.data[i] = qst__strdup(alloc, items[i])))
            status = qst__conf_nomem(to->err);
        list.count += status == QST_OK;
    }
out:
    if (status != QST_OK) {
        free_strings(alloc, &list);
        return status;
    }
    if (behind->count)
        memcpy(list.data + list.count, behind->data, behind->count * sizeof *behind->data);
    list.count += behind->count;
    qst__free(alloc, behind->data);
    *behind = (qst__strings){0};
    *out = list;
    return QST_OK;
}

static qst_status put_strings(const target *to, const qst__input *input, qst__strings *at, bool in_front)
{
    qst__strings none = {0}, list = {0};
    if (input->kind != QST__INPUT_TEXT && input->kind != QST__INPUT_LIST)
        return wrong_type(to, input);
    qst_status status = make_list(to, input, in_front ? at : &none, &list);
    if (status != QST_OK)
        return status;
    free_strings(&to->conf->alloc, at);
    *at = list;
    return QST_OK;
}

static qst_status put_list(const target *to, const qst__input *input, void *at)
{
    return put_strings(to, input, at, false);
}

/* Whoever says nothing, or nothing first, takes back what was said before. */
static qst_status put_gather(const target *to, const qst__input *input, void *at)
{
    qst__input more = *input;
    size_t     row = (size_t)(to->row - qst__schema);
    uint32_t   before = to->conf->row_place[row];
    bool       list = input->kind == QST__INPUT_LIST;
    bool       anew = list ? !input->n_items || !*input->items[0] : input->kind == QST__INPUT_TEXT && !*input->text;
    if (anew && list && input->n_items) {
        more.items++;
        more.n_items--;
    }
    qst_status status = put_strings(to, &more, at, !anew);
    if (status == QST_OK)
        to->conf->row_behind[row] = anew ? 0 : to->conf->row_behind[row] | (before ? 1u << before : 0);
    return status;
}

static qst_status put_paths(const target *to, const qst__input *input, void *at)
{
    return put_strings(to, input, at, to->conf->places.data[to->place].from == QST__FROM_ENV);
}

/* ---- Numbers and words ------------------------------------------------------------------------------------------ */

static qst_status check_integer(const target *to, const qst__input *input)
{
    if (input->kind != QST__INPUT_INT)
        return wrong_type(to, input);
    if (input->real < to->row->min || input->real > to->row->max)
        return REFUSE(to, "%lld is not in %.15g … %.15g", (long long)input->integer, to->row->min, to->row->max);
    return QST_OK;
}

static qst_status put_int(const target *to, const qst__input *input, void *at)
{
    qst_status status = check_integer(to, input);
    if (status == QST_OK)
        *(int32_t *)at = (int32_t)input->integer;
    return status;
}

static qst_status put_long(const target *to, const qst__input *input, void *at)
{
    qst_status status = check_integer(to, input);
    if (status == QST_OK)
        *(int64_t *)at = input->integer;
    return status;
}

static qst_status put_real(const target *to, const qst__input *input, void *at)
{
    if (input->kind != QST__INPUT_INT && input->kind != QST__INPUT_REAL)
        return wrong_type(to, input);
    if (!(input->real >= to->row->min && input->real <= to->row->max))
        return REFUSE(to, "%.15g is not in %.15g … %.15g", input->real, to->row->min, to->row->max);
    *(double *)at = input->real;
    return QST_OK;
}

static qst_status put_bool(const target *to, const qst__input *input, void *at)
{
    if (input->kind == QST__INPUT_TEXT && to->conf->places.data[to->place].from == QST__FROM_ENV)
        return REFUSE(to, "'%.*s' is not one of true, 1, on, false, 0, off", TEXT_SHOWN, input->text);
    if (input->kind != QST__INPUT_BOOL)
        return wrong_type(to, input);
    *(bool *)at = input->truth;
    return QST_OK;
}

static qst_status put_word(const target *to, const qst__input *input, void *at)
{
    const char *const *tokens = to->row->tokens;
    bool               grade = to->row->type == QST__TYPE_GRADE;
    char               number[24] = "", list[128];
    int32_t            found = -1, count = 0;
    size_t             length = 0;
    const char        *text = input->text;
    if (grade && input->kind == QST__INPUT_INT) {
        (void)snprintf(number, sizeof number, "%lld", (long long)input->integer);
        text = number;
    } else if (input->kind != QST__INPUT_TEXT) {
        return wrong_type(to, input);
    }
    for (; tokens[count]; count++) {
        char index[12];
        (void)snprintf(index, sizeof index, "%d", (int)count);
        if (strcmp(tokens[count], text) == 0 || (grade && strcmp(index, text) == 0))
            found = count;
        int wrote = snprintf(list + length, sizeof list - length, "%s%s", count ? ", " : "", tokens[count]);
        length += wrote > 0 && (size_t)wrote < sizeof list - length ? (size_t)wrote : 0;
    }
    if (found >= 0) {
        *(int32_t *)at = found;
        return QST_OK;
    }
    if (grade)
        return REFUSE(to, "'%.*s' is not one of %s, or 0 … %d", TEXT_SHOWN, text, list, (int)count - 1);
    return REFUSE(to, "'%.*s' is not one of %s", TEXT_SHOWN, text, list);
}

/* ---- Open rows -------------------------------------------------------------------------------------------------- */

static qst_status add_pair(const target *to, char **value)
{
    qst__conf     *conf = to->conf;
    qst__settings *settings = &conf->settings;
    size_t         bytes = (settings->n_pairs + 1u) * sizeof *settings->pairs;
    qst__pair     *pairs = qst__resize(&conf->alloc, settings->pairs, bytes);
    if (!pairs)
        return qst__conf_nomem(to->err);
    settings->pairs = pairs;
    char *path = qst__strdup(&conf->alloc, to->path);
    if (!path || !qst__vec_push(&conf->alloc, &conf->pair_place, to->place)) {
        qst__free(&conf->alloc, path);
        return qst__conf_nomem(to->err);
    }
    pairs[settings->n_pairs++] = (qst__pair){path, *value};
    *value = NULL;
    return QST_OK;
}

/* Its place among the pairs, or their number. */
static uint32_t pair_of(const qst__conf *conf, const char *path)
{
    uint32_t i = 0;
    while (i < conf->settings.n_pairs && strcmp(conf->settings.pairs[i].path, path) != 0)
        i++;
    return i;
}

static qst_status put_open(const target *to, const qst__input *input)
{
    qst__conf *conf = to->conf;
    bool       scalar = input->kind >= QST__INPUT_BOOL && input->kind <= QST__INPUT_TEXT;
    qst_status status = QST_OK;
    if (to->row->type == QST__TYPE_INT)
        status = check_integer(to, input);
    else if (!scalar)
        status = wrong_type(to, input);
    if (status != QST_OK)
        return status;

    char *value = qst__conf_as_text(&conf->alloc, input);
    if (!value)
        return qst__conf_nomem(to->err);
    uint32_t i = pair_of(conf, to->path);
    if (i == conf->settings.n_pairs) {
        status = add_pair(to, &value);
    } else {
        char *before = conf->settings.pairs[i].value;
        conf->settings.pairs[i].value = value;
        conf->pair_place.data[i] = to->place;
        value = before;
    }
    qst__free(&conf->alloc, value);
    return status;
}

bool qst__conf_holds(const qst__conf *conf, uint32_t place, const qst__key_row *row, const char *path)
{
    uint32_t pair = row->offset == QST__OPEN ? pair_of(conf, path) : 0;
    if (row->offset != QST__OPEN)
        return place && conf->row_place[row - qst__schema] == place;
    return pair < conf->settings.n_pairs && conf->pair_place.data[pair] == place;
}

/* ---- The way in ------------------------------------------------------------------------------------------------- */

qst_status qst__conf_put(qst__conf *conf, uint32_t place, const qst__key_row *row, const char *path,
                         const qst__input *input, qst_error *err)
{
    static const char *const whose[] = {
        [QST__FROM_DEFAULT] = "a default", [QST__FROM_USER] = "the user's file", [QST__FROM_PROJECT] = "a project file",
        [QST__FROM_FILE] = "a file",       [QST__FROM_ENV] = "a variable",       [QST__FROM_API] = "the API",
    };
    target   to = {conf, place, row, path, err};
    uint32_t from = conf->places.data[place].from;
    if (!(row->sources & QST__SOURCE(from)))
        return REFUSE(&to, "may not be set by %s", whose[from]);
    if (row->offset == QST__OPEN)
        return put_open(&to, input);

    uint32_t   index = (uint32_t)(row - qst__schema);
    qst_status status = TYPES[row->type].put(&to, input, (char *)&conf->settings + row->offset);
    if (status == QST_OK)
        conf->row_place[index] = place;
    return status;
}
