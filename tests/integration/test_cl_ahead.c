/* SPDX-License-Identifier: MIT
 *
 * test_cl_ahead.c: the process that compiles ahead: what it was sent once it is not sent again, what fails in it is no
 * failure here, what kills it once it has answered is refused, and where there is none nothing is missed.
 */
#include "cl/ahead.h"
#include "launch_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <quernstone/kit.h>

#define FORERUNNER "quernstone/qst-ahead" /* beside the test */

static const char killer[] = "kernel void put(global uint *to, ulong at, uint value, local uint *mine) {"
                             "    *(global volatile uint *)(size_t)(value + at) = 1;"
                             "}";
static const char bad[] = "kernel void put(global uint *to) { to[0] = no_such_name; }";

typedef struct ahead_case {
    bench        b;
    qst__log     log;
    qst__ahead  *ahead;
    qst_program  desc;
    uint64_t     bytes[QST_OPERANDS_MAX];
    _Atomic bool stop, urgent;
    qst__clock   clock;
    uint64_t     now, leap; /* of the clock: what it says, and by how much more each time */
    int          warnings;
} ahead_case;

static uint64_t leap_on(void *user)
{
    ahead_case *c = user;
    return c->now += c->leap;
}

static void count_line(void *user, const char *text, size_t length)
{
    ahead_case *c = user;
    (void)length;
    c->warnings += strstr(text, "warn: cl: a test: building ahead") != NULL;
}

/* One launch of `put` over the first of two buffers. */
static void open_case(ahead_case *c, cl_fixture *fixture, const char *path, const char *text)
{
    memset(c, 0, sizeof *c);
    c->b = open_bench(fixture, false);
    add_put(&c->b, 7);
    c->desc = cl_fixture_source(text, NULL);
    c->bytes[0] = c->bytes[1] = 64 * sizeof(uint32_t);
    c->leap = 1;
    c->clock = (qst__clock){leap_on, c};
    c->log.sink = count_line;
    c->log.user = c;
    assert_int_equal(qst__log_configure(&c->log, "warn", NULL), QST_OK);
    c->ahead = qst__ahead_create(&fixture->alloc, &c->log, &c->clock, path);
    assert_non_null(c->ahead);
}

static void close_case(ahead_case *c)
{
    qst__ahead_destroy(c->ahead);
    qst__recipe_finish(&c->b.recipe);
    close_bench(&c->b);
}

static qst_status build(ahead_case *c, uint64_t *ns, qst_error *err)
{
    const qst__ahead_job job = {
        c->b.fixture->device, &c->desc, &c->b.recipe, 0, c->bytes, "a test", &c->stop, &c->urgent};

    memset(err, 0, sizeof *err);
    return qst__ahead_build(c->ahead, &job, ns, err);
}

static void built_once(void **state)
{
    ahead_case c;
    qst_error  err;
    uint64_t   ns;

    open_case(&c, *state, FORERUNNER, source);
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_true(ns > 0);
    assert_int_equal(build(&c, &ns, &err), QST_OK); /* the same again */
    assert_int_equal(ns, 0);
    c.desc.options = "-DMORE=1";
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_true(ns > 0);
    c.b.recipe.steps[0].local[0] = 2; /* another local size is another kernel to some drivers */
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_true(ns > 0);
    c.desc.form = QST_PROGRAM_BINARY;
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_int_equal(ns, 0);
    close_case(&c);
}

/* The text of the failure is for whoever builds it here. */
static void fails_there(void **state)
{
    ahead_case c;
    qst_error  err;
    uint64_t   ns;

    open_case(&c, *state, FORERUNNER, bad);
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_true(ns > 0);
    c.desc = cl_fixture_source(source, NULL); /* and it goes on */
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_true(ns > 0);
    close_case(&c);
}

static void dies_there(void **state)
{
    ahead_case c;
    qst_error  err;
    uint64_t   ns;

    open_case(&c, *state, FORERUNNER, source);
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    c.desc = cl_fixture_source(killer, NULL);
    assert_int_equal(build(&c, &ns, &err), QST_E_REFUSED);
    assert_non_null(strstr(err.text, "died of SIG"));
    assert_int_equal(build(&c, &ns, &err), QST_E_REFUSED); /* as for another candidate that has the same program */
    assert_int_equal(c.warnings, 0);
    c.desc = cl_fixture_source(source, "-DMORE=1"); /* by another process */
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_true(ns > 0);
    close_case(&c);
}

