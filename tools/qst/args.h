/* SPDX-License-Identifier: MIT
 *
 * args.h: options from a declarative table: one row says name, kind, bounds, where the value goes and its help.
 */
#ifndef QST_TOOL_ARGS_H
#define QST_TOOL_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct verb_info;

/* What a row stores at its offset: bool, int64_t, double, const char *, args_list (repeatable), uint32_t (the index
 * into words, which a grade's number from 0 names as well). */
enum { ARGS_FLAG, ARGS_INT, ARGS_REAL, ARGS_TEXT, ARGS_LIST, ARGS_WORD, ARGS_GRADE };

typedef struct args_list {
    const char **data; /* borrowed from argv */
    size_t       n;
} args_list;

/* Options that verbs share, by group. Absent: NULL, 0, and −1 for budget. */
enum { ARGS_COMMON = 1u << 0, ARGS_LEVEL = 1u << 1, ARGS_TUNE = 1u << 2 };

typedef struct args_common {
    bool        help, json;
    const char *config;
    args_list   set;
    const char *device, *platform;
    uint32_t    level; /* 0: not given, else 1 + the level */
    args_list   pin, deny;
    int64_t     budget;
    const char *keeps; /* the verb, where it is nothing without the store that is asked for */
    bool        reads; /* where it is asked for what is there, so that one that is missing is not made: device.h */
} args_common;

typedef struct args_option {
    const char        *name;
    uint32_t           kind;
    size_t             offset;
    const char        *placeholder; /* NULL for a flag */
    const char        *help;        /* NULL: for the command itself, not told */
    int64_t            least, most; /* bounds of ARGS_INT */
    const char *const *words;       /* of ARGS_WORD and ARGS_GRADE, ended by NULL */
    unsigned           group;       /* of the shared ones: ARGS_… */
} args_option;

/* The words of such rows: element types in the order of QST_F32, …; tuning levels. The first entry is "". */
extern const char *const args_types[];
extern const char *const args_levels[];

/* Reads argv[1 …] for the verb into `common` and `options`; what is no list is said once, by whatever name. 0, with the remaining
 * words in *rest and their number in *n_rest; or EXIT_USAGE after one line on stderr. args_finish releases either way. */
int  args_parse(const struct verb_info *verb, int argc, char **argv, args_common *common, void *options, char ***rest,
                int *n_rest);
void args_finish(const struct verb_info *verb, args_common *common, void *options);

/* Prints usage, help and options of the verb to stdout; where it has a job of the name `word` (NULL: none), of that. */
void args_help(const struct verb_info *verb, const char *word);

/* One line on stderr, `qst: …` or `qst VERB: …`; returns EXIT_USAGE. */
int args_usage(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The entry of `names` that `word` most likely means, or NULL where none is near. */
const char *args_nearest(const char *word, const char *const *names, size_t n);

/* A whole number from all of the text, within the bounds. */
bool args_int(const char *text, int64_t least, int64_t most, int64_t *value);

#endif
