/* SPDX-License-Identifier: MIT
 *
 * settings.h: the configuration that the command hands to the library: --config, then --set, then the shortcuts.
 */
#ifndef QST_TOOL_SETTINGS_H
#define QST_TOOL_SETTINGS_H

#include "args.h"

#include <jansson.h>

/* 0 with an object in *settings, or EXIT_USAGE after one line. */
int settings_make(json_t **settings, const args_common *common);

/* Puts a value at a path of names joined by dots over what was said of it in any spelling, an object member by member;
 * makes what is missing on the way, takes the value. False where something that is no object stands in the way. */
bool settings_put(json_t *settings, const char *path, json_t *value);

/* What is said of a path, in whichever spelling; NULL: nothing. Is it said, and no object? */
json_t *settings_said(const json_t *settings, const char *path);
bool    settings_plain(const json_t *settings, const char *path);

/* 0, or EXIT_USAGE after one line: --config says a key in two spellings. Once an option is put over both, it would count
 * for nothing that they differ. */
int settings_check_twice(json_t *config);

/* Which of its options said what an error text of the library, `KEY: …`, is about. */
const char *settings_source(const args_common *common, const char *text);

#endif
