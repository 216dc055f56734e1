/* SPDX-License-Identifier: MIT
 *
 * plugins.c: `qst plugins`: what brought candidates, what was refused and why. */
#include "device.h"
#include "fold.h"
#include "out.h"
#include "verb.h"

#include <quernstone/matmul.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    bool all;
} options;

static const options     defaults = {false};
static const args_option own_options[] = {
    {"all", ARGS_FLAG, offsetof(options, all), NULL, "each candidate by itself, not as a family", 0, 0, NULL, 0},
    {NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0},
};

/* A candidate is a name, or an object with what is known about its support here. */
static const char *name_of(const json_t *candidate)
{
    return json_is_string(candidate) ? json_string_value(candidate) : out_member(candidate, "name");
}

static char *support_of(const json_t *candidate)
{
    const char *why = out_member(candidate, "why"), *supported = out_member(candidate, "supported");
    if (json_is_false(json_object_get(candidate, "supported")))
        supported = "not supported";
    return out_text("%s%s%s%s", supported[0] ? ": " : "", supported, why[0] ? ": " : "", why);
}

/* Those of which the same is said, together. */
static void print_candidates(const char *plugin, const json_t *list, bool all)
{
    size_t       n = json_array_size(list), m;
    char       **support = out_resize(NULL, n * sizeof *support);
    const char **names = out_resize(NULL, n * sizeof *names);
    for (size_t i = 0; i < n; i++)
        support[i] = support_of(json_array_get(list, i));
    for (size_t i = 0; i < n; i++) {
        size_t me = 0;
        for (size_t k = m = 0; k < n; k++) {
            if (strcmp(support[k], support[i]) != 0)
                continue;
            me = k == i ? m : me;
            names[m++] = name_of(json_array_get(list, k));
        }
        size_t as = fold_at(names, m, me, all);
        char  *text = as > 1 ? fold_text(names[me], as) : out_text("%s", names[me]);
        if (as)
            printf("%s: %s%s\n", plugin, text, support[i]);
        free(text);
    }
    for (size_t i = 0; i < n; i++)
        free(support[i]);
    free(support);
    free(names);
}

static void print_ability(const char *plugin, const json_t *ability)
{
    const char *why = out_member(ability, "why");
    printf("%s: %s: %s: %s%s%s\n", plugin, out_member(ability, "device"), out_member(ability, "name"),
           json_is_true(json_object_get(ability, "can")) ? "yes" : "no", why[0] ? ": " : "", why);
}

static void print_settings(const char *plugin, const json_t *settings)
{
    for (size_t i = 0; i < json_array_size(settings); i++) {
        const json_t *one = json_array_get(settings, i), *value = json_object_get(one, "value");
        printf("%s: setting %s%s%s\n", plugin, out_member(one, "path"), json_is_string(value) ? " = " : ", not set",
               json_is_string(value) ? json_string_value(value) : "");
    }
}

static void print(const json_t *rows, bool all)
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
        const json_t *abilities = json_object_get(row, "abilities");
        for (size_t a = 0; a < json_array_size(abilities); a++)
            print_ability(out_member(row, "name"), json_array_get(abilities, a));
        print_settings(out_member(row, "name"), json_object_get(row, "settings"));
        print_candidates(out_member(row, "name"), candidates, all);
    }
}

/* Makes the device known to the context, by a problem that computes nothing, so that plugins can be asked what they can do
 * on it. Without a device there is nothing to ask. */
static void use_device(device_handle *device)
{
    qst_matmul p;
    qst_plan  *plan = NULL;
    cl_int     code;
    if (qst_context_pick_device(device->context, &device->platform, &device->id, NULL) < 0)
        return;
    cl_context_properties of[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)device->platform, 0};
    device->cl = clCreateContext(of, 1, &device->id, NULL, NULL, &code);
    device->queue = code == CL_SUCCESS ? clCreateCommandQueue(device->cl, device->id, 0, &code) : NULL;
    qst_matmul_init(&p, 0, 1, 1, QST_F32);
    if (code == CL_SUCCESS && qst_matmul_plan(&plan, device->context, device->queue, &p, NULL) == QST_OK)
        qst_plan_destroy(plan);
}

static int run(const args_common *common, const void *given, int argc, char **argv)
{
    const options *o = given;
    device_handle  device;
    if (argc)
        return args_usage("plugins", "%s: takes no arguments", out_shown(argv[0]).text);
    int status = device_context(&device, common, QST_NO_STORE);
    if (status == 0)
        use_device(&device);
    json_t *rows = status == 0 ? out_describe(device.context, "plugins") : NULL;
    if (rows && common->json) {
        out_json(rows);
    } else if (rows) {
        out_harmless(rows);
        print(rows, o->all);
        json_decref(rows);
    } else if (status == 0) {
        status = EXIT_FAILED;
    }
    device_close(&device);
    return status;
}

const verb_info verb_plugins = {
    .name = "plugins",
    .arguments = "",
    .summary = "what plugins there are, what they bring, what was refused and why",
    .help =
        "State `started`: its candidates race; `builtin`: part of the library; `refused`: not loaded, with the\n"
        "reason in a line of its own. A refused plugin is no failure: the exit code is 0. Where a plugin tells what it\n"
        "can do on the device, there is a line for each, with the reason where it cannot; and one for each setting\n"
        "plugin.NAME.KEY that it knows.\n",
    .options = own_options,
    .defaults = &defaults,
    .options_size = sizeof(options),
    .run = run,
};
