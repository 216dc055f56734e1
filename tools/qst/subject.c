/* SPDX-License-Identifier: MIT
 *
 * subject.c: from words to problems. */
#include "subject.h"

#include "out.h"
#include "verb.h"

#include <stdlib.h>
#include <string.h>

static int from_shape(subject *s, qst_context *context, const problem_shape *shape, uint32_t type)
{
    qst_error err = {0};
    if (qst_set_find(&s->set, context, "matmul", &err) < 0)
        return out_error(s->word, err.status, &err);
    s->problem = out_resize(NULL, sizeof(qst_matmul));
    problem_from_shape(s->problem, shape, type);
    return 0;
}

/* Operands whose alignment the text leaves out start where buffers do. */
static void align(void *problem, const qst_op *op)
{
    for (uint32_t i = 0; i < op->n_operands; i++) {
        uint32_t value;
        char    *at = (char *)problem + op->operands[i].align_offset;
        if (!op->operands[i].align_offset)
            continue;
        memcpy(&value, at, sizeof value);
        value = value ? value : PROBLEM_ALIGN;
        memcpy(at, &value, sizeof value);
    }
}

static int from_text(subject *s, qst_context *context, const char *where)
{
    qst_error err = {0};
    size_t    length = strcspn(s->word, " ");
    char     *name = out_text("%.*s", (int)length, s->word);
    int       status = 0;
    if (qst_set_find(&s->set, context, name, &err) < 0)
        status = args_usage(where, "%s: no such operation", out_shown(name).text);
    free(name);
    if (status != 0)
        return status;
    const qst_op *op = qst_set_op(s->set);
    s->problem = out_resize(NULL, op->problem_size);
    memset(s->problem, 0, op->problem_size);
    if (qst_problem_parse(s->set, s->word + length + (s->word[length] == ' '), s->problem, &err) < 0)
        return args_usage(where, "%s", err.text[0] ? err.text : out_shown(s->word).text);
    align(s->problem, op);
    return 0;
}

bool subject_looks(const char *word)
{
    problem_shape shape;
    return problem_shape_parse(word, &shape) || strchr(word, '=');
}

int subject_open(subject *s, qst_context *context, const char *word, uint32_t type, const char *where)
{
    problem_shape shape;
    memset(s, 0, sizeof *s);
    s->word = word;
    if (problem_shape_parse(word, &shape))
        return from_shape(s, context, &shape, type);
    return from_text(s, context, where);
}

void subject_close(subject *s)
{
    free(s->problem);
    s->problem = NULL;
}

void subject_heed(qst_set *set, const void *problem)
{
    problem_key key;
    char       *text = problem_key_of(set, problem, &key, NULL) ? problem_key_text(&key) : NULL;
    stop_begin(text);
    free(text);
}

qst_status subject_plan(const subject *s, const device_handle *device, char **runs, qst_error *err)
{
    qst_plan  *plan = NULL;
    qst_status planned = qst_plan_create(&plan, s->set, device->queue, s->problem, 0, err);
    *runs = out_text("%s", planned < 0 ? "" : qst_plan_winner(plan));
    qst_plan_destroy(plan);
    return planned;
}
