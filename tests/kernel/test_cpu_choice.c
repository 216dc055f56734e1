/* SPDX-License-Identifier: MIT
 *
 * test_cpu_choice.c: who of cpu_gemm and gemv is compared at all for a key's sizes, and who comes first by estimate: what
 * keeps programs unbuilt, and equals from being told apart by noise. Nothing is run.
 */
#include "matmul_case.h"
#include "plugins/common/matmul_view.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

extern const qst_plugin qst__builtin_cpu_gemm, qst__builtin_gemv;

static struct runner bench;

/* A key of these sizes, A and B of a type, C too. */
typedef struct sized {
    int64_t values[QST_KEY_MAX];
} sized;

static sized key_of(int64_t m, int64_t n, int64_t k, uint32_t type)
{
    sized key = {{0}};
    key.values[QST_MATMUL_KEY_M] = m;
    key.values[QST_MATMUL_KEY_N] = n;
    key.values[QST_MATMUL_KEY_K] = k;
    key.values[QST_MATMUL_KEY_ELEM_LHS] = key.values[QST_MATMUL_KEY_ELEM_OUT] = type;
    key.values[QST_MATMUL_KEY_KIND] = n == 1 ? QST_KIND_MATVEC : m == 1 ? QST_KIND_VECMAT : QST_KIND_GENERAL;
    return key;
}

/* Who is not compared at once has a reason. */
static void supported(const char *name, const sized *sizes, int32_t status)
{
    const qst_key        key = {QST_MATMUL_KEY_COUNT, 0, sizes->values};
    const qst_candidate *c = &matmul_case_candidate(&bench, name)->candidate;
    const char          *why = NULL;
    const int32_t        got = c->supports(c->user, &bench.device, &key, &why);
    if (got != status || (why != NULL) != (status != QST_OK))
        fail_msg("%s for %d x %d x %d: %d, not %d (%s)", name, (int)sizes->values[QST_MATMUL_KEY_M],
                 (int)sizes->values[QST_MATMUL_KEY_N], (int)sizes->values[QST_MATMUL_KEY_K], got, status,
                 why ? why : "no reason");
}

