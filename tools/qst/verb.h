/* SPDX-License-Identifier: MIT
 *
 * verb.h: a verb of the command: what `qst --help` and `qst VERB --help` print, its options, its function.
 */
#ifndef QST_TOOL_VERB_H
#define QST_TOOL_VERB_H

#include "args.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* run gets what the options left: `argc` words. `options` is the verb's own struct, set up from `defaults`. */
typedef struct verb_info {
    const char        *name;
    const char        *arguments; /* for the usage line */
    const char        *summary;   /* one line, no full stop */
    const char        *help;      /* paragraphs, ends in a newline */
    unsigned           groups;    /* ARGS_… that it takes besides ARGS_COMMON */
    const args_option *options;   /* its own, ended by a row without a name; NULL: none */
    const void        *defaults;
    size_t             options_size;
    int (*run)(const args_common *common, const void *options, int argc, char **argv);
    const struct verb_info *const
        *parts; /* kinds with options of their own, named "VERB KIND", ended by NULL; NULL: none */
} verb_info;

extern const verb_info verb_devices, verb_plugins, verb_config, verb_keys, verb_shapes, verb_run, verb_bench,
    verb_explain, verb_tune, verb_cache, verb_doctor, verb_bench_matmul, verb_bench_tunings;

#endif
