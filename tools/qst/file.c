/* SPDX-License-Identifier: MIT
 *
 * file.c: reading and writing whole files. */
#define _GNU_SOURCE /* nftw, mkdtemp, P_tmpdir */
#include "file.h"

#include "out.h"
#include "verb.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE    65536
#define MOST     ((size_t)256 << 20) /* bytes: what the library imports at most */
#define REMOVALS 100                 /* of a folder that another thread writes into */

char *file_read(const char *path, size_t *length)
{
    FILE      *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    out_buffer all = {NULL, 0, 0};
    char      *piece = out_resize(NULL, PIECE);
    size_t     got;
    if (file) {
        while (all.length <= MOST && (got = fread(piece, 1, PIECE, file)) > 0)
            out_gather(&all, piece, got);
        out_gather(&all, "", 0);
    }
    if (!file || ferror(file) || all.length > MOST) {
        if (file && all.length > MOST)
            out_fail("%s: over %zu bytes", path, MOST);
        else
            out_fail("%s: cannot be read: %s", path, strerror(errno));
        free(all.text);
        all.text = NULL;
    }
    if (file && file != stdin)
        fclose(file);
    free(piece);
    *length = all.length;
    return all.text;
}

/* Cuts comment and blanks off the text that ends before `end`, which is written to. */
static char *strip(char *text, char *end)
{
    char *comment = memchr(text, '#', (size_t)(end - text));
    end = comment ? comment : end;
    while (text < end && strchr(" \t\r", *text))
        text++;
    while (text < end && strchr(" \t\r", end[-1]))
        end--;
    *end = '\0';
    return text;
}

size_t file_mark(const char *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    return strncmp(text, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0;
}

int file_lines(const char *verb, const char *path, file_take *take, void *user)
{
    size_t length, number = 1;
    char  *text = file_read(path, &length), *next;
    int    status = 0;
    if (!text)
        return EXIT_FAILED;
    for (char *at = text + file_mark(text); at < text + length && status == 0; at = next + 1, number++) {
        char *where = out_text("%s: %s:%zu", verb, path, number);
        next = memchr(at, '\n', (size_t)(text + length - at));
        next = next ? next : text + length;
        if (memchr(at, '\0', (size_t)(next - at)))
            status = args_usage(where, "a byte of 0 in the line: this is no text");
        else if (*(at = strip(at, next)))
            status = take(user, at, where);
        free(where);
    }
    free(text);
    return status;
}

int file_write(const char *path, const char *bytes, size_t length)
{
    struct stat there;
    if (lstat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return out_fail("%s: is no plain file, and is not replaced", path);
    char *beside = out_text("%s.%ld.new", path, (long)getpid());
    FILE *file = fopen(beside, "wb");
    bool  good = file && (!length || fwrite(bytes, 1, length, file) == length);
    if (file)
        good = fclose(file) == 0 && good;
    good = good && rename(beside, path) == 0;
    if (!good) {
        out_fail("%s: cannot be written: %s", path, strerror(errno));
        if (file)
            unlink(beside);
    }
    free(beside);
    return good ? 0 : EXIT_FAILED;
}

char *file_folder(void)
{
    const char *under = getenv("TMPDIR");
    char       *path = out_text("%s/qst-XXXXXX", under && under[0] ? under : P_tmpdir);
    if (mkdtemp(path))
        return path;
    out_fail("%s: cannot be made: %s", path, strerror(errno));
    free(path);
    return NULL;
}

static int drop(const char *path, const struct stat *stat, int kind, struct FTW *at)
{
    (void)stat;
    (void)kind;
    (void)at;
    return remove(path);
}

/* Each time around something may have been put into it since it was read. */
void file_folder_remove(const char *path)
{
    for (int i = 0; path && i < REMOVALS && access(path, F_OK) == 0; i++)
        nftw(path, drop, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