/* Rows that are no use for a key's sizes, or do what another does, are a last resort there. */
static void sizes(void **state)
{
    static const struct {
        const char *name;
        int64_t     m, n, k;
        int32_t     status;
    } all[] = {
        {"cpu_gemm.6x4_k128", 64, 64, 64, QST_OK},
        {"cpu_gemm.6x4_k384", 64, 64, 64, QST_POOR}, /* what 6x4_k128 does */
        {"cpu_gemm.6x4_k384", 0, 0, 0, QST_OK},      /* a key that says nothing of sizes */
        {"cpu_gemm.8x3_k32_columns1", 0, 0, 0, QST_OK},
        {"cpu_gemm.6x4_k256", 512, 128, 256, QST_OK},
        {"cpu_gemm.6x4_k384", 512, 128, 256, QST_POOR},
        {"cpu_gemm.6x4_k384", 512, 128, 512, QST_OK},
        {"cpu_gemm.6x4_k256", 256, 256, 256, QST_OK},
        {"cpu_gemm.6x4_k256", 512, 512, 512, QST_OK}, /* beside tall rows: which is faster is the processor's affair */
        {"cpu_gemm.6x4_k128", 512, 512, 512, QST_POOR},
        {"cpu_gemm.6x4_k256", 1024, 1024, 1024, QST_OK},
        {"cpu_gemm.6x4_k256", 2048, 2048, 2048, QST_POOR}, /* rows of B are pages apart */
        {"cpu_gemm.8x3_k384", 128, 256, 512, QST_OK},
        {"cpu_gemm.8x3_k384", 256, 256, 512, QST_OK},
        {"cpu_gemm.8x3_k384", 512, 256, 256, QST_OK},
        {"cpu_gemm.8x3_k384", 1024, 1024, 1024, QST_OK},
        {"cpu_gemm.8x3_k384", 2048, 2048, 2048, QST_POOR},
        {"cpu_gemm.8x3_k192_ab_rows1", 512, 512, 512, QST_OK},
        {"cpu_gemm.8x3_k192_ab_rows1", 256, 256, 256, QST_POOR},
        {"cpu_gemm.8x3_k192_ab_rows1", 1024, 1024, 1024, QST_POOR}, /* the next stands for it */
        {"cpu_gemm.6x4_k128_ab_rows2", 1024, 1024, 1024, QST_OK},
        {"cpu_gemm.6x4_k128_ab_rows2", 512, 512, 512, QST_POOR},
        {"cpu_gemm.6x4_k384", 1024, 1024, 1024, QST_POOR},
        {"cpu_gemm.6x4_k384", 32, 32, 1024, QST_POOR}, /* a long panel, and two blocks */
        {"cpu_gemm.6x4_k384", 32, 32, 512, QST_OK},
        {"cpu_gemm.6x4_k384_b", 512, 32, 1024, QST_OK},
        {"cpu_gemm.8x3_k384", 128, 128, 512, QST_OK}, /* 101 x 101 x 382 is of this key */
        {"cpu_gemm.6x4_k128", 64, 1024, 512, QST_OK},
        {"cpu_gemm.6x4_k128", 1024, 1024, 128, QST_OK},
        {"cpu_gemm.6x4_k384_b", 1024, 1024, 1024, QST_POOR},
        {"cpu_gemm.6x4_k384_b", 128, 128, 512, QST_POOR},
        {"cpu_gemm.6x4_k384_b", 128, 64, 512, QST_OK},  /* one panel of B */
        {"cpu_gemm.6x4_k384_b", 256, 128, 512, QST_OK}, /* two */
        {"cpu_gemm.6x4_k384_b", 1024, 256, 64, QST_POOR},
        {"cpu_gemm.6x4_k256_ab_rows2", 512, 32, 128, QST_POOR},
        {"cpu_gemm.6x4_k256_ab_rows2", 128, 512, 128, QST_POOR},
        {"cpu_gemm.6x4_k256_ab_grid", 128, 512, 128, QST_OK},
        {"cpu_gemm.6x4_k256_ab_grid", 256, 256, 128, QST_OK}, /* 192 x 183 x 83 is of this key */
        {"cpu_gemm.24x1_k128_ab_rows1", 512, 32, 128, QST_OK},
        {"cpu_gemm.24x1_k128_ab_rows1", 512, 32, 1024, QST_POOR}, /* what the next does, in fewer blocks */
        {"cpu_gemm.24x1_k256_ab_rows1", 512, 32, 1024, QST_OK},
        {"cpu_gemm.24x1_k256_ab_rows1", 1024, 1024, 1024, QST_POOR},
        {"cpu_gemm.24x1_k128_ab_rows1", 1024, 32, 32, QST_POOR},
        {"cpu_gemm.24x1_k128_ab_rows1", 128, 32, 1024, QST_POOR},
        {"cpu_gemm.6x4_k256_ab", 64, 64, 64, QST_POOR},
        {"cpu_gemm.6x4_k256_ab", 32, 1024, 1024, QST_OK},
        {"cpu_gemm.6x4_k128_ab_rows2", 32, 1024, 128, QST_POOR}, /* what 6x4_k256_ab_rows2 does */
        {"cpu_gemm.6x4_k256_ab_grid", 1024, 1024, 1024, QST_POOR},
        {"cpu_gemm.6x4_k256_ab", 1024, 1024, 1024, QST_POOR}, /* what tall rows do faster */
        {"cpu_gemm.6x4_k128_ab_rows2", 256, 256, 256, QST_POOR},
        {"cpu_gemm.24x1_k128_ab_rows1", 1024, 1024, 1024, QST_OK},
        {"cpu_gemm.24x1_k128_ab_rows1", 32, 1024, 1024, QST_POOR},
        {"cpu_gemm.24x1_k256_a", 256, 256, 256, QST_OK},
        {"cpu_gemm.24x1_k256_a", 256, 32, 256, QST_POOR},
        {"cpu_gemm.24x1_k256_a", 128, 256, 256, QST_POOR},
        {"cpu_gemm.24x1_k128_ab_rows1", 1024, 1024, 64, QST_POOR},
        {"cpu_gemm.24x1_k128_ab_rows1", 1024, 1024, 128, QST_OK},
        {"cpu_gemm.24x1_k128_a", 1024, 1024, 1024, QST_POOR},
        {"cpu_gemm.8x3_k192_ab_rows2", 1024, 1024, 1024, QST_POOR},
        {"cpu_gemm.8x3_k64_columns1_ahead", 1024, 1024, 1024, QST_POOR},
        {"cpu_gemm.8x3_k64_columns1_ahead", 16, 4096, 4096, QST_OK},
        {"cpu_gemm.8x3_k64_columns1_ahead", 16, 512, 256, QST_POOR}, /* B stays near */
        {"cpu_gemm.8x3_k32_a_columns1", 16, 4096, 4096, QST_POOR},
        {"cpu_gemm.6x4_k384_split8", 64, 64, 64, QST_POOR},
        {"cpu_gemm.6x4_k384_split8", 64, 64, 8192, QST_OK},
        {"cpu_gemm.6x4_k384_split8", 64, 1024, 8192, QST_POOR},
    };
    uint32_t i;
    (void)state;
    for (i = 0; i < QSTK_COUNT(all); i++) {
        const sized key = key_of(all[i].m, all[i].n, all[i].k, 0);
        supported(all[i].name, &key, all[i].status);
    }
}

