/* SPDX-License-Identifier: MIT
 *
 * bench.c: `qst bench`: which measurement, and how its result is printed. */
#include "bench.h"

#include "lookup.h"
#include "lookup_candidate.h"
#include "out.h"
#include "stop.h"
#include "verb.h"

#include <stdio.h>
#include <string.h>

static const bench_options defaults = {.size = 64, .batches = 200, .pairs = 20, .keys = 1000000, .type = QST_F32};

#define AT(member) offsetof(bench_options, member)
#define SIZE                                                                                                           \
    {                                                                                                                  \
        "size", ARGS_INT, AT(size), "N", "side of the square problem, a multiple of 16", 16, 1024, NULL, 0             \
    }
#define CHILD                                                                                                          \
    {                                                                                                                  \
        "child", ARGS_TEXT, AT(child), "WHAT", NULL, 0, 0, NULL, 0                                                     \
    }
#define FILE                                                                                                           \
    {                                                                                                                  \
        "file", ARGS_TEXT, AT(file), "FILE", NULL, 0, 0, NULL, 0                                                       \
    }
#define END                                                                                                            \
    {                                                                                                                  \
        NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0                                                                          \
    }
static const args_option lookup_options[] = {SIZE,
                                             {"batches", ARGS_INT, AT(batches), "N",
                                              "rounds, each with two batches of 100 calls of each kind", 4,
                                              LOOKUP_BATCHES_MAX, NULL, 0},
                                             END};
static const args_option first_options[] = {
    SIZE,
    {"pairs", ARGS_INT, AT(pairs), "N", "pairs of processes", 1, 10000, NULL, 0},
    {"at-platform", ARGS_TEXT, AT(at_platform), "NAME", NULL, 0, 0, NULL, 0},
    {"at-device", ARGS_TEXT, AT(at_device), "NAME", NULL, 0, 0, NULL, 0},
    {"at", ARGS_INT, AT(at), "N", NULL, 0, INT64_MAX, NULL, 0},
    CHILD,
    FILE,
    END};
static const args_option store_options[] = {
    {"keys", ARGS_INT, AT(keys), "N", "no store of more keys than these", 10, 1000000, NULL, 0}, CHILD, FILE, END};
static const args_option verify_options[] = {
    {"dtype", ARGS_WORD, AT(type), "TYPE", "element type", 0, 0, args_types, 0}, END};
#undef AT
#undef SIZE
#undef CHILD
#undef FILE
#undef END

static void print_spread(const char *name, const bench_spread *s)
{
    printf("%-21s median %8.1f ns (within %.1f to %.1f)  quartiles %8.1f %8.1f\n", name, s->median, s->low, s->high,
           s->p25, s->p75);
}

static void tell_lookup(const lookup_result *r, bool json)
{
    if (json) {
        out_json(out_need(json_pack("{s:f,s:f,s:f,s:n,s:n,s:[f,f],s:[f,f],s:[f,f],s:[f,f],s:I,s:I,s:s}", "key_ns",
                                    r->key.median, "plan_ns", r->plan.median, "hand_ns", r->hand.median,
                                    "key_instructions", "plan_instructions", "key_quartiles_ns", r->key.p25, r->key.p75,
                                    "plan_quartiles_ns", r->plan.p25, r->plan.p75, "key_within_ns", r->key.low,
                                    r->key.high, "plan_within_ns", r->plan.low, r->plan.high, "batches",
                                    (json_int_t)r->batches, "calls", (json_int_t)LOOKUP_CALLS, "winner", LOOKUP_NAME)));
        return;
    }
    print_spread("by hand, a call", &r->hand);
    print_spread("keyed call, over it", &r->key);
    print_spread("plan's call, over it", &r->plan);
}

static int lookup_bench(const args_common *common, const bench_options *options)
{
    return lookup_measure(common, options, tell_lookup);
}

/* The words by which a kind calls itself; who gives them by hand gets a line too. */
static int check_child(const char *kind, const bench_options *options)
{
    static const struct {
        const char *kind, *child;
        bool        file; /* --file is needed */
    } words[] = {{"bench first", "with", false},
                 {"bench first", "hand", true},
                 {"bench first", "binary", true},
                 {"bench store", "fill", true},
                 {"bench store", "look", true}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].kind, kind) == 0 && strcmp(words[i].child, options->child) == 0)
            return options->file || !words[i].file ? 0 : args_usage(kind, "--child %s: needs --file", words[i].child);
    return args_usage(kind, "--child %s: no process of its own", out_shown(options->child).text);
}

