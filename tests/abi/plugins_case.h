/* SPDX-License-Identifier: MIT
 *
 * plugins_case.h: a private directory into which a test copies modules, its permissions the test's to set, and the search
 * in it. What goes wrong fails the test.
 */
#ifndef TEST_ABI_PLUGINS_CASE_H
#define TEST_ABI_PLUGINS_CASE_H

#include "plug/registry.h"
#include "support/meter.h"

#include <sys/types.h>

typedef struct plugins_case {
    size_t       log_length;
    char         log[8192];
    char         directory[256];
    meter        meter; /* its left: allocations that succeed, negative: all */
    qst__alloc   alloc;
    qst__log     sink;
    qst__plugins plugins;
    qst_error    err;
} plugins_case;

/* Set-up and tear-down of each test; after it no memory is held and the directory is gone. */
int plugins_case_open(void **state);
int plugins_case_close(void **state);

/* Of a file in the directory; static, until the next call. */
const char *plugins_case_path(const plugins_case *f, const char *name);
void        plugins_case_file(const plugins_case *f, const char *name, const void *data, size_t bytes, mode_t mode);

/* A module of the build: its bytes, static until the next call; and a copy of it. The variable QST_TEST_PLUGINS serves a
 * build by hand. */
const unsigned char *plugins_case_module_bytes(const char *module, size_t *bytes);
void                 plugins_case_module(const plugins_case *f, const char *module, const char *name);

void         plugins_case_scan(plugins_case *f);
qst__plugin *plugins_case_entry(plugins_case *f, size_t index);

/* It is refused for that reason, by one line in the log. */
void plugins_case_refused(plugins_case *f, size_t index, const char *name, const char *why);

#endif
