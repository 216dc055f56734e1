/* SPDX-License-Identifier: MIT
 *
 * test_field_settings_store.c: each key that is not about tuning does something: which device and plugins, where answers
 * are kept and which, what is told and noted. */
#include "run/run.h"
#include "settings_case.h"
#include "support/matmul_case.h"
#include "support/store_case.h"

#include <fcntl.h>
#include <quernstone/cache.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define FREE "\"tune.budget_ms\": 0, \"tune.short_circuit\": false"

static char *folder; /* a new one for each case */

static bool there(const char *name)
{
    char path[512];
    return access(path_in(path, folder, name), F_OK) == 0;
}

static uint64_t tuned(const char *set, const char *config)
{
    return settings_seen(folder, set, config)->counters.tuned;
}

/* ---- Devices and plugins ------------------------------------------------------------------------------------------- */

typedef struct logged {
    uint32_t lines;
    char     text[4000];
} logged;

static void note(void *user, const char *text, size_t length)
{
    logged *l = user;
    size_t  had = strlen(l->text);

    l->lines++;
    (void)snprintf(l->text + had, sizeof l->text - had, "%.*s\n", (int)length, text);
}

/* A context with nothing but these settings; NULL where it is not made, with the line in log->text. */
static qst_context *context_of(const char *config, uint32_t flags, logged *log)
{
    qst_options  options;
    qst_context *ctx = NULL;
    qst_error    err = {0};
    char         text[2048];

    memset(log, 0, sizeof *log);
    snprintf(text, sizeof text, "{%s}", config);
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE | flags;
    options.config = text;
    options.sink = note;
    options.sink_user = log;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        (void)snprintf(log->text, sizeof log->text, "%s", err.text);
    return ctx;
}

static qst_status picks(const char *config)
{
    logged         log;
    qst_context   *ctx = context_of(config, QST_NO_PLUGINS, &log);
    cl_platform_id platform;
    cl_device_id   device;
    qst_status     status;

    assert_non_null(ctx);
    status = qst_context_pick_device(ctx, &platform, &device, NULL);
    qst_context_destroy(ctx);
    return status;
}

static void device_platform(void)
{
    assert_int_equal(picks(""), QST_OK);
    assert_int_equal(picks("\"device.platform\": \"no such platform\""), QST_E_NOTFOUND);
}

static void device_name(void)
{
    assert_int_equal(picks("\"device.name\": \"no such device\""), QST_E_NOTFOUND);
}

static void device_index(void)
{
    assert_int_equal(picks("\"device.index\": 0"), QST_OK);
    assert_int_equal(picks("\"device.index\": 1000"), QST_E_NOTFOUND);
}

#define MINIMAL "\"plugins.dirs\": [\"" QST_TEST_PLUGINS "/good_min\"]"

/* Is a plugin of this name told of, and with this word? */
static bool plugin_told(const char *config, const char *name, const char *word)
{
    logged       log;
    qst_context *ctx = context_of(config, 0, &log);
    char        *text, *at;
    bool         told;

    assert_non_null(ctx);
    text = blend_describe(ctx, "plugins");
    at = strstr(text, name);
    told = at && strstr(at, word);
    free(text);
    qst_context_destroy(ctx);
    return told;
}

static void plugins_dirs(void)
{
    assert_false(plugin_told("", "good_min", ""));
    assert_true(plugin_told(MINIMAL, "good_min", "1.0"));
}

static void plugins_load(void)
{
    assert_false(plugin_told(MINIMAL ", \"plugins.load\": [\"naive\"]", "good_min", ""));
    assert_true(plugin_told(MINIMAL ", \"plugins.load\": [\"good_*\"]", "good_min", "1.0"));
}

static void plugins_required(void)
{
    logged log;

    assert_null(context_of("\"plugins.required\": [\"absent\"]", 0, &log));
    assert_non_null(strstr(log.text, "absent"));
}

