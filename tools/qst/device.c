/* SPDX-License-Identifier: MIT
 *
 * device.c: opens what verbs work on; which device that is, the library decides from the configuration. */
#include "device.h"

#include "cache.h"
#include "log.h"
#include "out.h"
#include "settings.h"
#include "stop.h"
#include "verb.h"

#include <errno.h>
#include <quernstone/cache.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool device_ok(cl_int code, const char *call)
{
    if (code != CL_SUCCESS)
        out_fail("%s: OpenCL code %d", call, (int)code);
    return code == CL_SUCCESS;
}

uint64_t device_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The library's word on a tuning, which takes seconds, as one line of a terminal. */
static void tell_progress(void *user, const char *key, uint32_t done, uint32_t total, const char *candidate)
{
    enum { KEY_COLUMNS = 24 };
    size_t shown = strlen(key);
    (void)user;
    stop_here(key); /* what was found is kept, and nobody is tried yet, or nobody else, or nobody any more */
    if (shown > KEY_COLUMNS)
        for (shown = KEY_COLUMNS; shown > 0 && key[shown] != ' ';) /* whole words */
            shown--;
    if (!candidate)
        out_progress(NULL);
    else
        out_progress("tuning %.*s%s: %u of %u, %.40s", (int)shown, key, key[shown] ? "…" : "", (unsigned)done,
                     (unsigned)total, candidate);
}

/* Of settings there are files, variables and, which the library calls API, what this command line says. */
static void tell_refused(qst_status status, const qst_error *err, const args_common *common)
{
    static const char own[] = "API: ";
    const char       *text = err->text + sizeof own - 1;
    if (strcmp(err->source, "conf") != 0)
        out_error("context", status, err);
    else if (strncmp(err->text, own, sizeof own - 1) != 0)
        out_fail("configuration: %s", err->text);
    else
        out_fail("configuration: %s: %s", settings_source(common, text), text);
}

/* A store that was asked for and cannot be opened is memory instead, in which there is nothing to do. The reason, to be
 * freed; NULL: it is there. */
static char *missing_store(qst_context *context, const char *verb)
{
    json_t     *stat = cache_ask(context, verb, qst_cache_stat);
    const char *degraded = out_member(stat, "degraded");
    char       *why = degraded[0] && !out_member(stat, "place")[0] ? out_text("%s", degraded) : NULL;
    json_decref(stat);
    return why;
}

bool device_setting_is(qst_context *context, const char *path, const char *member, const char *text)
{
    json_t *rows = out_describe(context, "config");
    bool    is = false;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(out_member(row, "path"), path) == 0)
            is = strcmp(json_is_true(json_object_get(row, member)) ? "true" : out_member(row, member), text) == 0;
    }
    json_decref(rows);
    return is;
}

/* Is a setting the library's default, said by nobody? */
static bool is_unsaid(qst_context *context, const char *path)
{
    return device_setting_is(context, path, "origin", "default");
}

static bool tunes(qst_context *context)
{
    return device_setting_is(context, "tune.mode", "value", "tune") ||
           device_setting_is(context, "tune.mode", "value", "background");
}

static bool warns;

bool device_warns(void)
{
    return warns;
}

/* Warnings are shown where neither a file nor a variable says what is logged: told by the variable, so that it is set
 * before the first context has anything to warn of. */
static void show_warnings(void)
{
    qst_options  options;
    qst_context *look = NULL;
    qst_options_init(&options);
    options.flags = QST_NO_PLUGINS | QST_NO_STORE;
    options.sink = log_take;
    if (getenv("QST_LOG"))
        return;
    warns = qst_context_create(&look, &options, NULL) < 0 || is_unsaid(look, "log");
    if (warns)
        (void)setenv("QST_LOG", "warn", 1);
    qst_context_destroy(look);
}

