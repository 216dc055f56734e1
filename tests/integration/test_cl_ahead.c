/* SPDX-License-Identifier: MIT
 *
 * test_cl_ahead.c: the process that compiles ahead: what it was sent once it is not sent again, what fails in it is no
 * failure here, what kills it is refused, and where there is none nothing is missed.
 */
#include "cl/ahead.h"
#include "launch_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

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
    _Atomic bool stop;
} ahead_case;

/* One launch of `put` over the first of two buffers. */
static void open_case(ahead_case *c, cl_fixture *fixture, const char *path, const char *text)
{
    memset(c, 0, sizeof *c);
    c->b = open_bench(fixture, false);
    add_put(&c->b, 7);
    c->desc = cl_fixture_source(text, NULL);
    c->bytes[0] = c->bytes[1] = 64 * sizeof(uint32_t);
    c->ahead = qst__ahead_create(&fixture->alloc, &c->log, path);
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
    const qst__ahead_job job = {c->b.fixture->device, &c->desc, &c->b.recipe, 0, c->bytes, "a test", &c->stop};

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

    open_case(&c, *state, FORERUNNER, killer);
    assert_int_equal(build(&c, &ns, &err), QST_E_REFUSED);
    assert_non_null(strstr(err.text, "died of SIG"));
    c.desc = cl_fixture_source(source, NULL); /* by another process */
    assert_int_equal(build(&c, &ns, &err), QST_OK);
    assert_true(ns > 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_once), cmocka_unit_test(fails_there),  cmocka_unit_test(dies_there),
        cmocka_unit_test(given_up),   cmocka_unit_test(nobody_there),
    };

    return cmocka_run_group_tests(tests, cl_fixture_open, cl_fixture_close);
}
