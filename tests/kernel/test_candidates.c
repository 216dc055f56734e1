/* SPDX-License-Identifier: MIT
 *
 * test_candidates.c: candidates of naive, tiled and clblast by themselves: what they refuse, how large their launches are
 * and what they cost, and that the fallback's two kernels agree. That each is right is the kernel matrix's
 * (tests/matrix).
 */
#include "matmul_case.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

extern const qst_plugin qst__builtin_naive, qst__builtin_tiled, qst__builtin_clblast, qst__builtin_cblas;

static struct runner bench;

/* ---- The cases ------------------------------------------------------------------------------------------------- */

static const double scalars[][2] = {
    {1, 0}, {1, 1}, {0.5, -1}, {-1, 0.5}, {0, 0.5}, {1, 0}, {0.5, 0}, {-1, 1}, {0, 0}, {0, 1}, {1, -1}, {0.5, 0.5},
};

/* Rows x cols, adjacent along columns or along rows, `pad` elements between lines. */
static void lay(qst_matrix *x, int64_t rows, int64_t cols, int transposed, int64_t pad)
{
    x->row = transposed ? 1 : cols + pad;
    x->col = transposed ? rows + pad : 1;
}

static void make(qst_matmul *p, const int64_t *shape, uint32_t transposition, int64_t pad, uint32_t scalar)
{
    qst_matmul_init(p, shape[0], shape[1], shape[2], QST_F32);
    lay(&p->a, p->m, p->k, transposition & 2, pad);
    lay(&p->b, p->k, p->n, transposition & 1, pad);
    lay(&p->c, p->m, p->n, 0, pad);
    p->alpha = scalars[scalar % QSTK_COUNT(scalars)][0];
    p->beta = scalars[scalar % QSTK_COUNT(scalars)][1];
}

static void batch(qst_matmul *p, int d, int64_t count, int64_t a, int64_t b, int64_t c)
{
    p->batch[d] = count;
    p->a.batch[d] = a;
    p->b.batch[d] = b;
    p->c.batch[d] = c;
}

/* The fallback's two kernels: B with adjacent columns takes the one, the same B spread out the other. */
static void rows_and_scalars_agree(void **state)
{
    static const int64_t shape[3] = {35, 83, 301};
    struct matmul_case   dense, spread;
    cl_mem               buffers[3];
    void                *raw[3], *got[2];
    qst_matmul           p;
    uint32_t             which, i;
    (void)state;
    make(&p, shape, 0, 0, 3);
    matmul_case_init(&dense, &p, 0, 0);
    p.b.col = 2;
    p.b.row = 2 * shape[1];
    matmul_case_init(&spread, &p, 0, 0);
    for (i = 0; i < (uint32_t)(shape[1] * shape[2]); i++)
        spread.x[1].value[2 * i] = dense.x[1].value[i];
    for (i = 0; i < dense.x[0].count; i++)
        spread.x[0].value[i] = dense.x[0].value[i];
    for (i = 0; i < dense.x[2].count; i++)
        spread.x[2].value[i] = dense.x[2].value[i];
    for (which = 0; which < 2; which++) {
        const struct matmul_case *t = which ? &spread : &dense;
        for (i = 0; i < 3; i++)
            matmul_case_upload(bench.context, t, (int)i, &buffers[i], &raw[i]);
        got[which] = malloc(t->x[2].count * 8);
        assert_non_null(got[which]);
        assert_string_equal(bench.candidates[0].name, "naive.row16");
        assert_int_equal(matmul_case_run(&bench, &bench.candidates[0], t, buffers, raw, got[which]), 1);
        for (i = 0; i < 3; i++) {
            clReleaseMemObject(buffers[i]);
            free(raw[i]);
        }
    }
    assert_memory_equal(got[0], got[1], (size_t)(shape[0] * shape[1]) * sizeof(float));
    free(got[0]);
    free(got[1]);
    matmul_case_finish(&dense);
    matmul_case_finish(&spread);
}

/* ---- Without running: refusals, limits, costs ------------------------------------------------------------------- */