static void sizes_by_type(void **state)
{
    const sized medium = key_of(1024, 1024, 1024, QST_F64), large = key_of(2048, 2048, 2048, QST_F64);
    const sized half = key_of(64, 64, 64, QST_F16);
    (void)state;
    supported("cpu_gemm.24x1_k256_ab_rows1", &medium, QST_POOR); /* a tile of A larger than a first-level cache */
    supported("cpu_gemm.24x1_k256_ab_rows1", &large, QST_OK);    /* for a long k */
    supported("cpu_gemm.24x1_k128_ab_rows1", &medium, QST_OK);
    supported("cpu_gemm.24x1_k128_ab_rows1", &large, QST_OK);
    supported("cpu_gemm.6x4_k256_ab", &half, QST_OK);
    supported("cpu_gemm.8x3_k32_a_columns1", &half, QST_OK);
}

/* What tall rows cannot do stays with the others: sums in a fixed order, and devices without the memory for copies. */
static void instead_of_tall(void **state)
{
    const struct {
        uint32_t numerics;
        uint64_t local_bytes;
        int32_t  status;
    } all[] = {
        {QST_NUMERICS_PLAIN, bench.device.local_bytes, QST_POOR},
        {QST_NUMERICS_STRICT, bench.device.local_bytes, QST_OK},
        {QST_NUMERICS_PLAIN, 131072, QST_OK},
    };
    qst_device kept = bench.device;
    uint32_t   i;
    (void)state;
    for (i = 0; i < QSTK_COUNT(all); i++) {
        sized key = key_of(1024, 1024, 1024, QST_F32);
        key.values[QST_MATMUL_KEY_NUMERICS] = all[i].numerics;
        bench.device.local_bytes = all[i].local_bytes;
        supported("cpu_gemm.6x4_k128", &key, all[i].status);
    }
    bench.device = kept;
}

/* Is a row of cpu_gemm that runs the key's largest problem compared for it, or a last resort? */
static bool has_row(const sized *sizes, bool transposed, int32_t status)
{
    const qst_key key = {QST_MATMUL_KEY_COUNT, 0, sizes->values};
    uint32_t      i;
    bool          found = false;
    qst_matmul    p;
    qst_matmul_init(&p, sizes->values[QST_MATMUL_KEY_M], sizes->values[QST_MATMUL_KEY_N],
                    sizes->values[QST_MATMUL_KEY_K], (uint32_t)sizes->values[QST_MATMUL_KEY_ELEM_LHS]);
    p.numerics = (uint32_t)sizes->values[QST_MATMUL_KEY_NUMERICS];
    p.b.row = transposed ? 1 : p.b.row;
    p.b.col = transposed ? p.k : p.b.col;
    for (i = 0; i < bench.n && !found; i++) {
        const qst_candidate *c = &bench.candidates[i].candidate;
        found = strncmp(bench.candidates[i].name, "cpu_gemm.", 9) == 0 &&
                c->supports(c->user, &bench.device, &key, NULL) == status &&
                c->can_run(c->user, &bench.device, &p, NULL) == QST_OK;
    }
    return found;
}

