/* SPDX-License-Identifier: MIT
 *
 * test_explain_order.c: in which order `qst explain` shows what became of candidates. */
#include "tools/qst/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The names of the findings in their order, a letter each. */
static void assert_order(const char *verdict, const char *wanted)
{
    size_t         n;
    char           names[32] = "";
    json_t        *json = json_loads(verdict, 0, NULL);
    const json_t **order;
    assert_non_null(json);
    order = order_findings(json, &n);
    assert_true(n < sizeof names);
    for (size_t i = 0; i < n; i++)
        strcat(names, json_string_value(json_object_get(order[i], "name")));
    assert_string_equal(names, wanted);
    free(order);
    json_decref(json);
}

#define ONE(name, outcome, ms) "{\"name\": \"" name "\", \"outcome\": \"" outcome "\", \"median_ms\": " ms "}"
#define GONE(name, ms, round)                                                                                          \
    "{\"name\": \"" name "\", \"outcome\": \"ELIMINATED\", \"median_ms\": " ms                                         \
    ", \"samples\": [{\"round\": 1, \"ms\": 1}, {\"round\": " round ", \"ms\": 1}]}"

/* b is slower by median than c, which was eliminated all the same. */
static void timed_before_eliminated(void **state)
{
    (void)state;
    assert_order("{\"winner\": \"d\", \"findings\": [" GONE("c", "2.0", "3") "," ONE("b", "TIMED", "9.0") "," ONE(
                     "a", "TIMED", "1.5") "," ONE("d", "TIMED", "1.6") "]}",
                 "dabc");
}

static void eliminated_last_first(void **state)
{
    (void)state;
    assert_order("{\"winner\": \"w\", \"findings\": [" GONE("a", "2.0", "3") "," GONE("b", "9.0", "7") "," GONE(
                     "c", "1.0", "3") "," ONE("w", "TIMED", "0.9") "]}",
                 "wbca");
}

static void the_rest_by_what_became_of_it(void **state)
{
    (void)state;
    assert_order("{\"winner\": null, \"findings\": [" ONE("n", "UNTRIED", "0") "," ONE("z", "SLOW", "0") "," ONE(
                     "b", "BUDGET", "0") "," ONE("v", "VERIFIED", "0") "," ONE("y", "PRUNED", "0") "," GONE("g", "5.0",
                                                                                                            "2") "]}",
                 "gvyzbn");
    assert_order("{\"winner\": null, \"findings\": []}", "");
    assert_order("{}", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timed_before_eliminated),
        cmocka_unit_test(eliminated_last_first),
        cmocka_unit_test(the_rest_by_what_became_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
