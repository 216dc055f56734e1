/* SPDX-License-Identifier: MIT
 *
 * test_nv_pad.c: rows of nv_mma that first copy ragged operands into aligned scratch, on the facts of an H200: what they
 * copy and what they refuse; and the copies themselves, which any device can make: each element is where the product's
 * arguments say that it is, and what is no element is 0.
 */
#include "nv_case.h"
#include <quernstone/ext/draft/builder.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct runner bench;

static qst_matmul problem(int64_t m, int64_t n, int64_t k)
{
    qst_matmul p;
    qst_matmul_init(&p, m, n, k, QST_F16);
    p.a.align = p.b.align = p.c.align = 4;
    return p;
}

/* ---- What is copied ---------------------------------------------------------------------------------------------- */

static struct runner_steps *steps_of(const char *variant, const qst_matmul *p)
{
    static struct runner_steps steps;
    struct runner_candidate   *c = nv_case_candidate(&bench, variant);
    assert_int_equal(c->candidate.can_run(c->candidate.user, &bench.device, p, NULL), QST_OK);
    assert_int_equal(runner_record(&bench, c, p, &steps), QST_OK);
    return &steps;
}

static void aligned_operands_are_left_to_others(void **state)
{
    qst_matmul p = problem(1024, 1024, 1024);
    (void)state;
    nv_case_refuses(&bench, "half_padded_tma_128x256x64", &p, "A and B are aligned: there is nothing to copy");
    nv_case_refuses(&bench, "half_padded_64x64x64_48k", &p, "A and B are aligned: there is nothing to copy");
    p.c.align = 1;
    nv_case_refuses(&bench, "half_padded_64x64x64_48k", &p, "A and B are aligned: there is nothing to copy");
    p = problem(1024, 1024, 1020); /* a row of A ends beside a multiple of 16 bytes, which tensor copies can do */
    p.a.row = 1024;
    nv_case_refuses(&bench, "half_padded_tma_128x256x64", &p, "A and B are aligned: there is nothing to copy");
    assert_int_equal(steps_of("half_padded_64x64x64_48k", &p)->n, 2);
    qst_matmul_init(&p, 1023, 1023, 1023, QST_F32);
    nv_case_refuses(&bench, "half_padded_64x64x64_48k", &p, "operands of f16 or bf16 only");
}

static void scratch_over_the_largest_buffer_is_refused(void **state)
{
    const qst_matmul p = problem(1000, 1000, 999);
    const uint64_t   most = bench.device.max_alloc;
    (void)state;
    bench.device.max_alloc = 2000000;
    nv_case_refuses(&bench, "half_padded_tma_128x256x64", &p,
                    "an aligned copy of 2048000 bytes, and the device's largest buffer has 2000000");
    bench.device.max_alloc = 2048000;
    assert_int_equal(steps_of("half_padded_tma_128x256x64", &p)->n, 2);
    bench.device.max_alloc = most;
}

static void only_ragged_operands_are_copied(void **state)
{
    struct runner_steps *steps;
    qst_matmul           p = problem(1000, 1000, 999); /* rows of A are ragged, those of B are not */
    (void)state;
    steps = steps_of("half_padded_tma_128x256x64", &p);
    assert_int_equal(steps->n, 2);
    assert_string_equal(steps->entries[0], "nv_pad");
    assert_string_equal(steps->entries[1], "nv_tma_f16");
    assert_int_equal(steps->workspace[0], 1000 * 1024 * 2);
    assert_int_equal(steps->workspace[1], 0);
    assert_int_equal(steps->workspace[2], 32 * 256);
    assert_int_equal(steps->launches[0].global[0], 125 * 256);
    assert_int_equal(steps->args[1][0].kind, QST_ARG_WORKSPACE);
    assert_int_equal(steps->args[1][2].kind, QST_ARG_OPERAND);
    p.k = 0; /* nothing to copy, nothing to multiply */
    assert_int_equal(steps_of("half_padded_tma_128x256x64", &p)->n, 1);
}

