/* SPDX-License-Identifier: MIT
 *
 * test_conf_show.c: what `qst config` shows, the table of keys itself, and memory that runs out. */
#define _XOPEN_SOURCE 700
#include "support/conf_fixture.h"

#include "conf/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- What `qst config` shows ------------------------------------------------------------------------------------ */

static void described_with_origins(void **state)
{
    conf_fixture *f = *state;
    char          entry[1200];
    conf_put(f, "home/.config/quernstone/config.json",
             "{\"plugins\": {\"load\": [\"a\", \"b\"]},"
             " \"plugin\": {\"a\": {\"x\": 1}}}");
    conf_put(f, "project/quernstone.json", "{\"tune\": {\"speed_factor\": 2.5}}");
    conf_setenv("QST_MODE", "frozen");
    (void)conf_loaded(f, "{\"tune\": {\"verify\": false}}");
    conf_assert_described(
        f, "[{\"path\":\"device.platform\",\"value\":null,\"origin\":\"default\",\"default\":null,\"help\":"
           "\"part of the OpenCL platform's name, upper or lower case; empty: any\"},");
    conf_assert_described(f,
                          "{\"path\":\"tune.verify\",\"value\":false,\"origin\":\"API\",\"default\":true,\"help\":\"");
    conf_assert_described(f,
                          "{\"path\":\"tune.mode\",\"value\":\"frozen\",\"origin\":\"QST_MODE\",\"default\":\"tune\",");
    conf_assert_described(f, "{\"path\":\"tune.budget_ms\",\"value\":1000,\"origin\":\"default\",\"default\":1000,");
    (void)snprintf(entry, sizeof entry,
                   "{\"path\":\"tune.speed_factor\",\"value\":2.5,\"origin\":\"%s/project/quernstone.json\","
                   "\"default\":1.5,\"help\":\"",
                   f->root);
    conf_assert_described(f, entry);
    (void)snprintf(entry, sizeof entry,
                   "{\"path\":\"plugins.load\",\"value\":[\"a\",\"b\"],\"origin\":"
                   "\"%s/home/.config/quernstone/config.json\",\"default\":[],\"help\":\"",
                   f->root);
    conf_assert_described(f, entry);
    (void)snprintf(entry, sizeof entry,
                   ",{\"path\":\"plugin.a.x\",\"value\":\"1\",\"origin\":\"%s/home/.config/quernstone/config.json\","
                   "\"default\":null,\"help\":\"a setting of the plugin's own\"}]\n",
                   f->root);
    conf_assert_described(f, entry);
}

/* Whoever denies does so beside the others, the last one first; what comes after nothing, or an empty item, stands alone. */
static void denials_add_up(void **state)
{
    conf_fixture *f = *state;
    char          entry[600];
    conf_put(f, "home/.config/quernstone/config.json", "{\"candidates\": {\"deny\": [\"a\", \"b\"], \"pin\": \"p\"}}");
    conf_put(f, "project/quernstone.json", "{\"candidates.deny\": \"c\"}");
    conf_setenv("QST_DENY", "d, e");
    const qst__settings *s = conf_loaded(f, "{\"candidates\": {\"deny\": [\"f\"], \"pin\": [\"q\"]}}");
    conf_assert_strings(&s->deny, "f|d|e|c|a|b");
    conf_assert_strings(&s->pin, "q"); /* a choice, and no denial */
    (void)snprintf(entry, sizeof entry,
                   "\"origin\":\"API, QST_DENY, %s/project/quernstone.json, %s/home/.config/quernstone/config.json\"",
                   f->root, f->root);
    conf_assert_described(f, entry);

    conf_assert_strings(&conf_loaded(f, "{\"candidates.deny\": []}")->deny, "");
    conf_assert_strings(&conf_loaded(f, "{\"candidates.deny\": \"\"}")->deny, "");
    conf_assert_strings(&conf_loaded(f, "{\"candidates.deny\": [\"\", \"f\"]}")->deny, "f");
    conf_assert_described(f, "{\"path\":\"candidates.deny\",\"value\":[\"f\"],\"origin\":\"API\",");
    conf_setenv("QST_DENY", ",d");
    conf_assert_strings(&conf_loaded(f, "{\"candidates.deny\": \"f\"}")->deny, "f|d");
    conf_assert_described(f, "\"origin\":\"API, QST_DENY\",");
    conf_setenv("QST_DENY", ",");
    conf_assert_strings(&conf_loaded(f, NULL)->deny, "");
    conf_assert_fails(f, "{\"candidates.deny\": [\"f\", \"\"]}", "API", ": candidates.deny: item 1 is empty");
}

static void note_unread(void *user, const char *name, const char *why)
{
    char *text = user;
    (void)snprintf(text + strlen(text), 600 - strlen(text), "%s %s|", name, why);
}

