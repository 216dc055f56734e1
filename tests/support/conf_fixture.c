/* SPDX-License-Identifier: MIT
 *
 * conf_fixture.c: private places for the configuration's files, and the two questions that all its tests ask. */
#define _XOPEN_SOURCE 700
#include "support/conf_fixture.h"

#include "conf/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const VARIABLES[] = {
    "HOME",
    "XDG_CONFIG_HOME",
    "QST_CONFIG",
    "QST_LOG",
    "QST_PLUGIN_PATH",
    "QST_MODE",
    "QST_AUTOTUNE_LEVEL",
    "QST_PIN",
    "QST_DENY",
    "QST_ENVIRONMENT",
    "QST_AUTOTUNE_CACHE",
    "QST_THROUGHPUT_CACHE",
};

const char *conf_at(const conf_fixture *f, const char *name)
{
    static char paths[2][600];
    static int  turn;
    char       *path = paths[turn ^= 1];
    (void)snprintf(path, sizeof paths[0], "%s/%s", f->root, name);
    return path;
}

void conf_put(const conf_fixture *f, const char *name, const char *text)
{
    FILE *file = fopen(conf_at(f, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

void conf_setenv(const char *name, const char *value)
{
    assert_int_equal(setenv(name, value, 1), 0);
}

int conf_set_up(void **state)
{
    static const char *const folders[] = {"home", "home/.config", "home/.config/quernstone", "project", "project/sub"};
    conf_fixture            *f = calloc(1, sizeof *f);
    const char              *base = getenv("TMPDIR");
    assert_non_null(f);
    f->meter.left = -1;
    f->alloc = meter_alloc(&f->meter);
    assert_non_null(getcwd(f->before, sizeof f->before));
    char *real = realpath(base && *base ? base : P_tmpdir, NULL);
    (void)snprintf(f->root, sizeof f->root, "%.200s/qst-conf-XXXXXX", real ? real : "");
    free(real);
    assert_non_null(mkdtemp(f->root));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(conf_at(f, folders[i]), 0755), 0);
    for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++)
        assert_int_equal(unsetenv(VARIABLES[i]), 0);
    conf_setenv("HOME", conf_at(f, "home"));
    assert_int_equal(chdir(conf_at(f, "project/sub")), 0);
    *state = f;
    return 0;
}

int conf_tear_down(void **state)
{
    conf_fixture *f = *state;
    char          command[300];
    qst__conf_destroy(f->conf);
    assert_int_equal(f->meter.live, 0);
    assert_int_equal(chdir(f->before), 0);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", f->root);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

qst_status conf_load(conf_fixture *f, const char *api)
{
    const qst__conf_sources sources = {.files = true, .env = true, .api = api};
    qst__conf_destroy(f->conf);
    qst__error_clear(&f->err);
    return qst__conf_create(&f->conf, &f->alloc, &sources, &f->err);
}

const qst__settings *conf_loaded(conf_fixture *f, const char *api)
{
    qst_status status = conf_load(f, api);
    if (status != QST_OK)
        fail_msg("%s", f->err.text);
    return qst__conf_settings(f->conf);
}

void conf_assert_fails(conf_fixture *f, const char *api, const char *place, const char *text)
{
    char line[800];
    (void)snprintf(line, sizeof line, "%s%s", place[0] == '.' ? conf_at(f, place + 2) : place, text);
    assert_int_equal(conf_load(f, api), QST_E_CONFIG);
    assert_null(f->conf);
    assert_int_equal(f->err.status, QST_E_CONFIG);
    assert_string_equal(f->err.source, "conf");
    assert_string_equal(f->err.text, line);
}

void conf_assert_strings(const qst__strings *strings, const char *joined)
{
    char text[2000] = "";
    for (uint32_t i = 0; i < strings->count; i++) {
        strcat(text, i ? "|" : "");
        strcat(text, strings->data[i]);
    }
    assert_string_equal(text, joined);
}

/* ---- What `qst config` shows ------------------------------------------------------------------------------------ */

typedef struct written {
    size_t length;
    char   text[65536];
} written;

static void keep(void *user, const char *text, size_t length)
{
    written *w = user;
    assert_true(w->length + length < sizeof w->text);
    memcpy(w->text + w->length, text, length);
    w->length += length;
    w->text[w->length] = '\0';
}

void conf_assert_described(const conf_fixture *f, const char *entry)
{
    static written w;
    qst__json     *json = NULL;
    w.length = 0;
    assert_int_equal(qst__conf_describe(f->conf, &json), QST_OK);
    assert_int_equal(qst__json_write(json, false, keep, &w), QST_OK);
    qst__json_destroy(json);
    if (!strstr(w.text, entry))
        fail_msg("%s is not in %s", entry, w.text);
}
