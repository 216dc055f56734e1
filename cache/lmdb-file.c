/* SPDX-License-Identifier: MIT
 *
 * lmdb-file.c: what is done to a store's files outside of LMDB. */
#define _GNU_SOURCE /* memfd_create */
#include "cache/lmdb-file.h"

#include "cache/folder.h"
#include "cache/lmdb-check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MARK_BYTES = 256, DAMAGED_MAX = 1000 };
#define ASIDE      "data.mdb.damaged-%d" /* 1 … DAMAGED_MAX; the last is written over */
#define NOTE_MAGIC 0x31746f6e74737171u
#define COPY_MAX   ((off_t)1 << 30)

uint64_t qst__files_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? (uint64_t)limit.rlim_cur
                                                                                   : UINT64_MAX;
}

void qst__files_path(const qst__files *files, char path[QST__PATH_MAX], const char *name)
{
    (void)snprintf(path, QST__PATH_MAX, "%s/%.24s", files->folder, name);
}

/* ---- The clean mark ---------------------------------------------------------------------------------------------- */

static bool read_boot(char boot[64])
{
    int     source = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = source < 0 ? -1 : read(source, boot, 63);

    if (source >= 0)
        (void)close(source);
    if (got <= 0)
        return false;
    boot[got] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
    return true;
}

/* The mark as it would be now; empty where it cannot be told. */
static void make_mark(const qst__files *files, char mark[MARK_BYTES])
{
    char        boot[64];
    struct stat found;
    uint64_t    txn;

    mark[0] = '\0';
    if (fstat(files->fd, &found) == 0 && read_boot(boot) && qst__lmdb_txn(files->fd, &txn))
        (void)snprintf(mark, MARK_BYTES, "quernstone clean 1 %.40s %ju %ju %jd %jd.%09ld %" PRIu64 "\n", boot,
                       (uintmax_t)found.st_dev, (uintmax_t)found.st_ino, (intmax_t)found.st_size,
                       (intmax_t)found.st_ctim.tv_sec, found.st_ctim.tv_nsec, txn);
}

/* The mark that is there; empty: none. */
static void read_mark(const qst__files *files, char mark[MARK_BYTES])
{
    char    path[QST__PATH_MAX];
    ssize_t got = -1;
    int     fd;

    qst__files_path(files, path, "clean");
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && qst__folder_trust_file(fd, path, NULL) == QST_OK)
        got = read(fd, mark, MARK_BYTES - 1);
    if (fd >= 0)
        (void)close(fd);
    mark[got > 0 ? got : 0] = '\0';
}

static bool mark_fits(const qst__files *files)
{
    char now[MARK_BYTES], there[MARK_BYTES];

    make_mark(files, now);
    read_mark(files, there);
    return now[0] && !strcmp(there, now);
}

qst_status qst__files_check_emptied(const qst__files *files, qst_error *err)
{
    char        there[MARK_BYTES];
    uintmax_t   device, inode;
    intmax_t    bytes;
    struct stat found;

    if (fstat(files->fd, &found) != 0 || found.st_size != 0)
        return QST_OK;
    read_mark(files, there);
    if (sscanf(there, "quernstone clean 1 %*40s %ju %ju %jd", &device, &inode, &bytes) != 3 || bytes <= 0 ||
        device != (uintmax_t)found.st_dev || inode != (uintmax_t)found.st_ino)
        return QST_OK;
    return qst__fail(err, QST_E_CORRUPT, "store", "it is empty, and had %jd bytes when it was last left in order",
                     bytes);
}

void qst__files_mark(qst__files *files)
{
    char path[QST__PATH_MAX], mark[MARK_BYTES];
    int  fd;

    if (files->fd < 0 || mark_fits(files))
        return;
    make_mark(files, mark);
    qst__files_path(files, path, "clean");
    fd = mark[0] ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600) : -1;
    if (fd < 0)
        return;
    /* Written in part, it does not fit. */
    if (write(fd, mark, strlen(mark)) < 0)
        (void)ftruncate(fd, 0);
    (void)close(fd);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

qst_status qst__files_open(qst__files *files, bool alone, const qst__alloc *alloc, qst_error *err)
{
    char       path[QST__PATH_MAX];
    qst_status status;

    qst__files_path(files, path, "data.mdb");
    files->checked = false;
    files->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (files->fd < 0 && errno == ENOENT)
        return QST_OK;
    if (files->fd < 0) {
        files->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        files->readonly = true;
    }
    if (files->fd < 0)
        return qst__fail(err, QST_E_IO, "store", "'%.300s' cannot be opened: %s", path, strerror(errno));
    status = qst__folder_trust_file(files->fd, path, err);
    if (status != QST_OK || !alone || mark_fits(files))
        return status;
    status = qst__files_check_emptied(files, err);
    if (status == QST_OK)
        status = qst__lmdb_check(files->fd, alloc, err);
    files->checked = status == QST_OK;
    return status;
}

