/* SPDX-License-Identifier: MIT
 *
 * settings.c: options of the command line as configuration JSON; what the keys mean is the library's business. */
#include "settings.h"

#include "file.h"
#include "out.h"
#include "verb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DENIALS "candidates.deny"

/* Is what an error text begins with, `KEY: …`, this path or below it? */
static bool about(const char *text, const char *path, size_t length)
{
    return strncmp(text, path, length) == 0 && (text[length] == ':' || text[length] == '.');
}

const char *settings_source(const args_common *common, const char *text)
{
    const struct {
        const char *path, *option;
        bool        given;
    } shortcuts[] = {
        {"device.name", "--device", common->device}, {"device.platform", "--platform", common->platform},
        {"tune.level", "--level", common->level},    {"candidates.pin", "--pin", common->pin.n},
        {DENIALS, "--deny", common->deny.n},         {"tune.budget_ms", "--budget", common->budget >= 0},
    };
    for (size_t i = 0; i < sizeof shortcuts / sizeof *shortcuts; i++)
        if (shortcuts[i].given && about(text, shortcuts[i].path, strlen(shortcuts[i].path)))
            return shortcuts[i].option;
    for (size_t i = 0; i < common->set.n; i++)
        if (about(text, common->set.data[i], strcspn(common->set.data[i], "=")))
            return "--set";
    return common->config ? "--config" : common->set.n ? "--set" : "command line";
}

/* The last of --set by which a path has a value, or --config. */
static const char *giver_of(const args_common *common, const char *path)
{
    for (size_t i = common->set.n; i-- > 0;) {
        size_t length = strcspn(common->set.data[i], "=");
        if (strlen(path) == length && strncmp(common->set.data[i], path, length) == 0)
            return common->set.data[i];
    }
    return NULL;
}

/* A setting cannot be put: which value on its way is no object, and who gave it. */
static int refuse(const args_common *common, const json_t *settings, const char *option, const char *path)
{
    char       *part = NULL;
    const char *giver = NULL;
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
        free(part);
        part = out_text("%.*s", (int)(dot - path), path);
        if (settings_plain(settings, part))
            break;
    }
    giver = part ? giver_of(common, part) : NULL;
    int status = args_usage("", "%s: %s is no object in %s%s", option, part ? out_shown(part).text : "what holds it",
                            giver ? "--set " : "--config", giver ? out_shown(giver).text : "");
    free(part);
    return status;
}

static bool are_texts(const json_t *value)
{
    bool texts = json_is_string(value) || json_is_array(value);
    for (size_t i = 0; i < json_array_size(value); i++)
        texts = texts && json_is_string(json_array_get(value, i));
    return texts;
}

/* A text or a list of texts as a list, whose first item is '' where it takes back what was said before it. */
static json_t *list_of(const json_t *value)
{
    json_t *list = out_need(json_array());
    if (json_is_string(value) || json_array_size(value) == 0)
        json_array_append_new(list, out_need(json_string(json_is_string(value) ? json_string_value(value) : "")));
    else
        json_array_extend(list, (json_t *)value);
    return list;
}

/* Denials add up, within the command line as from source to source: those behind what was said before, which '' at their
 * beginning takes back. Takes `more`, a text or a list of texts as `before` is, which may be NULL. */
static json_t *add_denials(const json_t *before, json_t *more)
{
    json_t     *behind = list_of(more);
    const char *first = json_string_value(json_array_get(behind, 0));
    json_t     *all = before && *first ? list_of(before) : out_need(json_array());
    json_array_extend(all, behind);
    json_decref(behind);
    json_decref(more);
    return all;
}

/* Puts what --set says, once it has been understood. */
static bool put_set(json_t *settings, json_t *by_set, const char *path, json_t *value)
{
    json_t *alone = out_need(json_object()), *before = json_incref(settings_said(settings, DENIALS));
    (void)settings_put(alone, path, json_incref(value));
    (void)settings_put(by_set, path, json_incref(value));
    json_t *denials = settings_said(alone, DENIALS);
    bool    done = settings_put(settings, path, value);
    if (done && before && denials && are_texts(before) && are_texts(denials))
        done = settings_put(settings, DENIALS, add_denials(before, json_incref(denials)));
    json_decref(before);
    json_decref(alone);
    return done;
}

/* VALUE is JSON where it reads as JSON, else text. `by_set` gets it as well: what --set alone says. */
static int put_pair(const args_common *common, json_t *settings, json_t *by_set, const char *pair)
{
    const char *equals = strchr(pair, '=');
    if (!equals || equals == pair)
        return args_usage("", "--set %s: not of the form path=value", out_shown(pair).text);
    char        *path = out_text("%.*s", (int)(equals - pair), pair);
    char        *option = out_text("--set %s", out_shown(pair).text);
    json_error_t where = {0};
    json_t      *value = json_loads(equals + 1, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &where);
    int          code = value ? json_error_unknown : json_error_code(&where);
    bool         wrong = code == json_error_duplicate_key || code == json_error_numeric_overflow;
    if (!value && !wrong)
        value = json_string(equals + 1);
    int status = 0;
    if (wrong)
        status = args_usage("", "%s: %.100s", option, where.text);
    else if (!value)
        status = args_usage("", "%s: the value is not UTF-8", option);
    else if (!put_set(settings, by_set, path, value))
        status = refuse(common, settings, option, path);
    free(option);
    free(path);
    return status;
}

/* Which of args_levels a word or a number is, 0: none. */
static size_t level_of(const json_t *said)
{
    char number[24] = "";
    if (json_is_integer(said))
        (void)snprintf(number, sizeof number, "%lld", (long long)json_integer_value(said));
    const char *text = json_is_string(said) ? json_string_value(said) : number;
    for (size_t i = 1; args_levels[i]; i++) {
        char digits[24];
        (void)snprintf(digits, sizeof digits, "%zu", i - 1);
        if (strcmp(text, args_levels[i]) == 0 || strcmp(text, digits) == 0)
            return i;
    }
    return 0;
}

