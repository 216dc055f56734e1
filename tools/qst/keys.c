/* SPDX-License-Identifier: MIT
 *
 * keys.c: `qst keys`: which problems share an answer: their keys side by side, and which are equal. */
#include "device.h"
#include "out.h"
#include "problem.h"
#include "verb.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    bool     all;
    uint32_t type;
} options;

static const options     defaults = {false, QST_F32};
static const args_option table[] = {
    {"all", ARGS_FLAG, offsetof(options, all), NULL, "all fields of the key", 0, 0, NULL, 0},
    {"dtype", ARGS_WORD, offsetof(options, type), "TYPE", "element type", 0, 0, args_types, 0},
    {NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0},
};

/* The fields of the short form, in its order. */
static const uint32_t brief[] = {
    QST_MATMUL_KEY_M,          QST_MATMUL_KEY_N,        QST_MATMUL_KEY_K,          QST_MATMUL_KEY_LHS_POW2,
    QST_MATMUL_KEY_LHS_STRIDE, QST_MATMUL_KEY_RHS_POW2, QST_MATMUL_KEY_RHS_STRIDE, QST_MATMUL_KEY_LAYOUT_RHS,
    QST_MATMUL_KEY_SCALE,      QST_MATMUL_KEY_KIND,
};
#define BRIEF (sizeof brief / sizeof *brief)

static bool is_brief(uint32_t field)
{
    for (size_t i = 0; i < BRIEF; i++)
        if (brief[i] == field)
            return true;
    return false;
}

static void print_field(const problem_key *key, uint32_t i)
{
    char *text = problem_key_field(key, i);
    printf(" %s=%s", key->op->key_fields[i].name, text);
    free(text);
}

/* The word's T, if any, stands in a column of its own. */
static void print_key(const char *word, int width, const problem_key *key, bool all)
{
    int length = (int)strlen(word), t = length && word[length - 1] == 'T';
    printf("%*.*s%c ->", width, length - t, word, t ? 'T' : ' ');
    for (size_t i = 0; i < BRIEF; i++)
        print_field(key, brief[i]);
    for (uint32_t i = 0; i < key->count && all; i++)
        if (!is_brief(i))
            print_field(key, i);
    putchar('\n');
}

static bool same_box(const problem_key *a, const problem_key *b)
{
    return a->value[QST_MATMUL_KEY_M] == b->value[QST_MATMUL_KEY_M] &&
           a->value[QST_MATMUL_KEY_N] == b->value[QST_MATMUL_KEY_N] &&
           a->value[QST_MATMUL_KEY_K] == b->value[QST_MATMUL_KEY_K];
}

/* Is argument i the first of its word? */
static bool first_of(char **words, int i)
{
    for (int e = 0; e < i; e++)
        if (strcmp(words[e], words[i]) == 0)
            return false;
    return true;
}

/* The pairs that help lists: distinct words, neighbours or of the same bucketed sizes. */
static bool compared(char **words, const problem_key *keys, int i, int j)
{
    return first_of(words, i) && first_of(words, j) && (j == i + 1 || same_box(&keys[i], &keys[j]));
}

static void print_text(char **words, const problem_key *keys, int n, bool all)
{
    int width = 4;
    for (int i = 0; i < n; i++) {
        int length = (int)strlen(words[i]) - (words[i][strlen(words[i]) - 1] == 'T');
        width = length > width ? length : width;
    }
    for (int i = 0; i < n; i++)
        print_key(words[i], width, &keys[i], all);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (compared(words, keys, i, j))
                printf("key(%s) == key(%s): %s\n", words[i], words[j],
                       problem_key_equal(&keys[i], &keys[j]) ? "true" : "false");
}

static void print_json(char **words, const problem_key *keys, int n)
{
    json_t *rows = out_need(json_array()), *pairs = out_need(json_array());
    for (int i = 0; i < n; i++) {
        char   *text = problem_key_text(&keys[i]);
        json_t *fields = out_need(json_object());
        for (uint32_t f = 0; f < keys[i].count; f++) {
            const qst_key_field *field = &keys[i].op->key_fields[f];
            char                *name = problem_key_field(&keys[i], f);
            json_object_set_new(fields, field->name,
                                field->kind == QST_KEY_SIZE   ? json_integer(keys[i].value[f])
                                : field->kind == QST_KEY_FLAG ? json_boolean(keys[i].value[f] != 0)
                                                              : json_string(name));
            free(name);
        }
        json_array_append_new(rows, json_pack("{s:s,s:s,s:o}", "argument", words[i], "text", text, "fields", fields));
        free(text);
        for (int j = i + 1; j < n; j++)
            if (compared(words, keys, i, j))
                json_array_append_new(pairs, json_pack("{s:s,s:s,s:b}", "a", words[i], "b", words[j], "equal",
                                                       problem_key_equal(&keys[i], &keys[j])));
    }
    out_json(out_need(json_pack("{s:o,s:o}", "keys", rows, "pairs", pairs)));
}

static int fill(qst_set *set, char **words, int n, uint32_t type, problem_key *keys)
{
    for (int i = 0; i < n; i++) {
        qst_error     err = {0};
        qst_matmul    problem;
        problem_shape shape;
        if (!problem_shape_parse(words[i], &shape))
            return problem_shape_refuse("keys", words[i], PROBLEM_SHAPE_WANTED);
        problem_from_shape(&problem, &shape, type);
        if (!problem_key_of(set, &problem, &keys[i], &err))
            return out_error(words[i], err.status, &err);
    }
    return 0;
}

static int run(const args_common *common, const void *given, int argc, char **argv)
{
    const options *o = given;
    device_handle  device;
    qst_set       *set;
    qst_error      err = {0};
    if (argc == 0)
        return args_usage("keys", "no sizes; see qst keys --help");
    problem_key *keys = out_resize(NULL, (size_t)argc * sizeof *keys);
    int          status = device_context(&device, common, QST_NO_PLUGINS | QST_NO_STORE);
    if (status == 0 && qst_set_find(&set, device.context, "matmul", &err) < 0)
        status = out_error("keys", err.status, &err);
    if (status == 0)
        status = fill(set, argv, argc, o->type, keys);
    if (status == 0 && common->json)
        print_json(argv, keys, argc);
    else if (status == 0)
        print_text(argv, keys, argc, o->all);
    device_close(&device);
    free(keys);
    return status;
}

const verb_info verb_keys = {
    .name = "keys",
    .arguments = "N|MxNxK[T]...",
    .summary = "keys of matmul problems, and which are equal",
    .help = "N is a square, MxNxK has M rows, N columns and depth K; with T, the right matrix is a transposed view.\n"
            "One line a problem with the fields that decide most often; --all adds the others. Then, for pairs of\n"
            "different arguments, whether their keys are equal in all fields: each argument with the next one, and\n"
            "all pairs whose bucketed m, n and k are the same. Problems with equal keys share one answer. Needs no\n"
            "device.\n",
    .groups = ARGS_LEVEL,
    .options = table,
    .defaults = &defaults,
    .options_size = sizeof(options),
    .run = run,
};
