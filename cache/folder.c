/* SPDX-License-Identifier: MIT
 *
 * folder.c: makes a store's folder and looks whether a store may live there. */
#include "cache/folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

typedef struct network_row {
    uint32_t    type; /* f_type of statfs(2), its lower 32 bits */
    const char *name;
} network_row;

static const network_row NETWORKS[] = {
    {0x00006969u, "NFS"},    {0x0000517bu, "SMB"},     {0xff534d42u, "CIFS"},     {0xfe534d42u, "SMB2"},
    {0x5346414fu, "AFS"},    {0x6b414653u, "AFS"},     {0x73757245u, "Coda"},     {0x00c36400u, "Ceph"},
    {0x01021997u, "9P"},     {0x65735546u, "FUSE"},    {0x0bd00bd0u, "Lustre"},   {0x47504653u, "GPFS"},
    {0x19830326u, "BeeGFS"}, {0xaad7aaeau, "PanFS"},   {0x7461636fu, "OCFS2"},    {0x01161970u, "GFS2"},
    {0x786f4256u, "vboxsf"}, {0x0000564cu, "NetWare"}, {0x20030528u, "OrangeFS"},
};

const char *qst__folder_network(uint64_t type)
{
    for (size_t i = 0; i < sizeof NETWORKS / sizeof *NETWORKS; i++)
        if (NETWORKS[i].type == (uint32_t)type)
            return NETWORKS[i].name;
    return NULL;
}

static bool is_folder(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

static bool is_something_else(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && !S_ISDIR(found.st_mode); /* by one look: others make folders meanwhile */
}

qst_status qst__folder_make(const qst__place *place, qst_error *err)
{
    char   path[QST__PLACE_MAX + 1];
    size_t length = strlen(place->text), at = 0;

    if (is_folder(place->text))
        return QST_OK;
    memcpy(path, place->text, length + 1);
    do {
        bool outer = at == 0; /* the part directly in "/" */

        at += 1 + strcspn(path + at + 1, "/");
        path[at] = '\0';
        if (!is_folder(path)) {
            if (is_something_else(path))
                return qst__fail(err, QST_E_IO, "store", "'%.300s' is not a folder", path);
            if (outer || at <= place->must_exist)
                return qst__fail(err, QST_E_IO, "store", "'%.300s' is not there, and not ours to make", path);
            if (mkdir(path, 0700) != 0 && !(errno == EEXIST && is_folder(path)))
                return qst__fail(err, QST_E_IO, "store", "'%.300s' cannot be made: %s", path, strerror(errno));
        }
        path[at] = place->text[at];
    } while (at < length);
    return QST_OK;
}

static qst_status trust(const struct stat *found, const char *path, qst_error *err)
{
    if (found->st_uid != geteuid() && found->st_uid != 0)
        return qst__fail(err, QST_E_REFUSED, "store", "'%.300s' belongs to user %lu, not to %lu", path,
                         (unsigned long)found->st_uid, (unsigned long)geteuid());
    if (found->st_mode & S_IWOTH)
        return qst__fail(err, QST_E_REFUSED, "store", "'%.300s' is writable by everybody", path);
    return QST_OK;
}

qst_status qst__folder_trust(const char *path, qst_error *err)
{
    struct stat   found;
    struct statfs system;
    const char   *network;

    if (stat(path, &found) != 0)
        return qst__fail(err, errno == ENOENT ? QST_E_NOTFOUND : QST_E_IO, "store", "'%.300s': %s", path,
                         strerror(errno));
    if (!S_ISDIR(found.st_mode))
        return qst__fail(err, QST_E_IO, "store", "'%.300s' is not a folder", path);
    network = statfs(path, &system) == 0 ? qst__folder_network((uint64_t)system.f_type) : NULL;
    if (network)
        return qst__fail(err, QST_E_REFUSED, "store", "'%.300s' lies on %s, whose locks and maps are not relied on",
                         path, network);
    return trust(&found, path, err);
}

qst_status qst__folder_trust_file(int fd, const char *path, qst_error *err)
{
    struct stat found;

    if (fstat(fd, &found) != 0)
        return qst__fail(err, QST_E_IO, "store", "'%.300s': %s", path, strerror(errno));
    if (!S_ISREG(found.st_mode))
        return qst__fail(err, QST_E_REFUSED, "store", "'%.300s' is not a plain file", path);
    return trust(&found, path, err);
}

bool qst__folder_project(char *out, size_t bytes, const char *from)
{
    static const char file[] = "/quernstone.json";
    size_t            length = strlen(from);

    if (from[0] != '/' || length + sizeof file > bytes)
        return false;
    memcpy(out, from, length + 1);
    for (;;) {
        memcpy(out + length, file, sizeof file);
        if (access(out, F_OK) == 0) {
            out[length] = '\0';
            return true;
        }
        while (length && out[length - 1] != '/')
            length--;
        if (length <= 1)
            return false; /* not in "/" itself: nothing is written there */
        length--;
    }
}
