/* SPDX-License-Identifier: MIT
 *
 * test_child.c: another process is started with nothing of the host's but its environment, is spoken with until
 * patience is at an end, and is ended and told by its end, whatever the host does with SIGCHLD. Every second call that
 * waits is interrupted (test_child.link). The processes are the shell's.
 */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Interruptions --------------------------------------------------------------------------------------------- */

int     __real_poll(struct pollfd *fds, nfds_t n, int ms);
ssize_t __real_send(int fd, const void *from, size_t n, int flags);
ssize_t __real_recv(int fd, void *into, size_t n, int flags);
pid_t   __real_waitpid(pid_t pid, int *state, int flags);
int     __wrap_poll(struct pollfd *fds, nfds_t n, int ms);
ssize_t __wrap_send(int fd, const void *from, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *into, size_t n, int flags);
pid_t   __wrap_waitpid(pid_t pid, int *state, int flags);

static int interrupted(int *calls)
{
    errno = EINTR;
    return (*calls)++ % 2 == 0;
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
    static int calls;
    return interrupted(&calls) ? -1 : __real_poll(fds, n, ms);
}

ssize_t __wrap_send(int fd, const void *from, size_t n, int flags)
{
    static int calls;
    return interrupted(&calls) ? -1 : __real_send(fd, from, n, flags);
}

ssize_t __wrap_recv(int fd, void *into, size_t n, int flags)
{
    static int calls;
    return interrupted(&calls) ? -1 : __real_recv(fd, into, n, flags);
}

pid_t __wrap_waitpid(pid_t pid, int *state, int flags)
{
    static int calls;
    return interrupted(&calls) ? -1 : __real_waitpid(pid, state, flags);
}

/* ---- What the tests share -------------------------------------------------------------------------------------- */

/* A clock that moves by a second with each look. */
static uint64_t ticking(void *user)
{
    uint64_t *s = user;
    return (*s)++ * UINT64_C(1000000000);
}

static qst__clock host;

/* As long as it takes; what kills a test that hangs is ctest. */
static qst__patience for_ever(void)
{
    host = qst__clock_host();
    return (qst__patience){&host, UINT64_MAX, NULL};
}

static qst__child shell(const char *script)
{
    char      *argv[] = {"/bin/sh", "-c", (char *)script, NULL};
    qst__child child;

    assert_int_equal(qst__child_start(&child, argv), 0);
    return child;
}

/* What it says in all; its end is waited for. */
static int hear(const char *script, char *said, size_t room)
{
    const qst__patience patience = for_ever();
    qst__child          child = shell(script);
    size_t              got;

    qst__child_write_end(&child);
    assert_int_equal(qst__child_read(&child, said, room - 1, &got, &patience), QST__TALK_ENDED);
    said[got] = '\0';
    return qst__child_end(&child, &patience);
}

static int end_of(const char *script)
{
    char said[64];
    int  end = hear(script, said, sizeof said);

    assert_string_equal(said, "");
    return end;
}

static int lowest_free(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    return fd;
}

/* ---- Start ------------------------------------------------------------------------------------------------------ */

static void not_there(void **state)
{
    char      *argv[] = {"/nonexistent/program", NULL};
    int        before = lowest_free();
    qst__child child;

    (void)state;
    assert_int_equal(qst__child_start(&child, argv), ENOENT);
    assert_int_equal(child.socket, -1);
    assert_int_equal(lowest_free(), before);
    assert_int_equal(qst__child_end(&child, NULL), QST__CHILD_UNKNOWN);
}

static void environment_is_the_hosts(void **state)
{
    char said[64];

    (void)state;
    assert_int_equal(setenv("QST_TEST_CHILD", "a value", 1), 0);
    assert_int_equal(hear("echo \"$QST_TEST_CHILD\" >&0", said, sizeof said), 0);
    assert_string_equal(said, "a value\n");
    assert_int_equal(unsetenv("QST_TEST_CHILD"), 0);
    assert_int_equal(hear("echo \"${QST_TEST_CHILD-unset}\" >&0", said, sizeof said), 0);
    assert_string_equal(said, "unset\n");
}

static void nothing_else_is_open(void **state)
{
    char script[128], said[64];
    int  kept = fcntl(STDERR_FILENO, F_DUPFD, 3), before = lowest_free();

    (void)state;
    assert_in_range(kept, 3, 9); /* the shell knows numbers of one digit */
    (void)snprintf(script, sizeof script, "echo noise; echo noise >&2; (: >&%d) && echo open >&0; echo all >&0", kept);
    assert_int_equal(hear(script, said, sizeof said), 0);
    assert_string_equal(said, "all\n");
    assert_int_equal(lowest_free(), before);
    assert_int_equal(close(kept), 0);
}

