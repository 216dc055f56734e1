/* SPDX-License-Identifier: MIT
 *
 * doctor.c: `qst doctor`: a line for each thing that is commonly wrong, with what to do about it. Which checks there are
 * is the table's business. */
#include "cache.h"
#include "check.h"
#include "core/cl/pocl_folder.h"
#include "device.h"
#include "log.h"
#include "out.h"
#include "problem.h"
#include "verb.h"

#include <errno.h>
#include <quernstone/cache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { GOOD, WARN, FAIL };
enum { POCL_PATH = 4096 };

typedef struct doctor {
    device_handle device;
    json_t       *rows;
    json_t       *picked; /* the picked device's facts, or NULL */
    qst_error     none;   /* why there is no device, or none that was asked for */
    bool          failed;
    bool          cannot_build; /* the driver ends a process in which it cannot keep what it compiles */
} doctor;

/* `advice` NULL: nothing to do. Takes both texts. */
static void say(doctor *d, int grade, const char *what, char *text, const char *advice)
{
    static const char *const grades[] = {"ok", "warn", "fail"};
    d->failed = d->failed || grade == FAIL;
    json_array_append_new(d->rows, out_need(json_pack("{s:s,s:s,s:s,s:s?}", "grade", grades[grade], "check", what,
                                                      "text", text, "advice", grade == GOOD ? NULL : advice)));
    free(text);
}

/* Or is there no device at all, which it is the cause of? */
static bool may_be_pocl(const doctor *d)
{
    return d->picked ? strstr(out_member(d->picked, "platform"), "Portable Computing Language") != NULL
                     : strstr(d->none.text, "PoCL offers none") != NULL;
}

static const char POCL_ADVICE[] = "set POCL_CACHE_DIR to a folder that can be written and has room";

/* ---- Devices ------------------------------------------------------------------------------------------------------ */

static void devices(doctor *d)
{
    json_t *all = out_describe(d->device.context, "devices");
    for (size_t i = 0; i < json_array_size(all); i++)
        if (out_truth(json_array_get(all, i), "picked"))
            d->picked = json_incref(json_array_get(all, i));
    if (!d->picked)
        qst_context_pick_device(d->device.context, &d->device.platform, &d->device.id, &d->none);
    if (!json_array_size(all))
        say(d, FAIL, "devices", out_text("%s", d->none.text),
            may_be_pocl(d) ? POCL_ADVICE
                           : "install a driver that registers itself in /etc/OpenCL/vendors, and see whether clinfo "
                             "lists it");
    else if (!d->picked)
        say(d, FAIL, "devices", out_text("%zu, none of which is the one asked for", json_array_size(all)),
            "see qst devices, and device.platform, device.name, device.index in qst config");
    else
        say(d, GOOD, "devices",
            out_text("%zu, used: %s, driver %s", json_array_size(all), out_member(d->picked, "name"),
                     out_member(d->picked, "driver")),
            NULL);
    json_decref(all);
}

/* A small product by the safe candidate, compared with the host's. */
static bool multiply(const device_handle *device, char **why)
{
    const problem_shape shape = {24, 40, 56, false};
    qst_matmul          problem;
    data_matrix         a, b, c;
    qst_error           err = {0};
    problem_from_shape(&problem, &shape, QST_F32);
    data_init(&a, &problem.a, shape.m, shape.k, problem.batch, 0, 0);
    data_init(&b, &problem.b, shape.k, shape.n, problem.batch, 0, 0);
    data_init(&c, &problem.c, shape.m, shape.n, problem.batch, 0, 0);
    data_random(&a, 1);
    data_random(&b, 2);
    unsigned char *result = out_resize(NULL, (size_t)c.bytes);
    check_task     task = {&problem, &a, &b, &c, result, NULL, 0};
    bool           good = data_upload(&a, device) && data_upload(&b, device) && data_upload(&c, device);
    if (good &&
        qst_matmul_enqueue(device->context, device->queue, &problem, a.mem, b.mem, c.mem, 0, NULL, NULL, &err) < 0) {
        good = false;
        *why = out_text("%s", err.text);
    }
    good = good && data_download(&c, device, result);
    if (good) {
        check_result check = check_product(&task);
        good = check.right;
        if (!good)
            *why = check_text(&check);
    }
    if (!good && !*why)
        *why = out_text("buffers or the queue fail");
    free(result);
    data_finish(&a);
    data_finish(&b);
    data_finish(&c);
    return good;
}

