/* SPDX-License-Identifier: MIT
 *
 * explain.c: `qst explain`: from words to problems to verdicts; what is printed about one stands in explain_text.c. */
#include "explain.h"

#include "out.h"
#include "subject.h"
#include "verb.h"
#include "verdict.h"

#include <quernstone/cache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    uint32_t type;
    bool     all, replay, wide;
} options;

static const options     defaults = {QST_F32, false, false, false};
static const args_option table[] = {
    {"dtype", ARGS_WORD, offsetof(options, type), "TYPE", "element type where the argument is a size", 0, 0, args_types,
     0},
    {"all", ARGS_FLAG, offsetof(options, all), NULL, "each candidate by itself, not as a family", 0, 0, NULL, 0},
    {"replay", ARGS_FLAG, offsetof(options, replay), NULL, "decide every stored answer again from its stored samples",
     0, 0, NULL, 0},
    {"wide", ARGS_FLAG, offsetof(options, wide), NULL, "on a terminal, too: lines and tables whole", 0, 0, NULL, 0},
    {NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0},
};

/* Where there is no verdict ("none", "trivial"), an object that says just what runs. */
static json_t *no_verdict(const problem_key *key, const char *runs)
{
    char   *text = problem_key_text(key);
    json_t *made =
        out_need(json_pack("{s:s,s:s,s:s,s:s}", "op", key->op->name, "key", text, "state", "absent", "winner", runs));
    free(text);
    return made;
}

/* Makes a plan, which tunes where nothing is known, and gives the verdict, also where no candidate was right and the
 * plan failed (*status is EXIT_FAILED then); NULL after one line. */
static json_t *explain(const device_handle *device, const subject *s, int *status)
{
    qst_error   err = {0};
    problem_key key;
    json_t     *verdict = NULL;
    char       *runs;
    out_progress("%s: tuning", s->word);
    subject_heed(s->set, s->problem);
    qst_status planned = subject_plan(s, device, &runs, &err);
    stop_end();
    out_progress(NULL);
    if (planned < 0)
        *status = out_error(s->word, planned, &err);
    /* A problem with nothing to compute has no key. */
    if (!problem_key_of(s->set, s->problem, &key, NULL)) {
        verdict = planned >= 0 ? no_verdict(&key, runs) : NULL;
    } else if (!verdict_find(&verdict, device->context, &key)) {
        *status = EXIT_FAILED;
    } else if (!verdict && planned >= 0) {
        verdict = no_verdict(&key, runs);
    }
    if (verdict) {
        char *text = problem_text(s->set, s->problem);
        json_object_set_new(verdict, "runs", json_string(runs));
        json_object_set_new(verdict, "asked", json_string(text));
        free(text);
        char *barred = verdict_barred(device->context, key.op->name, runs, NULL);
        json_object_set_new(verdict, "barred", barred ? json_string(barred) : json_null());
        free(barred);
    }
    free(runs);
    return verdict;
}

/* What can be told of the words before anything is opened. */
static int look_over(const options *o, char **words, int n)
{
    if (o->replay && n)
        return args_usage("explain", "%s: --replay takes no arguments, it is about all that is stored",
                          out_shown(words[0]).text);
    for (int i = 0; i < n; i++)
        if (!subject_looks(words[i]))
            return problem_shape_refuse("explain", words[i], SUBJECT_WANTED);
    return n || o->replay ? 0 : args_usage("explain", "no problem; see qst explain --help");
}

