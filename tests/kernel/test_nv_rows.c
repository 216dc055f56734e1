/* SPDX-License-Identifier: MIT
 *
 * test_nv_rows.c: the matmul candidates of nv_mma where there is no such GPU: all are refused with a reason on the device
 * that is there; on the facts of an H200 their legality, programs, launches and costs are what the tables mean.
 */
#include "nv_case.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct runner bench;
static qst_device    there; /* what the host's device really is */

static void as_there(void)
{
    bench.device = there;
}

static void as_h200(void)
{
    bench.device = there;
    nv_case_h200(&bench);
}

static int32_t can(const char *variant, const qst_matmul *p, const char **why)
{
    struct runner_candidate *c = nv_case_candidate(&bench, variant);
    return c->candidate.can_run(c->candidate.user, &bench.device, p, why);
}

/* Aligned squares. */
static qst_matmul square(int64_t n, uint32_t type)
{
    qst_matmul p;
    qst_matmul_init(&p, n, n, n, type);
    p.a.align = p.b.align = p.c.align = 4;
    return p;
}

/* ---- Without the GPU --------------------------------------------------------------------------------------------- */

static void elsewhere_all_are_refused_with_a_reason(void **state)
{
    int64_t          values[QST_KEY_MAX] = {0};
    const qst_key    key = {QST_MATMUL_KEY_COUNT, 0, values};
    const qst_matmul p = square(256, QST_F32);
    uint32_t         seen = 0;
    (void)state;
    as_there();
    values[QST_MATMUL_KEY_ELEM_LHS] = values[QST_MATMUL_KEY_ELEM_RHS] = values[QST_MATMUL_KEY_ELEM_OUT] = QST_F32;
    for (uint32_t i = 0; i < bench.n; i++) {
        const qst_candidate *c = &bench.candidates[i].candidate;
        const char          *why = NULL;
        if (!nv_case_is_matmul(&bench.candidates[i]))
            continue;
        seen++;
        assert_int_equal(c->supports(c->user, &bench.device, &key, &why), QST_E_UNSUPPORTED);
        assert_string_equal(why, "not an NVIDIA GPU");
        why = NULL;
        assert_int_equal(c->can_run(c->user, &bench.device, &p, &why), QST_E_UNSUPPORTED);
        assert_string_equal(why, "not an NVIDIA GPU");
        assert_true(c->estimate(c->user, &bench.device, &p) == 0.0);
        for (uint32_t m = 0; m < c->n_memberships; m++)
            assert_true(c->memberships[m].priority(c->user, &bench.device, &key) < 0);
    }
    assert_true(seen >= 30);
}

/* ---- On the facts of one ----------------------------------------------------------------------------------------- */

static void what_cannot_be_expressed_is_refused(void **state)
{
    qst_matmul p = square(256, QST_F32);
    (void)state;
    as_h200();
    assert_int_equal(can("3xtf32_64x64x32", &p, NULL), QST_OK);
    nv_case_refuses(&bench, "half_128x128x64", &p, "operands of f16 or bf16 only");
    nv_case_refuses(&bench, "planes_128x128x32", &p, "m or n under 512: planes cost more than they give");
    p = square(256, QST_F16);
    nv_case_refuses(&bench, "fma_64x64x16", &p, "f32 only");
    assert_int_equal(can("half_64x64x64_48k", &p, NULL), QST_OK);
    p.c.type = QST_F32;
    assert_int_equal(can("half_64x64x64_48k", &p, NULL), QST_OK);
    p.c.type = QST_BF16;
    nv_case_refuses(&bench, "half_64x64x64_48k", &p, "A and B both f32, or both f16 or bf16 with C like them or f32");
    p = square(256, QST_F32);
    p.a.col = 2;
    nv_case_refuses(&bench, "fma_64x64x16", &p, "neither rows nor columns of A are adjacent");
    p = square(256, QST_F32);
    p.c.row = 1;
    p.c.col = 256;
    nv_case_refuses(&bench, "fma_64x64x16", &p, "columns of C are not adjacent");
    p = square(256, QST_F32);
    p.a.row = (int64_t)1 << 31;
    nv_case_refuses(&bench, "fma_64x64x16", &p, "a stride of 2^31 or more");
    p = square(256, QST_F32);
    p.k = 63;
    nv_case_refuses(&bench, "3xtf32_64x64x32", &p, "k under 64: too short a sum for the bound of numerics PLAIN");
    assert_int_equal(can("fma_64x64x16", &p, NULL), QST_OK);
    assert_int_equal(can("tf32_64x64x32", &p, NULL), QST_OK);
    p = square(1024, QST_F32);
    p.k = 1023;
    nv_case_refuses(&bench, "planes_128x128x32", &p,
                    "k under 1024: too short for the bound of numerics PLAIN from planes");
    p = square(1024, QST_F32);
    qst_matmul_batch(&p, 2);
    nv_case_refuses(&bench, "planes_128x128x32", &p, "a batch: planes are for single products");
    assert_int_equal(can("3xtf32_64x64x32", &p, NULL), QST_OK);
}

