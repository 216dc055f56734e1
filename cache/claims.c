/* SPDX-License-Identifier: MIT
 *
 * claims.c: locks of single bytes of one file, and a list for the threads of this process. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "cache/claims.h"

#include "base/lock.h"
#include "cache/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { GATE = 0, USERS = 1, HOLDS = 2 };
enum { PAUSE_MIN_NS = 20000, PAUSE_MAX_NS = 1000000 };
#define PROCESSES ((uint64_t)1 << 61)
#define KEYS      ((uint64_t)1 << 62)

_Static_assert(sizeof(off_t) == 8, "the bytes of keys lie far out in the file");

typedef struct token {
    struct token *next;
    uint64_t      at; /* its byte */
} token;

struct qst__claims {
    const qst__alloc *alloc;
    int               fd; /* −1: in this process only */
    pid_t             pid;
    qst__lock         lock;
    qst__lock         holds[QST__CLAIMS_HOLDS]; /* between threads: they share the file's description */
    token            *held;
};

/* Sets the lock of one byte; errno's value, 0: done, EAGAIN: another's. */
static int set_lock(int fd, short type, uint64_t at)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = 1};
    int          rc;

    do
        rc = fcntl(fd, F_OFD_SETLK, &lock);
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? 0 : errno == EACCES ? EAGAIN : errno;
}

/* Looks again and again, because a holder that is stopped must not stop us. */
static int wait_lock(int fd, uint64_t at, uint32_t wait_ms)
{
    struct timespec pause = {.tv_nsec = PAUSE_MIN_NS};
    uint64_t        waited = 0, most = wait_ms * UINT64_C(1000000);
    int             rc;

    while ((rc = set_lock(fd, F_WRLCK, at)) == EAGAIN && waited < most) {
        (void)nanosleep(&pause, NULL);
        waited += (uint64_t)pause.tv_nsec;
        pause.tv_nsec = pause.tv_nsec < PAUSE_MAX_NS / 2 ? 2 * pause.tv_nsec : PAUSE_MAX_NS;
    }
    return rc;
}

static uint64_t byte_of(uint64_t region, const void *data, size_t bytes)
{
    qst__sha256 sha;
    uint8_t     digest[32];
    uint64_t    hash;

    qst__sha256_init(&sha);
    qst__sha256_update(&sha, data, bytes);
    qst__sha256_finish(&sha, digest);
    hash = 0;
    for (int i = 0; i < 8; i++)
        hash = hash << 8 | digest[i];
    return region | (hash & (region - 1));
}

/* Process numbers repeat between name spaces that share a home. */
static uint64_t byte_of_process(void)
{
    uint64_t    who[2] = {(uint64_t)getpid(), 0};
    struct stat space;

    if (stat("/proc/self/ns/pid", &space) == 0)
        who[1] = (uint64_t)space.st_ino;
    return byte_of(PROCESSES, who, sizeof who);
}

static qst_status open_file(qst__claims *claims, const char *folder, qst_error *err)
{
    char       path[QST__PLACE_MAX + 16];
    qst_status status;
    int        rc;

    if (snprintf(path, sizeof path, "%s/claims", folder) >= (int)sizeof path)
        return qst__fail(err, QST_E_CONFIG, "store", "the folder's path has %zu bytes, not at most %u", strlen(folder),
                         QST__PLACE_MAX);
    claims->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (claims->fd < 0)
        return qst__fail(err, QST_E_IO, "store", "'%.300s' cannot be opened: %s", path, strerror(errno));
    status = qst__folder_trust_file(claims->fd, path, err);
    if (status != QST_OK)
        return status;
    rc = set_lock(claims->fd, F_WRLCK, byte_of_process());
    if (rc == EAGAIN)
        return qst__fail(err, QST_E_STATE, "store",
                         "'%.300s' is in use by another copy of this library in this process", folder);
    if (rc != 0)
        return qst__fail(err, QST_E_IO, "store", "'%.300s' cannot be locked: %s", path, strerror(rc));
    return QST_OK;
}

qst_status qst__claims_open(qst__claims **out, const qst__alloc *alloc, const char *folder, qst_error *err)
{
    qst__claims *claims = qst__zalloc(alloc, sizeof *claims);
    qst_status   status = QST_OK;

    *out = NULL;
    if (!claims)
        return qst__fail(err, QST_E_NOMEM, "store", "no memory for claims, %zu bytes", sizeof *claims);
    claims->alloc = alloc;
    claims->fd = -1;
    claims->pid = getpid();
    qst__lock_init(&claims->lock);
    for (uint32_t i = 0; i < QST__CLAIMS_HOLDS; i++)
        qst__lock_init(&claims->holds[i]);
    if (folder)
        status = open_file(claims, folder, err);
    if (status == QST_OK)
        *out = claims;
    else
        qst__claims_close(claims);
    return status;
}

void qst__claims_close(qst__claims *claims)
{
    if (!claims)
        return;
    if (claims->fd >= 0)
        (void)close(claims->fd);
    while (claims->held) {
        token *next = claims->held->next;
        qst__free(claims->alloc, claims->held);
        claims->held = next;
    }
    for (uint32_t i = 0; i < QST__CLAIMS_HOLDS; i++)
        qst__lock_finish(&claims->holds[i]);
    qst__lock_finish(&claims->lock);
    qst__free(claims->alloc, claims);
}

