/* SPDX-License-Identifier: MIT
 *
 * explain_text.c: a verdict as text: rounds as tables, refusals by reason, the winner and what made it win. */
#include "explain.h"
#include "fold.h"
#include "order.h"
#include "out.h"
#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT "    " /* of lines that go on */

#define TIE 1.01 /* ratios under this are always a tie; wider bands, from the spread of the pairs, are not told */

static size_t round_of(const json_t *finding)
{
    double round = out_number(finding, "round");
    return round > 0 ? (size_t)round : 0;
}

static bool was(const json_t *finding, const char *outcome)
{
    return strcmp(out_member(finding, "outcome"), outcome) == 0;
}

static void cell_ms(out_table *table, const json_t *finding, const char *member)
{
    double ms = out_number(finding, member);
    if (ms > 0)
        out_table_cell(table, "%.4f", ms);
    else
        out_table_cell(table, "-");
}

static void cell_part(out_table *table, double part, double whole)
{
    if (part > 0 && whole > 0)
        out_table_cell(table, "%.1f", 100 * part / whole);
    else
        out_table_cell(table, "-");
}

/* `rank`: its place among those that were found right, from 1; 0: it is none of them. */
static void row(out_table *table, const json_t *f, size_t rank, size_t as, double best, double roof)
{
    char  *name = as > 1 ? fold_text(out_member(f, "name"), as) : out_text("%s", out_member(f, "name"));
    double median = out_number(f, "median_ms");
    if (rank)
        out_table_cell(table, "%zu", rank);
    else
        out_table_cell(table, "-");
    out_table_cell(table, "%s", name);
    free(name);
    out_table_cell(table, "%s", out_member(f, "text"));
    cell_ms(table, f, "median_ms");
    cell_part(table, best, median);
    cell_part(table, roof, median);
    cell_ms(table, f, "min_ms");
    out_table_cell(table, "%zu", json_array_size(json_object_get(f, "samples")));
    out_table_cell(table, "%.1f", out_number(f, "build_ms"));
    out_table_cell(table, "%.0f", out_number(f, "launches"));
    out_table_cell(table, "%s", out_member(f, "why"));
}

static bool same_reason(const json_t *a, const json_t *b)
{
    return strcmp(out_member(a, "text"), out_member(b, "text")) == 0 &&
           strcmp(out_member(a, "why"), out_member(b, "why")) == 0;
}

/* Those that were not reached are told without a reason. */
static bool told_alike(const json_t *a, const json_t *b)
{
    return round_of(a) == round_of(b) && ((round_of(a) && was(a, "UNTRIED") && was(b, "UNTRIED")) || same_reason(a, b));
}

/* How many findings stand in the row of the i-th: itself, or as many of its family as came to the same without having been
 * timed, where it is the first of them; 0: it is among those. */
static size_t row_at(const json_t **order, size_t n, size_t i, bool all)
{
    const char **names = out_resize(NULL, (n + 1) * sizeof *names);
    size_t       m = 0, me = 0, as;
    for (size_t k = 0; k < n; k++) {
        if (!told_alike(order[k], order[i]))
            continue;
        me = k == i ? m : me;
        names[m++] = out_member(order[k], "name");
    }
    as = fold_at(names, m, me, all || verdict_right(order[i]));
    free(names);
    return as;
}

/* Puts a text of its own behind a line. */
static void add(char **line, char *more)
{
    char *longer = out_text("%s%s", *line, more);
    free(*line);
    free(more);
    *line = longer;
}

static void add_name(char **line, const json_t **order, size_t n, size_t i, bool all)
{
    size_t as = row_at(order, n, i, all);
    char  *text = as > 1 ? fold_text(out_member(order[i], "name"), as) : out_text("%s", out_member(order[i], "name"));
    if (as)
        add(line, out_text(" %s", text));
    free(text);
}

/* Prints a line on as many as it takes, and frees it. */
static void flow(char *line, bool wide)
{
    out_flow(line, INDENT, wide);
    free(line);
}

