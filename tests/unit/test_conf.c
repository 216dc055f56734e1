/* SPDX-License-Identifier: MIT
 *
 * test_conf.c: every key, which source wins, and how each source says a value. Home, project and working
 * directory are private ones. */
#define _XOPEN_SOURCE 700
#include "support/conf_fixture.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Values ----------------------------------------------------------------------------------------------------- */

static void defaults(void **state)
{
    const qst__settings *s = conf_loaded(*state, NULL);
    assert_null(s->device_platform);
    assert_null(s->device_name);
    assert_int_equal(s->device_index, -1);
    assert_int_equal(s->plugin_dirs.count + s->plugin_load.count + s->plugin_required.count, 0);
    assert_int_equal(s->mode, QST__MODE_TUNE);
    assert_int_equal(s->level, QST__LEVEL_BALANCED);
    assert_int_equal(s->budget_ms, 1000);
    assert_int_equal(s->build_budget_ms, 0);
    assert_int_equal(s->min_samples, 3);
    assert_int_equal(s->max_samples, 10);
    assert_true(s->speed_factor == 1.5);
    assert_true(s->short_circuit);
    assert_int_equal(s->short_circuit_samples, 2);
    assert_true(s->verify);
    assert_false(s->wait);
    assert_int_equal(s->memory_mb, 2048);
    assert_int_equal(s->pin.count + s->deny.count, 0);
    assert_null(s->log);
    assert_int_equal(s->n_pairs, 0);
}

static void defaults_of_what_is_kept(void **state)
{
    const qst__settings *s = conf_loaded(*state, NULL);
    assert_int_equal(s->statistic, QST__STATISTIC_PAIRS);
    assert_int_equal(s->cache, QST__CACHE_WARM);
    assert_int_equal(s->recheck, QST__RECHECK_DRIVER);
    assert_false(s->force);
    assert_int_equal(s->backend, QST__BACKEND_LMDB);
    assert_int_equal(s->place, QST__PLACE_CACHE);
    assert_null(s->store_path);
    assert_string_equal(s->environment, "default");
    assert_int_equal(s->map_mb, 1024);
    assert_false(s->readonly);
    assert_true(s->verdict_cache);
    assert_true(s->throughput_cache);
    assert_true(s->program_cache);
    assert_int_equal(s->programs_max_mb, 256);
    assert_false(s->decisions_stdout);
    assert_false(s->decisions_stderr);
    assert_null(s->decisions_file);
    assert_int_equal(s->history_level, QST__HISTORY_BASIC);
    assert_int_equal(s->history_keep, 100);
}

static void all_keys(void **state)
{
    const qst__settings *s =
        conf_loaded(*state, "{\"device\": {\"platform\": \"pocl\", \"name\": \"cpu\", \"index\": 1},"
                            " \"plugins\": {\"dirs\": [\"/a\", \"/b\"], \"load\": \"x*\","
                            "  \"required\": [\"y\"]},"
                            " \"plugin\": {\"clblast\": {\"library\": \"/l.so\", \"n\": 3, \"x\": 0.1,"
                            "  \"on\": true}},"
                            " \"tune\": {\"mode\": \"frozen\", \"level\": \"full\", \"budget_ms\": 0,"
                            "  \"build_budget_ms\": 86400000, \"min_samples\": 1, \"max_samples\": 1,"
                            "  \"speed_factor\": 2, \"short_circuit\": false,"
                            "  \"short_circuit_samples\": 5, \"verify\": false, \"wait\": true,"
                            "  \"memory_mb\": 1},"
                            " \"candidates\": {\"pin\": \"a*\", \"deny\": [\"b\", \"c.*\"]},"
                            " \"groups\": {\"matmul\": {\"unit\": {\"priority\": -128}},"
                            "  \"probe.compute\": {\"g\": {\"priority\": 127}},"
                            "  \"probe\": {\"memory\": {\"g\": {\"priority\": 0}}}},"
                            " \"log\": \"warn,tune\"}");
    assert_string_equal(s->device_platform, "pocl");
    assert_string_equal(s->device_name, "cpu");
    assert_int_equal(s->device_index, 1);
    conf_assert_strings(&s->plugin_dirs, "/a|/b");
    conf_assert_strings(&s->plugin_load, "x*");
    conf_assert_strings(&s->plugin_required, "y");
    assert_int_equal(s->mode, QST__MODE_FROZEN);
    assert_int_equal(s->level, QST__LEVEL_FULL);
    assert_int_equal(s->budget_ms, 0);
    assert_int_equal(s->build_budget_ms, 86400000);
    assert_int_equal(s->min_samples, 1);
    assert_int_equal(s->max_samples, 1);
    assert_true(s->speed_factor == 2.0);
    assert_false(s->short_circuit);
    assert_int_equal(s->short_circuit_samples, 5);
    assert_false(s->verify);
    assert_true(s->wait);
    assert_int_equal(s->memory_mb, 1);
    conf_assert_strings(&s->pin, "a*");
    conf_assert_strings(&s->deny, "b|c.*");
    assert_string_equal(s->log, "warn,tune");
    assert_int_equal(s->n_pairs, 7);
    assert_string_equal(qst__settings_pair(s, "plugin.clblast.library"), "/l.so");
    assert_string_equal(qst__settings_pair(s, "plugin.clblast.n"), "3");
    assert_string_equal(qst__settings_pair(s, "plugin.clblast.x"), "0.1");
    assert_string_equal(qst__settings_pair(s, "plugin.clblast.on"), "true");
    assert_string_equal(qst__settings_pair(s, "groups.matmul.unit.priority"), "-128");
    assert_string_equal(qst__settings_pair(s, "groups.probe.compute.g.priority"), "127");
    assert_string_equal(qst__settings_pair(s, "groups.probe.memory.g.priority"), "0");
    assert_null(qst__settings_pair(s, "plugin.clblast.none"));
}

