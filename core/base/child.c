/* SPDX-License-Identifier: MIT
 *
 * child.c: see child.h. One socket carries both directions; all waiting is in short slices, between which the deadline,
 * the wish to stop and the process itself are looked at: a copy of the host's may hold the other end open. */
#define _GNU_SOURCE /* closing what the host has open */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 20                    /* between two looks */
#define NAP_NS  1000000               /* between two looks whether it has ended */
#define HELD_NS UINT64_C(10000000000) /* after which what was killed is left to itself */

extern char **environ;

/* ---- Its start -------------------------------------------------------------------------------------------------- */

/* First the socket: if it has one of these three numbers itself, it may be overwritten afterwards. */
static int prepare(posix_spawn_file_actions_t *files, posix_spawnattr_t *how, int theirs)
{
    sigset_t none, all;
    int      code;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    code = posix_spawn_file_actions_adddup2(files, theirs, STDIN_FILENO);
    if (!code)
        code = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!code)
        code = posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (!code)
        code = posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
    if (!code)
        code = posix_spawnattr_setsigmask(how, &none);
    if (!code)
        code = posix_spawnattr_setsigdefault(how, &all);
    if (!code)
        code = posix_spawnattr_setflags(how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return code;
}

static int spawn(pid_t *pid, char *const *argv, int theirs)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t          how;
    int                        code = posix_spawn_file_actions_init(&files);

    if (code)
        return code;
    code = posix_spawnattr_init(&how);
    if (!code) {
        code = prepare(&files, &how, theirs);
        if (!code)
            code = posix_spawn(pid, argv[0], &files, &how, argv, environ);
        (void)posix_spawnattr_destroy(&how);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    return code;
}

int qst__child_start(qst__child *child, char *const *argv)
{
    int pair[2], code;

    *child = QST__CHILD_NONE;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return errno;
    code = spawn(&child->pid, argv, pair[1]);
    (void)close(pair[1]);
    if (code)
        (void)close(pair[0]);
    else
        child->socket = pair[0];
    return code;
}

/* ---- Talking ---------------------------------------------------------------------------------------------------- */

/* Has it ended, or been reaped by somebody else? It is not reaped here. */
static bool is_gone(pid_t pid)
{
    siginfo_t info;

    info.si_pid = 0;
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) ? errno == ECHILD : info.si_pid == pid;
}

static bool is_patient(const qst__patience *patience)
{
    return !(patience->stop && atomic_load(patience->stop)) && qst__now(patience->clock) < patience->until;
}

/* Waits until the socket is ready, which it also is when the other end is closed. */
static qst__talk wait_for(const qst__child *child, short events, const qst__patience *patience)
{
    while (is_patient(patience)) {
        struct pollfd look = {child->socket, events, 0};
        bool          gone = is_gone(child->pid); /* before the look: what it had said is still read */
        int           ready = poll(&look, 1, gone ? 0 : LOOK_MS);
        if (ready > 0)
            return QST__TALK_DONE;
        if (ready < 0 ? errno != EINTR && errno != EAGAIN : gone)
            return QST__TALK_ENDED;
    }
    return QST__TALK_LATE;
}

/* Of a call on the socket: is another one worth while? */
static bool is_passing(ssize_t result)
{
    return result > 0 || (result < 0 && (errno == EINTR || errno == EAGAIN));
}

qst__talk qst__child_write(const qst__child *child, const void *bytes, size_t n, const qst__patience *patience)
{
    const char *at = bytes;

    while (n) {
        qst__talk ready = wait_for(child, POLLOUT, patience);
        ssize_t   sent;
        if (ready != QST__TALK_DONE)
            return ready;
        sent = send(child->socket, at, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (!is_passing(sent))
            return QST__TALK_ENDED;
        at += sent > 0 ? sent : 0;
        n -= sent > 0 ? (size_t)sent : 0;
    }
    return QST__TALK_DONE;
}

void qst__child_write_end(const qst__child *child)
{
    (void)shutdown(child->socket, SHUT_WR);
}

qst__talk qst__child_read(const qst__child *child, void *into, size_t n, size_t *got, const qst__patience *patience)
{
    *got = 0;
    while (*got < n) {
        qst__talk ready = wait_for(child, POLLIN, patience);
        ssize_t   more;
        if (ready != QST__TALK_DONE)
            return ready;
        more = recv(child->socket, (char *)into + *got, n - *got, MSG_DONTWAIT);
        if (!is_passing(more))
            return QST__TALK_ENDED;
        *got += more > 0 ? (size_t)more : 0;
    }
    return QST__TALK_DONE;
}

/* ---- Its end ---------------------------------------------------------------------------------------------------- */

/* False: it still runs when patience is at an end. There is always one look. */
static bool reap(pid_t pid, const qst__patience *patience, int *end)
{
    const struct timespec nap = {0, NAP_NS};
    int                   state = 0;
    pid_t                 got;

    while ((got = waitpid(pid, &state, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
        if (!is_patient(patience))
            return false;
        (void)nanosleep(&nap, NULL);
    }
    if (got == pid && WIFSIGNALED(state))
        *end = -WTERMSIG(state);
    else if (got == pid && WIFEXITED(state))
        *end = WEXITSTATUS(state);
    return true;
}

int qst__child_end(qst__child *child, const qst__patience *patience)
{
    const qst__clock clock = qst__clock_host();
    int              end = QST__CHILD_UNKNOWN;

    if (child->socket < 0)
        return end;
    (void)close(child->socket);
    if (!patience || !reap(child->pid, patience, &end)) {
        const qst__patience last = {&clock, qst__now(&clock) + HELD_NS, NULL};
        if (!is_gone(child->pid)) /* the number may be another's by now */
            (void)kill(child->pid, SIGKILL);
        (void)reap(child->pid, &last, &end);
    }
    *child = QST__CHILD_NONE;
    return end;
}

const char *qst__child_fault(int end)
{
    static const struct {
        int         number;
        const char *name;
    } faults[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
                  {SIGILL, "SIGILL"},   {SIGFPE, "SIGFPE"},   {SIGSYS, "SIGSYS"}};

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (end == -faults[i].number)
            return faults[i].name;
    return NULL;
}
