/* SPDX-License-Identifier: MIT
 *
 * schema.c: the table of keys, and how a path is looked up in it. */
#include "conf/schema.h"

#include "base/settings.h"
#include "conf/conf.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A project's file comes with whatever was checked out or unpacked there: it may say how to tune, never what code to
 * load or where to write. */
#define EVERYBODY                                                                                                      \
    (QST__SOURCE(QST__FROM_DEFAULT) | QST__SOURCE(QST__FROM_USER) | QST__SOURCE(QST__FROM_PROJECT) |                   \
     QST__SOURCE(QST__FROM_FILE) | QST__SOURCE(QST__FROM_ENV) | QST__SOURCE(QST__FROM_API))
#define NO_PROJECT (EVERYBODY & ~QST__SOURCE(QST__FROM_PROJECT))

#define AT(member) offsetof(qst__settings, member)

static const char *const MODES[] = {
    [QST__MODE_TUNE] = "tune",
    [QST__MODE_FALLBACK] = "fallback",
    [QST__MODE_BACKGROUND] = "background",
    [QST__MODE_FROZEN] = "frozen",
    NULL,
};

static const char *const LEVELS[] = {
    [QST__LEVEL_MINIMAL] = "minimal",
    [QST__LEVEL_BALANCED] = "balanced",
    [QST__LEVEL_EXTENSIVE] = "extensive",
    [QST__LEVEL_FULL] = "full",
    NULL,
};

static const char *const BACKENDS[] = {
    [QST__BACKEND_LMDB] = "lmdb",
    [QST__BACKEND_MEMORY] = "memory",
    [QST__BACKEND_OFF] = "off",
    NULL,
};

static const char *const PLACES[] = {
    [QST__PLACE_CACHE] = "cache",
    [QST__PLACE_LOCAL] = "local",
    [QST__PLACE_PROJECT] = "project",
    NULL,
};

static const char *const STATISTICS[] = {
    [QST__STATISTIC_PAIRS] = "pairs",
    [QST__STATISTIC_MEDIAN] = "median",
    NULL,
};

static const char *const CACHES[] = {
    [QST__CACHE_WARM] = "warm",
    [QST__CACHE_COLD] = "cold",
    NULL,
};

static const char *const RECHECKS[] = {
    [QST__RECHECK_NEVER] = "never",
    [QST__RECHECK_DRIVER] = "driver",
    [QST__RECHECK_ALWAYS] = "always",
    NULL,
};

static const char *const ISOLATIONS[] = {
    [QST__ISOLATE_NONE] = "none",
    [QST__ISOLATE_SUSPECT] = "suspect",
    [QST__ISOLATE_ALL] = "all",
    NULL,
};

static const char *const HISTORIES[] = {
    [QST__HISTORY_OFF] = "off",
    [QST__HISTORY_BASIC] = "basic",
    [QST__HISTORY_FULL] = "full",
    NULL,
};

#define DAY_MS 86400000.0 /* a day */
#define TIB_MB 1048576.0  /* a TiB */

