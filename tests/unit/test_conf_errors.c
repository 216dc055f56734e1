/* SPDX-License-Identifier: MIT
 *
 * test_conf_errors.c: every error line, word for word. */
#define _XOPEN_SOURCE 700
#include "support/conf_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Refusals --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *api, *text;
} bad[] = {
    {"{\"tune\": {\"budgetms\": 5}}", ": tune.budgetms: unknown key (did you mean tune.budget_ms?)"},
    {"{\"tune.budgetms\": 5}", ": tune.budgetms: unknown key (did you mean tune.budget_ms?)"},
    {"{\"tunes\": {\"mode\": 5}}", ": tunes: unknown key (did you mean tune?)"},
    {"{\"budget_ms\": 5}", ": budget_ms: unknown key (did you mean tune.budget_ms?)"},
    {"{\"device\": {\"pin\": \"a\"}}", ": device.pin: unknown key (did you mean candidates.pin?)"},
    {"{\"lob\": \"warn\"}", ": lob: unknown key (did you mean log?)"},
    {"{\"completely\": {\"other\": 1}}", ": completely: unknown key"},
    {"{\"a_key_that_is_so_long_that_it_can_be_no_misspelling_of_ours\": 1}",
     ": a_key_that_is_so_long_that_it_can_be_no_misspelling_of_ours: unknown key"},
    {"{\"tune\": {\"mode\": {\"a\": 1}}}", ": tune.mode: must be a text, not an object"},
    {"{\"tune\": {\"mode\": 1}}", ": tune.mode: must be a text, not an integer"},
    {"{\"tune\": {\"mode\": \"fast\"}}", ": tune.mode: 'fast' is not one of tune, fallback, background, frozen"},
    {"{\"tune\": {\"level\": 4}}", ": tune.level: '4' is not one of minimal, balanced, extensive, full, or 0 … 3"},
    {"{\"tune\": {\"level\": true}}", ": tune.level: must be a text or an integer, not a truth value"},
    {"{\"tune\": {\"speed_factor\": 0.5}}", ": tune.speed_factor: 0.5 is not in 1 … 100"},
    {"{\"tune\": {\"speed_factor\": 101}}", ": tune.speed_factor: 101 is not in 1 … 100"},
    {"{\"tune\": {\"speed_factor\": \"2\"}}", ": tune.speed_factor: must be a number, not a text"},
    {"{\"tune\": {\"budget_ms\": -1}}", ": tune.budget_ms: -1 is not in 0 … 86400000"},
    {"{\"tune\": {\"budget_ms\": 9223372036854775807}}",
     ": tune.budget_ms: 9223372036854775807 is not in 0 … 86400000"},
    {"{\"tune\": {\"budget_ms\": 1.5}}", ": tune.budget_ms: must be an integer, not a real number"},
    {"{\"tune\": {\"budget_ms\": null}}", ": tune.budget_ms: must be an integer, not null"},
    {"{\"tune\": {\"memory_mb\": 0}}", ": tune.memory_mb: 0 is not in 1 … 1048576"},
    {"{\"tune\": {\"min_samples\": 0}}", ": tune.min_samples: 0 is not in 1 … 1000"},
    {"{\"tune\": {\"min_samples\": 11}}", ": tune.min_samples: 11 is more than tune.max_samples, 10"},
    {"{\"tune\": {\"max_samples\": 2}}", ": tune.max_samples: 2 is less than tune.min_samples, 3"},
    {"{\"tune\": {\"verify\": 1}}", ": tune.verify: must be true or false, not an integer"},
    {"{\"tune\": 5}", ": tune: must be an object"},
    {"{\"tune\": {\"verify\": true}, \"tune.verify\": true}",
     ": tune.verify: is set twice, by \"verify\" in \"tune\" and by \"tune.verify\""},
    {"{\"device\": {\"index\": 1024}}", ": device.index: 1024 is not in -1 … 1023"},
    {"{\"device\": {\"name\": [\"a\"]}}", ": device.name: must be a text, not a list"},
    {"{\"candidates\": {\"pin\": 3}}", ": candidates.pin: must be a text or a list of texts, not an integer"},
    {"{\"candidates\": {\"pin\": [\"a\", 3]}}",
     ": candidates.pin: must be a text or a list of texts, not a list of other things"},
    {"{\"candidates\": {\"pin\": [\"a\", \"\"]}}", ": candidates.pin: item 1 is empty"},
    {"{\"groups\": {\"matmul\": {\"unit\": {\"priority\": 128}}}}",
     ": groups.matmul.unit.priority: 128 is not in -128 … 127"},
    {"{\"groups\": {\"matmul\": {\"unit\": {\"priority\": \"1\"}}}}",
     ": groups.matmul.unit.priority: must be an integer, not a text"},
    {"{\"groups\": {\"matmul\": {\"unit\": {\"prio\": 1}}}}",
     ": groups.matmul.unit.prio: unknown key (the form is groups.<op>.<group>.priority, names of [a-z0-9_])"},
    {"{\"groups\": {\"a\": {\"b\": {\"priority\": 1}}, \"a.b\": {\"priority\": 2}}}",
     ": groups.a.b.priority: is set twice, by \"priority\" in \"b\" in \"a\" in \"groups\" and by \"priority\" in "
     "\"a.b\" in \"groups\""},
    {"{\"groups.a\": {\"b\": {\"priority\": 1}}, \"groups\": {\"a.b.priority\": 2}}",
     ": groups.a.b.priority: is set twice, by \"priority\" in \"b\" in \"groups.a\" and by \"a.b.priority\" in "
     "\"groups\""},
    {"{\"groups\": 3}", ": groups: unknown key (the form is groups.<op>.<group>.priority, names of [a-z0-9_])"},
    {"{\"plugin\": {\"CLBlast\": {\"library\": \"x\"}}}",
     ": plugin.CLBlast: unknown key (the form is plugin.<name>.<key>, names of [a-z0-9_])"},
    {"{\"plugin\": {\"clblast\": {\"library\": [\"x\"]}}}",
     ": plugin.clblast.library: must be a text, a number, true or false, not a list"},
    {"{\"log\": \"loud\"}", ": log: 'loud' is no level (off, error, warn, info, debug) and no area (context, conf, "
                            "plug, tune, cl, store, run)"},
    {"{\"log\": true}", ": log: must be a text, not a truth value"},
    {"{\"store\": {\"backend\": \"json\"}}", ": store.backend: 'json' is not one of lmdb, memory, off"},
    {"{\"store\": {\"place\": \"/s\"}}", ": store.place: '/s' is not one of cache, local, project"},
    {"{\"store\": {\"path\": false}}", ": store.path: must be a text, not a truth value"},
    {"{\"store\": {\"paths\": \"/s\"}}", ": store.paths: unknown key (did you mean store.path?)"},
    {"{\"store\": {\"environment\": \"a/b\"}}", ": store.environment: 'a/b' is no name of [A-Za-z0-9._-]"},
    {"{\"store\": {\"environment\": \"..\"}}", ": store.environment: '..' is no name of [A-Za-z0-9._-]"},
    {"{\"store\": {\"environment\": \"\"}}", ": store.environment: '' is no name of [A-Za-z0-9._-]"},
    {"{\"store\": {\"environment\": 3}}", ": store.environment: must be a text, not an integer"},
    {"{\"store\": {\"environment\": \"x123456789x123456789x123456789x123456789x123456789x123456789x1234\"}}",
     ": store.environment: 'x123456789x123456789x123456789x123456789x123456789x123456789…' is longer than 64 bytes"},
    {"{\"store\": {\"map_mb\": 0}}", ": store.map_mb: 0 is not in 1 … 1048576"},
    {"{\"store\": {\"readonly\": \"true\"}}", ": store.readonly: must be true or false, not a text"},
    {"{\"tune\": {\"statistic\": \"min\"}}", ": tune.statistic: 'min' is not one of pairs, median"},
    {"{\"tune\": {\"cache\": true}}", ": tune.cache: must be a text, not a truth value"},
    {"{\"tune\": {\"cache\": \"hot\"}}", ": tune.cache: 'hot' is not one of warm, cold"},
    {"{\"tune\": {\"recheck\": \"\"}}", ": tune.recheck: '' is not one of never, driver, always"},
    {"{\"tune\": {\"force\": 1}}", ": tune.force: must be true or false, not an integer"},
    {"{\"verdict\": {\"cache\": true}}", ": verdict: unknown key (did you mean verdicts?)"},
    {"{\"throughput\": {\"cache\": 0}}", ": throughput.cache: must be true or false, not an integer"},
    {"{\"programs\": {\"cache\": null}}", ": programs.cache: must be true or false, not null"},
    {"{\"programs\": {\"max_mb\": -1}}", ": programs.max_mb: -1 is not in 0 … 1048576"},
    {"{\"decisions\": {\"stdout\": 1}}", ": decisions.stdout: must be true or false, not an integer"},
    {"{\"decisions\": {\"stderr\": \"\"}}", ": decisions.stderr: must be true or false, not a text"},
    {"{\"decisions\": {\"file\": [\"/a\"]}}", ": decisions.file: must be a text, not a list"},
    {"{\"history\": {\"level\": 1}}", ": history.level: must be a text, not an integer"},
    {"{\"history\": {\"level\": \"all\"}}", ": history.level: 'all' is not one of off, basic, full"},
    {"{\"history\": {\"keep\": 1000001}}", ": history.keep: 1000001 is not in 0 … 1000000"},
    {"{\"\": 1}", ": has an empty key"},
    {"{\"tune\": {\"\": 1}}", ": tune: has an empty key"},
    {"{\"plugin\": {\"x\": {\"\": 1}}}", ": plugin.x: has an empty key"},
    {"[]", ": must be an object"},
    {"{\"tune\": {\"wait\": true, \"wait\": false}}", ":1:30: duplicate object key near '\"wait\"'"},
    {"", ":1:0: '[' or '{' expected near end of file"},
    {"{\n\n  \"tune\": {]", ":3:12: string or '}' expected near ']'"},
};

