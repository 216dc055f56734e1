/* SPDX-License-Identifier: MIT
 *
 * test_cl_builder.c: programs by a builder: what each of its steps gets, and that the driver builds what it does not
 * manage. The builder here is made up: its machine code is a binary that the driver gave for the same source. */
#include "cl/builder.h"
#include "cl/retarget.h"
#include "support/cl_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char source[] = "kernel void put(global uint *to) { to[0] = 7; }";

/* What the made-up builder does, and what it saw. */
static struct {
    int32_t            compile, assemble; /* answers */
    const char        *text;              /* what compile gives */
    char              *machine;           /* what assemble gives */
    size_t             machine_length;
    unsigned           compiled, assembled;
    char               seen[200], target[40];
    bool               right;   /* what its check says */
    unsigned           trusted; /* how often that was asked, and how much was assembled by then */
    unsigned           before;
    const qst_program *again; /* expected once more while it is being compiled */
    qst__programs     *programs;
    unsigned           fronted;
} fake;

static int32_t compile(void *instance, const qst_device *device, const qst_object *object, const qst_object *library,
                       const char *options, void *user, qst_builder_take take, qst_error *err)
{
    (void)instance, (void)device, (void)options, (void)err;
    assert_non_null(object->data);
    assert_true(object->length > 0);
    assert_null(library->data);
    fake.compiled++;
    if (fake.again)
        qst__programs_expect(fake.programs, fake.again); /* and does not wait for itself */
    if (fake.compile == QST_OK && fake.text)
        take(user, fake.text, strlen(fake.text));
    return fake.compile;
}

static int32_t assemble(void *instance, const qst_device *device, const char *text, uint64_t length, const char *target,
                        void *user, qst_builder_take take, qst_error *err)
{
    (void)instance, (void)device, (void)err;
    assert_true(length < sizeof fake.seen && text[length] == '\0');
    strcpy(fake.seen, text);
    strcpy(fake.target, target ? target : "");
    fake.assembled++;
    if (fake.assemble == QST_OK)
        take(user, fake.machine, fake.machine_length);
    return fake.assemble;
}

static const qst_builder builder = {.size = sizeof builder, .threads = 2, .compile = compile, .assemble = assemble};
static bool              trusted(void *user)
{
    assert_null(user);
    fake.trusted++;
    fake.before = fake.assembled;
    return fake.right;
}

static void fronted(void *user)
{
    (void)user;
    fake.fronted++;
    assert_int_equal(fake.fronted, fake.compiled + 1);
}

static const qst__builder  by = {.builder = &builder, .trusted = trusted};
static const qst__builder *give(void *user)
{
    return user ? NULL : &by;
}

static int set_up(void **state)
{
    cl_fixture *fixture;
    cl_int      code;
    if (cl_fixture_open(state) != 0)
        return -1;
    fixture = *state;
    fake.machine = qst__binary_of(&fixture->alloc, qst__program_cl(cl_fixture_build(fixture, source)),
                                  &fake.machine_length, &code);
    fixture->programs.builder = give;
    fake.right = true;
    return fake.machine ? 0 : -1;
}

static int tear_down(void **state)
{
    cl_fixture *fixture = *state;
    qst__free(&fixture->alloc, fake.machine);
    return cl_fixture_close(state);
}

/* Builds the source once more: by other options it is another program. */
static void build(cl_fixture *fixture, uint32_t form, const char *options, qst_status expected)
{
    qst_program   desc = cl_fixture_source(source, options);
    qst__program *program;
    qst_error     err = {0};
    desc.form = form;
    desc.target = form == QST_PROGRAM_RETARGETED ? "sm_90a" : NULL;
    fake.compiled = fake.assembled = 0;
    if (qst__programs_get(&fixture->programs, &desc, &program, NULL, &err) != expected)
        fail_msg("%s", err.text);
    if (expected == QST_OK)
        assert_non_null(qst__program_cl(program));
}