/* What a kind's own words and sizes must be, before it runs. */
static int start(const verb_info *kind, const bench_options *options, int argc, char **argv)
{
    if (argc)
        return args_usage(kind->name, "%s: takes no arguments", out_shown(argv[0]).text);
    if (options->size % LOOKUP_COLUMNS != 0)
        return args_usage(kind->name, "--size %lld: not a multiple of %u", (long long)options->size, LOOKUP_COLUMNS);
    return options->child ? check_child(kind->name, options) : 0;
}

#define KIND(which, measure)                                                                                           \
    static const verb_info verb_##which;                                                                               \
    static int             run_##which(const args_common *common, const void *options, int argc, char **argv)          \
    {                                                                                                                  \
        int status = start(&verb_##which, options, argc, argv);                                                        \
        stop_heed(verb_##which.name);                                                                                  \
        return status ? status : measure(common, options);                                                             \
    }
KIND(lookup, lookup_bench)
KIND(first, first_bench)
KIND(store, filled_bench)
KIND(verify, verify_bench)

static const verb_info verb_lookup = {
    .name = "bench lookup",
    .arguments = "",
    .summary = "what a call that is answered without tuning costs the host",
    .help =
        "Its time, keyed and by plan, over setting the same kernel's arguments and enqueueing it by hand. The command\n"
        "brings a small matmul of one launch of its own and pins it. While a user event holds the queue, batches of\n"
        "100 calls of the three kinds follow one another there and back, in turning order; printed are the differences\n"
        "within a round, for a call. The device must be able to wait for user events.\n",
    .options = lookup_options,
    .defaults = &defaults,
    .options_size = sizeof(bench_options),
    .run = run_lookup,
};

static const verb_info verb_first = {
    .name = "bench first",
    .arguments = "",
    .summary = "a process that makes one call whose answer is stored",
    .help =
        "Its whole life, and in it the call, against a process that loads the same binary and launches it by hand, in\n"
        "alternating pairs, the driver's own cache (PoCL's) empty at each start. Exit code 1 where the call tuned or\n"
        "compiled.\n",
    .options = first_options,
    .defaults = &defaults,
    .options_size = sizeof(bench_options),
    .run = run_first,
};

static const verb_info verb_store = {
    .name = "bench store",
    .arguments = "",
    .summary = "what look-ups in large stores cost",
    .help =
        "Stores of 10, 10^4 and 10^6 answers: time to open, first look-up of a process, later ones, memory and file.\n",
    .options = store_options,
    .defaults = &defaults,
    .options_size = sizeof(bench_options),
    .run = run_store,
};

static const verb_info verb_verify = {
    .name = "bench verify",
    .arguments = "",
    .summary = "what judging costs, and how likely a seldom fault is to be caught",
    .help =
        "Squares of 256, 512 and 1024 are tuned from nothing. For each: the winner and its median time; what the judge\n"
        "itself took for a candidate, on average, in that time; the same with the runs that the judge asks for, the\n"
        "first one among them, for the winner; and how likely a fault that shows only in some launches is to be caught\n"
        "while it is tuned: 1 - (1 - 1/every)^seen, of the results of it that were looked at whole.\n",
    .options = verify_options,
    .defaults = &defaults,
    .options_size = sizeof(bench_options),
    .run = run_verify,
};

/* Gets here where the first word names no kind. */
static int run(const args_common *common, const void *options, int argc, char **argv)
{
    (void)common;
    (void)options;
    return args_usage(
        "bench",
        "%s: what to measure is `matmul`, `tunings`, `lookup`, `first`, `store` or `verify` (before their "
        "options)",
        argc ? argv[0] : "nothing named");
}

static const verb_info *const parts[] = {&verb_bench_matmul, &verb_bench_tunings, &verb_lookup, &verb_first,
                                         &verb_store,        &verb_verify,        NULL};

const verb_info verb_bench = {
    .name = "bench",
    .arguments = "matmul|tunings|lookup|first|store|verify",
    .summary = "matmul beside other libraries'; what a call, a first call and a look-up in the store cost",
    .help = "bench matmul   the library's matmul beside other libraries', and beside its own candidates\n"
            "bench tunings  do tunings from nothing agree with one another?\n"
            "bench lookup   the host's time for a call that is answered without tuning\n"
            "bench first    a process that makes one call whose answer is stored, against one by hand\n"
            "bench store    stores of 10, 10^4 and 10^6 answers: opening, look-ups, memory and file\n"
            "bench verify   what judging costs, and how likely a seldom fault is to be caught\n"
            "Each has options of its own: qst bench KIND --help.\n",
    .run = run,
    .parts = parts,
};