void qst__claims_forget(qst__claims *claims)
{
    if (claims->fd >= 0)
        (void)close(claims->fd);
    claims->fd = -1;
}

/* ---- The gate and the users ------------------------------------------------------------------------------------ */

qst_status qst__claims_enter(qst__claims *claims, uint32_t wait_ms, qst_error *err)
{
    int rc = claims->fd < 0 ? 0 : wait_lock(claims->fd, GATE, wait_ms);

    if (rc == EAGAIN)
        return qst__fail(err, QST_E_TIMEOUT, "store", "another process has been opening the store for %u ms", wait_ms);
    if (rc != 0)
        return qst__fail(err, QST_E_IO, "store", "the store's gate cannot be locked: %s", strerror(rc));
    return QST_OK;
}

void qst__claims_leave(qst__claims *claims)
{
    if (claims->fd >= 0)
        (void)set_lock(claims->fd, F_UNLCK, GATE);
}

qst_status qst__claims_join(qst__claims *claims, bool *alone, qst_error *err)
{
    int rc;

    *alone = false;
    if (claims->fd < 0)
        return QST_OK;
    *alone = set_lock(claims->fd, F_WRLCK, USERS) == 0;
    rc = set_lock(claims->fd, F_RDLCK, USERS);
    if (rc != 0)
        return qst__fail(err, QST_E_IO, "store", "the store's users cannot be counted: %s", strerror(rc));
    return QST_OK;
}

void qst__claims_quit(qst__claims *claims)
{
    if (claims->fd >= 0)
        (void)set_lock(claims->fd, F_UNLCK, USERS);
}

void qst__claims_part(qst__claims *claims)
{
    qst__claims_quit(claims);
    if (claims->fd >= 0)
        (void)set_lock(claims->fd, F_UNLCK, byte_of_process());
}

/* A file system that refuses the lock has no other process that could hold LMDB's. */
qst_status qst__claims_hold(qst__claims *claims, uint32_t what, uint32_t wait_ms)
{
    qst__lock_take(&claims->holds[what]);
    if (claims->fd < 0 || wait_lock(claims->fd, HOLDS + what, wait_ms) != EAGAIN)
        return QST_OK;
    qst__lock_give(&claims->holds[what]);
    return QST_E_TIMEOUT;
}

void qst__claims_let(qst__claims *claims, uint32_t what)
{
    if (claims->fd >= 0)
        (void)set_lock(claims->fd, F_UNLCK, HOLDS + what);
    qst__lock_give(&claims->holds[what]);
}

bool qst__claims_write(qst__claims *claims, const void *note, size_t bytes)
{
    return claims->fd >= 0 && pwrite(claims->fd, note, bytes, 0) == (ssize_t)bytes;
}

bool qst__claims_read(qst__claims *claims, void *note, size_t bytes)
{
    return claims->fd >= 0 && pread(claims->fd, note, bytes, 0) == (ssize_t)bytes;
}

/* ---- Claims ------------------------------------------------------------------------------------------------------ */

static bool is_held(const qst__claims *claims, uint64_t at)
{
    for (const token *held = claims->held; held; held = held->next)
        if (held->at == at)
            return true;
    return false;
}

/* Takes the token out of the list and frees it, or does nothing where it is not in it. Under the lock. */
static void drop(qst__claims *claims, token *given)
{
    token **at = &claims->held;

    while (*at && *at != given)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = given->next;
    /* Before any thread of ours may ask for it again. */
    if (claims->fd >= 0)
        (void)set_lock(claims->fd, F_UNLCK, given->at);
    qst__free(claims->alloc, given);
}

qst_status qst__claims_take(qst__claims *claims, const void *key, size_t bytes, void **out)
{
    token *fresh;
    int    rc = 0;

    *out = NULL;
    if (claims->pid != getpid())
        return QST_E_STATE;
    fresh = qst__zalloc(claims->alloc, sizeof *fresh);
    if (!fresh)
        return QST_E_NOMEM;
    fresh->at = byte_of(KEYS, key, bytes);
    qst__lock_take(&claims->lock);
    if (is_held(claims, fresh->at)) {
        qst__lock_give(&claims->lock);
        qst__free(claims->alloc, fresh);
        return QST_E_BUSY;
    }
    fresh->next = claims->held;
    claims->held = fresh;
    qst__lock_give(&claims->lock);

    if (claims->fd >= 0)
        rc = set_lock(claims->fd, F_WRLCK, fresh->at);
    if (rc != 0) {
        qst__lock_take(&claims->lock);
        drop(claims, fresh);
        qst__lock_give(&claims->lock);
        return rc == EAGAIN ? QST_E_BUSY : QST_E_IO;
    }
    *out = fresh;
    return QST_OK;
}

void qst__claims_give(qst__claims *claims, void *given)
{
    if (!given || claims->pid != getpid())
        return;
    qst__lock_take(&claims->lock);
    drop(claims, given);
    qst__lock_give(&claims->lock);
}
