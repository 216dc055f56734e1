/* SPDX-License-Identifier: MIT
 *
 * test_field_kill.c: a process is killed while it tunes, at ten moments. What it had found is there, the next one goes on
 * from it and comes to the same winners. */
#include "support/field_case.h"
#include "support/store_case.h"

#include <quernstone/cache.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include <cmocka.h>

enum { FIRST = 30, KEYS = 3 };
static const char     set[] = "abcxdefgh";
static field_report   whole; /* of one process that nobody kills */
static const uint32_t by_finding[] = {1, 5, 12, 24, 40};

static void text(void *user, const char *piece, size_t length)
{
    char **all = user;
    size_t had = *all ? strlen(*all) : 0;

    *all = realloc(*all, had + length + 1);
    assert_non_null(*all);
    memcpy(*all + had, piece, length);
    (*all)[had + length] = '\0';
}

static json_t *parsed(char *all)
{
    json_error_t error;
    json_t      *json = json_loads(all ? all : "", 0, &error);

    if (!json)
        fail_msg("%s", error.text);
    free(all);
    return json;
}

/* The stored verdict of a key; NULL: none. */
static const json_t *verdict_of(const json_t *verdicts, uint32_t key)
{
    static const char *const flags[] = {"false", "true", "2"};
    char                     text_of_key[48];
    const json_t            *one;
    size_t                   i;

    snprintf(text_of_key, sizeof text_of_key, "n=%u b=%s", 1u << key / 3, flags[key % 3]);
    json_array_foreach(verdicts, i, one)
    {
        if (!strcmp(json_string_value(json_object_get(one, "key")), text_of_key))
            return one;
    }
    return NULL;
}

/* The outcome that is stored of a letter for a key; "": none. */
static const char *outcome(const json_t *verdicts, uint32_t key, char letter)
{
    char    name[32];
    json_t *finding;
    size_t  i;

    snprintf(name, sizeof name, "blend.app.%c/1", letter);
    json_array_foreach(json_object_get(verdict_of(verdicts, key), "findings"), i, finding)
    {
        if (!strcmp(json_string_value(json_object_get(finding, "name")), name))
            return json_string_value(json_object_get(finding, "outcome"));
    }
    return "";
}

static bool is_done(const json_t *verdicts, uint32_t key)
{
    const json_t *v = verdict_of(verdicts, key);

    return v && !json_is_true(json_object_get(v, "partial"));
}

/* All verdicts of the store, whole. */
static json_t *stored(const char *folder)
{
    qst_context *ctx = field_look(folder);
    char        *all = NULL;
    json_t      *list, *one, *verdicts = json_array();
    size_t       i;

    assert_int_equal(qst_cache_list(ctx, text, &all, NULL), QST_OK);
    list = parsed(all);
    json_array_foreach(list, i, one)
    {
        char *whole_text = NULL;
        if (strcmp(json_string_value(json_object_get(one, "table")), "verdicts"))
            continue;
        assert_int_equal(qst_cache_show(ctx, json_string_value(json_object_get(one, "id")), text, &whole_text, NULL),
                         QST_OK);
        json_array_append_new(verdicts, parsed(whole_text));
    }
    json_decref(list);
    qst_context_destroy(ctx);
    return verdicts;
}

typedef struct told {
    uint32_t n;
    char     key[200], letter[200];
} told;

/* Tunes until it dies: at an execution of its own, or when so many findings were told. */
static void die(const char *folder, long execution, uint32_t findings, told *t)
{
    field_job job = {.folder = folder, .set = set, .first = FIRST, .keys = KEYS, .die_at = execution, .tell = true};
    char      pair[2];
    int       from, pid = field_start(&job, &from);

    memset(t, 0, sizeof *t);
    while (t->n < 200 && read(from, pair, 2) == 2) {
        t->key[t->n] = pair[0];
        t->letter[t->n++] = pair[1];
        if (t->n == findings)
            assert_int_equal(kill(pid, SIGKILL), 0);
    }
    (void)close(from);
    assert_int_equal(program_end(pid), -SIGKILL);
}