/* One round: a row for each candidate that was reached, a line for those that were not. */
static void print_round(const json_t **order, size_t n, size_t round, double best, double roof, bool all, bool wide)
{
    static const char *const heads[] = {"rank",   "candidate", "outcome",  "median_ms", "%_of_best", "%_of_roof",
                                        "min_ms", "samples",   "build_ms", "launches",  "why"};
    out_table                table;
    size_t                   rows = 0, unreached = 0;
    out_table_init(&table, "rllrrrrrrrl", heads);
    table.room = out_room(wide);
    table.name = 1;
    table.spare = "jihgfek"; /* launches, build_ms, samples, min_ms, of the roof, of the best, why */
    for (size_t i = 0; i < n; i++) {
        if (round_of(order[i]) != round)
            continue;
        if (was(order[i], "UNTRIED")) {
            unreached++;
        } else {
            size_t as = row_at(order, n, i, all);
            if (as)
                row(&table, order[i], verdict_right(order[i]) ? i + 1 : 0, as, best, roof);
            rows++;
        }
    }
    if (rows) {
        printf("round %zu:\n", round);
        out_table_print(&table, "  ");
    }
    if (unreached) {
        char *line = out_text("round %zu, not reached:", round);
        for (size_t i = 0; i < n; i++)
            if (round_of(order[i]) == round && was(order[i], "UNTRIED"))
                add_name(&line, order, n, i, all);
        flow(line, wide);
    }
    out_table_finish(&table);
}

