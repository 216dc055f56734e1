/* SPDX-License-Identifier: MIT
 *
 * settings_case.h: for each key of the configuration a case that shows what it does. */
#ifndef QST_TESTS_SETTINGS_CASE_H
#define QST_TESTS_SETTINGS_CASE_H

#include "support/field_case.h"

#include <stddef.h>

typedef struct setting_case {
    const char *path;     /* as in the schema */
    void (*effect)(void); /* NULL: another test shows it, which a comment names */
} setting_case;

/* Runs the cases. Fails where a key of one of the sections (separated by blanks) has none, or a case no key. */
void settings_run(const setting_case *cases, size_t count, const char *sections);

/* Called before each case; NULL: nothing is. */
extern void (*settings_before)(void);

/* Fails where the schema has a section that is none of these. */
void settings_sections(const char *sections);

/* A run over two keys with a folder (NULL: no store) and settings, none but these; what the context says of its verdicts
 * and decisions stays until the next run. */
const field_report *settings_seen(const char *folder, const char *set, const char *config);
bool                settings_told(const char *text); /* do they have it, written without blanks? */

#endif