/* Copying pays where much is multiplied, and is compared where it may win: never where all is aligned. */
static void copies_are_tried_where_they_may_pay(void **state)
{
    const qst_matmul large = problem(4095, 4095, 4093), small = problem(255, 255, 63);
    int64_t          values[QST_KEY_MAX] = {0};
    const qst_key    key = {QST_MATMUL_KEY_COUNT, 0, values};
    (void)state;
    assert_true(nv_case_cost(&bench, "half_padded_tma_128x256x64", &large) <
                0.5 * nv_case_cost(&bench, "half_128x128x64", &large));
    assert_true(nv_case_cost(&bench, "half_padded_tma_promoted_128x256x64", &large) <
                0.5 * nv_case_cost(&bench, "half_promoted_128x128x64", &large));
    assert_true(nv_case_cost(&bench, "half_padded_tma_128x256x64", &small) >
                nv_case_cost(&bench, "half_64x64x64_48k", &small));
    values[QST_MATMUL_KEY_KIND] = QST_KIND_GENERAL;
    values[QST_MATMUL_KEY_NUMERICS] = QST_NUMERICS_FAST;
    values[QST_MATMUL_KEY_ELEM_LHS] = values[QST_MATMUL_KEY_ELEM_RHS] = values[QST_MATMUL_KEY_ELEM_OUT] = QST_F16;
    values[QST_MATMUL_KEY_M] = values[QST_MATMUL_KEY_N] = values[QST_MATMUL_KEY_K] = 4096;
    values[QST_MATMUL_KEY_BATCH] = 1;
    values[QST_MATMUL_KEY_ALIGN] = 4;
    values[QST_MATMUL_KEY_LHS_STRIDE] = values[QST_MATMUL_KEY_RHS_STRIDE] = values[QST_MATMUL_KEY_OUT_STRIDE] = 1;
    assert_true(nv_case_priority(&bench, "half_padded_tma_128x256x64", &key) >
                nv_case_priority(&bench, "half_128x128x64", &key));
    values[QST_MATMUL_KEY_LHS_STRIDE] = values[QST_MATMUL_KEY_RHS_STRIDE] = values[QST_MATMUL_KEY_OUT_STRIDE] = 4;
    assert_true(nv_case_priority(&bench, "half_padded_tma_128x256x64", &key) <
                nv_case_priority(&bench, "half_tma_128x256x64", &key));
}

/* ---- The copies -------------------------------------------------------------------------------------------------- */

enum { TAIL = 3, NOTHING = 0x7e00 }; /* elements after an operand; what is beside elements: NaN */

/* Element (i, j) of product (o, l) is this one, of its operand's own. */
static uint16_t element(int64_t o, int64_t l, int64_t i, int64_t j)
{
    return (uint16_t)(1 + (o * 7919 + l * 104729 + i * 1009 + j * 31) % 30000);
}

typedef struct place {
    const qst_matrix *x;
    int64_t           rows, cols, lead, count;
} place;

static int64_t offset_of(const qst_matmul *p, const place *at, int64_t z, int64_t i, int64_t j)
{
    const int64_t inner = p->batch[3];
    return z / inner * at->x->batch[2] + z % inner * at->x->batch[3] + i * at->x->row + j * at->x->col;
}

static uint16_t expected(const qst_matmul *p, const place *at, int64_t z, int64_t i, int64_t j)
{
    const int64_t inner = p->batch[3];
    return element(at->x->batch[2] ? z / inner : 0, at->x->batch[3] ? z % inner : 0, i, j);
}