/* Copies by the tensor engine know only starts and strides of multiples of 16 bytes, but where a row ends; their siblings
 * take the rest. */
static void tensor_copies_want_operands_aligned(void **state)
{
    static const char reason[] = "tensor copies: a start or stride of A or B that is no multiple of 16 bytes";
    qst_matmul        p = square(1024, QST_F16);
    (void)state;
    as_h200();
    assert_int_equal(can("half_tma_128x256x64", &p, NULL), QST_OK);
    p.m = 1021; /* no adjacent extent */
    assert_int_equal(can("half_tma_128x256x64", &p, NULL), QST_OK);
    p.a.align = 3;
    nv_case_refuses(&bench, "half_tma_128x256x64", &p, reason);
    nv_case_refuses(&bench, "half_tma_promoted_128x256x64", &p, reason);
    assert_int_equal(can("half_128x256x64", &p, NULL), QST_OK);
    p = square(1020, QST_BF16);
    nv_case_refuses(&bench, "half_tma_128x128x64", &p, reason);
    p.a.row = p.b.row = 1024; /* rows of 1020 elements */
    assert_int_equal(can("half_tma_128x128x64", &p, NULL), QST_OK);
    p = square(1024, QST_BF16);
    p.c.align = 1; /* C goes through local memory */
    assert_int_equal(can("half_tma_128x128x64", &p, NULL), QST_OK);
    p = square(1024, QST_BF16);
    qst_matmul_batch(&p, 3);
    assert_int_equal(can("half_tma_128x128x64", &p, NULL), QST_OK);
    p.b.batch[QST_MATMUL_BATCHES - 1] = 1024 * 1024 + 4;
    nv_case_refuses(&bench, "half_tma_128x128x64", &p, reason);
    p = square(1024, QST_F32);
    nv_case_refuses(&bench, "half_tma_128x128x64", &p, "operands of f16 or bf16 only");
}

/* The options of the program of a problem's only launch. */
static const char *options_of(const char *variant, const qst_matmul *p, struct runner_steps *steps)
{
    struct runner_candidate *c = nv_case_candidate(&bench, variant);
    int64_t                  values[QST_KEY_MAX] = {0};
    const qst_key            key = {QST_MATMUL_KEY_COUNT, 0, values};
    static qst_program       program;
    values[QST_MATMUL_KEY_ELEM_LHS] = p->a.type;
    values[QST_MATMUL_KEY_ELEM_OUT] = p->c.type;
    assert_int_equal(runner_record(&bench, c, p, steps), QST_OK);
    assert_int_equal(steps->n, 1);
    memset(&program, 0, sizeof program);
    program.size = (uint32_t)sizeof program;
    assert_int_equal(c->candidate.program(c->candidate.user, &bench.device, &key, steps->launches[0].program, &program),
                     QST_OK);
    assert_non_null(strstr((const char *)program.data, steps->entries[0]));
    assert_int_equal(strlen((const char *)program.data), program.length);
    return program.options;
}

