/* SPDX-License-Identifier: MIT
 *
 * devices.c: `qst devices`: all devices of all platforms, and which of them is used. */
#include "device.h"
#include "out.h"
#include "verb.h"

static void print(const json_t *rows)
{
    static const char *const heads[] = {"",      "index", "platform",  "name",     "type",
                                        "units", "cl",    "global_mb", "local_kb", "max_group"};
    out_table                table;
    if (!json_array_size(rows))
        return;
    out_table_init(&table, "lrlllrrrrr", heads);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        double        version = out_number(row, "cl_version");
        out_table_cell(&table, "%s", out_truth(row, "picked") ? "*" : "");
        out_table_cell(&table, "%.0f", out_number(row, "index"));
        out_table_cell(&table, "%s", out_member(row, "platform"));
        out_table_cell(&table, "%s", out_member(row, "name"));
        out_table_cell(&table, "%s", out_member(row, "type"));
        out_table_cell(&table, "%.0f", out_number(row, "units"));
        out_table_cell(&table, "%.1f", version / 100);
        out_table_cell(&table, "%.0f", out_number(row, "global_mb"));
        out_table_cell(&table, "%.0f", out_number(row, "local_kb"));
        out_table_cell(&table, "%.0f", out_number(row, "max_group"));
    }
    out_table_print(&table, "");
    out_table_finish(&table);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const json_t *flags = json_object_get(row, "flags");
        printf("%.0f: driver %s, vendor %s, target %s, flags", out_number(row, "index"), out_member(row, "driver"),
               out_member(row, "vendor"), out_member(row, "target"));
        for (size_t f = 0; f < json_array_size(flags); f++)
            printf(" %s", json_string_value(json_array_get(flags, f)));
        putchar('\n');
    }
}

/* 0 where a device is picked, else why none is. */
static int picked(qst_context *context)
{
    cl_platform_id platform;
    cl_device_id   id;
    qst_error      err = {0};
    qst_status     status = qst_context_pick_device(context, &platform, &id, &err);
    return status >= 0 ? 0 : out_error("device", status, &err);
}

static int run(const args_common *common, const void *options, int argc, char **argv)
{
    device_handle device;
    (void)options;
    if (argc)
        return args_usage("devices", "%s: takes no arguments", out_shown(argv[0]).text);
    int     status = device_context(&device, common, QST_NO_PLUGINS | QST_NO_STORE);
    json_t *rows = status == 0 ? out_describe(device.context, "devices") : NULL;
    if (status == 0)
        status = rows ? picked(device.context) : EXIT_FAILED;
    if (rows && common->json)
        out_json(json_incref(rows));
    else if (rows) {
        out_harmless(rows);
        print(rows);
    }
    json_decref(rows);
    device_close(&device);
    return status;
}

const verb_info verb_devices = {
    .name = "devices",
    .arguments = "",
    .summary = "what OpenCL devices there are, and which one is used",
    .help = "The device marked * is the one that the other verbs run on: the first that --platform and --device, or\n"
            "the configuration's device.*, name; without any, the first GPU, else the first device.\n"
            "Exit code 1 where there is none.\n",
    .run = run,
};