static cl_mem upload(const qst_matmul *p, place *at)
{
    const int64_t products = p->batch[2] * p->batch[3];
    uint16_t     *host;
    cl_int        code;
    cl_mem        mem;
    at->count = at->lead + offset_of(p, at, products - 1, at->rows - 1, at->cols - 1) + 1 + TAIL;
    host = (uint16_t *)malloc((size_t)at->count * 2);
    assert_non_null(host);
    for (int64_t e = 0; e < at->count; e++)
        host[e] = NOTHING;
    for (int64_t z = 0; z < products; z++)
        for (int64_t i = 0; i < at->rows; i++)
            for (int64_t j = 0; j < at->cols; j++)
                host[at->lead + offset_of(p, at, z, i, j)] = expected(p, at, z, i, j);
    mem = clCreateBuffer(bench.context, CL_MEM_COPY_HOST_PTR, (size_t)at->count * 2, host, &code);
    assert_int_equal(code, CL_SUCCESS);
    free(host);
    return mem;
}

/* What is not written stays NaN. */
static cl_mem fresh(uint64_t bytes)
{
    uint16_t *host = (uint16_t *)malloc((size_t)bytes);
    cl_int    code;
    cl_mem    mem;
    assert_non_null(host);
    for (uint64_t e = 0; e < bytes / 2; e++)
        host[e] = NOTHING;
    mem = clCreateBuffer(bench.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, (size_t)bytes, host, &code);
    assert_int_equal(code, CL_SUCCESS);
    free(host);
    return mem;
}

/* The scratch of an operand where the product's arguments say that it lies. */
static void check(const qst_matmul *p, const place *at, int turned, cl_mem scratch, uint64_t bytes,
                  const qst_arg *ld_arg, const qst_arg *batch_arg)
{
    const int64_t inner = p->batch[3], ld = (int32_t)ld_arg->bits[0];
    const int64_t across = turned ? at->rows : at->cols, down = turned ? at->cols : at->rows;
    uint16_t     *got = (uint16_t *)malloc((size_t)bytes);
    assert_non_null(got);
    assert_int_equal(ld % 8, 0);
    assert_int_equal(clEnqueueReadBuffer(bench.queue, scratch, CL_TRUE, 0, (size_t)bytes, got, 0, NULL, NULL),
                     CL_SUCCESS);
    for (int64_t z = 0; z < p->batch[2] * inner; z++) {
        const int64_t first = z / inner * (int64_t)batch_arg->bits[0] + z % inner * (int64_t)batch_arg->bits[1];
        assert_true((uint64_t)(first + down * ld) * 2 <= bytes);
        for (int64_t y = 0; y < down; y++)
            for (int64_t x = 0; x < ld; x++) {
                const uint16_t is = got[first + y * ld + x];
                const uint16_t wanted = x >= across ? 0 : expected(p, at, z, turned ? x : y, turned ? y : x);
                if (is != wanted)
                    fail_msg("product %d, line %d, element %d: %u, not %u", (int)z, (int)y, (int)x, is, wanted);
            }
    }
    free(got);
}

/* How many operands were copied. */
static int copy_and_check(const char *variant, qst_matmul *p, int64_t lead)
{
    static const uint32_t    item[3] = {2, 2, 2};
    struct runner_candidate *c = nv_case_candidate(&bench, variant);
    place                    at[2] = {{&p->a, p->m, p->k, lead, 0}, {&p->b, p->k, p->n, lead, 0}};
    struct runner_steps     *steps;
    cl_mem                   scratch[4] = {NULL, NULL, NULL, NULL};
    qst_mem                  operands[2];
    int                      copied = 0;
    p->a.align = p->b.align = lead % 8 ? 1 : 4;
    steps = steps_of(variant, p);
    assert_int_equal(steps->n, 2);
    for (int i = 0; i < 2; i++) {
        operands[i] = qst_mem_at(upload(p, &at[i]), (size_t)lead * 2);
        if (steps->workspace[i])
            scratch[i] = fresh(steps->workspace[i]);
    }
    assert_int_equal(runner_launch(&bench, c, steps, 0, operands, scratch, item), CL_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(steps->args[1][2 * i].kind, scratch[i] ? QST_ARG_WORKSPACE : QST_ARG_OPERAND);
        if (scratch[i]) {
            check(p, &at[i], at[i].x->col != 1, scratch[i], steps->workspace[i], &steps->args[1][9 + i],
                  &steps->args[1][12 + i]);
            clReleaseMemObject(scratch[i]);
            copied++;
        }
        clReleaseMemObject((cl_mem)operands[i].handle);
    }
    return copied;
}

