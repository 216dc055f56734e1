/* SPDX-License-Identifier: MIT
 *
 * test_plugins.c: which shared objects become plugins, and the reason of each that does not. The modules under
 * plugins/ are copied into a private directory, whose permissions are the test's to set. */
#define _XOPEN_SOURCE 700
#include "plug/registry.h"

#include <link.h>
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

/* ---- A place of one's own --------------------------------------------------------------------------------------- */

typedef struct fixture {
    size_t       log_length;
    char         log[8192];
    char         directory[256];
    long         live, calls, fail_at; /* allocations */
    qst__alloc   alloc;
    qst__log     sink;
    qst__plugins plugins;
    qst_error    err;
} fixture;

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

static void keep_line(void *user, const char *text, size_t length)
{
    fixture *f = user;
    assert_true(f->log_length + length < sizeof f->log);
    memcpy(f->log + f->log_length, text, length);
    f->log_length += length;
    f->log[f->log_length] = '\0';
}

static int set_up(void **state)
{
    fixture    *f = calloc(1, sizeof *f);
    const char *base = getenv("TMPDIR");
    assert_non_null(f);
    f->alloc = (qst__alloc){count_resize, f};
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

static int tear_down(void **state)
{
    fixture *f = *state;
    char     command[300];
    qst__plugins_finish(&f->plugins);
    assert_int_equal(f->live, 0);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", f->directory);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static const char *path_of(const fixture *f, const char *name)
{
    static char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", f->directory, name);
    return path;
}

static void put_file(const fixture *f, const char *name, const void *data, size_t bytes, mode_t mode)
{
    FILE *file = fopen(path_of(f, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path_of(f, name), mode), 0);
}

/* A module of the build; the variable serves a build by hand. */
static const unsigned char *module_bytes(const char *module, size_t *bytes)
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

static void put_module(const fixture *f, const char *module, const char *name)
{
    size_t               bytes;
    const unsigned char *data = module_bytes(module, &bytes);
    put_file(f, name, data, bytes, 0755);
}

static qst__plugin *entry(fixture *f, size_t index)
{
    assert_true(index < f->plugins.list.count);
    return &f->plugins.list.data[index];
}

static void scan(fixture *f)
{
    assert_int_equal(qst__plugins_scan(&f->plugins, f->directory, NULL, 0, &f->err), QST_OK);
    assert_int_equal(f->err.status, QST_OK);
}

static void assert_refused(fixture *f, size_t index, const char *name, const char *why)
{
    qst__plugin *plugin = entry(f, index);
    char         line[1200];
    assert_int_equal(plugin->state, QST__PLUGIN_REFUSED);
    assert_string_equal(plugin->name, name);
    assert_string_equal(plugin->why, why);
    (void)snprintf(line, sizeof line, "quernstone: warn: plug: %s refused: %s\n", plugin->path, why);
    assert_non_null(strstr(f->log, line));
}

/* ---- Reading descriptors ---------------------------------------------------------------------------------------- */

static void good_ones_are_read(void **state)
{
    fixture *f = *state;
    put_module(f, "good_min", "a.so");
    put_module(f, "good_long", "b.so");
    scan(f);
    assert_int_equal(f->plugins.list.count, 2);

    const qst__plugin *min = entry(f, 0), *longer = entry(f, 1);
    assert_int_equal(min->state, QST__PLUGIN_READY);
    assert_string_equal(min->name, "good_min");
    assert_string_equal(min->path, path_of(f, "a.so"));
    assert_string_equal(min->desc.version, "1.0");
    assert_non_null(min->desc.start);
    assert_null(min->desc.stop);
    assert_null(min->desc.get_extension);
    assert_null(min->why);
    assert_non_null(min->handle);

    assert_int_equal(longer->state, QST__PLUGIN_READY);
    assert_string_equal(longer->name, "good_long");
    assert_int_equal(longer->desc.abi_minor, QST_ABI_MINOR + 3u);
    assert_non_null(longer->desc.stop);
    assert_null(longer->desc.get_extension);
    assert_string_equal(f->log, "");
}

static void bad_ones_are_refused_with_a_reason(void **state)
{
    static const struct {
        const char *module, *why;
    } bad[] = {
        {"bad_claim", "descriptor of 72 bytes in a symbol of 8"},
        {"bad_dependency", "libqst_test_gone.so: cannot open shared object file: No such file or directory"},
        {"bad_flags", "unknown flag 0x10000 must be understood"},
        {"bad_magic", "magic is 0xdeadbeef, not 0x31545351"},
        {"bad_major", "ABI major 2, this host has 1"},
        {"bad_minor", "needs host minor 9, this host has 0"},
        {"bad_name", "name is missing or not of [a-z0-9_]"},
        {"bad_nostart", "no start"},
        {"bad_size", "descriptor of 16 bytes, the least is 56"},
        {"bad_symbol", "no symbol qst_plugin_v1"},
        {"bad_undefined", "undefined symbol: qst_test_nobody_has_this"},
    };
    enum { BAD = sizeof bad / sizeof *bad };
    fixture *f = *state;
    char     name[64];
    for (size_t i = 0; i < BAD; i++) {
        (void)snprintf(name, sizeof name, "%s.so", bad[i].module);
        put_module(f, bad[i].module, name);
    }
    put_module(f, "good_min", "zz.so");
    scan(f);
    assert_int_equal(f->plugins.list.count, BAD + 1);
    for (size_t i = 0; i < BAD; i++)
        assert_refused(f, i, bad[i].module, bad[i].why);
    assert_int_equal(entry(f, BAD)->state, QST__PLUGIN_READY);
}

static void a_descriptor_linked_in(void **state)
{
    fixture   *f = *state;
    qst_plugin given = {.magic = QST_PLUGIN_MAGIC, .size = sizeof given, .abi_major = QST_ABI_MAJOR};
    given.name = "good_min";
    given.version = "1.0";
    assert_int_equal(qst__plugins_add_builtin(&f->plugins, &given, &f->err), QST_E_PLUGIN);
    assert_string_equal(f->err.text, "no start");
    qst__error_clear(&f->err);

    put_module(f, "good_min", "a.so");
    scan(f);
    given.start = entry(f, 0)->desc.start;
    qst__plugins_finish(&f->plugins);
    assert_int_equal(qst__plugins_add_builtin(&f->plugins, &given, &f->err), QST_OK);
    assert_null(entry(f, 0)->path);
    assert_string_equal(entry(f, 0)->name, "good_min");
    assert_int_equal(entry(f, 0)->state, QST__PLUGIN_READY);
    assert_int_equal(qst__plugins_add_builtin(&f->plugins, &given, &f->err), QST_E_PLUGIN);
    assert_string_equal(f->err.text, "good_min is built in twice");
    qst__error_clear(&f->err);

    scan(f); /* the same name and version: nothing to tell */
    assert_int_equal(f->plugins.list.count, 1);
    assert_string_equal(f->log, "");

    f->plugins.list.data[0].desc.version = "0.9";
    scan(f);
    assert_int_equal(f->plugins.list.count, 2);
    assert_refused(f, 1, "good_min", "good_min is there already, built in");
}

static void a_name_too_long(void **state)
{
    fixture   *f = *state;
    qst_plugin given = {.magic = QST_PLUGIN_MAGIC, .size = sizeof given, .abi_major = QST_ABI_MAJOR}, copy;
    given.name = "a123456789b123456789c123456789d123456789e123456789f123456789g123";
    assert_int_equal(qst__plugin_read(&given, &copy, &f->err), QST_E_PLUGIN);
    assert_string_equal(f->err.text, "name is longer than 63 characters");
    qst__error_clear(&f->err);
    given.name = NULL;
    assert_int_equal(qst__plugin_read(&given, &copy, &f->err), QST_E_PLUGIN);
    assert_string_equal(f->err.text, "name is missing or not of [a-z0-9_]");
    assert_string_equal(f->err.source, "plugin");
}

/* ---- Files and directories -------------------------------------------------------------------------------------- */

static void what_is_no_shared_object(void **state)
{
    fixture *f = *state;
    put_file(f, "empty.so", "", 0, 0644);
    put_file(f, "text.so", "#!/bin/sh\n", 10, 0755);
    put_file(f, "torn.so", "\177ELF", 4, 0755);
    put_file(f, "readme.txt", "no plugin\n", 10, 0644);
    put_file(f, ".hidden.so", "x", 1, 0644);
    put_file(f, ".so", "x", 1, 0644);
    assert_int_equal(mkdir(path_of(f, "folder.so"), 0755), 0);
    assert_int_equal(symlink("/nowhere/at/all.so", path_of(f, "gone.so")), 0);
    scan(f);
    assert_int_equal(f->plugins.list.count, 5);
    assert_refused(f, 0, "empty", "not a shared object");
    char why[600];
    (void)snprintf(why, sizeof why, "%s is not a regular file", path_of(f, "folder.so"));
    assert_refused(f, 1, "folder", why);
    (void)snprintf(why, sizeof why, "%s: No such file or directory", path_of(f, "gone.so"));
    assert_refused(f, 2, "gone", why);
    assert_refused(f, 3, "text", "not a shared object");
    (void)snprintf(why, sizeof why, "file ends at byte 4, its header needs %zu", sizeof(ElfW(Ehdr)));
    assert_refused(f, 4, "torn", why);
}

/* The byte at which the last loaded segment ends; `headers`: at which the program headers do. */
static size_t segments_end(const unsigned char *data, size_t *headers)
{
    ElfW(Ehdr) header;
    size_t end = 0;
    memcpy(&header, data, sizeof header);
    *headers = header.e_phoff + header.e_phnum * sizeof(ElfW(Phdr));
    for (size_t i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, data + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD && segment.p_offset + segment.p_filesz > end)
            end = segment.p_offset + segment.p_filesz;
    }
    return end;
}

/* The linker maps such a file gladly, and dies where it reads past its end. */
static void cut_short(void **state)
{
    fixture             *f = *state;
    size_t               bytes, headers;
    const unsigned char *data = module_bytes("good_min", &bytes);
    const size_t         end = segments_end(data, &headers);
    const struct {
        size_t      length, needed;
        const char *what;
    } cut[] = {
        {5, sizeof(ElfW(Ehdr)), "header needs"},
        {sizeof(ElfW(Ehdr)) - 1, sizeof(ElfW(Ehdr)), "header needs"},
        {sizeof(ElfW(Ehdr)), headers, "program headers need"},
        {headers - 1, headers, "program headers need"},
        {headers, end, "segments need"},
        {4096, end, "segments need"},
        {end / 2, end, "segments need"},
        {end - 1, end, "segments need"},
    };
    enum { CUTS = sizeof cut / sizeof *cut };
    char text[100];
    assert_true(end > 8192 && end < bytes);
    for (size_t i = 0; i < CUTS; i++) {
        (void)snprintf(text, sizeof text, "%zu.so", i);
        put_file(f, text, data, cut[i].length, 0755);
    }
    put_file(f, "v.so", data, end, 0755); /* without its section headers */
    scan(f);
    assert_int_equal(f->plugins.list.count, CUTS + 1);
    for (size_t i = 0; i < CUTS; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "%zu", i);
        (void)snprintf(text, sizeof text, "file ends at byte %zu, its %s %zu", cut[i].length, cut[i].what,
                       cut[i].needed);
        assert_refused(f, i, name, text);
        assert_null(entry(f, i)->handle);
    }
    assert_int_equal(entry(f, CUTS)->state, QST__PLUGIN_READY);
}

