/* SPDX-License-Identifier: MIT
 *
 * problem.c: from words to problems, from problems to keys, from keys to text. */
#include "problem.h"

#include "out.h"
#include "verb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One size, digits only, from *at on; one that is too large ends as PROBLEM_SIDE_MAX + 1. */
static bool side(const char **at, int64_t *value)
{
    const char *digits = *at;
    for (*value = 0; **at >= '0' && **at <= '9'; ++*at)
        if (*value <= PROBLEM_SIDE_MAX)
            *value = *value * 10 + (**at - '0');
    *value = *value <= PROBLEM_SIDE_MAX ? *value : PROBLEM_SIDE_MAX + 1;
    return *at > digits;
}

static bool read_shape(const char *word, problem_shape *shape)
{
    if (!side(&word, &shape->m))
        return false;
    shape->n = shape->k = shape->m;
    if (*word == 'x') {
        word++;
        if (!side(&word, &shape->n) || *word++ != 'x' || !side(&word, &shape->k))
            return false;
    }
    shape->transposed = *word == 'T';
    return word[shape->transposed] == '\0';
}

bool problem_shape_parse(const char *word, problem_shape *shape)
{
    if (!read_shape(word, shape))
        return false;
    int64_t sides[] = {shape->m, shape->n, shape->k};
    for (size_t i = 0; i < 3; i++)
        if (sides[i] < 1 || sides[i] > PROBLEM_SIDE_MAX)
            return false;
    return true;
}

int problem_shape_refuse(const char *where, const char *word, const char *wanted)
{
    problem_shape shape;
    if (read_shape(word, &shape))
        return args_usage(where, "%s: a size is not in 1 to %d", out_shown(word).text, PROBLEM_SIDE_MAX);
    return args_usage(where, "%s: %s", out_shown(word).text, wanted);
}

void problem_from_shape(qst_matmul *problem, const problem_shape *shape, uint32_t type)
{
    qst_matmul_init(problem, shape->m, shape->n, shape->k, type);
    if (shape->transposed) {
        problem->b.row = 1;
        problem->b.col = shape->k;
    }
    problem->a.align = problem->b.align = problem->c.align = PROBLEM_ALIGN;
}

problem_label problem_shape_label(const problem_shape *shape)
{
    problem_label label;
    const char   *t = shape->transposed ? "T" : "";
    if (shape->m == shape->n && shape->n == shape->k)
        snprintf(label.text, sizeof label.text, "%" PRId64 "x%" PRId64 "%s", shape->m, shape->n, t);
    else
        snprintf(label.text, sizeof label.text, "%" PRId64 "x%" PRId64 "x%" PRId64 "%s", shape->m, shape->n, shape->k,
                 t);
    return label;
}

bool problem_key_of(qst_set *set, const void *problem, problem_key *key, qst_error *err)
{
    memset(key, 0, sizeof *key);
    key->op = qst_set_op(set);
    return qst_problem_key(set, problem, key->value, &key->count, err) >= 0;
}

bool problem_key_equal(const problem_key *a, const problem_key *b)
{
    return a->op == b->op && a->count == b->count && memcmp(a->value, b->value, a->count * sizeof *a->value) == 0;
}

char *problem_key_field(const problem_key *key, uint32_t i)
{
    const qst_key_field *field = &key->op->key_fields[i];
    int64_t              value = key->value[i];
    if (field->kind == QST_KEY_FLAG)
        return out_text("%s", value ? "true" : "false");
    if (field->kind == QST_KEY_ENUM && value >= 0 && value < field->n_tokens && field->tokens[value])
        return out_text("%s", field->tokens[value]);
    return out_text("%" PRId64, value);
}

char *problem_key_text(const problem_key *key)
{
    char *text = out_text("%s", "");
    for (uint32_t i = 0; i < key->count; i++) {
        char *field = problem_key_field(key, i);
        char *longer = out_text("%s%s%s=%s", text, i ? " " : "", key->op->key_fields[i].name, field);
        free(text);
        free(field);
        text = longer;
    }
    return text;
}

static void append(void *user, const char *text, size_t length)
{
    char **all = user;
    char  *longer = out_text("%s%.*s", *all, (int)length, text);
    free(*all);
    *all = longer;
}

char *problem_text(qst_set *set, const void *problem)
{
    char *text = out_text("%s", "");
    qst_problem_print(set, problem, append, &text, NULL);
    return text;
}
