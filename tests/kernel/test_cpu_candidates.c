/* SPDX-License-Identifier: MIT
 *
 * test_cpu_candidates.c: every candidate of cpu_gemm and gemv, by itself, against a double reference: odd, tiny, skinny
 * and deep shapes, all transpositions, padding, starts off by one element, batches with broadcast, alpha and beta, f32
 * and f64. Padding of A and B and all of C are NaN before (C only where beta is 0); what lies outside C must not
 * change. What a fixed order of summation asks for is compared with the fallback bit for bit. "Not applicable" is
 * counted and printed.
 */
#include "matmul_case.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

extern const qst_plugin qst__builtin_naive, qst__builtin_cpu_gemm, qst__builtin_gemv;

static struct runner bench;

/* ---- Running a case ---------------------------------------------------------------------------------------------- */

/* All candidates on one problem. Where its numerics are STRICT the first, the fallback, tells the bits. */
static void check(const qst_matmul *problem, size_t lead)
{
    struct matmul_case t;
    cl_mem             buffers[3];
    void              *raw[3], *got, *bits;
    size_t             bytes;
    uint32_t           i;
    matmul_case_init(&t, problem, lead, 0);
    for (i = 0; i < 3; i++)
        matmul_case_upload(bench.context, &t, (int)i, &buffers[i], &raw[i]);
    bytes = t.x[2].count * t.item[2];
    got = malloc(bytes);
    bits = malloc(bytes);
    assert_non_null(got);
    assert_non_null(bits);
    assert_int_equal(matmul_case_run(&bench, &bench.candidates[0], &t, buffers, raw, bits), 1);
    for (i = 1; i < bench.n; i++)
        if (matmul_case_run(&bench, &bench.candidates[i], &t, buffers, raw, got)) {
            matmul_case_compare(&t, bench.candidates[i].name, got, raw[2]);
            if (problem->numerics == QST_NUMERICS_STRICT && memcmp(got, bits, bytes) != 0)
                fail_msg("%s: not the fallback's bits", bench.candidates[i].name);
        }
    for (i = 0; i < 3; i++) {
        clReleaseMemObject(buffers[i]);
        free(raw[i]);
    }
    free(got);
    free(bits);
    matmul_case_finish(&t);
}

/* ---- The cases ------------------------------------------------------------------------------------------------- */

static const int64_t shapes[][3] = {
    {1, 1, 1},       {2, 2, 2},       {3, 3, 3},       {7, 7, 7},      {17, 17, 17},   {31, 31, 31},   {65, 65, 65},
    {100, 100, 100}, {129, 129, 129}, {257, 257, 257}, {1, 257, 65},   {257, 1, 100},  {2, 129, 257},  {129, 2, 31},
    {3, 100, 17},    {100, 3, 33},    {7, 65, 129},    {65, 7, 257},   {17, 64, 1},    {64, 17, 2},    {31, 257, 3},
    {257, 31, 7},    {12, 32, 600},   {5, 7, 1000},    {33, 20, 515},  {540, 66, 40},  {30, 700, 60},  {6, 64, 769},
    {1, 1, 1000},    {1, 1000, 1},    {1000, 1, 1},    {1, 1000, 300}, {300, 1, 1000}, {1040, 17, 33},
};

static const double scalars[][2] = {
    {1, 0}, {1, 1}, {0.5, -1}, {-1, 0.5}, {-1, 0}, {0.5, 1}, {1, -1}, {1, 0}, {0.5, 0.5}, {-1, 1}, {0.5, 0},
};

/* Rows x cols, adjacent along columns or along rows, `pad` elements between lines. */
static void lay(qst_matrix *x, int64_t rows, int64_t cols, int transposed, int64_t pad)
{
    x->row = transposed ? 1 : cols + pad;
    x->col = transposed ? rows + pad : 1;
}