/* A segment whose end is past all numbers, and one whose place is. */
static void stated_absurdly(void **state)
{
    fixture             *f = *state;
    size_t               bytes, headers;
    static unsigned char data[1u << 20];
    ElfW(Ehdr) header;
    ElfW(Phdr) segment = {.p_type = PT_LOAD};
    char                 why[100];
    const unsigned char *module = module_bytes("good_min", &bytes);
    assert_true(bytes <= sizeof data);
    memcpy(data, module, bytes);
    (void)segments_end(data, &headers);
    memcpy(&header, data, sizeof header);
    memset(&segment.p_offset, 0xff, sizeof segment.p_offset);
    memset(&segment.p_filesz, 0xff, sizeof segment.p_filesz);
    memcpy(data + header.e_phoff, &segment, sizeof segment);
    put_file(f, "a.so", data, bytes, 0755);
    memcpy(data, module, bytes);
    memset(&header.e_phoff, 0xff, sizeof header.e_phoff);
    memcpy(data, &header, sizeof header);
    put_file(f, "b.so", data, bytes, 0755);
    scan(f);
    assert_int_equal(f->plugins.list.count, 2);
    (void)snprintf(why, sizeof why, "file ends at byte %zu, its segments need ", bytes);
    assert_memory_equal(entry(f, 0)->why, why, strlen(why));
    (void)snprintf(why, sizeof why, "file ends at byte %zu, its program headers need ", bytes);
    assert_memory_equal(entry(f, 1)->why, why, strlen(why));
}

