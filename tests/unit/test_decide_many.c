/* SPDX-License-Identifier: MIT
 *
 * test_decide_many.c: what a decision among a thousand candidates costs, counted in medians and in candidates compared,
 * and that it does not depend on where they stand. The functions of test_decide_many.link are counted on their way. */
#include "support/toy.h"
#include "tune/compare.h"
#include "tune/tuner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 1000 };

static uint64_t fitted, medians;

void     __real_qst__compare(qst__fit *fit, qst__series series, const uint32_t *who, uint32_t n);
void     __wrap_qst__compare(qst__fit *fit, qst__series series, const uint32_t *who, uint32_t n);
uint64_t __real_qst__samples_median(const qst__samples *samples);
uint64_t __wrap_qst__samples_median(const qst__samples *samples);

void __wrap_qst__compare(qst__fit *fit, qst__series series, const uint32_t *who, uint32_t n)
{
    fitted += n;
    __real_qst__compare(fit, series, who, n);
}

uint64_t __wrap_qst__samples_median(const qst__samples *samples)
{
    medians++;
    return __real_qst__samples_median(samples);
}

typedef struct many {
    qst__alloc   alloc;
    qst__finding findings[MANY];
    uint32_t     order[MANY];
    char         names[MANY][16];
    qst__verdict verdict;
} many;

/* Candidate `rank`, the rank-th fastest, stands at (rank · step) mod MANY; its samples are 4 % over the next one's. */
static many *make(uint32_t step)
{
    many *m = calloc(1, sizeof *m);

    assert_non_null(m);
    m->alloc = qst__alloc_default();
    m->verdict = (qst__verdict){.alloc = &m->alloc, .findings = m->findings, .n = MANY, .order = m->order};
    for (uint32_t rank = 0; rank < MANY; rank++) {
        uint32_t      at = (uint32_t)((uint64_t)rank * step % MANY);
        qst__finding *f = &m->findings[at];
        snprintf(m->names[at], sizeof m->names[at], "c%u", rank);
        f->name = m->names[at];
        f->outcome = QST__OUTCOME_TIMED;
        for (uint32_t k = 0; k < 5; k++)
            qst__samples_push(&f->samples, 100000 + 4000u * rank + 10u * k, k + 1);
    }
    return m;
}

static void assert_sorted(const many *m)
{
    char name[16];

    assert_int_equal(m->verdict.n_order, MANY);
    for (uint32_t k = 0; k < MANY; k++) {
        snprintf(name, sizeof name, "c%u", k);
        assert_string_equal(m->findings[m->order[k]].name, name);
    }
}

static void a_decision_is_near_linear(void **state)
{
    static const uint32_t steps[] = {1, 7, 333, 999};

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        many *m = make(steps[i]);
        fitted = medians = 0;
        qst__decide(&m->verdict);
        assert_sorted(m);
        assert_in_range(fitted, 2, QST__FIT_MAX);
        assert_true(medians <= 2 * 4 * MANY * 10); /* two sorts, two medians a comparison, two of these a level of 10 */
        free(m);
    }
}

/* A tuning of as many: each is committed once. */
static void a_tuning_places_each(void **state)
{
    many *m = make(7);

    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        m->findings[i].outcome = QST__OUTCOME_UNTRIED;
    fitted = medians = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        m->findings[i].outcome = QST__OUTCOME_TIMED;
        qst__decide_place(&m->verdict, i);
    }
    assert_sorted(m);
    assert_int_equal(fitted, 0);
    assert_true(medians <= 2 * MANY * 11);
    m->findings[7].outcome = QST__OUTCOME_WRONG; /* the second fastest */
    qst__decide_place(&m->verdict, 7);
    assert_int_equal(m->verdict.n_order, MANY - 1);
    assert_string_equal(m->findings[m->order[1]].name, "c2");
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_decision_is_near_linear),
        cmocka_unit_test(a_tuning_places_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
