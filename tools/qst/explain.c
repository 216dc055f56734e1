/* SPDX-License-Identifier: MIT
 *
 * explain.c: `qst explain`: from words to problems to verdicts; what is printed about one stands in explain_text.c. */
#include "explain.h"

#include "device.h"
#include "out.h"
#include "verb.h"
#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    uint32_t type;
} options;

static const options     defaults = {QST_F32};
static const args_option table[] = {
    {"dtype", ARGS_WORD, offsetof(options, type), "TYPE", "element type where the argument is a size", 0, 0, args_types,
     0},
    {NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0},
};

/* A problem of any operation, with what its set is. */
typedef struct subject {
    const char *word;
    qst_set    *set;
    void       *problem;
} subject;

static int from_shape(subject *s, qst_context *context, const problem_shape *shape, uint32_t type)
{
    qst_error err = {0};
    if (qst_set_find(&s->set, context, "matmul", &err) < 0)
        return out_error(s->word, err.status, &err);
    s->problem = out_resize(NULL, sizeof(qst_matmul));
    problem_from_shape(s->problem, shape, type);
    return 0;
}

/* `op name=value …`. Starts that the text does not align count as whole buffers'. */
static int from_text(subject *s, qst_context *context)
{
    qst_error err = {0};
    size_t    length = strcspn(s->word, " ");
    char     *name = out_text("%.*s", (int)length, s->word);
    int       status = 0;
    if (qst_set_find(&s->set, context, name, &err) < 0)
        status = args_usage("explain", "%s: no such operation", name);
    free(name);
    if (status != 0)
        return status;
    const qst_op *op = qst_set_op(s->set);
    s->problem = out_resize(NULL, op->problem_size);
    memset(s->problem, 0, op->problem_size);
    if (qst_problem_parse(s->set, s->word + length + (s->word[length] == ' '), s->problem, &err) < 0)
        return args_usage("explain", "%s", err.text[0] ? err.text : s->word);
    for (uint32_t i = 0; i < op->n_operands; i++) {
        uint32_t align;
        char    *at = (char *)s->problem + op->operands[i].align_offset;
        if (!op->operands[i].align_offset)
            continue;
        memcpy(&align, at, sizeof align);
        align = align ? align : 4;
        memcpy(at, &align, sizeof align);
    }
    return 0;
}

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
    qst_plan   *plan = NULL;
    problem_key key;
    json_t     *verdict = NULL;
    const char *runs = "";
    out_progress("%s: tuning", s->word);
    qst_status planned = qst_plan_create(&plan, s->set, device->queue, s->problem, 0, &err);
    out_progress(NULL);
    if (planned < 0)
        *status = out_error(s->word, planned, &err);
    else
        runs = qst_plan_winner(plan);
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
    }
    if (planned >= 0)
        qst_plan_destroy(plan);
    return verdict;
}

static int open_subject(subject *s, qst_context *context, const char *word, uint32_t type)
{
    problem_shape shape;
    s->word = word;
    if (problem_shape_parse(word, &shape))
        return from_shape(s, context, &shape, type);
    return from_text(s, context);
}

/* What can be told of the words before anything is opened. */
static int look_over(char **words, int n)
{
    problem_shape shape;
    for (int i = 0; i < n; i++)
        if (!problem_shape_parse(words[i], &shape) && !strchr(words[i], '='))
            return args_usage("explain", "%s: neither N nor MxNxK, nor an operation's name and its problem", words[i]);
    return n ? 0 : args_usage("explain", "no problem; see qst explain --help");
}

static int run(const args_common *common, const void *given, int argc, char **argv)
{
    const options *o = given;
    device_handle  device;
    int            status = look_over(argv, argc);
    if (status != 0)
        return status;
    json_t *all = out_need(json_array());
    status = device_open(&device, common, NULL);
    for (int i = 0; i < argc && status == 0; i++) {
        subject s = {NULL, NULL, NULL};
        status = open_subject(&s, device.context, argv[i], o->type);
        json_t *verdict = status == 0 ? explain(&device, &s, &status) : NULL;
        if (verdict && !common->json)
            explain_print(verdict);
        if (verdict)
            json_array_append_new(all, verdict);
        free(s.problem);
    }
    if (common->json && json_array_size(all) == 1)
        out_json(json_incref(json_array_get(all, 0)));
    else if (common->json && json_array_size(all))
        out_json(json_incref(all));
    json_decref(all);
    device_close(&device);
    return status;
}

const verb_info verb_explain = {
    .name = "explain",
    .arguments = "N|MxNxK[T]|'OPERATION NAME=VALUE ...'...",
    .summary = "why this kernel: rounds, times, refusals with their reasons",
    .help = "Tunes each problem first where nothing is known about its key. Then: the key; the problem that it was\n"
            "tuned on; each round with its candidates, best first; what was not tried and why; the winner and what\n"
            "made it win; where the answer came from; whether the budget cut it short. Problems are squares, shapes,\n"
            "or text as logs print it: 'matmul m=240 n=240 k=240'. With --json, one object, or an array of them.\n",
    .groups = ARGS_LEVEL | ARGS_TUNE,
    .options = table,
    .defaults = &defaults,
    .options_size = sizeof(options),
    .run = run,
};
