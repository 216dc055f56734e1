/* SPDX-License-Identifier: MIT
 *
 * conf.h: the effective configuration from its sources, lowest first: defaults, the user's file
 * ($XDG_CONFIG_HOME/quernstone/config.json or ~/.config/…), the nearest quernstone.json upwards from the working
 * directory, the file that QST_CONFIG names, QST_* variables, the API's text.
 *
 * Each key has one schema row: path, type, default, bounds, help, and which sources may set it. A file found by
 * walking up may set tune, groups, candidates and log; never a path of code or output. An unknown or misspelt key, a
 * value of the wrong type or out of bounds, is E_CONFIG with source and path (a near name is suggested).
 *
 * A missing file is fine, save the one that QST_CONFIG names; one that cannot be read is E_CONFIG. A project's file
 * that belongs to another user than root and this one is passed over and noted. Without `env` no variable is read, so
 * that there is no user's file and none named by QST_CONFIG. Relative paths are relative to the file that says them,
 * those of a variable or the API to the working directory. A list replaces a lower source's, but for two:
 * QST_PLUGIN_PATH goes in front of it, and candidates.deny is put to it.
 */
#ifndef QST_CONF_CONF_H
#define QST_CONF_CONF_H

#include "base/base.h"
#include "base/settings.h"

enum { QST__FROM_DEFAULT, QST__FROM_USER, QST__FROM_PROJECT, QST__FROM_FILE, QST__FROM_ENV, QST__FROM_API };

typedef struct qst__conf qst__conf; /* settings with the origin of each */

typedef struct qst__conf_sources {
    bool        files;
    bool        env;
    const char *directory; /* where the walk upwards starts; NULL: the working directory */
    const char *api;       /* JSON text, NULL: none */
} qst__conf_sources;

qst_status           qst__conf_create(qst__conf **conf, const qst__alloc *alloc, const qst__conf_sources *sources,
                                      qst_error *err);
void                 qst__conf_destroy(qst__conf *conf);
const qst__settings *qst__conf_settings(const qst__conf *conf);

/* Calls `each` once for every plugin of which plugin.<name>.<key> says something, in the order in which they were
 * first named: with its name, the first key's path, and that key's origin. Only who has loaded the plugins can tell
 * that there is none of this name, and should say so: a misspelt name is obeyed by nobody. E_NOMEM. */
typedef void qst__conf_named(void *user, const char *name, const char *path, const char *origin);
qst_status   qst__conf_plugins_named(const qst__conf *conf, qst__conf_named *each, void *user);

/* Calls `each` for every variable of the environment that begins as ours do, has a value, and is read by nobody: with its
 * name and what is to be said of it. */
typedef void qst__conf_unread(void *user, const char *name, const char *why);
void         qst__conf_variables_unread(const qst__conf *conf, qst__conf_unread *each, void *user);

/* For `qst config`: an array of {path, value, origin, default, help}; origin is a file, a variable, "API" or
 * "default". Open-ended keys follow the others, as far as they are set; then files and variables that were passed over, with path
 * null, the file or variable as origin and the reason as help. Makes nothing of the configuration's own; E_NOMEM. */
struct qst__json;
qst_status qst__conf_describe(const qst__conf *conf, struct qst__json **out);

#endif
