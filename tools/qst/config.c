/* SPDX-License-Identifier: MIT
 *
 * config.c: `qst config`: every setting with its value and who set it. */
#include "device.h"
#include "out.h"
#include "verb.h"

#include <stdlib.h>

/* A value on one line; the caller frees. */
static char *value_text(const json_t *value)
{
    if (!value || json_is_null(value))
        return out_text("-");
    return out_need(json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9)));
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
}

static int run(const args_common *common, const void *options, int argc, char **argv)
{
    (void)options;
    return device_described("config", common, QST_NO_PLUGINS | QST_NO_STORE, argc, argv, print);
}

const verb_info verb_config = {
    .name = "config",
    .arguments = "",
    .summary = "settings in force and where each comes from",
    .help =
        "Sources, lowest first: defaults, the user's file, the nearest quernstone.json upwards from here, the file\n"
        "that QST_CONFIG names, QST_* variables, and --config and --set (origin `API`).\n",
    .groups = ARGS_LEVEL | ARGS_TUNE,
    .run = run,
};
