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
enum { QST__STATISTIC_PAIRS, QST__STATISTIC_MEDIAN };
enum { QST__CACHE_WARM, QST__CACHE_COLD };
enum { QST__RECHECK_NEVER, QST__RECHECK_DRIVER, QST__RECHECK_ALWAYS };
enum { QST__ISOLATE_NONE, QST__ISOLATE_SUSPECT, QST__ISOLATE_ALL };
enum { QST__BACKEND_LMDB, QST__BACKEND_MEMORY, QST__BACKEND_OFF };
enum { QST__PLACE_CACHE, QST__PLACE_LOCAL, QST__PLACE_PROJECT, QST__PLACE_PATH /* settings.store_path */ };
enum { QST__HISTORY_OFF, QST__HISTORY_BASIC, QST__HISTORY_FULL };

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
    double  prune_factor; /* not built when estimated over this times the best measured time; 0: all are built */
    bool    short_circuit;
    int32_t short_circuit_samples;
    bool    verify;
    bool    wait;      /* who does not get a key's claim waits for it; false: is served by the safe candidate */
    bool    ahead;     /* in the background programs are built ahead by a process of its own */
    int64_t memory_mb; /* device memory for tuning and workspaces */
    /* candidates.* */
    qst__strings pin; /* globs of full names: where any matches, others are not run */
    qst__strings deny;
    /* log */
    char *log;
    /* plugin.*, groups.* */
    qst__pair *pairs;
    uint32_t   n_pairs;
    /* tune.*, how a key is measured and when again */
    int32_t statistic;  /* QST__STATISTIC_…: what decides between candidates */
    int32_t cache;      /* QST__CACHE_…: the device's caches before a sample */
    int32_t recheck;    /* QST__RECHECK_…: when a stored verdict is measured again before it is used */
    int32_t isolate;    /* QST__ISOLATE_…: who is tried in a process of its own first */
    int64_t isolate_ms; /* how long that may take */
    bool    force;      /* each key is tuned afresh, once a process, whatever is stored */
    /* store.* */
    int32_t backend;     /* QST__BACKEND_… */
    int32_t place;       /* QST__PLACE_…: where the environments lie; store_path goes before it */
    char   *store_path;  /* absolute directory of environments; NULL: by place */
    char   *environment; /* a file name of [A-Za-z0-9._-], never NULL once conf/ has filled it in */
    int64_t map_mb;      /* MiB that the store's file may grow to */
    bool    readonly;    /* the store is read and never written */
    /* verdicts.*, throughput.*, programs.*: what is read from the store and written to it */
    bool    verdict_cache;
    bool    throughput_cache;
    bool    program_cache;
    int64_t programs_max_mb; /* MiB of program binaries kept; 0: no limit */
    /* decisions.*: where the line of each tuning goes, any number of them */
    bool  decisions_stdout;
    bool  decisions_stderr;
    char *decisions_file; /* absolute, appended to; NULL: none */
    /* history.* */
    int32_t history_level; /* QST__HISTORY_… */
    int32_t history_keep;  /* sessions kept; 0: no limit */
} qst__settings;

/* Frees what conf/ filled in. */
void qst__settings_finish(qst__settings *settings, const qst__alloc *alloc);

/* The value of an open-ended setting, or NULL. */
const char *qst__settings_pair(const qst__settings *settings, const char *path);

/* May a candidate of this full name run, by pin and deny? False: *why names the rule. */
bool qst__settings_allow(const qst__settings *settings, const char *name, const char **why);

#endif