static int create(qst_context **context, const args_common *common, const json_t *settings, uint32_t flags)
{
    qst_options options;
    qst_error   err = {0};
    char       *text = out_need(json_dumps(settings, JSON_COMPACT));
    show_warnings();
    qst_options_init(&options);
    options.flags = flags;
    options.config = text;
    options.progress = tell_progress;
    options.sink = log_take;
    log_hold(true, NULL);
    qst_status status = qst_context_create(context, &options, &err);
    char      *missing =
        status >= 0 && common->keeps && !(flags & QST_NO_STORE) ? missing_store(*context, common->keeps) : NULL;
    log_hold(false, missing);
    free(text);
    if (status >= 0 && !missing)
        return 0;
    if (missing) {
        out_fail("%s: %s", common->keeps, missing);
        free(missing);
        qst_context_destroy(*context);
        *context = NULL;
        return EXIT_FAILED;
    }
    *context = NULL;
    tell_refused(status, &err, common);
    return status == QST_E_CONFIG ? EXIT_USAGE : EXIT_FAILED;
}

/* The path that a line about the store quotes first; to be freed, NULL: it quotes none. */
static char *quoted(const char *line)
{
    const char *from = strchr(line, '\''), *to = from ? strchr(from + 1, '\'') : NULL;
    return to ? out_text("%.*s", (int)(to - from - 1), from + 1) : NULL;
}

/* The folder of a store that was asked for and is not there, to be freed; NULL: it is, or something else is wrong with it,
 * which the one who opens it tells. It is looked for as one that is not to be written, which makes none. 0, or the exit
 * code after one line. */
static int look_for_store(char **folder, const args_common *common, const json_t *settings)
{
    json_t      *only_read = out_need(json_deep_copy(settings));
    args_common  own = *common;
    qst_context *look = NULL;
    own.keeps = NULL;
    settings_put(only_read, "store.readonly", json_true());
    settings_put(only_read, "log", json_string("off"));
    int   status = create(&look, &own, only_read, QST_NO_PLUGINS);
    char *why = status == 0 ? missing_store(look, "store") : NULL, *named = why ? quoted(why) : NULL;
    char *data = named ? out_text("%s/data.mdb", named) : NULL;
    bool  gone = data && access(data, F_OK) != 0 && errno == ENOENT;
    *folder = gone ? out_text("%s", named) : NULL;
    free(data);
    free(named);
    free(why);
    qst_context_destroy(look);
    json_decref(only_read);
    return status;
}

/* Whoever only reads makes no store, be its name a slip. */
static int find_store(const args_common *common, const json_t *settings)
{
    char *folder = NULL;
    int   status = look_for_store(&folder, common, settings);
    if (folder)
        status = out_fail("%s: there is no store in %s", common->keeps, folder);
    free(folder);
    return status;
}

/* … and where it goes on without one, it goes on in memory. */
static int leave_out_store(device_handle *device, const args_common *common, json_t *settings)
{
    int status = look_for_store(&device->no_store, common, settings);
    if (status == 0 && device->no_store)
        settings_put(settings, "store.readonly", json_true());
    return status;
}

/* Is a store meant that somebody named, who may have misspelt it? */
static bool is_named(qst_context *said)
{
    return !is_unsaid(said, "store.path") || !is_unsaid(said, "store.environment");
}

int device_context(device_handle *device, const args_common *common, uint32_t flags)
{
    json_t *settings;
    memset(device, 0, sizeof *device);
    int status = settings_make(&settings, common);
    if (status == 0 && common->keeps && common->reads)
        status = find_store(common, settings);
    if (status == 0)
        status = create(&device->context, common, settings, flags);
    json_decref(settings);
    return status;
}

/* Whatever is wrong with what the user said is told of what the user said, before anything is put over it. */
static int create_as_said(qst_context **said, const args_common *common, const json_t *settings)
{
    return create(said, common, settings, QST_NO_PLUGINS | QST_NO_STORE);
}

int device_still(device_handle *device, const args_common *common)
{
    json_t      *settings;
    qst_context *said = NULL;
    memset(device, 0, sizeof *device);
    int status = settings_make(&settings, common);
    if (status == 0)
        status = create_as_said(&said, common, settings);
    device->named = status == 0 && is_named(said);
    qst_context_destroy(said);
    if (status == 0)
        status = leave_out_store(device, common, settings);
    if (status == 0) {
        settings_put(settings, "tune.mode", json_string("fallback"));
        status = create(&device->context, common, settings, 0);
    }
    json_decref(settings);
    return status;
}

