/* lock.h: mutex, condition and once over POSIX threads. Never held across a wait for the device, except the timing
 * lease, which exists to be. */
#ifndef QST_BASE_LOCK_H
#define QST_BASE_LOCK_H

#include <pthread.h>

typedef struct qst__lock {
    pthread_mutex_t mutex;
} qst__lock;
typedef struct qst__cond {
    pthread_cond_t cond;
} qst__cond;

void qst__lock_init(qst__lock *lock);
void qst__lock_finish(qst__lock *lock);
void qst__lock_take(qst__lock *lock);
void qst__lock_give(qst__lock *lock);

void qst__cond_init(qst__cond *cond);
void qst__cond_finish(qst__cond *cond);
void qst__cond_wait(qst__cond *cond, qst__lock *lock);
void qst__cond_wake(qst__cond *cond); /* all */

#endif
