/* SPDX-License-Identifier: MIT
 *
 * place.c: which folder a store's configuration names. Pure text. */
#include "cache/place.h"

#include <string.h>

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
}

qst_status qst__place_environment(char name[QST__ENVIRONMENT_MAX + 1], const char *environment, qst_error *err)
{
    const char *from = environment ? environment : "";
    size_t      length = strlen(from);

    if (length > QST__ENVIRONMENT_MAX)
        return qst__fail(err, QST_E_CONFIG, "store", "the environment's name has %zu bytes, not at most %u", length,
                         QST__ENVIRONMENT_MAX);
    if (strspn(from, ".") == length) {
        from = "default";
        length = strlen(from);
    }
    for (size_t i = 0; i < length; i++)
        name[i] = is_plain(from[i]) ? from[i] : '_';
    name[length] = '\0';
    return QST_OK;
}

/* Appends the parts of `more`, each with one slash before it. */
static qst_status append(qst__place *place, const char *more, qst_error *err)
{
    size_t used = strlen(place->text);

    while (*(more += strspn(more, "/"))) {
        size_t length = strcspn(more, "/");
        bool   dot = length == 1 && more[0] == '.';

        if (length == 2 && memcmp(more, "..", 2) == 0)
            return qst__fail(err, QST_E_CONFIG, "store", "the place has a '..' in its path");
        for (size_t i = 0; i < length; i++)
            if ((unsigned char)more[i] < 0x20 || more[i] == 0x7f)
                return qst__fail(err, QST_E_CONFIG, "store", "the place has a control character in its path");
        if (!dot && used + 1 + length > QST__PLACE_MAX)
            return qst__fail(err, QST_E_CONFIG, "store", "the place's path is longer than %u bytes", QST__PLACE_MAX);
        if (!dot) {
            place->text[used++] = '/';
            memcpy(place->text + used, more, length);
            used += length;
            place->text[used] = '\0';
        }
        more += length;
    }
    return QST_OK;
}

/* The folder under which ours are, and what of it is not ours to make. */
static qst_status begin(qst__place *place, const char *base, const char *what, bool must_exist, qst_error *err)
{
    qst_status status;

    if (!base || !*base)
        return qst__fail(err, QST_E_NOTFOUND, "store", "%s is not set", what);
    if (base[0] != '/')
        return qst__fail(err, QST_E_CONFIG, "store", "%s '%.200s' is not an absolute path", what, base);
    status = append(place, base, err);
    if (status != QST_OK)
        return status;
    if (!place->text[0])
        return qst__fail(err, QST_E_CONFIG, "store", "%s is '/', where nothing is written", what);
    if (must_exist)
        place->must_exist = strlen(place->text);
    return QST_OK;
}

qst_status qst__place_find(qst__place *place, const qst__place_source *source, qst_error *err)
{
    char        name[QST__ENVIRONMENT_MAX + 1];
    const char *inner = "/.quernstone";
    qst_status  status = qst__place_environment(name, source->environment, err);

    *place = (qst__place){.text = ""};
    if (status != QST_OK)
        return status;
    if (source->kind == QST__PLACE_PATH) {
        inner = "";
        status = begin(place, source->path, "the store's path", false, err);
    } else if (source->kind == QST__PLACE_LOCAL) {
        status = begin(place, source->cwd, "the working directory", true, err);
    } else if (source->kind == QST__PLACE_PROJECT && source->project) {
        status = begin(place, source->project, "the project's folder", true, err);
    } else if (source->cache_home && source->cache_home[0] == '/') {
        inner = "/quernstone";
        status = begin(place, source->cache_home, "XDG_CACHE_HOME", false, err);
    } else {
        inner = "/.cache/quernstone";
        status = begin(place, source->home, "HOME", true, err);
    }
    if (status == QST_OK)
        status = append(place, inner, err);
    if (status == QST_OK)
        status = append(place, name, err);
    if (status != QST_OK)
        place->text[0] = '\0';
    return status;
}