static void make(qst_matmul *p, const int64_t *shape, uint32_t type, uint32_t transposition, int64_t pad,
                 uint32_t scalar)
{
    qst_matmul_init(p, shape[0], shape[1], shape[2], type);
    lay(&p->a, p->m, p->k, transposition & 2, pad);
    lay(&p->b, p->k, p->n, transposition & 1, pad);
    lay(&p->c, p->m, p->n, 0, pad);
    p->alpha = scalars[scalar % QSTK_COUNT(scalars)][0];
    p->beta = scalars[scalar % QSTK_COUNT(scalars)][1];
}

/* Shapes x transpositions; padding, offsets and scalars go round with different periods. */
static void all_shapes(uint32_t type, uint32_t step, uint32_t turn)
{
    static const int64_t pads[] = {0, 3, 4, 1};
    static const size_t  leads[] = {MATMUL_CASE_LEAD, 1, 0};
    qst_matmul           p;
    uint32_t             s, t, at = 0;
    for (s = 0; s < QSTK_COUNT(shapes); s += step)
        for (t = 0; t < 4; t += turn, at++) {
            make(&p, shapes[s], type, t, pads[(at + at / 4) % 4], at);
            check(&p, leads[at % 3]);
        }
}

static void floats(void **state)
{
    (void)state;
    all_shapes(QST_F32, 1, 1);
}

static void doubles(void **state)
{
    (void)state;
    if (!(bench.device.flags & QST_DEVICE_F64))
        skip();
    all_shapes(QST_F64, 3, 4); /* NN: each transposition is compiled anew, and kernel.matrix has them all */
}

/* f16 and bf16, C in either or in f32; kernel.matrix has all pairs of types. A narrow C is one fma chain in any number of
 * blocks of k, an extreme alpha included. */
static void narrow(void **state)
{
    static const int64_t  all[][3] = {{33, 20, 515}, {7, 65, 129}, {17, 130, 400}, {70, 1, 300}};
    static const uint32_t types[][2] = {{QST_F16, QST_F16}, {QST_BF16, QST_F32}};
    qst_matmul            p;
    uint32_t              s, t;
    (void)state;
    for (s = 0; s < QSTK_COUNT(all); s++)
        for (t = 0; t < QSTK_COUNT(types); t++) {
            make(&p, all[s], types[t][0], 3 * t, s, s + t);
            p.c.type = types[t][1];
            check(&p, s % 2 ? 1 : MATMUL_CASE_LEAD);
            p.numerics = QST_NUMERICS_STRICT;
            check(&p, 0);
        }
    make(&p, all[0], QST_F16, 0, 0, 0);
    p.batch[3] = 3;
    p.a.batch[3] = 33 * 515;
    p.c.batch[3] = 33 * 20;
    p.alpha = 0x1p-40;
    check(&p, 1);
}

/* One fma chain an element, also where k is longer than a block. */
static void strict(void **state)
{
    static const int64_t all[][3] = {{17, 65, 100}, {31, 129, 257}, {100, 100, 700}, {1, 100, 1000}, {100, 1, 600}};
    qst_matmul           p;
    uint32_t             s, t;
    (void)state;
    for (s = 0; s < QSTK_COUNT(all); s++)
        for (t = 0; t < 4; t++) {
            make(&p, all[s], QST_F32, t, 1, s + t);
            p.numerics = QST_NUMERICS_STRICT;
            check(&p, 1);
        }
}

static void batch(qst_matmul *p, int d, int64_t count, int64_t a, int64_t b, int64_t c)
{
    p->batch[d] = count;
    p->a.batch[d] = a;
    p->b.batch[d] = b;
    p->c.batch[d] = c;
}

