/* SPDX-License-Identifier: MIT
 *
 * plugins_case.c: see plugins_case.h. */
#define _XOPEN_SOURCE 700
#include "plugins_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef QST_TEST_PLUGINS
#define QST_TEST_PLUGINS "plugins"
#endif

static void keep_line(void *user, const char *text, size_t length)
{
    plugins_case *f = user;
    assert_true(f->log_length + length < sizeof f->log);
    memcpy(f->log + f->log_length, text, length);
    f->log_length += length;
    f->log[f->log_length] = '\0';
}

int plugins_case_open(void **state)
{
    plugins_case *f = calloc(1, sizeof *f);
    const char   *base = getenv("TMPDIR");
    assert_non_null(f);
    f->meter.left = -1;
    f->alloc = meter_alloc(&f->meter);
    f->sink = (qst__log){.sink = keep_line, .user = f};
    f->sink.level[QST__AREA_PLUG] = QST_LOG_INFO;
    char *real = realpath(base && *base ? base : P_tmpdir, NULL);
    (void)snprintf(f->directory, sizeof f->directory, "%.200s/qst-plugins-XXXXXX", real ? real : "");
    free(real);
    assert_non_null(mkdtemp(f->directory));
    qst__plugins_init(&f->plugins, &f->alloc, &f->sink);
    *state = f;
    return 0;
}

int plugins_case_close(void **state)
{
    plugins_case *f = *state;
    char          command[300];
    qst__plugins_finish(&f->plugins);
    assert_int_equal(f->meter.live, 0);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", f->directory);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

const char *plugins_case_path(const plugins_case *f, const char *name)
{
    static char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", f->directory, name);
    return path;
}

void plugins_case_file(const plugins_case *f, const char *name, const void *data, size_t bytes, mode_t mode)
{
    FILE *file = fopen(plugins_case_path(f, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(plugins_case_path(f, name), mode), 0);
}

const unsigned char *plugins_case_module_bytes(const char *module, size_t *bytes)
{
    const char          *root = getenv("QST_TEST_PLUGINS");
    char                 path[512];
    static unsigned char data[1u << 20];
    (void)snprintf(path, sizeof path, "%s/%s/%s.so", root ? root : QST_TEST_PLUGINS, module, module);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("no module %s", path);
    *bytes = fread(data, 1, sizeof data, file);
    assert_int_equal(fclose(file), 0);
    assert_true(*bytes > 0 && *bytes < sizeof data);
    return data;
}

void plugins_case_module(const plugins_case *f, const char *module, const char *name)
{
    size_t               bytes;
    const unsigned char *data = plugins_case_module_bytes(module, &bytes);
    plugins_case_file(f, name, data, bytes, 0755);
}

qst__plugin *plugins_case_entry(plugins_case *f, size_t index)
{
    assert_true(index < f->plugins.list.count);
    return &f->plugins.list.data[index];
}

void plugins_case_scan(plugins_case *f)
{
    assert_int_equal(qst__plugins_scan(&f->plugins, f->directory, NULL, 0, &f->err), QST_OK);
    assert_int_equal(f->err.status, QST_OK);
}

void plugins_case_refused(plugins_case *f, size_t index, const char *name, const char *why)
{
    qst__plugin *plugin = plugins_case_entry(f, index);
    char         line[1200];
    assert_int_equal(plugin->state, QST__PLUGIN_REFUSED);
    assert_string_equal(plugin->name, name);
    assert_string_equal(plugin->why, why);
    (void)snprintf(line, sizeof line, "quernstone: warn: plug: %s refused: %s\n", plugin->path, why);
    assert_non_null(strstr(f->log, line));
}