/* Who begins as ours do and is read by nobody is told; but for hooks of tests, what is empty, and other people's. */
static void variables_of_nobody(void **state)
{
    static const struct {
        const char *name, *hint;
    } rows[] = {{"QST_LOGG", "did you mean QST_LOG?"},
                {"QST_LEVEL", "did you mean QST_AUTOTUNE_LEVEL?"},
                {"QST_AUTOTUNE_CAHCE", "did you mean QST_AUTOTUNE_CACHE?"},
                {"QST_ENVIROMENT", "did you mean QST_ENVIRONMENT?"},
                {"QST_CONFG", "did you mean QST_CONFIG?"},
                {"QST_PLUGINS_PATH", "did you mean QST_PLUGIN_PATH?"},
                {"QST_CONFIG_PATH", "did you mean QST_CONFIG?"},
                {"QST_LOG_LEVEL", "did you mean QST_LOG?"},
                {"QST_STORE_ENVIRONMENT", "did you mean QST_ENVIRONMENT?"},
                {"QST_CANDIDATES_DENY", "did you mean QST_DENY?"},
                {"QST_STORE_PATH", "store.path is set in a file, QST_CONFIG names one"},
                {"QST_STORE_PAHT", "store.path is set in a file, QST_CONFIG names one"},
                {"QST_BUDGET_MS", "tune.budget_ms is set in a file, QST_CONFIG names one"}};
    static const char *const quiet[] = {"QST_TEST_THIS", "QST_CHAOS_ALL", "QST_KEPT_ICD_FILENAMES", "QSTLOG",
                                        "MY_QST_LOG"};
    conf_fixture            *f = *state;
    char                     told[600], wanted[200];
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        conf_setenv(quiet[i], "x");
    conf_setenv("QST_LOGS", "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        conf_setenv(rows[i].name, "x");
        (void)conf_loaded(f, NULL);
        told[0] = '\0';
        qst__conf_variables_unread(f->conf, note_unread, told);
        (void)snprintf(wanted, sizeof wanted, "%s no variable of this name is read (%s)|", rows[i].name, rows[i].hint);
        assert_string_equal(told, wanted);
        assert_int_equal(unsetenv(rows[i].name), 0);
    }
    conf_setenv("QST_FOO", "x");
    (void)conf_loaded(f, NULL);
    conf_assert_described(f, ",{\"path\":null,\"value\":null,\"origin\":\"QST_FOO\",\"default\":null,"
                             "\"help\":\"no variable of this name is read\"}]\n");
    assert_int_equal(unsetenv("QST_FOO"), 0);
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        assert_int_equal(unsetenv(quiet[i]), 0);
    assert_int_equal(unsetenv("QST_LOGS"), 0);
}

static void another_users_project_file(void **state)
{
    conf_fixture *f = *state;
    char          entry[1200];
    if (geteuid() != 0)
        skip(); /* only root can give files away */
    conf_put(f, "quernstone.json", "{\"tune\": {\"level\": 3}}");
    conf_put(f, "project/quernstone.json", "not even JSON");
    assert_int_equal(chown(conf_at(f, "project/quernstone.json"), 12345, 0), 0);
    assert_int_equal(conf_loaded(f, NULL)->level, 3); /* passed over: the next one upwards is read */
    (void)snprintf(entry, sizeof entry,
                   ",{\"path\":null,\"value\":null,\"origin\":\"%s/project/quernstone.json\",\"default\":null,"
                   "\"help\":\"ignored: owned by user 12345, not by root or user 0\"}]\n",
                   f->root);
    conf_assert_described(f, entry);

    /* A link of his to a file of ours is his. */
    assert_int_equal(unlink(conf_at(f, "project/quernstone.json")), 0);
    assert_int_equal(symlink("../quernstone.json", conf_at(f, "project/quernstone.json")), 0);
    assert_int_equal(lchown(conf_at(f, "project/quernstone.json"), 12345, 0), 0);
    assert_int_equal(conf_loaded(f, NULL)->level, 3);
    conf_assert_described(f, entry);
}

static void a_project_file_that_is_a_folder(void **state)
{
    conf_fixture *f = *state;
    conf_put(f, "quernstone.json", "{\"tune\": {\"level\": 3}}");
    assert_int_equal(mkdir(conf_at(f, "project/quernstone.json"), 0755), 0);
    assert_int_equal(conf_loaded(f, NULL)->level, 3);
    conf_assert_described(f, "project/quernstone.json\",\"default\":null,\"help\":\"ignored: not a regular file\"}]\n");
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
    conf_fixture *f = *state;
    int           n = 0;
    qst_status    status = QST_E_NOMEM;
    conf_put(f, "home/.config/quernstone/config.json",
             "{\"plugins\": {\"dirs\": [\"a\", \"/b\"]}, \"device\":"
             " {\"name\": \"x\"}, \"plugin\": {\"a\": {\"x\": 1, \"y\": 0.5}}}");
    conf_put(f, "project/quernstone.json", "{\"tune\": {\"level\": \"full\"}, \"candidates\": {\"pin\": \"a\"}}");
    conf_put(f, "named.json",
             "{\"plugin\": {\"a\": {\"x\": \"two\"}},"
             " \"store\": {\"path\": \"s\", \"environment\": \"e\"}, \"decisions\": {\"file\": \"d\"}}");
    conf_setenv("QST_CONFIG", "../../named.json");
    conf_setenv("QST_PLUGIN_PATH", "one:two");
    while (status != QST_OK) {
        assert_true(++n < 2000);
        f->meter.left = n - 1;
        status = conf_load(f, "{\"groups\": {\"matmul\": {\"unit\": {\"priority\": 1}}}, \"log\": \"warn\"}");
        if (status != QST_OK) {
            assert_int_equal(status, QST_E_NOMEM);
            assert_string_equal(f->err.text, "no memory for the configuration");
            assert_int_equal(f->meter.live, 0);
        }
    }
    f->meter.left = -1;
    assert_true(n > 50);
    assert_int_equal(qst__conf_settings(f->conf)->plugin_dirs.count, 4);
    assert_string_equal(qst__settings_pair(qst__conf_settings(f->conf), "plugin.a.x"), "two");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONF_TEST(described_with_origins),
        CONF_TEST(denials_add_up),
        CONF_TEST(variables_of_nobody),
        CONF_TEST(another_users_project_file),
        CONF_TEST(a_project_file_that_is_a_folder),
        CONF_TEST(the_schema_is_whole),
        CONF_TEST(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
