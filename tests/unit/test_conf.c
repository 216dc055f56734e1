/* SPDX-License-Identifier: MIT
 *
 * test_conf.c: which source wins, what each may say, and every error line word for word. Home, project and working
 * directory are private ones. */
#define _XOPEN_SOURCE 700
#include "conf/conf.h"
#include "conf/json.h"
#include "conf/schema.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- A place of one's own --------------------------------------------------------------------------------------- */

typedef struct fixture {
    long       live, calls, fail_at; /* allocations */
    char       before[4096];         /* the working directory that the test came from */
    char       root[256];            /* with home/, project/sub/ */
    qst__alloc alloc;
    qst__conf *conf;
    qst_error  err;
} fixture;

static const char *const VARIABLES[] = {
    "HOME",     "XDG_CONFIG_HOME",    "QST_CONFIG", "QST_LOG",  "QST_PLUGIN_PATH",
    "QST_MODE", "QST_AUTOTUNE_LEVEL", "QST_PIN",    "QST_DENY",
};

static void *count_resize(void *user, void *memory, size_t bytes)
{
    fixture *f = user;
    if (bytes == 0) {
        f->live -= memory != NULL;
        free(memory);
        return NULL;
    }
    if (f->fail_at && ++f->calls >= f->fail_at)
        return NULL;
    void *got = realloc(memory, bytes);
    f->live += got && !memory;
    return got;
}

/* `name` below the root; two may be in use at a time. */
static const char *at(const fixture *f, const char *name)
{
    static char paths[2][600];
    static int  turn;
    char       *path = paths[turn ^= 1];
    (void)snprintf(path, sizeof paths[0], "%s/%s", f->root, name);
    return path;
}