static void how_a_problem_lies_picks_the_program(void **state)
{
    struct runner_steps steps;
    qst_matmul          p = square(1024, QST_F32);
    const char         *options;
    (void)state;
    as_h200();
    options = options_of("3xtf32_128x128x16_48k", &p, &steps);
    assert_non_null(strstr(options, "-DTA=0 -DTB=0 -DLOOSE=0 -DFULL=1 -DLONG=0"));
    assert_int_equal(steps.launches[0].local[0], 128);
    assert_int_equal(steps.launches[0].global[0], 64 * 128);
    p.k = 1028; /* whole vectors, not whole tiles */
    options = options_of("3xtf32_128x128x16_48k", &p, &steps);
    assert_non_null(strstr(options, "-DTA=0 -DTB=0 -DLOOSE=0 -DFULL=0 -DLONG=1"));
    p = square(1024, QST_F32);
    p.a.align = 0;
    assert_non_null(strstr(options_of("3xtf32_128x128x16_48k", &p, &steps), "-DLOOSE=1"));
    p.a.row = 1; /* turned, A is copied element by element and need not be aligned */
    p.a.col = 1024;
    assert_non_null(strstr(options_of("3xtf32_128x128x16_48k", &p, &steps), "-DTA=1 -DTB=0 -DLOOSE=0"));
    p = square(1024, QST_F16);
    assert_non_null(strstr(options_of("half_128x128x64", &p, &steps), "-DBF16=0 -DOUT=3"));
    p = square(1024, QST_BF16);
    p.c.type = QST_F32;
    assert_non_null(strstr(options_of("half_128x128x64", &p, &steps), "-DBF16=1 -DOUT=1"));
    p = square(64, QST_F32);
    qst_matmul_batch(&p, 1000);
    (void)options_of("3xtf32_64x64x16_32k", &p, &steps);
    assert_int_equal(steps.launches[0].global[0], 1000 * 128);
    p = square(512, QST_F32);
    (void)options_of("3xtf32_32x64x32_ways4", &p, &steps);
    assert_int_equal(steps.launches[0].local[0], 512);
}

/* What a launch costs shows in products of small tiles alone. */
static void numbers_share_arguments_where_tiles_are_small(void **state)
{
    struct runner_steps steps;
    const int32_t       extents[4] = {100, 200, 300, 7};
    int32_t             strides[4] = {300, 200, 200, 0};
    const float         alpha = 2.5f;
    qst_matmul          p;
    (void)state;
    as_h200();
    qst_matmul_init(&p, 100, 200, 300, QST_F32);
    qst_matmul_batch(&p, 7);
    p.alpha = alpha;
    memcpy(&strides[3], &alpha, sizeof alpha);
    assert_non_null(strstr(options_of("3xtf32_16x64x32_ways4", &p, &steps), "-DPACKED=1"));
    assert_int_equal(steps.launches[0].n_args, 12);
    assert_memory_equal(steps.args[0][6].bits, extents, sizeof extents);
    assert_memory_equal(steps.args[0][7].bits, strides, sizeof strides);
    assert_non_null(strstr(options_of("fma_32x64x16", &p, &steps), "-DPACKED=1"));
    assert_null(strstr(options_of("3xtf32_64x64x32", &p, &steps), "PACKED"));
    assert_int_equal(steps.launches[0].n_args, 18);
}

/* What is left of the program's text from its kernel's arguments on, and its options. */
static const char *kernel_of(struct runner_candidate *c, const qst_matmul *p, const struct runner_steps *steps,
                             uint32_t i, const char **options)
{
    static qst_program program;
    int64_t            values[QST_KEY_MAX] = {0};
    const qst_key      key = {QST_MATMUL_KEY_COUNT, 0, values};
    char               head[96];
    values[QST_MATMUL_KEY_ELEM_LHS] = p->a.type;
    values[QST_MATMUL_KEY_ELEM_OUT] = p->c.type;
    memset(&program, 0, sizeof program);
    program.size = (uint32_t)sizeof program;
    assert_int_equal(c->candidate.program(c->candidate.user, &bench.device, &key, steps->launches[i].program, &program),
                     QST_OK);
    *options = program.options;
    (void)snprintf(head, sizeof head, "kernel void %s(NV_ARGUMENTS", steps->entries[i]);
    return strstr((const char *)program.data, head);
}