/* Does --set say what an option says? One text is a list of it, a level's number its word. */
static bool agree(const char *path, const json_t *option, const json_t *set)
{
    if (strcmp(path, "tune.level") == 0)
        return level_of(option) == level_of(set);
    if (json_array_size(option) == 1 && json_is_string(set))
        option = json_array_get(option, 0);
    return json_equal(option, set);
}

/* A shortcut on its way into the settings: what it says, and what --set has said. */
typedef struct shortcut {
    const args_common *common;
    json_t            *settings;
    const json_t      *by_set;
    const char        *option, *path;
} shortcut;

/* Takes the value. Whoever says two things is asked which. */
static int put_shortcut(const shortcut *to, const char *text, json_t *value)
{
    const json_t *other = settings_said(to->by_set, to->path);
    if (other) {
        const char *giver = giver_of(to->common, to->path);
        bool        same = agree(to->path, value, other);
        json_decref(value);
        return same ? 0
                    : args_usage("", "%s%s%s: --set %s was given, too", to->option, *text ? " " : "",
                                 *text ? out_shown(text).text : "", out_shown(giver ? giver : to->path).text);
    }
    return settings_put(to->settings, to->path, value) ? 0 : refuse(to->common, to->settings, to->option, to->path);
}

static int put_text(const shortcut *to, const char *text)
{
    if (!text)
        return 0;
    json_t *value = json_string(text);
    if (!value)
        return args_usage("", "%s %s: not UTF-8", to->option, out_shown(text).text);
    return put_shortcut(to, text, value);
}

/* The texts, behind those of `array`, which is taken. */
static int append(const shortcut *to, const args_list *list, json_t *array)
{
    for (size_t i = 0; i < list->n; i++)
        if (json_array_append_new(array, json_string(list->data[i])) != 0) {
            json_decref(array);
            return args_usage("", "%s %s: not UTF-8", to->option, out_shown(list->data[i]).text);
        }
    return 0;
}

static int put_list(const shortcut *to, const args_list *list)
{
    json_t *array = list->n ? out_need(json_array()) : NULL;
    int     status = append(to, list, array);
    return status || !array ? status : put_shortcut(to, list->data[list->n - 1], array);
}

/* What --deny cannot be put to. */
static int refuse_denials(const shortcut *to, const args_list *given)
{
    const char *giver = giver_of(to->common, to->path);
    bool        set = settings_said(to->by_set, to->path) != NULL;
    return args_usage("",
                      "%s %s: is put to what %s%s says, which is neither a text nor a list of texts; '' takes it back",
                      to->option, out_shown(given->data[0]).text, set ? "--set " : "--config",
                      set ? out_shown(giver ? giver : to->path).text : "");
}

/* '' takes back what was said before it. */
static int put_denials(const shortcut *to, const args_list *given)
{
    args_list     list = *given;
    const json_t *before = settings_said(to->settings, to->path);
    if (list.n == 0)
        return 0;
    for (size_t i = 0; i < given->n; i++)
        if (!*given->data[i]) {
            list.data = given->data + i;
            list.n = given->n - i;
            before = NULL;
        }
    if (before && !are_texts(before))
        return refuse_denials(to, given);
    json_t *array = out_need(json_array());
    int     status = append(to, &list, array);
    if (status != 0)
        return status;
    return settings_put(to->settings, to->path, add_denials(before, array))
               ? 0
               : refuse(to->common, to->settings, to->option, to->path);
}

static int put_shortcuts(const args_common *common, json_t *settings, const json_t *by_set)
{
    const struct {
        const char *option, *path, *text;
    } texts[] = {{"--device", "device.name", common->device},
                 {"--platform", "device.platform", common->platform},
                 {"--level", "tune.level", common->level ? args_levels[common->level] : NULL}};
    shortcut to = {common, settings, by_set, NULL, NULL};
    int      status = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && status == 0; i++) {
        to.option = texts[i].option;
        to.path = texts[i].path;
        status = put_text(&to, texts[i].text);
    }
    if (status == 0) {
        to = (shortcut){common, settings, by_set, "--pin", "candidates.pin"};
        status = put_list(&to, &common->pin);
    }
    if (status == 0) {
        to = (shortcut){common, settings, by_set, "--deny", DENIALS};
        status = put_denials(&to, &common->deny);
    }
    if (status == 0 && common->budget >= 0) {
        to = (shortcut){common, settings, by_set, "--budget", "tune.budget_ms"};
        status = put_shortcut(&to, "", out_need(json_integer(common->budget)));
    }
    return status;
}

int settings_make(json_t **settings, const args_common *common)
{
    json_error_t where;
    json_t      *made = common->config
                            ? json_loads(common->config + file_mark(common->config), JSON_REJECT_DUPLICATES, &where)
                            : out_need(json_object());
    json_t      *by_set;
    int          status = 0;
    *settings = NULL;
    if (!made)
        return args_usage("", "--config: line %d, column %d: %s", where.line, where.column, where.text);
    if (!json_is_object(made))
        status = args_usage("", "--config: not an object");
    by_set = out_need(json_object());
    if (status == 0)
        status = settings_check_twice(made);
    for (size_t i = 0; i < common->set.n && status == 0; i++)
        status = put_pair(common, made, by_set, common->set.data[i]);
    if (status == 0)
        status = put_shortcuts(common, made, by_set);
    json_decref(by_set);
    if (status != 0) {
        json_decref(made);
        made = NULL;
    }
    *settings = made;
    return status;
}