static void expect_found(const char *folder, const told *t)
{
    json_t *verdicts = stored(folder);

    for (uint32_t i = 0; i < t->n; i++) {
        const char *found = outcome(verdicts, (uint32_t)t->key[i], t->letter[i]);
        if (!*found || !strcmp(found, "UNTRIED"))
            fail_msg("key %d: what was found of %c is not there: \"%s\"", t->key[i], t->letter[i], found);
    }
    json_decref(verdicts);
}

/* Who was through for good is not executed again (but for the fallback, with which the others are compared), what did not
 * build is not built again, and a key that was done is run once. Who had been timed but not often enough is timed again,
 * beside the others. How many keys were done. */
static uint32_t expect_not_again(const json_t *before, const field_report *after)
{
    uint32_t done = 0, ran;

    for (uint32_t key = FIRST; key < FIRST + KEYS; key++) {
        ran = 0;
        for (const char *letter = set; *letter; letter++) {
            const char *found = outcome(before, key, *letter);
            uint32_t    times = after->ran[key][*letter - 'a'];
            bool        final = *found && strcmp(found, "UNTRIED") && strcmp(found, "TIMED");
            ran += times;
            if (final && *letter != 'a' && times)
                fail_msg("key %u: %c was %s, and is executed %u times", key, *letter, found, times);
        }
        done += is_done(before, key);
        if (is_done(before, key))
            assert_int_equal(ran, 1);
    }
    if (!strcmp(outcome(before, FIRST, 'x'), "BUILD"))
        assert_int_equal(after->builds['x' - 'a'], 0);
    return done;
}

static void killed_at(long execution, uint32_t findings)
{
    char        *folder = folder_make();
    field_job    job = {.folder = folder, .set = set, .first = FIRST, .keys = KEYS};
    field_report next, last;
    uint32_t     done;
    json_t      *before;
    told         t;

    die(folder, execution, findings, &t);
    (void)field_verify(folder);
    expect_found(folder, &t);
    before = stored(folder);
    field_process(&job, &next);
    done = expect_not_again(before, &next);
    json_decref(before);
    for (uint32_t key = FIRST; key < FIRST + KEYS; key++)
        assert_int_equal(next.winner[key], whole.winner[key]);
    print_message("killed with %2u findings: %u of %u executions were left to the next process\n", t.n,
                  field_ran_all(&next), field_ran_all(&whole));
    assert_in_range(field_ran_all(&next), KEYS, field_ran_all(&whole) / KEYS * (KEYS - done) + done);
    assert_int_equal(next.warnings, 0);
    (void)field_verify(folder);
    field_process(&job, &last); /* all is known */
    assert_int_equal(last.counters.tuned, 0);
    assert_int_equal(field_ran_all(&last), KEYS);
    folder_remove(folder);
}

/* Five moments spread over the executions, five over the findings. */
static void at_an_execution(void **state)
{
    long n = (long)field_ran_all(&whole);

    (void)state;
    for (long i = 0; i < 5; i++)
        killed_at(1 + (2 * i + 1) * n / 10, 0);
}

static void at_a_finding(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof by_finding / sizeof *by_finding; i++)
        killed_at(0, by_finding[i]);
}

static int set_up(void **state)
{
    char     *folder = folder_make();
    field_job job = {.folder = folder, .set = set, .first = FIRST, .keys = KEYS};

    (void)state;
    field_process(&job, &whole);
    folder_remove(folder);
    return whole.winner[FIRST] == 'd' && whole.counters.tuned == KEYS ? 0 : -1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(at_an_execution), cmocka_unit_test(at_a_finding)};

    return argc > 1 ? field_child(argc, argv) : cmocka_run_group_tests(tests, set_up, NULL);
}
