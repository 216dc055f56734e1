/* SPDX-License-Identifier: MIT
 *
 * args.c: turns rows of options into getopt_long's table, values into members, mistakes into one line. */
#include "args.h"

#include "out.h"
#include "verb.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX 48
#define FIRST_CODE  256 /* above every letter */

const char *const args_types[] = {"", "f32", "f64", "f16", "bf16", NULL};
const char *const args_levels[] = {"", "minimal", "balanced", "extensive", "full", NULL};

#define AT(member) offsetof(args_common, member)
static const args_option shared[] = {
    {"help", ARGS_FLAG, AT(help), NULL, "this text", 0, 0, NULL, ARGS_COMMON},
    {"json", ARGS_FLAG, AT(json), NULL, "results as JSON", 0, 0, NULL, ARGS_COMMON},
    {"config", ARGS_TEXT, AT(config), "JSON", "configuration over files and environment", 0, 0, NULL, ARGS_COMMON},
    {"set", ARGS_LIST, AT(set), "PATH=VALUE",
     "one setting, over --config; repeatable: the last one counts, but denials add up", 0, 0, NULL, ARGS_COMMON},
    {"device", ARGS_TEXT, AT(device), "NAME", "device whose name contains NAME; else the first GPU, else the first", 0,
     0, NULL, ARGS_COMMON},
    {"platform", ARGS_TEXT, AT(platform), "NAME", "platform whose name contains NAME", 0, 0, NULL, ARGS_COMMON},
    {"level", ARGS_GRADE, AT(level), "LEVEL", "tuning level, balanced where none is set", 0, 0, args_levels,
     ARGS_LEVEL},
    {"pin", ARGS_LIST, AT(pin), "GLOB", "run only candidates of such a name; repeatable", 0, 0, NULL, ARGS_TUNE},
    {"deny", ARGS_LIST, AT(deny), "GLOB",
     "run no candidate of such a name, nor those that the configuration denies, unless a GLOB of '' comes first; repeatable",
     0, 0, NULL, ARGS_TUNE},
    {"budget", ARGS_INT, AT(budget), "MS",
     "time for verification and samples of a key; 0, or where none is set: no limit", 0, 86400000, NULL, ARGS_TUNE},
    {NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0},
};
#undef AT

int args_usage(const char *verb, const char *format, ...)
{
    va_list args;
    char   *prefix = out_text(verb && verb[0] ? "qst %s: " : "qst%s: ", verb ? verb : "");
    va_start(args, format);
    out_line(prefix, false, format, args);
    va_end(args);
    free(prefix);
    return EXIT_USAGE;
}

/* Insertions, deletions, replacements and swaps of neighbours between two words of at most 31 letters. */
static size_t distance(const char *a, const char *b)
{
    size_t d[32][32], la = strlen(a), lb = strlen(b), i, j;
    if (la > 31 || lb > 31)
        return 99;
    for (i = 0; i <= la; i++)
        d[i][0] = i;
    for (j = 0; j <= lb; j++)
        d[0][j] = j;
    for (i = 1; i <= la; i++)
        for (j = 1; j <= lb; j++) {
            size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[la][lb];
}

const char *args_nearest(const char *word, const char *const *names, size_t n)
{
    const char *nearest = NULL;
    size_t      least = strlen(word) <= 4 ? 2 : 3; /* exclusive */
    for (size_t i = 0; i < n; i++) {
        size_t far = distance(word, names[i]);
        if (far < least) {
            least = far;
            nearest = names[i];
        }
    }
    return nearest;
}

bool args_int(const char *text, int64_t least, int64_t most, int64_t *value)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < least || number > most)
        return false;
    *value = number;
    return true;
}

/* The rows of a verb: its own first, then the shared ones of its groups. */
static size_t collect(const verb_info *verb, const args_option **rows, bool *own)
{
    size_t n = 0;
    for (const args_option *o = verb->options; o && o->name && n < OPTIONS_MAX; o++) {
        own[n] = true;
        rows[n++] = o;
    }
    for (const args_option *o = shared; o->name && n < OPTIONS_MAX; o++)
        if (o->group & (verb->groups | ARGS_COMMON)) {
            own[n] = false;
            rows[n++] = o;
        }
    return n;
}

