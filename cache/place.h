/* SPDX-License-Identifier: MIT
 *
 * place.h: where a store lives, as text. Nothing here looks at the file system; folder.h does.
 *
 *     user     $XDG_CACHE_HOME/quernstone/<environment>, else $HOME/.cache/quernstone/<environment>
 *     local    <working directory>/.quernstone/<environment>
 *     project  <folder of the nearest quernstone.json, upwards>/.quernstone/<environment>; none: as user
 *     path     <path>/<environment>
 *
 * An environment is a name: bytes outside [A-Za-z0-9._-] become '_'; empty or dots only: "default". A relative
 * XDG_CACHE_HOME counts as not set, as its standard says; another relative path, one with a ".." part or with control
 * characters, and one longer than QST__PLACE_MAX are refused, and so is whatever would lie directly in "/". Other
 * bytes, UTF-8 among them, pass as they are.
 */
#ifndef QST_CACHE_PLACE_H
#define QST_CACHE_PLACE_H

#include "base/base.h"
#include "base/settings.h"

#define QST__PLACE_MAX       3800u /* bytes; PATH_MAX less what stands in the folder */
#define QST__ENVIRONMENT_MAX 100u

/* What a place is made of. NULL: not set. */
typedef struct qst__place_source {
    int32_t     kind;        /* QST__PLACE_… */
    const char *path;        /* of kind path */
    const char *environment; /* as the user wrote it */
    const char *cache_home;  /* $XDG_CACHE_HOME */
    const char *home;        /* $HOME */
    const char *cwd;
    const char *project; /* the folder of quernstone.json */
} qst__place_source;

typedef struct qst__place {
    char   text[QST__PLACE_MAX + 1]; /* absolute, without doubled or trailing slashes */
    size_t must_exist;               /* so many leading bytes name a folder that is not ours to make; 0: none */
} qst__place;

/* The environment's name as it stands in a path. E_CONFIG: longer than QST__ENVIRONMENT_MAX. */
qst_status qst__place_environment(char name[QST__ENVIRONMENT_MAX + 1], const char *environment, qst_error *err);

/* E_NOTFOUND: nothing says where (no home); E_CONFIG: what is said is refused, with the reason. */
qst_status qst__place_find(qst__place *place, const qst__place_source *source, qst_error *err);

#endif