static void error_lines_of_the_api(void **state)
{
    conf_fixture *f = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        conf_assert_fails(f, bad[i].api, "API", bad[i].text);
}

static void error_lines_of_files(void **state)
{
    conf_fixture *f = *state;
    conf_put(f, "home/.config/quernstone/config.json", "{\n  \"tune\": {\"mode\": }\n}\n");
    conf_assert_fails(f, NULL, "./home/.config/quernstone/config.json", ":2:20: unexpected token near '}'");
    conf_put(f, "home/.config/quernstone/config.json", "");
    conf_assert_fails(f, NULL, "./home/.config/quernstone/config.json", ":1:0: '[' or '{' expected near end of file");
    conf_put(f, "home/.config/quernstone/config.json", "{\"tune\": {\"budgetms\": 1}}");
    conf_assert_fails(f, NULL, "./home/.config/quernstone/config.json",
                      ": tune.budgetms: unknown key (did you mean tune.budget_ms?)");
    assert_int_equal(unlink(conf_at(f, "home/.config/quernstone/config.json")), 0);
    assert_int_equal(mkdir(conf_at(f, "home/.config/quernstone/config.json"), 0755), 0);
    conf_assert_fails(f, NULL, "./home/.config/quernstone/config.json", ": is not a regular file");
    assert_int_equal(rmdir(conf_at(f, "home/.config/quernstone/config.json")), 0);

    conf_setenv("QST_CONFIG", conf_at(f, "none.json"));
    conf_assert_fails(f, NULL, "./none.json", ": cannot be opened: No such file or directory");
    conf_setenv("QST_CONFIG", conf_at(f, "home"));
    conf_assert_fails(f, NULL, "./home", ": is not a regular file");
    assert_int_equal(mkfifo(conf_at(f, "pipe"), 0600), 0);
    conf_setenv("QST_CONFIG", conf_at(f, "pipe")); /* nobody writes: opening must not wait */
    conf_assert_fails(f, NULL, "./pipe", ": is not a regular file");

    char *big = malloc((1u << 20) + 2);
    assert_non_null(big);
    memset(big, ' ', 1u << 20);
    memcpy(big, "{}", 2);
    big[1u << 20] = '\0';
    conf_put(f, "big.json", big);
    conf_setenv("QST_CONFIG", conf_at(f, "big.json"));
    (void)conf_loaded(f, NULL);
    memcpy(big + (1u << 20), "\n", 2);
    conf_put(f, "big.json", big);
    free(big);
    conf_assert_fails(f, NULL, "./big.json", ": is longer than 1048576 bytes");
}

