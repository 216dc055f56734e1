/* SPDX-License-Identifier: MIT
 *
 * test_unit_candidates.c: the candidates of the plugins unit and double_unit on a CPU device: what their tables derive,
 * which keys and devices they are for, and every one of them against a reference in double. What is not an element of
 * A or B, all of C where beta is 0, are NaN before; what lies outside C must not change.
 */
#include "matmul_case.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

extern const qst_plugin qst__builtin_naive, qst__builtin_unit, qst__builtin_double_unit;

static struct runner bench; /* candidate 0 is the fallback, for its order of summation */

static struct runner_candidate *named(const char *name)
{
    uint32_t i;
    for (i = 0; i < bench.n; i++)
        if (strcmp(bench.candidates[i].name, name) == 0)
            return &bench.candidates[i];
    fail_msg("no candidate %s", name);
    return NULL;
}

/* ---- Without running --------------------------------------------------------------------------------------------- */

static void tiles(void **state)
{
    static const struct {
        const char *name, *options; /* from BUFFERS to SN, by transposition NN … TT where they differ */
        uint32_t    index;
    } expected[] = {
        {"unit.max", "-DELEMENT=1 -DBUFFERS=1 -DTM=4 -DTK=4 -DPM=4 -DPN=2 -DPK=4 -DSM=16 -DSN=16 -DTA=0 -DTB=0", 0},
        {"unit.max", "-DELEMENT=2 -DBUFFERS=1 -DTM=4 -DTK=4 -DPM=4 -DPN=2 -DPK=4 -DSM=16 -DSN=16 -DTA=1 -DTB=0", 6},
        {"unit.min", "-DELEMENT=1 -DBUFFERS=1 -DTM=1 -DTK=4 -DPM=16 -DPN=2 -DPK=4 -DSM=8 -DSN=8 -DTA=0 -DTB=0", 0},
        {"unit.min", "-DELEMENT=1 -DBUFFERS=1 -DTM=1 -DTK=4 -DPM=16 -DPN=2 -DPK=4 -DSM=8 -DSN=8 -DTA=0 -DTB=1", 1},
        {"unit.min", "-DELEMENT=1 -DBUFFERS=1 -DTM=4 -DTK=1 -DPM=2 -DPN=2 -DPK=8 -DSM=8 -DSN=8 -DTA=1 -DTB=0", 2},
        {"unit.min", "-DELEMENT=1 -DBUFFERS=1 -DTM=4 -DTK=4 -DPM=4 -DPN=2 -DPK=4 -DSM=8 -DSN=8 -DTA=1 -DTB=1", 3},
        {"double_unit.max", "-DELEMENT=1 -DBUFFERS=2 -DTM=4 -DTK=4 -DPM=2 -DPN=2 -DPK=2 -DSM=16 -DSN=8 -DTA=0", 0},
        {"double_unit.min", "-DELEMENT=1 -DBUFFERS=2 -DTM=1 -DTK=4 -DPM=8 -DPN=2 -DPK=2 -DSM=16 -DSN=8 -DTA=0", 0},
        {"double_unit.min", "-DELEMENT=1 -DBUFFERS=2 -DTM=4 -DTK=1 -DPM=2 -DPN=2 -DPK=4 -DSM=16 -DSN=8 -DTA=1", 2},
        {"double_unit.64x64x16_8x4", "-DBUFFERS=2 -DTM=4 -DTK=4 -DPM=2 -DPN=1 -DPK=4 -DSM=8 -DSN=16 -DTA=1 -DTB=1", 3},
    };
    const qst_key key = {0, 0, NULL};
    qst_device    gpu = bench.device;
    uint32_t      i;
    (void)state;
    gpu.type = QST_DEVICE_GPU;
    for (i = 0; i < QSTK_COUNT(expected); i++) {
        const qst_candidate *c = &named(expected[i].name)->candidate;
        qst_program          program;
        memset(&program, 0, sizeof program);
        program.size = (uint32_t)sizeof program;
        assert_int_equal(c->program(c->user, &bench.device, &key, expected[i].index, &program), QST_OK);
        if (!strstr(program.options, expected[i].options))
            fail_msg("%s program %u: %s", expected[i].name, expected[i].index, program.options);
        assert_non_null(strstr(program.options, "-DUNROLL= "));
        assert_int_equal(c->program(c->user, &gpu, &key, expected[i].index, &program), QST_OK);
        assert_memory_equal(program.options, "-cl-std=CL1.2 -DELEMENT=", 24);
        assert_int_equal(c->program(c->user, &bench.device, &key, RUNNER_PROGRAMS, &program), QST_E_INVALID);
    }
}

