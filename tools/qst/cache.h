/* SPDX-License-Identifier: MIT
 *
 * cache.h: the jobs of `qst cache`.
 */
#ifndef QST_TOOL_CACHE_H
#define QST_TOOL_CACHE_H

#include "args.h"

#include <jansson.h>
#include <quernstone/context.h>

typedef struct cache_options {
    const char *table, *op, *out, *programs_mb, *quarantine; /* NULL: not given */
    bool        wide, remove, unusable, all;
} cache_options;

/* `word`: the argument after the job's name, or NULL. */
typedef struct cache_job {
    qst_context         *context;
    const cache_options *options;
    bool                 json;
    const char          *word;
} cache_job;

/* cache_list.c: 0, or the exit code after one line. */
int cache_ls(const cache_job *job);

/* cache_change.c: 0, or the exit code after one line. */
int cache_verify(const cache_job *job);
int cache_prune(const cache_job *job);
int cache_export(const cache_job *job);
int cache_import(const cache_job *job);

/* What is wrong with the options' values: EXIT_USAGE after one line, before anything is opened. */
int cache_options_check(const cache_job *job, bool prunes);

/* What a function of quernstone/cache.h writes, as values; NULL after one line. */
typedef qst_status cache_teller(qst_context *context, qst_sink sink, void *user, qst_error *err);
json_t            *cache_ask(qst_context *context, const char *what, cache_teller *teller);

/* Does what is put into the store outlast this process, or was that not asked for? Else EXIT_FAILED after one line. */
int cache_keeps(qst_context *context, const char *verb, const char *what);

#endif
