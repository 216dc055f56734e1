/* SPDX-License-Identifier: MIT
 *
 * cache_case.h: a context with answers in its store, and what quernstone/cache.h tells of them, as JSON.
 */
#ifndef QST_TESTS_CACHE_CASE_H
#define QST_TESTS_CACHE_CASE_H

#include "run/run.h"
#include "support/blend.h"

#include <jansson.h>
#include <quernstone/cache.h>

/* What a sink got; `data` is malloc'ed, NULL where nothing came. */
typedef struct cache_text {
    char  *data;
    size_t length;
} cache_text;

void    cache_gather(void *user, const char *piece, size_t length);
json_t *cache_parse(cache_text *t); /* frees the data */

json_t     *cache_list(qst_context *ctx);
json_t     *cache_show(qst_context *ctx, const char *id);
const char *cache_word(const json_t *object, const char *name); /* "": none */
/* The records of a table and state ("": any); *first, where not NULL, is one of them, borrowed. */
size_t cache_count(const json_t *all, const char *table, const char *state, json_t **first);

/* A context whose store has verdicts of two sizes, and nothing else. */
extern const qst_candidate *const cache_candidates[];
extern const int64_t              cache_sizes[2];
qst_context                      *cache_answered(cl_fixture *cl, qst_set **set);
void                              cache_call(cl_fixture *cl, qst_set *set, int64_t n);

#endif
