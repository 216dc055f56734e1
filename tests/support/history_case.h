/* SPDX-License-Identifier: MIT
 *
 * history_case.h: the rows of a history, read as docs/records.md says they are stored: the library only writes them. */
#ifndef QST_TEST_HISTORY_CASE_H
#define QST_TEST_HISTORY_CASE_H

#include <quernstone/store.h>
#include <stddef.h>

/* Rows in order, oldest session first: number 0 is the session's own. `json` is not terminated. Non-zero ends. Rows
 * that are damaged are passed over. */
typedef int32_t (*history_take)(void *user, uint64_t session, uint64_t number, const char *json, size_t bytes);
qst_status history_read(const qst_store *store, history_take take, void *user);

#endif
