/* SPDX-License-Identifier: MIT
 *
 * pocl_folder.h: where PoCL 3.1 keeps what it has compiled, without which it offers no device. Header only, for the library and
 * for the command.
 */
#ifndef QST_CL_POCL_FOLDER_H
#define QST_CL_POCL_FOLDER_H

#include <stdio.h>

/* By the values of POCL_CACHE_DIR, XDG_CACHE_HOME and HOME, of which it takes the first that is set and not empty. What
 * snprintf gives. */
static inline int qst__pocl_folder(const char *own, const char *cache, const char *home, char *folder, size_t bytes)
{
    if (own && own[0])
        return snprintf(folder, bytes, "%s", own);
    if (cache && cache[0])
        return snprintf(folder, bytes, "%s/pocl/kcache", cache);
    return home && home[0] ? snprintf(folder, bytes, "%s/.cache/pocl/kcache", home)
                           : snprintf(folder, bytes, "/tmp/pocl/kcache");
}

#endif