/* It has never answered: who knows that it is the program. */
static void dies_at_once(void **state)
{
    ahead_case c;
    qst_error  err;
    uint64_t   ns;

    open_case(&c, *state, FORERUNNER, killer);
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_int_equal(c.warnings, 1);
    c.desc = cl_fixture_source(source, NULL);
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_true(ns > 0);
    c.desc = cl_fixture_source(killer, "-DMORE=1");
    assert_int_equal(build(&c, &ns, &err), QST_E_REFUSED);
    close_case(&c);
}

static void given_up(void **state)
{
    ahead_case c;
    qst_error  err;
    uint64_t   ns;

    open_case(&c, *state, FORERUNNER, source);
    atomic_store(&c.stop, true);
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_int_equal(ns, 0);
    close_case(&c);
}

static void nobody_there(void **state)
{
    ahead_case c;
    qst_error  err;
    uint64_t   ns;

    open_case(&c, *state, "/nonexistent/ahead", source);
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_int_equal(ns, 0);
    close_case(&c);
    open_case(&c, *state, "/bin/true", source); /* it answers nothing */
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    close_case(&c);
}

/* ---- Forerunners of the test's own ------------------------------------------------------------------------------- */

/* A script that notes its argument, or "none", and then does what `then` says. */
static void write_script(char *path, size_t size, const char *then)
{
    const char *folder = getenv("TMPDIR");
    FILE       *file;
    int         fd;

    assert_true((size_t)snprintf(path, size, "%s/qst-ahead-XXXXXX", folder ? folder : "/tmp") < size);
    fd = mkstemp(path);
    assert_true(fd >= 0);
    file = fdopen(fd, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "#!/bin/sh\necho ${1:-none} >>$0.said\n%s\n", then) > 0);
    assert_int_equal(fchmod(fd, 0700), 0);
    assert_int_equal(fclose(file), 0);
}

/* What the scripts have noted; they are gone afterwards. */
static void read_said(const char *path, char *said, size_t size)
{
    char  name[300];
    FILE *file;
    int   n = snprintf(name, sizeof name, "%s.said", path);

    assert_true(n > 0 && (size_t)n < sizeof name);
    said[0] = '\0';
    file = fopen(name, "r");
    if (file) {
        said[fread(said, 1, size - 1, file)] = '\0';
        (void)fclose(file);
    }
    (void)unlink(name);
    (void)unlink(path);
}

/* It takes all that it is sent and never answers: twice its time is waited, by a clock that leaps, then never again. */
static void hangs_there(void **state)
{
    ahead_case c;
    qst_error  err;
    uint64_t   ns;
    char       path[256], said[64];

    write_script(path, sizeof path, "exec cat >/dev/null");
    open_case(&c, *state, path, source);
    c.leap = UINT64_C(1000000000);
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_int_equal(c.warnings, 1);
    assert_true(ns >= UINT64_C(75000000000));
    assert_true(ns < UINT64_C(100000000000));
    c.desc.options = "-DMORE=1";
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_int_equal(ns, 0); /* it is left alone */
    assert_int_equal(c.warnings, 1);
    close_case(&c);
    read_said(path, said, sizeof said);
}

/* How far it is told to stand back: all the way, or not at all where somebody waits. */
static void stands_back(void **state)
{
    ahead_case c;
    qst_error  err;
    uint64_t   ns;
    char       path[256], said[64];

    write_script(path, sizeof path, "");
    open_case(&c, *state, path, source);
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    atomic_store(&c.urgent, true);
    c.desc.options = "-DMORE=1";
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    close_case(&c);
    read_said(path, said, sizeof said);
    assert_string_equal(said, "idle\nnone\n");
}

/* Another process that does not even start, as where its file was replaced: that is no job's fault. */
static void dies_on_its_own(void **state)
{
    ahead_case c;
    qst_error  err;
    uint64_t   ns;
    char       path[256], said[64];

    write_script(path, sizeof path, "[ $(wc -l <$0.said) -eq 1 ] || exit 127\nexec " FORERUNNER " \"$@\"");
    open_case(&c, *state, path, source);
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_int_equal(c.warnings, 0);
    atomic_store(&c.urgent, true); /* in another manner, hence by another process */
    c.desc.options = "-DMORE=1";
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_int_equal(c.warnings, 1);
    close_case(&c);
    read_said(path, said, sizeof said);
    assert_string_equal(said, "idle\nnone\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_once),   cmocka_unit_test(fails_there), cmocka_unit_test(dies_there),
        cmocka_unit_test(dies_at_once), cmocka_unit_test(given_up),    cmocka_unit_test(nobody_there),
        cmocka_unit_test(hangs_there),  cmocka_unit_test(stands_back), cmocka_unit_test(dies_on_its_own),
    };

    return cmocka_run_group_tests(tests, cl_fixture_open, cl_fixture_close);
}
