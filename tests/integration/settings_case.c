/* SPDX-License-Identifier: MIT
 *
 * settings_case.c: see settings_case.h. */
#include "settings_case.h"

#include "conf/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *told;
void (*settings_before)(void);

/* Is the path's section one of the words? */
static bool in_section(const char *path, const char *sections)
{
    size_t length = strcspn(path, ".");

    for (const char *at = sections; *at; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word == length && strncmp(at, path, length) == 0)
            return true;
        at += word;
    }
    return false;
}

void settings_run(const setting_case *cases, size_t count, const char *sections)
{
    for (uint32_t row = 0; row < qst__schema_rows; row++) {
        const char *path = qst__schema[row].path;
        size_t      i = 0;
        if (!in_section(path, sections))
            continue;
        while (i < count && strcmp(cases[i].path, path))
            i++;
        if (i == count)
            fail_msg("%s has no case that shows what it does", path);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t row = 0;
        while (row < qst__schema_rows && strcmp(qst__schema[row].path, cases[i].path))
            row++;
        if (row == qst__schema_rows)
            fail_msg("%s is no key", cases[i].path);
        print_message("%s\n", cases[i].path);
        if (settings_before)
            settings_before();
        if (cases[i].effect)
            cases[i].effect();
    }
    free(told);
    told = NULL;
}

void settings_sections(const char *sections)
{
    for (uint32_t row = 0; row < qst__schema_rows; row++)
        if (!in_section(qst__schema[row].path, sections))
            fail_msg("the section of %s is in no test", qst__schema[row].path);
}

static void keep(qst_context *ctx, void *user)
{
    char  *verdicts = blend_describe(ctx, "verdicts"), *decisions = blend_describe(ctx, "decisions");
    size_t bytes = strlen(verdicts) + strlen(decisions) + 1;

    (void)user;
    free(told);
    told = malloc(bytes);
    assert_non_null(told);
    (void)snprintf(told, bytes, "%s%s", verdicts, decisions);
    free(verdicts);
    free(decisions);
    for (char *from = told, *to = told;; from++) { /* without blanks */
        *to = *from;
        to += *from != ' ';
        if (!*from)
            break;
    }
}

const field_report *settings_seen(const char *folder, const char *set, const char *config)
{
    static field_report r;
    field_job           job = {.plain = true, .folder = folder, .set = set, .config = config, .first = 24, .keys = 2};

    field_run_and_look(&job, &r, keep, NULL);
    if (r.status != QST_OK)
        fail_msg("%s", r.error);
    return &r;
}

bool settings_told(const char *text)
{
    return strstr(told, text) != NULL;
}
