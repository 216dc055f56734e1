/* SPDX-License-Identifier: MIT
 *
 * test_explain_text.c: what `qst explain` prints of a verdict, and how its tables give way to a terminal's edge. */
#include "tools/qst/explain.h"
#include "tools/qst/out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- What goes to standard output, kept ------------------------------------------------------------------------ */

static struct {
    int   before;
    FILE *file;
    char  text[8192];
} kept;

static void keep(void)
{
    fflush(stdout);
    kept.before = dup(STDOUT_FILENO);
    kept.file = tmpfile();
    assert_non_null(kept.file);
    assert_true(kept.before >= 0 && dup2(fileno(kept.file), STDOUT_FILENO) >= 0);
}

static const char *kept_text(void)
{
    fflush(stdout);
    assert_true(dup2(kept.before, STDOUT_FILENO) >= 0);
    (void)close(kept.before);
    rewind(kept.file);
    kept.text[fread(kept.text, 1, sizeof kept.text - 1, kept.file)] = '\0';
    (void)fclose(kept.file);
    return kept.text;
}

/* ---- Families -------------------------------------------------------------------------------------------------- */

#define LEFT(name, why)                                                                                                \
    "{\"name\": \"m.unit." name                                                                                        \
    "/1\", \"outcome\": \"UNTRIED\", \"text\": \"not tried\", \"round\": 2, \"why\": \"" why "\"}"

/* Who was not reached is told without a reason, so that a family is one whatever its members' reasons were. */
static void a_family_is_told_once(void **state)
{
    static const char verdict[] = "{\"op\": \"m\", \"findings\": [" LEFT("a", "") ", " LEFT("b", "roof") ", " LEFT(
        "c", "") ", " LEFT("d", "roof") ", " LEFT("e", "other") "]}";
    json_t *json = json_loads(verdict, 0, NULL);
    (void)state;
    assert_non_null(json);
    keep();
    explain_print(json, false, false);
    assert_non_null(strstr(kept_text(), "\nround 2, not reached: m.unit.* (5)\n"));
    json_decref(json);
}

/* ---- Tables ---------------------------------------------------------------------------------------------------- */

/* A row of five columns, 12 + 6 + 8 + 30 + 40 letters and gaps, in so much room. */
static const char *row_in(size_t room)
{
    static const char *const heads[] = {"id", "bytes", "state", "winner", "key"};
    out_table                table;
    out_table_init(&table, "lrlll", heads);
    table.room = room;
    table.spare = "bc";
    out_table_cell(&table, "0123456789ab");
    out_table_cell(&table, "123456");
    out_table_cell(&table, "verified");
    out_table_cell(&table, "matmul.family.variant_of_30_ab");
    out_table_cell(&table, "m=16 n=16 k=16 and so on to letter 40 ab");
    keep();
    out_table_print(&table, "");
    out_table_finish(&table);
    return strchr(kept_text(), '\n') + 1;
}

static void longest_first_and_then_columns(void **state)
{
    static const struct {
        size_t      room;
        const char *row;
    } rows[] = {
        {0,
         "0123456789ab  123456  verified  matmul.family.variant_of_30_ab  m=16 n=16 k=16 and so on to letter 40 ab\n"},
        {104,
         "0123456789ab  123456  verified  matmul.family.variant_of_30_ab  m=16 n=16 k=16 and so on to letter 40 ab\n"},
        {99, "0123456789ab  123456  verified  matmul.family.variant_of_30_ab  m=16 n=16 k=16 and so on to letter…\n"},
        {60, "0123456789ab  123456  verified  matmul.famil…  m=16 n=16 k=…\n"}, /* each keeps 12 letters and more */
        {55, "0123456789ab  verified  matmul.family.…  m=16 n=16 k=1…\n"},      /* or a column goes */
        {42, "0123456789ab  matmul.famil…  m=16 n=16 k=…\n"},                   /* and another */
        {26, "0123456789ab  matm…  m=16…\n"},                                   /* no more to spare */
        {24, "0123456789ab  mat…  m=1…\n"},
        {14, "0123456789ab …\n"}, /* the row's name stays, whatever the line's end takes */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(row_in(rows[i].room), rows[i].row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_family_is_told_once),
        cmocka_unit_test(longest_first_and_then_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
