/* SPDX-License-Identifier: MIT
 *
 * settings_path.c: what a JSON object says at a path, in whichever of its spellings: {"a": {"b": …}}, {"a.b": …}, or by half. */
#include "settings.h"

#include "out.h"
#include "verb.h"

#include <stdlib.h>
#include <string.h>

json_t *settings_said(const json_t *at, const char *path)
{
    json_t *there = json_object_get(at, path);
    for (const char *dot = strchr(path, '.'); at && dot && !there; dot = strchr(dot + 1, '.')) {
        char *name = out_text("%.*s", (int)(dot - path), path);
        there = settings_said(json_object_get(at, name), dot + 1);
        free(name);
    }
    return there;
}

/* Takes a setting out, however it was said. */
static void take_out(json_t *at, const char *path)
{
    if (!at) /* nothing can be there, however many dots follow */
        return;
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
        char *name = out_text("%.*s", (int)(dot - path), path);
        take_out(json_object_get(at, name), dot + 1);
        free(name);
    }
    (void)json_object_del(at, path);
}

/* The object at a path's names but the last, made where it is missing, and that last name; NULL where something else is
 * in the way. */
static json_t *object_of(json_t *at, char *path, const char **last)
{
    char *name = path, *dot;
    while (at && (dot = strchr(name, '.'))) {
        *dot = '\0';
        json_t *next = json_object_get(at, name);
        if (!next) {
            next = out_need(json_object());
            if (json_object_set_new(at, name, next) != 0)
                next = NULL;
        }
        at = json_is_object(next) ? next : NULL;
        name = dot + 1;
    }
    *last = name;
    return at;
}

bool settings_plain(const json_t *at, const char *path)
{
    const json_t *there = json_object_get(at, path);
    bool          plain = there && !json_is_object(there);
    for (const char *dot = strchr(path, '.'); at && dot && !plain; dot = strchr(dot + 1, '.')) {
        char *name = out_text("%.*s", (int)(dot - path), path);
        plain = settings_plain(json_object_get(at, name), dot + 1);
        free(name);
    }
    return plain;
}

static bool put_one(json_t *settings, const char *path, json_t *value)
{
    char       *copy = out_text("%s", path);
    const char *name = NULL;
    if (!json_is_object(value) || settings_plain(settings, path))
        take_out(settings, path);
    json_t *at = object_of(settings, copy, &name);
    bool    there = json_is_object(value) && json_is_object(json_object_get(at, name)); /* and nothing to add */
    bool    done = at && (there || json_object_set(at, name, value) == 0);
    free(copy);
    return done;
}

/* An object is its members, one by one: those that it does not name stay. */
static bool put_all(json_t *settings, const char *path, json_t *value)
{
    const char *name;
    json_t     *member;
    bool        done = true;
    if (json_object_size(value) == 0)
        return put_one(settings, path, value);
    json_object_foreach(value, name, member)
    {
        char *whole = out_text("%s.%s", path, name);
        done = done && put_all(settings, whole, member);
        free(whole);
    }
    return done;
}

bool settings_put(json_t *settings, const char *path, json_t *value)
{
    bool done = put_all(settings, path, value);
    json_decref(value);
    return done;
}

/* `at` stands at `path`, reached as `spelt` says (NULL: the whole); `seen`: spellings by key. */
static int check_twice(json_t *at, const char *path, const char *spelt, json_t *seen)
{
    const char *name;
    json_t     *value;
    int         status = 0;
    json_object_foreach(at, name, value)
    {
        char       *key = out_text("%s%s%s", path, *path ? "." : "", name);
        char       *own = spelt ? out_text("\"%s\" in %s", name, spelt) : out_text("\"%s\"", name);
        const char *other = out_member(seen, key);
        if (json_is_object(value))
            status = check_twice(value, key, own, seen);
        else if (*other)
            status = args_usage("", "--config: %s: is set twice, by %s and by %s", out_shown(key).text,
                                out_shown(other).text, out_shown(own).text);
        else
            json_object_set_new(seen, key, json_string(own));
        free(own);
        free(key);
        if (status != 0)
            break;
    }
    return status;
}

int settings_check_twice(json_t *config)
{
    json_t *seen = out_need(json_object());
    int     status = check_twice(config, "", NULL, seen);
    json_decref(seen);
    return status;
}
