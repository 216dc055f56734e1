/* SPDX-License-Identifier: MIT
 *
 * filled.c: `qst bench store`: stores of 10, 10^4, 10^6 answers of two findings each; what a process of its own pays to
 * open one, for its first look-up and for later ones, in time and memory. */
#include "bench.h"
#include "cache.h"
#include "device.h"
#include "file.h"
#include "out.h"
#include "stop.h"
#include "verb.h"

#include <inttypes.h>
#include <quernstone/cache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOKUPS 1000 /* of the child, at most one a key */

/* ---- The children ------------------------------------------------------------------------------------------------- */

/* A line of /proc/self/status in KiB, 0 where there is none. */
static double memory_kb(const char *name)
{
    FILE  *file = fopen("/proc/self/status", "r");
    char   line[256];
    double kb = 0;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
            kb = strtod(line + strlen(name) + 1, NULL);
    if (file)
        fclose(file);
    return kb;
}

static void count(void *user, const char *text, size_t length)
{
    (void)text;
    *(size_t *)user += length;
}

/* One record by its id: read, checked, told. ns; negative after one line. */
static double look_up(qst_context *context, const char *id)
{
    qst_error  err = {0};
    size_t     told = 0;
    uint64_t   start = device_now();
    qst_status status = qst_cache_show(context, id, count, &told, &err);
    uint64_t   end = device_now();
    if (status < 0)
        out_error("bench store", status, &err);
    return status < 0 || !told ? -1 : (double)(end - start);
}

static int look(const device_handle *device, char *ids, double open_ms, double before_kb, double mapped_kb)
{
    double *ns = out_resize(NULL, LOOKUPS * sizeof *ns), first = 0;
    int64_t n = 0;
    bool    good = true;
    for (char *id = strtok(ids, "\n"); id && n < LOOKUPS && good; id = strtok(NULL, "\n")) {
        good = (ns[n] = look_up(device->context, id)) >= 0;
        first = n == 0 ? ns[0] : first;
        n++;
    }
    if (good && n > 1) {
        double       anon = memory_kb("RssAnon") - before_kb, mapped = memory_kb("RssFile") - mapped_kb;
        bench_spread later = bench_spread_of(ns + 1, n - 1);
        json_t      *stat = cache_ask(device->context, "bench store", qst_cache_stat);
        good = stat != NULL;
        out_json(out_need(json_pack("{s:f,s:f,s:f,s:f,s:f,s:f,s:b,s:f}", "open_ms", open_ms, "first_us", first / 1e3,
                                    "later_us", later.median / 1e3, "later_p75_us", later.p75 / 1e3, "memory_kb", anon,
                                    "mapped_kb", mapped, "lasts", out_truth(stat, "lasts"), "file_bytes",
                                    out_number(stat, "file_bytes"))));
        json_decref(stat);
    }
    free(ns);
    return good ? 0 : EXIT_FAILED;
}

/* Looks some answers up, whose ids are in a file. */
static int look_child(const args_common *common, const bench_options *o)
{
    device_handle device;
    size_t        length;
    char         *ids = file_read(o->file, &length);
    double        anon = memory_kb("RssAnon"), mapped = memory_kb("RssFile");
    uint64_t      start = device_now();
    int           status = ids ? device_context(&device, common, QST_NO_PLUGINS) : EXIT_FAILED;
    if (status == 0)
        status = look(&device, ids, (double)(device_now() - start) / 1e6, anon, mapped);
    if (ids)
        device_close(&device);
    free(ids);
    return status;
}

/* Puts answers in, and the ids of some, spread over them, into `ids`. */
static bool seed(const device_handle *device, int64_t keys, out_buffer *ids)
{
    static const qst_cache_time times[] = {{"bench.app.loop/1", 123456}, {"bench.app.wide/1", 98765}};
    qst_error                   err = {0};
    char                        id[QST_CACHE_ID_BYTES];
    int64_t                     step = keys > LOOKUPS ? keys / LOOKUPS : 1;
    qst_status                  status = QST_OK;
    for (int64_t i = 0; i < keys && status >= 0; i++) {
        char *key = out_text("n=%" PRId64 " kind=filled", i);
        status = qst_cache_seed(device->context, "a device of the bench", "bench", key, times, 2, id, &err);
        free(key);
        if (i % step == 0) {
            out_gather(ids, id, strlen(id));
            out_gather(ids, "\n", 1);
        }
    }
    if (status < 0)
        out_error("bench store", status, &err);
    return status >= 0;
}

static int fill_child(const args_common *common, const bench_options *o)
{
    device_handle device;
    out_buffer    ids = {NULL, 0, 0};
    int           status = device_context(&device, common, QST_NO_PLUGINS);
    if (status != 0)
        return status;
    uint64_t start = device_now();
    if (!seed(&device, o->keys, &ids))
        status = EXIT_FAILED;
    double took_s = (double)(device_now() - start) / 1e9;
    if (status == 0 && (status = file_write(o->file, ids.text, ids.length)) == 0)
        out_json(out_need(json_pack("{s:f}", "fill_s", took_s)));
    device_close(&device);
    free(ids.text);
    return status;
}

