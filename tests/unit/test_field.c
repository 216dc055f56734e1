/* SPDX-License-Identifier: MIT
 *
 * test_field.c: problems to text and back for every kind of field, what the text leaves out, what is refused. */
#include "model/field.h"

#include "model/number.h"
#include "model/op.h"
#include "support/meter.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- A toy operation with fields of every kind ------------------------------------------------------------------- */

typedef struct view {
    uint32_t type;
    uint32_t align;
    int64_t  row;
    int64_t  col;
} view;

typedef struct toy {
    uint32_t size;
    uint32_t numerics;
    int64_t  m, n;
    int64_t  batch[4];
    view     a, b;
    double   alpha;
    double   weight[2];
} toy;

static const char *const TYPES[] = {NULL, "f32", "f64", "f16"};
static const char *const NUMERICS[] = {"plain", "strict", "fast"};

#define FIELD(given, of, member, n)                                                                                    \
    {                                                                                                                  \
        .name = (given), .kind = (of), .offset = offsetof(toy, member), .count = (n)                                   \
    }
#define ENUM(given, member, list)                                                                                      \
    {                                                                                                                  \
        .name = (given), .kind = QST_FIELD_ENUM, .offset = offsetof(toy, member), .count = 1,                          \
        .n_tokens = sizeof(list) / sizeof *(list), .tokens = (list)                                                    \
    }

static const qst_field FIELDS[] = {
    FIELD("m", QST_FIELD_I64, m, 1),
    FIELD("n", QST_FIELD_I64, n, 1),
    FIELD("batch", QST_FIELD_I64, batch, 4),
    ENUM("a.type", a.type, TYPES),
    FIELD("a.row", QST_FIELD_I64, a.row, 1),
    FIELD("a.col", QST_FIELD_I64, a.col, 1),
    FIELD("a.align", QST_FIELD_U32, a.align, 1),
    ENUM("b.type", b.type, TYPES),
    FIELD("b.row", QST_FIELD_I64, b.row, 1),
    FIELD("alpha", QST_FIELD_F64, alpha, 1),
    FIELD("weight", QST_FIELD_F64, weight, 2),
    ENUM("numerics", numerics, NUMERICS),
};
enum { F_BATCH = 2, F_A_TYPE, F_A_ROW, F_A_COL, F_A_ALIGN, F_B_TYPE, F_B_ROW, F_ALPHA };

static bool missing(uint64_t given, int field)
{
    return !(given >> field & 1);
}

/* Defaults that depend on what was given: a.row on n, b.type on a.type. */
static void toy_complete(void *user, void *problem, uint64_t given)
{
    toy *p = problem;
    (void)user;
    for (int i = 0; missing(given, F_BATCH) && i < 4; i++)
        p->batch[i] = 1;
    if (missing(given, F_A_TYPE))
        p->a.type = 1;
    if (missing(given, F_A_ROW))
        p->a.row = p->n;
    if (missing(given, F_A_COL))
        p->a.col = 1;
    if (missing(given, F_B_TYPE))
        p->b.type = p->a.type;
    if (missing(given, F_ALPHA))
        p->alpha = 1.0;
}

static const qst_op TOY = {
    .size = sizeof(qst_op),
    .name = "toy",
    .problem_size = sizeof(toy),
    .n_fields = sizeof FIELDS / sizeof *FIELDS,
    .fields = FIELDS,
    .complete = toy_complete,
};

/* ---- There and back ---------------------------------------------------------------------------------------------- */

static toy parse(const char *text)
{
    toy       problem;
    qst_error err = {0};
    memset(&problem, 0xee, sizeof problem);
    if (qst__problem_parse(&TOY, text, &problem, &err) != QST_OK)
        fail_msg("'%s': %s", text, err.text);
    assert_int_equal(problem.size, sizeof problem);
    return problem;
}