static void batches(void **state)
{
    static const int64_t shape[3] = {18, 20, 132}, small[3] = {32, 32, 32};
    const int64_t        size = 200 * 200; /* more than any of the matrices */
    qst_matmul           p;
    uint32_t             t;
    (void)state;
    for (t = 0; t < 4; t++) {
        make(&p, shape, QST_F32, t, 4, t);
        batch(&p, 3, 5, size, size, size);
        check(&p, MATMUL_CASE_LEAD);
        make(&p, shape, QST_F32, t, 0, t + 1);
        batch(&p, 2, 3, 0, size, size + 1);
        check(&p, 0);
        make(&p, shape, QST_F32, t, 1, t + 2);
        batch(&p, 1, 2, 0, size, 3 * size);
        batch(&p, 3, 3, size, 0, size);
        check(&p, 1);
        make(&p, small, QST_F32, t, 0, t);
        batch(&p, 3, 100, 1024, 1024, 1024);
        check(&p, 0);
    }
}

/* Vectors whose elements lie apart, batches of products with a vector, and long sums. */
static void steps_apart(void **state)
{
    static const int64_t all[][3] = {{1, 100, 333}, {100, 1, 333}, {1, 40, 4100}, {40, 1, 4100}, {90, 70, 1}};
    qst_matmul           p;
    uint32_t             s, t;
    (void)state;
    for (s = 0; s < QSTK_COUNT(all); s++)
        for (t = 0; t < 4; t++) {
            make(&p, all[s], QST_F32, t, 4, s + t);
            if (p.m == 1)
                p.a.col = 3;
            if (p.n == 1)
                p.b.row = 3, p.c.row = 2;
            check(&p, 1);
            make(&p, all[s], QST_F32, t, 4, s + t + 1);
            p.batch[2] = 2;
            p.batch[3] = 3;
            p.a.batch[2] = t & 1 ? 0 : 500000;
            p.a.batch[3] = p.b.batch[2] = p.c.batch[3] = 500000;
            p.b.batch[3] = 0;
            p.c.batch[2] = 2000000;
            p.a.align = p.b.align = p.c.align = 5;
            check(&p, MATMUL_CASE_LEAD);
        }
}

/* Shared rows and columns: stride 0. */
static void shared(void **state)
{
    static const int64_t shape[3] = {19, 37, 23};
    qst_matmul           p;
    (void)state;
    make(&p, shape, QST_F32, 0, 0, 3);
    p.a.row = p.b.row = 0;
    check(&p, 0);
    make(&p, shape, QST_F32, 3, 0, 1);
    p.a.col = p.b.col = 0;
    check(&p, MATMUL_CASE_LEAD);
}

/* ---- Without running: refusals, limits, costs ------------------------------------------------------------------- */

static void refusals(void **state)
{
    static const int64_t shape[3] = {64, 64, 64};
    qst_matmul           p;
    (void)state;
    make(&p, shape, QST_F32, 0, 0, 0);
    p.b.type = QST_F64;
    matmul_case_refused(&bench, "cpu_gemm.6x4_k384", &p, "A and B of different types");
    make(&p, shape, QST_F16, 0, 0, 0);
    matmul_case_refused(&bench, "cpu_gemm.6x4_k384", &p, "A is read in place: A, B and C all f32 or all f64 only");
    matmul_case_refused(&bench, "cpu_gemm.24x1_k128_a", &p, "A, B and C all f32 or all f64 only");
    qst_matmul_init(&p, 20000, 20000, 300, QST_F16);
    matmul_case_refused(&bench, "cpu_gemm.6x4_k256_ab", &p,
                        "sums between blocks of k would be over 512 MiB or larger than the device's largest buffer");
    make(&p, shape, QST_F32, 0, 0, 0);
    p.b.col = 2;
    p.b.row = 128;
    matmul_case_refused(&bench, "cpu_gemm.6x4_k384", &p, "neither rows nor columns of B are adjacent");
    make(&p, shape, QST_F32, 0, 0, 0);
    p.c.row = 1;
    p.c.col = 64;
    matmul_case_refused(&bench, "cpu_gemm.8x3_k384", &p, "columns of C are not adjacent");
    make(&p, shape, QST_F32, 0, 0, 0);
    matmul_case_refused(&bench, "cpu_gemm.6x4_k384_split8", &p, "k under 128 is not split");
    p.numerics = QST_NUMERICS_STRICT;
    matmul_case_refused(&bench, "cpu_gemm.6x4_k384_split8", &p, "the order of summation is fixed");
    qst_matmul_init(&p, 64, 64, 300, QST_F32);
    p.numerics = QST_NUMERICS_STRICT;
    matmul_case_refused(&bench, "cpu_gemm.6x4_k256_ab", &p,
                        "k is longer than a block, and the order of summation is fixed");
    qst_matmul_init(&p, 64, 64, 300, QST_F32);
    p.alpha = 1e20;
    matmul_case_refused(&bench, "cpu_gemm.6x4_k256", &p, "k in several blocks, and alpha not within 2^-32 and 2^32");
    qst_matmul_init(&p, (int64_t)1 << 31, 8, 8, QST_F32);
    matmul_case_refused(&bench, "cpu_gemm.6x4_k384", &p, "m over 2^30");
}

