/* SPDX-License-Identifier: MIT
 *
 * cache.c: `qst cache`: which of its jobs is meant; one record of the store. */
#include "cache.h"

#include "device.h"
#include "explain.h"
#include "file.h"
#include "log.h"
#include "out.h"
#include "verb.h"
#include "verdict.h"

#include <quernstone/cache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cache_options defaults = {0};
static const args_option   table[] = {
      {"table", ARGS_TEXT, offsetof(cache_options, table), "NAME",
       "ls: of this table only: verdicts, programs, throughput, quarantine, history or meta", 0, 0, NULL, 0},
      {"wide", ARGS_FLAG, offsetof(cache_options, wide), NULL, "ls: lines and columns whole, on a terminal, too", 0, 0,
       NULL, 0},
      {"op", ARGS_TEXT, offsetof(cache_options, op), "GLOB", "ls, prune, export: verdicts of such operations only", 0, 0,
       NULL, 0},
      {"out", ARGS_TEXT, offsetof(cache_options, out), "FILE", "show: a program's binary into a file", 0, 0, NULL, 0},
      {"remove", ARGS_FLAG, offsetof(cache_options, remove), NULL, "verify: remove what is damaged", 0, 0, NULL, 0},
      {"unusable", ARGS_FLAG, offsetof(cache_options, unusable), NULL, "prune: what is damaged, or of another schema", 0,
       0, NULL, 0},
      {"programs-mb", ARGS_TEXT, offsetof(cache_options, programs_mb), "N",
       "prune: programs least recently used, down to N MiB", 0, 0, NULL, 0},
      {"quarantine", ARGS_TEXT, offsetof(cache_options, quarantine), "GLOB",
       "prune: what is held against such candidates, by full name: they are tried again", 0, 0, NULL, 0},
      {"all", ARGS_FLAG, offsetof(cache_options, all), NULL, "prune: everything", 0, 0, NULL, 0},
      {NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0},
};

json_t *cache_ask(qst_context *context, const char *what, cache_teller *teller)
{
    out_buffer all = {NULL, 0, 0};
    qst_error  err = {0};
    json_t    *json = NULL;
    qst_status status = teller(context, out_gather, &all, &err);
    if (status < 0)
        out_error(what, status, &err);
    else
        json = out_parse(what, &all);
    free(all.text);
    return json;
}

int cache_keeps(qst_context *context, const char *verb, const char *what)
{
    json_t     *stat = cache_ask(context, verb, qst_cache_stat);
    const char *place = out_member(stat, "place"), *degraded = out_member(stat, "degraded");
    bool        lost = degraded[0] || out_truth(stat, "readonly");
    if (lost && degraded[0] && log_told(degraded))
        out_fail("%s: %s is not kept", verb, what);
    else if (lost && degraded[0])
        out_fail("%s: %s is not kept: %s", verb, what, degraded);
    else if (lost)
        out_fail("%s: %s is not kept: %s: the store is read-only", verb, what, place);
    else if (place[0] && access(place, F_OK) != 0) {
        out_fail("%s: %s is not kept: %s was removed meanwhile", verb, what, place);
        lost = true;
    }
    json_decref(stat);
    return stat && !lost ? 0 : EXIT_FAILED;
}

/* What is wrong with an id is the user's word; that there is none is not. */
static int refuse_id(qst_status status, const qst_error *err)
{
    return status == QST_E_INVALID ? args_usage("cache", "%s", err->text) : out_error("cache", status, err);
}

/* ---- show --------------------------------------------------------------------------------------------------------- */

static void print_record(json_t *record)
{
    const char *key;
    json_t     *value;
    if (json_object_get(record, "findings")) {
        printf("id      %s\n", out_member(record, "id"));
        json_object_set_new(record, "source",
                            json_string(out_truth(record, "prior") ? "the store, as a prior" : "the store"));
        json_object_set(record, "asked", json_object_get(record, "problem"));
        json_object_set_new(record, "device", json_string("any of its target"));
        explain_print(record, true, true);
        return;
    }
    json_object_foreach(record, key, value)
    {
        char *text = json_is_string(value) ? out_text("%s", json_string_value(value))
                                           : out_need(json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT));
        printf("%-7s %s\n", key, text);
        free(text);
    }
}

static int extract(const cache_job *job)
{
    out_buffer bytes = {NULL, 0, 0};
    qst_error  err = {0};
    qst_status status = qst_cache_extract(job->context, job->word, out_gather, &bytes, &err);
    int        code = status < 0 ? refuse_id(status, &err) : file_write(job->options->out, bytes.text, bytes.length);
    free(bytes.text);
    return code;
}

static int show(const cache_job *job)
{
    out_buffer text = {NULL, 0, 0};
    qst_error  err = {0};
    json_t    *record = NULL;
    if (job->options->out)
        return extract(job);
    qst_status status = qst_cache_show(job->context, job->word, out_gather, &text, &err);
    int        code = status < 0 ? refuse_id(status, &err) : 0;
    if (code == 0 && !(record = out_parse("cache", &text)))
        code = EXIT_FAILED;
    free(text.text);
    if (record && job->json)
        out_json(json_incref(record));
    else if (record) {
        out_harmless(record);
        print_record(record);
    }
    json_decref(record);
    return code;
}

/* ---- Which job ---------------------------------------------------------------------------------------------------- */