static void computes(doctor *d)
{
    char  *why = NULL;
    cl_int code = CL_SUCCESS;
    if (!d->picked)
        return;
    if (d->cannot_build) {
        say(d, WARN, "computes", out_text("not tried: PoCL ends a process in which it cannot write its cache"),
            "see the driver's cache above");
        return;
    }
    qst_context_pick_device(d->device.context, &d->device.platform, &d->device.id, NULL);
    d->device.cl = clCreateContext(NULL, 1, &d->device.id, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        d->device.queue = clCreateCommandQueue(d->device.cl, d->device.id, 0, &code);
    if (code != CL_SUCCESS)
        why = out_text("no context or no queue: OpenCL code %d", (int)code);
    else if (multiply(&d->device, &why))
        why = NULL;
    if (why)
        say(d, FAIL, "computes", why,
            "the driver does not compile, or computes wrongly: try another, or another device");
    else
        say(d, GOOD, "computes", out_text("a product of 24x40x56 is right"), NULL);
}

static void affinity(doctor *d)
{
    static const char *const advice =
        "set POCL_AFFINITY=1 in the environment of programs: times vary by a factor of two without it";
    const char *set = getenv("POCL_AFFINITY");
    if (!d->picked || !may_be_pocl(d))
        return;
    if (!set)
        say(d, WARN, "affinity",
            out_text(
                "POCL_AFFINITY is not set: qst's other verbs set it for themselves, a program's threads of PoCL may "
                "share a processor"),
            advice);
    else if (strcmp(set, "1") != 0)
        say(d, WARN, "affinity",
            out_text("POCL_AFFINITY is %s: PoCL's threads may share a processor", out_shown(set).text), advice);
    else
        say(d, GOOD, "affinity", out_text("POCL_AFFINITY is 1"), NULL);
}

/* ---- What drivers keep -------------------------------------------------------------------------------------------- */

/* What a file system has left, bytes; −1: it does not say. */
static double room_of(const char *folder)
{
    struct statvfs room;
    if (statvfs(folder, &room) != 0 || !room.f_blocks)
        return -1;
    if (room.f_files && !room.f_favail)
        return 0;
    return (double)room.f_frsize * (double)(geteuid() == 0 ? room.f_bfree : room.f_bavail);
}

/* Why nothing can be written into a folder, or made on the way to it: to be freed. NULL: it can. */
static char *unwritable(const char *path)
{
    enum { LEAST_KB = 1024 }; /* a few programs */
    struct stat   found;
    struct rlimit file = {0};
    char         *copy = out_text("%s%s", *path == '/' ? "" : "./", path), *slash, *why = NULL;
    while (stat(copy, &found) != 0 && (errno == ENOENT || errno == ENOTDIR) && (slash = strrchr(copy, '/')) != NULL)
        slash[slash == copy] = '\0';
    double room = room_of(copy);
    if (stat(copy, &found) != 0)
        why = out_text("%s: %s", copy, strerror(errno));
    else if (!S_ISDIR(found.st_mode))
        why = out_text("%s is not a folder", copy);
    else if (access(copy, W_OK | X_OK) != 0)
        why = out_text("%s cannot be written: %s", copy, strerror(errno));
    else if (room >= 0 && room < LEAST_KB * 1024.0)
        why = out_text("%s is full: its file system has %.0f KiB left, less than %d", copy, room / 1024, LEAST_KB);
    else if (getrlimit(RLIMIT_FSIZE, &file) == 0 && file.rlim_cur < LEAST_KB * 1024u)
        why = out_text("a file of this process may have %.0f KiB (RLIMIT_FSIZE), less than %d",
                       (double)file.rlim_cur / 1024, LEAST_KB);
    free(copy);
    return why;
}

static void pocl_cache(doctor *d)
{
    char folder[POCL_PATH];
    (void)qst__pocl_folder(getenv("POCL_CACHE_DIR"), getenv("XDG_CACHE_HOME"), getenv("HOME"), folder, sizeof folder);
    char *why = unwritable(folder);
    if (!why)
        say(d, GOOD, "driver's cache", out_text("%s", folder), NULL);
    else
        say(d, FAIL, "driver's cache",
            out_text("%s%s", why, d->picked ? ": PoCL builds nothing new" : ": PoCL offers no device then"),
            strstr(why, "RLIMIT_FSIZE") ? "raise the limit on the size of files (ulimit -f)" : POCL_ADVICE);
    d->cannot_build = why != NULL;
    free(why);
}

static void driver_cache(doctor *d)
{
    const char *off = getenv("CUDA_CACHE_DISABLE");
    if (may_be_pocl(d))
        pocl_cache(d);
    else if (d->picked && strstr(out_member(d->picked, "platform"), "NVIDIA") && off && strcmp(off, "1") == 0)
        say(d, WARN, "driver's cache",
            out_text("CUDA_CACHE_DISABLE is 1: programs are assembled anew in every process"),
            "unset CUDA_CACHE_DISABLE: loading a stored program takes a hundred times as long without that cache");
}

/* ---- The library -------------------------------------------------------------------------------------------------- */

static void plugins(doctor *d)
{
    json_t *all = out_describe(d->device.context, "plugins");
    size_t  refused = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *one = json_array_get(all, i);
        if (strcmp(out_member(one, "state"), "refused") != 0)
            continue;
        refused++;
        say(d, WARN, "plugins",
            out_text("%s: %s", out_member(one, "path")[0] ? out_member(one, "path") : out_member(one, "name"),
                     out_member(one, "why")),
            "mend it, remove it, or leave it out by plugins.load; files and folders must be writable by their owner alone");
    }
    if (!refused)
        say(d, GOOD, "plugins", out_text("%zu, none refused", json_array_size(all)), NULL);
    json_decref(all);
}