static void expect_somebody(const sized *sizes)
{
    int transposed;
    for (transposed = 0; transposed < 2; transposed++)
        if (!has_row(sizes, transposed, QST_OK) && has_row(sizes, transposed, QST_POOR))
            fail_msg(
                "%llu bytes of local memory, %d x %d x %d, type %d, numerics %d, B %stransposed: all are a last resort",
                (unsigned long long)bench.device.local_bytes, (int)sizes->values[QST_MATMUL_KEY_M],
                (int)sizes->values[QST_MATMUL_KEY_N], (int)sizes->values[QST_MATMUL_KEY_K],
                (int)sizes->values[QST_MATMUL_KEY_ELEM_LHS], (int)sizes->values[QST_MATMUL_KEY_NUMERICS],
                transposed ? "" : "not ");
}

/* Whatever the device's local memory, a row that runs there is compared, if any does. */
static void somebody(void **state)
{
    static const uint64_t local[] = {128 << 10, 256 << 10, 512 << 10, 768 << 10, 1 << 20, 1536 << 10, 2 << 20};
    const qst_device      kept = bench.device;
    uint32_t              i, of;
    int64_t               m, n, k;
    (void)state;
    bench.device.flags |= QST_DEVICE_F64;
    for (i = 0; i < QSTK_COUNT(local) * 4; i++) {
        bench.device.local_bytes = local[i / 4];
        for (of = 0; of < 11 * 11 * 11; of++) {
            m = (int64_t)2 << of % 11;
            n = (int64_t)2 << of / 11 % 11;
            k = (int64_t)2 << of / 121;
            sized key = key_of(m, n, k, i & 1 ? QST_F64 : QST_F32);
            key.values[QST_MATMUL_KEY_NUMERICS] = i & 2 ? QST_NUMERICS_STRICT : QST_NUMERICS_PLAIN;
            expect_somebody(&key);
        }
    }
    bench.device = kept;
}

/* Of two tall rows that are alike the one that runs, on the device and in a fixed order of summation, is compared. */
static void shorter_tall_rows(void **state)
{
    const qst_device kept = bench.device;
    const sized      key = key_of(1024, 256, 2048, QST_F32);
    sized            fixed = key_of(1024, 1024, 256, QST_F32);
    (void)state;
    supported("cpu_gemm.24x1_k128_ab_rows1", &fixed, QST_OK);
    supported("cpu_gemm.24x1_k256_ab_rows1", &fixed, QST_POOR);
    fixed.values[QST_MATMUL_KEY_NUMERICS] = QST_NUMERICS_STRICT; /* k in one block */
    supported("cpu_gemm.24x1_k256_ab_rows1", &fixed, QST_OK);
    supported("cpu_gemm.24x1_k128_ab_rows1", &key, QST_POOR);
    supported("cpu_gemm.24x1_k256_ab_rows1", &key, QST_OK);
    bench.device.local_bytes = 1 << 20;
    supported("cpu_gemm.24x1_k128_ab_rows1", &key, QST_OK);
    supported("cpu_gemm.24x1_k256_ab_rows1", &key, QST_E_UNSUPPORTED);
    bench.device = kept;
}

/* The cheapest by estimate of those compared, where the first that is good enough ends the search: few rows, matrices
 * larger than a second-level cache, products with a vector. */
