/* SPDX-License-Identifier: MIT
 *
 * bench.c: `qst bench`: which measurement, and how its result is printed. */
#include "lookup.h"
#include "lookup_candidate.h"
#include "out.h"
#include "verb.h"

#include <stdio.h>
#include <string.h>

static const lookup_options defaults = {64, 200};
static const args_option    table[] = {
       {"size", ARGS_INT, offsetof(lookup_options, size), "N", "side of the square problem, a multiple of 16", 16, 1024,
        NULL, 0},
       {"batches", ARGS_INT, offsetof(lookup_options, batches), "N",
        "rounds, each with two batches of 100 calls of each kind", 4, LOOKUP_BATCHES_MAX, NULL, 0},
       {NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0},
};

static void print_spread(const char *name, const lookup_spread *s)
{
    printf("%-21s median %8.1f ns  quartiles %8.1f %8.1f\n", name, s->median, s->p25, s->p75);
}

static int run(const args_common *common, const void *given, int argc, char **argv)
{
    const lookup_options *options = given;
    lookup_result         result;
    if (argc == 0 || strcmp(argv[0], "lookup") != 0)
        return args_usage("bench", "%s: what to measure is `lookup`", argc ? argv[0] : "nothing named");
    if (argc > 1)
        return args_usage("bench", "%s: takes no further arguments", argv[1]);
    if (options->size % LOOKUP_COLUMNS != 0)
        return args_usage("bench", "--size %lld: not a multiple of %u", (long long)options->size, LOOKUP_COLUMNS);
    int status = lookup_measure(&result, common, options);
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

const verb_info verb_bench = {
    .name = "bench",
    .arguments = "lookup",
    .summary = "what a call costs the host beyond arguments and enqueue",
    .help =
        "bench lookup: the host's time for a call that is answered without tuning, keyed and by plan, over setting\n"
        "the same kernel's arguments and enqueueing it by hand. The command brings a small matmul of one launch of\n"
        "its own and pins it. While a user event holds the queue, batches of 100 calls of the three kinds follow\n"
        "one another there and back, in turning order; printed are the differences within a round, for a call.\n"
        "The device must be able to wait for user events.\n",
    .groups = 0,
    .options = table,
    .defaults = &defaults,
    .options_size = sizeof(lookup_options),
    .run = run,
};