static void configuration(doctor *d)
{
    json_t *all = out_describe(d->device.context, "config");
    size_t  ignored = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *row = json_array_get(all, i);
        if (json_is_string(json_object_get(row, "path")))
            continue;
        ignored++;
        say(d, WARN, "configuration", out_text("%s: not read: %s", out_member(row, "origin"), out_member(row, "help")),
            "see docs/config.md for variables, and for what a file may set");
    }
    if (!ignored)
        say(d, GOOD, "configuration", out_text("%zu settings, nothing passed over", json_array_size(all)), NULL);
    json_decref(all);
}

/* It is not there, and this process does not make it. Only where somebody has named it that may be a slip. */
static void no_store(doctor *d)
{
    const char *folder = d->device.no_store;
    char       *why = unwritable(folder);
    if (why)
        say(d, WARN, "store", out_text("there is none in %s: %s", folder, why),
            "what is learnt is lost when the process ends");
    else if (d->device.named)
        say(d, WARN, "store", out_text("there is none in %s", folder),
            "if there should be one, see store.path and store.environment in qst config; whoever tunes makes it");
    else
        say(d, GOOD, "store", out_text("none yet in %s: whoever tunes makes it", folder), NULL);
    free(why);
}

static void records(doctor *d)
{
    qst_cache_check check = {.size = sizeof check};
    if (qst_cache_verify(d->device.context, 0, &check, NULL, NULL, NULL) < 0)
        say(d, FAIL, "records", out_text("the store cannot be read"), "remove its folder");
    else if (check.damaged)
        say(d, WARN, "records",
            out_text("%.0f of %.0f are damaged", (double)check.damaged,
                     (double)(check.damaged + check.current + check.stale + check.kept)),
            "qst cache verify --remove");
    else if (check.set_aside)
        say(d, WARN, "records",
            out_text("damaged stores that were set aside, with all they held: %.0f", (double)check.set_aside),
            "qst cache verify names them, qst cache verify --remove removes them");
    else
        say(d, GOOD, "records", out_text("%.0f, none damaged", (double)(check.current + check.stale + check.kept)),
            NULL);
}