/* A host that has closed its own standard input and output gives their numbers to the socket. */
static void host_without_standard_files(void **state)
{
    int  in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10), out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10), end;
    char said[64];

    (void)state;
    assert_true(in >= 0 && out >= 0);
    (void)close(STDIN_FILENO);
    (void)close(STDOUT_FILENO);
    end = hear("echo noise; echo here >&0", said, sizeof said);
    assert_int_equal(dup2(in, STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(dup2(out, STDOUT_FILENO), STDOUT_FILENO);
    (void)close(in);
    (void)close(out);
    assert_int_equal(end, 0);
    assert_string_equal(said, "here\n");
}

static void signals_are_by_default(void **state)
{
    sigset_t term, before;

    (void)state;
    (void)sigemptyset(&term);
    (void)sigaddset(&term, SIGTERM);
    (void)signal(SIGTERM, SIG_IGN);
    assert_int_equal(sigprocmask(SIG_BLOCK, &term, &before), 0);
    assert_int_equal(end_of("kill -TERM $$; echo alive >&0"), -SIGTERM);
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
    (void)signal(SIGTERM, SIG_DFL);
}

/* ---- Talk ------------------------------------------------------------------------------------------------------- */

/* More than a socket holds, there and back. */
static void there_and_back(void **state)
{
    static char         out[1 << 20], back[sizeof out];
    const qst__patience patience = for_ever();
    qst__child          child = shell("tail -c 1048576 <&0 >&0"); /* it reads all before it says anything */
    size_t              got;

    (void)state;
    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (char)(i * 7 + (i >> 8));
    assert_int_equal(qst__child_write(&child, out, sizeof out, &patience), QST__TALK_DONE);
    qst__child_write_end(&child);
    assert_int_equal(qst__child_read(&child, back, sizeof back, &got, &patience), QST__TALK_DONE);
    assert_int_equal(got, sizeof back);
    assert_memory_equal(out, back, sizeof out);
    assert_int_equal(qst__child_end(&child, &patience), 0);
}

/* Without a SIGPIPE, which would end this test. */
static void nobody_reads(void **state)
{
    static const char   bytes[1 << 20];
    const qst__patience patience = for_ever();
    qst__child          child = shell("exit 0");

    (void)state;
    assert_int_equal(qst__child_write(&child, bytes, sizeof bytes, &patience), QST__TALK_ENDED);
    assert_int_equal(qst__child_end(&child, &patience), 0);
}

static void too_late(void **state)
{
    uint64_t            seconds = 0;
    const qst__clock    clock = {ticking, &seconds};
    const qst__patience patience = {&clock, UINT64_C(5000000000), NULL};
    qst__child          child = shell("exec sleep 3600");
    char                one;
    size_t              got;

    (void)state;
    assert_int_equal(qst__child_read(&child, &one, 1, &got, &patience), QST__TALK_LATE);
    assert_int_equal(got, 0);
    assert_int_equal(qst__child_end(&child, NULL), -SIGKILL);
    assert_int_equal(child.socket, -1);
}

static void stopped(void **state)
{
    const _Atomic bool stop = true;
    qst__patience      patience = for_ever();
    qst__child         child = shell("exec sleep 3600");

    (void)state;
    patience.stop = &stop;
    assert_int_equal(qst__child_write(&child, "a", 1, &patience), QST__TALK_LATE);
    assert_int_equal(qst__child_end(&child, &patience), -SIGKILL);
}

/* Another process has the other end too, as a fork of the host's between the two calls would: no end of input comes. */
static void other_end_is_kept(void **state)
{
    const qst__patience patience = for_ever();
    qst__child          child = shell("echo hello >&0; exit 3");
    char                said[64];
    int                 pair[2];
    size_t              got;

    (void)state;
    assert_int_equal(qst__child_read(&child, said, 6, &got, &patience), QST__TALK_DONE);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(dup2(pair[0], child.socket), child.socket);
    assert_int_equal(write(pair[1], "more", 4), 4);
    assert_int_equal(qst__child_read(&child, said, sizeof said, &got, &patience), QST__TALK_ENDED);
    assert_int_equal(got, 4); /* what had been said is read all the same */
    assert_int_equal(qst__child_end(&child, &patience), 3);
    (void)close(pair[0]);
    (void)close(pair[1]);
}

/* ---- End -------------------------------------------------------------------------------------------------------- */

static void ends_told_apart(void **state)
{
    (void)state;
    assert_int_equal(end_of("exit 0"), 0);
    assert_int_equal(end_of("exit 77"), 77);
    assert_int_equal(end_of("ulimit -c 0; kill -SEGV $$"), -SIGSEGV);
    assert_int_equal(end_of("kill -KILL $$"), -SIGKILL);
    assert_string_equal(qst__child_fault(-SIGSEGV), "SIGSEGV");
    assert_string_equal(qst__child_fault(-SIGABRT), "SIGABRT");
    assert_null(qst__child_fault(-SIGKILL)); /* somebody else's */
    assert_null(qst__child_fault(SIGSEGV));  /* an exit status of that number */
    assert_null(qst__child_fault(0));
    assert_null(qst__child_fault(QST__CHILD_UNKNOWN));
}

/* It hangs up and goes on: patience, then force. */
static void hangs_up_and_lives(void **state)
{
    uint64_t            seconds = 0;
    const qst__clock    clock = {ticking, &seconds};
    const qst__patience patience = for_ever(), little = {&clock, UINT64_C(5000000000), NULL};
    qst__child          child = shell("exec 0>&-; exec sleep 3600");
    char                one;
    size_t              got;

    (void)state;
    assert_int_equal(qst__child_read(&child, &one, 1, &got, &patience), QST__TALK_ENDED);
    assert_int_equal(qst__child_end(&child, &little), -SIGKILL);
}

static void host_ignores_sigchld(void **state)
{
    char       said[64];
    qst__child child;

    (void)state;
    (void)signal(SIGCHLD, SIG_IGN);
    assert_int_equal(hear("echo here >&0; kill -TERM $$", said, sizeof said), QST__CHILD_UNKNOWN);
    assert_string_equal(said, "here\n");
    child = shell("exec sleep 3600");
    assert_int_equal(qst__child_end(&child, NULL), QST__CHILD_UNKNOWN);
    (void)signal(SIGCHLD, SIG_DFL);
}

static void host_reaps_all(void **state)
{
    const qst__patience patience = for_ever();
    qst__child          child = shell("exit 5");
    const pid_t         pid = child.pid;
    int                 status;
    char                one;
    size_t              got;

    (void)state;
    assert_int_equal(__real_waitpid(-1, &status, 0), pid);
    assert_int_equal(qst__child_read(&child, &one, 1, &got, &patience), QST__TALK_ENDED);
    assert_int_equal(qst__child_end(&child, NULL), QST__CHILD_UNKNOWN);
}

/* A fork of the host's may end its copy of everything: the process is none of its. */
static void a_fork_leaves_it_alone(void **state)
{
    const qst__patience patience = for_ever();
    qst__child          child = shell("read line <&0; echo \"$line\" >&0");
    int                 status;
    char                said[6];
    size_t              got;
    pid_t               fork_of_host = fork();

    (void)state;
    assert_true(fork_of_host >= 0);
    if (!fork_of_host)
        _exit(qst__child_end(&child, NULL) == QST__CHILD_UNKNOWN ? 0 : 1);
    assert_int_equal(__real_waitpid(fork_of_host, &status, 0), fork_of_host);
    assert_int_equal(status, 0);
    assert_int_equal(qst__child_write(&child, "alive\n", 6, &patience), QST__TALK_DONE);
    assert_int_equal(qst__child_read(&child, said, sizeof said, &got, &patience), QST__TALK_DONE);
    assert_memory_equal(said, "alive\n", 6);
    assert_int_equal(qst__child_end(&child, &patience), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_there),
        cmocka_unit_test(environment_is_the_hosts),
        cmocka_unit_test(nothing_else_is_open),
        cmocka_unit_test(host_without_standard_files),
        cmocka_unit_test(signals_are_by_default),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(nobody_reads),
        cmocka_unit_test(too_late),
        cmocka_unit_test(stopped),
        cmocka_unit_test(other_end_is_kept),
        cmocka_unit_test(ends_told_apart),
        cmocka_unit_test(hangs_up_and_lives),
        cmocka_unit_test(host_ignores_sigchld),
        cmocka_unit_test(host_reaps_all),
        cmocka_unit_test(a_fork_leaves_it_alone),
    };

    (void)signal(SIGCHLD, SIG_DFL); /* whoever runs this may have it ignored */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
