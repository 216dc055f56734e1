/* SPDX-License-Identifier: MIT
 *
 * config.c: `qst config`: every setting with its value and who set it. */
#include "device.h"
#include "out.h"
#include "verb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the command takes where nobody sets it, and its verbs that do. */
static const struct {
    const char *path, *value, *verbs;
} OWN[] = {
    {"tune.budget_ms", "0", "tune, shapes, run, explain, bench"},
    {"tune.wait", "true", "tune"},
    {"log", "\"warn\"", "all verbs"},
};

/* Rows of these get `command`, that value. The variable by which it has warnings logged is its own doing. */
static void amend(json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        if (strcmp(out_member(row, "path"), "log") == 0 && device_warns() &&
            strcmp(out_member(row, "origin"), "QST_LOG") == 0) {
            json_object_set(row, "value", json_object_get(row, "default"));
            json_object_set_new(row, "origin", json_string("default"));
        }
        for (size_t k = 0; k < sizeof OWN / sizeof *OWN; k++)
            if (strcmp(out_member(row, "path"), OWN[k].path) == 0 &&
                strcmp(out_member(row, "origin"), "default") == 0 &&
                (strcmp(OWN[k].path, "log") != 0 || device_warns()))
                json_object_set_new(row, "command", out_need(json_loads(OWN[k].value, JSON_DECODE_ANY, NULL)));
    }
}

/* A value on one line; the caller frees. */
static char *value_text(const json_t *value)
{
    if (!value || json_is_null(value))
        return out_text("-");
    return out_need(json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9)));
}

static void print_own(const json_t *rows)
{
    static const char *const heads[] = {"path", "value", "verbs"};
    out_table                table;
    out_table_init(&table, "lll", heads);
    for (size_t i = 0; i < json_array_size(rows); i++)
        for (size_t k = 0; k < sizeof OWN / sizeof *OWN; k++)
            if (json_object_get(json_array_get(rows, i), "command") &&
                strcmp(out_member(json_array_get(rows, i), "path"), OWN[k].path) == 0) {
                out_table_cell(&table, "%s", OWN[k].path);
                out_table_cell(&table, "%s", OWN[k].value);
                out_table_cell(&table, "%s", OWN[k].verbs);
            }
    if (table.n > table.columns) {
        puts("What qst itself takes, as nobody sets it:");
        out_table_print(&table, "  ");
    }
    out_table_finish(&table);
}

static void print(const json_t *rows)
{
    static const char *const heads[] = {"path", "value", "origin", "default", "help"};
    out_table                table;
    out_table_init(&table, "lllll", heads);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        char *value = value_text(json_object_get(row, "value")), *usual = value_text(json_object_get(row, "default"));
        out_table_cell(&table, "%s", out_member(row, "path"));
        out_table_cell(&table, "%s", value);
        out_table_cell(&table, "%s", out_member(row, "origin"));
        out_table_cell(&table, "%s", usual);
        out_table_cell(&table, "%s", out_member(row, "help"));
        free(value);
        free(usual);
    }
    out_table_print(&table, "");
    out_table_finish(&table);
    print_own(rows);
}

static int run(const args_common *common, const void *options, int argc, char **argv)
{
    (void)options;
    return device_described("config", common, QST_NO_PLUGINS | QST_NO_STORE, argc, argv, amend, print);
}

const verb_info verb_config = {
    .name = "config",
    .arguments = "",
    .summary = "settings in force and where each comes from",
    .help =
        "Sources, lowest first: defaults, the user's file, the nearest quernstone.json upwards from here, the file\n"
        "that QST_CONFIG names, QST_* variables, and --config, --set and options such as --level (origin `API`). What\n"
        "a program gets; where qst itself takes another value, as nobody sets one, that is told below (JSON: `command`).\n",
    .groups = ARGS_LEVEL | ARGS_TUNE,
    .run = run,
};