static void assert_prints(const toy *problem, const char *expected)
{
    qst__alloc alloc = qst__alloc_default();
    qst__str   text;
    qst__str_init(&text, &alloc);
    qst__problem_print(&TOY, problem, &text);
    assert_string_equal(text.text, expected);
    toy back = parse(text.text);
    assert_memory_equal(&back, problem, sizeof back);
    qst__str_finish(&text);
}

/* The text is read and printed as `expected`. */
static void assert_round_trip(const char *text, const char *expected)
{
    toy problem = parse(text);
    assert_prints(&problem, expected);
}

static void test_defaults(void **state)
{
    (void)state;
    toy p = parse(" m=3\tn=240 \n");
    assert_int_equal(p.m, 3);
    assert_int_equal(p.batch[3], 1);
    assert_int_equal(p.a.type, 1);
    assert_int_equal(p.a.row, 240);
    assert_true(p.alpha == 1.0);
    assert_prints(&p, "m=3 n=240");
    assert_round_trip("", "");
    assert_round_trip("m=0 n=0", "");
    assert_round_trip("n=7 m=3", "m=3 n=7");
}

static void test_lists(void **state)
{
    (void)state;
    toy p = parse("m=240 n=240 a=f64,256,2,7");
    assert_int_equal(p.a.type, 2);
    assert_int_equal(p.a.row, 256);
    assert_int_equal(p.a.col, 2);
    assert_int_equal(p.a.align, 7);
    assert_int_equal(p.b.type, 2);
    assert_prints(&p, "m=240 n=240 a=f64,256,2,7");
    assert_round_trip("m=2 n=4 a=f64", "m=2 n=4 a=f64");
    assert_round_trip("m=2 n=4 a=f64,4,1,0", "m=2 n=4 a=f64");   /* members at the end that need not stand there */
    assert_round_trip("m=2 n=4 a=f32,4,3", "m=2 n=4 a=f32,4,3"); /* those before the last have to */
    assert_round_trip("m=2 n=4 a.col=3", "m=2 n=4 a=f32,4,3");   /* one member by its full name */
    assert_round_trip("m=2 n=4 a=f64 b=f64,9", "m=2 n=4 a=f64 b=f64,9");
    assert_round_trip("m=2 n=4 a=f64 b=f32", "m=2 n=4 a=f64 b=f32");
    assert_round_trip("m=2 n=4 a=f64,5 a.align=4", "m=2 n=4 a=f64,5,1,4");
}

static void test_kinds(void **state)
{
    (void)state;
    assert_round_trip("batch=3x1x1x1", "batch=3x1x1x1");
    assert_round_trip("batch=1x1x1x1", "");
    assert_round_trip("batch=-3x+4x0x9223372036854775807", "batch=-3x4x0x9223372036854775807");
    assert_round_trip("m=-9223372036854775808", "m=-9223372036854775808");
    assert_round_trip("a.align=4294967295", "a=f32,0,1,4294967295");
    assert_round_trip("numerics=strict", "numerics=strict");
    assert_round_trip("numerics=1", "numerics=strict");
    assert_round_trip("numerics=77", "numerics=77"); /* no token: the number, so that a bad problem can be told */
    assert_round_trip("a=0", "a=0");
}

static void test_doubles(void **state)
{
    (void)state;
    static const char *const same[] = {"0",   "-0",  "0.5",   "-2.25",  "inf",    "-inf",
                                       "nan", "0.1", "1e-05", "1e+300", "5e-324", "0.30000000000000004"};
    char                     text[80], expected[80];
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        (void)snprintf(text, sizeof text, "alpha=%s weight=%sx-1.5", same[i], same[i]);
        toy p = parse(text);
        assert_true(strcmp(same[i], "nan") == 0 ? isnan(p.alpha) : p.alpha == strtod(same[i], NULL));
        assert_int_equal(!signbit(p.alpha), same[i][0] != '-');
        if (strcmp(same[i], "5e-324") == 0) /* fifteen digits read back equal and are printed */
            (void)snprintf(expected, sizeof expected, "alpha=4.94065645841247e-324 weight=4.94065645841247e-324x-1.5");
        else
            (void)snprintf(expected, sizeof expected, "%s", text);
        assert_prints(&p, expected);
    }
    assert_round_trip("alpha=1", "");
    assert_round_trip("alpha=+.5e1", "alpha=5");
    assert_round_trip("alpha=-nan", "alpha=-nan");
}

