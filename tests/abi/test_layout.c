/* SPDX-License-Identifier: MIT
 *
 * test_layout.c: today's headers say of each struct, member and constant at the plugin border what those of 1.0 said: a
 * struct may only have become longer, and only where it has a size; a limit (…_MAX) may only have risen. */
#include "abi/layout/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int is_limit(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, "_MAX") == 0;
}

static const char *fault(const layout_row *then, const layout_row *now)
{
    switch (then->kind) {
    case LAYOUT_VALUE:
        return now->a == then->a ? NULL : "a value struct has another size";
    case LAYOUT_GROWS:
        return now->a >= then->a ? NULL : "a struct became shorter";
    case LAYOUT_MEMBER:
        return now->a == then->a && now->b == then->b ? NULL : "a member moved, or has another size";
    case LAYOUT_NUMBER:
        if (is_limit(then->name))
            return now->a >= then->a ? NULL : "a limit is lower";
        return now->a == then->a ? NULL : "a constant has another value";
    case LAYOUT_TEXT:
        return strcmp(now->text, then->text) == 0 ? NULL : "a constant has another text";
    }
    return "an unknown kind of row";
}

static void nothing_moved(void **state)
{
    layout then = layout_then(), now = layout_now();
    (void)state;
    assert_true(then.count > 300 && then.count == now.count);
    for (size_t i = 0; i < then.count; i++) {
        const layout_row *a = &then.rows[i], *b = &now.rows[i];
        const char       *what = fault(a, b);
        assert_string_equal(a->name, b->name);
        if (what)
            fail_msg("%s: %s: %lld, %lld were %lld, %lld", a->name, what, b->a, b->b, a->a, a->b);
        if (a->kind == LAYOUT_GROWS && b->a > a->a && now.minor == then.minor)
            fail_msg("%s grew, and the minor number is still %u", a->name, now.minor);
    }
}

/* Each struct is its members one after the other: none is left out of the table, and no byte is a compiler's choice. */
static void no_holes(void **state)
{
    layout    then = layout_then();
    long long end = 0, size = 0;
    (void)state;
    for (size_t i = 0; i < then.count; i++) {
        const layout_row *row = &then.rows[i];
        if (row->kind == LAYOUT_MEMBER) {
            if (row->a != end)
                fail_msg("%s begins at %lld, what is before it ends at %lld", row->name, row->a, end);
            end = row->a + row->b;
            continue;
        }
        if (end != size)
            fail_msg("before %s: a struct of %lld bytes has members up to %lld", row->name, size, end);
        end = size = 0;
        if (row->kind == LAYOUT_VALUE || row->kind == LAYOUT_GROWS)
            size = row->a;
    }
    assert_int_equal(end, size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_moved), cmocka_unit_test(no_holes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