static void all_keys_of_what_is_kept(void **state)
{
    const qst__settings *s =
        conf_loaded(*state, "{\"store\": {\"backend\": \"memory\", \"path\": \"/s\", \"place\": \"local\","
                            "  \"environment\": \"My-env_2.b\", \"map_mb\": 1048576, \"readonly\": true},"
                            " \"verdicts\": {\"cache\": false}, \"throughput\": {\"cache\": false},"
                            " \"programs\": {\"cache\": false, \"max_mb\": 0},"
                            " \"decisions\": {\"stdout\": true, \"stderr\": true, \"file\": \"/d.jsonl\"},"
                            " \"history\": {\"level\": \"full\", \"keep\": 0}, \"tune\": {\"force\": true}}");
    assert_int_equal(s->backend, QST__BACKEND_MEMORY);
    assert_string_equal(s->store_path, "/s");
    assert_int_equal(s->place, QST__PLACE_LOCAL);
    assert_string_equal(s->environment, "My-env_2.b");
    assert_int_equal(s->map_mb, 1048576);
    assert_true(s->readonly);
    assert_false(s->verdict_cache);
    assert_false(s->throughput_cache);
    assert_false(s->program_cache);
    assert_int_equal(s->programs_max_mb, 0);
    assert_true(s->decisions_stdout);
    assert_true(s->decisions_stderr);
    assert_string_equal(s->decisions_file, "/d.jsonl");
    assert_int_equal(s->history_level, QST__HISTORY_FULL);
    assert_int_equal(s->history_keep, 0);
    assert_true(s->force);
}

/* The words of a key, in the order of their numbers. */
static void words(void **state)
{
    static const struct {
        const char *path;
        size_t      member;
        const char *words[5];
    } keys[] = {
        {"store.backend", offsetof(qst__settings, backend), {"lmdb", "memory", "off"}},
        {"store.place", offsetof(qst__settings, place), {"cache", "local", "project"}},
        {"tune.statistic", offsetof(qst__settings, statistic), {"pairs", "median"}},
        {"tune.cache", offsetof(qst__settings, cache), {"warm", "cold"}},
        {"tune.recheck", offsetof(qst__settings, recheck), {"never", "driver", "always"}},
        {"history.level", offsetof(qst__settings, history_level), {"off", "basic", "full"}},
    };
    char text[64];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (int32_t j = 0; keys[i].words[j]; j++) {
            (void)snprintf(text, sizeof text, "{\"%s\": \"%s\"}", keys[i].path, keys[i].words[j]);
            const char *s = (const char *)conf_loaded(*state, text);
            assert_int_equal(*(const int32_t *)(const void *)(s + keys[i].member), j);
        }
}

