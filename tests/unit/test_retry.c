/* SPDX-License-Identifier: MIT
 *
 * test_retry.c: when a tuning that failed is tried again, by a clock that the test moves. */
#include "tune/retry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef struct scripted {
    uint64_t now;
    uint32_t looks;
} scripted;

static uint64_t now(void *user)
{
    scripted *s = user;

    s->looks++;
    return s->now;
}

static void nothing_failed(void **state)
{
    scripted   s = {0, 0};
    qst__clock clock = {now, &s};
    qst__retry retry = {0, 0};

    (void)state;
    assert_true(qst__retry_due(&retry, &clock));
    assert_false(qst__retry_waits(&retry));
    assert_int_equal(s.looks, 0); /* no call pays for a clock */
}

static void later_each_time_and_then_no_more(void **state)
{
    scripted   s = {12345, 0};
    qst__clock clock = {now, &s};
    qst__retry retry = {0, 0};
    uint64_t   wait = QST__RETRY_FIRST_NS;

    (void)state;
    for (uint32_t failure = 0; failure < QST__RETRIES; failure++, wait *= 2) {
        qst__retry_failed(&retry, false, &clock);
        assert_true(qst__retry_waits(&retry));
        assert_false(qst__retry_due(&retry, &clock));
        s.now += wait - 1;
        assert_false(qst__retry_due(&retry, &clock));
        s.now++;
        assert_true(qst__retry_due(&retry, &clock));
    }
    qst__retry_failed(&retry, false, &clock);
    assert_false(qst__retry_waits(&retry));
    s.now += UINT64_C(1) << 50; /* days */
    assert_false(qst__retry_due(&retry, &clock));
}

/* A full disk may be full for hours. */
static void as_long_as_nobody_could(void **state)
{
    scripted   s = {12345, 0};
    qst__clock clock = {now, &s};
    qst__retry retry = {0, 0};

    (void)state;
    for (int failure = 0; failure < 1000; failure++) {
        qst__retry_failed(&retry, true, &clock);
        assert_true(qst__retry_waits(&retry));
        assert_false(qst__retry_due(&retry, &clock));
        s.now += 16 * (uint64_t)QST__RETRY_FIRST_NS;
        assert_true(qst__retry_due(&retry, &clock));
    }
}

static void a_success_forgets(void **state)
{
    scripted   s = {0, 0};
    qst__clock clock = {now, &s};
    qst__retry retry = {0, 0};

    (void)state;
    qst__retry_failed(&retry, false, &clock);
    qst__retry_failed(&retry, false, &clock);
    qst__retry_done(&retry);
    assert_true(qst__retry_due(&retry, &clock));
    qst__retry_failed(&retry, false, &clock);
    s.now += QST__RETRY_FIRST_NS;
    assert_true(qst__retry_due(&retry, &clock));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_failed),
        cmocka_unit_test(later_each_time_and_then_no_more),
        cmocka_unit_test(as_long_as_nobody_could),
        cmocka_unit_test(a_success_forgets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