/* A plugin that reads a setting of its own: where its library is. */
static void plugin_setting(void)
{
    void        *state;
    cl_fixture  *cl;
    logged       log;
    qst_context *ctx;
    qst_matmul   p;
    matmul_case  c;
    char        *text;

    assert_int_equal(cl_fixture_open(&state), 0);
    cl = state;
    ctx = context_of("\"plugin.clblast.library\": \"/nonexistent/libclblast.so\", " FREE
                     ", \"candidates.pin\": [\"matmul.clblast.*\"]",
                     0, &log);
    assert_non_null(ctx);
    qst_matmul_init(&p, 32, 32, 32, QST_F32);
    matmul_case_open(&c, cl, &p, NULL);
    assert_int_equal(qst_matmul_enqueue(ctx, cl->in_order, &p, c.mem[0], c.mem[1], matmul_case_operand(&c, 2).handle, 0,
                                        NULL, NULL, NULL),
                     QST_OK);
    assert_int_equal(clFinish(cl->in_order), CL_SUCCESS);
    text = blend_describe(ctx, "verdicts");
    assert_non_null(strstr(text, "/nonexistent/libclblast.so"));
    free(text);
    matmul_case_close(&c);
    qst_context_destroy(ctx);
    assert_int_equal(cl_fixture_close(&state), 0);
}

/* ---- Where --------------------------------------------------------------------------------------------------------- */

static void backend(void)
{
    static const char *const none[] = {"memory", "off"};
    char                     config[200];

    for (size_t i = 0; i < 2; i++) {
        snprintf(config, sizeof config, FREE ", \"store.backend\": \"%s\"", none[i]);
        assert_int_equal(tuned("abd", config), 2);
        assert_false(there("default"));
    }
    assert_int_equal(tuned("abd", FREE ", \"store.backend\": \"lmdb\""), 2);
    assert_true(there("default/data.mdb"));
}

/* In the working directory, or where the project's file lies. */
static void place(void)
{
    static field_report r;
    field_job           job = {.plain = true, .home = true, .set = "abd", .first = 24, .keys = 2};
    char                inner[512], cwd[4096];

    assert_non_null(getcwd(cwd, sizeof cwd));
    assert_int_equal(mkdir(path_in(inner, folder, "inner"), 0700), 0);
    assert_int_equal(chdir(inner), 0);
    job.config = FREE ", \"store.place\": \"local\"";
    field_run(&job, &r);
    assert_true(there("inner/.quernstone/default/data.mdb"));
    file_write(path_in(inner, folder, "quernstone.json"), "{}", 2);
    job.config = FREE ", \"store.place\": \"project\"";
    field_run(&job, &r);
    assert_true(there(".quernstone/default/data.mdb"));
    assert_int_equal(chdir(cwd), 0);
}

static void path(void)
{
    assert_int_equal(tuned("abd", FREE), 2);
    assert_true(there("default/data.mdb"));
}

static void environment(void)
{
    assert_int_equal(tuned("abd", FREE ", \"store.environment\": \"one\""), 2);
    assert_int_equal(tuned("abd", FREE ", \"store.environment\": \"two\""), 2);
    assert_int_equal(tuned("abd", FREE ", \"store.environment\": \"one\""), 0);
    assert_true(there("one/data.mdb") && there("two/data.mdb"));
}

/* What does not fit into the file is kept in memory; the file grows no further. */
static void map_mb(void)
{
    static char  value[400 * 1024];
    char         config[600];
    struct stat  found;
    logged       log;
    qst_context *ctx;

    snprintf(config, sizeof config, "\"log\": \"warn\", \"store.map_mb\": 1, \"store.path\": \"%s\"", folder);
    memset(&log, 0, sizeof log);
    qst_options options;
    char        text[700];
    snprintf(text, sizeof text, "{%s}", config);
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_PLUGINS;
    options.config = text;
    options.sink = note;
    options.sink_user = &log;
    assert_int_equal(qst_context_create(&ctx, &options, NULL), QST_OK);
    for (char key = 'a'; key < 'k'; key++)
        assert_int_equal(ctx->store.put(ctx->store.self, QST_DB_PROGRAMS, &key, 1, value, 100 * 1024), QST_OK);
    assert_int_equal(log.lines, 1);
    qst_context_destroy(ctx);
    assert_int_equal(stat(path_in(text, folder, "default/data.mdb"), &found), 0);
    assert_in_range(found.st_size, 1, 1 << 20);
}