static void words_and_grades(void **state)
{
    static const char *const modes[] = {"tune", "fallback", "background", "frozen"};
    static const char *const levels[] = {"minimal", "balanced", "extensive", "full"};
    conf_fixture            *f = *state;
    char                     text[64];
    for (int i = 0; i < 4; i++) {
        (void)snprintf(text, sizeof text, "{\"tune.mode\": \"%s\", \"tune\": {\"level\": %d}}", modes[i], i);
        const qst__settings *s = conf_loaded(f, text);
        assert_int_equal(s->mode, i);
        assert_int_equal(s->level, i);
        (void)snprintf(text, sizeof text, "%d", i);
        conf_setenv("QST_AUTOTUNE_LEVEL", text);
        conf_setenv("QST_MODE", modes[i]);
        assert_int_equal(conf_loaded(f, NULL)->level, i);
        assert_int_equal(conf_loaded(f, NULL)->mode, i);
        conf_setenv("QST_AUTOTUNE_LEVEL", levels[i]);
        assert_int_equal(conf_loaded(f, NULL)->level, i);
    }
}

/* Defaults and plugins' numbers must not depend on how the program's locale writes 1.5. Where no such locale is
 * installed this is the same as defaults(). */
static void a_locale_with_commas(void **state)
{
    conf_fixture *f = *state;
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    const qst__settings *s = conf_loaded(f, "{\"plugin\": {\"a\": {\"x\": 0.25}}}");
    assert_true(s->speed_factor == 1.5);
    assert_string_equal(qst__settings_pair(s, "plugin.a.x"), "0.25");
    (void)setlocale(LC_ALL, "C");
}

/* ---- Sources ---------------------------------------------------------------------------------------------------- */

static void the_higher_source_wins(void **state)
{
    conf_fixture *f = *state;
    conf_put(f, "home/.config/quernstone/config.json",
             "{\"tune\": {\"level\": 0, \"budget_ms\": 1, \"min_samples\": 2,"
             "  \"mode\": \"frozen\"}, \"device\": {\"index\": 7}, \"plugin\":"
             " {\"a\": {\"b\": \"user\", \"c\": \"user\"}}}");
    assert_int_equal(conf_loaded(f, NULL)->level, 0);
    conf_put(f, "project/quernstone.json", "{\"tune\": {\"level\": 2, \"budget_ms\": 2, \"max_samples\": 4}}");
    assert_int_equal(conf_loaded(f, NULL)->level, 2);
    conf_put(f, "named.json", "{\"tune\": {\"level\": 3, \"budget_ms\": 3}, \"plugin\": {\"a\": {\"b\": \"file\"}}}");
    conf_setenv("QST_CONFIG", "../../named.json");
    assert_int_equal(conf_loaded(f, NULL)->level, 3);
    conf_setenv("QST_AUTOTUNE_LEVEL", "extensive");
    assert_int_equal(conf_loaded(f, NULL)->level, 2);

    const qst__settings *s = conf_loaded(f, "{\"tune\": {\"level\": \"minimal\"}}");
    assert_int_equal(s->level, 0);
    assert_int_equal(s->budget_ms, 3);
    assert_int_equal(s->max_samples, 4);
    assert_int_equal(s->min_samples, 2);
    assert_int_equal(s->mode, QST__MODE_FROZEN);
    assert_int_equal(s->device_index, 7);
    assert_int_equal(s->n_pairs, 2);
    assert_string_equal(qst__settings_pair(s, "plugin.a.b"), "file");
    assert_string_equal(qst__settings_pair(s, "plugin.a.c"), "user");
}

static void sources_switched_off(void **state)
{
    conf_fixture     *f = *state;
    qst__conf_sources sources = {.api = NULL};
    conf_put(f, "home/.config/quernstone/config.json", "{\"device\": {\"index\": 1}}");
    conf_put(f, "project/quernstone.json", "{\"tune\": {\"level\": 2}}");
    conf_put(f, "named.json", "{\"tune\": {\"budget_ms\": 3}}");
    conf_setenv("QST_CONFIG", conf_at(f, "named.json"));
    conf_setenv("QST_MODE", "frozen");
    for (int i = 0; i < 4; i++) {
        sources.files = i & 1;
        sources.env = i & 2;
        qst__conf_destroy(f->conf);
        assert_int_equal(qst__conf_create(&f->conf, &f->alloc, &sources, &f->err), QST_OK);
        const qst__settings *s = qst__conf_settings(f->conf);
        assert_int_equal(s->device_index, i == 3 ? 1 : -1); /* where the home is a variable tells */
        assert_int_equal(s->level, i & 1 ? 2 : 1);
        assert_int_equal(s->budget_ms, i == 3 ? 3 : 1000);
        assert_int_equal(s->mode, i & 2 ? QST__MODE_FROZEN : QST__MODE_TUNE);
    }
}

