/* SPDX-License-Identifier: MIT
 *
 * test_conf_project.c: what a project's file may say, what is known of its place, and the plugins that are spoken
 * of. */
#define _XOPEN_SOURCE 700
#include "support/conf_fixture.h"

#include "conf/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- A project's file ------------------------------------------------------------------------------------------- */

/* One key of every section that leads to code, a device, a store or an output. */
static void what_a_project_may_not_say(void **state)
{
    static const struct {
        const char *text, *path;
    } bad[] = {
        {"{\"device\": {\"name\": \"x\"}}", "device.name"},
        {"{\"plugins\": {\"dirs\": \"x\"}}", "plugins.dirs"},
        {"{\"plugin\": {\"clblast\": {\"library\": \"x\"}}}", "plugin.clblast.library"},
        {"{\"store\": {\"path\": \"x\"}}", "store.path"},
        {"{\"store\": {\"backend\": \"memory\"}}", "store.backend"},
        {"{\"store\": {\"environment\": \"x\"}}", "store.environment"},
        {"{\"verdicts\": {\"cache\": false}}", "verdicts.cache"},
        {"{\"throughput\": {\"cache\": false}}", "throughput.cache"},
        {"{\"programs\": {\"cache\": true}}", "programs.cache"},
        {"{\"decisions\": {\"file\": \"x\"}}", "decisions.file"},
        {"{\"decisions\": {\"stdout\": true}}", "decisions.stdout"},
        {"{\"history\": {\"level\": \"off\"}}", "history.level"},
    };
    conf_fixture *f = *state;
    char          text[200];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        conf_put(f, "project/quernstone.json", bad[i].text);
        (void)snprintf(text, sizeof text, ": %s: may not be set by a project file", bad[i].path);
        conf_assert_fails(f, NULL, "./project/quernstone.json", text);
    }
}

static void what_a_project_may_say(void **state)
{
    conf_fixture *f = *state;
    conf_put(f, "project/quernstone.json",
             "{\"tune\": {\"level\": 0, \"recheck\": \"always\", \"force\": true}, \"log\": \"off\","
             " \"candidates\": {\"pin\": \"a\", \"deny\": [\"b\"]},"
             " \"groups\": {\"matmul\": {\"unit\": {\"priority\": 1}}}}");
    const qst__settings *s = conf_loaded(f, NULL);
    assert_int_equal(s->level, 0);
    assert_int_equal(s->recheck, QST__RECHECK_ALWAYS);
    assert_true(s->force);
    conf_assert_strings(&s->pin, "a");
    conf_assert_strings(&s->deny, "b");
    assert_string_equal(s->log, "off");
    assert_string_equal(qst__settings_pair(s, "groups.matmul.unit.priority"), "1");
}

/* Every key, by its row: each source gets what the key wants. */
static void every_key_in_a_project(void **state)
{
    static const char *const values[] = {
        [QST__TYPE_TEXT] = "\"x\"",   [QST__TYPE_NAME] = "\"x\"", [QST__TYPE_PATH] = "\"x\"",
        [QST__TYPE_LOG] = "\"warn\"", [QST__TYPE_ANY] = "1",      [QST__TYPE_LIST] = "\"x\"",
        [QST__TYPE_PATHS] = "\"x\"",  [QST__TYPE_INT] = "5",      [QST__TYPE_LONG] = "5",
        [QST__TYPE_REAL] = "5",       [QST__TYPE_BOOL] = "true",  [QST__TYPE_GRADE] = "0",
        [QST__TYPE_GATHER] = "\"x\"",
    };
    conf_fixture *f = *state;
    char          text[200];
    for (uint32_t i = 0; i < qst__schema_rows; i++) {
        const qst__key_row *row = &qst__schema[i];
        char                path[100] = "", line[200];
        for (const char *at = row->path; *at; at++) /* a name in brackets stands for itself */
            if (!strchr("<>", *at))
                path[strlen(path)] = *at;
        if (row->type == QST__TYPE_WORD)
            (void)snprintf(text, sizeof text, "{\"%s\": \"%s\"}", path, row->tokens[0]);
        else
            (void)snprintf(text, sizeof text, "{\"%s\": %s}", path, values[row->type]);
        (void)conf_loaded(f, text);
        conf_put(f, "project/quernstone.json", text);
        bool may = strncmp(path, "tune.", 5) == 0 || strncmp(path, "groups.", 7) == 0 ||
                   strncmp(path, "candidates.", 11) == 0 || strcmp(path, "log") == 0;
        (void)snprintf(line, sizeof line, ": %s: may not be set by a project file", path);
        if (may)
            (void)conf_loaded(f, NULL);
        else
            conf_assert_fails(f, NULL, "./project/quernstone.json", line);
        assert_int_equal(unlink(conf_at(f, "project/quernstone.json")), 0);
    }
}

/* ---- Plugins ------------------------------------------------------------------------------------------------ */

static void note(void *user, const char *name, const char *path, const char *origin)
{
    char *text = user;
    (void)snprintf(text + strlen(text), 600 - strlen(text), "%s %s %s|", name, path, origin);
}

static void plugins_that_are_named(void **state)
{
    conf_fixture *f = *state;
    char          text[600] = "", wanted[600];
    (void)conf_loaded(f, "{\"groups\": {\"plugin\": {\"x\": {\"priority\": 1}}}}");
    assert_int_equal(qst__conf_plugins_named(f->conf, note, text), QST_OK);
    assert_string_equal(text, "");

    conf_put(f, "home/.config/quernstone/config.json",
             "{\"plugin\": {\"clblas\": {\"library\": \"x\", \"n\": 1}, \"a\": {\"n\": 1}}}");
    (void)conf_loaded(f, "{\"plugin\": {\"clblas\": {\"m\": 1}, \"clblast\": {\"n\": 2}, \"a\": {\"n\": 3}}}");
    assert_int_equal(qst__conf_plugins_named(f->conf, note, text), QST_OK);
    (void)snprintf(wanted, sizeof wanted,
                   "clblas plugin.clblas.library %s/home/.config/quernstone/config.json|a plugin.a.n API|"
                   "clblast plugin.clblast.n API|",
                   f->root);
    assert_string_equal(text, wanted);

    text[0] = '\0';
    f->meter.left = 0;
    assert_int_equal(qst__conf_plugins_named(f->conf, note, text), QST_E_NOMEM);
    assert_string_equal(text, "");
    f->meter.left = -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONF_TEST(what_a_project_may_not_say),
        CONF_TEST(what_a_project_may_say),
        CONF_TEST(every_key_in_a_project),
        CONF_TEST(plugins_that_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