static void readonly(void)
{
    assert_int_equal(tuned("abd", FREE), 2);
    assert_int_equal(tuned("abd", FREE ", \"store.readonly\": true"), 0); /* is read */
    assert_int_equal(tuned("abcd", FREE ", \"store.readonly\": true"), 2);
    assert_int_equal(tuned("abcd", FREE ", \"store.readonly\": true"), 2); /* and not written to */
}

/* ---- What is kept -------------------------------------------------------------------------------------------------- */

static void verdicts_cache(void)
{
    assert_int_equal(tuned("abd", FREE ", \"verdicts.cache\": false"), 2);
    assert_int_equal(tuned("abd", FREE ", \"verdicts.cache\": true"), 2);
    assert_int_equal(tuned("abd", FREE ", \"verdicts.cache\": true"), 0);
}

static void throughput_cache(void)
{
    static const char again[] = "\"tune.force\": true, \"tune.budget_ms\": 0";
    char              config[200];

    snprintf(config, sizeof config, "%s, \"throughput.cache\": false", again);
    assert_true(settings_seen(folder, "abd", config)->counters.probe_memory > 0);
    assert_true(settings_seen(folder, "abd", config)->counters.probe_memory > 0);
    assert_true(settings_seen(folder, "abd", again)->counters.probe_memory > 0);
    assert_int_equal(settings_seen(folder, "abd", again)->counters.probe_memory, 0);
}

static field_report settled(const char *config)
{
    static field_report r;
    field_job           job = {
                  .plain = true, .folder = folder, .set = "abd", .config = config, .first = 24, .keys = 2, .settle = true};

    field_run(&job, &r);
    return r;
}

static void programs_cache(void)
{
    (void)settled(FREE ", \"programs.cache\": false");
    assert_int_equal(settled(FREE ", \"programs.cache\": false").binaries, 0);
    (void)settled(FREE);
    assert_int_equal(settled(FREE).binaries, 1);
}

static uint64_t entries(uint32_t db)
{
    qst_context   *ctx = field_look(folder);
    qst_store_stat stat = {.size = sizeof stat};

    assert_int_equal(ctx->store.stat(ctx->store.self, &stat), QST_OK);
    qst_context_destroy(ctx);
    return stat.entries[db];
}

/* A program of 2 MB that nobody has used for long: it goes when a process settles. */
static void programs_max_mb(void)
{
    static char  value[2 << 20];
    uint32_t     head[6] = {0x50545351u, 2, 0, sizeof value - sizeof head - 32, 0, 1000};
    char         key[32] = "a program of long ago";
    qst_context *ctx = field_look(folder);

    memcpy(value, head, sizeof head);
    memcpy(value + sizeof head, key, sizeof key);
    head[2] = qst__crc32(0, value + 12, sizeof value - 12);
    memcpy(value, head, sizeof head);
    assert_int_equal(ctx->store.put(ctx->store.self, QST_DB_PROGRAMS, key, sizeof key, value, sizeof value), QST_OK);
    qst_context_destroy(ctx);
    (void)settled(FREE);
    assert_int_equal(entries(QST_DB_PROGRAMS), 2);
    (void)settled(FREE ", \"programs.max_mb\": 1");
    assert_int_equal(entries(QST_DB_PROGRAMS), 1);
    assert_int_equal(settled(FREE).binaries, 1); /* the winner's is still there */
}

/* ---- What is told -------------------------------------------------------------------------------------------------- */