static void where_the_users_file_is(void **state)
{
    conf_fixture *f = *state;
    assert_int_equal(mkdir(conf_at(f, "xdg"), 0755), 0);
    assert_int_equal(mkdir(conf_at(f, "xdg/quernstone"), 0755), 0);
    conf_put(f, "xdg/quernstone/config.json", "{\"device\": {\"index\": 1}}");
    conf_put(f, "home/.config/quernstone/config.json", "{\"device\": {\"index\": 2}}");
    assert_int_equal(conf_loaded(f, NULL)->device_index, 2);
    conf_setenv("XDG_CONFIG_HOME", conf_at(f, "xdg"));
    assert_int_equal(conf_loaded(f, NULL)->device_index, 1);
    conf_setenv("XDG_CONFIG_HOME", "../../xdg"); /* relative: counts as not set */
    assert_int_equal(conf_loaded(f, NULL)->device_index, 2);
    assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
    conf_setenv("HOME", "../../home");
    assert_int_equal(conf_loaded(f, NULL)->device_index, -1);
    assert_int_equal(unsetenv("HOME"), 0);
    assert_int_equal(conf_loaded(f, NULL)->device_index, -1);
}

static void the_nearest_project_file(void **state)
{
    conf_fixture     *f = *state;
    qst__conf_sources sources = {.files = true};
    conf_put(f, "quernstone.json", "{\"tune\": {\"budget_ms\": 11, \"level\": 3}}");
    assert_int_equal(conf_loaded(f, NULL)->budget_ms, 11);
    conf_put(f, "project/quernstone.json", "{\"tune\": {\"budget_ms\": 12}}");
    assert_int_equal(conf_loaded(f, NULL)->budget_ms, 12);
    assert_int_equal(conf_loaded(f, NULL)->level, 1); /* one file, not a sum */
    conf_put(f, "project/sub/quernstone.json", "{\"tune\": {\"budget_ms\": 13}}");
    assert_int_equal(conf_loaded(f, NULL)->budget_ms, 13);

    static const struct {
        const char *directory;
        int64_t     budget;
    } starts[] = {{"..", 12}, {"//", 1000}, {"/", 1000}, {"./", 13}};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        sources.directory = starts[i].directory;
        qst__conf_destroy(f->conf);
        assert_int_equal(qst__conf_create(&f->conf, &f->alloc, &sources, &f->err), QST_OK);
        assert_int_equal(qst__conf_settings(f->conf)->budget_ms, starts[i].budget);
    }
}

static void no_working_directory(void **state)
{
    conf_fixture *f = *state;
    conf_put(f, "project/quernstone.json", "{\"tune\": {\"budget_ms\": 12}}");
    assert_int_equal(rmdir(conf_at(f, "project/sub")), 0);
    assert_int_equal(conf_loaded(f, NULL)->budget_ms, 1000);
    conf_assert_fails(f, "{\"plugins\": {\"dirs\": \"x\"}}", "API",
                      ": plugins.dirs: 'x' is relative and the working directory is unknown");
    conf_setenv("QST_CONFIG", "named.json");
    conf_assert_fails(f, NULL, "QST_CONFIG", ": 'named.json' is relative and the working directory is unknown");
}

static void relative_directories(void **state)
{
    conf_fixture *f = *state;
    char          joined[2000];
    conf_put(f, "home/.config/quernstone/config.json", "{\"plugins\": {\"dirs\": [\"plugins\", \"/abs\"]}}");
    (void)snprintf(joined, sizeof joined, "%s/home/.config/quernstone/plugins|/abs", f->root);
    conf_assert_strings(&conf_loaded(f, NULL)->plugin_dirs, joined);

    conf_setenv("QST_PLUGIN_PATH", "one::/two: "); /* in front; empty parts are nothing */
    (void)snprintf(joined, sizeof joined, "%s/project/sub/one|/two|%s/home/.config/quernstone/plugins|/abs", f->root,
                   f->root);
    conf_assert_strings(&conf_loaded(f, NULL)->plugin_dirs, joined);

    (void)snprintf(joined, sizeof joined, "%s/project/sub/../three", f->root);
    conf_assert_strings(&conf_loaded(f, "{\"plugins\": {\"dirs\": \"../three\"}}")->plugin_dirs, joined);
    conf_assert_strings(&conf_loaded(f, "{\"plugins\": {\"dirs\": []}}")->plugin_dirs, "");

    conf_put(f, "named.json", "{\"plugins\": {\"dirs\": \"four\"}}");
    conf_setenv("QST_CONFIG", "../../named.json");
    assert_int_equal(unsetenv("QST_PLUGIN_PATH"), 0);
    (void)snprintf(joined, sizeof joined, "%s/project/sub/../../four", f->root);
    conf_assert_strings(&conf_loaded(f, NULL)->plugin_dirs, joined);
}

