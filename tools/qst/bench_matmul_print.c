/* SPDX-License-Identifier: MIT
 *
 * bench_matmul_print.c: what `qst bench matmul` tells of who played, as JSON, and what of that it prints for people. */
#include "bench_matmul.h"

#include "out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double flops(const qst_matmul *p)
{
    return 2.0 * (double)p->m * (double)p->n * (double)p->k * (double)data_products(p->batch);
}

json_t *matmul_row(const contest *c, const contest_player *player, const char *winner)
{
    json_t *row = out_need(json_pack("{s:s,s:s?}", "who", player->name, "winner", winner));
    double  p25 = contest_quantile(player->times, player->n_times, 0.25);
    if (player->ruled_out)
        json_object_set_new(row, "why", json_string(player->ruled_out));
    if (player->n_times == 0)
        return row;
    json_object_set_new(row, "min_ms", json_real(contest_quantile(player->times, player->n_times, 0)));
    json_object_set_new(row, "p25_ms", json_real(p25));
    json_object_set_new(row, "median_ms", json_real(contest_quantile(player->times, player->n_times, 0.5)));
    json_object_set_new(row, "p90_ms", json_real(contest_quantile(player->times, player->n_times, 0.9)));
    json_object_set_new(row, "gflops", json_real(p25 > 0 ? flops(c->problem) / p25 / 1e6 : 0));
    json_object_set_new(row, "max_rel_err", json_real(isfinite(player->error) ? player->error : 1e300));
    json_object_set_new(row, "calls", json_integer(player->calls));
    json_object_set_new(row, "samples", json_integer((json_int_t)player->n_times));
    return row;
}

void matmul_print_heads(void)
{
    printf("  %-11s %10s %10s %10s %10s %9s %6s %9s %7s %7s\n", "ms of a call", "min", "p25", "median", "p90",
           "GFLOP/s", "% roof", "max err", "speed", "paired");
}

static void print_row(const json_t *row, double roof)
{
    double median = out_number(row, "median_ms");
    if (!(median > 0)) {
        printf("  %-11s %s\n", out_member(row, "who"), out_member(row, "why"));
        return;
    }
    printf("  %-11s %10.4f %10.4f %10.4f %10.4f %9.1f ", out_member(row, "who"), out_number(row, "min_ms"),
           out_number(row, "p25_ms"), median, out_number(row, "p90_ms"), out_number(row, "gflops"));
    if (roof > 0)
        printf("%6.1f ", 100 * roof / out_number(row, "p25_ms"));
    else
        printf("%6s ", "-");
    printf("%9.1e ", out_number(row, "max_rel_err"));
    if (json_object_get(row, "speed_p25"))
        printf("%7.3f %7.3f", out_number(row, "speed_p25"), out_number(row, "speed_paired"));
    else
        printf("%7s %7s", "", "");
    printf("%s%s\n", out_member(row, "winner")[0] ? "  " : "", out_member(row, "winner"));
}

static int by_median(const void *a, const void *b)
{
    double x = out_number(*(json_t *const *)a, "median_ms"), y = out_number(*(json_t *const *)b, "median_ms");
    return (x > y) - (x < y);
}

/* The candidates that were timed, from fast to slow. */
static void print_candidates(const json_t *candidates)
{
    size_t         n = 0, all = json_array_size(candidates);
    const json_t **rows = out_resize(NULL, (all ? all : 1) * sizeof *rows);
    for (size_t i = 0; i < all; i++)
        if (out_number(json_array_get(candidates, i), "median_ms") > 0)
            rows[n++] = json_array_get(candidates, i);
    qsort(rows, n, sizeof *rows, by_median);
    if (n)
        puts(
            "    each candidate by itself, median of 3 to 9 rounds, to find the best: regret is measured anew, in pairs");
    for (size_t i = 0; i < n; i++)
        printf("    %10.4f  %s\n", out_number(rows[i], "median_ms"), out_member(rows[i], "who"));
    printf("    %zu timed, %zu ruled out\n", n, all - n);
    free(rows);
}

void matmul_print(const json_t *result)
{
    const json_t *rows = json_object_get(result, "rows"), *candidates = json_object_get(result, "candidates");
    printf("%s\n", out_member(result, "label"));
    for (size_t i = 0; i < json_array_size(rows); i++)
        print_row(json_array_get(rows, i), out_number(result, "roof_ms"));
    if (candidates) {
        print_candidates(candidates);
        if (json_is_null(json_object_get(result, "regret")))
            puts("  no regret: no candidate could be timed");
        else
            printf("  regret %.2f %%, best: %s\n", 100 * out_number(result, "regret"), out_member(result, "best"));
    }
    fflush(stdout);
}

void matmul_print_summary(const json_t *all)
{
    const json_t *means = json_object_get(all, "geometric_mean"), *regrets = json_object_get(all, "regret");
    for (size_t i = 0; i < json_array_size(means); i++) {
        const json_t *one = json_array_get(means, i);
        printf("geometric mean over %s: %.3f by p25, %.3f paired; least %.3f, %.3f; %.0f problems, %.0f not slower\n",
               out_member(one, "peer"), out_number(one, "speed_p25"), out_number(one, "speed_paired"),
               out_number(one, "least_p25"), out_number(one, "least_paired"), out_number(one, "problems"),
               out_number(one, "faster_p25"));
    }
    if (regrets)
        printf("regret over %.0f problems: median %.2f %%, 95th percentile %.2f %%, most %.2f %%\n",
               out_number(regrets, "problems"), 100 * out_number(regrets, "median"), 100 * out_number(regrets, "p95"),
               100 * out_number(regrets, "max"));
}
