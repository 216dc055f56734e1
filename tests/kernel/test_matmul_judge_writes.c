/* SPDX-License-Identifier: MIT
 *
 * test_matmul_judge_writes.c: the judge of matmul and its trivial candidate on a real OpenCL device: nothing but what
 * should be is written. Each case runs in the form for a CPU and in the form for a GPU.
 */
#include "judge_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Marks C's elements in a map of the buffer. */
static uint8_t *map_of(const data *d)
{
    uint8_t *map = calloc(d->elements[C], 1);
    assert_non_null(map);
    for (int64_t b = 0; b < batches_of(&d->p); b++)
        for (int64_t i = 0; i < d->p.m; i++)
            for (int64_t j = 0; j < d->p.n; j++)
                map[c_at(&d->p, b, i, j)] = 1;
    return map;
}

static void erase(runner *r)
{
    static const uint32_t types[] = {QST_F32, QST_F64, QST_F16};
    for (size_t t = 0; t < COUNT(types); t++)
        for (int which = 0; which <= BATCHED; which++) {
            uint32_t finding[QST_FINDING_WORDS], width = bytes_of(types[t]);
            data     d;
            uint8_t *map;
            if (types[t] == QST_F64 && !(r->device.flags & QST_DEVICE_F64))
                continue;
            shape(&d.p, which, types[t]);
            if (which == DENSE) { /* column-major */
                d.p.c.row = 1;
                d.p.c.col = d.p.m + 1;
            }
            make(&d, 0);
            memset(d.memory[C], 0x41, d.bytes[C]);
            upload(r, &d);
            phase(r, QST_JUDGE_ERASE, finding, 1);
            read_back(r, C, d.memory[C], d.bytes[C]);
            map = map_of(&d);
            for (size_t byte = 0; byte < d.bytes[C]; byte++)
                assert_int_equal(d.memory[C][byte], map[byte / width] ? 0xff : 0x41);
            free(map);
            drop(&d);
        }
}

static void test_erase_touches_c_alone(void **state)
{
    both_forms(state, erase);
}

/* Column 0 of A and row 0 of B once each, all else as it was. */
static void scaled(runner *r)
{
    for (int which = 0; which < LAYOUTS; which++) {
        uint32_t finding[QST_FINDING_WORDS];
        data     d;
        float   *was[2], *is[2];
        shape(&d.p, which, QST_F32);
        make(&d, 1);
        upload(r, &d);
        phase(r, QST_JUDGE_SCALE, finding, 1);
        for (int i = A; i <= B; i++) {
            was[i] = (float *)(void *)d.memory[i];
            is[i] = malloc(d.bytes[i]);
            read_back(r, i, (uint8_t *)is[i], d.bytes[i]);
        }
        for (int64_t b = 0; b < batches_of(&d.p); b++) {
            for (int64_t i = 0; i < d.p.m; i++)
                assert_true(is[A][a_at(&d.p, b, i, 0)] == was[A][a_at(&d.p, b, i, 0)] * 0x1p40f);
            for (int64_t j = 0; j < d.p.n; j++)
                assert_true(is[B][b_at(&d.p, b, 0, j)] == was[B][b_at(&d.p, b, 0, j)] * 0x1p-40f);
        }
        for (int64_t b = 0; b < batches_of(&d.p); b++) { /* put back what was to change: the rest must be equal */
            for (int64_t i = 0; i < d.p.m; i++)
                is[A][a_at(&d.p, b, i, 0)] = was[A][a_at(&d.p, b, i, 0)];
            for (int64_t j = 0; j < d.p.n; j++)
                is[B][b_at(&d.p, b, 0, j)] = was[B][b_at(&d.p, b, 0, j)];
        }
        assert_memory_equal(is[A], was[A], d.bytes[A]);
        assert_memory_equal(is[B], was[B], d.bytes[B]);
        free(is[A]);
        free(is[B]);
        drop(&d);
    }
}

static void test_scale_once(void **state)
{
    both_forms(state, scaled);
}

static void trivial(runner *r)
{
    static const double   betas[] = {0.0, -2.0};
    static const uint32_t types[] = {QST_F32, QST_F64, QST_F16, QST_BF16};
    for (size_t t = 0; t < COUNT(types); t++)
        for (int which = 0; which <= BATCHED; which++)
            for (size_t s = 0; s < COUNT(betas); s++) {
                data     d;
                uint8_t *map, *after;
                uint32_t x = 77;
                if (types[t] == QST_F64 && !(r->device.flags & QST_DEVICE_F64))
                    continue;
                shape(&d.p, which, types[t]);
                d.p.beta = betas[s];
                make(&d, 0);
                map = map_of(&d);
                for (size_t e = 0; e < d.elements[C] && d.p.beta != 0.0; e++) /* with beta 0 NaN stays in C */
                    put(types[t], d.memory[C], (int64_t)e, floor(50.0 * random_real(&x)));
                upload(r, &d);
                r->judging = 0;
                assert_int_equal(qst_matmul_op.trivial->steps(NULL, &r->device, &d.p, &r->steps), QST_OK);
                after = malloc(d.bytes[C]);
                read_back(r, C, after, d.bytes[C]);
                for (size_t e = 0; e < d.elements[C]; e++) {
                    size_t width = bytes_of(types[t]);
                    double was = get(types[t], d.memory[C], (int64_t)e);
                    if (map[e])
                        assert_true(get(types[t], after, (int64_t)e) == (betas[s] == 0.0 ? 0.0 : betas[s] * was));
                    else
                        assert_memory_equal(after + e * width, d.memory[C] + e * width, width);
                }
                free(after);
                free(map);
                drop(&d);
            }
}

static void test_trivial_candidate(void **state)
{
    both_forms(state, trivial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_erase_touches_c_alone),
        cmocka_unit_test(test_scale_once),
        cmocka_unit_test(test_trivial_candidate),
    };
    return cmocka_run_group_tests_name("matmul judge writes", tests, setup, teardown);
}