/* How many lines a run writes to a file descriptor. */
static int lines_on(int fd, const char *config)
{
    char   name[512];
    size_t bytes;
    int    kept = dup(fd), lines = 0, file;

    (void)fflush(NULL);
    file = open(path_in(name, folder, "told"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(kept >= 0 && file >= 0 && dup2(file, fd) == fd);
    (void)settings_seen(NULL, "abd", config);
    (void)fflush(NULL);
    (void)dup2(kept, fd);
    (void)close(kept);
    (void)close(file);
    unsigned char *text = file_read(name, &bytes);
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    free(text);
    return lines;
}

static void decisions_stdout(void)
{
    assert_int_equal(lines_on(1, FREE), 0);
    assert_int_equal(lines_on(1, FREE ", \"decisions.stdout\": true"), 2);
}

static void decisions_stderr(void)
{
    assert_int_equal(lines_on(2, FREE), 0);
    assert_int_equal(lines_on(2, FREE ", \"decisions.stderr\": true"), 2);
}

static void decisions_file(void)
{
    char   config[700], name[512];
    size_t bytes;

    snprintf(config, sizeof config, FREE ", \"decisions.file\": \"%s\"", path_in(name, folder, "decisions"));
    (void)settings_seen(NULL, "abd", config);
    unsigned char *text = file_read(name, &bytes);
    assert_non_null(text);
    assert_non_null(strstr((char *)text, "blend.app.d/1"));
    free(text);
}

static void history_level(void)
{
    (void)tuned("abd", FREE ", \"history.level\": \"off\"");
    assert_int_equal(entries(QST_DB_HISTORY), 0);
    (void)tuned("abd", FREE ", \"tune.force\": true, \"history.level\": \"basic\"");
    assert_true(entries(QST_DB_HISTORY) > 0);
}

static void history_keep(void)
{
    uint64_t one, rest;

    (void)tuned("abd", FREE ", \"history.keep\": 1");
    one = entries(QST_DB_HISTORY);
    for (int i = 0; i < 3; i++)
        (void)tuned("abd", FREE ", \"tune.force\": true, \"history.keep\": 1");
    rest = entries(QST_DB_HISTORY);
    assert_true(rest <= one);
    for (int i = 0; i < 3; i++)
        (void)tuned("abd", FREE ", \"tune.force\": true, \"history.keep\": 100");
    assert_true(entries(QST_DB_HISTORY) >= 3 * rest);
}

static void log_lines(void)
{
    assert_int_equal(settings_seen(NULL, "abd", FREE)->warnings, 0);
    assert_true(settings_seen(NULL, "abd", FREE ", \"log\": \"debug,tune\"")->warnings > 0);
}

static void each_key(void **state)
{
    static const setting_case cases[] = {
        {"device.platform", device_platform},
        {"device.name", device_name},
        {"device.index", device_index},
        {"plugins.dirs", plugins_dirs},
        {"plugins.load", plugins_load},
        {"plugins.required", plugins_required},
        {"plugin.<name>.<key>", plugin_setting},
        {"store.backend", backend},
        {"store.place", place},
        {"store.path", path},
        {"store.environment", environment},
        {"store.map_mb", map_mb},
        {"store.readonly", readonly},
        {"verdicts.cache", verdicts_cache},
        {"throughput.cache", throughput_cache},
        {"programs.cache", programs_cache},
        {"programs.max_mb", programs_max_mb},
        {"decisions.stdout", decisions_stdout},
        {"decisions.stderr", decisions_stderr},
        {"decisions.file", decisions_file},
        {"history.level", history_level},
        {"history.keep", history_keep},
        {"log", log_lines},
    };
    (void)state;
    settings_run(cases, sizeof cases / sizeof *cases,
                 "device plugins plugin store verdicts throughput programs decisions history log");
}

static void next_folder(void)
{
    folder_remove(folder);
    folder = folder_make();
    assert_non_null(folder);
}

/* A section that is new has its keys in neither list. */
static void each_section(void **state)
{
    (void)state;
    settings_sections(
        "tune candidates groups device plugins plugin store verdicts throughput programs decisions history log");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_section), cmocka_unit_test(each_key)};

    settings_before = next_folder;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(folder);
    return failed;
}
