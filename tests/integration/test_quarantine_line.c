/* SPDX-License-Identifier: MIT
 *
 * test_quarantine_line.c: what the line of a candidate in the store says before, in and after trials, and after the
 * death of whoever tried it. A death is played: the claim is given back without a word, and nothing is remembered.
 */
#include "cache_case.h"
#include "run/quarantine.h"
#include "run/stored.h"
#include "support/blend.h"

#include <quernstone/cache.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <cmocka.h>

static void *fixture;

static const qst_candidate *const all[] = {&blend_loop, &blend_wide, NULL};
static const uint32_t             wide = 1;

typedef struct bench {
    qst_context *ctx;
    qst__shelf  *shelf;
} bench;

static bench open_bench(void)
{
    cl_fixture *cl = fixture;
    bench       b = {.ctx = blend_context(NULL)};
    qst_set    *set = blend_set(b.ctx, all);
    qst__site  *site;

    b.ctx->store.flags |= QST_STORE_LASTS; /* it does, as long as the context */
    assert_int_equal(qst__site_of(b.ctx, cl->context, cl->device, &site, NULL), QST_OK);
    assert_int_equal(qst__shelf_of(site, set, &b.shelf, NULL), QST_OK);
    return b;
}

static qst_status enter(const bench *b, int64_t n, qst_error *err)
{
    blend_problem p = blend_of(n, 2, 0);
    return qst__quarantine_enter(b->shelf, wide, &p, err);
}

static void leave(const bench *b, int64_t n)
{
    blend_problem p = blend_of(n, 2, 0);
    qst__quarantine_leave(b->shelf, wide, &p);
}

/* Whoever tried it is gone; a new process knows what the store says. */
static void die(const bench *b)
{
    qst__watch *w = &b->shelf->watches[wide];

    if (w->token)
        b->ctx->store.release(b->ctx->store.self, w->token);
    memset(w, 0, sizeof *w);
}

static int64_t lines(const bench *b)
{
    qst_store_stat stat = {.size = (uint32_t)sizeof stat};

    assert_int_equal(b->ctx->store.stat(b->ctx->store.self, &stat), QST_OK);
    return (int64_t)stat.entries[QST_DB_QUARANTINE];
}

/* A member of the only line, as the list tells it; "" null or none. */
static void expect(const bench *b, const char *member, const char *part)
{
    json_t     *list = cache_list(b->ctx), *one;
    const char *value;

    assert_int_equal(json_array_size(list), 1);
    one = json_array_get(list, 0);
    assert_string_equal(json_string_value(json_object_get(one, "candidate")), "blend.app.wide/1");
    value = json_string_value(json_object_get(one, member));
    if (!value || !strstr(value, part))
        fail_msg("%s is '%s', without '%s'", member, value ? value : "", part);
    json_decref(list);
}

static void a_trial_leaves_nothing(void **state)
{
    bench b = open_bench();

    (void)state;
    assert_int_equal(enter(&b, 100, NULL), QST_OK);
    assert_int_equal(lines(&b), 1);
    expect(&b, "trying", "n=100");
    expect(&b, "standing", "watched");
    leave(&b, 100);
    assert_int_equal(lines(&b), 0);
    /* the next key is watched again */
    assert_int_equal(enter(&b, 7000, NULL), QST_OK);
    expect(&b, "trying", "n=7000");
    /* two at once: the line stands until both are back */
    assert_int_equal(enter(&b, 50, NULL), QST_OK);
    leave(&b, 7000);
    assert_int_equal(lines(&b), 1);
    leave(&b, 50);
    assert_int_equal(lines(&b), 0);
    qst_context_destroy(b.ctx);
}

/* It came back from one problem and kills at another: each death counts. */
static void deaths_at_another_problem_count(void **state)
{
    bench     b = open_bench();
    qst_error err = {0};

    (void)state;
    assert_int_equal(enter(&b, 100, NULL), QST_OK);
    leave(&b, 100);
    for (int death = 0; death < 2; death++) {
        assert_int_equal(enter(&b, 7000, NULL), QST_OK);
        die(&b);
        assert_true(qst__quarantine_suspects(b.shelf, wide));
        assert_int_equal(qst__quarantine_bars(b.shelf, wide), death == 1);
        expect(&b, "died_at", "n=7000");
        expect(&b, "standing", death ? "quarantined" : "suspect");
        if (!death) { /* from elsewhere it comes back: that says nothing */
            assert_int_equal(enter(&b, 100, NULL), QST_OK);
            leave(&b, 100);
            expect(&b, "standing", "suspect");
        }
    }
    assert_int_equal(enter(&b, 100, &err), QST_E_REFUSED);
    assert_non_null(strstr(err.text, "in quarantine: 2 processes died"));
    qst_context_destroy(b.ctx);
}