static const verb_job jobs[] = {
    {"ls",
     "",
     "a line for each verdict, with operation, winner and key, and each program's binary; others by --table.\n"
     "        State `prior`: used after a re-check; `partial`: the next miss of its key goes on; of candidates that\n"
     "        ran when a process ended `watched`: tried as before, `suspect`: tried last, `quarantined`: not tried",
     {"table", "op", "wide"}},
    {"show", "ID", "one record, by its id or the first digits of it; --out FILE writes a program's binary", {"out"}},
    {"verify",
     "",
     "reads every record whole, and tells of stores that were damaged as a whole and set aside: exit code 1 where\n"
     "        anything damaged stays. The history is `not looked into`: it is told, and nothing rests on it",
     {"remove"}},
    {"prune",
     "",
     "removes what the options name, at least one of --unusable, --op, --programs-mb, --quarantine, --all",
     {"unusable", "op", "programs-mb", "quarantine", "all"}},
    {"export", "[FILE]", "verdicts as JSON, to FILE, or standard output without one or for -", {"op"}},
    {"import",
     "FILE",
     "takes them in on another machine as priors: used after one re-check, never before what was measured there",
     {NULL}},
    {NULL, NULL, NULL, {NULL}},
};

/* What runs each of them, in their order. */
static const struct job_row {
    int         least, most; /* words after it */
    const char *word;        /* what the first is */
    int (*run)(const cache_job *job);
} rows[] = {
    {0, 0, "", cache_ls},    {1, 1, "the beginning of an id", show}, {0, 0, "", cache_verify},
    {0, 0, "", cache_prune}, {0, 1, "a file", cache_export},         {1, 1, "a file", cache_import},
};
#define JOBS (sizeof rows / sizeof *rows)

/* An option given that the job does not take, or NULL. */
static const char *stray(const verb_job *job, const cache_options *o)
{
    const struct {
        const char *name;
        bool        given;
    } given[] = {{"table", o->table != NULL},
                 {"op", o->op != NULL},
                 {"wide", o->wide},
                 {"out", o->out != NULL},
                 {"remove", o->remove},
                 {"unusable", o->unusable},
                 {"programs-mb", o->programs_mb != NULL},
                 {"quarantine", o->quarantine != NULL},
                 {"all", o->all}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].given && !verb_job_takes(job, given[i].name))
            return given[i].name;
    return NULL;
}

static int check_table(const char *name)
{
    static const char *const names[] = {"verdicts", "programs", "throughput", "quarantine", "history", "meta"};
    const size_t             n = sizeof names / sizeof *names;
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return 0;
    const char *meant = args_nearest(name, names, n);
    return args_usage("cache", "--table %s: no such table%s%s", out_shown(name).text, meant ? "; did you mean " : "",
                      meant ? meant : "");
}

/* *chosen: the place of the job in the tables. */
static int choose(size_t *chosen, const cache_options *o, int argc, char **argv)
{
    const char *names[JOBS];
    size_t      at = JOBS;
    for (size_t i = 0; i < JOBS; i++) {
        names[i] = jobs[i].name;
        if (argc && strcmp(argv[0], jobs[i].name) == 0)
            at = i;
    }
    if (at == JOBS) {
        const char *meant = argc ? args_nearest(argv[0], names, JOBS) : NULL;
        if (meant)
            return args_usage("cache", "%s: no such job; did you mean %s?", out_shown(argv[0]).text, meant);
        return args_usage("cache", "%s: the job is one of ls, show, verify, prune, export, import",
                          argc ? out_shown(argv[0]).text : "nothing named");
    }
    if (argc - 1 < rows[at].least)
        return args_usage("cache", "%s: %s is missing", argv[0], rows[at].word);
    if (argc - 1 > rows[at].most)
        return args_usage("cache", "%s: one argument too many for %s", out_shown(argv[rows[at].most + 1]).text,
                          argv[0]);
    *chosen = at;
    const char *odd = stray(&jobs[at], o);
    if (!odd && o->table)
        return check_table(o->table);
    return odd ? args_usage("cache", "--%s: not an option of %s", odd, argv[0]) : 0;
}

static int run(const args_common *common, const void *given, int argc, char **argv)
{
    size_t        chosen = 0;
    device_handle device;
    cache_job     job = {NULL, given, common->json, argc > 1 ? argv[1] : NULL};
    int           status = choose(&chosen, given, argc, argv);
    if (status == 0)
        status = cache_options_check(&job, rows[chosen].run == cache_prune);
    if (status != 0)
        return status;
    args_common own = *common;
    own.keeps = "cache";
    own.reads = rows[chosen].run != cache_import;
    status = device_context(&device, &own, QST_NO_PLUGINS);
    job.context = device.context;
    if (status == 0)
        status = rows[chosen].run(&job);
    device_close(&device);
    return status;
}

const verb_info verb_cache = {
    .name = "cache",
    .arguments = "ls|show ID|verify|prune|export [FILE]|import FILE",
    .summary = "the store: list, show, verify, prune, export, import",
    .help =
        "Its jobs; qst cache JOB --help tells of one of them. Where there is no store import makes one, the others end with\n"
        "exit code 1:\n",
    .jobs = jobs,
    .options = table,
    .defaults = &defaults,
    .options_size = sizeof(cache_options),
    .run = run,
};
