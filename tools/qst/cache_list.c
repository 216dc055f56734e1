/* SPDX-License-Identifier: MIT
 *
 * cache_list.c: `qst cache ls`: what the store holds, a line a record. */
#include "cache.h"
#include "out.h"
#include "verb.h"
#include "verdict.h"

#include <quernstone/cache.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long ago, in the largest unit that gives a number above 1. */
static char *age_text(double at_s)
{
    double age = difftime(time(NULL), (time_t)at_s);
    if (at_s <= 0)
        return out_text("-");
    if (age < 120)
        return out_text("%.0f s", age < 0 ? 0 : age);
    if (age < 7200)
        return out_text("%.0f min", age / 60);
    return age < 172800 ? out_text("%.0f h", age / 3600) : out_text("%.0f d", age / 86400);
}

static const char *text_of(const json_t *record)
{
    if (out_truth(record, "failed"))
        return "the log of a build that failed";
    return out_member(record, json_object_get(record, "candidate") ? "candidate" : "winner");
}

/* Which member says where it stands, or where it was tried. */
static const char *key_of(const json_t *record)
{
    if (json_object_get(record, "key"))
        return "key";
    return json_is_string(json_object_get(record, "died_at")) ? "died_at" : "trying";
}

/* In one line, since a peak's key has two. To be freed. */
static char *line_text(const char *text)
{
    char *line = out_text("%s", text);
    for (char *at = line; (at = strchr(at, '\n')) != NULL;)
        *at = ' ';
    return line;
}

/* A record by its id, which its first `digits` tell from all others. */
typedef struct known {
    const char *id;
    size_t      at, digits;
} known;

static int by_id(const void *a, const void *b)
{
    return strcmp(((const known *)a)->id, ((const known *)b)->id);
}

static int by_place(const void *a, const void *b)
{
    const known *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* How many digits of each id are shown: 12, or as many as it takes to be no other record's. To be freed. */
static known *know(const json_t *records)
{
    enum { LEAST = 12 };
    size_t n = json_array_size(records);
    known *all = out_resize(NULL, n * sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i] = (known){out_member(json_array_get(records, i), "id"), i, LEAST};
    qsort(all, n, sizeof *all, by_id);
    for (size_t i = 1; i < n; i++) {
        size_t same = 0;
        while (all[i].id[same] && all[i].id[same] == all[i - 1].id[same])
            same++;
        all[i].digits = same >= all[i].digits ? same + 1 : all[i].digits;
        all[i - 1].digits = same >= all[i - 1].digits ? same + 1 : all[i - 1].digits;
    }
    qsort(all, n, sizeof *all, by_place);
    return all;
}

static void print_row(out_table *rows, const json_t *r, size_t digits)
{
    char       *age = age_text(out_number(r, "at_s"));
    char       *key = line_text(out_member(r, key_of(r)));
    const char *state = out_member(r, json_object_get(r, "standing") ? "standing" : "state");
    if (out_truth(r, "prior"))
        state = "prior";
    else if (out_truth(r, "partial"))
        state = "partial";
    out_table_cell(rows, "%.*s", (int)digits, out_member(r, "id"));
    out_table_cell(rows, "%s", out_member(r, "table"));
    out_table_cell(rows, "%s", state);
    out_table_cell(rows, "%.0f", out_number(r, "bytes"));
    out_table_cell(rows, "%s", age);
    out_table_cell(rows, "%s", out_member(r, "op"));
    out_table_cell(rows, "%s", text_of(r));
    out_table_cell(rows, "%s", key);
    free(key);
    free(age);
}

static bool listed(const json_t *record, const cache_options *o)
{
    const char *of = out_member(record, "table");
    if (o->table ? strcmp(of, o->table) != 0 : strcmp(of, "verdicts") != 0 && strcmp(of, "programs") != 0)
        return false;
    return !o->op || (out_member(record, "op")[0] && verdict_matches(o->op, out_member(record, "op")));
}

static void print_list(const json_t *records, const cache_options *o)
{
    static const char *const heads[] = {"id", "table", "state", "bytes", "age", "op", "candidate", "key or problem"};
    known                   *all = know(records);
    out_table                rows;
    out_table_init(&rows, "lllrrlll", heads);
    rows.room = out_room(o->wide);
    rows.spare = "debf"; /* bytes, age, table, op */
    for (size_t i = 0; i < json_array_size(records); i++)
        if (listed(json_array_get(records, i), o))
            print_row(&rows, json_array_get(records, i), all[i].digits);
    out_table_print(&rows, "");
    out_table_finish(&rows);
    free(all);
}

int cache_ls(const cache_job *job)
{
    json_t *all = cache_ask(job->context, "cache", qst_cache_list), *some = out_need(json_array());
    for (size_t i = 0; job->json && i < json_array_size(all); i++)
        if (listed(json_array_get(all, i), job->options))
            json_array_append(some, json_array_get(all, i));
    if (all && job->json)
        out_json(json_incref(some));
    else if (all)
        print_list(all, job->options);
    json_decref(some);
    json_decref(all);
    return all ? 0 : EXIT_FAILED;
}