static void test_by_the_builder(void **state)
{
    fake.compile = fake.assemble = QST_OK;
    fake.text = ".target sm_90\n//@ a;\n";
    build(*state, QST_PROGRAM_SOURCE, "-DA=1", QST_OK);
    assert_int_equal(fake.compiled, 1);
    assert_int_equal(fake.assembled, 1);
    assert_string_equal(fake.seen, fake.text);
    assert_string_equal(fake.target, "");
    build(*state, QST_PROGRAM_RETARGETED, "-DA=1", QST_OK);
    assert_string_equal(fake.seen, ".target sm_90a\na;\n");
    assert_string_equal(fake.target, "sm_90a");
}

static void test_left_to_the_driver(void **state)
{
    static char nothing[4096] = "what no driver loads"; /* PoCL 3.1 looks beyond a short one */
    char       *machine = fake.machine;
    size_t      length = fake.machine_length;
    fake.compile = QST_E_BUILD;
    build(*state, QST_PROGRAM_SOURCE, "-DB=1", QST_OK);
    assert_int_equal(fake.assembled, 0);
    fake.compile = QST_OK;
    fake.text = NULL; /* it says OK and gives nothing */
    build(*state, QST_PROGRAM_SOURCE, "-DB=2", QST_OK);
    assert_int_equal(fake.assembled, 0);
    fake.text = "no assembly that could be retargeted"; /* and this driver's binary is none either */
    build(*state, QST_PROGRAM_RETARGETED, "-DB=3", QST_E_BUILD);
    assert_int_equal(fake.assembled, 0);
    fake.assemble = QST_E_UNSUPPORTED;
    build(*state, QST_PROGRAM_SOURCE, "-DB=4", QST_OK);
    assert_int_equal(fake.assembled, 1);
    fake.assemble = QST_OK;
    fake.machine = nothing;
    fake.machine_length = sizeof nothing;
    build(*state, QST_PROGRAM_SOURCE, "-DB=5", QST_OK);
    assert_int_equal(fake.assembled, 1);
    fake.machine = machine;
    fake.machine_length = length;
}

static void test_not_trusted(void **state)
{
    fake.compile = fake.assemble = QST_OK;
    fake.text = "any";
    fake.trusted = 0;
    fake.right = false;
    build(*state, QST_PROGRAM_SOURCE, "-DC=1", QST_OK); /* by the driver */
    assert_int_equal(fake.trusted, 1);
    assert_int_equal(fake.before, 1); /* not before there is something to trust */
    fake.right = true;
    build(*state, QST_PROGRAM_SOURCE, "-DC=2", QST_OK);
    assert_int_equal(fake.trusted, 2);
}

static void test_expected(void **state)
{
    cl_fixture   *fixture = *state;
    qst_program   desc = cl_fixture_source(source, "-DD=1");
    qst__program *program;
    fake.compile = fake.assemble = QST_OK;
    fake.text = "any";
    fake.compiled = fake.fronted = 0;
    fake.again = &desc;
    fake.programs = &fixture->programs;
    fixture->programs.fronted = fronted;
    qst__programs_expect(&fixture->programs, &desc);
    fixture->programs.fronted = NULL;
    fake.again = NULL;
    assert_int_equal(fake.compiled, 1);
    assert_int_equal(fake.fronted, 1);
    assert_int_equal(qst__programs_get(&fixture->programs, &desc, &program, NULL, NULL), QST_OK);
    assert_int_equal(fake.compiled, 1);
    desc.length = 0;
    qst__programs_expect(&fixture->programs, &desc); /* no program: nothing */
    assert_int_equal(fake.compiled, 1);
}

static void test_wrong_source(void **state)
{
    cl_fixture   *fixture = *state;
    qst_program   desc = cl_fixture_source("kernel void put(global uint *to) { to[0] = no_such_name; }", NULL);
    qst__program *program;
    qst_error     err = {0};
    fake.compiled = 0;
    assert_int_equal(qst__programs_get(&fixture->programs, &desc, &program, NULL, &err), QST_E_BUILD);
    assert_non_null(strstr(err.text, "no_such_name"));
    assert_int_equal(fake.compiled, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_the_builder), cmocka_unit_test(test_left_to_the_driver),
        cmocka_unit_test(test_not_trusted),    cmocka_unit_test(test_expected),
        cmocka_unit_test(test_wrong_source),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