static void elements_come_to_their_places(void **state)
{
    static const struct {
        int64_t m, n, k, pad, lead;
        int     a_turned, b_turned, copied;
    } cases[] = {
        {33, 41, 35, 0, 0, 0, 0, 2},  {33, 41, 35, 0, 1, 1, 0, 2},  {65, 17, 63, 3, 5, 0, 1, 2},
        {65, 17, 63, 1, 7, 1, 1, 2},  {3, 5, 7, 0, 2, 0, 0, 2},     {16, 24, 40, 0, 1, 0, 0, 2},
        {32, 40, 35, 0, 0, 0, 0, 1},  {7, 1500, 9, 13, 3, 0, 0, 2}, {300, 700, 513, 0, 0, 0, 0, 2},
        {700, 3, 513, 4, 6, 1, 1, 2}, {2, 9, 8191, 0, 4, 0, 1, 2},  {129, 128, 65, 0, 0, 0, 1, 2},
    };
    (void)state;
    for (size_t i = 0; i < QSTK_COUNT(cases); i++) {
        qst_matmul p = problem(cases[i].m, cases[i].n, cases[i].k);
        p.a.row = cases[i].a_turned ? 1 : p.k + cases[i].pad;
        p.a.col = cases[i].a_turned ? p.m + cases[i].pad : 1;
        p.b.row = cases[i].b_turned ? 1 : p.n + cases[i].pad;
        p.b.col = cases[i].b_turned ? p.k + cases[i].pad : 1;
        assert_int_equal(copy_and_check("half_padded_64x64x64_48k", &p, cases[i].lead), cases[i].copied);
    }
}

/* A matrix that is the same in a dimension of the batch is copied once for it. */
static void batches_are_copied_once_each(void **state)
{
    static const struct {
        int a_outer, a_inner, b_outer, b_inner;
    } cases[] = {{1, 1, 1, 1}, {1, 1, 0, 0}, {0, 1, 1, 0}, {1, 0, 0, 1}};
    (void)state;
    for (size_t i = 0; i < QSTK_COUNT(cases); i++) {
        qst_matmul    p = problem(21, 37, 43);
        const int64_t a = 21 * 43 + 2, b = 43 * 37 + 5;
        p.batch[2] = 2;
        p.batch[3] = 3;
        p.a.batch[2] = cases[i].a_outer * 3 * a;
        p.a.batch[3] = cases[i].a_inner * a;
        p.b.batch[2] = cases[i].b_outer * b; /* swapped: the inner one lies further apart */
        p.b.batch[3] = cases[i].b_inner * 2 * b;
        p.c.batch[2] = 3 * 21 * 37;
        p.c.batch[3] = 21 * 37;
        assert_int_equal(copy_and_check("half_padded_tma_128x128x64", &p, 1), 2);
        assert_int_equal(steps_of("half_padded_tma_128x128x64", &p)->workspace[0],
                         21 * 48 * 2 * (cases[i].a_outer ? 2 : 1) * (cases[i].a_inner ? 3 : 1));
    }
}

static int set_up(void **state)
{
    (void)state;
    if (nv_case_open(&bench) != 0)
        return -1;
    nv_case_h200(&bench);
    bench.device.flags |= QST_DEVICE_PRESUMED; /* priorities may ask what it can */
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    runner_close(&bench);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligned_operands_are_left_to_others),
        cmocka_unit_test(scratch_over_the_largest_buffer_is_refused),
        cmocka_unit_test(only_ragged_operands_are_copied),
        cmocka_unit_test(copies_are_tried_where_they_may_pay),
        cmocka_unit_test(elements_come_to_their_places),
        cmocka_unit_test(batches_are_copied_once_each),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
