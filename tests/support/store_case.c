/* SPDX-License-Identifier: MIT
 *
 * store_case.c: what tests of stores share. */
#define _GNU_SOURCE /* nftw, pipe2 */
#include "support/store_case.h"

#include "cache/lmdb.h"
#include "cache/open.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

char *folder_make(void)
{
    const char *base = getenv("TMPDIR");
    char        path[400];

    if (snprintf(path, sizeof path, "%s/quernstone-XXXXXX", base && *base ? base : P_tmpdir) >= (int)sizeof path)
        return NULL;
    return mkdtemp(path) ? strdup(path) : NULL;
}

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *at)
{
    (void)found, (void)kind, (void)at;
    return remove(path);
}

void folder_remove(char *folder)
{
    if (folder)
        (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

char *path_in(char out[512], const char *folder, const char *name)
{
    (void)snprintf(out, 512, "%s/%s", folder, name);
    return out;
}

unsigned char *file_read(const char *path, size_t *bytes)
{
    FILE          *file = fopen(path, "rb");
    unsigned char *data = NULL;
    struct stat    found;

    *bytes = 0;
    if (file && fstat(fileno(file), &found) == 0 && (data = malloc((size_t)found.st_size + 1)) != NULL) {
        *bytes = fread(data, 1, (size_t)found.st_size, file);
        data[*bytes] = 0;
    }
    if (file)
        (void)fclose(file);
    return data;
}

void file_write(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
        abort(); /* the test cannot go on */
}

static void count_line(void *user, const char *text, size_t bytes)
{
    counted_log *log = user;

    log->lines++;
    if (bytes >= sizeof log->last)
        bytes = sizeof log->last - 1;
    memcpy(log->last, text, bytes);
    log->last[bytes] = '\0';
}

void counted_log_init(counted_log *log)
{
    memset(log, 0, sizeof *log);
    log->log.sink = count_line;
    log->log.user = log;
    (void)qst__log_configure(&log->log, "warn", NULL);
}

void store_in_file(qst_store *store, const char *folder, uint64_t bytes, const qst__alloc *alloc, counted_log *log)
{
    qst_error err = {0};

    counted_log_init(log);
    if (qst__store_lmdb(store, alloc, folder, bytes, false, &log->log, &err) != QST_OK)
        fail_msg("%s", err.text);
}

void store_guarded(qst_store *store, const char *folder, bool readonly, const qst__alloc *alloc, counted_log *log)
{
    qst__store_options options = {
        .place = QST__PLACE_PATH, .path = folder, .environment = "e", .map_mb = 8, .readonly = readonly};

    counted_log_init(log);
    assert_int_equal(qst__store_open(store, alloc, &log->log, &options, NULL), QST_OK);
}

qst_status store_put(qst_store *store, uint32_t db, const char *key, const char *value)
{
    return store->put(store->self, db, key, strlen(key), value, strlen(value));
}

static int32_t keep(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    char *out = user;

    (void)key, (void)key_bytes;
    if (value_bytes > 4095)
        value_bytes = 4095;
    memcpy(out, value, (size_t)value_bytes);
    out[value_bytes] = '\0';
    return 0;
}

const char *store_got(qst_store *store, uint32_t db, const char *key)
{
    static char value[4096];

    value[0] = '\0';
    (void)store->get(store->self, db, key, strlen(key), keep, value);
    return value;
}

qst_status store_claim(qst_store *store, const char *key, void **token)
{
    qst_status status;

    while ((status = store->claim(store->self, key, strlen(key), token)) == QST_E_BUSY)
        (void)sched_yield();
    return status;
}

typedef struct counter {
    int64_t  n;
    uint64_t bytes;
    char     last[QST_STORE_KEY_MAX];
} counter;

static int32_t count(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    counter *c = user;
    uint64_t common = c->bytes < key_bytes ? c->bytes : key_bytes;
    int      order = memcmp(c->last, key, (size_t)common);

    (void)value, (void)value_bytes;
    if (c->n > 0 && (order > 0 || (order == 0 && c->bytes >= key_bytes))) {
        c->n = -1;
        return 1;
    }
    memcpy(c->last, key, (size_t)key_bytes);
    c->bytes = key_bytes;
    c->n++;
    return 0;
}

int64_t store_count(qst_store *store, uint32_t db)
{
    counter c = {.n = 0};
    return store->iterate(store->self, db, count, &c) == QST_OK ? c.n : -1;
}

int program_start(int *from, ...)
{
    char   *args[12] = {(char *)"self"};
    int     ends[2], n = 1, pid;
    va_list list;

    va_start(list, from);
    while (n < 11 && (args[n] = va_arg(list, char *)) != NULL)
        n++;
    va_end(list);
    args[n] = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        (void)dup2(ends[1], 1);
        (void)execv("/proc/self/exe", args);
        _exit(127);
    }
    (void)close(ends[1]);
    *from = ends[0];
    return pid;
}

int program_end(int pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