static void first_by_estimate(void **state)
{
    static const struct {
        const char *name;
        int64_t     m, n, k;
        int         tb;
    } all[] = {
        {"cpu_gemm.8x3_k64_columns1_ahead", 4, 4096, 4096, 0},
        {"cpu_gemm.8x3_k64_columns1_ahead", 32, 4096, 4096, 0},
        {"cpu_gemm.8x3_k384", 256, 256, 256, 0},
        {"cpu_gemm.6x4_k128_ab_rows2", 2048, 2048, 2048, 0},
        {"gemv.dot_8x1", 4096, 1, 4096, 0},
        {"gemv.dot_8x1", 1, 4096, 4096, 1},
        {"gemv.sweep_16", 1, 4096, 4096, 0},
    };
    qst_device device = bench.device; /* but for its size and speed, which decide */
    uint32_t   i, j;
    (void)state;
    device.units = 2;
    device.clock_mhz = 2300;
    device.vector_f32 = 16;
    for (i = 0; i < QSTK_COUNT(all); i++) {
        const struct runner_candidate *first = NULL;
        const sized                    sizes = key_of(all[i].m, all[i].n, all[i].k, QST_F32);
        const qst_key                  key = {QST_MATMUL_KEY_COUNT, 0, sizes.values};
        double                         least = 0;
        qst_matmul                     p;
        qst_matmul_init(&p, all[i].m, all[i].n, all[i].k, QST_F32);
        p.b.row = all[i].tb ? 1 : p.b.row;
        p.b.col = all[i].tb ? p.k : p.b.col;
        for (j = 0; j < bench.n; j++) {
            const qst_candidate *c = &bench.candidates[j].candidate;
            const char          *why = NULL;
            const double         ns = c->estimate(c->user, &device, &p);
            if (c->supports(c->user, &device, &key, &why) != QST_OK ||
                c->can_run(c->user, &device, &p, &why) != QST_OK || (first && ns >= least))
                continue;
            first = &bench.candidates[j];
            least = ns;
        }
        assert_non_null(first);
        assert_string_equal(first->name, all[i].name);
    }
}

/* ---- How rows are cut ------------------------------------------------------------------------------------------- */

/* What first_row (cpu_gemm.cl, cpu_tall.cl) makes of a launch's arguments. */
static int64_t first_row(const struct runner_steps *steps, int64_t y, int64_t m, int64_t grain)
{
    int32_t early, first, last;
    memcpy(&early, steps->args[0][MATMUL_ARGS].bits, sizeof early);
    memcpy(&first, steps->args[0][MATMUL_ARGS + 1].bits, sizeof first);
    memcpy(&last, steps->args[0][MATMUL_ARGS + 2].bits, sizeof last);
    const int64_t groups = (int64_t)steps->launches[0].global[1], tiles = (m + grain - 1) / grain;
    const int64_t tile = y <= early    ? y * first / early
                         : y == groups ? tiles
                                       : first + (y - early) * (tiles - last - first) / (groups - 1 - early);
    assert_true(early > 0 && early <= groups && first > 0 && first <= tiles && last >= 0 && last <= tiles);
    return tile * grain < m ? tile * grain : m;
}

static const struct {
    const char *name;
    int64_t     grain;
} cuts[] = {{"cpu_gemm.8x3_k384", 8},          {"cpu_gemm.6x4_k256", 6},          {"cpu_gemm.6x4_k256_ab_grid", 6},
            {"cpu_gemm.6x4_k128_ab_rows2", 6}, {"cpu_gemm.8x3_k192_ab_rows1", 8}, {"cpu_gemm.24x1_k128_ab_rows1", 8},
            {"cpu_gemm.24x1_k128_a", 8}};

/* Each row of C is of one group, and none is without rows. */
static void groups_have_all_rows(void **state)
{
    static const int64_t  m[] = {1, 7, 64, 129, 256, 1000, 4097, 1000000, (1 << 30) - 1};
    static const uint32_t units[] = {1, 2, 3, 16, 127};
    const qst_device      kept = bench.device;
    (void)state;
    bench.device.clock_mhz = 2300;
    bench.device.vector_f32 = 16;
    for (size_t c = 0; c < QSTK_COUNT(cuts) * QSTK_COUNT(m) * QSTK_COUNT(units); c++) {
        const size_t        row = c % QSTK_COUNT(cuts), size = c / QSTK_COUNT(cuts) % QSTK_COUNT(m);
        struct runner_steps steps;
        qst_matmul          p;
        bench.device.units = units[c / QSTK_COUNT(cuts) / QSTK_COUNT(m)];
        qst_matmul_init(&p, m[size], 96, 100, QST_F32);
        assert_int_equal(runner_record(&bench, matmul_case_candidate(&bench, cuts[row].name), &p, &steps), QST_OK);
        assert_int_equal(first_row(&steps, 0, m[size], cuts[row].grain), 0);
        for (int64_t y = 0; y < (int64_t)steps.launches[0].global[1]; y++)
            assert_true(first_row(&steps, y, m[size], cuts[row].grain) <
                        first_row(&steps, y + 1, m[size], cuts[row].grain));
        assert_int_equal(first_row(&steps, (int64_t)steps.launches[0].global[1], m[size], cuts[row].grain), m[size]);
    }
    bench.device = kept;
}