/* Every stored verdict decided again: one line each, EXIT_FAILED where one comes out otherwise. */
static int replay(const args_common *common, bool wide)
{
    device_handle device;
    out_buffer    text = {NULL, 0, 0};
    qst_error     err = {0};
    json_t       *all = NULL;
    args_common   own = *common;
    own.keeps = "explain";
    own.reads = true;
    int status = device_context(&device, &own, QST_NO_PLUGINS);
    if (status == 0) {
        qst_status replayed = qst_cache_replay(device.context, out_gather, &text, &err);
        if (replayed < 0)
            status = out_error("explain", replayed, &err);
        else if (!(all = out_parse("explain", &text)))
            status = EXIT_FAILED;
    }
    for (size_t i = 0; i < json_array_size(all); i++) {
        json_t *one = json_array_get(all, i);
        bool    same = out_truth(one, "same");
        if (!same)
            status = EXIT_FAILED;
        if (common->json)
            continue;
        out_harmless(one);
        char *head = out_text("%s %.12s %s: %s%s%s: ", same ? "same  " : "other ", out_member(one, "id"),
                              out_member(one, "op"), out_member(one, "winner")[0] ? out_member(one, "winner") : "none",
                              same ? "" : ", now ", same ? "" : out_member(one, "replayed"));
        out_cut(head, out_member(one, "key"), wide);
        free(head);
    }
    if (all && !common->json)
        printf("%zu decided again\n", json_array_size(all));
    else if (all)
        out_json(json_incref(all));
    json_decref(all);
    free(text.text);
    device_close(&device);
    return status;
}

/* All problems. */
typedef struct course {
    const options *options;
    json_t        *all; /* verdicts, of those done */
    int            n;
    bool           json, keeps;
} course;

static void tell(const course *c)
{
    if (c->json && json_array_size(c->all) == 1 && c->n == 1)
        out_json(json_incref(json_array_get(c->all, 0)));
    else if (c->json && json_array_size(c->all))
        out_json(json_incref(c->all));
}

static void tell_end(void *user)
{
    const course *c = user;
    tell(c);
    out_fail("explain: ended by %s after %zu of %d problems%s", stop_name(), json_array_size(c->all), c->n,
             c->keeps ? "; what was found is kept" : "");
}

static void keep(course *c, json_t *verdict)
{
    stop_hold();
    if (!c->json) {
        out_harmless(verdict);
        explain_print(verdict, c->options->all, c->options->wide);
    }
    json_array_append_new(c->all, verdict);
    stop_go();
}

static int explain_all(course *c, const device_handle *device, char **words)
{
    int status = 0;
    stop_tell(tell_end, c);
    for (int i = 0; i < c->n && status == 0; i++) {
        subject s;
        status = subject_open(&s, device->context, words[i], c->options->type, "explain");
        json_t *verdict = status == 0 ? explain(device, &s, &status) : NULL;
        if (verdict)
            keep(c, verdict);
        subject_close(&s);
    }
    stop_hold_tell(NULL, NULL);
    tell(c);
    stop_go();
    return status;
}

static int run(const args_common *common, const void *given, int argc, char **argv)
{
    const options *o = given;
    device_handle  device;
    int            status = look_over(o, argv, argc);
    if (status != 0)
        return status;
    if (o->replay)
        return replay(common, o->wide);
    course      c = {o, out_need(json_array()), argc, common->json, true};
    args_common own = *common;
    own.reads = true;
    stop_heed("explain");
    status = device_open(&device, &own, NULL);
    c.keeps = !device.no_store;
    if (status == 0)
        status = explain_all(&c, &device, argv);
    json_decref(c.all);
    device_close(&device);
    return status;
}

const verb_info verb_explain = {
    .name = "explain",
    .arguments = "N|MxNxK[T]|'OPERATION NAME=VALUE ...'...|--replay",
    .summary = "why this kernel: rounds, times, refusals with their reasons",
    .help =
        "Tunes each problem first where nothing is known about its key. Then: the key; the problem that it was\n"
        "tuned on; each round with its candidates: the winner, who was timed to the end by median, who was\n"
        "eliminated, last first (`rank` of --json is the order in which they step in for the winner); what was\n"
        "not tried and why; the winner and what made it win; where the answer came from; whether it is complete.\n"
        "Problems are squares, shapes, or text as logs print it: 'matmul m=240 n=240 k=240'. With --json, one object, or an array of them.\n"
        "On a terminal tables leave out columns where there is no room, and texts are cut (--wide: neither).\n"
        "Where four or more candidates of a plugin came to the same, they stand as one, `matmul.gemv.* (19)`.\n"
        "With --replay instead of problems: every stored answer, decided again from its stored samples; exit code\n"
        "1 where one comes out otherwise than it is stored. A store that is named and not there is not made: what is\n"
        "found is not kept.\n",
    .groups = ARGS_LEVEL | ARGS_TUNE,
    .options = table,
    .defaults = &defaults,
    .options_size = sizeof(options),
    .run = run,
};
