/* SPDX-License-Identifier: MIT
 *
 * test_cl_program.c: built once whoever asks, failures remembered, options in one spelling. */
#include "support/cl_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char good[] = "kernel void put(global uint *to, uint value) { to[get_global_id(0)] = value + ADD; }";
static const char bad[] = "kernel void put(global uint *to) { to[0] = no_such_name; }";

static uint64_t compiles(cl_fixture *fixture)
{
    return atomic_load(&fixture->counters.compiles);
}

static void test_options(void **state)
{
    static const char *const cases[][2] = {
        {NULL, "-cl-std=CL1.2"},
        {"", ""},
        {"  -DB=2   -DA=1\t-cl-std=CL1.2 ", "-DA=1 -DB=2 -cl-std=CL1.2"},
        {"-D B=2 -D A=1", "-D A=1 -D B=2"},
        {"-DA=2 -DA=1", "-DA=2 -DA=1"},
        {"-Iz -DA -Ib", "-DA -Iz -Ib"},
        {"-DT=\"x  y\" -DA", "-DA -DT=\"x  y\""},
        {"-DAB=1 -DA=1", "-DA=1 -DAB=1"},
        {"-D", "-D"},
    };
    cl_fixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = qst__program_options(&fixture->alloc, cases[i][0]);
        assert_non_null(text);
        assert_string_equal(text, cases[i][1]);
        qst__free(&fixture->alloc, text);
    }
}

static void test_built_once(void **state)
{
    cl_fixture   *fixture = *state;
    qst_error     err = {0};
    qst_program   first = cl_fixture_source(good, "-DADD=1 -cl-std=CL1.2");
    qst_program   same = cl_fixture_source(good, " -cl-std=CL1.2  -DADD=1");
    qst_program   other = cl_fixture_source(good, "-DADD=2 -cl-std=CL1.2");
    qst__program *a, *b, *c;
    uint64_t      before = compiles(fixture), ns;
    assert_int_equal(qst__programs_get(&fixture->programs, &first, &a, &ns, &err), QST_OK);
    assert_non_null(qst__program_cl(a));
    assert_true(ns > 0);
    assert_int_equal(qst__programs_get(&fixture->programs, &same, &b, &ns, &err), QST_OK);
    assert_ptr_equal(a, b);
    assert_int_equal(ns, 0);
    assert_int_equal(qst__programs_get(&fixture->programs, &other, &c, NULL, &err), QST_OK);
    assert_ptr_not_equal(a, c);
    assert_int_equal(compiles(fixture) - before, 2);
    assert_true(atomic_load(&fixture->counters.waits.built_ns) > 0);
}

static void test_failure_is_remembered(void **state)
{
    cl_fixture   *fixture = *state;
    qst_program   desc = cl_fixture_source(bad, NULL);
    qst__program *first = NULL, *again = NULL;
    uint64_t      before = compiles(fixture), ns;
    qst_error     err = {0}, later = {0};
    assert_int_equal(qst__programs_get(&fixture->programs, &desc, &first, &ns, &err), QST_E_BUILD);
    assert_int_equal(err.status, QST_E_BUILD);
    assert_int_equal(err.cl_code, CL_BUILD_PROGRAM_FAILURE);
    assert_non_null(strstr(err.text, "no_such_name"));
    assert_non_null(first);
    assert_null(qst__program_cl(first));
    assert_non_null(strstr(qst__program_log(first), "no_such_name"));
    assert_int_equal(qst__programs_get(&fixture->programs, &desc, &again, &ns, &later), QST_E_BUILD);
    assert_ptr_equal(first, again);
    assert_int_equal(ns, 0);
    assert_string_equal(err.text, later.text);
    assert_int_equal(compiles(fixture) - before, 1);
}

/* The first cause stays: a later failure neither overwrites the text nor the code. */
static void test_first_cause(void **state)
{
    cl_fixture   *fixture = *state;
    qst_program   desc = cl_fixture_source(bad, NULL);
    qst__program *program;
    qst_error     err = {0};
    (void)qst__fail(&err, QST_E_STATE, "test", "earlier");
    assert_int_equal(qst__programs_get(&fixture->programs, &desc, &program, NULL, &err), QST_E_BUILD);
    assert_int_equal(err.status, QST_E_STATE);
    assert_int_equal(err.cl_code, 0);
    assert_string_equal(err.text, "earlier");
}