static void writable_by_others(void **state)
{
    fixture *f = *state;
    char     why[600];
    put_module(f, "good_min", "a.so");
    put_module(f, "good_long", "b.so");
    assert_int_equal(chmod(path_of(f, "a.so"), 0757), 0);
    assert_int_equal(chmod(path_of(f, "b.so"), 0775), 0);
    scan(f);
    (void)snprintf(why, sizeof why, "file %s is writable by others", path_of(f, "a.so"));
    assert_refused(f, 0, "a", why);
    (void)snprintf(why, sizeof why, "file %s is writable by its group", path_of(f, "b.so"));
    assert_refused(f, 1, "b", why);
    assert_null(entry(f, 0)->handle);
    assert_null(entry(f, 1)->handle);

    qst__plugins_finish(&f->plugins);
    assert_int_equal(chmod(path_of(f, "a.so"), 0755), 0);
    assert_int_equal(chmod(f->directory, 0777), 0);
    scan(f);
    assert_int_equal(f->plugins.list.count, 1);
    (void)snprintf(why, sizeof why, "directory %s is writable by others", f->directory);
    assert_refused(f, 0, strrchr(f->directory, '/') + 1, why);

    /* A link from a good directory into a bad one makes it no better. */
    qst__plugins_finish(&f->plugins);
    assert_int_equal(mkdir(path_of(f, "good"), 0755), 0);
    assert_int_equal(symlink("../a.so", path_of(f, "good/link.so")), 0);
    assert_int_equal(qst__plugins_scan(&f->plugins, path_of(f, "good"), NULL, 0, &f->err), QST_OK);
    assert_refused(f, 0, "link", why);
}

