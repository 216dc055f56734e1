/* SPDX-License-Identifier: MIT
 *
 * absent.c: which drivers are registered, and whether PoCL can make its cache folder, without which it offers no device. */
#include "cl/absent.h"

#include "base/error.h"
#include "base/getenv.h"
#include "cl/pocl_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_MAX_BYTES = 1024, NAMES_MAX = 160 };

typedef struct drivers {
    char names[NAMES_MAX]; /* "a.icd, b.icd"; further ones are "…" */
    bool pocl;
} drivers;

static void note(drivers *found, const char *name)
{
    size_t      used = strlen(found->names), more = strlen(name);
    const char *gap = used ? ", " : "";
    if (used + more + 8 < sizeof found->names)
        (void)snprintf(found->names + used, sizeof found->names - used, "%s%s", gap, name);
    else if (!used || strcmp(found->names + used - 3, "…") != 0)
        (void)snprintf(found->names + used, sizeof found->names - used, "%s…", gap);
    found->pocl = found->pocl || strstr(name, "pocl") != NULL;
}

/* A folder's files that loaders read. */
static void note_folder(drivers *found, const char *folder)
{
    DIR           *stream = opendir(folder);
    struct dirent *entry;
    while (stream && (entry = readdir(stream)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".icd") == 0)
            note(found, entry->d_name);
    }
    if (stream)
        (void)closedir(stream);
}

/* False: longer than it could use. */
static bool pocl_folder(char folder[PATH_MAX_BYTES])
{
    return qst__pocl_folder(qst__getenv("POCL_CACHE_DIR"), qst__getenv("XDG_CACHE_HOME"), qst__getenv("HOME"), folder,
                            PATH_MAX_BYTES) < PATH_MAX_BYTES;
}

/* What keeps PoCL from making its folder, in `why`; false: nothing does. */
static bool pocl_hindered(char *why, size_t bytes)
{
    char        folder[PATH_MAX_BYTES], whole[PATH_MAX_BYTES];
    struct stat found;
    char       *slash;
    if (!pocl_folder(folder))
        return false;
    memcpy(whole, folder, sizeof whole);
    while (stat(folder, &found) != 0 && (slash = strrchr(folder, '/')) != NULL && slash != folder) {
        if (errno != ENOENT && errno != ENOTDIR) {
            (void)snprintf(why, bytes, "'%.150s' cannot be looked at: %s", folder, strerror(errno));
            return true;
        }
        *slash = '\0';
    }
    if (stat(folder, &found) != 0)
        return false;
    if (!S_ISDIR(found.st_mode)) {
        (void)snprintf(why, bytes, "'%.150s' is not a folder", folder);
        return true;
    }
    if (strcmp(folder, whole) == 0 || access(folder, W_OK | X_OK) == 0) /* one that is there, and only read, will do */
        return false;
    (void)snprintf(why, bytes, "'%.150s' cannot be written: %s", folder, strerror(errno));
    return true;
}

qst_status qst__device_absent(qst_error *err)
{
    static const char usual[] = "/etc/OpenCL/vendors";
    const char       *vendors = qst__getenv("OCL_ICD_VENDORS"), *files = qst__getenv("OCL_ICD_FILENAMES");
    drivers           found = {{0}, false};
    char              why[256];
    struct stat       place;
    note_folder(&found, vendors ? vendors : usual);
    if (vendors && stat(vendors, &place) == 0 && !S_ISDIR(place.st_mode)) /* a driver's own file */
        note(&found, vendors);
    if (files)
        note(&found, files);
    if (!found.names[0])
        return qst__fail(err, QST_E_NOTFOUND, "device",
                         "there is no OpenCL device: no driver is registered in %.200s (a file NAME.icd each)",
                         vendors ? vendors : usual);
    if (found.pocl && pocl_hindered(why, sizeof why))
        return qst__fail(err, QST_E_NOTFOUND, "device",
                         "there is no OpenCL device: PoCL offers none, since its cache folder cannot be made: %s", why);
    return qst__fail(err, QST_E_NOTFOUND, "device",
                     "there is no OpenCL device: none of the drivers registered offers one (%s)", found.names);
}
