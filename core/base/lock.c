/* SPDX-License-Identifier: MIT
 *
 * lock.c: POSIX threads. Their calls fail here only by misuse (or, for init, never on Linux), so nothing is
 * returned. */
#include "base/lock.h"

#include <stddef.h>

void qst__lock_init(qst__lock *lock)
{
    (void)pthread_mutex_init(&lock->mutex, NULL);
}

void qst__lock_finish(qst__lock *lock)
{
    (void)pthread_mutex_destroy(&lock->mutex);
}

void qst__lock_take(qst__lock *lock)
{
    (void)pthread_mutex_lock(&lock->mutex);
}

void qst__lock_give(qst__lock *lock)
{
    (void)pthread_mutex_unlock(&lock->mutex);
}

void qst__cond_init(qst__cond *cond)
{
    (void)pthread_cond_init(&cond->cond, NULL);
}

void qst__cond_finish(qst__cond *cond)
{
    (void)pthread_cond_destroy(&cond->cond);
}

void qst__cond_wait(qst__cond *cond, qst__lock *lock)
{
    (void)pthread_cond_wait(&cond->cond, &lock->mutex);
}

void qst__cond_wake(qst__cond *cond)
{
    (void)pthread_cond_broadcast(&cond->cond);
}
