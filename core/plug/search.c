/* SPDX-License-Identifier: MIT
 *
 * search.c: permissions of what is to be run as code, and a directory's shared objects in a fixed order. */
#define _XOPEN_SOURCE 700
#include "plug/search.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Trust ------------------------------------------------------------------------------------------------------ */

/* `path` is real. Others include the group: who is in it is not known here. */
static bool trusted(const char *path, bool directory, char *why, size_t why_size)
{
    const char *what = directory ? "directory" : "file";
    struct stat info;
    if (stat(path, &info) != 0)
        (void)snprintf(why, why_size, "%s %s: %s", what, path, strerror(errno));
    else if (directory ? !S_ISDIR(info.st_mode) : !S_ISREG(info.st_mode))
        (void)snprintf(why, why_size, "%s is not a %s", path, directory ? "directory" : "regular file");
    else if (info.st_uid != 0 && info.st_uid != geteuid())
        (void)snprintf(why, why_size, "%s %s is owned by user %lld, not by root or user %lld", what, path,
                       (long long)info.st_uid, (long long)geteuid());
    else if (info.st_mode & S_IWOTH)
        (void)snprintf(why, why_size, "%s %s is writable by others", what, path);
    else if (info.st_mode & S_IWGRP)
        (void)snprintf(why, why_size, "%s %s is writable by its group", what, path);
    else
        return true;
    return false;
}

/* The real path, allocated. */
static qst_status resolve(const qst__alloc *alloc, const char *path, char **out, char *why, size_t why_size)
{
    char *real = realpath(path, NULL);
    int   cause = real ? 0 : errno;
    *out = real ? qst__strdup(alloc, real) : NULL;
    free(real);
    if (*out)
        return QST_OK;
    if (cause == 0 || cause == ENOMEM)
        return QST_E_NOMEM;
    (void)snprintf(why, why_size, "%s: %s", path, strerror(cause));
    return cause == ENOENT || cause == ENOTDIR ? QST_E_NOTFOUND : QST_E_REFUSED;
}

qst_status qst__search_directory(const qst__alloc *alloc, const char *directory, char **path, char *why,
                                 size_t why_size)
{
    qst_status status = resolve(alloc, directory, path, why, why_size);
    if (status == QST_OK && !trusted(*path, true, why, why_size)) {
        qst__free(alloc, *path);
        *path = NULL;
        status = QST_E_REFUSED;
    }
    return status;
}

/* Is the directory of a real path trusted? `path` is whole again afterwards. */
static bool parent_trusted(char *path, char *why, size_t why_size)
{
    char *slash = strrchr(path, '/');
    *slash = '\0';
    bool good = trusted(*path ? path : "/", true, why, why_size);
    *slash = '/';
    return good;
}

qst_status qst__search_file(const qst__alloc *alloc, const char *directory, const char *file, char **path, char *why,
                            size_t why_size)
{
    qst__str str;
    *path = NULL;
    qst__str_init(&str, alloc);
    qst__str_printf(&str, "%s/%s", directory, file);
    qst_status status = str.failed ? QST_E_NOMEM : resolve(alloc, str.text, path, why, why_size);
    qst__str_finish(&str);
    if (status == QST_OK && !(parent_trusted(*path, why, why_size) && trusted(*path, false, why, why_size))) {
        qst__free(alloc, *path);
        *path = NULL;
        status = QST_E_REFUSED;
    }
    return status;
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_shared_object(const char *name)
{
    size_t length = strlen(name);
    return name[0] != '.' && length > 3 && strcmp(name + length - 3, ".so") == 0;
}

qst_status qst__search_list(const qst__alloc *alloc, const char *directory, qst__files *files, char *why,
                            size_t why_size)
{
    qst_status status = QST_OK;
    DIR       *stream = opendir(directory);
    if (!stream) {
        (void)snprintf(why, why_size, "directory %s: %s", directory, strerror(errno));
        return QST_E_REFUSED;
    }
    for (struct dirent *entry; status == QST_OK && (entry = readdir(stream));) {
        if (!is_shared_object(entry->d_name))
            continue;
        char *name = qst__strdup(alloc, entry->d_name);
        if (!name || !qst__vec_push(alloc, &files->list, name)) {
            qst__free(alloc, name);
            status = QST_E_NOMEM;
        }
    }
    (void)closedir(stream);
    if (files->list.count)
        qsort(files->list.data, files->list.count, sizeof *files->list.data, by_name);
    return status;
}

void qst__search_finish(const qst__alloc *alloc, qst__files *files)
{
    for (size_t i = 0; i < files->list.count; i++)
        qst__free(alloc, files->list.data[i]);
    qst__vec_finish(alloc, &files->list);
}
