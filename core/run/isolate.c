/* SPDX-License-Identifier: MIT
 *
 * isolate.c: see isolate.h. The process is waited for by reading what it writes until it ends.
 */
#define _GNU_SOURCE /* closing what the host has open */
#include "run/isolate.h"

#include "conf/json.h"
#include "model/field.h"
#include "run/quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM   "qst-try"
#define MARGIN_MS 5000 /* over its own deadline, after which it is ended from here */

extern char **environ;

/* What came of a trial elsewhere. */
enum { CAME_BACK, KILLS, NOTHING_LEARNT };

/* ---- What it is told ----------------------------------------------------------------------------------------------- */

static qst__json *list_of(const qst__strings *strings)
{
    qst__json *list = qst__json_array();

    for (uint32_t i = 0; i < strings->count; i++)
        qst__json_add_text(list, strings->data[i]);
    return list;
}

/* plugin.<name>.<key> of the candidate's own plugin, for the others' do not matter to it. */
static qst__json *own_settings(const qst_context *ctx, const char *plugin)
{
    qst__json  *own = qst__json_object(), *named = qst__json_object();
    char        prefix[128];
    int         length = snprintf(prefix, sizeof prefix, "plugin.%s.", plugin);
    const char *path;

    for (uint32_t i = 0; i < ctx->settings->n_pairs; i++) {
        path = ctx->settings->pairs[i].path;
        if (length > 0 && (size_t)length < sizeof prefix && !strncmp(path, prefix, (size_t)length))
            qst__json_set_text(own, path + length, ctx->settings->pairs[i].value);
    }
    qst__json_set(named, plugin, own);
    return named;
}

static void append(void *user, const char *text, size_t length)
{
    qst__str_append_n(user, text, length);
}

/* The configuration under which it is tried: the same device and plugins, this candidate alone, and no probes. */
static bool make_config(const qst__shelf *shelf, uint32_t candidate, qst__str *out)
{
    const qst_context    *ctx = shelf->site->ctx;
    const qst__candidate *c = &shelf->set->model.candidates[candidate];
    qst__json            *all = qst__json_object(), *plugins = qst__json_object(), *tune = qst__json_object();
    qst__json            *device = qst__json_object(), *candidates = qst__json_object(), *pin = qst__json_array();
    bool                  made;

    qst__json_set_text(device, "platform", shelf->site->facts.device.platform);
    qst__json_set_text(device, "name", shelf->site->facts.device.name);
    qst__json_set(plugins, "dirs", list_of(&ctx->settings->plugin_dirs));
    qst__json_set(plugins, "load", list_of(&ctx->settings->plugin_load));
    qst__json_set_bool(tune, "short_circuit", false);
    qst__json_set_text(tune, "isolate", "none");
    qst__json_set_int(tune, "memory_mb", ctx->settings->memory_mb);
    qst__json_add_text(pin, c->name);
    qst__json_set(candidates, "pin", pin);
    qst__json_set(all, "device", device);
    qst__json_set(all, "plugins", plugins);
    qst__json_set(all, "plugin", own_settings(ctx, ctx->plugins.list.data[c->origin].name));
    qst__json_set(all, "tune", tune);
    qst__json_set(all, "candidates", candidates);
    made = qst__json_write(all, false, append, out) == QST_OK && !out->failed;
    qst__json_destroy(all);
    return made;
}

/* The program beside the folder of plugins. */
static bool find_program(const qst_context *ctx, qst__str *path)
{
    char *home = NULL, *slash;

    if (qst__plugins_home(&ctx->alloc, &home) != QST_OK)
        return false;
    slash = strrchr(home, '/');
    if (slash)
        qst__str_printf(path, "%.*s/%s", (int)(slash - home), home, PROGRAM);
    qst__free(&ctx->alloc, home);
    return slash && !path->failed && access(path->text, X_OK) == 0;
}

/* ---- The process --------------------------------------------------------------------------------------------------- */

/* Starts it with default signals, nothing open that is the host's, and what it says to read here. */
static bool start(char *const *arguments, pid_t *pid, int *from)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t          how;
    sigset_t                   none, all;
    int                        ends[2];
    bool                       started;

    if (pipe(ends))
        return false;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    started = posix_spawn(pid, arguments[0], &files, &how, arguments, environ) == 0;
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    *from = ends[0];
    if (!started)
        close(ends[0]);
    return started;
}