/* A single path is like a directory of plugins: relative to where it is said. */
static void relative_paths(void **state)
{
    conf_fixture *f = *state;
    conf_put(f, "home/.config/quernstone/config.json",
             "{\"store\": {\"path\": \"kept\"}, \"decisions\": {\"file\": \"d.jsonl\"}}");
    assert_string_equal(conf_loaded(f, NULL)->store_path, conf_at(f, "home/.config/quernstone/kept"));
    assert_string_equal(conf_loaded(f, NULL)->decisions_file, conf_at(f, "home/.config/quernstone/d.jsonl"));
    conf_put(f, "named.json", "{\"store\": {\"path\": \"other\"}}");
    conf_setenv("QST_CONFIG", conf_at(f, "named.json"));
    assert_string_equal(conf_loaded(f, NULL)->store_path, conf_at(f, "other"));
    assert_string_equal(conf_loaded(f, "{\"store\": {\"path\": \"x/y\"}}")->store_path, conf_at(f, "project/sub/x/y"));
    assert_null(conf_loaded(f, "{\"store\": {\"path\": \"\"}}")->store_path); /* takes back a lower source's */
}

static void variables_of_the_store(void **state)
{
    static const struct {
        const char *word;
        bool        truth;
    } truths[] = {{"1", true}, {"true", true}, {"on", true}, {"0", false}, {"false", false}, {"off", false}};
    conf_fixture *f = *state;
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        conf_setenv("QST_AUTOTUNE_CACHE", truths[i].word);
        conf_setenv("QST_THROUGHPUT_CACHE", truths[sizeof truths / sizeof *truths - 1 - i].word);
        assert_int_equal(conf_loaded(f, NULL)->verdict_cache, truths[i].truth);
        assert_int_equal(conf_loaded(f, NULL)->throughput_cache, !truths[i].truth);
        assert_true(conf_loaded(f, NULL)->program_cache);
        assert_int_equal(conf_loaded(f, NULL)->backend, QST__BACKEND_LMDB);
    }
    conf_put(f, "home/.config/quernstone/config.json", "{\"store\": {\"environment\": \"file\"}}");
    assert_string_equal(conf_loaded(f, NULL)->environment, "file");
    conf_setenv("QST_ENVIRONMENT", "nightly");
    assert_string_equal(conf_loaded(f, NULL)->environment, "nightly");
    assert_string_equal(conf_loaded(f, "{\"store\": {\"environment\": \"api\"}}")->environment, "api");
}

static void variables_with_lists(void **state)
{
    conf_fixture *f = *state;
    conf_setenv("QST_PIN", "a*, b ,,c");
    conf_setenv("QST_DENY", "x");
    conf_setenv("QST_LOG", "info");
    const qst__settings *s = conf_loaded(f, NULL);
    conf_assert_strings(&s->pin, "a*|b|c");
    conf_assert_strings(&s->deny, "x");
    assert_string_equal(s->log, "info");
    conf_setenv("QST_LOG", ""); /* empty counts as not set */
    assert_null(conf_loaded(f, NULL)->log);
    conf_assert_strings(&conf_loaded(f, "{\"candidates\": {\"pin\": \"\"}}")->pin,
                        ""); /* takes back a lower source's */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONF_TEST(defaults),
        CONF_TEST(defaults_of_what_is_kept),
        CONF_TEST(all_keys),
        CONF_TEST(all_keys_of_what_is_kept),
        CONF_TEST(words),
        CONF_TEST(words_and_grades),
        CONF_TEST(a_locale_with_commas),
        CONF_TEST(the_higher_source_wins),
        CONF_TEST(sources_switched_off),
        CONF_TEST(where_the_users_file_is),
        CONF_TEST(the_nearest_project_file),
        CONF_TEST(no_working_directory),
        CONF_TEST(relative_directories),
        CONF_TEST(relative_paths),
        CONF_TEST(variables_of_the_store),
        CONF_TEST(variables_with_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