void qst__files_finish(qst__files *files)
{
    if (files->fd >= 0)
        (void)close(files->fd);
    files->fd = -1;
}

qst_status qst__files_set_aside(qst__files *files, char name[32], qst_error *err)
{
    char from[QST__PATH_MAX], to[QST__PATH_MAX];
    int  n = 1;

    qst__files_finish(files);
    qst__files_path(files, from, "data.mdb");
    do {
        (void)snprintf(name, 32, ASIDE, n);
        qst__files_path(files, to, name);
    } while (access(to, F_OK) == 0 && ++n < DAMAGED_MAX);
    if (rename(from, to) != 0)
        return qst__fail(err, QST_E_IO, "store", "'%.200s' cannot be set aside as %s: %s", from, name, strerror(errno));
    qst__files_path(files, from, "lock.mdb");
    (void)unlink(from);
    qst__files_path(files, from, "clean");
    (void)unlink(from);
    return QST_OK;
}

bool qst__files_aside(const char *folder, int *n, char path[QST__PATH_MAX])
{
    struct stat found;

    while (++*n <= DAMAGED_MAX) {
        (void)snprintf(path, QST__PATH_MAX, "%.*s/" ASIDE, QST__PLACE_MAX, folder, *n);
        if (lstat(path, &found) == 0)
            return true;
    }
    return false;
}

/* errno's value, 0: it has them. Beyond the limit it is not even tried. */
static int reserve(int fd, off_t bytes)
{
    struct stat found;

    if (qst__files_limit() >= (uint64_t)bytes)
        return posix_fallocate(fd, 0, bytes);
    return fstat(fd, &found) != 0 ? errno : found.st_size < bytes ? EFBIG : 0;
}

qst_status qst__files_reserve_lock(const qst__files *files, qst_error *err)
{
    char path[QST__PATH_MAX];
    int  fd, rc;

    qst__files_path(files, path, "lock.mdb");
    if (files->fd < 0) /* of data that are gone: who still has those open has it open, too, maybe in this process */
        (void)unlink(path);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0 && unlink(path) == 0) /* another's, left behind by one who could: nobody has it open */
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return qst__fail(err, QST_E_IO, "store", "'%.300s' cannot be opened: %s", path, strerror(errno));
    rc = reserve(fd, QST__LOCK_BYTES);
    (void)close(fd);
    if (rc == EFBIG)
        return qst__fail(err, QST_E_IO, "store",
                         "'%.300s' cannot have %d bytes: a file of this process may have %llu (RLIMIT_FSIZE)", path,
                         (int)QST__LOCK_BYTES, (unsigned long long)qst__files_limit());
    if (rc != 0)
        return qst__fail(err, QST_E_IO, "store", "'%.300s' cannot have %d bytes: %s", path, (int)QST__LOCK_BYTES,
                         strerror(rc));
    return QST_OK;
}

bool qst__files_note_of(const qst__files *files, qst__files_note *note)
{
    char        path[QST__PATH_MAX];
    struct stat data, lock;

    qst__files_path(files, path, "lock.mdb");
    if (files->fd < 0 || fstat(files->fd, &data) != 0 || stat(path, &lock) != 0)
        return false;
    *note = (qst__files_note){.magic = NOTE_MAGIC, .data = (uint64_t)data.st_ino, .lock = (uint64_t)lock.st_ino};
    return true;
}

/* ---- A copy ------------------------------------------------------------------------------------------------------ */

/* Whatever kept the data from being opened where they are: without the limit they would be read. */
static void refuse_copy(const qst__files *files, uint64_t limit, qst_error *err)
{
    struct stat found;
    long long   bytes = fstat(files->fd, &found) == 0 ? (long long)found.st_size : 0;

    qst__error_clear(err);
    (void)qst__fail(err, QST_E_IO, "store",
                    "'%.250s' cannot be locked, nor its %lld bytes be copied: a file of this process may have %llu "
                    "(RLIMIT_FSIZE)",
                    files->folder, bytes, (unsigned long long)limit);
}

int qst__files_copy(const qst__files *files, qst_error *err)
{
    unsigned char block[16384];
    int           fd = memfd_create("quernstone", MFD_CLOEXEC);
    uint64_t      limit = qst__files_limit(); /* holds for memory files, too */
    off_t         at = 0;
    ssize_t       got = -1;

    if (fd < 0) {
        (void)qst__fail(err, QST_E_IO, "store", "no memory file: %s", strerror(errno));
        return -1;
    }
    while (at < COPY_MAX && (got = pread(files->fd, block, sizeof block, at)) > 0 &&
           (uint64_t)at + (uint64_t)got <= limit && write(fd, block, (size_t)got) == got)
        at += got;
    if (got == 0)
        return fd;
    if (got > 0 && (uint64_t)at + (uint64_t)got > limit)
        refuse_copy(files, limit, err);
    else
        (void)qst__fail(err, QST_E_IO, "store", "the data cannot be copied into memory beyond byte %jd", (intmax_t)at);
    (void)close(fd);
    return -1;
}
