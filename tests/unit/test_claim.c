/* SPDX-License-Identifier: MIT
 *
 * test_claim.c: every state a claim can be taken in, and eight threads of which one tunes. */
#include "tune/claim.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void states(void **state)
{
    qst__claim claim;
    (void)state;

    qst__claim_init(&claim);
    assert_int_equal(qst__claim_state(&claim), QST__KEY_ABSENT);
    assert_int_equal(qst__claim_take(&claim, false, false), QST_OK);
    assert_int_equal(qst__claim_state(&claim), QST__KEY_TUNING);
    assert_int_equal(qst__claim_take(&claim, false, true), QST_E_BUSY);

    qst__claim_give(&claim, QST__KEY_ABSENT); /* nothing came of it */
    assert_int_equal(qst__claim_take(&claim, true, false), QST_OK);

    qst__claim_give(&claim, QST__KEY_PARTIAL);
    assert_int_equal(qst__claim_take(&claim, true, false), QST_E_BUSY);
    assert_int_equal(qst__claim_state(&claim), QST__KEY_PARTIAL);
    assert_int_equal(qst__claim_take(&claim, false, true), QST_OK);

    qst__claim_give(&claim, QST__KEY_READY);
    assert_int_equal(qst__claim_take(&claim, true, true), QST_NOTHING);
    qst__claim_finish(&claim);
}

/* ---- Threads --------------------------------------------------------------------------------------------------- */

enum { THREADS = 8 };

typedef struct shared {
    qst__claim claim;
    int        gives[3]; /* how the owners give it back, one after the other */
    int        n_owners; /* written by the owner alone: the claim is the lock */
    int        verdict;  /* likewise */
    bool       retake;
} shared;

typedef struct worker {
    shared    *shared;
    qst_status status;
    int        seen;
} worker;

static void *work(void *user)
{
    worker *w = user;
    shared *s = w->shared;

    w->status = qst__claim_take(&s->claim, true, s->retake);
    if (w->status == QST_OK) {
        int give = s->gives[s->n_owners < 2 ? s->n_owners : 2];
        s->n_owners++;
        s->verdict = 40 + s->n_owners;
        w->seen = s->verdict;
        qst__claim_give(&s->claim, give);
    } else {
        w->seen = qst__claim_state(&s->claim) == QST__KEY_READY ? s->verdict : -1;
    }
    return NULL;
}

static void run(shared *s, worker *workers)
{
    pthread_t threads[THREADS];

    qst__claim_init(&s->claim);
    for (int i = 0; i < THREADS; i++) {
        workers[i].shared = s;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void one_tunes(void **state)
{
    (void)state;

    for (int k = 0; k < 50; k++) {
        shared s = {.gives = {QST__KEY_READY, QST__KEY_READY, QST__KEY_READY}};
        worker workers[THREADS] = {{0}};
        run(&s, workers);
        assert_int_equal(s.n_owners, 1);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(workers[i].seen, 41); /* whoever waited sees the owner's verdict */
        qst__claim_finish(&s.claim);
    }
}

/* Two owners come to nothing or to a part; one of those who waited takes it up each time. */
static void taken_up_again(void **state)
{
    (void)state;

    for (int k = 0; k < 50; k++) {
        shared s = {.gives = {QST__KEY_ABSENT, QST__KEY_PARTIAL, QST__KEY_READY}, .retake = true};
        worker workers[THREADS] = {{0}};
        int    owners = 0;
        run(&s, workers);
        for (int i = 0; i < THREADS; i++) {
            owners += workers[i].status == QST_OK;
            assert_true(workers[i].status == QST_OK || workers[i].seen == 43);
        }
        assert_int_equal(owners, 3);
        assert_int_equal(s.n_owners, 3);
        qst__claim_finish(&s.claim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states),
        cmocka_unit_test(one_tunes),
        cmocka_unit_test(taken_up_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