static void put(const fixture *f, const char *name, const char *text)
{
    FILE *file = fopen(at(f, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    static const char *const folders[] = {"home", "home/.config", "home/.config/quernstone", "project", "project/sub"};
    fixture                 *f = calloc(1, sizeof *f);
    const char              *base = getenv("TMPDIR");
    assert_non_null(f);
    f->alloc = (qst__alloc){count_resize, f};
    assert_non_null(getcwd(f->before, sizeof f->before));
    char *real = realpath(base && *base ? base : P_tmpdir, NULL);
    (void)snprintf(f->root, sizeof f->root, "%.200s/qst-conf-XXXXXX", real ? real : "");
    free(real);
    assert_non_null(mkdtemp(f->root));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(at(f, folders[i]), 0755), 0);
    for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++)
        assert_int_equal(unsetenv(VARIABLES[i]), 0);
    assert_int_equal(setenv("HOME", at(f, "home"), 1), 0);
    assert_int_equal(chdir(at(f, "project/sub")), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    char     command[300];
    qst__conf_destroy(f->conf);
    assert_int_equal(f->live, 0);
    assert_int_equal(chdir(f->before), 0);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", f->root);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

/* Reads everything, in the working directory. */
static qst_status load(fixture *f, const char *api)
{
    const qst__conf_sources sources = {.files = true, .env = true, .api = api};
    qst__conf_destroy(f->conf);
    qst__error_clear(&f->err);
    return qst__conf_create(&f->conf, &f->alloc, &sources, &f->err);
}

static const qst__settings *loaded(fixture *f, const char *api)
{
    qst_status status = load(f, api);
    if (status != QST_OK)
        fail_msg("%s", f->err.text);
    return qst__conf_settings(f->conf);
}

/* The error's line is `text` behind the place, which is a file below the root where it begins with a dot. */
static void assert_fails(fixture *f, const char *api, const char *place, const char *text)
{
    char line[800];
    (void)snprintf(line, sizeof line, "%s%s", place[0] == '.' ? at(f, place + 2) : place, text);
    assert_int_equal(load(f, api), QST_E_CONFIG);
    assert_null(f->conf);
    assert_int_equal(f->err.status, QST_E_CONFIG);
    assert_string_equal(f->err.source, "conf");
    assert_string_equal(f->err.text, line);
}

static void assert_strings(const qst__strings *strings, const char *joined)
{
    char text[2000] = "";
    for (uint32_t i = 0; i < strings->count; i++) {
        strcat(text, i ? "|" : "");
        strcat(text, strings->data[i]);
    }
    assert_string_equal(text, joined);
}

/* ---- Values ----------------------------------------------------------------------------------------------------- */

static void defaults(void **state)
{
    const qst__settings *s = loaded(*state, NULL);
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

static void all_keys(void **state)
{
    const qst__settings *s = loaded(*state, "{\"device\": {\"platform\": \"pocl\", \"name\": \"cpu\", \"index\": 1},"
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
    assert_strings(&s->plugin_dirs, "/a|/b");
    assert_strings(&s->plugin_load, "x*");
    assert_strings(&s->plugin_required, "y");
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
    assert_strings(&s->pin, "a*");
    assert_strings(&s->deny, "b|c.*");
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

static void words_and_grades(void **state)
{
    static const char *const modes[] = {"tune", "fallback", "background", "frozen"};
    static const char *const levels[] = {"minimal", "balanced", "extensive", "full"};
    fixture                 *f = *state;
    char                     text[64];
    for (int i = 0; i < 4; i++) {
        (void)snprintf(text, sizeof text, "{\"tune.mode\": \"%s\", \"tune\": {\"level\": %d}}", modes[i], i);
        const qst__settings *s = loaded(f, text);
        assert_int_equal(s->mode, i);
        assert_int_equal(s->level, i);
        (void)snprintf(text, sizeof text, "%d", i);
        assert_int_equal(setenv("QST_AUTOTUNE_LEVEL", text, 1), 0);
        assert_int_equal(setenv("QST_MODE", modes[i], 1), 0);
        assert_int_equal(loaded(f, NULL)->level, i);
        assert_int_equal(loaded(f, NULL)->mode, i);
        assert_int_equal(setenv("QST_AUTOTUNE_LEVEL", levels[i], 1), 0);
        assert_int_equal(loaded(f, NULL)->level, i);
    }
}

/* Defaults and plugins' numbers must not depend on how the program's locale writes 1.5. Where no such locale is
 * installed this is the same as defaults(). */
static void a_locale_with_commas(void **state)
{
    fixture *f = *state;
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    const qst__settings *s = loaded(f, "{\"plugin\": {\"a\": {\"x\": 0.25}}}");
    assert_true(s->speed_factor == 1.5);
    assert_string_equal(qst__settings_pair(s, "plugin.a.x"), "0.25");
    (void)setlocale(LC_ALL, "C");
}

/* ---- Sources ---------------------------------------------------------------------------------------------------- */

static void the_higher_source_wins(void **state)
{
    fixture *f = *state;
    put(f, "home/.config/quernstone/config.json",
        "{\"tune\": {\"level\": 0, \"budget_ms\": 1, \"min_samples\": 2,"
        "  \"mode\": \"frozen\"}, \"device\": {\"index\": 7}, \"plugin\":"
        " {\"a\": {\"b\": \"user\", \"c\": \"user\"}}}");
    assert_int_equal(loaded(f, NULL)->level, 0);
    put(f, "project/quernstone.json", "{\"tune\": {\"level\": 2, \"budget_ms\": 2, \"max_samples\": 4}}");
    assert_int_equal(loaded(f, NULL)->level, 2);
    put(f, "named.json", "{\"tune\": {\"level\": 3, \"budget_ms\": 3}, \"plugin\": {\"a\": {\"b\": \"file\"}}}");
    assert_int_equal(setenv("QST_CONFIG", "../../named.json", 1), 0);
    assert_int_equal(loaded(f, NULL)->level, 3);
    assert_int_equal(setenv("QST_AUTOTUNE_LEVEL", "extensive", 1), 0);
    assert_int_equal(loaded(f, NULL)->level, 2);

    const qst__settings *s = loaded(f, "{\"tune\": {\"level\": \"minimal\"}}");
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
    fixture          *f = *state;
    qst__conf_sources sources = {.api = NULL};
    put(f, "home/.config/quernstone/config.json", "{\"device\": {\"index\": 1}}");
    put(f, "project/quernstone.json", "{\"tune\": {\"level\": 2}}");
    put(f, "named.json", "{\"tune\": {\"budget_ms\": 3}}");
    assert_int_equal(setenv("QST_CONFIG", at(f, "named.json"), 1), 0);
    assert_int_equal(setenv("QST_MODE", "frozen", 1), 0);
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
    fixture *f = *state;
    assert_int_equal(mkdir(at(f, "xdg"), 0755), 0);
    assert_int_equal(mkdir(at(f, "xdg/quernstone"), 0755), 0);
    put(f, "xdg/quernstone/config.json", "{\"device\": {\"index\": 1}}");
    put(f, "home/.config/quernstone/config.json", "{\"device\": {\"index\": 2}}");
    assert_int_equal(loaded(f, NULL)->device_index, 2);
    assert_int_equal(setenv("XDG_CONFIG_HOME", at(f, "xdg"), 1), 0);
    assert_int_equal(loaded(f, NULL)->device_index, 1);
    assert_int_equal(setenv("XDG_CONFIG_HOME", "../../xdg", 1), 0); /* relative: counts as not set */
    assert_int_equal(loaded(f, NULL)->device_index, 2);
    assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
    assert_int_equal(setenv("HOME", "../../home", 1), 0);
    assert_int_equal(loaded(f, NULL)->device_index, -1);
    assert_int_equal(unsetenv("HOME"), 0);
    assert_int_equal(loaded(f, NULL)->device_index, -1);
}

static void the_nearest_project_file(void **state)
{
    fixture          *f = *state;
    qst__conf_sources sources = {.files = true};
    put(f, "quernstone.json", "{\"tune\": {\"budget_ms\": 11, \"level\": 3}}");
    assert_int_equal(loaded(f, NULL)->budget_ms, 11);
    put(f, "project/quernstone.json", "{\"tune\": {\"budget_ms\": 12}}");
    assert_int_equal(loaded(f, NULL)->budget_ms, 12);
    assert_int_equal(loaded(f, NULL)->level, 1); /* one file, not a sum */
    put(f, "project/sub/quernstone.json", "{\"tune\": {\"budget_ms\": 13}}");
    assert_int_equal(loaded(f, NULL)->budget_ms, 13);

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
    fixture *f = *state;
    put(f, "project/quernstone.json", "{\"tune\": {\"budget_ms\": 12}}");
    assert_int_equal(rmdir(at(f, "project/sub")), 0);
    assert_int_equal(loaded(f, NULL)->budget_ms, 1000);
    assert_fails(f, "{\"plugins\": {\"dirs\": \"x\"}}", "API",
                 ": plugins.dirs: 'x' is relative and the working directory is unknown");
    assert_int_equal(setenv("QST_CONFIG", "named.json", 1), 0);
    assert_fails(f, NULL, "QST_CONFIG", ": 'named.json' is relative and the working directory is unknown");
}

static void relative_directories(void **state)
{
    fixture *f = *state;
    char     joined[2000];
    put(f, "home/.config/quernstone/config.json", "{\"plugins\": {\"dirs\": [\"plugins\", \"/abs\"]}}");
    (void)snprintf(joined, sizeof joined, "%s/home/.config/quernstone/plugins|/abs", f->root);
    assert_strings(&loaded(f, NULL)->plugin_dirs, joined);

    assert_int_equal(setenv("QST_PLUGIN_PATH", "one::/two: ", 1), 0); /* in front; empty parts are nothing */
    (void)snprintf(joined, sizeof joined, "%s/project/sub/one|/two|%s/home/.config/quernstone/plugins|/abs", f->root,
                   f->root);
    assert_strings(&loaded(f, NULL)->plugin_dirs, joined);

    (void)snprintf(joined, sizeof joined, "%s/project/sub/../three", f->root);
    assert_strings(&loaded(f, "{\"plugins\": {\"dirs\": \"../three\"}}")->plugin_dirs, joined);
    assert_strings(&loaded(f, "{\"plugins\": {\"dirs\": []}}")->plugin_dirs, "");

    put(f, "named.json", "{\"plugins\": {\"dirs\": \"four\"}}");
    assert_int_equal(setenv("QST_CONFIG", "../../named.json", 1), 0);
    assert_int_equal(unsetenv("QST_PLUGIN_PATH"), 0);
    (void)snprintf(joined, sizeof joined, "%s/project/sub/../../four", f->root);
    assert_strings(&loaded(f, NULL)->plugin_dirs, joined);
}

static void variables_with_lists(void **state)
{
    fixture *f = *state;
    assert_int_equal(setenv("QST_PIN", "a*, b ,,c", 1), 0);
    assert_int_equal(setenv("QST_DENY", "x", 1), 0);
    assert_int_equal(setenv("QST_LOG", "info", 1), 0);
    const qst__settings *s = loaded(f, NULL);
    assert_strings(&s->pin, "a*|b|c");
    assert_strings(&s->deny, "x");
    assert_string_equal(s->log, "info");
    assert_int_equal(setenv("QST_LOG", "", 1), 0); /* empty counts as not set */
    assert_null(loaded(f, NULL)->log);
    assert_strings(&loaded(f, "{\"candidates\": {\"pin\": \"\"}}")->pin, ""); /* takes back a lower source's */
}

/* ---- Refusals --------------------------------------------------------------------------------------------------- */

static void error_lines_of_the_api(void **state)
{
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
        {"{\"tune\": {\"verify\": true}, \"tune.verify\": true}", ": tune.verify: is set twice"},
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
         ": groups.a.b.priority: is set twice"},
        {"{\"groups\": 3}", ": groups: unknown key (the form is groups.<op>.<group>.priority, names of [a-z0-9_])"},
        {"{\"plugin\": {\"CLBlast\": {\"library\": \"x\"}}}",
         ": plugin.CLBlast: unknown key (the form is plugin.<name>.<key>, names of [a-z0-9_])"},
        {"{\"plugin\": {\"clblast\": {\"library\": [\"x\"]}}}",
         ": plugin.clblast.library: must be a text, a number, true or false, not a list"},
        {"{\"log\": \"loud\"}", ": log: 'loud' is no level (off, error, warn, info, debug) and no area (context, conf, "
                                "plug, tune, cl, store, run)"},
        {"{\"log\": true}", ": log: must be a text, not a truth value"},
        {"{\"\": 1}", ": : unknown key"},
        {"[]", ": must be an object"},
        {"{\"tune\": {\"wait\": true, \"wait\": false}}", ":1:30: duplicate object key near '\"wait\"'"},
        {"", ":1:0: '[' or '{' expected near end of file"},
        {"{\n\n  \"tune\": {]", ":3:12: string or '}' expected near ']'"},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(f, bad[i].api, "API", bad[i].text);
}

static void error_lines_of_files(void **state)
{
    fixture *f = *state;
    put(f, "home/.config/quernstone/config.json", "{\n  \"tune\": {\"mode\": }\n}\n");
    assert_fails(f, NULL, "./home/.config/quernstone/config.json", ":2:20: unexpected token near '}'");
    put(f, "home/.config/quernstone/config.json", "");
    assert_fails(f, NULL, "./home/.config/quernstone/config.json", ":1:0: '[' or '{' expected near end of file");
    put(f, "home/.config/quernstone/config.json", "{\"tune\": {\"budgetms\": 1}}");
    assert_fails(f, NULL, "./home/.config/quernstone/config.json",
                 ": tune.budgetms: unknown key (did you mean tune.budget_ms?)");
    assert_int_equal(unlink(at(f, "home/.config/quernstone/config.json")), 0);
    assert_int_equal(mkdir(at(f, "home/.config/quernstone/config.json"), 0755), 0);
    assert_fails(f, NULL, "./home/.config/quernstone/config.json", ": is not a regular file");
    assert_int_equal(rmdir(at(f, "home/.config/quernstone/config.json")), 0);

    assert_int_equal(setenv("QST_CONFIG", at(f, "none.json"), 1), 0);
    assert_fails(f, NULL, "./none.json", ": cannot be opened: No such file or directory");
    assert_int_equal(setenv("QST_CONFIG", at(f, "home"), 1), 0);
    assert_fails(f, NULL, "./home", ": is not a regular file");
    assert_int_equal(mkfifo(at(f, "pipe"), 0600), 0);
    assert_int_equal(setenv("QST_CONFIG", at(f, "pipe"), 1), 0); /* nobody writes: opening must not wait */
    assert_fails(f, NULL, "./pipe", ": is not a regular file");

    char *big = malloc((1u << 20) + 2);
    assert_non_null(big);
    memset(big, ' ', 1u << 20);
    memcpy(big, "{}", 2);
    big[1u << 20] = '\0';
    put(f, "big.json", big);
    assert_int_equal(setenv("QST_CONFIG", at(f, "big.json"), 1), 0);
    (void)loaded(f, NULL);
    memcpy(big + (1u << 20), "\n", 2);
    put(f, "big.json", big);
    free(big);
    assert_fails(f, NULL, "./big.json", ": is longer than 1048576 bytes");
}

static void error_lines_of_variables(void **state)
{
    fixture *f = *state;
    assert_int_equal(setenv("QST_MODE", "fast", 1), 0);
    assert_fails(f, NULL, "QST_MODE", ": tune.mode: 'fast' is not one of tune, fallback, background, frozen");
    assert_int_equal(unsetenv("QST_MODE"), 0);
    assert_int_equal(setenv("QST_AUTOTUNE_LEVEL", "9", 1), 0);
    assert_fails(f, NULL, "QST_AUTOTUNE_LEVEL",
                 ": tune.level: '9' is not one of minimal, balanced, extensive, full, or 0 … 3");
    assert_int_equal(unsetenv("QST_AUTOTUNE_LEVEL"), 0);
    assert_int_equal(setenv("QST_LOG", "warn,tunes", 1), 0);
    assert_fails(f, NULL, "QST_LOG",
                 ": log: 'tunes' is no level (off, error, warn, info, debug) and no area (context, "
                 "conf, plug, tune, cl, store, run)");
}

static void what_a_project_may_not_say(void **state)
{
    static const struct {
        const char *text, *path;
    } bad[] = {
        {"{\"plugins\": {\"dirs\": \"x\"}}", "plugins.dirs"},
        {"{\"plugins\": {\"load\": \"x\"}}", "plugins.load"},
        {"{\"plugins\": {\"required\": \"x\"}}", "plugins.required"},
        {"{\"plugin\": {\"clblast\": {\"library\": \"x\"}}}", "plugin.clblast.library"},
        {"{\"device\": {\"platform\": \"x\"}}", "device.platform"},
        {"{\"device\": {\"name\": \"x\"}}", "device.name"},
        {"{\"device\": {\"index\": 0}}", "device.index"},
    };
    fixture *f = *state;
    char     text[200];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(f, "project/quernstone.json", bad[i].text);
        (void)snprintf(text, sizeof text, ": %s: may not be set by a project file", bad[i].path);
        assert_fails(f, NULL, "./project/quernstone.json", text);
    }
    put(f, "project/quernstone.json",
        "{\"tune\": {\"level\": 0}, \"log\": \"off\", \"candidates\": {\"pin\": \"a\"},"
        " \"groups\": {\"matmul\": {\"unit\": {\"priority\": 1}}}}");
    const qst__settings *s = loaded(f, NULL);
    assert_int_equal(s->level, 0);
    assert_strings(&s->pin, "a");
    assert_string_equal(s->log, "off");
    assert_string_equal(qst__settings_pair(s, "groups.matmul.unit.priority"), "1");
}

/* A line has 464 bytes: a long path must not push the cause out. */
static void a_long_path(void **state)
{
    fixture *f = *state;
    char     name[256] = "";
    memset(name, 'x', 240);
    assert_int_equal(mkdir(at(f, name), 0755), 0);
    (void)snprintf(name + 240, sizeof name - 240, "/c.json");
    put(f, name, "{\"tune\": {\"wait\": 0}}");
    assert_int_equal(setenv("QST_CONFIG", at(f, name), 1), 0);
    assert_int_equal(load(f, NULL), QST_E_CONFIG);
    char line[464] = "…";
    memset(line + 3, 'x', 193);
    strcpy(line + 196, "/c.json: tune.wait: must be true or false, not an integer");
    assert_string_equal(f->err.text, line);
}

/* ---- What `qst config` shows ------------------------------------------------------------------------------------ */

typedef struct written {
    size_t length;
    char   text[32768];
} written;

static void keep(void *user, const char *text, size_t length)
{
    written *w = user;
    assert_true(w->length + length < sizeof w->text);
    memcpy(w->text + w->length, text, length);
    w->length += length;
    w->text[w->length] = '\0';
}

static void describe(fixture *f, written *w)
{
    qst__json *json = NULL;
    w->length = 0;
    assert_int_equal(qst__conf_describe(f->conf, &json), QST_OK);
    assert_int_equal(qst__json_write(json, false, keep, w), QST_OK);
    qst__json_destroy(json);
}

static void assert_described(const written *w, const char *entry)
{
    if (!strstr(w->text, entry))
        fail_msg("%s is not in %s", entry, w->text);
}

static void described_with_origins(void **state)
{
    fixture       *f = *state;
    static written w;
    char           entry[1200];
    put(f, "home/.config/quernstone/config.json",
        "{\"plugins\": {\"load\": [\"a\", \"b\"]},"
        " \"plugin\": {\"a\": {\"x\": 1}}}");
    put(f, "project/quernstone.json", "{\"tune\": {\"speed_factor\": 2.5}}");
    assert_int_equal(setenv("QST_MODE", "frozen", 1), 0);
    (void)loaded(f, "{\"tune\": {\"verify\": false}}");
    describe(f, &w);
    assert_described(&w,
                     "[{\"path\":\"device.platform\",\"value\":null,\"origin\":\"default\",\"default\":null,\"help\":"
                     "\"part of the OpenCL platform's name, upper or lower case; empty: any\"},");
    assert_described(&w, "{\"path\":\"tune.verify\",\"value\":false,\"origin\":\"API\",\"default\":true,\"help\":\"");
    assert_described(&w, "{\"path\":\"tune.mode\",\"value\":\"frozen\",\"origin\":\"QST_MODE\",\"default\":\"tune\",");
    assert_described(&w, "{\"path\":\"tune.budget_ms\",\"value\":1000,\"origin\":\"default\",\"default\":1000,");
    (void)snprintf(entry, sizeof entry,
                   "{\"path\":\"tune.speed_factor\",\"value\":2.5,\"origin\":\"%s/project/quernstone.json\","
                   "\"default\":1.5,\"help\":\"",
                   f->root);
    assert_described(&w, entry);
    (void)snprintf(entry, sizeof entry,
                   "{\"path\":\"plugins.load\",\"value\":[\"a\",\"b\"],\"origin\":"
                   "\"%s/home/.config/quernstone/config.json\",\"default\":[],\"help\":\"",
                   f->root);
    assert_described(&w, entry);
    (void)snprintf(entry, sizeof entry,
                   ",{\"path\":\"plugin.a.x\",\"value\":\"1\",\"origin\":\"%s/home/.config/quernstone/config.json\","
                   "\"default\":null,\"help\":\"a setting of the plugin's own\"}]\n",
                   f->root);
    assert_described(&w, entry);
}

static void another_users_project_file(void **state)
{
    fixture       *f = *state;
    static written w;
    char           entry[1200];
    if (geteuid() != 0)
        skip(); /* only root can give files away */
    put(f, "quernstone.json", "{\"tune\": {\"level\": 3}}");
    put(f, "project/quernstone.json", "not even JSON");
    assert_int_equal(chown(at(f, "project/quernstone.json"), 12345, 0), 0);
    assert_int_equal(loaded(f, NULL)->level, 3); /* passed over: the next one upwards is read */
    describe(f, &w);
    (void)snprintf(entry, sizeof entry,
                   ",{\"path\":null,\"value\":null,\"origin\":\"%s/project/quernstone.json\",\"default\":null,"
                   "\"help\":\"ignored: owned by user 12345, not by root or user 0\"}]\n",
                   f->root);
    assert_described(&w, entry);

    /* A link of his to a file of ours is his. */
    assert_int_equal(unlink(at(f, "project/quernstone.json")), 0);
    assert_int_equal(symlink("../quernstone.json", at(f, "project/quernstone.json")), 0);
    assert_int_equal(lchown(at(f, "project/quernstone.json"), 12345, 0), 0);
    assert_int_equal(loaded(f, NULL)->level, 3);
    describe(f, &w);
    assert_described(&w, entry);
}

static void a_project_file_that_is_a_folder(void **state)
{
    fixture       *f = *state;
    static written w;
    put(f, "quernstone.json", "{\"tune\": {\"level\": 3}}");
    assert_int_equal(mkdir(at(f, "project/quernstone.json"), 0755), 0);
    assert_int_equal(loaded(f, NULL)->level, 3);
    describe(f, &w);
    assert_described(&w, "project/quernstone.json\",\"default\":null,\"help\":\"ignored: not a regular file\"}]\n");
}

/* ---- The table itself, and memory ------------------------------------------------------------------------------- */

static void the_schema_is_whole(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < qst__schema_rows; i++) {
        const qst__key_row *row = &qst__schema[i];
        assert_true(row->help && *row->help);
        assert_non_null(row->standard);
        assert_true((row->offset == QST__OPEN) == (strchr(row->path, '<') != NULL));
        assert_true((row->type == QST__TYPE_WORD || row->type == QST__TYPE_GRADE) == (row->tokens != NULL));
        bool free_to_all = row->sources & QST__SOURCE(QST__FROM_PROJECT);
        bool harmless = strncmp(row->path, "tune.", 5) == 0 || strncmp(row->path, "groups.", 7) == 0 ||
                        strncmp(row->path, "candidates.", 11) == 0 || strcmp(row->path, "log") == 0;
        assert_true(free_to_all == harmless);
        if (row->offset != QST__OPEN)
            assert_ptr_equal(qst__schema_find(row->path), row);
        for (uint32_t j = 0; j < i; j++)
            assert_true(row->offset == QST__OPEN || row->offset != qst__schema[j].offset);
    }
    assert_null(qst__schema_find("plugin.a"));
    assert_null(qst__schema_find("plugin.a.b.c"));
    assert_null(qst__schema_find("groups.a.priority"));
    assert_null(qst__schema_find("groups..a.priority"));
    assert_null(qst__schema_find(""));
    assert_true(qst__schema_section("groups.a.b.c"));
    assert_true(qst__schema_section("plugin.a"));
    assert_false(qst__schema_section("plugin.a.b"));
    assert_false(qst__schema_section("log"));
    assert_false(qst__schema_section(""));
}

static void every_allocation_fails_once(void **state)
{
    fixture   *f = *state;
    long       n = 0;
    qst_status status = QST_E_NOMEM;
    put(f, "home/.config/quernstone/config.json",
        "{\"plugins\": {\"dirs\": [\"a\", \"/b\"]}, \"device\":"
        " {\"name\": \"x\"}, \"plugin\": {\"a\": {\"x\": 1, \"y\": 0.5}}}");
    put(f, "project/quernstone.json", "{\"tune\": {\"level\": \"full\"}, \"candidates\": {\"pin\": \"a\"}}");
    put(f, "named.json", "{\"plugin\": {\"a\": {\"x\": \"two\"}}}");
    assert_int_equal(setenv("QST_CONFIG", "../../named.json", 1), 0);
    assert_int_equal(setenv("QST_PLUGIN_PATH", "one:two", 1), 0);
    while (status != QST_OK) {
        assert_true(++n < 2000);
        f->calls = 0;
        f->fail_at = n;
        status = load(f, "{\"groups\": {\"matmul\": {\"unit\": {\"priority\": 1}}}, \"log\": \"warn\"}");
        if (status != QST_OK) {
            assert_int_equal(status, QST_E_NOMEM);
            assert_string_equal(f->err.text, "no memory for the configuration");
            assert_int_equal(f->live, 0);
        }
    }
    f->fail_at = 0;
    assert_true(n > 50);
    assert_int_equal(qst__conf_settings(f->conf)->plugin_dirs.count, 4);
    assert_string_equal(qst__settings_pair(qst__conf_settings(f->conf), "plugin.a.x"), "two");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults),
        TEST(all_keys),
        TEST(words_and_grades),
        TEST(a_locale_with_commas),
        TEST(the_higher_source_wins),
        TEST(sources_switched_off),
        TEST(where_the_users_file_is),
        TEST(the_nearest_project_file),
        TEST(no_working_directory),
        TEST(relative_directories),
        TEST(variables_with_lists),
        TEST(error_lines_of_the_api),
        TEST(error_lines_of_files),
        TEST(error_lines_of_variables),
        TEST(what_a_project_may_not_say),
        TEST(a_long_path),
        TEST(described_with_origins),
        TEST(another_users_project_file),
        TEST(a_project_file_that_is_a_folder),
        TEST(the_schema_is_whole),
        TEST(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
