/* SPDX-License-Identifier: MIT
 *
 * tune.c: `qst tune`: tunes a list of problems ahead of time. What is known is passed over, so that a run that was
 * interrupted goes on where it was. */
#include "cache.h"
#include "device.h"
#include "file.h"
#include "log.h"
#include "out.h"
#include "subject.h"
#include "verb.h"
#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    const char *problems;
    args_list   sizes;
    uint32_t    type;
} options;

static const options     defaults = {NULL, {NULL, 0}, QST_F32};
static const args_option table[] = {
    {"problems", ARGS_TEXT, offsetof(options, problems), "FILE", "a problem a line, # begins a comment; - for stdin", 0,
     0, NULL, 0},
    {"sizes", ARGS_LIST, offsetof(options, sizes), "LIST", "N or MxNxK[T], joined by commas; more may follow", 0, 0,
     NULL, 0},
    {"dtype", ARGS_WORD, offsetof(options, type), "TYPE", "element type where a problem is a size", 0, 0, args_types,
     0},
    {NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0},
};

/* A problem as text, and where it stands, for messages. Both owned. */
typedef struct wish {
    char *text, *where;
} wish;

typedef struct wishes {
    wish  *data;
    size_t n;
} wishes;

static void add(wishes *all, const char *text, size_t length, char *where)
{
    all->data = out_resize(all->data, (all->n + 1) * sizeof *all->data);
    all->data[all->n].text = out_text("%.*s", (int)length, text);
    all->data[all->n++].where = where;
}

static void drop(wishes *all)
{
    for (size_t i = 0; i < all->n; i++) {
        free(all->data[i].text);
        free(all->data[i].where);
    }
    free(all->data);
}

/* "512,64x32x128T": each between commas. */
static void add_sizes(wishes *all, const char *list)
{
    for (;;) {
        size_t length = strcspn(list, ",");
        add(all, list, length, out_text("tune"));
        if (!list[length])
            return;
        list += length + 1;
    }
}

static int add_line(void *user, const char *text, const char *where)
{
    add(user, text, strlen(text), out_text("%s", where));
    return 0;
}

static int check_look(const wish *w)
{
    if (!*w->text)
        return args_usage(w->where, "an empty size");
    if (!subject_looks(w->text))
        return problem_shape_refuse(w->where, w->text, SUBJECT_WANTED);
    return 0;
}

static int collect(wishes *all, const options *o, int argc, char **argv)
{
    int status = o->problems ? file_lines("tune", o->problems, add_line, all) : 0;
    for (size_t i = 0; i < o->sizes.n; i++)
        add_sizes(all, o->sizes.data[i]);
    for (int i = 0; i < argc; i++)
        add_sizes(all, argv[i]);
    for (size_t i = 0; i < all->n && status == 0; i++)
        status = check_look(&all->data[i]);
    if (status == 0 && !all->n)
        status = args_usage("tune", "no problem; see qst tune --help");
    return status;
}

static uint64_t tunings(const device_handle *device)
{
    qst_counters counters = {.size = sizeof counters};
    qst_context_counters(device->context, &counters);
    return counters.tuned;
}

/* The median time of a candidate, 0: it has none. */
static double time_of(const json_t *verdict, const char *name)
{
    const json_t *findings = json_object_get(verdict, "findings");
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *f = json_array_get(findings, i);
        if (strcmp(out_member(f, "name"), name) == 0)
            return out_number(f, "median_ms");
    }
    return 0;
}

/* There is no verdict. Whatever failed is in a log line, be it not shown; without one it was not begun. */
static void tell_untuned(const device_handle *device, const subject *s, bool shown)
{
    if (shown)
        return;
    if (device_setting_is(device->context, "tune.mode", "value", "tune") &&
        device_setting_is(device->context, "tune.wait", "value", "true"))
        out_fail("%s: not tuned: --set log=info,tune says why", s->word);
    else
        out_fail("%s: not tuned: another process is tuning it, or tune.mode lets nothing be tuned", s->word);
}

/* What the key's verdict comes to, if it has one; "failed" after one line: a plan runs all the same. */
static const char *answer(const device_handle *device, const subject *s, const json_t *verdict, const char *runs,
                          bool tuned)
{
    bool        all = false;
    char       *barred = verdict_barred(device->context, qst_set_op(s->set)->name, runs, &all);
    const char *state = "failed";
    const bool  told = barred && (all || (verdict && !out_truth(verdict, "partial")));
    const bool  shown = log_settle(!told);
    if (told)
        out_fail("%s: %s; %s runs all the same", s->word, barred, runs);
    else if (!verdict && tuned)
        out_fail("%s: no candidate gave a right result in time", s->word);
    else if (!verdict)
        tell_untuned(device, s, shown);
    else if (out_truth(verdict, "partial"))
        state = "partial";
    else if (!out_member(verdict, "winner")[0])
        out_fail("%s: no candidate gave a right result", s->word);
    else
        state = tuned ? "tuned" : "known";
    free(barred);
    return state;
}

