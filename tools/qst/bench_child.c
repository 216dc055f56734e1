/* SPDX-License-Identifier: MIT
 *
 * bench_child.c: processes of their own to measure in, and medians. */
#include "bench.h"
#include "device.h"
#include "out.h"
#include "settings.h"
#include "stop.h"
#include "verb.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 24
#define PATH_SIZE 4096
#define MAP_MB    4096 /* of address space: more than a million answers take */

extern char **environ;

static pid_t running; /* 0: none; under stop_hold */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bench_spread bench_spread_of(double *values, int64_t n)
{
    bench_spread s;
    int64_t      off = (int64_t)(0.98 * sqrt((double)n) + 0.5);
    qsort(values, (size_t)n, sizeof *values, ascending);
    s.median = (values[(n - 1) / 2] + values[n / 2]) / 2;
    s.p25 = values[n / 4];
    s.p75 = values[n - 1 - n / 4];
    s.low = values[off < n / 2 ? n / 2 - off : 0];
    s.high = values[n - 1 - (off < n / 2 ? n / 2 - off : 0)];
    return s;
}

char *bench_settings(const args_common *common, const char *folder, const char *pin)
{
    json_t *settings;
    char   *text = NULL;
    if (settings_make(&settings, common) != 0)
        return NULL;
    if (settings_put(settings, "store.backend", json_string("lmdb")) &&
        settings_put(settings, "store.path", json_string(folder)) &&
        settings_put(settings, "store.map_mb", json_integer(MAP_MB)) &&
        settings_put(settings, "tune.budget_ms", json_integer(0)) &&
        (!pin || settings_put(settings, "candidates.pin", out_need(json_pack("[s]", pin)))))
        text = out_need(json_dumps(settings, JSON_COMPACT));
    else
        args_usage("bench", "store, tune or candidates is no object in --config or --set");
    json_decref(settings);
    return text;
}

/* All that comes out of the pipe, until its writer has ended. */
static void drain(int from, out_buffer *all)
{
    char    piece[4096];
    ssize_t got;
    while ((got = read(from, piece, sizeof piece)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            out_gather(all, piece, (size_t)got);
}

/* What a process of its own said on its stderr, and a line of ours where it failed and said nothing. */
static void pass_on(FILE *said, int code)
{
    char   piece[4096];
    size_t got, all = 0;
    rewind(said);
    while ((got = fread(piece, 1, sizeof piece, said)) > 0) {
        fwrite(piece, 1, got, stderr);
        all += got;
    }
    if (code != 0 && all == 0)
        out_fail("bench: a process of its own ended with exit code %d and said nothing", code);
}

static int start(pid_t *pid, int to, int errors, char **argv)
{
    char                       path[PATH_SIZE];
    ssize_t                    length = readlink("/proc/self/exe", path, sizeof path - 1);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t          group; /* of its own, with no signal blocked */
    sigset_t                   none;
    int                        code;
    if (length <= 0)
        return errno;
    path[length] = '\0';
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
    if (errors >= 0)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    sigemptyset(&none);
    posix_spawnattr_init(&group);
    posix_spawnattr_setpgroup(&group, 0);
    posix_spawnattr_setsigmask(&group, &none);
    posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    stop_hold();
    code = posix_spawn(pid, path, &actions, &group, argv, environ);
    running = code == 0 ? *pid : 0;
    stop_go();
    posix_spawnattr_destroy(&group);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* Waits for its end, and takes its status when nobody can want to end it any more. */
static int finish(pid_t pid)
{
    siginfo_t info;
    int       status = 0;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    stop_hold();
    running = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    stop_go();
    return status;
}

void bench_child_end(void)
{
    if (!running)
        return;
    (void)kill(-running, SIGKILL);
    while (waitpid(running, NULL, 0) < 0 && errno == EINTR)
        ;
}

int bench_child(const char *const *words, char **output, double *ms)
{
    char      *argv[WORDS_MAX + 3] = {"qst", "bench"};
    out_buffer all = {NULL, 0, 0};
    pid_t      pid;
    int        ends[2], status = 0;
    FILE      *said = tmpfile(); /* without one its stderr is ours */
    for (size_t i = 0; i < WORDS_MAX && words[i]; i++)
        argv[i + 2] = (char *)words[i];
    *output = NULL;
    if (pipe(ends) != 0) {
        if (said)
            fclose(said);
        return out_fail("bench: no pipe: %s", strerror(errno)), -1;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    if (said)
        fcntl(fileno(said), F_SETFD, FD_CLOEXEC);
    uint64_t begin = device_now();
    int      code = start(&pid, ends[1], said ? fileno(said) : -1, argv);
    close(ends[1]);
    if (code == 0) {
        drain(ends[0], &all);
        status = finish(pid);
    }
    *ms = (double)(device_now() - begin) / 1e6;
    close(ends[0]);
    out_gather(&all, "", 0);
    *output = all.text;
    if (said) {
        if (code == 0)
            pass_on(said, WIFEXITED(status) ? WEXITSTATUS(status) : 0);
        fclose(said);
    }
    if (code != 0)
        return out_fail("bench: the command cannot be started again: %s", strerror(code)), -1;
    if (!WIFEXITED(status))
        return out_fail("bench: a process of its own ended by signal %d", WTERMSIG(status)), -1;
    return WEXITSTATUS(status);
}
