/* SPDX-License-Identifier: MIT
 *
 * test_field_settings_tune.c: each key of the sections tune, candidates and groups does something. Times are scripted
 * (field_case.h): any look at the host's clock moves it by 4.5 ms. */
#include "run/run.h"
#include "settings_case.h"
#include "support/store_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

/* No budget and no roof, as a part of each configuration that is about something else. */
#define FREE "\"tune.budget_ms\": 0, \"tune.short_circuit\": false"

/* Over both keys. */
static uint32_t ran(const field_report *r, char letter)
{
    return field_ran(r, letter);
}

static char winner(const field_report *r)
{
    assert_int_equal(r->winner[24], r->winner[25]);
    return r->winner[24];
}

static void mode(void)
{
    assert_int_equal(winner(settings_seen(NULL, "abd", FREE)), 'd');
    assert_int_equal(winner(settings_seen(NULL, "abd", FREE ", \"tune.mode\": \"fallback\"")), 'a');
    const field_report *r = settings_seen(NULL, "abd", FREE ", \"tune.mode\": \"frozen\"");
    assert_int_equal(winner(r), 'a');
    assert_int_equal(r->counters.tuned, 0);
}

static void level(void)
{
    assert_true(settings_seen(NULL, "abd", "\"tune.level\": \"balanced\"")->counters.probe_memory > 0);
    assert_true(settings_told("\"level\":\"balanced\""));
    assert_int_equal(settings_seen(NULL, "abd", "\"tune.level\": \"full\"")->counters.probe_memory, 0); /* no roof */
    assert_true(settings_told("\"level\":\"full\""));
}

static void budget(void)
{
    uint32_t all = field_ran_all(settings_seen(NULL, "abcdefgh", FREE));
    assert_false(settings_told("BUDGET"));
    assert_true(
        field_ran_all(settings_seen(NULL, "abcdefgh", "\"tune.short_circuit\": false, \"tune.budget_ms\": 90")) < all);
    assert_true(settings_told("BUDGET"));
}

static void build_budget(void)
{
    (void)settings_seen(NULL, "abcdefgh", FREE);
    assert_false(settings_told("BUDGET"));
    (void)settings_seen(NULL, "abcdefgh", FREE ", \"tune.build_budget_ms\": 5");
    assert_true(settings_told("BUDGET"));
}

static void min_samples(void)
{
    uint32_t few = ran(settings_seen(NULL, "abcd", FREE), 'c');
    assert_true(ran(settings_seen(NULL, "abcd", FREE ", \"tune.min_samples\": 9"), 'c') >= few + 2 * 5);
}

static void max_samples(void)
{
    uint32_t many = ran(settings_seen(NULL, "abcd", FREE), 'd');
    assert_true(ran(settings_seen(NULL, "abcd", FREE ", \"tune.min_samples\": 1, \"tune.max_samples\": 1"), 'd') <
                many);
}

static void speed_factor(void)
{
    (void)settings_seen(NULL, "abcd", FREE);
    assert_true(settings_told("over1.5times1ms"));
    (void)settings_seen(NULL, "abcd", FREE ", \"tune.speed_factor\": 2.5");
    assert_false(settings_told("over1.5times1ms"));
    assert_true(settings_told("over2.5times1ms"));
}

static void prune_factor(void)
{
    assert_int_equal(settings_seen(NULL, "abdp", FREE)->builds['p' - 'a'], 0);
    assert_true(settings_told("PRUNED"));
    assert_int_equal(settings_seen(NULL, "abdp", FREE ", \"tune.prune_factor\": 0")->builds['p' - 'a'], 1);
    assert_false(settings_told("PRUNED"));
}

static void short_circuit(void)
{
    assert_true(settings_seen(NULL, "abd", "\"tune.short_circuit\": true")->counters.probe_memory > 0);
    assert_int_equal(settings_seen(NULL, "abd", "\"tune.short_circuit\": false")->counters.probe_memory, 0);
}

/* The scripted probe is slow, so that whoever comes first is under the roof: it is confirmed by so many samples. */
static void short_circuit_samples(void)
{
    uint32_t two = ran(settings_seen(NULL, "dab", "\"tune.short_circuit_samples\": 2"), 'd');
    assert_true(ran(settings_seen(NULL, "dab", "\"tune.short_circuit_samples\": 20"), 'd') >= two + 2 * 10);
}

static void verify(void)
{
    uint64_t checked = settings_seen(NULL, "abd", FREE)->counters.verify;
    assert_true(settings_seen(NULL, "abd", FREE ", \"tune.verify\": false")->counters.verify < checked);
}

/* ---- A key that is claimed ----------------------------------------------------------------------------------------- */

static struct {
    qst_context *ctx;
    void        *token[2];
    int          waits;
} holder;

static void give(void)
{
    for (int i = 0; i < 2 && holder.waits == 3; i++) {
        holder.ctx->store.release(holder.ctx->store.self, holder.token[i]);
        holder.token[i] = NULL;
    }
    holder.waits++;
}

static void hold(const char *folder, const char *target)
{
    static const char *const keys[] = {"n=256 b=false", "n=256 b=true"};
    uint8_t                  digest[32];

    holder.ctx = field_look(folder);
    holder.waits = 0;
    for (int i = 0; i < 2; i++) {
        qst__answer_digest(target, "blend", keys[i], digest);
        assert_int_equal(holder.ctx->store.claim(holder.ctx->store.self, digest, 32, &holder.token[i]), QST_OK);
    }
}

