/* SPDX-License-Identifier: MIT
 *
 * test_progress.c: whoever asks is told of each candidate that a tuning is through with, and of its end.
 */
#include "run/background.h"
#include "support/blend.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void *fixture;

/* No budget and no roof: every candidate has its turn. */
#define ALL_OF_THEM "\"budget_ms\": 0, \"short_circuit\": false"

enum { TOLD_MAX = 32 };

typedef struct told {
    struct {
        char     key[128], candidate[64]; /* "" as it begins, and at the end */
        uint32_t done, total;
    } line[TOLD_MAX];
    uint32_t  n;
    pthread_t thread; /* of the last one */
} told;

static void listen(void *user, const char *key, uint32_t done, uint32_t total, const char *candidate)
{
    told *t = user;

    if (t->n == TOLD_MAX)
        return;
    snprintf(t->line[t->n].key, sizeof t->line[0].key, "%s", key);
    snprintf(t->line[t->n].candidate, sizeof t->line[0].candidate, "%s", candidate ? candidate : "");
    t->line[t->n].done = done;
    t->line[t->n].total = total;
    t->thread = pthread_self();
    t->n++;
}

static qst_context *open_context(told *t, const char *config, size_t size)
{
    qst_options  options;
    qst_context *ctx = NULL;
    qst_error    err = {0};

    memset(t, 0, sizeof *t);
    qst_options_init(&options);
    options.size = (uint32_t)size;
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_PLUGINS | QST_NO_STORE;
    options.config = config;
    options.progress = listen;
    options.progress_user = t;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("%s", err.text);
    return ctx;
}

static void call(qst_set *set, int64_t n)
{
    cl_fixture   *cl = fixture;
    blend_problem p = blend_of(n, 3, 1);
    blend_case    c;

    blend_open(&c, cl->context, cl->in_order, &p);
    assert_int_equal(qst_enqueue(set, cl->in_order, &p, c.operand, 0, NULL, NULL, NULL), QST_OK);
    blend_check(&c, cl->in_order, 1);
    blend_close(&c);
}

static bool spoken_of(const told *t, const char *name)
{
    uint32_t i;

    for (i = 0; i < t->n; i++)
        if (strcmp(t->line[i].candidate, name) == 0)
            return true;
    return false;
}

/* One tuning of `total` candidates from line `from` on: it is told that it begins, numbers only grow, the end comes last. */
static void one_tuning(const told *t, uint32_t from, uint32_t total)
{
    uint32_t i, done = 0;

    assert_in_range(t->n, from + total + 2, TOLD_MAX - 1);
    assert_int_equal(t->line[from].done, 0);
    for (i = from; i < t->n; i++) {
        assert_string_equal(t->line[i].key, t->line[from].key);
        assert_in_range(t->line[i].done, done, total);
        assert_int_equal(t->line[i].total, i == from ? 0 : total); /* no round has begun */
        done = t->line[i].done;
        assert_int_equal(t->line[i].candidate[0] == '\0', i == from || i + 1 == t->n);
    }
    assert_int_equal(t->line[from + 1].done, 1);
    assert_int_equal(done, total);
}

static void each_candidate(void **state)
{
    static const qst_candidate *const four[] = {&blend_loop, &blend_wide, &blend_twice, &blend_off, NULL};
    told                              t;
    qst_context                      *ctx = open_context(&t, "{\"tune\": {" ALL_OF_THEM "}}", sizeof(qst_options));
    qst_set                          *set = blend_set(ctx, four);
    uint32_t                          before;

    (void)state;
    call(set, 1000);
    one_tuning(&t, 0, 4);
    assert_true(spoken_of(&t, "blend.app.loop/1"));
    assert_true(spoken_of(&t, "blend.app.wide/1"));
    assert_true(spoken_of(&t, "blend.app.twice/1"));
    assert_true(spoken_of(&t, "blend.app.off/1")); /* wrong, and through with */
    assert_non_null(strstr(t.line[0].key, "n=1024"));
    assert_true(pthread_equal(t.thread, pthread_self()));
    before = t.n;
    call(set, 1000);
    assert_int_equal(t.n, before); /* a hit has nothing to tell */
    call(set, 3000);
    one_tuning(&t, before, 4);
    assert_non_null(strstr(t.line[before].key, "n=4096"));
    qst_context_destroy(ctx);
}

static void in_the_background(void **state)
{
    static const qst_candidate *const two[] = {&blend_loop, &blend_wide, NULL};
    told                              t;
    qst_context *ctx = open_context(&t, "{\"tune\": {\"mode\": \"background\", " ALL_OF_THEM "}}", sizeof(qst_options));
    qst_set     *set = blend_set(ctx, two);

    (void)state;
    call(set, 1000);
    qst__background_settle(ctx);
    one_tuning(&t, 0, 2);
    assert_false(pthread_equal(t.thread, pthread_self()));
    qst_context_destroy(ctx);
}

/* Options of a program that was compiled before there was progress. */
static void not_asked_for(void **state)
{
    static const qst_candidate *const two[] = {&blend_loop, &blend_wide, NULL};
    told                              t;
    qst_context *ctx = open_context(&t, "{\"tune\": {" ALL_OF_THEM "}}", offsetof(qst_options, progress));
    qst_set     *set = blend_set(ctx, two);
    qst_counters counters = {.size = sizeof counters};

    (void)state;
    call(set, 1000);
    assert_int_equal(qst_context_counters(ctx, &counters), QST_OK);
    assert_int_equal(counters.tuned, 1);
    assert_int_equal(t.n, 0);
    qst_context_destroy(ctx);
}

static int open_all(void **state)
{
    (void)state;
    return cl_fixture_open(&fixture);
}

static int close_all(void **state)
{
    (void)state;
    return cl_fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_candidate),
        cmocka_unit_test(in_the_background),
        cmocka_unit_test(not_asked_for),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
