/* SPDX-License-Identifier: MIT
 *
 * merge.h: iteration over a store and what is kept in memory in its stead, as if they were one. */
#ifndef QST_CACHE_MERGE_H
#define QST_CACHE_MERGE_H

#include "base/base.h"

#include <quernstone/store.h>

/* Shows the entries of both in the order of their keys, and of a key that both have memory's, which is newer; NULL: there is
 * none. memory is one of memory.h. Gives what the base's own iteration gave. */
int32_t qst__merge(const qst_store *base, const qst_store *memory, uint32_t db, qst_store_take take, void *user);

#endif