/* ---- The parent --------------------------------------------------------------------------------------------------- */

/* All sizes. */
typedef struct course {
    const args_common *common;
    json_t            *rows;   /* of those done */
    size_t             n;      /* to be done */
    char              *folder; /* of the one that is measured */
} course;

/* What a process of its own reports; NULL after one line. */
static json_t *child(const char *what, const char *keys, const char *ids, const char *settings)
{
    const char *words[] = {"store", "--child", what, "--keys", keys, "--file", ids, "--config", settings, NULL};
    char       *output;
    double      ms;
    json_t     *report = NULL;
    if (bench_child(words, &output, &ms) == 0) {
        out_buffer text = {output, strlen(output), 0};
        report = out_parse("bench store", &text);
    }
    free(output);
    return report;
}

static void drop(course *c)
{
    file_folder_remove(c->folder);
    stop_hold();
    free(c->folder);
    c->folder = NULL;
    stop_go();
}

/* One size: a row of results, NULL after one line. The folder is written into by processes of their own alone, which a
 * teller ends before it takes the folder away. */
static json_t *measure(course *c, int64_t keys)
{
    json_t *row = NULL, *filled = NULL;
    stop_hold();
    c->folder = file_folder();
    stop_go();
    if (!c->folder)
        return NULL;
    char *ids = out_text("%s/ids", c->folder), *number = out_text("%" PRId64, keys);
    char *settings = bench_settings(c->common, c->folder, NULL);
    out_progress("%s keys", number);
    if (settings && (filled = child("fill", number, ids, settings)))
        row = child("look", number, ids, settings);
    out_progress(NULL);
    if (row) {
        json_object_set_new(row, "keys", json_integer((json_int_t)keys));
        json_object_update(row, filled);
    }
    json_decref(filled);
    free(settings);
    free(number);
    free(ids);
    drop(c);
    return row;
}

static void print(const json_t *rows)
{
    static const char *const heads[] = {"keys",     "fill_s",   "file_mb",   "bytes_a_key", "open_ms",
                                        "first_us", "later_us", "memory_kb", "mapped_kb"};
    out_table                table;
    out_table_init(&table, "rrrrrrrrr", heads);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *r = json_array_get(rows, i);
        out_table_cell(&table, "%.0f", out_number(r, "keys"));
        out_table_cell(&table, "%.2f", out_number(r, "fill_s"));
        out_table_cell(&table, "%.2f", out_number(r, "file_bytes") / 1048576);
        out_table_cell(&table, "%.0f", out_number(r, "file_bytes") / out_number(r, "keys"));
        out_table_cell(&table, "%.2f", out_number(r, "open_ms"));
        out_table_cell(&table, "%.1f", out_number(r, "first_us"));
        out_table_cell(&table, "%.1f", out_number(r, "later_us"));
        out_table_cell(&table, "%.0f", out_number(r, "memory_kb"));
        out_table_cell(&table, "%.0f", out_number(r, "mapped_kb"));
    }
    out_table_print(&table, "");
    out_table_finish(&table);
}

static void tell(const course *c)
{
    if (c->common->json)
        out_json(json_incref(c->rows));
    else
        print(c->rows);
}

static void tell_end(void *user)
{
    const course *c = user;
    bench_child_end();
    if (json_array_size(c->rows))
        tell(c);
    out_fail("bench store: ended by %s after %zu of %zu stores", stop_name(), json_array_size(c->rows), c->n);
    file_folder_remove(c->folder);
}

int filled_bench(const args_common *common, const bench_options *o)
{
    static const int64_t sizes[] = {10, 10000, 1000000};
    course               c = {.common = common};
    int                  status = 0;
    if (o->child)
        return strcmp(o->child, "fill") == 0 ? fill_child(common, o) : look_child(common, o);
    char *settings = bench_settings(common, "", NULL);
    if (!settings)
        return EXIT_USAGE;
    free(settings);
    c.rows = out_need(json_array());
    while (c.n < sizeof sizes / sizeof *sizes && sizes[c.n] <= o->keys)
        c.n++;
    stop_tell(tell_end, &c);
    for (size_t i = 0; i < c.n && status == 0; i++) {
        json_t *row = measure(&c, sizes[i]);
        stop_hold();
        if (row)
            json_array_append_new(c.rows, row);
        else
            status = EXIT_FAILED;
        stop_go();
    }
    stop_hold_tell(NULL, NULL);
    if (status == 0)
        tell(&c);
    stop_go();
    json_decref(c.rows);
    return status;
}
