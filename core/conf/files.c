/* SPDX-License-Identifier: MIT
 *
 * files.c: which configuration files there are, whether they can be trusted, and reading them. */
#include "base/getenv.h"
#include "conf/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_MAX (1u << 20) /* of a file; a configuration is short, and what is long is something else */

qst_status qst__conf_note_ignored(qst__conf *conf, bool variable, const char *name, const char *why, qst_error *err)
{
    qst__ignored ignored = {variable, qst__strdup(&conf->alloc, name), qst__strdup(&conf->alloc, why)};
    if (ignored.name && ignored.why && qst__vec_push(&conf->alloc, &conf->ignored, ignored))
        return QST_OK;
    qst__free(&conf->alloc, ignored.name);
    qst__free(&conf->alloc, ignored.why);
    return qst__conf_nomem(err);
}

/* ---- One file --------------------------------------------------------------------------------------------------- */

/* The whole of an open file, allocated. */
static qst_status read_all(const qst__conf *conf, uint32_t place, int file, char **text, size_t *length, qst_error *err)
{
    size_t room = BYTES_MAX + 1, got = 0;
    char  *data = qst__resize(&conf->alloc, NULL, room);
    if (!data)
        return qst__conf_nomem(err);
    while (got < room) {
        ssize_t step = read(file, data + got, room - got);
        if (step < 0 && errno == EINTR)
            continue;
        if (step < 0) {
            qst__free(&conf->alloc, data);
            return qst__conf_fail(conf, place, NULL, err, "cannot be read: %s", strerror(errno));
        }
        if (step == 0)
            break;
        got += (size_t)step;
    }
    if (got > BYTES_MAX) {
        qst__free(&conf->alloc, data);
        return qst__conf_fail(conf, place, NULL, err, "is longer than %u bytes", BYTES_MAX);
    }
    *text = data;
    *length = got;
    return QST_OK;
}

/* The place of a file: relative directories in it are relative to where it lies. UINT32_MAX: no memory. */
static uint32_t add_file_place(qst__conf *conf, uint32_t from, const char *path)
{
    size_t   length = (size_t)(strrchr(path, '/') - path);
    char    *directory = qst__strdup(&conf->alloc, path);
    uint32_t place = UINT32_MAX;
    if (directory) {
        directory[length ? length : 1] = '\0';
        place = qst__conf_add_place(conf, from, path, directory);
    }
    qst__free(&conf->alloc, directory);
    return place;
}