/* A kernel whose numbers share arguments gets such, and unpacks them; no other one does. However the matrices lie. */
static void packed_kernels_alone_get_packed_arguments(void **state)
{
    static const uint32_t types[] = {QST_F32, QST_F16};
    uint32_t              packed = 0, others = 0;
    (void)state;
    as_h200();
    for (uint32_t x = 0; x < bench.n * 16; x++) { /* type, lengths of lines, turned or not */
        struct runner_candidate *c = &bench.candidates[x / 16];
        struct runner_steps      steps;
        const char              *options, *why;
        qst_matmul               p = square(x & 2 ? 2048 : 2047, types[x & 1]);
        if (x & 4)
            p.a.row = 1, p.a.col = p.m;
        if (x & 8)
            p.b.row = 1, p.b.col = p.k;
        if (!nv_case_is_matmul(c) || c->candidate.can_run(c->candidate.user, &bench.device, &p, &why) != QST_OK)
            continue;
        assert_int_equal(runner_record(&bench, c, &p, &steps), QST_OK);
        for (uint32_t i = 0; i < steps.n; i++) {
            const char *kernel = kernel_of(c, &p, &steps, i, &options);
            const int   shared = strstr(options, "-DPACKED=1") != NULL;
            if (!kernel) /* arguments of its own */
                continue;
            assert_int_equal(steps.launches[i].n_args,
                             (shared ? 12 : 18) + (strstr(options, "-DGUARD=1")                 ? 3
                                                   : strstr(steps.entries[i], "nv_tma") != NULL ? 2
                                                                                                : 0));
            assert_true(!shared || strstr(kernel, "NV_UNPACK") != NULL);
            *(shared ? &packed : &others) += 1;
        }
    }
    assert_true(packed >= 5 * 4 && others >= 20 * 4);
}

/* As many groups as there are units go through all tiles, with maps for each. */
static void groups_fed_by_tensor_copies_stay(void **state)
{
    struct runner_steps steps;
    qst_matmul          p = square(4096, QST_F16);
    const char         *options;
    (void)state;
    as_h200();
    options = options_of("half_tma_promoted_128x256x64", &p, &steps);
    assert_non_null(strstr(options, "-DBM=128 -DBN=256 -DBK=64 -DSTAGES=4"));
    assert_non_null(strstr(options, "-DFULL=0"));
    assert_non_null(strstr(options, "-DPROMOTE=1"));
    assert_int_equal(steps.launches[0].local[0], 384);
    assert_int_equal(steps.launches[0].global[0], 132 * 384);
    assert_int_equal(steps.workspace[2], 132 * 256);
    p = square(512, QST_F16); /* eight tiles */
    (void)options_of("half_tma_128x256x64", &p, &steps);
    assert_int_equal(steps.launches[0].global[0], 8 * 384);
    assert_int_equal(steps.workspace[2], 8 * 256);
    qst_matmul_batch(&p, 5);
    (void)options_of("half_tma_128x256x64", &p, &steps);
    assert_int_equal(steps.launches[0].global[0], 40 * 384);
}

static void planes_split_multiply_and_compute_the_rest(void **state)
{
    static const char *const expected[] = {"nv_split_rows",  "nv_split_maxima", "nv_split_columns",
                                           "nv_split_flags", "nv_planes",       "nv_wgmma_f32"};
    struct runner_candidate *c;
    struct runner_steps      steps;
    qst_matmul               p = square(2048, QST_F32);
    (void)state;
    as_h200();
    c = nv_case_candidate(&bench, "planes_128x64x32_48k");
    assert_int_equal(runner_record(&bench, c, &p, &steps), QST_OK);
    assert_int_equal(steps.n, QSTK_COUNT(expected));
    for (uint32_t i = 0; i < steps.n; i++)
        assert_string_equal(steps.entries[i], expected[i]);
    assert_int_equal(steps.workspace[0], 2048 * 2048 * 4);
    assert_int_equal(steps.launches[4].global[0], 16 * 32 * 128);
    assert_int_equal(steps.launches[5].global[0], 16 * 16 * 128);
    p.b.row = 1; /* both with k adjacent */
    p.b.col = 2048;
    assert_int_equal(runner_record(&bench, c, &p, &steps), QST_OK);
    assert_int_equal(steps.n, 4);
    p = square(2048, QST_F32);
    p.a.row = 1; /* both with k apart: the most launches there can be */
    p.a.col = 2048;
    assert_int_equal(runner_record(&bench, c, &p, &steps), QST_OK);
    assert_int_equal(steps.n, QST_LAUNCHES_MAX);
}