/* A locale with a decimal comma changes nothing. Where the machine has none, the plain one is tested again. */
static void test_locale(void **state)
{
    (void)state;
    static const char *const comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "de_DE"};
    for (size_t i = 0; i < sizeof comma / sizeof *comma && !setlocale(LC_ALL, comma[i]); i++)
        continue;
    assert_round_trip("alpha=0.5 weight=1.25x-1e-07", "alpha=0.5 weight=1.25x-1e-07");
    (void)setlocale(LC_ALL, "C");
}

static void test_numbers(void **state)
{
    (void)state;
    int64_t                  i64 = 0;
    uint32_t                 u32 = 0;
    double                   f64 = 0;
    static const char *const no_i64[] = {"", "-", "+", "1.5", "1e3", " 1", "1 ", "0x10", "--1", "9223372036854775808"};
    static const char *const no_u32[] = {"", "-1", "+1", "1x", "4294967296", "99999999999999999999999"};
    static const char *const no_f64[] = {"",      ".",        "-",      "e5",  "1e", "1e+",
                                         "0x1p3", "infinity", "nan(1)", "1,5", "1 ", "1e999"};
    for (size_t i = 0; i < sizeof no_i64 / sizeof *no_i64; i++)
        assert_non_null(qst__number_i64(no_i64[i], &i64));
    for (size_t i = 0; i < sizeof no_u32 / sizeof *no_u32; i++)
        assert_non_null(qst__number_u32(no_u32[i], &u32));
    for (size_t i = 0; i < sizeof no_f64 / sizeof *no_f64; i++)
        assert_non_null(qst__number_f64(no_f64[i], &f64));
    char text[QST__NUMBER_CHARS];
    for (uint64_t seed = 1, n = 0; n < 20000; n++) { /* doubles of every size read back equal */
        double value;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        memcpy(&value, &seed, sizeof value);
        qst__number_print_f64(value, text);
        assert_null(qst__number_f64(text, &f64));
        assert_true(f64 == value || (isnan(f64) && isnan(value)));
    }
}

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static void assert_refused(const char *text, const char *word, const char *reason)
{
    toy       problem;
    qst_error err = {0};
    assert_int_equal(qst__problem_parse(&TOY, text, &problem, &err), QST_E_INVALID);
    if (strncmp(err.text, word, strlen(word)) != 0 || !strstr(err.text, reason))
        fail_msg("'%s': '%s' does not begin with '%s' and say '%s'", text, err.text, word, reason);
    assert_null(strchr(err.text, '\n'));
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused("m=1 k=3", "k=3: ", "no field k");
    assert_refused("m=1 a.k=3", "a.k=3: ", "no field a.k");
    assert_refused("m=1 n", "n: ", "name=value");
    assert_refused("=3", "=3: ", "no field");
    assert_refused("m=1 m=2", "m=2: ", "m is given twice");
    assert_refused("a=f32,1 a=f64", "a=f64: ", "a.type is given twice");
    assert_refused("a=f32,1 a.row=2", "a.row=2: ", "a.row is given twice");
    assert_refused("a.row=2 a=f32,1", "a=f32,1: ", "a.row is given twice");
    assert_refused("m=", "m=: ", "'' is not a whole number");
    assert_refused("m=1.5", "m=1.5: ", "whole number");
    assert_refused("m=9223372036854775808", "m=9223372036854775808: ", "64 bits");
    assert_refused("a.align=-1", "a.align=-1: ", "whole number");
    assert_refused("a.align=4294967296", "a.align=4294967296: ", "32 bits");
    assert_refused("a=f99", "a=f99: ", "no such value: f32, f64, f16");
    assert_refused("a=f32,,1", "a=f32,,1: ", "a.row");
    assert_refused("a=f32,", "a=f32,: ", "a.row");
    assert_refused("a=f32,1,1,1,1", "a=f32,1,1,1,1: ", "5 values, at most 4");
    assert_refused("m=1,2", "m=1,2: ", "'1,2' is not");
    assert_refused("batch=3", "batch=3: ", "4 parts joined by x, not 1");
    assert_refused("batch=1x2x3x4x5", "batch=1x2x3x4x5: ", "4 parts joined by x, not 5");
    assert_refused("batch=1xx3x4", "batch=1xx3x4: ", "''");
    assert_refused("alpha=1e999", "alpha=1e999: ", "range");
    assert_refused("alpha=one", "alpha=one: ", "not a number");
    assert_refused("m=00000000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
                   "m=000", "too long");
}