/* clang-format off */
const qst__key_row qst__schema[] = {
    {"device.platform", QST__TYPE_TEXT, NO_PROJECT, AT(device_platform), "", 0, 0, NULL, NULL,
     "part of the OpenCL platform's name, upper or lower case; empty: any"},
    {"device.name", QST__TYPE_TEXT, NO_PROJECT, AT(device_name), "", 0, 0, NULL, NULL,
     "part of the device's name, upper or lower case; empty: any"},
    {"device.index", QST__TYPE_INT, NO_PROJECT, AT(device_index), "-1", -1, 1023, NULL, NULL,
     "which of the devices that fit, from 0; -1: the first GPU, else the first device"},

    {"plugins.dirs", QST__TYPE_PATHS, NO_PROJECT, AT(plugin_dirs), "", 0, 0, NULL, "QST_PLUGIN_PATH",
     "directories with plugins, looked through before the one that belongs to the library"},
    {"plugins.load", QST__TYPE_LIST, NO_PROJECT, AT(plugin_load), "", 0, 0, NULL, NULL,
     "plugins to load, by name, * for any run of characters; empty: all"},
    {"plugins.required", QST__TYPE_LIST, NO_PROJECT, AT(plugin_required), "", 0, 0, NULL, NULL,
     "plugins without which no context is made"},
    {"plugin.<name>.<key>", QST__TYPE_ANY, NO_PROJECT, QST__OPEN, "", 0, 0, NULL, NULL,
     "a setting of the plugin's own"},

    {"tune.mode", QST__TYPE_WORD, EVERYBODY, AT(mode), "tune", 0, 0, MODES, "QST_MODE",
     "for a key without an answer: tune in the first call, serve the fallback, tune in the background, or never tune"},
    {"tune.level", QST__TYPE_GRADE, EVERYBODY, AT(level), "balanced", 0, 0, LEVELS, "QST_AUTOTUNE_LEVEL",
     "how finely keys are told apart and how much is tried, 0 to 3"},
    {"tune.budget_ms", QST__TYPE_LONG, EVERYBODY, AT(budget_ms), "1000", 0, DAY_MS, NULL, NULL,
     "milliseconds of verification and samples for a key; 0: no limit"},
    {"tune.build_budget_ms", QST__TYPE_LONG, EVERYBODY, AT(build_budget_ms), "0", 0, DAY_MS, NULL, NULL,
     "milliseconds of building programs for a key; 0: no limit"},
    {"tune.min_samples", QST__TYPE_INT, EVERYBODY, AT(min_samples), "3", 1, 1000, NULL, NULL,
     "samples of a candidate before it may be dropped as slow; a first run of 4 ms or more counts as one"},
    {"tune.max_samples", QST__TYPE_INT, EVERYBODY, AT(max_samples), "10", 1, 1000, NULL, NULL,
     "samples of a candidate at most, before the final takes more of those that may still be the best"},
    {"tune.speed_factor", QST__TYPE_REAL, EVERYBODY, AT(speed_factor), "1.5", 1, 100, NULL, NULL,
     "a candidate is dropped when its best time is over this times the best of all; over less, the more samples there are"},
    {"tune.prune_factor", QST__TYPE_REAL, EVERYBODY, AT(prune_factor), "5", 0, 1e6, NULL, NULL,
     "a candidate is not built when its estimate is over this times the best measured time; 0: each is"},
    {"tune.short_circuit", QST__TYPE_BOOL, EVERYBODY, AT(short_circuit), "true", 0, 0, NULL, NULL,
     "stop as soon as a candidate is so near the roof that a search gains nothing"},
    {"tune.short_circuit_samples", QST__TYPE_INT, EVERYBODY, AT(short_circuit_samples), "2", 1, 1000, NULL, NULL,
     "samples of a candidate before it may stop the search"},
    {"tune.verify", QST__TYPE_BOOL, EVERYBODY, AT(verify), "true", 0, 0, NULL, NULL,
     "check a candidate's results before it is timed"},
    {"tune.wait", QST__TYPE_BOOL, EVERYBODY, AT(wait), "false", 0, 0, NULL, NULL,
     "a call whose key another thread or process is tuning waits for the answer, without a limit: as long as the other one "
     "runs, also where it is stopped; false: it is served by a candidate known to be right"},
    {"tune.ahead", QST__TYPE_BOOL, EVERYBODY, AT(ahead), "true", 0, 0, NULL, NULL,
     "in the background, have a process of its own compile first, so that the driver's compiler holds up no call"},
    {"tune.memory_mb", QST__TYPE_LONG, EVERYBODY, AT(memory_mb), "2048", 1, TIB_MB, NULL, NULL,
     "MiB of device memory for the workspaces of candidates; one that wants more is not run"},
    {"tune.statistic", QST__TYPE_WORD, EVERYBODY, AT(statistic), "pairs", 0, 0, STATISTICS, NULL,
     "what decides between candidates: their ratios round by round, or their medians"},
    {"tune.cache", QST__TYPE_WORD, EVERYBODY, AT(cache), "warm", 0, 0, CACHES, NULL,
     "the device's caches before a sample: as the sample before left them, or displaced by other data"},
    {"tune.recheck", QST__TYPE_WORD, EVERYBODY, AT(recheck), "driver", 0, 0, RECHECKS, NULL,
     "a stored verdict is measured again, in short, before it is used: never, when the driver is another, or always"},
    {"tune.isolate", QST__TYPE_WORD, EVERYBODY, AT(isolate), "suspect", 0, 0, ISOLATIONS, NULL,
     "which candidates run in a process of their own first: none, those at which a process has died, or all, and then "
     "none that cannot"},
    {"tune.isolate_ms", QST__TYPE_LONG, EVERYBODY, AT(isolate_ms), "60000", 1, DAY_MS, NULL, NULL,
     "milliseconds that such a process may take; a candidate that takes longer is not tried again"},
    {"tune.force", QST__TYPE_BOOL, EVERYBODY, AT(force), "false", 0, 0, NULL, NULL,
     "tune each key afresh, once a process, whatever is stored"},

    {"candidates.pin", QST__TYPE_LIST, EVERYBODY, AT(pin), "", 0, 0, NULL, "QST_PIN",
     "full names of candidates, * for any run of characters: others are not run, but for the fallback where these fail"},
    {"candidates.deny", QST__TYPE_GATHER, EVERYBODY, AT(deny), "", 0, 0, NULL, "QST_DENY",
     "full names of candidates, * for any run of characters: these are not tried, and not run; beside those that earlier "
     "sources deny"},

    {"groups.<op>.<group>.priority", QST__TYPE_INT, EVERYBODY, QST__OPEN, "", -128, 127, NULL, NULL,
     "priority of a group of an operation, instead of the group's own; negative: its members are left out"},

    {"store.backend", QST__TYPE_WORD, NO_PROJECT, AT(backend), "lmdb", 0, 0, BACKENDS, NULL,
     "where answers are kept: in a file, in memory for as long as the context lives, or nowhere but in the table of "
     "keys that are in use"},
    {"store.place", QST__TYPE_WORD, NO_PROJECT, AT(place), "cache", 0, 0, PLACES, NULL,
     "where the directory of environments lies: the user's cache directory, the working directory, or that of the "
     "project's quernstone.json"},
    {"store.path", QST__TYPE_PATH, NO_PROJECT, AT(store_path), "", 0, 0, NULL, NULL,
     "directory of environments, instead of store.place"},
    {"store.environment", QST__TYPE_NAME, NO_PROJECT, AT(environment), "default", 0, 0, NULL, "QST_ENVIRONMENT",
     "name of the environment; environments do not see each other's answers"},
    {"store.map_mb", QST__TYPE_LONG, NO_PROJECT, AT(map_mb), "1024", 1, TIB_MB, NULL, NULL,
     "the most MiB that the store's file may grow to"},
    {"store.readonly", QST__TYPE_BOOL, NO_PROJECT, AT(readonly), "false", 0, 0, NULL, NULL,
     "read the store and never write to it; what is found out lasts as long as the context"},

    {"verdicts.cache", QST__TYPE_BOOL, NO_PROJECT, AT(verdict_cache), "true", 0, 0, NULL, "QST_AUTOTUNE_CACHE",
     "keep verdicts in the store; false: each process tunes its keys itself, once"},
    {"throughput.cache", QST__TYPE_BOOL, NO_PROJECT, AT(throughput_cache), "true", 0, 0, NULL, "QST_THROUGHPUT_CACHE",
     "keep the peaks of the device in the store; false: each process probes them itself, once"},
    {"programs.cache", QST__TYPE_BOOL, NO_PROJECT, AT(program_cache), "true", 0, 0, NULL, NULL,
     "keep program binaries in the store; false: each process builds from source"},
    {"programs.max_mb", QST__TYPE_LONG, NO_PROJECT, AT(programs_max_mb), "256", 0, TIB_MB, NULL, NULL,
     "MiB of program binaries, beyond which those that were used longest ago go; 0: no limit"},

    {"decisions.stdout", QST__TYPE_BOOL, NO_PROJECT, AT(decisions_stdout), "false", 0, 0, NULL, NULL,
     "write the account of each tuning to standard output, one JSON object a line"},
    {"decisions.stderr", QST__TYPE_BOOL, NO_PROJECT, AT(decisions_stderr), "false", 0, 0, NULL, NULL,
     "the same to standard error"},
    {"decisions.file", QST__TYPE_PATH, NO_PROJECT, AT(decisions_file), "", 0, 0, NULL, NULL,
     "the same at the end of this file, which is made where it is missing"},
    {"history.level", QST__TYPE_WORD, NO_PROJECT, AT(history_level), "basic", 0, 0, HISTORIES, NULL,
     "what the store notes of the processes that tuned: nothing, tunings and compilations, or these with their samples"},
    {"history.keep", QST__TYPE_INT, NO_PROJECT, AT(history_keep), "100", 0, 1000000, NULL, NULL,
     "processes in the history, beyond which the oldest go; 0: no limit"},

    {"log", QST__TYPE_LOG, EVERYBODY, AT(log), "", 0, 0, NULL, "QST_LOG",
     "a level (off, error, warn, info, debug) and areas (context, conf, plug, tune, cl, store, run), separated by commas"},
};
/* clang-format on */

