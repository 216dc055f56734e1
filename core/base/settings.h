/* settings.h: the effective configuration as plain data. conf/ fills it; every layer may read it; nobody else
 * writes it. Each member's default, bounds and help stand in conf/schema. */
#ifndef QST_BASE_SETTINGS_H
#define QST_BASE_SETTINGS_H

#include "base/alloc.h"

#include <quernstone/types.h>
#include <stdbool.h>
#include <stdint.h>

enum { QST__MODE_TUNE, QST__MODE_FALLBACK, QST__MODE_BACKGROUND, QST__MODE_FROZEN };
enum { QST__LEVEL_MINIMAL, QST__LEVEL_BALANCED, QST__LEVEL_EXTENSIVE, QST__LEVEL_FULL };

typedef struct qst__strings { /* a list of owned strings */
    char   **data;
    uint32_t count;
} qst__strings;

typedef struct qst__pair { /* an open-ended setting: plugin.<name>.<key>, groups.<op>.<group>.priority */
    char *path;
    char *value; /* as text */
} qst__pair;

typedef struct qst__settings {
    /* device.* */
    char   *device_platform; /* part of the name, case-insensitive; NULL: any */
    char   *device_name;
    int32_t device_index; /* −1: not set */
    /* plugins.* */
    qst__strings plugin_dirs;
    qst__strings plugin_load; /* globs of plugin names to load; empty: all */
    qst__strings plugin_required;
    /* tune.* */
    int32_t mode;
    int32_t level;
    int64_t budget_ms;       /* verification and samples; 0: none */
    int64_t build_budget_ms; /* 0: none */
    int32_t min_samples, max_samples;
    double  speed_factor; /* out when over this times the best minimum */
    bool    short_circuit;
    int32_t short_circuit_samples;
    bool    verify;
    bool    wait;      /* who does not get a key's claim waits for it; false: is served by the safe candidate */
    int64_t memory_mb; /* device memory for tuning and workspaces */
    /* candidates.* */
    qst__strings pin; /* globs of full names: where any matches, others are not run */
    qst__strings deny;
    /* log */
    char *log;
    /* plugin.*, groups.* */
    qst__pair *pairs;
    uint32_t   n_pairs;
} qst__settings;

/* Frees what conf/ filled in. */
void qst__settings_finish(qst__settings *settings, const qst__alloc *alloc);

/* The value of an open-ended setting, or NULL. */
const char *qst__settings_pair(const qst__settings *settings, const char *path);

/* May a candidate of this full name run, by pin and deny? False: *why names the rule. */
bool qst__settings_allow(const qst__settings *settings, const char *name, const char **why);

#endif