static void priorities(void **state)
{
    static const struct {
        int64_t kind, scale;
        int32_t simple, twice;
    } expected[] = {
        {QST_KIND_GENERAL, QST_SCALE_SMALL, 3, 2}, {QST_KIND_GENERAL, QST_SCALE_MEDIUM, 3, 3},
        {QST_KIND_GENERAL, QST_SCALE_LARGE, 3, 3}, {QST_KIND_MATVEC, QST_SCALE_LARGE, 3, 2},
        {QST_KIND_OUTER, QST_SCALE_MEDIUM, 3, 2},
    };
    int64_t       values[QST_MATMUL_KEY_COUNT] = {0};
    const qst_key key = {QST_MATMUL_KEY_COUNT, 0, values};
    uint32_t      i, e;
    (void)state;
    for (i = 1; i < bench.n; i++) {
        const qst_candidate  *c = &bench.candidates[i].candidate;
        const qst_membership *m = c->memberships;
        const int             twice = bench.candidates[i].name[0] == 'd';
        assert_int_equal(c->n_memberships, 1);
        assert_string_equal(m->group, "unit");
        for (e = 0; e < QSTK_COUNT(expected); e++) {
            values[QST_MATMUL_KEY_KIND] = expected[e].kind;
            values[QST_MATMUL_KEY_SCALE] = expected[e].scale;
            assert_int_equal(m->priority ? m->priority(c->user, &bench.device, &key) : m->constant,
                             twice ? expected[e].twice : expected[e].simple);
        }
    }
}

static int32_t offered(const char *name, const qst_device *device, int64_t type, const char **why)
{
    int64_t              values[QST_MATMUL_KEY_COUNT] = {0};
    const qst_key        key = {QST_MATMUL_KEY_COUNT, 0, values};
    const qst_candidate *c = &named(name)->candidate;
    values[QST_MATMUL_KEY_ELEM_LHS] = type;
    return c->supports(c->user, device, &key, why);
}

static void devices(void **state)
{
    qst_device  gpu = bench.device;
    const char *why = NULL;
    qst_matmul  p;
    uint32_t    i;
    (void)state;
    gpu.type = QST_DEVICE_GPU;
    gpu.local_bytes = 48 << 10;
    gpu.max_group = gpu.max_group_dim[0] = 1024;
    gpu.units = 100;
    gpu.clock_mhz = 1500;
    qst_matmul_init(&p, 1024, 1024, 1024, QST_F32);
    for (i = 1; i < bench.n; i++) {
        const struct runner_candidate *c = &bench.candidates[i];
        assert_int_equal(offered(c->name, &bench.device, QST_F32, &why), QST_POOR);
        assert_string_equal(why, "barriers are slow on a CPU device");
        assert_int_equal(offered(c->name, &gpu, QST_F32, &why), QST_OK);
        assert_int_equal(c->candidate.can_run(c->candidate.user, &gpu, &p, &why), QST_OK);
        assert_true(c->candidate.estimate(c->candidate.user, &gpu, &p) > 10000.0);
        assert_true(c->candidate.estimate(c->candidate.user, &gpu, &p) <
                    c->candidate.estimate(c->candidate.user, &bench.device, &p));
    }
    assert_int_equal(offered("unit.max", &gpu, QST_F64, &why), QST_E_UNSUPPORTED);
    assert_string_equal(why, "the slices need more local memory than the device has, less 4 KB");
    assert_int_equal(offered("double_unit.max", &gpu, QST_F64, &why), QST_OK);
    gpu.max_group = 128;
    assert_int_equal(offered("unit.max", &gpu, QST_F32, &why), QST_E_UNSUPPORTED);
    assert_string_equal(why, "the work-group is larger than the device's largest");
    assert_int_equal(offered("double_unit.min", &gpu, QST_F32, &why), QST_OK);
}

static void refuses(const qst_device *device, const qst_matmul *p, const char *reason)
{
    uint32_t i;
    for (i = 1; i < bench.n; i++) {
        const qst_candidate *c = &bench.candidates[i].candidate;
        const char          *why = NULL;
        assert_int_equal(c->can_run(c->user, device, p, &why), QST_E_UNSUPPORTED);
        assert_string_equal(why, reason);
    }
}