static void owned_by_another(void **state)
{
    fixture *f = *state;
    char     why[600];
    if (geteuid() != 0)
        skip(); /* only root can give files away */
    put_module(f, "good_min", "a.so");
    assert_int_equal(chown(path_of(f, "a.so"), 12345, 0), 0);
    scan(f);
    (void)snprintf(why, sizeof why, "file %s is owned by user 12345, not by root or user 0", path_of(f, "a.so"));
    assert_refused(f, 0, "a", why);
    qst__plugins_finish(&f->plugins);
    assert_int_equal(chown(f->directory, 12345, 0), 0);
    scan(f);
    (void)snprintf(why, sizeof why, "directory %s is owned by user 12345, not by root or user 0", f->directory);
    assert_refused(f, 0, strrchr(f->directory, '/') + 1, why);
}

static void missing_directory(void **state)
{
    fixture *f = *state;
    char     text[600];
    assert_int_equal(qst__plugins_scan(&f->plugins, path_of(f, "none"), NULL, 0, &f->err), QST_OK);
    assert_int_equal(f->plugins.list.count, 0);
    (void)snprintf(text, sizeof text, "quernstone: warn: plug: plugins are looked for in %s, which is not there\n",
                   path_of(f, "none"));
    assert_string_equal(f->log, text);

    put_file(f, "file", "x", 1, 0644);
    assert_int_equal(qst__plugins_scan(&f->plugins, path_of(f, "file"), NULL, 0, &f->err), QST_OK);
    (void)snprintf(text, sizeof text, "%s is not a directory", path_of(f, "file"));
    assert_refused(f, 0, "file", text);
}

static void two_of_a_name(void **state)
{
    fixture *f = *state;
    char     why[600];
    put_module(f, "good_min", "b.so");
    put_module(f, "good_min", "a.so");
    scan(f);
    assert_int_equal(f->plugins.list.count, 2);
    assert_int_equal(entry(f, 0)->state, QST__PLUGIN_READY);
    assert_string_equal(entry(f, 0)->path, path_of(f, "a.so"));
    (void)snprintf(why, sizeof why, "good_min is there already, from %s", path_of(f, "a.so"));
    assert_refused(f, 1, "good_min", why);
    scan(f); /* the same directory once more brings nothing new */
    assert_int_equal(f->plugins.list.count, 2);
}

