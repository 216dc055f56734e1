/* SPDX-License-Identifier: MIT
 *
 * test_unit_candidates.c: the candidates of the plugins unit and double_unit: what their tables derive, which keys and
 * devices they are for, what they refuse. That each is right is the kernel matrix's (tests/matrix).
 */
#include "matmul_case.h"
#include <quernstone/matmul.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

extern const qst_plugin qst__builtin_naive, qst__builtin_unit, qst__builtin_double_unit;

static struct runner bench; /* candidate 0 is the fallback, for its order of summation */

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
        const qst_candidate *c = &matmul_case_candidate(&bench, expected[i].name)->candidate;
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
    const qst_candidate *c = &matmul_case_candidate(&bench, name)->candidate;
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
        const int                      large = !strcmp(c->name, "unit.min") || !strcmp(c->name, "unit.max");
        assert_int_equal(offered(c->name, &bench.device, QST_F32, &why), QST_POOR);
        assert_string_equal(why, "barriers are slow on a CPU device");
        why = NULL;
        assert_int_equal(offered(c->name, &gpu, QST_F32, &why), large ? QST_POOR : QST_OK);
        if (large)
            assert_string_equal(why, "over 1024 multiply-adds in one piece: a GPU's compiler takes seconds for them");
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

static int set_up(void **state)
{
    (void)state;
    return runner_open(&bench) || runner_start(&bench, &qst__builtin_naive) ||
           runner_start(&bench, &qst__builtin_unit) || runner_start(&bench, &qst__builtin_double_unit);
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
        cmocka_unit_test(tiles),
        cmocka_unit_test(priorities),
        cmocka_unit_test(devices),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("unit candidates", tests, set_up, tear_down);
}