static void refusals(void **state)
{
    qst_device device = bench.device;
    qst_matmul p;
    (void)state;
    qst_matmul_init(&p, 64, 64, 64, QST_F16);
    p.b.type = QST_F32;
    refuses(&device, &p, "A and B of different types");
    p.b.type = QST_F16;
    p.c.type = QST_F64;
    refuses(&device, &p, "C neither of A's type nor f32");
    qst_matmul_init(&p, 64, 64, 64, QST_F64);
    device.flags &= ~(uint32_t)QST_DEVICE_F64;
    refuses(&device, &p, "the device has no f64 arithmetic");
    qst_matmul_init(&p, 64, 64, ((int64_t)1 << 30) + 1, QST_F32);
    refuses(&device, &p, "m, n or k over 2^30");
    qst_matmul_init(&p, 64, 64, 64, QST_F32);
    p.batch[0] = p.batch[3] = 1 << 16;
    refuses(&device, &p, "2^30 products or more in the batch");
    qst_matmul_init(&p, (int64_t)1 << 30, (int64_t)1 << 30, 1, QST_F32);
    refuses(&device, &p, "2^31 tiles of C or more");
    device.local_bytes = 6 << 10;
    qst_matmul_init(&p, 64, 64, 64, QST_F32);
    refuses(&device, &p, "the slices need more local memory than the device has, less 4 KB");
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* One case by candidates first, first + step, …; with `strict` the fallback runs first and each must equal it. */
static void check(const qst_matmul *problem, size_t lead, uint32_t first, uint32_t step, int strict)
{
    struct matmul_case t;
    cl_mem             buffers[3];
    void              *raw[3], *got, *before = NULL;
    qst_mem            operands[3];
    uint32_t           i;
    matmul_case_init(&t, problem, lead);
    for (i = 0; i < 3; i++) {
        matmul_case_upload(&bench, &t, (int)i, &buffers[i], &raw[i]);
        operands[i] = qst_mem_at(buffers[i], t.x[i].start * t.item[i]);
    }
    got = malloc(t.x[2].count * t.item[2]);
    assert_non_null(got);
    for (i = strict ? 0 : first; i < bench.n; i = i < first ? first : i + step) {
        struct runner_candidate *c = &bench.candidates[i];
        const size_t             bytes = t.x[2].count * t.item[2];
        const char              *why = NULL;
        assert_int_equal(c->candidate.can_run(c->candidate.user, &bench.device, &t.problem, &why), QST_OK);
        assert_int_equal(clEnqueueWriteBuffer(bench.queue, buffers[2], CL_TRUE, 0, bytes, raw[2], 0, NULL, NULL),
                         CL_SUCCESS);
        assert_int_equal(runner_run(&bench, c, &t.problem, operands, t.item), QST_OK);
        assert_int_equal(clEnqueueReadBuffer(bench.queue, buffers[2], CL_TRUE, 0, bytes, got, 0, NULL, NULL),
                         CL_SUCCESS);
        matmul_case_compare(&t, c->name, got, raw[2]);
        if (strict && i == 0) {
            before = got;
            got = malloc(bytes);
            assert_non_null(got);
        } else if (strict && memcmp(before, got, bytes) != 0) {
            fail_msg("%s does not round as the fallback", c->name);
        }
        c->ran++;
    }
    for (i = 0; i < 3; i++) {
        clReleaseMemObject(buffers[i]);
        free(raw[i]);
    }
    free(got);
    free(before);
    matmul_case_finish(&t);
}

static const int64_t shapes[][3] = {
    {1, 1, 1},   {3, 5, 2},    {17, 17, 17},  {33, 65, 31},  {64, 64, 64},   {65, 33, 129}, {129, 66, 20},
    {1, 130, 9}, {131, 1, 33}, {20, 270, 15}, {261, 19, 40}, {32, 132, 260}, {100, 3, 67},  {150, 140, 36},
};

static const double scalars[][2] = {{1, 0}, {0.5, -1}, {1, 1}, {0, 0.5}, {-1, 0}, {-0.25, 0.5}, {0, 0}};

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

/* Shapes x transpositions; padding, offsets and scalars go round with different periods. */
static void shapes_and_transpositions(void **state)
{
    static const int64_t pads[] = {0, 3, 4, 8};
    static const size_t  leads[] = {MATMUL_CASE_LEAD, 0, 5, MATMUL_CASE_LEAD, 1};
    qst_matmul           p;
    uint32_t             s, t, at = 0;
    (void)state;
    for (s = 0; s < QSTK_COUNT(shapes); s++)
        for (t = 0; t < 4; t++, at++) {
            make(&p, shapes[s], t, pads[(at + s) % 4], at % 7);
            check(&p, leads[at % 5], 1, 1, 0);
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
    static const int64_t shape[3] = {18, 20, 36};
    const int64_t        size = 64 * 64; /* more than any of the matrices */
    qst_matmul           p;
    uint32_t             t;
    (void)state;
    for (t = 0; t < 4; t++) {
        make(&p, shape, t, 4, t);
        batch(&p, 3, 3, size, 0, size);
        check(&p, MATMUL_CASE_LEAD, 1, 1, 0);
        make(&p, shape, t, t & 1, t + 1);
        batch(&p, 0, 2, 0, size, 12 * size);
        batch(&p, 1, 2, size, 0, 6 * size);
        batch(&p, 2, 3, 0, size + 1, 2 * size);
        batch(&p, 3, 2, size + 1, 0, size);
        check(&p, t & 2 ? 3 : 0, 1, 1, 0);
    }
}

/* No stride of 1, shared rows and columns (stride 0), C by columns. */
static void strides(void **state)
{
    static const int64_t shape[3] = {19, 37, 23};
    qst_matmul           p;
    uint32_t             t;
    (void)state;
    for (t = 0; t < 4; t++) {
        make(&p, shape, t, 0, t + 1);
        p.a.row *= 2;
        p.a.col *= 2;
        p.b.row *= 3;
        p.b.col *= 3;
        p.c.row = t & 1 ? 1 : 2 * 37;
        p.c.col = t & 1 ? 20 : 2;
        check(&p, t, 1, 1, 0);
    }
    make(&p, shape, 0, 0, 5);
    p.a.row = p.b.row = 0;
    check(&p, MATMUL_CASE_LEAD, 1, 1, 0);
    make(&p, shape, 3, 0, 5);
    p.a.col = p.b.col = 0;
    check(&p, MATMUL_CASE_LEAD, 1, 1, 0);
}

static void types(void **state)
{
    static const uint32_t pairs[][2] = {{QST_F64, QST_F64}, {QST_F16, QST_F16},  {QST_BF16, QST_BF16},
                                        {QST_F16, QST_F32}, {QST_BF16, QST_F32}, {QST_F64, QST_F32}};
    qst_matmul            p;
    uint32_t              t, at;
    (void)state;
    for (at = 0; at < QSTK_COUNT(pairs); at++)
        for (t = at % 2; t < 4; t += at ? 2 : 1) {
            make(&p, shapes[6], t, t & 1 ? 4 : 2, t);
            p.a.type = p.b.type = pairs[at][0];
            p.c.type = pairs[at][1];
            /* one candidate of each plugin, and as it rounds */
            check(&p, t & 1 ? MATMUL_CASE_LEAD : 0, 1 + t, 5, 1);
        }
}

/* The class STRICT: bit for bit what the fallback gives. */
static void rounds_as_the_fallback(void **state)
{
    static const int64_t shape[3] = {33, 35, 301};
    qst_matmul           p;
    uint32_t             t;
    (void)state;
    for (t = 0; t < 4; t++) {
        make(&p, shape, t, 0, t + 2);
        check(&p, 0, 1, 1, 1);
    }
}

static int set_up(void **state)
{
    (void)state;
    return runner_open(&bench) || runner_start(&bench, &qst__builtin_naive) ||
           runner_start(&bench, &qst__builtin_unit) || runner_start(&bench, &qst__builtin_double_unit);
}

static int tear_down(void **state)
{
    int      idle = 0;
    uint32_t i;
    (void)state;
    for (i = 1; i < bench.n; i++) {
        print_message("  %-30s ran %4u\n", bench.candidates[i].name, bench.candidates[i].ran);
        idle |= bench.candidates[i].ran == 0;
    }
    runner_close(&bench);
    return idle; /* a candidate that did not run was not tested */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles),    cmocka_unit_test(priorities), cmocka_unit_test(devices),
        cmocka_unit_test(refusals), cmocka_unit_test(types),      cmocka_unit_test(shapes_and_transpositions),
        cmocka_unit_test(batches),  cmocka_unit_test(strides),    cmocka_unit_test(rounds_as_the_fallback),
    };
    return cmocka_run_group_tests_name("unit candidates", tests, set_up, tear_down);
}
