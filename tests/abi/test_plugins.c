/* SPDX-License-Identifier: MIT
 *
 * test_plugins.c: which shared objects become plugins, and the reason of each that does not. The modules under
 * plugins/ are copied into a private directory, whose permissions are the test's to set. */
#define _XOPEN_SOURCE 700
#include "plugins_case.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Reading descriptors ---------------------------------------------------------------------------------------- */

static void good_ones_are_read(void **state)
{
    plugins_case *f = *state;
    plugins_case_module(f, "good_min", "a.so");
    plugins_case_module(f, "good_long", "b.so");
    plugins_case_scan(f);
    assert_int_equal(f->plugins.list.count, 2);

    const qst__plugin *min = plugins_case_entry(f, 0), *longer = plugins_case_entry(f, 1);
    assert_int_equal(min->state, QST__PLUGIN_READY);
    assert_string_equal(min->name, "good_min");
    assert_string_equal(min->path, plugins_case_path(f, "a.so"));
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
    plugins_case *f = *state;
    char          name[64];
    for (size_t i = 0; i < BAD; i++) {
        (void)snprintf(name, sizeof name, "%s.so", bad[i].module);
        plugins_case_module(f, bad[i].module, name);
    }
    plugins_case_module(f, "good_min", "zz.so");
    plugins_case_scan(f);
    assert_int_equal(f->plugins.list.count, BAD + 1);
    for (size_t i = 0; i < BAD; i++)
        plugins_case_refused(f, i, bad[i].module, bad[i].why);
    assert_int_equal(plugins_case_entry(f, BAD)->state, QST__PLUGIN_READY);
}

static void a_descriptor_linked_in(void **state)
{
    plugins_case *f = *state;
    qst_plugin    given = {.magic = QST_PLUGIN_MAGIC, .size = sizeof given, .abi_major = QST_ABI_MAJOR};
    given.name = "good_min";
    given.version = "1.0";
    assert_int_equal(qst__plugins_add_builtin(&f->plugins, &given, &f->err), QST_E_PLUGIN);
    assert_string_equal(f->err.text, "no start");
    qst__error_clear(&f->err);

    plugins_case_module(f, "good_min", "a.so");
    plugins_case_scan(f);
    given.start = plugins_case_entry(f, 0)->desc.start;
    qst__plugins_finish(&f->plugins);
    assert_int_equal(qst__plugins_add_builtin(&f->plugins, &given, &f->err), QST_OK);
    assert_null(plugins_case_entry(f, 0)->path);
    assert_string_equal(plugins_case_entry(f, 0)->name, "good_min");
    assert_int_equal(plugins_case_entry(f, 0)->state, QST__PLUGIN_READY);
    assert_int_equal(qst__plugins_add_builtin(&f->plugins, &given, &f->err), QST_E_PLUGIN);
    assert_string_equal(f->err.text, "good_min is built in twice");
    qst__error_clear(&f->err);

    plugins_case_scan(f); /* the same name and version: nothing to tell */
    assert_int_equal(f->plugins.list.count, 1);
    assert_string_equal(f->log, "");

    f->plugins.list.data[0].desc.version = "0.9";
    plugins_case_scan(f);
    assert_int_equal(f->plugins.list.count, 2);
    plugins_case_refused(f, 1, "good_min", "good_min is there already, built in");
}

static void a_name_too_long(void **state)
{
    plugins_case *f = *state;
    qst_plugin    given = {.magic = QST_PLUGIN_MAGIC, .size = sizeof given, .abi_major = QST_ABI_MAJOR}, copy;
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
    plugins_case *f = *state;
    plugins_case_file(f, "empty.so", "", 0, 0644);
    plugins_case_file(f, "text.so", "#!/bin/sh\n", 10, 0755);
    plugins_case_file(f, "torn.so", "\177ELF", 4, 0755);
    plugins_case_file(f, "readme.txt", "no plugin\n", 10, 0644);
    plugins_case_file(f, ".hidden.so", "x", 1, 0644);
    plugins_case_file(f, ".so", "x", 1, 0644);
    assert_int_equal(mkdir(plugins_case_path(f, "folder.so"), 0755), 0);
    assert_int_equal(symlink("/nowhere/at/all.so", plugins_case_path(f, "gone.so")), 0);
    plugins_case_scan(f);
    assert_int_equal(f->plugins.list.count, 5);
    plugins_case_refused(f, 0, "empty", "not a shared object");
    char why[600];
    (void)snprintf(why, sizeof why, "%s is not a regular file", plugins_case_path(f, "folder.so"));
    plugins_case_refused(f, 1, "folder", why);
    (void)snprintf(why, sizeof why, "%s: No such file or directory", plugins_case_path(f, "gone.so"));
    plugins_case_refused(f, 2, "gone", why);
    plugins_case_refused(f, 3, "text", "not a shared object");
    (void)snprintf(why, sizeof why, "file ends at byte 4, its header needs %zu", sizeof(ElfW(Ehdr)));
    plugins_case_refused(f, 4, "torn", why);
}