static void error_lines_of_variables(void **state)
{
    conf_fixture *f = *state;
    conf_setenv("QST_MODE", "fast");
    conf_assert_fails(f, NULL, "QST_MODE", ": tune.mode: 'fast' is not one of tune, fallback, background, frozen");
    assert_int_equal(unsetenv("QST_MODE"), 0);
    conf_setenv("QST_AUTOTUNE_LEVEL", "9");
    conf_assert_fails(f, NULL, "QST_AUTOTUNE_LEVEL",
                      ": tune.level: '9' is not one of minimal, balanced, extensive, full, or 0 … 3");
    assert_int_equal(unsetenv("QST_AUTOTUNE_LEVEL"), 0);
    conf_setenv("QST_LOG", "warn,tunes");
    conf_assert_fails(f, NULL, "QST_LOG",
                      ": log: 'tunes' is no level (off, error, warn, info, debug) and no area (context, "
                      "conf, plug, tune, cl, store, run)");
    assert_int_equal(unsetenv("QST_LOG"), 0);
    conf_setenv("QST_AUTOTUNE_CACHE", "yes");
    conf_assert_fails(f, NULL, "QST_AUTOTUNE_CACHE",
                      ": verdicts.cache: 'yes' is not one of true, 1, on, false, 0, off");
    assert_int_equal(unsetenv("QST_AUTOTUNE_CACHE"), 0);
    conf_setenv("QST_THROUGHPUT_CACHE", "True");
    conf_assert_fails(f, NULL, "QST_THROUGHPUT_CACHE",
                      ": throughput.cache: 'True' is not one of true, 1, on, false, 0, off");
    assert_int_equal(unsetenv("QST_THROUGHPUT_CACHE"), 0);
    conf_setenv("QST_ENVIRONMENT", "../other");
    conf_assert_fails(f, NULL, "QST_ENVIRONMENT", ": store.environment: '../other' is no name of [A-Za-z0-9._-]");
}

/* A line has 464 bytes: a long path must not push the cause out. */
static void a_long_path(void **state)
{
    conf_fixture *f = *state;
    char          name[256] = "";
    memset(name, 'x', 240);
    assert_int_equal(mkdir(conf_at(f, name), 0755), 0);
    (void)snprintf(name + 240, sizeof name - 240, "/c.json");
    conf_put(f, name, "{\"tune\": {\"wait\": 0}}");
    conf_setenv("QST_CONFIG", conf_at(f, name));
    assert_int_equal(conf_load(f, NULL), QST_E_CONFIG);
    char line[464] = "…";
    memset(line + 3, 'x', 193);
    strcpy(line + 196, "/c.json: tune.wait: must be true or false, not an integer");
    assert_string_equal(f->err.text, line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONF_TEST(error_lines_of_the_api),
        CONF_TEST(error_lines_of_files),
        CONF_TEST(error_lines_of_variables),
        CONF_TEST(a_long_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