static void test_no_program(void **state)
{
    cl_fixture   *fixture = *state;
    qst__program *program;
    qst_error     err = {0};
    qst_program   none = {.size = sizeof none, .form = QST_PROGRAM_SOURCE};
    qst_program   strange = cl_fixture_source(good, NULL);
    strange.form = 7;
    assert_int_equal(qst__programs_get(&fixture->programs, &none, &program, NULL, &err), QST_E_INVALID);
    qst__error_clear(&err);
    assert_int_equal(qst__programs_get(&fixture->programs, &strange, &program, NULL, &err), QST_E_INVALID);
    assert_non_null(strstr(err.text, "form 7"));
    assert_null(program);
}

static void test_binary(void **state)
{
    cl_fixture    *fixture = *state;
    qst_program    source = cl_fixture_source(good, "-DADD=3 -cl-std=CL1.2");
    qst_program    binary = {.size = sizeof binary, .form = QST_PROGRAM_BINARY, .options = ""};
    qst_program    damaged = binary;
    qst__program  *program, *loaded;
    qst_error      err = {0};
    size_t         bytes = 0;
    unsigned char *data;
    uint64_t       before = atomic_load(&fixture->counters.binary_loads), before_compiles;
    assert_int_equal(qst__programs_get(&fixture->programs, &source, &program, NULL, &err), QST_OK);
    assert_int_equal(clGetProgramInfo(qst__program_cl(program), CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL),
                     CL_SUCCESS);
    assert_true(bytes > 0);
    data = malloc(bytes);
    assert_non_null(data);
    assert_int_equal(clGetProgramInfo(qst__program_cl(program), CL_PROGRAM_BINARIES, sizeof data, &data, NULL),
                     CL_SUCCESS);
    binary.data = data;
    binary.length = bytes;
    before_compiles = compiles(fixture);
    assert_int_equal(qst__programs_get(&fixture->programs, &binary, &loaded, NULL, &err), QST_OK);
    assert_non_null(qst__program_cl(loaded));
    assert_int_equal(atomic_load(&fixture->counters.binary_loads) - before, 1);
    assert_int_equal(compiles(fixture), before_compiles);
    damaged.data = "not a binary";
    damaged.length = 12;
    assert_int_equal(qst__programs_get(&fixture->programs, &damaged, &loaded, NULL, &err), QST_E_BUILD);
    free(data);
}

/* ---- Threads -------------------------------------------------------------------------------------------------- */

enum { THREADS = 8 };

typedef struct asker {
    pthread_t          thread;
    cl_fixture        *fixture;
    pthread_barrier_t *together;
    const char        *options;
    qst__program      *program;
    cl_program         built; /* as it was when the call returned */
    qst_status         status;
    uint64_t           ns;
} asker;

static void *ask(void *user)
{
    asker      *a = user;
    qst_program desc = cl_fixture_source(good, a->options);
    (void)pthread_barrier_wait(a->together);
    a->status = qst__programs_get(&a->fixture->programs, &desc, &a->program, &a->ns, NULL);
    a->built = a->program ? qst__program_cl(a->program) : NULL;
    return NULL;
}

static void test_many_threads(void **state)
{
    cl_fixture       *fixture = *state;
    asker             askers[THREADS];
    pthread_barrier_t together;
    uint64_t          before = compiles(fixture);
    assert_int_equal(pthread_barrier_init(&together, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        askers[i] = (asker){.fixture = fixture, .together = &together};
        askers[i].options = i % 2 ? "-DADD=11 -cl-std=CL1.2" : "-DADD=12 -cl-std=CL1.2";
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask, &askers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(askers[i].status, QST_OK);
        assert_ptr_equal(askers[i].program, askers[i % 2].program);
        assert_non_null(askers[i].built);
    }
    assert_ptr_not_equal(askers[0].program, askers[1].program);
    assert_int_equal(compiles(fixture) - before, 2);
    (void)pthread_barrier_destroy(&together);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_built_once),
        cmocka_unit_test(test_failure_is_remembered),
        cmocka_unit_test(test_first_cause),
        cmocka_unit_test(test_no_program),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests(tests, cl_fixture_open, cl_fixture_close);
}
