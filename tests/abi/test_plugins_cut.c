/* SPDX-License-Identifier: MIT
 *
 * test_plugins_cut.c: files that end before what their headers state are refused before the linker sees them. */
#include "plugins_case.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

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
    plugins_case        *f = *state;
    size_t               bytes, headers;
    const unsigned char *data = plugins_case_module_bytes("good_min", &bytes);
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
        plugins_case_file(f, text, data, cut[i].length, 0755);
    }
    plugins_case_file(f, "v.so", data, end, 0755); /* without its section headers */
    plugins_case_scan(f);
    assert_int_equal(f->plugins.list.count, CUTS + 1);
    for (size_t i = 0; i < CUTS; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "%zu", i);
        (void)snprintf(text, sizeof text, "file ends at byte %zu, its %s %zu", cut[i].length, cut[i].what,
                       cut[i].needed);
        plugins_case_refused(f, i, name, text);
        assert_null(plugins_case_entry(f, i)->handle);
    }
    assert_int_equal(plugins_case_entry(f, CUTS)->state, QST__PLUGIN_READY);
}

/* A segment whose end is past all numbers, and one whose place is. */
static void stated_absurdly(void **state)
{
    plugins_case        *f = *state;
    size_t               bytes, headers;
    static unsigned char data[1u << 20];
    ElfW(Ehdr) header;
    ElfW(Phdr) segment = {.p_type = PT_LOAD};
    char                 why[100];
    const unsigned char *module = plugins_case_module_bytes("good_min", &bytes);
    assert_true(bytes <= sizeof data);
    memcpy(data, module, bytes);
    (void)segments_end(data, &headers);
    memcpy(&header, data, sizeof header);
    memset(&segment.p_offset, 0xff, sizeof segment.p_offset);
    memset(&segment.p_filesz, 0xff, sizeof segment.p_filesz);
    memcpy(data + header.e_phoff, &segment, sizeof segment);
    plugins_case_file(f, "a.so", data, bytes, 0755);
    memcpy(data, module, bytes);
    memset(&header.e_phoff, 0xff, sizeof header.e_phoff);
    memcpy(data, &header, sizeof header);
    plugins_case_file(f, "b.so", data, bytes, 0755);
    plugins_case_scan(f);
    assert_int_equal(f->plugins.list.count, 2);
    (void)snprintf(why, sizeof why, "file ends at byte %zu, its segments need ", bytes);
    assert_memory_equal(plugins_case_entry(f, 0)->why, why, strlen(why));
    (void)snprintf(why, sizeof why, "file ends at byte %zu, its program headers need ", bytes);
    assert_memory_equal(plugins_case_entry(f, 1)->why, why, strlen(why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cut_short, plugins_case_open, plugins_case_close),
        cmocka_unit_test_setup_teardown(stated_absurdly, plugins_case_open, plugins_case_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
