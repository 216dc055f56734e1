/* SPDX-License-Identifier: MIT
 *
 * test_locate.c: the program that names the first wrong element is built when something is wrong, and what is wrong is so
 * without it. test_saboteurs.c has the names themselves.
 */
#include "sabotage_case.h"
#include "support/field_cl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LOCATE "kernel void locate("

/* What names the first wrong element is built once something is wrong, and once for all that is. */
static void names_what_is_wrong_alone(void **state)
{
    sabotage s = {.ctx = sabotage_context("seeded", "{\"pin\": [\"matmul.seeded.none/1\", \"matmul.naive.*\"]}")};

    (void)state;
    field_cl_watch(LOCATE, false);
    sabotage_run(&s, 200, 0);
    assert_int_equal(field_cl_watched(), 0);
    sabotage_finish(&s);
    s = (sabotage){
        .ctx = sabotage_context(
            "seeded", "{\"pin\": [\"matmul.seeded.tail/1\", \"matmul.seeded.k_rest/1\", \"matmul.naive.*\"]}")};
    sabotage_run(&s, 200, 0);
    sabotage_expect(&s, "matmul.seeded.tail/1", "WRONG", "C[0,192]");
    sabotage_expect(&s, "matmul.seeded.k_rest/1", "WRONG", "on a second shape: C[");
    assert_int_equal(field_cl_watched(), 1);
    sabotage_finish(&s);
    field_cl_watch(NULL, false);
}

/* Where that does not build, what is wrong is wrong all the same: by its line, and in one. */
static void wrong_without_a_name(void **state)
{
    static const char *const names[] = {"matmul.seeded.tail/1", "matmul.seeded.k_rest/1", "matmul.seeded.later/1"};
    sabotage s = {.ctx = sabotage_context("seeded", "{\"pin\": [\"matmul.seeded.tail/1\", \"matmul.seeded.k_rest/1\","
                                                    "\"matmul.seeded.later/1\", \"matmul.naive.*\"]}")};

    (void)state;
    field_cl_watch(LOCATE, true);
    sabotage_run(&s, 200, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sabotage_expect(&s, names[i], "WRONG", "the first is row ");
        sabotage_expect(&s, names[i], "WRONG", " of C; which element is not known: CL_BUILD_PROGRAM_FAILURE");
        assert_null(strchr(sabotage_text(sabotage_finding(&s, names[i]), "why"), '\n'));
    }
    sabotage_expect(&s, names[2], "WRONG", " runs ");
    assert_int_not_equal(strlen(sabotage_text(s.verdict, "winner")), 0);
    sabotage_finish(&s);
    field_cl_watch(NULL, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_what_is_wrong_alone),
        cmocka_unit_test(wrong_without_a_name),
    };

    return cmocka_run_group_tests(tests, sabotage_open, sabotage_close);
}