const uint32_t qst__schema_rows = sizeof qst__schema / sizeof *qst__schema;

/* ---- Looking up ------------------------------------------------------------------------------------------------- */

/* Does the text follow the pattern to its end, or with `section` to a dot of the pattern? Names in brackets are
 * tried from long to short. */
static bool follows(const char *pattern, const char *text, bool section)
{
    while (*pattern && *pattern == *text && *pattern != '<') {
        pattern++;
        text++;
    }
    if (*pattern != '<')
        return !*text && *pattern == (section ? '.' : '\0');

    bool        many = strncmp(pattern, "<op>", 4) == 0;
    const char *after = strchr(pattern, '>') + 1;
    size_t      length =
        strspn(text, many ? "abcdefghijklmnopqrstuvwxyz0123456789_." : "abcdefghijklmnopqrstuvwxyz0123456789_");
    for (; length > 0; length--)
        if (text[0] != '.' && text[length - 1] != '.' && follows(after, text + length, section))
            return true;
    return false;
}

const qst__key_row *qst__schema_find(const char *path)
{
    for (uint32_t i = 0; i < qst__schema_rows; i++)
        if (follows(qst__schema[i].path, path, false))
            return &qst__schema[i];
    return NULL;
}

bool qst__schema_section(const char *path)
{
    for (uint32_t i = 0; i < qst__schema_rows; i++)
        if (follows(qst__schema[i].path, path, true))
            return true;
    return false;
}

const qst__key_row *qst__schema_form(const char *path)
{
    size_t length = strcspn(path, ".");
    for (uint32_t i = 0; i < qst__schema_rows; i++)
        if (qst__schema[i].offset == QST__OPEN && strcspn(qst__schema[i].path, ".") == length &&
            strncmp(qst__schema[i].path, path, length) == 0)
            return &qst__schema[i];
    return NULL;
}
