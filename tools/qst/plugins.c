/* SPDX-License-Identifier: MIT
 *
 * plugins.c: `qst plugins`: what brought candidates, what was refused and why. */
#include "device.h"
#include "out.h"
#include "verb.h"

/* A candidate is a name, or an object with what is known about its support here. */
static void print_candidate(const char *plugin, const json_t *candidate)
{
    const char *why = out_member(candidate, "why"), *supported = out_member(candidate, "supported");
    if (json_is_false(json_object_get(candidate, "supported")))
        supported = "not supported";
    printf("%s: %s%s%s%s%s\n", plugin,
           json_is_string(candidate) ? json_string_value(candidate) : out_member(candidate, "name"),
           supported[0] ? ": " : "", supported, why[0] ? ": " : "", why);
}

static void print(const json_t *rows)
{
    static const char *const heads[] = {"name", "version", "licence", "state", "candidates", "from"};
    out_table                table;
    out_table_init(&table, "llllrl", heads);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char   *path = out_member(row, "path");
        out_table_cell(&table, "%s", out_member(row, "name"));
        out_table_cell(&table, "%s", out_member(row, "version"));
        out_table_cell(&table, "%s", out_member(row, "licence"));
        out_table_cell(&table, "%s", out_member(row, "state"));
        out_table_cell(&table, "%zu", json_array_size(json_object_get(row, "candidates")));
        out_table_cell(&table, "%s", path[0] ? path : "built in");
    }
    out_table_print(&table, "");
    out_table_finish(&table);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i), *candidates = json_object_get(row, "candidates");
        if (out_member(row, "why")[0])
            printf("%s: %s: %s\n", out_member(row, "name"), out_member(row, "state"), out_member(row, "why"));
        for (size_t c = 0; c < json_array_size(candidates); c++)
            print_candidate(out_member(row, "name"), json_array_get(candidates, c));
    }
}

static int run(const args_common *common, const void *options, int argc, char **argv)
{
    (void)options;
    return device_described("plugins", common, QST_NO_STORE, argc, argv, print);
}

const verb_info verb_plugins = {
    .name = "plugins",
    .arguments = "",
    .summary = "what plugins there are, what they bring, what was refused and why",
    .help = "State `started`: its candidates race; `builtin`: part of the library; `refused`: not loaded, with the\n"
            "reason in a line of its own. A refused plugin is no failure: the exit code is 0.\n",
    .run = run,
};