/* Reads until it ends. Too late: it is killed. The program may wait for children of its own, and take ours. */
static void listen(const qst_context *ctx, pid_t pid, int from, char *said, size_t room)
{
    uint64_t end = qst__now(&ctx->clock) + (uint64_t)(ctx->settings->isolate_ms + MARGIN_MS) * 1000000u, now;
    size_t   used = 0;
    ssize_t  n = 1;

    while (n && (now = qst__now(&ctx->clock)) < end) {
        struct pollfd one = {from, POLLIN, 0};
        uint64_t      left = (end - now) / 1000000u + 1;
        if (poll(&one, 1, left < 1000 ? (int)left : 1000) <= 0)
            continue;
        n = used + 1 < room ? read(from, said + used, room - used - 1) : 0;
        if (n < 0 && errno != EINTR)
            break;
        used += n > 0 ? (size_t)n : 0;
    }
    said[used] = '\0';
    close(from);
    if (n)
        kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* ---- What it says -------------------------------------------------------------------------------------------------- */

/* Signals that a program brings on itself. Others come from outside. */
static const char *name_of_crash(int number)
{
    static const struct {
        int         number;
        const char *name;
    } crashes[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
                   {SIGILL, "SIGILL"},   {SIGFPE, "SIGFPE"},   {SIGSYS, "SIGSYS"}};

    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (crashes[i].number == number)
            return crashes[i].name;
    return NULL;
}

static int read_answer(const qst_context *ctx, const char *said, char why[QST__WHY_BYTES])
{
    const char *crash;
    int         number;

    if (!strncmp(said, "ok", 2))
        return CAME_BACK;
    if (!strncmp(said, "late", 4)) {
        snprintf(why, QST__WHY_BYTES, "it had not ended after %lld ms in a process of its own",
                 (long long)ctx->settings->isolate_ms);
        return KILLS;
    }
    if (sscanf(said, "exit %d", &number) == 1) {
        snprintf(why, QST__WHY_BYTES, "it ended a process of its own, with status %d", number);
        return KILLS;
    }
    crash = sscanf(said, "signal %d", &number) == 1 ? name_of_crash(number) : NULL;
    if (crash)
        snprintf(why, QST__WHY_BYTES, "it died of %s in a process of its own", crash);
    else
        snprintf(why, QST__WHY_BYTES, "%.*s", (int)strcspn(said, "\n"), *said ? said : "it said nothing");
    return crash ? KILLS : NOTHING_LEARNT;
}

static int try_elsewhere(const qst__shelf *shelf, uint32_t candidate, char *problem, char why[QST__WHY_BYTES])
{
    const qst_context    *ctx = shelf->site->ctx;
    const qst__candidate *c = &shelf->set->model.candidates[candidate];
    qst__str              program, config;
    char                  ms[32], said[256];
    pid_t                 pid;
    int                   from, answer = NOTHING_LEARNT;

    snprintf(why, QST__WHY_BYTES, "%s cannot be started", PROGRAM);
    if (c->origin >= ctx->plugins.list.count) {
        snprintf(why, QST__WHY_BYTES, "it is the program's own, and in no plugin");
        return NOTHING_LEARNT;
    }
    qst__str_init(&program, &ctx->alloc);
    qst__str_init(&config, &ctx->alloc);
    snprintf(ms, sizeof ms, "%lld", (long long)ctx->settings->isolate_ms);
    if (find_program(ctx, &program) && make_config(shelf, candidate, &config)) {
        char *const arguments[] = {program.text, config.text, (char *)shelf->set->model.op.name, problem, c->name,
                                   ms,           NULL};
        if (start(arguments, &pid, &from)) {
            listen(ctx, pid, from, said, sizeof said);
            answer = read_answer(ctx, said, why);
        }
    }
    qst__str_finish(&config);
    qst__str_finish(&program);
    return answer;
}

qst_status qst__isolate(qst__shelf *shelf, uint32_t candidate, const void *problem, qst_error *err)
{
    const qst_context *ctx = shelf->site->ctx;
    int32_t            whom = ctx->settings->isolate;
    const char        *name = shelf->set->model.candidates[candidate].name;
    char               why[QST__WHY_BYTES];
    qst__str           text;
    qst_status         status = QST_OK;
    int                answer;

    if (whom == QST__ISOLATE_NONE || candidate == shelf->set->model.fallback || qst__quarantine_bars(shelf, candidate))
        return QST_OK;
    qst__str_init(&text, &ctx->alloc);
    if (whom == QST__ISOLATE_ALL)
        qst__problem_print(&shelf->set->model.op, problem, &text);
    else
        qst__quarantine_place(shelf, candidate, &text);
    if (!text.failed && text.length) {
        answer = try_elsewhere(shelf, candidate, text.text, why);
        if (answer == NOTHING_LEARNT && whom == QST__ISOLATE_ALL)
            status =
                qst__fail(err, QST_E_REFUSED, name, "tune.isolate is all, and it cannot be tried elsewhere: %s", why);
        else if (answer == NOTHING_LEARNT)
            QST__LOG(&ctx->log, TUNE, INFO, "%s is suspect, and not tried elsewhere first: %s", name, why);
        else
            qst__quarantine_learn(shelf, candidate, text.text, answer == KILLS ? why : NULL);
    }
    qst__str_finish(&text);
    return status;
}
