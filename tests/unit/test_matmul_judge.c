/* SPDX-License-Identifier: MIT
 *
 * test_matmul_judge.c: which programs matmul's judge asks for. What they compute is kernel.matmul_judge's.
 */
#include "support/matmul_op_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What the phases asked for launch, each program once, and the largest workspace. */
typedef struct recorded {
    qst_steps         steps; /* first: the callbacks get its address */
    qst_device        device;
    const qst_matmul *problem;
    const void       *texts[16];
    char              options[16][120];
    uint32_t          n;
    uint64_t          workspace;
} recorded;

static int32_t on_launch(qst_steps *steps, const qst_launch *launch)
{
    recorded   *r = (recorded *)steps;
    qst_program p = {.size = sizeof p, .form = QST_PROGRAM_SOURCE};
    uint32_t    i;
    assert_int_equal(qst_matmul_op.judge->program(NULL, &r->device, r->problem, launch->program, &p), QST_OK);
    for (i = 0; i < r->n && (r->texts[i] != p.data || strcmp(r->options[i], p.options) != 0); i++)
        ;
    if (i < r->n)
        return QST_OK;
    assert_in_range(r->n, 0, COUNT(r->texts) - 1);
    assert_in_range(strlen(p.options), 1, sizeof r->options[0] - 1);
    r->texts[i] = p.data;
    strcpy(r->options[r->n++], p.options);
    return QST_OK;
}

static int32_t on_workspace(qst_steps *steps, uint32_t index, uint64_t bytes)
{
    recorded *r = (recorded *)steps;
    (void)index;
    r->workspace = bytes > r->workspace ? bytes : r->workspace;
    return QST_OK;
}

static recorded nothing_on(uint32_t type)
{
    recorded r = {.steps = {.size = sizeof r.steps, .launch = on_launch, .workspace = on_workspace},
                  .device = {.size = sizeof r.device, .type = type, .units = 2, .flags = QST_DEVICE_F64}};
    return r;
}

static void ask(recorded *r, const qst_matmul *p, uint32_t phase)
{
    r->problem = p;
    assert_int_equal(qst_matmul_op.judge->steps(NULL, &r->device, p, phase, 1, &r->steps), QST_OK);
}

/* All that a tuning asks of the judge while nothing is wrong. */
static void ask_for_a_key(recorded *r, const qst_matmul *p)
{
    qst_matmul timed, second, real;
    assert_int_equal(qst_matmul_op.vary(NULL, p, QST_VARY_TIMED, &timed), QST_OK);
    assert_int_equal(qst_matmul_op.vary(NULL, p, QST_VARY_SECOND, &second), QST_OK);
    assert_int_equal(qst_matmul_op.vary(NULL, p, QST_VARY_SECOND_REAL, &real), QST_OK);
    ask(r, &timed, QST_JUDGE_EQUAL);
    ask(r, &timed, QST_JUDGE_ERASE);
    ask(r, &second, QST_JUDGE_EQUAL);
    ask(r, &second, QST_JUDGE_ERASE);
    ask(r, &real, QST_JUDGE_SCALE);
    ask(r, &real, QST_JUDGE_BOUND);
}

/* One program on a CPU device and two elsewhere, for the problem and for its further shapes; one more where something is
 * wrong, and no other. */
static void test_programs_of_a_key(void **state)
{
    static const int64_t sizes[][3] = {{1024, 1024, 1024}, {1000, 999, 1001}, {7, 512, 64}, {1, 70, 330}, {700, 1, 33}};
    (void)state;
    for (size_t i = 0; i < 4 * COUNT(sizes); i++)
        for (int cpu = 0; cpu < 2; cpu++) {
            recorded   r = nothing_on(cpu ? QST_DEVICE_CPU : QST_DEVICE_GPU);
            uint32_t   perm[3], before = cpu ? 1 : 2;
            qst_matmul p;
            qst_matmul_init(&p, sizes[i / 4][0], sizes[i / 4][1], sizes[i / 4][2], QST_F32);
            if (i % 4 == 1) {
                p.a.row = 1;
                p.a.col = p.m;
            } else if (i % 4 == 2) {
                p.beta = 0.5;
            } else if (i % 4 == 3) {
                p.batch[3] = 40;
                p.a.batch[3] = p.m * p.k;
                p.b.batch[3] = p.k * p.n;
                p.c.batch[3] = p.m * p.n;
            }
            assert_int_equal(qst_matmul_op.normalise(NULL, &p, perm), QST_OK);
            ask_for_a_key(&r, &p);
            assert_int_equal(r.n, before);
            qst_matmul_op.vary(NULL, &p, QST_VARY_TIMED, &p);
            ask(&r, &p, QST_JUDGE_LOCATE);
            assert_int_equal(r.n, before + 1);
            for (uint32_t j = 0; j < r.n; j++) {
                bool names = strstr((const char *)r.texts[j], "kernel void locate(") != NULL;
                assert_int_equal(names, j == before);
            }
        }
}

/* Each thing that a usual problem is not. */
static void test_usual_problems(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        recorded   r = nothing_on(QST_DEVICE_GPU);
        qst_matmul p;
        qst_matmul_init(&p, 40, 30, 20, QST_F32);
        p.a.row += 3; /* padding is usual, and so are scalars before the product */
        p.alpha = 2;
        p.beta = i == 1 ? -1 : 0;
        if (i >= 2 && i <= 5) /* any of the batches, shared or not */
            p.batch[i - 2] = 2;
        p.c.batch[1] = 1300;
        p.a.col = i == 6 ? 64 : 1;
        p.b.col = i == 7 ? 0 : i == 8 ? 2 : 1;
        p.c.col = i == 9 ? 2 : 1;
        ask(&r, &p, QST_JUDGE_EQUAL);
        ask(&r, &p, QST_JUDGE_BOUND);
        assert_int_equal(r.n, 2);
        for (uint32_t j = 0; j < r.n; j++)
            assert_non_null(strstr(r.options[j], i == 0 ? " -DUSUAL=1" : " -DUSUAL=0"));
    }
}

/* BOUND counts what it looks at in 32 bits. */
static void test_wide_problems(void **state)
{
    static const int64_t cols[] = {64, INT64_C(1) << 27, (INT64_C(1) << 32) - 2};
    static const int64_t samples[] = {32, 32, 2};
    (void)state;
    for (size_t i = 0; i < COUNT(cols); i++) {
        recorded   r = nothing_on(QST_DEVICE_GPU);
        qst_matmul p;
        qst_matmul_init(&p, 100, cols[i], 2, QST_F32);
        ask(&r, &p, QST_JUDGE_BOUND);
        assert_int_equal(r.workspace, 24 * ((cols[i] + 3) / 4) * samples[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs_of_a_key),
        cmocka_unit_test(test_usual_problems),
        cmocka_unit_test(test_wide_problems),
    };
    return cmocka_run_group_tests_name("matmul judge's programs", tests, NULL, NULL);
}
