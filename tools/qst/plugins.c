/* SPDX-License-Identifier: MIT
 *
 * plugins.c: `qst plugins`: what brought candidates, what was refused and why. */
#include "device.h"
#include "out.h"
#include "verb.h"

#include <quernstone/matmul.h>

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

static void print_ability(const char *plugin, const json_t *ability)
{
    const char *why = out_member(ability, "why");
    printf("%s: %s: %s: %s%s%s\n", plugin, out_member(ability, "device"), out_member(ability, "name"),
           json_is_true(json_object_get(ability, "can")) ? "yes" : "no", why[0] ? ": " : "", why);
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
        const json_t *abilities = json_object_get(row, "abilities");
        for (size_t a = 0; a < json_array_size(abilities); a++)
            print_ability(out_member(row, "name"), json_array_get(abilities, a));
        for (size_t c = 0; c < json_array_size(candidates); c++)
            print_candidate(out_member(row, "name"), json_array_get(candidates, c));
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

static int run(const args_common *common, const void *options, int argc, char **argv)
{
    device_handle device;
    (void)options;
    if (argc)
        return args_usage("plugins", "%s: takes no arguments", argv[0]);
    int status = device_context(&device, common, QST_NO_STORE);
    if (status == 0)
        use_device(&device);
    json_t *rows = status == 0 ? out_describe(device.context, "plugins") : NULL;
    if (rows && common->json) {
        out_json(rows);
    } else if (rows) {
        print(rows);
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
        "can do on the device, there is a line for each, with the reason where it cannot.\n",
    .run = run,
};