/* Grids stay small however large the problem is: PoCL compiles anew for more than 65535 work-items. Local memory stays
 * below the device's, with room: beyond it PoCL aborts the process. */
static void grids(void **state)
{
    static const int64_t       large[][4] = {{5000, 3000, 700, 100000}, {1, 1000000, 9, 3}, {1000000, 1, 9000, 1}};
    static struct runner_steps steps;
    qst_matmul                 p;
    uint32_t                   i, s, x, a;
    (void)state;
    for (s = 0; s < QSTK_COUNT(large); s++) {
        qst_matmul_init(&p, large[s][0], large[s][1], large[s][2], QST_F32);
        qst_matmul_batch(&p, large[s][3]);
        for (i = 1; i < bench.n; i++) {
            struct runner_candidate *c = &bench.candidates[i];
            if (c->candidate.can_run(c->candidate.user, &bench.device, &p, NULL) != QST_OK)
                continue;
            assert_int_equal(runner_record(&bench, c, &p, &steps), QST_OK);
            for (x = 0; x < steps.n; x++) {
                const qst_launch *l = &steps.launches[x];
                assert_true(l->global[0] * (l->dims > 1 ? l->global[1] * l->global[2] : 1) < 65536);
                for (a = 0; a < l->n_args; a++)
                    if (steps.args[x][a].kind == QST_ARG_LOCAL)
                        assert_true(steps.args[x][a].bytes + 16384 <= bench.device.local_bytes);
            }
        }
    }
}

/* On a GPU they are not offered. Estimates are there, and tell 512 from 64 and whole columns from ragged ones. */
static void devices_and_costs(void **state)
{
    const qst_key key = {0, 0, NULL};
    qst_device    gpu = bench.device, cpu = bench.device;
    qst_matmul    small, large, ragged;
    uint32_t      i;
    (void)state;
    gpu.type = QST_DEVICE_GPU;
    cpu.local_bytes = 2 << 20; /* room for all */
    qst_matmul_init(&small, 64, 64, 256, QST_F32);
    qst_matmul_init(&large, 512, 512, 512, QST_F32);
    qst_matmul_init(&ragged, 512, 513, 512, QST_F32);
    for (i = 1; i < bench.n; i++) {
        const qst_candidate *c = &bench.candidates[i].candidate;
        const char          *why = NULL;
        double               ns = c->estimate(c->user, &cpu, &large);
        if (strncmp(bench.candidates[i].name, "cpu_gemm.", 9) != 0)
            continue;
        assert_int_equal(c->supports(c->user, &cpu, &key, &why), QST_OK);
        assert_int_equal(c->supports(c->user, &gpu, &key, &why), QST_E_UNSUPPORTED);
        assert_string_equal(why, "a work-group of one work-item: for CPU devices only");
        assert_true(c->estimate(c->user, &cpu, &small) > 0);
        assert_true(ns > c->estimate(c->user, &cpu, &small));
        assert_true(ns < c->estimate(c->user, &cpu, &ragged));
    }
}