static void only_what_is_to_be_loaded(void **state)
{
    fixture                 *f = *state;
    static const char *const min[] = {"good_m*"}, *const other[] = {"nobody", "x"}, *const file[] = {"a"};
    put_module(f, "good_min", "libgood_min.so");
    put_module(f, "good_long", "good_long.so");
    put_module(f, "good_long", "a.so");
    assert_int_equal(qst__plugins_scan(&f->plugins, f->directory, other, 2, &f->err), QST_OK);
    assert_int_equal(f->plugins.list.count, 0);
    assert_int_equal(qst__plugins_scan(&f->plugins, f->directory, min, 1, &f->err), QST_OK);
    assert_int_equal(f->plugins.list.count, 1);
    assert_string_equal(entry(f, 0)->name, "good_min");
    assert_int_equal(entry(f, 0)->state, QST__PLUGIN_READY);
    assert_int_equal(qst__plugins_scan(&f->plugins, f->directory, file, 1, &f->err), QST_OK);
    assert_int_equal(f->plugins.list.count, 2);
    assert_refused(f, 1, "good_long", "its name good_long is not among plugins.load");
}

/* ---- Again and again -------------------------------------------------------------------------------------------- */

static void loaded_ten_times(void **state)
{
    fixture *f = *state;
    void    *first = NULL;
    put_module(f, "good_min", "good.so");
    put_module(f, "bad_major", "bad.so");
    for (int i = 0; i < 10; i++) {
        scan(f);
        assert_int_equal(f->plugins.list.count, 2);
        assert_int_equal(entry(f, 0)->state, QST__PLUGIN_REFUSED);
        assert_int_equal(entry(f, 1)->state, QST__PLUGIN_READY);
        void *instance = f;
        assert_int_equal(entry(f, 1)->desc.start(NULL, &instance), QST_OK);
        assert_null(instance);
        if (i)
            assert_ptr_equal(entry(f, 1)->handle, first);
        first = entry(f, 1)->handle; /* resident: the same each time */
        qst__plugins_finish(&f->plugins);
        assert_int_equal(f->live, 0);
    }
}

static void every_allocation_fails_once(void **state)
{
    fixture *f = *state;
    long     n = 0;
    put_module(f, "good_min", "good.so");
    put_module(f, "bad_major", "bad.so");
    for (qst_status status = QST_E_NOMEM; status != QST_OK;) {
        assert_true(++n < 100);
        qst__error_clear(&f->err);
        f->calls = 0;
        f->fail_at = n;
        status = qst__plugins_scan(&f->plugins, f->directory, NULL, 0, &f->err);
        if (status != QST_OK) {
            assert_int_equal(status, QST_E_NOMEM);
            assert_string_equal(f->err.text, "no memory for the list of plugins");
        }
        f->fail_at = 0;
        qst__plugins_finish(&f->plugins);
        assert_int_equal(f->live, 0);
    }
    assert_true(n > 8);
}

static void refused_later(void **state)
{
    fixture *f = *state;
    put_module(f, "good_min", "good.so");
    scan(f);
    qst__plugin_refuse(&f->plugins, entry(f, 0), "start gave %s", "E_CL");
    assert_refused(f, 0, "good_min", "start gave E_CL");
    assert_string_equal(entry(f, 0)->desc.name, "good_min");
}

static void home_is_beside_the_program(void **state)
{
    fixture *f = *state;
    char     expected[4200], *self = realpath("/proc/self/exe", NULL);
    assert_non_null(self);
    *strrchr(self, '/') = '\0';
    (void)snprintf(expected, sizeof expected, "%.4000s/quernstone/plugins-1", self);
    free(self);
    char *home = NULL;

    assert_int_equal(qst__plugins_home(&f->alloc, &home), QST_OK);
    assert_non_null(home);
    assert_string_equal(home, expected);
    qst__free(&f->alloc, home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(good_ones_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_ones_are_refused_with_a_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_descriptor_linked_in, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_name_too_long, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_shared_object, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cut_short, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stated_absurdly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(writable_by_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(owned_by_another, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_of_a_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_what_is_to_be_loaded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(loaded_ten_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_fails_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refused_later, set_up, tear_down),
        cmocka_unit_test_setup_teardown(home_is_beside_the_program, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