/* Killed from outside, it comes back from the same problem afterwards. Five such deaths are too many all the same. */
static void a_return_makes_good(void **state)
{
    bench b = open_bench();

    (void)state;
    for (unsigned death = 1; death <= QST__DEATHS_MAX; death++) {
        assert_int_equal(enter(&b, 7000, NULL), QST_OK);
        die(&b);
        assert_int_equal(qst__quarantine_bars(b.shelf, wide), death == QST__DEATHS_MAX);
        if (death == QST__DEATHS_MAX)
            break;
        assert_int_equal(enter(&b, 7000, NULL), QST_OK);
        leave(&b, 7000);
        expect(&b, "standing", "watched");
        die(&b);
        assert_false(qst__quarantine_suspects(b.shelf, wide));
    }
    qst_context_destroy(b.ctx);
}

/* Who lives has his claim: his line is no death. */
static void the_living_are_not_dead(void **state)
{
    bench b = open_bench();
    void *token = NULL;

    (void)state;
    assert_int_equal(enter(&b, 100, NULL), QST_OK);
    die(&b);
    assert_false(qst__quarantine_bars(b.shelf, wide)); /* asks, and knows the key */
    leave(&b, 100);
    assert_int_equal(enter(&b, 100, NULL), QST_OK);
    token = b.shelf->watches[wide].token;
    memset(&b.shelf->watches[wide], 0, sizeof b.shelf->watches[wide]);
    qst__quarantine_bars(b.shelf, wide);
    assert_int_equal(b.shelf->watches[wide].deaths, 1);
    assert_int_equal(enter(&b, 100, NULL), QST_OK); /* and is not watched by us as well */
    assert_null(b.shelf->watches[wide].token);
    leave(&b, 100);
    expect(&b, "trying", "n=100");
    b.ctx->store.release(b.ctx->store.self, token);
    qst_context_destroy(b.ctx);
}

/* Another process of ours died of it in the middle of the trial: that it comes back here makes nothing good. */
static void barred_within_a_trial(void **state)
{
    bench         b = open_bench();
    blend_problem p = blend_of(7000, 2, 0);
    qst_error     err = {0};

    (void)state;
    assert_int_equal(enter(&b, 7000, NULL), QST_OK);
    qst__quarantine_bar(b.shelf, wide, &p, "it died elsewhere");
    leave(&b, 7000);
    expect(&b, "standing", "quarantined");
    expect(&b, "died_at", "n=7000");
    die(&b);
    assert_true(qst__quarantine_bars(b.shelf, wide));
    assert_int_equal(enter(&b, 100, &err), QST_E_REFUSED);
    assert_non_null(strstr(err.text, "in quarantine: 1 process died when it tried it here; it died elsewhere"));
    qst_context_destroy(b.ctx);
}

static void pruned(void **state)
{
    bench                   b = open_bench();
    qst_cache_prune_options o;
    uint64_t                removed = 0;

    (void)state;
    assert_int_equal(enter(&b, 100, NULL), QST_OK);
    die(&b);
    qst_cache_prune_options_init(&o);
    o.quarantine = "blend.app.loop/*";
    assert_int_equal(qst_cache_prune(b.ctx, &o, &removed, NULL), QST_OK);
    assert_int_equal(removed, 0);
    o.quarantine = "blend.*";
    assert_int_equal(qst_cache_prune(b.ctx, &o, &removed, NULL), QST_OK);
    assert_int_equal(removed, 1);
    assert_false(qst__quarantine_suspects(b.shelf, wide));
    qst_context_destroy(b.ctx);
}

/* What is damaged, or of another schema, holds nothing against anybody. */
static void damaged(void **state)
{
    bench        b = open_bench();
    qst__journal j = {true, 3, 3, "p", "q", "", "blend.app.wide/1", 16}, back;
    size_t       length;
    uint8_t     *bytes = qst__journal_seal(&j, &b.ctx->alloc, &length), key[32];

    (void)state;
    assert_int_equal(qst__journal_open(&back, bytes, length), QST_OK);
    assert_string_equal(back.died_at, "q");
    for (size_t cut = 0; cut < length; cut++)
        assert_int_equal(qst__journal_open(&back, bytes, cut), QST_E_CORRUPT);
    bytes[length - 3] ^= 1;
    qst__journal_key(b.shelf, wide, key);
    assert_int_equal(b.ctx->store.put(b.ctx->store.self, QST_DB_QUARANTINE, key, 32, bytes, length), QST_OK);
    assert_false(qst__quarantine_bars(b.shelf, wide));
    assert_int_equal(enter(&b, 100, NULL), QST_OK);
    expect(&b, "standing", "watched");
    leave(&b, 100);
    assert_int_equal(lines(&b), 0);
    qst__free(&b.ctx->alloc, bytes);
    qst_context_destroy(b.ctx);
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
        cmocka_unit_test(a_trial_leaves_nothing),
        cmocka_unit_test(deaths_at_another_problem_count),
        cmocka_unit_test(a_return_makes_good),
        cmocka_unit_test(the_living_are_not_dead),
        cmocka_unit_test(barred_within_a_trial),
        cmocka_unit_test(pruned),
        cmocka_unit_test(damaged),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