/* Candidates in no round, those with the same reason together. */
static void print_refusals(const json_t **order, size_t n, bool all, bool wide)
{
    bool head = false;
    for (size_t i = 0; i < n; i++) {
        bool seen = false;
        if (round_of(order[i]))
            continue;
        for (size_t e = 0; e < i && !seen; e++)
            seen = !round_of(order[e]) && same_reason(order[e], order[i]);
        if (seen)
            continue;
        if (!head)
            puts("in no round:");
        head = true;
        const char *why = out_member(order[i], "why");
        char       *line = out_text("  %s%s%s:", out_member(order[i], "text"), why[0] ? ": " : "", why);
        for (size_t e = i; e < n; e++)
            if (!round_of(order[e]) && same_reason(order[e], order[i]))
                add_name(&line, order, n, e, all);
        flow(line, wide);
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A sample's time of a round, 0 where there is none. */
static double sample_of(const json_t *finding, double round)
{
    const json_t *samples = json_object_get(finding, "samples");
    for (size_t i = 0; i < json_array_size(samples); i++)
        if (out_number(json_array_get(samples, i), "round") == round)
            return out_number(json_array_get(samples, i), "ms");
    return 0;
}

/* Median of b's time over a's in the rounds that both were sampled in, the first left out where three remain; *n of
 * them, 0: the ratio of the medians. */
static double pair_ratio(const json_t *a, const json_t *b, size_t *n)
{
    const json_t *samples = json_object_get(a, "samples");
    double       *ratios = out_resize(NULL, json_array_size(samples) * sizeof *ratios), ratio;
    *n = 0;
    for (size_t i = 0; i < json_array_size(samples); i++) {
        const json_t *one = json_array_get(samples, i);
        double        other = sample_of(b, out_number(one, "round")), own = out_number(one, "ms");
        if (other > 0 && own > 0)
            ratios[(*n)++] = other / own;
    }
    size_t first = *n > 3 ? 1 : 0;
    *n -= first;
    qsort(ratios + first, *n, sizeof *ratios, ascending);
    ratio = *n ? (ratios[first + (*n - 1) / 2] + ratios[first + *n / 2]) / 2
               : out_number(b, "median_ms") / out_number(a, "median_ms");
    free(ratios);
    return ratio;
}

/* What settled it between the first two of the ranking. */
static void print_reason(const json_t *first, const json_t *second, bool wide)
{
    double a = out_number(first, "median_ms"), b = second ? out_number(second, "median_ms") : 0, ratio;
    size_t pairs;
    if (a <= 0) {
        puts("  because: verified, not timed: it was the only one to choose from");
        return;
    }
    if (b <= 0) {
        printf("  because: the only one with a valid time, median %s\n", out_ms(a).text);
        return;
    }
    ratio = pair_ratio(first, second, &pairs);
    flow(out_text("  because: %s takes %.3f times as long, by %s", out_member(second, "name"), ratio,
                  pairs ? "the median of pairs of samples" : "the ratio of medians"),
         wide);
    if (ratio * TIE <= 1)
        flow(out_text("  by the samples of all together, and its pairs with the others, the winner stands before it"),
             wide);
    else if (ratio < TIE)
        flow(out_text(
                 "  within the noise that is a tie, which goes to fewer launches (%.0f, %.0f), less workspace (%.0f, "
                 "%.0f), name",
                 out_number(first, "launches"), out_number(second, "launches"), out_number(first, "workspace"),
                 out_number(second, "workspace")),
             wide);
}

static void print_winner(const json_t *verdict, const json_t **order, size_t n, bool wide)
{
    const char *winner = out_member(verdict, "winner"), *runs = out_member(verdict, "runs");
    const char *barred = out_member(verdict, "barred");
    size_t      i = 0;
    if (winner[0])
        printf("winner %s\n", winner);
    else
        flow(out_text("winner none: %s", barred[0] ? barred : "no candidate gave a right result"), wide);
    while (i < n && strcmp(out_member(order[i], "name"), winner) != 0)
        i++;
    if (i < n)
        print_reason(order[i], i + 1 < n && verdict_right(order[i + 1]) ? order[i + 1] : NULL, wide);
    if (barred[0])
        flow(out_text("  for this problem %s runs all the same%s%s", runs, winner[0] ? ": " : "",
                      winner[0] ? barred : ""),
             wide);
    else if (runs[0] && strcmp(runs, winner) != 0)
        flow(out_text("  for this problem %s runs: the winner cannot, or is not the choice any more", runs), wide);
}

/* Prints what of a line fits on a terminal, and frees it. */
static void cut(char *line, bool wide)
{
    out_cut("", line, wide);
    free(line);
}

static void print_head(const json_t *verdict, bool wide)
{
    const json_t *level = json_object_get(verdict, "level"), *wait = json_object_get(verdict, "wait_ms");
    const double  total = out_number(verdict, "total_ms");
    cut(out_text("problem %s %s", out_member(verdict, "op"), out_member(verdict, "asked")), wide);
    if (out_member(verdict, "key")[0])
        out_cut("key     ", out_member(verdict, "key"), wide);
    if (!json_object_get(verdict, "findings"))
        return;
    cut(out_text("device  %s, target %s", out_member(verdict, "device"), out_member(verdict, "target")), wide);
    cut(out_text("from    %s, on %s", out_member(verdict, "source"), out_member(verdict, "problem")), wide);
    char *how = out_text("how     level %s, times by %s, ", json_is_string(level) ? json_string_value(level) : "?",
                         out_member(verdict, "ruler"));
    if (out_number(verdict, "limit_ms") > 0)
        add(&how, out_text("good enough under %s, ", out_ms(out_number(verdict, "limit_ms")).text));
    add(&how, out_text("took %s", out_ms(total).text));
    if (json_is_number(wait))
        add(&how, out_text(" (%s outside builds)", out_ms(total - json_number_value(wait)).text));
    add(&how, out_text(", checksum %.16s", out_member(verdict, "checksum")));
    flow(how, wide);
}

/* What the device can do at most, and how near the winner comes to it. */
static void print_roof(const json_t *verdict, bool wide)
{
    const json_t *peaks = json_object_get(verdict, "peaks");
    double        roof = out_number(verdict, "roof_ms"), part = out_number(verdict, "of_attainable");
    double        ops = out_number(peaks, "ops_per_s"), bytes = out_number(peaks, "bytes_per_s");
    if (roof <= 0)
        return;
    char *line = out_text("roof    %s at", out_ms(roof).text);
    if (ops > 0)
        add(&line, out_text(" %.1f Gop/s,", ops / 1e9));
    if (bytes > 0)
        add(&line, out_text(" %.1f GB/s,", bytes / 1e9));
    add(&line, out_text(" %.2f us a launch", out_number(peaks, "launch_ns") / 1e3));
    if (part > 0)
        add(&line, out_text("; the winner is at %.1f %% of attainable", 100 * part));
    flow(line, wide);
}

void explain_print(const json_t *verdict, bool all, bool wide)
{
    size_t         n, rounds = 0;
    double         best = 0;
    const json_t **order = order_findings(verdict, &n);
    print_head(verdict, wide);
    print_roof(verdict, wide);
    for (size_t i = 0; i < n; i++) {
        double median = out_number(order[i], "median_ms");
        if (verdict_right(order[i]) && median > 0 && (best == 0 || median < best))
            best = median;
        rounds = round_of(order[i]) > rounds ? round_of(order[i]) : rounds;
    }
    for (size_t round = 1; round <= rounds; round++)
        print_round(order, n, round, best, out_number(verdict, "roof_ms"), all, wide);
    print_refusals(order, n, all, wide);
    if (n)
        print_winner(verdict, order, n, wide);
    else
        flow(out_text("runs    %s: %s", out_member(verdict, "winner"),
                      out_member(verdict, "key")[0] ? "not tuned" : "nothing to choose here"),
             wide);
    if (n)
        flow(out_text("answer  %s",
                      out_truth(verdict, "partial")
                          ? "partial: the budget, or its process, ended before; the next miss of this key goes on"
                          : "complete"),
             wide);
    fflush(stdout);
    free(order);
}
