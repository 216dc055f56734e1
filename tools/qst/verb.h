/* SPDX-License-Identifier: MIT
 *
 * verb.h: a verb of the command: what `qst --help` and `qst VERB --help` print, its options, its function.
 */
#ifndef QST_TOOL_VERB_H
#define QST_TOOL_VERB_H

#include "args.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define VERB_JOB_OPTIONS 5

/* What a verb's first word may name, where all of these share its options: for its help. */
typedef struct verb_job {
    const char *name;
    const char *arguments;
    const char *help;                      /* no newline at its end; further lines are indented by 8 */
    const char *options[VERB_JOB_OPTIONS]; /* that it takes, by name, besides the shared ones */
} verb_job;

bool verb_job_takes(const verb_job *job, const char *option);

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
    const verb_job *jobs;  /* ended by one without a name; NULL: none */
} verb_info;

extern const verb_info verb_devices, verb_plugins, verb_config, verb_keys, verb_shapes, verb_run, verb_bench,
    verb_explain, verb_tune, verb_cache, verb_doctor, verb_bench_matmul, verb_bench_tunings;

#endif