/* Products with a vector: which kernels are offered where, and what they refuse. */
static void vectors(void **state)
{
    int64_t       values[QST_KEY_MAX] = {0};
    const qst_key key = {QST_MATMUL_KEY_COUNT, 0, values};
    qst_device    gpu = bench.device;
    qst_matmul    p;
    uint32_t      i;
    (void)state;
    gpu.type = QST_DEVICE_GPU;
    for (i = 1; i < bench.n; i++) {
        const qst_candidate *c = &bench.candidates[i].candidate;
        const int            grouped = strncmp(c->variant, "group", 5) == 0, outer = strcmp(c->variant, "outer") == 0;
        const char          *why = NULL;
        if (strncmp(bench.candidates[i].name, "gemv.", 5) != 0)
            continue;
        values[QST_MATMUL_KEY_KIND] = QST_KIND_GENERAL;
        assert_int_equal(c->supports(c->user, &bench.device, &key, &why), QST_E_UNSUPPORTED);
        assert_string_equal(why, "products with a vector only");
        values[QST_MATMUL_KEY_KIND] = QST_KIND_MATVEC;
        assert_int_equal(c->supports(c->user, &bench.device, &key, &why), grouped ? QST_POOR : QST_OK);
        assert_int_equal(c->supports(c->user, &gpu, &key, &why), grouped || outer ? QST_OK : QST_E_UNSUPPORTED);
    }
    qst_matmul_init(&p, 64, 2, 64, QST_F32);
    matmul_case_refused(&bench, "gemv.dot_4x2", &p, "neither m nor n is 1");
    matmul_case_refused(&bench, "gemv.outer", &p, "k is not 1");
    qst_matmul_init(&p, 64, 1, 65, QST_F32);
    matmul_case_refused(&bench, "gemv.strip_8", &p, "elements of the matrix are not adjacent along the result");
    matmul_case_refused(&bench, "gemv.group128_dot_x4", &p,
                        "lines of the matrix or the vector are not aligned to four elements");
    matmul_case_refused(&bench, "gemv.dot_4x2_split8", &p, "k under 128 is not split");
    p.b.row = 2;
    matmul_case_refused(&bench, "gemv.dot_4x2", &p, "elements of the vector are not adjacent");
    qst_matmul_init(&p, 1, 64, 65, QST_F32);
    matmul_case_refused(&bench, "gemv.dot_4x2", &p, "elements of the matrix are not adjacent along the sum");
}

static int set_up(void **state)
{
    (void)state;
    return runner_open(&bench) || runner_start(&bench, &qst__builtin_naive) ||
           runner_start(&bench, &qst__builtin_cpu_gemm) || runner_start(&bench, &qst__builtin_gemv);
}

static int tear_down(void **state)
{
    int      idle = 0;
    uint32_t i;
    (void)state;
    for (i = 0; i < bench.n; i++) {
        const struct runner_candidate *c = &bench.candidates[i];
        print_message("  %-30s ran %4u, not applicable %4u\n", c->name, c->ran, c->refused);
        idle |= c->ran == 0;
    }
    runner_close(&bench);
    return idle; /* a candidate that nothing applied to was not tested */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals), cmocka_unit_test(grids),       cmocka_unit_test(devices_and_costs),
        cmocka_unit_test(floats),   cmocka_unit_test(batches),     cmocka_unit_test(strict),
        cmocka_unit_test(vectors),  cmocka_unit_test(steps_apart), cmocka_unit_test(shared),
        cmocka_unit_test(doubles),  cmocka_unit_test(narrow),
    };
    return cmocka_run_group_tests_name("cpu_candidates", tests, set_up, tear_down);
}