static int store_word(const verb_info *verb, const args_option *row, const char *text, uint32_t *at)
{
    char list[160] = "", number[12];
    int  n = 0;
    for (uint32_t i = 0; row->words[i]; i++) {
        if (!row->words[i][0])
            continue;
        snprintf(number, sizeof number, "%d", n);
        if (strcmp(row->words[i], text) == 0 || (row->kind == ARGS_GRADE && strcmp(number, text) == 0)) {
            *at = i;
            return 0;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", n++ ? ", " : "", row->words[i]);
    }
    if (row->kind == ARGS_GRADE)
        snprintf(list + strlen(list), sizeof list - strlen(list), ", or 0 to %d", n - 1);
    return args_usage(verb->name, "--%s %s: not one of %s", row->name, out_shown(text).text, list);
}

static int store_real(const verb_info *verb, const args_option *row, const char *text, double *at)
{
    char  *end;
    double number = strtod(text, &end);
    if (end == text || *end || !isfinite(number))
        return args_usage(verb->name, "--%s %s: not a finite number", row->name, out_shown(text).text);
    *at = number;
    return 0;
}

static int store(const verb_info *verb, const args_option *row, const char *text, void *at)
{
    args_list *list = at;
    switch (row->kind) {
    case ARGS_FLAG:
        *(bool *)at = true;
        return 0;
    case ARGS_INT:
        if (args_int(text, row->least, row->most, at))
            return 0;
        return args_usage(verb->name, "--%s %s: not a whole number from %" PRId64 " to %" PRId64, row->name,
                          out_shown(text).text, row->least, row->most);
    case ARGS_REAL:
        return store_real(verb, row, text, at);
    case ARGS_WORD:
    case ARGS_GRADE:
        return store_word(verb, row, text, at);
    case ARGS_LIST:
        list->data = out_resize(list->data, (list->n + 1) * sizeof *list->data);
        list->data[list->n++] = text;
        return 0;
    default:
        *(const char **)at = text;
        return 0;
    }
}

/* What is wrong with a word that getopt_long refused: unknown, ambiguous, or with or without a value. */
static int refuse(const verb_info *verb, const char *word, int code, const args_option **rows, size_t n)
{
    const char *names[OPTIONS_MAX];
    char        name[40];
    size_t      i;
    if (code == ':')
        return args_usage(verb->name, "%s: needs a value", out_shown(word).text);
    if (strncmp(word, "--", 2) != 0)
        return args_usage(verb->name, "%s: no such option; options begin with --", out_shown(word).text);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    for (i = 0; i < n; i++) {
        names[i] = rows[i]->name;
        if (strcmp(name, names[i]) == 0)
            return args_usage(verb->name, "--%s: takes no value", name);
    }
    const char *meant = args_nearest(name, names, n);
    if (meant)
        return args_usage(verb->name, "--%s: no such option; did you mean --%s?", name, meant);
    return args_usage(verb->name, "--%s: no such option; see qst %s --help", name, verb->name);
}

/* The row by which this one's value was given before, maybe under another name; NULL: by none. */
static const args_option *given_before(const args_option **rows, const bool *own, const bool *given, size_t n,
                                       size_t at)
{
    for (size_t i = 0; i < n; i++)
        if (given[i] && own[i] == own[at] && rows[i]->offset == rows[at]->offset)
            return rows[i];
    return NULL;
}

int args_parse(const verb_info *verb, int argc, char **argv, args_common *common, void *options, char ***rest,
               int *n_rest)
{
    const args_option *rows[OPTIONS_MAX];
    bool               own[OPTIONS_MAX];
    struct option      table[OPTIONS_MAX + 1];
    bool               given[OPTIONS_MAX] = {false};
    size_t             n = collect(verb, rows, own);
    int                code, status = 0;

    memset(table, 0, sizeof table);
    for (size_t i = 0; i < n; i++) {
        table[i].name = rows[i]->name;
        table[i].has_arg = rows[i]->kind == ARGS_FLAG ? no_argument : required_argument;
        table[i].val = FIRST_CODE + (int)i;
    }
    memset(common, 0, sizeof *common);
    common->budget = -1;
    if (verb->options_size)
        memcpy(options, verb->defaults, verb->options_size);
    opterr = 0;
    optind = 0;
    while (status == 0 && (code = getopt_long(argc, argv, ":", table, NULL)) != -1) {
        if (code < FIRST_CODE) {
            status = refuse(verb, argv[optind - 1], code, rows, n);
        } else {
            size_t             at = (size_t)(code - FIRST_CODE);
            const args_option *row = rows[at], *before = given_before(rows, own, given, n, at);
            char              *base = own[at] ? (char *)options : (char *)common;
            if (before && row->kind != ARGS_LIST)
                status = args_usage(verb->name, "--%s%s%s: --%s was given before", row->name, optarg ? " " : "",
                                    optarg ? out_shown(optarg).text : "", before->name);
            else
                status = store(verb, row, optarg, base + row->offset);
            given[at] = true;
        }
    }
    *rest = argv + optind;
    *n_rest = argc - optind;
    return status;
}

void args_finish(const verb_info *verb, args_common *common, void *options)
{
    for (const args_option *o = verb->options; o && o->name; o++)
        if (o->kind == ARGS_LIST)
            free(((args_list *)((char *)options + o->offset))->data);
    free(common->set.data);
    free(common->pin.data);
    free(common->deny.data);
}

/* What a verb's own option is where it is not given. What is out of its bounds stands for that it is missing. */
static void help_default(const args_option *row, const void *at)
{
    const int64_t number = row->kind == ARGS_INT ? *(const int64_t *)at : 0;
    const char   *text = row->kind == ARGS_TEXT   ? *(const char *const *)at
                         : row->kind == ARGS_WORD ? row->words[*(const uint32_t *)at]
                                                  : NULL;
    if (row->kind == ARGS_INT && number >= row->least && number <= row->most)
        printf(" (default %" PRId64 ")", number);
    else if (row->kind == ARGS_REAL)
        printf(" (default %g)", *(const double *)at);
    else if (text && text[0])
        printf(" (default %s)", text);
}

static void help_row(const args_option *row, const char *defaults)
{
    char left[64];
    snprintf(left, sizeof left, "--%s%s%s", row->name, row->placeholder ? " " : "",
             row->placeholder ? row->placeholder : "");
    printf("  %-24s %s", left, row->help);
    uint32_t shown = 0;
    for (uint32_t i = 0; row->words && row->words[i]; i++)
        if (row->words[i][0])
            printf("%s%s", shown++ ? ", " : ": ", row->words[i]);
    if (row->kind == ARGS_GRADE)
        printf(", or 0 to %u", shown - 1);
    if (defaults)
        help_default(row, defaults + row->offset);
    putchar('\n');
}

bool verb_job_takes(const verb_job *job, const char *option)
{
    for (size_t i = 0; i < VERB_JOB_OPTIONS && job->options[i]; i++)
        if (strcmp(job->options[i], option) == 0)
            return true;
    return false;
}

static const verb_job *find_job(const verb_info *verb, const char *word)
{
    for (const verb_job *job = verb->jobs; word && job && job->name; job++)
        if (strcmp(job->name, word) == 0)
            return job;
    return NULL;
}

void args_help(const verb_info *verb, const char *word)
{
    const args_option *rows[OPTIONS_MAX];
    bool               own[OPTIONS_MAX];
    size_t             n = collect(verb, rows, own);
    const verb_job    *job = find_job(verb, word);
    if (job)
        printf("usage: qst %s %s%s%s [option]...\n%-7s %s\n", verb->name, job->name, job->arguments[0] ? " " : "",
               job->arguments, job->name, job->help);
    else
        printf("usage: qst %s%s%s [option]...\n%s.\n%s", verb->name, verb->arguments[0] ? " " : "", verb->arguments,
               verb->summary, verb->help);
    for (const verb_job *each = verb->jobs; each && each->name && !job; each++)
        printf("%-7s %s\n", each->name, each->help);
    puts("options:");
    for (size_t i = 0; i < n; i++)
        if (rows[i]->help && (!job || !own[i] || verb_job_takes(job, rows[i]->name)))
            help_row(rows[i], own[i] ? verb->defaults : NULL);
}
