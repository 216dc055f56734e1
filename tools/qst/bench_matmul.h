/* SPDX-License-Identifier: MIT
 *
 * bench_matmul.h: what the parts of `qst bench matmul` share.
 */
#ifndef QST_TOOL_BENCH_MATMUL_H
#define QST_TOOL_BENCH_MATMUL_H

#include "contest.h"

#include <jansson.h>

/* As the options say. */
typedef struct matmul_options {
    int64_t     m, n, k, batch, rounds, random, skip, seed;
    uint32_t    type, numerics;
    bool        ta, tb, sync, all;
    const char *problem, *problems, *peers, *range;
} matmul_options;

/* Problems on whole buffers. `label`: for people; owned. */
typedef struct matmul_wish {
    qst_matmul problem;
    char      *label;
} matmul_wish;

typedef struct matmul_wishes {
    matmul_wish *data;
    size_t       n;
} matmul_wishes;

/* bench_problems.c: from words and options of the verb. 0, or the exit code after one line. Releases either way by
 * _drop. */
int  matmul_wishes_collect(matmul_wishes *all, qst_context *context, const matmul_options *options, const char *verb,
                           int argc, char **argv);
void matmul_wishes_drop(matmul_wishes *all);

/* bench_regret.c: every candidate by itself, each with a context of its own that lasts over all problems. */
typedef struct regret_pool regret_pool;

/* 0, or the exit code after one line. */
int  regret_open(regret_pool **pool, const device_handle *device, const args_common *common);
void regret_close(regret_pool *pool);

#define REGRET_PAIRS 15 /* at least */

/* Screens the candidates, and re-times the library's choice (`ours`, which has played) and the best of them in alternated
 * pairs. Adds a row for each to `rows`. The regret in *regret: by how much of the best's time the choice is slower, NAN
 * where none was timed; *best: its name (the caller frees). False after one line. */
bool regret_measure(regret_pool *pool, contest *c, const contest_player *ours, const char *winner, int64_t pairs,
                    json_t *rows, double *regret, char **best);

/* Two candidates by their names in alternated pairs: the median of the first's times over the second's. False after one
 * line. */
bool regret_duel(regret_pool *pool, contest *c, const char *name, const char *against, int64_t pairs, double *ratio);

/* bench_matmul_print.c: a row of JSON about who played, or was ruled out; for people a line of heads, a problem's
 * result, and what all of them say together. */
json_t *matmul_row(const contest *c, const contest_player *player, const char *winner);
void    matmul_print_heads(void);
void    matmul_print(const json_t *result);
void    matmul_print_summary(const json_t *all);

#endif
