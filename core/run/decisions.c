/* SPDX-License-Identifier: MIT
 *
 * decisions.c: where the accounts of tunings go: one write a line, so that the lines of threads and, in a file, of
 * processes stay whole. The file is opened by the first line, for appending, and stays open.
 */
#include "run/decisions.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TO_STDOUT, TO_STDERR, TO_FILE };

static const char unwritable[] = "{\"error\": \"no memory for a decision\"}\n";

void qst__decisions_init(qst__decisions *decisions)
{
    qst__lock_init(&decisions->lock);
    decisions->file = -1;
}

void qst__decisions_finish(qst__decisions *decisions)
{
    if (decisions->file >= 0)
        close(decisions->file);
    qst__lock_finish(&decisions->lock);
}

/* 0, or errno. */
static int put(int file, const char *text, size_t length)
{
    while (length) {
        ssize_t n = write(file, text, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        text += n; /* a part only where the place is full or a pipe: the rest tells which */
        length -= (size_t)n;
    }
    return 0;
}

/* What the program has printed to the stream (NULL: none) comes before the line. */
static int put_after(FILE *stream, int file, const char *text, size_t length)
{
    int code;

    if (!stream)
        return put(file, text, length);
    flockfile(stream);
    code = fflush(stream) ? errno : put(file, text, length);
    funlockfile(stream);
    return code;
}

/* The same, but where nobody reads a pipe any longer that is an error and not the process's end. */
static int put_quietly(FILE *stream, int file, const char *text, size_t length)
{
    const struct timespec now = {0, 0};
    sigset_t              pipe, before, pending;
    int                   code;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigemptyset(&pending);
    sigpending(&pending);
    if (sigismember(&pending, SIGPIPE) == 1) /* the program's own, and blocked already */
        return put_after(stream, file, text, length);
    code = pthread_sigmask(SIG_BLOCK, &pipe, &before);
    if (code)
        return code;
    code = put_after(stream, file, text, length);
    if (code == EPIPE)
        while (sigtimedwait(&pipe, NULL, &now) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

/* Not waiting for the reader of a named pipe: without one it is an error. */
static int open_file(const char *path)
{
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    int flags = file < 0 ? -1 : fcntl(file, F_GETFL);

    if (flags >= 0)
        (void)fcntl(file, F_SETFL, flags & ~O_NONBLOCK);
    return file;
}

static int put_file(qst__decisions *d, const char *path, const char *text, size_t length)
{
    if (d->file < 0)
        d->file = open_file(path);
    return d->file < 0 ? errno : put_quietly(NULL, d->file, text, length);
}

static void deliver(void *user, const char *text, size_t length)
{
    qst_context         *ctx = user;
    qst__decisions      *d = &ctx->decisions;
    const qst__settings *s = ctx->settings;
    const char *const    names[] = {"standard output", "standard error", s->decisions_file};
    const bool           wanted[] = {s->decisions_stdout, s->decisions_stderr, s->decisions_file != NULL};
    int                  i, code;

    qst__lock_take(&d->lock);
    for (i = 0; i < 3; i++) {
        if (!wanted[i] || d->failed[i])
            continue;
        code = i == TO_STDOUT   ? put_quietly(stdout, STDOUT_FILENO, text, length)
               : i == TO_STDERR ? put_quietly(stderr, STDERR_FILENO, text, length)
                                : put_file(d, s->decisions_file, text, length);
        d->failed[i] = code != 0;
        if (code)
            QST__LOG(&ctx->log, TUNE, WARN, "no more decisions go to %s: %s", names[i], strerror(code));
    }
    qst__lock_give(&d->lock);
}

void qst__decision_note(qst__entry *entry, const qst__verdict *verdict)
{
    qst_context         *ctx = entry->shelf->site->ctx;
    const qst__settings *s = ctx->settings;
    struct timespec      now;
    int64_t              at_ms;
    qst__json           *json;

    clock_gettime(CLOCK_REALTIME, &now);
    at_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    atomic_store(&entry->decided_ms, at_ms);
    atomic_store_explicit(&entry->decided, verdict, memory_order_release);
    if (!verdict->n_order || (!s->decisions_stdout && !s->decisions_stderr && !s->decisions_file))
        return;
    json = qst__decision_json(entry, verdict, at_ms);
    if (qst__json_write(json, false, deliver, ctx) != QST_OK)
        deliver(ctx, unwritable, sizeof unwritable - 1);
    qst__json_destroy(json);
}

/* ---- Description -------------------------------------------------------------------------------------------------- */

typedef struct decided {
    const qst__entry   *entry;
    const qst__verdict *verdict;
    int64_t             at_ms;
} decided;

typedef struct list {
    const qst__alloc *alloc;
    QST__VEC(decided) all;
    bool failed;
} list;

static void add_decided(void *user, void *value)
{
    list             *l = user;
    const qst__entry *entry = value;
    decided           one = {entry, atomic_load_explicit(&entry->decided, memory_order_acquire), 0};

    one.at_ms = atomic_load(&entry->decided_ms);
    if (one.verdict && !qst__vec_push(l->alloc, &l->all, one))
        l->failed = true;
}

static int by_time(const void *a, const void *b)
{
    const decided *x = a, *y = b;

    return x->at_ms != y->at_ms ? (x->at_ms < y->at_ms ? -1 : 1) : strcmp(x->entry->text, y->entry->text);
}

qst_status qst__tell_decisions(qst_context *ctx, qst__json **out, qst_error *err)
{
    list       l = {.alloc = &ctx->alloc};
    qst__site *site;
    qst_status status = QST_OK;
    size_t     i;

    qst__lock_take(&ctx->lock);
    for (site = atomic_load(&ctx->sites); site; site = atomic_load(&site->next))
        for (i = 0; i < QST__SETS_MAX; i++) {
            qst__shelf *shelf = atomic_load(&site->shelves[i]);
            if (shelf)
                qst__table_each(&shelf->entries, add_decided, &l);
        }
    if (l.failed) {
        status = qst__fail(err, QST_E_NOMEM, "describe", "no memory for decisions");
    } else {
        *out = qst__json_array();
        if (l.all.count)
            qsort(l.all.data, l.all.count, sizeof *l.all.data, by_time);
        for (i = 0; i < l.all.count; i++)
            qst__json_add(*out, qst__decision_json(l.all.data[i].entry, l.all.data[i].verdict, l.all.data[i].at_ms));
    }
    qst__lock_give(&ctx->lock);
    qst__vec_finish(&ctx->alloc, &l.all);
    return status;
}
