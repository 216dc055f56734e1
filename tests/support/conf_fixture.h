/* SPDX-License-Identifier: MIT
 *
 * conf_fixture.h: a home, a project and a working directory of one's own for tests of the configuration, with no
 * QST_ variable set, and an allocator that counts and fails when told.
 */
#ifndef QST_TESTS_CONF_FIXTURE_H
#define QST_TESTS_CONF_FIXTURE_H

#include "conf/conf.h"
#include "support/meter.h"

typedef struct conf_fixture {
    meter      meter;        /* its left: allocations that succeed, negative: all */
    char       before[4096]; /* the working directory that the test came from */
    char       root[256];    /* with home/, project/sub/ */
    qst__alloc alloc;
    qst__conf *conf;
    qst_error  err;
} conf_fixture;

/* cmocka's setup and teardown: *state is a conf_fixture. The teardown fails where memory is left. */
int conf_set_up(void **state);
int conf_tear_down(void **state);

#define CONF_TEST(function) cmocka_unit_test_setup_teardown(function, conf_set_up, conf_tear_down)

/* `name` below the root; two may be in use at a time. */
const char *conf_at(const conf_fixture *f, const char *name);

/* A file below the root. */
void conf_put(const conf_fixture *f, const char *name, const char *text);
void conf_setenv(const char *name, const char *value);

/* Reads everything, in the working directory. */
qst_status           conf_load(conf_fixture *f, const char *api);
const qst__settings *conf_loaded(conf_fixture *f, const char *api); /* which must go well */

/* The error's line is `text` behind the place, which is a file below the root where it begins with a dot. */
void conf_assert_fails(conf_fixture *f, const char *api, const char *place, const char *text);

/* The strings, joined by bars. */
void conf_assert_strings(const qst__strings *strings, const char *joined);

/* `entry` is a part of what `qst config --json` would show, which is written on one line. */
void conf_assert_described(const conf_fixture *f, const char *entry);

#endif
