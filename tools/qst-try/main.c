/* SPDX-License-Identifier: MIT
 *
 * main.c: qst-try, which the library starts where a candidate may kill or never end (core/run/isolate.c):
 *
 *     qst-try CONFIG OPERATION PROBLEM CANDIDATE MILLISECONDS
 *
 * A child tries the candidate on the problem, with the configuration's device and plugins and without a store; this
 * process waits for it, ends it after so many milliseconds, and writes one line to its standard input, a socket, since
 * drivers and kernels may print to standard output:
 *     ok             it came back, whatever its answer
 *     signal N       it died
 *     exit N         it ended the process
 *     late           it had not ended in time
 *     cannot REASON  it could not be tried: no such operation, candidate or device, nothing builds */
#define _GNU_SOURCE /* prctl's constants */
#include <errno.h>
#include <poll.h>
#include <quernstone/quernstone.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CANNOT = 77, PAUSE_MS = 5 };

typedef struct job {
    const char      *config, *op, *problem, *candidate;
    qst_context     *context;
    qst_set         *set;
    cl_context       cl;
    cl_command_queue queue;
    qst_mem          operands[QST_OPERANDS_MAX];
} job;

static int cannot(const char *what)
{
    dprintf(STDIN_FILENO, "cannot %s\n", what);
    return CANNOT;
}

/* ---- The child ----------------------------------------------------------------------------------------------------- */

/* Looks for a candidate's name in what describes the sets, which comes in pieces of whole texts. */
typedef struct seeker {
    const char *name;
    char       *text;
    size_t      length;
} seeker;

static void gather(void *user, const char *piece, size_t length)
{
    seeker *s = user;
    char   *grown = realloc(s->text, s->length + length + 1);

    if (!grown)
        return;
    s->text = grown;
    memcpy(s->text + s->length, piece, length);
    s->length += length;
    s->text[s->length] = '\0';
}

static bool has_candidate(const job *j)
{
    seeker s = {j->candidate, NULL, 0};
    bool   found = qst_describe(j->context, "sets", gather, &s, NULL) == QST_OK && s.text && strstr(s.text, s.name);

    free(s.text);
    return found;
}

static const char *open_device(job *j)
{
    cl_platform_id platform;
    cl_device_id   device;
    cl_int         code;

    if (qst_context_pick_device(j->context, &platform, &device, NULL) != QST_OK)
        return "no such device";
    j->cl = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        j->queue = clCreateCommandQueue(j->cl, device, 0, &code);
    return code == CL_SUCCESS ? NULL : "no context or no queue";
}

static const char *make_operands(job *j, const void *problem)
{
    const qst_op *op = qst_set_op(j->set);
    cl_int        code;

    for (uint32_t i = 0; i < op->n_operands; i++) {
        uint64_t bytes = op->span(op->user, problem, i);
        if (!bytes)
            continue;
        j->operands[i] = qst_mem_of(clCreateBuffer(j->cl, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code));
        if (code != CL_SUCCESS)
            return "no memory for operands";
    }
    return NULL;
}

/* Tunes the problem with this candidate alone: built, run, judged. What comes of it does not matter here. */
static int try_candidate(job *j)
{
    static union {
        uint64_t aligned;
        char     bytes[4096];
    } problem;
    qst_options options;
    qst_error   err = {0};
    const char *why;

    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE;
    options.config = j->config;
    if (qst_context_create(&j->context, &options, &err) != QST_OK)
        return cannot(err.text);
    if (qst_set_find(&j->set, j->context, j->op, &err) != QST_OK)
        return cannot(err.text);
    if (qst_set_op(j->set)->problem_size > sizeof problem)
        return cannot("the problem is too large a structure");
    if (!has_candidate(j))
        return cannot("no such candidate");
    memcpy(problem.bytes, &qst_set_op(j->set)->problem_size, sizeof(uint32_t));
    if (qst_problem_parse(j->set, j->problem, problem.bytes, &err) != QST_OK)
        return cannot(err.text);
    why = open_device(j);
    if (!why)
        why = make_operands(j, problem.bytes);
    if (why)
        return cannot(why);
    if (qst_enqueue(j->set, j->queue, problem.bytes, j->operands, 0, NULL, NULL, &err) == QST_OK)
        (void)clFinish(j->queue);
    else if (err.cl_code == CL_COMPILER_NOT_AVAILABLE) /* not even the fallback: the candidate was not run */
        return cannot("no program builds now");
    return 0;
}

static int child(job *j)
{
    struct rlimit no_core = {0, 0};

    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    return try_candidate(j);
}

/* ---- The one that waits -------------------------------------------------------------------------------------------- */

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int wait_for(pid_t pid, uint64_t ms)
{
    struct pollfd asker = {.fd = STDIN_FILENO}; /* hangs up where nobody waits any more */
    uint64_t      end = now_ms() + ms;
    int           status = 0;
    pid_t         got;

    while ((got = waitpid(pid, &status, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
        const bool alone = poll(&asker, 1, PAUSE_MS) > 0 && asker.revents & (POLLHUP | POLLERR | POLLNVAL);
        if (!alone && now_ms() < end)
            continue;
        kill(pid, SIGKILL);
        (void)waitpid(pid, &status, 0);
        if (!alone)
            dprintf(STDIN_FILENO, "late\n");
        return 0;
    }
    if (WIFSIGNALED(status))
        dprintf(STDIN_FILENO, "signal %d\n", WTERMSIG(status));
    else if (WEXITSTATUS(status) == 0)
        dprintf(STDIN_FILENO, "ok\n");
    else if (WEXITSTATUS(status) != CANNOT) /* else it has said so itself */
        dprintf(STDIN_FILENO, "exit %d\n", WEXITSTATUS(status));
    return 0;
}

int main(int argc, char **argv)
{
    job   j = {0};
    char *rest;
    pid_t pid;

    if (argc != 6) {
        fputs("usage: qst-try CONFIG OPERATION PROBLEM CANDIDATE MILLISECONDS\n", stderr);
        return 2;
    }
    j.config = argv[1];
    j.op = argv[2];
    j.problem = argv[3];
    j.candidate = argv[4];
    uint64_t ms = strtoull(argv[5], &rest, 10);
    pid = fork();
    if (pid < 0)
        return cannot("no process");
    if (!pid)
        _exit(child(&j));
    return wait_for(pid, *rest ? 0 : ms);
}