static void refusals(void **state)
{
    static const int64_t shape[3] = {64, 64, 64};
    qst_matmul           p;
    (void)state;
    make(&p, shape, 0, 0, 0);
    p.a.type = p.b.type = p.c.type = QST_F16;
    p.b.type = QST_BF16;
    matmul_case_refused(&bench, "naive.row16", &p, "A and B of different types");
    p.b.type = QST_F16;
    p.c.type = QST_BF16;
    matmul_case_refused(&bench, "naive.row16", &p, "C neither of A's type nor f32");
    matmul_case_refused(&bench, "tiled.64x64x16_4x4", &p, "f32 only");
    matmul_case_refused(&bench, "clblast.gemm", &p, "A, B and C all f32 or all f64 only");
    make(&p, shape, 0, 0, 0);
    p.a.col = 2;
    p.a.row = 128;
    matmul_case_refused(&bench, "tiled.64x64x16_4x4", &p, "neither rows nor columns of A are adjacent");
    matmul_case_refused(&bench, "clblast.gemm", &p,
                        "CLBlast needs adjacent columns or rows of A and lines that do not overlap");
    make(&p, shape, 0, 0, 0);
    p.b.row = 0;
    matmul_case_refused(&bench, "clblast.gemm", &p,
                        "CLBlast needs adjacent columns or rows of B and lines that do not overlap");
    make(&p, shape, 0, 0, 0);
    p.c.row = 1;
    p.c.col = 64;
    matmul_case_refused(&bench, "tiled.32x32x16_4x4", &p, "columns of C are not adjacent");
    matmul_case_refused(&bench, "clblast.gemm", &p, "CLBlast needs adjacent columns of C");
    make(&p, shape, 0, 0, 0);
    matmul_case_refused(&bench, "tiled.splitk4_64x64x16_4x4", &p, "k under 128 is not split");
    batch(&p, 3, 2, 4096, 0, 4096);
    matmul_case_refused(&bench, "clblast.gemm", &p, "a batch that shares A or B has no form in CLBlast");
    batch(&p, 2, 2, 0, 4096, 8192);
    matmul_case_refused(&bench, "clblast.gemm", &p, "CLBlast has one batch dimension; these do not merge into one");
    batch(&p, 1, 2, 8192, 0, 16384);
    matmul_case_refused(&bench, "tiled.128x128x16_8x8", &p, "more than two batch dimensions that do not merge");
    qst_matmul_init(&p, 20000, 20000, 4096, QST_F32);
    matmul_case_refused(&bench, "tiled.splitk4_64x64x16_4x4", &p, "the workspace would be over 256 MiB");
    qst_matmul_init(&p, (int64_t)1 << 31, 8, 8, QST_F32);
    matmul_case_refused(&bench, "tiled.32x32x16_4x4", &p, "m over 2^30");
}

/* Grids without barriers stay small however large the problem is, and every launch fits the device. */
static void grids(void **state)
{
    static struct runner_steps steps;
    qst_matmul                 p;
    uint32_t                   i, x;
    (void)state;
    qst_matmul_init(&p, 5000, 3000, 700, QST_F32);
    qst_matmul_batch(&p, 100000);
    for (i = 0; i < bench.n; i++) {
        struct runner_candidate *c = &bench.candidates[i];
        if (!c->candidate.steps || c->candidate.can_run(c->candidate.user, &bench.device, &p, NULL) != QST_OK)
            continue;
        assert_int_equal(runner_record(&bench, c, &p, &steps), QST_OK);
        for (x = 0; x < steps.n; x++) {
            const qst_launch *l = &steps.launches[x];
            if (strcmp(steps.entries[x], "tiled_matmul") != 0)
                assert_true(l->global[0] * (l->dims > 1 ? l->global[1] * l->global[2] : 1) < 65536);
            assert_true(l->global[0] % l->local[0] == 0);
            assert_true(l->local[0] * (l->dims > 1 ? l->local[1] * l->local[2] : 1) <= bench.device.max_group);
        }
    }
}

/* On a CPU device a row with barriers is a last resort. */
static void devices(void **state)
{
    const qst_key key = {0, 0, NULL};
    qst_device    gpu = bench.device;
    uint32_t      i;
    (void)state;
    gpu.type = QST_DEVICE_GPU;
    for (i = 0; i < bench.n; i++) {
        const qst_candidate *c = &bench.candidates[i].candidate;
        const char          *why = NULL;
        if (strncmp(bench.candidates[i].name, "tiled.", 6) != 0)
            continue;
        assert_int_equal(c->supports(c->user, &bench.device, &key, &why), QST_POOR);
        assert_string_equal(why, "barriers are slow on a CPU device");
        assert_int_equal(c->supports(c->user, &gpu, &key, &why), QST_OK);
    }
}

static int set_up(void **state)
{
    (void)state;
    return runner_open(&bench) || runner_start(&bench, &qst__builtin_naive) ||
           runner_start(&bench, &qst__builtin_tiled) || runner_start(&bench, &qst__builtin_clblast) ||
           runner_start(&bench, &qst__builtin_cblas);
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
        cmocka_unit_test(refusals),
        cmocka_unit_test(grids),
        cmocka_unit_test(devices),
        cmocka_unit_test(rows_and_scalars_agree),
    };
    return cmocka_run_group_tests_name("candidates", tests, set_up, tear_down);
}