static void store(doctor *d)
{
    json_t     *stat = cache_ask(d->device.context, "store", qst_cache_stat);
    const char *place = out_member(stat, "place");
    char       *why = place[0] ? unwritable(place) : NULL;
    if (!stat)
        say(d, FAIL, "store", out_text("cannot tell where it stands"), "see the line above");
    else if (d->device.no_store)
        no_store(d);
    else if (out_member(stat, "degraded")[0])
        say(d, WARN, "store", out_text("%s", out_member(stat, "degraded")),
            "answers of this process are lost at its end; see store.place and store.path in qst config");
    else if (out_truth(stat, "readonly"))
        say(d, WARN, "store", out_text("%s: only read", place), "what is learnt is lost when the process ends");
    else if (!out_truth(stat, "lasts"))
        say(d, WARN, "store", out_text("in memory: answers are lost when the process ends"),
            "set store.backend to lmdb");
    else if (why)
        say(d, WARN, "store", out_text("%s", why), "what is learnt is lost when the process ends");
    else
        say(d, GOOD, "store",
            out_text("%s: %.0f verdicts, %.0f programs", place[0] ? place : "memory",
                     out_number(json_object_get(stat, "entries"), "verdicts"),
                     out_number(json_object_get(stat, "entries"), "programs")),
            NULL);
    free(why);
    json_decref(stat);
}

/* Candidates at which processes have died here. */
static void quarantine(doctor *d)
{
    json_t *all = cache_ask(d->device.context, "quarantine", qst_cache_list);
    size_t  held = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *one = json_array_get(all, i);
        const char   *name = out_member(one, "candidate"), *standing = out_member(one, "standing");
        if (strcmp(standing, "suspect") != 0 && strcmp(standing, "quarantined") != 0)
            continue;
        held++;
        char *advice = out_text("qst cache prune --quarantine '%s' lets it be tried again", name);
        say(d, WARN, "quarantine",
            out_text("%s: %s: processes ended while they tried it, last at %s%s%s", name, standing,
                     out_member(one, "died_at"), out_member(one, "why")[0] ? ": " : "", out_member(one, "why")),
            advice);
        free(advice);
    }
    if (all && !held)
        say(d, GOOD, "quarantine", out_text("no candidate"), NULL);
    json_decref(all);
}

/* ---- All of it ---------------------------------------------------------------------------------------------------- */

static void (*const checks[])(doctor *d) = {configuration, devices, driver_cache, affinity, plugins,
                                            store,         records, quarantine,   computes};

static void print(const json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char   *advice = out_member(row, "advice");
        printf("%-5s %-15s %s\n", out_member(row, "grade"), out_member(row, "check"), out_member(row, "text"));
        if (advice[0])
            printf("      %-15s -> %s\n", "", advice);
    }
}

static int run(const args_common *common, const void *options, int argc, char **argv)
{
    static const char *const ours[] = {": store: the store ", "no variable of this name is read", NULL};
    doctor                   d;
    (void)options;
    if (argc)
        return args_usage("doctor", "%s: takes no arguments", out_shown(argv[0]).text);
    memset(&d, 0, sizeof d);
    d.rows = out_need(json_array());
    log_leave(ours);
    int status = device_still(&d.device, common);
    if (status == 0)
        for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
            checks[i](&d);
    if (status == 0 && common->json)
        out_json(json_incref(d.rows));
    else if (status == 0) {
        out_harmless(d.rows);
        print(d.rows);
    }
    json_decref(d.rows);
    json_decref(d.picked);
    device_close(&d.device);
    return status == 0 && d.failed ? EXIT_FAILED : status;
}

const verb_info verb_doctor = {
    .name = "doctor",
    .arguments = "",
    .summary = "a health check: driver, plugins, store, environment",
    .help =
        "A line for each check, `ok`, `warn` or `fail`, with what to do about it: configuration that was passed\n"
        "over, devices, what the driver keeps, PoCL's affinity, refused plugins, where the store stands, its\n"
        "records, candidates at which processes died, and a small product that is compared with the host's. Exit code 1 when one fails.\n",
    .run = run,
};