/* Any bytes: a status and no harm. The sanitizers watch. */
static void test_noise(void **state)
{
    (void)state;
    static const char letters[] = "mnabtch.rowtype=,x-+e0123459f \t";
    uint32_t          seed = 7, good = 0;
    for (int n = 0; n < 20000; n++) {
        char text[40];
        for (size_t i = 0; i < sizeof text; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = letters[(seed >> 16) % (sizeof letters - 1)];
        }
        text[(seed >> 8) % sizeof text] = '\0';
        text[sizeof text - 1] = '\0';
        toy        problem;
        qst_status status = qst__problem_parse(&TOY, text, &problem, NULL);
        assert_true(status == QST_OK || status == QST_E_INVALID);
        good += status == QST_OK;
    }
    assert_true(good > 0 && good < 20000);
}

/* ---- Copying ----------------------------------------------------------------------------------------------------- */

static void test_copy(void **state)
{
    (void)state;
    struct {
        toy      known;
        uint64_t newer[2];
    } later;
    toy       out;
    qst_error err = {0};
    memset(&later, 0, sizeof later);
    later.known = parse("m=5 n=6 numerics=fast");
    later.known.size = sizeof later;
    assert_int_equal(qst__problem_copy(&TOY, &later, &out, NULL), QST_OK);
    assert_int_equal(out.size, sizeof out);
    assert_int_equal(out.n, 6);
    assert_int_equal(out.numerics, 2);
    later.newer[1] = (uint64_t)1 << 63; /* the last byte of a member that nobody here knows */
    assert_int_equal(qst__problem_copy(&TOY, &later, &out, &err), QST_E_INVALID);
    assert_non_null(strstr(err.text, "not zero"));

    later.known.size = offsetof(toy, n);
    memset(&out, 0xee, sizeof out);
    assert_int_equal(qst__problem_copy(&TOY, &later, &out, NULL), QST_OK);
    assert_int_equal(out.m, 5);
    assert_int_equal(out.n, 0); /* what an older caller lacks is zero */
    assert_true(out.weight[1] == 0.0);

    static const uint32_t bad[] = {0, 3, QST__PROBLEM_MAX + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        later.known.size = bad[i];
        assert_int_equal(qst__problem_copy(&TOY, &later, &out, NULL), QST_E_INVALID);
    }
    assert_int_equal(qst__problem_copy(&TOY, NULL, &out, NULL), QST_E_INVALID);
}

static void test_no_memory(void **state)
{
    (void)state;
    meter      m = {.left = 0};
    qst__alloc none = meter_alloc(&m);
    qst__str   text;
    toy        problem = parse("m=1");
    qst__str_init(&text, &none);
    qst__problem_print(&TOY, &problem, &text);
    assert_true(text.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),  cmocka_unit_test(test_lists),  cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_doubles),   cmocka_unit_test(test_locale), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_noise),  cmocka_unit_test(test_copy),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