static void writable_by_others(void **state)
{
    plugins_case *f = *state;
    char          why[600];
    plugins_case_module(f, "good_min", "a.so");
    plugins_case_module(f, "good_long", "b.so");
    assert_int_equal(chmod(plugins_case_path(f, "a.so"), 0757), 0);
    assert_int_equal(chmod(plugins_case_path(f, "b.so"), 0775), 0);
    plugins_case_scan(f);
    (void)snprintf(why, sizeof why, "file %s is writable by others", plugins_case_path(f, "a.so"));
    plugins_case_refused(f, 0, "a", why);
    (void)snprintf(why, sizeof why, "file %s is writable by its group", plugins_case_path(f, "b.so"));
    plugins_case_refused(f, 1, "b", why);
    assert_null(plugins_case_entry(f, 0)->handle);
    assert_null(plugins_case_entry(f, 1)->handle);

    qst__plugins_finish(&f->plugins);
    assert_int_equal(chmod(plugins_case_path(f, "a.so"), 0755), 0);
    assert_int_equal(chmod(f->directory, 0777), 0);
    plugins_case_scan(f);
    assert_int_equal(f->plugins.list.count, 1);
    (void)snprintf(why, sizeof why, "directory %s is writable by others", f->directory);
    plugins_case_refused(f, 0, strrchr(f->directory, '/') + 1, why);

    /* A link from a good directory into a bad one makes it no better. */
    qst__plugins_finish(&f->plugins);
    assert_int_equal(mkdir(plugins_case_path(f, "good"), 0755), 0);
    assert_int_equal(symlink("../a.so", plugins_case_path(f, "good/link.so")), 0);
    assert_int_equal(qst__plugins_scan(&f->plugins, plugins_case_path(f, "good"), NULL, 0, &f->err), QST_OK);
    plugins_case_refused(f, 0, "link", why);
}

static void owned_by_another(void **state)
{
    plugins_case *f = *state;
    char          why[600];
    if (geteuid() != 0)
        skip(); /* only root can give files away */
    plugins_case_module(f, "good_min", "a.so");
    assert_int_equal(chown(plugins_case_path(f, "a.so"), 12345, 0), 0);
    plugins_case_scan(f);
    (void)snprintf(why, sizeof why, "file %s is owned by user 12345, not by root or user 0",
                   plugins_case_path(f, "a.so"));
    plugins_case_refused(f, 0, "a", why);
    qst__plugins_finish(&f->plugins);
    assert_int_equal(chown(f->directory, 12345, 0), 0);
    plugins_case_scan(f);
    (void)snprintf(why, sizeof why, "directory %s is owned by user 12345, not by root or user 0", f->directory);
    plugins_case_refused(f, 0, strrchr(f->directory, '/') + 1, why);
}

static void missing_directory(void **state)
{
    plugins_case *f = *state;
    char          text[600];
    assert_int_equal(qst__plugins_scan(&f->plugins, plugins_case_path(f, "none"), NULL, 0, &f->err), QST_OK);
    assert_int_equal(f->plugins.list.count, 0);
    (void)snprintf(text, sizeof text, "quernstone: warn: plug: plugins are looked for in %s, which is not there\n",
                   plugins_case_path(f, "none"));
    assert_string_equal(f->log, text);

    plugins_case_file(f, "file", "x", 1, 0644);
    assert_int_equal(qst__plugins_scan(&f->plugins, plugins_case_path(f, "file"), NULL, 0, &f->err), QST_OK);
    (void)snprintf(text, sizeof text, "%s is not a directory", plugins_case_path(f, "file"));
    plugins_case_refused(f, 0, "file", text);
}

static void two_of_a_name(void **state)
{
    plugins_case *f = *state;
    char          why[600];
    plugins_case_module(f, "good_min", "b.so");
    plugins_case_module(f, "good_min", "a.so");
    plugins_case_scan(f);
    assert_int_equal(f->plugins.list.count, 2);
    assert_int_equal(plugins_case_entry(f, 0)->state, QST__PLUGIN_READY);
    assert_string_equal(plugins_case_entry(f, 0)->path, plugins_case_path(f, "a.so"));
    (void)snprintf(why, sizeof why, "good_min is there already, from %s", plugins_case_path(f, "a.so"));
    plugins_case_refused(f, 1, "good_min", why);
    plugins_case_scan(f); /* the same directory once more brings nothing new */
    assert_int_equal(f->plugins.list.count, 2);
}