static void waiting(void)
{
    char               *folder = folder_make();
    void               *state;
    char                target[512];
    const field_report *r;

    assert_int_equal(cl_fixture_open(&state), 0);
    snprintf(target, sizeof target, "%s", ((cl_fixture *)state)->facts.device.target);
    assert_int_equal(cl_fixture_close(&state), 0);
    hold(folder, target);
    r = settings_seen(folder, "abd", FREE); /* served at once */
    assert_int_equal(r->pauses, 0);
    assert_int_equal(winner(r), 'a');
    field_on_pause = give;
    r = settings_seen(folder, "abd", FREE ", \"tune.wait\": true");
    field_on_pause = NULL;
    assert_int_equal(r->pauses, 4);
    assert_int_equal(winner(r), 'd');
    qst_context_destroy(holder.ctx);
    folder_remove(folder);
}

/* ---- And the rest -------------------------------------------------------------------------------------------------- */

static void memory(void)
{
    assert_true(ran(settings_seen(NULL, "abdw", FREE), 'w') > 0);
    assert_int_equal(ran(settings_seen(NULL, "abdw", FREE ", \"tune.memory_mb\": 1"), 'w'), 0);
}

static void statistic(void)
{
    (void)settings_seen(NULL, "abd", FREE);
    assert_true(settings_told("\"statistic\":\"pairs\""));
    (void)settings_seen(NULL, "abd", FREE ", \"tune.statistic\": \"median\"");
    assert_true(settings_told("\"statistic\":\"median\""));
}

/* What was measured in one way is no answer in the other. */
static void cache(void)
{
    char *folder = folder_make();

    assert_int_equal(settings_seen(folder, "abd", FREE)->counters.tuned, 2);
    assert_int_equal(settings_seen(folder, "abd", FREE ", \"tune.cache\": \"cold\"")->counters.tuned, 2);
    assert_int_equal(settings_seen(folder, "abd", FREE ", \"tune.cache\": \"cold\"")->counters.tuned, 0);
    folder_remove(folder);
}

static void recheck(void)
{
    char *folder = folder_make();

    assert_int_equal(settings_seen(folder, "abcd", FREE)->counters.tuned, 2);
    const field_report *r = settings_seen(folder, "abcd", FREE ", \"tune.recheck\": \"always\"");
    assert_int_equal(r->counters.tuned, 2);
    assert_int_equal(ran(r, 'c'), 0);
    folder_remove(folder);
}

static void force(void)
{
    char *folder = folder_make();

    assert_int_equal(settings_seen(folder, "abcd", FREE)->counters.tuned, 2);
    const field_report *r = settings_seen(folder, "abcd", FREE ", \"tune.force\": true");
    assert_int_equal(r->counters.tuned, 2);
    assert_true(ran(r, 'c') > 0);
    folder_remove(folder);
}

/* Candidates of the program's own are in no plugin, so that they cannot be tried in another process: none of them is. */
static void isolate(void)
{
    const field_report *r = settings_seen(NULL, "abd", FREE ", \"tune.isolate\": \"all\"");
    assert_int_equal(winner(r), 'a');
    assert_int_equal(ran(r, 'b') + ran(r, 'd'), 0);
    assert_true(settings_told("cannotbetriedelsewhere"));
}

static void has_child(qst_context *ctx, void *user)
{
    (void)ctx;
    *(bool *)user = waitpid(-1, NULL, WNOHANG) == 0;
}

/* In the background another process compiles first, for as long as the context lives. */
static void ahead(void)
{
    static field_report r;
    field_job           job = {.plain = true, .set = "abd", .first = 24, .keys = 2, .settle = true};
    bool                there = false;

    job.config = FREE ", \"tune.mode\": \"background\"";
    field_run_and_look(&job, &r, has_child, &there);
    assert_true(there);
    job.config = FREE ", \"tune.mode\": \"background\", \"tune.ahead\": false";
    field_run_and_look(&job, &r, has_child, &there);
    assert_false(there);
}

static void pin(void)
{
    assert_int_equal(winner(settings_seen(NULL, "abcd", FREE ", \"candidates.pin\": [\"blend.app.b/*\"]")), 'b');
}

static void deny(void)
{
    const field_report *r = settings_seen(NULL, "abcd", FREE ", \"candidates.deny\": [\"blend.app.d/*\", \"*.c/1\"]");
    assert_int_equal(winner(r), 'b');
    assert_int_equal(ran(r, 'c') + ran(r, 'd'), 0);
}

static void priority(void)
{
    const field_report *r = settings_seen(NULL, "abcd", FREE ", \"groups.blend.all.priority\": -1");
    assert_int_equal(winner(r), 'a');
    assert_int_equal(ran(r, 'b') + ran(r, 'c') + ran(r, 'd'), 0);
}

static void each_key(void **state)
{
    static const setting_case cases[] = {
        {"tune.mode", mode},
        {"tune.level", level},
        {"tune.budget_ms", budget},
        {"tune.build_budget_ms", build_budget},
        {"tune.min_samples", min_samples},
        {"tune.max_samples", max_samples},
        {"tune.speed_factor", speed_factor},
        {"tune.prune_factor", prune_factor},
        {"tune.short_circuit", short_circuit},
        {"tune.short_circuit_samples", short_circuit_samples},
        {"tune.verify", verify},
        {"tune.wait", waiting},
        {"tune.ahead", ahead},
        {"tune.memory_mb", memory},
        {"tune.statistic", statistic},
        {"tune.cache", cache},
        {"tune.recheck", recheck},
        {"tune.isolate", isolate},
        {"tune.isolate_ms", NULL}, /* integration.quarantine: a sleeper that takes longer is quarantined */
        {"tune.force", force},
        {"candidates.pin", pin},
        {"candidates.deny", deny},
        {"groups.<op>.<group>.priority", priority},
    };
    (void)state;
    settings_run(cases, sizeof cases / sizeof *cases, "tune candidates groups");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_key)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