/* What was measured decides: many small groups for few tiles, one product of planes for many. */
static void costs_rank_as_measured(void **state)
{
    const qst_matmul least = square(256, QST_F32), small = square(512, QST_F32), medium = square(1024, QST_F32),
                     large = square(4096, QST_F32);
    const qst_matmul half_small = square(512, QST_F16), half_medium = square(1024, QST_F16);
    const qst_matmul half_large = square(4096, QST_F16);
    (void)state;
    as_h200();
    assert_true(nv_case_cost(&bench, "half_64x64x64_48k", &half_small) <
                nv_case_cost(&bench, "half_tma_128x256x64", &half_small));
    assert_true(nv_case_cost(&bench, "half_64x64x64_48k", &half_medium) <
                nv_case_cost(&bench, "half_tma_128x128x64", &half_medium));
    assert_true(nv_case_cost(&bench, "half_promoted_64x64x64_48k", &half_medium) <
                nv_case_cost(&bench, "half_tma_promoted_128x128x64", &half_medium));
    assert_true(nv_case_cost(&bench, "half_tma_128x128x64", &half_medium) <
                nv_case_cost(&bench, "half_tma_128x256x64", &half_medium));
    assert_true(nv_case_cost(&bench, "half_tma_128x256x64", &half_large) <
                nv_case_cost(&bench, "half_128x256x64", &half_large));
    assert_true(nv_case_cost(&bench, "half_tma_promoted_128x256x64", &half_large) <
                nv_case_cost(&bench, "half_promoted_128x128x64", &half_large));
    assert_true(nv_case_cost(&bench, "3xtf32_16x64x32_ways4", &least) <
                nv_case_cost(&bench, "3xtf32_32x64x32_ways4", &least));
    assert_true(nv_case_cost(&bench, "3xtf32_32x64x32_ways4", &small) <
                nv_case_cost(&bench, "3xtf32_16x64x32_ways4", &small));
    assert_true(nv_case_cost(&bench, "3xtf32_32x64x32_ways4", &small) <
                nv_case_cost(&bench, "3xtf32_64x64x32", &small));
    assert_true(nv_case_cost(&bench, "3xtf32_64x64x32", &small) <
                nv_case_cost(&bench, "3xtf32_128x128x16_48k", &small));
    assert_true(nv_case_cost(&bench, "3xtf32_64x64x32", &medium) <
                nv_case_cost(&bench, "3xtf32_128x128x16_48k", &medium));
    assert_true(nv_case_cost(&bench, "3xtf32_128x128x16_48k", &large) <
                nv_case_cost(&bench, "3xtf32_64x64x32", &large));
    assert_true(nv_case_cost(&bench, "planes_128x128x32", &large) <
                nv_case_cost(&bench, "3xtf32_128x128x16_48k", &large));
    assert_true(nv_case_cost(&bench, "3xtf32_128x128x16_48k", &large) < nv_case_cost(&bench, "fma_128x128x16", &large));
    assert_true(nv_case_cost(&bench, "3xtf32_mma_128x64x16", &large) < nv_case_cost(&bench, "fma_128x128x16", &large));
    assert_true(nv_case_cost(&bench, "fma_64x128x16", &large) < nv_case_cost(&bench, "fma_128x128x16", &large));
    assert_true(nv_case_cost(&bench, "fma_64x128x16", &medium) < nv_case_cost(&bench, "fma_32x32x16", &medium));
    assert_true(nv_case_cost(&bench, "fma_32x32x16", &small) < nv_case_cost(&bench, "fma_64x64x16", &small));
    assert_true(nv_case_cost(&bench, "3xtf32_64x64x32_ways2", &medium) <
                nv_case_cost(&bench, "3xtf32_64x64x32", &medium));
}