static void only_what_is_to_be_loaded(void **state)
{
    plugins_case            *f = *state;
    static const char *const min[] = {"good_m*"}, *const other[] = {"nobody", "x"}, *const file[] = {"a"};
    plugins_case_module(f, "good_min", "libgood_min.so");
    plugins_case_module(f, "good_long", "good_long.so");
    plugins_case_module(f, "good_long", "a.so");
    assert_int_equal(qst__plugins_scan(&f->plugins, f->directory, other, 2, &f->err), QST_OK);
    assert_int_equal(f->plugins.list.count, 0);
    assert_int_equal(qst__plugins_scan(&f->plugins, f->directory, min, 1, &f->err), QST_OK);
    assert_int_equal(f->plugins.list.count, 1);
    assert_string_equal(plugins_case_entry(f, 0)->name, "good_min");
    assert_int_equal(plugins_case_entry(f, 0)->state, QST__PLUGIN_READY);
    assert_int_equal(qst__plugins_scan(&f->plugins, f->directory, file, 1, &f->err), QST_OK);
    assert_int_equal(f->plugins.list.count, 2);
    plugins_case_refused(f, 1, "good_long", "its name good_long is not among plugins.load");
}

/* ---- Again and again -------------------------------------------------------------------------------------------- */

static void loaded_ten_times(void **state)
{
    plugins_case *f = *state;
    void         *first = NULL;
    plugins_case_module(f, "good_min", "good.so");
    plugins_case_module(f, "bad_major", "bad.so");
    for (int i = 0; i < 10; i++) {
        plugins_case_scan(f);
        assert_int_equal(f->plugins.list.count, 2);
        assert_int_equal(plugins_case_entry(f, 0)->state, QST__PLUGIN_REFUSED);
        assert_int_equal(plugins_case_entry(f, 1)->state, QST__PLUGIN_READY);
        void *instance = f;
        assert_int_equal(plugins_case_entry(f, 1)->desc.start(NULL, &instance), QST_OK);
        assert_null(instance);
        if (i)
            assert_ptr_equal(plugins_case_entry(f, 1)->handle, first);
        first = plugins_case_entry(f, 1)->handle; /* resident: the same each time */
        qst__plugins_finish(&f->plugins);
        assert_int_equal(f->meter.live, 0);
    }
}

static void every_allocation_fails_once(void **state)
{
    plugins_case *f = *state;
    int           n = 0;
    plugins_case_module(f, "good_min", "good.so");
    plugins_case_module(f, "bad_major", "bad.so");
    for (qst_status status = QST_E_NOMEM; status != QST_OK;) {
        assert_true(++n < 100);
        qst__error_clear(&f->err);
        f->meter.left = n - 1;
        status = qst__plugins_scan(&f->plugins, f->directory, NULL, 0, &f->err);
        if (status != QST_OK) {
            assert_int_equal(status, QST_E_NOMEM);
            assert_string_equal(f->err.text, "no memory for the list of plugins");
        }
        f->meter.left = -1;
        qst__plugins_finish(&f->plugins);
        assert_int_equal(f->meter.live, 0);
    }
    assert_true(n > 8);
}

static void refused_later(void **state)
{
    plugins_case *f = *state;
    plugins_case_module(f, "good_min", "good.so");
    plugins_case_scan(f);
    qst__plugin_refuse(&f->plugins, plugins_case_entry(f, 0), "start gave %s", "E_CL");
    plugins_case_refused(f, 0, "good_min", "start gave E_CL");
    assert_string_equal(plugins_case_entry(f, 0)->desc.name, "good_min");
}

static void home_is_beside_the_program(void **state)
{
    plugins_case *f = *state;
    char          expected[4200], *self = realpath("/proc/self/exe", NULL);
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
        cmocka_unit_test_setup_teardown(good_ones_are_read, plugins_case_open, plugins_case_close),
        cmocka_unit_test_setup_teardown(bad_ones_are_refused_with_a_reason, plugins_case_open, plugins_case_close),
        cmocka_unit_test_setup_teardown(a_descriptor_linked_in, plugins_case_open, plugins_case_close),
        cmocka_unit_test_setup_teardown(a_name_too_long, plugins_case_open, plugins_case_close),
        cmocka_unit_test_setup_teardown(what_is_no_shared_object, plugins_case_open, plugins_case_close),
        cmocka_unit_test_setup_teardown(writable_by_others, plugins_case_open, plugins_case_close),
        cmocka_unit_test_setup_teardown(owned_by_another, plugins_case_open, plugins_case_close),
        cmocka_unit_test_setup_teardown(missing_directory, plugins_case_open, plugins_case_close),
        cmocka_unit_test_setup_teardown(two_of_a_name, plugins_case_open, plugins_case_close),
        cmocka_unit_test_setup_teardown(only_what_is_to_be_loaded, plugins_case_open, plugins_case_close),
        cmocka_unit_test_setup_teardown(loaded_ten_times, plugins_case_open, plugins_case_close),
        cmocka_unit_test_setup_teardown(every_allocation_fails_once, plugins_case_open, plugins_case_close),
        cmocka_unit_test_setup_teardown(refused_later, plugins_case_open, plugins_case_close),
        cmocka_unit_test_setup_teardown(home_is_beside_the_program, plugins_case_open, plugins_case_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