static int open_context(device_handle *device, const args_common *common, const char *pin)
{
    json_t      *settings;
    qst_context *asked = NULL;
    int          status = settings_make(&settings, common);
    if (status == 0 && pin) {
        settings_put(settings, "candidates.pin", out_need(json_pack("[s]", pin)));
        settings_put(settings, "store.backend", json_string("memory"));
    }
    if (status == 0)
        status = create_as_said(&asked, common, settings);
    if (status == 0 && is_unsaid(asked, "tune.budget_ms"))
        settings_put(settings, "tune.budget_ms", json_integer(0));
    if (status == 0 && common->keeps && is_unsaid(asked, "tune.wait")) /* another process may be at it */
        settings_put(settings, "tune.wait", json_true());
    bool reads = status == 0 && common->reads && (is_named(asked) || !tunes(asked));
    qst_context_destroy(asked);
    if (reads)
        status = leave_out_store(device, common, settings);
    if (status == 0)
        status = create(&device->context, common, settings, 0);
    json_decref(settings);
    return status;
}

int device_apart(qst_context **context, const args_common *common, const char *pin, const char *fallback)
{
    json_t      *settings;
    qst_context *asked = NULL;
    int          status = settings_make(&settings, common);
    *context = NULL;
    if (status == 0)
        status = create_as_said(&asked, common, settings);
    bool free = pin || is_unsaid(asked, "tune.budget_ms");
    qst_context_destroy(asked);
    if (status != 0) {
        json_decref(settings);
        return status;
    }
    settings_put(settings, "store.backend", json_string("memory"));
    settings_put(settings, "tune.mode", json_string("tune"));
    if (pin) {
        bool other = strcmp(pin, fallback) != 0;
        settings_put(settings, "candidates.pin", out_need(json_pack("[s]", pin)));
        settings_put(settings, "candidates.deny", out_need(other ? json_pack("[ss]", "", fallback) : json_array()));
        settings_put(settings, "log", json_string("error")); /* that it cannot run something is no news */
        settings_put(settings, "tune.verify", json_false());
    }
    if (free)
        settings_put(settings, "tune.budget_ms", json_integer(0));
    status = create(context, common, settings, 0);
    json_decref(settings);
    return status;
}

int device_open(device_handle *device, const args_common *common, const char *pin)
{
    qst_error err = {0};
    cl_int    code;
    memset(device, 0, sizeof *device);
    int status = open_context(device, common, pin);
    if (status != 0)
        return status;
    qst_status picked = qst_context_pick_device(device->context, &device->platform, &device->id, &err);
    if (picked < 0)
        return out_error("device", picked, &err);
    cl_context_properties of[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)device->platform, 0};
    device->cl = clCreateContext(of, 1, &device->id, NULL, NULL, &code);
    if (!device_ok(code, "clCreateContext"))
        return EXIT_FAILED;
    device->queue = clCreateCommandQueue(device->cl, device->id, 0, &code);
    return device_ok(code, "clCreateCommandQueue") ? 0 : EXIT_FAILED;
}

void device_close(device_handle *device)
{
    if (device->queue) {
        clFinish(device->queue);
        qst_context_settle(device->context);
        clReleaseCommandQueue(device->queue);
    }
    qst_context_destroy(device->context);
    if (device->cl)
        clReleaseContext(device->cl);
    free(device->no_store);
    memset(device, 0, sizeof *device);
}

int device_described(const char *what, const args_common *common, uint32_t flags, int argc, char **argv,
                     void (*amend)(json_t *rows), void (*print)(const json_t *rows))
{
    device_handle device;
    if (argc)
        return args_usage(what, "%s: takes no arguments", out_shown(argv[0]).text);
    int     status = device_context(&device, common, flags);
    json_t *rows = status == 0 ? out_describe(device.context, what) : NULL;
    if (status == 0 && !rows)
        status = EXIT_FAILED;
    if (rows && amend)
        amend(rows);
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

json_t *device_facts(const device_handle *device)
{
    json_t *rows = out_describe(device->context, "devices"), *facts = NULL;
    if (!rows)
        return NULL;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (out_truth(row, "picked"))
            facts =
                json_pack("{s:s,s:s,s:s,s:s}", "name", out_member(row, "name"), "platform", out_member(row, "platform"),
                          "driver", out_member(row, "driver"), "target", out_member(row, "target"));
    }
    json_decref(rows);
    if (!facts)
        out_fail("device: none of those described is the picked one");
    return facts;
}
