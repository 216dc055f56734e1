/* SPDX-License-Identifier: MIT
 *
 * open.h: the store a context works with: the one that was asked for while it works, else memory.
 *
 * Opening always succeeds (but for memory for the handle itself). Whatever fails, then or later, is one warning, once,
 * and the store goes on: what could be read from the place is read, what cannot be written there is kept in memory for
 * this process. A get looks into memory first; iteration merges both. stat tells what is wrong, if anything is.
 *
 *     cannot be opened (read-only, full, another's, on a network, damaged, of another layout)   memory only
 *     read-only place, or store.readonly; no file of the
 *     process may be as large as a store (RLIMIT_FSIZE)     reads from the place, writes kept in memory
 *     a put fails (full disk or map, no permission)         from then on as read-only
 *     a get finds damage; a child after fork                memory only from then on
 *
 * An entry of a read-only place is not removed by remove: E_REFUSED.
 */
#ifndef QST_CACHE_OPEN_H
#define QST_CACHE_OPEN_H

#include "base/base.h"
#include "base/settings.h"

#include <quernstone/store.h>

typedef struct qst__store_options {
    int32_t     backend; /* QST__BACKEND_… */
    bool        off;     /* nothing kept beyond the process: memory, without a warning */
    bool        readonly;
    int32_t     place;       /* QST__PLACE_… */
    const char *path;        /* of place path */
    const char *environment; /* NULL: "default" */
    uint64_t    map_mb;      /* 0: QST__STORE_MAP_MB */
} qst__store_options;

#define QST__STORE_MAP_MB 256u

/* `alloc` and `log` must outlive the store. Place and home come from the process's environment and working folder.
 * E_NOMEM only. */
qst_status qst__store_open(qst_store *store, const qst__alloc *alloc, const qst__log *log,
                           const qst__store_options *options, qst_error *err);

#endif