/* Reads the file of an absolute path. Missing is fine unless it must exist. A pipe does not block the opening. */
static qst_status read_file(qst__conf *conf, uint32_t from, const char *path, bool must_exist, qst_error *err)
{
    struct stat info;
    char       *text = NULL;
    size_t      length = 0;
    qst_status  status = QST_OK;
    int         file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int         cause = file < 0 ? errno : 0;
    if ((cause == ENOENT || cause == ENOTDIR) && !must_exist)
        return QST_OK;
    uint32_t place = add_file_place(conf, from, path);
    if (place == UINT32_MAX)
        status = qst__conf_nomem(err);
    else if (file < 0)
        status = qst__conf_fail(conf, place, NULL, err, "cannot be opened: %s", strerror(cause));
    else if (fstat(file, &info) != 0)
        status = qst__conf_fail(conf, place, NULL, err, "cannot be read: %s", strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = qst__conf_fail(conf, place, NULL, err, "is not a regular file");
    else
        status = read_all(conf, place, file, &text, &length, err);
    if (status == QST_OK)
        status = qst__conf_read_json(conf, place, text, length, err);
    qst__free(&conf->alloc, text);
    if (file >= 0)
        (void)close(file);
    return status;
}

/* ---- Where they are --------------------------------------------------------------------------------------------- */

/* $XDG_CONFIG_HOME/quernstone/config.json, or below ~/.config where that is not set or, as the XDG rules have it, not
 * absolute. Without a home there is no such file. */
static qst_status read_user_file(qst__conf *conf, qst_error *err)
{
    const char *base = qst__getenv("XDG_CONFIG_HOME"), *below = "";
    if (!base || base[0] != '/') {
        base = qst__getenv("HOME");
        below = "/.config";
    }
    if (!base || base[0] != '/')
        return QST_OK;
    qst__str path;
    qst__str_init(&path, &conf->alloc);
    qst__str_printf(&path, "%s%s/quernstone/config.json", base, below);
    qst_status status = path.failed ? qst__conf_nomem(err) : read_file(conf, QST__FROM_USER, path.text, false, err);
    qst__str_finish(&path);
    return status;
}

/* Is there a project's file of this path that may be read? One that another user has put there (a link of his counts),
 * or that is no file, is noted and passed over: it must neither steer this program nor stop it. */
static qst_status look_at_project(qst__conf *conf, const char *path, bool *use, qst_error *err)
{
    struct stat link, info;
    char        why[96];
    *use = false;
    if (lstat(path, &link) != 0 || stat(path, &info) != 0)
        return QST_OK;
    uid_t self = geteuid(), owner = link.st_uid != 0 && link.st_uid != self ? link.st_uid : info.st_uid;
    if (owner != 0 && owner != self)
        (void)snprintf(why, sizeof why, "ignored: owned by user %lld, not by root or user %lld", (long long)owner,
                       (long long)self);
    else if (!S_ISREG(info.st_mode))
        (void)snprintf(why, sizeof why, "ignored: not a regular file");
    else
        *use = true;
    return *use ? QST_OK : qst__conf_note_ignored(conf, false, path, why, err);
}

/* The nearest quernstone.json from the directory upwards, the root's own included. */
static qst_status read_project_file(qst__conf *conf, const char *directory, qst_error *err)
{
    qst__str   path, file;
    qst_status status = QST_OK;
    bool       use = false, last = false;
    qst__str_init(&path, &conf->alloc);
    qst__str_init(&file, &conf->alloc);
    if (directory && directory[0] == '/')
        qst__str_append(&path, directory);
    else if (conf->working)
        qst__str_printf(&path, "%s%s%s", conf->working, directory ? "/" : "", directory ? directory : "");
    last = !path.length && !path.failed; /* it is not known where to start */
    while (!last && !use && status == QST_OK) {
        while (path.length && path.text[path.length - 1] == '/')
            path.text[--path.length] = '\0';
        qst__str_clear(&file);
        qst__str_printf(&file, "%s/quernstone.json", path.text);
        status = path.failed || file.failed ? qst__conf_nomem(err) : look_at_project(conf, file.text, &use, err);
        last = !path.length;
        while (path.length && path.text[path.length - 1] != '/')
            path.text[--path.length] = '\0';
    }
    if (status == QST_OK && use)
        status = read_file(conf, QST__FROM_PROJECT, file.text, false, err);
    qst__str_finish(&file);
    qst__str_finish(&path);
    return status;
}

/* The file that QST_CONFIG names, which must exist: who names it wants it. */
static qst_status read_named_file(qst__conf *conf, qst_error *err)
{
    const char *name = qst__getenv("QST_CONFIG");
    if (!name)
        return QST_OK;
    if (name[0] != '/' && !conf->working)
        return qst__fail(err, QST_E_CONFIG, "conf",
                         "QST_CONFIG: '%.160s' is relative and the working directory is unknown", name);
    qst__str path;
    qst__str_init(&path, &conf->alloc);
    if (name[0] != '/')
        qst__str_printf(&path, "%s/", strcmp(conf->working, "/") == 0 ? "" : conf->working);
    qst__str_append(&path, name);
    qst_status status = path.failed ? qst__conf_nomem(err) : read_file(conf, QST__FROM_FILE, path.text, true, err);
    qst__str_finish(&path);
    return status;
}

qst_status qst__conf_read_files(qst__conf *conf, const qst__conf_sources *sources, qst_error *err)
{
    qst_status status = sources->env ? read_user_file(conf, err) : QST_OK;
    if (status == QST_OK)
        status = read_project_file(conf, sources->directory, err);
    if (status == QST_OK && sources->env)
        status = read_named_file(conf, err);
    return status;
}