/* Of two threads the first has more to do where waking the other takes part of the time; the last group is a small one. */
static void early_groups_have_more_rows(void **state)
{
    const qst_device    kept = bench.device;
    struct runner_steps steps;
    qst_matmul          p;
    (void)state;
    bench.device.units = 2;
    bench.device.clock_mhz = 2300;
    bench.device.vector_f32 = 16;
    qst_matmul_init(&p, 256, 256, 256, QST_F32);
    assert_int_equal(runner_record(&bench, matmul_case_candidate(&bench, "cpu_gemm.8x3_k384"), &p, &steps), QST_OK);
    assert_int_equal(steps.launches[0].global[1], 8);
    assert_in_range(first_row(&steps, 4, 256, 8), 136, 160);
    assert_int_equal(first_row(&steps, 7, 256, 8), 248);
    qst_matmul_init(&p, 4096, 4096, 256, QST_F32);
    assert_int_equal(runner_record(&bench, matmul_case_candidate(&bench, "cpu_gemm.8x3_k384"), &p, &steps), QST_OK);
    assert_in_range(first_row(&steps, 4, 4096, 8), 2048, 2056);
    qst_matmul_init(&p, 256, 256, 256, QST_F32); /* shared by products */
    qst_matmul_batch(&p, 2);
    assert_int_equal(runner_record(&bench, matmul_case_candidate(&bench, "cpu_gemm.8x3_k384"), &p, &steps), QST_OK);
    assert_int_equal(first_row(&steps, (int64_t)steps.launches[0].global[1] / 2, 256, 8), 128);
    bench.device = kept;
}

/* A small last group is for two threads: of more, one would have it in the place of an even one, and the others its rows. */
static void more_threads_share_evenly(void **state)
{
    static const uint32_t units[] = {3, 4, 5, 8, 64};
    const qst_device      kept = bench.device;
    (void)state;
    bench.device.clock_mhz = 2300;
    bench.device.vector_f32 = 16;
    for (size_t c = 0; c < QSTK_COUNT(cuts) * QSTK_COUNT(units); c++) {
        const size_t        row = c % QSTK_COUNT(cuts);
        const int64_t       m = 4096, grain = cuts[row].grain;
        int64_t             least = m, most = 0, y;
        int32_t             early;
        struct runner_steps steps;
        qst_matmul          p;
        bench.device.units = units[c / QSTK_COUNT(cuts)];
        qst_matmul_init(&p, m, 4096, 4096, QST_F32);
        assert_int_equal(runner_record(&bench, matmul_case_candidate(&bench, cuts[row].name), &p, &steps), QST_OK);
        memcpy(&early, steps.args[0][MATMUL_ARGS].bits, sizeof early);
        for (y = early; y < (int64_t)steps.launches[0].global[1]; y++) {
            const int64_t rows = first_row(&steps, y + 1, m, grain) - first_row(&steps, y, m, grain);
            least = rows < least ? rows : least;
            most = rows > most ? rows : most;
        }
        assert_true(most - least < 2 * grain || early == (int32_t)steps.launches[0].global[1]);
    }
    bench.device = kept;
}

/* Nothing is run, so the device may be any: one that all rows run on. */
static int set_up(void **state)
{
    (void)state;
    if (runner_open(&bench))
        return -1;
    bench.device.local_bytes = 2 << 20;
    return runner_start(&bench, &qst__builtin_cpu_gemm) || runner_start(&bench, &qst__builtin_gemv);
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
        cmocka_unit_test(sizes),
        cmocka_unit_test(sizes_by_type),
        cmocka_unit_test(instead_of_tall),
        cmocka_unit_test(somebody),
        cmocka_unit_test(shorter_tall_rows),
        cmocka_unit_test(first_by_estimate),
        cmocka_unit_test(groups_have_all_rows),
        cmocka_unit_test(early_groups_have_more_rows),
        cmocka_unit_test(more_threads_share_evenly),
    };
    return cmocka_run_group_tests_name("cpu_choice", tests, set_up, tear_down);
}
