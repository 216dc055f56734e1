/* SPDX-License-Identifier: MIT
 *
 * bench.c: `qst bench`: which measurement, and how its result is printed. */
#include "bench.h"

#include "lookup.h"
#include "lookup_candidate.h"
#include "out.h"
#include "verb.h"

#include <stdio.h>
#include <string.h>

static const bench_options defaults = {64, 200, 20, 1000000, NULL, NULL, 0, 0};
static const args_option   table[] = {
      {"size", ARGS_INT, offsetof(bench_options, size), "N",
       "lookup, first: side of the square problem, a multiple of 16", 16, 1024, NULL, 0},
      {"batches", ARGS_INT, offsetof(bench_options, batches), "N",
       "lookup: rounds, each with two batches of 100 calls of each kind", 4, LOOKUP_BATCHES_MAX, NULL, 0},
      {"pairs", ARGS_INT, offsetof(bench_options, pairs), "N", "first: pairs of processes", 1, 10000, NULL, 0},
      {"keys", ARGS_INT, offsetof(bench_options, keys), "N", "store: no store of more keys than these", 10, 1000000, NULL,
       0},
      {"child", ARGS_TEXT, offsetof(bench_options, child), "WHAT", NULL, 0, 0, NULL, 0},
      {"file", ARGS_TEXT, offsetof(bench_options, file), "FILE", NULL, 0, 0, NULL, 0},
      {"at-platform", ARGS_INT, offsetof(bench_options, at_platform), "N", NULL, 0, 31, NULL, 0},
      {"at-device", ARGS_INT, offsetof(bench_options, at_device), "N", NULL, 0, 63, NULL, 0},
      {NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0},
};

static void print_spread(const char *name, const bench_spread *s)
{
    printf("%-21s median %8.1f ns  quartiles %8.1f %8.1f\n", name, s->median, s->p25, s->p75);
}

static int lookup_bench(const args_common *common, const bench_options *options)
{
    lookup_result result;
    int           status = lookup_measure(&result, common, options);
    if (status != 0)
        return status;
    if (common->json) {
        out_json(out_need(json_pack(
            "{s:f,s:f,s:f,s:n,s:n,s:[f,f],s:[f,f],s:I,s:I,s:s}", "key_ns", result.key.median, "plan_ns",
            result.plan.median, "hand_ns", result.hand.median, "key_instructions", "plan_instructions",
            "key_quartiles_ns", result.key.p25, result.key.p75, "plan_quartiles_ns", result.plan.p25, result.plan.p75,
            "batches", (json_int_t)result.batches, "calls", (json_int_t)LOOKUP_CALLS, "winner", LOOKUP_NAME)));
        return 0;
    }
    print_spread("by hand, a call", &result.hand);
    print_spread("keyed call, over it", &result.key);
    print_spread("plan's call, over it", &result.plan);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(const args_common *common, const bench_options *options);
} kinds[] = {{"lookup", lookup_bench}, {"first", first_bench}, {"store", filled_bench}, {"verify", verify_bench}};

static int run(const args_common *common, const void *given, int argc, char **argv)
{
    const bench_options *options = given;
    size_t               i = 0, n = sizeof kinds / sizeof *kinds;
    while (i < n && (argc == 0 || strcmp(argv[0], kinds[i].name) != 0))
        i++;
    if (i == n)
        return args_usage(
            "bench",
            "%s: what to measure is `matmul` or `tunings` (before their options), `lookup`, `first`, `store` or `verify`",
            argc ? argv[0] : "nothing named");
    if (argc > 1)
        return args_usage("bench", "%s: takes no further arguments", argv[1]);
    if (options->size % LOOKUP_COLUMNS != 0)
        return args_usage("bench", "--size %lld: not a multiple of %u", (long long)options->size, LOOKUP_COLUMNS);
    return kinds[i].run(common, options);
}

static const verb_info *const parts[] = {&verb_bench_matmul, &verb_bench_tunings, NULL};

const verb_info verb_bench = {
    .name = "bench",
    .arguments = "matmul|tunings|lookup|first|store|verify",
    .summary = "matmul beside other libraries'; what a call, a first call and a look-up in the store cost",
    .help =
        "bench matmul: the library's matmul beside other libraries', and beside its own candidates; it has options of\n"
        "its own: qst bench matmul --help.\n"
        "bench tunings: do tunings from nothing agree with one another? Its options: qst bench tunings --help.\n"
        "bench lookup: the host's time for a call that is answered without tuning, keyed and by plan, over setting\n"
        "the same kernel's arguments and enqueueing it by hand. The command brings a small matmul of one launch of\n"
        "its own and pins it. While a user event holds the queue, batches of 100 calls of the three kinds follow\n"
        "one another there and back, in turning order; printed are the differences within a round, for a call.\n"
        "The device must be able to wait for user events.\n"
        "bench first: the whole life of a process that makes one call whose answer is stored, against a process that\n"
        "loads the same binary and launches it by hand, in alternating pairs, the driver's own cache (PoCL's) empty\n"
        "at each start. Exit code 1 where the call tuned or compiled.\n"
        "bench store: stores of 10, 10^4 and 10^6 answers: time to open, first look-up of a process, later ones,\n"
        "memory and file.\n"
        "bench verify: what judging costs while a square of 256, 512, 1024 is tuned, and how likely a fault that shows\n"
        "only in some launches is to be caught by then: 1 - (1 - 1/every)^seen.\n",
    .groups = 0,
    .options = table,
    .defaults = &defaults,
    .options_size = sizeof(bench_options),
    .run = run,
    .parts = parts,
};
