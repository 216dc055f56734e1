/* SPDX-License-Identifier: MIT
 *
 * test_retarget.c: which text is changed, how, and which is refused. No device. */
#include "cl/retarget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static qst__alloc heap;

static void changes(const char *text, const char *target, const char *marker, const char *expected)
{
    qst_error err = {0};
    char     *out = NULL;
    size_t    length = 0;
    assert_int_equal(qst__retarget_text(&heap, text, strlen(text), target, marker, &out, &length, &err), QST_OK);
    assert_string_equal(out, expected);
    assert_int_equal(length, strlen(expected));
    qst__free(&heap, out);
}

static void test_changes(void **state)
{
    (void)state;
    changes("//\n.version 8.7\n.target sm_90, texmode_independent\n.address_size 64\n\t//@ wgmma.fence;\n\tret;\n",
            "sm_90a", "//@ ",
            "//\n.version 8.7\n.target sm_90a, texmode_independent\n.address_size 64\n\twgmma.fence;\n\tret;\n");
    changes(".target\tsm_90\nx #> a #> b", "sm_100a", "#> ", ".target\tsm_100a\nx a b");
    changes("  .target sm_90", "sm_90a", "//@ ", "  .target sm_90a");
    changes("// .target sm_1\n//@ .pragma \"x\";\n.target sm_90;//@ a", "sm_90a", "//@ ",
            "// .target sm_1\n.pragma \"x\";\n.target sm_90a;a");
    changes(".target sm_90a\n//@no", "sm_90", "//@ ", ".target sm_90\n//@no"); /* shorter, and no mark */
    changes(".targets 1\n.target sm_90\n.target_of", "sm_90a", "//@ ", ".targets 1\n.target sm_90a\n.target_of");
}

static void test_terminator_counted(void **state)
{
    static const char text[] = ".target sm_90\n\0";
    qst_error         err = {0};
    char             *out = NULL;
    size_t            length = 0;
    (void)state;
    assert_int_equal(qst__retarget_text(&heap, text, sizeof text, "sm_90a", "//@ ", &out, &length, &err), QST_OK);
    assert_string_equal(out, ".target sm_90a\n");
    assert_int_equal(length, strlen(out));
    qst__free(&heap, out);
}

static void refuses(const char *text, size_t length, const char *words)
{
    qst_error err = {0};
    char     *out = NULL;
    size_t    out_length = 1;
    assert_int_equal(qst__retarget_text(&heap, text, length, "sm_90a", "//@ ", &out, &out_length, &err),
                     QST_E_UNSUPPORTED);
    assert_null(out);
    assert_int_equal(out_length, 0);
    assert_non_null(strstr(err.text, words));
}

static void test_refuses(void **state)
{
    static const char two[] = ".target sm_80\n.target sm_90\n";
    static const char binary[] = "\177ELF\0.target sm_90\n";
    static const char none[] = "define void @main() // .target sm_90";
    (void)state;
    refuses(two, strlen(two), "a second .target");
    refuses(binary, sizeof binary - 1, "19 bytes is no text");
    refuses(none, strlen(none), "has no .target");
    refuses("", 0, "0 bytes has no .target");
}

int main(void)
{
    heap = qst__alloc_default();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_terminator_counted),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