/* One problem, as a JSON row: "state" is tuned, known, partial (the budget ended it) or failed. */
static json_t *tune(const device_handle *device, const subject *s)
{
    qst_error   err = {0};
    char       *runs, *text = problem_text(s->set, s->problem);
    uint64_t    before = tunings(device), start = device_now();
    qst_status  planned = subject_plan(s, device, &runs, &err);
    double      took = (double)(device_now() - start) / 1e6;
    json_t     *verdict = NULL;
    problem_key key;
    const char *state = "known"; /* what needs no tuning, too */
    if (planned < 0) {
        out_error(s->word, planned, &err);
        state = "failed";
    } else if (problem_key_of(s->set, s->problem, &key, NULL)) {
        state = verdict_find(&verdict, device->context, &key)
                    ? answer(device, s, verdict, runs, tunings(device) > before)
                    : "failed";
    }
    log_settle(true);
    /* What it learnt is kept before the next one begins: whoever ends this process loses that one only. */
    if (strcmp(state, "known") != 0)
        qst_context_settle(device->context);
    /* Another problem of the key's bucket took another time. */
    const char *on = out_member(verdict, "problem");
    double      ms = strcmp(on, text) == 0 ? time_of(verdict, runs) : 0;
    json_t *row = out_need(json_pack("{s:s,s:s,s:s,s:s,s:o,s:s,s:f}", "state", state, "op", qst_set_op(s->set)->name,
                                     "problem", text, "winner", runs, "median_ms", ms > 0 ? json_real(ms) : json_null(),
                                     "tuned_on", on, "took_ms", took));
    json_decref(verdict);
    free(text);
    free(runs);
    return row;
}

static void print(const json_t *row)
{
    double      ms = out_number(row, "median_ms");
    const char *on = out_member(row, "tuned_on");
    bool        other = on[0] && strcmp(on, out_member(row, "problem")) != 0;
    printf("%-7s %12s  %s  %s %s%s%s\n", out_member(row, "state"), ms > 0 ? out_ms(ms).text : "-",
           out_member(row, "winner")[0] ? out_member(row, "winner") : "none", out_member(row, "op"),
           out_member(row, "problem"), other ? ", as tuned on " : "", other ? on : "");
    fflush(stdout);
}

/* A run over all problems. */
typedef struct course {
    const subject *subjects;
    size_t         n, done;
    json_t        *rows; /* of those done */
    bool           json;
} course;

static void tell_all(const course *c)
{
    if (c->json)
        out_json(json_incref(c->rows));
}

static void tell_end(void *user)
{
    const course *c = user;
    tell_all(c);
    out_fail("tune: ended by %s after %zu of %zu problems; what was found is kept, the same command goes on",
             stop_name(), c->done, c->n);
}

/* Whoever tells the process to end while a problem is tuned ends it there (stop.h), or after it. */
static int tune_all(const device_handle *device, course *c)
{
    int status = 0;
    stop_tell(tell_end, c);
    while (c->done < c->n && !stop_code()) {
        const subject *s = &c->subjects[c->done];
        out_progress("%zu of %zu: %s", c->done + 1, c->n, out_shown(s->word).text);
        subject_heed(s->set, s->problem);
        json_t *row = tune(device, s);
        out_progress(NULL);
        stop_hold();
        if (strcmp(out_member(row, "state"), "failed") == 0)
            status = EXIT_FAILED;
        if (!c->json) {
            out_harmless(row);
            print(row);
        }
        json_array_append_new(c->rows, row);
        c->done++;
        stop_go();
    }
    stop_end();
    stop_hold_tell(NULL, NULL);
    tell_all(c);
    stop_go();
    return status;
}

static int run(const args_common *common, const void *given, int argc, char **argv)
{
    const options *o = given;
    wishes         all = {NULL, 0};
    device_handle  device;
    subject       *subjects = NULL;
    args_common    own = *common;
    int            status = collect(&all, o, argc, argv);
    own.keeps = "tune";
    log_wait();
    stop_heed("tune");
    memset(&device, 0, sizeof device);
    if (status == 0)
        status = device_open(&device, &own, NULL);
    /* All lines are read before the first is tuned. */
    if (status == 0) {
        subjects = out_resize(NULL, all.n * sizeof *subjects);
        memset(subjects, 0, all.n * sizeof *subjects);
    }
    for (size_t i = 0; i < all.n && status == 0; i++)
        status = subject_open(&subjects[i], device.context, all.data[i].text, o->type, all.data[i].where);
    course c = {subjects, all.n, 0, out_need(json_array()), common->json};
    if (status == 0)
        status = tune_all(&device, &c);
    if (status == 0 && tunings(&device))
        status = cache_keeps(device.context, "tune", "what was found");
    for (size_t i = 0; subjects && i < all.n; i++)
        subject_close(&subjects[i]);
    free(subjects);
    json_decref(c.rows);
    device_close(&device);
    drop(&all);
    return status;
}

const verb_info verb_tune = {
    .name = "tune",
    .arguments = "--problems FILE | --sizes LIST...",
    .summary = "tune ahead of time what a program will ask for",
    .help =
        "A line for each problem: `tuned`, `known` (the answer was there), `partial` (the budget ended it: run it\n"
        "again to go on) or `failed` (none may run, or none was right); the winner's median time; winner; problem.\n"
        "Where another problem of the key was tuned, it says which and gives no time: that one took another. Every\n"
        "finding is in the store as soon as it is known: a run that was interrupted goes on where it was. A line of\n"
        "FILE is a size or a shape (512, 64x32x128T), or text as logs print it (matmul m=240 n=240 k=240). There is\n"
        "no budget unless --budget or the configuration gives one, and what another process is tuning is waited for,\n"
        "unless tune.wait is set to false. Exit code 1 when a problem failed, or when the store cannot keep what was\n"
        "found. Told to end (SIGINT, SIGTERM, SIGHUP), it lets the candidate that is tried come to its end and says\n"
        "how far it came, exit code 128 + the signal; told so again, it ends at once.\n",
    .groups = ARGS_LEVEL | ARGS_TUNE,
    .options = table,
    .defaults = &defaults,
    .options_size = sizeof(options),
    .run = run,
};
