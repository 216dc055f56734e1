/* SPDX-License-Identifier: MIT
 *
 * cache_case.c: see cache_case.h. */
#include "cache_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void cache_gather(void *user, const char *piece, size_t length)
{
    cache_text *t = user;
    t->data = realloc(t->data, t->length + length + 1);
    assert_non_null(t->data);
    memcpy(t->data + t->length, piece, length);
    t->length += length;
    t->data[t->length] = '\0';
}

json_t *cache_parse(cache_text *t)
{
    json_error_t error;
    json_t      *json = json_loadb(t->data, t->length, JSON_REJECT_DUPLICATES, &error);

    if (!json)
        fail_msg("%s at %d of %s", error.text, error.position, t->data);
    free(t->data);
    return json;
}

json_t *cache_list(qst_context *ctx)
{
    cache_text t = {NULL, 0};
    assert_int_equal(qst_cache_list(ctx, cache_gather, &t, NULL), QST_OK);
    return cache_parse(&t);
}

json_t *cache_show(qst_context *ctx, const char *id)
{
    cache_text t = {NULL, 0};
    assert_int_equal(qst_cache_show(ctx, id, cache_gather, &t, NULL), QST_OK);
    return cache_parse(&t);
}

const char *cache_word(const json_t *object, const char *name)
{
    const char *found = json_string_value(json_object_get(object, name));
    return found ? found : "";
}

size_t cache_count(const json_t *all, const char *table, const char *state, json_t **first)
{
    size_t  i, n = 0;
    json_t *one;
    json_array_foreach(all, i, one)
    {
        if (strcmp(cache_word(one, "table"), table) || (*state && strcmp(cache_word(one, "state"), state)))
            continue;
        if (first && !n)
            *first = one;
        n++;
    }
    return n;
}

const qst_candidate *const cache_candidates[] = {&blend_loop, &blend_wide, &blend_twice, NULL};
const int64_t              cache_sizes[2] = {3000, 9000};

void cache_call(cl_fixture *cl, qst_set *set, int64_t n)
{
    blend_problem p = blend_of(n, 2, 0);
    blend_case    c;

    blend_open(&c, cl->context, cl->in_order, &p);
    assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
    blend_check(&c, cl->in_order, 1);
    blend_close(&c);
}

qst_context *cache_answered(cl_fixture *cl, qst_set **set)
{
    qst_context *ctx = blend_context("{\"tune\": {\"budget_ms\": 0, \"short_circuit\": false}}"); /* verdicts alone */
    size_t       i;

    *set = blend_set(ctx, cache_candidates);
    for (i = 0; i < 2; i++)
        cache_call(cl, *set, cache_sizes[i]);
    return ctx;
}
