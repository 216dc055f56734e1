/* SPDX-License-Identifier: MIT
 *
 * test_drivers.c: the text of the drivers under which a verdict holds. */
#include "model/drivers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static qst__alloc alloc;

static void have(void **state)
{
    (void)state;
    assert_true(qst__drivers_have("1.0", "1.0"));
    assert_true(qst__drivers_have("2.0; 1.0", "1.0"));
    assert_true(qst__drivers_have("2.0; 1.0; 0.9", "1.0"));
    assert_false(qst__drivers_have("2.0; 1.0.1", "1.0"));
    assert_false(qst__drivers_have("2.0; 1.0", "2.0; 1.0"));
    assert_false(qst__drivers_have("", "1.0"));
    assert_false(qst__drivers_have(NULL, "1.0"));
    /* What is not known is never known again. */
    assert_false(qst__drivers_have("", ""));
    assert_false(qst__drivers_have("; 1.0", ""));
}

static void with(void **state)
{
    static const struct {
        const char *drivers, *driver, *made;
    } rows[] = {
        {NULL, "1", "1"},
        {"", "1", "1"},
        {"1", "1", "1"},
        {"1", "2", "2; 1"},
        {"2; 1", "1", "1; 2"},
        {"4; 3; 2; 1", "5", "5; 4; 3; 2"},
        {"4; 3; 2; 1", "1", "1; 4; 3; 2"},
        {"2; 1", "", ""},
        {"; 1", "2", "2; 1"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *made = qst__drivers_with(&alloc, rows[i].drivers, rows[i].driver);
        assert_string_equal(made, rows[i].made);
        qst__free(&alloc, made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(have), cmocka_unit_test(with)};

    alloc = qst__alloc_default();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