/* Copies element by element cost most where two sets of work-items share a slice; short sums are mostly stores. */
static void costs_of_ragged_problems_rank_as_measured(void **state)
{
    qst_matmul p;
    (void)state;
    as_h200();
    qst_matmul_init(&p, 1023, 1023, 1279, QST_F32);
    assert_true(nv_case_cost(&bench, "3xtf32_64x64x32", &p) < nv_case_cost(&bench, "3xtf32_64x64x32_ways2", &p));
    qst_matmul_init(&p, 2999, 2999, 79, QST_F32);
    assert_true(nv_case_cost(&bench, "3xtf32_64x64x16_32k", &p) < nv_case_cost(&bench, "3xtf32_128x64x32", &p));
    assert_true(nv_case_cost(&bench, "3xtf32_64x64x16_32k", &p) < nv_case_cost(&bench, "3xtf32_mma_64x64x32", &p));
    qst_matmul_init(&p, 33, 97, 2940, QST_F32);
    assert_true(nv_case_cost(&bench, "3xtf32_32x64x32_ways4", &p) < nv_case_cost(&bench, "3xtf32_64x64x32_ways2", &p));
    qst_matmul_init(&p, 303, 2999, 31, QST_F32);
    assert_true(nv_case_cost(&bench, "fma_64x64x16", &p) < nv_case_cost(&bench, "fma_128x128x16", &p));
}

/* In the bucket of k up to 64 some products are too short for three products of parts: the best of the rows that take
 * all of them is compared at once, too. */
static void a_bucket_has_a_row_that_takes_all_of_it_at_first(void **state)
{
    int64_t       values[QST_KEY_MAX] = {0};
    const qst_key key = {QST_MATMUL_KEY_COUNT, 0, values};
    qst_matmul    p = square(512, QST_F32);
    (void)state;
    as_h200();
    values[QST_MATMUL_KEY_KIND] = QST_KIND_GENERAL;
    values[QST_MATMUL_KEY_ELEM_LHS] = values[QST_MATMUL_KEY_ELEM_RHS] = values[QST_MATMUL_KEY_ELEM_OUT] = QST_F32;
    values[QST_MATMUL_KEY_M] = 512;
    values[QST_MATMUL_KEY_N] = 512;
    values[QST_MATMUL_KEY_K] = 64;
    values[QST_MATMUL_KEY_BATCH] = 1;
    values[QST_MATMUL_KEY_ALIGN] = values[QST_MATMUL_KEY_LHS_STRIDE] = values[QST_MATMUL_KEY_RHS_STRIDE] = 4;
    p.k = 63;
    assert_int_equal(can("fma_32x32x16", &p, NULL), QST_OK);
    assert_int_equal(can("3xtf32_mma_64x64x32", &p, NULL), QST_E_UNSUPPORTED);
    assert_true(nv_case_priority(&bench, "fma_32x32x16", &key) > nv_case_priority(&bench, "fma_128x128x16", &key));
    values[QST_MATMUL_KEY_K] = 1024;
    assert_true(nv_case_priority(&bench, "3xtf32_mma_64x64x32", &key) > nv_case_priority(&bench, "fma_32x32x16", &key));
}

static int set_up(void **state)
{
    (void)state;
    if (nv_case_open(&bench) != 0)
        return -1;
    there = bench.device;
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
        cmocka_unit_test(elsewhere_all_are_refused_with_a_reason),
        cmocka_unit_test(what_cannot_be_expressed_is_refused),
        cmocka_unit_test(tensor_copies_want_operands_aligned),
        cmocka_unit_test(how_a_problem_lies_picks_the_program),
        cmocka_unit_test(numbers_share_arguments_where_tiles_are_small),
        cmocka_unit_test(packed_kernels_alone_get_packed_arguments),
        cmocka_unit_test(groups_fed_by_tensor_copies_stay),
        cmocka_unit_test(planes_split_multiply_and_compute_the_rest),
        cmocka_unit_test(costs_rank_as_measured),
        cmocka_unit_test(costs_of_ragged_problems_rank_as_measured),
        cmocka_unit_test(a_bucket_has_a_row_that_takes_all_of_it_at_first),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
